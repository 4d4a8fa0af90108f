"""Hover, tap, wheel, scrolling into view, and highlights."""

from __future__ import annotations

import pytest
import trio
from pointer_page import at, node, record, show
from refusals import refused

import cdpengine
from cdpengine.act import Actor, dispatch
from cdpengine.errors import (
    InvalidArgumentError,
    NotInteractableError,
    StaleRefError,
)

pytestmark = pytest.mark.chrome

# --- hover, tap, wheel ----------------------------------------------------------------------------------------


async def test_hover_sends_no_key_events(page: cdpengine.Page) -> None:
    await show(
        page,
        "<input id=field autofocus accesskey=a><button id=go>Go</button><script>keys = [];"
        "for (const name of 'keydown keypress keyup beforeinput input textInput'.split(' '))"
        " addEventListener(name, (event) => keys.push(name), true); field.focus()</script>",
    )
    await page.hover(await node(page, "go"), timeout=20)
    assert await page.evaluate("[keys, field.value, document.activeElement.id]") == [[], "", "field"]


async def test_tap(page: cdpengine.Page) -> None:
    await show(page, f"<button id=go style='{at(100, 50)}'>Go</button>")
    outcome = await page.tap(await node(page, "go"), timeout=20)
    seen = await record(page, "pointerdown", "touchstart", "touchend", "click")
    assert [(e["type"], e["target"]) for e in seen] == [
        ("pointerdown", "go"),
        ("touchstart", "go"),
        ("touchend", "go"),
        ("click", "go"),
    ]
    assert seen[0]["pointer"] == "touch"
    assert outcome.delivered
    await page.evaluate("go.addEventListener('touchend', (event) => event.preventDefault())")
    assert (await page.tap(await node(page, "go"), timeout=20)).events == (
        "pointerdown",
        "touchstart",
        "pointerup",
        "touchend",
    )
    await page.touch.tap(110, 60)


async def test_scroll_over_a_scroller_and_the_page(page: cdpengine.Page) -> None:
    await show(
        page,
        "<div id=box style='width:200px;height:100px;overflow:auto'><p style='height:900px'>x</p></div>"
        "<p style='height:4000px'>y</p>",
    )
    box = await node(page, "box")
    outcome = await page.scroll(0, 130, box, timeout=20)
    assert outcome.delivered
    assert await page.evaluate("[box.scrollTop, scrollY]") == [130, 0]
    await page.mouse.move(300, 300)
    await page.scroll(0, 240, timeout=20)
    assert await page.evaluate("[box.scrollTop, scrollY]") == [130, 240]
    wheels = await record(page, "wheel")
    assert [(e["deltaY"], e["trusted"]) for e in wheels] == [(130, True), (240, True)]
    await page.scroll(0, -1000, timeout=20)
    assert await page.evaluate("scrollY") == 0


SCROLLERS = """<style>body { margin: 0 }</style>
<div id=list style="height:150px;overflow:auto"><div style="height:2000px"><button id=inner>Inner</button></div></div>
<iframe id=framed style="height:120px" srcdoc="<p style='height:3000px'>text</p>"></iframe>
<div id=host></div><div style="height:4000px"></div><script>
  host.attachShadow({ mode: "open" }).innerHTML = "<div id=s style='height:90px;overflow:scroll'><p style='height:900px'></p></div>";
</script>"""


async def test_one_viewport_is_the_height_of_the_scroller(page: cdpengine.Page) -> None:
    await page.set_content(SCROLLERS)
    await page.settled(timeout=20)
    actor = Actor(page.browser)
    actor.focus(page)

    async def scrolled(**request: object) -> list[int]:
        response = await dispatch(actor, {"kind": "scroll", **request})
        assert response.ok, response.error
        found: list[int] = await page.evaluate(
            "[list.scrollTop, framed.contentWindow.scrollY, host.shadowRoot.getElementById('s').scrollTop, scrollY]"
        )
        return found

    inside, high = await page.evaluate("[host.shadowRoot.getElementById('s').clientHeight, innerHeight]")
    assert await scrolled(direction="down", selector="#list") == [150, 0, 0, 0]
    assert await scrolled(direction="down") == [300, 0, 0, 0], "where the mouse is"
    assert await scrolled(direction="up", selector="#list") == [150, 0, 0, 0]
    for y, after in ((200, [150, 120, 0, 0]), (320, [150, 120, inside, 0])):
        await page.mouse.move(50, y)
        assert await scrolled(direction="down") == after
    # At the end of the list, the wheel scrolls the page.
    await page.evaluate("list.scrollTop = 1e6")
    assert await scrolled(direction="down", selector="#list") == [1850, 120, inside, high]


async def test_scroll_into_view_boxes_and_pictures(page: cdpengine.Page) -> None:
    await show(
        page,
        "<div style='height:2000px'></div><div id=go style='width:120px;height:40px;background:#00f'></div>"
        "<div style='height:2000px'></div><i id=gone hidden></i>",
    )
    go = await node(page, "go")
    below = await page.elements.bounding_box(go)
    assert below is not None
    assert (below.y, below.width, below.height) == (2000, 120, 40)
    await page.scroll_into_view(go, timeout=20)
    box = await page.elements.bounding_box(go)
    assert box is not None
    assert 0 <= box.y <= await page.evaluate("innerHeight - 40")
    assert await page.elements.bounding_box(await node(page, "gone")) is None
    aim = await node(page, "gone")
    await refused(
        NotInteractableError, lambda timeout: page.scroll_into_view(aim, timeout=timeout), state="invisible"
    )
    aim = await node(page, "gone")
    await refused(
        NotInteractableError, lambda timeout: page.screenshot(target=aim, timeout=timeout), state="invisible"
    )
    await page.evaluate("scrollTo(0, 0)")
    picture = await page.screenshot(target=go)
    assert [int.from_bytes(picture[start : start + 4], "big") for start in (16, 20)] == [120, 40]
    with pytest.raises(InvalidArgumentError):
        await page.screenshot(target=go, full_page=True)


async def test_highlight_is_drawn_and_removed(page: cdpengine.Page) -> None:
    await show(page, f"<button id=go style='{at(100, 50)}'>Go</button>")
    go = await node(page, "go")
    before, markup = await page.screenshot(), await page.content()
    async with page.elements.highlight(go, info=False):
        assert await page.content() == markup
        with trio.fail_after(20):
            while await page.screenshot() == before:
                await trio.lowlevel.checkpoint()
    with trio.fail_after(20):
        while await page.screenshot() != before:
            await trio.lowlevel.checkpoint()
    with pytest.raises(InvalidArgumentError):
        async with page.elements.highlight(go, color="blue"):
            pass
    await page.evaluate("go.remove()")
    with pytest.raises(StaleRefError):
        async with page.elements.highlight(go):
            pass


async def test_scrolling_over_element_that_scrolls_away(page: cdpengine.Page) -> None:
    await show(page, "<div style='height:3000px'></div><button id=go>Go</button>")
    go = await node(page, "go")
    assert (await page.scroll_into_view(go)).target
    outcome = await page.scroll(0, -500, go)
    assert outcome.delivered
    assert await page.evaluate("go.getBoundingClientRect().top > innerHeight") is True
    assert [entry["deltaY"] for entry in await record(page, "wheel")] == [-500]
