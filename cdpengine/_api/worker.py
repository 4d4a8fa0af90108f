"""Worker, a worker of a page or of a context, and Workers, all workers of one browser.

Rule: each worker has one Worker object for its whole life. Its methods have deadlines and errors, as a page's
methods have. A script that does not end is terminated in the worker alone.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AsyncExitStack, contextmanager
from typing import Any

import attrs

from cdpengine._budget import Budget, within
from cdpengine._evaluate.evaluation import EvaluationCounters
from cdpengine._evaluate.handles import JSHandle
from cdpengine._evaluate.script import Script
from cdpengine._evaluate.worker_evaluation import WorkerEvaluator
from cdpengine._page.worker_targets import WorkerKind, WorkerTarget, WorkerTargets
from cdpengine._pickling import not_picklable
from cdpengine._protocol.session import Session
from cdpengine._protocol.wire import span as action_span
from cdpengine._urls.patterns import UrlPattern, url_test
from cdpengine.errors import shown_url
from cdpengine.errors.misuse import block


@not_picklable("data that you read from it")
class Worker:
    """A worker. Get it from `page.workers`, `page.expect_worker()` or `context.service_workers`.

    `internals` has the engine's own parts of this worker. They change without notice.
    """

    def __init__(self, evaluator: WorkerEvaluator) -> None:
        self.internals = evaluator

    def __repr__(self) -> str:
        return f"<Worker {self.kind} {shown_url(self.url)[:60]!r}{' closed' * self.closed}>"

    @property
    def url(self) -> str:
        """The URL of the worker's script."""
        return self.internals.worker.url

    @property
    def kind(self) -> WorkerKind:
        """The kind: "dedicated", "shared" or "service"."""
        return self.internals.worker.kind

    @property
    def target_id(self) -> str:
        """Chrome's id of the worker: the `target_id` of its console messages, errors and requests."""
        return self.internals.worker.target_id

    @property
    def context_id(self) -> str | None:
        """Chrome's id of the worker's browser context."""
        return self.internals.worker.context_id

    @property
    def closed(self) -> bool:
        """Whether the worker has ended. Chrome ends an idle service worker after about 30 seconds."""
        return self.internals.worker.closed

    async def wait_for_close(self, *, timeout: float = 30) -> None:
        """Wait until the worker has ended. Raises DeadlineExceededError."""
        with within("wait for the end of a worker", timeout):
            await self.internals.worker.wait_closed()

    @block("worker.attached() as session")
    async def attached(self, *, timeout: float = 30) -> AsyncIterator[Session]:
        """Keep a protocol session with the worker during the block, for any command and event.

        With it, the requests and the console of a service worker or a shared worker are seen:
        `session.subscribe("Network.*")`. Chrome cannot end an idle service worker meanwhile. Raises
        SessionGoneError if the worker has ended, DeadlineExceededError.
        """
        evaluator = self.internals
        async with AsyncExitStack() as stack:
            with within("attach to a worker", timeout):
                if (error := evaluator.worker.error()) is not None:
                    raise error
                session = await stack.enter_async_context(evaluator.workers.attached(evaluator.worker))
            yield session

    async def evaluate(self, expression_or_function: str, *args: object, timeout: float = 30) -> Any:
        """Evaluate an expression, or call a function with `args`, in the worker, and return its value.

        Works like `page.evaluate`: promises are awaited, and a script that exceeds the timeout, or whose caller is
        cancelled, is terminated. The page is not affected. Handles of this worker can be arguments. Chrome cannot
        end an idle service worker during the call.

        Raises EvaluationFailedError if the script threw, EvaluationTimeoutError at the deadline, SessionGoneError
        if the worker has ended or ends meanwhile, EvaluationTerminatedError if another termination ended the
        script, EvaluationDisabledError.
        """
        budget = Budget.start("evaluate in a worker", timeout)
        with action_span("worker.evaluate"):
            return await self.internals.evaluate(Script(expression_or_function, args), budget)

    @block("worker.evaluate_handle(...) as handle")
    async def evaluate_handle(
        self, expression_or_function: str, *args: object, timeout: float = 30
    ) -> AsyncIterator[JSHandle]:
        """Evaluate as `evaluate` does, but keep the value in the worker: `async with` gives a handle to it.

        During the block, the handle can be an argument of `evaluate`. Raises the errors of `evaluate`.
        """
        budget = Budget.start("evaluate in a worker", timeout)
        async with self.internals.handle(Script(expression_or_function, args), budget) as handle:
            yield handle


@attrs.define(eq=False)
class Workers:
    """The Worker objects of one browser. `enabled` is whether users may evaluate scripts."""

    _targets: WorkerTargets
    _counters: EvaluationCounters
    _enabled: bool
    _workers: dict[str, Worker] = attrs.field(factory=dict, init=False)

    def select(self, wanted: Callable[[WorkerTarget], bool]) -> list[Worker]:
        """Return the running workers that `wanted` accepts, oldest first."""
        return [self.of(each) for each in self._targets.known.values() if wanted(each)]

    def of(self, target: WorkerTarget) -> Worker:
        """Return the Worker object of a target."""
        worker = self._workers.get(target.target_id)
        if worker is None:
            worker = Worker(WorkerEvaluator(target, self._targets, self._counters, self._enabled))
            self._workers[target.target_id] = worker
            for ended in [key for key, each in self._workers.items() if each.closed and each is not worker]:
                del self._workers[ended]
        return worker

    @contextmanager
    def collect_new(self, wanted: Callable[[WorkerTarget], bool]) -> Iterator[list[Worker]]:
        """Yield a list to which each new worker that `wanted` accepts is added during the block."""
        found: list[Worker] = []

        def note(target: WorkerTarget) -> None:
            if wanted(target):
                found.append(self.of(target))

        with self._targets.follow(note):
            yield found


def worker_test(url: UrlPattern | None, where: Callable[[Worker], bool] | None) -> Callable[[Worker], bool]:
    """Return a predicate for the workers that an expectation accepts. Raises InvalidArgumentError."""
    url_matches = None if url is None else url_test(url)

    def matches(worker: Worker) -> bool:
        if url_matches is not None and not url_matches(worker.url):
            return False
        return where is None or bool(where(worker))

    return matches


def describe_others(workers: list[Worker]) -> str:
    """Return the workers that did not match an expectation, for its error."""
    if not workers:
        return "no worker started"
    return f"others started: {', '.join(shown_url(each.url) for each in workers[:5])}"
