"""SettingScope: what settings hold for, one page with what it opens or one context, and those of them that last.

Rule: entering has a timeout, and what was begun is undone when it fails; leaving is bounded, and happens however
the block ends: by itself, by an error, by cancellation, by the page's or the connection's end.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from functools import cached_property
from typing import Any, TypeVar

from cdpengine._api.browser_state import ContextCore
from cdpengine._api.page.core import PageCore
from cdpengine._api.scopes.awaitable_scope import AwaitableScope, ScopeRegistry
from cdpengine._budget import Budget, check_seconds
from cdpengine._page.page_scope import Hold, PageScope
from cdpengine.errors import InvalidArgumentError

T = TypeVar("T")


class SettingScope:
    """What `page.network`, `context.scripts` and their like work on.

    `reach` says for which pages settings hold; `entering` is the block in which one is entered, under its budget.
    """

    def __init__(
        self,
        reach: PageScope,
        entering: Callable[[str, float], AbstractAsyncContextManager[Budget]],
        *,
        evaluate_enabled: bool,
    ) -> None:
        self.reach = reach
        self.entering = entering
        self.evaluate_enabled = evaluate_enabled

    @classmethod
    def of_page(cls, core: PageCore) -> SettingScope:
        """One page, with what it opens."""
        reach = PageScope.of_page(core.state.tabs, core.target)
        return cls(reach, core.action, evaluate_enabled=core.state.evaluate_enabled)

    @classmethod
    def of_context(cls, core: ContextCore) -> SettingScope:
        """All pages of a context, those included that open later."""
        reach = PageScope(core.state.tabs, core.holds)
        return cls(reach, core.action, evaluate_enabled=core.state.evaluate_enabled)

    @cached_property
    def _registry(self) -> ScopeRegistry:
        registry = ScopeRegistry(self.reach.tabs.nursery)
        if (page := self.reach.page) is not None:
            page.session.on_end(registry.end_all)
        return registry

    def lasting(
        self, kind: str, name: str, scope: Callable[[], AbstractAsyncContextManager[T]]
    ) -> AwaitableScope[T]:
        """Return what can be awaited to last, or entered to hold for a block."""

        async def last() -> tuple[T, Callable[[], Awaitable[None]]]:
            return await self._registry.keep(kind, scope)

        return AwaitableScope(f"{name}(...)", last, scope)

    async def end(self, kind: str, where: Callable[[Any], bool] = lambda _value: True) -> int:
        """End what was awaited to last of a kind, and return how many there were."""
        return await self._registry.end(kind, where)

    def end_all(self) -> None:
        """End all that was awaited to last, without waiting: the page or context is gone."""
        if "_registry" in self.__dict__:
            self._registry.end_all()

    @asynccontextmanager
    async def held(
        self, hold: Hold, action: str, timeout: float, close: Callable[[], None] = lambda: None
    ) -> AsyncIterator[None]:
        """Have `hold` in effect while the body runs. `close` is called before anything is undone."""
        try:
            async with self.entering(action, timeout):
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
