"""The engine's performance promises and goals, as data, and their check against a run. Pure.

Rule: a promise is a figure of a side, compared with another side, and the minimum ratio; or a maximum time. A
promise that was not measured does not hold. The tolerance covers the noise of a short run on a shared machine, with
its reason in its name. A figure within the tolerance is reported separately. A goal is not a promise: it describes
the optimum, and no run fails because of it.
"""

from __future__ import annotations

import math
from fnmatch import fnmatchcase
from typing import Literal

import attrs

from benchmarks.harness.figures import Measurement, Ratio, ratio_of, shown, shown_ratio
from benchmarks.harness.peers import MCP_SERVERS
from benchmarks.harness.report import Report

State = Literal["holds", "within the tolerance", "fails", "cannot be told", "not measured"]

SAME_ROUNDS = 0.1
"""Tolerance for sides with turns in the same rounds: quartiles of such ratios are about 10 % apart."""

FEW_ROUNDS = 0.2
"""Tolerance for few rounds, or for a large share of Chrome's work: the quartiles are further apart."""

OTHER_ROUNDS = 0.3
"""Tolerance for sides that were measured successively."""

OTHER_MACHINE = 1.0
"""Tolerance for an absolute time on any machine: half the speed breaks no promise."""

GOAL = 0.05
"""Tolerated shortfall of a goal."""

UNEVEN = 0.5
"""Maximum relative distance of a ratio's quartiles that still permits a decision near the promised value."""


@attrs.frozen
class Promise:
    """A promise about the figure whose name matches the glob `figure`.

    With `over`: `side` is at least `least` times better than the side `over`, in the figure `over_figure` if given.
    Otherwise: `side` takes at most `most`, in the figure's unit. `obstacle` explains why a goal is not reached.
    """

    text: str
    figure: str
    over: str = ""
    least: float = 0.0
    side: str = "engine"
    tolerance: float = SAME_ROUNDS
    most: float = math.inf
    over_figure: str = ""
    obstacle: str = ""

    @property
    def case(self) -> str:
        """The case that measures the figure."""
        return self.figure.partition(":")[0]


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


def _at_most(text: str, figure: str, most: float, side: str = "engine") -> Promise:
    return Promise(text, figure, side=side, most=most, tolerance=OTHER_MACHINE)


def _beside_servers() -> list[Promise]:
    times = ("navigate", "snapshot", "click", "evaluate")
    characters = ("characters of a snapshot", "characters of the answer to a click")
    figures = {"characters of the list of tools": 0.0}
    for rows in ("10", "1,000"):
        figures |= {f"{what}, {rows} rows": FEW_ROUNDS for what in times}
        figures |= {f"{what}, {rows} rows": 0.0 for what in characters}
    return [
        Promise(f"over MCP, less than {server}: {figure}", f"mcp: {figure}", server, 1, tolerance=tolerance)
        for figure, tolerance in figures.items()
        for server in MCP_SERVERS
    ]


_STEEPNESS = (
    ("the first look by rows", "floor: getFullAXTree"),
    ("the first look by frames", "floor: getFullAXTree"),
    ("the browser's memory by pages", "floor: pipe"),
    ("the time by events", "floor: decoded"),
)

PROMISES: tuple[Promise, ...] = (
    Promise(
        "over a websocket, a command's round trip takes at most 1.25 times that of a bare loop on trio-websocket",
        "round_trip", "floor: websocket", 1 / 1.25, "engine: websocket",
    ),
    Promise("over the pipe, it takes at most Puppeteer's time", "round_trip", "puppeteer", 1),
    Promise(
        "page.evaluate of a number takes at most 1.6 times a bare call",
        "round_trip", "engine", 1 / 1.6, "engine: page.evaluate", FEW_ROUNDS,
    ),
    *(
        Promise(
            f"ten sessions with {calls} in flight each have at least 1.1 times the throughput of {peer}",
            f"throughput: 10 sessions, {calls} in flight each", peer, 1.1,
        )
        for calls in (1, 5)
        for peer in ("puppeteer", "nodriver", "pydoll")
    ),
    Promise(
        "it takes Python at most 1.25 times the instructions of a bare loop on trio-websocket",
        "instructions: round trip", "floor: websocket", 1 / 1.25, tolerance=0.02,
    ),
    Promise(
        "ten sessions at once have at least 0.8 times the throughput of a bare loop over a websocket",
        "throughput: 10 sessions, 1 in flight each", "floor: websocket", 0.8, "engine: websocket",
    ),
    Promise(
        "`import cdpengine` takes at most 1.3 times `import trio_websocket`",
        "imports: import", "floor: trio_websocket", 1 / 1.3,
    ),
    Promise(
        "`from cdpengine import launch` takes at most 1.2 times that",
        "imports: ready to start a browser", "floor: trio_websocket", 1 / 1.2,
    ),
    *(
        Promise(
            f"the first look at a new document of {rows} rows is at least {least:g} times faster than Playwright's",
            f"looks: the first look, {rows} rows", "playwright", least, tolerance=FEW_ROUNDS,
        )
        for rows, least in (("10", 2.5), ("100", 2), ("1,000", 2.5), ("5,000", 4))
    ),
    *(
        Promise(
            f"it takes at most {most:g} times what Chrome takes for roles and names alone: {rows} rows",
            f"looks: the first look, {rows} rows", "floor: roles and names", 1 / most, tolerance=FEW_ROUNDS,
        )
        for rows, most in (("1,000", 1.2), ("5,000", 1))
    ),
    *(
        Promise(
            f"the look after a click that changed one of {rows} rows is at least {least} times faster than Playwright's",
            f"looks: the look after a click, {rows} rows", "playwright", least, tolerance=FEW_ROUNDS,
        )
        for rows, least in (("100", 4), ("1,000", 8), ("5,000", 8))
    ),
    Promise(
        "a click and the look after it on 1,000 rows is at least 5 times faster",
        "looks: a step (click and look), 1,000 rows", "playwright", 5, tolerance=FEW_ROUNDS,
    ),
    Promise(
        "an agent's step on 100 rows is at least 4 times faster",
        "agent_step: 100 rows", "playwright", 4, tolerance=FEW_ROUNDS,
    ),
    Promise(
        "so it is over mcp, beside playwright-mcp: at least 3 times",
        "agent_step: 100 rows", "playwright-mcp", 3, "engine: mcp", FEW_ROUNDS,
    ),
    Promise(
        "so it is by a shell, beside agent-browser: at least 1.2 times",
        "agent_step: 100 rows", "agent-browser", 1.2, "engine: shell", FEW_ROUNDS,
    ),
    *(
        Promise(f"{what} grows no steeper than the floor's", f"growth: steepness of {what}", floor, 1)
        for what, floor in _STEEPNESS
    ),
    *(
        Promise(
            f"a snapshot of {rows} rows is at least {least} times faster than Playwright's",
            f"snapshot: {rows} rows", "playwright", least, "engine: computed",
        )
        for rows, least in (("10", 4), ("100", 4), ("1,000", 4), ("5,000", 3))
    ),
    *(
        Promise(
            f"a further snapshot after one of {rows} rows changed takes at most half of one from scratch",
            f"snapshot: {rows} rows, one changed", "engine: scratch", 2, "engine: further",
        )
        for rows in ("100", "1,000", "5,000")
    ),
    *(
        Promise(
            f"a snapshot by the accessibility tree of {rows} rows takes at most 1.35 times the bare tree",
            f"snapshot: {rows} rows", "floor: getFullAXTree", 1 / 1.35, "engine: ax", FEW_ROUNDS,
        )
        for rows in ("1,000", "5,000")
    ),
    Promise(
        "on 10,000 fragment links a snapshot is at least 20 times faster than by the accessibility tree",
        "snapshot: 10,000 fragment links", "engine: ax", 20, "engine: computed", OTHER_ROUNDS,
        over_figure="snapshot: 10,000 fragment links, by the accessibility tree",
    ),
    Promise(
        "Python's peak over a large tree's message is at most 1.5 times the message",
        "snapshot: memory over a tree of *", "floor: the message", 1 / 1.5, "engine: ax", tolerance=0,
    ),
    Promise("a click with every check is at least 5 times faster than Playwright's", "actions: click", "playwright", 5),
    Promise("so is hovering", "actions: hover", "playwright", 5),
    Promise(
        "500 typed characters take at most 0.8 of Playwright's time",
        "actions: type", "playwright", 1 / 0.8, tolerance=FEW_ROUNDS,
    ),
    Promise("a click with every check takes at most pydoll's time without any", "actions: click", "pydoll", 1),
    Promise("typing takes at most pydoll's time, which sends key events too", "actions: type", "pydoll", 1),
    Promise(
        "filling in is at least 1.6 times faster than Playwright's",
        "actions: fill", "playwright", 1.6, tolerance=FEW_ROUNDS,
    ),
    _at_most("a click takes at most 6 ms", "actions: click", 6),
    _at_most("hovering takes at most 6 ms", "actions: hover", 6),
    _at_most("filling in 500 characters takes at most 10 ms", "actions: fill", 10),
    Promise(
        "a click on the twentieth tab takes at most twice that on the first",
        "actions: click on tab 20 of 20", "engine", 0.5, tolerance=OTHER_ROUNDS,
        over_figure="actions: click on tab 1 of 20",
    ),
    Promise(
        "a flow that the cache replays takes at most 1.6 times its steps with nothing read, on 1,000 rows",
        "cached_flow: 6 steps on 1,000 rows", "floor: nothing is read", 1 / 1.6, tolerance=FEW_ROUNDS,
    ),
    Promise(
        "it is at least 2 times faster than with a fresh snapshot before every step",
        "cached_flow: 6 steps on 1,000 rows", "engine: fresh snapshots", 2, tolerance=FEW_ROUNDS,
    ),
    Promise(
        "and at least 8 times faster than with one by the accessibility tree",
        "cached_flow: 6 steps on 1,000 rows", "engine: ax snapshots", 8, tolerance=FEW_ROUNDS,
    ),
    _at_most(
        "a hung evaluate is given up on within 100 ms of its deadline",
        "hung_evaluate: given up on, after the deadline", 100,
    ),
    Promise(
        "clicks by the shell, one command after another, take at most 1.5 times agent-browser's",
        "shell: click", "agent-browser", 1 / 1.5, tolerance=FEW_ROUNDS,
    ),
    Promise("so does a snapshot of 100 rows", "shell: snapshot of 100 rows", "agent-browser", 1 / 1.5),
    _at_most("the shell's client takes at most 90 ms of its own", "shell: the client's own start", 90),
    *(
        Promise(text, "events: * console messages", peer, 1, tolerance=FEW_ROUNDS)
        for peer, text in (
            ("playwright", "a flood of messages is read at least as fast as by Playwright"),
            ("puppeteer", "and at least as fast as by puppeteer"),
            ("nodriver", "and at least as fast as by nodriver"),
            ("pydoll", "and at least as fast as by pydoll"),
        )
    ),
    Promise("a reply of 10 MB takes at most Playwright's time", "replies: 10 MB", "playwright", 1),
    *(
        Promise(
            f"{what}: at least as many a second as {peer}, which opens its pages before it goes anywhere, too",
            f"pages_at_once: {pages}", peer, 1, tolerance=FEW_ROUNDS,
        )
        for what, pages in (("one page", "1 page"), ("many pages at once", "?0 pages"))
        for peer in ("playwright", "puppeteer")
    ),
    Promise(
        "a navigation right behind another takes at most 1.35 times a bare one",
        "navigations: each", "floor: websocket", 1 / 1.35,
    ),
    Promise(
        "a browser and its first page are there in at most 1.03 times a bare start",
        "start", "floor: pipe", 1 / 1.03, tolerance=FEW_ROUNDS,
    ),
    Promise(
        "a whole `cdpengine evaluate` takes at most 2.7 times the browser's part of it",
        "start: a whole command", "floor: pipe", 1 / 2.7, tolerance=FEW_ROUNDS,
    ),
    Promise("so is a burst of requests", "requests: * requests", "playwright", 1, tolerance=FEW_ROUNDS),
    *(
        Promise(
            f"recording ({how}) leaves at least 0.85 of the throughput: {traffic}",
            f"recorder: {traffic}", "engine", 0.85, f"engine: recording, {how}",
        )
        for traffic in ("small replies", "20 kB of markup", "cookies and headers")
        for how in ("plain", "zst")
    ),
    *(
        Promise(
            f"recording a piece of a streamed body takes at most {times} times its decoding: {kind}",
            f"streams: a piece of 64 kB: {kind}", "floor: decoded", 1 / times, "engine: recording", FEW_ROUNDS,
        )
        for kind, times in (("markup", 4), ("script", 4), ("JSON", 9))
    ),
    *_beside_servers(),
    _at_most("a pool adds at most 3 ms to a job", "pool: what is added to a job, one after another", 3),
    _at_most("a pool adds at most 3 ms to a job of ten at once", "pool: what is added to a job, 10 at once", 3),
    _at_most(
        "Dask adds at most 15 ms to a job",
        "pool: what is added to a job, one after another", 15, "engine: a worker of Dask",
    ),
    _at_most(
        "Dask adds at most 15 ms to a job of ten at once",
        "pool: what is added to a job, 10 at once", 15, "engine: a worker of Dask",
    ),
    _at_most(
        "the proxy adds at most 0.5 ms to a round trip",
        "proxy: added to a round trip", 0.5, "engine: through the proxy",
    ),
)  # fmt: skip


# --- goals --------------------------------------------------------------------------------------------------------

_FIRST_LOOK = (
    "Chrome first draws the loaded document (the floor `an answer`), and the walk of a new document runs cold; at 10 and "
    "100 rows Chrome's roles and names alone take about as long as the goal"
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
_START = "the engine requests the browser's version, its targets and the first page's set-up before it returns the page"
_FILL = "Chrome takes most of the time: for the focus, the selection, and one insertion of text"

_PEERS = ("playwright", "puppeteer", "nodriver", "zendriver", "pydoll")


def _goal(
    text: str, figure: str, over: str, least: float, obstacle: str = "", side: str = "engine"
) -> Promise:
    return Promise(text, figure, over, least, side, tolerance=GOAL, obstacle=obstacle)


def _goals_beside(peer: str) -> list[Promise]:
    """Return the goals of calls and events beside a peer."""
    calls = [
        _goal(
            f"ten sessions with {calls} in flight each have 1.1 times the throughput of {peer}",
            f"throughput: 10 sessions, {calls} in flight each", peer, 1.1,
        )
        for calls in (1, 5)
    ]  # fmt: skip
    flood = f"a flood of messages is read at least as fast as by {peer}"
    return [*calls, _goal(flood, "events: * console messages", peer, 1, _FLOOD)]


def _page_goals_beside(peer: str) -> list[Promise]:
    """Return the goals of pages and navigations beside a peer."""
    one, many = f"one page: as many a second as {peer}", f"50 pages at once: as many a second as {peer}"
    return [
        _goal(one, "pages_at_once: 1 page", peer, 1, _NEW_PAGE),
        _goal(many, "pages_at_once: 50 pages", peer, 1, _NEW_PAGE),
        _goal(f"a navigation takes at most the time of {peer}", "navigations: each", peer, 1, _NAVIGATION),
    ]


GOALS: tuple[Promise, ...] = (
    *(
        _goal(
            f"the first look at a new document of {rows} rows is 4 times faster than Playwright's",
            f"looks: the first look, {rows} rows", "playwright", 4, _FIRST_LOOK,
        )
        for rows in ("10", "100", "1,000", "5,000")
    ),
    _goal(
        "the look after a click that changed one of 1,000 rows is 10 times faster than Playwright's",
        "looks: the look after a click, 1,000 rows", "playwright", 10, _LOOK_AFTER,
    ),
    _goal("a round trip over the pipe takes at most Puppeteer's time", "round_trip", "puppeteer", 1),
    _goal(
        "over a websocket it takes at most 1.05 times that of a bare loop",
        "round_trip", "floor: websocket", 1 / 1.05, side="engine: websocket",
    ),
    _goal(
        "page.evaluate of a number takes at most 1.15 times a bare call",
        "round_trip", "engine", 1 / 1.15, _EVALUATE, "engine: page.evaluate",
    ),
    *(goal for peer in _PEERS for goal in _goals_beside(peer)),
    _goal("a reply of 100 MB takes at most Playwright's time", "replies: 100 MB", "playwright", 1, _LARGE),
    *(goal for peer in _PEERS for goal in _page_goals_beside(peer)),
    _goal(
        "a navigation takes at most 1.05 times a bare one",
        "navigations: each", "floor: websocket", 1 / 1.05, _NAVIGATION,
    ),
    _goal(
        "`from cdpengine import launch` takes at most 1.2 times `import trio_websocket`",
        "imports: ready to start a browser", "floor: trio_websocket", 1 / 1.2,
    ),
    _goal(
        "a whole `cdpengine evaluate` takes at most 1.15 times the browser's part of it",
        "start: a whole command", "floor: pipe", 1 / 1.15, _COMMAND,
    ),
    _goal(
        "a browser and its first page are there in at most 1.03 times a bare start",
        "start", "floor: pipe", 1 / 1.03, _START,
    ),
    _goal("a click with every check takes at most pydoll's time without any", "actions: click", "pydoll", 1),
    _goal("typing takes at most pydoll's time, which sends key events too", "actions: type", "pydoll", 1),
    _goal("filling in takes at most half of Playwright's time", "actions: fill", "playwright", 2, _FILL),
    *(
        _goal(f"{what} grows no steeper than the floor's", f"growth: steepness of {what}", floor, 1)
        for what, floor in _STEEPNESS
    ),
)  # fmt: skip


# --- verdicts -----------------------------------------------------------------------------------------------------


def judge(promise: Promise, report: Report) -> Verdict:
    """Judge a promise by the report."""
    found = figure_of(promise.figure, report)
    other = figure_of(promise.over_figure, report) if promise.over_figure else found
    if found is None or other is None:
        return Verdict(
            promise, "not measured", f"the run has no figure “{promise.over_figure or promise.figure}”"
        )
    for name, figure in ((promise.side, found), (promise.over or promise.side, other)):
        side = figure.side(name)
        if side is None:
            return Verdict(promise, "not measured", f"{name} took no part")
        if not side.measured:
            return Verdict(promise, "not measured", f"{name} cannot: {side.cannot or 'no value'}")
    if not promise.over:
        return _judge_absolute(promise, found)
    ratio = found.ratio(promise.over, promise.side) if other is found else _ratio(found, other, promise)
    if ratio is None:
        return Verdict(promise, "not measured", "a value is not above 0")
    words = f"{ratio} times better, {shown_ratio(promise.least)} promised"
    return Verdict(promise, _state(ratio, promise.least, promise.least * (1 - promise.tolerance)), words)


def judge_all(report: Report, promises: tuple[Promise, ...] = PROMISES) -> list[Verdict]:
    """Return a verdict for each promise whose case was run."""
    ran = {case.name for case in report.cases}
    return [judge(promise, report) for promise in promises if promise.case in ran]


def figure_of(name: str, report: Report) -> Measurement | None:
    """Return the figure whose name matches the glob, or None if it was not measured."""
    return next((each for each in report.measurements if fnmatchcase(each.name, name)), None)


def _state(ratio: Ratio, least: float, allowed: float) -> State:
    if ratio.low < least <= ratio.high and ratio.high - ratio.low > UNEVEN * ratio.median:
        return "cannot be told"
    if ratio.median >= least:
        return "holds"
    return "within the tolerance" if ratio.median >= allowed else "fails"


def _judge_absolute(promise: Promise, found: Measurement) -> Verdict:
    side = found.side(promise.side)
    assert side is not None
    state: State = "fails"
    if side.median <= promise.most * (1 + promise.tolerance):
        state = "holds" if side.median <= promise.most else "within the tolerance"
    return Verdict(promise, state, f"{shown(side.median)} {found.unit}, {shown(promise.most)} promised")


def _ratio(found: Measurement, other: Measurement, promise: Promise) -> Ratio | None:
    """Return the ratio of two figures that were measured successively."""
    ours, theirs = found.side(promise.side), other.side(promise.over)
    assert ours is not None
    assert theirs is not None
    pair = (theirs.median, ours.median) if found.less_is_better else (ours.median, theirs.median)
    return ratio_of([pair])
