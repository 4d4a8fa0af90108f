"""Evaluate on the lane, and stop what does not stop by itself.

Rule: everything that a user wants evaluated runs on the lane's own session, never on the one that clicks and
reads. When the budget ends or the caller is cancelled, the page's script is terminated, in a shielded and
bounded step, before anybody is told; so the next action finds a page that answers.
"""

from __future__ import annotations

import copy
import itertools
from collections.abc import Sequence
from contextlib import suppress
from typing import Any, Literal

import attrs
import msgspec
import trio

from cdpengine.browser.node import Node
from cdpengine.browser.page_target import PageTarget
from cdpengine.browser.worlds import IsolatedWorlds
from cdpengine.budget import Budget
from cdpengine.errors import (
    ConnectionLost,
    EvaluationTimeout,
    InvalidArgument,
    NodeNotFound,
    RemoteError,
    SessionGone,
)
from cdpengine.evaluate.literals import to_literal
from cdpengine.evaluate.results import EvaluateReply, RemoteObject, explain, to_python
from cdpengine.evaluate.source import is_function
from cdpengine.session.session import Session

World = Literal["main", "isolated"]

STOP_GRACE = 0.08
"""Seconds for the termination and the probe after it, so that a timeout is told within 100 ms of its moment.
Chrome confirms a termination in 2 ms (measured)."""

_CHROME_MARGIN = 0.5
"""Seconds by which Chrome's own timeout is later than ours: it frees the page where this process is gone."""

_LONGEST = 1e6
"""Seconds. A longer timeout is not told to Chrome: what takes days needs no help from there."""


@attrs.frozen
class Stopped:
    """What came of stopping a script: whether it had been sent, Chrome confirmed, the page then answered."""

    sent: bool = True
    terminated: bool = False
    responsive: bool = False


_groups = itertools.count(1)


@attrs.define(eq=False)
class _Run:
    """One evaluation: whether the script was given to the page, and the group of what Chrome keeps for it."""

    sent: bool = False
    group: str = attrs.field(factory=lambda: f"cdpengine-evaluate-{next(_groups)}")


class _Resolved(msgspec.Struct, rename="camel"):
    object: RemoteObject


@attrs.frozen(eq=False)
class Evaluator:
    """Evaluates in one page. `worlds` keeps the isolated worlds of the lane's session."""

    page: PageTarget
    worlds: IsolatedWorlds

    async def evaluate(
        self, source: str, args: Sequence[object], *, node: Node | None, world: World, budget: Budget
    ) -> Any:
        """Evaluate an expression, or call a function with `args`; `node` is passed as its first argument.

        Raises EvaluationFailed when the script threw, EvaluationTimeout when the budget ended it,
        EvaluationTerminated when something else did; cancellation passes through after the script was stopped.
        """
        if world not in ("main", "isolated"):
            raise InvalidArgument(what="world", given=repr(world), expected='"main" or "isolated"')
        literals = [to_literal(arg) for arg in args]
        function = bool(literals) or node is not None or is_function(source)
        run = _Run()
        stopped = Stopped(sent=False)
        if budget.timeout > 0:
            with budget.scope():
                budget.step("waiting for the page's lane")
                lane = await self._lane()
                budget.step("evaluating")
                try:
                    if node is not None:
                        return await self._call_on_node(run, lane, source, literals, node, world)
                    expression = f"({source}\n)({','.join(literals)})" if function else source
                    return await self._evaluate(run, lane, expression, world, budget)
                except trio.Cancelled:
                    # A termination hits every script of the process: only where ours may be running.
                    if run.sent:
                        stopped = await stop_script(lane)
                    raise
        raise EvaluationTimeout(
            action=budget.action,
            timeout=budget.timeout,
            steps=tuple(budget.steps),
            report=attrs.asdict(stopped),
        )

    async def _lane(self) -> Session:
        page = self.page

        def usable() -> Session | None:
            if page.lane is None:
                if page.lane_error is not None:
                    raise copy.copy(page.lane_error)  # as it is raised anew each time
                return None
            # Told of a reload after a crash on its own connection, it may be behind the page.
            return None if page.lane.crashed and not page.session.crashed else page.lane

        await page.ready()
        lane: Session = await page.wait_for(usable)
        if error := lane.error("Runtime.evaluate"):
            raise error
        return lane

    async def _evaluate(self, run: _Run, lane: Session, expression: str, world: World, budget: Budget) -> Any:
        params: dict[str, Any] = {
            "expression": expression,
            "returnByValue": True,
            "awaitPromise": True,
            "userGesture": True,
            "objectGroup": run.group,
        }
        if world == "isolated":
            params["contextId"] = await self.worlds.context(lane, self.page.frames.main.id)
        remaining = budget.remaining()
        if remaining < _LONGEST:
            params["timeout"] = (remaining + _CHROME_MARGIN) * 1000
        return await self._result(run, lane, "Runtime.evaluate", params)

    async def _call_on_node(
        self, run: _Run, lane: Session, source: str, literals: Sequence[str], node: Node, world: World
    ) -> Any:
        if node.session.target_id != lane.target_id:
            raise NodeNotFound(
                target=node.description,
                reason="it is in a frame of another process, where nothing is evaluated yet",
            )
        params: dict[str, Any] = {"backendNodeId": node.backend_node_id, "objectGroup": run.group}
        if world == "isolated":
            params["executionContextId"] = await self.worlds.context(lane, node.frame_id)
        try:
            object_id = await self._resolved(lane, node, params)
            call = {
                "functionDeclaration": _with_arguments(source, literals),
                "objectId": object_id,
                "arguments": [{"objectId": object_id}],
                "returnByValue": True,
                "awaitPromise": True,
                "userGesture": True,
                "objectGroup": run.group,
            }
            return await self._result(run, lane, "Runtime.callFunctionOn", call)
        finally:
            _release(lane, run)

    @staticmethod
    async def _resolved(lane: Session, node: Node, params: dict[str, Any]) -> str | None:
        try:
            resolved = await lane.request("DOM.resolveNode", params, _Resolved)
        except RemoteError as error:
            raise NodeNotFound(
                target=node.description, reason=f"Chrome no longer has it: {error.message}"
            ) from None
        return resolved.object.object_id

    async def _result(self, run: _Run, lane: Session, method: str, params: dict[str, Any]) -> Any:
        await trio.lowlevel.checkpoint_if_cancelled()
        pending = lane.post(method, **params)
        run.sent = True
        try:
            reply = await pending.decoded(EvaluateReply)
        except RemoteError as error:
            raise explain(error) from None
        if reply.exception_details is not None:
            _release(lane, run)  # what was thrown is kept for us, though only its description is used
        return to_python(reply)


def _release(lane: Session, run: _Run) -> None:
    # Sent, not waited for: on a page that is stuck it is answered when the script was stopped.
    with suppress(SessionGone, ConnectionLost):
        lane.post("Runtime.releaseObjectGroup", objectGroup=run.group)


async def stop_script(lane: Session) -> Stopped:
    """Terminate what runs in the page's process; see whether the page answers. Shielded, STOP_GRACE long."""
    terminated = responsive = False
    with trio.move_on_after(STOP_GRACE, shield=True), suppress(RemoteError, SessionGone, ConnectionLost):
        await lane.call("Runtime.terminateExecution")
        terminated = True
        await lane.call("Runtime.evaluate", expression="0")
        responsive = True
    return Stopped(terminated=terminated, responsive=responsive)


def _with_arguments(source: str, literals: Sequence[str]) -> str:
    # `arguments` and not a parameter: a name of ours must not hide one that the function means.
    return f"function() {{ return ({source}\n).call({','.join(['this', 'arguments[0]', *literals])}) }}"
