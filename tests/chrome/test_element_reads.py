"""Reads of single elements: `page.elements`, against what the page itself says."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from pytest_httpserver import HTTPServer

import cdpengine
from cdpengine.errors import (
    AmbiguousNodeError,
    InvalidArgumentError,
    NodeNotFoundError,
    NotInteractableError,
    StaleRefError,
)

PAGE = """<!doctype html><title>Reads</title>
<style>.blue { color: rgb(0, 0, 255); --gap: 4px } .blue::before { content: "x"; color: rgb(255, 0, 0) }</style>
<div id=rich class=blue data-count=3>Some <b>bold</b>
  text<span style="display: none"> hidden</span></div>
<svg id=drawing><text id=drawn>Drawn</text></svg>
<input id=name value=old><input id=secret type=password value=hunter2><input id=token type=hidden value=t0k>
<textarea id=area>line</textarea>
<select id=menu><option value=a>A<option id=chosen value=b selected>B<option id=unshown value=c hidden>C</select>
<label id=label for=name>Name</label>
<input id=box type=checkbox checked><input id=mixed type=checkbox><script>mixed.indeterminate = true</script>
<div id=switch role=switch aria-checked=true tabindex=0>On</div>
<button id=go>Go</button><button id=off disabled>Off</button>
<div inert><button id=asleep>Asleep</button></div><fieldset disabled><input id=fielded></fieldset>
<div aria-disabled=true><button id=aria>Aria</button></div>
<input id=fixed readonly value=fixed><div id=edit contenteditable>edit</div>
<div id=gone style="display: none">gone</div><div id=unseen style="visibility: hidden">unseen</div>
<div id=empty></div><div id=clear style="opacity: 0">clear</div>
<div id=floats><p style="float: left; margin: 0">floated</p></div><div id=contents style="display: contents">text</div>
<div id=host></div><script>host.attachShadow({mode: 'open'}).innerHTML = '<input id=inner value=deep>'</script>
<form id=form>form<input name=innerHTML><input name=textContent></form>
"""


@pytest.fixture
async def site(page: cdpengine.Page, serve: Callable[..., str]) -> cdpengine.Page:
    await page.goto(serve(PAGE))
    return page


@pytest.mark.parametrize("css", ["#rich", "#drawn", "#area", "#go", "#empty", "#form", "#menu"])
async def test_texts_and_markup_are_those_of_the_page(site: cdpengine.Page, css: str) -> None:
    own = "Object.getOwnPropertyDescriptor({0}.prototype, '{1}').get.call(element)"
    at = await site.find(css)
    script = f"""(element) => [{own.format("Node", "textContent")}, {own.format("Element", "innerHTML")}]"""
    text, html = await site.evaluate(script, at)
    assert await site.elements.text_content(at) == text
    assert await site.elements.inner_html(at) == html
    shown = await site.evaluate("(element) => element.innerText", at)
    assert await site.elements.inner_text(at) == (text if css == "#drawn" else shown)


async def test_inner_text_is_the_displayed_text(site: cdpengine.Page) -> None:
    assert await site.elements.inner_text(site.locate("#rich")) == "Some bold text"
    assert "hidden" in await site.elements.text_content(site.locate("#rich"))


async def test_attributes_and_values(site: cdpengine.Page) -> None:
    elements = site.elements
    assert await elements.get_attribute(site.locate("#rich"), "data-count") == "3"
    assert await elements.get_attribute(site.locate("#rich"), "title") is None
    assert await elements.get_attribute(site.locate("#off"), "disabled") == ""
    values = {"#name": "old", "#secret": "hunter2", "#area": "line", "#menu": "b", "#label": "old"}
    for css, value in values.items():
        assert await elements.input_value(await site.find(css)) == value
    await site.fill(site.locate("#name"), "new")
    assert await elements.input_value(site.locate("#name")) == "new"
    assert await elements.get_attribute(site.locate("#name"), "value") == "old"
    assert await elements.input_value(site.locate("#inner")) == "deep"
    with pytest.raises(NotInteractableError, match="it is a div, which has no value"):
        await elements.input_value(site.locate("#rich"))


async def test_computed_styles(site: cdpengine.Page) -> None:
    elements, rich = site.elements, await site.find("#rich")
    assert await elements.computed_style(rich, "color") == "rgb(0, 0, 255)"
    assert await elements.computed_style(rich, "backgroundColor") == "rgba(0, 0, 0, 0)"
    assert await elements.computed_style(rich, "background-color") == "rgba(0, 0, 0, 0)"
    assert await elements.computed_style(rich, "--gap") == "4px"
    assert await elements.computed_style(rich, "--none") == ""
    assert await elements.computed_style(rich, "color", pseudo_element="::before") == "rgb(255, 0, 0)"
    for unknown in ("colour", "length", "cssText", "getPropertyValue"):
        with pytest.raises(InvalidArgumentError, match="expected a CSS property"):
            await elements.computed_style(rich, unknown)


VISIBLE = ("#rich", "#name", "#menu", "#chosen", "#clear", "#floats", "#contents", "#host", "#off", "#drawn")
HIDDEN = ("#gone", "#unseen", "#empty", "#token", "#unshown", "#missing")


@pytest.mark.parametrize("css", [*VISIBLE, *HIDDEN])
async def test_visibility_is_that_of_waits(site: cdpengine.Page, css: str) -> None:
    elements, visible = site.elements, css in VISIBLE
    assert await elements.is_visible(site.locate(css)) is visible
    assert await elements.is_hidden(site.locate(css)) is not visible
    if css != "#missing":
        found = await site.find(css)
        assert await elements.is_visible(found) is visible
        await site.wait_for(ref=found, state="visible" if visible else "hidden", timeout=5)


DISABLED = ("#off", "#asleep", "#fielded", "#aria")


@pytest.mark.parametrize("css", ["#go", "#name", "#label", "#fixed", "#switch", *DISABLED])
async def test_a_click_a_wait_and_a_read_agree_on_enabled_elements(site: cdpengine.Page, css: str) -> None:
    enabled = css not in DISABLED
    found = await site.find(css)
    assert await site.elements.is_enabled(found) is enabled
    assert await site.elements.is_disabled(site.locate(css)) is not enabled
    await site.wait_for(ref=found, state="enabled" if enabled else "disabled", timeout=5)
    if enabled:
        assert (await site.click(found)).delivered
    else:
        with pytest.raises(NotInteractableError) as refused:
            await site.click(found, timeout=0.5)
        assert refused.value.state == "disabled"


EDITABLE = {"#name": True, "#secret": True, "#area": True, "#edit": True, "#label": True, "#inner": True,
            "#fixed": False, "#fielded": False, "#go": False, "#rich": False, "#box": False}  # fmt: skip


@pytest.mark.parametrize("css", EDITABLE)
async def test_what_accepts_text_is_editable(site: cdpengine.Page, css: str) -> None:
    assert await site.elements.is_editable(site.locate(css)) is EDITABLE[css]
    if EDITABLE[css]:
        await site.type(site.locate(css), "x")
    else:
        with pytest.raises(NotInteractableError):
            await site.type(site.locate(css), "x", timeout=0.5)


async def test_checked_controls(site: cdpengine.Page) -> None:
    elements = site.elements
    assert await elements.is_checked(site.locate("#box"))
    assert await elements.is_checked(site.locate("#switch"))
    assert not await elements.is_checked(site.locate("#mixed"))
    await site.uncheck(site.locate("#box"))
    assert not await elements.is_checked(site.locate("#box"))
    await site.check(site.locate("#mixed"))
    assert await elements.is_checked(site.locate("#mixed"))
    with pytest.raises(NotInteractableError, match="it is not a checkbox"):
        await elements.is_checked(site.locate("#rich"))


async def test_the_focus_is_followed_into_shadow_roots(site: cdpengine.Page) -> None:
    elements = site.elements
    await site.focus(site.locate("#inner"))
    assert await elements.is_focused(site.locate("#inner"))
    assert await elements.is_focused(site.locate("#host"))
    assert not await elements.is_focused(site.locate("#name"))
    await site.focus(site.locate("#name"))
    assert await elements.is_focused(site.locate("#label"))
    assert not await elements.is_focused(site.locate("#inner"))


async def test_a_stale_element_is_hidden_and_other_reads_say_why(site: cdpengine.Page) -> None:
    snapshot = await site.snapshot()
    go = next(ref for ref in snapshot.refs.values() if ref.name == "Go")
    assert await site.elements.is_visible(go)
    await site.evaluate("document.querySelector('#go').remove()")
    assert not await site.elements.is_visible(go)
    assert await site.elements.is_hidden(go)
    for read in (site.elements.text_content, site.elements.is_enabled, site.elements.input_value):
        with pytest.raises(StaleRefError):
            await read(go)
    with pytest.raises(NodeNotFoundError, match="never gave that ref"):
        await site.elements.is_visible("e99999")


async def test_a_read_waits_for_a_match_and_survives_redrawing(site: cdpengine.Page) -> None:
    late = site.locate("#late")
    assert not await site.elements.is_visible(late)
    await site.evaluate("""() => {
        let number = 0;
        const draw = () => { empty.innerHTML = `<p id=late><b>${number++}</b></p>`; };
        setTimeout(() => { draw(); setInterval(draw, 1); }, 100);
    }""")
    assert int(await site.elements.text_content(late)) >= 0
    for _ in range(20):
        assert (await site.elements.inner_html(late)).startswith("<b>")
        assert await site.elements.is_enabled(late)
        assert await site.elements.computed_style(late, "display") == "block"
    with pytest.raises(NodeNotFoundError):
        await site.elements.text_content(site.locate("#never"), timeout=0.3)
    with pytest.raises(AmbiguousNodeError):
        await site.elements.is_visible(site.locate("button"))


async def test_reads_in_frames_of_both_sites(
    page: cdpengine.Page, serve: Callable[..., str], httpserver: HTTPServer
) -> None:
    url = serve("<iframe id=near src=/frame></iframe><iframe id=far></iframe>")
    frame = "<input id=f value=framed><button id=b disabled>B</button><script>f.focus()</script>"
    httpserver.expect_request("/frame").respond_with_data(frame, content_type="text/html")
    await page.goto(url)
    far = (
        url.replace("localhost", "127.0.0.1") if "localhost" in url else url.replace("127.0.0.1", "localhost")
    )
    await page.evaluate(
        "(url) => new Promise(done => { far.onload = done; far.src = url })", far.replace("/login", "/frame")
    )
    near, other = page.frames[1:]
    assert near.session is not other.session
    for each in (near, other):
        assert await page.elements.input_value(page.locate("#f", frame=each)) == "framed"
        assert await page.elements.is_disabled(page.locate("#b", frame=each))
        assert await page.elements.is_visible(page.locate("#b", frame=each))
    await page.click(page.locate("#f", frame=other))
    assert await page.elements.is_focused(page.locate("#f", frame=other))
    assert not await page.elements.is_focused(page.locate("#f", frame=near))


async def test_selecting_text(site: cdpengine.Page) -> None:
    outcome = await site.elements.select_text(site.locate("#area"))
    assert outcome.action == "select the text of"
    assert await site.evaluate("document.activeElement.id") == "area"
    await site.press("x")
    assert await site.elements.input_value(site.locate("#area")) == "x"
    await site.elements.select_text(site.locate("#rich"))
    assert (await site.evaluate("getSelection().toString()")).split() == ["Some", "bold", "text"]
    await site.elements.select_text(site.locate("#label"))
    assert await site.evaluate("document.activeElement.id") == "name"
    await site.elements.select_text(site.locate("#edit"))
    await site.press("y")
    assert await site.elements.text_content(site.locate("#edit")) == "y"
    await site.elements.select_text(site.locate("#inner"))
    await site.press("z")
    assert await site.elements.input_value(site.locate("#inner")) == "z"
    with pytest.raises(NotInteractableError):
        await site.elements.select_text(site.locate("#gone"), timeout=0.4)


@pytest.mark.parametrize(
    ("kind", "init", "expected"),
    [
        ("click", None, ["PointerEvent", True, True]),
        ("keydown", {"key": "a", "code": "KeyA"}, ["KeyboardEvent", True, True]),
        ("focus", None, ["FocusEvent", False, True]),
        ("input", {"data": "x", "inputType": "insertText"}, ["InputEvent", True, True]),
        ("wheel", {"deltaY": 3}, ["WheelEvent", True, True]),
        ("drop", None, ["DragEvent", True, True]),
        ("touchstart", {"touches": [{"identifier": 1, "clientX": 4}]}, ["TouchEvent", True, True]),
        ("my-event", {"detail": {"a": [1]}, "bubbles": False}, ["CustomEvent", False, True]),
        ("my-event", None, ["Event", True, True]),
        ("submit", None, ["SubmitEvent", True, True]),
    ],
)
async def test_dispatched_events(
    site: cdpengine.Page, kind: str, init: dict[str, object] | None, expected: list[object]
) -> None:
    await site.evaluate(
        """(kind) => go.addEventListener(kind, (event) => {
            window.seen = { is: [event.constructor.name, event.bubbles, event.composed], trusted: event.isTrusted,
                key: event.key, deltaY: event.deltaY, detail: event.detail, x: event.touches?.[0].clientX };
        })""",
        kind,
    )
    outcome = await site.elements.dispatch_event(site.locate("#go"), kind, init)
    assert outcome.delivered is None
    seen = await site.evaluate("seen")
    assert seen["is"] == expected
    assert seen["trusted"] is False
    if kind == "keydown":
        assert seen["key"] == "a"
    if kind == "wheel":
        assert seen["deltaY"] == 3
    if kind == "touchstart":
        assert seen["x"] == 4
    if expected[0] == "CustomEvent":
        assert seen["detail"] == {"a": [1]}


async def test_a_dispatched_click_on_a_hidden_link_navigates(site: cdpengine.Page) -> None:
    await site.evaluate("gone.innerHTML = '<a id=link href=\"?next\">next</a>'")
    outcome = await site.elements.dispatch_event(site.locate("#link"), "click")
    assert outcome.navigation is not None
    assert site.url.endswith("?next")
    assert await site.elements.inner_text(site.locate("#go")) == "Go"


async def test_the_methods_of_a_locator_are_those_of_the_elements(site: cdpengine.Page) -> None:
    rich, name = site.locate("#rich"), site.locate("#name")
    assert await rich.inner_text() == "Some bold text"
    assert (await rich.outer_html()).startswith('<div id="rich"')
    assert await rich.get_attribute("data-count") == "3"
    assert await rich.computed_style("color") == "rgb(0, 0, 255)"
    assert await name.input_value() == "old"
    assert await name.is_visible()
    assert await name.is_editable()
    assert not await site.locate("#missing").is_visible()
    assert (await name.select_text()).action == "select the text of"
    assert await name.is_focused()
    ref = await site.locate("#go").ref()
    known = site.locate(ref=ref)
    assert await known.is_enabled()
    await known.dispatch_event("click")
    await site.evaluate("go.remove()")
    assert await known.is_hidden()
    with pytest.raises(StaleRefError):
        await known.text_content()
    with pytest.raises(StaleRefError):
        await site.elements.text_content(known)
