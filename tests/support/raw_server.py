"""A server on loopback that writes raw bytes, without an HTTP library."""

from __future__ import annotations

import base64
import contextlib
import hashlib
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import trio

ByteStream = trio.SocketStream | trio.SSLStream[trio.SocketStream]
Serve = Callable[[ByteStream], Awaitable[None]]

LOOPBACK_TLS = Path(__file__).with_name("loopback_tls.pem")
"""A key and its self-signed certificate for 127.0.0.1 and localhost, for tests only."""


@asynccontextmanager
async def tcp_server(serve: Serve, *, tls: bool = False) -> AsyncIterator[int]:
    """Serve each connection, optionally with TLS by the certificate of LOOPBACK_TLS. Yields the port."""

    async def secured(stream: trio.SocketStream) -> None:
        context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
        context.load_cert_chain(LOOPBACK_TLS)
        await handle(trio.SSLStream(stream, context, server_side=True, https_compatible=True))

    async def handle(stream: ByteStream) -> None:
        async with stream:
            with contextlib.suppress(trio.BrokenResourceError):  # the client may disconnect
                await serve(stream)

    async with trio.open_nursery() as nursery:
        listeners = await trio.open_tcp_listeners(0, host="127.0.0.1")
        nursery.start_soon(trio.serve_listeners, secured if tls else handle, listeners)
        yield listeners[0].socket.getsockname()[1]
        nursery.cancel_scope.cancel()


async def read_request(stream: ByteStream) -> bytes:
    request = b""
    while b"\r\n\r\n" not in request:
        chunk = await stream.receive_some(4096)
        assert chunk
        request += chunk
    return request


def header(request: bytes, name: bytes) -> bytes:
    lines = [line.split(b":", 1) for line in request.split(b"\r\n")[1:] if b":" in line]
    return next(value.strip() for key, value in lines if key.lower() == name.lower())


def accepting(request: bytes) -> bytes:
    key = header(request, b"Sec-WebSocket-Key") + b"258EAFA5-E914-47DA-95CA-C5AB0DC85B11"
    accept = base64.b64encode(hashlib.sha1(key, usedforsecurity=False).digest())
    lines = [
        b"HTTP/1.1 101 X",
        b"Upgrade: websocket",
        b"Connection: Upgrade",
        b"Sec-WebSocket-Accept: " + accept,
    ]
    return b"\r\n".join(lines) + b"\r\n\r\n"


def answering(*parts: bytes, upgrade: bool = False) -> Serve:
    async def serve(stream: ByteStream) -> None:
        request = await read_request(stream)
        await stream.send_all((accepting(request) if upgrade else b"") + b"".join(parts))

    return serve
