"""A pool of browsers whose pages are leased to tasks, one task at a time.

Rule: leases are granted in the order of `queue.py`, in a ready browser. Every browser that ends is replaced.
Waiting is bounded: if no browser has been ready for the pool's `timeout`, all waiting requests raise
PoolUnavailableError. After the block no browser, profile, context or task is left.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import AsyncIterable, AsyncIterator, Iterable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from functools import partial
from typing import TYPE_CHECKING, Any, Self, TypeVar, Unpack

import attrs
import trio

from cdpengine._budget import Budget, check_timeout, within
from cdpengine._checks import check_count
from cdpengine._nursery import open_body_nursery
from cdpengine._page.navigation.navigation import check_url
from cdpengine._pickling import not_picklable
from cdpengine.errors import (
    ConnectionLostError,
    EngineError,
    LeaseEndedError,
    PoolUnavailableError,
)
from cdpengine.errors.misuse import block, refuse_await
from cdpengine.pool.browser_slots import BrowserSlots
from cdpengine.pool.host_turns import HostTurns
from cdpengine.pool.jobs import (
    JobFunction,
    JobOptions,
    JobPlan,
    JobResult,
    JobResults,
    JobRun,
    LeasedForJob,
    prepare_run,
    run_job,
)
from cdpengine.pool.members import (
    BrowserLimits,
    ContextOptions,
    LaunchOptions,
    Members,
    choose_members,
)
from cdpengine.pool.one_time_block import BlockEnteredOnce
from cdpengine.pool.pooled_browser import Lease, PooledBrowser, enter_lease
from cdpengine.pool.queue import WaitingLease, WaitingLeases
from cdpengine.pool.statistics import PoolCounts, PooledBrowserStatistics, PoolStatistics

if TYPE_CHECKING:
    from cdpengine._api.browser import Page
    from cdpengine.pool.manners.manners import Manners

Item = TypeVar("Item")
Value = TypeVar("Value")

_LEASING = "lease a page"

_CLOSING = 15.0
"""Time for all browsers together to close at the end of the block, in seconds; each takes at most 4 alone."""


@not_picklable("its statistics")
class BrowserPool:
    """Pages of several browsers. `async with BrowserPool(browsers=2, pages=10) as pool`.

    `browsers`: the number of browsers to launch, or the members: LaunchedBrowsers, RemoteBrowsers, or several of
    them. `pages`: maximum number of pages in each browser. `limits`: when to replace a browser. `launch`: options
    of `cdpengine.launch` for a number of browsers. `manners`: leases with a URL wait for their turn at the host
    and obey its robots.txt; responses 429 and 503 are noted. `timeout`: how long the pool may be without a
    browser, at its start and later, in seconds.

    Entering the block waits for the first browser. If none starts, it raises the error of its start:
    LaunchFailedError or ConnectFailedError. Raises InvalidArgumentError.
    """

    def __init__(
        self,
        browsers: int | Members | Sequence[Members] = 1,
        *,
        pages: int = 10,
        limits: BrowserLimits | None = None,
        launch: LaunchOptions | None = None,
        manners: Manners | None = None,
        timeout: float = 60,
    ) -> None:
        check_count("pages", pages, least=1)
        self._waiting = WaitingLeases()
        self._counts = PoolCounts()
        self._browsers = BrowserSlots(
            choose_members(browsers, launch),
            pages=pages,
            limits=limits or BrowserLimits(),
            timeout=check_timeout(timeout),
            counts=self._counts,
            changed=self._give,
        )
        self._numbers = itertools.count()
        self._turns = None if manners is None else HostTurns(manners, self._give)
        self._stopped: str | None = None
        self._draining = False
        self._runs: set[JobRun[Any, Any]] = set()
        self._block = BlockEnteredOnce("a pool", self._running)
        self._nursery: trio.Nursery | None = None

    if not TYPE_CHECKING:
        __await__ = refuse_await("async with BrowserPool(...) as pool:")

    def __repr__(self) -> str:
        ready = sum(browser.stage == "ready" for browser in self._browsers.running)
        return f"<BrowserPool {ready} browsers ready>"

    @property
    def capacity(self) -> int:
        """Maximum number of pages when all browsers are ready."""
        return self._browsers.capacity

    # --- its block -------------------------------------------------------------------------------------------

    async def __aenter__(self) -> Self:
        await self._block.enter()
        return self

    async def __aexit__(self, *ended: object) -> bool | None:
        return await self._block.leave(*ended)

    @asynccontextmanager
    async def _running(self) -> AsyncIterator[None]:
        async with open_body_nursery() as nursery:
            self._nursery = nursery
            try:
                await self._browsers.start(nursery, self._refuse_waiting)
                if self._turns is not None:
                    nursery.start_soon(self._turns.run)
                yield
            finally:
                self.stop("has ended")
                with trio.move_on_after(_CLOSING, shield=True):
                    await self._browsers.wait_until_gone()

    # --- leases ----------------------------------------------------------------------------------------------

    @block("pool.page() as page")
    async def page(
        self,
        url: str | None = None,
        *,
        context: str | None = None,
        priority: int = 0,
        timeout: float = 30,
        **options: Unpack[ContextOptions],
    ) -> AsyncIterator[Page]:
        """Lease a page for a block, and navigate it to `url` if given. Leaving the block closes the page.

        The page is in a separate context, or in the context named `context`. A named context is created on first
        use, and closed with its browser or by `close_context`. A retiring browser passes its state (cookies, local
        storage) on. `options` are options of `browser.new_context`. Requests of a higher `priority` come first.
        `timeout` limits getting the page, including the wait, but not the block; in seconds.

        Raises LeaseEndedError if the browser is lost or replaced. If that happens while the page is being opened,
        another browser is used instead. Raises DeadlineExceededError, PoolUnavailableError, and the errors of
        `browser.new_context` and `page.goto`.
        """
        self._check_open(_LEASING)
        if url is not None:
            check_url(url)
        budget = Budget.start(_LEASING, timeout)
        async with self._lease(self._request(url, priority, context), options, budget) as (page, _lease):
            if url is not None:
                await page.goto(url, timeout=budget.remaining)
            yield page

    @asynccontextmanager
    async def _lease(
        self, request: _Request, options: ContextOptions, budget: Budget
    ) -> AsyncIterator[tuple[Page, Lease]]:
        if self._turns is not None and request.url is not None:
            with budget.scope() as asking:
                await self._turns.manners.check(request.url)
            if asking.cancelled_caught:
                raise budget.exceeded()
        while True:
            lease = await self._wait_for_turn(request, budget)
            async with AsyncExitStack() as block:
                try:
                    page = await block.enter_async_context(self._open(lease, options, budget))
                except (LeaseEndedError, ConnectionLostError):
                    if lease.ended_by is None or self._stopped is not None:
                        raise
                    continue  # the page was not used yet: try another browser
                yield page, lease
                return

    @asynccontextmanager
    async def _open(self, lease: Lease, options: ContextOptions, budget: Budget) -> AsyncIterator[Page]:
        async with enter_lease(lease) as stack:
            page = await lease.browser.open_page(lease, stack, options, budget.remaining)
            if self._turns is not None:
                self._turns.note_responses(page)
            yield page

    async def _wait_for_turn(self, request: _Request, budget: Budget) -> Lease:
        error = self._unavailability()
        if error is not None:
            await trio.lowlevel.checkpoint()
            raise error
        request.reset()
        self._waiting.add(request)
        try:
            self._give()
            with budget.scope() as waiting:
                await request.decided.wait()
            if waiting.cancelled_caught:
                raise budget.exceeded()
            if request.error is not None:
                raise request.error
            assert request.lease is not None
            return request.lease
        except BaseException:
            self._waiting.remove(request)
            if request.lease is not None:
                request.lease.browser.finish(request.lease)
            raise

    def _request(self, url: str | None, priority: int, context: str | None) -> _Request:
        host = None if url is None or self._turns is None else self._turns.host_of(url)
        return _Request(next(self._numbers), priority=priority, context=context, host=host, url=url)

    def _unavailability(self) -> EngineError | None:
        """Return the reason why no request can get a page now or later."""
        if self._stopped is not None:
            return PoolUnavailableError(_LEASING, f"the pool {self._stopped}", closed=True)
        return self._browsers.describe_unavailable() if self._browsers.unavailable else None

    def _check_open(self, action: str) -> trio.Nursery:
        """Return the pool's nursery. Raises PoolUnavailableError if the pool accepts no new work."""
        reason = self._stopped or ("drains" if self._draining else None)
        if reason is not None or self._nursery is None:
            raise PoolUnavailableError(action, f"the pool {reason or 'has not begun'}", closed=True)
        return self._nursery

    def _give(self) -> None:
        """Grant leases to the next requests."""
        may_begin = _always if self._turns is None else self._turns.may_begin
        while (found := self._waiting.take_next(self._browsers.running, may_begin)) is not None:
            request, browser = found
            assert isinstance(request, _Request)
            assert isinstance(browser, PooledBrowser)
            finished = _nothing if self._turns is None else partial(self._turns.end, request.url)
            request.lease = browser.begin(request.context, finished)
            request.decided.set()
            self._counts.leased += 1

    def _refuse_waiting(self) -> None:
        for request in self._waiting:
            assert isinstance(request, _Request)
            self._waiting.remove(request)
            request.error = self._unavailability()
            request.decided.set()

    async def close_context(self, name: str, *, timeout: float = 30) -> bool:
        """Close the named context. Returns False if it does not exist or has a lease."""
        with within(f"close the context {name!r}", timeout):
            self._browsers.states.pop(name, None)
            for browser in list(self._browsers.running):
                if browser.has_context(name):
                    return await browser.close_context(name)
            await trio.lowlevel.checkpoint()
            return False

    # --- jobs ------------------------------------------------------------------------------------------------

    async def run(
        self, function: JobFunction[Item, Value], item: Item, **options: Unpack[JobOptions]
    ) -> JobResult[Value]:
        """Run one job, `await function(page, item)`, on a leased page, and return its result.

        The result contains an exception of the function. `options` are the fields of JobOptions. Raises
        InvalidArgumentError. Cancellation passes through and frees the page.
        """
        self._check_open("do a job")
        plan = JobPlan.checked(options)
        result = await run_job(self._lease_for_job, function, 0, item, plan)
        self._count(result)
        return result

    def map(
        self,
        function: JobFunction[Item, Value],
        items: Iterable[Item] | AsyncIterable[Item],
        *,
        ordered: bool = False,
        ahead: int | None = None,
        **options: Unpack[JobOptions],
    ) -> JobResults[Value]:
        """Run `await function(page, item)` for each item; `async for result in pool.map(...)` yields the results.

        Each item has exactly one result, in order of completion, or in order of the items (`ordered`). `ahead` is
        the maximum number of items pulled but not yet consumed, by default twice the pool's capacity, so a slow
        consumer slows the source. `options` are the fields of JobOptions.

        Raises InvalidArgumentError, PoolUnavailableError.
        """
        nursery = self._check_open("begin jobs")
        plan = JobPlan.checked(options)
        run = prepare_run(
            lambda index, item: run_job(self._lease_for_job, function, index, item, plan),
            items,
            ordered=ordered,
            ahead=2 * self.capacity if ahead is None else ahead,
            count=self._count,
        )
        self._runs.add(run)
        nursery.start_soon(self._run_jobs, run)
        return JobResults(run)

    async def _run_jobs(self, run: JobRun[Any, Any]) -> None:
        try:
            await run.run()
        finally:
            self._runs.discard(run)
            self._browsers.changes.notify()

    @asynccontextmanager
    async def _lease_for_job(self, plan: JobPlan, item: object) -> AsyncIterator[LeasedForJob]:
        budget = Budget.start(_LEASING, math.inf)
        request = self._request(plan.url(item), plan.priority, plan.context)
        async with self._lease(request, plan.context_options, budget) as (page, lease):
            yield LeasedForJob(page, lease.browser.name)

    def _count(self, result: JobResult[Any]) -> None:
        self._counts.jobs += 1
        self._counts.failed += result.error is not None
        self._counts.retried += max(0, len(result.attempts) - 1)

    # --- its end ---------------------------------------------------------------------------------------------

    async def drain(self, *, timeout: float = math.inf) -> None:
        """Accept no new requests, and wait until all waiting requests and leases are done.

        A running `map` pulls no more items, completes the pulled ones, and then raises PoolUnavailableError.
        Raises DeadlineExceededError; the pool then continues to drain.
        """
        self._draining = True
        for run in self._runs:
            drains = PoolUnavailableError("continue with the items", "the pool drains", closed=True)
            run.stop_pulling(drains)
        with within("drain the pool", timeout):
            await self._browsers.changes.wait_for(
                lambda: not (self._runs or self._waiting or self._browsers.leased)
            )

    def stop(self, reason: str = "was stopped") -> None:
        """End all leases and browsers now. Waiting requests raise PoolUnavailableError."""
        self._stopped = self._stopped or reason
        self._refuse_waiting()
        self._browsers.end(f"the pool {self._stopped}")

    def statistics(self) -> PoolStatistics:
        """Return the counters so far, and the state of the browsers."""
        running = self._browsers.running
        browsers = tuple(
            PooledBrowserStatistics(
                name=browser.name,
                member=str(browser.member),
                stage=browser.stage,
                leases=len(browser.leases),
                served=browser.served,
                memory=browser.memory,
                reason=browser.reason,
            )
            for browser in running
        )
        counts = attrs.asdict(self._counts)
        counts["opened"] += sum(browser.ready_at is not None for browser in running)
        counts["ended_by_name"] += sum(browser.ended_by_name for browser in running)
        return PoolStatistics(browsers=browsers, waiting=len(self._waiting), **counts)


@attrs.define(eq=False)
class _Request(WaitingLease):
    """A task that waits for a page, and the decision."""

    lease: Lease | None = None
    error: EngineError | None = None
    decided: trio.Event = attrs.field(factory=trio.Event)

    def reset(self) -> None:
        """Forget the previous decision."""
        self.lease, self.error, self.decided = None, None, trio.Event()


def _always(_waiting: WaitingLease) -> bool:
    return True


def _nothing() -> None:
    """Do nothing, because no visit of a host began."""
