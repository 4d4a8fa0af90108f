"""Kept: scopes that were awaited to last: each in a task of its own, until it is ended, or its owner is.

Rule: entering is the caller's: its errors are raised there, and a cancelled entering leaves nothing. After that
the task only waits, and ends the scope as any block ends one.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from typing import Any, TypeVar

import attrs
import trio

from cdpengine.logs import get_logger

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

    async def keep(self, kind: str, scope: Callable[[], AbstractAsyncContextManager[T]]) -> T:
        """Enter a scope and return its value; it lasts until `end`. Raises what entering raises."""
        value: T = await self._nursery.start(self._live, kind, scope, name=f"lasting {kind}")
        return value

    async def end(self, kind: str, where: Callable[[Any], bool] = lambda _value: True) -> int:
        """End the scopes of a kind whose value is meant, the latest first, and return how many there were."""
        ending = [scope for scope in reversed(self._scopes) if scope.kind == kind and where(scope.value)]
        for scope in ending:
            scope.end.set()
        with trio.move_on_after(_PATIENCE):
            for scope in ending:
                await scope.ended.wait()
        return len(ending)

    def end_all(self) -> None:
        """End them all, without waiting: their owner is gone."""
        for scope in self._scopes:
            scope.end.set()

    async def _live(
        self,
        kind: str,
        make: Callable[[], AbstractAsyncContextManager[T]],
        task_status: trio.TaskStatus[T] = trio.TASK_STATUS_IGNORED,
    ) -> None:
        kept: _Scope | None = None
        try:
            async with make() as value:
                kept = _Scope(kind, value)
                self._scopes.append(kept)
                task_status.started(value)
                await kept.end.wait()
        except Exception:
            if kept is None:
                raise  # to who asked for it
            logger.exception("a lasting %s ended by an error", kind)
        finally:
            if kept is not None:
                self._scopes.remove(kept)
                kept.ended.set()
