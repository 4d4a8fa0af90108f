"""Errors of wrong code: an unknown name or argument, and `await` in the place of `async with`.

Rule: wrong code raises AttributeError or TypeError as usual. If a table of `other_libraries.py` has the name, the
error adds the engine's call or argument.
"""

from __future__ import annotations

import functools
import inspect
import re
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import TYPE_CHECKING, Any, Generic, NoReturn, ParamSpec, TypeVar, cast

T = TypeVar("T")
P = ParamSpec("P")


def explain_arguments(error: TypeError, names: Mapping[str, str], function: Callable[..., Any]) -> TypeError:
    """Return the error of a call with wrong arguments, with the engine's argument if `names` has the wrong one."""
    message = str(error).replace(function.__qualname__, function.__name__)
    wrong = _UNEXPECTED.search(message)
    name = wrong[1] if wrong else "" if _POSITIONAL.search(message) else None
    ours = None if name is None else names.get(name)
    return error if ours is None else TypeError(f"{message}. In cdpengine: {ours}")


_UNEXPECTED = re.compile(r"got an unexpected keyword argument '(\w+)'")
_POSITIONAL = re.compile(r"takes .*positional arguments? but .*given")


def refuse_arguments(call: str, given: Mapping[str, object], names: Mapping[str, str]) -> None:
    """Raise the TypeError of `explain_arguments` for a name of the table. For methods with `**options`."""
    for name in given:
        if (ours := names.get(name)) is not None:
            raise TypeError(f"{call}() got an unexpected keyword argument {name!r}. In cdpengine: {ours}")


def name_our_arguments(names: Mapping[str, str]) -> Callable[[Callable[P, T]], Callable[P, T]]:
    """Return a decorator for a method. Wrong arguments raise the TypeError of `explain_arguments`."""

    def decorate(function: Callable[P, T]) -> Callable[P, T]:
        @functools.wraps(function)
        def call(*args: P.args, **kwargs: P.kwargs) -> T:
            try:
                return function(*args, **kwargs)
            except TypeError as error:
                if not is_about_arguments(error):
                    raise
                raise explain_arguments(error, names, function) from None

        @functools.wraps(function)
        async def call_async(*args: P.args, **kwargs: P.kwargs) -> Any:
            return await cast("Awaitable[Any]", call(*args, **kwargs))

        return cast("Callable[P, T]", call_async) if inspect.iscoroutinefunction(function) else call

    return decorate


def is_about_arguments(error: TypeError) -> bool:
    """Return whether a call failed before its function ran. Use it in the function that catches the error."""
    return error.__traceback__ is not None and error.__traceback__.tb_next is None


def refuse_await(statement: str) -> Callable[[object], NoReturn]:
    """Return an `__await__` whose TypeError shows the statement to write, such as "async with launch():"."""

    def __await__(_self: object) -> NoReturn:  # noqa: N807 - it becomes the class's own
        raise TypeError(f"this cannot be awaited. Use `{statement}`")

    return __await__


class Block(AbstractAsyncContextManager[T], Generic[T]):
    """The context manager of a `block` function. `written` is the block in errors."""

    def __init__(self, manager: AbstractAsyncContextManager[T], written: str) -> None:
        self._manager = manager
        self._written = written

    def __aenter__(self) -> Coroutine[Any, Any, T]:
        return self._manager.__aenter__()

    def __aexit__(self, *ended: Any) -> Coroutine[Any, Any, bool | None]:
        return self._manager.__aexit__(*ended)

    if not TYPE_CHECKING:

        def __await__(self) -> NoReturn:
            refuse_await(f"async with {self._written}:")(self)

        def __aiter__(self) -> NoReturn:
            raise TypeError(f"iterate over the value of the block. Use `async with {self._written}:`")

        def __enter__(self) -> NoReturn:
            raise TypeError(f"this is an async block. Use `async with {self._written}:`")

        def __exit__(self, *ended: object) -> None:
            """Never called."""

        def __getattr__(self, name: str) -> NoReturn:
            if name.startswith("_"):
                raise AttributeError(name)
            raise AttributeError(
                f"the block was not entered, so it has no {name!r}. Use `async with {self._written}:`",
                name=name,
                obj=self,
            )


def block(
    written: str, names: Mapping[str, str] = {}
) -> Callable[[Callable[P, AsyncIterator[T]]], Callable[P, Block[T]]]:
    """Return a decorator like `asynccontextmanager`, whose errors show the block to write: `written`.

    In `written`, {0._noun} is an attribute of the object whose method it is.
    Wrong arguments raise the TypeError of `explain_arguments`.
    """

    def decorate(function: Callable[P, AsyncIterator[T]]) -> Callable[P, Block[T]]:
        make = asynccontextmanager(function)

        @functools.wraps(function)
        def call(*args: P.args, **kwargs: P.kwargs) -> Block[T]:
            try:
                return Block(make(*args, **kwargs), written.format(*args))
            except TypeError as error:  # about the arguments, because the function runs only in the block
                raise explain_arguments(error, names, function) from None

        return call

    return decorate


def name_ours(names: Mapping[str, str]) -> Callable[[object, str], NoReturn]:
    """Return a `__getattr__` whose AttributeError names the engine's call for a name of another library."""

    def __getattr__(self: object, name: str) -> NoReturn:  # noqa: N807 - it becomes the class's own
        ours = names.get(name)
        advice = f". In cdpengine: {ours}" if ours else ""
        raise AttributeError(
            f"{type(self).__name__!r} object has no attribute {name!r}{advice}", name=name, obj=self
        )

    return __getattr__
