"""A recording as a trace for Perfetto and chrome://tracing (Chrome's JSON trace events). Pure.

Rule: each session is a process of the trace. Its calls are slices from the command to the reply. Overlapping calls
use several threads, because slices of a thread must nest. Events are instants on a separate thread. The program's
actions are slices of one process. Flows lead from an action to its calls, and from the latest call in flight to
the events of its session. They show the order, not the cause. The trace is written while reading; only work in
flight is kept in memory.
"""

from __future__ import annotations

from collections.abc import Generator, Iterable, Iterator
from heapq import heappop, heappush

import attrs
import msgspec

from cdpengine import _json
from cdpengine.debug.reading.display import BROWSER, SHORT_ID, SessionTargets
from cdpengine.debug.recording_format import Header, Line, Message

ACTIONS = 1
"""Process number of the program's actions. Sessions have the next numbers."""

EVENTS = 1
"""Thread number of a session's events, within its process. Threads of calls have the next numbers."""

MOST_FLOWS = 32
"""Maximum number of flows from one call to events."""

LONGEST = 1_000
"""Maximum size of a payload argument, in bytes."""

TraceEvent = dict[str, object]
"""An event of the trace: ph (phase), ts (whole microseconds), pid, tid, and the fields of its phase."""

_decode = _json.Decoder(Message).decode
_encode = _json.encode


def trace_document(header: Header, lines: Iterable[Line]) -> Iterator[bytes]:
    """Yield the trace of a recording in pieces: one JSON object."""
    about = {
        "recorded": header.started,
        "browser": header.product,
        "secrets": "redacted" if header.redacted else "not redacted",
    }
    yield b'{"displayTimeUnit":"ms","otherData":' + _encode(about) + b',"traceEvents":[\n'
    tracer = Tracer()
    comma = b""
    for events in _all_events(tracer, lines):
        for event in events:
            yield comma + _encode(event)
            comma = b",\n"
    yield b"\n]}\n"


def _all_events(tracer: Tracer, lines: Iterable[Line]) -> Iterator[Iterator[TraceEvent]]:
    for line in lines:
        yield tracer.events(line)
    yield tracer.end()


@attrs.define
class _Threads:
    """Allocator of threads for overlapping slices. It returns the lowest free one."""

    first: int
    free: list[int] = attrs.Factory(list)
    made: int = 0

    def take(self) -> int:
        if self.free:
            return heappop(self.free)
        self.made += 1
        return self.first + self.made - 1

    def give_back(self, thread: int) -> None:
        heappush(self.free, thread)


@attrs.define
class _Call:
    thread: int
    began: int
    span: int
    flows: int = 0


@attrs.define
class _Action:
    thread: int
    latest: int


@attrs.define
class _Track:
    process: int
    threads: _Threads
    named: set[int] = attrs.Factory(set)
    calls: dict[int, _Call] = attrs.Factory(dict)  # calls in flight by id, the latest last


class Tracer:
    """Converter of one recording to trace events: `events` for each line, then `end`."""

    def __init__(self) -> None:
        self._tracks: dict[tuple[str, str], _Track] = {}
        self._session_targets = SessionTargets()
        self._actions: dict[int, _Action] = {}
        self._action_track = _Track(ACTIONS, _Threads(first=1))
        self._flow = 0
        self._nameless = -(1 << 62)
        self._now = 0
        self._latest_number = ACTIONS
        self._numbers: dict[tuple[int, int], int] = {}

    def events(self, line: Line) -> Iterator[TraceEvent]:
        """Yield the trace events of one line."""
        self._now = max(round(line.t * 1e6), self._now)
        self._session_targets.learn(line)
        match line.k:
            case "span":
                yield from self._begin_action(line)
            case "span-end":
                yield from self._end_action(line.span, self._now, line.failed)
            case "call":
                yield from self._begin_call(line)
            case "reply" | "error":
                yield from self._reply(line)
            case "event":
                yield from self._event(line)
            case "stray":
                track = yield from self._track(line)
                yield from self._instant(track, "(no message)", "stray", {"message": _text(line.msg)})
            case "http":
                yield from self._name_actions(1)
                what = f"{line.m} {line.url}"
                yield self._at("i", ACTIONS, 1, name=what, cat="http", s="g", args={"status": line.status})
            case "lost":
                yield from self._name_actions(1)
                what = f"{line.count} messages lost"
                yield self._at("i", ACTIONS, 1, name=what, cat="lost", s="g", args={"count": line.count})
            case _:
                pass

    def end(self) -> Iterator[TraceEvent]:
        """Yield the ends of unfinished slices. They last until the end of the recording."""
        for key, track in self._tracks.items():
            yield from self._give_up(track, "none until the end of the recording")
            # The session's last URL is known only now.
            name = f"{key[1][:SHORT_ID] or BROWSER} {self._session_targets.of(*key)}".rstrip()
            yield self._name_event("process_name", track.process, EVENTS, {"name": name})
        for number in list(self._actions):
            yield from self._end_action(number, None)

    # --- calls and events ----------------------------------------------------------------------------------

    def _begin_call(self, line: Line) -> Iterator[TraceEvent]:
        track = yield from self._track(line)
        thread = track.threads.take()
        yield from self._thread(track, thread, _calls_name(thread))
        number = line.id
        if number is None or number in track.calls:
            # No id, or the id of a call in flight: a reply cannot be matched to this call.
            self._nameless -= 1
            number = self._nameless
        track.calls[number] = _Call(thread, self._now, line.span)
        arguments: TraceEvent = {"id": line.id, "params": _text(_message(line).params), "bytes out": line.z}
        process = track.process
        yield self._at("B", process, thread, name=line.m or "(no method)", cat="call", args=arguments)
        action = self._actions.get(line.span)  # None also after its end: some commands are sent late
        if action is not None:
            action.latest = self._now
            self._flow += 1
            flow: TraceEvent = {"name": "caused", "cat": "flow", "id": self._flow}
            yield self._at("s", ACTIONS, action.thread, **flow)
            yield self._at("f", process, thread, bp="e", **flow)

    def _reply(self, line: Line) -> Iterator[TraceEvent]:
        track = yield from self._track(line)
        call = track.calls.pop(line.id, None) if line.id is not None else None
        message = _message(line)
        key, payload = ("error", message.error) if line.k == "error" else ("result", message.result)
        arguments: TraceEvent = {key: _text(payload), "bytes in": line.z}
        if call is None:
            yield from self._instant(track, "reply to an unknown call", line.k, {"id": line.id, **arguments})
        else:
            yield self._end_call(track, call, arguments)

    def _event(self, line: Line) -> Iterator[TraceEvent]:
        track = yield from self._track(line)
        yield from self._thread(track, EVENTS, "events")
        if track.calls:
            call = track.calls[next(reversed(track.calls))]
            if call.flows < MOST_FLOWS:
                call.flows += 1
                self._flow += 1
                flow: TraceEvent = {"name": "meanwhile", "cat": "flow", "id": self._flow}
                yield self._at("s", track.process, call.thread, **flow)
                # Without "bp", the flow ends at the next event of the thread: the instant.
                yield self._at("f", track.process, EVENTS, **flow)
        message = _message(line)
        arguments: TraceEvent = {"params": _text(message.params), "bytes": line.z}
        yield from self._instant(track, line.m or "(no method)", "event", arguments)
        if line.m == "Target.detachedFromTarget":
            gone = self._tracks.get((line.c, _session_of(message)))
            if gone is not None:
                yield from self._give_up(gone, "none: the session ended")

    def _instant(self, track: _Track, name: str, kind: str, arguments: TraceEvent) -> Iterator[TraceEvent]:
        yield from self._thread(track, EVENTS, "events")
        yield self._at("i", track.process, EVENTS, name=name, cat=kind, s="t", args=arguments)

    def _end_call(self, track: _Track, call: _Call, arguments: TraceEvent) -> TraceEvent:
        track.threads.give_back(call.thread)
        action = self._actions.get(call.span)
        if action is not None:
            action.latest = self._now
        return self._at("E", track.process, call.thread, args=arguments)

    def _give_up(self, track: _Track, why: str) -> Iterator[TraceEvent]:
        for call in track.calls.values():
            yield self._end_call(track, call, {"reply": why})
        track.calls.clear()

    # --- actions -------------------------------------------------------------------------------------------

    def _begin_action(self, line: Line) -> Iterator[TraceEvent]:
        if line.span in self._actions:
            return
        thread = self._action_track.threads.take()
        yield from self._name_actions(thread)
        self._actions[line.span] = _Action(thread, self._now)
        arguments = {"span": line.span}
        yield self._at("B", ACTIONS, thread, name=line.name, cat="action", args=arguments)

    def _end_action(self, number: int, now: int | None, failed: str = "") -> Iterator[TraceEvent]:
        """End an action at `now`. Without a recorded end, use its latest call or reply."""
        action = self._actions.pop(number, None)
        if action is not None:
            self._action_track.threads.give_back(action.thread)
            more: TraceEvent = {"args": {"failed": failed}} if failed else {}
            yield self._at("E", ACTIONS, action.thread, **more) | {
                "ts": action.latest if now is None else now
            }

    def _name_actions(self, thread: int) -> Iterator[TraceEvent]:
        if not self._action_track.named:
            yield self._name_event("process_name", ACTIONS, EVENTS, {"name": "actions"})
            yield self._name_event("process_sort_index", ACTIONS, EVENTS, {"sort_index": 0})
        yield from self._thread(
            self._action_track, thread, "actions" if thread == 1 else f"actions ({thread})"
        )

    # --- tracks --------------------------------------------------------------------------------------------

    def _track(self, line: Line) -> Generator[TraceEvent, None, _Track]:
        track = self._tracks.get((line.c, line.s))
        if track is None:
            process = self._number()
            track = self._tracks[line.c, line.s] = _Track(process, _Threads(first=EVENTS + 1))
            yield self._name_event(
                "process_labels", process, EVENTS, {"labels": f"{line.c} {line.s}".strip()}
            )
            yield self._name_event("process_sort_index", process, EVENTS, {"sort_index": process})
        return track

    def _thread(self, track: _Track, thread: int, name: str) -> Iterator[TraceEvent]:
        if thread not in track.named:
            track.named.add(thread)
            yield self._name_event("thread_name", track.process, thread, {"name": name})
            yield self._name_event("thread_sort_index", track.process, thread, {"sort_index": thread})

    def _at(self, phase: str, process: int, thread: int, **fields: object) -> TraceEvent:
        return {"ph": phase, "ts": self._now, "pid": process, "tid": self._tid(process, thread), **fields}

    def _name_event(self, what: str, process: int, thread: int, arguments: TraceEvent) -> TraceEvent:
        tid = self._tid(process, thread)
        return {"ph": "M", "name": what, "ts": 0, "pid": process, "tid": tid, "args": arguments}

    def _tid(self, process: int, thread: int) -> int:
        """Return a thread's number. It is unique over all processes because Perfetto ignores the process."""
        number = self._numbers.get((process, thread))
        if number is None:
            number = self._numbers[process, thread] = self._number()
        return number

    def _number(self) -> int:
        self._latest_number += 1
        return self._latest_number


class _Detached(msgspec.Struct, rename="camel"):
    session_id: str = ""


def _calls_name(thread: int) -> str:
    number = thread - EVENTS
    return "calls" if number == 1 else f"calls ({number})"


def _message(line: Line) -> Message:
    try:
        return _decode(line.msg)
    except msgspec.DecodeError:
        return Message()


def _session_of(message: Message) -> str:
    try:
        return _json.decode(message.params, _Detached).session_id
    except msgspec.DecodeError:
        return ""


def _text(raw: msgspec.Raw) -> str:
    view = memoryview(raw)
    text = bytes(view[:LONGEST]).decode("utf-8", "ignore")
    return text if len(view) <= LONGEST else f"{text}... ({len(view)} bytes)"
