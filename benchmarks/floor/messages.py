"""Messages of a floor: encoding of commands and decoding of replies, in one pass each. Pure."""

from __future__ import annotations

from typing import Any

import msgspec


class Message(msgspec.Struct):
    """A reply has an `id`. Messages without one are events and are skipped. A refusal has no `result`."""

    id: int | None = None
    result: dict[str, Any] | None = None


decode = msgspec.json.Decoder(Message).decode
_encode = msgspec.json.Encoder().encode


def encode(number: int, method: str, params: dict[str, Any], session_id: str | None) -> bytes:
    if session_id is None:
        return _encode({"id": number, "method": method, "params": params})
    return _encode({"id": number, "method": method, "params": params, "sessionId": session_id})


class Refused(Exception):
    """The browser refused a command, which a floor does not handle."""
