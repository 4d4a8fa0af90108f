"""Lasting: a setting that is awaited to last, or entered to hold for a block.

    await page.emulate(timezone="Europe/Berlin")             # from now on
    async with page.emulate(timezone="Europe/Berlin"): ...   # for the block

What was awaited is ended alone by `aclose`:

    offline = page.offline()
    await offline
    await offline.aclose()

Rule: it does one of the two, once; one that does neither is a mistake, and a warning says so.
"""

from __future__ import annotations

import warnings
from collections.abc import Awaitable, Callable, Generator
from contextlib import AbstractAsyncContextManager
from types import TracebackType
from typing import Any, Generic, TypeVar

import trio

from cdpengine.errors.words import shown

T = TypeVar("T")


async def _nothing() -> None:
    await trio.lowlevel.checkpoint()


class AwaitableScope(Awaitable[T], AbstractAsyncContextManager[T], Generic[T]):
    """`last` sets it for good, and gives its value and what ends it; `scope` sets it for a block.

    `name` is how the caller wrote it.
    """

    def __init__(
        self,
        name: str,
        last: Callable[[], Awaitable[tuple[T, Callable[[], Awaitable[object]]]]],
        scope: Callable[[], AbstractAsyncContextManager[T]],
    ) -> None:
        self._name = name
        self._last = last
        self._scope = scope
        self._used = False
        self._end: Callable[[], Awaitable[object]] | None = None
        self._entered: AbstractAsyncContextManager[T] | None = None

    def __await__(self) -> Generator[Any, Any, T]:
        self._use()
        return self._set().__await__()

    async def _set(self) -> T:
        value, self._end = await self._last()
        return value

    async def aclose(self) -> None:
        """End what was awaited to last, this one alone; what was set beside it stays. Twice is as good as once.

        Bounded, and done also when it is cancelled. Raises RuntimeError for one that was not awaited.
        """
        if self._end is None:
            raise RuntimeError(f"{self._name} was not awaited: there is nothing to end")
        end, self._end = self._end, _nothing
        await end()

    async def __aenter__(self) -> T:
        self._use()
        self._entered = self._scope()
        return await self._entered.__aenter__()

    async def __aexit__(
        self,
        exc_type: type[BaseException] | None,
        exc: BaseException | None,
        traceback: TracebackType | None,
    ) -> bool | None:
        assert self._entered is not None
        return await self._entered.__aexit__(exc_type, exc, traceback)

    def _use(self) -> None:
        if self._used:
            raise RuntimeError(f"{self._name} was used before: call it again")
        self._used = True

    def __del__(self) -> None:
        if not self._used:
            text = f"{self._name} was neither awaited nor entered with `async with`: nothing was set"
            warnings.warn(shown(text), RuntimeWarning, stacklevel=2)
