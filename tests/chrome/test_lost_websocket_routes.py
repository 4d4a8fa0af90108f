"""Websocket routes whose program is killed or stopped: the page's own log shows what its websockets do."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
import trio
from network_site import Site
from pytest_httpserver import HTTPServer
from websocket_site import OPEN, WebSocketSite, page_log, until, websocket_site

import cdpengine

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="Windows lacks these signals")

PROGRAM = """
import sys, trio, cdpengine

async def answer(route):
    await route.send("routed")
    async for message in route:
        await route.send("routed " + message)

async def main(endpoint, target_id):
    async with cdpengine.connect(endpoint) as browser:
        page = next(page for page in browser.pages if page.target_id == target_id)
        await page.route_websocket("ws://*", answer)
        print("ready", flush=True)
        await trio.sleep_forever()

trio.run(main, *sys.argv[1:])
"""

KEEP = """(() => {
    self.earlier = [];
    socket.onerror = null;
    socket.onclose = (event) => earlier.push(`close ${event.code}`);
})()"""
"""Log the end of the present websocket elsewhere."""

IS_NATIVE = "String(WebSocket).includes('native')"


@pytest.fixture
async def sockets() -> AsyncIterator[WebSocketSite]:
    async with websocket_site() as site:
        yield site


@pytest.fixture
def site(httpserver: HTTPServer) -> Site:
    return Site(httpserver)


@asynccontextmanager
async def routing_program(endpoint: str, page: cdpengine.Page) -> AsyncIterator[trio.Process]:
    """Run a program that routes the websockets of a page. It is killed at the end."""
    command = [sys.executable, "-c", PROGRAM, endpoint, page.target_id]
    process = await trio.lowlevel.open_process(command, stdout=subprocess.PIPE)
    assert process.stdout is not None
    try:
        with trio.fail_after(60):
            assert (await process.stdout.receive_some()).startswith(b"ready")
        yield process
    finally:
        process.kill()
        await process.wait()


async def test_websockets_reach_their_server_after_the_routing_program_was_killed(
    page: cdpengine.Page, site: Site, sockets: WebSocketSite, shared_endpoint: str
) -> None:
    await page.goto(site.url)
    async with routing_program(shared_endpoint, page) as process:
        await page.evaluate(OPEN, sockets.url)
        assert await page_log(page, 2) == ["open ", "message routed"]
        await page.evaluate(KEEP)
    assert process.returncode == -signal.SIGKILL
    await page.evaluate("document.title = document.documentElement.childNodes.length; 1")
    assert await page.evaluate(OPEN, sockets.url + "after", timeout=20) == ["open "]
    await page.evaluate("socket.send('x')")
    assert (await page_log(page, 2))[-1] == "message X"
    assert sockets.log == ["open /after", "message 'x'"]
    assert await page.evaluate("earlier") == ["close 1006"]
    assert await page.evaluate(IS_NATIVE)
    assert await page.evaluate("document.title == document.documentElement.childNodes.length")
    await page.evaluate(OPEN, sockets.url + "native")
    assert sockets.log[-1] == "open /native"


async def test_a_used_websocket_fails_after_the_routing_program_was_killed(
    page: cdpengine.Page, site: Site, sockets: WebSocketSite, shared_endpoint: str
) -> None:
    await page.goto(site.url)
    async with routing_program(shared_endpoint, page):
        await page.evaluate(OPEN, sockets.url)
        await page.evaluate("socket.send('one')")
        assert await page_log(page, 3) == ["open ", "message routed", "message routed one"]
        await trio.sleep(4)  # the page's latest question is answered
    await page.evaluate("socket.send('two')")
    assert (await page_log(page, 5))[3:] == ["error", "close 1006  false"]
    assert not sockets.log


async def test_a_stopped_program_keeps_its_routes(
    page: cdpengine.Page, site: Site, sockets: WebSocketSite, shared_endpoint: str
) -> None:
    await page.goto(site.url)
    async with routing_program(shared_endpoint, page) as process:
        process.send_signal(signal.SIGSTOP)
        await page.evaluate(OPEN.replace("socket.onopen", "resolve(log); socket.onopen"), sockets.url)
        await trio.sleep(8)
        assert await page.evaluate("socket.readyState") == 0
        process.send_signal(signal.SIGCONT)
        assert await page_log(page, 2) == ["open ", "message routed"]
    assert not sockets.log


@pytest.mark.slow
async def test_websockets_of_a_worker_reach_their_server_after_30_seconds(
    page: cdpengine.Page, site: Site, sockets: WebSocketSite, shared_endpoint: str
) -> None:
    await page.goto(site.url)
    async with page.expect_worker() as expected:
        await page.evaluate("self.worker = new Worker('/worker.js'); 1")
    worker = expected.value
    async with routing_program(shared_endpoint, page):
        assert await worker.evaluate(OPEN, sockets.url) == ["open "]
        await worker.evaluate(KEEP)
    assert await worker.evaluate(OPEN, sockets.url + "after", timeout=60) == ["open "]
    assert await worker.evaluate(IS_NATIVE)
    await until(lambda: sockets.log)
    assert sockets.log == ["open /after"]
