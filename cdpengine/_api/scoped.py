"""Scoped: what a page and a browser context share: things that hold for a block, or last, and are undone.

Rule: entering has a timeout, and what was begun is undone when it fails; leaving is bounded, and happens however
the block ends: by itself, by an error, by cancellation, by the page's or the connection's end.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from functools import cached_property
from typing import TypeVar

from cdpengine._api.awaitable_scope import AwaitableScope, ScopeRegistry
from cdpengine._budget import Budget, check_seconds
from cdpengine._page.page_scope import Hold, PageScope
from cdpengine.errors import InvalidArgumentError

T = TypeVar("T")


class Scoped:
    """The base of what has a reach: one page with what it opens, or one context."""

    def _reach(self) -> PageScope:
        """Return what things hold for."""
        raise NotImplementedError

    def _entering(self, action: str, timeout: float) -> AbstractAsyncContextManager[Budget]:
        """Return the block in which a scope is entered, under its budget."""
        raise NotImplementedError

    @cached_property
    def _kept(self) -> ScopeRegistry:
        kept = ScopeRegistry(self._reach().tabs.nursery)
        if (page := self._reach().page) is not None:
            page.session.on_end(kept.end_all)
        return kept

    def _lasting(
        self, kind: str, name: str, scope: Callable[[], AbstractAsyncContextManager[T]]
    ) -> AwaitableScope[T]:
        """Return what can be awaited to last, or entered to hold for a block."""

        async def last() -> tuple[T, Callable[[], Awaitable[None]]]:
            return await self._kept.keep(kind, scope)

        return AwaitableScope(f"{name}(...)", last, scope)

    def end_lasting(self) -> None:
        """End all that was awaited to last, without waiting: the page or context is gone. For the engine."""
        if "_kept" in self.__dict__:
            self._kept.end_all()

    @asynccontextmanager
    async def _held(
        self, hold: Hold, action: str, timeout: float, close: Callable[[], None] = lambda: None
    ) -> AsyncIterator[None]:
        """Have `hold` in effect while the body runs. `close` is called before anything is undone."""
        try:
            async with self._entering(action, timeout):
                await hold.enter()
            yield
        finally:
            close()
            await hold.leave()


def check_function(what: str, given: object) -> None:
    """Raise InvalidArgumentError for what cannot be called."""
    if not callable(given):
        raise InvalidArgumentError(what=what, given=f"a {type(given).__name__}", expected="an async function")


def check_limit(limit: float) -> float:
    """Return the seconds that a handler gets. Raises InvalidArgumentError."""
    return check_seconds("limit", limit)
