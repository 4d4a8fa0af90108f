"""Import time: the delay before a program's first statement, each time in a new interpreter.

Rule: only the import is timed, within the interpreter, whose start is the same for all. Modules are compiled
beforehand. The package loads its names on first use, so there are two figures: the bare import, and everything
needed to start a browser. Each library is imported as in its documentation, by the interpreter for which it is
installed.
"""

from __future__ import annotations

import shutil
import sys
import tempfile
from pathlib import Path

import trio

from benchmarks.harness.bench import Bench, Cannot, Case, Turn
from benchmarks.harness.installed import NODE_MODULES, PEERS, PYTHON, why_not

NAME = "imports"

PYTHON_TIMER = """
import sys, time
code = compile(sys.argv[1], "import", "exec")
started = time.perf_counter()
exec(code)
print((time.perf_counter() - started) * 1000)
"""

NODE_TIMER = """
const started = performance.now();
import(process.argv[1]).then(() => console.log(performance.now() - started));
"""

PEER_IMPORTS = {
    "playwright": "from playwright.async_api import async_playwright",
    "selenium": "from selenium.webdriver import Chrome, ChromeOptions",
    "nodriver": "import nodriver",
    "zendriver": "import zendriver",
    "pydoll": "from pydoll.browser import Chrome",
}


async def run_for_number(command: list[str], cache: str, folder: Path | None = None) -> float:
    """Run a program and return the number that it prints."""
    # No path of this program, so that each interpreter finds its installed packages.
    environment = {"PATH": "/usr/bin:/bin", "PYTHONPYCACHEPREFIX": cache}
    done = await trio.run_process(command, capture_stdout=True, env=environment, cwd=folder)
    return float(done.stdout)


def python_turn(python: str | Path, statement: str, cache: str) -> Turn:
    """Return a turn of an import in Python."""
    return lambda: run_for_number([str(python), "-c", PYTHON_TIMER, statement], cache)


def node_turn(package: str, cache: str) -> Turn:
    """Return a turn of an import in Node.js."""
    node = shutil.which("node") or "node"
    return lambda: run_for_number([node, "-e", NODE_TIMER, package], cache, NODE_MODULES.parent)


def peer_turn(name: str, cache: str) -> Turn:
    """Return a peer's turn. It raises the reason if the peer is unavailable."""
    kind = PEERS[name]
    if reason := why_not(name, kind):

        async def cannot() -> float:
            raise Cannot(reason)

        return cannot
    return node_turn(kind.package, cache) if kind.node else python_turn(PYTHON, PEER_IMPORTS[name], cache)


async def run(bench: Bench) -> None:
    """Measure."""
    with tempfile.TemporaryDirectory(prefix="compiled-") as cache:
        floor = python_turn(sys.executable, "import trio_websocket", cache)
        sides = {
            "engine": python_turn(sys.executable, "import cdpengine", cache),
            "floor: trio_websocket": floor,
        }
        await bench.turns(NAME, sides, unit="ms", variant="import")
        sides = {
            "engine": python_turn(sys.executable, "from cdpengine import launch", cache),
            "floor: trio_websocket": floor,
        }
        for name in bench.peer_names:
            sides[name] = peer_turn(name, cache)
        await bench.turns(NAME, sides, unit="ms", variant="ready to start a browser")


CASE = Case(NAME, "Import time, in fresh interpreters", run, 25, 15)
