"""Playback of a recording: responses to calls, and detection of divergences. Pure: no socket, clock or task.

Rule: a call matches the first unused recorded call of its connection and session with its method and parameters,
so tasks of a program may run in another order. Messages of the browser are delivered in the recorded order over
all connections: a reply after its call, an event after every call sent before it. Calls that the program omits are
skipped after a pause in which nothing else happens. The first call without a match is the divergence. A call for a
target that is gone in the recording gets Chrome's error. HTTP requests are calls too. Queries, and commands that
have no further effect when repeated, may be sent more or less often than recorded. Differing generated names are
renamed, in calls and in messages to the program.
"""

from __future__ import annotations

import re
import time
from collections import defaultdict
from collections.abc import Iterable, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

import attrs
import msgspec

from cdpengine import _json
from cdpengine._protocol.messages import Envelope, decode_envelope
from cdpengine.debug.normalization import Clock
from cdpengine.debug.reading.recording import open_recording
from cdpengine.debug.recording.fingerprints import Fingerprints, Typing
from cdpengine.debug.recording_format import Header, Line, http_params
from cdpengine.debug.replaying.divergences import Divergences
from cdpengine.debug.replaying.matching import Renaming, Trial, decode_params, fits, same
from cdpengine.debug.replaying.tape import (
    HTTP,
    NO_SESSION,
    NO_SESSION_TO_DETACH,
    NO_TARGET,
    QUESTIONS,
    REPEATED,
    Client,
    ClientCall,
    HttpReply,
    Received,
    RecordedCall,
    Tape,
    decode_message,
    is_empty_evaluation,
    is_http_read,
    is_report,
    is_second_report,
    page_path,
)
from cdpengine.errors import InvalidArgumentError, ReplayDivergedError

DIVERGED = -32050
"""Error code for a call that is not in the recording.

JSON-RPC reserves -32000 to -32099 for servers; Chrome uses the first few.
"""

_NO_PRINTS = "the comparison of entered text: the recording has no fingerprints"


@attrs.frozen(eq=False)
class Delivery:
    """A message for a client."""

    client: Client
    message: bytes


class Playback:
    """A recording being replayed, held in memory. Create it with `load_playback`.

    `divergence` is the first divergence, or None. `strict`: entered text must equal the recorded text. `now` is
    the time in seconds since 1970, None if unknown.
    """

    def __init__(
        self,
        path: str,
        lines: Iterable[Line],
        *,
        header: Header | None = None,
        strict: bool = False,
        now: float | None = None,
    ) -> None:
        self._header = header or Header()
        self._tape = Tape(lines)
        self._names = Renaming(Clock(_began(self._header), now), self._tape.gave)
        by = None
        if strict:
            by = _fingerprints(self._header)
            if by is None and self._tape.has_redacted:
                self._tape.lacking.append(_NO_PRINTS)
        self._by = by
        self._typing = Typing()
        self._divergences = Divergences(path, self._header, self._names, by)
        self._divergences.typed = self._typing.texts
        self._reads: dict[str, Received] = {}  # the latest answer to each
        self.path = path
        self.product = self._tape.product
        self.divergence: ReplayDivergedError | None = None
        self.calls = self._tape.calls
        self.passed_over = self._tape.lacking
        self._received = self._tape.received
        self._connections = self._tape.connections
        self._open: dict[tuple[str, str], dict[str, list[RecordedCall]]] = {}
        self._immediate: list[Delivery] = []
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
        """Recorded calls not made yet, except those that came too late for their target."""
        return [call for call in self.calls if call.client_call is None and not call.optional]

    @property
    def is_pipe(self) -> bool:
        """Whether a pipe was recorded. It is a single connection, so a second one finds nothing."""
        return any(name.partition(" ")[0] == "pipe" for name in self._connections)

    @property
    def page_paths(self) -> Sequence[str]:
        """Recorded websocket paths of single pages."""
        return self._tape.page_paths

    def join(self, path: str) -> Client:
        """Add a client. `path` is the path of its websocket."""
        self._joined += 1
        return Client(self._joined, path)

    def ask(self, client: Client, message: bytes | str) -> bool:
        """Process one message. Returns False if it is not a call. `due` then has the messages to send."""
        try:
            envelope = decode_envelope(message)
        except msgspec.DecodeError:
            return False
        if envelope.id is None:
            return False
        client_call = ClientCall(client, envelope.id, envelope.session_id)
        method, typist = envelope.method or "", (client.number, envelope.session_id or "")
        raw = message if isinstance(message, bytes) else _json.to_bytes(message)
        self._divergences.learn(method, raw)
        self._typing.add(typist, method, envelope.params)
        call = self._find(client, envelope)
        if call is None and (repeatable := self._find_repeatable(client, envelope)) is not None:
            self._immediate.append(self._reply(repeatable, client_call))
        elif call is None:
            gone = self._answer_gone(envelope)
            answer = None if gone else self._answer_query(client_call, envelope)
            if answer is None:
                code, text = gone or (DIVERGED, str(self._report(client, envelope)))
                answer = Delivery(client, _refusal(client_call, code, text))
            self._immediate.append(answer)
        elif not self._typing.matches_recording(typist, call.typed, self._by):
            error = self._keep(self._divergences.another_typed(method, call))
            self._immediate.append(Delivery(client, _refusal(client_call, DIVERGED, str(error))))
        else:
            self._answer(call, client_call)
        return True

    def ask_http(self, client: Client, method: str, target: str) -> bool:
        """Process an HTTP request. Returns False for an unrecorded read without effects.

        `due` then has the response: a message that is an HttpReply.
        """
        client_call = ClientCall(client, 0, None)
        params = http_params(target)
        call = self._match(HTTP, method, "", params)
        if call is not None:
            self._answer(call, client_call)
            return True
        if is_http_read(method, target):
            if (latest := self._reads.get(params["path"])) is not None:
                self._immediate.append(self._reply(latest, client_call))
            return latest is not None
        error = self._keep(self._divergences.another_over_http(method, params, self.calls))
        self._immediate.append(Delivery(client, _refusal(client_call, DIVERGED, str(error), http=True)))
        return True

    def due(self) -> list[Delivery]:
        """Return the messages to send now, in order, and mark them as sent."""
        deliveries, self._immediate = self._immediate, []
        while self._next < len(self._received):
            item = self._received[self._next]
            call = item.call
            if call is not None:
                if call.client_call is not None:
                    deliveries.append(self._reply(item, call.client_call))
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
                    deliveries.append(Delivery(client, self._names.rename(item.message)))
            self._next += 1
        return deliveries

    def find_pause(self) -> float | None:
        """Return how long the program paused at this point of the recording, in seconds; None at its end.

        After that time and `PATIENCE`, `pass_over` may be called.
        """
        if self._next >= len(self._received):
            return None
        missing = self._find_missing()
        before = max(
            (
                call.seconds
                for call in self.calls
                if call.client_call is not None and call.position < missing[0].position
            ),
            default=0.0,
        )
        if self._next:
            before = max(before, self._received[self._next - 1].seconds)
        return max(0.0, missing[0].seconds - before)

    def pass_over(self) -> None:
        """Skip the calls that block the next message. They can still be made."""
        for call in self._find_missing():
            call.passed_over = True

    def _find_missing(self) -> list[RecordedCall]:
        """Return the outstanding calls that block the next message; at least one."""
        blocked = self._received[self._next]
        missing = [call for call in self.calls if _holds_back(call) and call.position < blocked.position]
        if blocked.call is not None:
            missing = [blocked.call]
        return missing

    # --- helpers ----------------------------------------------------------------------------------------------

    def _answer(self, call: RecordedCall, client_call: ClientCall) -> None:
        call.client_call = client_call
        self._open[call.connection, call.session][call.method].remove(call)
        if call.late is not None:
            self._immediate.append(self._reply(call.late, client_call))

    def _find_repeatable(self, client: Client, envelope: Envelope) -> Received | None:
        """Return the recorded answer to a call that may be repeated without effect."""
        method = envelope.method or ""
        if method not in QUESTIONS and method not in REPEATED:
            return None
        params = decode_params(envelope.params)

        def is_repeated(call: RecordedCall) -> bool:
            if call.method != method or method in QUESTIONS:
                return call.method == method
            there = (call.connection, call.session) == (client.connection, envelope.session_id or "")
            fitting = fits(
                method, call.params(), params, self._names.trial(), self._divergences.strictness(call)
            )
            return there and call.client_call is not None and fitting

        answers = (item for item in self._received[: self._next] if item.call and is_repeated(item.call))
        return next(answers, None)

    def _answer_query(self, client_call: ClientCall, envelope: Envelope) -> Delivery | None:
        """Answer a query that the engine sends depending on time, and that the recording lacks."""
        method = envelope.method or ""
        if is_empty_evaluation(method, envelope.params):
            return Delivery(client_call.client, _answer_zero(client_call))
        if not is_second_report(method, envelope.params):
            return None
        session = envelope.session_id or ""
        first = (
            item
            for item in reversed(self._received)
            if item.call is not None
            and item.call.client_call is not None
            and item.call.session == session
            and is_report(item.call.method, item.call.raw)
        )
        return next((self._reply(item, client_call) for item in first), None)

    def _first_unasked(self) -> float:
        calls = self.calls
        while self._next_call < len(calls) and not _holds_back(calls[self._next_call]):
            self._next_call += 1
        return calls[self._next_call].position if self._next_call < len(calls) else 1 << 62

    def _find(self, client: Client, envelope: Envelope) -> RecordedCall | None:
        params = decode_params(envelope.params)
        named = envelope.method or "", envelope.session_id or ""
        if client.connection is not None:
            return self._match(client.connection, *named, params)
        free = [
            name for name in self._connections if name not in self._clients and _serves(name, client.path)
        ]
        for name in free:
            if (call := self._match(name, *named, params)) is not None:
                client.connection = name
                self._clients[name] = client
                return call
        return None

    def _match(self, connection: str, method: str, session: str, params: Any) -> RecordedCall | None:
        candidates = self._open.get((connection, session), {}).get(method, ())
        for call in candidates:
            if same(call.params(), params):
                return call
        first: tuple[RecordedCall, Trial] | None = None
        for call in candidates:
            trial = self._names.trial()
            if fits(method, call.params(), params, trial, self._divergences.strictness(call)):
                if not trial.pairs:
                    return call
                first = first or (call, trial)
        if first is None:
            return None
        call, trial = first
        trial.accept()
        return call

    def _report(self, client: Client, envelope: Envelope) -> ReplayDivergedError:
        method, session = envelope.method or "", envelope.session_id or ""
        connection = client.connection
        if connection is None:
            free = [name for name in self._connections if name not in self._clients]
            connection = free[0] if free else None
        if connection is None:
            return self._keep(self._divergences.one_more(method, session, len(self._connections)))
        open_here = self._open.get((connection, session), {})
        params = decode_params(envelope.params)
        return self._keep(self._divergences.another_call(method, session, params, open_here, self.calls))

    def _keep(self, error: ReplayDivergedError) -> ReplayDivergedError:
        if self.divergence is None:
            self.divergence = error
        return error

    def _reply(self, item: Received, client_call: ClientCall) -> Delivery:
        if item.cut or item.withheld:
            error = self._keep(self._divergences.cut(item) if item.cut else self._divergences.withheld(item))
            http = item.connection == HTTP
            return Delivery(client_call.client, _refusal(client_call, DIVERGED, str(error), http=http))
        if item.connection == HTTP:
            assert item.call is not None
            self._reads[item.call.params()["path"]] = item
            return Delivery(client_call.client, self._names.rename(item.message))
        return Delivery(client_call.client, _renumber(self._names.rename(item.message), client_call.id))

    def _note_end(self, item: Received) -> None:
        """Remember ended targets and sessions."""
        if item.method in ("Target.targetDestroyed", "Target.detachedFromTarget"):
            params = decode_params(decode_message(item.message).params)
            if item.method == "Target.targetDestroyed":
                self._gone_targets.add(params.get("targetId", ""))
            else:
                self._gone_sessions.add(params.get("sessionId", ""))

    def _answer_gone(self, envelope: Envelope) -> tuple[int, str] | None:
        """Return Chrome's answer to a call for an ended target.

        Programs send these calls or not, depending on timing.
        """
        if envelope.session_id in self._gone_sessions:
            return NO_SESSION, "Session with given id not found."
        params = decode_params(envelope.params)
        if isinstance(params, dict) and params.get("targetId") in self._gone_targets:
            return -32602, f"{NO_TARGET} found"
        if envelope.method == "Target.detachFromTarget" and params.get("sessionId") in self._gone_sessions:
            return -32602, NO_SESSION_TO_DETACH
        return None


def load_playback(path: str | Path, *, strict: bool = False) -> Playback:
    """Read a whole recording for replay.

    Raises the errors of `open_recording`: InvalidArgumentError and FileUnreadableError.
    """
    with open_recording(path) as recording:
        playback = Playback(str(path), recording, header=recording.header, strict=strict, now=time.time())
        playback.product = playback.product or recording.header.product
        playback.passed_over += [f"damaged: {damage}" for damage in recording.all_damage]
    if not playback.calls:
        raise InvalidArgumentError(what="recording", given=str(path), expected="one with calls in it")
    return playback


_ID = re.compile(rb'^\s*\{\s*"id"\s*:\s*\d+')


def _renumber(message: bytes, call_id: int) -> bytes:
    # Chrome writes the id first. The rest may be large and is not decoded.
    head = _ID.match(message)
    if head is not None:
        return b'{"id":%d' % call_id + message[head.end() :]
    fields = _json.decode(message, dict[str, msgspec.Raw])
    fields["id"] = msgspec.Raw(b"%d" % call_id)
    return _json.encode(fields)


def _refusal(client_call: ClientCall, code: int, text: str, *, http: bool = False) -> bytes:
    if http:
        body = msgspec.Raw(_json.encode(f"{text}\n"))
        return _json.encode(HttpReply(500, "text/plain; charset=UTF-8", body))
    return _reply_of(client_call, error={"code": code, "message": text})


def _answer_zero(client_call: ClientCall) -> bytes:
    """Return the reply to an empty evaluation that the recording lacks."""
    return _reply_of(client_call, result={"result": {"type": "number", "value": 0, "description": "0"}})


def _reply_of(client_call: ClientCall, **content: object) -> bytes:
    session = {} if client_call.session_id is None else {"sessionId": client_call.session_id}
    return _json.encode({"id": client_call.id, **content, **session})


def _fingerprints(header: Header) -> Fingerprints | None:
    if not header.redacted:
        return Fingerprints(b"", most=0)  # unredacted strings are compared directly
    return Fingerprints(bytes.fromhex(header.salt), most=1 << 62) if header.salt else None


def _began(header: Header) -> float | None:
    try:
        return datetime.fromisoformat(header.started).timestamp()
    except ValueError:
        return None


def _holds_back(call: RecordedCall) -> bool:
    return call.client_call is None and not call.optional and not call.passed_over


def _serves(connection: str, path: str) -> bool:
    return page_path(connection) == page_path(path)
