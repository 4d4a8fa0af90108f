"""Journeys cancelled at their steps in a real browser: nothing stays pressed, set or open, and the page works.

tests/peer/test_cancellation_of_methods.py cancels every method at each of its steps.
"""

from __future__ import annotations

import tempfile
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest
import trio
import trio.testing
from object_calls import running
from pytest_httpserver import HTTPServer
from rounds import one_in, rounds

import cdpengine
from cdpengine import Route
from cdpengine.testing import walk_cancellations

PAGE = """<!doctype html><title>t</title><button id=go>Go</button><input id=name aria-label=Name>
<input id=day type=date><div id=rich contenteditable>old</div><select id=one><option>a<option>b</select>
<input id=file type=file><a id=link href="/file">file</a>
<p id=card draggable=true>card</p><p id=bin>bin</p><div style="height: 3000px"></div><button id=far>Far</button>
<script>
  var clicks = 0, cancels = 0, composing = false, held = new Set();
  for (const [down, up, name] of [["keydown", "keyup", "code"], ["mousedown", "mouseup", "button"]]) {
    addEventListener(down, (event) => held.add(down + event[name]), true);
    addEventListener(up, (event) => held.delete(down + event[name]), true);
  }
  addEventListener("dragend", () => held.clear(), true);
  addEventListener("compositionstart", () => composing = true);
  addEventListener("compositionend", () => composing = false);
  go.onclick = () => clicks++;
  file.oncancel = () => cancels++;
  card.ondragstart = (event) => event.dataTransfer.setData("text/plain", "x");
  bin.ondragover = bin.ondrop = (event) => event.preventDefault();
</script>"""

SETTINGS = """[Intl.DateTimeFormat().resolvedOptions().timeZone, innerWidth, navigator.onLine, typeof tell,
  matchMedia("(prefers-color-scheme: dark)").matches, location.hash]"""


def lasting_tasks() -> list[str]:
    """Return the names of all tasks, except the one that ends 5 s after a click with a key."""
    return [name for name in running() if name != "first requests of tabs"]


class Stage:
    """A page with elements to act on, and a check that it is as good as new."""

    def __init__(self, page: cdpengine.Page, url: str, directory: Path) -> None:
        self.browser = page.browser
        self.page = page
        self.url = url
        self.directory = directory
        self.pages = len(self.browser.pages)
        self.tasks: list[str] = []
        self.settings: object = None

    async def check(self) -> None:
        page = self.page
        with trio.fail_after(40):
            while await page.evaluate(SETTINGS) != self.settings:
                if page.url != self.url:  # the cancelled navigation took place
                    await page.goto(self.url)
            while await page.evaluate("composing || held.size"):
                pass
            clicks, cancels = await page.evaluate("[clicks, cancels]")
            await page.click(page.locate("#go"))
            await page.type(page.locate("#name"), "ab")
            assert await page.evaluate("[clicks, document.getElementById('name').value.slice(-2)]") == [
                clicks + 1,
                "ab",
            ]
            await page.click(page.locate("#file"))  # Chrome cancels an unexpected chooser
            while await page.evaluate("cancels") == cancels:
                pass
            await page.activity.stop()
            while self.left():
                await self.browser.session.call("Browser.getVersion")

    def left(self) -> list[str]:
        page = self.page
        statistics = [connection.statistics() for connection in self.browser.connections]
        found = ["calls"] * sum(each.in_flight + each.queued for each in statistics)
        if (page.mouse.buttons, page.keyboard.modifiers) != (0, 0):
            found.append("keys")
        if len(self.browser.pages) != self.pages:
            found.append("pages")
        if lasting_tasks() != self.tasks:
            found.append("tasks")
        if page.session.feed._streams or page.session.domains.users.keys() - {"Page", "Accessibility"}:
            found.append("subscriptions")
        if any(path.suffix == ".crdownload" for path in self.directory.iterdir()):
            found.append("files")
        return found


@pytest.fixture
async def stage(new_tab: cdpengine.Page, httpserver: HTTPServer, tmp_path: Path) -> Stage:
    headers = {"Content-Disposition": "attachment; filename=file.txt"}
    httpserver.expect_request("/").respond_with_data(PAGE, content_type="text/html")
    httpserver.expect_request("/file").respond_with_data("x" * 1000, headers=headers)
    httpserver.expect_request("/data").respond_with_json({"a": 1})
    stage = Stage(new_tab, httpserver.url_for("/"), tmp_path)
    await new_tab.goto(stage.url)
    stage.settings = await new_tab.evaluate(SETTINGS)
    stage.tasks = lasting_tasks()
    return stage


async def input_(stage: Stage) -> None:
    page = stage.page
    await page.click(page.locate("#go"), modifiers=["Shift"])
    await page.type(page.locate("#name"), "A\u00e9\u4f60!", delay=0.001)
    await page.press("Control+Shift+ArrowLeft", page.locate("#name"))
    await page.keyboard.compose("\u4f60", "n", delay=0.001)
    await page.fill(page.locate("#day"), "2026-01-01")
    await page.fill(page.locate("#rich"), "new")
    await page.select(page.locate("#one"), "b")
    await page.drag(page.locate("#card"), page.locate("#bin"), steps=1)
    async with page.expect_file_chooser() as chooser:
        await page.click(page.locate("#file"))
        await chooser.set_files(__file__)
    await page.scroll_into_view(page.locate("#far"))


async def answer(route: Route) -> None:
    response = await route.fetch()
    await route.fulfill(body=b"made of " + await response.body())


async def blocks(stage: Stage) -> None:
    page = stage.page

    async def tell(value: object) -> object:
        return value

    async with page.route("*/data", answer), page.expect_response("*/data") as expected:
        assert (await page.evaluate("fetch('/data').then((got) => got.text())")).startswith("made of")
    assert await expected.value.text()
    async with (
        page.scripts.expose("tell", tell),
        page.emulation.set(device="Pixel 9", timezone="Asia/Tokyo", color_scheme="dark"),
        page.network.offline(),
    ):
        assert await page.evaluate("tell(navigator.onLine)") is False
    async with page.expect_download(stage.directory) as download:
        await page.click(page.locate("#link"))
    await download.value.wait()
    async with stage.browser.new_context(timezone="Asia/Tokyo") as context:
        await context.new_page()
    await page.screenshot(format="jpeg", quality=10)
    await page.goto(f"{stage.url}#there")
    await page.go_back()


JOURNEYS: dict[str, Callable[[Stage], Awaitable[None]]] = {"input": input_, "blocks": blocks}


@pytest.mark.parametrize("name", JOURNEYS)
async def test_a_cancelled_journey_leaves_nothing(stage: Stage, name: str) -> None:
    with trio.fail_after(85):
        runs = await walk_cancellations(
            lambda: JOURNEYS[name](stage), stage.check, own_steps_only=True, every=one_in(8)
        )
    assert runs > 5


async def test_a_cancelled_close_can_be_repeated(stage: Stage) -> None:
    pages: list[cdpengine.Page] = []

    async def operation() -> None:
        with trio.CancelScope(shield=True):
            pages.append(await stage.browser.new_page())
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
            while lasting_tasks() != stage.tasks:
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
