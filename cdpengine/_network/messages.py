"""Intercepted requests and responses, their headers, and the answers of handlers.

Rule: all objects are frozen. Header names are spelled as Chrome spells them, and are matched in any case. A header
that no server could read is refused before anything is sent; order and repetition are kept where Chrome keeps
them. An answer is complete, or it is refused with the reason. Only a body's content type is derived; no other
header is added.

Resource types and failure reasons have Chrome's names, in any case; an unknown name is refused with the list of
known names.
"""

from __future__ import annotations

import base64
import http
import mimetypes
import re
from collections.abc import Awaitable, Callable, Collection, Iterable, Mapping
from pathlib import Path
from typing import Any, Literal, TypeAlias, get_args

import attrs
import msgspec
import trio

from cdpengine import _json
from cdpengine._checks import check_count, check_string, check_type, invalid, wrong_type
from cdpengine._headers import HeaderMapping
from cdpengine._paths import to_path
from cdpengine._pickling import not_picklable
from cdpengine._protocol.domains.fetch import RequestPaused
from cdpengine._protocol.posted_data import posted_data
from cdpengine._secrets import is_secret_header
from cdpengine.errors import BodyUnavailableError, BodyUndecodableError, InvalidArgumentError

_CHARSET = re.compile(r"charset=[\"']?([A-Za-z0-9._:-]+)", re.IGNORECASE)


@attrs.frozen
class InterceptedRequest:
    """A paused request.

    `url` has no fragment. `headers` are the page's headers, and names are found in any case. Headers that Chrome
    adds later, such as cookies, are missing. `post_data` is the whole body, never a part. It is None if the
    request has no body, and if Chrome does not report all of it (files on disk, streams): then
    `post_data_missing` is the reason, otherwise "".
    `resource_type` is Chrome's name; `fetch()` is "XHR". `frame_id` is the requesting frame, `target_id` the page
    or out-of-process frame that reported it. `redirected`: an earlier request was redirected here.
    """

    url: str
    method: str = "GET"
    headers: Mapping[str, str] = attrs.field(factory=dict, converter=HeaderMapping, repr=False)
    post_data: bytes | None = attrs.field(default=None, repr=False)
    post_data_missing: str = ""
    resource_type: str = "Other"
    frame_id: str = ""
    target_id: str = ""
    redirected: bool = False

    @property
    def has_post_data(self) -> bool:
        """Whether the request has a body, even if `post_data` lacks it."""
        return self.post_data is not None or bool(self.post_data_missing)

    @property
    def is_navigation(self) -> bool:
        """Whether the request is for a document of the page or a frame."""
        return self.resource_type == "Document"

    def header(self, name: str) -> str | None:
        """Return a header's value, or None. The name's case does not matter."""
        return self.headers.get(name)

    def json(self) -> Any:
        """Return the posted body, as JSON.

        Raises BodyUndecodableError (a ValueError) if it is not JSON, or missing.
        """
        if self.post_data is None:
            reason = self.post_data_missing or "the request has no body"
            raise BodyUndecodableError(url=self.url, read_as="JSON", reason=reason)
        return decode_json(self.post_data, self.url)


@not_picklable("its status, its headers, or its body")
@attrs.define(eq=False)
class InterceptedResponse:
    """A response that the page has not received yet.

    `header_list` has every header, in order; `headers` one of each name. `failure` is Chrome's reason if the
    request failed ("ConnectionRefused"); `status` is then 0.
    """

    url: str
    status: int
    status_text: str = ""
    header_list: tuple[tuple[str, str], ...] = attrs.field(default=(), repr=False)
    failure: str = ""
    _read: Callable[[], Awaitable[bytes]] | None = attrs.field(default=None, repr=False, alias="read")
    _body: bytes | None = attrs.field(default=None, init=False, repr=False)

    @property
    def headers(self) -> dict[str, str]:
        """The headers. Names are found in any case; of a repeated header (Set-Cookie), only the last value."""
        return HeaderMapping(self.header_list)

    def header(self, name: str) -> str | None:
        """Return a header's value, or None. The name's case does not matter."""
        folded = name.casefold()
        return next((value for key, value in self.header_list if key.casefold() == folded), None)

    async def body(self) -> bytes:
        """Return the whole body, after decompression. Call it before the route is answered.

        Waits for the server. Raises BodyUnavailableError for a redirect, for a failed request, and
        after the route was answered.
        """
        if self._body is None:
            if self._read is None or self.failure:
                raise BodyUnavailableError(
                    self.url, f"the request has no response ({self.failure})", intercepted=True
                )
            self._body = await self._read()
        return self._body

    async def text(self) -> str:
        """Return the body as text, in the charset of its header (else UTF-8). Raises the errors of `body`."""
        return decode_text(await self.body(), self.header("content-type"))

    async def json(self) -> Any:
        """Return the body as JSON.

        Raises the errors of `body`, and BodyUndecodableError (a ValueError) if it is not JSON.
        """
        return decode_json(await self.body(), self.url)


def decode_text(body: bytes, content_type: str | None) -> str:
    """Return a body as text, in the charset of its header (else UTF-8)."""
    found = _CHARSET.search(content_type or "")
    try:
        return body.decode(found[1] if found else "utf-8", "replace")
    except LookupError:
        return body.decode("utf-8", "replace")


def decode_json(body: bytes, url: str) -> Any:
    """Return a body as JSON. Raises BodyUndecodableError."""
    try:
        return _json.decode(body)
    except msgspec.DecodeError as error:
        raise BodyUndecodableError(url=url, read_as="JSON", reason=str(error)) from None


def is_at_response(paused: RequestPaused) -> bool:
    """Return whether the response has begun, or the request failed."""
    return paused.response_error_reason is not None or paused.response_status_code is not None


def to_request(paused: RequestPaused, target_id: str) -> InterceptedRequest:
    """Convert Chrome's event to the request."""
    request, posted = paused.request, posted_data(paused.request)
    return InterceptedRequest(
        url=request.url,
        method=request.method,
        headers=request.headers,
        post_data=posted.content,
        post_data_missing=posted.missing,
        resource_type=paused.resource_type,
        frame_id=paused.frame_id,
        target_id=target_id,
        redirected=paused.redirected_request_id is not None,
    )


def to_response(paused: RequestPaused, read: Callable[[], Awaitable[bytes]]) -> InterceptedResponse:
    """Convert Chrome's event to the response, whose body `read` reads."""
    return InterceptedResponse(
        url=paused.request.url,
        status=paused.response_status_code or 0,
        status_text=paused.response_status_text,
        header_list=tuple((header.name, header.value) for header in paused.response_headers),
        failure=paused.response_error_reason or "",
        read=read,
    )


def check_status(status: int) -> int:
    """Return `status`. Raises InvalidArgumentError for an invalid response status (1xx are invalid)."""
    return check_count("status", status, least=200, most=599)


def phrase_of(status: int) -> str:
    """Return the reason phrase of a status; Chrome requires one for unknown statuses."""
    try:
        return http.HTTPStatus(status).phrase
    except ValueError:
        return "Unknown"


def fulfil_params(
    status: int | None,
    headers: Headers | None,
    body: bytes | str | None,
    json: Any,
    content_type: str | None,
    *,
    file_name: str | None = None,
    response: InterceptedResponse | None = None,
) -> dict[str, Any]:
    """Return the parameters of `Fetch.fulfillRequest`. Raises InvalidArgumentError."""
    if body is not None and json is not None:
        raise InvalidArgumentError(what="fulfill", given="both body and json", expected="one of them")
    kind, content = _content(body, json, file_name)
    if content_type is not None:
        kind = content_type
    if status is None:
        status = response.status if response is not None and response.status else 200
    status = check_status(status)
    pairs = _pairs(headers, response, replaced=content is not None)
    names = {name.casefold() for name, _value in pairs}
    if content_type is not None:
        pairs = [pair for pair in pairs if pair[0].casefold() != "content-type"]
        names.discard("content-type")
    if kind is not None and "content-type" not in names:
        pairs.append(("Content-Type", check_headers({"Content-Type": kind})[0][1]))
    return {
        "responseCode": status,
        "responsePhrase": phrase_of(status),
        "responseHeaders": header_entries(pairs),
        "body": base64.b64encode(content or b"").decode("ascii"),
    }


async def read_file(path: str | Path) -> bytes:
    """Return a file's bytes. Raises InvalidArgumentError if it cannot be read."""
    place = trio.Path(to_path("path", path))
    try:
        return await place.read_bytes()
    except OSError as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise InvalidArgumentError(
            what="path", given=repr(str(path))[:200], expected=f"a readable file ({reason})"
        ) from None


def _content(body: bytes | str | None, json: Any, file_name: str | None) -> tuple[str | None, bytes | None]:
    if json is not None:
        try:
            return "application/json", _json.encode(json)
        except (TypeError, ValueError, OverflowError, RecursionError) as error:
            raise wrong_type("json", json, f"values that JSON can represent ({error})") from None
    if isinstance(body, str):
        return "text/plain; charset=utf-8", body.encode()
    if body is None:
        return None, None
    check_type("body", body, bytes | bytearray | memoryview, "bytes or str")
    kind = None if file_name is None else mimetypes.guess_type(file_name)[0] or "application/octet-stream"
    return kind, bytes(body)


def _pairs(
    headers: Headers | None, response: InterceptedResponse | None, *, replaced: bool
) -> list[tuple[str, str]]:
    if headers is not None:
        return check_headers(headers)
    if response is None:
        return []
    # Chrome passes the body after decompression, and it is sent in this form.
    return [
        pair for pair in response.header_list if not replaced or pair[0].casefold() not in OF_THE_BODY_AS_SENT
    ]


# --- headers -------------------------------------------------------------------------------------------------

Headers: TypeAlias = Mapping[str, str] | Iterable[tuple[str, str]]
"""Names and values; pairs for repeated names (Set-Cookie).

In a mapping, the last of names that differ only in case counts.
"""

_NAME = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_BREAKS = re.compile(r"[\r\n\0]")

_SCHEME = re.compile(r"(?:Basic|Bearer|Digest|Negotiate|Token)\s+", re.IGNORECASE)

OF_THE_BODY_AS_SENT = frozenset({"content-length", "content-encoding", "transfer-encoding"})
"""Headers that describe the body as sent over the wire, not a body that was read and perhaps changed."""


def check_headers(headers: object) -> list[tuple[str, str]]:
    """Return the headers as pairs.

    Raises InvalidArgumentError; the message contains no value, as it may be a secret.
    """
    if isinstance(headers, Mapping):
        # {**request.headers, "user-agent": "x"} has the name twice if the request wrote it in another case.
        pairs = list({str(name).lower(): (name, value) for name, value in headers.items()}.values())
    elif isinstance(headers, Iterable) and not isinstance(headers, (str, bytes)):
        pairs = list(headers)
    else:
        raise wrong_type("headers", headers, _EXPECTED)
    for pair in pairs:
        if not isinstance(pair, tuple) or len(pair) != 2:
            raise wrong_type("headers", pair, _EXPECTED)
        name, value = pair
        if not isinstance(name, str) or _NAME.fullmatch(name) is None:
            raise invalid("name of a header", name, "a name of letters, digits and hyphens")
        check_string(f"header {name}", value)
        if _BREAKS.search(value):
            raise InvalidArgumentError(
                what=f"header {name}", given="a value with a line break", expected="a value of one line"
            )
    return pairs


def secret_values(pairs: Iterable[tuple[str, str]]) -> list[str]:
    """Return the possible secrets among a program's header values: all except the values of standard headers.

    For "Bearer abc" and similar values, it is the part after the scheme.
    """
    found = []
    for name, value in pairs:
        if is_secret_header(name):
            scheme = _SCHEME.match(value)
            found.append(value if scheme is None else value[scheme.end() :])
    return found


def header_entries(pairs: Iterable[tuple[str, str]]) -> list[dict[str, str]]:
    """Return headers in the form of the Fetch domain."""
    return [{"name": name, "value": value} for name, value in pairs]


def merge_headers(layers: Iterable[Mapping[str, str]]) -> dict[str, str]:
    """Return the headers of all layers. A later header replaces one of the same name, in any case."""
    found: dict[str, tuple[str, str]] = {}
    for layer in layers:
        for name, value in layer.items():
            found[name.casefold()] = (name, value)
    return dict(found.values())


_EXPECTED = "a mapping of names to values, or pairs of them"


# --- Chrome's names for types and reasons ---------------------------------------------------------------------

ResourceType: TypeAlias = Literal[
    "Document",
    "Stylesheet",
    "Image",
    "Media",
    "Font",
    "Script",
    "TextTrack",
    "XHR",
    "Fetch",
    "Prefetch",
    "EventSource",
    "WebSocket",
    "Manifest",
    "SignedExchange",
    "Ping",
    "CSPViolationReport",
    "Preflight",
    "FedCM",
    "Other",
]
"""The resource type of a request, with Chrome's names.

In intercepted requests, Chrome calls `fetch()` "XHR" too, and the script of a worker "Other" (measured).
"""

RESOURCE_TYPES: tuple[ResourceType, ...] = get_args(ResourceType)

AbortReason: TypeAlias = Literal[
    "Failed",
    "Aborted",
    "TimedOut",
    "AccessDenied",
    "ConnectionClosed",
    "ConnectionReset",
    "ConnectionRefused",
    "ConnectionAborted",
    "ConnectionFailed",
    "NameNotResolved",
    "InternetDisconnected",
    "AddressUnreachable",
    "BlockedByClient",
    "BlockedByResponse",
]
"""The reason why a request fails, with Chrome's names."""

ABORT_REASONS: Mapping[AbortReason, str] = {
    "Failed": "net::ERR_FAILED",
    "Aborted": "net::ERR_ABORTED",
    "TimedOut": "net::ERR_TIMED_OUT",
    "AccessDenied": "net::ERR_ACCESS_DENIED",
    "ConnectionClosed": "net::ERR_CONNECTION_CLOSED",
    "ConnectionReset": "net::ERR_CONNECTION_RESET",
    "ConnectionRefused": "net::ERR_CONNECTION_REFUSED",
    "ConnectionAborted": "net::ERR_CONNECTION_ABORTED",
    "ConnectionFailed": "net::ERR_CONNECTION_FAILED",
    "NameNotResolved": "net::ERR_NAME_NOT_RESOLVED",
    "InternetDisconnected": "net::ERR_INTERNET_DISCONNECTED",
    "AddressUnreachable": "net::ERR_ADDRESS_UNREACHABLE",
    "BlockedByClient": "net::ERR_BLOCKED_BY_CLIENT",
    "BlockedByResponse": "net::ERR_BLOCKED_BY_RESPONSE",
}
"""Each reason, and the error of a navigation that fails for it."""

_TYPE_OF = {name.casefold(): name for name in RESOURCE_TYPES}
_REASON_OF = {name.casefold(): name for name in ABORT_REASONS}


def check_resource_types(given: object) -> frozenset[str]:
    """Return the resource types for the given names, or an empty set, which means all types.

    "Fetch" means "XHR", because Chrome reports both as "XHR" for intercepted requests. Raises
    InvalidArgumentError.
    """
    if not isinstance(given, str) and not isinstance(given, Collection):
        raise _no_type(given)
    names: Iterable[object] = [given] if isinstance(given, str) else given
    found: set[str] = set()
    for name in names:
        known = _TYPE_OF.get(name.casefold()) if isinstance(name, str) else None
        if known is None:
            raise _no_type(name)
        found.add(known)
    return frozenset(found | {"XHR"} if "Fetch" in found else found)


def check_reason(given: str) -> AbortReason:
    """Return Chrome's spelling of a reason. Raises InvalidArgumentError."""
    known = _REASON_OF.get(given.casefold()) if isinstance(given, str) else None
    if known is None:
        raise invalid("reason", given, f"one of {', '.join(ABORT_REASONS)}")
    return known


def _no_type(given: object) -> InvalidArgumentError:
    return invalid("resource_type", given, f"one or more of {', '.join(RESOURCE_TYPES)}")
