"""Access control: the token, the Host and Origin headers, and the size and speed of request bodies.

Rule: the guard wraps all routes, so that no route can omit it. A refused request gets an error in the usual form
before the rest of it is read. The module is pure except for reading the body.
"""

from __future__ import annotations

import hmac
from collections.abc import Awaitable, Callable, Mapping, MutableMapping
from typing import Any

import attrs
import trio

from cdpengine import _json
from cdpengine.errors.texts import duration
from cdpengine.service.settings import ServiceSettings

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
Application = Callable[[MutableMapping[str, Any], Receive, Send], Awaitable[None]]

OPEN_PATHS = frozenset({"/healthz"})
"""Paths that need no token: they reveal only that the service is running."""


_FOR_PAGES = (
    (b"access-control-allow-methods", b"GET, POST, DELETE"),
    (
        b"access-control-allow-headers",
        b"authorization, content-type, last-event-id, mcp-session-id, mcp-protocol-version, mcp-method, mcp-name",
    ),
    (b"access-control-expose-headers", b"mcp-session-id"),
    (b"access-control-max-age", b"600"),
)
"""Headers for preflight requests: the methods and headers that a page of an allowed origin may use."""


@attrs.frozen
class Refused:
    """The response to a refused request."""

    status: int
    kind: str
    message: str
    hint: str

    def to_json(self) -> dict[str, Any]:
        """Return the JSON body, in the form of all responses."""
        error = {"kind": self.kind, "message": self.message, "hint": self.hint, "retryable": False}
        return {"ok": False, "error": error}


def check_headers(
    path: str, headers: Mapping[str, str], settings: ServiceSettings, port: int
) -> Refused | None:
    """Return the refusal for a request with these headers (names in lower case), or None if it is allowed."""
    host = headers.get("host", "")
    if not _is_own_host(host, settings, port):
        return Refused(
            403,
            "hostRefused",
            "the request's Host is not a name of this service",
            "Use 127.0.0.1 or localhost, or start the service with that name as one of its hosts.",
        )
    origin = headers.get("origin")
    if origin is not None and origin not in settings.origins:
        return Refused(
            403,
            "originRefused",
            "web pages of this origin may not use this service",
            "Start the service with that origin as one of its origins.",
        )
    if path in OPEN_PATHS:
        return None
    scheme, _, token = headers.get("authorization", "").partition(" ")
    expected = settings.token.encode()
    if scheme.lower() != "bearer" or not hmac.compare_digest(
        token.strip().encode("utf-8", "replace"), expected
    ):
        return Refused(
            401,
            "unauthorized",
            "the request has no valid bearer token" if token else "the request has no bearer token",
            "Send the header Authorization: Bearer TOKEN; the service's token file has it.",
        )
    length = headers.get("content-length", "0")
    if not length.isdecimal() or int(length) > settings.body:
        return too_large(settings)
    return None


def too_large(settings: ServiceSettings) -> Refused:
    """Return the refusal of a body that is too large."""
    return Refused(
        413,
        "tooLarge",
        f"the request's body has more than {settings.body} bytes",
        "Send less in one request.",
    )


def _is_own_host(host: str, settings: ServiceSettings, port: int) -> bool:
    name, colon, port_text = host.rpartition(":")
    if not colon or host.endswith("]"):
        name, port_text = host, ""
    name = name.lower()
    if name in {each.lower() for each in settings.hosts}:
        return True
    return name in {"127.0.0.1", "localhost", "[::1]", settings.host} and port_text in ("", str(port))


@attrs.define(eq=False)
class Guard:
    """An ASGI application that checks requests before the wrapped one. `port` is the port of the service."""

    _inner: Application
    _settings: ServiceSettings
    port: int = 0

    async def __call__(self, scope: MutableMapping[str, Any], receive: Receive, send: Send) -> None:
        """Refuse a request, or pass it on with its body."""
        if scope["type"] != "http":
            if scope["type"] == "websocket":
                await send({"type": "websocket.close", "code": 1008})
                return
            await self._inner(scope, receive, send)
            return
        headers = {
            name.decode("latin-1").lower(): value.decode("latin-1") for name, value in scope["headers"]
        }
        refused = check_headers(scope["path"], headers, self._settings, self.port)
        if refused is None or refused.kind not in ("hostRefused", "originRefused"):
            send = _allowing_origin(headers, send)
            if scope["method"] == "OPTIONS" and "access-control-request-method" in headers:
                # A preflight request: browsers send it without a token.
                await send({"type": "http.response.start", "status": 204, "headers": []})
                await send({"type": "http.response.body", "body": b""})
                return
        if refused is not None:
            await answer(send, refused)
            return
        body = await self._read_body(receive)
        if isinstance(body, Refused):
            await answer(send, body)
        elif body is not None:
            await self._inner(scope, _replay(body, receive), send)

    async def _read_body(self, receive: Receive) -> bytes | Refused | None:
        """Return the body, the refusal, or None if the client disconnected."""
        body = bytearray()
        with trio.move_on_after(self._settings.body_time):
            while True:
                message = await receive()
                if message["type"] == "http.disconnect":
                    return None
                body += message.get("body", b"")
                if len(body) > self._settings.body:
                    return too_large(self._settings)
                if not message.get("more_body", False):
                    return bytes(body)
        seconds = self._settings.body_time
        return Refused(
            408, "tooSlow", f"the request's body did not arrive within {duration(seconds)}", "Send it faster."
        )


def _allowing_origin(headers: Mapping[str, str], send: Send) -> Send:
    """Return a `send` that adds the headers which let a page of an allowed origin read the response."""
    origin = headers.get("origin")
    if origin is None:
        return send
    more = [(b"access-control-allow-origin", origin.encode("latin-1")), (b"vary", b"Origin"), *_FOR_PAGES]
    if headers.get("access-control-request-private-network") == "true":
        more.append((b"access-control-allow-private-network", b"true"))

    async def send_allowing(message: Message) -> None:
        if message["type"] == "http.response.start":
            message = {**message, "headers": [*message.get("headers", []), *more]}
        await send(message)

    return send_allowing


def _replay(body: bytes, receive: Receive) -> Receive:
    """Return a `receive` that returns the body first, and then the later messages, such as a disconnect."""
    given = False

    async def replay() -> Message:
        nonlocal given
        if given:
            return await receive()
        given = True
        await trio.lowlevel.checkpoint()
        return {"type": "http.request", "body": body, "more_body": False}

    return replay


async def answer(send: Send, refused: Refused) -> None:
    """Send the response to a refused request."""
    body = _json.encode(refused.to_json())
    headers = [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode())]
    if refused.status == 401:
        headers.append((b"www-authenticate", b"Bearer"))
    if refused.status in (408, 413):
        headers.append((b"connection", b"close"))
    await send({"type": "http.response.start", "status": refused.status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
