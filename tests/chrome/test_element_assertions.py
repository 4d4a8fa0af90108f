"""`expect(locator)`: each assertion, its negation, the changes that end a wait, and its failure."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any, cast

import pytest
import trio
from busy_machine import slack
from pytest_httpserver import HTTPServer

import cdpengine
from cdpengine import Page, debug, expect
from cdpengine.errors import AssertionFailedError, InvalidArgumentError
from cdpengine.pages import LocatorAssertions

pytestmark = pytest.mark.chrome

FORM = """<style>#styled { color: rgb(1, 2, 3) } #far { margin-top: 5000px }</style>
<h1 id=title class="big  red" title="The title">Hello <b>dear</b>
  world</h1> <p id=hidden style="display:none">Secret</p> <p id=empty></p> <p id=styled>Styled</p>
<button id=off disabled>Off</button> <button id=on aria-label="Press me" aria-describedby=hint>On</button>
<span id=hint>Careful</span> <input id=name value="Ada"> <input id=locked readonly value="x">
<input id=wrong aria-invalid=true aria-errormessage="e1 e2"> <i id=e1>Too  short.</i> <i id=e2>Use digits</i>
<input id=box type=checkbox checked> <input id=unchecked type=checkbox> <input id=pin type=password value="s3cret-pin">
<select id=many multiple><option value=a selected>A<option value=b><option value=c selected>C</select>
<ul><li>One</li><li>Two</li><li>Three</li></ul> <div id=far>Far</div>
<script>document.querySelector("#name").focus()</script>"""

HOLDS: dict[str, tuple[str, Callable[[LocatorAssertions, float], Awaitable[None]]]] = {
    "attached": ("#hidden", lambda it, timeout: it.to_be_attached(timeout=timeout)),
    "visible": ("#title", lambda it, timeout: it.to_be_visible(timeout=timeout)),
    "hidden": ("#hidden", lambda it, timeout: it.to_be_hidden(timeout=timeout)),
    "hidden without an element": ("#nothing", lambda it, timeout: it.to_be_hidden(timeout=timeout)),
    "enabled": ("#on", lambda it, timeout: it.to_be_enabled(timeout=timeout)),
    "disabled": ("#off", lambda it, timeout: it.to_be_disabled(timeout=timeout)),
    "editable": ("#name", lambda it, timeout: it.to_be_editable(timeout=timeout)),
    "focused": ("#name", lambda it, timeout: it.to_be_focused(timeout=timeout)),
    "empty": ("#empty", lambda it, timeout: it.to_be_empty(timeout=timeout)),
    "checked": ("#box", lambda it, timeout: it.to_be_checked(timeout=timeout)),
    "unchecked": ("#unchecked", lambda it, timeout: it.to_be_checked(checked=False, timeout=timeout)),
    "viewport": ("#title", lambda it, timeout: it.to_be_in_viewport(ratio=1, timeout=timeout)),
    "text": ("#title", lambda it, timeout: it.to_have_text("Hello dear world", timeout=timeout)),
    "text pattern": ("#title", lambda it, timeout: it.to_have_text(re.compile("dear w"), timeout=timeout)),
    "hidden text": ("#hidden", lambda it, timeout: it.to_have_text("secret", ignore_case=True, timeout=timeout)),
    "texts": ("li", lambda it, timeout: it.to_have_text(["One", re.compile("w"), "Three"], timeout=timeout)),
    "contained text": ("#title", lambda it, timeout: it.to_contain_text("dear", timeout=timeout)),
    "contained texts": ("li", lambda it, timeout: it.to_contain_text(["On", "ee"], timeout=timeout)),
    "inner text": ("#title", lambda it, timeout: it.to_have_text("Hello dear world", inner_text=True, timeout=timeout)),
    "value": ("#name", lambda it, timeout: it.to_have_value("Ada", timeout=timeout)),
    "secret value": ("#pin", lambda it, timeout: it.to_have_value("s3cret-pin", timeout=timeout)),
    "values": ("#many", lambda it, timeout: it.to_have_values(["a", re.compile("c")], timeout=timeout)),
    "attribute": ("#title", lambda it, timeout: it.to_have_attribute("title", "The title", timeout=timeout)),
    "any attribute": ("#title", lambda it, timeout: it.to_have_attribute("title", timeout=timeout)),
    "id": ("h1", lambda it, timeout: it.to_have_id("title", timeout=timeout)),
    "class": ("h1", lambda it, timeout: it.to_have_class("big red", timeout=timeout)),
    "contained class": ("h1", lambda it, timeout: it.to_contain_class("red", timeout=timeout)),
    "style": ("#styled", lambda it, timeout: it.to_have_css("color", "rgb(1, 2, 3)", timeout=timeout)),
    "property": ("#box", lambda it, timeout: it.to_have_js_property("checked", True, timeout=timeout)),
    "inner property": ("#title", lambda it, timeout: it.to_have_js_property("classList.length", 2, timeout=timeout)),
    "secret property": ("#pin", lambda it, timeout: it.to_have_js_property("value", "s3cret-pin", timeout=timeout)),
    "count": ("li", lambda it, timeout: it.to_have_count(3, timeout=timeout)),
    "no count": ("#nothing", lambda it, timeout: it.to_have_count(0, timeout=timeout)),
    "role": ("h1", lambda it, timeout: it.to_have_role("heading", timeout=timeout)),
    "name": ("#on", lambda it, timeout: it.to_have_accessible_name("Press me", timeout=timeout)),
    "description": ("#on", lambda it, timeout: it.to_have_accessible_description("Careful", timeout=timeout)),
    "error message": (
        "#wrong",
        lambda it, timeout: it.to_have_accessible_error_message("Too short. Use digits", timeout=timeout),
    ),
    "snapshot": ("ul", lambda it, timeout: it.to_match_snapshot("- listitem: One\n- listitem: Three", timeout=timeout)),
}  # fmt: skip


@pytest.mark.parametrize("name", HOLDS)
async def test_holds_and_its_negation_does_not(page: Page, name: str) -> None:
    await page.set_content(FORM)
    selector, check = HOLDS[name]
    assertions = expect(page.locate(selector))
    await check(assertions, 5)
    with pytest.raises(AssertionFailedError) as raised:
        await check(assertions.not_, 0)
    assert " not to " in str(raised.value)
    assert "s3cret" not in str(raised.value)


FAILS: dict[str, tuple[str, Callable[[LocatorAssertions, float], Awaitable[None]], str]] = {
    "no element": ("#nothing", lambda it, timeout: it.to_have_text("x", timeout=timeout), "no element matched"),
    "hidden": ("#hidden", lambda it, timeout: it.to_be_visible(timeout=timeout), "it was not visible: it has display: none"),
    "disabled": ("#off", lambda it, timeout: it.to_be_enabled(timeout=timeout), "it was not enabled: it is disabled"),
    "read-only": ("#locked", lambda it, timeout: it.to_be_editable(timeout=timeout), "it was not editable: it is read-only"),
    "no checkbox": ("#name", lambda it, timeout: it.to_be_checked(timeout=timeout), "it is a input, which cannot be checked"),
    "no field": ("h1", lambda it, timeout: it.to_have_value("x", timeout=timeout), "it is a h1, which has no value"),
    "text": ("#title", lambda it, timeout: it.to_have_text("Hello", timeout=timeout), 'it was "Hello dear world"'),
    "texts": ("li", lambda it, timeout: it.to_have_text(["One", "Two"], timeout=timeout), 'there were ["One", "Two", "Three"]'),
    "value": ("#pin", lambda it, timeout: it.to_have_value("x", timeout=timeout), "it was a secret value (10 characters)"),
    "far": ("#far", lambda it, timeout: it.to_be_in_viewport(timeout=timeout), "0% of it was in the viewport"),
    "count": ("li", lambda it, timeout: it.to_have_count(2, timeout=timeout), "3 were found"),
    "role": ("#on", lambda it, timeout: it.to_have_role("link", timeout=timeout), "it was button"),
}  # fmt: skip


@pytest.mark.parametrize("name", FAILS)
async def test_failure_names_the_observed_state(page: Page, name: str) -> None:
    await page.set_content(FORM)
    selector, check, seen = FAILS[name]
    with pytest.raises(AssertionFailedError) as raised:
        await check(expect(page.locate(selector)), 0)
    assert raised.value.observed == seen
    assert f"but {seen}" in str(raised.value)


async def test_a_secret_value_is_in_no_error_and_no_recording(
    browser: cdpengine.Browser, page: Page, serve: Callable[..., str], tmp_path: Path
) -> None:
    await page.goto(serve("<input id=pin type=password value=s3cret-pin> <input id=name value=Ada>"))
    async with debug.record(browser, tmp_path / "a.jsonl"):
        for value in ("s3cret-other", re.compile("s3cret-other")):
            with pytest.raises(AssertionFailedError) as raised:
                await expect(page.locate("#pin")).to_have_value(value, timeout=0)
            assert str(raised.value).startswith(
                "expected css '#pin' to have the expected value, but it was a secret"
            )
            with pytest.raises(AssertionFailedError) as raised:
                await expect(page.locate("#pin")).to_have_attribute("value", value, timeout=0)
            assert "s3cret" not in f"{raised.value} {vars(raised.value)}"
        with pytest.raises(AssertionFailedError, match="to have the value 'Bob', but it was \"Ada\""):
            await expect(page.locate("#name")).to_have_value("Bob", timeout=0)
    recorded = (tmp_path / "a.jsonl").read_text()
    assert "Runtime.callFunctionOn" in recorded
    assert "s3cret" not in recorded


async def test_names_of_another_library_lead_to_negations(page: Page) -> None:
    with pytest.raises(AttributeError, match=r"In cdpengine: expect\(...\).not_.to_be_visible\(...\)"):
        cast("Any", expect(page.locate("p"))).not_to_be_visible  # noqa: B018
    with pytest.raises(AttributeError, match=r"expect\(...\).not_.to_have_url\(...\)"):
        cast("Any", expect(page)).not_to_have_url  # noqa: B018


async def test_several_matches_are_listed_with_refs(page: Page) -> None:
    await page.set_content("<button>One</button><button>Two</button>")
    for assertions in (expect(page.locate("button")), expect(page.locate("button")).not_):
        with pytest.raises(AssertionFailedError) as raised:
            await assertions.to_be_visible(timeout=0)
        assert raised.value.observed == "2 elements matched"
        assert re.fullmatch(r"- e\d+ button 'One'", raised.value.details[0])
    await expect(page.locate("button").last).to_have_text("Two")


CHANGES: dict[str, tuple[str, str, Callable[[LocatorAssertions], Awaitable[None]]]] = {
    "element": ("", "main.innerHTML = '<p id=x>'", lambda it: it.to_be_attached()),
    "text": ("<p id=x>a", "x.firstChild.data = 'b'", lambda it: it.to_have_text("b")),
    "attribute": ("<button id=x disabled>", "x.disabled = false", lambda it: it.to_be_enabled()),
    "value by script": ("<input id=x>", "x.value = 'b'", lambda it: it.to_have_value("b")),
    "checked by script": ("<input id=x type=checkbox>", "x.checked = true", lambda it: it.to_be_checked()),
    "focus": ("<input id=x>", "x.focus()", lambda it: it.to_be_focused()),
    "style of a parent": ("<p id=x>a", "main.style.display = 'none'", lambda it: it.to_be_hidden()),
    "rule of a style sheet": ("<p id=x>a", "document.styleSheets[0].insertRule('p { display: none }')", lambda it: it.to_be_hidden()),
    "changed rule": ("<p id=x>a", "document.styleSheets[0].cssRules[0].style.color = 'rgb(0, 0, 1)'", lambda it: it.to_have_css("color", "rgb(0, 0, 1)")),
    "animation": ("<p id=x style='opacity: 0'>a", "x.animate([{ opacity: 1 }], { duration: 50, fill: 'forwards' })", lambda it: it.to_have_css("opacity", "1")),
    "property of the page's scripts": ("<p id=x>a", "x.state = { ready: true }", lambda it: it.to_have_js_property("state", {"ready": True})),
    "scroll": ("<p id=x style='margin-top: 3000px'>a", "scrollTo(0, 5000)", lambda it: it.to_be_in_viewport()),
    "shadow root": ("<div id=x></div>", "x.attachShadow({ mode: 'open' }).innerHTML = 'b'", lambda it: it.to_have_text("b")),
    "name": ("<button id=x>a", "x.ariaLabel = 'b'", lambda it: it.to_have_accessible_name("b")),
    "replaced element": ("<p id=x>a", "main.innerHTML = '<p id=x>b'", lambda it: it.to_have_text("b")),
}  # fmt: skip


@pytest.mark.parametrize("name", CHANGES)
async def test_change_ends_the_wait_promptly_and_a_waiting_assertion_sends_nothing(
    page: Page, name: str
) -> None:
    html, change, check = CHANGES[name]
    await page.set_content(
        f"<style>i {{ color: red }} p {{ color: black }}</style><main id=main>{html}</main>"
    )
    done = trio.Event()

    async def wait() -> None:
        await check(expect(page.locate("#x"), timeout=30))
        done.set()

    async with trio.open_nursery() as nursery:
        nursery.start_soon(wait)
        await trio.sleep(0.3)
        with trio.fail_after(20):
            sent = 0
            while (now := page.session.connection.statistics().sent) != sent:
                sent = now
                await trio.sleep(0.5)
        assert not done.is_set()
        await page.evaluate(f"void setTimeout(() => {{ {change.replace('cssRules[0]', 'cssRules[1]')} }})")
        with trio.fail_after(slack(1)):
            await done.wait()


async def test_value_typed_during_the_wait(page: Page) -> None:
    await page.set_content("<input id=x>")
    async with trio.open_nursery() as nursery:
        nursery.start_soon(expect(page.locate("#x")).to_have_value, "Ada")
        await trio.sleep(0.3)
        await page.type(page.locate("#x"), "Ada", delay=0.02)


async def test_failure_shows_the_states_over_time(page: Page) -> None:
    await page.set_content("<main id=main></main>")
    await page.evaluate("""void [150, 400, 650].forEach((delay, number) =>
        setTimeout(() => main.innerHTML = `<p>${number}</p>`, delay))""")
    with pytest.raises(AssertionFailedError) as raised:
        await expect(page.locate("p")).to_have_text("9", timeout=2)
    texts = [re.sub(r"^at [0-9.]+ s: ", "", each) for each in raised.value.seen]
    assert texts == ["no element matched", 'it was "0"', 'it was "1"', 'it was "2"']
    times = [float(each.split()[1]) for each in raised.value.seen]
    assert times == sorted(times)
    assert str(raised.value).startswith(
        "expected css 'p' to have the text '9' within 2 s, but it was \"2\"\nSeen over time:"
    )


async def test_frames_navigations_and_redrawing_pages(page: Page, httpserver: HTTPServer) -> None:
    def serve(path: str, html: str) -> str:
        httpserver.expect_request(path).respond_with_data(html, content_type="text/html")
        return httpserver.url_for(path)

    httpserver.clear()
    inner = serve("/inner", "<button>Inner</button>")
    serve("/after", "<h1>After</h1>")
    outer = serve(
        "/outer",
        f"""<iframe src="{inner}"></iframe><p id=clock></p><script>
        setInterval(() => clock.textContent = performance.now(), 5)</script>""",
    )
    await page.goto(outer)
    button = page.locate(role="button", name="Inner")
    await expect(button).to_be_enabled()
    await page.evaluate(
        "void setTimeout(() => frames[0].document.querySelector('button').disabled = true, 100)"
    )
    await expect(button).to_be_disabled()
    await page.evaluate("void setTimeout(() => location = '/after', 100)")
    await expect(button).to_be_hidden()
    await expect(page.locate("h1")).to_have_text("After")
    await expect(page).to_have_url("**/after")


async def test_element_of_a_frame_that_appears_and_goes(page: Page) -> None:
    await page.set_content("<main id=main></main>")
    inside = page.frame_locator("iframe").locate("p")
    await expect(inside).to_be_hidden(timeout=0)
    await expect(inside).to_have_count(0)
    with pytest.raises(AssertionFailedError, match="but no element matched"):
        await expect(inside).to_have_text("Inside", timeout=0)
    await page.evaluate(
        """void setTimeout(() => main.innerHTML = "<iframe srcdoc='<p>Inside'></iframe>", 200)"""
    )
    await expect(inside).to_have_text("Inside")
    await page.evaluate("void setTimeout(() => main.replaceChildren(), 200)")
    await expect(inside).not_.to_be_attached()


async def test_an_assertion_without_a_match_names_similar_elements(page: Page) -> None:
    await page.set_content(
        "<button>Cancel</button><button>Save changes</button><iframe srcdoc='<button>Shut</button>'></iframe>"
    )
    near = 'near it: button "Save changes", button "Cancel", button "Shut"'
    save = expect(page.locate(role="button", name="Save"))
    in_form = expect(page.locate("form").locate("button"))
    in_frame = expect(page.frames[1].locate(role="button", name="Close"))
    calls: list[tuple[Callable[[float], Awaitable[None]], str]] = [
        (lambda timeout: save.to_be_visible(timeout=timeout), f"no element matched; {near}"),
        (lambda timeout: save.to_have_text("Save", timeout=timeout), f"no element matched; {near}"),
        (lambda timeout: save.to_have_text(["Save"], timeout=timeout), f"there were []; {near}"),
        (lambda timeout: save.to_have_count(1, timeout=timeout), f"0 were found; {near}"),
        (lambda timeout: save.to_match_snapshot("- button", timeout=timeout), f"no element matched; {near}"),
        (
            lambda timeout: in_form.to_be_visible(timeout=timeout),
            "no element matched; nothing matches css 'form'",
        ),
        (
            lambda timeout: in_frame.to_be_enabled(timeout=timeout),
            'no element matched; near it: button "Shut"',
        ),
    ]
    for timeout, some in ((0, calls), (4, calls[-2:])):
        for call, observed in some:
            with pytest.raises(AssertionFailedError) as raised:
                await call(timeout)
            assert raised.value.observed == observed
            assert len(raised.value.seen) == 1
    await save.to_be_hidden(timeout=0)


async def test_ref_of_a_removed_element(page: Page) -> None:
    await page.set_content("<main id=main><button>Go</button></main>")
    ref = (await page.snapshot()).find(role="button")
    go = page.locate(ref=ref.id)
    await expect(go).to_be_visible()
    await expect(go).to_have_text("Go")
    await page.evaluate("void setTimeout(() => main.replaceChildren(), 200)")
    await expect(go).to_be_hidden()
    await expect(go).not_.to_be_attached()
    with pytest.raises(AssertionFailedError, match="no longer in the document"):
        await expect(go).to_have_text("Go", timeout=0)
    await page.goto("data:text/html,<button>Go</button>")
    await expect(go).to_be_hidden()
    with pytest.raises(cdpengine.errors.StaleRefError):
        await expect(go).to_have_text("Go")


async def test_a_closed_page_ends_the_wait_with_its_own_error(page: Page) -> None:
    await page.set_content("<p>")
    other = await page.context.new_page() if page.context is not None else page
    async with trio.open_nursery() as nursery:

        async def close() -> None:
            await trio.sleep(0.3)
            await other.close()

        nursery.start_soon(close)
        with pytest.raises(cdpengine.errors.SessionGoneError):
            await expect(other.locate("#x")).to_be_visible()


@pytest.mark.parametrize("call", [
    lambda _page: expect(cast("Page", "e5")),
    lambda page: expect(page.locate("p")).to_have_text(5),
    lambda page: expect(page.locate("p")).to_have_count(-1),
    lambda page: expect(page.locate("p")).to_have_role("buton"),
    lambda page: expect(page.locate("p")).to_be_in_viewport(ratio=2),
    lambda page: expect(page.locate("p")).to_contain_class(re.compile("a")),
    lambda page: expect(cast("Page", page)).to_have_title(cast("str", None)),
    lambda page: expect(cast("Page", page)).to_match_snapshot(cast("str", 5)),
])  # fmt: skip
async def test_invalid_arguments_are_refused(page: Page, call: Callable[[Page], Any]) -> None:
    with pytest.raises(cdpengine.errors.InvalidArgumentError):
        await call(page)


async def test_error_message_belongs_to_an_invalid_element(page: Page) -> None:
    await page.set_content(
        '<label>Age <input oninput="this.ariaInvalid = isNaN(this.value)" aria-errormessage=no></label><p id=no>Digits</p>'
    )
    age, expected = page.locate("input"), "Digits"
    await expect(age).not_.to_have_accessible_error_message(expected)
    with pytest.raises(AssertionFailedError, match="it had none: aria-invalid is not set"):
        await expect(age).to_have_accessible_error_message(expected, timeout=0)
    await age.fill("x")
    await expect(age).to_have_accessible_error_message(re.compile("^digits", re.IGNORECASE))
    await page.evaluate("void setTimeout(() => { no.textContent = 'Only digits' }, 100)")
    await expect(age).to_have_accessible_error_message("only digits", ignore_case=True)
    await age.fill("7")
    await expect(age).not_.to_have_accessible_error_message("Only digits")


async def test_snapshot_of_several_elements_lists_them_and_writes_no_file(
    page: Page, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    await page.set_content("<p>one</p><p>two</p>")
    for assertions in (expect(page.locate("p")), expect(page.locate("p")).not_):
        with pytest.raises(AssertionFailedError, match="2 elements matched") as raised:
            await assertions.to_match_snapshot("- paragraph", timeout=0)
        assert "p 'one'" in str(raised.value)
        assert "p 'two'" in str(raised.value)
    file = tmp_path / "paragraph.yml"
    file.write_text("- paragraph: x\n")
    monkeypatch.setenv("CDPENGINE_UPDATE_SNAPSHOTS", "1")
    with pytest.raises(AssertionFailedError, match="2 elements matched"):
        await expect(page.locate("p")).to_match_snapshot(file, timeout=1)
    with pytest.raises(AssertionFailedError, match="no element matched"):
        await expect(page.locate("b")).to_match_snapshot(file, timeout=1)
    assert file.read_text() == "- paragraph: x\n"
    with pytest.raises(InvalidArgumentError, match="Path of a file"):
        await expect(page).to_match_snapshot(str(file))
