"""Activity collectors cancelled at each of their steps: everything is switched off, and the next one works."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest
import trio
from pytest_httpserver import HTTPServer
from rounds import one_in

import cdpengine
from cdpengine.testing import walk_cancellations

PAGE = """<!doctype html><title>t</title><script>console.log("x", {deep: [[1]]}); fetch("/data").then(r => r.text())
addEventListener("error", () => {}); setTimeout(() => { throw new Error("e") }, 0)</script>"""


class Stage:
    def __init__(self, page: cdpengine.Page, url: str, directory: Path) -> None:
        self.page = page
        self.url = url
        self.directory = directory
        self.tasks = trio.lowlevel.current_statistics().tasks_living

    async def check(self) -> None:
        """No setting is on, no task is left, no file is incomplete, and the page works."""
        page = self.page
        with trio.fail_after(20):
            await page.activity.stop()
            assert await page.evaluate("1 + 1", timeout=10) == 2
            assert set(page.session.domains.users) == {"Page"}
            assert not page.activity._collector._on
            assert not [count for count in page.activity._collector._users.values() if count]
            while trio.lowlevel.current_statistics().tasks_living != self.tasks:
                await page.browser.session.call("Browser.getVersion")
            assert not [path for path in self.directory.iterdir() if path.name != "a.har"]


@pytest.fixture
async def stage(page: cdpengine.Page, httpserver: HTTPServer, tmp_path: Path) -> Stage:
    httpserver.expect_request("/").respond_with_data(PAGE, content_type="text/html")
    httpserver.expect_request("/data").respond_with_json({"a": 1})
    httpserver.expect_request("/favicon.ico").respond_with_data("")
    await page.goto(httpserver.url_for("/"))
    return Stage(page, httpserver.url_for("/"), tmp_path)


async def streaming(stage: Stage) -> None:
    async with stage.page.activity.stream("console", "finished", "errors") as stream:
        await stage.page.evaluate("console.log('now')")
        while not isinstance(item := await stream.receive(), cdpengine.ConsoleMessage) or item.text != "now":
            pass


async def collecting(stage: Stage) -> None:
    async with stage.page.activity.collecting(bodies=True) as activity:
        await stage.page.evaluate("fetch('/data').then(r => r.text())")
        assert activity.started
    await stage.page.activity.stop()


async def reading(stage: Stage) -> None:
    await stage.page.activity.start(requests=0)
    message = stage.page.activity.console[-1]
    await message.values()
    await stage.page.activity.errors[-1].read()
    await stage.page.activity.stop()


async def response(stage: Stage) -> None:
    async with stage.page.expect_response("*/data") as expected:
        await stage.page.evaluate("void fetch('/data').then(r => r.text())")
    await expected.value.request.finished()
    assert await expected.value.json() == {"a": 1}
    async with expected.value.stream() as stream:
        assert [piece async for piece in stream]


async def waiting(stage: Stage) -> None:
    # Repeated, because on a busy machine the first one is over before the wait begins.
    with trio.CancelScope(shield=True):
        await stage.page.evaluate("asking = setInterval(() => fetch('/data').then(r => r.text()), 30), 0")
    try:
        found = await stage.page.activity.wait_for_response(timeout=60)
        assert await found.text()
    finally:
        with trio.CancelScope(shield=True):
            await stage.page.evaluate("clearInterval(asking)")


async def archive(stage: Stage) -> None:
    with trio.CancelScope(shield=True):
        await stage.page.activity.start(console=0, errors=0)
        await stage.page.evaluate("fetch('/data').then(r => r.text())")
    assert (await stage.page.activity.har())["log"]["entries"]
    await stage.page.activity.save_har(stage.directory / "a.har")


OPERATIONS: dict[str, Callable[[Stage], Awaitable[object]]] = {
    "stream": streaming,
    "collecting": collecting,
    "values": reading,
    "expect_response": response,
    "wait_for_response": waiting,
    "har": archive,
}


@pytest.mark.sample(3)
@pytest.mark.parametrize("name", OPERATIONS)
async def test_cancelled_at_each_step(stage: Stage, name: str) -> None:
    with trio.fail_after(85):
        runs = await walk_cancellations(
            lambda: OPERATIONS[name](stage), stage.check, own_steps_only=True, every=one_in(8)
        )
    assert runs >= 2
