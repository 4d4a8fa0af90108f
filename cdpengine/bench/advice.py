"""Advice: what a report's figures say of why something is slow, and what can be done about it. Pure.

Rule: each rule looks at figures of the same run only, and names those it judges by. Its bounds are far from what a
browser on the same machine shows (named with each bound), so that noise alone gives no advice.
"""

from __future__ import annotations

from collections.abc import Iterator

from cdpengine.bench.figures import BenchReport, shown

FAR = 2.0
"""Milliseconds to connect from which an endpoint is far away. On one machine it is below 0.2."""

SLOW_ANSWER = 3.0
"""Milliseconds above the way there and back from which the browser's process answers slowly. Here it is 0.3."""

UNEVEN = 8.0
"""The 95th percentile of round trips, in medians, from which the times are uneven."""

BUSY = 1.5
"""Load for each core from which the machine is busy."""


def advise(report: BenchReport) -> list[str]:
    """Return what there is to say, most important first; empty when nothing looks slow for its reason."""
    return [
        *_load(report),
        *_way(report),
        *_browser(report),
        *_page(report),
        *_events(report),
        *_snapshot(report),
    ]


def _load(report: BenchReport) -> Iterator[str]:
    if report.local and report.load is not None and report.load > BUSY:
        yield (
            f"This machine is busy: a load of {report.load:.1f} for each core when the run began. "
            f"All figures are worse for it; measure again when it is quiet."
        )


def _way(report: BenchReport) -> Iterator[str]:
    connect, trip = report.figure("connect"), report.figure("round trip, browser")
    if connect is None or connect.median < FAR:
        return
    told = f"The endpoint is far away: {shown(connect.median)} ms to connect"
    if trip is not None:
        told += f", of {shown(trip.median)} ms for a command and its reply"
    yield (
        f"{told}. No client can be faster than that; run the program nearer to the browser, and send commands "
        f"that do not need each other's replies together (Session.post, a nursery)."
    )


def _browser(report: BenchReport) -> Iterator[str]:
    trip = report.figure("round trip, browser")
    if trip is None:
        return
    connect = report.figure("connect")
    way = 0.0 if connect is None else connect.median
    if trip.median > way + SLOW_ANSWER:
        yield (
            f"The browser's own process takes {shown(trip.median)} ms for the least command, "
            f"{shown(way)} ms of it the way there and back: it is starved of processor time, or something between "
            f"(a proxy, a tunnel, a recorder) holds messages up."
        )
    if trip.p95 > max(UNEVEN * trip.median, 2.0):
        yield (
            f"Round trips are uneven: half take at most {shown(trip.median)} ms, one of twenty more than "
            f"{shown(trip.p95)} ms. Others use the machine or the network."
        )


def _page(report: BenchReport) -> Iterator[str]:
    trip, page = report.figure("round trip, browser"), report.figure("round trip, page")
    if trip is not None and page is not None and page.median > 3 * trip.median + 1:
        yield (
            f"A page answers after {shown(page.median)} ms, the browser's process after {shown(trip.median)} ms: "
            f"renderer processes do not get the processor, or run with a debugger or a tracer on."
        )
    single, many = report.figure("throughput 1 x 1"), report.figure("throughput 10 x 5")
    if single is not None and many is not None and many.median < 1.2 * single.median:
        yield (
            f"Ten sessions with five calls each in flight get {shown(many.median)} calls a second, one alone "
            f"{shown(single.median)}: something handles one message at a time. A proxy that waits for each reply?"
        )


def _events(report: BenchReport) -> Iterator[str]:
    events = report.figure("events")
    if events is not None and "lost" in events.detail:
        yield f"Events were lost ({events.detail}): this program did not keep up with its own browser."


def _snapshot(report: BenchReport) -> Iterator[str]:
    taken = report.figure("snapshot")
    if taken is not None and "by ax" in taken.detail:
        yield (
            f"Snapshots come from Chrome's accessibility tree ({taken.detail}). A browser that is started with "
            "--enable-blink-features=ComputedAccessibilityInfo, as launch() does, gives them several times faster."
        )
