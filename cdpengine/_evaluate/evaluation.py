"""Evaluate in a page, and stop what does not stop by itself.

Rule: a script runs on the session that reports what the page does, and is sent once. Chrome keeps the order within
one session only: there, what the page did before an answer is known when the answer is. When the budget ends or
the caller is cancelled, the page's script is terminated, in a shielded and bounded step, before the call returns;
so the next action finds a page that answers.

The commands and their object groups are those of `page_functions`, as for the engine's own functions. Two things
differ from these. A script is given to the page in its turn, as a call that the recovery waits for too. And its
value is read as `results` says, with its exceptions: the engine knows the type that its own functions return, and
of a user's script it does not.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from typing import Any, Literal

import attrs
import trio

from cdpengine._budget import Budget
from cdpengine._evaluate.counters import EvaluationCounters
from cdpengine._evaluate.recovery import Recovery, check_recovery, recover
from cdpengine._evaluate.results import explain_refusal, holds_objects, receive_value
from cdpengine._evaluate.source import is_function, to_literal
from cdpengine._logs import get_logger
from cdpengine._page.frames import Frame
from cdpengine._page.node import Node
from cdpengine._page.page_target import PageTarget
from cdpengine._page.scripts.page_functions import (
    NOT_OF_THE_DOCUMENT,
    Command,
    ExecutionContext,
    ObjectGroup,
    RemoteHandle,
    expression_command,
    new_group,
    object_of_node,
    post_resolve,
)
from cdpengine._page.scripts.worlds import IsolatedWorlds, find_main_context
from cdpengine._protocol.calls import SharedCall
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
from cdpengine.errors.texts import MARK

World = Literal["main", "isolated"]

_CHROME_MARGIN = 0.5
"""Seconds by which Chrome's own timeout is later than ours: it frees the page where this process is gone."""

_LONGEST = 1e6
"""Seconds. A longer timeout is not sent to Chrome: it is longer than any page lives."""

logger = get_logger("cdpengine.evaluate")


@attrs.frozen(eq=False)
class JSHandle:
    """A value that stays in the page. `description` is Chrome's own, such as "Array(3)" or "HTMLDivElement"."""

    session: Session = attrs.field(repr=False)
    object_id: str = attrs.field(repr=False)
    description: str


@attrs.frozen(eq=False)
class Script:
    """What is to be evaluated: an expression, or a function and its arguments.

    A Node or a JSHandle among the arguments is passed as what it is in the page. `frame` None is the frame of the
    first node, else the main frame. Checked when made: raises InvalidArgumentError.
    """

    source: str
    args: Sequence[object] = ()
    frame: Frame | None = None
    world: World = "main"

    def __attrs_post_init__(self) -> None:
        if not isinstance(self.source, str):
            raise InvalidArgumentError(
                what="expression_or_function",
                given=f"a {type(self.source).__name__}",
                expected="JavaScript as a str",
            )
        if self.world not in ("main", "isolated"):
            raise InvalidArgumentError(what="world", given=repr(self.world), expected='"main" or "isolated"')
        for arg in self.args:
            if not isinstance(arg, (Node, JSHandle)):
                to_literal(arg)

    @property
    def objects(self) -> list[Node | JSHandle]:
        """The arguments that are objects in the page."""
        return [arg for arg in self.args if isinstance(arg, (Node, JSHandle))]

    def expression(self) -> str:
        """Return the source as one expression; for a script without nodes."""
        if not self.args and not is_function(self.source):
            return self.source
        return f"({self.source}\n)({','.join(to_literal(arg) for arg in self.args)})"

    def function(self) -> str:
        """Return a function of the objects alone, which first sees that each node is still in its document."""
        objects = self.objects
        nodes = [number for number, each in enumerate(objects) if isinstance(each, Node)]
        numbers = itertools.count()
        args = [
            f"arguments[{next(numbers)}]" if isinstance(arg, (Node, JSHandle)) else to_literal(arg)
            for arg in self.args
        ]
        # `arguments` and not a parameter: a name of ours must not hide one that the function means. What the
        # caller passes stands behind the last "\n)(", as in `expression`.
        return (
            f"function() {{ for (const i of {nodes}) if (!arguments[i].isConnected) throw '{_DETACHED}' + i; "
            f"return (({self.source}\n).bind(this)\n)({','.join(args)}) }}"
        )


_DETACHED = "cdpengine: detached node "

_LONG_ENOUGH = 6
"""Characters from which on a text that a script was given is taken out of what it throws."""


def _hide_given(failed: EvaluationFailedError, given: object) -> None:
    """Take the texts that a script was given out of an error: they may be secrets, and its message is shown."""
    if isinstance(given, str):
        if len(given) >= _LONG_ENOUGH:
            failed.text = failed.text.replace(given, MARK)
            failed.stack = failed.stack.replace(given, MARK)
    elif isinstance(given, Mapping):
        for each in given.values():
            _hide_given(failed, each)
    elif isinstance(given, Sequence) and not isinstance(given, bytes | bytearray | memoryview):
        for each in given:
            _hide_given(failed, each)


@attrs.define(eq=False)
class _Run:
    """One evaluation: its session, whether the script was given to the page, and what Chrome keeps for it."""

    session: Session | None = None
    keep: bool = False
    call: SharedCall | None = None
    group: ObjectGroup = attrs.field(factory=lambda: new_group("evaluate"))

    @property
    def sent(self) -> bool:
        """Whether the script was given to the page."""
        return self.call is not None

    def release(self) -> None:
        """Let go of what Chrome keeps. Not waited for: a page that is stuck answers when it was freed."""
        if self.call is not None:
            self.call.abandon()
        if not self.keep:
            self.group.release()


@attrs.frozen(eq=False)
class Evaluator:
    """Evaluates in one page. `worlds` keeps the isolated worlds of its sessions.

    With `enabled` False it refuses everything but the engine's own scripts.
    """

    page: PageTarget
    worlds: IsolatedWorlds
    counters: EvaluationCounters
    enabled: bool = True

    async def evaluate(
        self, script: Script, budget: Budget, *, allow: Recovery = "terminate", own: bool = False
    ) -> Any:
        """Evaluate, and return the value. `own`: the engine asks, and not its user. Raises as `_guarded` does."""
        return await self._guarded(_Run(), script, budget, allow=allow, own=own)

    @asynccontextmanager
    async def handle(
        self, script: Script, budget: Budget, *, allow: Recovery = "terminate"
    ) -> AsyncIterator[JSHandle]:
        """Evaluate, and give the value as a handle that is released with the block.

        Raises InvalidArgumentError for a value that is no object and so needs no handle; else as `_guarded` does.
        """
        run = _Run(keep=True)
        try:
            value = await self._guarded(run, script, budget, allow=allow, own=False)
            if not isinstance(value, JSHandle):
                expected = "a script whose value is an object; evaluate() returns the others"
                raise InvalidArgumentError(
                    what="script", given=f"one whose value is {type(value).__name__}", expected=expected
                )
            yield value
        finally:
            run.keep = False
            run.release()

    async def _guarded(self, run: _Run, script: Script, budget: Budget, *, allow: Recovery, own: bool) -> Any:
        """Evaluate under the budget; stop what does not stop.

        Raises EvaluationFailedError when the script threw, EvaluationTimeoutError when the budget ended it,
        EvaluationTerminatedError when something else did, EvaluationDisabledError; cancellation passes through
        after the script was stopped.
        """
        if not self.enabled and not own:
            raise EvaluationDisabledError(action=budget.action)
        check_recovery(allow)
        report = RecoveryReport(sent=False)
        if budget.timeout > 0:
            with budget.scope() as scope:
                try:
                    return await self._evaluate(run, script, budget)
                except (ConnectionLostError, SessionGoneError):
                    # Its frame's session ended under it: how the script ends is not reported, and others stop it.
                    if run.sent and self.page.session.error() is None:
                        self.counters.note_fallback("its session ended under it")
                        self.counters.recovered(
                            await recover(self.page, run.session, sent=True, call=run.call)
                        )
                    raise
                except (trio.Cancelled, KeyboardInterrupt):
                    # A termination hits every script of the process: only where ours may be running.
                    if run.sent:
                        report = await recover(
                            self.page, run.session, allow=allow, sent=True, call=run.call, reported=True
                        )
                        self.counters.recovered(report)
                        self.counters.note_given_up(timeout=scope.cancel_called)
                    raise
                finally:
                    run.release()
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

    async def _evaluate(self, run: _Run, script: Script, budget: Budget) -> Any:
        budget.step("waiting for the page")
        await self.page.ready()
        objects = script.objects
        nodes = [each for each in objects if isinstance(each, Node)]
        frame = script.frame or self._frame_of(nodes)
        run.session = await self._session_of(script, frame, nodes)
        budget.step("evaluating")
        started = trio.current_time()
        if objects:
            reply = await self._call(run, run.session, script, frame, budget)
        else:
            reply = await self._run(run, run.session, script, frame, budget)
            if not holds_objects(reply):
                run.group.forget()
        self.counters.answered(trio.current_time() - started, threw=reply.exception_details is not None)
        if run.keep and reply.exception_details is None and reply.result.object_id is not None:
            return JSHandle(
                run.session, reply.result.object_id, reply.result.description or reply.result.type
            )
        try:
            return await receive_value(run.session, reply, run.group)
        except EvaluationFailedError as failed:
            _hide_given(failed, script.args)
            raise _stale_ref_error(failed, objects) or failed from None

    def _frame_of(self, nodes: Sequence[Node]) -> Frame:
        return (self.page.frames.get(nodes[0].frame_id) if nodes else None) or self.page.frames.main

    async def _session_of(self, script: Script, frame: Frame, nodes: Sequence[Node]) -> Session:
        handles = [each for each in script.objects if isinstance(each, JSHandle)]
        target_ids = {node.session.target_id for node in nodes} | {each.session.target_id for each in handles}
        if len(target_ids) > 1:
            raise _several_documents_error("documents of several processes")
        own = self.page.session_of(frame).target_id
        session = await self.page.script_session(
            (target_ids.pop() if target_ids else own) or self.page.target_id
        )
        for handle in handles:
            if handle.session is not session:
                raise StaleRefError(
                    ref="handle",
                    description=handle.description,
                    reason="the session that held it is gone, and its frame with it",
                )
        return session

    async def _run(
        self, run: _Run, session: Session, script: Script, frame: Frame, budget: Budget
    ) -> EvaluateReply:
        expression = script.expression()
        context = await self._context_of(session, frame, script.world)
        context_id = None if context is None else context.id

        def command() -> Command:
            remaining = budget.remaining
            limit = {"timeout": (remaining + _CHROME_MARGIN) * 1000} if remaining < _LONGEST else {}
            return expression_command(session, expression, context_id, how=_HOW | limit, group=run.group)

        return await self._send(run, session, command, budget)

    async def _call(
        self, run: _Run, session: Session, script: Script, frame: Frame, budget: Budget
    ) -> EvaluateReply:
        """Call on objects of the page. Chrome has no timeout for this; ours stands alone."""
        world = None
        if script.world == "isolated":
            world = await self._context_of(session, frame, script.world)
        objects = [
            RemoteHandle(session, each.object_id)
            if isinstance(each, JSHandle)
            else await _resolve(session, each, run.group, world)
            for each in script.objects
        ]
        command = objects[0].command(script.function(), *objects, how=_HOW, group=run.group)
        return await self._send(run, session, lambda: command, budget)

    async def _context_of(self, session: Session, frame: Frame, world: World) -> ExecutionContext | None:
        """Return the frame's context in that world, None for the session's default one.

        Raises NodeNotFoundError when the frame is gone; as `PageTarget.evaluation_session_of`, for the main world
        of a frame inside.
        """
        context: ExecutionContext | None = None
        if world == "isolated":
            with suppress(RemoteError):
                context = await self.worlds.users_context(session, frame.id)
        elif frame.id == session.target_id:
            return None
        else:
            asked = await self.page.evaluation_session_of(session.target_id or self.page.target_id)
            context = await find_main_context(asked, session, frame.id)
        if context is None:
            raise NodeNotFoundError(
                target=f"frame {frame.url[:200] or frame.id[:8]}",
                reason="it is gone, or moved to another process",
            )
        return context

    async def _send(
        self, run: _Run, session: Session, command: Callable[[], Command], budget: Budget
    ) -> EvaluateReply:
        await trio.lowlevel.checkpoint_if_cancelled()
        run.call = await self.page.turn_of(session).post(command, waits=lambda: budget.step(_WAITS))
        self.counters.sent()
        try:
            return await run.call.decoded(EvaluateReply)
        except RemoteError as error:
            if "same JavaScript world" in error.message:
                expected = "nodes of one document"
                raise InvalidArgumentError(
                    what="nodes", given="nodes of several frames", expected=expected
                ) from None
            raise explain_refusal(error) from None


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


_WAITS = "waiting for an evaluation of the same page that was sent before and keeps the page busy"

_HOW = {"returnByValue": False, "awaitPromise": True, "userGesture": True}


def _several_documents_error(given: str) -> InvalidArgumentError:
    return InvalidArgumentError(
        what="elements", given=f"elements of {given}", expected="elements of one document"
    )


def _stale_ref_error(
    failed: EvaluationFailedError, objects: Sequence[Node | JSHandle]
) -> StaleRefError | None:
    """Return what it means when our own check of the nodes threw, None for every other failure."""
    found = re.search(rf"{_DETACHED}(\d+)", failed.text)
    if found is None or int(found[1]) >= len(objects):
        return None
    description = objects[int(found[1])].description
    return StaleRefError(
        ref=description, description="a detached node", reason="it is no longer in the document"
    )
