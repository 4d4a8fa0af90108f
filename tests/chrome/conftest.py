"""Fixtures for tests against a real Chromium: one shared browser, a new tab a test (or a window a file), pages on loopback.

Each test fails when it leaves tasks, pages or pending calls behind.
"""

from __future__ import annotations

import queue
import threading
from collections.abc import AsyncIterator, Iterator
from urllib.parse import urlsplit

import pytest
import trio
from kept_window import Window, close_window, open_window
from pytest_httpserver import HTTPServer

import cdpengine
from cdpengine._launch.endpoint import resolve_endpoint
from cdpengine._launch.process import LaunchOptions, start_browser
from cdpengine._protocol.tap import Traffic


@pytest.fixture(scope="session")
def make_httpserver() -> Iterator[HTTPServer]:
    """The server of the `httpserver` fixture, with a thread a request: pages fetch several things at once."""
    server = HTTPServer(host="127.0.0.1", port=0, threaded=True)
    server.start()
    yield server
    server.clear()
    if server.is_running():
        server.stop()


@pytest.fixture(scope="session")
def shared_endpoint() -> Iterator[str]:
    """A Chromium for the whole run, started in a trio of its own: pytest-trio gives every test a new one.

    Only the process: a second engine on the same pages would answer their dialogs before the test's does.
    """
    ready: queue.Queue[str | BaseException] = queue.Queue()
    stop: list[trio.lowlevel.TrioToken | trio.Event] = []

    async def keep() -> None:
        async with start_browser(LaunchOptions(executable=cdpengine.find_browser().path)) as process:
            event = trio.Event()
            stop.extend([trio.lowlevel.current_trio_token(), event])
            assert process.endpoint is not None
            ready.put(f"http://{urlsplit(process.endpoint).netloc}")
            await event.wait()

    def run() -> None:
        try:
            trio.run(keep)
        except BaseException as error:  # noqa: BLE001 - handed to the main thread
            ready.put(error)

    thread = threading.Thread(target=run, name="shared browser")
    thread.start()
    told = ready.get(timeout=60)
    if isinstance(told, BaseException):
        raise told
    yield told
    token, event = stop
    assert isinstance(token, trio.lowlevel.TrioToken)
    assert isinstance(event, trio.Event)
    token.run_sync_soon(event.set)
    thread.join(30)
    assert not thread.is_alive(), "the shared browser did not end"


@pytest.fixture
async def browser(shared_endpoint: str, wire_log: list[str]) -> AsyncIterator[cdpengine.Browser]:
    """The shared browser, over connections of the test's own."""

    def watch(traffic: Traffic) -> None:
        text = (
            traffic.message
            if isinstance(traffic.message, str)
            else traffic.message.decode("utf-8", "replace")
        )
        arrow = "->" if traffic.direction == "sent" else "<-"
        wire_log.append(f"{traffic.time % 1000:8.3f} {arrow} {text[:400]}")

    tasks = trio.lowlevel.current_statistics().tasks_living
    async with cdpengine.connect(shared_endpoint) as browser:
        with browser.tap.watch(watch):
            pages = {page.target_id for page in browser.pages}
            yield browser
            leaked = [page for page in browser.pages if page.target_id not in pages]
            for page in leaked:
                await page.close()
            assert not leaked, f"the test left pages open: {leaked}"
            # Replies may still be under way for what was sent without being waited for.
            with trio.move_on_after(2):
                while any(connection.statistics().in_flight for connection in browser.connections):
                    await browser.session.call("Browser.getVersion")
            for connection in browser.connections:
                assert connection.statistics().in_flight == 0, "the test left calls pending"
                assert connection.lost is None
                assert connection.statistics().failed_callbacks == 0, "a callback of the engine's own raised"
    assert trio.lowlevel.current_statistics().tasks_living <= tasks, "the test left tasks behind"


@pytest.fixture
async def new_tab(browser: cdpengine.Browser) -> AsyncIterator[cdpengine.Page]:
    """A new tab, closed after the test."""
    page = await browser.new_page()
    yield page
    if not page.closed:
        await page.close()


@pytest.fixture
def page(new_tab: cdpengine.Page) -> cdpengine.Page:
    """A tab of the test's own, where no file or folder says otherwise."""
    return new_tab


@pytest.fixture(scope="module")
def window(shared_endpoint: str) -> Iterator[Window]:
    """A window of the shared browser for all tests of a file."""
    window = trio.run(open_window, trio.run(resolve_endpoint, shared_endpoint).ws_url)
    yield window
    trio.run(close_window, window)


@pytest.fixture
async def kept_page(browser: cdpengine.Browser, window: Window) -> cdpengine.Page:
    """The window's page at an empty document, for files with many small tests, none of which closes it.

    The connection is the test's own, and with it all that lasts as long as a session does.
    """
    page = await browser.wait_for_page(where=lambda page: page.target_id == window.target_id)
    await page.goto("about:blank")
    return page
