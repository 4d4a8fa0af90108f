"""Fetch: requests that Chrome pauses until they are answered."""

from __future__ import annotations

import msgspec

from cdpengine._protocol.domains import event
from cdpengine._protocol.domains.network import Request


class HeaderEntry(msgspec.Struct):
    """One header: a name may occur more than once."""

    name: str
    value: str = ""


@event("Fetch.requestPaused", brief=True)
class RequestPausedId(msgspec.Struct, rename="camel"):
    """The id of a paused request: enough to continue it if the other fields are undecodable."""

    request_id: str


@event("Fetch.requestPaused")
class RequestPaused(RequestPausedId, rename="camel"):
    """A request is paused: before it is sent or, if it has a `response_...`, before the page gets the answer."""

    request: Request
    frame_id: str = ""
    resource_type: str = "Other"
    response_error_reason: str | None = None
    response_status_code: int | None = None
    response_status_text: str = ""
    response_headers: list[HeaderEntry] = []
    redirected_request_id: str | None = None


class AuthChallenge(msgspec.Struct):
    """A demand for credentials: its origin, and its source, "Server" or "Proxy"."""

    origin: str = ""
    source: str = "Server"


@event("Fetch.authRequired")
class AuthRequired(msgspec.Struct, rename="camel"):
    """A request needs credentials."""

    request_id: str
    auth_challenge: AuthChallenge = msgspec.field(default_factory=AuthChallenge)
