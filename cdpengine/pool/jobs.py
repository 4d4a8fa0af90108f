"""Jobs: functions of a page, run once for each of many items, with exactly one result each.

Rule: items are pulled from their source only as results are consumed, so a source of any length needs little
memory. A failed job is retried only if it was declared repeatable (`retries`). Each attempt is reported. An
exception of the function becomes its result and ends no other job. Ctrl-C and exits end the pool's block.
"""

from __future__ import annotations

import math
import weakref
from collections.abc import AsyncGenerator, AsyncIterable, Awaitable, Callable, Iterable
from contextlib import AbstractAsyncContextManager, aclosing
from types import TracebackType
from typing import TYPE_CHECKING, Any, Generic, TypedDict, TypeVar, cast

import attrs
import trio

from cdpengine._budget import check_timeout, within
from cdpengine._checks import check_choice, check_count, wrong_type
from cdpengine._notifier import Notifier
from cdpengine._pickling import not_picklable
from cdpengine.errors import (
    DisallowedByRobotsError,
    EngineError,
    InvalidArgumentError,
    JobCancelledError,
    LeaseEndedError,
    PackageMissingError,
    PoolUnavailableError,
)
from cdpengine.errors.misuse import refuse_await
from cdpengine.pool.members import ContextOptions

if TYPE_CHECKING:
    from cdpengine._api.browser import Page

Item = TypeVar("Item")
Value = TypeVar("Value")

JobFunction = Callable[["Page", Item], Awaitable[Value]]
"""A function of a page and an item. Its return value is the job's value."""

DoJob = Callable[[int, Item], "Awaitable[JobResult[Value]]"]
"""Function that runs the job of an item with a number, in any place."""


@attrs.frozen
class Attempt:
    """One attempt at a job: its browser, start (seconds since the job began) and duration in seconds.

    `error` is None if it succeeded.
    """

    browser: str
    begun: float
    seconds: float
    error: Exception | None


@attrs.frozen
class JobResult(Generic[Value]):
    """The result of one item: a value or an error, and the attempts, oldest first.

    `index` is the item's position in its source, from 0.
    """

    index: int
    item: object
    value: Value | None
    error: Exception | None
    attempts: tuple[Attempt, ...]

    @property
    def ok(self) -> bool:
        """Whether the job succeeded."""
        return self.error is None

    def unwrap(self) -> Value:
        """Return the value, or raise the error."""
        if self.error is not None:
            raise self.error
        return cast("Value", self.value)


class JobOptions(TypedDict, total=False):
    """Options of jobs.

    - `retries`: number of further attempts after a failure; 0 unless the job can be repeated without harm.
    - `retry_if`: predicate for errors worth a retry; by default the engine's errors, except those that would
      recur: invalid arguments, a missing package, a rule of robots.txt.
    - `timeout`: seconds for one attempt after it got its page. No limit by default.
    - `priority`: higher priorities first; 0 by default.
    - `url`: function that returns the address of an item, for limits by host; by default the item itself or its
      "url", if that is an http or https address.
    - `context`: name of a context shared by all jobs; by default each attempt has a separate one.
    - `context_options`: options of `browser.new_context`.
    """

    retries: int
    retry_if: Callable[[Exception], bool]
    timeout: float
    priority: int
    url: Callable[[Any], str | None]
    context: str | None
    context_options: ContextOptions


def is_worth_repeating(error: Exception) -> bool:
    """Return whether a retry can succeed: for the engine's errors, except permanent ones."""
    for_good = isinstance(error, InvalidArgumentError | PackageMissingError)
    closed = isinstance(error, PoolUnavailableError) and error.closed
    disallowed = isinstance(error, DisallowedByRobotsError) and error.retry_after is None
    return isinstance(error, EngineError) and not (for_good or closed or disallowed)


def address_of(item: object) -> str | None:
    """Return the http(s) address that an item is or has as its "url", or None."""
    address = item.get("url") if isinstance(item, dict) else item
    is_address = isinstance(address, str) and address.lower().startswith(("http://", "https://"))
    return cast("str", address) if is_address else None


@attrs.frozen
class JobPlan:
    """Validated options of jobs."""

    retries: int = 0
    retry_if: Callable[[Exception], bool] = is_worth_repeating
    timeout: float = math.inf
    priority: int = 0
    url: Callable[[Any], str | None] = address_of
    context: str | None = None
    context_options: ContextOptions = attrs.field(factory=ContextOptions)

    @classmethod
    def checked(cls, options: JobOptions) -> JobPlan:
        """Validate the options. Raises InvalidArgumentError."""
        for name in options:
            known = JobOptions.__annotations__
            check_choice("options of jobs", name, known, f"options among {', '.join(known)}")
        plan = cls(**options)
        check_count("retries", plan.retries)
        check_timeout(plan.timeout)
        return plan


@attrs.define(eq=False)
class LeasedForJob:
    """The page for one attempt at a job, and its browser."""

    page: Page
    browser: str


LeasePage = Callable[[JobPlan, object], AbstractAsyncContextManager[LeasedForJob]]
"""Function that leases a page for an item of a plan."""


async def run_job(
    lease: LeasePage, function: JobFunction[Item, Value], index: int, item: Item, plan: JobPlan
) -> JobResult[Value]:
    """Run one job with all its attempts, and return its result. Cancellation passes through."""
    attempts: list[Attempt] = []
    begun = trio.current_time()
    while True:
        attempt = _Attempt(trio.current_time())
        try:
            async with lease(plan, item) as leased:
                attempt.browser, attempt.begun = leased.browser, trio.current_time()
                with within("do a job", plan.timeout):
                    value = await function(leased.page, item)
        except LeaseEndedError as lost:
            attempt.browser, error = lost.browser, cast("Exception", lost)
        except Exception as raised:  # noqa: BLE001 - whatever the function raises is the job's result
            error = raised
        else:
            attempts.append(attempt.ended(begun, None))
            return JobResult(index, item, value, None, tuple(attempts))
        attempts.append(attempt.ended(begun, error))
        if len(attempts) > plan.retries or not plan.retry_if(error):
            return JobResult(index, item, None, error, tuple(attempts))


@attrs.define
class _Attempt:
    begun: float
    browser: str = ""

    def ended(self, job_begun: float, error: Exception | None) -> Attempt:
        now = trio.current_time()
        return Attempt(self.browser, self.begun - job_begun, now - self.begun, error)


@not_picklable("a list of the results")
class JobResults(Generic[Value]):
    """The results of a `map` in the order of completion: `async for result in results`. Each is a JobResult.

    Leaving the loop early stops the jobs when this object is dropped, or at the end of its `async with` block,
    which waits until they have stopped. After the last result, an error of the source is raised, or
    PoolUnavailableError if the pool had no browser.
    """

    def __init__(self, run: JobRun[Any, Value]) -> None:
        self._run = run
        # Dropping the object cannot wait. `run` does not refer to it.
        dropped = weakref.finalize(self, run.abandon_soon, trio.lowlevel.current_trio_token())
        dropped.atexit = False

    if not TYPE_CHECKING:
        __await__ = refuse_await("async for result in pool.map(...):")

    def __aiter__(self) -> JobResults[Value]:
        return self

    async def __anext__(self) -> JobResult[Value]:
        return await self._run.next_result()

    async def __aenter__(self) -> JobResults[Value]:
        await trio.lowlevel.checkpoint()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        await self.aclose()

    async def aclose(self) -> None:
        """Cancel all running jobs and wait until they have stopped."""
        self._run.scope.cancel()
        await self._run.over.wait()

    def cancel(self, index: int) -> bool:
        """Cancel the job with that number. Its result is a JobCancelledError.

        Returns False if it has ended or has not begun.
        """
        return self._run.cancel(index)


@attrs.define(eq=False)
class JobRun(Generic[Item, Value]):
    """A running `map`: the task that pulls items, the tasks of jobs, and the unconsumed results."""

    do: DoJob[Item, Value]
    source: Iterable[Item] | AsyncIterable[Item]
    ordered: bool
    ahead: int
    count: Callable[[JobResult[Any]], None]
    scope: trio.CancelScope = attrs.field(factory=trio.CancelScope)
    over: trio.Event = attrs.field(factory=trio.Event)
    _changes: Notifier = attrs.field(factory=Notifier)
    _results: dict[int, JobResult[Value]] = attrs.field(factory=dict)
    _scopes: dict[int, trio.CancelScope] = attrs.field(factory=dict)
    _pulled: int = 0
    _taken: int = 0
    _error: Exception | None = None

    async def run(self) -> None:
        """Pull the items and run the jobs."""
        try:
            with self.scope:
                async with trio.open_nursery() as nursery:
                    await self._pull(nursery)
        finally:
            if self.scope.cancelled_caught and self._error is None:
                self._error = PoolUnavailableError(
                    "continue with the jobs", "the pool or their block has ended", closed=True
                )
            self.over.set()
            self._changes.notify()

    def stop_pulling(self, error: Exception) -> None:
        """Stop pulling items. `error` is raised after the results of the pulled items."""
        if self._error is None:
            self._error = error
        self._changes.notify()

    async def _pull(self, nursery: trio.Nursery) -> None:
        items = _as_async(self.source)
        try:
            while True:
                await self._changes.wait_for(self._may_pull)
                if self._stopped():
                    return
                item = await anext(items)
                nursery.start_soon(self._do, self._pulled, item)
                self._pulled += 1
        except StopAsyncIteration:
            return
        except Exception as error:  # noqa: BLE001 - the source's own, raised where the results are taken
            self._error = error
        finally:
            await items.aclose()

    def _stopped(self) -> bool:
        return self._error is not None

    def _may_pull(self) -> bool:
        return self._stopped() or self._pulled - self._taken < self.ahead

    async def _do(self, index: int, item: Item) -> None:
        scope = self._scopes[index] = trio.CancelScope()
        with scope:
            result = await self.do(index, item)
        if scope.cancel_called:  # also if the job ended before the cancellation reached it
            result = JobResult(index, item, None, JobCancelledError(index=index), ())
        del self._scopes[index]
        if isinstance(result.error, PoolUnavailableError):
            self.stop_pulling(result.error)
        self._results[index] = result
        self.count(result)
        self._changes.notify()

    async def next_result(self) -> JobResult[Value]:
        """Return the next result. Raises StopAsyncIteration at the end, or the error that stopped the run."""

        def ready() -> JobResult[Value] | bool:
            index = self._taken if self.ordered else next(iter(self._results), -1)
            return self._results.pop(index, None) or self.over.is_set()

        result = await self._changes.wait_for(ready)
        if isinstance(result, JobResult):
            self._taken += 1
            self._changes.notify()
            return result
        if self._error is not None:
            raise self._error
        raise StopAsyncIteration

    def cancel(self, index: int) -> bool:
        """Cancel one job."""
        scope = self._scopes.get(index)
        if scope is None:
            return False
        scope.cancel()
        return True

    def abandon_soon(self, token: trio.lowlevel.TrioToken) -> None:
        """Cancel everything, from any thread. Does nothing after trio has ended."""
        if not self.over.is_set():
            try:
                token.run_sync_soon(self.scope.cancel)
            except trio.RunFinishedError:
                return


def prepare_run(
    do: DoJob[Item, Value],
    source: Iterable[Item] | AsyncIterable[Item],
    *,
    ordered: bool,
    ahead: int,
    count: Callable[[JobResult[Any]], None],
) -> JobRun[Item, Value]:
    """Create a run, whose `run` must be started. Raises InvalidArgumentError."""
    check_count("ahead", ahead, least=1)
    if not isinstance(source, Iterable | AsyncIterable) or isinstance(source, str | bytes):
        raise wrong_type("items", source, "an iterable of items, plain or async")
    return JobRun(do, source, ordered, ahead, count)


async def _as_async(source: Iterable[Item] | AsyncIterable[Item]) -> AsyncGenerator[Item, None]:
    """Yield the items of either kind of iterable, with a checkpoint before each. Close a generator at the end."""
    if isinstance(source, AsyncGenerator):
        async with aclosing(source):
            async for item in source:
                yield item
    elif isinstance(source, AsyncIterable):
        async for item in source:
            yield item
    else:
        for item in source:
            await trio.lowlevel.checkpoint()
            yield item
