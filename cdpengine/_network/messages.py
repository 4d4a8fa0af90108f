"""InterceptedRequest and InterceptedResponse: what an intercepted request is, and what was answered to it.

Rule: frozen; names of headers are as Chrome writes them, and are looked up whatever their case.
"""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

import attrs
import msgspec

from cdpengine._protocol.domains.fetch import PausedRequest, RequestPaused
from cdpengine.errors import BodyUndecodableError, InterceptedBodyUnavailableError

_CHARSET = re.compile(r"charset=[\"']?([A-Za-z0-9._:-]+)", re.IGNORECASE)


@attrs.frozen
class InterceptedRequest:
    """A request that waits for its answer.

    `url` is without fragment. `headers` are those that the page set; what Chrome adds later (cookies, for one) is
    not among them. `post_data` is None where there is none, and where Chrome does not tell it (`has_post_data`):
    files and blobs. `resource_type` is Chrome's word; `fetch()` is "XHR". `frame_id` is the frame that asks,
    `target_id` the page, or frame with a process of its own, that told of it. `redirected`: an earlier request was
    redirected here.
    """

    url: str
    method: str = "GET"
    headers: Mapping[str, str] = attrs.field(factory=dict, repr=False)
    post_data: bytes | None = attrs.field(default=None, repr=False)
    has_post_data: bool = False
    resource_type: str = "Other"
    frame_id: str = ""
    target_id: str = ""
    redirected: bool = False

    @property
    def is_navigation(self) -> bool:
        """Whether it is for a document: the page's own, or a frame's."""
        return self.resource_type == "Document"

    def header(self, name: str) -> str | None:
        """Return a header's value, None where there is none. Case does not matter."""
        wanted = name.casefold()
        return next((value for key, value in self.headers.items() if key.casefold() == wanted), None)

    def json(self) -> Any:
        """Return what was posted, as JSON. Raises BodyUndecodableError (a ValueError) when it is none."""
        try:
            return msgspec.json.decode(self.post_data or b"")
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            raise BodyUndecodableError(url=self.url, read_as="JSON", reason=str(error)) from None


@attrs.define(eq=False)
class InterceptedResponse:
    """A response of which the page knows nothing yet.

    `header_list` has every header, in order; `headers` one of each name. `failure` is Chrome's reason where there
    is no response at all ("ConnectionRefused"); `status` is 0 then.
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
        """The headers; of those that come more than once (Set-Cookie), the last."""
        return dict(self.header_list)

    def header(self, name: str) -> str | None:
        """Return a header's value, None where there is none. Case does not matter."""
        wanted = name.casefold()
        return next((value for key, value in self.header_list if key.casefold() == wanted), None)

    async def body(self) -> bytes:
        """Return the body, whole, as it is after decompression; before the route is answered.

        Waits for the server. Raises InterceptedBodyUnavailableError for a redirect, for a request that failed, and
        once the route is answered.
        """
        if self._body is None:
            if self._read is None or self.failure:
                raise InterceptedBodyUnavailableError(
                    url=self.url, reason=f"there was no response ({self.failure})"
                )
            self._body = await self._read()
        return self._body

    async def text(self) -> str:
        """Return the body as text, in the charset that it says it has (else UTF-8). Raises as `body`."""
        body = await self.body()
        found = _CHARSET.search(self.header("content-type") or "")
        try:
            return body.decode(found[1] if found else "utf-8", "replace")
        except LookupError:
            return body.decode("utf-8", "replace")

    async def json(self) -> Any:
        """Return the body as JSON. Raises as `body`, and BodyUndecodableError (a ValueError) when it is none."""
        body = await self.body()
        try:
            return msgspec.json.decode(body)
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            raise BodyUndecodableError(url=self.url, read_as="JSON", reason=str(error)) from None


def at_response(paused: RequestPaused) -> bool:
    """Tell whether the response has begun, or the request failed."""
    return paused.response_error_reason is not None or paused.response_status_code is not None


def to_request(paused: RequestPaused, target_id: str) -> InterceptedRequest:
    """Return the request that is held."""
    request = paused.request
    return InterceptedRequest(
        url=request.url,
        method=request.method,
        headers=request.headers,
        post_data=_posted(request),
        has_post_data=request.has_post_data,
        resource_type=paused.resource_type,
        frame_id=paused.frame_id,
        target_id=target_id,
        redirected=paused.redirected_request_id is not None,
    )


def to_response(paused: RequestPaused, read: Callable[[], Awaitable[bytes]]) -> InterceptedResponse:
    """Return the response that is held, whose body `read` reads."""
    return InterceptedResponse(
        url=paused.request.url,
        status=paused.response_status_code or 0,
        status_text=paused.response_status_text,
        header_list=tuple((header.name, header.value) for header in paused.response_headers),
        failure=paused.response_error_reason or "",
        read=read,
    )


def _posted(request: PausedRequest) -> bytes | None:
    if request.post_data_entries:
        try:
            return b"".join(base64.b64decode(entry.bytes) for entry in request.post_data_entries)
        except binascii.Error:
            return None
    return None if request.post_data is None else request.post_data.encode()
