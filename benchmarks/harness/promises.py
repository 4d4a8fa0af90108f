"""The engine's performance promises, as data, and their check against a run. Pure.

Rule: a promise is one line: a figure of a side, compared with another side, and the minimum ratio; or a maximum
time. A promise that was not measured does not hold. The tolerance covers the noise of a short run on a shared
machine, with its reason in its name. A figure within the tolerance is reported separately.
"""

from __future__ import annotations

import math
from fnmatch import fnmatchcase
from typing import Literal

import attrs

from benchmarks.harness.figures import Measurement, Ratio, shown, shown_ratio
from benchmarks.harness.installed import MCP_SERVERS
from benchmarks.harness.report import Report

State = Literal["holds", "within the tolerance", "fails", "cannot be told", "not measured"]

SAME_ROUNDS = 0.1
"""Tolerance for sides with turns in the same rounds: quartiles of such ratios are about 10 % apart."""

FEW_ROUNDS = 0.2
"""Tolerance for few rounds, or for a large share of Chrome's work: the quartiles are further apart."""

OTHER_ROUNDS = 0.3
"""Tolerance for sides that were measured successively."""

UNEVEN = 0.5
"""Maximum relative distance of a ratio's quartiles that still permits a decision near the promised value."""

OTHER_MACHINE = 1.0
"""Tolerance for an absolute time on any machine: half the speed breaks no promise."""


@attrs.frozen
class Promise:
    """A promise. `variant` is a glob for the variants of the case.

    With `over`: `side` is at least `least` times better than the side `over`, whose variant is `over_variant` if
    given. Otherwise: `side` takes at most `most`, in the figure's unit.
    """

    text: str
    case: str
    variant: str
    side: str
    over: str = ""
    least: float = 0.0
    most: float = math.inf
    over_variant: str = ""
    tolerance: float = SAME_ROUNDS


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


def _rows(rows: str, least: float) -> Promise:
    return Promise(
        f"a snapshot of {rows} rows is at least {least:g} times faster than Playwright's",
        "snapshot",
        f"{rows} rows",
        "engine: computed",
        over="playwright",
        least=least,
    )


def _changed(rows: str) -> Promise:
    return Promise(
        f"a further snapshot after one of {rows} rows changed takes at most half of one from scratch",
        "snapshot",
        f"{rows} rows, one changed",
        "engine: further",
        over="engine: scratch",
        least=2,
    )


def _tree(rows: str) -> Promise:
    return Promise(
        f"a snapshot by the accessibility tree of {rows} rows takes at most 1.35 times the bare tree",
        "snapshot",
        f"{rows} rows",
        "engine: ax",
        over="floor: getFullAXTree",
        least=1 / 1.35,
        tolerance=FEW_ROUNDS,
    )


def _beside_playwright(
    what: str, case: str, variant: str, least: float, tolerance: float = SAME_ROUNDS
) -> Promise:
    return Promise(what, case, variant, "engine", over="playwright", least=least, tolerance=tolerance)


def _steepness(what: str, floor: str) -> Promise:
    return Promise(
        f"{what} grows no steeper than the floor's",
        "growth",
        f"steepness of {what}",
        "engine",
        over=floor,
        least=1,
    )


def _recording(traffic: str, how: str) -> Promise:
    return Promise(
        f"recording ({how}) leaves at least 0.85 of the throughput: {traffic}",
        "recorder",
        traffic,
        f"engine: recording, {how}",
        over="engine",
        least=0.85,
    )


def _streaming(kind: str, times: float) -> Promise:
    return Promise(
        f"recording a piece of a streamed body takes at most {times:g} times its decoding: {kind}",
        "streams",
        f"a piece of 64 kB: {kind}",
        "engine: recording",
        over="floor: decoded",
        least=1 / times,
        tolerance=FEW_ROUNDS,
    )


def _beside_servers() -> tuple[Promise, ...]:
    figures = ["characters of the list of tools"] + [
        f"{what}, {rows} rows"
        for rows in ("10", "1,000")
        for what in (
            "navigate", "snapshot", "click", "evaluate", "characters of a snapshot", "characters of the answer to a click",
        )
    ]  # fmt: skip
    return tuple(
        Promise(
            f"over MCP, less than {server}: {figure}",
            "mcp",
            figure,
            "engine",
            over=server,
            least=1,
            tolerance=0 if figure.startswith("characters") else FEW_ROUNDS,
        )
        for figure in figures
        for server in MCP_SERVERS
    )


def _cached_flow(what: str, over: str, least: float) -> Promise:
    return Promise(
        what,
        "cached_flow",
        "6 steps on 1,000 rows",
        "engine",
        over=f"engine: {over}",
        least=least,
        tolerance=FEW_ROUNDS,
    )


def _at_most(what: str, case: str, variant: str, most: float) -> Promise:
    return Promise(what, case, variant, "engine", most=most, tolerance=OTHER_MACHINE)


PROMISES: tuple[Promise, ...] = (
    Promise(
        "over a websocket, a command's round trip takes at most 1.25 times that of a bare loop on trio-websocket",
        "round_trip", "", "engine: websocket", over="floor: websocket", least=1 / 1.25,
    ),
    Promise(
        "over the pipe, it takes at most Puppeteer's time",
        "round_trip", "", "engine", over="puppeteer", least=1,
    ),
    Promise(
        "page.evaluate of a number takes at most 1.6 times a bare call",
        "round_trip", "", "engine: page.evaluate", over="engine", least=1 / 1.6, tolerance=FEW_ROUNDS,
    ),
    *(
        Promise(
            f"ten sessions with {calls} in flight each have at least 1.1 times the throughput of {peer}",
            "throughput", f"10 sessions, {calls} in flight each", "engine", over=peer, least=1.1,
        )
        for calls in (1, 5)
        for peer in ("puppeteer", "nodriver", "pydoll")
    ),
    Promise(
        "it takes Python at most 1.25 times the instructions of a bare loop on trio-websocket",
        "instructions", "round trip", "engine", over="floor: websocket", least=1 / 1.25, tolerance=0.02,
    ),
    Promise(
        "ten sessions at once have at least 0.8 times the throughput of a bare loop over a websocket",
        "throughput", "10 sessions, 1 in flight each", "engine: websocket", over="floor: websocket", least=0.8,
    ),
    Promise(
        "`import cdpengine` takes at most 1.3 times `import trio_websocket`",
        "imports", "import", "engine", over="floor: trio_websocket", least=1 / 1.3,
    ),
    Promise(
        "`from cdpengine import launch` takes at most 1.2 times that",
        "imports", "ready to start a browser", "engine", over="floor: trio_websocket", least=1 / 1.2,
    ),
    *(
        _beside_playwright(
            f"the first look at a new document of {rows} rows is at least {least:g} times faster than Playwright's",
            "looks", f"the first look, {rows} rows", least, FEW_ROUNDS,
        )
        for rows, least in (("10", 2.5), ("100", 2), ("1,000", 2.5), ("5,000", 4))
    ),
    *(
        Promise(
            f"it takes at most {most:g} times what Chrome takes for roles and names alone: {rows} rows",
            "looks", f"the first look, {rows} rows", "engine", over="floor: roles and names", least=1 / most,
            tolerance=FEW_ROUNDS,
        )
        for rows, most in (("1,000", 1.2), ("5,000", 1))
    ),
    *(
        _beside_playwright(
            f"the look after a click that changed one of {rows} rows is at least {least} times faster than Playwright's",
            "looks", f"the look after a click, {rows} rows", least, FEW_ROUNDS,
        )
        for rows, least in (("100", 4), ("1,000", 8), ("5,000", 8))
    ),
    _beside_playwright(
        "a click and the look after it on 1,000 rows is at least 5 times faster",
        "looks", "a step (click and look), 1,000 rows", 5, FEW_ROUNDS,
    ),
    _beside_playwright("an agent's step on 100 rows is at least 4 times faster", "agent_step", "100 rows", 4, FEW_ROUNDS),
    *(
        Promise(
            f"so it is {how}, beside {other}: at least {least:g} times",
            "agent_step", "100 rows", f"engine: {how.removeprefix('by a ').removeprefix('over ')}", over=other,
            least=least, tolerance=FEW_ROUNDS,
        )
        for how, other, least in (("over mcp", "playwright-mcp", 3), ("by a shell", "agent-browser", 1.2))
    ),
    *(_steepness(f"the first look by {what}", "floor: getFullAXTree") for what in ("rows", "frames")),
    _steepness("the browser's memory by pages", "floor: pipe"),
    _steepness("the time by events", "floor: decoded"),
    _rows("10", 4),
    _rows("100", 4),
    _rows("1,000", 4),
    _rows("5,000", 3),
    _changed("100"),
    _changed("1,000"),
    _changed("5,000"),
    _tree("1,000"),
    _tree("5,000"),
    Promise(
        "on 10,000 fragment links a snapshot is at least 20 times faster than by the accessibility tree",
        "snapshot", "10,000 fragment links", "engine: computed", over="engine: ax", least=20,
        over_variant="10,000 fragment links, by the accessibility tree", tolerance=OTHER_ROUNDS,
    ),
    Promise(
        "Python's peak over a large tree's message is at most 1.5 times the message",
        "snapshot", "memory over a tree of *", "engine: ax", over="floor: the message", least=1 / 1.5, tolerance=0,
    ),
    _beside_playwright("a click with every check is at least 5 times faster than Playwright's", "actions", "click", 5),
    _beside_playwright("so is hovering", "actions", "hover", 5),
    _beside_playwright(
        "500 typed characters take at most 0.8 of Playwright's time", "actions", "type", 1 / 0.8, FEW_ROUNDS
    ),
    Promise(
        "a click with every check takes at most pydoll's time without any",
        "actions", "click", "engine", over="pydoll", least=1,
    ),
    Promise(
        "typing takes at most pydoll's time, which sends key events too",
        "actions", "type", "engine", over="pydoll", least=1,
    ),
    _beside_playwright("filling in is at least 1.6 times faster than Playwright's", "actions", "fill", 1.6, FEW_ROUNDS),
    _at_most("a click takes at most 6 ms", "actions", "click", 6),
    _at_most("hovering takes at most 6 ms", "actions", "hover", 6),
    _at_most("filling in 500 characters takes at most 10 ms", "actions", "fill", 10),
    Promise(
        "a click on the twentieth tab takes at most twice that on the first",
        "actions", "click on tab 20 of 20", "engine", over="engine", least=0.5,
        over_variant="click on tab 1 of 20", tolerance=OTHER_ROUNDS,
    ),
    Promise(
        "a flow that the cache replays takes at most 1.6 times its steps with nothing read, on 1,000 rows",
        "cached_flow", "6 steps on 1,000 rows", "engine", over="floor: nothing is read", least=1 / 1.6,
        tolerance=FEW_ROUNDS,
    ),
    _cached_flow("it is at least 2 times faster than with a fresh snapshot before every step", "fresh snapshots", 2),
    _cached_flow("and at least 8 times faster than with one by the accessibility tree", "ax snapshots", 8),
    _at_most(
        "a hung evaluate is given up on within 100 ms of its deadline",
        "hung_evaluate", "given up on, after the deadline", 100,
    ),
    Promise(
        "clicks by the shell, one command after another, take at most 1.5 times agent-browser's",
        "shell", "click", "engine", over="agent-browser", least=1 / 1.5, tolerance=FEW_ROUNDS,
    ),
    Promise(
        "so does a snapshot of 100 rows",
        "shell", "snapshot of 100 rows", "engine", over="agent-browser", least=1 / 1.5,
    ),
    _at_most("the shell's client takes at most 90 ms of its own", "shell", "the client's own start", 90),
    _beside_playwright(
        "a flood of messages is read at least as fast as by Playwright", "events", "* console messages", 1, FEW_ROUNDS
    ),
    *(
        Promise(
            f"and at least as fast as by {peer}",
            "events", "* console messages", "engine", over=peer, least=1, tolerance=FEW_ROUNDS,
        )
        for peer in ("puppeteer", "nodriver", "pydoll")
    ),
    _beside_playwright("a reply of 10 MB takes at most Playwright's time", "replies", "10 MB", 1),
    *(
        Promise(
            f"{what}: at least as many a second as {peer}, which opens its pages before it goes anywhere, too",
            "pages_at_once", variant, "engine", over=peer, least=1, tolerance=FEW_ROUNDS,
        )
        for what, variant in (("one page", "1 page"), ("many pages at once", "?0 pages"))
        for peer in ("playwright", "puppeteer")
    ),
    Promise(
        "a navigation right behind another takes at most 1.35 times a bare one",
        "navigations", "each", "engine", over="floor: websocket", least=1 / 1.35,
    ),
    Promise(
        "a browser and its first page are there in at most 1.03 times a bare start",
        "start", "", "engine", over="floor: pipe", least=1 / 1.03, tolerance=FEW_ROUNDS,
    ),
    Promise(
        "a whole `cdpengine evaluate` takes at most 2.7 times the browser's part of it",
        "start", "a whole command", "engine", over="floor: pipe", least=1 / 2.7, tolerance=FEW_ROUNDS,
    ),
    _beside_playwright("so is a burst of requests", "requests", "* requests", 1, FEW_ROUNDS),
    *(
        _recording(traffic, how)
        for traffic in ("small replies", "20 kB of markup", "cookies and headers")
        for how in ("plain", "zst")
    ),
    _streaming("markup", 4),
    _streaming("script", 4),
    _streaming("JSON", 9),
    *_beside_servers(),
    _at_most("a pool adds at most 3 ms to a job", "pool", "what is added to a job, one after another", 3),
    _at_most("a pool adds at most 3 ms to a job of ten at once", "pool", "what is added to a job, 10 at once", 3),
    Promise(
        "Dask adds at most 15 ms to a job",
        "pool", "what is added to a job, one after another", "engine: a worker of Dask", most=15,
        tolerance=OTHER_MACHINE,
    ),
    Promise(
        "Dask adds at most 15 ms to a job of ten at once",
        "pool", "what is added to a job, 10 at once", "engine: a worker of Dask", most=15, tolerance=OTHER_MACHINE,
    ),
    Promise(
        "the proxy adds at most 0.5 ms to a round trip",
        "proxy", "added to a round trip", "engine: through the proxy", most=0.5, tolerance=OTHER_MACHINE,
    ),
)  # fmt: skip


def cases_of(promises: tuple[Promise, ...] = PROMISES) -> list[str]:
    """Return the cases needed for the promises, in order."""
    return list(dict.fromkeys(promise.case for promise in promises))


def judge(promise: Promise, report: Report) -> Verdict:
    """Judge a promise by the report."""
    found = figure_of(promise, report)
    if found is None:
        return Verdict(promise, "not measured", f"{promise.case} has no figure “{promise.variant}”")
    if not promise.over:
        return _judge_absolute(promise, found)
    other = _measurement(report, promise.case, promise.over_variant) if promise.over_variant else found
    ratio = None if other is None else _ratio(found, other, promise)
    if ratio is None:
        return Verdict(promise, "not measured", _why_not(promise, found, other))
    return Verdict(
        promise,
        _state(ratio, promise.least, promise.least * (1 - promise.tolerance)),
        f"{ratio} times better, {shown_ratio(promise.least)} promised",
    )


def figure_of(promise: Promise, report: Report) -> Measurement | None:
    """Return the figure of the promise, or None if it was not measured."""
    return _measurement(report, promise.case, promise.variant)


def _state(ratio: Ratio, least: float, allowed: float) -> State:
    if ratio.low < least <= ratio.high and ratio.high - ratio.low > UNEVEN * ratio.median:
        return "cannot be told"
    if ratio.median >= least:
        return "holds"
    return "within the tolerance" if ratio.median >= allowed else "fails"


def _judge_absolute(promise: Promise, found: Measurement) -> Verdict:
    side = found.side(promise.side)
    if side is None or not side.measured:
        return Verdict(promise, "not measured", _why_not(promise, found, found))
    value, allowed = side.median, promise.most * (1 + promise.tolerance)
    state: State = (
        "holds" if value <= promise.most else "within the tolerance" if value <= allowed else "fails"
    )
    return Verdict(promise, state, f"{shown(value)} {found.unit}, {shown(promise.most)} promised")


def _measurement(report: Report, case: str, variant: str) -> Measurement | None:
    return next((each for each in report.of_case(case) if fnmatchcase(each.variant, variant)), None)


def _ratio(found: Measurement, other: Measurement, promise: Promise) -> Ratio | None:
    if other is found:
        return found.ratio(promise.over, promise.side)
    ours, theirs = found.side(promise.side), other.side(promise.over)
    if ours is None or theirs is None or not ours.measured or not theirs.measured or not ours.median:
        return None
    value = theirs.median / ours.median if found.less_is_better else ours.median / theirs.median
    return Ratio(value, value, value, 1)


def _why_not(promise: Promise, found: Measurement, other: Measurement | None) -> str:
    for name, measurement in ((promise.side, found), (promise.over, other)):
        side = None if measurement is None else measurement.side(name)
        if name and side is None:
            return f"{name} took no part"
        if side is not None and not side.measured:
            return f"{name} cannot: {side.cannot or 'no value'}"
    return "a value is not above 0"


def judge_all(report: Report, promises: tuple[Promise, ...] = PROMISES) -> list[Verdict]:
    """Return a verdict for each promise whose case was run."""
    ran = {case.name for case in report.cases}
    return [judge(promise, report) for promise in promises if promise.case in ran]
