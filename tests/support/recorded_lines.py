"""Recordings written line by line, and client programs that play them, without a browser or a file."""

from __future__ import annotations

import json
from typing import Any

import msgspec

from cdpengine.debug.recording_format import Kind, Line
from cdpengine.debug.replaying.playback import Playback
from cdpengine.debug.replaying.tape import Client


def raw(message: Any) -> msgspec.Raw:
    return msgspec.Raw(msgspec.json.encode(message))


class Tape:
    """Writes a recording line by line."""

    def __init__(self) -> None:
        self.lines: list[Line] = []

    def _add(self, kind: Kind, direction: str, message: dict[str, Any], method: str, c: str, s: str) -> None:
        if s:
            message["sessionId"] = s
        n = len(self.lines) + 1
        self.lines.append(
            Line(
                t=n / 10, n=n, k=kind, d=direction, c=c, s=s, id=message.get("id"), m=method, msg=raw(message)
            )
        )

    def call(self, number: int, method: str, c: str = "one", s: str = "", **params: Any) -> None:
        self._add("call", ">", {"id": number, "method": method, "params": params}, method, c, s)

    def reply(self, number: int, method: str = "", c: str = "one", s: str = "", **result: Any) -> None:
        self._add("reply", "<", {"id": number, "result": result}, method, c, s)

    def event(self, method: str, c: str = "one", s: str = "", **params: Any) -> None:
        self._add("event", "<", {"method": method, "params": params}, method, c, s)

    def http(
        self, method: str, target: str, status: int = 200, body: Any = None, asked_at: float | None = None
    ) -> None:
        n = len(self.lines) + 1
        t = n / 10 if asked_at is None else asked_at
        self.lines.append(
            Line(t=t, n=n, k="http", m=method, url=target, status=status, type="text/html", msg=raw(body))
        )

    def play(self) -> Playback:
        return Playback("tape", self.lines)


class Program:
    """A client of a playback, and the messages that it received."""

    def __init__(self, playback: Playback, path: str = "/devtools/browser/x") -> None:
        self.playback = playback
        self.client: Client = playback.join(path)
        self.next_id = 100

    def ask(self, method: str, s: str = "", **params: Any) -> list[dict[str, Any]]:
        """Send a request, and return all messages that any client received after it."""
        self.next_id += 1
        message = {"id": self.next_id, "method": method, "params": params} | ({"sessionId": s} if s else {})
        assert self.playback.ask(self.client, json.dumps(message))
        return [json.loads(delivery.message) for delivery in self.playback.due()]
