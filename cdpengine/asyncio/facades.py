"""Facades: objects of the engine for asyncio.

Rule: a facade has every public member of its object. A coroutine runs in trio, and is awaited in asyncio. Other
members run immediately, in the same thread. Arguments and results are converted: a facade stands for its object,
and a function for one that runs in asyncio.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import AsyncGenerator, Callable, Generator
from contextlib import AbstractAsyncContextManager
from importlib import import_module
from types import TracebackType
from typing import Any

import attrs

from cdpengine._api.page.forms import Field
from cdpengine.asyncio.classes import CLASSES
from cdpengine.asyncio.guest_run import GuestRun, HeldBlock

PREFIX = "Asyncio"
"""The beginning of the name of each facade's class."""


class Facade:
    """An object of the engine for asyncio. `of` is the engine's own object, for trio, and `guest_run` its run."""

    __slots__ = ("guest_run", "of")

    def __init__(self, of: Any, run: GuestRun) -> None:
        self.of = of
        self.guest_run = run

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return to_asyncio(getattr(self.of, name), self.guest_run)

    def __dir__(self) -> list[str]:
        return dir(self.of)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Facade) and bool(self.of == other.of)

    def __hash__(self) -> int:
        return hash(self.of)

    def __repr__(self) -> str:
        return repr(self.of)

    def __str__(self) -> str:
        return str(self.of)


class AsyncioBlock:
    """An `async with` block of the engine, entered and left in asyncio."""

    __slots__ = ("_held", "_manager", "_run")

    def __init__(self, manager: AbstractAsyncContextManager[Any], run: GuestRun) -> None:
        self._manager = manager
        self._run = run
        self._held: HeldBlock[Any] | None = None

    async def __aenter__(self) -> Any:
        self._held = self._run.hold(self._manager, f"asyncio: {type(self._manager).__name__}")
        return to_asyncio(await self._held.enter(), self._run)

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> bool:
        assert self._held is not None
        return await self._held.leave(error)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._manager, name)  # its error shows the block to write


class AsyncioAwaitableScope(AsyncioBlock):
    """A setting that is awaited, or entered for a block."""

    __slots__ = ()

    def __await__(self) -> Generator[Any, Any, Any]:
        return self._set().__await__()

    async def _set(self) -> Any:
        async def wait() -> Any:
            return await self._manager  # type: ignore[misc] # it is an AwaitableScope

        return to_asyncio(await self._run.call(wait, "asyncio: a setting"), self._run)

    async def aclose(self) -> None:
        """End this awaited setting. See the engine's AwaitableScope."""
        await self._run.call(self._manager.aclose, "asyncio: aclose")  # type: ignore[attr-defined]


class AsyncioIterator:
    """An asynchronous iterator of the engine."""

    __slots__ = ("_items", "_run")

    def __init__(self, items: AsyncGenerator[Any, Any], run: GuestRun) -> None:
        self._items = items
        self._run = run

    def __aiter__(self) -> AsyncioIterator:
        return self

    async def __anext__(self) -> Any:
        return to_asyncio(await self._run.call(self._items.__anext__, "asyncio: the next item"), self._run)

    async def aclose(self) -> None:
        """End the iteration."""
        await self._run.call(self._items.aclose, "asyncio: the end of an iteration")


# --- classes -------------------------------------------------------------------------------------------------


def _forward(name: str) -> Callable[..., Any]:
    """Return a special method that calls the one of the engine's object."""

    def method(self: Facade, *args: Any) -> Any:
        return _convert_function(getattr(self.of, name), self.guest_run)(*args)

    return method


def _iterate(self: Facade) -> Facade:
    return self


@functools.cache
def _make_class(of: type) -> type[Facade]:
    """Return the class of the facades of a live class."""
    special: dict[str, Any] = {
        name: _forward(name)
        for name in ("__anext__", "__iter__", "__len__", "__getitem__", "__contains__", "__bool__")
        if hasattr(of, name)
    }
    if "__anext__" in special:
        special["__aiter__"] = _iterate
    if "__iter__" in special:
        special["__iter__"] = lambda self: iter([to_asyncio(each, self.guest_run) for each in self.of])
    name = PREFIX + of.__name__
    return type(name, (Facade,), {"__slots__": (), "__doc__": of.__doc__, "of_class": of, **special})


def find_class(name: str) -> type:
    """Return the facade class of that name. Raises AttributeError."""
    if name == AsyncioAwaitableScope.__name__:
        return AsyncioAwaitableScope
    own = name.removeprefix(PREFIX)
    for module, names in CLASSES.items():
        if own in names and name != own:
            return _make_class(getattr(import_module(module), own))
    raise AttributeError(f"module 'cdpengine.asyncio' has no attribute {name!r}", name=name)


_classes: dict[type, type[Facade] | None] = {}
"""The facade classes for the classes of values that were converted."""


def _class_for(kind: type) -> type[Facade] | None:
    """Return the facade class for objects of a class, or None for plain values."""
    if kind not in _classes:
        bases = (base for base in kind.__mro__ if base.__name__ in CLASSES.get(base.__module__, ()))
        base = next(bases, None)
        _classes[kind] = None if base is None else _make_class(base)
    return _classes[kind]


# --- conversion ----------------------------------------------------------------------------------------------


def to_asyncio(value: Any, run: GuestRun) -> Any:
    """Convert a value of the engine for asyncio. Elements of lists are converted too, and values of mappings."""
    kind = type(value)
    if (facade := _class_for(kind)) is not None:
        return facade(value, run)
    if kind in (list, tuple):
        live = any(_class_for(type(each)) is not None for each in value[:1])
        return kind(to_asyncio(each, run) for each in value) if live else value
    if kind is dict:
        live = any(_class_for(type(each)) is not None for each in value.values())
        return {key: to_asyncio(each, run) for key, each in value.items()} if live else value
    if inspect.isroutine(value):
        return _convert_function(value, run)
    if inspect.iscoroutine(value):
        return _await(value, run)
    if inspect.isasyncgen(value):
        return AsyncioIterator(value, run)
    if isinstance(value, AbstractAsyncContextManager):
        return (AsyncioAwaitableScope if hasattr(kind, "__await__") else AsyncioBlock)(value, run)
    return value


def _convert_function(function: Callable[..., Any], run: GuestRun) -> Callable[..., Any]:
    """Return a method of the engine for callers in asyncio."""

    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        return to_asyncio(function(*to_trio(args, run), **to_trio(kwargs, run)), run)

    @functools.wraps(function)
    async def call_in_trio(*args: Any, **kwargs: Any) -> Any:
        # The engine's coroutine is created in trio: a task that is cancelled before it starts creates none.
        begin = functools.partial(function, *to_trio(args, run), **to_trio(kwargs, run))
        undo = _close if function.__name__ == "new_page" else None
        return to_asyncio(await run.call(begin, f"asyncio: {function.__name__}", undo), run)

    return call_in_trio if inspect.iscoroutinefunction(function) else call


async def _await(coroutine: Any, run: GuestRun) -> Any:
    return to_asyncio(await run.call(lambda: coroutine, f"asyncio: {coroutine.__name__}"), run)


async def _close(page: Any) -> None:
    await page.close()


def to_trio(value: Any, run: GuestRun) -> Any:
    """Convert an argument for the engine. Facades and functions inside of collections are converted too."""
    if isinstance(value, Facade):
        return value.of
    kind = type(value)
    if kind in (list, tuple, set, frozenset):
        return kind(to_trio(each, run) for each in value)
    if kind is dict:
        return {to_trio(key, run): to_trio(each, run) for key, each in value.items()}
    if kind is Field:
        return attrs.evolve(value, target=to_trio(value.target, run))
    if isinstance(value, type):
        return getattr(value, "of_class", value)
    if callable(value):
        return _convert_callback(value, run)
    return value


def _convert_callback(function: Callable[..., Any], run: GuestRun) -> Callable[..., Any]:
    """Return a function of asyncio for the engine. A coroutine that it returns runs as a task of the loop."""

    @functools.wraps(function, updated=())
    def call(*args: Any, **kwargs: Any) -> Any:
        given = {key: to_asyncio(each, run) for key, each in kwargs.items()}
        result = function(*(to_asyncio(each, run) for each in args), **given)
        if not inspect.isawaitable(result):
            return to_trio(result, run)
        return _await_callback(result, run)

    return call


async def _await_callback(awaitable: Any, run: GuestRun) -> Any:
    async def wait() -> Any:
        return await awaitable

    return to_trio(await run.await_in_asyncio(wait()), run)
