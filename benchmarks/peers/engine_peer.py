"""The engine in a separate process, or a bare pipe, as a peer: navigations, and pages that stay open.

Rule: it imports only what its side needs, so that its memory is that side's. `python -m benchmarks.peers.engine_peer
SIDE EXECUTABLE SITE` reads one order a line and prints one answer a line, like the other peers.
"""

from __future__ import annotations

import gc
import json
import os
import sys
import time
from typing import Any

import trio

from benchmarks.peers.memory import resident

MB = 1 << 20
PATH = "/scene"


def say(answer: dict[str, Any]) -> None:
    print(json.dumps(answer), flush=True)


def memory(browser_pid: int) -> dict[str, float]:
    from cdpengine.pool.process_memory import tree_memory

    gc.collect()
    return {"mb": resident(os.getpid()), "browser_mb": tree_memory(browser_pid) / MB}


def browser_pid(answer: dict[str, Any]) -> int:
    return next(int(each["id"]) for each in answer["processInfo"] if each["type"] == "browser")


async def by_engine(executable: str, site: str) -> None:
    """Obey orders with the engine: "navigations", or "pages" up to a number."""
    import cdpengine

    async with cdpengine.launch(executable=executable) as browser:
        page = await browser.new_page()
        pid = browser_pid(await browser.session.call("SystemInfo.getProcessInfo"))
        say({"version": cdpengine.__version__})
        opened = 0
        while line := await trio.to_thread.run_sync(sys.stdin.readline):
            order = json.loads(line)
            taken = []
            for number in range(opened, order["count"]):
                started = time.perf_counter()
                if order["do"] == "navigations":
                    await page.goto(f"{site}/nav/{number}")
                else:
                    await browser.new_page(site + PATH)
                taken.append((time.perf_counter() - started) * 1000)
            if order["do"] == "navigations":
                assert await page.title() == f"nav/{order['count'] - 1}"
                gc.collect()
                say({"values": taken, "mb": resident(os.getpid())})
            else:
                opened = order["count"]
                say({"ms": sum(taken) / len(taken), **memory(pid)})


def by_pipe(executable: str, site: str) -> None:
    """Obey the order "pages" over a bare pipe."""
    from benchmarks.floor.pipe import browser_on_pipe
    from benchmarks.harness.bench import engine_flags

    with browser_on_pipe(executable, engine_flags()) as pipe:
        pid = browser_pid(pipe.call("SystemInfo.getProcessInfo", {}))
        say({"version": "a bare pipe"})
        opened = 0
        for line in sys.stdin:
            count = json.loads(line)["count"]
            started = time.perf_counter()
            for _ in range(count - opened):
                pipe.open_loaded_page(site + PATH)
            each = (time.perf_counter() - started) * 1000 / (count - opened)
            opened = count
            say({"ms": each, **memory(pid)})


if __name__ == "__main__":
    _, side, executable, site = sys.argv
    if side == "engine":
        trio.run(by_engine, executable, site)
    else:
        by_pipe(executable, site)
