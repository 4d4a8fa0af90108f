"""Texts and names that are looked for: what may be asked, and what of a page's words it is. Pure.

Rule: words are compared on one line, white space collapsed. A pattern is Python's own, searched for in the words
as they are shown; nothing of it is sent to the page.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from typing import TypeAlias, TypeVar

from cdpengine.errors import InvalidArgumentError

T = TypeVar("T")

Words: TypeAlias = "str | re.Pattern[str]"
"""A text, or a compiled pattern that is searched for."""

# Space that HTML or typography made: it means a space to a reader. Line and paragraph separators are not here.
SPACE = "\t\n\f\r \xa0\u1680\u2000-\u200a\u202f\u205f\u3000"
# Places where a line may break, and byte-order marks: they mean nothing to a reader.
NOTHING = "\xad\u200b\ufeff"

_UNTIDY = re.compile(f"[{SPACE}]{{2,}}|[{SPACE[:4]}{SPACE[5:]}{NOTHING}]|^ | $")
_SPACES = re.compile(f"[{SPACE}]+")
_BLANKS = re.compile(f"[{NOTHING}]+")

_LONGEST_SHOWN = 80


def collapse_space(text: str) -> str:
    """Return the text on one line: runs of white space become one space, soft hyphens and the like nothing."""
    if _UNTIDY.search(text) is None:
        return text
    return _SPACES.sub(" ", _BLANKS.sub("", text)).strip(" ")


def check_words(what: str, given: object, *, empty: bool = False) -> None:
    """Raise InvalidArgumentError for what is neither a text nor a compiled pattern of text; None is no condition.

    A text may be empty only with `empty`.
    """
    if given is None:
        return
    if isinstance(given, re.Pattern):
        if isinstance(given.pattern, str):
            return
        raise InvalidArgumentError(what=what, given="a pattern of bytes", expected="a pattern of str")
    if not isinstance(given, str):
        raise InvalidArgumentError(
            what=what, given=f"a {type(given).__name__}", expected="a str or a compiled pattern"
        )
    if not empty and not given.strip():
        raise InvalidArgumentError(what=what, given=repr(given)[:80], expected="a text that is not empty")


def with_name(items: Iterable[T], of: Callable[[T], str], name: Words | None, exact: bool) -> Sequence[T]:
    """Return the items whose name, as `of` gives it, is the one that is wanted; all of them where none is.

    A text is the whole name: in the same case or, where no name has the same case and `exact` is not asked for, in
    any case. A pattern is searched for.
    """
    if name is None:
        return list(items)
    if isinstance(name, re.Pattern):
        return [item for item in items if name.search(of(item))]
    items = list(items)
    wanted = collapse_space(name)
    found = [item for item in items if of(item) == wanted]
    if found or exact:
        return found
    wanted = wanted.casefold()
    return [item for item in items if of(item).casefold() == wanted]


def holds(text: str, wanted: Words, exact: bool) -> bool:
    """Say whether a text holds the wanted one: in any case or, `exact`, as all of it and in the same case."""
    if isinstance(wanted, re.Pattern):
        return wanted.search(text) is not None
    wanted = collapse_space(wanted)
    return text == wanted if exact else wanted.casefold() in text.casefold()


def describe_words(given: Words) -> str:
    """Return a text in quotes, or a pattern between slashes, cut for a message."""
    if isinstance(given, re.Pattern):
        return f"/{given.pattern[:_LONGEST_SHOWN]}/"
    return repr(given[:_LONGEST_SHOWN])
