"""Opening of pages that stay open, in a separate process: their memory and time.

Rule: `python -m benchmarks.opening SIDE EXECUTABLE SITE SIZE...`, with ascending sizes, prints one JSON list with
an object for each size. `engine` imports only the engine; `floor` opens and attaches over a bare pipe. "own" is
this process's resident memory, "browser" that of all the browser's processes, both in MB. "ms" is the time of each
page since the previous size.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Sequence

import trio

from benchmarks.memory import resident
from cdpengine.pool.process_memory import tree_memory

MB = 1 << 20
PATH = "/scene"


def size_figures(browser_pid: int, started: float, more: int) -> dict[str, float]:
    """Return the figures for a reached size."""
    taken = (time.perf_counter() - started) * 1000 / more
    return {"own": resident(), "browser": tree_memory(browser_pid) / MB, "ms": taken}


async def by_engine(executable: str, site: str, sizes: Sequence[int]) -> list[dict[str, float]]:
    """Open the pages one after the other."""
    import cdpengine

    found = []
    async with cdpengine.launch(executable=executable) as browser:
        processes = await browser.session.call("SystemInfo.getProcessInfo")
        pid = next(each["id"] for each in processes["processInfo"] if each["type"] == "browser")
        count = 0
        for size in sizes:
            started = time.perf_counter()
            for _ in range(size - count):
                await browser.new_page(site + PATH)
            found.append(size_figures(pid, started, size - count))
            count = size
    return found


def by_pipe(executable: str, site: str, sizes: Sequence[int]) -> list[dict[str, float]]:
    """Open and attach pages, and wait until each is loaded."""
    from benchmarks.floor.blocking import Caller
    from benchmarks.floor.pipe import browser_on_pipe
    from benchmarks.harness.run import engine_flags

    found = []
    with browser_on_pipe(executable, engine_flags()) as pipe:
        caller = Caller(pipe)
        processes = caller.call("SystemInfo.getProcessInfo", {})["processInfo"]
        pid = next(each["id"] for each in processes if each["type"] == "browser")
        count = 0
        for size in sizes:
            started = time.perf_counter()
            for _ in range(size - count):
                target_id = caller.call("Target.createTarget", {"url": site + PATH})["targetId"]
                session = caller.attach(target_id)
                while not caller.holds(
                    session, f"document.readyState == 'complete' && location.pathname == '{PATH}'"
                ):
                    time.sleep(0.0005)
            found.append(size_figures(pid, started, size - count))
            count = size
    return found


def main() -> None:
    """Open, and tell."""
    side, executable, site, *sizes = sys.argv[1:]
    counts = [int(size) for size in sizes]
    if side == "engine":
        found = trio.run(by_engine, executable, site, counts)
    else:
        found = by_pipe(executable, site, counts)
    print(json.dumps(found))


if __name__ == "__main__":
    main()
