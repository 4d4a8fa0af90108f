"""The lines of a recording that an archive of requests is made of, beside the events of requests. Data.

Rule: every field has a default, so that an older or newer browser's event does no harm; an event whose payload was
cut as it was recorded has none of its fields.
"""

from __future__ import annotations

from typing import TypeVar

import msgspec

from cdpengine._protocol.domains.network import REQUEST_EVENTS, RequestEvent, ResponseBodyReply
from cdpengine.debug.recording import CUT, Line, Message


class PageEvent(RequestEvent, rename="camel"):
    """A page got so far."""

    timestamp: float = 0.0


class Attached(RequestEvent, rename="camel"):
    """A session begins; told on the session of what it belongs to."""

    session_id: str = ""


class Asked(RequestEvent, rename="camel"):
    """A command about one request."""


class Body(ResponseBodyReply, rename="camel"):
    """A body, which may have been cut as it was recorded."""

    cut: int | None = msgspec.field(default=None, name=CUT)


EVENTS: dict[str, type[RequestEvent]] = {
    **REQUEST_EVENTS,
    "Page.domContentEventFired": PageEvent,
    "Page.loadEventFired": PageEvent,
    "Target.attachedToTarget": Attached,
}

_decode = msgspec.json.Decoder(Message).decode
S = TypeVar("S", bound=msgspec.Struct)


def decode_payload(line: Line, as_type: type[S], key: str = "params") -> S:
    """Return the payload of a line's message. Raises msgspec.DecodeError for what does not fit."""
    message = _decode(line.msg)
    return msgspec.json.decode(
        message.result if key == "result" else message.params, type=as_type, strict=False
    )
