"""Calls over a blocking transport: no tasks, no event loop, one system call to send and one to receive.

Rule: nothing else runs during its turn. Each reply is followed by the next call, so that the number of calls in
flight stays constant. Replies are matched by their number.
"""

from __future__ import annotations

import time
from typing import Any, Protocol

from benchmarks.floor.messages import Refused, decode, encode


class Blocking(Protocol):
    """A transport of whole messages."""

    def send(self, message: bytes) -> None:
        """Send one message."""

    def receive(self) -> bytes | bytearray | memoryview:
        """Wait for the next message. It is valid until the next `receive`."""


class Caller:
    """Commands over a blocking transport."""

    def __init__(self, transport: Blocking) -> None:
        self._transport = transport
        self._number = 0

    def call(self, method: str, params: dict[str, Any], session_id: str | None = None) -> dict[str, Any]:
        """Send a command, and read until its result arrives."""
        number = self._number = self._number + 1
        self._transport.send(encode(number, method, params, session_id))
        while True:
            message = decode(self._transport.receive())
            if message.id == number:
                if message.result is None:
                    raise Refused(method)
                return message.result

    def attach(self, target_id: str) -> str:
        """Attach a session to a target, and return its id."""
        return str(self.call("Target.attachToTarget", {"targetId": target_id, "flatten": True})["sessionId"])

    def holds(self, session: str, expression: str) -> bool:
        """Whether an expression is true now. False while no document is available."""
        try:
            reply = self.call("Runtime.evaluate", {"expression": expression, "returnByValue": True}, session)
        except Refused:
            return False
        return reply["result"].get("value") is True

    def round_trips(self, session: str, calls: int) -> list[float]:
        """Return the milliseconds of each of `calls` calls."""
        params = {"expression": "1"}
        taken = []
        for _ in range(calls):
            started = time.perf_counter()
            self.call("Runtime.evaluate", params, session)
            taken.append((time.perf_counter() - started) * 1000)
        return taken

    def reply(self, session: str, expression: str) -> float:
        """Return the milliseconds until the string of `expression` has arrived."""
        started = time.perf_counter()
        result = self.call("Runtime.evaluate", {"expression": expression, "returnByValue": True}, session)
        assert isinstance(result["result"]["value"], str)
        return (time.perf_counter() - started) * 1000

    def throughput(self, sessions: list[str], in_flight: int, seconds: float) -> float:
        """Return calls a second, with that number in flight on each session."""
        params = {"expression": "1"}
        send, receive = self._transport.send, self._transport.receive
        of: dict[int, str] = {}
        number, made = self._number, 0
        started = time.perf_counter()
        end = started + seconds
        for session in sessions * in_flight:
            number += 1
            of[number] = session
            send(encode(number, "Runtime.evaluate", params, session))
        while of:
            message = decode(receive())
            if message.id is None:
                continue
            session = of.pop(message.id)
            if message.result is None:
                raise Refused("Runtime.evaluate")
            made += 1
            if time.perf_counter() < end:
                number += 1
                of[number] = session
                send(encode(number, "Runtime.evaluate", params, session))
        self._number = number
        return made / (time.perf_counter() - started)
