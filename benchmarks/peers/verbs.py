"""The loop of a peer, and the verbs that every peer has.

Rule: each order, a line of JSON, has an answer: values, or `cannot` with the reason. Only the library's own call is
timed. The page's own record verifies its effect afterwards. Each peer's own interpreter runs this, so it needs the
standard library alone.
"""

# mypy: ignore-errors
import asyncio
import contextlib
import gc
import json
import math
import os
import signal
import sys
import threading
import time
from collections.abc import Mapping, Sequence
from functools import partial
from typing import ClassVar

from benchmarks.peers.memory import resident

BETWEEN = 0.004  # seconds between two actions, like a program that checks something in between
CLICK_PATIENCE = 3.0  # timeout of a click on a page that may hang, in seconds
CLOSING = 3.0  # timeout of a library that closes its browser, in seconds
HANG = "while (true) {}"

START_PAGE = "about:blank"
"""Otherwise Chrome opens its new-tab page, which has work to do for seconds."""

SNAPSHOTS = {"snapshot", "first_look", "step"}  # verbs that a library without a snapshot lacks


class Cannot(Exception):
    """The library cannot perform the order. The message is the reason."""


def words_of(error: BaseException) -> str:
    """Return an error's reason: its type and the first line of its message with a letter."""
    if isinstance(error, Cannot):
        return str(error)
    lines = [line.strip() for line in str(error).splitlines() if any(map(str.isalnum, line))]
    return f"{type(error).__name__}: {lines[0]}"[:300] if lines else type(error).__name__


async def timed(step):
    """Return the milliseconds of one step, and its result."""
    started = time.perf_counter()
    result = await step()
    return (time.perf_counter() - started) * 1000, result


async def cancelled(work, budget):
    """Run the library's call for `budget` seconds. It is not awaited any longer: some libraries cannot cancel it."""
    running = asyncio.ensure_future(work)
    running.add_done_callback(lambda done: done.cancelled() or done.exception())
    return bool((await asyncio.wait([running], timeout=budget))[0])


class Verbs:
    """One library. Each method `do_VERB` obeys an order by the operations that the subclass defines.

    `begin` starts a browser with the order's flags, and `end` closes it. `fresh(url)` starts another browser, loads
    `url` and returns the function that closes it. `new_tab`, `go(tab, url)`, `close_tab(tab)`, `front(tab)` and
    `own_context` (a context manager of a tab) handle tabs. `value(tab, expression)` evaluates, and `caller(tab)`
    returns the cheapest call to a page and back. `part(tab, name)` returns the element with that id, and
    `row_button(tab, number)` the button of a row, for `click`, `hover`, `type` and `fill`. `messages(tab, see)` and
    `requests(tab, see)` call `see` for each event of a burst during a block. `tree(tab)` returns the library's own
    snapshot. `hang(tab, budget, by)` runs HANG for `budget` seconds by its own `evaluate` or by `cdp`, and returns
    how it was cancelled.
    """

    version = ""
    attached = ""
    lacks: ClassVar[Mapping[str, str]] = {}
    """The reason for each verb without support."""

    notes: ClassVar[Mapping[str, str]] = {}
    """How a verb is performed, for the report."""

    def __init__(self, site: str, executable: str = "", flags: Sequence[str] = ()) -> None:
        self.site = site
        self.executable = executable
        self.flags = list(flags)
        self._open = {}
        self._row = 0

    # --- the concurrency of the library ---------------------------------------------------------------------------

    async def pause(self, seconds):
        await asyncio.sleep(seconds)

    async def together(self, works):
        try:
            async with asyncio.TaskGroup() as group:
                for work in works:
                    group.create_task(work())
        except ExceptionGroup as errors:
            raise Cannot(words_of(errors.exceptions[0])) from None

    async def each_timed(self, repeats, step):
        taken = []
        for _ in range(repeats):
            taken.append((await timed(step))[0])
            await self.pause(BETWEEN)
        return taken

    # --- operations that are alike in several libraries -----------------------------------------------------------

    async def go(self, tab, url):
        await tab.goto(url)

    async def close_tab(self, tab):
        await tab.close()

    async def front(self, tab):
        await tab.bring_to_front()

    async def click(self, part):
        await part.click()

    async def hover(self, part):
        await part.hover()

    async def click_among(self, tab, part):  # noqa: ARG002 - some bring the tab to the front
        """Click in one of many tabs: some libraries cannot do that behind another tab."""
        await self.click(part)

    # --- tabs -----------------------------------------------------------------------------------------------------

    async def tabs_at(self, path, count=1):
        """Return `count` tabs on a page of the site, which stay open."""
        tabs = self._open.setdefault(path, [])
        while len(tabs) < count:
            tab = await self.new_tab()
            await self.go(tab, self.site + path)
            tabs.append(tab)
        return tabs[:count]

    async def tab_at(self, path):
        """Return the tab on a page of the site, in front."""
        [tab] = await self.tabs_at(path)
        await self.front(tab)
        return tab

    async def tab_for(self, verb):
        if verb not in self._open:
            self._open[verb] = [await self.new_tab()]
        return self._open[verb][0]

    # --- verbs ----------------------------------------------------------------------------------------------------

    async def do_start(self):
        taken, close = await timed(lambda: self.fresh(f"{self.site}/blank"))
        await close()
        return {"values": [taken]}

    async def do_round_trip(self, calls):
        call = await self.caller(await self.tab_at("/blank"))
        return {"values": [(await timed(call))[0] for _ in range(calls)]}

    async def do_throughput(self, sessions, in_flight, seconds):
        calls = [await self.caller(tab) for tab in await self.tabs_at("/blank", sessions)]
        done = 0
        started = time.perf_counter()

        async def one(call):
            nonlocal done
            while time.perf_counter() - started < seconds:
                await call()
                done += 1

        await self.together([partial(one, call) for call in calls for _ in range(in_flight)])
        return {"values": [done / (time.perf_counter() - started)]}

    async def do_flood(self, count):
        rate = await self.burst("messages", count)
        gc.collect()
        return {"values": [rate], "mb": resident(os.getpid())}

    async def do_requests(self, count):
        return {"values": [await self.burst("requests", count)]}

    async def burst(self, kind, count, patience=100):
        """Return the events a second of a burst that the page creates."""
        tab = await self.tab_at("/burst")
        all_seen = asyncio.Event()
        seen = 0

        def see():
            nonlocal seen
            seen += 1
            if seen == count:
                all_seen.set()

        async with getattr(self, kind)(tab, see):
            started = time.perf_counter()
            making = asyncio.ensure_future(self.value(tab, f"{kind}({count})"))
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(patience):
                    await all_seen.wait()
                    await making
            taken = time.perf_counter() - started
            await asyncio.sleep(0.05)  # a duplicate would arrive now
        if seen != count:
            raise Cannot(f"its handler saw {seen} of {count}")
        return count / taken

    async def do_reply(self, bytes):  # noqa: A002 - the name in the order
        tab = await self.tab_at("/burst")
        taken, got = await timed(lambda: self.value(tab, f"reply({bytes})"))
        if not isinstance(got, str) or len(got) != bytes:
            raise Cannot(f"another reply arrived than {bytes} bytes")
        return {"values": [taken]}

    async def do_snapshot(self, url, times):
        tab = await self.tab_for("snapshot")
        if await self.value(tab, "location.href") != url:
            await self.go(tab, url)
        taken = []
        for _ in range(times):
            milliseconds, text = await timed(lambda: self.tree(tab))
            taken.append(milliseconds)
            if not text:
                raise Cannot("its snapshot is empty")
        return {"values": taken}

    async def do_first_look(self, url, times):
        tab = await self.tab_for("looks")
        taken = []
        for _ in range(times):
            await self.go(tab, url)
            milliseconds, text = await timed(lambda: self.tree(tab))
            taken.append(milliseconds)
            if "Buy 0" not in text:
                raise Cannot("its snapshot lacks the first row's button")
        return {"values": taken}

    async def do_step(self, url, times):
        tab = await self.tab_for("looks")
        if await self.value(tab, "location.href") != url:
            await self.go(tab, url)
        steps, looks = [], []
        for _ in range(times):
            self._row = (self._row + 1) % int(url.rpartition("/")[2])
            button = await self.row_button(tab, self._row)
            click, _ = await timed(partial(self.click, button))
            look, text = await timed(lambda: self.tree(tab))
            looks.append(look)
            steps.append(click + look)
            if f"Sold {self._row}" not in text:
                raise Cannot(f"its snapshot lacks the change of the click on row {self._row}")
        return {"values": steps, "looks": looks}

    async def clicked(self, tab, repeats, click, at_most=math.inf):
        """Return the milliseconds of each click on the scene, verified by the page. Stop after `at_most` seconds."""
        go = await self.part(tab, "go")
        before = await self.value(tab, "clicks")
        taken = []
        started = time.perf_counter()
        while len(taken) < repeats and time.perf_counter() - started < at_most:
            taken += await self.each_timed(1, lambda: click(tab, go))
        arrived = await self.value(tab, "clicks") - before
        if arrived != len(taken):
            raise Cannot(f"{arrived} of {len(taken)} clicks arrived")
        return taken

    async def do_click(self, repeats):
        tab = await self.tab_at("/scene")
        return {"values": await self.clicked(tab, repeats, lambda _tab, go: self.click(go))}

    async def do_click_tab(self, tabs, repeats):
        opened = await self.tabs_at("/scene", tabs)
        first = await self.clicked(opened[0], repeats, self.click_among, at_most=2)
        return {"values": await self.clicked(opened[-1], repeats, self.click_among), "first": first}

    async def do_hover(self, repeats):
        tab = await self.tab_at("/scene")
        over = [await self.part(tab, "go"), await self.part(tab, "other")]
        await self.hover(over[0])
        before = await self.value(tab, "overs")

        async def hover():
            over.reverse()
            await self.hover(over[0])

        taken = await self.each_timed(repeats, hover)
        arrived = await self.value(tab, "overs") - before
        if arrived != (repeats + 1) // 2:
            raise Cannot(f"the page received {arrived} of {(repeats + 1) // 2} moves onto the button")
        return {"values": taken}

    async def do_type(self, repeats, text):
        return await self.written(self.type, repeats, text)

    async def do_fill(self, repeats, text):
        return await self.written(self.fill, repeats, text)

    async def written(self, write, repeats, text):
        """Return the milliseconds of each write into the scene's field, verified by the page."""
        tab = await self.tab_at("/scene")
        field = await self.part(tab, "field")
        taken = []
        for _ in range(repeats):
            await self.value(tab, "void (field.value = '')")
            taken += await self.each_timed(1, lambda: write(field, text))
            arrived = await self.value(tab, "field.value")
            if arrived != text:
                raise Cannot(f"another text arrived: {len(arrived)} characters for {len(text)}")
        return {"values": taken}

    async def do_hung(self, hangs, budget, by):
        tab = await self.tab_at("/scene")
        go = await self.part(tab, "go")
        await self.click(go)
        clicks, late = [], []
        for _ in range(hangs):
            before = await self.value(tab, "clicks")
            started = time.perf_counter()
            how = await self.hang(tab, budget, by)
            late.append((time.perf_counter() - started - budget) * 1000)
            try:
                async with asyncio.timeout(CLICK_PATIENCE):
                    clicks.append((await timed(lambda: self.click(go)))[0])
                    arrived = await self.value(tab, "clicks") - before
            except TimeoutError:
                reason = f"had not arrived within {CLICK_PATIENCE:g} s"
                raise Cannot(f"{how}; the click after it {reason}") from None
            except Exception as error:  # noqa: BLE001 - whatever the library raises is its answer
                raise Cannot(f"{how}; the click after it: {words_of(error)}") from None
            if arrived != 1:
                raise Cannot(f"{how}; of the click after it {arrived} arrived")
        return {"values": clicks, "late_ms": late, "note": how}

    async def do_pages_at_once(self, count, at_once):
        started = time.perf_counter()
        clicked = 0.0

        async def one():
            nonlocal clicked
            tab = await self.new_tab()
            await self.visit(tab)
            await self.click(await self.part(tab, "go"))
            clicks = await self.value(tab, "clicks")
            if clicks != 1:
                raise Cannot(f"a page had {clicks} clicks")
            clicked = time.perf_counter() - started
            await self.close_tab(tab)

        taken = await self.all_of(count, at_once, one)
        return {"values": [count / taken], "clicked": count / clicked}

    async def do_jobs(self, count, at_once):
        async def one():
            async with self.own_context() as tab:
                await self.visit(tab)

        return {"values": [await self.all_of(count, at_once, one) * 1000 / count]}

    async def visit(self, tab):
        await self.go(tab, f"{self.site}/scene")
        title = await self.value(tab, "document.title")
        if title != "scene":
            raise Cannot(f"a page had the title {title!r}")

    async def all_of(self, count, at_once, one):
        """Return the seconds of `count` jobs, `at_once` of them in parallel."""
        left = iter(range(count))

        async def work():
            for _ in left:
                await one()

        milliseconds, _ = await timed(lambda: self.together([work] * at_once))
        return milliseconds / 1000

    async def do_navigations(self, count):
        tab = await self.tab_for("navigations")
        taken = []
        for number in range(count):
            milliseconds, _ = await timed(partial(self.go, tab, f"{self.site}/nav/{number}"))
            taken.append(milliseconds)
        title = await self.value(tab, "document.title")
        if title != f"nav/{count - 1}":
            raise Cannot(f"it reported nav/{count - 1} as loaded, and the page was {title!r}")
        gc.collect()
        return {"values": taken, "mb": resident(os.getpid())}


# --- the loop -----------------------------------------------------------------------------------------------------


async def answer_to(peer, order):
    verb = order.pop("do")
    lacking = "snapshot" if verb in SNAPSHOTS else verb
    if lacking in peer.lacks:
        return {"cannot": peer.lacks[lacking]}
    gc.collect()
    try:
        answer = await getattr(peer, f"do_{verb}")(**order)
    except Exception as error:  # noqa: BLE001 - whatever the library raises is its answer
        return {"cannot": words_of(error)}
    return {"note": peer.notes.get(verb, ""), **answer}


async def lines_of(stream):
    """Yield the lines of a stream, which is read in a separate thread that ends with the process."""
    loop = asyncio.get_running_loop()
    queue = asyncio.Queue()

    def read():
        with contextlib.suppress(RuntimeError):  # the loop ended before the stream
            for line in stream:
                loop.call_soon_threadsafe(queue.put_nowait, line)
            loop.call_soon_threadsafe(queue.put_nowait, "")

    threading.Thread(target=read, daemon=True).start()
    while line := await queue.get():
        yield line


async def obey(peer, orders, say):
    """Start the peer, answer its orders, and close it in every case."""
    try:
        await peer.begin()
    except Exception as error:  # noqa: BLE001 - whatever the library raises is its answer
        say({"cannot": words_of(error)})
    else:
        say({"version": f"{peer.version} (by {peer.attached})"})
        async for line in lines_of(orders):
            say(await answer_to(peer, json.loads(line)))
    finally:
        # A browser whose page hangs may never report that it is closed.
        with contextlib.suppress(Exception):
            async with asyncio.timeout(CLOSING):
                await peer.end()


def serve(make):
    """Be a peer: create it from the order in argv, and obey standard input until it ends."""
    orders = os.fdopen(os.dup(0), "r", encoding="utf-8")
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    # The library's own output, and its children's input, must not mix with orders and answers.
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os.dup2(2, 1)
    # All connections are on this machine.
    for name in [name for name in os.environ if name.lower().endswith("_proxy")]:
        del os.environ[name]

    def say(answer):
        answers.write(json.dumps(answer) + "\n")
        answers.flush()

    async def main():
        asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, asyncio.current_task().cancel)
        with contextlib.suppress(asyncio.CancelledError):
            await obey(make(**json.loads(sys.argv[1])), orders, say)
        # Threads of a library may still wait for a closed browser.
        sys.stderr.flush()
        os._exit(0)

    asyncio.run(main())
