"""ActiveWebSocketRoute: one route of websockets in effect, and its handlers.

Rule: a handler is user code. If it raises, or does not answer in time, only its websocket closes, and the failure
is reported. When the route ends, its handlers are cancelled, and their websockets close with the code 1001.
"""

from __future__ import annotations

import math
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import TypeAlias

import attrs
import trio

from cdpengine import _json
from cdpengine._evaluate.websockets.routed_socket import RoutedSocket
from cdpengine._evaluate.websockets.websocket_route import WebSocketRoute
from cdpengine._handlers import call_async_handler, describe_failure
from cdpengine.errors import (
    ConnectionLostError,
    EngineError,
    InvalidStateError,
    SessionGoneError,
)
from cdpengine.errors.texts import duration

WebSocketHandler: TypeAlias = Callable[[WebSocketRoute], Awaitable[object]]
"""An async function that receives the WebSocketRoute, and answers it until the websocket closes."""

FAILED = 1011
"""The code of a close after a failure of the handler."""

LEAVING = 1001
ENDED = "the route has ended"

_CLOSE_TIMEOUT = 0.5
"""Time in seconds to close a websocket after its handler. A page that hangs closes it later."""


@attrs.define(eq=False)
class ActiveWebSocketRoute:
    """A route of websockets and its handlers at work, which run in `nursery`.

    `test` is a predicate for URLs, and `glob` a glob that covers at least the same, or None. `limit` is the time
    in seconds in which a handler must answer. `note_use` and `note_failure` (URL, reason, exception) are called
    for each websocket.
    """

    test: Callable[[str], bool]
    words: str
    glob: str | None
    handler: WebSocketHandler
    limit: float
    nursery: trio.Nursery
    note_use: Callable[[], None]
    note_failure: Callable[[str, str, Exception | None], None]
    _at_work: dict[RoutedSocket, trio.CancelScope] = attrs.field(factory=dict, init=False)
    _closed: bool = attrs.field(default=False, init=False)

    def take(self, socket: RoutedSocket) -> bool:
        """Give the websocket to the handler. Return False if it does not match, or the route has ended."""
        if self._closed:
            return False
        try:
            if not self.test(socket.url):
                return False
        except Exception as error:  # noqa: BLE001 - the user's function: as for the handler
            self.note_failure(socket.url, f"its pattern raised {describe_failure(error)}", error)
            self._drop(socket, "fail")
            return True
        self.note_use()
        scope = self._at_work[socket] = trio.CancelScope()
        self.nursery.start_soon(self._run, socket, scope, name=f"websocket route of {self.words}")
        return True

    def close(self) -> None:
        """End the route: its websockets close, and its handlers are cancelled."""
        self._closed = True
        for socket, scope in list(self._at_work.items()):
            if not socket.passed_on:
                self._drop(socket, "close", str(LEAVING), _json.encode_ascii(ENDED))
            scope.cancel()

    def note_overflow(self, socket: RoutedSocket) -> None:
        """Close a websocket whose handler lets too many messages wait."""
        self.note_failure(socket.url, "too many messages wait for it", None)
        self._drop(socket, "close", str(FAILED), _json.encode_ascii("too many messages"))
        if (scope := self._at_work.get(socket)) is not None:
            scope.cancel()

    @staticmethod
    def _drop(socket: RoutedSocket, name: str, *literals: str) -> None:
        """Close a websocket without waiting."""
        with suppress(SessionGoneError, ConnectionLostError):
            if socket.from_server is not None and not socket.from_server.ended:
                socket.post("serverClose", "1000", '""')
            if not socket.from_page.ended:
                socket.post(name, *literals)
        socket.gone(LEAVING, ENDED)

    async def _run(self, socket: RoutedSocket, scope: trio.CancelScope) -> None:
        reason, raised = "", None
        try:
            try:
                with scope, trio.CancelScope(deadline=trio.current_time() + self.limit) as opening:

                    def answered() -> None:
                        opening.deadline = math.inf

                    socket.on_answer = answered
                    await call_async_handler(self.handler, WebSocketRoute(socket))
            except Exception as error:  # noqa: BLE001 - foreign code: on record, and in the log
                reason, raised = f"it raised {describe_failure(error)}", error
            if scope.cancelled_caught or self._closed or self.nursery.cancel_scope.cancel_called:
                return
            left = socket.from_page.ended
            if not reason and opening.cancelled_caught and not socket.answered:
                reason = f"it did not accept, close or pass on the websocket within {duration(self.limit)}"
            if not reason and not socket.answered:
                reason = "it ended without an answer"
            if reason and left and isinstance(raised, InvalidStateError):
                reason = ""  # the page closed it first
            if reason:
                self.note_failure(socket.url, reason, raised)
            if not socket.passed_on:
                await self._finish(socket, failed=bool(reason))
        finally:
            self._at_work.pop(socket, None)

    @staticmethod
    async def _finish(socket: RoutedSocket, *, failed: bool) -> None:
        code, reason = (FAILED, "the handler failed") if failed else (1000, "")
        with trio.move_on_after(_CLOSE_TIMEOUT), suppress(EngineError):
            await socket.close_server(1000, "")
            await socket.close(code, reason)
