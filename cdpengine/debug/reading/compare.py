"""Comparison of two recordings by the commands of each role. Pure.

Rule: sessions are matched by role ("page 1", numbered in the order of targets), messages by normalized payload.
Two recordings are the same if each role sent the same commands in the same order, with the same refusals and the
same kinds of events. The number of events and the durations vary between runs; they are reported but are not
differences. The shortest edit script is computed by the algorithm of Myers (1986). Its time and memory grow with
the number of differences, and the search stops at a bound.
"""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Literal

import attrs
import msgspec

from cdpengine import _json
from cdpengine.debug.normalization import normalize_payload, normalize_text
from cdpengine.debug.reading.figures import Quantiles
from cdpengine.debug.recording_format import Line, Message

MOST_DIFFERENCES = 500
"""Maximum number of differing commands of a role. Beyond it only the first difference is reported."""

CONTEXT = 2
"""Number of commands reported before and after a difference."""

_decode = _json.Decoder(Message).decode


@attrs.frozen
class Change:
    """A command in a difference.

    Its mark is "-" if only the first recording has it, "+" for the second, " " for both. An empty mark replaces
    omitted equal commands.
    """

    mark: str
    command: str


@attrs.frozen
class RoleDifference:
    """Differences of a role. `changes` is None if too many commands differ."""

    role: str
    commands: tuple[int, int]
    changes: tuple[Change, ...] | None
    first: tuple[str, str] | None
    moved: tuple[str, ...]
    refusals: tuple[tuple[str, int, int], ...]
    events: tuple[tuple[str, int, int], ...]

    @property
    def same(self) -> bool:
        """Whether the role behaved the same in both recordings."""
        return not (self.changes or self.first or self.refusals or self.events)


@attrs.frozen
class Count:
    """Number of calls (or events) of a method, and its median in milliseconds, in both recordings."""

    method: str
    counts: tuple[int, int]
    medians: tuple[float | None, float | None]

    @property
    def ratio(self) -> float | None:
        """The second median divided by the first, or None if either is missing."""
        first, second = self.medians
        return None if not first or second is None else second / first


@attrs.frozen
class Comparison:
    """The differences between two recordings."""

    only_first: tuple[str, ...]
    only_second: tuple[str, ...]
    roles: tuple[RoleDifference, ...]
    counts: tuple[Count, ...]

    @property
    def same(self) -> bool:
        """Whether the recordings are the same."""
        return not (self.only_first or self.only_second or self.roles)


class Commands:
    """Numbers for commands, shared by several recordings."""

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}
        self._texts: list[str] = []

    def number(self, text: str) -> int:
        """Return the number of a command."""
        number = self._numbers.setdefault(text, len(self._texts))
        if number == len(self._texts):
            self._texts.append(text)
        return number

    def text(self, number: int) -> str:
        """Return the command with a number."""
        return self._texts[number]


@attrs.define
class _Role:
    calls: array[int] = attrs.Factory(lambda: array("L"))
    refusals: Counter[str] = attrs.Factory(Counter)
    events: Counter[str] = attrs.Factory(Counter)


class Roles:
    """Role names of sessions, assigned in the order of appearance."""

    def __init__(self) -> None:
        self._names: dict[tuple[str, str], str] = {}
        self._connections: dict[str, int] = {}
        self._targets: dict[tuple[str, str], int] = {}
        self._types: Counter[str] = Counter()
        self._sessions: Counter[str] = Counter()

    def learn(self, line: Line) -> None:
        """Process a "target" line."""
        if line.s and (line.c, line.s) not in self._names:
            kind = line.type or "target"
            if (kind, line.T) not in self._targets:
                self._types[kind] += 1
                self._targets[kind, line.T] = self._types[kind]
            self._names[line.c, line.s] = self._number_role(f"{kind} {self._targets[kind, line.T]}", line.c)

    def of(self, line: Line) -> str:
        """Return the role of a line's session."""
        name = self._names.get((line.c, line.s))
        if name is None:
            if line.s:
                self._types["session"] += 1
                name = f"session {self._types['session']}"
            else:
                name = "browser"
            name = self._names[line.c, line.s] = self._number_role(name, line.c)
        return name

    def _number_role(self, name: str, connection: str) -> str:
        number = self._connections.setdefault(connection, len(self._connections) + 1)
        name = name if number == 1 else f"{name} on connection {number}"
        self._sessions[name] += 1
        again = self._sessions[name]
        return name if again == 1 else f"{name}, session {again}"


class Conduct:
    """The behaviour in one recording, by role. Lines are added in order."""

    def __init__(self, commands: Commands) -> None:
        self._commands = commands
        self._names = Roles()
        self.roles: dict[str, _Role] = {}
        self.counts: Counter[str] = Counter()
        self.durations: dict[str, Quantiles] = {}

    def add_all(self, lines: Iterable[Line]) -> None:
        """Count the behaviour of several lines."""
        for line in lines:
            self.add(line)

    def add(self, line: Line) -> None:
        """Count the behaviour of one line."""
        match line.k:
            case "target":
                self._names.learn(line)
            case "call":
                payload = _payload(line)
                self._role(line).calls.append(self._commands.number(f"{line.m} {normalize_payload(payload)}"))
                self.counts[line.m] += 1
            case "event":
                self._role(line).events[line.m] += 1
                self.counts[line.m] += 1
            case "reply" | "error":
                if line.ms is not None:
                    self.durations.setdefault(line.m, Quantiles()).add(line.ms)
                if line.k == "error":
                    self._role(line).refusals[f"{line.m}: {_refusal(line)}"] += 1
            case _:
                pass

    def _role(self, line: Line) -> _Role:
        return self.roles.setdefault(self._names.of(line), _Role())


def compare(first: Conduct, second: Conduct, commands: Commands) -> Comparison:
    """Compare two fully added recordings that share `commands`."""
    both = [role for role in first.roles if role in second.roles]
    differences = (_compare_roles(role, first.roles[role], second.roles[role], commands) for role in both)
    return Comparison(
        only_first=tuple(role for role in first.roles if role not in second.roles),
        only_second=tuple(role for role in second.roles if role not in first.roles),
        roles=tuple(difference for difference in differences if not difference.same),
        counts=tuple(_counts(first, second)),
    )


def _compare_roles(name: str, first: _Role, second: _Role, commands: Commands) -> RoleDifference:
    steps = steps_between(first.calls, second.calls, most=MOST_DIFFERENCES)
    changes: tuple[Change, ...] | None = None
    beginning: tuple[str, str] | None = None
    moved: tuple[str, ...] = ()
    if steps is None:
        at = next(
            i for i, (a, b) in enumerate(zip([*first.calls, -1], [*second.calls, -1], strict=False)) if a != b
        )
        beginning = (_at(first.calls, at, commands), _at(second.calls, at, commands))
    else:
        gone = Counter(first.calls[index] for what, index in steps if what == "gone")
        new = Counter(second.calls[index] for what, index in steps if what == "new")
        moved = tuple(commands.text(number) for number in gone & new)
        marked = [
            Change(
                {"same": " ", "gone": "-", "new": "+"}[what],
                commands.text(second.calls[index] if what == "new" else first.calls[index]),
            )
            for what, index in steps
        ]
        changes = tuple(_abridge(marked))
    kinds = first.events.keys() ^ second.events.keys()
    return RoleDifference(
        role=name,
        commands=(len(first.calls), len(second.calls)),
        changes=changes,
        first=beginning,
        moved=moved,
        refusals=_find_differing(first.refusals, second.refusals),
        events=tuple((kind, first.events[kind], second.events[kind]) for kind in sorted(kinds)),
    )


def _abridge(changes: list[Change]) -> Iterator[Change]:
    """Yield the changes with some commands around each, or nothing if all commands are equal."""
    near: set[int] = set()
    for index, change in enumerate(changes):
        if change.mark != " ":
            near.update(range(index - CONTEXT, index + CONTEXT + 1))
    if not near:
        return
    left_out = 0
    for index, change in enumerate(changes):
        if index in near:
            if left_out:
                yield Change("", f"{left_out} the same")
            left_out = 0
            yield change
        else:
            left_out += 1
    if left_out:
        yield Change("", f"{left_out} the same")


def _at(calls: array[int], index: int, commands: Commands) -> str:
    return commands.text(calls[index]) if index < len(calls) else "(nothing more)"


def _find_differing(first: Counter[str], second: Counter[str]) -> tuple[tuple[str, int, int], ...]:
    names = sorted(first.keys() | second.keys())
    return tuple((name, first[name], second[name]) for name in names if first[name] != second[name])


def _counts(first: Conduct, second: Conduct) -> Iterator[Count]:
    for method in sorted(first.counts.keys() | second.counts.keys()):
        medians = tuple(
            conduct.durations[method].at(0.5) if method in conduct.durations else None
            for conduct in (first, second)
        )
        yield Count(method, (first.counts[method], second.counts[method]), (medians[0], medians[1]))


class _Refusal(msgspec.Struct):
    code: int = 0
    message: str = ""


def _payload(line: Line) -> bytes:
    try:
        return bytes(_decode(line.msg).params)
    except msgspec.DecodeError:
        return b'"<no message>"'


def _refusal(line: Line) -> str:
    try:
        refusal = _json.decode(_decode(line.msg).error, _Refusal)
    except msgspec.DecodeError:
        return "(unreadable)"
    return f"{normalize_text(refusal.message)} [{refusal.code}]"


# --- the shortest edit script -----------------------------------------------------------

Step = tuple[Literal["same", "gone", "new"], int]
"""An edit and its index: in the old sequence for "same" and "gone", in the new sequence for "new"."""


def steps_between(old: Sequence[int], new: Sequence[int], *, most: int) -> list[Step] | None:
    """Return the edits that turn `old` into `new`, or None if more than `most` items differ."""
    head = 0
    while head < len(old) and head < len(new) and old[head] == new[head]:
        head += 1
    tail = 0
    while tail < min(len(old), len(new)) - head and old[-1 - tail] == new[-1 - tail]:
        tail += 1
    middle = _myers(old[head : len(old) - tail], new[head : len(new) - tail], most)
    if middle is None:
        return None
    steps: list[Step] = [("same", index) for index in range(head)]
    steps += [(what, index + head) for what, index in middle]
    steps += [("same", index) for index in range(len(old) - tail, len(old))]
    return steps


def _myers(old: Sequence[int], new: Sequence[int], most: int) -> list[Step] | None:
    furthest = {1: 0}  # furthest position in `old` for each diagonal (x - y)
    history: list[dict[int, int]] = []
    for differences in range(min(most, len(old) + len(new)) + 1):
        history.append(dict(furthest))
        for diagonal in range(-differences, differences + 1, 2):
            down = diagonal == -differences or (
                diagonal != differences and furthest.get(diagonal - 1, -1) < furthest.get(diagonal + 1, -1)
            )
            x = furthest[diagonal + 1] if down else furthest[diagonal - 1] + 1
            y = x - diagonal
            while x < len(old) and y < len(new) and old[x] == new[y]:
                x, y = x + 1, y + 1
            furthest[diagonal] = x
            if x >= len(old) and y >= len(new):
                return _walk_back(history, len(old), len(new))
    return None


def _walk_back(history: list[dict[int, int]], x: int, y: int) -> list[Step]:
    steps: list[Step] = []
    for differences in range(len(history) - 1, -1, -1):
        furthest = history[differences]
        diagonal = x - y
        down = diagonal == -differences or (
            diagonal != differences and furthest.get(diagonal - 1, -1) < furthest.get(diagonal + 1, -1)
        )
        came_from = diagonal + 1 if down else diagonal - 1
        old_x = furthest[came_from]
        old_y = old_x - came_from
        while x > old_x and y > old_y:
            x, y = x - 1, y - 1
            steps.append(("same", x))
        if differences:
            steps.append(("new", old_y) if down else ("gone", old_x))
            x, y = old_x, old_y
    steps.reverse()
    return steps
