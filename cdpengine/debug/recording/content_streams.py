"""ContentStreams: which stream a piece of content is of, and whether it follows the latest piece of it. Pure.

Rule: a stream is one request of one session, one handle of `IO.read`, one direction of one socket, each of one
connection. A reply is known by its command, as it does not name its stream. What nothing tells the place of is
withheld: a stream that began before the recording, or while messages were lost; a piece that came before the
reply that has the beginning; a read from the middle.
"""

from __future__ import annotations

from collections import OrderedDict, deque
from typing import Literal, TypeVar

import attrs
import msgspec

from cdpengine import _json

StreamName = tuple[str, ...]

Place = Literal["first", "next", "message", "unknown"]
"""Nothing came before it; it follows the latest piece; it follows that, but is a message of its own, too; or its
place is not known."""

MOST_STREAMS = 2_000
"""Streams that are followed at the same time; beyond that the longest unused are forgotten, and then withheld."""

MESSAGES = {
    "Network.webSocketFrameSent": "requestId",
    "Network.webSocketFrameReceived": "requestId",
    "Network.eventSourceMessageReceived": "requestId",
    "Network.directUDPSocketChunkSent": "identifier",
    "Network.directUDPSocketChunkReceived": "identifier",
}
"""Events with whole messages, which the programs that send them may have cut; and what names their stream."""

_CHUNKS = {
    "Network.dataReceived": "requestId",
    "Network.directTCPSocketChunkSent": "identifier",
    "Network.directTCPSocketChunkReceived": "identifier",
}
"""Events with what came meanwhile, cut anywhere."""

_BEGIN = {
    "Network.directTCPSocketCreated": (
        "Network.directTCPSocketChunkSent",
        "Network.directTCPSocketChunkReceived",
    ),
}
_END = frozenset({"Network.loadingFinished", "Network.loadingFailed"})
_GIVE_HANDLES = frozenset({
    "Fetch.takeResponseBodyAsStream", "IO.resolveBlob", "Network.loadNetworkResource",
    "Network.takeResponseBodyForInterceptionAsStream", "Page.printToPDF", "Page.startScreenRecording",
    "Page.stopScreenRecording", "Tracing.tracingComplete",
})  # fmt: skip
"""What brings a handle that nothing was read of yet."""

_BODY = "Network.streamResourceContent"
_READ = "IO.read"

STREAMS = frozenset({_BODY, _READ, *_CHUNKS, *MESSAGES})
"""Methods that bring a content in pieces, so that a secret may be cut in two."""

_EVENTS = frozenset({*_CHUNKS, *MESSAGES, *_BEGIN, *_END, *_GIVE_HANDLES})


@attrs.frozen
class Piece:
    """Which stream a piece is of, and its place in it."""

    stream: StreamName
    place: Place


NOWHERE = Piece((), "unknown")


@attrs.define(eq=False)
class Asked:
    """A command that asks for a piece of a stream; `offset` is where IO.read is to begin, None for where it is.

    `spoiled`: what came meanwhile stands behind the piece, so that the piece cannot go before what comes next.
    """

    stream: StreamName
    offset: int | None = None
    spoiled: bool = False


class _Params(msgspec.Struct, rename="camel"):
    request_id: str = ""
    identifier: str = ""
    handle: str = ""
    offset: int | None = None
    stream: str = ""


class _Resource(msgspec.Struct):
    stream: str = ""


class _Result(msgspec.Struct, rename="camel"):
    stream: str = ""
    uuid: str = ""
    resource: _Resource = msgspec.field(default_factory=_Resource)


class _Read(msgspec.Struct, rename="camel"):
    data: str = ""
    base64_encoded: bool = False


class ContentStreams:
    """Follows the streams of one recording: takes calls, replies and events in the order in which they went."""

    def __init__(self) -> None:
        self._followed: OrderedDict[StreamName, int] = OrderedDict()
        """Of each stream whose latest piece is known, how many pieces came; of a handle, how many bytes."""
        self._asked: dict[StreamName, deque[Asked]] = {}

    def lose(self) -> None:
        """Take that messages were lost: each may have been a piece of any stream."""
        self._followed.clear()
        for waiting in self._asked.values():
            for each in waiting:
                each.spoiled = True

    def take_call(self, connection: str, session_id: str, method: str, params: msgspec.Raw) -> Asked | None:
        """Take a command; return what `take_reply` needs, None where it asks for no piece."""
        if method == _BODY:
            stream = _chunks(
                connection, session_id, "Network.dataReceived", _decode(params, _Params).request_id
            )
            asked = Asked(stream)
        elif method == _READ:
            given = _decode(params, _Params)
            asked = Asked(_handle(connection, given.handle), given.offset)
        else:
            return None
        self._asked.setdefault(asked.stream, deque()).append(asked)
        if len(self._asked) > MOST_STREAMS:
            for each in self._asked.pop(next(iter(self._asked))):
                each.spoiled = True
        return asked

    def take_reply(
        self, connection: str, method: str, asked: Asked | None, result: msgspec.Raw, *, refused: bool
    ) -> Piece | None:
        """Take the reply to a command; return where the piece in it stands, None where there is none in it."""
        if asked is None:
            if method in _GIVE_HANDLES and not refused:
                given = _decode(result, _Result)
                self._note_handles(connection, given.stream, given.resource.stream, given.uuid)
            return NOWHERE if method in STREAMS else None
        waiting = self._asked.get(asked.stream, deque())
        in_turn = bool(waiting) and waiting[0] is asked
        if asked in waiting:
            waiting.remove(asked)
        if not waiting:
            self._asked.pop(asked.stream, None)
        if refused:
            return None
        if not in_turn or asked.spoiled:
            return self._forget(asked.stream)
        if method == _BODY:
            self._follow(asked.stream, 1)
            return Piece(asked.stream, "first")
        return self._take_read(asked, result)

    def take_event(self, connection: str, session_id: str, method: str, params: msgspec.Raw) -> Piece | None:
        """Take an event; return where the piece in it stands, None where there is none in it."""
        if method not in _EVENTS:
            return None
        if method == "Network.dataReceived" and b'"data"' not in bytes(params):
            return None  # nobody asked for its content
        given = _decode(params, _Params)
        if method in MESSAGES:
            return Piece((connection, session_id, method, _name_in(given, MESSAGES[method])), "message")
        if method in _CHUNKS:
            stream = _chunks(connection, session_id, method, _name_in(given, _CHUNKS[method]))
            if (came := self._followed.get(stream)) is not None:
                self._follow(stream, came + 1)
                return Piece(stream, "next" if came else "first")
            for asked in self._asked.get(stream, ()):
                asked.spoiled = True
            return Piece(stream, "unknown")
        if method in _BEGIN:
            for each in _BEGIN[method]:
                self._follow(_chunks(connection, session_id, each, given.identifier), 0)
        elif method in _END:
            self._followed.pop(
                _chunks(connection, session_id, "Network.dataReceived", given.request_id), None
            )
        else:
            self._note_handles(connection, given.stream)
        return None

    def _take_read(self, asked: Asked, result: msgspec.Raw) -> Piece:
        at = self._followed.get(asked.stream)
        begin = at if asked.offset is None else asked.offset
        if begin is None or (begin != 0 and begin != at):
            return self._forget(asked.stream)
        read = _decode(result, _Read)
        size = (
            len(read.data) * 3 // 4 - read.data[-2:].count("=") if read.base64_encoded else _size(read.data)
        )
        self._follow(asked.stream, begin + size)
        return Piece(asked.stream, "first" if begin == 0 else "next")

    def _note_handles(self, connection: str, *handles: str) -> None:
        for each in filter(None, handles):
            self._follow(_handle(connection, each), 0)

    def _follow(self, stream: StreamName, came: int) -> None:
        self._followed[stream] = came
        self._followed.move_to_end(stream)
        if len(self._followed) > MOST_STREAMS:
            self._followed.popitem(last=False)

    def _forget(self, stream: StreamName) -> Piece:
        self._followed.pop(stream, None)
        for each in self._asked.get(stream, ()):
            each.spoiled = True
        return Piece(stream, "unknown")


def _chunks(connection: str, session_id: str, method: str, name: str) -> StreamName:
    return connection, session_id, method, name


def _handle(connection: str, handle: str) -> StreamName:
    # A handle is the browser's: any session of the connection may read it on. IO.resolveBlob gives what follows
    # "blob:" in the handle of a blob.
    return connection, _READ, handle.removeprefix("blob:")


def _name_in(params: _Params, field: str) -> str:
    return params.identifier if field == "identifier" else params.request_id


def _size(text: str) -> int:
    return len(text.encode("utf-8", "surrogatepass"))


S = TypeVar("S", bound=msgspec.Struct)


def _decode(raw: msgspec.Raw, as_type: type[S]) -> S:
    try:
        return _json.decode(raw, as_type)
    except msgspec.DecodeError:
        return as_type()
