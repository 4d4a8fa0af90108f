"""PageBase: what every part of a page stands on: its target, its devices, and how an action runs under its budget.

Rule: an action runs once the page is ready for it, within its budget, and its end says whether the page answered.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

import attrs

from cdpengine._api.healing import look_again, successor
from cdpengine._api.staleness import explain_stale, staleness
from cdpengine._api.targets import ElementTarget, known_ref, resolve
from cdpengine._api.unresponsive import told_unresponsive, unresponsive
from cdpengine._budget import Budget, within
from cdpengine._evaluate.counters import EvaluationCounters
from cdpengine._evaluate.evaluation import Evaluator, Script
from cdpengine._input.action import ActionContext, ActionOutcome
from cdpengine._input.actionability.input_observer import NavigationWatch
from cdpengine._input.devices.keyboard import Keyboard
from cdpengine._input.devices.mouse import Mouse
from cdpengine._input.devices.touch import Touch
from cdpengine._page.activity import Activity, watch_activity
from cdpengine._page.dialogs import Span
from cdpengine._page.frames import Frame
from cdpengine._page.node import Node
from cdpengine._page.page_target import PageTarget
from cdpengine._page.scripts.worlds import IsolatedWorlds
from cdpengine._protocol.instruments import span as action_span
from cdpengine._protocol.session import Session
from cdpengine._snapshot.ref_tables import ref_tables
from cdpengine._snapshot.refs import Ref, RefTable
from cdpengine.errors import CoveredError, DeadlineExceededError, StaleRefError, shown_url

if TYPE_CHECKING:
    from cdpengine._api.browser import Browser


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


class PageBase:
    """The state of a Page, and what its parts share."""

    def __init__(self, browser: Browser, target: PageTarget) -> None:
        self.browser = browser
        self.keyboard = Keyboard(target.session, target, mac=browser.version.on_mac)
        self.mouse = Mouse(target.session, target, keyboard=self.keyboard)
        self.touch = Touch(target.session, target, keyboard=self.keyboard)
        self._target = target
        self._worlds = IsolatedWorlds()
        self._evaluator = Evaluator(
            target,
            IsolatedWorlds(),
            EvaluationCounters(browser.evaluation_counters),
            enabled=browser.evaluate_enabled,
        )

    def __repr__(self) -> str:
        return f"<Page {self.target_id[:8]} {shown_url(self.url)[:60]!r}>"

    @property
    def session(self) -> Session:
        """The page's own session, for any protocol command and event. Evaluation has another one."""
        return self._target.session

    @property
    def target_id(self) -> str:
        """Chrome's id of the page."""
        return self._target.target_id

    @property
    def url(self) -> str:
        """Where the page is, as of the last event; fragment included. "about:blank" before its first document."""
        return self._target.frames.main.url or "about:blank"

    @property
    def frames(self) -> list[Frame]:
        """The page's frames, the main one first."""
        return list(self._target.frames)

    @property
    def context_id(self) -> str | None:
        """Chrome's id of the browser context that the page belongs to."""
        return self._target.context_id

    @property
    def closed(self) -> bool:
        """Whether the page is gone."""
        return self._target.closed

    async def _read(self, action: str, source: str, timeout: float, *args: object) -> object:
        """Evaluate a script of the engine's own, in its own world."""
        budget = Budget.start(action, timeout)
        async with told_unresponsive(self._target, budget.deadline):
            evaluated = Script(source, args, world="isolated")
            with action_span(f"page.{action}"):
                return await self._evaluator.evaluate(evaluated, budget, own=True)

    @property
    def _refs(self) -> RefTable:
        """The page's refs, shared with every other Page object of this target. Not to be kept over an await."""
        return ref_tables().table(self.browser.key, self.target_id)

    def _node(self, target: ElementTarget) -> Node:
        return resolve(self._target, self._refs, target)

    async def _aim(self, target: ElementTarget, heal: bool, budget: Budget, effects: SideEffects) -> Node:
        """Return the node that `target` names; with `heal`, what stands in its place now, noted as `healed`.

        Raises as `resolve`; with `heal`, StaleRefError only when it is not sure what that is.
        """
        node, effects.healed = await self._aimed(target, heal, budget)
        return node

    async def _aimed(self, target: ElementTarget, heal: bool, budget: Budget) -> tuple[Node, Ref | None]:
        if not heal or not isinstance(target, str | Ref):
            return self._node(target), None
        ref = known_ref(self._refs, target)
        error = await staleness(self._target, self._refs, self._worlds, ref)
        if error is None:
            return self._node(ref), None
        page = self._target
        while (seen := await look_again(page, self._worlds, ref, error, budget.remaining)) is None:
            budget.step("the frame's document was replaced while it was looked at")
        self._refs.assign(seen.documents)
        healed = successor(page, self._refs, ref, error)
        return self._node(healed), healed

    def _role_of(self, target: ElementTarget) -> str:
        """Return the role that a ref had in its snapshot; "" for targets that are no refs."""
        if isinstance(target, str):
            return self._refs.lookup(target).role
        return target.role if isinstance(target, Ref) else ""

    def _context(self, budget: Budget, navigation: NavigationWatch | None = None) -> ActionContext:
        return ActionContext(
            self.keyboard, self.mouse, self.touch, self._worlds, budget, self._target, navigation
        )

    @asynccontextmanager
    async def _action(
        self, action: str, timeout: float, *, also_unready: bool = False
    ) -> AsyncIterator[Budget]:
        """Run one action under its budget, once the page is ready for it.

        With `also_unready`, a page that is crashed or stuck will do: the action brings it back.
        """
        try:
            with (
                action_span(f"page.{action}"),
                within(action, timeout) as budget,
                self._target.early_questions.before(budget.deadline),
                self._target.dialogs.reported(action),
            ):
                await (self._target.started() if also_unready else self._target.ready())
                try:
                    yield budget
                except StaleRefError as error:
                    raise await explain_stale(
                        self._target, self._refs, self._worlds, error
                    ) from error.__cause__
        except DeadlineExceededError as late:  # as told_unresponsive, without the cost of another generator
            if (told := await unresponsive(self._target, late)) is None:
                raise
            raise told from late

    @asynccontextmanager
    async def _input(self, action: str, timeout: float) -> AsyncIterator[tuple[Budget, SideEffects]]:
        """Run one action that sends input, and collect what happens on the page meanwhile."""
        async with self._action(action, timeout) as budget:
            with self._target.dialogs.span() as span, watch_activity(self._target) as activity:
                try:
                    yield budget, SideEffects(span, activity)
                except CoveredError as error:
                    error.covered_ref = self._ref_of(error.covering_node)
                    raise

    async def _told(self, outcome: ActionOutcome, effects: SideEffects) -> ActionOutcome:
        span, activity = effects.dialogs, effects.activity
        if span.shown:
            await self._target.dialogs.wait_for_answer()
        self._target.navigation.told |= {
            each.frame_id for each in activity.navigations if not each.within_document
        }
        return attrs.evolve(
            outcome,
            dialogs=span.dialogs,
            dialog_opened=outcome.dialog_opened or bool(span.shown),
            navigation=next(iter(activity.navigations), None),
            popup=next(iter(activity.popups), None),
            download=next(iter(activity.downloads), None),
            healed=effects.healed,
            healed_destination=effects.healed_destination,
        )

    def _ref_of(self, covering_node: int | None) -> str:
        """Return the ref of what covers a node of the main frame, "" where no snapshot has given it one."""
        if covering_node is None:
            return ""
        main = self._target.frames.main
        ref = self._refs.known(main.loader_id, covering_node)
        return "" if ref is None else ref.id
