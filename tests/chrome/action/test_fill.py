from __future__ import annotations

import datetime as dt
import itertools

import pytest
import trio
from form_page import FormPage
from pytest_httpserver import HTTPServer
from refusals import refused

import cdpengine
from cdpengine._input.forms.fill import fill
from cdpengine._page.scripts.page_functions import Node
from cdpengine.errors import (
    InvalidArgumentError,
    NotInteractableError,
    ValueRefusedError,
)

pytestmark = pytest.mark.chrome

FAMILY = "\U0001f469\u200d\U0001f469\u200d\U0001f467"

# React's controlled inputs: React overrides `value` on the element to detect other setters. After each event
# that did not change its state, it writes that state back into the field.
CONTROLLED = """
(() => {
  const proto = Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, "value");
  let tracked = field.value;
  window.state = field.value;
  window.changes = [];
  Object.defineProperty(field, "value", {
    configurable: true,
    get() { return proto.get.call(this); },
    set(value) { tracked = String(value); proto.set.call(this, value); },
  });
  field.addEventListener("input", () => {
    const now = proto.get.call(field);
    if (now === tracked) return;
    tracked = now;
    changes.push(now);
    state = rule(now);
    if (state !== now) field.value = state;
  });
})()
"""


@pytest.fixture
async def form(page: cdpengine.Page) -> FormPage:
    return FormPage(page)


@pytest.mark.sample(5)
@pytest.mark.parametrize(
    ("markup", "value"),
    [
        ("<input id=field value=old>", "Ada \u4f60\u597d"),
        ("<input id=field type=search value=old>", "new"),
        ("<input id=field type=email value=old@x.org>", "ada@example.org"),
        ("<input id=field type=url>", "https://example.org/?q=1"),
        ("<input id=field type=tel value=1>", "+49 30 123"),
        ("<input id=field type=password value=old>", "s3cret"),
        ("<input id=field type=number value=7>", "-12.5"),
        ("<textarea id=field>old\ntext</textarea>", f"one\ntwo {FAMILY}"),
        ("<label id=field for=inner>Name</label><input id=inner value=old>", "ada"),
    ],
)
async def test_fill_replaces_existing_text(form: FormPage, markup: str, value: str) -> None:
    await form.show(markup)
    target = "inner" if "inner" in markup else "field"
    outcome = await form.page.fill(await form.node("#field"), value, timeout=20)
    assert outcome.action == "fill"
    assert await form.js(f"{target}.value") == value
    events = await form.events("focus", "beforeinput", "input", "change", "keydown", "click")
    edits = [("beforeinput", target, True), ("input", target, True)]
    # Chrome reports each line of a multi-line string separately.
    assert events[:3] == [("focus", target, True), *edits]
    assert set(events[3:]) <= (set(edits) if "\n" in value else set())
    await form.page.elements.blur(await form.node("#field"))
    assert await form.events("change", "blur") == [("change", target, True), ("blur", target, True)]


@pytest.mark.parametrize("markup", ["<input id=field value=old>", "<textarea id=field>old</textarea>"])
async def test_empty_string_clears_the_field(form: FormPage, markup: str) -> None:
    await form.show(markup)
    await form.page.fill(await form.node("#field"), "")
    assert await form.js("field.value") == ""
    assert [e["inputType"] for e in await form.record("input")] == ["deleteContentForward"]


async def test_enter_after_fill_fires_change(form: FormPage) -> None:
    await form.show("<form onsubmit='return false'><input id=field></form>")
    await form.page.fill(await form.node("#field"), "ada")
    assert await form.events("change", "submit") == []
    await form.page.press("Enter")
    assert [kind for kind, _, _ in await form.events("change", "submit")] == ["change", "submit"]


@pytest.mark.sample(3)
@pytest.mark.parametrize(
    ("markup", "value", "text"),
    [
        ("<div id=field contenteditable>old <b>text</b></div>", "new", "new"),
        ("<div id=field contenteditable><p>a</p><p>b</p></div>", "one two", "one two"),
        ("<div id=field contenteditable=plaintext-only>old</div>", "x", "x"),
        ("<div id=field contenteditable></div>", f"{FAMILY}!", f"{FAMILY}!"),
        ("<div id=field contenteditable>old</div>", "", ""),
    ],
)
async def test_contenteditable(form: FormPage, markup: str, value: str, text: str) -> None:
    await form.show(markup)
    await form.page.fill(await form.node("#field"), value)
    assert (await form.js("field.innerText")).strip() == text
    assert {(e["type"], e["trusted"]) for e in await form.record("beforeinput", "input")} == {
        ("beforeinput", True),
        ("input", True),
    }


@pytest.mark.parametrize("mode", ["open", "closed"])
async def test_fields_in_shadow_roots(form: FormPage, mode: str) -> None:
    await form.show("<div id=host></div>")
    await form.js(
        f"void ((window.tree = host.attachShadow({{mode: '{mode}'}})).innerHTML ="
        " '<input value=old><p contenteditable>old</p>')"
    )
    await form.page.fill(await form.node("tree.firstChild"), "ada")
    await form.page.fill(await form.node("tree.lastChild"), "new")
    assert await form.js("[tree.firstChild.value, tree.lastChild.innerText]") == ["ada", "new"]


async def test_lines_of_a_contenteditable(form: FormPage) -> None:
    await form.show("<div id=field contenteditable>old</div>")
    await form.page.fill(await form.node("#field"), "one\ntwo")
    assert (await form.js("field.innerText")).split() == ["one", "two"]


@pytest.mark.sample(5)
@pytest.mark.parametrize(
    ("markup", "value", "held"),
    [
        ("type=date", "2026-02-28", "2026-02-28"),
        ("type=date value=2001-12-31", "2026-11-30", "2026-11-30"),
        ("type=date min=2026-03-02 max=2026-11-30", "2026-05-31", "2026-05-31"),
        ("type=date dir=rtl", dt.date(2026, 2, 28), "2026-02-28"),
        ("type=date", dt.datetime(2026, 2, 28, 23, 5), "2026-02-28"),
        ("type=time", "09:05", "09:05"),
        ("type=time value=09:05", "00:00", "00:00"),
        ("type=time step=1", dt.time(9, 5, 7), "09:05:07"),
        ("type=time step=.001", "23:05:07.25", "23:05:07.250"),
        ("type=time step=3600", "12:00", "12:00"),
        ("type=datetime-local", "2026-02-28T09:05", "2026-02-28T09:05"),
        ("type=datetime-local", dt.datetime(2026, 2, 28, 9, 5), "2026-02-28T09:05"),
        ("type=month", dt.date(2026, 2, 28), "2026-02"),
        ("type=month value=2026-02", "2024-12", "2024-12"),
        ("type=week", dt.date(2026, 1, 1), "2026-W01"),
        ("type=week", "2026-W09", "2026-W09"),
        ("type=range min=0 max=10 step=0.5", 2.5, "2.5"),
        ("type=range min=-5 max=7 step=2", 3, "3"),
        ("type=range max=1 step=.01", 0.29, "0.29"),
        ("type=range max=10000", 9999, "9999"),
        ("type=range dir=rtl", "67", "67"),
    ],
)
async def test_written_by_keys(
    form: FormPage, markup: str, value: cdpengine.actions.FillValue, held: str
) -> None:
    await form.show(f"<input id=field {markup}>")
    outcome = await form.page.fill(await form.node("#field"), value)
    assert await form.js("field.value") == held
    assert not outcome.set_by_script
    events = await form.events("focus", "input", "change")
    assert events[0] == ("focus", "field", True)
    assert {kind for kind, _, _ in events} == {"focus", "input", "change"}
    assert all(trusted for _, _, trusted in events)
    assert [e["value"] for e in await form.record("change")][-1] == held
    # The page never sees a partial year, because an existing value is cleared first.
    assert {e["value"][:4] for e in await form.record("input") if "-" in e["value"]} <= {held[:4]}


@pytest.mark.sample(5)
@pytest.mark.parametrize(
    ("markup", "value", "held"),
    [
        ("type=color", "#FF8000", "#ff8000"),
        ("type=time", dt.time(9, 5, 7), "09:05:07"),
        ("type=date", "12026-01-01", "12026-01-01"),
        ("type=date onkeydown='event.preventDefault()'", "2026-02-28", "2026-02-28"),
        ("type=range onkeydown='event.preventDefault()'", "75", "75"),
        ("type=range max=10000", "4321", "4321"),
        ("type=range step=any", 33.3, "33.3"),
        ("type=range style='writing-mode:vertical-lr'", "33", "33"),
    ],
)
async def test_value_set_by_script_fires_events(
    form: FormPage, markup: str, value: cdpengine.actions.FillValue, held: str
) -> None:
    await form.show(f"<input id=field {markup}>")
    outcome = await form.page.fill(await form.node("#field"), value)
    assert await form.js("field.value") == held
    assert outcome.set_by_script
    assert await form.events("focus", "input", "change") == [
        ("focus", "field", True),
        ("input", "field", False),
        ("change", "field", False),
    ]


async def test_a_label_and_a_field_with_the_focus(form: FormPage) -> None:
    await form.show("<label id=field for=inner>Day</label><input id=inner type=date>")
    field = await form.node("#field")
    form.page.keyboard.layout = "fr"  # whose digits need Shift
    for day in ("2026-02-03", "2025-10-04", "2025-10-05"):
        outcome = await form.page.fill(field, day)  # the focus stays on the segment written last
        assert (await form.js("inner.value"), outcome.set_by_script) == (day, False)


async def test_date_can_be_cleared_and_same_date_fires_no_change(form: FormPage) -> None:
    await form.show("<input id=field type=date value=2026-01-01>")
    field = await form.node("#field")
    await form.page.fill(field, "2026-01-01")
    assert await form.events("input", "change") == []
    await form.page.fill(field, "")
    assert await form.js("[field.value, field.validity.badInput]") == ["", False]
    assert await form.events("input", "change") == [("input", "field", True), ("change", "field", True)]


@pytest.mark.parametrize(
    ("kind", "value", "wanted"),
    [
        ("date", "12.10.1815", "YYYY-MM-DD"),
        ("month", "October", "YYYY-MM"),
        ("week", "7", "YYYY-Www, such as 2026-W07"),
        ("time", "2 pm", "HH:MM or HH:MM:SS"),
        ("datetime-local", "tomorrow", "YYYY-MM-DDTHH:MM"),
        ("color", "dark", "#rrggbb"),
        ("range", "much", "a number from 0 to 100"),
        ("number", "much", "such as -2.5"),
    ],
)
async def test_refused_value_names_the_format(form: FormPage, kind: str, value: str, wanted: str) -> None:
    await form.show(f"<input id=field type={kind}>")
    with pytest.raises(ValueRefusedError) as caught:
        await form.page.fill(await form.node("#field"), value, timeout=5)
    assert f"; it takes {'one' if kind == 'number' else ''}" in str(caught.value)
    assert wanted in str(caught.value)


@pytest.mark.sample(5)
@pytest.mark.parametrize(
    ("markup", "value", "holds", "reason"),
    [
        (
            "<input id=field type=date value=2026-01-01>",
            "2026-02-30",
            "2026-01-01",
            "turns the value into nothing",
        ),
        ("<input id=field type=time>", "25:00", "", "turns the value into nothing"),
        ("<input id=field type=week>", dt.time(1, 2), "", "turns the value into nothing"),
        ("<input id=field type=color value='#000000'>", "red", "#000000", "it takes a color as #rrggbb"),
        (
            "<input id=field type=range min=0 max=10 value=3>",
            "11",
            "3",
            'turns the value into "10"; it takes a number from 0 to 10',
        ),
        ("<input id=field type=number value=3>", "three", "3", "not a number"),
        ("<input id=field maxlength=3 value=ab>", "abcd", "ab", "3 characters at most"),
        ("<input id=field value=ab>", "a\nb", "ab", "a single line"),
        (
            "<input id=field onbeforeinput='event.preventDefault()' value=ab>",
            "new",
            "ab",
            "changed the value",
        ),
        (
            "<input id=field oninput='this.value = this.value.replace(/9/g, 8)'>",
            "1990",
            "1880",
            "changed the value",
        ),
    ],
)
async def test_refused_value_is_named_with_current_value(
    form: FormPage, markup: str, value: cdpengine.actions.FillValue, holds: str, reason: str
) -> None:
    await form.show(markup)
    with trio.fail_after(20), pytest.raises(ValueRefusedError, match=reason) as caught:
        await form.page.fill(await form.node("#field"), value)
    assert caught.value.took == holds == await form.js("field.value")
    if "on" not in markup.partition("id=field")[2]:
        assert await form.events("input", "change") == []


async def test_error_never_contains_the_password(form: FormPage) -> None:
    await form.show("<input id=field type=password oninput='this.value = \"other\"'>")
    with pytest.raises(ValueRefusedError) as caught:
        await form.page.fill(await form.node("#field"), "s3cret")
    assert caught.value.took is None
    assert "s3cret" not in str(caught.value)
    assert "other" not in str(caught.value)


@pytest.mark.sample(2)
@pytest.mark.parametrize(
    ("rule", "value", "state"),
    [
        ("(now) => now", "ada", "ada"),
        ("(now) => now.toUpperCase()", "ada", "ADA"),
        (
            "(now) => now.replace(/\\\\D/g, '').replace(/^(...)(...)/, '($1) $2-')",
            "0301234567",
            "(030) 123-4567",
        ),
    ],
)
async def test_controlled_input(form: FormPage, rule: str, value: str, state: str) -> None:
    await form.show("<input id=field value=old>")
    await form.js(f"void (window.rule = {rule})".replace("\\\\", "\\"))
    await form.js(CONTROLLED)
    await form.page.fill(await form.node("#field"), value)
    assert await form.js("[field.value, state, changes]") == [state, state, [value]]


async def test_controlled_input_that_keeps_its_state(form: FormPage) -> None:
    await form.show("<input id=field value=old>")
    await form.js("void (window.rule = () => 'old')")
    await form.js(CONTROLLED)
    with pytest.raises(ValueRefusedError) as caught:
        await form.page.fill(await form.node("#field"), "new")
    assert caught.value.took == "old"
    assert await form.js("changes") == ["new"]


async def test_controlled_date_reaches_the_page(form: FormPage) -> None:
    await form.show("<input id=field type=date value=2026-01-01>")
    await form.js("void (window.rule = (now) => now)")
    await form.js(CONTROLLED)
    await form.page.fill(await form.node("#field"), dt.date(2026, 3, 4))
    assert await form.js("[state, changes]") == ["2026-03-04", ["", "2026-03-04"]]


async def test_controlled_input_typed_key_by_key(form: FormPage) -> None:
    await form.show("<input id=field>")
    await form.js("void (window.rule = (now) => now.toUpperCase().slice(0, 4))")
    await form.js(CONTROLLED)
    await form.page.type(await form.node("#field"), "abcdef")
    assert await form.js("[field.value, state]") == ["ABCD", "ABCD"]


@pytest.mark.sample(5)
@pytest.mark.parametrize(
    ("markup", "error", "reason"),
    [
        ("<input id=field disabled>", NotInteractableError, "disabled"),
        ("<input id=field readonly>", NotInteractableError, "read-only"),
        ("<input id=field type=date readonly>", NotInteractableError, "read-only"),
        ("<input id=field style='display:none'>", NotInteractableError, "display: none"),
        ("<div id=field>text</div>", NotInteractableError, "cannot be filled in"),
        ("<button id=field>b</button>", NotInteractableError, "cannot be filled in"),
        ("<input id=field type=file>", NotInteractableError, "use upload"),
        ("<input id=field type=checkbox>", InvalidArgumentError, "True or False"),
    ],
)
async def test_fill_refuses_unsuitable_elements(
    form: FormPage, markup: str, error: type[Exception], reason: str
) -> None:
    await form.show(markup)
    aim = await form.node("#field")
    await refused(error, lambda timeout: form.page.fill(aim, "x", timeout=timeout), match=reason)
    assert await form.record() == []


async def test_a_group_names_the_fields_within_it(form: FormPage) -> None:
    await form.show(
        "<div id=field role=group aria-label=Date><span contenteditable role=spinbutton aria-label=Month>MM</span>"
        "<span contenteditable=true role=spinbutton aria-label='D\u202eay'>DD</span><label>Year <input></label>"
        "<input aria-hidden=true><input type=hidden><textarea style='display: none'></textarea></div>"
    )
    aim = await form.node("#field")
    with pytest.raises(NotInteractableError) as caught:
        await form.page.fill(aim, "2026-03-14", timeout=20)
    fields = 'spinbutton "Month", spinbutton "D ay", input "Year "'
    assert str(caught.value).endswith(f"a div cannot be filled in; fill in one of its fields: {fields}")


async def test_waits_until_it_is_enabled(form: FormPage) -> None:
    await form.show("<input id=field disabled>")
    await form.js("void setTimeout(() => field.disabled = false, 150)")
    await form.page.fill(await form.node("#field"), "ada", timeout=20)
    assert await form.js("field.value") == "ada"


async def test_a_bool_checks(form: FormPage) -> None:
    await form.show("<input id=field type=checkbox>")
    await form.page.fill(await form.node("#field"), True)
    assert await form.js("field.checked") is True
    assert ("click", "field", True) in await form.events("click")


async def test_fill_of_field_that_navigates(form: FormPage, httpserver: HTTPServer) -> None:
    httpserver.expect_request("/there").respond_with_data("<p>there</p>", content_type="text/html")
    url = httpserver.url_for("/there")
    await form.show(f"<input id=field oninput='location.href = \"{url}\"'>")
    await form.page.fill(await form.node("#field"), "go")
    with trio.fail_after(20):
        while form.page.url != url:
            await form.page.title()


async def test_field_in_frames_of_both_kinds(form: FormPage, httpserver: HTTPServer) -> None:
    inner = "<!doctype html><input aria-label=Inner value=old><input type=date>"
    httpserver.expect_request("/in").respond_with_data(inner, content_type="text/html")
    other = httpserver.url_for("/in").replace("127.0.0.1", "localhost")
    httpserver.expect_request("/out").respond_with_data(
        f"<iframe src='/in'></iframe><iframe src='{other}'></iframe>", content_type="text/html"
    )
    await form.page.goto(httpserver.url_for("/out"))
    cases = [("input", "Grüße"), ("[type=date]", "2026-02-28")]
    for frame, (css, value) in itertools.product(form.page.frames[1:], cases):
        session = frame.session
        world = (await form.page.internals.worlds.context(session, frame.id)).id
        found = f"document.querySelector('{css}')"
        reply = await session.call("Runtime.evaluate", expression=found, contextId=world)
        described = await session.call("DOM.describeNode", objectId=reply["result"]["objectId"])
        node = Node(session, described["node"]["backendNodeId"], frame.id, "the inner field")
        async with form.page.internals.input("fill", 5) as act:
            outcome = await act.with_effects(await fill(node, value, context=act.context))
        held = await session.call("Runtime.evaluate", expression=f"{found}.value", contextId=world)
        assert (held["result"]["value"], outcome.set_by_script) == (value, False)


@pytest.mark.parametrize("name", ["fill", "type"])
async def test_a_handler_of_the_focus_that_replaces_the_document_is_named(form: FormPage, name: str) -> None:
    await form.show("<input id=at onfocus=\"document.write('<p>gone')\">")
    aim = await form.node("#at")
    with pytest.raises(NotInteractableError, match="the page removed it when it got the focus"):
        await getattr(form.page, name)(aim, "a", timeout=20)


@pytest.mark.parametrize("kind", ["password", "text", "search", "email", "url"])
async def test_a_value_that_looks_like_a_mask_is_replaced(page: cdpengine.Page, kind: str) -> None:
    """Masks show runs of blanks and signs, but so do ordinary values and passwords."""
    await page.set_content(f"<input type={kind}>")
    field = await page.find(css="input")
    texts = [
        "a__b, c (d)",
        "^{#/#}=x",
        "x, y; (z) ^{=}",
        "__init__.py",
        "f(x) = {1}, #/#",
        "31/1m-x",
        "plain, (text)",
    ]
    for text in texts:
        await page.fill(field, text)
        assert await page.evaluate("document.querySelector('input').value") == text
