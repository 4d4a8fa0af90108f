"""Import time: the delay before a program's first statement, each time in a new interpreter.

Rule: the interpreter's start is excluded, and modules are compiled beforehand. The engine loads its names on first
use, so there are two figures: the bare import, and everything needed to start a browser.
"""

from __future__ import annotations

import sys
import tempfile
from functools import partial

import trio

from benchmarks.harness.bench import Bench, Case, Turn
from benchmarks.harness.peers import NODE_MODULES, is_peer, peer_command
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


async def turn(name: str, statement: str, cache: str) -> float:
    """Return the milliseconds of an import by the interpreter of that side. Raises Cannot if it is not installed."""
    program = peer_command(name)[0] if is_peer(name) else sys.executable
    node = name == "puppeteer"
    timer = ["-e", NODE_TIMER] if node else ["-c", PYTHON_TIMER]
    # No path of this program, so that each interpreter finds its installed packages.
    environment = {"PATH": "/usr/bin:/bin", "PYTHONPYCACHEPREFIX": cache}
    folder = NODE_MODULES.parent if node else ROOT
    done = await trio.run_process(
        [program, *timer, statement], capture_stdout=True, env=environment, cwd=folder
    )
    return float(done.stdout)


async def run(bench: Bench) -> None:
    with tempfile.TemporaryDirectory(prefix="compiled-") as cache:

        def turns(statements: dict[str, str]) -> dict[str, Turn]:
            return {name: partial(turn, name, statement, cache) for name, statement in statements.items()}

        floor = {"floor: trio_websocket": "import trio_websocket"}
        await bench.turns(turns({"engine": "import cdpengine", **floor}), "import", unit="ms")
        ready = {"engine": "from cdpengine import launch", **floor}
        ready |= {name: PEER_IMPORTS[name] for name in bench.peers.names}
        await bench.turns(turns(ready), "ready to start a browser", unit="ms")


CASE = Case("imports", "Import time, in fresh interpreters", run, 25, 15)
