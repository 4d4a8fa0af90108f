"""What the engine aims at in its own report, as data: how far ahead of its peers, or how near to the floor. Pure.

Rule: a goal is no promise: it says what would be best, whether it is reached or not, and no run fails by it. It is judged
as a promise is, with a tolerance of a twentieth: what is that near counts as reached. A goal that was not measured is not
reached.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

import attrs

from benchmarks.harness.promises import Promise, judge
from benchmarks.harness.report import Report

Reach = Literal["reached", "not reached", "cannot be told", "not measured"]

NEAR = 0.05
"""The part of a goal that may be missing."""


def _goal(text: str, case: str, variant: str, over: str, least: float, side: str = "engine") -> Promise:
    return Promise(text, case, variant, side, over=over, least=least, tolerance=NEAR)


def _looks() -> Iterator[Promise]:
    for rows in ("10", "100", "1,000", "5,000"):
        text = f"the first look at a new document of {rows} rows is 4 times faster than Playwright's"
        yield _goal(text, "looks", f"the first look, {rows} rows", "playwright", 4)
    yield _goal(
        "the look after a click that changed one of 1,000 rows is 10 times faster than Playwright's",
        "looks", "the look after a click, 1,000 rows", "playwright", 10,
    )  # fmt: skip


def _calls() -> Iterator[Promise]:
    yield _goal("a round trip over the pipe takes at most Puppeteer's time", "round_trip", "", "puppeteer", 1)
    yield _goal(
        "over a websocket it takes at most 1.05 times that of a bare loop",
        "round_trip", "", "floor: websocket", 1 / 1.05, "engine: websocket",
    )  # fmt: skip
    yield _goal(
        "page.evaluate of a number takes at most 1.15 times a bare call",
        "round_trip", "", "engine", 1 / 1.15, "engine: page.evaluate",
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
        )
    yield _goal("a reply of 100 MB takes at most Playwright's time", "replies", "100 MB", "playwright", 1)


def _pages() -> Iterator[Promise]:
    for peer in ("playwright", "puppeteer", "nodriver", "zendriver", "pydoll"):
        yield _goal(f"one page: as many a second as {peer}", "pages_at_once", "1 page", peer, 1)
        yield _goal(f"50 pages at once: as many a second as {peer}", "pages_at_once", "50 pages", peer, 1)
        yield _goal(f"a navigation takes at most the time of {peer}", "navigations", "each", peer, 1)
    yield _goal(
        "a navigation takes at most 1.05 times a bare one",
        "navigations",
        "each",
        "floor: websocket",
        1 / 1.05,
    )


def _starts() -> Iterator[Promise]:
    yield _goal(
        "`from cdpengine import launch` takes at most 1.2 times `import trio_websocket`",
        "imports", "ready to start a browser", "floor: trio_websocket", 1 / 1.2,
    )  # fmt: skip
    yield _goal(
        "a whole `cdpengine evaluate` takes at most 1.15 times the browser's part of it",
        "start", "a whole command", "floor: pipe", 1 / 1.15,
    )  # fmt: skip
    yield _goal(
        "a browser and its first page are there in at most 1.03 times a bare start",
        "start",
        "",
        "floor: pipe",
        1 / 1.03,
    )


def _actions() -> Iterator[Promise]:
    yield _goal(
        "a click with every check takes at most pydoll's time without any", "actions", "click", "pydoll", 1
    )
    yield _goal(
        "typing takes at most pydoll's time, which sends key events too", "actions", "type", "pydoll", 1
    )
    yield _goal("filling in takes at most half of Playwright's time", "actions", "fill", "playwright", 2)


def _growth() -> Iterator[Promise]:
    for what, floor in (
        ("the first look by rows", "floor: getFullAXTree"),
        ("the first look by frames", "floor: getFullAXTree"),
        ("the browser's memory by pages", "floor: pipe"),
        ("the time by events", "floor: decoded"),
    ):
        yield _goal(f"{what} grows no steeper than the floor's", "growth", f"steepness of {what}", floor, 1)


GOALS: tuple[Promise, ...] = (*_looks(), *_calls(), *_pages(), *_starts(), *_actions(), *_growth())


@attrs.frozen
class Aim:
    """What a run says of a goal; `figure` is what it is about, in words."""

    text: str
    reach: Reach
    figure: str


def aims(report: Report, goals: tuple[Promise, ...] = GOALS) -> list[Aim]:
    """Return what the report says of each goal whose case was run."""
    ran = {case.name for case in report.cases}
    found = []
    for goal in goals:
        if goal.case not in ran:
            continue
        verdict = judge(goal, report)
        reach: Reach = (
            "reached"
            if verdict.kept
            else "not reached"
            if verdict.state == "fails"
            else "cannot be told"
            if verdict.state == "cannot be told"
            else "not measured"
        )
        found.append(Aim(goal.text, reach, verdict.figure.replace("promised", "aimed at")))
    return found
