"""One browser of a pool, from its start to its end, with its leases and named contexts.

Rule: a browser accepts leases only while it is ready. It retires (accepts no more leases, and waits for the
current ones) when it reaches a limit of leases, age or memory. It ends immediately when its connection is lost or
it does not answer. Its end also ends its leases with a reason. The browser is closed after the leases' blocks have
been left or have timed out.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from types import TracebackType
from typing import TYPE_CHECKING, Literal

import attrs
import trio

from cdpengine._logs import get_logger
from cdpengine._notifier import Notifier
from cdpengine._nursery import open_body_nursery
from cdpengine.errors import (
    ConnectionLostError,
    EngineError,
    InvalidArgumentError,
    LeaseEndedError,
    RemoteError,
    SessionGoneError,
)
from cdpengine.errors.texts import duration
from cdpengine.pool.members import BrowserLimits, ContextOptions, Members
from cdpengine.pool.process_memory import tree_memory

if TYPE_CHECKING:
    from cdpengine._api.browser import Browser, BrowserContext, Page
    from cdpengine._storage.storage_state import StorageState

_log = get_logger("cdpengine.pool")

_LEAVING = 5.0
"""Time for ended leases to be left before their browser is closed, in seconds."""

_CLOSING_PAGE = 2.0
"""Timeout for closing the page of a lease in a named context, in seconds."""

_MEMORY_PAUSE = 1.0
"""Interval of memory measurements, in seconds. One takes about 10 ms of a thread."""

_SAVING_STATE = 5.0
"""Timeout for saving a named context's state when its browser retires, in seconds."""

BrowserStage = Literal["starting", "ready", "retiring", "ended"]

Cause = Literal["lost", "hung", "memory", "share", "age", "failed", "stopped"]
"""Reason why a browser leaves: connection lost, no answer, ..."""


@attrs.define(eq=False)
class Lease:
    """A leased page and the block that uses it.

    If the browser ends, the block is cancelled and raises an error with the reason.
    """

    browser: PooledBrowser
    context: str | None
    begun: float
    finished: Callable[[], None]
    """Called when its place is free again."""
    ended_by: str | None = None
    _scope: trio.CancelScope = attrs.field(factory=trio.CancelScope)

    def end(self, reason: str) -> None:
        """End the lease. Its block is cancelled and raises LeaseEndedError."""
        if self.ended_by is None:
            self.ended_by = reason
            self._scope.cancel()

    def __enter__(self) -> None:
        self._scope.__enter__()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> bool:
        handled = bool(self._scope.__exit__(kind, error, traceback))
        if self.ended_by is not None and (handled or _is_loss(error)):
            raise LeaseEndedError(browser=self.browser.name, reason=self.ended_by) from error
        return handled


def _is_loss(error: BaseException | None) -> bool:
    """Return whether an error is a consequence of the browser's end."""
    if isinstance(error, BaseExceptionGroup):
        return all(map(_is_loss, error.exceptions))
    return isinstance(error, ConnectionLostError | SessionGoneError | trio.Cancelled)


@attrs.define(eq=False)
class PooledBrowser:
    """One browser of a pool. `changed` is called after each change that may let a request begin."""

    name: str
    member: Members
    pages: int
    limits: BrowserLimits
    _changed: Callable[[], None]
    _states: dict[str, StorageState]
    """States of named contexts of retired browsers, for their successors."""

    stage: BrowserStage = "starting"
    reason: str = ""
    """Reason why it retires or has ended."""
    cause: Cause = "stopped"
    served: int = 0
    ended_by_name: int = 0
    memory: int = 0
    """Last measured memory in bytes; 0 without a measurement."""
    error: EngineError | None = None
    """Error with which it failed, or None."""
    ready_at: float | None = None
    left: trio.Event = attrs.field(factory=trio.Event)
    """Set when it accepts no more leases."""
    gone: trio.Event = attrs.field(factory=trio.Event)
    """Set when all its resources are gone."""
    leases: set[Lease] = attrs.field(factory=set)
    _named: dict[str, _NamedContext] = attrs.field(factory=dict)
    _changes: Notifier = attrs.field(factory=Notifier)
    _opening: trio.CancelScope = attrs.field(factory=trio.CancelScope)
    _browser: Browser | None = None
    _nursery: trio.Nursery | None = None

    # --- capacity --------------------------------------------------------------------------------------------

    @property
    def free(self) -> int:
        """Number of further leases that the browser accepts now."""
        return self.pages - len(self.leases) if self.stage == "ready" else 0

    @property
    def taken(self) -> float:
        """Used share of its capacity, divided by its weight."""
        return len(self.leases) / (self.pages * self.member.weight)

    def has_context(self, name: str) -> bool:
        """Return whether the browser has the context of that name."""
        return name in self._named

    def begin(self, context: str | None, finished: Callable[[], None]) -> Lease:
        """Reserve a place for a lease. `finish` frees it and calls `finished`."""
        lease = Lease(browser=self, context=context, begun=trio.current_time(), finished=finished)
        self.leases.add(lease)
        self.served += 1
        if context is not None:
            self._named.setdefault(context, _NamedContext(context)).users += 1
        if self.limits.leases is not None and self.served >= self.limits.leases:
            self.retire("share", f"it had served its share of {self.limits.leases} leases")
        return lease

    def finish(self, lease: Lease) -> None:
        """Free the place of a lease."""
        self.leases.discard(lease)
        lease.finished()
        if lease.context is not None and (named := self._named.get(lease.context)) is not None:
            named.users -= 1
            if named.context is None and not named.users:
                del self._named[lease.context]
        self._notify()

    # --- pages -------------------------------------------------------------------------------------------

    async def open_page(
        self, lease: Lease, stack: AsyncExitStack, options: ContextOptions, timeout: float
    ) -> Page:
        """Open the page of a lease. `stack` closes it, and its context if that is not shared.

        Raises the errors of `browser.new_context` and `browser.new_page`, and InvalidArgumentError if the named
        context was created with other options.
        """
        browser = self._running()
        if lease.context is None:
            context = await stack.enter_async_context(browser.new_context(timeout=timeout, **options))
            return await context.new_page(timeout=timeout)
        context = await self._named_context(self._named[lease.context], options, timeout)
        page = await context.new_page(timeout=timeout)
        stack.push_async_callback(_close_pages, page)
        return page

    async def close_context(self, name: str) -> bool:
        """Close a named context. Returns False if it does not exist or is in use."""
        named = self._named.get(name)
        if named is None or named.users:
            await trio.lowlevel.checkpoint()
            return False
        del self._named[name]
        named.over.set()
        await named.closed.wait()
        return True

    async def _named_context(
        self, named: _NamedContext, options: ContextOptions, timeout: float
    ) -> BrowserContext:
        assert self._nursery is not None
        async with named.making:
            if named.context is None:
                named.options = options
                await self._nursery.start(self._run_context, named, options, timeout)
            elif named.options != options:
                given = ", ".join(sorted(options)) or "none"
                raise InvalidArgumentError(
                    what=f"options of the context {named.name!r}",
                    given=given,
                    expected="the options of its creation",
                )
        assert named.context is not None
        return named.context

    async def _run_context(
        self,
        named: _NamedContext,
        options: ContextOptions,
        timeout: float,
        *,
        task_status: trio.TaskStatus[None],
    ) -> None:
        merged = ContextOptions(**options)
        if (state := self._states.pop(named.name, None)) is not None:
            merged["storage_state"] = state
        try:
            async with self._running().new_context(timeout=timeout, **merged) as context:
                named.context = context
                task_status.started()
                await named.over.wait()
        finally:
            named.context = None
            named.closed.set()

    def _running(self) -> Browser:
        if self._browser is None or self.stage == "ended":
            raise LeaseEndedError(browser=self.name, reason=self.reason)
        return self._browser

    # --- life cycle --------------------------------------------------------------------------------------------

    def retire(self, cause: Cause, reason: str) -> None:
        """Accept no more leases, and end when the current ones are finished or timed out."""
        if self.stage in ("starting", "ready"):
            self.stage, self.cause, self.reason = "retiring", cause, reason
            self._notify()

    def end(self, cause: Cause, reason: str) -> None:
        """End the browser and all its leases now."""
        if self.stage != "ended":
            self.stage, self.cause, self.reason = "ended", cause, reason
            for lease in self.leases:
                lease.end(reason)
            self.ended_by_name += len(self.leases)
            if self._browser is None:
                self._opening.cancel()
            self._notify()

    async def run(self) -> None:
        """Open the browser, watch it, and close it at its end. Raises the errors of opening it."""
        try:
            with self._opening:
                async with self.member.open() as browser, open_body_nursery() as nursery:
                    self._browser, self._nursery = browser, nursery
                    browser.session.on_end(self._lost)
                    if self.stage == "starting":
                        self.stage, self.ready_at = "ready", trio.current_time()
                        self._notify()
                        self._watch(nursery)
                    await self._until_over()
        except EngineError as error:
            self.error = error
            self.end("failed", f"it failed: {error}")
        finally:
            self.end("stopped", "the pool was cancelled")
            self._browser = self._nursery = None
            self.gone.set()
            self._notify()

    def _watch(self, nursery: trio.Nursery) -> None:
        nursery.start_soon(self._watch_answers)
        if self.limits.memory is not None and self.member.own:
            nursery.start_soon(self._watch_memory, self.limits.memory)
        if self.limits.age is not None:
            nursery.start_soon(self._watch_age, self.limits.age)

    async def _until_over(self) -> None:
        await self.left.wait()
        if self.stage == "retiring":
            with trio.move_on_after(self.limits.retire_within):
                await self._changes.wait_for(lambda: not self.leases or self.stage == "ended")
                if self.stage == "retiring":
                    await self._save_states()
        self.end(self.cause, self.reason)
        with trio.move_on_after(_LEAVING):
            await self._changes.wait_for(lambda: not self.leases)

    async def _save_states(self) -> None:
        """Save the states of named contexts for the next browser."""
        for name, named in list(self._named.items()):
            if named.context is None:
                continue
            try:
                self._states[name] = await named.context.storage.state(timeout=_SAVING_STATE)
            except EngineError as error:
                _log.warning(
                    "%s: the state of the context %s was not carried over: %s", self.name, name, error
                )

    def _lost(self) -> None:
        error = self._browser.session.error() if self._browser is not None else None
        self.end("lost", str(error) if error is not None else "its connection ended")

    async def _watch_answers(self) -> None:
        limit = self.limits.hung_after
        while True:
            await trio.sleep(limit / 4)
            with trio.move_on_after(limit) as waiting:
                try:
                    await self._running().session.call("Browser.getVersion")
                except RemoteError:
                    pass  # a refusal is an answer
                except (ConnectionLostError, LeaseEndedError):
                    return  # `_lost` handles it
            if waiting.cancelled_caught:
                self.end("hung", f"it did not answer for {duration(limit)}")
                return

    async def _watch_memory(self, most: int) -> None:
        pid = await _process_id(self._running())
        while pid is not None:
            self.memory = await trio.to_thread.run_sync(tree_memory, pid)
            if self.memory > most:
                self.retire("memory", f"its processes took {self.memory >> 20} MB of {most >> 20} MB")
                return
            await trio.sleep(_MEMORY_PAUSE)

    async def _watch_age(self, age: float) -> None:
        await trio.sleep(age)
        self.retire("age", f"it was {duration(age)} old")

    def _notify(self) -> None:
        if self.stage in ("retiring", "ended"):
            self.left.set()
        self._changes.notify()
        self._changed()


@attrs.define(eq=False)
class _NamedContext:
    """A context shared by several leases, successively or concurrently."""

    name: str
    users: int = 0
    context: BrowserContext | None = None
    options: ContextOptions = attrs.field(factory=ContextOptions)
    making: trio.Lock = attrs.field(factory=trio.Lock)
    over: trio.Event = attrs.field(factory=trio.Event)
    closed: trio.Event = attrs.field(factory=trio.Event)


async def _close_pages(page: Page) -> None:
    """Close a page and the pages that it opened. A shared context stays open."""
    opened = [page]
    for other in page.context.pages:
        if other.opener in opened:
            opened.append(other)
    with trio.move_on_after(_CLOSING_PAGE, shield=True):
        for each in opened:
            try:
                await each.close(timeout=_CLOSING_PAGE)
            except (ConnectionLostError, SessionGoneError):
                continue  # already gone


async def _process_id(browser: Browser) -> int | None:
    """Return the process id of the browser's main process."""
    try:
        answer = await browser.session.call("SystemInfo.getProcessInfo")
    except (ConnectionLostError, RemoteError):
        return None
    return next((each["id"] for each in answer["processInfo"] if each["type"] == "browser"), None)


@asynccontextmanager
async def enter_lease(lease: Lease) -> AsyncIterator[AsyncExitStack]:
    """Hold a lease for a block. At its end, close the stack first and then free the place."""
    try:
        with lease:
            async with AsyncExitStack() as stack:
                yield stack
    finally:
        lease.browser.finish(lease)
