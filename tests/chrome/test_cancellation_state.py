"""Coroutines of state, emulation and contexts, cancelled at each of their steps: Chrome is as before."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
import trio
from pytest_httpserver import HTTPServer
from rounds import one_in

import cdpengine
from cdpengine import Cookie, StorageState
from cdpengine.storage import OriginState
from cdpengine.testing import walk_cancellations

TELL = """[Intl.DateTimeFormat().resolvedOptions().timeZone, innerWidth, matchMedia("(prefers-color-scheme: dark)").matches,
navigator.userAgent, Intl.DateTimeFormat().resolvedOptions().locale]"""

OTHER = "https://example.com"


class Stage:
    """A context with a page, and their current state."""

    def __init__(self, context: cdpengine.BrowserContext, page: cdpengine.Page, directory: Path) -> None:
        self.browser = context.browser
        self.context = context
        self.page = page
        self.directory = directory
        self.targets = len(context.browser.targets)
        self.expected: Any = None

    async def now(self) -> Any:
        page, context = self.page, self.context
        return (
            await page.evaluate(TELL, timeout=10),
            await page.evaluate("navigator.permissions.query({name: 'camera'}).then((got) => got.state)"),
            set(await context.storage.cookies()),
            await page.storage.local.items(),
            self.browser._state.downloads.allowed(page.context_id),
            [path.name for path in self.directory.iterdir()],
            len((await self.browser.session.call("Target.getBrowserContexts"))["browserContextIds"]),
        )

    async def check(self) -> None:
        with trio.move_on_after(20):
            while await self.now() != self.expected:
                pass  # the viewport changes with the next frames
        assert await self.now() == self.expected
        with trio.fail_after(20):
            while len(self.browser.targets) > self.targets:
                await self.browser.session.call("Browser.getVersion")
        assert len(self.browser._state.emulations._layers) == 0


@pytest.fixture
async def stage(browser: cdpengine.Browser, httpserver: HTTPServer, tmp_path: Path) -> Any:
    httpserver.expect_request("/").respond_with_data(
        "<script>localStorage.kept = '1'</script>", content_type="text/html"
    )
    async with browser.new_context() as context:
        page = await context.new_page(httpserver.url_for("/"))
        await context.storage.set_cookies([Cookie("kept", "1", domain="example.com")])
        stage = Stage(context, page, tmp_path)
        stage.expected = await stage.now()
        yield stage


async def emulate(stage: Stage) -> None:
    async with stage.page.emulation.set(
        device="Pixel 9", timezone="Asia/Tokyo", locale="de-DE", color_scheme="dark"
    ):
        await trio.lowlevel.checkpoint()


async def emulate_to_last(stage: Stage) -> None:
    await stage.page.emulation.set(timezone="Asia/Tokyo", viewport=(500, 400))
    with trio.CancelScope(shield=True):
        await stage.page.emulation.reset()


async def emulate_in_context(stage: Stage) -> None:
    async with stage.context.emulation.set(color_scheme="dark"):
        await trio.lowlevel.checkpoint()


async def permissions(stage: Stage) -> None:
    async with stage.context.emulation.grant_permissions("camera"):
        await trio.lowlevel.checkpoint()


async def downloads(stage: Stage) -> None:
    async with stage.context.allow_downloads(stage.directory):
        await trio.lowlevel.checkpoint()


async def cookies(stage: Stage) -> None:
    await stage.context.storage.set_cookies(
        [Cookie("kept", "2", domain="example.com"), Cookie("new", "3", domain="example.com")]
    )
    with trio.CancelScope(shield=True):
        await stage.context.storage.delete_cookies("new")
        await stage.context.storage.set_cookies([Cookie("kept", "1", domain="example.com")])


async def page_storage(stage: Stage) -> None:
    await stage.page.storage.local.set({"kept": "2", "new": "3"})
    with trio.CancelScope(shield=True):
        await stage.page.storage.local.delete("new")
        await stage.page.storage.local.set({"kept": "1"})


async def origin_storage(stage: Stage) -> None:
    await stage.context.storage.local(OTHER).items()


async def save(stage: Stage) -> None:
    await stage.context.storage.state(stage.directory / "state.json")
    with trio.CancelScope(shield=True):
        await trio.to_thread.run_sync((stage.directory / "state.json").unlink)


async def context(stage: Stage) -> None:
    state = StorageState((Cookie("a", "b", domain="example.com"),), (OriginState(OTHER, {"a": "b"}),))
    async with stage.browser.new_context(
        storage_state=state,
        permissions=["camera"],
        timezone="Asia/Tokyo",
        downloads=stage.directory,
        proxy="direct://",
    ):
        await trio.lowlevel.checkpoint()


OPERATIONS: dict[str, Callable[[Stage], Awaitable[object]]] = {
    "emulate": emulate,
    "emulate to last": emulate_to_last,
    "emulate in a context": emulate_in_context,
    "permissions": permissions,
    "downloads": downloads,
    "cookies": cookies,
    "page storage": page_storage,
    "origin storage": origin_storage,
    "save": save,
    "new context": context,
}


@pytest.mark.sample(4)
@pytest.mark.parametrize("name", OPERATIONS)
async def test_cancelled_at_each_step(stage: Stage, name: str) -> None:
    with trio.fail_after(75):
        runs = await walk_cancellations(
            lambda: OPERATIONS[name](stage), stage.check, own_steps_only=True, every=one_in(8)
        )
    assert runs >= 3
