"""The console's language, its completion, and the contents of its history."""

from __future__ import annotations

import contextlib

import pytest
from hypothesis import given
from hypothesis import strategies as st
from protocols import protocol

from cdpengine.debug.explorer.actions import ACTIONS, find_action
from cdpengine.debug.explorer.console import (
    ActionLine,
    CallLine,
    HelpLine,
    bind,
    complete,
    parse_line,
    safe_line,
    split_words,
    work_of,
)
from cdpengine.debug.explorer.page_actions import arguments_of
from cdpengine.errors import InvalidArgumentError

CANARY = "hunter2-canary"


def bound(line: str) -> tuple[str, dict[str, object]]:
    parsed = parse_line(line)
    assert isinstance(parsed, CallLine)
    return bind(parsed, protocol())


@pytest.mark.parametrize(
    ("line", "params"),
    [
        ("Tree.grow kind=oak", {"kind": "oak"}),
        ("  Tree.grow   kind=oak height=3.5 ", {"kind": "oak", "height": 3.5}),
        ("Tree.grow kind=oak evergreen=true", {"kind": "oak", "evergreen": True}),
        ("Tree.grow kind=oak name=5", {"kind": "oak", "name": "5"}),  # the protocol declares a string
        ("Tree.grow kind=oak owner=17", {"kind": "oak", "owner": "17"}),  # of a type that is a string
        ('Tree.grow kind="oak" name="a b\\n"', {"kind": "oak", "name": "a b\n"}),
        ("Tree.grow kind='oak' name='it is \"x\"'", {"kind": "oak", "name": 'it is "x"'}),
        ("Tree.grow kind=oak name=", {"kind": "oak", "name": ""}),
        ("Tree.grow kind=oak name=a=b&c", {"kind": "oak", "name": "a=b&c"}),
        ("Tree.grow kind=oak name={not", None),
        ("Tree.plant at=[1, 2]", {"at": [1, 2]}),
        ('Tree.grow {"kind": "oak", "height": 1}', {"kind": "oak", "height": 1}),
        ("Tree.fell", {}),
        ("Tree.unknown x=1 y=z", {"x": 1, "y": "z"}),  # the browser will report the error
    ],
)
def test_commands(line: str, params: dict[str, object] | None) -> None:
    if params is None:
        with pytest.raises(InvalidArgumentError):
            bound(line)
    else:
        assert bound(line) == (line.split(maxsplit=1)[0], params)


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("", None),
        ("   ", None),
        ("# Tree.grow", None),
        ("?", HelpLine("")),
        ("? Tree.grow", HelpLine("Tree.grow")),
        ("!click e3", ActionLine("click", "e3")),
        ("!type e3 two  words ", ActionLine("type", "e3 two  words")),
        ("!snapshot", ActionLine("snapshot", "")),
        ("!fill\te3\tp w ", ActionLine("fill", "e3\tp w")),
        ("!recover reload", ActionLine("recover", "reload")),
    ],
)
def test_other_lines(line: str, expected: object) -> None:
    assert parse_line(line) == expected


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("grow", r"Domain\.method"),
        ("Tree.grow oak", "name=value"),
        ("Tree.grow kind=oak kind=elm", "once"),
        ("Tree.grow kind='oak", "closing"),
        ('Tree.grow {"kind": "oak"', "one JSON object"),
        ('Tree.grow {"kind": "oak"} x', "nothing after"),
        ('Tree.grow kind="oak"x', "a space after"),
        ("!clock", "!click"),
        ("!", "!help"),
    ],
)
def test_empty_lines_and_comments_are_skipped(line: str, expected: str) -> None:
    with pytest.raises(InvalidArgumentError, match=expected):
        parse_line(line)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", []),
        ("a  b", ["a", "b"]),
        ("'New York' b", ["New York", "b"]),
        ('"New\\u0020York"', ["New York"]),
        ("[none] {x", ["[none]", "{x"]),
        ("it's", ["it's"]),
    ],
)
def test_words(text: str, words: list[str]) -> None:
    assert split_words(text, "!select") == words


@pytest.mark.parametrize("text", [f"'{CANARY}", f'"{CANARY}', f"'{CANARY}'x"])
def test_unclosed_words_are_refused_and_not_repeated(text: str) -> None:
    with pytest.raises(InvalidArgumentError, match="!select") as caught:
        split_words(text, "!select")
    assert CANARY not in str(caught.value)


@pytest.mark.parametrize(
    ("line", "work"),
    [
        ("?", "none"),
        ("!targets", "none"),
        ("!recover", "none"),
        ("!snapshot", "question"),
        ("!next *", "question"),
        ("!wait #done", "question"),
        ("DOM.getDocument", "question"),
        ("!click e3", "work"),
        ("!fill e3 x", "work"),
        ("Input.dispatchKeyEvent type=char", "work"),
        ("Page.navigate url=x", "work"),
        ("!evaluate 1", "script"),
        ("Runtime.evaluate expression=1", "script"),
        ("Runtime.callFunctionOn functionDeclaration=f", "script"),
    ],
)
def test_actions_that_a_line_starts_in_its_page(line: str, work: str) -> None:
    parsed = parse_line(line)
    assert parsed is not None
    assert work_of(parsed) == work


def test_parameters_that_do_not_exist_or_are_missing_are_refused_with_the_signature() -> None:
    with pytest.raises(InvalidArgumentError, match=r"depth.*Tree\.grow kind= \[height=\]"):
        bound("Tree.grow kind=oak depth=3")
    with pytest.raises(InvalidArgumentError, match="no kind"):
        bound("Tree.grow height=3")


def test_errors_do_not_repeat_values() -> None:
    for line in (f"Input.insertText text='{CANARY}", f'Input.insertText text="{CANARY}'):
        with pytest.raises(InvalidArgumentError) as caught:
            parse_line(line)
        assert CANARY not in str(caught.value)


@given(st.text(max_size=60))
def test_no_text_breaks_the_parser_the_completion_or_the_history(text: str) -> None:
    for line in (text, f"Tree.grow {text}", f"!type {text}", f"? {text}", f"Tree.grow kind={text}"):
        with contextlib.suppress(InvalidArgumentError):
            parse_line(line)
        complete(line, protocol())
        safe_line(line)


# --- the history ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "line",
    [
        f"Input.insertText text={CANARY}",
        f'Input.insertText {{"text": "{CANARY}"}}',
        f"Input.insertText text='{CANARY}",  # invalid, but still excluded
        f"Input.insertText {CANARY}",
        f"Network.setCookie name=sid value={CANARY} url=http://x",
        f'Network.setExtraHTTPHeaders headers={{"Authorization": "Bearer {CANARY}"}}',
        f"Page.navigate url=https://user:{CANARY}@example.com/",
        f"Page.navigate url=https://example.com/?access_token={CANARY}",
        f"!open https://example.com/?password={CANARY}",
        f"!type e3 {CANARY}",
        f"!type e3 a {CANARY} b",
        f"!type\te3\t{CANARY}",
        f"!fill e3 {CANARY}",
        f"!fill e3 a {CANARY} b",
        f"!fill  e3\t{CANARY}",
        f"!fil e3 {CANARY}",  # invalid, but still excluded
        f"!FILL e3 {CANARY}",
        f"!dialog accept {CANARY}",
        f"!set-storage {CANARY}",
        f"!set-cookies [{CANARY}",
        f"!evaluate --args={CANARY} f",
        f"!eval --args {CANARY} f",
        f'!evaluate login("x", {{password: "{CANARY}"}})',
        f"DOMStorage.setDOMStorageItem key=k value={CANARY}",
    ],
)
def test_the_history_keeps_no_secret(line: str) -> None:
    kept = safe_line(line)
    assert CANARY not in kept
    assert kept.split()[0] == line.split(maxsplit=1)[0]


@pytest.mark.parametrize(
    "line",
    [
        "Page.navigate url=https://example.com/a?b=c",
        "!click e3",
        "? Page.navigate",
        "!press Enter",
        "!events Network.*",
    ],
)
def test_the_history_keeps_the_rest_as_it_is(line: str) -> None:
    assert safe_line(line) == line


def test_the_history_keeps_only_the_target_of_a_filled_field() -> None:
    assert safe_line(f"!fill e3 {CANARY}") == "!fill e3 [redacted]"
    assert safe_line("!fill e3") == "!fill e3 [redacted]"
    assert safe_line("!fill") == "!fill [redacted]"


@pytest.mark.parametrize(
    ("line", "arguments"),
    [
        ("!click e3 --double-click", ["e3", "--double-click"]),
        ("!select e3 'New York'", ["e3", "New York"]),
        ("!type e3 two  words", ["--", "e3", "two  words"]),
        ("!type --submit e3 two --words", ["--submit", "--", "e3", "two --words"]),
        ("!fill e3", ["--", "e3", ""]),
        ("!fill", ["--"]),
        ("!eval a  b", ["--", "a  b"]),
        ("!eval", ["--"]),
    ],
)
def test_the_arguments_of_a_line(line: str, arguments: list[str]) -> None:
    parsed = parse_line(line)
    assert isinstance(parsed, ActionLine)
    action = find_action(parsed.name)
    assert action is not None
    assert arguments_of(action, parsed.rest) == arguments


def test_the_history_keeps_no_single_key() -> None:
    assert safe_line("!press x e3") == "!press [redacted] e3"


# --- completion ----------------------------------------------------------------------------------------------


def texts(line: str) -> list[str]:
    """Return the whole line for each completion."""
    words = {"targets": ["0", "3"], "refs": ["e1", "e12"]}
    return [
        line[: len(line) - found.replaces] + found.text for found in complete(line, protocol(), words=words)
    ]


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("Tr", ["Tree."]),
        ("tree.g", ["Tree.grow"]),
        ("gro", ["Tree.grow"]),
        ("Tree.", ["Tree.fell", "Tree.grow", "Tree.plant"]),
        (
            "Tree.grow ",
            [
                "Tree.grow kind=",
                "Tree.grow height=",
                "Tree.grow evergreen=",
                "Tree.grow name=",
                "Tree.grow owner=",
            ],
        ),
        ("Tree.grow kind=oak h", ["Tree.grow kind=oak height="]),
        ("Tree.grow kind=", ["Tree.grow kind=oak", "Tree.grow kind=elm"]),
        ("Tree.grow kind=e", ["Tree.grow kind=elm"]),
        ("Tree.grow evergreen=t", ["Tree.grow evergreen=true"]),
        ("Tree.grow name=", []),
        ('Tree.grow name="a ki', []),
        ("Tree.nothing ", []),
        ("? Tree.f", ["? Tree.fallen", "? Tree.fell"]),
        ("!clic", ["!click"]),
        ("!use ", ["!use 0", "!use 3"]),
        ("!click e1", ["!click e1", "!click e12"]),
        ("!type e1 e", []),
        ("!events Tr", ["!events Tree.*"]),
        ("!events Tree.* Tree.f", ["!events Tree.* Tree.fallen"]),
        ("!snapshot --int", ["!snapshot --interactive"]),
        ("!snapshot --interactive ", []),
        ("!scroll d", ["!scroll down"]),
        ("!recover ", ["!recover terminate", "!recover reload", "!recover close"]),
        ("!recover reload ", []),
        ("!fill e1", ["!fill e1", "!fill e12"]),
        ("!fill e1 e", []),
        ("!select ", ["!select e1", "!select e12"]),
        ("!select e1 e", []),
        ("!drag e1 e12", ["!drag e1 e12"]),
        ("!drag e1 e12 ", []),
        ("!press ", []),
        ("!press Enter e12", ["!press Enter e12"]),
        ("!next o", []),
        ("!events o", ["!events off"]),
        ("!settle ", []),
        ("!nothing ", []),
    ],
)
def test_completion(line: str, expected: list[str]) -> None:
    assert texts(line) == expected


def test_without_a_protocol_actions_are_still_completed() -> None:
    assert [found.text for found in complete("!", None)] == [f"!{name}" for name in ACTIONS]
    assert complete("Tree.", None) == []
