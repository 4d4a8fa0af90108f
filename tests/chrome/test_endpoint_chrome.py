"""resolve_endpoint against a real Chromium."""

from __future__ import annotations

import socket
from typing import Any
from urllib.parse import urlsplit

import pytest
import trio
from trio_websocket import open_websocket_url

import cdpengine
from cdpengine._launch.endpoint import resolve_endpoint
from cdpengine._launch.process import LaunchOptions, start_browser

pytestmark = pytest.mark.chrome


async def forward(stream: trio.SocketStream, port: int) -> None:
    """Forward one connection to another port, like a tunnel."""

    async def copy(source: trio.SocketStream, listener: trio.SocketStream) -> None:
        async for chunk in source:
            await listener.send_all(chunk)
        nursery.cancel_scope.cancel()

    async with await trio.open_tcp_stream("127.0.0.1", port) as other, trio.open_nursery() as nursery:
        nursery.start_soon(copy, stream, other)
        nursery.start_soon(copy, other, stream)


async def ask_version(url: str) -> str:
    async with open_websocket_url(url) as websocket:
        await websocket.send_message('{"id": 1, "method": "Browser.getVersion"}')
        return str(await websocket.get_message())


async def test_every_endpoint_notation_reaches_the_browser() -> None:
    with trio.fail_after(30):
        async with start_browser(LaunchOptions(cdpengine.find_browser().path)) as process:
            assert process.endpoint is not None
            port = urlsplit(process.endpoint).port
            path = urlsplit(process.endpoint).path
            for endpoint, host in [
                (f"http://127.0.0.1:{port}", "127.0.0.1"),
                (f"http://localhost:{port}/", "localhost"),
                (f"http://127.0.0.1:{port}/json/version", "127.0.0.1"),
                (process.endpoint, "127.0.0.1"),
            ]:
                resolved = await resolve_endpoint(endpoint)
                assert resolved.ws_url == f"ws://{host}:{port}{path}"
                assert '"product"' in await ask_version(resolved.ws_url)


class Names(trio.abc.HostnameResolver):
    """Resolves every name to 127.0.0.1."""

    async def getaddrinfo(self, host: bytes | None, port: object, *_: object) -> Any:  # noqa: ARG002
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", ("127.0.0.1", port))]

    async def getnameinfo(self, sockaddr: Any, flags: int) -> tuple[str, str]:
        raise NotImplementedError


@pytest.mark.parametrize("named", ["127.0.0.1", "chrome.test"])
async def test_a_forwarded_port_and_a_dns_name(named: str) -> None:
    with trio.fail_after(30):
        async with (
            start_browser(LaunchOptions(cdpengine.find_browser().path)) as process,
            trio.open_nursery() as nursery,
        ):
            assert process.endpoint is not None
            chrome_port = urlsplit(process.endpoint).port
            assert chrome_port is not None

            async def handle(stream: trio.SocketStream) -> None:
                await forward(stream, chrome_port)

            [listener] = await trio.open_tcp_listeners(0, host="127.0.0.1")
            nursery.start_soon(trio.serve_listeners, handle, [listener])
            port = listener.socket.getsockname()[1]
            trio.socket.set_custom_hostname_resolver(Names())
            resolved = await resolve_endpoint(f"http://{named}:{port}")
            assert resolved.ws_url == f"ws://127.0.0.1:{port}{urlsplit(process.endpoint).path}"
            assert '"product"' in await ask_version(resolved.ws_url)
            nursery.cancel_scope.cancel()
