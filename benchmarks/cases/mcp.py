"""Comparison of MCP servers: the amount of text for a model, and its waiting time.

Rule: one client (`harness/mcp_client.py`) drives all servers on the same pages of the same browser, headless, each
with its own browser flags and defaults. A turn is an agent's sequence: navigate, snapshot, snapshot again, click a
button that changes nothing else, evaluate. Each call is timed from request to response. "The first look" is the
snapshot right after a navigation, "snapshot" a later one. Both cover the whole page on all sides. "Snapshot as it
comes" is a call without arguments: the engine then limits it to 8,000 tokens, to the viewport and its
surroundings, and writes the rest to a file.

Characters are counted in the response text, and in the compact JSON of the list of tools. The engine's response to
a click includes the changes. Other servers need another snapshot, so their figure includes both responses.
"""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Callable, Sequence
from contextlib import AsyncExitStack
from typing import Any

import attrs

from benchmarks.cases.further_figure import FurtherFigure
from benchmarks.harness.bench import Bench, Cannot, Case, Turn
from benchmarks.harness.figures import Measurement, SideFigures
from benchmarks.harness.installed import MCP_SERVERS, NODE_MODULES, why_no_server
from benchmarks.harness.mcp_client import Answer, McpClient, open_client

NAME = "mcp"
ROWS = (10, 1_000)
AGAIN = 3
"""Number of repetitions of short calls in a turn."""

Call = tuple[str, dict[str, Any]]


@attrs.frozen
class Dialect:
    """The names of one server's tools, and the form of a ref in its snapshots (group 1)."""

    navigate: Callable[[str], Call]
    snapshot: Call
    click: Callable[[str], Call]
    evaluate: Call
    button: str
    box: str
    tells_changes: bool = False
    cuts: Call | None = None
    """Call whose snapshot is limited, or None."""


TITLE = "() => document.title"

DIALECTS = {
    "engine": Dialect(
        navigate=lambda url: ("navigate", {"url": url}),
        snapshot=("snapshot", {"maxTokens": 10_000_000}),
        click=lambda ref: ("click", {"ref": ref}),
        evaluate=("evaluate", {"function": TITLE}),
        button=r'button "Buy 0" \[ref=(\w+)\]',
        box=r'checkbox "Compare 0".*?\[ref=(\w+)\]',
        tells_changes=True,
        cuts=("snapshot", {}),
    ),
    "playwright-mcp": Dialect(
        navigate=lambda url: ("browser_navigate", {"url": url}),
        snapshot=("browser_snapshot", {}),
        click=lambda ref: ("browser_click", {"element": "a button", "target": ref}),
        evaluate=("browser_evaluate", {"function": TITLE}),
        button=r'button "Buy 0".*?\[ref=(\w+)\]',
        box=r'checkbox "Compare 0".*?\[ref=(\w+)\]',
    ),
    "chrome-devtools-mcp": Dialect(
        navigate=lambda url: ("navigate_page", {"url": url, "pageId": 1}),
        snapshot=("take_snapshot", {"pageId": 1}),
        click=lambda ref: ("click", {"uid": ref, "pageId": 1}),
        evaluate=("evaluate_script", {"function": TITLE, "pageId": 1}),
        button=r'uid=(\S+) button "Buy 0"',
        box=r'uid=(\S+) checkbox "Compare 0"',
    ),
}


@attrs.define(eq=False)
class Server:
    """One side: a running server, or the reason why it is not running."""

    name: str
    client: McpClient | None
    refusal: str = ""

    @property
    def dialect(self) -> Dialect:
        return DIALECTS[self.name]

    async def ask(self, call: Call) -> Answer:
        if self.client is None:
            raise Cannot(self.refusal)
        return await self.client.tool(call[0], **call[1])

    def find(self, pattern: str, snapshot: str) -> str:
        """Return an element's ref from a snapshot."""
        found = re.search(pattern, snapshot)
        if found is None:
            raise Cannot(f"no {pattern!r} in its snapshot: {snapshot[:120]!r}")
        return found[1]


@attrs.frozen
class Figures:
    """Further figures of a turn besides the navigation's time."""

    first: FurtherFigure = attrs.field(factory=FurtherFigure)
    both: FurtherFigure = attrs.field(factory=FurtherFigure)
    again: FurtherFigure = attrs.field(factory=FurtherFigure)
    cut: FurtherFigure = attrs.field(factory=FurtherFigure)
    cut_read: FurtherFigure = attrs.field(factory=FurtherFigure)
    click: FurtherFigure = attrs.field(factory=FurtherFigure)
    evaluate: FurtherFigure = attrs.field(factory=FurtherFigure)
    read: FurtherFigure = attrs.field(factory=FurtherFigure)
    clicked: FurtherFigure = attrs.field(factory=FurtherFigure)
    changed: FurtherFigure = attrs.field(factory=FurtherFigure)


def turn_of(server: Server, url: str, figures: Figures) -> Turn:
    """Return the turn of one side on a page."""
    dialect = server.dialect

    async def turn() -> float:
        arrived = await server.ask(dialect.navigate(url))
        looked = await server.ask(dialect.snapshot)
        agains = [await server.ask(dialect.snapshot) for _ in range(AGAIN)]
        seen = agains[-1].text
        cut = agains if dialect.cuts is None else [await server.ask(dialect.cuts) for _ in range(AGAIN)]
        button = server.find(dialect.button, seen)
        clicks = [await server.ask(dialect.click(button)) for _ in range(AGAIN)]
        evaluations = [await server.ask(dialect.evaluate) for _ in range(AGAIN)]
        if url.rpartition("/")[2] not in evaluations[-1].text:
            raise Cannot(f"evaluated something else: {evaluations[-1].text[:80]!r}")
        # Again, with a click that changes the page.
        changed = (await server.ask(dialect.click(server.find(dialect.box, seen)))).text
        if not dialect.tells_changes:
            changed += (await server.ask(dialect.snapshot)).text
        if "checked" not in changed:
            raise Cannot(f"the click on a box did not check it: {changed[:120]!r}")
        figures.first.add(server.name, looked.milliseconds)
        figures.both.add(server.name, arrived.milliseconds + looked.milliseconds)
        figures.again.add(server.name, [each.milliseconds for each in agains])
        figures.cut.add(server.name, [each.milliseconds for each in cut])
        figures.cut_read.add(server.name, len(cut[-1].text))
        figures.click.add(server.name, [each.milliseconds for each in clicks])
        figures.evaluate.add(server.name, [each.milliseconds for each in evaluations])
        figures.read.add(server.name, len(seen))
        figures.clicked.add(server.name, len(clicks[-1].text))
        figures.changed.add(server.name, len(changed))
        return arrived.milliseconds

    return turn


async def by_rows(bench: Bench, servers: Sequence[Server], rows: int) -> None:
    """Measure all sides on a page with that number of rows."""
    figures = Figures()
    sides = {server.name: turn_of(server, f"{bench.site}/rows/{rows}", figures) for server in servers}
    turns = min(bench.turn_count, 3 if rows < ROWS[-1] else 2)
    measured = await bench.turns(
        NAME,
        sides,
        unit="ms",
        variant=f"navigate, {rows:,} rows",
        turns=turns,
        warm_up=1 if rows == ROWS[0] else 0,  # the small page was the warm-up
    )
    for variant, beside in (
        ("the first look", figures.first),
        ("navigate and the first look", figures.both),
        ("snapshot", figures.again),
        ("snapshot as it comes", figures.cut),
        ("click", figures.click),
        ("evaluate", figures.evaluate),
    ):
        beside.record(bench, measured, variant=f"{variant}, {rows:,} rows", unit="ms")
    for variant, beside in (
        ("characters of a snapshot", figures.read),
        ("characters of a snapshot as it comes", figures.cut_read),
        ("characters of the answer to a click", figures.clicked),
        ("characters to know what a click changed", figures.changed),
    ):
        beside.record(bench, measured, variant=f"{variant}, {rows:,} rows", unit="characters")


def record_lists(bench: Bench, servers: Sequence[Server]) -> None:
    """Record the lengths of the lists of tools, with the program and version as notes."""
    sides = [
        SideFigures(server.name, cannot=server.refusal)
        if server.client is None
        else SideFigures(
            server.name,
            ((len(json.dumps(server.client.tools, separators=(",", ":"), ensure_ascii=False)),),),
            note=f"{len(server.client.tools)} tools of {server.client.about}",
        )
        for server in servers
    ]
    bench.record(Measurement(NAME, "characters of the list of tools", unit="characters", sides=tuple(sides)))


def command_of(name: str, executable: str) -> tuple[list[str], dict[str, str]]:
    """Return a server's command, and the additional environment."""
    if name == "engine":
        # With a tool that evaluates, which the others have by default.
        command = [sys.executable, "-m", "cdpengine", "mcp", "--caps", "scripts", "--browser", executable]
        return command, {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    server = MCP_SERVERS[name]
    return ["node", str(NODE_MODULES / server.script), *server.options, server.executable, executable], {
        "CHROME_DEVTOOLS_MCP_NO_USAGE_STATISTICS": "1",
        "CHROME_DEVTOOLS_MCP_NO_UPDATE_CHECKS": "1",
    }


async def start(bench: Bench, stack: AsyncExitStack, name: str) -> Server:
    """Start one side. A peer that fails to start has a reason."""
    refusal = "" if name == "engine" else why_no_server(name)
    if refusal:
        return Server(name, None, refusal)
    try:
        client = await stack.enter_async_context(open_client(*command_of(name, bench.executable)))
    except Cannot as reason:
        if name == "engine":
            raise
        return Server(name, None, str(reason))
    return Server(name, client)


async def run(bench: Bench) -> None:
    """Measure."""
    names = ["engine", *(MCP_SERVERS if bench.peer_names else ())]
    async with AsyncExitStack() as stack:
        servers = [await start(bench, stack, name) for name in names]
        record_lists(bench, servers)
        for server in servers:
            if server.name == "chrome-devtools-mcp" and server.client is not None:
                await server.ask(("list_pages", {}))  # starts its browser, whose first page is number 1
        for rows in ROWS:
            await by_rows(bench, servers, rows)


CASE = Case(NAME, "Servers of the Model Context Protocol", run, seconds=80, quick_seconds=40)
