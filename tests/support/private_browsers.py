"""An endpoint that gives each connection a separate Chromium, as hosted services do, and a runner for
browserless.

The stand-in requires a token in the query. It answers /json/version with an address that names no browser,
refuses as browserless does (a body that ends with the connection), and ends a browser with its connection.
"""

from __future__ import annotations

import json
import os
import shutil
import socket
import subprocess
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import attrs
import pytest
import trio
from peer_programs import BROWSERLESS
from raw_server import ByteStream, read_request, tcp_server

import cdpengine
from cdpengine._launch.process import LaunchOptions, start_browser

TOKEN = "sesame"
PROGRAM = Path(__file__).parents[1] / "chrome/clients/browserless_server.mjs"
_REFUSED = b"HTTP/1.1 401 Unauthorized\r\nContent-Type: text/plain\r\n\r\nBad or missing authentication."


@attrs.define
class PrivateBrowsers:
    """`port` is the endpoint's port. `started` counts all browsers so far, `running` the current ones."""

    port: int = 0
    started: int = 0
    running: int = 0
    _changed: trio.lowlevel.ParkingLot = attrs.field(factory=trio.lowlevel.ParkingLot, init=False)

    async def wait_for(self, *, running: int) -> None:
        """Wait until at most that many browsers run."""
        while self.running > running:
            await self._changed.park()

    async def serve(self, stream: ByteStream) -> None:
        """Serve one connection."""
        head = await read_request(stream)
        target = urlsplit(head.split(b" ")[1].decode())
        if parse_qs(target.query).get("token") != [TOKEN]:
            await stream.send_all(_REFUSED)
        elif target.path == "/json/version":
            body = json.dumps({"webSocketDebuggerUrl": "ws://0.0.0.0:3000"}).encode()
            await stream.send_all(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%b" % (len(body), body))
        else:
            self.started += 1
            self.running += 1
            try:
                await self._start(stream, head)
            finally:
                self.running -= 1
                self._changed.unpark_all()

    async def _start(self, stream: ByteStream, head: bytes) -> None:
        async with start_browser(LaunchOptions(cdpengine.find_browser().path)) as process:
            assert process.endpoint is not None
            address = urlsplit(process.endpoint)
            assert address.port is not None
            browser = await trio.open_tcp_stream("127.0.0.1", address.port)
            _old, rest = head.split(b"\r\n", 1)
            async with browser, trio.open_nursery() as nursery:
                await browser.send_all(f"GET {address.path} HTTP/1.1\r\n".encode() + rest)

                async def copy(source: trio.abc.ReceiveStream, listener: trio.abc.SendStream) -> None:
                    try:
                        while data := await source.receive_some(65_536):
                            await listener.send_all(data)
                    except trio.BrokenResourceError:
                        pass  # if either end closes, both do
                    nursery.cancel_scope.cancel()

                nursery.start_soon(copy, stream, browser)
                nursery.start_soon(copy, browser, stream)


@asynccontextmanager
async def private_browsers() -> AsyncIterator[PrivateBrowsers]:
    """Run the endpoint while the block runs."""
    browsers = PrivateBrowsers()
    async with tcp_server(browsers.serve) as port:
        browsers.port = port
        yield browsers


@asynccontextmanager
async def run_browserless(folder: Path) -> AsyncIterator[int]:
    """Run browserless on loopback, with its files in `folder`.

    Yield its port. Skips the test if browserless is missing.
    """
    if not (BROWSERLESS / "node_modules").is_dir() or shutil.which("node") is None:
        pytest.skip("browserless is not installed: make test-peers")
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))
        port = held.getsockname()[1]
    routes = folder / "routes"
    routes.mkdir()
    package = BROWSERLESS / "node_modules/@browserless.io/browserless"
    (routes / "chromium").symlink_to(package / "build/routes/chromium")
    program = shutil.copy(PROGRAM, folder)
    (folder / "node_modules").symlink_to(BROWSERLESS / "node_modules")
    own = {
        "CHROMIUM": str(cdpengine.find_browser().path), "ROUTES": str(routes), "TOKEN": TOKEN, "DEBUG": "none",
        "HOST": "127.0.0.1", "PORT": str(port), "DATA_DIR": str(folder), "DOWNLOAD_DIR": str(folder),
    }  # fmt: skip
    process = await trio.lowlevel.open_process(
        ["node", str(program)],
        cwd=BROWSERLESS,
        env=os.environ | own,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
    )
    assert process.stdout is not None
    try:
        with trio.fail_after(60):
            received = b""
            while b"STARTED" not in received:
                chunk = await process.stdout.receive_some()
                assert chunk, received
                received += chunk
        yield port
    finally:
        process.terminate()
        with trio.move_on_after(10, shield=True):
            await process.wait()
        if process.returncode is None:
            process.kill()
