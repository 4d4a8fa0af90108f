"""Actions that must be refused: a short deadline where the machine is quick, and longer ones where it is not.

Rule: a refusal comes at the deadline, with what stood in the way. Where the deadline came before the page was even asked,
nothing was said of the page, and the action is tried once more with a longer one; so no busy machine fails a test.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TypeVar

import pytest

from cdpengine.errors import DeadlineExceededError

_Error = TypeVar("_Error", bound=BaseException)

DEADLINES = (0.2, 1.0, 5.0, 20.0)
"""Seconds, one after the other."""


async def refused(
    kind: type[_Error], act: Callable[[float], Awaitable[object]], *, match: str | None = None
) -> pytest.ExceptionInfo[_Error]:
    """Return how `act` is refused, which takes a deadline in seconds: with an error of that kind."""
    for timeout in DEADLINES:
        try:
            with pytest.raises(kind, match=match) as caught:
                await act(timeout)
        except DeadlineExceededError:
            if timeout == DEADLINES[-1]:
                raise
        else:
            return caught
    raise AssertionError("there are no deadlines")
