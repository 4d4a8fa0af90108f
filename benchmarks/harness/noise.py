"""The noise reference: two things that are always the same, timed through the run.

Rule: what is timed has nothing to do with the engine or a browser: a fixed piece of Python's arithmetic says how much
of a core there is, a bare question to the pages' server how soon the system lets another process run. How far apart
equal things come out is how far a figure can be trusted.
"""

from __future__ import annotations

import socket
import statistics
import time
from urllib.parse import urlsplit

STEPS = 60_000
"""Of the fixed work: some 3 ms on a machine of 2020."""

QUESTIONS = 40


def fixed_work() -> float:
    """Return the milliseconds of a fixed piece of arithmetic."""
    started = time.perf_counter()
    value = 1
    for _ in range(STEPS):
        value = (value * 1_103_515_245 + 12_345) & 0x7FFFFFFF
    taken = (time.perf_counter() - started) * 1000
    assert value  # and so the loop is for something
    return taken


def bare_round_trip(site: str) -> float:
    """Return the milliseconds of one question to the pages' server on a socket that is open: a median of many."""
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
