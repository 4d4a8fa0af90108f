"""Finding, waiting and expecting, cancelled at each of their steps: nothing is left behind, and the next one
works.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest
import trio
from pytest_httpserver import HTTPServer
from rounds import one_in

import cdpengine
from cdpengine.testing import walk_cancellations

PAGE = """<!doctype html><title>t</title><button>Go</button><p>text</p><iframe srcdoc="<p>in the frame</p>"></iframe>
<a href="/file">file</a><script>clicks = 0; document.querySelector("button").onclick = () => clicks++</script>"""


class Stage:
    def __init__(self, browser: cdpengine.Browser, page: cdpengine.Page, directory: Path) -> None:
        self.browser = browser
        self.page = page
        self.directory = directory
        self.pages = len(browser.pages)
        self.tasks = 0

    async def check(self) -> None:
        """Check that the cancelled operation left no subscription, task, page or file, and that the page
        works.
        """
        page = self.page
        with trio.fail_after(40):
            before = await page.evaluate("clicks")
            await page.click(await page.find("button"))
            assert await page.evaluate("clicks") == before + 1
            await page.wait_for(text="text", expression="clicks", timeout=20)
            while self.left():
                for (
                    popup
                ) in page.popups:  # on a busy machine a page can appear after all responses of its opener
                    await popup.close()
                await self.browser.session.call("Browser.getVersion")

    def left(self) -> list[str]:
        found = [
            f"{statistics.in_flight} calls, {statistics.queued} queued"
            for connection in self.browser.connections
            if (statistics := connection.statistics()).in_flight or statistics.queued
        ]
        if len(self.browser.pages) != self.pages:
            found.append("pages")
        if trio.lowlevel.current_statistics().tasks_living != self.tasks:
            found.append("tasks")
        sessions = [
            self.page.session,
            *(
                [self.page._core.target.evaluation_session]
                if self.page._core.target.evaluation_session
                else []
            ),
        ]
        if any(session.feed._streams for session in sessions) or set(self.page.session.domains.users) != {
            "Page"
        }:
            found.append("subscriptions")
        downloads = self.browser._state.downloads
        if downloads._open or downloads._awaited or self.page._core.target.dialogs._awaited:
            found.append("expectations")
        if any(path.suffix == ".crdownload" for path in self.directory.iterdir()):
            found.append("files")
        return found


@pytest.fixture
async def stage(
    browser: cdpengine.Browser, page: cdpengine.Page, httpserver: HTTPServer, tmp_path: Path
) -> Stage:
    headers = {"Content-Disposition": "attachment; filename=file.txt"}
    httpserver.expect_request("/").respond_with_data(PAGE, content_type="text/html")
    httpserver.expect_request("/file").respond_with_data("x" * 1000, headers=headers)
    await page.goto(httpserver.url_for("/"))
    stage = Stage(browser, page, tmp_path)
    stage.tasks = trio.lowlevel.current_statistics().tasks_living
    return stage


async def node_later(stage: Stage) -> None:
    with trio.CancelScope(shield=True):
        await stage.page.evaluate(
            "document.querySelector('u')?.remove(), void setTimeout(() => document.body.append(document.createElement('u')), 20)"
        )
    await stage.page.find("u", timeout=20)


async def text_later(stage: Stage) -> None:
    with trio.CancelScope(shield=True):
        script = "document.querySelector('p').textContent = 'text', late = 0, void setTimeout(() => { late = 1; document.querySelector('p').textContent = 'text late' }, 20)"
        await stage.page.evaluate(script)
    await stage.page.wait_for(text="late", css="iframe", expression="late", url="*", timeout=20)


async def never(stage: Stage) -> None:
    with pytest.raises(cdpengine.errors.DeadlineExceededError):
        await stage.page.wait_for(expression="0", network_idle=5, timeout=0.05)


async def popup(stage: Stage) -> None:
    async with stage.page.expect_popup(timeout=20) as expected:
        await stage.page.evaluate("void open('')")
    assert expected.value.opener is stage.page
    with trio.CancelScope(shield=True):
        await expected.value.close()


async def dialog(stage: Stage) -> None:
    async with stage.page.expect_dialog(text="x", timeout=20) as expected:
        assert await stage.page.evaluate("prompt('')") == "x"
    assert expected.value.accepted


async def download(stage: Stage) -> None:
    async with stage.page.expect_download(stage.directory, timeout=20) as expected:
        await stage.page.evaluate("document.querySelector('a').click()")
    await expected.value.wait(timeout=20)


async def cancelled_download(stage: Stage) -> None:
    async with stage.page.expect_download(stage.directory, timeout=20) as expected:
        await stage.page.evaluate("document.querySelector('a').click()")
    await expected.value.cancel(timeout=20)
    async for _progress in expected.value.progresses():
        pass


async def window(stage: Stage) -> None:
    before = await stage.page.window.bounds()
    await stage.page.window.set_bounds(width=before.width)


OPERATIONS: dict[str, Callable[[Stage], Awaitable[object]]] = {
    "find": lambda stage: stage.page.find("button", role="button", name="Go", text="go"),
    "find_all": lambda stage: stage.page.find_all("p"),
    "find later": node_later,
    "wait_for": text_later,
    "wait_for what never comes": never,
    "settled": lambda stage: stage.page.settled(quiet=0.01),
    "popup": popup,
    "dialog": dialog,
    "download": download,
    "cancelled download": cancelled_download,
    "window": window,
}


@pytest.mark.sample(4, start=1)
@pytest.mark.parametrize("name", OPERATIONS)
async def test_cancelled_at_each_step(stage: Stage, name: str) -> None:
    with trio.fail_after(80):
        runs = await walk_cancellations(
            lambda: OPERATIONS[name](stage), stage.check, own_steps_only=True, every=one_in(8)
        )
    assert runs >= 2
