"""A page that does much at once: 20,000 console messages, 5,000 requests; the engine beside Playwright, in one run.

Rule: both sides have a Chromium of their own, the same one, and take turns A B A B on the same scene; a turn counts
from the call that begins the burst until a consumer of this side has seen all of it. What the engine promises is
checked in each turn, not only timed: nothing lost in a stream that is read, buffers exact to their bounds; and what
a stream that nobody reads costs the page, another consumer and another tab, and how memory goes on, is measured.
Run: `python -m benchmarks.activity [--rounds N] [--messages N] [--requests N] [--json FILE]`.
"""

from __future__ import annotations

import argparse
import asyncio
import gc
import json
import platform
import re
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import trio

import cdpengine
from benchmarks.peers import Peer, peer

SCENE = """<!doctype html><title>burst</title><script>
async function messages(count) { for (let i = 0; i < count; i++) console.log("message", i, "of a burst"); return count }
async function requests(count) {
  let next = 0
  const one = async () => { while (next < count) await fetch("/n?" + next++).then(r => r.text()) }
  await Promise.all(Array.from({length: 20}, one)); return count }
</script>"""


# --- the server: a process of its own, the same for both --------------------------------------------------------


class _Server(asyncio.Protocol):
    """The least of HTTP: an answer for each request line, over a connection that stays."""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport
        self._rest = b""

    def data_received(self, data: bytes) -> None:
        *whole, self._rest = (self._rest + data).split(b"\r\n\r\n")
        for request in whole:
            page = not request.startswith(b"GET /n?")
            body = SCENE.encode() if page else b"x" * 200
            kind = b"text/html" if page else b"text/plain"
            self._transport.write(
                b"HTTP/1.1 200 OK\r\nCache-Control: no-store\r\nContent-Type: %b\r\nContent-Length: %d\r\n\r\n%b"
                % (kind, len(body), body)
            )


async def _serve() -> None:
    server = await asyncio.get_running_loop().create_server(_Server, "127.0.0.1", 0)
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()


@contextmanager
def served() -> Iterator[str]:
    """Run the server while the block runs; give the address of the scene."""
    command = [sys.executable, "-m", "benchmarks.activity", "--serve"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            yield f"http://127.0.0.1:{int(process.stdout.readline())}/"
        finally:
            process.kill()


# --- the engine's turns -----------------------------------------------------------------------------------------


async def messages(page: cdpengine.Page, count: int) -> float:
    """Return the seconds of a burst of messages, until a stream has given all of them, in order."""
    async with page.activity.stream("console") as stream:
        started = time.perf_counter()
        async with trio.open_nursery() as nursery:
            nursery.start_soon(lambda: page.evaluate(f"messages({count})", timeout=100))
            for number in range(count):
                message = await stream.receive()
                assert isinstance(message, cdpengine.ConsoleMessage)
                assert message.args[1] == number
        assert stream.dropped == 0
        return time.perf_counter() - started


async def requests(page: cdpengine.Page, count: int) -> float:
    """Return the seconds of a burst of requests, until a stream has told the end of each."""
    async with page.activity.stream("finished") as stream:
        started = time.perf_counter()
        async with trio.open_nursery() as nursery:
            nursery.start_soon(lambda: page.evaluate(f"requests({count})", timeout=100))
            seen: set[str] = set()
            while len(seen) < count:
                ended = await stream.receive()
                assert isinstance(ended, cdpengine.RequestEnded)
                if "/n?" in ended.request.url:
                    assert ended.request.response is not None
                    seen.add(ended.request.url)
        assert stream.dropped == 0
        return time.perf_counter() - started


async def latency(page: cdpengine.Page, until: trio.Event) -> float:
    """Return the median milliseconds of an evaluate in another tab until the event is set."""
    taken: list[float] = []
    while not until.is_set() or not taken:
        started = time.perf_counter()
        await page.evaluate("1")
        taken.append((time.perf_counter() - started) * 1000)
        await trio.sleep(0.005)
    return statistics.median(taken)


async def unread(page: cdpengine.Page, other: cdpengine.Page, count: int, idle: bool) -> dict[str, float]:
    """Burst beside a stream that nobody reads (or none): what the page, a consumer and another tab take."""
    async with page.activity.stream("console", buffer=1000) as never:
        if not idle:
            page.activity.collector.outlets.remove(never)
        done = trio.Event()
        found: dict[str, float] = {}

        async def watch() -> None:
            found["other_tab_ms"] = await latency(other, done)

        async with trio.open_nursery() as nursery:
            nursery.start_soon(watch)
            found["consumer_s"] = await messages(page, count)
            done.set()
        assert never.statistics().waiting == (min(count, 1000) if idle else 0)
        assert never.dropped == (max(0, count - 1000) if idle else 0)
        return found


def resident() -> float:
    """Return this process's resident memory, in MB."""
    gc.collect()
    text = Path("/proc/self/status").read_text()
    found = re.search(r"VmRSS:\s+(\d+) kB", text)
    assert found is not None
    return int(found[1]) / 1024


async def measure(options: argparse.Namespace, url: str, playwright: Peer | None) -> dict[str, object]:
    """Take all turns and return the figures."""
    rates: dict[str, dict[str, list[float]]] = {
        case: {"engine": [], "playwright": []} for case in ("messages", "requests")
    }
    memory: list[float] = []
    idle: dict[str, list[dict[str, float]]] = {"unread": [], "alone": []}
    # An isolated context, as Playwright's pages are in: the default one writes its cache to the disk.
    async with cdpengine.launch() as browser, browser.new_context() as context:
        page = await context.new_page(url)
        await page.activity.start()
        other = await context.new_page(url)
        for number in range(options.rounds + 1):
            for case, turn, count in (
                ("messages", messages, options.messages),
                ("requests", requests, options.requests),
            ):
                counts = count if number else max(1, count // 10)  # the first round warms up
                taken = await turn(page, counts)
                if number:
                    rates[case]["engine"].append(count / taken)
                if playwright is not None:
                    said = playwright.ask(case=case, count=counts)
                    if number:
                        rates[case]["playwright"].append(count / said["seconds"])
            activity = page.activity
            if number:
                assert len(activity.console) == min(500, options.messages)
                assert len(activity.requests) == min(500, options.requests)
            memory.append(resident())
        total = options.messages * options.rounds + max(1, options.messages // 10)
        assert activity.console.dropped + len(activity.console) == total
        for _ in range(2):
            idle["unread"].append(await unread(page, other, options.messages, True))
            idle["alone"].append(await unread(page, other, options.messages, False))
        await page.close()
        await other.close()
    return summary(rates, memory, idle)


def summary(
    rates: dict[str, dict[str, list[float]]], memory: list[float], idle: dict[str, list[dict[str, float]]]
) -> dict[str, object]:
    """Reduce to medians and to the ratio of each turn."""
    figures: dict[str, object] = {}
    for case, sides in rates.items():
        figures[f"{case}_per_s"] = {
            name: round(statistics.median(each)) for name, each in sides.items() if each
        }
        if sides["playwright"]:
            ratios = [a / b for a, b in zip(sides["engine"], sides["playwright"], strict=True)]
            figures[f"{case}_ratio_to_playwright"] = {
                "median": statistics.median(ratios),
                "min": min(ratios),
                "max": max(ratios),
            }
    figures["resident_mb_after_each_round"] = [round(each, 1) for each in memory]
    figures["beside_a_stream_that_nobody_reads"] = {
        name: {what: statistics.median(turn[what] for turn in turns) for what in turns[0]}
        for name, turns in idle.items()
    }
    return figures


def main() -> None:
    """Parse, measure, print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--messages", type=int, default=20_000)
    parser.add_argument("--requests", type=int, default=5_000)
    parser.add_argument("--alone", action="store_true", help="without Playwright")
    parser.add_argument("--json", type=Path)
    parser.add_argument("--serve", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.serve:
        asyncio.run(_serve())
        return
    with served() as url:
        if options.alone:
            found = trio.run(measure, options, url, None)
        else:
            executable = str(cdpengine.find_browser().path)
            with peer("peer_activity_playwright.py", executable, url) as playwright:
                found = trio.run(measure, options, url, playwright)
    machine = f"{platform.machine()}, Python {platform.python_version()}, {platform.system()}"
    text = json.dumps({"machine": machine, **found}, indent=2)
    print(text)
    if options.json:
        options.json.write_text(text + "\n")


if __name__ == "__main__":
    main()
