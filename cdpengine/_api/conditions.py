"""Conditions on the arguments of a wait, as plain functions. Pure.

Rule: what cannot work is refused before anything is sent, and every condition has words of its own for messages.
"""

from __future__ import annotations

from typing import Literal

from cdpengine._page.navigation.liveness import check_seconds
from cdpengine.errors import InvalidArgumentError

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


def check_text(what: str, given: str | None) -> None:
    """Raise InvalidArgumentError for a text or selector that is none or empty; None is no condition."""
    if given is not None and (not isinstance(given, str) or not given.strip()):
        raise InvalidArgumentError(what=what, given=repr(given)[:80], expected="a text that is not empty")


def check_state(state: str) -> NodeState:
    """Return the state of a node. Raises InvalidArgumentError for a name that is none."""
    for known in NODE_STATES:
        if known == state:
            return known
    expected = ", ".join(repr(known) for known in NODE_STATES)
    raise InvalidArgumentError(what="state", given=repr(state)[:80], expected=expected)


def check_optional_seconds(what: str, seconds: float | None) -> None:
    """Raise InvalidArgumentError for what is no positive number of seconds; None is no condition."""
    if seconds is not None:
        check_seconds(what, seconds)
