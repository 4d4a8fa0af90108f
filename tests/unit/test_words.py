"""The words of errors: each client gets names that it can use, for every error in every place."""

from __future__ import annotations

import re

import pytest
from made_errors import CLASSES, make

import cdpengine
from cdpengine.act import KINDS, ActResponse
from cdpengine.act.commands.verbs import VERBS
from cdpengine.act.commands.verbs import WORDS as SHELL
from cdpengine.act.response import NOT_READ, Failure, describe_failure, reword
from cdpengine.act.tooling.texts import WORDS as MCP
from cdpengine.act.words.advice import ADVICE, NEW_SNAPSHOT, OTHERS_FILLED, RENAMED
from cdpengine.act.words.wording import Words, in_requests
from cdpengine.errors import (
    AmbiguousNodeError,
    FailedField,
    FormError,
    InvalidArgumentError,
    NodeNotFoundError,
    NotInteractableError,
    PageUnresponsiveError,
    StaleRefError,
)
from cdpengine.service.mcp_tools import TOOLS

PYTHON = re.compile(
    r"\b(?:page|browser|context|locator|frame|pool)\.[a-z_]+|\b[a-z_]+\(\)|\bawait\b|`|\b[a-z_]+=(?:\W|True|False|None|\"|$)"
    r"|(?:^|\s)\.[a-z_]{4,}\b|\b(?:user_data_dir|frame|nth)=?\b(?==)"
)
"""Calls, arguments and attributes of Python."""

REQUEST = re.compile(
    rf"\b[Aa]n? (?:{'|'.join(KINDS)}) request\b|\b(?:{'|'.join(k for k in KINDS if not k.islower())})\b"
)
"""Requests by their names in JSON."""

FIELD = re.compile(r"\b(?:timeoutMs|targetId|maxTokens|maxChars|maxDepth|fullPage|timeMs|startRef)\b")
TOOL = re.compile(r"\bthe tool \w+")
COMMAND = re.compile(r"\bcdpengine (?!doctor\b)[a-z-]+\b")

FORBIDDEN = {
    "http": (PYTHON, TOOL, COMMAND),
    "mcp": (PYTHON, REQUEST, COMMAND),
    "shell": (PYTHON, REQUEST, FIELD, TOOL),
}
WORDS: dict[str, Words | None] = {"http": None, "mcp": MCP, "shell": SHELL}


def words_of(client: str, failure: Failure) -> Failure:
    response = ActResponse(kind="", ok=False, error=failure)
    if (words := WORDS[client]) is not None:
        response = reword(response, words)
    assert response.error is not None
    return response.error


def check(client: str, text: str) -> None:
    for pattern in FORBIDDEN[client]:
        found = pattern.search(text)
        assert found is None, f"{client} reads {found[0] if found else ''!r} in: {text}"


@pytest.mark.parametrize("client", WORDS)
@pytest.mark.parametrize("kind", CLASSES, ids=lambda kind: kind.__name__)
def test_every_error_is_in_the_words_of_its_client(
    client: str, kind: type[cdpengine.errors.EngineError]
) -> None:
    error = make(kind)
    if isinstance(error, StaleRefError):
        error.alternatives = ()
    failure = words_of(client, describe_failure(error))
    check(client, failure.message)
    check(client, failure.hint)
    assert failure.hint.endswith(".")


@pytest.mark.parametrize("kind", KINDS)
def test_each_kind_has_a_name_for_each_client(kind: str) -> None:
    tools = {tool.name for tool in TOOLS}
    phrase = f'Use a {kind} request, and "a {kind} request".'
    name = re.fullmatch(
        rf'Use the tool (\w+)(?: with action "\w+")?, and "a {kind} request"\.', MCP.translate(phrase)
    )
    assert name is not None
    assert name[1] in tools
    command = re.fullmatch(rf'Use cdpengine ([\w-]+), and "a {kind} request"\.', SHELL.translate(phrase))
    assert command is not None
    assert command[1] in VERBS


@pytest.mark.parametrize(
    ("message", "mcp", "shell"),
    [
        ("newTab.url: got a number, expected a text", "tabs.url: got a number, expected a text", "new-tab URL: got a number, expected a text"),
        ("wait: got no condition, expected timeMs", "wait: got no condition, expected timeMs", "wait: got no condition, expected --time-ms"),
        ("snapshot.maxTokens: got true, expected 1", "snapshot.maxTokens: got true, expected 1", "snapshot --max-tokens: got true, expected 1"),
        ("a field of scrollIntoView: got 'x', expected 'ref'", "a field of scroll_into_view: got 'x', expected 'ref'", "a field of scroll-into-view: got 'x', expected 'ref'"),
    ],
)  # fmt: skip
def test_a_refused_argument_is_named_as_the_client_wrote_it(message: str, mcp: str, shell: str) -> None:
    assert MCP.translate_refusal(message) == mcp
    assert SHELL.translate_refusal(message) == shell


def test_advice_names_available_actions_of_each_client() -> None:
    hung = describe_failure(PageUnresponsiveError("click", 2.0, (), 1.0))
    assert "A recover request stops its script" in hung.message
    assert 'The tool navigate with action "recover" stops its script' in words_of("mcp", hung).message
    assert "Cdpengine recover stops" not in words_of("shell", hung).message
    assert "cdpengine recover stops its script" in words_of("shell", hung).message
    assert (
        "nth=" not in words_of("mcp", describe_failure(AmbiguousNodeError("text 'a'", 3, ["a", "b"]))).message
    )
    failed = [FailedField("e1", NodeNotFoundError("e1", "gone"))]
    assert "other fields" in describe_failure(FormError(failed, filled=1)).hint
    assert "other fields" not in describe_failure(FormError(failed)).hint
    refused = describe_failure(InvalidArgumentError("click", "no element", "a ref"))
    assert words_of("mcp", refused).hint != words_of("shell", refused).hint


def test_the_hint_of_a_form_is_that_of_its_failed_fields() -> None:
    stale = FailedField("e1", StaleRefError("e1", "textbox", "it is gone"))
    refused = FailedField("e2", NotInteractableError("fill", "e2", "it is a button"))
    alone = describe_failure(FormError([stale, stale]))
    assert alone.hint == "Take a snapshot and use a ref of it."
    assert words_of("shell", alone).hint == "cdpengine snapshot shows the page with its refs."
    with_others = words_of("shell", describe_failure(FormError([stale], filled=2))).hint
    assert with_others == f"cdpengine snapshot shows the page with its refs. {OTHERS_FILLED}"
    assert describe_failure(FormError([stale, refused])).hint == ADVICE[FormError].hint


def test_a_failed_look_after_an_action_is_in_the_words_of_its_client_and_a_page_is_not_touched() -> None:
    hung = in_requests(str(PageUnresponsiveError("look", 2.0, (), 1.0)))
    for words, name in ((MCP, 'The tool navigate with action "recover"'), (SHELL, "cdpengine recover")):
        failed = reword(ActResponse(kind="click", ok=True, diff=f"{NOT_READ}{hung}"), words)
        assert f"{name} stops its script" in str(failed.diff)
        text = "# a new document\n- paragraph: raise maxDepth, or use a recover request"
        assert reword(ActResponse(kind="click", ok=True, diff=text), words).diff == text


def test_hints_for_special_cases_are_kept() -> None:
    failure = Failure(kind="staleRef", message="e3 is stale", hint=RENAMED, retryable=False)
    assert words_of("http", failure).hint == words_of("mcp", failure).hint == RENAMED
    stale = Failure(kind="staleRef", message="", hint=ADVICE[StaleRefError].hint, retryable=False)
    hint = words_of("shell", stale).hint
    assert hint == "cdpengine snapshot shows the page with its refs."
    assert words_of("shell", failure).hint == f"{hint}{RENAMED.removeprefix(NEW_SNAPSHOT)}"
