"""Positions of content pieces in their streams. Pure.

Rule: a stream is one request of a session, one `IO.read` handle, or one direction of a socket, each within a
connection. A reply does not name its stream and is matched by its command. A piece without a known position is
withheld: its stream began before the recording or while messages were lost, it arrived before the reply with the
beginning, or it was read from the middle.
"""

from __future__ import annotations

from collections import OrderedDict, deque
from typing import Literal, TypeVar

import attrs
import msgspec

from cdpengine import _json

StreamName = tuple[str, ...]

Place = Literal["first", "next", "message", "unknown"]
"""Position of a piece: the first; after the previous piece; after it and also a message of its own; or unknown."""

MOST_STREAMS = 2_000
"""Maximum number of tracked streams. Beyond it the least recently used are forgotten and then withheld."""

MESSAGES = {
    "Network.webSocketFrameSent": "requestId",
    "Network.webSocketFrameReceived": "requestId",
    "Network.eventSourceMessageReceived": "requestId",
    "Network.directUDPSocketChunkSent": "identifier",
    "Network.directUDPSocketChunkReceived": "identifier",
}
"""Events with whole messages, possibly cut by their sender, and the field that names their stream."""

_CHUNKS = {
    "Network.dataReceived": "requestId",
    "Network.directTCPSocketChunkSent": "identifier",
    "Network.directTCPSocketChunkReceived": "identifier",
}
"""Events with the data received meanwhile, cut at any byte."""

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
"""Methods that return or send a handle from which nothing was read yet."""

_BODY = "Network.streamResourceContent"
_READ = "IO.read"

STREAMS = frozenset({_BODY, _READ, *_CHUNKS, *MESSAGES})
"""Methods that transfer content in pieces, so that a secret may be split."""

_EVENTS = frozenset({*_CHUNKS, *MESSAGES, *_BEGIN, *_END, *_GIVE_HANDLES})


@attrs.frozen
class Piece:
    """The stream of a piece, and its position in the stream."""

    stream: StreamName
    place: Place


NOWHERE = Piece((), "unknown")


@attrs.define(eq=False)
class PieceRequest:
    """A command that requests a piece of a stream. `offset` is the position for IO.read, None for the current one.

    `spoiled`: other data arrived in between, so the next piece does not follow this one.
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
    """Tracker of the streams of one recording. It takes calls, replies and events in wire order."""

    def __init__(self) -> None:
        self._followed: OrderedDict[StreamName, int] = OrderedDict()
        """Number of pieces of each stream whose latest piece is known; for a handle, number of bytes."""
        self._pending: dict[StreamName, deque[PieceRequest]] = {}

    def lose(self) -> None:
        """Note the loss of messages. Each of them may have been a piece of any stream."""
        self._followed.clear()
        for waiting in self._pending.values():
            for each in waiting:
                each.spoiled = True

    def take_call(
        self, connection: str, session_id: str, method: str, params: msgspec.Raw
    ) -> PieceRequest | None:
        """Process a command. Return the argument for `take_reply`, or None if it requests no piece."""
        if method == _BODY:
            stream = _chunks(
                connection, session_id, "Network.dataReceived", decode_or_default(params, _Params).request_id
            )
            request = PieceRequest(stream)
        elif method == _READ:
            decoded = decode_or_default(params, _Params)
            request = PieceRequest(_handle(connection, decoded.handle), decoded.offset)
        else:
            return None
        self._pending.setdefault(request.stream, deque()).append(request)
        if len(self._pending) > MOST_STREAMS:
            for each in self._pending.pop(next(iter(self._pending))):
                each.spoiled = True
        return request

    def take_reply(
        self,
        connection: str,
        method: str,
        request: PieceRequest | None,
        result: msgspec.Raw,
        *,
        refused: bool,
    ) -> Piece | None:
        """Process the reply to a command. Return the position of its piece, or None without a piece."""
        if request is None:
            if method in _GIVE_HANDLES and not refused:
                decoded = decode_or_default(result, _Result)
                self._note_handles(connection, decoded.stream, decoded.resource.stream, decoded.uuid)
            return NOWHERE if method in STREAMS else None
        waiting = self._pending.get(request.stream, deque())
        in_turn = bool(waiting) and waiting[0] is request
        if request in waiting:
            waiting.remove(request)
        if not waiting:
            self._pending.pop(request.stream, None)
        if refused:
            return None
        if not in_turn or request.spoiled:
            return self._forget(request.stream)
        if method == _BODY:
            self._follow(request.stream, 1)
            return Piece(request.stream, "first")
        return self._take_read(request, result)

    def take_event(self, connection: str, session_id: str, method: str, params: msgspec.Raw) -> Piece | None:
        """Process an event. Return the position of its piece, or None without a piece."""
        if method not in _EVENTS:
            return None
        if method == "Network.dataReceived" and b'"data"' not in bytes(params):
            return None  # its content was not requested
        decoded = decode_or_default(params, _Params)
        if method in MESSAGES:
            return Piece((connection, session_id, method, _name_in(decoded, MESSAGES[method])), "message")
        if method in _CHUNKS:
            stream = _chunks(connection, session_id, method, _name_in(decoded, _CHUNKS[method]))
            if (came := self._followed.get(stream)) is not None:
                self._follow(stream, came + 1)
                return Piece(stream, "next" if came else "first")
            for request in self._pending.get(stream, ()):
                request.spoiled = True
            return Piece(stream, "unknown")
        if method in _BEGIN:
            for each in _BEGIN[method]:
                self._follow(_chunks(connection, session_id, each, decoded.identifier), 0)
        elif method in _END:
            self._followed.pop(
                _chunks(connection, session_id, "Network.dataReceived", decoded.request_id), None
            )
        else:
            self._note_handles(connection, decoded.stream)
        return None

    def _take_read(self, request: PieceRequest, result: msgspec.Raw) -> Piece:
        at = self._followed.get(request.stream)
        begin = at if request.offset is None else request.offset
        if begin is None or (begin != 0 and begin != at):
            return self._forget(request.stream)
        read = decode_or_default(result, _Read)
        size = (
            len(read.data) * 3 // 4 - read.data[-2:].count("=") if read.base64_encoded else _size(read.data)
        )
        self._follow(request.stream, begin + size)
        return Piece(request.stream, "first" if begin == 0 else "next")

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
        for each in self._pending.get(stream, ()):
            each.spoiled = True
        return Piece(stream, "unknown")


def _chunks(connection: str, session_id: str, method: str, name: str) -> StreamName:
    return connection, session_id, method, name


def _handle(connection: str, handle: str) -> StreamName:
    # A handle belongs to the browser, so any session of the connection may continue to read it. IO.resolveBlob
    # returns a blob's handle without its prefix "blob:".
    return connection, _READ, handle.removeprefix("blob:")


def _name_in(params: _Params, field: str) -> str:
    return params.identifier if field == "identifier" else params.request_id


def _size(text: str) -> int:
    return len(text.encode("utf-8", "surrogatepass"))


S = TypeVar("S", bound=msgspec.Struct)


def decode_or_default(raw: msgspec.Raw, as_type: type[S]) -> S:
    """Return the decoded structure, or one with its defaults if the JSON does not fit."""
    try:
        return _json.decode(raw, as_type)
    except msgspec.DecodeError:
        return as_type()
