"""The workers of a page, and expectations of new workers.

Rule: an expectation subscribes before its block begins, so it misses no worker, even one that ends immediately.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

from cdpengine._api.browser_state import BrowserState
from cdpengine._api.page.core import PageCore
from cdpengine._api.page.expecting import Expectation, Expected, wait_for_expected
from cdpengine._api.worker import Worker, describe_others, worker_test
from cdpengine._budget import Budget
from cdpengine._page.worker_targets import WorkerTarget
from cdpengine._protocol.session import Session
from cdpengine._urls.patterns import UrlPattern, join_pattern
from cdpengine.errors.misuse import block


class PageWorkers:
    """The methods of a Page that concern its workers. They use `internals`."""

    internals: PageCore

    @property
    def workers(self) -> list[Worker]:
        """The running dedicated workers of the page, its frames and its other workers, oldest first."""
        return self.internals.state.workers.select(self._owns)

    @block("page.expect_worker() as expected")
    async def expect_worker(
        self,
        *,
        url: UrlPattern | None = None,
        where: Callable[[Worker], bool] | None = None,
        timeout: float = 30,
    ) -> AsyncIterator[Expected[Worker]]:
        """Expect that the block starts a dedicated worker. After the block, `expected.value` is the worker.

        `url` is a glob, a compiled regular expression or a function of the URL; `where` is a predicate. Workers
        of frames and of workers count. A worker that ends immediately also counts: it is `closed`. `timeout`
        (seconds) counts from the beginning of the block, but does not interrupt it. Raises DeadlineExceededError,
        which names other workers, SessionGoneError.
        """
        core = self.internals
        whole = None if url is None else join_pattern(core.base_url, url)
        async with expect_new_worker(core.state, core.session, self._owns, whole, where, timeout) as expected:
            yield expected

    def _owns(self, worker: WorkerTarget) -> bool:
        return worker.page_id == self.internals.target.target_id


@asynccontextmanager
async def expect_new_worker(
    state: BrowserState,
    owner: Session,
    wanted: Callable[[WorkerTarget], bool],
    url: UrlPattern | None,
    where: Callable[[Worker], bool] | None,
    timeout: float,
) -> AsyncIterator[Expected[Worker]]:
    """Expect a new worker that `wanted` accepts. The end of the session `owner` ends the wait."""
    matches = worker_test(url, where)
    budget = Budget.start("expect a worker", timeout)
    expectation: Expectation[Worker] = Expectation("a worker")
    with state.workers.collect_new(wanted) as opened:
        yield Expected(expectation)

        def found() -> Worker | None:
            first = next((each for each in opened if matches(each)), None)
            if first is not None and (first.closed or first.internals.worker.started):
                return first
            if error := owner.error():
                raise error
            return None

        wait = state.tabs.changes.wait_for
        await wait_for_expected(expectation, budget, lambda: wait(found), lambda: describe_others(opened))
