"""AwaitableScope: a setting that is awaited to last, or entered to hold for a block.

    await page.emulation.set(timezone="Europe/Berlin")             # from now on
    async with page.emulation.set(timezone="Europe/Berlin"): ...   # for the block

What was awaited is ended alone by `aclose`:

    offline = page.network.offline()
    await offline
    await offline.aclose()

Rule: it does one of the two, once; one that does neither is a mistake, and a warning says so. Those that last have
a task each in a ScopeRegistry, until they are ended, or their owner is. Entering is the caller's: its errors are
raised there, and a cancelled entering leaves nothing. After that the task only waits, and ends the scope as any
block ends one.
"""

from __future__ import annotations

import warnings
from collections.abc import Awaitable, Callable, Generator, Sequence
from contextlib import AbstractAsyncContextManager
from functools import partial
from types import TracebackType
from typing import Any, Generic, TypeVar

import attrs
import trio

from cdpengine._logs import get_logger
from cdpengine.errors.texts import shown

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


logger = get_logger("cdpengine.engine")

_PATIENCE = 2.0
"""Seconds that ending waits for scopes to be undone; each is bounded by itself."""


@attrs.define(eq=False)
class _Scope:
    kind: str
    value: object
    end: trio.Event = attrs.field(factory=trio.Event)
    ended: trio.Event = attrs.field(factory=trio.Event)


class ScopeRegistry:
    """The scopes of one page or context that last. Their tasks live in `nursery`."""

    def __init__(self, nursery: trio.Nursery) -> None:
        self._nursery = nursery
        self._scopes: list[_Scope] = []

    async def keep(
        self, kind: str, scope: Callable[[], AbstractAsyncContextManager[T]]
    ) -> tuple[T, Callable[[], Awaitable[None]]]:
        """Enter a scope; it lasts until `end`, or until what is returned beside its value is called.

        Raises what entering raises.
        """
        kept: _Scope = await self._nursery.start(self._live, kind, scope, name=f"lasting {kind}")
        value: T = kept.value  # type: ignore[assignment]  # what `scope` gave
        return value, partial(self._end, [kept])

    async def end(self, kind: str, where: Callable[[Any], bool] = lambda _value: True) -> int:
        """End the scopes of a kind whose value is meant, the latest first, and return how many there were."""
        ending = [scope for scope in reversed(self._scopes) if scope.kind == kind and where(scope.value)]
        await self._end(ending)
        return len(ending)

    async def _end(self, ending: Sequence[_Scope]) -> None:
        for scope in ending:
            scope.end.set()
        with trio.move_on_after(_PATIENCE):
            for scope in ending:
                await scope.ended.wait()

    def end_all(self) -> None:
        """End them all, without waiting: their owner is gone."""
        for scope in self._scopes:
            scope.end.set()

    async def _live(
        self,
        kind: str,
        make: Callable[[], AbstractAsyncContextManager[T]],
        task_status: trio.TaskStatus[_Scope] = trio.TASK_STATUS_IGNORED,
    ) -> None:
        kept: _Scope | None = None
        try:
            async with make() as value:
                kept = _Scope(kind, value)
                self._scopes.append(kept)
                task_status.started(kept)
                await kept.end.wait()
        except Exception:
            if kept is None:
                raise  # to who asked for it
            logger.exception("a lasting %s ended by an error", kind)
        finally:
            if kept is not None:
                self._scopes.remove(kept)
                kept.ended.set()
