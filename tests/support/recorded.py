"""Recordings for tests, written message by message by the recorder's own LineMaker."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import msgspec
import zstandard

from cdpengine._protocol.instruments import Span, Traffic
from cdpengine.debug.recording.lines import LineMaker
from cdpengine.debug.recording_format import Header, Line


class Recorded:
    """Collects lines. `time` is the clock, in seconds. Each message's `after` advances it."""

    def __init__(self, connection: str = "main", limit: int = 0) -> None:
        self.connection = connection
        self.time = 0.0
        self.raw: list[bytes] = []
        self.maker = LineMaker(began=0.0, limit=limit, redactor=None)
        self._id = 0

    def call(
        self, method: str, session: str = "", *, span: Span | None = None, after: float = 0.001, **params: Any
    ) -> int:
        self._id += 1
        self._take("sent", {"id": self._id, "method": method, "params": params}, session, after, span)
        return self._id

    def reply(self, number: int, session: str = "", *, after: float = 0.001, **result: Any) -> None:
        self._take("received", {"id": number, "result": result}, session, after)

    def refuse(self, number: int, session: str = "", *, after: float = 0.001, message: str = "no") -> None:
        self._take("received", {"id": number, "error": {"code": -32000, "message": message}}, session, after)

    def event(self, method: str, session: str = "", *, after: float = 0.001, **params: Any) -> None:
        self._take("received", {"method": method, "params": params}, session, after)

    def exchange(
        self, method: str, session: str = "", *, span: Span | None = None, after: float = 0.001, **params: Any
    ) -> None:
        self.reply(self.call(method, session, span=span, **params), session, after=after)

    def attach(
        self, session: str, target: str, kind: str = "page", url: str = "https://example.com/"
    ) -> None:
        info = {"targetId": target, "type": kind, "url": url}
        self.event("Target.attachedToTarget", sessionId=session, targetInfo=info)

    def stray(self, text: str) -> None:
        self.raw += self.maker.lines(Traffic(self.time, "received", self.connection, text))

    def lost(self, count: int) -> None:
        self.raw.append(self.maker.lost(self.time, count))

    def end_action(self, span: Span, failed: str = "") -> None:
        self.time = round(self.time + 0.001, 6)
        self.raw.append(self.maker.span_ended(self.time, span.number, span.began, failed))

    def end(self) -> Recorded:
        self.raw.append(self.maker.end(self.time))
        return self

    def _take(
        self, direction: Any, message: dict[str, Any], session: str, after: float, span: Span | None = None
    ) -> None:
        self.time = round(self.time + after, 6)
        if session:
            message["sessionId"] = session
        text = json.dumps(message, ensure_ascii=False)
        self.raw += self.maker.lines(Traffic(self.time, direction, self.connection, text, span))

    @property
    def lines(self) -> list[Line]:
        return [msgspec.json.decode(line, type=Line) for line in self.raw]

    def bytes(self) -> bytes:
        fields = {"cdpengine": "recording", "version": 1} | msgspec.to_builtins(HEADER)
        return msgspec.json.encode(fields) + b"\n" + b"".join(self.raw)

    def write(self, path: Path) -> Path:
        raw = self.bytes()
        path.write_bytes(zstandard.compress(raw) if path.suffix == ".zst" else raw)
        return path


HEADER = Header(product="Chrome/156.0.1", started="2026-01-02T03:04:05.000006+00:00", redacted=True)


def small() -> Recorded:
    """Return one page with a navigation, a click, a refused call, and a call without a reply."""
    recorded = Recorded()
    recorded.exchange("Target.setAutoAttach", autoAttach=True)
    recorded.attach("5E55", "7A26")
    number = recorded.call(
        "Page.navigate", "5E55", span=Span(1, "page.goto https://example.com/"), url="https://example.com/"
    )
    recorded.event("Page.frameStartedLoading", "5E55", frameId="7A26")
    recorded.reply(number, "5E55", after=0.25, frameId="7A26", loaderId="10AD")
    recorded.event("Page.loadEventFired", "5E55", timestamp=1.5)
    recorded.exchange("Input.dispatchMouseEvent", "5E55", span=Span(2, "page.click e7"), type="mousePressed")
    recorded.refuse(
        recorded.call("Runtime.evaluate", "5E55", expression="a\x1b[31mb"), "5E55", message="\x1b]0;owned\x07"
    )
    recorded.call("Runtime.evaluate", "5E55", expression="forever()")
    return recorded.end()
