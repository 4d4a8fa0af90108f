"""Load of many service clients: each sends requests with its own number, and some disconnect early.

Rule: a client is a plain socket, so that the clients are cheap compared with the service. An answer is wrong
if it belongs to another number. To measure, run it against a dedicated service: `PYTHONPATH=. python
tests/support/service_load.py --clients 200 --pages 20 --seconds 60`.
"""

from __future__ import annotations

import argparse
import json
import math
import random
import re
import socket
import struct
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path
from typing import Any

import attrs
import trio

LEFT_EARLY = 0.1
"""Fraction of the requests whose client disconnects before the answer."""

SET_UP = "(page) => { document.title = page; document.body.innerHTML = '<button id=go>Go</button>' }"
GAUGES = ("tasks", "clients", "sessions", "pages", "targets", "requests_under_way")


@attrs.define
class Figures:
    """The results. `seconds` are the durations of the answered requests."""

    seconds: list[float] = attrs.field(factory=list)
    left: int = 0
    errors: Counter[str] = attrs.field(factory=Counter)
    wrong: list[str] = attrs.field(factory=list)

    def quantile(self, part: float) -> float:
        """Return the time within which that fraction of the requests was answered."""
        ordered = sorted(self.seconds)
        return ordered[min(int(part * len(ordered)), len(ordered) - 1)]


class Connection:
    """One connection of a client."""

    def __init__(self, stream: trio.SocketStream, port: int, token: str) -> None:
        self._stream = stream
        self._head = (
            f"POST /act?session={{}} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nAuthorization: Bearer {token}\r\n"
        )
        self._read = b""

    @classmethod
    async def open(cls, port: int, token: str) -> Connection:
        return cls(await trio.open_tcp_stream("127.0.0.1", port), port, token)

    async def send(self, session: str, request: dict[str, Any]) -> None:
        body = json.dumps(request).encode()
        head = f"{self._head.format(session)}Content-Length: {len(body)}\r\n\r\n"
        await self._stream.send_all(head.encode() + body)

    async def receive(self) -> dict[str, Any]:
        while b"\r\n\r\n" not in self._read:
            await self._more()
        head, _, self._read = self._read.partition(b"\r\n\r\n")
        found = re.search(rb"content-length: (\d+)", head)
        assert found is not None, head
        length = int(found[1])
        while len(self._read) < length:
            await self._more()
        body, self._read = self._read[:length], self._read[length:]
        answer: dict[str, Any] = json.loads(body)
        return answer

    async def _more(self) -> None:
        got = await self._stream.receive_some(65536)
        if not got:
            raise ConnectionError("the service closed the connection")
        self._read += got

    def abort(self, *, rudely: bool) -> None:
        """Close the connection early, with a reset if `rudely`."""
        if rudely:
            self._stream.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self._stream.socket.close()


def choose_request(rng: random.Random, number: int) -> dict[str, Any]:
    """Return a request whose answer contains the number if possible."""
    kind = rng.random()
    if kind < 0.7:
        return {
            "kind": "evaluate",
            "function": "(n) => [n, document.title, n * 2]",
            "args": [number],
        }
    if kind < 0.8:
        delay = (
            f"(n) => new Promise((done) => setTimeout(done, {rng.randrange(30)}, [n, document.title, n * 2]))"
        )
        return {"kind": "evaluate", "function": delay, "args": [number]}
    if kind < 0.9:
        return {"kind": "find", "role": "button", "name": "Go"}
    return {"kind": "click", "selector": "#go"} if kind < 0.95 else {"kind": "tabs"}


def is_right(request: dict[str, Any], answer: dict[str, Any], number: int, page: int) -> bool:
    """Return whether the answer belongs to that request of that client."""
    if answer["kind"] != request["kind"]:
        return False
    result = answer.get("result")
    if request["kind"] == "evaluate":
        return bool(result == [number, f"page {page}", 2 * number])
    if request["kind"] == "find":
        return isinstance(result, dict) and result["count"] == 1
    if request["kind"] == "tabs" and isinstance(result, list):
        return [each["url"] for each in result] == ["about:blank"]
    return bool(answer["ok"])


async def run_client(port: int, token: str, index: int, page: int, until: float, figures: Figures) -> None:
    """Send requests until time is up. The numbers are unique to this client."""
    rng, number, connection = random.Random(index), index * 1_000_000, None
    while trio.current_time() < until:
        number += 1
        connection = connection or await Connection.open(port, token)
        if rng.random() < LEFT_EARLY:
            script = "while (true);" if rng.random() < 0.3 else "new Promise(() => {})"
            await connection.send(f"s{page}", {"kind": "evaluate", "function": script, "timeoutMs": 20_000})
            await trio.sleep(rng.random() * 0.05)
            connection.abort(rudely=rng.random() < 0.5)
            connection = None
            figures.left += 1
            continue
        request = choose_request(rng, number)
        began = trio.current_time()
        await connection.send(f"s{page}", request)
        answer = await connection.receive()
        if not answer["ok"]:
            figures.errors[f"{request['kind']}: {answer['error']['kind']}"] += 1
            continue
        figures.seconds.append(trio.current_time() - began)
        if not is_right(request, answer, number, page):
            figures.wrong.append(f"client {index} asked {request} and got {answer}")
    if connection is not None:
        connection.abort(rudely=False)


async def open_pages(port: int, token: str, pages: int) -> None:
    """Open a page in each of this many sessions."""
    for page in range(pages):
        connection = await Connection.open(port, token)
        set_up = {"kind": "evaluate", "function": SET_UP, "args": [f"page {page}"]}
        for request in ({"kind": "newTab"}, set_up):
            await connection.send(f"s{page}", request)
            answer = await connection.receive()
            assert answer["ok"], answer
        connection.abort(rudely=False)


async def load(port: int, token: str, *, clients: int, pages: int, seconds: float) -> Figures:
    """Run this many clients for a while."""
    figures = Figures()
    until = trio.current_time() + seconds
    async with trio.open_nursery() as nursery:
        for index in range(clients):
            nursery.start_soon(run_client, port, token, index, index % pages, until, figures)
    return figures


# --- as a program
# --------------------------------------------------------------------------------------------


async def gauges(port: int, token: str) -> dict[str, float]:
    """Return the gauges that the service reports."""
    stream = await trio.open_tcp_stream("127.0.0.1", port)
    head = f"GET /metrics HTTP/1.0\r\nHost: 127.0.0.1:{port}\r\nAuthorization: Bearer {token}\r\n\r\n"
    await stream.send_all(head.encode())
    text = b"".join([piece async for piece in stream]).decode()
    await stream.aclose()
    found = {name: float(re.search(rf"^cdpengine_{name} (\S+)", text, re.M)[1]) for name in GAUGES}  # type: ignore[index]
    for name, unit in (("open_fds", 1), ("resident_memory_bytes", 2**20)):
        found[name] = float(re.search(rf"^process_{name} (\S+)", text, re.M)[1]) / unit  # type: ignore[index]
    return found


async def at_rest(port: int, token: str, tasks: float = math.inf) -> dict[str, float]:
    """Return the gauges once no request is active and at most this many tasks exist."""
    with trio.fail_after(30):
        while True:
            found = await gauges(port, token)
            if found["requests_under_way"] == 0 and found["clients"] <= 1 and found["tasks"] <= tasks:
                return found
            await trio.sleep(0.1)


async def load_program(
    clients: int, pages: int, seconds: float
) -> tuple[Figures, dict[str, float], dict[str, float], int]:
    """Start a service as a program and load it.

    Return the figures, its gauges before and after, and its exit status.
    """
    folder = Path(tempfile.mkdtemp())
    command = [
        sys.executable,
        "-m",
        "cdpengine",
        "serve",
        "--port",
        "0",
        "--token-file",
        str(folder / "token"),
    ]
    command += ["--sessions", str(pages)]
    process = await trio.lowlevel.open_process(command, stderr=subprocess.PIPE)
    try:
        assert process.stderr is not None
        output = b""
        while output.count(b"\n") < 2:
            output += await process.stderr.receive_some(1000)
        port = int(output.split(b"\n")[0].rpartition(b":")[2])
        token = (folder / "token").read_text().strip()
        await open_pages(port, token, pages)
        await load(port, token, clients=clients, pages=pages, seconds=min(seconds / 4, 10))
        before = await at_rest(port, token)
        figures = await load(port, token, clients=clients, pages=pages, seconds=seconds)
        after = await at_rest(port, token, before["tasks"] + 5)
    finally:
        process.terminate()
        with trio.CancelScope(shield=True):
            status = await process.wait()
    return figures, before, after, status


async def main(clients: int, pages: int, seconds: float) -> None:
    """Print the figures."""
    figures, before, after, status = await load_program(clients, pages, seconds)
    print(
        f"{len(figures.seconds)} answered, {len(figures.seconds) / seconds:.0f} a second; {figures.left} left early"
    )
    print(f"p50 {figures.quantile(0.5) * 1000:.0f} ms, p99 {figures.quantile(0.99) * 1000:.0f} ms")
    print(
        f"errors {dict(figures.errors)}, wrong {len(figures.wrong)} {figures.wrong[:2]}, exit status {status}"
    )
    for name, value in before.items():
        print(f"{name}: {value:.0f} -> {after[name]:.0f}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--clients", type=int, default=200)
    parser.add_argument("--pages", type=int, default=20)
    parser.add_argument("--seconds", type=float, default=60)
    given = parser.parse_args()
    trio.run(main, given.clients, given.pages, given.seconds)
