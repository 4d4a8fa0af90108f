"""Code of recorded steps: the text of each target, its quoting, and the merging of steps."""

from __future__ import annotations

import ast
import json
from typing import Any

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cdpengine.act import Fill as FillRequest
from cdpengine.act import parse_action, parse_request, parse_script
from cdpengine.act.selectors import parse_selector
from cdpengine.cache.templates import escape, fill, split
from cdpengine.codegen.action_script import write_script
from cdpengine.codegen.python_code import quote, write_program, write_test
from cdpengine.codegen.queries import selector_of
from cdpengine.codegen.recorded import (
    Assertion,
    Check,
    Click,
    ClosePage,
    DialogAnswer,
    ElementQuery,
    Fill,
    Goto,
    Move,
    OpenPage,
    Press,
    RecordedStep,
    Select,
    Upload,
    merge_steps,
)
from cdpengine.codegen.request_list import write_requests

NAME = ElementQuery(role="textbox", name="Name")
BUTTON = ElementQuery(role="button", name='Log "in"', nth=1)
BOX = ElementQuery(role="checkbox", name="Gift")

STEPS = [
    RecordedStep(Goto("https://shop.example/")),
    RecordedStep(Fill(NAME, "Ada $$1")),
    RecordedStep(Fill(ElementQuery(label="Password"), "${password}")),
    RecordedStep(Check(BOX)),
    RecordedStep(Select(ElementQuery(css="#size"), ("L",))),
    RecordedStep(Press("Enter", ElementQuery(css="#size"))),
    RecordedStep(Click(BUTTON), opens=2),
    RecordedStep(Assertion("text", ElementQuery(role="status"), "Sent"), page=2),
    RecordedStep(Assertion("url", None, "https://shop.example/sent"), page=2),
    RecordedStep(ClosePage(), page=2),
    RecordedStep(Click(BUTTON, "right", 1, ("Shift",)), dialog=DialogAnswer(True, "ok")),
    RecordedStep(Upload(ElementQuery(test_id="file"), ("a.txt",))),
    RecordedStep(Move("back")),
]

PROGRAM = """import os

import cdpengine
import trio
from cdpengine import expect


async def main() -> None:
    async with cdpengine.launch() as browser:
        page = await browser.new_page()
        await page.goto("https://shop.example/")
        await page.locate(role="textbox", name="Name").fill("Ada $1")
        await page.locate(label="Password").fill(os.environ["PASSWORD"])
        await page.locate(role="checkbox", name="Gift").check()
        await page.locate("#size").select("L")
        await page.locate("#size").press("Enter")
        async with page.expect_popup() as popup:
            await page.locate(role="button", name='Log "in"', nth=1).click()
        page2 = popup.value
        await expect(page2.locate(role="status")).to_have_text("Sent")
        await expect(page2).to_have_url("https://shop.example/sent")
        await page2.close()
        async with page.expect_dialog(accept=True, text="ok"):
            await page.locate(role="button", name='Log "in"', nth=1).click(button="right", modifiers=["Shift"])
        await page.locate(test_id="file").upload("a.txt")
        await page.go_back()


trio.run(main)
"""

SCRIPT = """goto [https://shop.example/]
fill [role=textbox[name="Name"]] [Ada $1]
fill [label="Password"] [${password}]
check [role=checkbox[name="Gift"]]
select [css=#size] [L]
press [Enter]
click [role=button[name="Log \\"in\\""] >> nth=1]
tab_focus [1]
# an assertion: not possible in an action script
# an assertion of the URL https://shop.example/sent: not possible in an action script
close_tab
tab_focus [0]
# a click with this button or these modifiers: not possible in an action script
# the choice of files: not possible in an action script
go_back
"""


def test_a_program() -> None:
    assert write_program(STEPS) == PROGRAM
    ast.parse(PROGRAM)


def test_a_test_for_pytest() -> None:
    text = write_test(STEPS, name="shop")
    body = PROGRAM.split("new_page()\n")[1].split("\n\n\ntrio", maxsplit=1)[0]
    head = "import os\n\nfrom cdpengine import expect\n\n\nasync def test_shop(page):\n"
    assert text == head + body.replace("\n    ", "\n").removeprefix("    ") + "\n"
    assert write_test([]) == "async def test_recorded(page):\n    pass\n"
    opened = write_test([RecordedStep(OpenPage(), page=2)])
    assert opened == "async def test_recorded(page, context):\n    page2 = await context.new_page()\n"


def test_an_action_script_with_notes() -> None:
    notes: list[str] = []
    assert write_script(STEPS, notes) == SCRIPT
    assert [note.partition(":")[0] for note in notes] == ["step 8", "step 9", "step 11", "step 12"]
    assert len(list(parse_script(SCRIPT))) == 11


def test_an_action_script_answers_dialogs() -> None:
    steps = [
        RecordedStep(Click(BOX), dialog=DialogAnswer(True)),
        RecordedStep(Click(BOX), dialog=DialogAnswer(False)),
        RecordedStep(Click(BOX), dialog=DialogAnswer(True, "Ada $$1")),
    ]
    click, notes = 'click [role=checkbox[name="Gift"]]', list[str]()
    script = write_script(steps, notes)
    assert script.splitlines() == [
        "dialog [accept]", click, "dialog [dismiss]", click, "dialog [accept] [Ada $1]", click,
    ]  # fmt: skip
    assert (len(list(parse_script(script))), notes) == (6, [])


def test_requests_are_valid_json() -> None:
    notes: list[str] = []
    text = write_requests([*STEPS, RecordedStep(Assertion("checked", BOX))], notes)
    requests = json.loads(text)
    kinds = [parse_request(each).kind for each in requests]
    assert kinds == [
        "navigate", "fill", "fill", "check", "select", "press", "click", "focusTab", "wait", "wait", "close",
        "focusTab", "dialog", "click", "upload", "back",
    ]  # fmt: skip
    assert requests[2]["fields"] == [{"selector": 'label="Password"', "value": "${password}"}]
    assert text.count("\n") == len(requests) + 2
    assert notes == ["step 14: no request asserts the state 'checked'"]
    assert write_requests([], []) == "[]\n"


@given(st.text(st.characters(exclude_categories=())))
def test_quoted_strings_are_one_line_with_the_same_value(text: str) -> None:
    quoted = quote(text)
    assert ast.literal_eval(quoted) == text
    assert quoted.isprintable()


@given(st.lists(st.tuples(st.text("a$"), st.sampled_from(["", "user"]))))
def test_parts_of_a_template_make_its_string(parts: list[tuple[str, str]]) -> None:
    template = "".join(escape(text) + (f"${{{name}}}" if name else "") for text, name in parts)
    made = "".join("Ada" if is_variable else part for part, is_variable in split(template))
    assert made == fill(template, {"user": "Ada"})


NAMES = st.text(st.characters(exclude_categories=("Cc", "Cs", "Zl", "Zp", "Zs")), min_size=1)


@pytest.mark.parametrize("field", ["name", "label", "placeholder", "test_id", "text"])
@given(name=NAMES, nth=st.none() | st.integers(0, 9))
def test_selectors_have_the_meaning_of_the_query(field: str, name: str, nth: int | None) -> None:
    written = escape(name) if field == "name" else name
    given_strings: dict[str, Any] = {field: written, **({"role": "button"} if field == "name" else {})}
    query = ElementQuery(nth=nth, **given_strings)
    criteria = parse_selector(selector_of(query))
    assert criteria is not None
    found = {name: value for name, value in criteria.items() if name != "exact"}
    expected = {
        name: value
        for name, value in {**attrs.asdict(query), field: name}.items()
        if value or (name == "nth" and value is not None)
    }
    assert found == expected
    action = parse_action(f"fill [{selector_of(query)}] [x]")
    assert isinstance(action, FillRequest)
    assert action.fields[0].selector == selector_of(query)


def test_steps_that_a_later_step_includes_are_merged() -> None:
    one, other = RecordedStep(Click(NAME)), RecordedStep(Click(BUTTON))
    assert merge_steps([one, RecordedStep(Fill(NAME, "a")), RecordedStep(Fill(NAME, "ab"))]) == [
        RecordedStep(Fill(NAME, "ab"))
    ]
    double = RecordedStep(Click(NAME, count=2))
    assert merge_steps([one, double, other]) == [double, other]
    kept = [one, other, RecordedStep(Fill(NAME, "a")), RecordedStep(Press("Enter", NAME))]
    assert merge_steps(kept) == kept
    popup = [RecordedStep(Click(NAME), opens=2), RecordedStep(Fill(NAME, "a"))]
    assert merge_steps(popup) == popup
    assert merge_steps([one, one]) == [one, one]
    assert merge_steps([RecordedStep(Click(BOX)), RecordedStep(Check(BOX))]) == [RecordedStep(Check(BOX))]
