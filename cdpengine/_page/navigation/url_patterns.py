"""URL patterns: globs, regular expressions and functions, as one kind of test. Pure.

Rule: what cannot be a pattern is refused before anything is sent, and every pattern has words for messages.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TypeAlias

from cdpengine.errors import InvalidArgumentError

UrlPattern: TypeAlias = str | re.Pattern[str] | Callable[[str], bool]
"""A glob, in which "*" is any run of characters and everything else is itself; a compiled regular expression,
which is searched for; or a function of the URL."""


def url_test(pattern: UrlPattern) -> Callable[[str], bool]:
    """Return the test that a pattern stands for. Raises InvalidArgumentError for what is none."""
    if isinstance(pattern, str) and pattern:
        parts = [re.escape(part) for part in pattern.split("*")]
        compiled = re.compile(".*".join(parts), re.DOTALL)
        return lambda url: compiled.fullmatch(url) is not None
    if isinstance(pattern, re.Pattern):
        return lambda url: pattern.search(url) is not None
    if callable(pattern):
        return lambda url: bool(pattern(url))
    given = '""' if pattern == "" else f"a {type(pattern).__name__}"
    raise InvalidArgumentError(
        what="url", given=given, expected="a glob, a compiled regular expression or a function"
    )


def url_words(pattern: UrlPattern) -> str:
    """Return a pattern's words for messages."""
    if isinstance(pattern, str):
        return pattern[:200]
    if isinstance(pattern, re.Pattern):
        return f"/{str(pattern.pattern)[:200]}/"
    return getattr(pattern, "__name__", "a function")
