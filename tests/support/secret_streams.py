"""Streams whose pieces pass through one recording, by kind, and the written form of each piece."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable
from typing import Any

from cdpengine._protocol.instruments import Traffic
from cdpengine.debug import Redactor
from cdpengine.debug.recording.lines import LineMaker


class Wire:
    """One recording. Its input is the traffic of the wire, its output the messages as written."""

    def __init__(self, redactor: Redactor | None = None) -> None:
        self._maker = LineMaker(began=0, limit=0, redactor=redactor or Redactor())
        self._calls = 0

    def send(self, message: dict[str, Any]) -> dict[str, Any]:
        """Pass on a command."""
        return self._pass("sent", message)

    def receive(self, message: dict[str, Any]) -> dict[str, Any]:
        """Pass on a reply or an event."""
        return self._pass("received", message)

    def answer(self, method: str, params: dict[str, Any], result: dict[str, Any]) -> dict[str, Any]:
        """Pass on a command and its reply. Return the written reply."""
        self._calls += 1
        self.send({"id": self._calls, "method": method, "params": params})
        return self.receive({"id": self._calls, "result": result})

    def _pass(self, direction: Any, message: dict[str, Any]) -> dict[str, Any]:
        (line,) = self._maker.lines(Traffic(1.0, direction, "c", json.dumps(message)))
        made: dict[str, Any] = json.loads(line)["msg"]
        return made


def event(name: str, **params: Any) -> dict[str, Any]:
    return {"method": f"Network.{name}", "params": {"requestId": "7.1", **params}}


def frame(opcode: int, data: str) -> dict[str, Any]:
    return {"response": {"opcode": opcode, "mask": False, "payloadData": data}}


def in_base64(piece: bytes) -> str:
    return base64.b64encode(piece).decode()


Give = Callable[[Wire, bytes], dict[str, Any]]


def read(encoded: bool) -> Give:
    """Yield pieces in the form of IO.read results."""

    def give(wire: Wire, piece: bytes) -> dict[str, Any]:
        data = in_base64(piece) if encoded else piece.decode()
        result = {"data": data, "base64Encoded": encoded, "eof": False}
        return wire.answer("IO.read", {"handle": "7"}, result)

    return give


def tell(name: str, **params: Callable[[bytes], Any]) -> Give:
    """Yield pieces in the form of events."""
    return lambda wire, piece: wire.receive(event(name, **{key: make(piece) for key, make in params.items()}))


STREAMS: dict[str, Give] = {
    "a body": tell("dataReceived", data=in_base64),
    "a stream": read(True),
    "a stream of text": read(False),
    "messages received": tell(
        "webSocketFrameReceived", response=lambda piece: frame(1, piece.decode())["response"]
    ),
    "messages sent": tell("webSocketFrameSent", response=lambda piece: frame(1, piece.decode())["response"]),
    "binary messages": tell(
        "webSocketFrameReceived", response=lambda piece: frame(2, in_base64(piece))["response"]
    ),
    "server-sent events": tell("eventSourceMessageReceived", data=bytes.decode),
    "a TCP socket": tell("directTCPSocketChunkReceived", identifier=lambda _: "7.1", data=in_base64),
    "UDP datagrams": tell(
        "directUDPSocketChunkSent",
        identifier=lambda _: "7.1",
        message=lambda piece: {"data": in_base64(piece)},
    ),
}
"""The function that passes on the next piece of a stream, by kind."""

BODY = "Network.streamResourceContent"


def wire_with(kind: str, redactor: Redactor | None = None, begun: bytes = b"") -> tuple[Wire, bytes]:
    """Return a recording in which a stream of a kind has begun, and the messages written so far."""
    wire = Wire(redactor)
    if kind == "a body":
        reply = wire.answer(BODY, {"requestId": "7.1"}, {"bufferedData": in_base64(begun)})
        return wire, piece_of(reply)
    if kind in ("a stream", "a stream of text"):
        wire.answer("Page.printToPDF", {"transferMode": "ReturnAsStream"}, {"data": "", "stream": "7"})
    elif kind == "a TCP socket":
        wire.receive(event("directTCPSocketCreated", identifier="7.1"))
    return wire, b""


def piece_of(message: dict[str, Any]) -> bytes:
    """Return the bytes of the piece in a message."""
    held = message.get("params") or message["result"]
    inside = held.get("response", held.get("message", held))
    data = inside.get("data", inside.get("payloadData", inside.get("bufferedData")))
    is_event = message.get("method") == "Network.eventSourceMessageReceived"
    is_text = is_event or inside.get("base64Encoded") is False or inside.get("opcode") == 1
    return data.encode() if is_text or data == "[redacted]" else base64.b64decode(data)
