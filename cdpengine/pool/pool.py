"""BrowserPool: pages of several browsers, each leased to one task at a time.

Rule: a lease is given in the order of `queue.py`, in a browser that is ready; whatever ends a browser, another one
takes its place. Nobody waits without an end: where no browser has been ready for the pool's `timeout`, all that
wait get PoolUnavailableError. After the block nothing is left: no browser, profile, context or task.
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
from cdpengine._nursery import open_body_nursery
from cdpengine._page.navigation.navigation import check_url
from cdpengine._pickling import not_picklable
from cdpengine.errors import (
    ConnectionLostError,
    EngineError,
    LeaseEndedError,
    PoolClosedError,
)
from cdpengine.pool.block import BlockEnteredOnce
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
from cdpengine.pool.kept_browsers import KeptBrowsers
from cdpengine.pool.members import (
    BrowserLimits,
    ContextOptions,
    LaunchOptions,
    Members,
    check_count,
    choose_members,
)
from cdpengine.pool.pooled_browser import Lease, PooledBrowser, hold
from cdpengine.pool.queue import WaitingLease, WaitingLeases
from cdpengine.pool.statistics import PoolCounts, PooledBrowserStatistics, PoolStatistics

if TYPE_CHECKING:
    from cdpengine._api.page.page import Page
    from cdpengine.pool.manners.manners import Manners

Item = TypeVar("Item")
Value = TypeVar("Value")

_LEASING = "lease a page"

_CLOSING = 15.0
"""Seconds that all browsers together get to close when the pool's block ends; each takes 4 at most by itself."""


@not_picklable("its statistics")
class BrowserPool:
    """Pages of several browsers. `async with BrowserPool(browsers=2, pages=10) as pool`.

    `browsers` is how many to launch, or what the pool is made of: LaunchedBrowsers, RemoteBrowsers, or several of
    them. `pages`: how many pages at once in each. `limits` says when a browser is replaced. `launch` is what
    `cdpengine.launch` takes, for the browsers of a number. `manners` has leases with a URL wait until its host
    may be visited, and obey its robots.txt; 429 and 503 are noted. `timeout` (seconds): for how long the pool may
    be without a browser, at its start and later.

    Entering the block waits for the first browser. Raises what its start raised where none comes up:
    BrowserNotFoundError, LaunchFailedError, ConnectFailedError; InvalidArgumentError.
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
        check_count("pages", pages)
        self._waiting = WaitingLeases()
        self._counts = PoolCounts()
        self._browsers = KeptBrowsers(
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

    def __repr__(self) -> str:
        ready = sum(browser.stage == "ready" for browser in self._browsers.running)
        return f"<BrowserPool {ready} browsers ready>"

    @property
    def capacity(self) -> int:
        """How many pages there can be at once, when all browsers are ready."""
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

    @asynccontextmanager
    async def page(
        self,
        url: str | None = None,
        *,
        context: str | None = None,
        priority: int = 0,
        timeout: float = 30,
        **options: Unpack[ContextOptions],
    ) -> AsyncIterator[Page]:
        """Lease a page for a block; it is closed with it. It goes to `url`, if one is given.

        It is in a context of its own, or in the one named `context`, which is made when it is first asked for and
        lasts until its browser leaves or `close_context`; a browser that retires hands its state (cookies, local
        storage) on. `options` is what `browser.new_context` takes. `priority`: those of a higher one are first.
        `timeout` (seconds) is for getting the page, the waiting for its turn included, not for the block.

        Raises LeaseEndedError when the browser goes away or is replaced; while the page is being opened, another
        browser is taken instead. DeadlineExceededError, PoolClosedError, PoolUnavailableError; what
        `browser.new_context` and `page.goto` raise.
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
                    continue  # nobody has used it yet: another browser does as well
                yield page, lease
                return

    @asynccontextmanager
    async def _open(self, lease: Lease, options: ContextOptions, budget: Budget) -> AsyncIterator[Page]:
        async with hold(lease) as held:
            page = await lease.browser.open_page(lease, held, options, budget.remaining)
            if self._turns is not None:
                self._turns.note_responses(page)
            yield page

    async def _wait_for_turn(self, request: _Request, budget: Budget) -> Lease:
        error = self._why_none()
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

    def _why_none(self) -> EngineError | None:
        """Return why nobody gets a page now, or later."""
        if self._stopped is not None:
            return PoolClosedError(action=_LEASING, reason=self._stopped)
        return self._browsers.describe_unavailable() if self._browsers.unavailable else None

    def _check_open(self, action: str) -> trio.Nursery:
        """Return the pool's nursery. Raises PoolClosedError where new work is not taken."""
        reason = self._stopped or ("drains" if self._draining else None)
        if reason is not None or self._nursery is None:
            raise PoolClosedError(action=action, reason=reason or "has not begun")
        return self._nursery

    def _give(self) -> None:
        """Give pages to those whose turn it is."""
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
            request.error = self._why_none()
            request.decided.set()

    async def close_context(self, name: str, *, timeout: float = 30) -> bool:
        """Close the named context, wherever it is; False where there is none, or a lease is in it."""
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
        """Do one job, `await function(page, item)`, on a leased page, and return its result.

        What the function raises is in the result. `options` are those of JobOptions. Raises InvalidArgumentError;
        cancellation passes through, and frees the page.
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
        """Do `await function(page, item)` for each item; `async for result in pool.map(...)` has the results.

        Each item has exactly one result, in the order in which they end, or of the items (`ordered`). `ahead` is
        how many items are pulled whose results nobody has taken, twice the pool's capacity by default: so a slow
        consumer slows the source down. `options` are those of JobOptions.

        Raises InvalidArgumentError, PoolClosedError.
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
        """Take no new requests, and wait until those that wait and those that have pages are done.

        A `map` under way pulls no more items, ends those that it has pulled, and raises PoolClosedError then.
        Raises DeadlineExceededError; the pool goes on draining then.
        """
        self._draining = True
        for run in self._runs:
            run.pull_no_more(PoolClosedError(action="go on with the items", reason="drains"))
        with within("drain the pool", timeout):
            await self._browsers.changes.wait_for(
                lambda: not (self._runs or self._waiting or self._browsers.leased)
            )

    def stop(self, reason: str = "was stopped") -> None:
        """End all leases by name, now, and all browsers; those that wait get PoolClosedError."""
        self._stopped = self._stopped or reason
        self._refuse_waiting()
        self._browsers.end(f"the pool {self._stopped}")

    def statistics(self) -> PoolStatistics:
        """Return the counts so far, and how the browsers are."""
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
    """Somebody who waits for a page, and what was decided."""

    lease: Lease | None = None
    error: EngineError | None = None
    decided: trio.Event = attrs.field(factory=trio.Event)

    def reset(self) -> None:
        """Forget what was decided before."""
        self.lease, self.error, self.decided = None, None, trio.Event()


def _always(_waiting: WaitingLease) -> bool:
    return True


def _nothing() -> None:
    """Do nothing: no host was begun."""
