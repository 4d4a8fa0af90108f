"""The JSON of messages, and the mux: calls and events of many sessions over one stream of messages. Sans-I/O.

Rule: no trio, no sockets, no clock. Decoding a message reads only its envelope. Parameters, results and errors
stay raw JSON until their consumer decodes them, once, into its type. Unknown fields of an envelope are ignored,
and missing fields have defaults.

The mux accepts messages, calls and ends of sessions, and returns deliveries. A call is in the table from its
opening until exactly one of these happens: its reply arrives, it is closed, or its session or the connection ends.
No sequence of messages makes the mux raise. Each unroutable message becomes a Stray and is counted.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Literal, TypeVar, cast

import attrs
import msgspec

from cdpengine import _json
from cdpengine.errors import InvalidArgumentError

T = TypeVar("T")


class Envelope(msgspec.Struct, gc=False):
    """Any message from the browser: a reply has an `id`, an event has a `method`. Payloads are raw JSON."""

    id: int | None = None
    method: str | None = None
    params: msgspec.Raw = msgspec.Raw(b"")
    result: msgspec.Raw = msgspec.Raw(b"")
    error: msgspec.Raw = msgspec.Raw(b"")
    session_id: str | None = msgspec.field(default=None, name="sessionId")


class ErrorBody(msgspec.Struct):
    """The error of a reply, in Chrome's words (JSON-RPC 2.0: code, message, data)."""

    code: int = 0
    message: str = "no message"
    data: Any = None


OBJECT = dict[str, Any]
"""The type of results that are decoded as a dict. Its decoder is cached here; msgspec caches those of Structs."""

_decode_object = _json.Decoder(OBJECT).decode

decode_envelope = _json.Decoder(Envelope).decode
"""Read the envelope of one message. Raises msgspec.DecodeError if it is not one."""


def envelope_or_none(message: bytes | str) -> Envelope | None:
    """Read the envelope of one message, or return None if it is not one."""
    try:
        return decode_envelope(message)
    except msgspec.DecodeError:
        return None


def encode_call(call_id: int, method: str, params: Mapping[str, Any], session_id: str | None) -> bytes:
    """Return the JSON of one command.

    Raises InvalidArgumentError if a parameter has no JSON form. Unpaired surrogates are escaped.
    """
    message: dict[str, Any] = {"id": call_id, "method": method, "params": params}
    if session_id is not None:
        message["sessionId"] = session_id
    try:
        return _json.encode(message)
    except (TypeError, ValueError, OverflowError, RecursionError) as error:
        raise _no_json_error(method, error) from None


def _no_json_error(method: str, error: Exception) -> InvalidArgumentError:
    return InvalidArgumentError(
        what=f"parameters of {method}",
        given=f"values that JSON cannot hold ({error})",
        expected="None, bool, numbers, str, list and dict",
    )


def decode_payload(raw: bytes | msgspec.Raw, kind: type[T]) -> T:
    """Decode raw JSON into `kind`. Raises the errors of `_json.decode`."""
    return cast("T", _decode_object(raw)) if kind is OBJECT else _json.decode(raw, kind)


def decode_error(raw: bytes | msgspec.Raw) -> ErrorBody:
    """Decode the error of a reply. An unknown shape becomes an ErrorBody with code 0."""
    try:
        return decode_payload(raw, ErrorBody)
    except msgspec.DecodeError:
        return ErrorBody(code=0, message="an error of an unknown shape")


# --- the mux -------------------------------------------------------------------------------------------------

StrayKind = Literal["late", "unknown", "malformed", "shapeless"]


@attrs.define(eq=False)
class Call:
    """A command without a reply yet. `message` is its JSON.

    `waiter` and `cause` (the action that sent it) belong to the connection.
    """

    id: int
    method: str
    session_id: str | None
    message: bytes
    waiter: Any = None
    cause: Any = None


@attrs.define(eq=False)
class Reply:
    """The reply to `call`: `result` has raw JSON if the command succeeded, `error` if Chrome refused it.

    Both are empty if the message was damaged after its id. `damage` then describes the damage.
    """

    call: Call
    result: msgspec.Raw | bytes
    error: msgspec.Raw | bytes
    damage: str = ""


@attrs.frozen
class Stray:
    """An unroutable message; `kind` is the reason.

    late       a reply to a call that was closed or had ended, or a second reply
    unknown    a reply with an id that was never assigned
    malformed  not a JSON object with the types of an envelope
    shapeless  neither a reply nor an event
    """

    kind: StrayKind
    detail: str


_ID_AT_START = re.compile(rb'\s*\{\s*"id"\s*:\s*(\d{1,15})\s*[,}]')


class Mux:
    """Assigns ids, keeps the table of pending calls, and routes incoming messages."""

    def __init__(self) -> None:
        self._next_id = 1
        self._pending: dict[int, Call] = {}
        self.strays: dict[StrayKind, int] = {"late": 0, "unknown": 0, "malformed": 0, "shapeless": 0}

    @property
    def pending(self) -> Mapping[int, Call]:
        """The open calls, by id."""
        return self._pending

    def open_call(self, method: str, params: Mapping[str, Any], session_id: str | None) -> Call:
        """Assign an id to a command and add it to the table.

        Raises InvalidArgumentError if it has no JSON form.
        """
        call_id = self._next_id
        call = Call(call_id, method, session_id, encode_call(call_id, method, params, session_id))
        self._next_id = call_id + 1
        self._pending[call_id] = call
        return call

    def close_call(self, call: Call) -> bool:
        """Remove a call from the table; its reply then counts as late. Return False if it was already removed."""
        return self._pending.pop(call.id, None) is not None

    def end_session(self, session_id: str | None) -> list[Call]:
        """Remove and return all pending calls of one session.

        None is the connection's own session; the calls of other sessions stay.
        """
        ended = [call for call in self._pending.values() if call.session_id == session_id]
        for call in ended:
            del self._pending[call.id]
        return ended

    def end(self) -> list[Call]:
        """Remove and return every pending call, because the connection is over."""
        ended = list(self._pending.values())
        self._pending.clear()
        return ended

    def feed(self, message: bytes | str, envelope: Envelope | None = None) -> Reply | Envelope | Stray:
        """Route one message, with its `envelope` if it is already decoded.

        Return an event as its envelope. Never raises.
        """
        if envelope is None:
            try:
                envelope = decode_envelope(message)
            except msgspec.DecodeError as error:
                return self._route_damaged(message, str(error))
        if envelope.id is not None:
            return self._route_reply(envelope)
        if envelope.method is not None:
            return envelope
        return self._count_stray("shapeless", "neither id nor method")

    def _route_reply(self, envelope: Envelope) -> Reply | Stray:
        call_id = envelope.id
        assert call_id is not None
        call = self._pending.pop(call_id, None)
        if call is None:
            if 0 < call_id < self._next_id:
                return self._count_stray("late", f"reply {call_id}")
            return self._count_stray("unknown", f"reply {call_id}, an id that was never assigned")
        return Reply(call, envelope.result, envelope.error)

    def _route_damaged(self, message: bytes | str, why: str) -> Reply | Stray:
        # A damaged reply with a readable id ends its call, so that its waiter does not wait forever.
        head = message[:64]
        found = _ID_AT_START.match(head if isinstance(head, bytes) else head.encode("utf-8", "replace"))
        call = self._pending.pop(int(found[1]), None) if found else None
        stray = self._count_stray("malformed", f"{len(message)} characters: {why}")
        return Reply(call, b"", b"", damage=why) if call is not None else stray

    def _count_stray(self, kind: StrayKind, detail: str) -> Stray:
        self.strays[kind] += 1
        return Stray(kind, detail)
