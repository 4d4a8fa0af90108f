"""The step of an agent: clicking a ref of the last snapshot, and taking another snapshot of the whole page.

Rule: every side uses its normal way from the click to the text for a model, with its defaults: libraries in their
process, servers over MCP, shells by two commands. The click changes the button's row, and the snapshot must show
that. "engine: settled" first waits until the page has been idle for a tenth of a second, like a program that does
not know the effects of a click.
"""

from __future__ import annotations

import re
import tempfile
import time
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack
from functools import partial

import attrs
import trio

import cdpengine
from benchmarks.cases.looks import PATIENCE
from benchmarks.cases.mcp import DIALECTS, Server, start
from benchmarks.cases.shell import PEER, Shell, find_sides
from benchmarks.harness.bench import Bench, Cannot, Case, Turn
from benchmarks.harness.peers import Peer

NAME = "agent_step"
ROWS = (100, 1_000)
TIMES = 2
"""Steps of a turn."""

SERVERS = {"engine: mcp": "engine", "playwright-mcp": "playwright-mcp"}


@attrs.define(eq=False)
class Agent:
    """One side on one page, with its functions for clicking and for reading. `row` is the last clicked row."""

    click: Callable[[str], Awaitable[object]]
    look: Callable[[], Awaitable[str]]
    rows: int
    pattern: str = r'button "Buy {}".*?\[ref=(\w+)\]'
    row: int = 0
    seen: str = ""

    async def take(self, times: int) -> list[float]:
        """Return the milliseconds of each of `times` steps."""
        taken = []
        for _ in range(times):
            self.seen = self.seen or await self.look()
            self.row = (self.row + 1) % self.rows
            found = re.search(self.pattern.format(self.row), self.seen)
            if found is None:
                raise Cannot(f"no ref of row {self.row} in its snapshot: {self.seen[:120]!r}")
            started = time.perf_counter()
            await self.click(found[1])
            self.seen = await self.look()
            taken.append((time.perf_counter() - started) * 1000)
            if f"Sold {self.row}" not in self.seen:
                raise Cannot(f"its snapshot lacks the change of the click on row {self.row}")
        return taken


async def of_engine(page: cdpengine.Page, url: str, rows: int, *, settled: bool) -> Agent:
    """Return the engine's side, on a new page."""
    await page.goto(url)

    async def look() -> str:
        return (await page.snapshot(timeout=PATIENCE)).text

    async def click(ref: str) -> None:
        if not settled:
            await page.click(ref)
            return
        async with page.settling():
            await page.click(ref)

    return Agent(click, look, rows)


async def of_server(server: Server, url: str, rows: int) -> Agent:
    """Navigate a server's page to `url`, and return its side."""
    dialect = DIALECTS[server.name]
    await server.ask(dialect.navigate(url))

    async def look() -> str:
        return (await server.ask(dialect.snapshot)).text

    return Agent(lambda ref: server.ask(dialect.click(ref)), look, rows)


async def of_shell(shell: Shell | Cannot, url: str, rows: int) -> Agent:
    """Navigate a shell's page to `url`, and return its side."""
    if isinstance(shell, Cannot):
        raise shell
    await trio.lowlevel.checkpoint()
    shell.run("open", url)

    async def look() -> str:
        await trio.lowlevel.checkpoint()
        return shell.run("snapshot")

    async def click(ref: str) -> None:
        await trio.lowlevel.checkpoint()
        shell.run("click", f"@{ref}")

    return Agent(click, look, rows, pattern=r'button "Buy {}" \[ref=(e\d+)')


def turn_of(make: Callable[[], Awaitable[Agent]]) -> Turn:
    """Return the turns of one side, which is created for its first turn."""
    agent: list[Agent] = []

    async def turn() -> list[float]:
        if not agent:
            agent.append(await make())
        return await agent[0].take(TIMES)

    return turn


def turn_of_peer(peer: Peer, url: str) -> Turn:
    """Return the turn of another library, which finds its button itself."""
    return lambda: peer.ask("step", url=url, times=TIMES, patience=PATIENCE * TIMES)


async def run(bench: Bench) -> None:
    """Measure."""
    async with AsyncExitStack() as stack:
        browser = await stack.enter_async_context(bench.launch())
        page, settling = await browser.new_page(), await browser.new_page()
        peers = await bench.peers("step")
        names = SERVERS if bench.peer_names else {"engine: mcp": "engine"}
        servers = {side: await start(bench, stack, name) for side, name in names.items()}
        folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="steps-", dir="/tmp"))
        ours, other = find_sides(bench, folder)
        shells = {"engine: shell": ours, **({PEER: other} if bench.peer_names else {})}
        for shell in shells.values():
            if isinstance(shell, Shell):
                arguments = ("close", "--all") if shell is ours else ("close",)
                stack.callback(shell.run, *arguments)
        for rows in ROWS[:1] if bench.quick else ROWS:
            url = f"{bench.site}/shop/{rows}"
            sides = {
                "engine": turn_of(partial(of_engine, page, url, rows, settled=False)),
                "engine: settled": turn_of(partial(of_engine, settling, url, rows, settled=True)),
            }
            for side, server in servers.items():
                sides[side] = turn_of(partial(of_server, server, url, rows))
            for side, shell in shells.items():
                sides[side] = turn_of(partial(of_shell, shell, url, rows))
            sides |= {name: turn_of_peer(peer, url) for name, peer in peers.items()}
            turns = min(bench.turn_count, 3)
            await bench.turns(NAME, sides, unit="ms", variant=f"{rows:,} rows", size=rows, turns=turns)


CASE = Case(NAME, "The step of an agent: a click, and the look after it", run, seconds=70, quick_seconds=25)
