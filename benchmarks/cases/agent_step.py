"""The step of an agent: clicking a ref of the last snapshot, and taking another snapshot of the whole page.

Rule: every side goes its normal way to the text for a model, with its defaults: libraries in their process, servers
over MCP, shells by two commands. The click changes the button's row, and the snapshot must show that. A traced side
has a browser of its own, because a step trace records all messages of a connection.
"""

from __future__ import annotations

import re
import tempfile
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack
from functools import partial
from typing import Any

import attrs
import trio

from benchmarks.cases.mcp import DIALECTS, Server, start
from benchmarks.cases.shell import PEER, Shell, find_sides
from benchmarks.harness.bench import Bench, Case, Turn, timed
from benchmarks.harness.engine import PATIENCE, Engine
from benchmarks.harness.programs import Cannot

ROWS = (100, 1_000)
TIMES = 2  # steps of a turn
TRACED_ROWS, TRACED_ROUNDS = 1_000, 12
TRACED: dict[str, dict[str, Any] | None] = {
    "engine": None,
    "engine: traced": {"film": False},
    "engine: traced with a film strip": {"film": True},
}
"""Options of the step trace of each side."""


@attrs.define(eq=False)
class Agent:
    """One side, with its functions for navigating, clicking and reading. `row` is the last clicked row."""

    go: Callable[[str], Awaitable[object]]
    click: Callable[[str], Awaitable[object]]
    look: Callable[[], Awaitable[str]]
    seen: str = ""
    row: int = 0

    async def take(self, url: str, rows: int) -> list[float]:
        """Return the milliseconds of each step on a page with that number of rows."""
        if f"Buy {rows - 1}" not in self.seen:
            await self.go(url)
            self.seen = await self.look()
        taken = []
        for _ in range(TIMES):
            self.row = (self.row + 1) % (rows - 1)
            found = re.search(rf'button "Buy {self.row}".*?[\[ ]ref=(\w+)\]', self.seen)
            if found is None:
                raise Cannot(f"no ref of row {self.row} in its snapshot: {self.seen[:120]!r}")
            taken.append(await timed(partial(self.step, found[1])))
            if f"Sold {self.row}" not in self.seen:
                raise Cannot(f"its snapshot lacks the change of the click on row {self.row}")
        return taken

    async def step(self, ref: str) -> None:
        await self.click(ref)
        self.seen = await self.look()


def of_server(server: Server) -> Agent:
    dialect = DIALECTS[server.name]

    async def look() -> str:
        return (await server.ask(dialect.snapshot)).text

    return Agent(
        lambda url: server.ask(dialect.navigate(url)), lambda ref: server.ask(dialect.click(ref)), look
    )


def of_shell(shell: Shell) -> Agent:
    run = partial(trio.to_thread.run_sync, shell.run)
    return Agent(lambda url: run("open", url), lambda ref: run("click", f"@{ref}"), lambda: run("snapshot"))


async def run(bench: Bench) -> None:
    async with AsyncExitStack() as stack:
        browser = await stack.enter_async_context(bench.launch())
        page = await browser.new_page()
        look = partial(Engine(browser, bench.site).tree, page)
        agents = {"engine": Agent(page.goto, page.click, look)}
        agents["engine: mcp"] = of_server(await start(bench, stack, "engine"))
        folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="steps-", dir="/tmp"))
        engine, other = find_sides(bench, folder)
        stack.callback(engine.close)
        agents["engine: shell"] = of_shell(engine)
        if bench.peers.names:
            agents["playwright-mcp"] = of_server(await start(bench, stack, "playwright-mcp"))
            stack.callback(other.close)
            agents[PEER] = of_shell(other)
        for rows in ROWS[:1] if bench.quick else ROWS:
            url = f"{bench.site}/shop/{rows}"
            sides: dict[str, Turn] = {side: partial(agent.take, url, rows) for side, agent in agents.items()}
            sides |= await bench.peer_turns("step", url=url, times=TIMES, patience=PATIENCE * TIMES)
            await bench.turns(sides, f"{rows:,} rows", unit="ms", turns=min(bench.turn_count, 3))
    await run_traced(bench)


async def run_traced(bench: Bench) -> None:
    """Measure the steps of the engine with and without a step trace."""
    sides: dict[str, Turn] = {}
    async with AsyncExitStack() as stack:
        folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="traces-", dir="/tmp"))
        for number, (side, options) in enumerate(TRACED.items()):
            browser = await stack.enter_async_context(bench.launch())
            page = await browser.new_page()
            if options is not None:
                await stack.enter_async_context(page.trace_steps(f"{folder}/{number}.zip", **options))
            agent = Agent(page.goto, page.click, partial(Engine(browser, bench.site).tree, page))
            sides[side] = partial(agent.take, f"{bench.site}/shop/{TRACED_ROWS}", TRACED_ROWS)
        await bench.turns(sides, f"{TRACED_ROWS:,} rows, traced", unit="ms", turns=TRACED_ROUNDS)


CASE = Case("agent_step", "The step of an agent: a click, and the look after it", run, 70, 25)
