"""Comparisons of observed values with expected ones, and the words about them. Pure."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import TypeAlias

from cdpengine._checks import invalid, wrong_type
from cdpengine._page.patterns import Words, check_words, collapse_space, describe_words
from cdpengine._snapshot.text import quote, shorten

_LONGEST_SHOWN = 120
_MOST_SHOWN = 6

ExpectedTexts: TypeAlias = "Words | Sequence[Words]"
"""A text or pattern for one element, or one for each of several elements."""


def check_texts(what: str, given: ExpectedTexts) -> None:
    """Raise InvalidArgumentError unless `given` is a string or pattern, or a list or tuple of these."""
    if isinstance(given, list | tuple):
        for each in given:
            check_expected(what, each)
        return
    check_expected(what, given)


def check_expected(what: str, given: object) -> None:
    """Raise InvalidArgumentError unless `given` is a string or a pattern of strings."""
    if given is None:
        raise wrong_type(what, given, "a str or a compiled pattern")
    check_words(what, given, empty=True)


def check_strings(what: str, given: object) -> None:
    """Raise InvalidArgumentError unless `given` is a string, or a list or tuple of strings."""
    items = given if isinstance(given, list | tuple) else (given,)
    if not all(isinstance(each, str) for each in items):
        raise invalid(what, given, "a str, or a list of str")


def equals(expected: Words, actual: str, ignore_case: bool = False) -> bool:
    """Return whether a string equals the expected one, or contains a match of the pattern; spaces collapsed."""
    if isinstance(expected, re.Pattern):
        return _search(expected, actual, ignore_case)
    one, other = collapse_space(expected), collapse_space(actual)
    return one.casefold() == other.casefold() if ignore_case else one == other


def contains(expected: Words, actual: str, ignore_case: bool = False) -> bool:
    """Return whether a string contains the expected one, or a match of the pattern; spaces collapsed."""
    if isinstance(expected, re.Pattern):
        return _search(expected, actual, ignore_case)
    one, other = collapse_space(expected), collapse_space(actual)
    return one.casefold() in other.casefold() if ignore_case else one in other


def has_classes(expected: str, actual: str) -> bool:
    """Return whether a class attribute has all expected classes."""
    return set(expected.split()) <= set(actual.split())


def _search(pattern: re.Pattern[str], actual: str, ignore_case: bool) -> bool:
    if ignore_case and not pattern.flags & re.IGNORECASE:
        pattern = re.compile(pattern.pattern, pattern.flags | re.IGNORECASE)
    return pattern.search(actual) is not None or pattern.search(collapse_space(actual)) is not None


def is_same(expected: object, actual: object) -> bool:
    """Return whether a JSON value equals the expected one; True is not 1. A pattern searches a string."""
    if isinstance(expected, re.Pattern):
        return isinstance(actual, str) and _search(expected, actual, False)
    if isinstance(expected, list | tuple) and isinstance(actual, list):
        return len(expected) == len(actual) and all(map(is_same, expected, actual))
    if isinstance(expected, dict) and isinstance(actual, dict):
        return expected.keys() == actual.keys() and all(is_same(expected[key], actual[key]) for key in actual)
    return isinstance(expected, bool) is isinstance(actual, bool) and expected == actual


def all_match(expected: Sequence[Words], actual: Sequence[str], match: Callable[[Words, str], bool]) -> bool:
    """Return whether there are as many strings as expected ones, and each matches."""
    return len(expected) == len(actual) and all(map(match, expected, actual))


def in_order(expected: Sequence[Words], actual: Sequence[str], match: Callable[[Words, str], bool]) -> bool:
    """Return whether the expected ones match some of the strings, in the same order."""
    rest = iter(actual)
    return all(any(match(each, text) for text in rest) for each in expected)


def describe_expected(expected: ExpectedTexts) -> str:
    """Return the expected texts for a message."""
    if isinstance(expected, str | re.Pattern):
        return describe_words(expected)
    return _list([describe_words(each) for each in expected])


def show(actual: str, secret: bool = False) -> str:
    """Return an observed string for a message. Of a secret one, return only its length."""
    if secret:
        return f"a secret value ({len(actual)} characters)"
    return quote(shorten(collapse_space(actual), _LONGEST_SHOWN))


def show_all(actual: Sequence[str]) -> str:
    """Return observed strings for a message."""
    return _list([show(each) for each in actual])


def _list(items: Sequence[str]) -> str:
    rest = [f"... {len(items) - _MOST_SHOWN} more"] if len(items) > _MOST_SHOWN else []
    return f"[{', '.join([*items[:_MOST_SHOWN], *rest])}]"
