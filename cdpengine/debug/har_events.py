"""The events of the Network and Page domains that an archive of requests is made of. Data.

Rule: every field has a default, so that an older or newer browser's event does no harm; an event whose payload was
cut as it was recorded has none of its fields.
"""

from __future__ import annotations

from typing import TypeVar

import msgspec

from cdpengine.debug.recording import CUT, Line, Message


class Told(msgspec.Struct, rename="camel"):
    """What all of them have."""

    request_id: str = ""


class Request(msgspec.Struct, rename="camel"):
    """A request, as it was to be sent."""

    url: str = ""
    url_fragment: str = ""
    method: str = ""
    headers: dict[str, str] = {}
    post_data: str | None = None
    has_post_data: bool = False


class Timing(msgspec.Struct, rename="camel"):
    """When what happened: milliseconds since `request_time` (seconds), -1 for never."""

    request_time: float = 0.0
    dns_start: float = -1
    dns_end: float = -1
    connect_start: float = -1
    connect_end: float = -1
    ssl_start: float = -1
    ssl_end: float = -1
    send_start: float = -1
    send_end: float = -1
    receive_headers_end: float = -1


class Response(msgspec.Struct, rename="camel"):
    """A response, its body excepted."""

    url: str = ""
    status: int = 0
    status_text: str = ""
    headers: dict[str, str] = {}
    mime_type: str = ""
    protocol: str = ""
    remote_ip: str = msgspec.field(default="", name="remoteIPAddress")
    connection_id: float = 0
    from_disk_cache: bool = False
    from_service_worker: bool = False
    encoded_data_length: float = -1
    timing: Timing | None = None


class RequestWillBeSent(Told, rename="camel"):
    """A request begins, or goes on after a redirect. `timestamp` is monotonic, `wall_time` since 1970; seconds."""

    loader_id: str = ""
    frame_id: str = ""
    type: str = ""
    request: Request = msgspec.field(default_factory=Request)
    timestamp: float = 0.0
    wall_time: float = 0.0
    redirect_response: Response | None = None


class ExtraInfo(Told, rename="camel"):
    """The headers as they went over the network; with a status, those of the response."""

    headers: dict[str, str] = {}
    status_code: int | None = None


class ResponseReceived(Told, rename="camel"):
    """The response begins."""

    response: Response = msgspec.field(default_factory=Response)


class DataReceived(Told, rename="camel"):
    """A part of the body came; its size after decoding."""

    data_length: int = 0


class Finished(Told, rename="camel"):
    """All of it came."""

    timestamp: float = 0.0
    encoded_data_length: float = -1


class Failed(Told, rename="camel"):
    """It came to nothing."""

    timestamp: float = 0.0
    error_text: str = ""
    canceled: bool = False


class ServedFromCache(Told, rename="camel"):
    """It was not asked over the network."""


class PageEvent(Told, rename="camel"):
    """A page got so far."""

    timestamp: float = 0.0


class Asked(Told, rename="camel"):
    """A command about one request."""


class Body(msgspec.Struct, rename="camel"):
    """The reply to Network.getResponseBody."""

    body: str = ""
    base64_encoded: bool = False
    cut: int | None = msgspec.field(default=None, name=CUT)


EVENTS: dict[str, type[Told]] = {
    "Network.requestWillBeSent": RequestWillBeSent,
    "Network.requestWillBeSentExtraInfo": ExtraInfo,
    "Network.responseReceived": ResponseReceived,
    "Network.responseReceivedExtraInfo": ExtraInfo,
    "Network.dataReceived": DataReceived,
    "Network.loadingFinished": Finished,
    "Network.loadingFailed": Failed,
    "Network.requestServedFromCache": ServedFromCache,
    "Page.domContentEventFired": PageEvent,
    "Page.loadEventFired": PageEvent,
}

_decode = msgspec.json.Decoder(Message).decode
S = TypeVar("S", bound=msgspec.Struct)


def decode_payload(line: Line, as_type: type[S], key: str = "params") -> S:
    """Return the payload of a line's message. Raises msgspec.DecodeError for what does not fit."""
    message = _decode(line.msg)
    return msgspec.json.decode(
        message.result if key == "result" else message.params, type=as_type, strict=False
    )
