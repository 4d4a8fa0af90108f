"""Conditions on URLs and on the arguments of a wait, as plain functions. Pure.

Rule: what cannot work is refused before anything is sent, and every condition has words of its own for messages.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Literal, TypeAlias

from cdpengine.browser.liveness import check_seconds
from cdpengine.errors import InvalidArgument

UrlPattern: TypeAlias = str | re.Pattern[str] | Callable[[str], bool]
"""A glob, in which "*" is any run of characters and everything else is itself; a compiled regular expression,
which is searched for; or a function of the URL."""

NodeState = Literal[
    "attached", "detached", "visible", "hidden", "enabled", "disabled", "checked", "unchecked"
]

NODE_STATES: tuple[NodeState, ...] = (
    "attached",
    "detached",
    "visible",
    "hidden",
    "enabled",
    "disabled",
    "checked",
    "unchecked",
)


def url_test(pattern: UrlPattern) -> Callable[[str], bool]:
    """Return the test that a pattern stands for. Raises InvalidArgument for what is none."""
    if isinstance(pattern, str) and pattern:
        parts = [re.escape(part) for part in pattern.split("*")]
        compiled = re.compile(".*".join(parts), re.DOTALL)
        return lambda url: compiled.fullmatch(url) is not None
    if isinstance(pattern, re.Pattern):
        return lambda url: pattern.search(url) is not None
    if callable(pattern):
        return lambda url: bool(pattern(url))
    given = '""' if pattern == "" else f"a {type(pattern).__name__}"
    raise InvalidArgument(
        what="url", given=given, expected="a glob, a compiled regular expression or a function"
    )


def url_words(pattern: UrlPattern) -> str:
    """Return a pattern's words for messages."""
    if isinstance(pattern, str):
        return pattern[:200]
    if isinstance(pattern, re.Pattern):
        return f"/{str(pattern.pattern)[:200]}/"
    return getattr(pattern, "__name__", "a function")


def check_words(what: str, given: str | None) -> None:
    """Raise InvalidArgument for a text or selector that is none or empty; None is no condition."""
    if given is not None and (not isinstance(given, str) or not given.strip()):
        raise InvalidArgument(what=what, given=repr(given)[:80], expected="a text that is not empty")


def check_state(state: str) -> NodeState:
    """Return the state of a node. Raises InvalidArgument for a name that is none."""
    for known in NODE_STATES:
        if known == state:
            return known
    expected = ", ".join(repr(known) for known in NODE_STATES)
    raise InvalidArgument(what="state", given=repr(state)[:80], expected=expected)


def check_optional_seconds(what: str, seconds: float | None) -> None:
    """Raise InvalidArgument for what is no positive number of seconds; None is no condition."""
    if seconds is not None:
        check_seconds(what, seconds)
