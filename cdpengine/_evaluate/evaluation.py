"""Evaluating scripts in a page, and terminating the scripts that do not end.

Rule: a script runs on the session that reports the page's events, and is sent once. Chrome keeps the order only
within one session: when a reply arrives there, all earlier events of the page are known. When the budget ends or
the caller is cancelled, the page's script is terminated, in a shielded and bounded step, before the call returns.
So the next action finds a responsive page.

Commands and object groups come from `page_functions`, as for the engine's own functions, with two differences. A
script waits for its turn, and its call is one that the recovery also waits for. Its value is decoded generically
with its exceptions (`replies`), because the type of a user's result is unknown.

The number, duration and outcome of evaluations are counted, as are the recoveries. Fallbacks are counted by
reason. The latest thousand durations are kept, for the percentiles.
"""

from __future__ import annotations

import math
import statistics
from collections import Counter, deque
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from typing import Any
from weakref import WeakKeyDictionary

import attrs
import msgspec
import trio

from cdpengine._budget import Budget
from cdpengine._evaluate.handles import (
    ITSELF,
    PROPERTY,
    Holding,
    JSHandle,
    make_handle,
    read_properties,
)
from cdpengine._evaluate.recovery import Recovery, check_recovery, recover
from cdpengine._evaluate.replies import explain_refusal, holds_objects, receive_value
from cdpengine._evaluate.script import Script
from cdpengine._logs import get_logger
from cdpengine._page.exposed_calls import wait_until_begun
from cdpengine._page.frames import Frame
from cdpengine._page.navigation.document_waits import PATIENCE, QUESTIONS, confirm_input, wait_for_documents
from cdpengine._page.page_target import PageTarget
from cdpengine._page.scripts.page_functions import (
    NOT_OF_THE_DOCUMENT,
    Command,
    ExecutionContext,
    Node,
    ObjectGroup,
    RemoteHandle,
    expression_command,
    new_group,
    object_of_node,
    post_resolve,
)
from cdpengine._page.scripts.worlds import IsolatedWorlds
from cdpengine._page.worker_targets import WORKER_TYPES
from cdpengine._protocol.calls import SharedCall, was_terminated
from cdpengine._protocol.domains.runtime import EvaluateReply
from cdpengine._protocol.session import Session
from cdpengine.errors import (
    ConnectionLostError,
    EvaluationDisabledError,
    EvaluationFailedError,
    EvaluationTimeoutError,
    InvalidArgumentError,
    NodeNotFoundError,
    RecoveryReport,
    RemoteError,
    SessionGoneError,
    StaleRefError,
)

_CHROME_MARGIN = 0.5
"""Seconds by which Chrome's timeout exceeds the engine's: it frees the page if this process has ended."""

_LONGEST = 1e6
"""Maximum timeout that is sent to Chrome, in seconds. It exceeds the life of any page."""

logger = get_logger("cdpengine.evaluate")


@attrs.define(eq=False)
class Run:
    """One evaluation: its session, its call once the script is sent, and the objects that Chrome keeps."""

    session: Session | None = None
    holding: Holding | None = None
    call: SharedCall | None = None
    group: ObjectGroup = attrs.field(factory=lambda: new_group("evaluate"))

    @property
    def sent(self) -> bool:
        """Whether the script was sent to the page."""
        return self.call is not None

    def release(self) -> None:
        """Release the objects that Chrome keeps. Does not wait: a hanging page answers only after it is freed."""
        if self.call is not None:
            self.call.abandon()
        if self.holding is None:
            self.group.release()


@attrs.frozen(eq=False)
class Evaluator:
    """Evaluates scripts in one page. `worlds` has the isolated worlds of its sessions.

    If `enabled` is False, it refuses all scripts except the engine's own.
    """

    page: PageTarget
    worlds: IsolatedWorlds
    counters: EvaluationCounters
    enabled: bool = True

    async def evaluate(self, script: Script, budget: Budget, *, allow: Recovery = "terminate") -> Any:
        """Evaluate a script and return its value. Raises the errors of `_evaluate_in_time`."""
        return await self._evaluate_in_time(Run(), script, budget, allow=allow)

    @asynccontextmanager
    async def handle(
        self, script: Script, budget: Budget, *, allow: Recovery = "terminate"
    ) -> AsyncIterator[JSHandle]:
        """Evaluate a script and yield its value as a handle that the block's end releases.

        Raises the errors of `_evaluate_in_time`.
        """
        holding = Holding(new_group("handle"))
        try:
            yield await self._hold(script, holding, budget, allow=allow)
        finally:
            holding.release()

    async def read(self, handle: JSHandle, budget: Budget) -> Any:
        """Return the value of a handle. Raises the errors of `_evaluate_in_time`."""
        return await self.evaluate(Script(ITSELF, [handle], handle.frame), budget)

    async def property_of(self, handle: JSHandle, name: str | int, budget: Budget) -> JSHandle:
        """Return a handle to a property, which is released with its object's. Raises the errors of `read`."""
        script = Script(PROPERTY, [handle, name], handle.frame)
        return await self._hold(script, handle.holding, budget)

    async def properties_of(self, handle: JSHandle) -> dict[str, JSHandle]:
        """Return handles to the own enumerable properties. Raises the errors of `read_properties`."""
        await self.page.running.ready()
        return await read_properties(handle)

    async def _hold(
        self, script: Script, holding: Holding, budget: Budget, *, allow: Recovery = "terminate"
    ) -> JSHandle:
        value = await self._evaluate_in_time(
            Run(holding=holding, group=holding.group), script, budget, allow=allow
        )
        assert isinstance(value, JSHandle)
        return value

    async def _evaluate_in_time(self, run: Run, script: Script, budget: Budget, *, allow: Recovery) -> Any:
        """Evaluate within the budget. Terminate a script that exceeds it.

        Raises EvaluationFailedError if the script threw, EvaluationTimeoutError if the budget ended it,
        EvaluationTerminatedError if it ended otherwise, EvaluationDisabledError. A cancellation propagates after
        the script was terminated.
        """
        if not self.enabled and not script.own:
            raise EvaluationDisabledError(action=budget.action)
        if allow != "terminate":
            check_recovery(allow)
        report: RecoveryReport | None = None
        if budget.timeout > 0:
            with budget.scope() as scope:
                try:
                    try:
                        value = await self._evaluate(run, script, budget)
                    except EvaluationFailedError:
                        await wait_until_begun(self.page, budget.deadline)
                        raise
                    await wait_until_begun(self.page, budget.deadline)
                    return value
                except (ConnectionLostError, SessionGoneError):
                    # The session of its frame ended. Chrome does not report the end of the script, and other
                    # sessions terminate it.
                    if run.sent and self.page.session.error() is None:
                        self.counters.note_fallback("its session ended under it")
                        self.counters.recovered(
                            await recover(self.page, run.session, sent=True, call=run.call)
                        )
                    raise
                except (trio.Cancelled, KeyboardInterrupt):
                    # A termination ends every script of the process, so terminate only while our script may be
                    # running.
                    if run.sent:
                        report = await recover(
                            self.page, run.session, allow=allow, sent=True, call=run.call, reported=True
                        )
                        self.counters.recovered(report)
                        self.counters.note_unfinished(timeout=scope.cancel_called)
                    raise
                finally:
                    run.release()
        report = report or RecoveryReport(sent=False)
        extra = {"target_id": self.page.target_id, "timeout": budget.timeout, "report": report}
        logger.info(
            "%s: %s timed out after %g s",
            self.page.session.describe(),
            budget.action,
            budget.timeout,
            extra=extra,
        )
        raise EvaluationTimeoutError(
            action=budget.action, timeout=budget.timeout, steps=tuple(budget.steps), report=report
        )

    async def _evaluate(self, run: Run, script: Script, budget: Budget) -> Any:
        budget.step("waiting for the page")
        await self.page.running.ready()
        navigation = self.page.navigation
        if self.page.running.unconfirmed and not script.own:
            await confirm_input(self.page, budget.remaining)
        if navigation.pending or navigation.fresh:
            # Keep some time for the script, so that a hanging page is freed.
            frame_id, seconds = (
                (script.frame or self.page.frames.main).id,
                min(PATIENCE, budget.remaining / 2),
            )
            await wait_for_documents(self.page, (frame_id,), budget, seconds)
        objects = script.objects
        frame = self.page.frames.main
        if objects or script.frame is not None or not frame.session.usable:
            nodes = [each for each in objects if isinstance(each, Node)]
            frame = self._frame_of(nodes)
            if script.frame is not None:  # a frame that moved to another process is a new object
                present = self.page.frames.get(script.frame.id)
                if present is None:
                    raise _frame_gone_error(script.frame)
                frame = present
            run.session = await self._session_of(script, frame, nodes)
        else:
            run.session = frame.session
        budget.step("evaluating")
        started = trio.current_time()
        if objects:
            reply = await self._call(run, run.session, script, frame, budget)
        else:
            reply = await self._run(run, run.session, script, frame, budget)
            if run.holding is None and not holds_objects(reply):
                run.group.forget()
        self.counters.answered(trio.current_time() - started, threw=reply.exception_details is not None)
        if script.may_set_off:
            self.page.running.unconfirmed = QUESTIONS
        if run.holding is not None and reply.exception_details is None:
            return make_handle(reply.result, run.session, frame, run.holding, self)
        try:
            return await receive_value(run.session, reply, run.group)
        except EvaluationFailedError as failed:
            raise script.explain(failed) from None

    def _frame_of(self, nodes: Sequence[Node]) -> Frame:
        return (self.page.frames.get(nodes[0].frame_id) if nodes else None) or self.page.frames.main

    async def _session_of(self, script: Script, frame: Frame, nodes: Sequence[Node]) -> Session:
        if not script.objects and frame.session.usable:
            return frame.session
        handles = [each for each in script.objects if isinstance(each, JSHandle)]
        remotes = [(each, each.remote) for each in handles if each.remote is not None]
        expected = "handles and elements of this page"
        if any(remote.session.target_type in WORKER_TYPES for _, remote in remotes):
            raise InvalidArgumentError("args", "a handle of a worker", expected)
        if any(
            isinstance(each.internals, Evaluator) and each.internals.page is not self.page for each in handles
        ):
            raise InvalidArgumentError("args", "a handle of another page", expected)
        target_ids = {node.session.target_id for node in nodes}
        target_ids |= {remote.session.target_id for _, remote in remotes}
        if len(target_ids) > 1:
            raise _several_documents_error("documents of several processes")
        own = frame.session.target_id
        session = await self.page.script_session(
            (target_ids.pop() if target_ids else own) or self.page.target_id
        )
        for handle, remote in remotes:
            if remote.session is not session:
                raise handle.stale("the session and frame that had it are gone")
            if remote.lost:
                raise handle.stale("the page left its document, and Chrome released its objects")
        return session

    async def _run(
        self, run: Run, session: Session, script: Script, frame: Frame, budget: Budget
    ) -> EvaluateReply:
        expression, is_plain = script.expression(), script.is_plain
        context_id = None
        if script.own or script.world != "main" or frame.id != session.frame_id:
            context = await self._context_of(session, frame, script)
            context_id = None if context is None else context.id

        def command() -> Command:
            how = (PLAIN if is_plain else HOW) | chrome_limit(budget)
            return expression_command(session, expression, context_id, how=how, group=run.group)

        return await self._send(run, session, command, budget, is_own=script.own)

    async def _call(
        self, run: Run, session: Session, script: Script, frame: Frame, budget: Budget
    ) -> EvaluateReply:
        """Call a function on objects of the page. Chrome has no timeout for this, so the engine's applies."""
        world = None
        if script.world == "isolated" or script.own:
            world = await self._context_of(session, frame, script)
        objects = [
            await _resolve(session, each, run.group, world) if isinstance(each, Node) else each.object
            for each in script.objects
        ]
        command = objects[0].command(script.function(), *objects, how=HOW, group=run.group)
        return await self._send(run, session, lambda: command, budget, is_own=script.own)

    async def _context_of(self, session: Session, frame: Frame, script: Script) -> ExecutionContext | None:
        """Return the frame's context in the script's world, or None for the session's default one.

        Raises NodeNotFoundError if the frame is gone. For the main world of a child frame, it raises the errors of
        `PageTarget.evaluation_session_of`.
        """
        context: ExecutionContext | None = None
        if script.own or script.world == "isolated":
            with suppress(RemoteError):
                context = await (
                    self.worlds.context(session, frame.id)
                    if script.own
                    else self.worlds.users_context(session, frame.id)
                )
        elif frame.id == session.frame_id:
            return None
        else:
            queried = await self.page.evaluation_session_of(session.target_id or self.page.target_id)
            context = await _find_main_context(queried, session, frame.id)
        if context is None:
            raise _frame_gone_error(frame)
        return context

    async def _send(
        self, run: Run, session: Session, command: Callable[[], Command], budget: Budget, *, is_own: bool
    ) -> EvaluateReply:
        await trio.lowlevel.checkpoint_if_cancelled()
        tries = _OWN_TRIES if is_own else 1
        while True:
            run.call = await self.page.running.turn_of(session).post(
                command, waits=lambda: budget.step(_WAITS)
            )
            self.counters.sent()
            try:
                return await run.call.decoded(EvaluateReply)
            except RemoteError as error:
                tries -= 1
                if tries and was_terminated(error):  # by the termination of another page's script
                    continue
                raise explain_refusal(error) from None


def chrome_limit(budget: Budget) -> dict[str, Any]:
    """Return the parameter for Chrome's own timeout of a script, or nothing without a limit."""
    remaining = budget.remaining
    return {"timeout": (remaining + _CHROME_MARGIN) * 1000} if remaining < _LONGEST else {}


async def _resolve(
    session: Session, node: Node, group: ObjectGroup, world: ExecutionContext | None
) -> RemoteHandle:
    await trio.lowlevel.checkpoint_if_cancelled()
    try:
        if world is None:
            call = post_resolve(session, node.backend_node_id, group)
        else:
            call = world.post_resolve(node.backend_node_id, group)
        return await object_of_node(call, session)
    except RemoteError as error:
        replaced = error.message == NOT_OF_THE_DOCUMENT
        raise StaleRefError(
            ref=node.description,
            description="a node of another document" if replaced else "a node that is gone",
            reason="its document was replaced by another one"
            if replaced
            else f"Chrome no longer has it: {error.message}",
            became="replaced" if replaced else "removed",
        ) from None


_OWN_TRIES = 8
"""Maximum number of attempts for the engine's own script while terminations end it. These scripts only read."""

_WAITS = "waiting for an earlier evaluation that keeps the page busy"

HOW = {"returnByValue": False, "awaitPromise": True, "userGesture": True}

PLAIN = {"returnByValue": False, "awaitPromise": True}
"""The parameters for an expression that only reads. A user gesture costs it a fifth of its time (measured)."""


def _frame_gone_error(frame: Frame) -> NodeNotFoundError:
    return NodeNotFoundError(
        target=f"frame {frame.url[:200] or frame.id[:8]}",
        reason="it was removed, or moved to another process",
    )


def _several_documents_error(source: str) -> InvalidArgumentError:
    return InvalidArgumentError(
        what="elements", given=f"elements of {source}", expected="elements of one document"
    )


# --- the page's main world -----------------------------------------------------------------------------------


class _AuxData(msgspec.Struct, rename="camel"):
    frame_id: str = ""
    is_default: bool = False


class _Context(msgspec.Struct, rename="camel"):
    id: int
    aux_data: _AuxData = msgspec.field(default_factory=_AuxData)


class _ContextCreated(msgspec.Struct):
    context: _Context


_CREATED = "Runtime.executionContextCreated"


async def _find_main_context(queried: Session, session: Session, frame_id: str) -> ExecutionContext | None:
    """Return the context of the main world in a child frame of `session`'s frame, or None.

    Chrome is asked each time, because every renderer process starts its context numbers again, so a remembered
    number could belong to another frame. The question uses `queried`, the target's evaluation session, which is
    the only session where `Runtime` is otherwise unused: contexts are reported only when it is enabled again. All
    sessions of a process share the numbers. Only one task does this at a time, because a second one would find
    `Runtime` already enabled and get no contexts. Raises the errors of `Session.subscribe` and `Session.enabled`.
    """
    turn = _TURNS.setdefault(queried, trio.Lock())
    # Enabling reports all existing contexts before its reply.
    async with turn, queried.subscribe(_CREATED, enable=False) as events, queried.enabled("Runtime"):
        found = None
        while events.statistics().waiting:
            context = (await events.receive()).decode(_ContextCreated).context
            if context.aux_data.is_default and context.aux_data.frame_id == frame_id:
                found = ExecutionContext(session, context.id)
    return found


_TURNS: WeakKeyDictionary[Session, trio.Lock] = WeakKeyDictionary()
"""The lock for enabling `Runtime` on each evaluation session."""


# --- counting ------------------------------------------------------------------------------------------------

_MAX_DURATIONS = 1000


@attrs.frozen
class EvaluationStatistics:
    """Counts since the page (or the browser) was opened; durations in seconds.

    `evaluates` were sent, `answered` returned a value or threw. `terminations` were sent to Chrome, `confirmed`
    were confirmed by it. `recoveries` counts the recovery steps by name; `evaluation_session_rebuilds` and
    `fallbacks` count by reason. `p50`, `p95` and `longest` cover the latest thousand answered evaluations; None
    without any.
    """

    evaluates: int = 0
    answered: int = 0
    threw: int = 0
    timeouts: int = 0
    cancellations: int = 0
    terminations: int = 0
    confirmed: int = 0
    recoveries: Mapping[str, int] = attrs.field(factory=dict)
    evaluation_session_rebuilds: Mapping[str, int] = attrs.field(factory=dict)
    fallbacks: Mapping[str, int] = attrs.field(factory=dict)
    p50: float | None = None
    p95: float | None = None
    longest: float | None = None


@attrs.define(eq=False)
class EvaluationCounters:
    """Counts for one page. Passes every count on to `outer`, the counters of its browser."""

    outer: EvaluationCounters | None = None
    _counts: Counter[str] = attrs.field(factory=Counter, init=False)
    _recoveries: Counter[str] = attrs.field(factory=Counter, init=False)
    _fallbacks: Counter[str] = attrs.field(factory=Counter, init=False)
    _durations: deque[float] = attrs.field(factory=lambda: deque(maxlen=_MAX_DURATIONS), init=False)

    def sent(self) -> None:
        """Count an evaluation that was sent to the page."""
        self._counts["evaluates"] += 1
        if self.outer is not None:
            self.outer.sent()

    def answered(self, seconds: float, *, threw: bool) -> None:
        """Count an evaluation that returned a value or threw."""
        self._counts["answered"] += 1
        self._counts["threw"] += threw
        self._durations.append(seconds)
        if self.outer is not None:
            self.outer.answered(seconds, threw=threw)

    def note_unfinished(self, *, timeout: bool) -> None:
        """Count an evaluation that was given up: its budget ended or its caller was cancelled."""
        self._counts["timeouts" if timeout else "cancellations"] += 1
        if self.outer is not None:
            self.outer.note_unfinished(timeout=timeout)

    def recovered(self, report: RecoveryReport) -> None:
        """Count the steps of a recovery."""
        for step in report.steps:
            self._counts["terminations"] += step.name == "terminate"
            self._counts["confirmed"] += step.name == "terminate" and step.done
            self._recoveries[step.name] += step.done
        if self.outer is not None:
            self.outer.recovered(report)

    def note_fallback(self, reason: str) -> None:
        """Count one use of a simpler fallback, by its reason."""
        self._fallbacks[reason] += 1
        if self.outer is not None:
            self.outer.note_fallback(reason)

    def statistics(self, evaluation_session_rebuilds: Mapping[str, int]) -> EvaluationStatistics:
        """Return the counts so far."""
        durations = sorted(self._durations)
        return EvaluationStatistics(
            **self._counts,
            recoveries=dict(+self._recoveries),
            fallbacks=dict(self._fallbacks),
            evaluation_session_rebuilds=dict(evaluation_session_rebuilds),
            p50=statistics.median(durations) if durations else None,
            p95=durations[math.ceil(0.95 * len(durations)) - 1] if durations else None,
            longest=durations[-1] if durations else None,
        )
