"""The verbs that every peer has, on top of the few things that a library must be able to do.

Rule: what is timed is only the library's own call; what it has done is checked with the page's own record afterwards,
and what is missing is said. Each library is one subclass, which says how it is done best there, and in `lacks` what
it has no way to do.
"""

from __future__ import annotations

import asyncio
import math
import os
import time
from collections.abc import Awaitable, Callable, Mapping
from contextlib import AbstractAsyncContextManager
from typing import Any, ClassVar

from serve import Answer, Cannot, resident, words_of  # type: ignore[import-not-found]  # beside this script

BETWEEN = 0.004
"""Seconds between two actions, as a program has that looks at something in between."""

CLICK_PATIENCE = 3.0
"""Seconds after which a click on a page that may hang is given up on."""

HANG = "while (true) {}"

START_PAGE = "about:blank"
"""Or Chrome opens its new-tab page, which has work to do for seconds."""

Step = Callable[[], Awaitable[Any]]
Tab = Any
"""A library's own object for a page."""


async def timed(step: Step) -> float:
    """Return the milliseconds of one step."""
    started = time.perf_counter()
    await step()
    return (time.perf_counter() - started) * 1000


async def each_timed(repeats: int, step: Step) -> list[float]:
    """Return the milliseconds of each of so many steps."""
    taken = []
    for _ in range(repeats):
        taken.append(await timed(step))
        await asyncio.sleep(BETWEEN)
    return taken


class Verbs:
    """One library: it does what the methods without `do_` say, and gets all verbs."""

    version = ""
    attached = ""
    lacks: ClassVar[Mapping[str, str]] = {}
    notes: ClassVar[Mapping[str, str]] = {}
    """How a verb is done, in words for the report."""

    def __init__(self, order: Mapping[str, Any]) -> None:
        self.executable: str = order["executable"]
        self.flags: list[str] = list(order["flags"])
        self.site: str = order["site"]
        self.endpoint: str | None = order.get("endpoint")
        self._open: dict[str, list[Tab]] = {}

    # --- what a library does ---------------------------------------------------------------------------------

    async def begin(self) -> None:
        """Start a browser with the order's flags, or attach to `endpoint`; set `version` and `attached`."""
        raise NotImplementedError

    async def end(self) -> None:
        """Close the browser."""
        raise NotImplementedError

    async def fresh(self, url: str) -> Step:
        """Start another browser and load `url`; return what closes it."""
        raise NotImplementedError

    async def new_tab(self) -> Tab:
        raise NotImplementedError

    async def go(self, tab: Tab, url: str) -> None:
        """Load `url` and wait until it is loaded."""
        raise NotImplementedError

    async def close_tab(self, tab: Tab) -> None:
        raise NotImplementedError

    def own_context(self) -> AbstractAsyncContextManager[Tab]:
        """Open a tab in a context of its own, and close both with the block."""
        raise NotImplementedError

    async def front(self, tab: Tab) -> None:
        """Bring a tab to the front."""
        raise NotImplementedError

    async def value(self, tab: Tab, expression: str) -> Any:
        """Return what an expression gives; what it promises, if it gives a promise."""
        raise NotImplementedError

    async def caller(self, tab: Tab) -> Step:
        """Return the cheapest call that goes to this page and back."""
        raise NotImplementedError

    async def part(self, tab: Tab, name: str) -> Any:
        """Return the element whose id is `name`."""
        raise NotImplementedError

    async def row_button(self, tab: Tab, number: int) -> Any:
        """Return the button of a row."""
        raise NotImplementedError

    async def click(self, part: Any) -> None:
        raise NotImplementedError

    async def click_among(self, tab: Tab, part: Any) -> None:  # noqa: ARG002 - some bring it to the front
        """Click in one of many tabs, as is best there: not all that can click do so behind another tab."""
        await self.click(part)

    async def hover(self, part: Any) -> None:
        raise NotImplementedError

    async def type(self, part: Any, text: str) -> None:
        raise NotImplementedError

    async def fill(self, part: Any, text: str) -> None:
        raise NotImplementedError

    def messages(self, tab: Tab, see: Callable[[], None]) -> AbstractAsyncContextManager[object]:
        """Call `see` for each console message of a burst while the block runs."""
        raise NotImplementedError

    def requests(self, tab: Tab, see: Callable[[], None]) -> AbstractAsyncContextManager[object]:
        """Call `see` for each request of a burst that has finished while the block runs."""
        raise NotImplementedError

    async def tree(self, tab: Tab) -> str:
        """Return the library's own accessibility snapshot as text."""
        raise NotImplementedError

    async def hang(self, tab: Tab, budget: float, by: str) -> str:
        """Run HANG for `budget` seconds by its own `evaluate` or by `cdp`; return how it was given up on."""
        raise NotImplementedError

    # --- tabs ----------------------------------------------------------------------------------------------------

    async def tabs_at(self, path: str, count: int = 1) -> list[Tab]:
        """Return so many tabs on a page of the site: those of before, and new ones."""
        tabs = self._open.setdefault(path, [])
        while len(tabs) < count:
            tab = await self.new_tab()
            await self.go(tab, self.site + path)
            tabs.append(tab)
        return tabs[:count]

    async def tab_at(self, path: str) -> Tab:
        """Return the tab on a page of the site, in front."""
        tab = (await self.tabs_at(path))[0]
        await self.front(tab)
        return tab

    def said(self, verb: str, values: list[float], **more: Any) -> Answer:
        """Return the answer, with the note that this verb has here."""
        answer: Answer = {"values": values, **more}
        if verb in self.notes:
            answer["note"] = self.notes[verb]
        return answer

    # --- verbs ---------------------------------------------------------------------------------------------------

    async def do_open(self, url: str, tab: str = "main") -> Answer:
        opened = self._open.setdefault(f"named {tab}", [])
        if not opened:
            opened.append(await self.new_tab())
        return self.said("open", [await timed(lambda: self.go(opened[0], url))])

    async def do_start(self) -> Answer:
        closers: list[Step] = []

        async def begin() -> None:
            closers.append(await self.fresh(f"{self.site}/blank"))

        taken = await timed(begin)
        closed = await timed(closers[0])
        return self.said("start", [taken], closed=[closed])

    async def do_round_trip(self, calls: int) -> Answer:
        call = await self.caller(await self.tab_at("/blank"))
        return self.said("round_trip", [await timed(call) for _ in range(calls)])

    async def do_throughput(self, sessions: int, in_flight: int, seconds: float) -> Answer:
        calls = [await self.caller(tab) for tab in await self.tabs_at("/blank", sessions)]
        done = 0
        started = time.perf_counter()

        async def one(call: Step) -> None:
            nonlocal done
            while time.perf_counter() - started < seconds:
                await call()
                done += 1

        await asyncio.gather(*(one(call) for call in calls for _ in range(in_flight)))
        return self.said("throughput", [done / (time.perf_counter() - started)])

    async def do_flood(self, count: int) -> Answer:
        return self.said("flood", [await self.burst("messages", count)])

    async def do_requests(self, count: int) -> Answer:
        return self.said("requests", [await self.burst("requests", count)])

    async def burst(self, kind: str, count: int, patience: float = 100) -> float:
        """Return how many events a second arrived, of a burst that the page makes."""
        tab = await self.tab_at("/burst")
        all_seen = asyncio.Event()
        seen = 0

        def see() -> None:
            nonlocal seen
            seen += 1
            if seen == count:
                all_seen.set()

        async with getattr(self, kind)(tab, see):
            started = time.perf_counter()
            making = asyncio.ensure_future(self.value(tab, f"{kind}({count})"))
            try:
                async with asyncio.timeout(patience):
                    await all_seen.wait()
                    made = await making
            except TimeoutError:
                raise Cannot(f"its handler saw {seen} of {count} within {patience:g} s") from None
            taken = time.perf_counter() - started
            await asyncio.sleep(0.05)  # one that came twice would come now
        if seen != count or made not in (count, None):
            raise Cannot(f"its handler saw {seen} of {count}")
        return count / taken

    async def do_reply(self, bytes: int) -> Answer:  # noqa: A002 - the name that orders have for it
        tab = await self.tab_at("/burst")
        got: list[Any] = []

        async def read() -> None:
            got.append(await self.value(tab, f"reply({bytes})"))

        taken = await timed(read)
        length = len(got[0]) if isinstance(got[0], str) else 0
        if length != bytes:
            raise Cannot(f"{length} of {bytes} bytes came back")
        return self.said("reply", [taken])

    async def do_snapshot(self, url: str, times: int, tab: str = "main") -> Answer:
        opened = self._open.get(f"named {tab}")
        if not opened:
            raise Cannot(f"no page was opened at {url}")
        here = await self.value(opened[0], "location.href")
        if here != url:
            await self.go(opened[0], url)
        taken, chars = [], 0
        for _ in range(times):
            started = time.perf_counter()
            text = await self.tree(opened[0])
            taken.append((time.perf_counter() - started) * 1000)
            chars = len(text)
        if not chars:
            raise Cannot("its snapshot is empty")
        return self.said("snapshot", taken, chars=chars)

    async def do_first_look(self, url: str, times: int) -> Answer:
        tab = await self._named("looks")
        taken = []
        for _ in range(times):
            await self.go(tab, url)
            text = ""

            async def look() -> None:
                nonlocal text
                text = await self.tree(tab)

            taken.append(await timed(look))
            if "Buy 0" not in text:
                raise Cannot("its snapshot lacks the first row's button")
        return self.said("snapshot", taken)

    async def do_step(self, url: str, times: int) -> Answer:
        tab = await self._named("looks")
        if await self.value(tab, "location.href") != url:
            await self.go(tab, url)
        count = int(url.rpartition("/")[2])
        steps, looks = [], []
        for _ in range(times):
            self._row = (getattr(self, "_row", 0) + 1) % count
            button = await self.row_button(tab, self._row)
            started = time.perf_counter()
            await self.click(button)
            clicked = time.perf_counter()
            text = await self.tree(tab)
            looks.append((time.perf_counter() - clicked) * 1000)
            steps.append((time.perf_counter() - started) * 1000)
            if f"Sold {self._row}" not in text:
                raise Cannot(f"its snapshot lacks what the click on row {self._row} changed")
        return self.said("snapshot", steps, looks=looks)

    async def _named(self, name: str) -> Tab:
        opened = self._open.setdefault(f"named {name}", [])
        if not opened:
            opened.append(await self.new_tab())
        return opened[0]

    async def clicked(
        self, tab: Tab, repeats: int, *, among: bool = False, at_most: float = math.inf
    ) -> list[float]:
        """Return the milliseconds of each click on the scene, all of which the page has counted.

        After `at_most` seconds no other is begun.
        """
        go = await self.part(tab, "go")
        before = await self.value(tab, "clicks")
        taken: list[float] = []
        started = time.perf_counter()
        while len(taken) < repeats and time.perf_counter() - started < at_most:
            taken += await each_timed(
                1, (lambda: self.click_among(tab, go)) if among else lambda: self.click(go)
            )
        arrived = await self.value(tab, "clicks") - before
        if arrived != len(taken):
            raise Cannot(f"{arrived} of {len(taken)} clicks arrived")
        return taken

    async def do_click(self, repeats: int) -> Answer:
        return self.said("click", await self.clicked(await self.tab_at("/scene"), repeats))

    async def do_hover(self, repeats: int) -> Answer:
        tab = await self.tab_at("/scene")
        over = [await self.part(tab, "go"), await self.part(tab, "other")]
        await self.hover(over[0])
        before = await self.value(tab, "overs")

        async def hover() -> None:
            over.reverse()
            await self.hover(over[0])

        taken = await each_timed(repeats, hover)
        arrived = await self.value(tab, "overs") - before
        if arrived != (repeats + 1) // 2:
            raise Cannot(f"the page was told of {arrived} of {(repeats + 1) // 2} moves onto the button")
        return self.said("hover", taken)

    async def _written(self, verb: str, repeats: int, text: str) -> Answer:
        tab = await self.tab_at("/scene")
        field = await self.part(tab, "field")
        work = getattr(self, verb)
        taken = []
        for _ in range(repeats):
            await self.value(tab, "void (field.value = '')")
            taken.append(await timed(lambda: work(field, text)))
            arrived = await self.value(tab, "field.value")
            if arrived != text:
                raise Cannot(f"another text arrived: {len(arrived)} characters for {len(text)}")
            await asyncio.sleep(BETWEEN)
        return self.said(verb, taken)

    async def do_type(self, repeats: int, text: str) -> Answer:
        return await self._written("type", repeats, text)

    async def do_fill(self, repeats: int, text: str) -> Answer:
        return await self._written("fill", repeats, text)

    async def do_click_tab(self, tabs: int, repeats: int) -> Answer:
        opened = await self.tabs_at("/scene", tabs)
        first = await self.clicked(opened[0], repeats, among=True, at_most=2)
        return self.said("click_tab", await self.clicked(opened[-1], repeats, among=True), first=first)

    async def do_hung(self, hangs: int, budget: float, by: str = "evaluate") -> Answer:
        tab = await self.tab_at("/scene")
        go = await self.part(tab, "go")
        await self.click(go)
        clicks, late = [], []
        for _ in range(hangs):
            before = await self.value(tab, "clicks")
            self._open.pop("/scene", None)  # until it has shown that it is not lost
            started = time.perf_counter()
            how = await self.hang(tab, budget, by)
            late.append((time.perf_counter() - started - budget) * 1000)
            try:
                async with asyncio.timeout(CLICK_PATIENCE):
                    clicks.append(await timed(lambda: self.click(go)))
                    arrived = await self.value(tab, "clicks") - before
            except TimeoutError:
                raise Cannot(
                    f"{how}; the click after it had not arrived within {CLICK_PATIENCE:g} s"
                ) from None
            except Exception as error:  # noqa: BLE001 - a stranger's library: whatever it raises is its answer
                raise Cannot(f"{how}; the click after it: {words_of(error)}") from None
            if arrived != 1:
                raise Cannot(f"{how}; of the click after it {arrived} arrived")
            self._open["/scene"] = [tab]
        return {"values": clicks, "late_ms": late, "note": how}

    async def do_pages_at_once(self, pages: int) -> Answer:
        clicked = []
        started = time.perf_counter()

        async def one() -> None:
            tab = await self.new_tab()
            await self.go(tab, f"{self.site}/scene")
            title = await self.value(tab, "document.title")
            await self.click(await self.part(tab, "go"))
            clicks = await self.value(tab, "clicks")
            if (title, clicks) != ("scene", 1):
                raise Cannot(f"a page had the title {title!r} and {clicks} clicks")
            clicked.append((time.perf_counter() - started) * 1000)
            await self.close_tab(tab)

        async def all_of_them() -> None:
            async with asyncio.TaskGroup() as group:
                for _ in range(pages):
                    group.create_task(one())

        try:
            taken = await timed(all_of_them)
        except ExceptionGroup as errors:
            first = errors.exceptions[0]
            raise Cannot(str(first) if isinstance(first, Cannot) else words_of(first)) from None
        return self.said("pages_at_once", [taken], clicked=[max(clicked)])

    async def do_jobs(self, jobs: int, at_once: int) -> Answer:
        left = iter(range(jobs))

        async def work() -> None:
            for _ in left:
                async with self.own_context() as tab:
                    await self.go(tab, f"{self.site}/scene")
                    title = await self.value(tab, "document.title")
                    if title != "scene":
                        raise Cannot(f"a page had the title {title!r}")

        async def all_of_them() -> None:
            async with asyncio.TaskGroup() as group:
                for _ in range(at_once):
                    group.create_task(work())

        try:
            taken = await timed(all_of_them)
        except ExceptionGroup as errors:
            first = errors.exceptions[0]
            raise Cannot(str(first) if isinstance(first, Cannot) else words_of(first)) from None
        return self.said("jobs", [taken])

    async def do_navigations(self, count: int) -> Answer:
        opened = self._open.setdefault("navigations", [])
        if not opened:
            opened.append(await self.new_tab())
        tab = opened[0]
        taken = []
        for number in range(count):
            started = time.perf_counter()
            await self.go(tab, f"{self.site}/nav/{number}")
            taken.append((time.perf_counter() - started) * 1000)
            if number in (0, count - 1):
                title = await self.value(tab, "document.title")
                if title != f"nav/{number}":
                    raise Cannot(f"it said that nav/{number} was loaded, and the page was {title!r}")
        return self.said("navigations", taken, mb=resident(os.getpid()))

    async def do_memory(self) -> Answer:
        return self.said("memory", [resident(os.getpid())])
