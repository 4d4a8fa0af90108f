"""The noise reference: two constant pieces of work, timed through the run.

Rule: they are independent of the engine and the browser. Fixed arithmetic in Python shows the speed of a core; a
bare request to the pages' server shows the delay until another process runs. Their variation is the accuracy of
all figures.
"""

from __future__ import annotations

import socket
import statistics
import time
from urllib.parse import urlsplit

STEPS = 60_000
"""Number of steps of the fixed work: about 3 ms on a machine of 2020."""

QUESTIONS = 40


def fixed_work() -> float:
    """Return the milliseconds of the fixed arithmetic."""
    started = time.perf_counter()
    value = 1
    for _ in range(STEPS):
        value = (value * 1_103_515_245 + 12_345) & 0x7FFFFFFF
    taken = (time.perf_counter() - started) * 1000
    assert value  # uses the result
    return taken


def bare_round_trip(site: str) -> float:
    """Return the median milliseconds of requests to the pages' server on an open socket."""
    address = urlsplit(site)
    request = f"GET /n?noise HTTP/1.1\r\nHost: {address.netloc}\r\n\r\n".encode()
    taken = []
    with socket.create_connection((address.hostname, address.port), timeout=5) as connection:
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        for _ in range(QUESTIONS):
            started = time.perf_counter()
            connection.sendall(request)
            if not connection.recv(65_536):
                raise ConnectionError(f"{site} closed the connection")
            taken.append((time.perf_counter() - started) * 1000)
    return statistics.median(taken)
