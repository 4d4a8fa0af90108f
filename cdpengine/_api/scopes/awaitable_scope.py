"""AwaitableScope, a setting that is permanent or lasts for a block, and SettingScope, its set of pages.

    await page.emulation.set(timezone="Europe/Berlin")             # from now on
    async with page.emulation.set(timezone="Europe/Berlin"): ...   # for the block

`aclose` ends one awaited setting alone:

    offline = page.network.offline()
    await offline
    await offline.aclose()

Rule: each scope is either awaited or entered, once. A scope that is neither causes a warning, because it has no
effect. An awaited scope has a task in a ScopeRegistry. It lasts until it is ended, or its owner (a page or a
context) ends. The caller enters the scope within a timeout and receives its errors. If entering fails or is
cancelled, nothing remains. The task then only waits, and leaves the scope as a block does. Leaving is bounded, and
happens on every exit: normal end, error, cancellation, or the end of the page or connection.
"""

from __future__ import annotations

import warnings
from collections.abc import AsyncIterator, Awaitable, Callable, Generator, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from functools import cached_property, partial
from types import TracebackType
from typing import Any, Generic, TypeVar

import attrs
import trio

from cdpengine._api.browser_state import ContextCore
from cdpengine._api.page.core import PageCore
from cdpengine._budget import Budget, check_seconds
from cdpengine._checks import wrong_type
from cdpengine._logs import get_logger
from cdpengine._page.page_scope import PageScope, SessionOverride
from cdpengine.errors.texts import shown

T = TypeVar("T")


async def _do_nothing() -> None:
    await trio.lowlevel.checkpoint()


class AwaitableScope(Awaitable[T], AbstractAsyncContextManager[T], Generic[T]):
    """A setting that is awaited, or entered for a block.

    `scope` is its context manager. `last` makes it permanent, and returns its value and a function that ends it.
    `name` is the call as the caller wrote it.
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
        """End this awaited setting. Other settings are unaffected. A second call does nothing.

        Bounded, and completes also when cancelled. Raises RuntimeError if the setting was not awaited.
        """
        if self._end is None:
            raise RuntimeError(f"{self._name} was not awaited: there is nothing to end")
        end, self._end = self._end, _do_nothing
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

_UNDO_TIMEOUT = 2.0
"""Maximum time in seconds to wait until scopes are undone. Each scope has its own bound as well."""


@attrs.define(eq=False)
class _Scope:
    kind: str
    value: object
    end: trio.Event = attrs.field(factory=trio.Event)
    ended: trio.Event = attrs.field(factory=trio.Event)


class ScopeRegistry:
    """The awaited scopes of one page or context. Their tasks run in `nursery`."""

    def __init__(self, nursery: trio.Nursery) -> None:
        self._nursery = nursery
        self._scopes: list[_Scope] = []

    async def keep(
        self, kind: str, scope: Callable[[], AbstractAsyncContextManager[T]]
    ) -> tuple[T, Callable[[], Awaitable[None]]]:
        """Enter a scope. It lasts until `end`, or until the second returned value is called.

        Raises the errors of entering.
        """
        lasting: _Scope = await self._nursery.start(self._live, kind, scope, name=f"lasting {kind}")
        value: T = lasting.value  # type: ignore[assignment]  # the value of `scope`
        return value, partial(self._end, [lasting])

    async def end(self, kind: str, where: Callable[[Any], bool] = lambda _value: True) -> int:
        """End the scopes of a kind whose value matches, latest first, and return their number."""
        ending = [scope for scope in reversed(self._scopes) if scope.kind == kind and where(scope.value)]
        await self._end(ending)
        return len(ending)

    async def _end(self, ending: Sequence[_Scope]) -> None:
        for scope in ending:
            scope.end.set()
        with trio.move_on_after(_UNDO_TIMEOUT):
            for scope in ending:
                await scope.ended.wait()

    def end_all(self) -> None:
        """End all scopes without waiting, because their owner is gone."""
        for scope in self._scopes:
            scope.end.set()

    async def _live(
        self,
        kind: str,
        make: Callable[[], AbstractAsyncContextManager[T]],
        task_status: trio.TaskStatus[_Scope] = trio.TASK_STATUS_IGNORED,
    ) -> None:
        lasting: _Scope | None = None
        try:
            async with make() as value:
                lasting = _Scope(kind, value)
                self._scopes.append(lasting)
                task_status.started(lasting)
                await lasting.end.wait()
        except Exception:
            if lasting is None:
                raise  # in the call that entered the scope
            logger.exception("a lasting %s ended by an error", kind)
        finally:
            if lasting is not None:
                self._scopes.remove(lasting)
                lasting.ended.set()


class SettingScope:
    """The common base of `page.network`, `context.scripts` and similar parts.

    `page_scope` selects the pages to which settings apply. A setting is entered inside the block `entering`, under
    its budget. `base_url` completes relative URLs.
    """

    def __init__(
        self,
        page_scope: PageScope,
        entering: Callable[[str, float], AbstractAsyncContextManager[Budget]],
        *,
        evaluate_enabled: bool,
        base_url: str | None = None,
    ) -> None:
        self.page_scope = page_scope
        self.entering = entering
        self.evaluate_enabled = evaluate_enabled
        self.base_url = base_url

    @classmethod
    def of_page(cls, core: PageCore) -> SettingScope:
        """Return the scope of one page and the pages it opens."""
        page_scope = PageScope.of_page(core.state.tabs, core.target)
        entering = partial(core.action, also_discarded=True)
        return cls(page_scope, entering, evaluate_enabled=core.state.evaluate_enabled, base_url=core.base_url)

    @classmethod
    def of_context(cls, core: ContextCore) -> SettingScope:
        """Return the scope of all pages of a context, including later ones."""
        page_scope = PageScope(core.state.tabs, core.holds, covers_worker=core.holds)
        return cls(
            page_scope, core.action, evaluate_enabled=core.state.evaluate_enabled, base_url=core.base_url
        )

    @cached_property
    def _registry(self) -> ScopeRegistry:
        registry = ScopeRegistry(self.page_scope.tabs.nursery)
        if (page := self.page_scope.page) is not None:
            page.session.on_end(registry.end_all)
        return registry

    def lasting(
        self, kind: str, name: str, scope: Callable[[], AbstractAsyncContextManager[T]]
    ) -> AwaitableScope[T]:
        """Return a setting that can be awaited to last, or entered for a block."""
        return AwaitableScope(f"{name}(...)", partial(self.keep, kind, scope), scope)

    async def keep(
        self, kind: str, scope: Callable[[], AbstractAsyncContextManager[T]]
    ) -> tuple[T, Callable[[], Awaitable[None]]]:
        """Enter a scope that lasts until the returned function is called, or its owner ends."""
        return await self._registry.keep(kind, scope)

    async def end(self, kind: str, where: Callable[[Any], bool] = lambda _value: True) -> int:
        """End the awaited settings of a kind, and return their number."""
        return await self._registry.end(kind, where)

    def end_all(self) -> None:
        """End all awaited settings without waiting, because the page or context is gone."""
        if "_registry" in self.__dict__:
            self._registry.end_all()

    @asynccontextmanager
    async def overriding(
        self, override: SessionOverride, action: str, timeout: float, close: Callable[[], None] = lambda: None
    ) -> AsyncIterator[None]:
        """Apply `override` during the body. `close` is called before anything is undone."""
        try:
            async with self.entering(action, timeout):
                await override.enter()
            yield
        finally:
            close()
            await override.leave()


def check_function(what: str, given: object) -> None:
    """Raise InvalidArgumentError if the value is not callable."""
    if not callable(given):
        raise wrong_type(what, given, "an async function")


def check_limit(limit: float) -> float:
    """Return the timeout of a handler in seconds. Raises InvalidArgumentError."""
    return check_seconds("limit", limit)
