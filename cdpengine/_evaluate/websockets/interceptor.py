"""WebSocketInterceptor: the routed websockets of the documents of one session.

Rule: without routes, the page has its own WebSocket, and nothing is sent. The latest route is tried first. A
websocket that no route takes gets a real connection, and the engine does not see its messages.
"""

from __future__ import annotations

import base64
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import partial

from cdpengine import _json
from cdpengine._evaluate.injected_port import InjectedPort
from cdpengine._evaluate.websockets.active_route import ENDED, LEAVING, ActiveWebSocketRoute
from cdpengine._evaluate.websockets.routed_socket import ABNORMAL, Message, RoutedSocket
from cdpengine._javascript import script
from cdpengine._page.tabs import Posted, Tabs
from cdpengine._protocol.session import Session
from cdpengine._protocol.streams import Event
from cdpengine.errors import ConnectionLostError, SessionGoneError

_DOCUMENT_GONE = "its document is gone"

_CONTEXT_DESTROYED = "Runtime.executionContextDestroyed"
_CONTEXTS_CLEARED = "Runtime.executionContextsCleared"


class WebSocketInterceptor:
    """The routed websockets of one session. Obtain it with `websocket_interceptor_of`."""

    def __init__(self, tabs: Tabs, session: Session) -> None:
        self._session = session
        self._routes: list[ActiveWebSocketRoute] = []
        self._sockets: dict[tuple[int, str], RoutedSocket] = {}
        self._owners: dict[RoutedSocket, ActiveWebSocketRoute] = {}
        self._port = InjectedPort(tabs, self._source, self._take)
        session.on_end(lambda: self._leave(lambda _context: True))

    def add(self, route: ActiveWebSocketRoute) -> list[Posted]:
        """Add a route. The first one replaces WebSocket."""
        self._routes.append(route)
        if len(self._routes) > 1:
            return self._port.update(self._session)
        self._session.on_event(_CONTEXT_DESTROYED, self._note_destroyed)
        self._session.on_event(_CONTEXTS_CLEARED, self._note_cleared)
        return self._port.begin(self._session)

    def remove(self, route: ActiveWebSocketRoute) -> list[Posted]:
        """Remove a route. After the last one, the page has its own WebSocket again."""
        if route not in self._routes:
            return []
        self._routes.remove(route)
        if self._routes:
            return self._port.update(self._session)
        self._session.off_event(_CONTEXT_DESTROYED, self._note_destroyed)
        self._session.off_event(_CONTEXTS_CLEARED, self._note_cleared)
        self._leave(lambda _context: True, ENDED)
        return self._port.end(self._session)

    async def renew(self) -> None:
        """Replace WebSocket in a document that Chrome had prerendered."""
        await self._port.renew(self._session)

    def restore(self) -> list[Posted]:
        """Replace WebSocket in a document from the back/forward cache."""
        return self._port.update(self._session) if self._routes else []

    def _source(self, binding: str, key: str) -> str:
        globs = _json.encode_ascii([route.glob for route in self._routes])
        return f"{script('_evaluate/websockets/replacement')}({binding}, {key}, {globs})"

    # --- in the reader ----------------------------------------------------------------------------------------

    def _take(self, _session: Session, context: int, payload: str) -> None:
        operation = payload[0]
        if operation == "p":  # the page asks whether the engine is alive
            with suppress(SessionGoneError, ConnectionLostError):
                self._port.post_once(self._session, context, "alive")
            return
        number, _, content = payload[1:].partition("\n")
        key = context, number
        if operation == "o":
            self._open(key, content)
        elif (socket := self._sockets.get(key)) is None:
            if operation in "sc":
                self._post(key, "fail")
        elif operation == "s":
            if not socket.from_page.put(_message(content)) and not socket.from_page.ended:
                self._owners[socket].note_overflow(socket)
        elif operation == "S":
            if socket.from_server is not None and not socket.from_server.put(_message(content)):
                self._owners[socket].note_overflow(socket)
        elif operation == "O":
            socket.note_server_open(content)
        else:
            self._close(key, socket, operation, content)

    def _open(self, key: tuple[int, str], content: str) -> None:
        url, _, listed = content.partition("\n")
        protocols = tuple(listed.split(",")) if listed else ()
        self._offer(key, url, protocols, iter(self._routes[::-1]))

    def _offer(
        self,
        key: tuple[int, str],
        url: str,
        protocols: tuple[str, ...],
        candidates: Iterator[ActiveWebSocketRoute],
    ) -> None:
        """Give a websocket to the first of the routes that takes it, or let the page connect it."""
        if (earlier := self._sockets.pop(key, None)) is not None:
            self._owners.pop(earlier, None)
        try_next = partial(self._offer, key, url, protocols, candidates)
        for route in candidates:
            socket = RoutedSocket(url, protocols, partial(self._post_once, key), try_next)
            self._sockets[key] = socket
            self._owners[socket] = route
            if route.take(socket):
                return
            del self._sockets[key], self._owners[socket]
        self._post(key, "pass")

    def _close(self, key: tuple[int, str], socket: RoutedSocket, operation: str, content: str) -> None:
        code_text, _, reason = content.partition("\n")
        code = int(code_text)
        if operation == "C":
            socket.note_server_closed(code, reason[1:], clean=reason[:1] == "1")
        else:
            socket.gone(code, reason)
            if code != ABNORMAL:
                self._post(key, "close", str(code), _json.encode_ascii(reason))
        if socket.from_page.ended and (socket.from_server is None or socket.from_server.ended):
            self._sockets.pop(key, None)
            self._owners.pop(socket, None)

    def _note_destroyed(self, event: Event) -> None:
        destroyed = event.params.get("executionContextId")
        self._leave(lambda context: context == destroyed)

    def _note_cleared(self, _event: Event) -> None:
        self._leave(lambda _context: True)

    def _leave(self, where: Callable[[int], bool], reason: str = _DOCUMENT_GONE) -> None:
        """End the websockets of documents that are gone."""
        for key, socket in list(self._sockets.items()):
            if where(key[0]):
                del self._sockets[key]
                self._owners.pop(socket, None)
                socket.note_server_closed(ABNORMAL, reason, clean=False)
                socket.gone(LEAVING, reason)

    def _post(self, key: tuple[int, str], name: str, *literals: str) -> None:
        with suppress(SessionGoneError, ConnectionLostError):
            self._post_once(key, name, *literals)

    def _post_once(self, key: tuple[int, str], name: str, *literals: str) -> Posted:
        context, number = key
        return self._port.post_once(self._session, context, name, _json.encode_ascii(number), *literals)


def _message(content: str) -> Message:
    return content[1:] if content[:1] == "t" else base64.b64decode(content[1:])


_INTERCEPTORS: dict[Session, WebSocketInterceptor] = {}


def websocket_interceptor_of(tabs: Tabs, session: Session) -> WebSocketInterceptor:
    """Return the interceptor of a session, the same for the whole life of the session."""
    found = _INTERCEPTORS.get(session)
    if found is None:
        found = WebSocketInterceptor(tabs, session)
        if not session.ended:
            _INTERCEPTORS[session] = found

            def forget() -> None:
                _INTERCEPTORS.pop(session, None)

            session.on_end(forget)
    return found
