from __future__ import annotations

import pytest
import trio
from action_stage import Stage
from pytest_httpserver import HTTPServer
from refusals import refused

from cdpengine.errors import (
    NotInteractableError,
    StaleRefError,
)

pytestmark = pytest.mark.chrome

FAMILY = "\U0001f469\u200d\U0001f469\u200d\U0001f467"


async def test_events_of_one_character(stage: Stage) -> None:
    await stage.show("<input id=field>")
    await stage.type("#field", "a")
    record = await stage.record("keydown", "keypress", "beforeinput", "input", "keyup")
    assert [e["type"] for e in record] == ["keydown", "keypress", "beforeinput", "input", "keyup"]
    assert all(e["trusted"] and e["target"] == "field" for e in record)
    assert (record[0]["key"], record[0]["code"], record[0]["keyCode"]) == ("a", "KeyA", 65)
    assert (record[3]["data"], record[3]["inputType"]) == ("a", "insertText")


async def test_every_printable_character_is_a_key(stage: Stage) -> None:
    text = "".join(chr(point) for point in range(32, 127))
    await stage.show("<input id=field>")
    await stage.type("#field", text)
    assert await stage.js("field.value") == text
    downs = await stage.record("keydown")
    assert "".join(e["key"] for e in downs) == text
    assert len(await stage.record("keyup")) == len(text)
    shifted = "".join(e["key"] for e in downs if e["shift"])
    assert shifted == '!"#$%&()*+:<>?@ABCDEFGHIJKLMNOPQRSTUVWXYZ^_{|}~'


@pytest.mark.parametrize("delay", [0, 0.002])
async def test_mixed_scripts(stage: Stage, delay: float) -> None:
    text = (
        f"ab\u4f60\u597dc{FAMILY}\U0001f1e9\U0001f1eae\u0301x\u0e01\u0e34 1\ufe0f\u20e3\U0001f44d\U0001f3fd!"
    )
    await stage.show("<input id=field>")
    await stage.type("#field", text, delay=delay)
    assert await stage.js("field.value") == text
    inserted = [e["data"] for e in await stage.record("input")]
    assert "".join(inserted) == text
    for whole in (FAMILY, "\U0001f1e9\U0001f1ea", "e\u0301", "1\ufe0f\u20e3", "\U0001f44d\U0001f3fd"):
        assert sum(whole in data for data in inserted) == 1
    assert [e["key"] for e in await stage.record("keydown")] == ["a", "b", "c", "x", " ", "!"]


@pytest.mark.sample(3)
@pytest.mark.parametrize(
    "markup",
    [
        "<input id=field value='one '>",
        "<input id=field type=email value='one '>",
        "<input id=field type=search value='one '>",
        "<textarea id=field>one </textarea>",
    ],
)
async def test_typing_appends_to_existing_text(stage: Stage, markup: str) -> None:
    await stage.show(markup)
    before = await stage.js("field.value")
    await stage.js("field.focus(), field.type === 'email' || field.setSelectionRange(0, 0)")
    await stage.type("#field", "two")
    assert await stage.js("field.value") == before + "two"


async def test_number(stage: Stage) -> None:
    await stage.show("<input id=field type=number value=12>")
    await stage.type("#field", "34")
    assert await stage.js("field.value") == "1234"


async def test_contenteditable(stage: Stage) -> None:
    await stage.show("<div id=field contenteditable><p>one</p><p id=second>two</p></div>")
    await stage.type("#field", "!\u4f60")
    assert await stage.js("second.textContent") == "two!\u4f60"


async def test_paragraph_of_a_contenteditable(stage: Stage) -> None:
    await stage.show("<div id=field contenteditable><p id=first>one</p><p id=second>two</p></div>")
    await stage.type("#first", "!")
    assert await stage.js("[first.textContent, second.textContent]") == ["one!", "two"]


async def test_maxlength(stage: Stage) -> None:
    await stage.show("<input id=field maxlength=5>")
    await stage.type("#field", "abc\u4f60\u597d\u4f60\u597d")
    assert await stage.js("field.value") == "abc\u4f60\u597d"


async def test_line_break_and_tab_are_keys(stage: Stage) -> None:
    await stage.show("<textarea id=field></textarea><input id=next>")
    await stage.type("#field", "a\r\nb\nc\td")
    assert await stage.js("[field.value, next.value]") == ["a\nb\nc", "d"]
    assert [e["key"] for e in await stage.record("keydown")] == ["a", "Enter", "b", "Enter", "c", "Tab", "d"]


async def test_submit_presses_enter(stage: Stage, httpserver: HTTPServer) -> None:
    httpserver.expect_request("/find", query_string="q=ada").respond_with_data(
        "found", content_type="text/html"
    )
    await stage.show(f"<form action='{httpserver.url_for('/find')}'><input id=field name=q></form>")
    async with stage.session.subscribe("Page.loadEventFired") as events:
        await stage.type("#field", "ada", submit=True)
        await events.receive()
    assert await stage.js("document.body.textContent") == "found"


async def test_label_of_a_field(stage: Stage) -> None:
    await stage.show("<label id=label for=field>Name</label><input id=field>")
    await stage.type("#label", "ada")
    assert await stage.js("field.value") == "ada"


async def test_field_in_a_closed_shadow_root(stage: Stage) -> None:
    await stage.show("<div id=host></div>")
    await stage.js("void ((window.tree = host.attachShadow({mode: 'closed'})).innerHTML = '<input>')")
    await stage.type(await stage.node("tree.firstChild"), "ada")
    assert await stage.js("tree.firstChild.value") == "ada"


async def test_field_in_a_frame(stage: Stage, httpserver: HTTPServer) -> None:
    httpserver.expect_request("/in").respond_with_data("<input id=field value=a>", content_type="text/html")
    httpserver.expect_request("/out").respond_with_data(
        "<input id=outer autofocus><iframe id=frame src='/in'></iframe>", content_type="text/html"
    )
    await stage.goto(httpserver.url_for("/out"))
    frame = (await stage.child_frames())[0]["id"]
    node = await stage.node("frame.contentDocument.querySelector('#field')", frame=frame)
    await stage.type(node, "da")
    assert await stage.js("[outer.value, frame.contentDocument.querySelector('#field').value]") == ["", "ada"]


async def test_field_below_the_fold_and_covered(stage: Stage) -> None:
    await stage.show(
        "<div style='height:3000px'></div><input id=field><div style='position:fixed;inset:0'></div>"
    )
    await stage.type("#field", "ada")
    assert await stage.js("field.value") == "ada"


@pytest.mark.sample(3)
@pytest.mark.parametrize(
    ("markup", "error", "reason"),
    [
        ("<input id=field disabled>", NotInteractableError, "it is disabled"),
        ("<fieldset disabled><textarea id=field></textarea></fieldset>", NotInteractableError, "is disabled"),
        ("<input id=field readonly>", NotInteractableError, "it is read-only"),
        ("<input id=field hidden>", NotInteractableError, "display: none"),
    ],
)
async def test_type_refuses_elements_that_are_not_ready(
    stage: Stage, markup: str, error: type[NotInteractableError], reason: str
) -> None:
    await stage.show(markup)
    caught = await refused(error, lambda timeout: stage.type("#field", "hidden words", timeout=timeout))
    assert reason in caught.value.reason
    assert "hidden words" not in str(caught.value)
    assert await stage.record() == []


@pytest.mark.sample(2)
@pytest.mark.parametrize(
    "markup",
    [
        "<div id=field>text</div>",
        "<input id=field type=checkbox>",
        "<input id=field type=file>",
        "<select id=field><option>a</select>",
    ],
)
async def test_type_into_non_field_is_refused_immediately(stage: Stage, markup: str) -> None:
    await stage.show(markup)
    with trio.fail_after(20), pytest.raises(NotInteractableError, match="takes no typed text"):
        await stage.type("#field", "ada", timeout=30)
    assert await stage.record() == []


async def test_field_that_moves_its_focus(stage: Stage) -> None:
    await stage.show("<input id=field onfocus='other.focus()'><input id=other>")
    with pytest.raises(NotInteractableError, match="the focus is on input#other"):
        await stage.type("#field", "ada")
    assert await stage.record() == []


async def test_detached_is_stale(stage: Stage) -> None:
    await stage.show("<input id=field>")
    node = await stage.node("#field")
    await stage.js("window.kept = field; field.remove()")
    with trio.fail_after(20), pytest.raises(StaleRefError):
        await stage.type(node, "ada", timeout=30)


async def test_dialog_while_typing_does_not_hang(stage: Stage) -> None:
    await stage.show("<input id=field>")
    await stage.js("void field.addEventListener('keydown', (e) => { if (e.key === 'b') alert('b?') })")
    with trio.fail_after(20):
        outcome = await stage.type("#field", "abc", timeout=30)
    assert outcome.dialog_opened
    await stage.session.call("Page.handleJavaScriptDialog", accept=True)


async def test_insert_text_fires_no_keys(stage: Stage) -> None:
    await stage.show("<input id=field>")
    await stage.js("field.focus()")
    await stage.keyboard.insert_text("plain")
    assert await stage.types() == ["beforeinput", "input"]
    assert await stage.js("field.value") == "plain"
