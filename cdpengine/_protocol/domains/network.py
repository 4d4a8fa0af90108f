"""Network: requests, their responses, websockets and cookies.

Rule: every field of an event has a default, so that events of older or newer browsers and cut events of recordings
decode. The two events that come with each request have a brief structure in addition to the complete one: headers,
stacks and times make decoding the complete one five times as expensive.
"""

from __future__ import annotations

import msgspec

from cdpengine._protocol.domains import event, reply
from cdpengine._protocol.domains.runtime import StackTrace


class RequestEvent(msgspec.Struct, rename="camel"):
    """The common fields of a request's events."""

    request_id: str = ""


# --- requests -------------------------------------------------------------------------------------------------


class RequestUrl(msgspec.Struct, rename="camel"):
    """The URL of a request, without its fragment."""

    url: str = ""


class PostDataEntry(msgspec.Struct):
    """A piece of a posted body, as base64. None: Chrome does not report it."""

    bytes: str | None = None


class Request(RequestUrl, rename="camel"):
    """A request before it is sent. `posted_data.posted_data` reads its body."""

    url_fragment: str = ""
    method: str = ""
    headers: dict[str, str] = {}
    post_data: str | None = None
    has_post_data: bool = False
    post_data_entries: list[PostDataEntry] = []


class Initiator(msgspec.Struct, rename="camel"):
    """The cause of the request: "parser", "script", "preload", "other", ... Lines and columns count from 0."""

    type: str = "other"
    url: str = ""
    line_number: float | None = None
    column_number: float | None = None
    stack: StackTrace | None = None


class Timing(msgspec.Struct, rename="camel"):
    """The times of a request's phases: milliseconds since `request_time` (seconds), -1 for never."""

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


class SecurityDetails(msgspec.Struct, rename="camel"):
    """The certificate and the connection of a response. Times are seconds since 1970."""

    protocol: str = ""
    cipher: str = ""
    subject_name: str = ""
    san_list: list[str] = []
    issuer: str = ""
    valid_from: float = 0
    valid_to: float = 0


class ResponseHead(msgspec.Struct, rename="camel"):
    """The fields of a response that a navigation reads."""

    status: int = 0
    mime_type: str = ""
    from_disk_cache: bool = False


class Response(ResponseHead, rename="camel"):
    """A response, without its body."""

    url: str = ""
    status_text: str = ""
    headers: dict[str, str] = {}
    protocol: str = ""
    remote_ip: str = msgspec.field(default="", name="remoteIPAddress")
    remote_port: int = 0
    connection_id: float = 0
    from_service_worker: bool = False
    encoded_data_length: float = -1
    timing: Timing | None = None
    security_details: SecurityDetails | None = None


@event("Network.requestWillBeSent", brief=True)
class RequestWillBeSentHead(RequestEvent, rename="camel"):
    """A request begins: its id, frame and URL."""

    loader_id: str = ""
    frame_id: str = ""
    type: str = ""
    request: RequestUrl = msgspec.field(default_factory=RequestUrl)


@event("Network.requestWillBeSent")
class RequestWillBeSent(RequestWillBeSentHead, rename="camel"):
    """A request begins, or continues after a redirect. `timestamp` is monotonic, `wall_time` since 1970; seconds.

    `redirect_has_extra_info` is the `has_extra_info` of the redirect's response.
    """

    document_url: str = msgspec.field(default="", name="documentURL")
    initiator: Initiator = msgspec.field(default_factory=Initiator)
    request: Request = msgspec.field(default_factory=Request)
    timestamp: float = 0.0
    wall_time: float = 0.0
    redirect_response: Response | None = None
    redirect_has_extra_info: bool | None = None


@event("Network.requestWillBeSentExtraInfo")
class RequestWillBeSentExtraInfo(RequestEvent, rename="camel"):
    """The headers of a request, as sent over the network."""

    headers: dict[str, str] = {}


@event("Network.responseReceived", brief=True)
class ResponseReceivedHead(RequestEvent, rename="camel"):
    """A response begins: its request, and the fields that a navigation reads."""

    loader_id: str = ""
    frame_id: str = ""
    type: str = ""
    response: ResponseHead = msgspec.field(default_factory=ResponseHead)


@event("Network.responseReceived")
class ResponseReceived(ResponseReceivedHead, rename="camel"):
    """A response begins.

    `has_extra_info` is whether both ExtraInfo events of this request are sent; None in an older Chrome or a cut
    event.
    """

    response: Response = msgspec.field(default_factory=Response)
    has_extra_info: bool | None = None


@event("Network.responseReceivedExtraInfo")
class ResponseReceivedExtraInfo(RequestEvent, rename="camel"):
    """The status and headers of a response, as received over the network."""

    headers: dict[str, str] = {}
    status_code: int | None = None


@event("Network.dataReceived")
class DataReceived(RequestEvent, rename="camel"):
    """A part of the body arrived; `data_length` is its size after decoding."""

    data_length: int = 0
    data: str = ""


@event("Network.loadingFinished")
class LoadingFinished(RequestEvent, rename="camel"):
    """The response is complete."""

    timestamp: float = 0.0
    encoded_data_length: float = -1


@event("Network.loadingFailed")
class LoadingFailed(RequestEvent, rename="camel"):
    """The request failed."""

    timestamp: float = 0.0
    error_text: str = ""
    canceled: bool = False
    blocked_reason: str = ""


@event("Network.requestServedFromCache")
class RequestServedFromCache(RequestEvent, rename="camel"):
    """The response came from a cache and not over the network."""


@reply("Fetch.getResponseBody")
@reply("Network.getResponseBody")
class ResponseBodyReply(msgspec.Struct, rename="camel"):
    """A body, as text or as base64."""

    body: str = ""
    base64_encoded: bool = False


@reply("Network.streamResourceContent")
class StreamResourceContentReply(msgspec.Struct, rename="camel"):
    """The part of the body that arrived before streaming, as base64."""

    buffered_data: str = ""


# --- websockets -----------------------------------------------------------------------------------------------


class WebSocketRequest(msgspec.Struct, rename="camel"):
    """The handshake request of a websocket."""

    headers: dict[str, str] = {}


class WebSocketResponse(msgspec.Struct, rename="camel"):
    """The server's handshake response."""

    status: int = 0
    status_text: str = ""
    headers: dict[str, str] = {}


@event("Network.webSocketCreated")
class WebSocketCreated(RequestEvent, rename="camel"):
    """A page opens a websocket."""

    url: str = ""
    initiator: Initiator = msgspec.field(default_factory=Initiator)


@event("Network.webSocketWillSendHandshakeRequest")
class WebSocketWillSendHandshakeRequest(RequestEvent, rename="camel"):
    """The handshake of a websocket begins."""

    timestamp: float = 0.0
    wall_time: float = 0.0
    request: WebSocketRequest = msgspec.field(default_factory=WebSocketRequest)


@event("Network.webSocketHandshakeResponseReceived")
class WebSocketHandshakeResponseReceived(RequestEvent, rename="camel"):
    """The server answers the handshake of a websocket."""

    timestamp: float = 0.0
    response: WebSocketResponse = msgspec.field(default_factory=WebSocketResponse)


@event("Network.webSocketFrameError")
class WebSocketFrameError(RequestEvent, rename="camel"):
    """A websocket broke its protocol, or could not be opened."""

    timestamp: float = 0.0
    error_message: str = ""


@event("Network.webSocketClosed")
class WebSocketClosed(RequestEvent, rename="camel"):
    """A websocket is closed."""

    timestamp: float = 0.0


class WebSocketFrame(msgspec.Struct, rename="camel"):
    """A message of a websocket. `payload_data` is base64 unless `opcode` is 1."""

    opcode: float = 1
    payload_data: str = ""


@event("Network.webSocketFrameSent")
class WebSocketFrameSent(RequestEvent, rename="camel"):
    """A page sent a message over a websocket."""

    timestamp: float = 0.0
    response: WebSocketFrame = msgspec.field(default_factory=WebSocketFrame)


@event("Network.webSocketFrameReceived")
class WebSocketFrameReceived(WebSocketFrameSent, rename="camel"):
    """A page received a message over a websocket."""


# --- event sources and WebTransport ---------------------------------------------------------------------------


@event("Network.eventSourceMessageReceived")
class EventSourceMessageReceived(RequestEvent, rename="camel"):
    """A message of an EventSource arrived."""

    timestamp: float = 0.0
    event_name: str = ""
    event_id: str = ""
    data: str = ""


class WebTransportEvent(msgspec.Struct, rename="camel"):
    """The common fields of a WebTransport session's events."""

    transport_id: str = ""
    timestamp: float = 0.0


@event("Network.webTransportCreated")
class WebTransportCreated(WebTransportEvent, rename="camel"):
    """A page opens a WebTransport session."""

    url: str = ""


@event("Network.webTransportConnectionEstablished")
class WebTransportConnectionEstablished(WebTransportEvent, rename="camel"):
    """A WebTransport session is open."""


@event("Network.webTransportClosed")
class WebTransportClosed(WebTransportEvent, rename="camel"):
    """A WebTransport session is closed."""


REQUEST_EVENTS: dict[str, type[RequestEvent]] = {
    "Network.requestWillBeSent": RequestWillBeSent,
    "Network.requestWillBeSentExtraInfo": RequestWillBeSentExtraInfo,
    "Network.responseReceived": ResponseReceived,
    "Network.responseReceivedExtraInfo": ResponseReceivedExtraInfo,
    "Network.dataReceived": DataReceived,
    "Network.loadingFinished": LoadingFinished,
    "Network.loadingFailed": LoadingFailed,
    "Network.requestServedFromCache": RequestServedFromCache,
    "Network.webSocketCreated": WebSocketCreated,
    "Network.webSocketWillSendHandshakeRequest": WebSocketWillSendHandshakeRequest,
    "Network.webSocketHandshakeResponseReceived": WebSocketHandshakeResponseReceived,
    "Network.webSocketFrameError": WebSocketFrameError,
    "Network.webSocketClosed": WebSocketClosed,
}
"""The events of a request from its beginning to its end, each with its complete structure."""

WEBSOCKET_EVENTS: dict[str, type[RequestEvent]] = {
    "Network.webSocketCreated": WebSocketCreated,
    "Network.webSocketWillSendHandshakeRequest": WebSocketWillSendHandshakeRequest,
    "Network.webSocketHandshakeResponseReceived": WebSocketHandshakeResponseReceived,
    "Network.webSocketFrameSent": WebSocketFrameSent,
    "Network.webSocketFrameReceived": WebSocketFrameReceived,
    "Network.webSocketFrameError": WebSocketFrameError,
    "Network.webSocketClosed": WebSocketClosed,
    "Network.eventSourceMessageReceived": EventSourceMessageReceived,
}
"""The events of websockets and event sources. The first ones are events of requests too."""

WEBTRANSPORT_EVENTS: dict[str, type[WebTransportEvent]] = {
    "Network.webTransportCreated": WebTransportCreated,
    "Network.webTransportConnectionEstablished": WebTransportConnectionEstablished,
    "Network.webTransportClosed": WebTransportClosed,
}
"""The events of WebTransport sessions."""


# --- cookies --------------------------------------------------------------------------------------------------


class CookiePartitionKey(msgspec.Struct, frozen=True, rename="camel"):
    """The partition of a partitioned cookie."""

    top_level_site: str = ""
    has_cross_site_ancestor: bool = False


class ChromeCookie(msgspec.Struct, frozen=True, rename="camel"):
    """A cookie (`Network.Cookie`). `expires` is in seconds since 1970, -1 for a cookie of the session."""

    name: str
    value: str
    domain: str
    path: str
    expires: float | None = -1
    http_only: bool = False
    secure: bool = False
    session: bool = False
    same_site: str | None = None
    priority: str = "Medium"
    source_scheme: str = "Unset"
    source_port: int = -1
    partition_key: CookiePartitionKey | None = None
    partition_key_opaque: bool = False
