"""Import time: the delay before a program's first statement, each time in a new interpreter.

Rule: only the import is timed, within the interpreter, whose start is the same for all. Modules are compiled
beforehand. The package loads its names on first use, so there are two figures: the bare import, and everything
needed to start a browser. Each library is imported as in its documentation, by the interpreter for which it is
installed.
"""

from __future__ import annotations

import sys
import tempfile

import trio

from benchmarks.harness.bench import Bench, Case, Turn
from benchmarks.harness.peers import NODE_MODULES, peer_interpreter
from benchmarks.site import ROOT

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
    "puppeteer": "puppeteer-core",
    "selenium": "from selenium.webdriver import Chrome, ChromeOptions",
    "nodriver": "import nodriver",
    "zendriver": "import zendriver",
    "pydoll": "from pydoll.browser import Chrome",
}


async def run_for_number(command: list[str], cache: str) -> float:
    # No path of this program, so that each interpreter finds its installed packages.
    environment = {"PATH": "/usr/bin:/bin", "PYTHONPYCACHEPREFIX": cache}
    folder = NODE_MODULES.parent if NODE_TIMER in command else ROOT
    return float((await trio.run_process(command, capture_stdout=True, env=environment, cwd=folder)).stdout)


def python_turn(statement: str, cache: str) -> Turn:
    return lambda: run_for_number([sys.executable, "-c", PYTHON_TIMER, statement], cache)


def peer_turn(name: str, cache: str) -> Turn:
    """Return a peer's turn. It raises the reason if the peer is unavailable."""

    async def turn() -> float:
        program = peer_interpreter(name)
        timer = ["-e", NODE_TIMER] if name == "puppeteer" else ["-c", PYTHON_TIMER]
        return await run_for_number([program, *timer, PEER_IMPORTS[name]], cache)

    return turn


async def run(bench: Bench) -> None:
    with tempfile.TemporaryDirectory(prefix="compiled-") as cache:
        floor = {"floor: trio_websocket": python_turn("import trio_websocket", cache)}
        bare = {"engine": python_turn("import cdpengine", cache), **floor}
        await bench.turns(bare, "import", unit="ms")
        ready = {"engine": python_turn("from cdpengine import launch", cache), **floor}
        ready |= {name: peer_turn(name, cache) for name in bench.peers.names}
        await bench.turns(ready, "ready to start a browser", unit="ms")


CASE = Case("imports", "Import time, in fresh interpreters", run, 25, 15)
