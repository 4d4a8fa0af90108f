"""Playback: answers calls out of a recording, and says when they leave it. Pure: no socket, no clock, no task.

Rule: a call is matched with the first recorded one of its connection and session that has its method and
parameters and was not asked yet, so tasks of a program may run in another order than they did. What the
browser said is given in the order in which it came, over all connections: a reply when its call was asked, an
event when every call that was sent before it was asked. What a program leaves out is passed over when nothing
happens any more. The first call that nothing fits is the divergence; but what is gone in the recording is
answered as Chrome would.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import attrs
import msgspec

from cdpengine.debug.matching import decode_params, describe, fits, same
from cdpengine.debug.recording import Line, open_recording
from cdpengine.debug.tape import (
    NO_SESSION,
    NO_SESSION_TO_DETACH,
    NO_TARGET,
    Asked,
    Client,
    Received,
    RecordedCall,
    Tape,
    decode_message,
    page_path,
)
from cdpengine.errors import InvalidArgument, ReplayDiverged
from cdpengine.wire.messages import Envelope, decode_envelope

DIVERGED = -32050
"""The code of the error that a client gets for a call that is not in the recording (JSON-RPC leaves -32000 to
-32099 to servers; Chrome uses the first few)."""

_EXPECTED_SHOWN = 5


@attrs.frozen(eq=False)
class Delivery:
    """A message that is due to a client."""

    client: Client
    message: bytes


class Playback:
    """A recording that is being played. Holds all of it in memory.

    `divergence` is the first one, None while the program keeps to the recording. Make one with `load_playback`.
    """

    def __init__(self, path: str, lines: Iterable[Line]) -> None:
        self._tape = Tape(lines)
        self.path = path
        self.product = self._tape.product
        self.divergence: ReplayDiverged | None = None
        self.calls = self._tape.calls
        self.passed_over = self._tape.lacking
        self._received = self._tape.received
        self._connections = self._tape.connections
        self._open: dict[tuple[str, str], dict[str, list[RecordedCall]]] = {}
        self._at_once: list[Delivery] = []
        self._next = 0
        self._next_call = 0
        self._clients: dict[str, Client] = {}
        self._joined = 0
        self._gone_targets: set[str] = set()
        self._gone_sessions: set[str] = set()
        for call in self.calls:
            self._open.setdefault((call.connection, call.session), defaultdict(list))[call.method].append(
                call
            )

    # --- playing ---------------------------------------------------------------------------------------------

    @property
    def left(self) -> Sequence[RecordedCall]:
        """The recorded calls that nobody asked yet, those that came too late for their target aside."""
        return [call for call in self.calls if call.asked is None and not call.optional]

    @property
    def page_paths(self) -> Sequence[str]:
        """The paths of the websockets of single pages that were recorded."""
        return self._tape.page_paths

    def join(self, path: str) -> Client:
        """Take one more client; `path` is that of its websocket."""
        self._joined += 1
        return Client(self._joined, path)

    def ask(self, client: Client, message: bytes | str) -> bool:
        """Take one call; False for what is none. After it, `due` has what is to be sent."""
        try:
            envelope = decode_envelope(message)
        except msgspec.DecodeError:
            return False
        if envelope.id is None:
            return False
        asked = Asked(client, envelope.id, envelope.session_id)
        call = self._find(client, envelope)
        if call is None:
            code, text = self._gone(envelope) or (DIVERGED, str(self._diverged(client, envelope)))
            self._at_once.append(Delivery(client, _refusal(asked, code, text)))
            return True
        call.asked = asked
        self._open[call.connection, call.session][call.method].remove(call)
        if call.late is not None:
            self._at_once.append(self._reply(call.late, asked))
        return True

    def due(self) -> list[Delivery]:
        """Return what is to be sent now, in order, and take it as sent."""
        deliveries, self._at_once = self._at_once, []
        while self._next < len(self._received):
            item = self._received[self._next]
            call = item.call
            if call is not None:
                if call.asked is not None:
                    deliveries.append(self._reply(item, call.asked))
                elif call.passed_over or call.optional:
                    call.late = item
                else:
                    break
            else:
                if self._first_unasked() < item.position:
                    break
                self._note_end(item)
                client = self._clients.get(item.connection)
                if item.cut:
                    self.passed_over.append(f"the event {item.method} (line {item.line}) was cut")
                elif client is not None:
                    deliveries.append(Delivery(client, item.message))
            self._next += 1
        return deliveries

    def held_back(self) -> float | None:
        """Return for how many seconds the program did nothing in the recording where it is now, None at its end.

        After that time, and a patience, it does not do what is recorded next, and `pass_over` may be called.
        """
        if self._next >= len(self._received):
            return None
        missing = self._missing()
        before = max(
            (
                call.seconds
                for call in self.calls
                if call.asked is not None and call.position < missing[0].position
            ),
            default=0.0,
        )
        if self._next:
            before = max(before, self._received[self._next - 1].seconds)
        return max(0.0, missing[0].seconds - before)

    def pass_over(self) -> None:
        """Go on without the calls that hold back what comes next; they can still be asked."""
        for call in self._missing():
            call.passed_over = True

    def _missing(self) -> list[RecordedCall]:
        """Return the calls that were not asked and hold back what comes next: one at least."""
        blocked = self._received[self._next]
        missing = [call for call in self.calls if _holds_back(call) and call.position < blocked.position]
        if blocked.call is not None:
            missing = [blocked.call]
        return missing

    # --- inside ----------------------------------------------------------------------------------------------

    def _first_unasked(self) -> int:
        calls = self.calls
        while self._next_call < len(calls) and not _holds_back(calls[self._next_call]):
            self._next_call += 1
        return calls[self._next_call].position if self._next_call < len(calls) else 1 << 62

    def _find(self, client: Client, envelope: Envelope) -> RecordedCall | None:
        params = decode_params(envelope.params)
        if client.connection is not None:
            return self._match(client.connection, envelope, params)
        free = [
            name for name in self._connections if name not in self._clients and _serves(name, client.path)
        ]
        for name in free:
            if (call := self._match(name, envelope, params)) is not None:
                client.connection = name
                self._clients[name] = client
                return call
        return None

    def _match(self, connection: str, envelope: Envelope, params: Any) -> RecordedCall | None:
        method = envelope.method or ""
        by_method = self._open.get((connection, envelope.session_id or ""), {})
        candidates = by_method.get(method, ())
        for call in candidates:
            if same(call.params(), params):
                return call
        for call in candidates:
            if fits(method, call.params(), params):
                return call
        return None

    def _diverged(self, client: Client, envelope: Envelope) -> ReplayDiverged:
        method, session = envelope.method or "", envelope.session_id or ""
        where = f" on session {session[:8]}" if session else ""
        got = f"{method}{where}"
        connection = client.connection
        if connection is None:
            free = [name for name in self._connections if name not in self._clients]
            connection = free[0] if free else None
        if connection is None:
            reason = f"{len(self._connections)} connections were recorded, and this is one more"
            return self._keep(ReplayDiverged(path=self.path, line=0, got=got, expected=(), reason=reason))
        open_here = self._open.get((connection, session), {})
        expected = sorted(
            (call for calls in open_here.values() for call in calls), key=lambda call: call.position
        )
        nearest = next((call for call in expected if call.method == method), None)
        diff: tuple[str, ...] = ()
        if nearest is not None:
            reason = f"it was recorded with other parameters (line {nearest.line})"
            diff = tuple(describe(method, nearest.params(), decode_params(envelope.params)))
        elif any(c.method == method and c.session == session for c in self.calls):
            reason = "it was recorded fewer times than it is asked"
            expected = expected or [each for each in self.calls if each.asked is None]
        elif not expected:
            reason = "nothing more was recorded there" if open_here else "no such session was recorded"
        else:
            reason = "it was not recorded there"
        line = nearest or (expected[0] if expected else None)
        return self._keep(
            ReplayDiverged(
                path=self.path,
                line=line.line if line is not None else 0,
                got=got,
                expected=tuple(map(str, expected[:_EXPECTED_SHOWN])),
                reason=reason,
                diff=diff,
            )
        )

    def _keep(self, error: ReplayDiverged) -> ReplayDiverged:
        if self.divergence is None:
            self.divergence = error
        return error

    def _reply(self, item: Received, asked: Asked) -> Delivery:
        if item.cut:
            error = ReplayDiverged(
                path=self.path,
                line=item.line,
                got=item.method,
                expected=(),
                reason="its reply was cut when it was recorded: record with limit=0",
            )
            return Delivery(asked.client, _refusal(asked, DIVERGED, str(self._keep(error))))
        return Delivery(asked.client, _renumbered(item.message, asked.id))

    def _note_end(self, item: Received) -> None:
        """Remember the targets and sessions that are over."""
        if item.method in ("Target.targetDestroyed", "Target.detachedFromTarget"):
            params = decode_params(decode_message(item.message).params)
            if item.method == "Target.targetDestroyed":
                self._gone_targets.add(params.get("targetId", ""))
            else:
                self._gone_sessions.add(params.get("sessionId", ""))

    def _gone(self, envelope: Envelope) -> tuple[int, str] | None:
        """Return Chrome's answer to a call for what is over: whether a program still asks is a matter of luck."""
        if envelope.session_id in self._gone_sessions:
            return NO_SESSION, "Session with given id not found."
        params = decode_params(envelope.params)
        if isinstance(params, dict) and params.get("targetId") in self._gone_targets:
            return -32602, f"{NO_TARGET} found"
        if envelope.method == "Target.detachFromTarget" and params.get("sessionId") in self._gone_sessions:
            return -32602, NO_SESSION_TO_DETACH
        return None


def load_playback(path: str | Path) -> Playback:
    """Read a whole recording. Raises InvalidArgument and RecordingDamaged as `open_recording` does."""
    with open_recording(path) as recording:
        playback = Playback(str(path), recording)
        playback.product = playback.product or recording.header.product
        playback.passed_over += [f"damaged: {damage}" for damage in recording.all_damage()]
    if not playback.calls:
        raise InvalidArgument(what="recording", given=str(path), expected="one with calls in it")
    return playback


_ID = re.compile(rb'^\s*\{\s*"id"\s*:\s*\d+')


def _renumbered(message: bytes, call_id: int) -> bytes:
    # Chrome puts the id first; the rest, which can be large, stays as it is.
    head = _ID.match(message)
    if head is not None:
        return b'{"id":%d' % call_id + message[head.end() :]
    fields = msgspec.json.decode(message, type=dict[str, msgspec.Raw])
    fields["id"] = msgspec.Raw(b"%d" % call_id)
    return msgspec.json.encode(fields)


def _refusal(asked: Asked, code: int, text: str) -> bytes:
    message: dict[str, Any] = {"id": asked.id, "error": {"code": code, "message": text}}
    if asked.session_id is not None:
        message["sessionId"] = asked.session_id
    return msgspec.json.encode(message)


def _holds_back(call: RecordedCall) -> bool:
    return call.asked is None and not call.optional and not call.passed_over


def _serves(connection: str, path: str) -> bool:
    return page_path(connection) == page_path(path)
