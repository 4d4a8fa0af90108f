"""Focus, press and scrolling into view need no visible box. Options of open lists do have one."""

from __future__ import annotations

import pytest
from form_page import FormPage

import cdpengine
from cdpengine.errors import NotInteractableError, OptionNotFoundError

pytestmark = pytest.mark.chrome


@pytest.fixture
async def form(page: cdpengine.Page) -> FormPage:
    return FormPage(page)


UNSEEN = {
    "no size": "<input id=at style='width:0;height:0;border:0;padding:0'>",
    "transparent": "<input id=at style='opacity:0'>",
    "clipped": "<input id=at style='position:absolute;clip:rect(0 0 0 0);width:1px;height:1px'>",
    "empty": "<div id=at tabindex=0></div>",
    "off the page": "<input id=at style='position:absolute;left:-9999px'>",
    "below": "<p style='height:3000px'></p><div id=at tabindex=0></div>",
}


@pytest.mark.sample(3)
@pytest.mark.parametrize("name", UNSEEN)
async def test_focus_and_press(form: FormPage, name: str) -> None:
    await form.show(UNSEEN[name])
    node = await form.node("#at")
    await form.page.focus(node, timeout=5)
    await form.js("document.activeElement.blur()")
    await form.page.press("x", node, timeout=5)
    assert [entry["target"] for entry in await form.record("keydown", "focus")] == ["at", "at", "at"]


async def test_focus_waits_until_element_is_displayed(form: FormPage) -> None:
    await form.show("<input id=at hidden>")
    node = await form.node("#at")
    with pytest.raises(NotInteractableError, match="display: none"):
        await form.page.focus(node, timeout=0.5)
    await form.js("void setTimeout(() => at.hidden = false, 100)")
    await form.page.focus(node, timeout=20)


@pytest.mark.sample(3)
@pytest.mark.parametrize(
    "style",
    ["visibility:hidden", "opacity:0", "width:0;height:0", "height:0;overflow:hidden", "pointer-events:none"],
)
async def test_scrolled_into_view(form: FormPage, style: str) -> None:
    await form.show(
        f"<p style='height:3000px'></p><div id=at style='{style}'></div><p style='height:3000px'></p>"
    )
    outcome = await form.page.scroll_into_view(await form.node("#at"), timeout=5)
    assert outcome.point is not None
    top = await form.js("at.getBoundingClientRect().top")
    assert 0 <= top <= await form.js("innerHeight")


async def test_scroll_into_view_refuses_undisplayed_element(form: FormPage) -> None:
    await form.show("<div id=at hidden>a</div>")
    with pytest.raises(NotInteractableError, match="display: none"):
        await form.page.scroll_into_view(await form.node("#at"), timeout=0.5)


# --- options -----------------------------------------------------------------------------------------------

LISTS = {
    "always open": "<select id=list size=3><option>a<option id=at>b<option>c</select>",
    "several": "<select id=list multiple><option>a<option id=at>b<option>c</select>",
    "in a group": "<select id=list size=4><optgroup label=g><option>a<option id=at>b</select>",
    "made by the page": "<ul id=list role=listbox><li role=option>a<li role=option id=at>b</ul>",
    "drawn by the page": """<style>select, ::picker(select) { appearance: base-select }</style>
        <select id=list><option>a<option id=at>b</select>""",
}


@pytest.mark.sample(3)
@pytest.mark.parametrize("name", LISTS)
async def test_pointing_at_options(form: FormPage, name: str) -> None:
    await form.show(LISTS[name])
    await form.js("watch('dblclick contextmenu mousemove')")
    page, node = form.page, await form.node("#at")
    if name == "drawn by the page":
        await page.click(await form.node("#list"), timeout=5)
    assert (await page.hover(node, timeout=5)).delivered
    assert (await page.click(node, button="right", timeout=5)).delivered
    if name == "drawn by the page":  # the first click selects and closes the list
        assert (await page.click(node, timeout=5)).delivered
        assert await form.js("list.value") == "b"
        return
    assert (await page.double_click(node, timeout=5)).delivered
    assert [entry["target"] for entry in await form.record("contextmenu", "dblclick")] == ["at", "at"]


async def test_options_drawn_by_the_browser_are_refused_immediately(form: FormPage) -> None:
    await form.show("<select id=list><option>a<option id=at>b</select>")
    page, node = form.page, await form.node("#at")
    for act in (page.hover, page.double_click):
        with pytest.raises(
            NotInteractableError, match=r"outside of the page; choose it with select\(\)"
        ) as caught:
            await act(node, timeout=900)
        assert not any("probed" in step for step in caught.value.steps)


# --- selects -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("several", [False, True])
async def test_select_that_moves_its_focus_is_set_by_script(form: FormPage, several: bool) -> None:
    await form.show(
        f"<select id=list {'multiple' * several} onfocus='other.focus()'><option>a<option>b</select><input id=other>"
    )
    outcome = await form.page.select(await form.node("#list"), "b", timeout=5)
    assert outcome.set_by_script
    assert await form.js("list.value") == "b"
    assert await form.events("input", "change") == [("input", "list", False), ("change", "list", False)]


@pytest.mark.sample(3)
@pytest.mark.parametrize("wanted", [(), ("a", "b"), ("a", "not there"), ("not there", "neither")])
async def test_single_select_takes_exactly_one_option(form: FormPage, wanted: tuple[str, ...]) -> None:
    await form.show("<select id=list><option>a<option>b</select>")
    with pytest.raises(NotInteractableError, match="takes one option, and [02] were given") as caught:
        await form.page.select(await form.node("#list"), *wanted, timeout=900)
    assert not isinstance(caught.value, OptionNotFoundError)
    assert await form.js("list.value") == "a"


async def test_one_option_by_two_names(form: FormPage) -> None:
    await form.show("<select id=list><option>a<option value=2>b</select>")
    await form.page.select(await form.node("#list"), "b", "2", timeout=5)
    assert await form.js("list.value") == "2"
