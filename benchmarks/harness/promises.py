"""The engine's performance promises and goals, as data, and their check against a run. Pure.

Rule: rounds decide, by the sign test (`confidence.py`). A promise holds if the range of the median is within the
tolerance, and fails if 99 % confidence says so. Otherwise it is unknown, which is no failure. A promise that was not
measured does not hold. A goal is not a promise: it describes the optimum, and no run fails because of it.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from fnmatch import fnmatchcase
from typing import Literal

import attrs

from benchmarks.harness.confidence import decide, median_range
from benchmarks.harness.figures import COUNTED, Measurement, Unit, ratio_of, ratios, shown, shown_ratio
from benchmarks.harness.peers import MCP_SERVERS
from benchmarks.harness.report import Report

State = Literal["holds", "within the tolerance", "fails", "unknown", "not measured"]

SAME_ROUNDS = 0.1
"""Tolerance for sides with turns in the same rounds, whose ratios vary by about 10 %."""

FEW_ROUNDS = 0.2
"""Tolerance for few rounds, or for a large share of Chrome's work, whose ratios vary more."""

OTHER_ROUNDS = 0.3  # tolerance for sides that were measured successively
ROUNDS_OF_COUNTS = 7  # counts do not vary, so one round counts like these
OTHER_MACHINE = 1.0
"""Tolerance for an absolute time on any machine: half the speed breaks no promise."""

GOAL = 0.05  # tolerated shortfall of a goal


@attrs.frozen
class Promise:
    """A promise about the figure whose name matches the glob `figure`.

    With `over`: `side` is at least `least` times better than the side `over`, in the figure `over_figure` if given.
    Otherwise: `side` takes at most `most`, in the figure's unit. `obstacle` explains why a goal is not reached.
    """

    figure: str
    over: str = ""
    least: float = 0.0
    tolerance: float = SAME_ROUNDS
    side: str = "engine"
    most: float = math.inf
    over_figure: str = ""
    obstacle: str = ""

    @property
    def text(self) -> str:
        """The promise in words: "actions: click: at least 5 times better than playwright"."""
        variant = self.side.partition(": ")[2]
        name = f"{self.figure} ({variant})" if variant else self.figure
        if not self.over:
            return f"{name}: at most {self.most:g}"
        other = f"{self.over} in “{self.over_figure}”" if self.over_figure else self.over
        if self.least == 1:
            return f"{name}: no worse than {other}"
        if self.least < 1:
            return f"{name}: at most {1 / self.least:.3g} times worse than {other}"
        return f"{name}: at least {self.least:g} times better than {other}"

    @property
    def case(self) -> str:
        return self.figure.partition(":")[0]

    def sides_of(self, figure: str) -> set[str]:
        """Return the sides that the promise compares in the figure of that name; none if it concerns others."""
        own = {self.side} if fnmatchcase(figure, self.figure) else set()
        others = {self.over or self.side} if fnmatchcase(figure, self.over_figure or self.figure) else set()
        return own | others


@attrs.frozen
class Verdict:
    """A run's verdict about a promise. `figure` describes the measured figure."""

    promise: Promise
    state: State
    figure: str

    @property
    def kept(self) -> bool:
        """Whether the promise holds, within the accuracy of one run."""
        return self.state in ("holds", "within the tolerance")


def _at_most(figure: str, most: float, side: str = "engine") -> Promise:
    return Promise(figure, side=side, most=most, tolerance=OTHER_MACHINE)


def _beside_servers() -> list[Promise]:
    times = ("navigate", "snapshot", "click", "evaluate")
    characters = ("characters of a snapshot", "characters of the answer to a click")
    figures = {"characters of the list of tools": 0.0}
    for rows in ("10", "1,000"):
        figures |= {f"{what}, {rows} rows": FEW_ROUNDS for what in times}
        figures |= {f"{what}, {rows} rows": 0.0 for what in characters}
    return [
        Promise(f"mcp: {figure}", server, 1, tolerance)
        for figure, tolerance in figures.items()
        for server in MCP_SERVERS
    ]


_STEEPNESS = {
    "growth: steepness of the first look by rows": "floor: getFullAXTree",
    "growth: steepness of the first look by frames": "floor: getFullAXTree",
    "growth: steepness of the browser's memory by pages": "floor: pipe",
    "growth: steepness of the time by events": "floor: decoded",
}

PROMISES: tuple[Promise, ...] = (
    Promise("round_trip", "floor: websocket", 1 / 1.25, side="engine: websocket"),
    Promise("round_trip", "puppeteer", 1),
    Promise("round_trip", "engine", 1 / 1.6, FEW_ROUNDS, "engine: page.evaluate"),
    *(
        Promise(f"throughput: 10 sessions, {calls} in flight each", peer, 1.1)
        for calls in (1, 5)
        for peer in ("puppeteer", "nodriver", "pydoll")
    ),
    Promise("instructions: round trip", "floor: websocket", 1 / 1.25, 0.02),
    Promise("throughput: 10 sessions, 1 in flight each", "floor: websocket", 0.8, side="engine: websocket"),
    Promise("imports: import", "floor: trio_websocket", 1 / 1.3),
    Promise("imports: ready to start a browser", "floor: trio_websocket", 1 / 1.2),
    Promise("looks: the first look, 10 rows", "playwright", 2.5, FEW_ROUNDS),
    Promise("looks: the first look, 100 rows", "playwright", 2, FEW_ROUNDS),
    Promise("looks: the first look, 1,000 rows", "playwright", 2.5, FEW_ROUNDS),
    Promise("looks: the first look, 5,000 rows", "playwright", 4, FEW_ROUNDS),
    Promise("looks: the first look, 1,000 rows", "floor: roles and names", 1 / 1.2, FEW_ROUNDS),
    Promise("looks: the first look, 5,000 rows", "floor: roles and names", 1, FEW_ROUNDS),
    Promise("looks: the look after a click, 100 rows", "playwright", 4, FEW_ROUNDS),
    Promise("looks: the look after a click, 1,000 rows", "playwright", 8, FEW_ROUNDS),
    Promise("looks: the look after a click, 5,000 rows", "playwright", 8, FEW_ROUNDS),
    Promise("looks: a step (click and look), 1,000 rows", "playwright", 5, FEW_ROUNDS),
    Promise("agent_step: 100 rows", "playwright", 4, FEW_ROUNDS),
    Promise("agent_step: 100 rows", "playwright-mcp", 3, FEW_ROUNDS, "engine: mcp"),
    Promise("agent_step: 100 rows", "agent-browser", 1.2, FEW_ROUNDS, "engine: shell"),
    *(
        Promise("agent_step: 1,000 rows, traced", "engine", 1 / (1 + cost), side=f"engine: traced{how}")
        for how, cost in (("", 0.15), (" with a film strip", 0.3))
    ),
    *(Promise(figure, floor, 1) for figure, floor in _STEEPNESS.items()),
    Promise("snapshot: 10 rows", "playwright", 4, side="engine: computed"),
    Promise("snapshot: 100 rows", "playwright", 4, side="engine: computed"),
    Promise("snapshot: 1,000 rows", "playwright", 4, side="engine: computed"),
    Promise("snapshot: 5,000 rows", "playwright", 3, side="engine: computed"),
    *(
        Promise(f"snapshot: {rows} rows, one changed", "engine: scratch", 2, side="engine: further")
        for rows in ("100", "1,000", "5,000")
    ),
    Promise("snapshot: 1,000 rows", "floor: getFullAXTree", 1 / 1.35, FEW_ROUNDS, "engine: ax"),
    Promise("snapshot: 5,000 rows", "floor: getFullAXTree", 1 / 1.35, FEW_ROUNDS, "engine: ax"),
    Promise(
        "snapshot: 10,000 fragment links",
        "engine: ax",
        20,
        OTHER_ROUNDS,
        "engine: computed",
        over_figure="snapshot: 10,000 fragment links, by the accessibility tree",
    ),
    Promise("snapshot: memory over a tree of *", "floor: the message", 1 / 1.5, 0, "engine: ax"),
    Promise("actions: click", "playwright", 5),
    Promise("actions: hover", "playwright", 5),
    Promise("actions: type", "playwright", 1 / 0.8, FEW_ROUNDS),
    Promise("actions: click", "pydoll", 1),
    Promise("actions: type", "pydoll", 1, FEW_ROUNDS),
    Promise("actions: fill", "playwright", 1.6, FEW_ROUNDS),
    _at_most("actions: click", 6),
    _at_most("actions: hover", 6),
    Promise("actions: click by locator", "engine: by ref", 1 / 1.3, FEW_ROUNDS),
    Promise("actions: click by locator", "engine: by ref", 1 / 1.3, FEW_ROUNDS, "engine: by role and name"),
    _at_most("actions: fill", 10),
    Promise(
        "actions: click on tab 20 of 20",
        "engine",
        0.5,
        OTHER_ROUNDS,
        over_figure="actions: click on tab 1 of 20",
    ),
    Promise("cached_flow: 6 steps on 1,000 rows", "floor: nothing is read", 1 / 1.6, FEW_ROUNDS),
    Promise("cached_flow: 6 steps on 1,000 rows", "engine: fresh snapshots", 2, FEW_ROUNDS),
    Promise("cached_flow: 6 steps on 1,000 rows", "engine: ax snapshots", 8, FEW_ROUNDS),
    _at_most("hung_evaluate: given up on, after the deadline", 100),
    Promise("shell: click", "agent-browser", 1 / 1.5, FEW_ROUNDS),
    Promise("shell: snapshot of 100 rows", "agent-browser", 1 / 1.5),
    _at_most("shell: the client's own start", 90),
    *(
        Promise("events: * console messages", peer, 1, FEW_ROUNDS)
        for peer in ("playwright", "puppeteer", "nodriver", "pydoll")
    ),
    Promise("replies: 10 MB", "playwright", 1),
    *(
        Promise(f"pages_at_once: {pages}", peer, 1, FEW_ROUNDS)
        for pages in ("1 page", "?0 pages")
        for peer in ("playwright", "puppeteer")
    ),
    Promise("navigations: each", "floor: websocket", 1 / 1.35),
    Promise("start", "floor: pipe", 1 / 1.03, FEW_ROUNDS),
    *(Promise("start", peer, 1, FEW_ROUNDS) for peer in ("playwright", "nodriver", "zendriver", "pydoll")),
    Promise("start: a whole command", "floor: pipe", 1 / 2, FEW_ROUNDS),
    Promise("requests: * requests", "playwright", 1, FEW_ROUNDS),
    *(
        Promise(f"recorder: {traffic}", "engine", 0.85, side=f"engine: recording, {how}")
        for traffic in ("small replies", "20 kB of markup", "cookies and headers")
        for how in ("plain", "zst")
    ),
    *(
        Promise(
            f"streams: a piece of 64 kB: {kind}",
            "floor: decoded",
            1 / times,
            FEW_ROUNDS,
            "engine: recording",
        )
        for kind, times in (("markup", 4), ("script", 4), ("JSON", 9))
    ),
    *_beside_servers(),
    _at_most("pool: what is added to a job, one after another", 3),
    _at_most("pool: what is added to a job, 10 at once", 3),
    _at_most("pool: what is added to a job, one after another", 15, "engine: a worker of Dask"),
    _at_most("pool: what is added to a job, 10 at once", 15, "engine: a worker of Dask"),
    _at_most("proxy: added to a round trip", 0.5, "engine: through the proxy"),
)


# --- goals --------------------------------------------------------------------------------------------------------

_FIRST_LOOK = (
    "Chrome first draws the loaded document (the floor `an answer`), and the walk of a new document runs cold, without "
    "one dominant step; at 10 and 100 rows Chrome's roles and names alone take about as long as the goal. The nodes, refs "
    "and lines take half as long as the walk, after it"
)
_LOOK_AFTER = (
    "no event reports changes of styles, of the states of controls, or of click listeners: the first two are compared "
    "element by element, and Chrome lists all listeners"
)
_EVALUATE = (
    "a script of unknown value may give a promise or an object: Chrome waits for the first and groups the second; the "
    "rest is the deadline, which Chrome gets too, and the recovery"
)
_FLOOD = "Chrome creates the messages hardly faster than either side reads them, and the variation between runs is larger"
_LARGE = (
    "Chrome creates the reply for most of the time, and the rest is smaller than the variation between runs"
)
_NEW_PAGE = (
    "the engine reads the title in a world that the page cannot reach, checks the click, and waits for the end of the "
    "page; these peers do not"
)
_NAVIGATION = "the engine detects a hung page before it leaves it, and observes the status of the response"
_COMMAND = "starting Python and loading the engine takes longer than the goal permits"
_START = "the engine waits for the first page's renderer and its set-up before it navigates the page"
_FILL = "Chrome takes most of the time: for the focus, the selection, and one insertion of text"

_PEERS = ("playwright", "puppeteer", "nodriver", "zendriver", "pydoll")


def _goal(figure: str, over: str, least: float, obstacle: str = "", side: str = "engine") -> Promise:
    return Promise(figure, over, least, GOAL, side, obstacle=obstacle)


def _goals_beside(peer: str) -> list[Promise]:
    return [
        _goal("throughput: 10 sessions, 1 in flight each", peer, 1.1),
        _goal("throughput: 10 sessions, 5 in flight each", peer, 1.1),
        _goal("events: * console messages", peer, 1, _FLOOD),
    ]


def _page_goals_beside(peer: str) -> list[Promise]:
    return [
        _goal("pages_at_once: 1 page", peer, 1, _NEW_PAGE),
        _goal("pages_at_once: 50 pages", peer, 1, _NEW_PAGE),
        _goal("navigations: each", peer, 1, _NAVIGATION),
    ]


GOALS: tuple[Promise, ...] = (
    *(
        _goal(f"looks: the first look, {rows} rows", "playwright", 4, _FIRST_LOOK)
        for rows in ("10", "100", "1,000", "5,000")
    ),
    _goal("looks: the look after a click, 1,000 rows", "playwright", 10, _LOOK_AFTER),
    _goal("round_trip", "puppeteer", 1),
    _goal("round_trip", "floor: websocket", 1 / 1.05, side="engine: websocket"),
    _goal("round_trip", "engine", 1 / 1.15, _EVALUATE, "engine: page.evaluate"),
    *(goal for peer in _PEERS for goal in _goals_beside(peer)),
    _goal("replies: 100 MB", "playwright", 1, _LARGE),
    *(goal for peer in _PEERS for goal in _page_goals_beside(peer)),
    _goal("navigations: each", "floor: websocket", 1 / 1.05, _NAVIGATION),
    _goal("imports: ready to start a browser", "floor: trio_websocket", 1 / 1.2),
    _goal("start: a whole command", "floor: pipe", 1 / 1.15, _COMMAND),
    _goal("start", "floor: pipe", 1 / 1.03, _START),
    _goal("actions: click", "pydoll", 1),
    _goal("actions: type", "pydoll", 1),
    _goal("actions: fill", "playwright", 2, _FILL),
    *(_goal(figure, floor, 1) for figure, floor in _STEEPNESS.items()),
)


# --- verdicts -----------------------------------------------------------------------------------------------------


def judge(promise: Promise, report: Report) -> Verdict:
    found = figure_of(promise.figure, report)
    other = figure_of(promise.over_figure or promise.figure, report)
    if found is None or other is None:
        missing = promise.over_figure or promise.figure
        return Verdict(promise, "not measured", f"the run has no figure “{missing}”")
    ours, theirs = found.side(promise.side), other.side(promise.over or promise.side)
    if ours is None or theirs is None:
        name = promise.side if ours is None else promise.over
        return Verdict(promise, "not measured", f"{name} took no part")
    for side in (ours, theirs):
        if not side.measured:
            return Verdict(promise, "not measured", f"{side.side} cannot: {side.cannot or 'no value'}")
    if not promise.over:
        return _judge_absolute(promise, ours.medians, found.unit)
    rounds = ratios(other, theirs.side, found, ours.side)
    ratio = ratio_of(rounds)
    if ratio is None:
        return Verdict(promise, "not measured", "a value is not above 0")
    allowed = promise.least * (1 - promise.tolerance)
    state = _state([each >= allowed for each in rounds], ratio.median >= promise.least, found.unit)
    words = f"{ratio} times better, {shown_ratio(promise.least)} promised"
    return Verdict(promise, state, words + _rounds(ratio.turns, state))


def judge_all(report: Report, promises: tuple[Promise, ...] = PROMISES) -> list[Verdict]:
    """Return a verdict for each promise whose case was run."""
    ran = {case.name for case in report.cases}
    return [judge(promise, report) for promise in promises if promise.case in ran]


def figure_of(name: str, report: Report) -> Measurement | None:
    """Return the figure whose name matches the glob, or None if it was not measured."""
    return next((each for each in report.measurements if fnmatchcase(each.name, name)), None)


def _state(kept_in: Sequence[bool], is_reached: bool, unit: Unit) -> State:
    """Return the state, given whether each round is within the tolerance, and the median within the promise."""
    decision = decide(kept_in if unit not in COUNTED else [all(kept_in)] * ROUNDS_OF_COUNTS)
    if decision == "kept":
        return "holds" if is_reached else "within the tolerance"
    return "fails" if decision == "failed" else "unknown"


def _rounds(count: int, state: State) -> str:
    return f" ({count} round{'s' * (count > 1)})" if state in ("fails", "unknown") else ""


def _judge_absolute(promise: Promise, values: Sequence[float], unit: Unit) -> Verdict:
    median, (low, high) = statistics.median(values), median_range(values)
    allowed = promise.most * (1 + promise.tolerance)
    state = _state([value <= allowed for value in values], median <= promise.most, unit)
    words = f"{shown(median)} ({shown(low)} to {shown(high)}) {unit}, {shown(promise.most)} promised"
    return Verdict(promise, state, words + _rounds(len(values), state))
