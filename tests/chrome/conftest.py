"""Fixtures for tests against a real Chromium: one shared browser, one window for each file, pages on
loopback.

A test fails if it leaves tasks, pages or pending calls behind.
"""

from __future__ import annotations

import queue
import socket
import threading
import zlib
from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path
from urllib.parse import urlsplit

import pytest
import trio
from cache_login import CONFIG, begin, make_login
from cache_site.server import CacheSite, serve_site
from kept_window import Window
from pytest_httpserver import HTTPServer
from rounds import every_nth
from shared_pipe import SharedPipe
from werkzeug import Request, Response

import cdpengine
from cdpengine._launch.endpoint import resolve_endpoint
from cdpengine._launch.process import LaunchOptions, start_browser
from cdpengine._protocol.instruments import Traffic
from cdpengine.cache import ActionCache, CacheEntry
from cdpengine.cache.learning import elements

BLANK = "/blank-page-of-the-window"
EMPTY = (Path(__file__).parents[1] / "support" / "empty_page.js").read_text("utf-8").strip()


class Server(HTTPServer):
    """The server of the `httpserver` fixture, with a blank page for the window that a file's tests share."""

    def application(self, request: Request) -> Response:
        if request.path == BLANK:  # left out of the request log
            return Response('<link rel=icon href="data:,">', content_type="text/html")
        return super().application(request)


@pytest.fixture
def silent_port() -> Iterator[int]:
    """Port of a server that accepts connections and never responds."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield server.getsockname()[1]


@pytest.fixture(scope="session")
def make_httpserver() -> Iterator[HTTPServer]:
    """The server, with a thread for each request, because pages fetch several resources in parallel."""
    server = Server(host="127.0.0.1", port=0, threaded=True)
    server.start()
    yield server
    server.clear()
    if server.is_running():
        server.stop()


@pytest.fixture
def serve(httpserver: HTTPServer) -> Callable[..., str]:
    """Make the test server serve only this page, and return its URL."""

    def serve(html: str, path: str = "/login") -> str:
        httpserver.clear()
        httpserver.expect_request(path).respond_with_data(html, content_type="text/html; charset=utf-8")
        return httpserver.url_for(path)

    return serve


@pytest.fixture(scope="session")
def shared_pipe() -> Iterator[SharedPipe]:
    """A Chromium for the whole run, started in a separate trio run because pytest-trio starts one for each
    test.

    Only the process is shared. A second engine on the same pages would answer their dialogs before the test's
    engine.
    """
    ready: queue.Queue[SharedPipe | BaseException] = queue.Queue()
    stop: list[trio.lowlevel.TrioToken | trio.Event] = []

    async def keep() -> None:
        options = LaunchOptions(executable=cdpengine.find_browser().path, transport="pipe", debugging_port=0)
        async with start_browser(options) as process, trio.open_nursery() as nursery:
            event = trio.Event()
            stop.extend([trio.lowlevel.current_trio_token(), event])
            assert process.pipe is not None
            pipe = SharedPipe(process.pipe, process.endpoint)
            await nursery.start(pipe.serve)
            ready.put(pipe)
            await event.wait()
            nursery.cancel_scope.cancel()

    def run() -> None:
        try:
            trio.run(keep)
        except BaseException as error:  # noqa: BLE001 - raised in the main thread
            ready.put(error)

    thread = threading.Thread(target=run, name="shared browser")
    thread.start()
    reply = ready.get(timeout=60)
    if isinstance(reply, BaseException):
        raise reply
    yield reply
    token, event = stop
    assert isinstance(token, trio.lowlevel.TrioToken)
    assert isinstance(event, trio.Event)
    token.run_sync_soon(event.set)
    thread.join(30)
    assert not thread.is_alive(), "the shared browser did not end"


@pytest.fixture(scope="session")
def shared_endpoint(shared_pipe: SharedPipe) -> str:
    """Endpoint of the shared browser's debugging port, which it has in addition to its pipe."""
    assert shared_pipe.endpoint is not None
    return f"http://{urlsplit(shared_pipe.endpoint).netloc}"


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Run a test marked `transport("pipe", "websocket")` over one of them, or over each with `each=True` or
    `--run-slow`.

    The test's name decides, so about half of a file's tests run over each transport.
    """
    mark = metafunc.definition.get_closest_marker("transport")
    has_table = any("transport" in table.args[0] for table in metafunc.definition.iter_markers("parametrize"))
    if mark is not None and len(mark.args) > 1 and "transport" in metafunc.fixturenames and not has_table:
        name = metafunc.definition.originalname
        some = every_nth(len(mark.args), mark.args, start=zlib.crc32(name.encode()))
        metafunc.parametrize("transport", mark.args if mark.kwargs.get("each") else some)


@pytest.fixture
def transport(request: pytest.FixtureRequest) -> str:
    """The transport of the test's browser: from its mark, from `--transport`, or "pipe", the default of
    `launch`.
    """
    mark = request.node.get_closest_marker("transport")
    if mark is not None:
        return str(mark.args[0])
    return str(request.config.getoption("--transport") or "pipe")


@pytest.fixture
async def browser(
    shared_pipe: SharedPipe, shared_endpoint: str, transport: str, wire_log: list[str]
) -> AsyncIterator[cdpengine.Browser]:
    """The shared browser, over its pipe or over the test's own connections."""

    def watch(traffic: Traffic) -> None:
        text = (
            traffic.message
            if isinstance(traffic.message, str)
            else traffic.message.decode("utf-8", "replace")
        )
        arrow = "->" if traffic.direction == "sent" else "<-"
        wire_log.append(f"{traffic.time % 1000:8.3f} {arrow} {text[:400]}")

    tasks = trio.lowlevel.current_statistics().tasks_living
    opened = shared_pipe.open() if transport == "pipe" else cdpengine.connect(shared_endpoint)
    async with opened as browser:
        with browser.instruments.attached(watch):
            pages = {page.target_id for page in browser.pages}
            yield browser
            leaked = [page for page in browser.pages if page.target_id not in pages]
            for page in leaked:
                await page.close()
            assert not leaked, f"the test left pages open: {leaked}"
            # Responses to commands that were sent without waiting may still be on their way.
            with trio.move_on_after(2):
                while any(connection.statistics().in_flight for connection in browser.connections):
                    await browser.session.call("Browser.getVersion")
            for connection in browser.connections:
                assert connection.statistics().in_flight == 0, "the test left calls pending"
                assert connection.lost is None
                assert connection.statistics().failed_callbacks == 0, "an engine callback raised"
    assert trio.lowlevel.current_statistics().tasks_living <= tasks, "the test left tasks behind"


@pytest.fixture
async def new_tab(browser: cdpengine.Browser) -> AsyncIterator[cdpengine.Page]:
    """A new tab, closed after the test."""
    page = await browser.new_page()
    yield page
    if not page.closed:
        await page.close()


@pytest.fixture(scope="module")
def window(shared_endpoint: str) -> Iterator[Window]:
    """A window of the shared browser for all tests of a file."""
    window = Window(trio.run(resolve_endpoint, shared_endpoint).ws_url)
    yield window
    trio.run(window.close)


@pytest.fixture
def open_window(window: Window) -> Window:
    """The window, opened again if the test before closed or damaged it."""
    if window.target_id is None:
        trio.run(window.open)
    return window


@pytest.fixture
async def used_page(open_window: Window, browser: cdpengine.Browser) -> AsyncIterator[cdpengine.Page]:
    """The window's page as the test before left it, for tests that begin with a `goto`.

    The connection, and all state that lasts as long as a session, belongs to the test alone.
    """
    page = await browser.wait_for_page(where=lambda page: page.target_id == open_window.target_id)
    yield page
    if page.closed or page.session.crashed:
        open_window.target_id = None


@pytest.fixture
async def kept_page(
    used_page: cdpengine.Page, open_window: Window, make_httpserver: HTTPServer
) -> cdpengine.Page:
    """The window's page with a blank document of the test server's origin, so its pages need no other
    process.

    Reuses the document of the test before if it can be emptied completely. A new document costs half the time
    of a small test.
    """
    if not await emptied(used_page, open_window, make_httpserver.url_for(BLANK)):
        try:
            await used_page.goto(make_httpserver.url_for(BLANK))
        except cdpengine.errors.NavigationFailedError:
            # A late navigation of the last test's page replaced it.
            await used_page.goto(make_httpserver.url_for(BLANK))
        new = await used_page.session.call("Runtime.evaluate", expression=f"{EMPTY}()", returnByValue=True)
        open_window.blank = new["result"]["value"]
    return used_page


async def emptied(page: cdpengine.Page, window: Window, url: str) -> bool:
    """Empty the blank document that the test before began with. Return whether that suffices."""
    before, window.blank = window.blank, None
    if before is None or page.url != url or page.internals.target.worker_sessions:
        return False
    call = page.session.call
    try:
        with trio.fail_after(0.5):
            declared = await call("Runtime.globalLexicalScopeNames")
            empty = f"{EMPTY}({', '.join(map(str, before))})"
            left = await call("Runtime.evaluate", expression=empty, returnByValue=True)
    except (cdpengine.errors.EngineError, trio.TooSlowError):
        return False  # a `goto` recovers a hung page
    if not declared["names"]:
        window.blank = left["result"].get("value")
    return window.blank is not None


@pytest.fixture
def page(kept_page: cdpengine.Page) -> cdpengine.Page:
    """The page of most tests; a file or folder can override it."""
    return kept_page


# --- the action cache ----------------------------------------------------------------------------------------


@pytest.fixture
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make learning not wait for a page at rest, for tests that only check the learned requests."""
    monkeypatch.setattr(elements, "SETTLING", 0)


@pytest.fixture
async def site() -> AsyncIterator[CacheSite]:
    """The cache's demo site."""
    async with serve_site() as served:
        yield served


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """The path of the cache."""
    return tmp_path / "cache.sqlite3"


@pytest.fixture
async def cache(file: Path) -> AsyncIterator[ActionCache]:
    """An empty cache."""
    async with ActionCache.open(file, config=CONFIG) as opened:
        yield opened


@pytest.fixture
async def known(page: cdpengine.Page, site: CacheSite, cache: ActionCache) -> CacheEntry:
    """A cache that knows the login. The page shows the login form."""
    await begin(page, site)
    return await cache.store.put(await make_login(page, site))
