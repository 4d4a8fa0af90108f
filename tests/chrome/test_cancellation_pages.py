"""Every public coroutine, cancelled at each of its steps: the page works, and nothing is left behind."""

from __future__ import annotations

import tempfile
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest
import trio
import trio.testing
from pytest_httpserver import HTTPServer
from rounds import one_in, rounds

import cdpengine
from cdpengine.testing import walk_cancellations

PAGE = """<!doctype html><title>t</title><button>Go</button><input aria-label=Name>
<div style="height: 3000px"></div><button>Far</button>
<script>
  clicks = 0;
  held = new Set();
  for (const [down, up, name] of [["keydown", "keyup", "code"], ["mousedown", "mouseup", "button"]]) {
    addEventListener(down, (event) => held.add(down + event[name]), true);
    addEventListener(up, (event) => held.delete(down + event[name]), true);
  }
  document.querySelector("button").onclick = () => clicks++;
</script>"""


class Stage:
    """A page with elements to act on, and a check that it is as good as new."""

    def __init__(self, browser: cdpengine.Browser, page: cdpengine.Page, url: str) -> None:
        self.browser = browser
        self.page = page
        self.url = url
        self.pages = len(browser.pages)
        self.tasks = 0

    async def reset(self) -> None:
        await self.page.goto(self.url, timeout=10)
        snapshot = await self.page.snapshot()
        self.go, self.far = snapshot.find_all(role="button")
        self.name = snapshot.find(role="textbox")

    async def check(self) -> None:
        """Check that the cancelled operation left nothing pressed, nothing pending and a usable page."""
        page = self.page
        assert page.mouse.buttons == 0
        assert await page.evaluate("[...(self.held || [])]", timeout=20) == []
        assert len(page.dialogs.records) == 0
        if not await page.evaluate("'clicks' in self && document.readyState == 'complete'", timeout=20):
            await self.reset()
        before = await page.evaluate("clicks", timeout=20)
        await page.click((await page.snapshot(timeout=20)).find(role="button", name="Go"), timeout=20)
        assert await page.evaluate("clicks", timeout=20) == before + 1
        with trio.fail_after(20):
            while self.left():
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
        if self.page.session.feed._streams or self.page.session.domains.users.keys() - {
            "Page",
            "Accessibility",
        }:
            found.append("subscriptions")
        return found


@pytest.fixture
async def stage(browser: cdpengine.Browser, page: cdpengine.Page, httpserver: HTTPServer) -> Stage:
    httpserver.expect_request("/").respond_with_data(PAGE, content_type="text/html")
    stage = Stage(browser, page, httpserver.url_for("/"))
    await stage.reset()
    stage.tasks = trio.lowlevel.current_statistics().tasks_living
    return stage


async def new_page(stage: Stage) -> None:
    page = await stage.browser.new_page(stage.url, viewport=(800, 600))
    with trio.CancelScope(shield=True):  # from here on the caller must close it
        await page.close()


async def new_context(stage: Stage) -> None:
    async with stage.browser.new_context() as context:
        await context.new_page()


async def wait_for_page(stage: Stage) -> None:
    assert await stage.browser.wait_for_page(where=lambda page: page is stage.page) is stage.page


async def history(stage: Stage) -> None:
    await stage.page.goto(stage.url + "#there")
    await stage.page.go_back()
    await stage.page.go_forward()


async def subscribe(stage: Stage) -> None:
    async with stage.page.session.subscribe("Network.*", "Runtime.*") as events:
        await stage.page.evaluate("void fetch('/')")
        await events.receive()


async def hang(stage: Stage) -> None:
    with pytest.raises(cdpengine.errors.EvaluationTimeoutError):
        await stage.page.evaluate("while (true) {}", timeout=0.05)


OPERATIONS: dict[str, Callable[[Stage], Awaitable[object]]] = {
    "goto": lambda stage: stage.page.goto(stage.url),
    "reload": lambda stage: stage.page.reload(),
    "history": history,
    "set_content": lambda stage: stage.page.set_content(PAGE),
    "title": lambda stage: stage.page.title(),
    "content": lambda stage: stage.page.content(),
    "bring_to_front": lambda stage: stage.page.bring_to_front(),
    "snapshot": lambda stage: stage.page.snapshot(),
    "screenshot": lambda stage: stage.page.screenshot(format="jpeg", quality=10),
    "labelled_screenshot": lambda stage: stage.page.pictures.labelled_screenshot(),
    "extract_text": lambda stage: stage.page.extract_text(),
    "extract_markdown": lambda stage: stage.page.extract_markdown(stage.go),
    "outer_html": lambda stage: stage.page.elements.outer_html(stage.go),
    "pdf": lambda stage: stage.page.pdf(),
    "click": lambda stage: stage.page.click(stage.go),
    "click far away": lambda stage: stage.page.click(stage.far, modifiers=["Shift"]),
    "double_click": lambda stage: stage.page.double_click(stage.go),
    "hover": lambda stage: stage.page.hover(stage.go),
    "type": lambda stage: stage.page.type(stage.name, "Aé!", submit=True),
    "type slowly": lambda stage: stage.page.type(stage.name, "AB", delay=0.001),
    "press": lambda stage: stage.page.press("Control+Shift+A", stage.name),
    "focus": lambda stage: stage.page.focus(stage.name),
    "scroll_into_view": lambda stage: stage.page.scroll_into_view(stage.far),
    "set_viewport": lambda stage: stage.page.emulation.set_viewport(700, 500),
    "evaluate": lambda stage: stage.page.evaluate("async (a) => a", 5),
    "evaluate on a node": lambda stage: stage.page.evaluate("(el) => el.tagName", target=stage.go),
    "evaluate what hangs": hang,
    "new_page": new_page,
    "new_context": new_context,
    "wait_for_page": wait_for_page,
    "subscribe": subscribe,
    "session.call": lambda stage: stage.page.session.call("Runtime.evaluate", expression="1"),
}


@pytest.mark.sample(4, start=1)
@pytest.mark.parametrize("name", OPERATIONS)
async def test_cancelled_at_each_step(stage: Stage, name: str) -> None:
    async def operation() -> None:
        if stage.page.frames[0].loader_id != stage.go.loader_id:
            with trio.CancelScope(shield=True):
                await stage.reset()
        await OPERATIONS[name](stage)

    with trio.fail_after(60):
        assert await walk_cancellations(operation, stage.check, own_steps_only=True, every=one_in(8)) >= 2


async def test_close_cancelled_at_each_step(browser: cdpengine.Browser, stage: Stage) -> None:
    pages: list[cdpengine.Page] = []

    async def operation() -> None:
        with trio.CancelScope(shield=True):
            pages.append(await browser.new_page())
        await pages[-1].close()

    async def check() -> None:
        await pages.pop().close(timeout=20)
        await stage.check()

    with trio.fail_after(60):
        assert await walk_cancellations(operation, check, own_steps_only=True, every=one_in(8)) >= 3


async def test_connect_cancelled_at_each_step(stage: Stage, shared_endpoint: str) -> None:
    async def operation() -> None:
        async with cdpengine.connect(shared_endpoint) as browser:
            assert browser.page(stage.page.target_id) is not None or browser.pages == []

    async def check() -> None:
        with trio.fail_after(20):
            while trio.lowlevel.current_statistics().tasks_living != stage.tasks:
                await stage.browser.session.call("Browser.getVersion")

    with trio.fail_after(60):
        assert await walk_cancellations(operation, check, own_steps_only=True, every=one_in(3)) > 5
    await stage.check()


@pytest.mark.sample(3, start=1)
@pytest.mark.parametrize("transport", ["websocket", "pipe"])
async def test_launch_cancelled_on_its_way(
    transport: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Sampled, because each start is expensive. Every test checks that no process is left."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    tasks = trio.lowlevel.current_statistics().tasks_living
    started = trio.current_time()
    async with cdpengine.launch(transport=transport):  # type: ignore[arg-type]
        took = trio.current_time() - started
        assert list(tmp_path.iterdir()), "profiles are created here, so a leftover would be seen"
    shares = (0, 0.05, 0.3, 0.6, 0.9, 0.97)
    # A usual run tests every second step over each transport: the pipe covers the steps that the websocket
    # skips.
    for share in shares[rounds(int(transport == "pipe"), 0) :: rounds(2, 1)]:
        with trio.move_on_after(took * share):
            async with cdpengine.launch(transport=transport):  # type: ignore[arg-type]
                pass
        assert list(tmp_path.iterdir()) == []
        # The task that watches for ending signals was cancelled when the block ended. It finishes now.
        await trio.testing.wait_all_tasks_blocked()
        assert trio.lowlevel.current_statistics().tasks_living == tasks
