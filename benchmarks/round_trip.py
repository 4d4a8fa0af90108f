"""Command round trip and throughput of `session.call`, beside a bare trio-websocket loop, in one run.

Rule: both sides talk to the same Chromium, in turns A B A B, so that what else the machine does hits both; the
figure that counts is the ratio. Run: `python -m benchmarks.round_trip [--rounds N] [--json FILE]`.
"""

from __future__ import annotations

import argparse
import json
import platform
import statistics
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable
from pathlib import Path

import attrs
import msgspec
import trio
import trio_websocket

import cdpengine
from cdpengine.wire.transport import LARGEST_INCOMING, MESSAGE_QUEUE, RECEIVE_BUFFER

CALLS = 300
"""Calls a turn, one after the other."""

SESSIONS = 10
CALLS_EACH = 60
"""Sessions side by side in the throughput case, and calls of each, one in flight a session."""


class BareLoop:
    """The least that can be written on trio-websocket: one reader, ids, an event for whoever waits."""

    def __init__(self, websocket: trio_websocket.WebSocketConnection) -> None:
        self._websocket = websocket
        self._next_id = 0
        self._waiting: dict[int, tuple[trio.Event, list[object]]] = {}

    async def read(self) -> None:
        while True:
            try:
                message = json.loads(await self._websocket.get_message())
            except trio_websocket.ConnectionClosed:
                return
            if "id" in message:
                event, slot = self._waiting.pop(message["id"])
                slot.append(message.get("result"))
                event.set()

    async def call(self, method: str, params: dict[str, object], session_id: str | None) -> object:
        self._next_id += 1
        message: dict[str, object] = {"id": self._next_id, "method": method, "params": params}
        if session_id is not None:
            message["sessionId"] = session_id
        event, slot = self._waiting[self._next_id] = (trio.Event(), [])
        await self._websocket.send_message(json.dumps(message))
        await event.wait()
        return slot[0]

    async def call_alone(self, method: str, params: dict[str, object], session_id: str | None) -> object:
        """Send and read in one task: what is physically possible on trio-websocket, without any reader task."""
        self._next_id += 1
        message: dict[str, object] = {"id": self._next_id, "method": method, "params": params}
        if session_id is not None:
            message["sessionId"] = session_id
        await self._websocket.send_message(json.dumps(message))
        while True:
            reply = json.loads(await self._websocket.get_message())
            if reply.get("id") == self._next_id:
                return reply.get("result")


@attrs.frozen
class Side:
    """One contestant: a name, and what makes one call on the n-th session."""

    name: str
    call: Callable[[int], Awaitable[object]]


async def round_trips(side: Side) -> list[float]:
    """Return the milliseconds of each of CALLS calls."""
    taken = []
    for _ in range(CALLS):
        started = time.perf_counter()
        await side.call(0)
        taken.append((time.perf_counter() - started) * 1000)
    return taken


async def throughput(side: Side) -> float:
    """Return calls a second with SESSIONS sessions, one call in flight each."""

    async def one(number: int) -> None:
        for _ in range(CALLS_EACH):
            await side.call(number)

    started = time.perf_counter()
    async with trio.open_nursery() as nursery:
        for number in range(SESSIONS):
            nursery.start_soon(one, number)
    return SESSIONS * CALLS_EACH / (time.perf_counter() - started)


async def open_bare(nursery: trio.Nursery, url: str) -> trio_websocket.WebSocketConnection:
    """Connect with the same limits as the engine, so that only the code above the library differs."""
    return await trio_websocket.connect_websocket_url(
        nursery,
        url,
        message_queue_size=MESSAGE_QUEUE,
        max_message_size=LARGEST_INCOMING,
        receive_buffer_size=RECEIVE_BUFFER,
    )


async def attach(loop: BareLoop, target_ids: list[str]) -> list[str]:
    """Attach a flattened session to each target."""
    sessions = []
    for target_id in target_ids:
        reply = await loop.call("Target.attachToTarget", {"targetId": target_id, "flatten": True}, None)
        sessions.append(msgspec.convert(reply, dict[str, str])["sessionId"])
    return sessions


async def measure(rounds: int) -> dict[str, object]:
    """Run all cases and return the figures."""
    results: dict[str, list[list[float]]] = {"engine": [], "bare": [], "alone": []}
    rates: dict[str, list[float]] = {"engine": [], "bare": []}
    params: dict[str, object] = {"expression": "1"}
    async with cdpengine.launch() as browser, trio.open_nursery() as nursery:
        pages = [await browser.new_page() for _ in range(SESSIONS)]
        port = browser.connections[0].name.rpartition(":")[2]
        async with cdpengine.connect(f"http://127.0.0.1:{port}") as other:
            assert other.version.product == browser.version.product
        import httpx

        async with httpx.AsyncClient(trust_env=False) as client:
            version = (await client.get(f"http://127.0.0.1:{port}/json/version")).json()
        url = version["webSocketDebuggerUrl"]
        with_reader = await open_bare(nursery, url)
        loop = BareLoop(with_reader)
        nursery.start_soon(loop.read)
        loop_sessions = await attach(loop, [page.target_id for page in pages])
        without_reader = await open_bare(nursery, url)
        alone = BareLoop(without_reader)
        reply = await alone.call_alone(
            "Target.attachToTarget", {"targetId": pages[0].target_id, "flatten": True}, None
        )
        alone_session = msgspec.convert(reply, dict[str, str])["sessionId"]

        engine_side = Side("engine", lambda n: pages[n].session.call("Runtime.evaluate", expression="1"))
        bare_side = Side("bare", lambda n: loop.call("Runtime.evaluate", params, loop_sessions[n]))
        alone_side = Side("alone", lambda _n: alone.call_alone("Runtime.evaluate", params, alone_session))
        for side in (engine_side, bare_side, alone_side):
            await round_trips(side)  # warm-up
        for _ in range(rounds):
            for side in (engine_side, bare_side, alone_side):
                results[side.name].append(await round_trips(side))
            for side in (engine_side, bare_side):
                rates[side.name].append(await throughput(side))
        await with_reader.aclose()
        await without_reader.aclose()
        nursery.cancel_scope.cancel()
    return summary(results, rates)


def summary(results: dict[str, list[list[float]]], rates: dict[str, list[float]]) -> dict[str, object]:
    """Reduce to medians, the ratio of each turn, and the spread of the ratios."""
    medians = {name: [statistics.median(turn) for turn in turns] for name, turns in results.items()}

    def ratios(over: str) -> list[float]:
        return [a / b for a, b in zip(medians["engine"], medians[over], strict=True)]

    rate_ratios = [a / b for a, b in zip(rates["engine"], rates["bare"], strict=True)]
    return {
        "round_trip_ms": {
            name: {
                "median": statistics.median(turns),
                "p95": statistics.median(statistics.quantiles(turn, n=20)[-1] for turn in results[name]),
            }
            for name, turns in medians.items()
        },
        "round_trip_ratio_to_bare": spread(ratios("bare")),
        "round_trip_ratio_to_alone": spread(ratios("alone")),
        "throughput_calls_per_s": {name: statistics.median(values) for name, values in rates.items()},
        "throughput_ratio_to_bare": spread(rate_ratios),
    }


def spread(values: list[float]) -> dict[str, float]:
    """Return the median and the extremes."""
    return {"median": statistics.median(values), "min": min(values), "max": max(values)}


IMPORTS = {
    "cdpengine": "import cdpengine",
    "cdpengine, ready to launch": "from cdpengine import launch",
    "trio_websocket": "import trio_websocket",
    "nothing": "pass",
}
"""The package loads its names when they are first used: the second line is what a program pays in the end."""


def time_imports(rounds: int) -> dict[str, object]:
    """Compare imports, each in fresh interpreters, in turns; the bare interpreter's start is taken off."""
    taken: dict[str, list[float]] = {name: [] for name in IMPORTS}
    for number in range(rounds + 1):
        for name, statement in IMPORTS.items():
            started = time.perf_counter()
            subprocess.run([sys.executable, "-c", statement], check=True)
            if number:  # the first turn warms the page cache
                taken[name].append(time.perf_counter() - started)
    start = statistics.median(taken.pop("nothing"))
    ms = {name: (statistics.median(values) - start) * 1000 for name, values in taken.items()}
    peer = ms["trio_websocket"]
    return {
        "import_ms": ms,
        "import_ratio_to_trio_websocket": {name: value / peer for name, value in ms.items()},
    }


def main() -> None:
    """Parse, measure, print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    figures = {
        "machine": f"{platform.machine()}, Python {platform.python_version()}, {platform.system()}",
        **trio.run(measure, options.rounds),
        **time_imports(options.rounds),
    }
    text = json.dumps(figures, indent=2)
    print(text)
    if options.json:
        options.json.write_text(text + "\n")


if __name__ == "__main__":
    main()
