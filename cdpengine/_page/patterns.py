"""Patterns for texts and names. Pure.

Rule: an invalid value is refused before anything is sent, and every pattern can describe itself in a message.
Texts and names are matched on one line, with white space collapsed, by strings and regular expressions. Compiled
expressions are never sent to the page.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from typing import TypeAlias, TypeVar

from cdpengine._checks import check_string
from cdpengine.errors import InvalidArgumentError

T = TypeVar("T")

Words: TypeAlias = "str | re.Pattern[str]"
"""A string, or a compiled pattern that is searched for."""

# White space in HTML or typography that is displayed as a space. Excludes line and paragraph separators.
SPACE = "\t\n\f\r \xa0\u1680\u2000-\u200a\u202f\u205f\u3000"
# Line-break opportunities and byte-order marks, which are not displayed.
NOTHING = "\xad\u200b\ufeff"

_UNTIDY = re.compile(f"[{SPACE}]{{2,}}|[{SPACE[:4]}{SPACE[5:]}{NOTHING}]|^ | $")
_SPACES = re.compile(f"[{SPACE}]+")
_BLANKS = re.compile(f"[{NOTHING}]+")

_LONGEST_DISPLAYED = 80


def collapse_space(text: str) -> str:
    """Return the string on one line: runs of white space become one space; invisible characters are removed."""
    if _UNTIDY.search(text) is None:
        return text
    return _SPACES.sub(" ", _BLANKS.sub("", text)).strip(" ")


def check_words(what: str, given: object, *, empty: bool = False) -> None:
    """Raise InvalidArgumentError unless `given` is a string, a compiled string pattern, or None (no condition).

    A string may be empty only with `empty`.
    """
    if given is None:
        return
    if isinstance(given, re.Pattern):
        if isinstance(given.pattern, str):
            return
        raise InvalidArgumentError(what=what, given="a pattern of bytes", expected="a pattern of str")
    check_string(what, given, "a str or a compiled pattern")
    check_string(what, given, empty=empty)


def with_name(items: Iterable[T], of: Callable[[T], str], name: Words | None, exact: bool) -> Sequence[T]:
    """Return the items whose name, returned by `of`, matches; all items if `name` is None.

    A string must equal the whole name. A name in the same case has priority; one in another case matches only if
    `exact` is False. A pattern may match a part of the name.
    """
    if name is None:
        return list(items)
    if isinstance(name, re.Pattern):
        return [item for item in items if name.search(of(item))]
    items = list(items)
    collapsed = collapse_space(name)
    found = [item for item in items if of(item) == collapsed]
    if found or exact:
        return found
    collapsed = collapsed.casefold()
    return [item for item in items if of(item).casefold() == collapsed]


def holds(text: str, words: Words, exact: bool) -> bool:
    """Return whether `text` contains `words`, ignoring case; with `exact`, whether both are equal."""
    if isinstance(words, re.Pattern):
        return words.search(text) is not None
    words = collapse_space(words)
    return text == words if exact else words.casefold() in text.casefold()


def describe_words(words: Words) -> str:
    """Return a string in quotes, or a pattern between slashes, shortened for a message."""
    if isinstance(words, re.Pattern):
        return f"/{words.pattern[:_LONGEST_DISPLAYED]}/"
    return repr(words[:_LONGEST_DISPLAYED])
