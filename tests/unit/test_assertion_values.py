"""Comparisons and words of assertions: texts, lists, classes, and the observations over time."""

from __future__ import annotations

import pickle
import re

import pytest
from trio.testing import MockClock

from cdpengine._api.assertions.matching import (
    all_match,
    check_strings,
    check_texts,
    contains,
    describe_expected,
    equals,
    has_classes,
    in_order,
    is_same,
    show,
    show_all,
)
from cdpengine._api.assertions.waiting import Seen
from cdpengine.errors import AssertionFailedError, EngineError, InvalidArgumentError


@pytest.mark.parametrize(
    ("expected", "actual", "ignore_case", "equal", "contained"),
    [
        ("Hello world", "  Hello \n world ", False, True, True),
        ("hello", "Hello world", False, False, False),
        ("hello", "Hello world", True, False, True),
        ("HELLO WORLD", "Hello world", True, True, True),
        (re.compile("^Hello wor"), "Hello\n  world", False, True, True),
        (re.compile("hello"), "Hello", False, False, False),
        (re.compile("hello"), "Hello", True, True, True),
        ("", "", False, True, True),
        ("", "x", False, False, True),
    ],
)
def test_texts(
    expected: str | re.Pattern[str], actual: str, ignore_case: bool, equal: bool, contained: bool
) -> None:
    assert equals(expected, actual, ignore_case) is equal
    assert contains(expected, actual, ignore_case) is contained


def test_lists() -> None:
    actual = ["One", "Two", "Three"]
    assert all_match(["One", re.compile("w"), "Three"], actual, equals)
    assert not all_match(["One", "Two"], actual, equals)
    assert not all_match(["Two", "One", "Three"], actual, equals)
    assert in_order(["On", "hre"], actual, contains)
    assert not in_order(["hre", "On"], actual, contains)
    assert not in_order(["One", "One"], actual, contains)
    assert in_order([], [], contains)


@pytest.mark.parametrize(
    ("expected", "actual", "same"),
    [
        (1, 1, True),
        (1.0, 1, True),
        (True, 1, False),
        ("a", "a", True),
        ("a", "A", False),
        (re.compile("a"), "bab", True),
        (re.compile("1"), 1, False),
        ((1, "a"), [1, "a"], True),
        ([1], [1, 2], False),
        ({"a": [True]}, {"a": [True]}, True),
        ({"a": [True]}, {"a": [1]}, False),
        (None, None, True),
        (None, 0, False),
    ],
)
def test_json_values(expected: object, actual: object, same: bool) -> None:
    assert is_same(expected, actual) is same


def test_classes() -> None:
    assert has_classes("b a", "a  c b")
    assert not has_classes("a d", "a b")


@pytest.mark.parametrize("given", [None, 5, b"x", ["x", 5], re.compile(b"x")])
def test_other_expected_values_are_refused(given: object) -> None:
    with pytest.raises(InvalidArgumentError):
        check_texts("text", given)  # type: ignore[arg-type]


def test_classes_are_strings() -> None:
    check_strings("classes", ["a", "b"])
    with pytest.raises(InvalidArgumentError):
        check_strings("classes", [re.compile("a")])


def test_words() -> None:
    assert describe_expected(["a", re.compile("b")]) == "['a', /b/]"
    assert show("a\n b") == '"a b"'
    assert show("secret", secret=True) == "a secret value (6 characters)"
    assert show_all([str(number) for number in range(8)]) == '["0", "1", "2", "3", "4", "5", ... 2 more]'


async def test_states_over_time_have_the_first_and_the_last(autojump_clock: MockClock) -> None:
    seen = Seen()
    for number in range(40):
        autojump_clock.jump(0.5)
        seen.add(str(number // 2))
    lines = seen.lines()
    assert len(lines) == 8
    assert lines[0] == "at 0.5 s: 0"
    assert lines[-1] == "at 19.5 s: 19"


def test_error_is_an_assertion_error_with_its_lines() -> None:
    error = AssertionFailedError(
        expectation='button "Pay" to be enabled',
        observed="it was not enabled",
        timeout=5,
        seen=["at 0 s: no element matched", "at 1.2 s: it was not enabled"],
        details=["- e1 button 'Pay'", "- e1 button 'Pay'"],
    )
    assert isinstance(error, AssertionError)
    assert isinstance(error, EngineError)
    assert (
        str(error)
        == """\
expected button "Pay" to be enabled within 5 s, but it was not enabled
  - e1 button 'Pay'
  - e1 button 'Pay'
Seen over time:
  - at 0 s: no element matched
  - at 1.2 s: it was not enabled"""
    )
    assert str(pickle.loads(pickle.dumps(error))) == str(error)
