"""RoutedSocket: the engine's end of one routed websocket, with its queues in both directions.

Rule: the reader adds the page's and the server's messages to bounded queues, and never waits. A queue that a
handler lets grow beyond its bound closes the websocket.
"""

from __future__ import annotations

import base64
from collections import deque
from collections.abc import Callable
from typing import Protocol

import attrs
import trio

from cdpengine import _json
from cdpengine._page.scripts.page_functions import context_gone
from cdpengine._page.tabs import Posted
from cdpengine._protocol.calls import was_terminated
from cdpengine.errors import ConnectionLostError, InvalidStateError, RemoteError, SessionGoneError, shown_url

_MOST_MESSAGES = 10_000
_MOST_BYTES = 64 * 2**20

NO_CODE = 1005
"""The code of a close that names none."""

ABNORMAL = 1006
"""The code of a connection that failed or broke."""

Message = str | bytes


class Post(Protocol):
    """Calls a function of the page's end for one websocket. The arguments are JavaScript literals."""

    def __call__(self, name: str, *literals: str) -> Posted: ...


@attrs.define(eq=False)
class MessageQueue:
    """Messages that arrived and were not received yet. `code` and `reason` are those of the end."""

    code: int | None = None
    reason: str = ""
    clean: bool = True
    _messages: deque[Message] = attrs.field(factory=deque, init=False)
    _size: int = attrs.field(default=0, init=False)
    _arrived: trio.lowlevel.ParkingLot = attrs.field(factory=trio.lowlevel.ParkingLot, init=False)

    @property
    def ended(self) -> bool:
        """Whether no more messages arrive."""
        return self.code is not None

    def put(self, message: Message) -> bool:
        """Add a message. Return False if the queue is full."""
        self._size += len(message)
        if len(self._messages) >= _MOST_MESSAGES or self._size > _MOST_BYTES:
            return False
        self._messages.append(message)
        self._arrived.unpark()
        return True

    def end(self, code: int, reason: str, *, clean: bool = True) -> None:
        """Note the end. Messages that arrived before can still be received."""
        if self.code is None:
            self.code, self.reason, self.clean = code, reason, clean
            self._arrived.unpark_all()

    async def get(self) -> Message:
        """Wait for the next message. Raises trio.EndOfChannel after the last one."""
        await trio.lowlevel.checkpoint_if_cancelled()
        while not self._messages:
            if self.ended:
                await trio.lowlevel.cancel_shielded_checkpoint()
                raise trio.EndOfChannel
            await self._arrived.park()
        message = self._messages.popleft()
        self._size -= len(message)
        await trio.lowlevel.cancel_shielded_checkpoint()
        return message


@attrs.define(eq=False)
class RoutedSocket:
    """One routed websocket. `post` calls the page's end, `try_next` offers the websocket to the next route.

    `from_page` and `from_server` are the queues. `answered`: the handler has decided about the connection.
    """

    url: str
    protocols: tuple[str, ...]
    post: Post
    try_next: Callable[[], None]
    from_page: MessageQueue = attrs.field(factory=MessageQueue, init=False)
    from_server: MessageQueue | None = attrs.field(default=None, init=False)
    server_protocol: str | None = attrs.field(default=None, init=False)
    accepted: bool = attrs.field(default=False, init=False)
    passed_on: bool = attrs.field(default=False, init=False)
    on_answer: Callable[[], None] = attrs.field(default=lambda: None, init=False)
    changes: trio.lowlevel.ParkingLot = attrs.field(factory=trio.lowlevel.ParkingLot, init=False)

    @property
    def answered(self) -> bool:
        """Whether the handler has accepted, closed or passed on the websocket, or the page has left it."""
        return self.accepted or self.passed_on or self.from_page.ended

    @property
    def name(self) -> str:
        """A short name for errors."""
        return f"the websocket {shown_url(self.url)[:100]}"

    # --- called by the reader ---------------------------------------------------------------------------------

    def note_server_open(self, protocol: str) -> None:
        """Note that the page's connection to the server is open."""
        self.server_protocol = protocol
        self.changes.unpark_all()

    def note_server_closed(self, code: int, reason: str, *, clean: bool) -> None:
        """Note that the page's connection to the server is closed."""
        if self.from_server is not None:
            self.from_server.end(code, reason, clean=clean)
        self.changes.unpark_all()

    def gone(self, code: int, reason: str) -> None:
        """Note that the page closed the websocket, or left its document."""
        self.from_page.end(code, reason, clean=code != ABNORMAL)
        self.on_answer()
        self.changes.unpark_all()

    # --- called by the handler --------------------------------------------------------------------------------

    async def accept(self, protocol: str) -> None:
        """Open the websocket in the page, unless it is open."""
        if self.accepted:
            await trio.lowlevel.checkpoint()
            return
        self.check_open("accept")
        self.accepted = True
        self.on_answer()
        await self.tell("accept", "open", _json.encode_ascii(protocol))

    def check_open(self, action: str) -> None:
        """Raise InvalidStateError if the page's end is closed or passed on."""
        if self.passed_on:
            raise InvalidStateError(f"{action} {self.name}", "it was passed on with fallback()")
        if self.from_page.ended:
            closed = f"{self.from_page.code} {self.from_page.reason}".rstrip()
            raise InvalidStateError(f"{action} {self.name}", f"it is closed ({closed})")

    async def send(self, message: Message) -> None:
        """Send a message to the page."""
        await self.accept("")
        self.check_open("send to")
        await self.tell("send to", "text" if isinstance(message, str) else "bytes", _literal(message))

    async def close(self, code: int, reason: str) -> None:
        """Close the page's end; before it was accepted, let the connection fail."""
        await trio.lowlevel.checkpoint_if_cancelled()
        if self.from_page.ended or self.passed_on:
            await trio.lowlevel.cancel_shielded_checkpoint()
            return
        accepted = self.accepted and code != ABNORMAL
        self.gone(code if accepted else ABNORMAL, reason)
        calls = (str(code), _json.encode_ascii(reason)) if accepted else ()
        await self.tell("close", "close" if accepted else "fail", *calls)

    async def connect(self) -> MessageQueue:
        """Open the page's connection to the server, and return its queue. Raises InvalidStateError."""
        self.check_open("connect")
        if self.from_server is None:
            self.from_server = MessageQueue()
            await self.tell("connect", "connect")
        queue = self.from_server
        while self.server_protocol is None:
            if queue.ended or self.from_page.ended:
                why = f" ({queue.code} {queue.reason})".replace(" )", ")") if queue.ended else ""
                reason = (
                    f"the server refused it, or cannot be reached{why}" if queue.ended else "the page left it"
                )
                raise InvalidStateError(f"connect {self.name} to its server", reason)
            await self.changes.park()
        await self.accept(self.server_protocol)
        return queue

    async def send_to_server(self, message: Message) -> None:
        """Send a message to the server."""
        if self.from_server is None or self.from_server.ended:
            raise InvalidStateError(f"send to the server of {self.name}", "the connection is closed")
        name = "serverText" if isinstance(message, str) else "serverBytes"
        await self.tell("send to the server of", name, _literal(message))

    async def close_server(self, code: int, reason: str) -> None:
        """Close the connection to the server, if there is one."""
        if self.from_server is not None and not self.from_server.ended:
            await self.tell("close the server of", "serverClose", str(code), _json.encode_ascii(reason))
        else:
            await trio.lowlevel.checkpoint()

    async def pass_on(self) -> None:
        """Let the next route answer, or the server. Raises InvalidStateError if the websocket was answered."""
        self.check_open("pass on")
        if self.accepted:
            raise InvalidStateError(f"pass on {self.name}", "it was accepted before")
        self.passed_on = True
        self.on_answer()
        self.try_next()
        await trio.lowlevel.checkpoint()

    async def tell(self, action: str, name: str, *literals: str) -> None:
        """Call a function of the page's end, and wait for it. Raises InvalidStateError if the document is gone."""
        await trio.lowlevel.checkpoint_if_cancelled()
        try:
            await self.post(name, *literals).raw()
        except (SessionGoneError, ConnectionLostError, RemoteError) as error:
            if isinstance(error, RemoteError) and not context_gone(error):
                if was_terminated(error):  # the page's listener hung, and had the message
                    return
                raise
            self.gone(1001, "its document is gone")
            if name not in ("close", "fail", "serverClose"):
                raise InvalidStateError(f"{action} {self.name}", "its document is gone") from None


def _literal(message: Message) -> str:
    text = message if isinstance(message, str) else base64.b64encode(message).decode()
    return _json.encode_ascii(text)
