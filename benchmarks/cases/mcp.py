"""Comparison of MCP servers: the amount of text for a model, and its waiting time.

Rule: one client drives all servers on the same pages of the same browser, each with its own flags and defaults. A turn
is an agent's sequence: navigate, snapshot, snapshot again, click a button that changes nothing else, evaluate. "The
first look" is the snapshot right after a navigation, "snapshot" a later one, both of the whole page. "Snapshot as it
comes" is a call without arguments, which the engine limits. The engine's response to a click includes the changes.
Other servers need another snapshot, so their figure includes both responses.
"""

from __future__ import annotations

import json
import os
import re
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import AsyncExitStack
from functools import partial
from pathlib import Path
from typing import Any

import attrs

from benchmarks.harness.bench import Bench, Case
from benchmarks.harness.figures import SideFigures, Unit
from benchmarks.harness.peers import INSTALL, MCP_SERVERS, NODE_MODULES, node
from benchmarks.harness.programs import Cannot, Program, open_program

ROWS = (10, 1_000)
AGAIN = 3  # number of repetitions of short calls in a turn
PATIENCE = 60.0  # timeout of a server's call, in seconds
VERSION = "2025-06-18"

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


@attrs.frozen
class Answer:
    """A tool's response: its text, and its duration in milliseconds."""

    text: str
    milliseconds: float


@attrs.define(eq=False)
class Server:
    """One side: a running server, or the reason why it is not running (`refusal`).

    `about` is its name and version, `tools` its list of tools.
    """

    name: str
    program: Program | None = None
    refusal: str = ""
    about: str = ""
    tools: Sequence[object] = ()
    _number: int = 0

    async def begin(self, program: Program) -> None:
        self.program = program
        given = {
            "protocolVersion": VERSION,
            "capabilities": {},
            "clientInfo": {"name": "benchmarks", "version": "1"},
        }
        said = await self.call("initialize", given)
        self.about = f"{said['serverInfo']['name']} {said['serverInfo']['version']}"
        await program.send({"jsonrpc": "2.0", "method": "notifications/initialized"})
        self.tools = (await self.call("tools/list", {}))["tools"]

    async def ask(self, call: Call) -> Answer:
        """Call a tool. Raises Cannot with its message if it reports a failure."""
        name, arguments = call
        started = time.perf_counter()
        result = await self.call("tools/call", {"name": name, "arguments": arguments})
        milliseconds = (time.perf_counter() - started) * 1000
        text = "\n".join(part.get("text", "") for part in result["content"])
        if result.get("isError"):
            raise Cannot(f"{name}: {text[:200]}")
        return Answer(text, milliseconds)

    async def call(self, method: str, params: Mapping[str, object]) -> dict[str, Any]:
        """Send a request and return its result. Raises Cannot if there is none."""
        if self.program is None:
            raise Cannot(self.refusal)
        self._number += 1
        request = {"jsonrpc": "2.0", "id": self._number, "method": method, "params": params}
        async with self.program.answering(method, PATIENCE):
            await self.program.send(request)
            while (message := await self.program.receive()).get("id") != self._number or "method" in message:
                if "id" in message:  # a request for an unsupported feature
                    refusal = {"jsonrpc": "2.0", "id": message["id"], "result": {"roots": []}}
                    await self.program.send(refusal)
        if "error" in message:
            raise Cannot(str(message["error"].get("message"))[:200])
        result: dict[str, Any] = message["result"]
        return result


def ref_of(pattern: str, snapshot: str) -> str:
    found = re.search(pattern, snapshot)
    if found is None:
        raise Cannot(f"no {pattern!r} in its snapshot: {snapshot[:120]!r}")
    return found[1]


FIGURES: dict[str, Unit] = {
    "the first look": "ms",
    "navigate and the first look": "ms",
    "snapshot": "ms",
    "snapshot as it comes": "ms",
    "click": "ms",
    "evaluate": "ms",
    "characters of a snapshot": "characters",
    "characters of a snapshot as it comes": "characters",
    "characters of the answer to a click": "characters",
    "characters to know what a click changed": "characters",
}
"""The figures of a turn besides the navigation's time."""


async def turn(server: Server, url: str) -> dict[str, Any]:
    dialect = DIALECTS[server.name]
    arrived = await server.ask(dialect.navigate(url))
    looked = await server.ask(dialect.snapshot)
    agains = [await server.ask(dialect.snapshot) for _ in range(AGAIN)]
    seen = agains[-1].text
    cut = agains if dialect.cuts is None else [await server.ask(dialect.cuts) for _ in range(AGAIN)]
    button = ref_of(dialect.button, seen)
    clicks = [await server.ask(dialect.click(button)) for _ in range(AGAIN)]
    evaluations = [await server.ask(dialect.evaluate) for _ in range(AGAIN)]
    if url.rpartition("/")[2] not in evaluations[-1].text:
        raise Cannot(f"evaluated something else: {evaluations[-1].text[:80]!r}")
    # Again, with a click that changes the page.
    changed = (await server.ask(dialect.click(ref_of(dialect.box, seen)))).text
    if not dialect.tells_changes:
        changed += (await server.ask(dialect.snapshot)).text
    if "checked" not in changed:
        raise Cannot(f"the click on a box did not check it: {changed[:120]!r}")
    return {
        "values": arrived.milliseconds,
        "the first look": looked.milliseconds,
        "navigate and the first look": arrived.milliseconds + looked.milliseconds,
        "snapshot": [each.milliseconds for each in agains],
        "snapshot as it comes": [each.milliseconds for each in cut],
        "click": [each.milliseconds for each in clicks],
        "evaluate": [each.milliseconds for each in evaluations],
        "characters of a snapshot": len(seen),
        "characters of a snapshot as it comes": len(cut[-1].text),
        "characters of the answer to a click": len(clicks[-1].text),
        "characters to know what a click changed": len(changed),
    }


def record_lists(bench: Bench, servers: Sequence[Server]) -> None:
    sides = []
    for server in servers:
        length = len(json.dumps(server.tools, separators=(",", ":"), ensure_ascii=False))
        note = f"{len(server.tools)} tools of {server.about}"
        turns = () if server.refusal else ((length,),)
        sides.append(SideFigures(server.name, turns, server.refusal, note))
    bench.record("characters of the list of tools", sides, unit="characters")


def command_of(name: str, executable: str) -> list[str]:
    """Return a server's command. Raises Cannot unless it is installed."""
    if name == "engine":
        # With a tool that evaluates, which the others have by default.
        return [sys.executable, "-m", "cdpengine", "mcp", "--caps", "scripts", "--browser", executable]
    script, *options = MCP_SERVERS[name]
    if not (NODE_MODULES / script).exists():
        raise Cannot(f"not installed here: {name} ({INSTALL})")
    return [node(), str(NODE_MODULES / script), *options, executable]


ENVIRONMENT = {
    "PYTHONPATH": os.pathsep.join(filter(None, sys.path)),
    "CHROME_DEVTOOLS_MCP_NO_USAGE_STATISTICS": "1",
    "CHROME_DEVTOOLS_MCP_NO_UPDATE_CHECKS": "1",
}


async def start(bench: Bench, stack: AsyncExitStack, name: str) -> Server:
    """Start one side in a separate folder. A peer that fails to start has a reason."""
    server = Server(name)
    folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="mcp-", ignore_cleanup_errors=True))
    try:
        command = command_of(name, bench.executable)
        program = await stack.enter_async_context(open_program(command, ENVIRONMENT, Path(folder)))
        await server.begin(program)
    except Cannot as reason:
        if name == "engine":
            raise
        server.program, server.refusal = None, str(reason)
    return server


async def run(bench: Bench) -> None:
    names = ["engine", *(MCP_SERVERS if bench.peers.names else ())]
    async with AsyncExitStack() as stack:
        servers = [await start(bench, stack, name) for name in names]
        record_lists(bench, servers)
        for server in servers:
            if server.name == "chrome-devtools-mcp" and server.program is not None:
                await server.ask(("list_pages", {}))  # starts its browser, whose first page is number 1
        for rows in ROWS:
            small = rows < ROWS[-1]  # the small page was the warm-up of the other
            await bench.turns(
                {server.name: partial(turn, server, f"{bench.site}/rows/{rows}") for server in servers},
                f"navigate, {rows:,} rows",
                unit="ms",
                further={name: (f"{name}, {rows:,} rows", unit) for name, unit in FIGURES.items()},
                turns=min(bench.turn_count, 3 if small else 2),
                warm_up=1 if small else 0,
            )


CASE = Case("mcp", "Servers of the Model Context Protocol", run, seconds=80, quick_seconds=40)
