"""Calls of handlers: functions of the user that answer an event, a request or a script.

Rule: a handler may raise anything. Its caller catches all exceptions, reports the failure, and continues.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable

from cdpengine.errors import InvalidArgumentError

_LONGEST_FAILURE = 300
"""Maximum length of a described failure, in characters."""


async def call_handler(handler: Callable[..., object], *args: object) -> object:
    """Return the result of a handler, which can be a sync or an async function."""
    result = handler(*args)
    return await result if inspect.isawaitable(result) else result


async def call_async_handler(handler: Callable[..., object], *args: object) -> None:
    """Run a handler that is an async function. Raises InvalidArgumentError for another function."""
    result = handler(*args)
    if not inspect.isawaitable(result):
        raise InvalidArgumentError(
            what="handler",
            given=f"a function that returns a {type(result).__name__}",
            expected="an async function",
        )
    await result


def describe_failure(error: Exception) -> str:
    """Return the type and the message of an exception that a handler raised."""
    return f"{type(error).__name__}: {error}"[:_LONGEST_FAILURE]
