"""The cases: what is measured of a browser, one after the other, in tabs of our own.

Rule: each case ends within its time whatever the browser does; what it could not measure becomes a figure that
says why. Nothing of it stays in the browser.
"""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from urllib.parse import urlsplit

import attrs
import trio

from cdpengine._api.browser import Browser
from cdpengine._api.page import Page
from cdpengine.bench.figures import Figure, Unit
from cdpengine.errors import EngineError, EventsLostError

_BUTTON = "<!doctype html><title>bench</title><button style='margin:40px'>Go</button>"


@attrs.frozen
class Effort:
    """How much is measured.

    `rounds` is how often what takes long is repeated, `trips` the commands of a round-trip case, `shapes` the
    numbers of sessions and of calls of each in flight, `window` the seconds of one throughput
    turn, `events` those of one flood, `megabytes` the size of the large reply.
    """

    rounds: int = 5
    trips: int = 200
    shapes: tuple[tuple[int, int], ...] = ((1, 1), (1, 5), (10, 1), (10, 5))
    window: float = 0.4
    events: int = 20_000
    megabytes: int = 10


QUICK = Effort(rounds=1, trips=20, shapes=((1, 1), (1, 5)), window=0.05, events=1000, megabytes=1)
"""Enough to see that all can be measured, and orders of magnitude."""


@attrs.frozen
class Case:
    """One case: the figures that it is to give, and what measures them."""

    names: tuple[tuple[str, Unit], ...]
    measure: Callable[[], Awaitable[Sequence[Figure]]]

    async def run(self, limit: float) -> Sequence[Figure]:
        """Measure, for at most `limit` seconds; what fails or takes longer gives figures that say why."""
        failures: list[str] = []
        try:
            with trio.move_on_after(limit):
                return await self.measure()
            failures.append(f"it did not end within {limit:g} s")
        except* (EngineError, OSError) as group:
            failures.extend(f"{type(error).__name__}: {error}" for error in _leaves(group))
        return self._cannot(failures[0])

    def _cannot(self, reason: str) -> Sequence[Figure]:
        return [Figure(name, unit, cannot=reason) for name, unit in self.names]


def cases(browser: Browser, url: str | None, effort: Effort) -> list[Case]:
    """Return the cases for a browser, in the order in which they are to be run; `url` adds those of a page."""
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
                Figure("connect", "ms", await _connects(str(address.hostname), port, 20), "TCP, 20 times")
            ]

    @case(("round trip, browser", "ms"))
    async def _browser_trip() -> Sequence[Figure]:
        taken = await _repeated(lambda: browser.session.call("Browser.getVersion"), effort.trips)
        return [Figure("round trip, browser", "ms", taken, f"Browser.getVersion, {effort.trips} times")]

    @case(("round trip, page", "ms"))
    async def _page_trip() -> Sequence[Figure]:
        async with _tab(browser) as page:
            taken = await _repeated(
                lambda: page.session.call("Runtime.evaluate", expression="1"), effort.trips
            )
        return [Figure("round trip, page", "ms", taken, f"Runtime.evaluate, {effort.trips} times")]

    @case(*((f"throughput {sessions} x {calls}", "calls/s") for sessions, calls in effort.shapes))
    async def _throughput() -> Sequence[Figure]:
        return await _throughputs(browser, effort)

    @case(("events", "events/s"))
    async def _event_rate() -> Sequence[Figure]:
        async with _tab(browser) as page:
            return [await _events(page, effort)]

    @case(("large reply", "MB/s"))
    async def _large() -> Sequence[Figure]:
        async with _tab(browser) as page:
            ask = f"'x'.repeat({effort.megabytes * 1_000_000})"
            call = lambda: page.session.call("Runtime.evaluate", expression=ask, returnByValue=True)  # noqa: E731
            taken = await _repeated(call, rounds)
        rates = [effort.megabytes / (each / 1000) for each in taken]
        return [Figure("large reply", "MB/s", rates, f"{effort.megabytes} MB, {rounds} times")]

    @case(("open and close a tab", "ms"))
    async def _tabs() -> Sequence[Figure]:
        async def once() -> None:
            async with _tab(browser):
                pass

        return [Figure("open and close a tab", "ms", await _repeated(once, rounds), f"{rounds} times")]

    @case(("click", "ms"))
    async def _click() -> Sequence[Figure]:
        async with _tab(browser) as page:
            await page.set_content(_BUTTON)
            button = (await page.snapshot()).find(role="button")
            taken = await _repeated(lambda: page.click(button), 5 * rounds)
        return [Figure("click", "ms", taken, "with every check, on a still page")]

    if url is not None:

        @case(("load", "ms"), ("snapshot", "ms"), ("snapshot again", "ms"))
        async def _snapshot() -> Sequence[Figure]:
            async with _tab(browser) as page:
                return await _snapshots(page, str(url), rounds)

    return found


def _leaves(group: BaseExceptionGroup[BaseException]) -> Iterator[BaseException]:
    for error in group.exceptions:
        if isinstance(error, BaseExceptionGroup):
            yield from _leaves(error)
        else:
            yield error


@asynccontextmanager
async def _tab(browser: Browser) -> AsyncIterator[Page]:
    page = await browser.new_page()
    try:
        yield page
    finally:
        with trio.move_on_after(5, shield=True):
            await page.close()


async def _repeated(call: Callable[[], Awaitable[object]], times: int) -> list[float]:
    """Return the milliseconds of each of `times` calls, after one that is not counted."""
    await call()
    taken = []
    for _ in range(times):
        started = time.perf_counter()
        await call()
        taken.append((time.perf_counter() - started) * 1000)
    return taken


async def _connects(host: str, port: int, times: int) -> list[float]:
    async def once() -> None:
        stream = await trio.open_tcp_stream(host, port)
        await stream.aclose()

    return await _repeated(once, times)


async def _throughputs(browser: Browser, effort: Effort) -> list[Figure]:
    most = max(sessions for sessions, _calls in effort.shapes)
    rates: dict[tuple[int, int], list[float]] = {shape: [] for shape in effort.shapes}
    async with AsyncExitStack() as tabs:
        pages = [await tabs.enter_async_context(_tab(browser)) for _ in range(most)]
        for turn in range(effort.rounds + 1):
            for shape in effort.shapes:  # in turns, so that what else the machine does hits all of them
                found = await _calls_a_second(pages[: shape[0]], shape[1], effort.window)
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


async def _calls_a_second(pages: Sequence[Page], in_flight: int, window: float) -> float:
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


async def _events(page: Page, effort: Effort) -> Figure:
    rates, lost, wanted = [], 0, effort.events
    flood = f"for (let i = 0; i < {wanted}; i++) console.debug(i)"
    async with page.session.subscribe("Runtime.consoleAPICalled", buffer=2 * wanted) as events:
        for _ in range(effort.rounds):
            started, seen = time.perf_counter(), 0
            async with trio.open_nursery() as nursery:
                nursery.start_soon(lambda: page.session.call("Runtime.evaluate", expression=flood))
                while seen < wanted:
                    try:
                        await events.receive()
                        seen += 1
                    except EventsLostError as error:
                        seen += error.count
                        lost += error.count
            rates.append(wanted / (time.perf_counter() - started))
    told = f", {lost:,} lost" if lost else ""
    return Figure("events", "events/s", rates, f"{wanted:,} console messages{told}")


async def _snapshots(page: Page, url: str, rounds: int) -> list[Figure]:
    started = time.perf_counter()
    await page.goto(url)
    load = (time.perf_counter() - started) * 1000
    fresh = await _repeated(lambda: page.snapshot(fresh=True), rounds)
    again = await _repeated(page.snapshot, rounds)
    stats = (await page.snapshot()).stats
    detail = f"{stats.lines:,} lines, {stats.nodes_seen:,} nodes, by {stats.source}"
    return [
        Figure("load", "ms", [load], "until the load event"),
        Figure("snapshot", "ms", fresh, detail),
        Figure("snapshot again", "ms", again, "nothing changed since the one before"),
    ]
