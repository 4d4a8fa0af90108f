"""PageCore: what every method of a page stands on: its target, its devices, and how an action runs.

Rule: an action runs once the page is ready for it, within its budget, and its end says whether the page answered.
Whether it does is asked some time before the deadline: an action whose time ran out says that the page does not
answer only where that question is still open, since a machine that is busy for a moment is no reason. A budget
that was spent before it began asks nothing, because nothing was sent.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

import attrs

from cdpengine._api.browser_state import BrowserState
from cdpengine._api.page.targets import (
    ElementTarget,
    explain_stale,
    find_staleness,
    find_successor,
    look_again,
    look_up_ref,
    resolve,
)
from cdpengine._budget import Budget, within
from cdpengine._evaluate.evaluation import EvaluationCounters, Evaluator
from cdpengine._evaluate.script import Script
from cdpengine._input.action import ActionContext, ActionOutcome
from cdpengine._input.actionability.input_observer import NavigationWatch
from cdpengine._input.devices.keyboard import Keyboard
from cdpengine._input.devices.mouse import Mouse
from cdpengine._input.devices.touch import Touch
from cdpengine._page.activity import Activity, watch_activity
from cdpengine._page.dialogs import Span
from cdpengine._page.navigation.liveness import explain_deadline, find_silence
from cdpengine._page.node import Node
from cdpengine._page.page_target import PageTarget
from cdpengine._page.scripts.worlds import IsolatedWorlds
from cdpengine._protocol.calls import span as action_span
from cdpengine._protocol.session import Session
from cdpengine._snapshot.refs import Ref, RefTable, ref_tables
from cdpengine.errors import (
    CoveredError,
    DeadlineExceededError,
    StaleRefError,
)


class PageCore:
    """What a Page is made of. Its verbs and its parts (`page.network`, `page.storage`, ...) are given it."""

    def __init__(self, state: BrowserState, target: PageTarget) -> None:
        self.state = state
        self.target = target
        self.keyboard = Keyboard(target.session, target, mac=state.version.on_mac)
        self.mouse = Mouse(target.session, target, keyboard=self.keyboard)
        self.touch = Touch(target.session, target, keyboard=self.keyboard)
        self.worlds = IsolatedWorlds()
        self.evaluator = Evaluator(
            target,
            IsolatedWorlds(),
            EvaluationCounters(state.evaluation_counters),
            enabled=state.evaluate_enabled,
        )

    @property
    def session(self) -> Session:
        """The page's own session."""
        return self.target.session

    @property
    def refs(self) -> RefTable:
        """The page's refs, shared with every other Page object of this target. Not to be kept over an await."""
        return ref_tables().table(self.state.key, self.target.target_id)

    def node(self, target: ElementTarget) -> Node:
        """Return the node that `target` names. Raises as `resolve`."""
        return resolve(self.target, self.refs, target)

    def role_of(self, target: ElementTarget) -> str:
        """Return the role that a ref had in its snapshot; "" for targets that are no refs."""
        if isinstance(target, str):
            return self.refs.lookup(target).role
        return target.role if isinstance(target, Ref) else ""

    async def resolve_target(
        self, target: ElementTarget, heal: bool, budget: Budget
    ) -> tuple[Node, Ref | None]:
        """Return the node that `target` names; with `heal`, what stands in its place now, and the ref of that.

        Raises as `resolve`; with `heal`, StaleRefError only when it is not sure what that is.
        """
        if not heal or not isinstance(target, str | Ref):
            return self.node(target), None
        ref = look_up_ref(self.refs, target)
        error = await find_staleness(self.target, self.refs, self.worlds, ref)
        if error is None:
            return self.node(ref), None
        page = self.target
        while (seen := await look_again(page, self.worlds, ref, error, budget.remaining)) is None:
            budget.step("the frame's document was replaced while it was looked at")
        self.refs.assign(seen.documents)
        healed = find_successor(page, self.refs, ref, error)
        return self.node(healed), healed

    def context(self, budget: Budget, navigation: NavigationWatch | None = None) -> ActionContext:
        """Return what an action works with."""
        return ActionContext(
            self.keyboard, self.mouse, self.touch, self.worlds, budget, self.target, navigation
        )

    async def read(self, action: str, source: str, timeout: float, *args: object) -> object:
        """Evaluate a script of the engine's own, in its own world."""
        budget = Budget.start(action, timeout)
        async with explain_deadline(self.target, budget.deadline):
            evaluated = Script(source, args, world="isolated")
            with action_span(f"page.{action}"):
                return await self.evaluator.evaluate(evaluated, budget, own=True)

    @asynccontextmanager
    async def action(
        self, action: str, timeout: float, *, also_unready: bool = False
    ) -> AsyncIterator[Budget]:
        """Run one action under its budget, once the page is ready for it.

        With `also_unready`, a page that is crashed or stuck will do: the action brings it back.
        """
        try:
            with (
                action_span(f"page.{action}"),
                within(action, timeout) as budget,
                self.target.early_questions.before(budget.deadline),
                self.target.dialogs.reported(action),
            ):
                await (self.target.started() if also_unready else self.target.ready())
                try:
                    yield budget
                except StaleRefError as error:
                    raise await explain_stale(self.target, self.refs, self.worlds, error) from error.__cause__
        except DeadlineExceededError as late:  # as explain_deadline, without the cost of another generator
            if (explained := await find_silence(self.target, late)) is None:
                raise
            raise explained from late

    @asynccontextmanager
    async def input(self, action: str, timeout: float) -> AsyncIterator[InputAction]:
        """Run one action that sends input, and collect what happens on the page meanwhile."""
        async with self.action(action, timeout) as budget:
            with self.target.dialogs.span() as span, watch_activity(self.target) as activity:
                try:
                    context = self.context(budget, activity)
                    yield InputAction(self, context, SideEffects(span, activity))
                except CoveredError as error:
                    error.covered_ref = self._ref_of(error.covering_node)
                    raise

    async def act(
        self,
        action: str,
        do: Callable[..., Awaitable[ActionOutcome]],
        target: ElementTarget,
        heal: bool,
        timeout: float,
    ) -> ActionOutcome:
        """Do one action to a node, `do(node, context=...)`; return its outcome, with what happened meanwhile."""
        async with self.input(action, timeout) as act:
            node = await act.resolve_target(target, heal)
            return await act.with_effects(await do(node, context=act.context))

    def _ref_of(self, covering_node: int | None) -> str:
        """Return the ref of what covers a node of the main frame, "" where no snapshot has given it one."""
        if covering_node is None:
            return ""
        main = self.target.frames.main
        ref = self.refs.known(main.loader_id, covering_node)
        return "" if ref is None else ref.id


@attrs.define(eq=False)
class SideEffects:
    """What happens on a page while an action runs. Filled while it runs.

    `healed` is the ref that the action is done to instead of a stale one, `healed_destination` that of where a
    drag ends.
    """

    dialogs: Span
    activity: Activity
    healed: Ref | None = None
    healed_destination: Ref | None = None


@attrs.frozen(eq=False)
class InputAction:
    """One action that sends input: what it works with, and what happens on the page while it runs."""

    _core: PageCore
    context: ActionContext
    effects: SideEffects

    async def resolve_target(self, target: ElementTarget, heal: bool) -> Node:
        """Return the node that the action is done to, and note it where it was healed. Raises as `PageCore`'s."""
        node, self.effects.healed = await self._core.resolve_target(target, heal, self.context.budget)
        return node

    async def resolve_destination(self, target: ElementTarget, heal: bool) -> Node:
        """Return the node that a drag ends on, and note it where it was healed. Raises as `PageCore`'s."""
        node, self.effects.healed_destination = await self._core.resolve_target(
            target, heal, self.context.budget
        )
        return node

    async def with_effects(self, outcome: ActionOutcome) -> ActionOutcome:
        """Return the outcome with what happened on the page meanwhile."""
        span, activity, page = self.effects.dialogs, self.effects.activity, self._core.target
        if span.shown:
            await page.dialogs.wait_for_answer()
        page.navigation.add_set_off(
            each.frame_id for each in activity.navigations if not each.within_document
        )
        return attrs.evolve(
            outcome,
            dialogs=span.dialogs,
            dialog_opened=outcome.dialog_opened or bool(span.shown),
            navigation=next(iter(activity.navigations), None),
            popup=next(iter(activity.popups), None),
            download=next(iter(activity.downloads), None),
            healed=self.effects.healed,
            healed_destination=self.effects.healed_destination,
        )
