"""Pending calls when the browser, page or connection dies: each one ends immediately with a named error."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import AsyncIterator, Awaitable, Callable
from functools import partial

import pytest
import trio
import trio.testing
from pytest_httpserver import HTTPServer
from rounds import slow_but
from werkzeug import Request, Response

import cdpengine

pytestmark = pytest.mark.transport("pipe", "websocket", each=True)


@pytest.fixture
def page(new_tab: cdpengine.Page) -> cdpengine.Page:
    return new_tab


Action = Callable[[cdpengine.Page, str], Awaitable[object]]

ACTIONS: dict[str, Action] = {
    "goto": lambda page, slow: page.goto(slow),
    "snapshot": lambda page, _slow: snapshot_for_ever(page),
    "evaluate": lambda page, _slow: page.evaluate("while (true) {}"),
    "awaited promise": lambda page, _slow: page.evaluate("new Promise(() => {})"),
    "click": lambda page, _slow: page.click(page_button(page)),
    "raw call": lambda page, _slow: page.session.call("Runtime.evaluate", expression="for (;;);"),
    "wait for an event": lambda page, _slow: page.session.wait_for("Page.loadEventFired"),
    "wait for a page": lambda page, _slow: page.browser.wait_for_page(opener=page),
    "new page": lambda page, _slow: open_pages_for_ever(page.browser),
}


async def snapshot_for_ever(page: cdpengine.Page) -> None:
    while True:
        await page.snapshot()
        UNDER_WAY.set()


async def open_pages_for_ever(browser: cdpengine.Browser) -> None:
    while True:
        await (await browser.new_page()).close()
        UNDER_WAY.set()


async def under_way(name: str) -> None:
    """Wait until the action is at work: it waits for Chrome, or loops."""
    if name in ("snapshot", "new page"):
        await UNDER_WAY.wait()
    else:
        await trio.testing.wait_all_tasks_blocked(0.05)


def page_button(page: cdpengine.Page) -> cdpengine.Ref:
    return BUTTONS[page.target_id]


BUTTONS: dict[str, cdpengine.Ref] = {}
UNDER_WAY = trio.Event()


@pytest.fixture(autouse=True)
def new_event() -> None:
    global UNDER_WAY  # noqa: PLW0603 - the actions are a table of plain functions
    UNDER_WAY = trio.Event()


@pytest.fixture
async def slow(httpserver: HTTPServer) -> AsyncIterator[str]:
    """A URL that does not respond while the test runs."""
    release = threading.Event()

    def answer(_request: Request) -> Response:
        release.wait(30)
        return Response("late")

    httpserver.expect_request("/slow").respond_with_handler(answer)
    yield httpserver.url_for("/slow")
    release.set()


async def ready_page(browser: cdpengine.Browser) -> cdpengine.Page:
    """A page with a button that never stops moving, so that a click on it never ends."""
    page = await browser.new_page()
    await page.set_content(
        "<style>@keyframes m { to { margin-left: 900px } } button { animation: m .7s linear infinite }</style>"
        "<button>Go</button>"
    )
    BUTTONS[page.target_id] = (await page.snapshot()).find(role="button")
    return page


async def browser_pid(browser: cdpengine.Browser) -> int:
    """Return the pid of the browser process, which has replaced the launcher script."""
    reply = await browser.session.call("SystemInfo.getProcessInfo")
    return next(int(each["id"]) for each in reply["processInfo"] if each["type"] == "browser")


KILLED = ("awaited promise", "click", "wait for a page", "new page")
"""The actions during which a usual run kills the browser. The other actions only lose their page in it."""


@pytest.mark.sample(4, start=1)
@pytest.mark.parametrize("name", slow_but(ACTIONS, KILLED))
async def test_killed_browser_ends_every_call_immediately(name: str, slow: str) -> None:
    ended: list[float] = []
    async with cdpengine.launch() as browser:
        page = await ready_page(browser)
        pid = await browser_pid(browser)

        async def act() -> None:
            with pytest.raises(cdpengine.errors.ConnectionLostError) as caught:
                await ACTIONS[name](page, slow)
            ended.append(trio.current_time())
            assert browser.connections[0].name in str(caught.value)

        async with trio.open_nursery() as nursery:
            nursery.start_soon(act)
            await under_way(name)
            os.kill(pid, signal.SIGKILL)
            killed = trio.current_time()
            nursery.cancel_scope.deadline = killed + 10
        assert ended, "it was still waiting after ten seconds"
        assert ended[0] - killed < 5, "the action fails without waiting"
        with pytest.raises(cdpengine.errors.ConnectionLostError):
            await page.title()
    assert not os.path.exists(f"/proc/{pid}"), "no zombie is left"


@pytest.mark.sample(4)
@pytest.mark.parametrize(
    ("way", "name"),
    [
        (way, name)
        for way in ("crash", "close")
        for name in ("goto", "snapshot", "evaluate", "click", "raw call", "wait for an event")
        if (way, name) != ("crash", "goto")  # Chrome refuses: "Page has pending navigations, not killing"
    ],
)
async def test_crashed_page_ends_only_its_calls(
    browser: cdpengine.Browser, page: cdpengine.Page, slow: str, name: str, way: str
) -> None:
    victim = await ready_page(browser)
    # A long-lived call of another tab must not notice.
    bystander = page.session.post(
        "Runtime.evaluate", expression="new Promise(r => go = r)", awaitPromise=True
    )
    ended: list[float] = []

    async def act() -> None:
        with pytest.raises(cdpengine.errors.EngineError) as caught:
            await ACTIONS[name](victim, slow)
        ended.append(trio.current_time())
        errors = (cdpengine.errors.SessionGoneError, cdpengine.errors.EvaluationTerminatedError)
        assert isinstance(caught.value, errors), repr(caught.value)
        if way == "crash":
            assert isinstance(caught.value, cdpengine.errors.TargetCrashedError)

    async with trio.open_nursery() as nursery:
        nursery.start_soon(act)
        await under_way(name)
        if way == "crash":
            with pytest.raises(cdpengine.errors.TargetCrashedError):
                await victim.session.call("Page.crash")
        else:
            await victim.close()
        nursery.cancel_scope.deadline = trio.current_time() + 10
    assert ended, "it was still waiting after ten seconds"
    assert not bystander.done
    await page.evaluate("go(5)")
    assert (await bystander.result())["result"]["value"] == 5
    if way == "crash":
        await victim.close()


async def test_reload_recovers_crashed_page(
    browser: cdpengine.Browser, page: cdpengine.Page, httpserver: HTTPServer
) -> None:
    httpserver.expect_request("/").respond_with_data(
        "<button onclick='n = (self.n || 0) + 1'>Go</button>", content_type="text/html"
    )
    await page.goto(httpserver.url_for("/"))
    for bring_back in (page.reload, partial(page.goto, httpserver.url_for("/"))):
        with pytest.raises(cdpengine.errors.TargetCrashedError):
            await page.session.call("Page.crash")
        with pytest.raises(cdpengine.errors.TargetCrashedError, match="Reload"):
            await page.snapshot()
        await bring_back()
        await page.click((await page.snapshot()).find(role="button"))
        assert await page.evaluate("n") == 1
        with pytest.raises(cdpengine.errors.EvaluationTimeoutError):
            await page.evaluate("while (true) {}", timeout=0.2)
        assert await page.evaluate("document.hasFocus()"), "the reload restored its set-up"


async def test_a_cut_connection_leaves_the_browser_alone(
    browser: cdpengine.Browser, shared_endpoint: str
) -> None:
    async with cdpengine.connect(shared_endpoint) as other:
        page = await other.new_page()
        target_id = page.target_id
        other.connections[0].wire.close()
        with pytest.raises(cdpengine.errors.ConnectionLostError, match="its `async with` block has ended"):
            await page.snapshot()
    ours = await browser.wait_for_page(where=lambda page: page.target_id == target_id)
    assert await ours.evaluate("1 + 1") == 2
    await ours.close()
