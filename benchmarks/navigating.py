"""The engine in a separate process that navigates on command: one number a line in, one answer a line out.

Rule: it imports only the engine, so that its memory is the engine's. The case `navigations` runs it like the
peers' processes: `python -m benchmarks.navigating EXECUTABLE SITE`. It ends with its input.
"""

from __future__ import annotations

import json
import sys
import time

import trio

import cdpengine
from benchmarks.memory import resident


async def navigate(page: cdpengine.Page, site: str, count: int) -> list[float]:
    """Return the milliseconds of each navigation."""
    taken = []
    for number in range(count):
        started = time.perf_counter()
        await page.goto(f"{site}/nav/{number}")
        taken.append((time.perf_counter() - started) * 1000)
    assert await page.title() == f"nav/{count - 1}"
    return taken


async def serve_navigations(executable: str, site: str) -> None:
    """For each input line, make that number of navigations, and print their times and the memory."""
    async with cdpengine.launch(executable=executable) as browser:
        page = await browser.new_page()
        while line := await trio.to_thread.run_sync(sys.stdin.readline):
            values = await navigate(page, site, int(line))
            print(json.dumps({"values": values, "mb": resident()}), flush=True)


if __name__ == "__main__":
    trio.run(serve_navigations, sys.argv[1], sys.argv[2])
