"""The engine's performance goals, as data: its lead over peers, or its distance to the floor. Pure.

Rule: a goal is not a promise. It describes the optimum, and no run fails because of it. It is judged like a
promise with a tolerance of a twentieth. A goal that was not measured is not reached. Known obstacles are described
in words; the figures are those of the report.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

import attrs

from benchmarks.harness.promises import Promise, judge
from benchmarks.harness.report import Report

Reach = Literal["reached", "not reached", "cannot be told", "not measured"]

NEAR = 0.05
"""Tolerated shortfall of a goal, as a fraction."""


@attrs.frozen
class Goal:
    """A goal, judged like a promise. `obstacle` describes the known obstacle, or is ""."""

    promise: Promise
    obstacle: str = ""


def _goal(
    text: str, case: str, variant: str, over: str, least: float, side: str = "engine", obstacle: str = ""
) -> Goal:
    return Goal(Promise(text, case, variant, side, over=over, least=least, tolerance=NEAR), obstacle)


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


def _looks() -> Iterator[Goal]:
    for rows in ("10", "100", "1,000", "5,000"):
        text = f"the first look at a new document of {rows} rows is 4 times faster than Playwright's"
        yield _goal(text, "looks", f"the first look, {rows} rows", "playwright", 4, obstacle=_FIRST_LOOK)
    yield _goal(
        "the look after a click that changed one of 1,000 rows is 10 times faster than Playwright's",
        "looks", "the look after a click, 1,000 rows", "playwright", 10, obstacle=_LOOK_AFTER,
    )  # fmt: skip


def _calls() -> Iterator[Goal]:
    yield _goal("a round trip over the pipe takes at most Puppeteer's time", "round_trip", "", "puppeteer", 1)
    yield _goal(
        "over a websocket it takes at most 1.05 times that of a bare loop",
        "round_trip", "", "floor: websocket", 1 / 1.05, "engine: websocket",
    )  # fmt: skip
    yield _goal(
        "page.evaluate of a number takes at most 1.15 times a bare call",
        "round_trip", "", "engine", 1 / 1.15, "engine: page.evaluate", _EVALUATE,
    )  # fmt: skip
    for peer in ("playwright", "puppeteer", "nodriver", "zendriver", "pydoll"):
        for calls in (1, 5):
            yield _goal(
                f"ten sessions with {calls} in flight each have 1.1 times the throughput of {peer}",
                "throughput", f"10 sessions, {calls} in flight each", peer, 1.1,
            )  # fmt: skip
        yield _goal(
            f"a flood of messages is read at least as fast as by {peer}",
            "events",
            "* console messages",
            peer,
            1,
            obstacle=_FLOOD,
        )
    yield _goal(
        "a reply of 100 MB takes at most Playwright's time",
        "replies",
        "100 MB",
        "playwright",
        1,
        obstacle=_LARGE,
    )


def _pages() -> Iterator[Goal]:
    for peer in ("playwright", "puppeteer", "nodriver", "zendriver", "pydoll"):
        for pages, variant in (("one page", "1 page"), ("50 pages at once", "50 pages")):
            text = f"{pages}: as many a second as {peer}"
            yield _goal(text, "pages_at_once", variant, peer, 1, obstacle=_NEW_PAGE)
        text = f"a navigation takes at most the time of {peer}"
        yield _goal(text, "navigations", "each", peer, 1, obstacle=_NAVIGATION)
    yield _goal(
        "a navigation takes at most 1.05 times a bare one",
        "navigations",
        "each",
        "floor: websocket",
        1 / 1.05,
        obstacle=_NAVIGATION,
    )


def _starts() -> Iterator[Goal]:
    yield _goal(
        "`from cdpengine import launch` takes at most 1.2 times `import trio_websocket`",
        "imports", "ready to start a browser", "floor: trio_websocket", 1 / 1.2,
    )  # fmt: skip
    yield _goal(
        "a whole `cdpengine evaluate` takes at most 1.15 times the browser's part of it",
        "start", "a whole command", "floor: pipe", 1 / 1.15, obstacle=_COMMAND,
    )  # fmt: skip
    yield _goal(
        "a browser and its first page are there in at most 1.03 times a bare start",
        "start",
        "",
        "floor: pipe",
        1 / 1.03,
        obstacle=_START,
    )


def _actions() -> Iterator[Goal]:
    yield _goal(
        "a click with every check takes at most pydoll's time without any", "actions", "click", "pydoll", 1
    )
    yield _goal(
        "typing takes at most pydoll's time, which sends key events too", "actions", "type", "pydoll", 1
    )
    yield _goal(
        "filling in takes at most half of Playwright's time",
        "actions",
        "fill",
        "playwright",
        2,
        obstacle=_FILL,
    )


def _growth() -> Iterator[Goal]:
    for what, floor in (
        ("the first look by rows", "floor: getFullAXTree"),
        ("the first look by frames", "floor: getFullAXTree"),
        ("the browser's memory by pages", "floor: pipe"),
        ("the time by events", "floor: decoded"),
    ):
        yield _goal(f"{what} grows no steeper than the floor's", "growth", f"steepness of {what}", floor, 1)


GOALS: tuple[Goal, ...] = (*_looks(), *_calls(), *_pages(), *_starts(), *_actions(), *_growth())


@attrs.frozen
class Aim:
    """A run's result for a goal. `figure` describes the measured figure, `obstacle` the obstacle."""

    text: str
    reach: Reach
    figure: str
    obstacle: str = ""


def aims(report: Report, goals: tuple[Goal, ...] = GOALS) -> list[Aim]:
    """Return the report's result for each goal whose case was run."""
    ran = {case.name for case in report.cases}
    found = []
    for goal in goals:
        if goal.promise.case not in ran:
            continue
        verdict = judge(goal.promise, report)
        reach: Reach = (
            "reached"
            if verdict.kept
            else "not reached"
            if verdict.state == "fails"
            else "cannot be told"
            if verdict.state == "cannot be told"
            else "not measured"
        )
        figure = verdict.figure.replace("promised", "aimed at")
        found.append(Aim(goal.promise.text, reach, figure, "" if reach == "reached" else goal.obstacle))
    return found
