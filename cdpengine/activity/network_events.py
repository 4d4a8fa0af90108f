"""The events of the Network domain, as far as they are read. Data.

Rule: every field has a default, so that an older or newer browser's event does no harm.
"""

from __future__ import annotations

import msgspec

from cdpengine.activity.stack import StackTrace


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


class Initiator(msgspec.Struct, rename="camel"):
    """What made the request: "parser", "script", "preload", "other", ... Lines and columns count from 0."""

    type: str = "other"
    url: str = ""
    line_number: float | None = None
    column_number: float | None = None
    stack: StackTrace | None = None


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
    remote_port: int = 0
    connection_id: float = 0
    from_disk_cache: bool = False
    from_service_worker: bool = False
    encoded_data_length: float = -1
    timing: Timing | None = None


class RequestWillBeSent(Told, rename="camel"):
    """A request begins, or goes on after a redirect. `timestamp` is monotonic, `wall_time` since 1970; seconds.

    `redirect_has_extra_info` says of the one that was redirected what `has_extra_info` says of a response.
    """

    loader_id: str = ""
    frame_id: str = ""
    document_url: str = msgspec.field(default="", name="documentURL")
    type: str = ""
    initiator: Initiator = msgspec.field(default_factory=Initiator)
    request: Request = msgspec.field(default_factory=Request)
    timestamp: float = 0.0
    wall_time: float = 0.0
    redirect_response: Response | None = None
    redirect_has_extra_info: bool | None = None


class ExtraInfo(Told, rename="camel"):
    """The headers as they went over the network; with a status, those of the response."""

    headers: dict[str, str] = {}
    status_code: int | None = None


class ResponseReceived(Told, rename="camel"):
    """The response begins.

    `has_extra_info` says whether both ExtraInfo of this request came or will come; None: an older Chrome, or cut.
    """

    response: Response = msgspec.field(default_factory=Response)
    has_extra_info: bool | None = None


class DataReceived(Told, rename="camel"):
    """A part of the body came; its size after decoding."""

    data_length: int = 0
    data: str = ""


class Finished(Told, rename="camel"):
    """All of it came."""

    timestamp: float = 0.0
    encoded_data_length: float = -1


class Failed(Told, rename="camel"):
    """It came to nothing."""

    timestamp: float = 0.0
    error_text: str = ""
    canceled: bool = False
    blocked_reason: str = ""


class ServedFromCache(Told, rename="camel"):
    """It was not asked over the network."""


class SocketRequest(msgspec.Struct, rename="camel"):
    """What the handshake of a websocket asks with."""

    headers: dict[str, str] = {}


class SocketResponse(msgspec.Struct, rename="camel"):
    """What the server answers to it."""

    status: int = 0
    status_text: str = ""
    headers: dict[str, str] = {}


class SocketCreated(Told, rename="camel"):
    """A page opens a websocket."""

    url: str = ""
    initiator: Initiator = msgspec.field(default_factory=Initiator)


class SocketAsked(Told, rename="camel"):
    """The handshake of a websocket begins."""

    timestamp: float = 0.0
    wall_time: float = 0.0
    request: SocketRequest = msgspec.field(default_factory=SocketRequest)


class SocketAnswered(Told, rename="camel"):
    """The server answers the handshake of a websocket."""

    timestamp: float = 0.0
    response: SocketResponse = msgspec.field(default_factory=SocketResponse)


class SocketFailed(Told, rename="camel"):
    """A websocket broke its protocol, or could not be opened."""

    timestamp: float = 0.0
    error_message: str = ""


class SocketClosed(Told, rename="camel"):
    """A websocket is closed."""

    timestamp: float = 0.0


NETWORK_EVENTS: dict[str, type[Told]] = {
    "Network.requestWillBeSent": RequestWillBeSent,
    "Network.requestWillBeSentExtraInfo": ExtraInfo,
    "Network.responseReceived": ResponseReceived,
    "Network.responseReceivedExtraInfo": ExtraInfo,
    "Network.dataReceived": DataReceived,
    "Network.loadingFinished": Finished,
    "Network.loadingFailed": Failed,
    "Network.requestServedFromCache": ServedFromCache,
    "Network.webSocketCreated": SocketCreated,
    "Network.webSocketWillSendHandshakeRequest": SocketAsked,
    "Network.webSocketHandshakeResponseReceived": SocketAnswered,
    "Network.webSocketFrameError": SocketFailed,
    "Network.webSocketClosed": SocketClosed,
}
