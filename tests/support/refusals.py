"""Actions that must be refused: a short deadline on a fast machine, longer deadlines on a slow one.

Rule: the refusal comes at the deadline and names the obstacle. If the deadline passes before the page was
asked, the error names no obstacle, and the action is retried with a longer deadline. A busy machine thus
fails no test.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TypeVar

import pytest

from cdpengine.errors import DeadlineExceededError, NotInteractableError, UnreadyState

_Error = TypeVar("_Error", bound=BaseException)

DEADLINES = (0.2, 1.0, 5.0, 20.0)
"""Deadlines to try in order, in seconds."""


async def refused(
    kind: type[_Error],
    act: Callable[[float], Awaitable[object]],
    *,
    match: str | None = None,
    state: UnreadyState | None = None,
) -> pytest.ExceptionInfo[_Error]:
    """Return the error of `act`, which takes a deadline in seconds. It must be of that kind."""
    for timeout in DEADLINES:
        try:
            with pytest.raises(kind, match=match) as caught:
                await act(timeout)
        except DeadlineExceededError:
            if timeout == DEADLINES[-1]:
                raise
        else:
            if state is not None:
                assert isinstance(caught.value, NotInteractableError)
                assert caught.value.state == state
            return caught
    raise AssertionError("no deadlines are defined")
