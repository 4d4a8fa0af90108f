"""The step of an agent: clicking a ref of the last snapshot, and taking another snapshot of the whole page.

Rule: every side uses its normal way from the click to the text for a model, with its defaults: libraries in their
process, servers over MCP, shells by two commands. The click changes the button's row, and the snapshot must show
that.
"""

from __future__ import annotations

import re
import tempfile
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack
from functools import partial

import attrs
import trio

import cdpengine
from benchmarks.cases.mcp import DIALECTS, Server, start
from benchmarks.cases.shell import PEER, Shell, find_sides
from benchmarks.harness.bench import Bench, Case, Turn, timed
from benchmarks.harness.engine import PATIENCE
from benchmarks.harness.programs import Cannot

ROWS = (100, 1_000)
TIMES = 2
"""Steps of a turn."""


@attrs.define(eq=False)
class Agent:
    """One side on one page, with its functions for clicking and for reading. `row` is the last clicked row."""

    click: Callable[[str], Awaitable[object]]
    look: Callable[[], Awaitable[str]]
    rows: int
    row: int = 0
    seen: str = ""

    async def take(self) -> list[float]:
        taken = []
        for _ in range(TIMES):
            self.seen = self.seen or await self.look()
            self.row = (self.row + 1) % self.rows
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


async def of_engine(page: cdpengine.Page, url: str, rows: int) -> Agent:
    """Return the engine's side, on a new page."""
    await page.goto(url)

    async def look() -> str:
        return (await page.snapshot(timeout=PATIENCE)).text

    return Agent(page.click, look, rows)


async def of_server(server: Server, url: str, rows: int) -> Agent:
    """Navigate a server's page to `url`, and return its side."""
    dialect = DIALECTS[server.name]
    await server.ask(dialect.navigate(url))

    async def look() -> str:
        return (await server.ask(dialect.snapshot)).text

    return Agent(lambda ref: server.ask(dialect.click(ref)), look, rows)


async def of_shell(shell: Shell, url: str, rows: int) -> Agent:
    """Navigate a shell's page to `url`, and return its side."""
    await trio.lowlevel.checkpoint()
    shell.run("open", url)

    async def look() -> str:
        await trio.lowlevel.checkpoint()
        return shell.run("snapshot")

    async def click(ref: str) -> None:
        await trio.lowlevel.checkpoint()
        shell.run("click", f"@{ref}")

    return Agent(click, look, rows)


def turn_of(make: Callable[[], Awaitable[Agent]]) -> Turn:
    """Return the turns of one side, which is created for its first turn."""
    agent: list[Agent] = []

    async def turn() -> list[float]:
        if not agent:
            agent.append(await make())
        return await agent[0].take()

    return turn


async def run(bench: Bench) -> None:
    async with AsyncExitStack() as stack:
        browser = await stack.enter_async_context(bench.launch())
        page = await browser.new_page()
        names = {"engine: mcp": "engine"}
        if bench.peers.names:
            names["playwright-mcp"] = "playwright-mcp"
        servers = {side: await start(bench, stack, name) for side, name in names.items()}
        folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="steps-", dir="/tmp"))
        engine, other = find_sides(bench, folder)
        stack.callback(engine.close)
        shells = {"engine: shell": engine}
        if bench.peers.names:
            stack.callback(other.close)
            shells[PEER] = other
        for rows in ROWS[:1] if bench.quick else ROWS:
            url = f"{bench.site}/shop/{rows}"
            sides = {"engine": turn_of(partial(of_engine, page, url, rows))}
            sides |= {side: turn_of(partial(of_server, each, url, rows)) for side, each in servers.items()}
            sides |= {side: turn_of(partial(of_shell, each, url, rows)) for side, each in shells.items()}
            sides |= await bench.peer_turns("step", url=url, times=TIMES, patience=PATIENCE * TIMES)
            await bench.turns(sides, f"{rows:,} rows", unit="ms", turns=min(bench.turn_count, 3))


CASE = Case("agent_step", "The step of an agent: a click, and the look after it", run, 70, 25)
