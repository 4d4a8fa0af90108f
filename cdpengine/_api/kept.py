"""Kept: scopes that were awaited to last: each in a task of its own, until it is ended, or its owner is.

Rule: entering is the caller's: its errors are raised there, and a cancelled entering leaves nothing. After that
the task only waits, and ends the scope as any block ends one.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from contextlib import AbstractAsyncContextManager
from functools import partial
from typing import Any, TypeVar

import attrs
import trio

from cdpengine._logs import get_logger

T = TypeVar("T")

logger = get_logger("cdpengine.engine")

_PATIENCE = 2.0
"""Seconds that ending waits for scopes to be undone; each is bounded by itself."""


@attrs.define(eq=False)
class _Scope:
    kind: str
    value: object
    end: trio.Event = attrs.field(factory=trio.Event)
    ended: trio.Event = attrs.field(factory=trio.Event)


class Kept:
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
