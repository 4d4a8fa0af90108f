"""The multiplexer: many sessions' calls and events over one stream of messages. Sans-I/O.

Rule: no trio, no sockets, no clock. It is fed messages and answers with what to deliver; it takes calls,
and of what ended. A call is in the table from the moment it is opened until its reply is fed, it is closed,
or its session or the connection ends: exactly one of these, exactly once. No sequence of messages makes it
raise; what it cannot place it names as a Stray, and counts.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Literal

import attrs
import msgspec

from cdpengine._protocol.messages import Envelope, decode_envelope, encode_call

StrayKind = Literal["late", "unknown", "malformed", "shapeless"]


@attrs.define(eq=False)
class Call:
    """A command that was opened and not yet answered. `message` is its JSON.

    `waiter` and `cause` (the action that it is sent for) are the shell's business.
    """

    id: int
    method: str
    session_id: str | None
    message: bytes
    waiter: Any = None
    cause: Any = None


@attrs.frozen(eq=False)
class Reply:
    """The answer to `call`: `result` raw when Chrome obeyed, `error` raw when it refused.

    Both are empty when the message was damaged after its id; `damage` then says how.
    """

    call: Call
    result: msgspec.Raw | bytes
    error: msgspec.Raw | bytes
    damage: str = ""


@attrs.frozen(eq=False)
class Notice:
    """An event: `params` are raw JSON (empty when there are none)."""

    method: str
    session_id: str | None
    params: msgspec.Raw


@attrs.frozen
class Stray:
    """A message that belongs to nobody; `kind` says why.

    late       a reply to a call that was closed or had ended, or a second reply
    unknown    a reply with an id that was never given out
    malformed  not a JSON object with the types of an envelope
    shapeless  neither a reply nor an event
    """

    kind: StrayKind
    detail: str


_ID_AT_START = re.compile(rb'\s*\{\s*"id"\s*:\s*(\d{1,15})\s*[,}]')


class Mux:
    """Gives out ids, keeps the table of pending calls, routes what comes in."""

    def __init__(self) -> None:
        self._next_id = 1
        self._pending: dict[int, Call] = {}
        self.strays: dict[StrayKind, int] = {"late": 0, "unknown": 0, "malformed": 0, "shapeless": 0}

    @property
    def pending(self) -> Mapping[int, Call]:
        """The calls that are open now, by id."""
        return self._pending

    def open_call(self, method: str, params: Mapping[str, Any], session_id: str | None) -> Call:
        """Give the command an id and put it into the table.

        Raises InvalidArgumentError when it has no JSON form.
        """
        call_id = self._next_id
        call = Call(call_id, method, session_id, encode_call(call_id, method, params, session_id))
        self._next_id = call_id + 1
        self._pending[call_id] = call
        return call

    def close_call(self, call: Call) -> bool:
        """Take the call out of the table; its reply will be counted as late. False when it was out already."""
        return self._pending.pop(call.id, None) is not None

    def end_session(self, session_id: str | None) -> list[Call]:
        """Take out and return all pending calls of one session: they will get no reply.

        None is the connection's own session, and means only that one's calls, not those of all sessions.
        """
        ended = [call for call in self._pending.values() if call.session_id == session_id]
        for call in ended:
            del self._pending[call.id]
        return ended

    def end(self) -> list[Call]:
        """Take out and return every pending call: the connection is over."""
        ended = list(self._pending.values())
        self._pending.clear()
        return ended

    def feed(self, message: bytes | str, envelope: Envelope | None = None) -> Reply | Notice | Stray:
        """Route one message, which may have been read as `envelope` before. Never raises."""
        if envelope is None:
            try:
                envelope = decode_envelope(message)
            except msgspec.DecodeError as error:
                return self._damaged(message, str(error))
        if envelope.id is not None:
            return self._reply(envelope)
        if envelope.method is not None:
            return Notice(envelope.method, envelope.session_id, envelope.params)
        return self._stray("shapeless", "neither id nor method")

    def _reply(self, envelope: Envelope) -> Reply | Stray:
        call_id = envelope.id
        assert call_id is not None
        call = self._pending.pop(call_id, None)
        if call is None:
            if 0 < call_id < self._next_id:
                return self._stray("late", f"reply {call_id}")
            return self._stray("unknown", f"reply {call_id}, which was never given out")
        return Reply(call, envelope.result, envelope.error)

    def _damaged(self, message: bytes | str, why: str) -> Reply | Stray:
        # A damaged reply whose id can still be read ends its own call, so that nobody waits for it in vain.
        head = message[:64]
        found = _ID_AT_START.match(head if isinstance(head, bytes) else head.encode("utf-8", "replace"))
        call = self._pending.pop(int(found[1]), None) if found else None
        stray = self._stray("malformed", f"{len(message)} characters: {why}")
        return Reply(call, b"", b"", damage=why) if call is not None else stray

    def _stray(self, kind: StrayKind, detail: str) -> Stray:
        self.strays[kind] += 1
        return Stray(kind, detail)
