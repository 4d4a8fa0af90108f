"""Strings that are no CSS selectors: which ones count as names, and the engine's criteria for them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cdpengine.act.commands.verbs import WORDS as SHELL
from cdpengine.act.tooling.texts import WORDS as MCP
from cdpengine.act.words.wording import in_requests
from cdpengine.errors import selectors
from cdpengine.errors.selectors import ELEMENTS, advise, advise_waiting, criteria_of, is_name, may_be_name


@pytest.mark.parametrize(
    "selector",
    [
        "button", "LI", "H1", "h1", "linearGradient", "my-element", "My-Element", "a:hover", "#main", ".card",
        "li.done > a", "input[name=q]", "div:not(.b)", "*", "svg text", "ul li, ol li", "a + b ~ i", '[title="Sign in"]',
        "td:nth-child(2)", "html|a",
    ],
)  # fmt: skip
def test_selectors_are_not_taken_for_names(selector: str) -> None:
    assert not may_be_name(selector)
    assert not is_name(selector)
    assert advise(selector) == ""


@pytest.mark.parametrize(
    "name",
    ["Sign in", "sign in", "Login", "Search", "Menu", "Save & close", "Yes, delete", "Add to cart", "Später"],
)
def test_names_are_recognized(name: str) -> None:
    assert is_name(name)
    assert advise(name) == f'In cdpengine: page.locate(name="{name}")'


def test_a_single_word_in_lower_case_may_be_an_element_of_the_page() -> None:
    for word in ("login", "card", "example.com"):
        assert may_be_name(word)
        assert not is_name(word)
        assert advise(word)
        assert advise_waiting(word, gone=False) == ""


@pytest.mark.parametrize(
    ("given", "criteria"),
    [
        ("text=b", {"text": "b"}), ('text="Sign in"', {"text": "Sign in"}), ("button >> text=x", {"text": "x"}),
        ("role=button", {"role": "button"}), ('role=button[name="x y"i]', {"role": "button", "name": "x y"}),
        ("button:has-text('x')", {"css": "button", "text": "x"}), ("ul >> .a", {"css": "ul .a"}), ("getByText('x')", {"text": "x"}),
        ("page.getByRole('button', { name: 'Save' })", {"role": "button", "name": "Save"}),
        ('get_by_role("button", name="Save")', {"role": "button", "name": "Save"}),
        ("get_by_label('Email')", {"name": "Email"}), ("aria/Sign in", {"name": "Sign in"}),
        ("::-p-text(Sign in)", {"text": "Sign in"}), ("id=main", {"css": "#main"}), ("css=.a", {"css": ".a"}),
        ("name=q", {"css": "[name=q]"}), ("data-testid=a", {"css": "[data-testid=a]"}), ("label=Email", {"name": "Email"}),
    ],
)  # fmt: skip
def test_selectors_of_other_libraries_have_our_criteria(given: str, criteria: dict[str, str]) -> None:
    assert criteria_of(given) == criteria
    assert advise(given).startswith("In cdpengine: page.locate(")


def test_an_xpath_is_named() -> None:
    for path in ("//button", "xpath=//a", "(//a)[2]", "../b", "/html/body"):
        assert advise(path) == "In cdpengine: page.locate(css=...), not an XPath"
        assert in_requests(advise(path)) == "Use a CSS selector, not an XPath"


def test_the_advice_in_the_words_of_each_client() -> None:
    advice = in_requests(advise("Sign in"))
    assert advice == 'Use a find request with name "Sign in"'
    assert SHELL.translate(advice) == "Use cdpengine find --name 'Sign in'"
    assert MCP.translate(advice) == 'Use the tool find with name "Sign in"'
    advice = in_requests(advise('role=button[name="a"]'))
    assert SHELL.translate(advice) == "Use cdpengine find --name a"
    assert in_requests(advise("role=button")) == 'Use a find request with role "button"'
    assert in_requests(advise("id=main")) == 'Use the selector "#main"'
    advice = in_requests(advise_waiting('text=it\'s "new"', gone=False))
    assert advice == 'Use a wait request with text "it\'s \\"new\\""'
    assert SHELL.translate(advice) == "Use cdpengine wait --text 'it'\"'\"'s \"new\"'"
    advice = in_requests(advise_waiting("Please wait", gone=True))
    assert SHELL.translate(advice) == "Use cdpengine wait --text-gone 'Please wait'"


def test_names_of_elements_are_in_lower_case() -> None:
    assert all(name == name.lower() and name.isalnum() for name in ELEMENTS)


@given(st.text())
def test_every_string_has_an_answer(text: str) -> None:
    assert isinstance(advise(text), str)
    assert may_be_name(text) or not is_name(text)
    assert set(criteria_of(text)) <= {"css", "role", "name", "text"}


def test_long_strings_are_read_in_time() -> None:
    for piece in ("get_by_role('", "text=", "a>>", ":has-text(", 'role=a[name="'):
        selectors.criteria_of(piece * 20_000)
        selectors.criteria_of((piece * 300)[:300])
