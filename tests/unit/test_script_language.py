"""The language of action scripts: the meaning of each line, the place of errors, and actions in replies of
models.
"""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from cdpengine.act import (
    Back,
    Check,
    Click,
    Close,
    Dialog,
    Drag,
    Extract,
    Fill,
    FocusTab,
    FormField,
    Forward,
    Get,
    Hover,
    Is,
    Navigate,
    NewTab,
    Nothing,
    Press,
    Reload,
    Resize,
    Scroll,
    ScrollIntoView,
    Select,
    Stop,
    Type,
    Wait,
    extract_action,
    parse_action,
    parse_script,
)
from cdpengine.act.commands.verbs import TABLE
from cdpengine.act.script_language import ACTIONS
from cdpengine.errors import ActionSyntaxError

NOT_IN_SCRIPTS = {"find": "it has only options", "screenshot": "it writes a file"}
"""Commands whose tools every model has, but scripts do not, and the reasons."""


@pytest.mark.parametrize(
    ("text", "action"),
    [
        ("click [12]", Click(ref="e12")),
        ("click[12]", Click(ref="e12")),
        ("  click [ 12 ]  ", Click(ref="e12")),
        ("hover [3]", Hover(ref="e3")),
        ("check [3]", Check(ref="e3")),
        ("uncheck [3]", Check(ref="e3", checked=False)),
        ("select [7] [New York]", Select(ref="e7", values=("New York",))),
        ("scroll_into_view [3]", ScrollIntoView(ref="e3")),
        ("fill [7] [a [b]]", Fill(fields=(FormField(ref="e7", value="a [b]"),))),
        ("double_click [7]", Click(ref="e7", double_click=True)),
        ('click [role=button[name="a ] b"]]', Click(selector='role=button[name="a ] b"]')),
        ("click [ text=Don t >> nth=1 ]", Click(selector="text=Don t >> nth=1")),
        ('select [label="A"] [B]', Select(selector='label="A"', values=("B",))),
        ('type [css=[a="]"] b] [x] [0]', Type(selector='css=[a="]"] b', text="x", submit=False)),
        ("fill [testid=q] [x]", Fill(fields=(FormField(selector="testid=q", value="x"),))),
        ("type [7] [text] [1]", Type(ref="e7", text="text", submit=True)),
        ("type [7] [text] [0]", Type(ref="e7", text="text", submit=False)),
        ("type [7] [text]", Type(ref="e7", text="text", submit=True)),
        ("type[7][text][0]", Type(ref="e7", text="text", submit=False)),
        ("type [7] [a [b] c] [0]", Type(ref="e7", text="a [b] c", submit=False)),
        ("type [7] [a] [b] [1]", Type(ref="e7", text="a] [b", submit=True)),
        ("type [7] [x[0]] [0]", Type(ref="e7", text="x[0]", submit=False)),
        ("type [7] [x] [1] [0]", Type(ref="e7", text="x] [1", submit=False)),
        ("type [7] []", Type(ref="e7", text="", submit=True)),
        ("type [7] [ two  blanks ] [0]", Type(ref="e7", text=" two  blanks ", submit=False)),
        ("type [7] [two\nlines] [0]", Type(ref="e7", text="two\nlines", submit=False)),
        ("press [Enter]", Press(key="Enter")),
        ("press [Control+A]", Press(key="Control+A")),
        ("press [Ctrl+a]", Press(key="Control+A")),
        ("press [cmd+v]", Press(key="ControlOrMeta+V")),
        ("press [Meta+a]", Press(key="ControlOrMeta+A")),
        ("press [Meta]", Press(key="Meta")),
        ("press [+]", Press(key="+")),
        ("press [Control++]", Press(key="Control++")),
        ("press [a]", Press(key="a")),
        ("press []]", Press(key="]")),
        ("scroll [down]", Scroll(direction="down")),
        ("scroll down", Scroll(direction="down")),
        ("scroll[up]", Scroll(direction="up")),
        ("goto [https://example.com/a?b=[c]]", Navigate(url="https://example.com/a?b=[c]")),
        ("goto [http://[::1]:80/]", Navigate(url="http://[::1]:80/")),
        ("new_tab", NewTab()),
        ("new_tab [https://example.com]", NewTab(url="https://example.com")),
        ("close_tab [2]", Close(index=2)),
        ("drag [1] [text=Basket]", Drag(start_ref="e1", end_selector="text=Basket")),
        ("wait [1000]", Wait(time_ms=1000)),
        ("wait [text=Done]", Wait(text="Done")),
        ("get [attribute] [7] [data-a[0]]", Get(what="attribute", ref="e7", name="data-a[0]")),
        ("is [ visible ] [text=Done]", Is(state="visible", selector="text=Done")),
        ("text", Extract(format="text")),
        ("text [7]", Extract(format="text", ref="e7")),
        ("dialog [accept] [ hunter2 ]", Dialog(accept=True, prompt_text=" hunter2 ")),
        ("resize [800] [600]", Resize(width=800, height=600)),
        ("reload", Reload()),
        ("tab_focus [1]", FocusTab(index=1)),
        ("close_tab", Close()),
        ("go_back", Back()),
        ("go_forward", Forward()),
        ("stop", Stop()),
        ("stop [42]", Stop("42")),
        ("stop [a [b] c]", Stop("a [b] c")),
        ("stop []", Stop("")),
        ('stop("the answer")', Stop("the answer")),
        ("stop()", Stop("")),
        ("None", Nothing()),
    ],
)
def test_the_meaning_of_a_line(text: str, action: object) -> None:
    assert parse_action(text) == action


@pytest.mark.parametrize(
    ("text", "column", "given", "expected"),
    [
        ("", 1, "the end", "an action, such as click [12]"),
        ("[12]", 1, "'['", "an action, such as click [12]"),
        ("clik [12]", 1, "'clik'", "click"),
        ("Click [12]", 1, "'Click'", "click"),
        ("dance [12]", 1, "'dance'", "one of open, snapshot, click"),
        ("click", 6, "the end", "["),
        ("click 12", 7, "'12'", "["),
        ("click []", 8, "']'", "the id of an element, a number"),
        ("click [a]", 8, "something else", "the id of an element, a number"),
        ("click [12", 10, "the end", "]"),
        ("click [12] [13]", 12, "'['", "the end of the action"),
        ("click [12] twice", 12, "something else", "the end of the action"),
        ("type [7]", 9, "the end", "["),
        ("type [7] [text", 15, "the end", "] after the text"),
        ("type [7] [text] [2]", None, None, None),
        ("type [7] [text] [1] x", 21, "something else", "the end of the action"),
        ("press", 6, "the end", "["),
        ("press []", 7, "'['", "[key]"),
        ("scroll [sideways]", 9, "something else", "up, down, left or right"),
        ("scroll", 7, "the end", "up, down, left or right"),
        ("goto [ ]", 6, "'['", "[url]"),
        ("new_tab []", 9, "'['", "[url]"),
        ("go_back [1]", 9, "'['", "the end of the action"),
        ("drag [1]", 9, "the end", "["),
        ("get [colour] [7]", 6, "something else", "one of 'text', 'html'"),
        ("get [text [7]", 11, "'['", "]"),
        ("wait [Done loading]", 7, "something else", "a time in milliseconds, a CSS selector, or 'text=Done"),
        ("is [visible]", 13, "the end", "["),
        ("dialog [perhaps]", 9, "something else", "accept or dismiss"),
        ("resize [wide] [600]", 9, "something else", "a whole number"),
        ("tab_focus [x]", 12, "something else", "the number of a tab, a number"),
        ("go_back now", 9, "'now'", "the end of the action"),
        ('stop("a', 8, "the end", ") after the answer"),
        ("stop [a", 8, "the end", "] after the answer"),
        ("None [1]", 6, "'['", "the end of the action"),
    ],
)
def test_where_a_line_is_wrong(
    text: str, column: int | None, given: str | None, expected: str | None
) -> None:
    if column is None:  # [2] is not a flag, so it is part of the text
        assert parse_action(text) == Type(ref="e7", text="text] [2", submit=True)
        return
    with pytest.raises(ActionSyntaxError) as caught:
        parse_action(text, line=3)
    error = caught.value
    assert (error.line, error.column, error.given) == (3, column, given)
    assert error.expected.startswith(str(expected))


def test_each_command_without_a_capability_is_an_action() -> None:
    names = {
        verb.name
        for verb in TABLE
        if verb.request is not None
        and verb.request.tool is not None
        and verb.request.tool.capability in ("core", "more")
    }
    assert {name for name in names if name.replace("-", "_") not in ACTIONS} == set(NOT_IN_SCRIPTS)


def test_actions_need_no_capability() -> None:
    """A model's reply can run no script and use no file, storage or wire."""
    for verb in TABLE:
        if verb.request is not None and verb.name.replace("-", "_") in ACTIONS:
            assert verb.request.tool is not None
            assert verb.request.tool.capability in ("core", "more"), verb.name
            assert not verb.request.runs_script


def test_typed_text_is_in_no_error() -> None:
    for text in ("type [7] [hunter2 x", "type [7] [hunter2] x", "type [hunter2] [x]", "type [7] hunter2 [x]"):
        with pytest.raises(ActionSyntaxError) as caught:
            parse_action(text)
        assert "hunter2" not in str(caught.value)


def test_a_script_has_lines_and_comments() -> None:
    script = "# log in\n\ntype [1] [ada] [0]\n  # then\nclick [2]\nstop [done]\n"
    assert list(parse_script(script)) == [
        (3, Type(ref="e1", text="ada", submit=False)),
        (5, Click(ref="e2")),
        (6, Stop("done")),
    ]
    with pytest.raises(ActionSyntaxError, match="line 2, column 1"):
        list(parse_script("click [1]\nclik [2]"))


@given(st.integers(0, 10**9 - 1), st.text(), st.booleans())
@example(1, "] [0]", True)
@example(1, "[", False)
def test_typed_text_survives_a_round_trip(number: int, text: str, submit: bool) -> None:
    assert parse_action(f"type [{number}] [{text}] [{int(submit)}]") == Type(
        ref=f"e{number}", text=text, submit=submit
    )


@given(st.text())
def test_any_text_is_an_action_or_an_error_at_a_place_in_it(text: str) -> None:
    try:
        parse_action(text)
    except ActionSyntaxError as error:
        wrong = error
    else:
        return
    lines = text.split("\n")
    assert 1 <= wrong.line <= len(lines)
    assert 1 <= wrong.column <= len(lines[wrong.line - 1]) + 1


# --- replies of models ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("reply", "action"),
    [
        ("In summary, the next action I will perform is ```click [12]```", "click [12]"),
        ("First ```click [1]```, no: ```click [2]```", "click [2]"),
        ("```\ntype [7] [a] [1]\n```", "type [7] [a] [1]"),
        ("```text\nclick [3]\n```\nThat is it.", "click [3]"),
        ("I think.\n<action>scroll [down]</action>", "scroll [down]"),
        ("The next is `go_back`.", "go_back"),
        ("Let me see.\nAction: click [5]\n", "click [5]"),
        ("I click [5] and then\ngo_back", "go_back"),
        ("stop [42]", "stop [42]"),
        ("```click [1]", None),
    ],
)
def test_the_action_is_extracted_from_a_reply(reply: str, action: str | None) -> None:
    if action is None:
        with pytest.raises(ActionSyntaxError, match="without an action"):
            extract_action(reply)
        return
    assert extract_action(reply) == action


def test_other_fences_can_be_given() -> None:
    assert extract_action("I go: {{click [1]}} `x`", [("{{", "}}")]) == "click [1]"


@pytest.mark.parametrize("reply", ["", "I am not sure.", "``````", "click", "clicking [12] helps"])
def test_a_reply_without_an_action_is_reported(reply: str) -> None:
    with pytest.raises(ActionSyntaxError) as caught:
        extract_action(reply)
    assert "without an action" in str(caught.value)
