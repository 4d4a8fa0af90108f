"""Locators: each action searches for the element again, on pages that redraw their elements repeatedly."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
import trio
from busy_machine import slack

import cdpengine
from cdpengine import Locator, Page

pytestmark = pytest.mark.chrome

GO = "<button id=go onclick='clicked.push(this.dataset.n)'>Go</button>"


async def show(page: Page, html: str) -> None:
    await page.set_content(f"<script>var clicked = []</script><main>{html}</main>")


@pytest.mark.parametrize("ask", [
    lambda page: page.locate("#go"), lambda page: page.locate(role="button"), lambda page: page.locate(name="Go"),
    lambda page: page.locate(text="Go"), lambda page: page.locate("button", nth=0), lambda page: page.locate("button").nth(0),
])  # fmt: skip
async def test_waits_for_element_that_appears_later(page: Page, ask: Callable[[Page], Locator]) -> None:
    await show(page, "")
    go = ask(page)
    await page.evaluate(f"""void setTimeout(() => document.querySelector('main').innerHTML = "{GO}", 200)""")
    outcome = await page.click(go, timeout=10)
    assert outcome.delivered
    assert await page.evaluate("clicked.length") == 1


async def test_locator_is_resolved_at_each_use(page: Page) -> None:
    await show(page, GO)
    go, found = page.locate("#go"), await page.find("#go")
    for number in range(3):
        await page.evaluate(
            f"""void (document.querySelector('main').innerHTML = "{GO}", go.dataset.n = {number})"""
        )
        assert (await page.click(go)).delivered
    assert await page.evaluate("clicked") == ["0", "1", "2"]
    with pytest.raises(cdpengine.errors.StaleRefError):
        await page.click(found)


async def test_element_replaced_during_the_wait_is_resolved_again(page: Page) -> None:
    """The first two are removed before they can be clicked. The third one can be clicked."""
    await show(page, GO.replace("<button", "<button disabled data-n=0"))
    await page.evaluate(f"""void [100, 300].forEach((delay, n) => setTimeout(() => {{
        document.querySelector('main').innerHTML = "{GO}"; go.disabled = n === 0; go.dataset.n = n + 1;
    }}, delay))""")
    assert (await page.click(page.locate("#go"), timeout=10)).delivered
    assert await page.evaluate("clicked") == ["2"]


async def test_a_new_document_has_its_own(page: Page) -> None:
    go = page.locate("#go")
    for number in range(2):
        await page.goto(
            f"data:text/html,<script>var clicked = []</script><button id=go data-n={number}>Go</button>"
        )
        await page.click(go)
        assert await page.evaluate("(button) => button.dataset.n", target=go) == str(number)


async def test_text_is_typed_only_once(page: Page) -> None:
    """The field is replaced at its first key. Whether the page received the key is unknown, so it is not
    repeated.
    """
    field = "<input aria-label=Name oninput='this.parentNode.innerHTML = this.parentNode.innerHTML'>"
    keys = "<script>var keys = []; addEventListener('keydown', (event) => keys.push(event.key))</script>"
    await page.set_content(f"{keys}<main>{field}</main>")
    with suppress(cdpengine.errors.StaleRefError, cdpengine.errors.FocusMovedError):
        await page.type(page.locate("input"), "ada", delay=0.05, timeout=3)
    keys_seen = await page.evaluate("keys")
    assert keys_seen in (["a"], ["a", "d"], ["a", "d", "a"])


@pytest.mark.parametrize(("html", "error"), [
    ("", cdpengine.errors.NodeNotFoundError),
    (GO + GO, cdpengine.errors.AmbiguousNodeError),
])  # fmt: skip
async def test_no_match_and_several_matches_are_errors(
    page: Page, html: str, error: type[cdpengine.errors.EngineError]
) -> None:
    await show(page, html)
    timeout = slack(0.5)
    began = trio.current_time()
    with pytest.raises(error, match="button"):
        await page.click(page.locate(role="button"), timeout=timeout)
    assert trio.current_time() - began < timeout + slack(0.15)
    assert await page.evaluate("clicked") == []


CONTROLS = """<input id=text><input id=box type=checkbox><select id=list><option>a<option>b</select><input id=file type=file>
<button id=go>Go</button><div id=there style='width:50px;height:50px'>There</div>"""

USES: dict[str, Callable[[Page, Callable[[str], Locator]], Awaitable[Any]]] = {
    "click": lambda page, at: page.click(at("go")),
    "double click": lambda page, at: page.double_click(at("go")),
    "hover": lambda page, at: page.hover(at("go")),
    "tap": lambda page, at: page.tap(at("go")),
    "type": lambda page, at: page.type(at("text"), "a"),
    "press": lambda page, at: page.press("a", at("text")),
    "focus": lambda page, at: page.focus(at("text")),
    "fill": lambda page, at: page.fill(at("text"), "a"),
    "check": lambda page, at: page.check(at("box")),
    "select": lambda page, at: page.select(at("list"), "b"),
    "drag": lambda page, at: page.drag(at("go"), at("there")),
    "scroll": lambda page, at: page.scroll(0, 1, target=at("go")),
    "scroll_into_view": lambda page, at: page.scroll_into_view(at("go")),
    "bounding_box": lambda page, at: page.elements.bounding_box(at("go")),
    "outer_html": lambda page, at: page.elements.outer_html(at("go")),
    "blur": lambda page, at: page.elements.blur(at("text")),
    "screenshot": lambda page, at: page.screenshot(target=at("go"), mask=[at("text")]),
    "evaluate": lambda page, at: page.evaluate("(a, b) => a !== b", at("text"), target=at("go")),
    "wait_for": lambda page, at: page.wait_for(ref=at("go"), state="enabled"),
    "snapshot": lambda page, at: page.snapshot(root=at("there")),
}  # fmt: skip


@pytest.mark.sample(3)
@pytest.mark.parametrize("use", USES)
async def test_every_action_accepts_a_locator(page: Page, use: str) -> None:
    await page.set_content(CONTROLS)
    await USES[use](page, lambda element: page.locate(f"#{element}"))
    # The same on new elements.
    await page.set_content(CONTROLS)
    await USES[use](page, lambda element: page.locate(f"#{element}"))


async def test_upload_and_highlight_too(page: Page, tmp_path: Path) -> None:
    await page.set_content(CONTROLS)
    (tmp_path / "a.txt").write_text("a")
    await page.upload(page.locate("#file"), tmp_path / "a.txt")
    assert await page.evaluate("file.files[0].name") == "a.txt"
    async with page.elements.highlight(page.locate("#go")):
        pass
