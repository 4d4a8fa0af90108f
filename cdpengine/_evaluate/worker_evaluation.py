"""Evaluating scripts in a worker, and terminating the scripts that do not end.

Rule: as for a page (`evaluation`): a script is sent once, on a session that existed before it, and in its turn.
When the budget ends or the caller is cancelled, the worker's script is terminated before the call returns. Chrome
runs each worker on its own thread, so its page is not affected.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from functools import partial
from typing import Any

import attrs
import trio

from cdpengine._budget import Budget
from cdpengine._evaluate.evaluation import HOW, EvaluationCounters, Run, chrome_limit
from cdpengine._evaluate.handles import (
    ITSELF,
    PROPERTY,
    Holding,
    JSHandle,
    make_handle,
    read_properties,
)
from cdpengine._evaluate.recovery import recover_worker
from cdpengine._evaluate.replies import explain_refusal, holds_objects, receive_value
from cdpengine._evaluate.script import Script
from cdpengine._page.navigation.liveness import answers, post_empty_evaluation
from cdpengine._page.scripts.page_functions import Command, Node, expression_command, new_group
from cdpengine._page.worker_targets import WorkerTarget, WorkerTargets
from cdpengine._protocol.calls import SharedCall, Turn
from cdpengine._protocol.domains.runtime import EvaluateReply
from cdpengine._protocol.session import Session
from cdpengine.errors import (
    EvaluationDisabledError,
    EvaluationFailedError,
    EvaluationTimeoutError,
    InvalidArgumentError,
    RecoveryReport,
    RemoteError,
)

_WAITS = "waiting for an earlier evaluation that keeps the worker busy"

_ENDED = ("Inspected target navigated or closed", "Session with given id not found")
"""Chrome's error messages for a script whose worker ended."""


@attrs.define(eq=False)
class WorkerEvaluator:
    """Evaluates scripts in one worker. If `enabled` is False, it refuses all scripts."""

    worker: WorkerTarget
    workers: WorkerTargets
    counters: EvaluationCounters
    enabled: bool
    _turn: tuple[Session, Turn] | None = None
    _terminations: list[SharedCall] = attrs.field(factory=list, init=False)

    async def evaluate(self, script: Script, budget: Budget) -> Any:
        """Evaluate a script and return its value. Raises the errors of `_evaluate_in_time`."""
        async with self._attached(budget) as session:
            return await self._evaluate_in_time(Run(session), script, budget)

    @asynccontextmanager
    async def handle(self, script: Script, budget: Budget) -> AsyncIterator[JSHandle]:
        """Evaluate a script and yield its value as a handle that the block's end releases.

        Raises the errors of `_evaluate_in_time`.
        """
        holding = Holding(new_group("handle"))
        async with self._attached(budget) as session:
            try:
                yield await self._hold(session, script, holding, budget)
            finally:
                holding.release()

    async def read(self, handle: JSHandle, budget: Budget) -> Any:
        """Return the value of a handle. Raises the errors of `_evaluate_in_time`."""
        return await self.evaluate(Script(ITSELF, [handle]), budget)

    async def property_of(self, handle: JSHandle, name: str | int, budget: Budget) -> JSHandle:
        """Return a handle to a property, which is released with its object's. Raises the errors of `read`."""
        async with self._attached(budget) as session:
            return await self._hold(session, Script(PROPERTY, [handle, name]), handle.holding, budget)

    async def properties_of(self, handle: JSHandle) -> dict[str, JSHandle]:
        """Return handles to the own enumerable properties. Raises the errors of `read_properties`."""
        return await read_properties(handle)

    async def _hold(self, session: Session, script: Script, holding: Holding, budget: Budget) -> JSHandle:
        value = await self._evaluate_in_time(
            Run(session, holding=holding, group=holding.group), script, budget
        )
        assert isinstance(value, JSHandle)
        return value

    @asynccontextmanager
    async def _attached(self, budget: Budget) -> AsyncIterator[Session]:
        """Yield the worker's session, attached within the budget."""
        if not self.enabled:
            raise EvaluationDisabledError(action=budget.action)
        if budget.timeout <= 0:
            raise _timed_out(budget, None)
        budget.step("waiting for the worker")
        async with AsyncExitStack() as stack:
            with budget.scope() as scope:
                session = await stack.enter_async_context(self.workers.attached(self.worker))
            if scope.cancelled_caught:
                raise _timed_out(budget, None)
            yield session

    async def _evaluate_in_time(self, run: Run, script: Script, budget: Budget) -> Any:
        """Evaluate within the budget. Terminate a script that exceeds it.

        Raises EvaluationFailedError if the script threw, EvaluationTimeoutError if the budget ended it,
        EvaluationTerminatedError if another termination ended it, SessionGoneError if the worker ended. A
        cancellation propagates after the script was terminated.
        """
        report: RecoveryReport | None = None
        with budget.scope() as scope:
            try:
                return await self._evaluate(run, script, budget)
            except (trio.Cancelled, KeyboardInterrupt):
                if run.session is not None and run.call is not None:
                    report = await recover_worker(run.session, run.call, self._terminations)
                    self.counters.recovered(report)
                    self.counters.note_unfinished(timeout=scope.cancel_called)
                raise
            finally:
                run.release()
        raise _timed_out(budget, report)

    async def _evaluate(self, run: Run, script: Script, budget: Budget) -> Any:
        session = run.session
        assert session is not None
        command = self._command(session, script, run, budget)
        await self._await_terminations(session)
        budget.step("evaluating")
        started = trio.current_time()
        await trio.lowlevel.checkpoint_if_cancelled()
        run.call = await self._turn_of(session).post(command, waits=lambda: budget.step(_WAITS))
        self.counters.sent()
        reply = await self._reply_to(run.call)
        if run.holding is None and not holds_objects(reply):
            run.group.forget()
        self.counters.answered(trio.current_time() - started, threw=reply.exception_details is not None)
        if run.holding is not None and reply.exception_details is None:
            return make_handle(reply.result, session, None, run.holding, self)
        try:
            return await receive_value(session, reply, run.group)
        except EvaluationFailedError as failed:
            raise script.explain(failed) from None

    async def _await_terminations(self, session: Session) -> None:
        """Wait until earlier terminations are confirmed, because V8 keeps one for the next script."""
        while any(not call.done for call in self._terminations):
            await answers(session)
        self._terminations.clear()

    async def _reply_to(self, call: SharedCall) -> EvaluateReply:
        try:
            return await call.decoded(EvaluateReply)
        except RemoteError as error:
            if error.message in _ENDED:
                raise self.worker.gone() from None
            raise explain_refusal(error) from None

    def _command(self, session: Session, script: Script, run: Run, budget: Budget) -> partial[Command]:
        if not script.objects:

            def evaluation() -> Command:
                how = HOW | chrome_limit(budget)
                return expression_command(session, script.expression(), None, how=how, group=run.group)

            return partial(evaluation)
        remotes = []
        for each in script.objects:
            if isinstance(each, Node):
                raise InvalidArgumentError(
                    what="args", given="an element", expected="values and the worker's own handles"
                )
            if each.session is not session:
                raise each.stale("it belongs to a page or another worker, or its block has ended")
            remotes.append(each.object)
        return partial(remotes[0].command, script.function(), *remotes, how=HOW, group=run.group)

    def _turn_of(self, session: Session) -> Turn:
        if self._turn is None or self._turn[0] is not session:
            self._turn = session, Turn(session.send_shared, partial(post_empty_evaluation, session))
        return self._turn[1]


def _timed_out(budget: Budget, report: RecoveryReport | None) -> EvaluationTimeoutError:
    return EvaluationTimeoutError(
        action=budget.action,
        timeout=budget.timeout,
        steps=tuple(budget.steps),
        report=report or RecoveryReport(sent=False),
    )
