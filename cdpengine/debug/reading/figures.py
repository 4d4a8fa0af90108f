"""Statistics of a recording: traffic, durations, failures and gaps. Pure.

Rule: memory depends on the number of methods and sessions, not of messages. Beyond a bound, further methods and
sessions share one row. Calls in flight need no memory: a recorded reply names its method, so the difference of the
counts is the number of unanswered calls. Quantiles use buckets whose bounds grow by a fixed factor. Each quantile
is within 1 % of the exact one for every distribution and order.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator

import attrs

from cdpengine.debug.reading.display import SessionTargets
from cdpengine.debug.recording_format import Line

MOST_ROWS = 2_000
"""Maximum number of separate methods, sessions and kinds of actions, and of actions in flight."""

OTHERS = "(others)"
UNKNOWN = "(unknown call)"
"""Replies without a recorded call: it was sent before the recording, or lost."""

MOST_GAPS = 1_000
"""Maximum number of listed gaps. All gaps are counted."""


@attrs.frozen
class Durations:
    """Milliseconds from calls to their replies. Quantiles are accurate to 1 %; `most` is exact."""

    p50: float
    p95: float
    p99: float
    most: float


@attrs.frozen(kw_only=True)
class Counts:
    """Counters. Bytes are counted on the wire; errors are refusing replies."""

    calls: int
    events: int
    replies: int
    errors: int
    unanswered: int
    bytes_out: int
    bytes_in: int


@attrs.frozen(kw_only=True)
class MethodFigures:
    """Statistics of a method. `durations` is None without a recorded reply."""

    method: str
    counts: Counts
    durations: Durations | None


@attrs.frozen(kw_only=True)
class SessionFigures:
    """Statistics of a session. An empty `session` means the browser's session; `url` is the last URL."""

    connection: str
    session: str
    target: str
    type: str
    url: str
    counts: Counts
    durations: Durations | None


@attrs.frozen(kw_only=True)
class ActionFigures:
    """Statistics of one kind of the program's actions, such as "page.click".

    `count` actions began, `failed` of them raised, and `unended` have no recorded end. `refused` counts their
    commands that Chrome refused. `durations` are the durations of whole actions, or None if no action ended.
    """

    name: str
    count: int
    failed: int
    unended: int
    refused: int
    durations: Durations | None


@attrs.frozen
class Gap:
    """Lines missing from the file, at time `t` in seconds. `told`: the recorder itself reported the loss."""

    t: float
    count: int
    told: bool


@attrs.frozen
class Figures:
    """Statistics of one recording.

    `seconds` is the time from its first line to its last; `http` counts HTTP requests.
    """

    seconds: float
    messages: int
    strays: int
    http: int
    actions: int
    counts: Counts
    events_per_second: float | None
    busiest_second: int
    busiest_events: int
    lost: int
    missing: int
    gaps: tuple[Gap, ...]
    methods: tuple[MethodFigures, ...]
    sessions: tuple[SessionFigures, ...]
    by_action: tuple[ActionFigures, ...]


# --- quantiles -----------------------------------------------------------------------------------------------

PRECISION = 0.01
"""Maximum relative error of a quantile."""

_GROWTH = (1 + PRECISION) / (1 - PRECISION)
_LOG_GROWTH = math.log(_GROWTH)
_MIDDLE = 2 / (_GROWTH + 1)
"""Position within a bucket, as a fraction of its upper bound, that is at most PRECISION from both ends."""

_LEAST, _MOST = 1e-3, 1e11
"""Smaller values count as zero, larger ones as this maximum."""


class Quantiles:
    """A histogram of values of zero or more. `most` is the exact maximum."""

    __slots__ = ("_buckets", "_zeros", "count", "most")

    def __init__(self) -> None:
        self.count = 0
        self.most = 0.0
        self._zeros = 0
        self._buckets: dict[int, int] = {}

    def add(self, value: float) -> None:
        """Count one value."""
        self.count += 1
        if value > self.most:
            self.most = value
        if value < _LEAST:
            self._zeros += 1
            return
        bucket = math.ceil(math.log(value if value < _MOST else _MOST) / _LOG_GROWTH)
        self._buckets[bucket] = self._buckets.get(bucket, 0) + 1

    def at(self, part: float) -> float | None:
        """Return the quantile `part` (0 to 1), or None without values."""
        if not self.count:
            return None
        rank = max(1, math.ceil(part * self.count))
        covered = self._zeros
        if rank <= covered:
            return 0.0
        for bucket in sorted(self._buckets):
            covered += self._buckets[bucket]
            if rank <= covered:
                return min(_GROWTH**bucket * _MIDDLE, self.most)
        return self.most


# --- the count -----------------------------------------------------------------------------------------------


@attrs.define
class _ActionRow:
    count: int = 0
    ended: int = 0
    failed: int = 0
    refused: int = 0
    durations: Quantiles = attrs.Factory(Quantiles)


@attrs.define
class _Row:
    calls: int = 0
    events: int = 0
    replies: int = 0
    errors: int = 0
    bytes_out: int = 0
    bytes_in: int = 0
    known_replies: int = 0
    durations: Quantiles = attrs.Factory(Quantiles)

    def counts(self) -> Counts:
        return Counts(
            calls=self.calls,
            events=self.events,
            replies=self.replies,
            errors=self.errors,
            unanswered=max(0, self.calls - self.known_replies),
            bytes_out=self.bytes_out,
            bytes_in=self.bytes_in,
        )


class Tally:
    """Counters over the lines of one recording, added in order."""

    def __init__(self) -> None:
        self._first: float | None = None
        self._last = 0.0
        self._methods: dict[str, _Row] = {}
        self._sessions: dict[tuple[str, str], _Row] = {}
        self._session_targets = SessionTargets(MOST_ROWS)
        self._strays = 0
        self._http = 0
        self._stray_bytes = [0, 0]
        self._actions = 0
        self._by_action: dict[str, _ActionRow] = {}
        self._under_way: dict[int, _ActionRow] = {}
        self._second = 0
        self._in_second = 0
        self._busiest = (0, 0)
        self._next_number = 0
        self._lost = 0
        self._missing = 0
        self._gaps: list[Gap] = []

    def add_all(self, lines: Iterable[Line]) -> None:
        """Count several lines."""
        for line in lines:
            self.add(line)

    def add(self, line: Line) -> None:
        """Count one line."""
        if self._first is None:
            self._first = line.t
        elif line.n > self._next_number > 0:
            self._gap(line.t, line.n - self._next_number, reported=False)
        self._next_number = line.n + 1
        self._last = max(self._last, line.t)
        kind = line.k
        if kind == "event":
            if line.m == "Target.targetInfoChanged":
                self._session_targets.learn(line)
            row, session = self._rows(line)
            row.events += 1
            row.bytes_in += line.z
            session.events += 1
            session.bytes_in += line.z
            self._count_second(int(line.t))
        elif kind == "call":
            row, session = self._rows(line)
            row.calls += 1
            row.bytes_out += line.z
            session.calls += 1
            session.bytes_out += line.z
        elif kind in ("reply", "error"):
            self._reply(line)
        else:
            self._other(line)

    def figures(self) -> Figures:
        """Return the statistics so far."""
        seconds = self._last - (self._first or 0.0)
        methods = tuple(
            MethodFigures(method=name, counts=row.counts(), durations=_durations(row.durations))
            for name, row in sorted(self._methods.items(), key=_by_count)
        )
        whole = Counts(
            calls=sum(each.counts.calls for each in methods),
            events=sum(each.counts.events for each in methods),
            replies=sum(each.counts.replies for each in methods),
            errors=sum(each.counts.errors for each in methods),
            unanswered=sum(each.counts.unanswered for each in methods),
            bytes_out=sum(each.counts.bytes_out for each in methods) + self._stray_bytes[0],
            bytes_in=sum(each.counts.bytes_in for each in methods) + self._stray_bytes[1],
        )
        busiest = max(self._busiest, (self._in_second, self._second), key=lambda each: each[0])
        return Figures(
            seconds=seconds,
            messages=whole.calls + whole.events + whole.replies + self._strays,
            strays=self._strays,
            http=self._http,
            actions=self._actions,
            counts=whole,
            events_per_second=whole.events / seconds if seconds > 0 else None,
            busiest_second=busiest[1],
            busiest_events=busiest[0],
            lost=self._lost,
            missing=self._missing,
            gaps=tuple(self._gaps),
            methods=methods,
            sessions=tuple(self._session_figures()),
            by_action=tuple(self._action_figures()),
        )

    def _action_figures(self) -> Iterator[ActionFigures]:
        for name, row in sorted(self._by_action.items(), key=lambda item: (-item[1].count, item[0])):
            yield ActionFigures(
                name=name,
                count=row.count,
                failed=row.failed,
                unended=row.count - row.ended,
                refused=row.refused,
                durations=_durations(row.durations),
            )

    def _session_figures(self) -> Iterator[SessionFigures]:
        for key, row in sorted(self._sessions.items(), key=_by_count):
            where = self._session_targets.of(*key)
            yield SessionFigures(
                connection=key[0],
                session=key[1],
                target=where.target,
                type=where.type,
                url=where.url,
                counts=row.counts(),
                durations=_durations(row.durations),
            )

    def _reply(self, line: Line) -> None:
        row, session = self._rows(line)
        for each in (row, session):
            each.replies += 1
            each.bytes_in += line.z
            each.errors += line.k == "error"
            each.known_replies += line.m != ""
            if line.ms is not None:
                each.durations.add(line.ms)
        if line.k == "error" and (action := self._under_way.get(line.span)) is not None:
            action.refused += 1

    def _other(self, line: Line) -> None:
        match line.k:
            case "target":
                self._session_targets.learn(line)
            case "span":
                self._action(line)
            case "span-end":
                if (ended := self._under_way.pop(line.span, None)) is not None:
                    ended.ended += 1
                    ended.failed += bool(line.failed)
                    ended.durations.add(line.ms or 0.0)
            case "stray":
                self._strays += 1
                self._stray_bytes[line.d == "<"] += line.z
            case "http":
                self._http += 1
            case "lost":
                self._next_number += line.count
                self._gap(line.t, line.count, reported=True)
            case _:
                pass

    def _action(self, line: Line) -> None:
        self._actions += 1
        name = line.name.partition(" ")[0]
        if name not in self._by_action and len(self._by_action) >= MOST_ROWS:
            name = OTHERS
        row = self._by_action.setdefault(name, _ActionRow())
        row.count += 1
        self._under_way[line.span] = row
        if len(self._under_way) > MOST_ROWS:
            del self._under_way[next(iter(self._under_way))]

    def _rows(self, line: Line) -> tuple[_Row, _Row]:
        method = line.m or UNKNOWN
        row = self._methods.get(method)
        if row is None:
            method = method if len(self._methods) < MOST_ROWS else OTHERS
            row = self._methods.setdefault(method, _Row())
        key = (line.c, line.s)
        session = self._sessions.get(key)
        if session is None:
            key = key if len(self._sessions) < MOST_ROWS else ("", OTHERS)
            session = self._sessions.setdefault(key, _Row())
        return row, session

    def _count_second(self, second: int) -> None:
        if second != self._second:
            self._busiest = max(self._busiest, (self._in_second, self._second), key=lambda each: each[0])
            self._second, self._in_second = second, 0
        self._in_second += 1

    def _gap(self, t: float, count: int, *, reported: bool) -> None:
        if reported:
            self._lost += count
        else:
            self._missing += count
        if len(self._gaps) < MOST_GAPS:
            self._gaps.append(Gap(t, count, told=reported))


def _by_count(item: tuple[object, _Row]) -> tuple[int, str]:
    row = item[1]
    return -(row.calls + row.events + row.replies), str(item[0])


def _durations(quantiles: Quantiles) -> Durations | None:
    p50, p95, p99 = (quantiles.at(part) for part in (0.5, 0.95, 0.99))
    if p50 is None or p95 is None or p99 is None:
        return None
    return Durations(round(p50, 3), round(p95, 3), round(p99, 3), quantiles.most)
