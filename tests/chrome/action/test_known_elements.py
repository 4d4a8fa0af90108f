"""Actions on elements of a snapshot use its walk: no command resolves the node, and no other node is hit."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

import pytest
from pytest_httpserver import HTTPServer

import cdpengine
from cdpengine import Page, Ref
from cdpengine._snapshot.sources.walk import list_walks

SHOP = """<input id=name aria-label=Name><select id=size aria-label=Size><option>S<option>M</select>
<button id=go onclick='n++'>Go</button><button id=other>Other</button><script>n = 0</script>"""

Act = Callable[[Page, Ref], Awaitable[object]]

ACTS: dict[str, tuple[str, Act, str, object]] = {
    "click": ("button", lambda page, ref: page.click(ref), "n", 2),
    "hover": (
        "button",
        lambda page, ref: page.hover(ref),
        "document.querySelector('#go:hover') !== null",
        True,
    ),
    "fill": (
        "textbox",
        lambda page, ref: page.fill(ref, "Ada"),
        "document.getElementById('name').value",
        "Ada",
    ),
    "type": ("textbox", lambda page, ref: page.type(ref, "x"), "document.getElementById('name').value", "xx"),
    "press": (
        "textbox",
        lambda page, ref: page.press("a", ref),
        "document.getElementById('name').value",
        "aa",
    ),
    "focus": ("textbox", lambda page, ref: page.focus(ref), "document.activeElement.id", "name"),
}


async def seen(page: Page, httpserver: HTTPServer, role: str) -> Ref:
    """Look at the page once the engine's functions are in its world, and return a ref."""
    httpserver.expect_request("/").respond_with_data(SHOP, content_type="text/html")
    await page.goto(httpserver.url_for("/"))
    snapshot = await page.snapshot()
    await page.hover(snapshot.find(role="button", name="Other"))
    return snapshot.find(role=role, name={"button": "Go", "textbox": "Name"}[role])


@pytest.mark.parametrize("collected", [False, True])
@pytest.mark.parametrize("verb", ACTS)
async def test_removed_element_is_stale(
    page: Page, httpserver: HTTPServer, verb: str, collected: bool
) -> None:
    role, act, _, _ = ACTS[verb]
    ref = await seen(page, httpserver, role)
    await page.evaluate(
        "() => { for (const at of [document.querySelector('#go'), document.querySelector('#name')]) at.remove() }"
    )
    if collected:
        await page.session.call("HeapProfiler.collectGarbage")
    with pytest.raises(cdpengine.errors.StaleRefError):
        await act(page, ref)


@pytest.mark.parametrize("verb", ACTS)
async def test_elements_of_replaced_document_are_stale(page: Page, httpserver: HTTPServer, verb: str) -> None:
    role, act, record, _ = ACTS[verb]
    ref = await seen(page, httpserver, role)
    await page.reload()
    before = await page.evaluate(record)
    with pytest.raises(cdpengine.errors.StaleRefError):
        await act(page, ref)
    assert await page.evaluate(record) == before


@pytest.mark.parametrize("verb", ACTS)
async def test_action_works_after_walk_was_released(page: Page, httpserver: HTTPServer, verb: str) -> None:
    role, act, record, expected = ACTS[verb]
    ref = await seen(page, httpserver, role)
    for walk in list_walks(page.session):
        walk.function.release()
    await act(page, ref)
    await act(page, ref)
    assert await page.evaluate(record) == expected


async def test_frames_of_one_process_have_separate_walks(page: Page, httpserver: HTTPServer) -> None:
    inner = "<button onclick='parent.pressed.push(window.name)'>Press</button>"
    frames = "".join(f'<iframe name=f{n} srcdoc="{inner}"></iframe>' for n in range(3))
    httpserver.expect_request("/").respond_with_data(
        f"<script>pressed = []</script>{frames}", content_type="text/html"
    )
    await page.goto(httpserver.url_for("/"))
    snapshot = await page.snapshot()
    buttons = snapshot.find_all(role="button", name="Press")
    for _ in range(2):
        for button in reversed(buttons):
            await page.click(button)
    assert await page.evaluate("pressed") == ["f2", "f1", "f0"] * 2
    for button in buttons:
        await page.focus(button)
        assert await page.evaluate("document.activeElement.name") == f"f{buttons.index(button)}"
