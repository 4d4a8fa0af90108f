"""Benchmarks of a browser: durations of its commands, events and snapshots, and advice.

Rule: each case ends in time whatever the browser does, runs in its own tabs, and leaves no trace in the browser. A
figure keeps all its values; the median is the result, the 95th percentile shows the spread. A failed measurement
is also a figure, with the reason and no number.

Advice explains why something is slow, and how to improve it. Each rule uses only figures of the same run, and
names them. Its bounds are far above the values of a local browser (noted with each bound), so that noise alone
gives no advice.
"""

from __future__ import annotations

import ipaddress
import math
import os
import statistics
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Iterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Literal
from urllib.parse import urlsplit

import attrs
import trio

from cdpengine._api.browser import Browser, Page
from cdpengine.errors import EngineError, EventsLostError
from cdpengine.errors.texts import duration

Unit = Literal["ms", "calls/s", "events/s", "MB/s"]


def _numbers(values: Iterable[float]) -> tuple[float, ...]:
    return tuple(values)


@attrs.frozen
class Figure:
    """One measurement: `name` is unique in a report, `values` are in `unit`, `detail` describes the measurement.

    `cannot` is the reason for missing values, or "".
    """

    name: str
    unit: Unit
    values: tuple[float, ...] = attrs.field(default=(), converter=_numbers)
    detail: str = ""
    cannot: str = ""

    @property
    def median(self) -> float:
        """The median; NaN without values."""
        return statistics.median(self.values) if self.values else math.nan

    @property
    def p95(self) -> float:
        """The bound that one of twenty values exceeds (in rates: falls below). NaN without values."""
        if not self.values:
            return math.nan
        ordered = sorted(self.values, reverse=self.unit != "ms")
        return ordered[min(len(ordered) - 1, math.ceil(0.95 * len(ordered)) - 1)]


@attrs.frozen
class BenchReport:
    """All figures of one run. `product` is the browser's name and version, `endpoint` its address.

    `load` is the one-minute load average per core of this machine at the start, None if the system does not report
    it. It concerns the browser only if that runs here (`local`).
    """

    product: str
    endpoint: str
    local: bool
    load: float | None
    figures: tuple[Figure, ...]

    def figure(self, name: str) -> Figure | None:
        """Return the figure of that name, or None if it was not measured."""
        return next((each for each in self.figures if each.name == name and each.values), None)


def rate(counts: Sequence[int], seconds: Sequence[float]) -> tuple[float, ...]:
    """Return the count per second for each pair of a count and a duration."""
    return tuple(count / max(taken, 1e-9) for count, taken in zip(counts, seconds, strict=True))


def show(value: float) -> str:
    """Return a value with three significant digits and thousands separators: "0.312", "7.41", "12,900"."""
    if math.isnan(value):
        return ""
    if value == 0:
        return "0"
    digits = max(0, 2 - math.floor(math.log10(abs(value))))
    return f"{round(value, digits - 3) if digits > 3 else value:,.{min(digits, 3)}f}"


# --- advice --------------------------------------------------------------------------------------------------

FAR = 2.0
"""Milliseconds to connect above which an endpoint is far away. On one machine it is below 0.2."""

SLOW_ANSWER = 3.0
"""Milliseconds above the network's time from which the browser's process answers slowly. Locally it is 0.3."""

UNEVEN = 8.0
"""Ratio of the 95th percentile to the median of round trips from which the times are uneven."""

BUSY = 1.5
"""Load per core above which the machine is busy."""


def advise(report: BenchReport) -> list[str]:
    """Return advice, most important first; empty if no figure is slow for a known reason."""
    return [
        *_judge_load(report),
        *_judge_way(report),
        *_judge_browser(report),
        *_judge_page(report),
        *_judge_events(report),
        *_judge_snapshot(report),
    ]


def _judge_load(report: BenchReport) -> Iterator[str]:
    if report.local and report.load is not None and report.load > BUSY:
        yield (
            f"This machine is busy: a load of {report.load:.1f} per core at the start of the run. "
            f"This affects all figures; measure again when it is idle."
        )


def _judge_way(report: BenchReport) -> Iterator[str]:
    connect, trip = report.figure("connect"), report.figure("round trip, browser")
    if connect is None or connect.median < FAR:
        return
    advice = f"The endpoint is far away: {show(connect.median)} ms to connect"
    if trip is not None:
        advice += f", of {show(trip.median)} ms for a command and its reply"
    yield (
        f"{advice}. No client can be faster than that; run the program closer to the browser, and send "
        f"independent commands together (Session.post, a nursery)."
    )


def _judge_browser(report: BenchReport) -> Iterator[str]:
    trip = report.figure("round trip, browser")
    if trip is None:
        return
    connect = report.figure("connect")
    way = 0.0 if connect is None else connect.median
    if trip.median > way + SLOW_ANSWER:
        yield (
            f"The browser's process takes {show(trip.median)} ms for the smallest command, "
            f"{show(way)} ms of it for the network: it lacks processor time, or an intermediary "
            f"(a proxy, a tunnel, a recorder) delays messages."
        )
    if trip.p95 > max(UNEVEN * trip.median, 2.0):
        yield (
            f"Round trips are uneven: half take at most {show(trip.median)} ms, one of twenty more than "
            f"{show(trip.p95)} ms. Other programs use the machine or the network."
        )


def _judge_page(report: BenchReport) -> Iterator[str]:
    trip, page = report.figure("round trip, browser"), report.figure("round trip, page")
    if trip is not None and page is not None and page.median > 3 * trip.median + 1:
        yield (
            f"A page answers after {show(page.median)} ms, the browser's process after {show(trip.median)} ms: "
            f"renderer processes lack processor time, or run with a debugger or a tracer."
        )
    single, many = report.figure("throughput 1 x 1"), report.figure("throughput 10 x 5")
    if single is not None and many is not None and many.median < 1.2 * single.median:
        yield (
            f"Ten sessions with five pending calls each get {show(many.median)} calls per second, one alone "
            f"{show(single.median)}: some intermediary handles one message at a time, such as a proxy."
        )


def _judge_events(report: BenchReport) -> Iterator[str]:
    events = report.figure("events")
    if events is not None and "lost" in events.detail:
        yield f"Events were lost ({events.detail}): this program did not keep up with its own browser."


def _judge_snapshot(report: BenchReport) -> Iterator[str]:
    taken = report.figure("snapshot")
    if taken is not None and "by ax" in taken.detail:
        yield (
            f"Snapshots come from Chrome's accessibility tree ({taken.detail}). The flag "
            "--enable-blink-features=ComputedAccessibilityInfo, which launch() sets, makes them much faster."
        )


# --- cases ---------------------------------------------------------------------------------------------------

_BUTTON = "<!doctype html><title>bench</title><button style='margin:40px'>Go</button>"


@attrs.frozen
class Effort:
    """The amount of measuring.

    `rounds` is the number of repetitions of slow cases, `trips` the number of commands of a round-trip case.
    `shapes` are pairs of a number of sessions and the pending calls of each. `window` is the seconds of one
    throughput measurement, `events` the number of events of one flood, `megabytes` the size of the large reply.
    """

    rounds: int = 5
    trips: int = 200
    shapes: tuple[tuple[int, int], ...] = ((1, 1), (1, 5), (10, 1), (10, 5))
    window: float = 0.4
    events: int = 20_000
    megabytes: int = 10


QUICK = Effort(rounds=1, trips=20, shapes=((1, 1), (1, 5)), window=0.05, events=1000, megabytes=1)
"""A short run: enough to test that everything can be measured, and for orders of magnitude."""


@attrs.frozen
class Case:
    """One case: its figures, and the function that measures them."""

    names: tuple[tuple[str, Unit], ...]
    measure: Callable[[], Awaitable[Sequence[Figure]]]

    async def run(self, limit: float) -> Sequence[Figure]:
        """Run the case for at most `limit` seconds. After a failure or timeout, its figures have the reason."""
        failures: list[str] = []
        try:
            with trio.move_on_after(limit):
                return await self.measure()
            failures.append(f"it did not end within {duration(limit)}")
        except* (EngineError, OSError) as group:
            failures.extend(f"{type(error).__name__}: {error}" for error in _leaves(group))
        return self._cannot(failures[0])

    def _cannot(self, reason: str) -> Sequence[Figure]:
        return [Figure(name, unit, cannot=reason) for name, unit in self.names]


def cases(browser: Browser, url: str | None, effort: Effort) -> list[Case]:
    """Return the cases for a browser, in order. `url` adds the cases for a page."""
    rounds = effort.rounds
    found: list[Case] = []

    def case(*names: tuple[str, Unit]) -> Callable[[Callable[[], Awaitable[Sequence[Figure]]]], None]:
        return lambda measure: found.append(Case(names, measure))

    address = urlsplit(browser.endpoint or "")
    if address.hostname is not None:

        @case(("connect", "ms"))
        async def _connect() -> Sequence[Figure]:
            port = address.port or (443 if address.scheme == "wss" else 80)
            return [
                Figure(
                    "connect", "ms", await _time_connects(str(address.hostname), port, 20), "TCP, 20 times"
                )
            ]

    @case(("round trip, browser", "ms"))
    async def _browser_trip() -> Sequence[Figure]:
        taken = await _time_calls(lambda: browser.session.call("Browser.getVersion"), effort.trips)
        return [Figure("round trip, browser", "ms", taken, f"Browser.getVersion, {effort.trips} times")]

    @case(("round trip, page", "ms"))
    async def _page_trip() -> Sequence[Figure]:
        async with _open_tab(browser) as page:
            taken = await _time_calls(
                lambda: page.session.call("Runtime.evaluate", expression="1"), effort.trips
            )
        return [Figure("round trip, page", "ms", taken, f"Runtime.evaluate, {effort.trips} times")]

    @case(*((f"throughput {sessions} x {calls}", "calls/s") for sessions, calls in effort.shapes))
    async def _throughput() -> Sequence[Figure]:
        return await _measure_throughputs(browser, effort)

    @case(("events", "events/s"))
    async def _event_rate() -> Sequence[Figure]:
        async with _open_tab(browser) as page:
            return [await _measure_events(page, effort)]

    @case(("large reply", "MB/s"))
    async def _large() -> Sequence[Figure]:
        async with _open_tab(browser) as page:
            ask = f"'x'.repeat({effort.megabytes * 1_000_000})"
            call = lambda: page.session.call("Runtime.evaluate", expression=ask, returnByValue=True)  # noqa: E731
            taken = await _time_calls(call, rounds)
        rates = [effort.megabytes / (each / 1000) for each in taken]
        return [Figure("large reply", "MB/s", rates, f"{effort.megabytes} MB, {rounds} times")]

    @case(("open and close a tab", "ms"))
    async def _tabs() -> Sequence[Figure]:
        async def once() -> None:
            async with _open_tab(browser):
                pass

        return [Figure("open and close a tab", "ms", await _time_calls(once, rounds), f"{rounds} times")]

    @case(("click", "ms"))
    async def _click() -> Sequence[Figure]:
        async with _open_tab(browser) as page:
            await page.set_content(_BUTTON)
            button = (await page.snapshot()).find(role="button")
            taken = await _time_calls(lambda: page.click(button), 5 * rounds)
        return [Figure("click", "ms", taken, "with every check, on a still page")]

    if url is not None:

        @case(("load", "ms"), ("snapshot", "ms"), ("snapshot again", "ms"))
        async def _snapshot() -> Sequence[Figure]:
            async with _open_tab(browser) as page:
                return await _measure_snapshots(page, str(url), rounds)

    return found


def _leaves(group: BaseExceptionGroup[BaseException]) -> Iterator[BaseException]:
    for error in group.exceptions:
        if isinstance(error, BaseExceptionGroup):
            yield from _leaves(error)
        else:
            yield error


@asynccontextmanager
async def _open_tab(browser: Browser) -> AsyncIterator[Page]:
    page = await browser.new_page()
    try:
        yield page
    finally:
        with trio.move_on_after(5, shield=True):
            await page.close()


async def _time_calls(call: Callable[[], Awaitable[object]], times: int) -> list[float]:
    """Return the duration of each of `times` calls in milliseconds, after a call that is not counted."""
    await call()
    taken = []
    for _ in range(times):
        started = time.perf_counter()
        await call()
        taken.append((time.perf_counter() - started) * 1000)
    return taken


async def _time_connects(host: str, port: int, times: int) -> list[float]:
    async def once() -> None:
        stream = await trio.open_tcp_stream(host, port)
        await stream.aclose()

    return await _time_calls(once, times)


async def _measure_throughputs(browser: Browser, effort: Effort) -> list[Figure]:
    most = max(sessions for sessions, _calls in effort.shapes)
    rates: dict[tuple[int, int], list[float]] = {shape: [] for shape in effort.shapes}
    async with AsyncExitStack() as tabs:
        pages = [await tabs.enter_async_context(_open_tab(browser)) for _ in range(most)]
        for turn in range(effort.rounds + 1):
            for shape in effort.shapes:  # alternating, so that other load of the machine affects all of them
                found = await _count_calls_a_second(pages[: shape[0]], shape[1], effort.window)
                if turn:  # the first warms up
                    rates[shape].append(found)
    return [
        Figure(
            f"throughput {sessions} x {calls}",
            "calls/s",
            found,
            f"{sessions} sessions, {calls} in flight each",
        )
        for (sessions, calls), found in rates.items()
    ]


async def _count_calls_a_second(pages: Sequence[Page], in_flight: int, window: float) -> float:
    count = 0

    async def one(page: Page) -> None:
        nonlocal count
        while time.perf_counter() < end:
            await page.session.call("Runtime.evaluate", expression="1")
            count += 1

    started = time.perf_counter()
    end = started + window
    async with trio.open_nursery() as nursery:
        for page in pages:
            for _ in range(in_flight):
                nursery.start_soon(one, page)
    return count / (time.perf_counter() - started)


async def _measure_events(page: Page, effort: Effort) -> Figure:
    rates, lost, expected = [], 0, effort.events
    flood = f"for (let i = 0; i < {expected}; i++) console.debug(i)"
    async with page.session.subscribe("Runtime.consoleAPICalled", buffer=2 * expected) as events:
        for _ in range(effort.rounds):
            started, received = time.perf_counter(), 0
            async with trio.open_nursery() as nursery:
                nursery.start_soon(lambda: page.session.call("Runtime.evaluate", expression=flood))
                while received < expected:
                    try:
                        await events.receive()
                        received += 1
                    except EventsLostError as error:
                        received += error.count
                        lost += error.count
            rates.append(expected / (time.perf_counter() - started))
    loss = f", {lost:,} lost" if lost else ""
    return Figure("events", "events/s", rates, f"{expected:,} console messages{loss}")


async def _measure_snapshots(page: Page, url: str, rounds: int) -> list[Figure]:
    started = time.perf_counter()
    await page.goto(url)
    load = (time.perf_counter() - started) * 1000
    fresh = await _time_calls(lambda: page.snapshot(fresh=True), rounds)
    again = await _time_calls(page.snapshot, rounds)
    stats = (await page.snapshot()).stats
    detail = f"{stats.lines:,} lines, {stats.nodes_seen:,} nodes, by {stats.source}"
    return [
        Figure("load", "ms", [load], "until the load event"),
        Figure("snapshot", "ms", fresh, detail),
        Figure("snapshot again", "ms", again, "without a change since the previous one"),
    ]


CASE_LIMIT = 30.0
"""Maximum duration of one case, in seconds."""

Progress = Callable[[int, int, str], None]
"""Called with the number of finished cases, of all cases, and the name of the next one ("" at the end)."""


async def measure_browser(
    browser: Browser,
    *,
    url: str | None = None,
    effort: Effort = Effort(),
    case_limit: float = CASE_LIMIT,
    progress: Progress = lambda _done, _all, _next: None,
) -> BenchReport:
    """Measure a browser in new tabs, and return the report. `url` is a page to load and take snapshots of.

    `effort` is the amount of measuring, `case_limit` the maximum seconds of one case. Other pages of the browser
    are not changed, but their activity affects the figures. Raises ConnectionLostError if the connection is lost
    at the end; other failures become figures with a reason.
    """
    todo = cases(browser, url, effort)
    figures: list[Figure] = []
    load = _read_load()
    for number, case in enumerate(todo):
        progress(number, len(todo), case.names[0][0])
        figures.extend(await case.run(case_limit))
    progress(len(todo), len(todo), "")
    if error := browser.session.error():
        raise error
    place, local = _name_place(browser.endpoint), _is_local(browser.endpoint)
    return BenchReport(browser.version.product, place, local, load, tuple(figures))


def _read_load() -> float | None:
    try:
        return os.getloadavg()[0] / (os.cpu_count() or 1)
    except (AttributeError, OSError):  # Windows has none
        return None


def _name_place(endpoint: str | None) -> str:
    return "a pipe" if endpoint is None else urlsplit(endpoint).netloc.rpartition("@")[2]


def _is_local(endpoint: str | None) -> bool:
    host = urlsplit(endpoint or "").hostname
    if host is None or host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
