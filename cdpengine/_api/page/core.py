"""PageCore: the common base of a page's methods. It has the target, devices and refs, and runs actions.

Rule: an action waits until the page is ready, runs within its budget, and reports an unresponsive page at the
deadline. If the budget is already exhausted, the error is raised without a query to the page.

A ref is checked before use: its frame, its document and its node must be the same. Otherwise the ref is refused,
so no other element receives the input. Refs are valid across connections. When an action fails on a stale ref, or
healing is requested, the engine asks Chrome why the node is gone. If the page does not answer in time, the error
stays as it is. Healing captures the whole frame again. It accepts the node with the same role and name at the same
position among all nodes with that role and name. Their number must be unchanged, and the new node must not have
existed next to the old one.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from functools import partial
from typing import TypeVar
from weakref import WeakValueDictionary

import attrs
import trio

from cdpengine._api.browser_state import BrowserState
from cdpengine._api.page.renaming import Renaming
from cdpengine._api.page.targets import (
    BackendNode,
    ElementTarget,
    assign_ref,
    describe_target,
    explain_stale,
    find_frame_of,
    find_handle_node,
    find_staleness,
    find_successor,
    look_again,
    look_up_ref,
    make_stale_error,
    resolve,
)
from cdpengine._api.ref_tables import ref_tables
from cdpengine._budget import Budget, within
from cdpengine._evaluate.evaluation import EvaluationCounters, Evaluator
from cdpengine._evaluate.handles import JSHandle
from cdpengine._evaluate.script import Script
from cdpengine._input.action import ActionContext, ActionOutcome
from cdpengine._input.actionability.library_calls import run_with_renaming
from cdpengine._input.devices.keyboard import KeyboardDevice
from cdpengine._input.devices.mouse import HeldKeys, MouseDevice, TouchDevice
from cdpengine._input.node_states import is_gone
from cdpengine._page.announcing import announce_node, note_budget
from cdpengine._page.exposed_calls import wait_until_begun
from cdpengine._page.frame_views import FrameView
from cdpengine._page.frames import Frame
from cdpengine._page.navigation.document_waits import (
    QUICK,
    confirm_effects,
    confirm_input,
    describe_navigation,
    read_present,
    wait_for_documents,
    wait_for_effects,
)
from cdpengine._page.navigation.expired_actions import explain_deadline, find_unresponsive
from cdpengine._page.page_target import PageTarget
from cdpengine._page.scripts.page_functions import Node
from cdpengine._page.scripts.worlds import IsolatedWorlds
from cdpengine._page.search.locator import REPLACED, BaseLocator, find_match, finds_again
from cdpengine._page.side_effects import SideEffects
from cdpengine._protocol.session import Session
from cdpengine._protocol.wire import span as action_span
from cdpengine._snapshot.refs import Ref, RefTable
from cdpengine.errors import (
    CoveredError,
    DeadlineExceededError,
    FocusMovedError,
    NotDeliveredError,
    StaleRefError,
    TargetCrashedError,
)

__all__ = [
    "BackendNode", "ElementTarget", "InputAction", "PageCore", "describe_target", "explain_stale",
    "find_frame_of", "find_staleness", "find_successor", "look_again", "look_up_ref", "make_stale_error",
    "resolve",
]  # fmt: skip

T = TypeVar("T")

_MARGIN = 0.1
"""Time before the deadline, in seconds, in which errors are raised unchanged."""


_NAMING_TIMEOUT = 1.0
"""Maximum delay of an error, in seconds, for the ref of the element that it names."""


class PageCore:
    """The shared state of a Page, passed to its methods and its parts (`page.network`, `page.storage`, ...)."""

    def __init__(self, state: BrowserState, target: PageTarget) -> None:
        self.state = state
        self.target = target
        held_keys = HeldKeys(mac=state.version.on_mac, before_new_tab=state.tabs.first_requests.hold)
        self.keyboard = KeyboardDevice(target.session, target.running, held=held_keys)
        self.mouse = MouseDevice(target.session, target.running, held=held_keys)
        self.touch = TouchDevice(target.session, target.running, held=held_keys)
        self.frame_views: WeakValueDictionary[str, FrameView] = WeakValueDictionary()
        self.worlds = IsolatedWorlds()
        self.evaluator = Evaluator(
            target,
            IsolatedWorlds(),
            EvaluationCounters(state.evaluation_counters),
            enabled=state.evaluate_enabled,
        )

    @property
    def base_url(self) -> str | None:
        """The URL that completes relative ones: that of the page's context, or None."""
        return self.state.base_urls.get(self.target.context_id)

    @property
    def session(self) -> Session:
        """The page's own session."""
        return self.target.session

    @property
    def refs(self) -> RefTable:
        """The page's refs, shared with every other Page object of this target. Do not keep it across an await."""
        state, target = self.state, self.target
        return ref_tables().table(state.key, target.target_id, state.shared_numbers.of(target))

    def give(self, refs: Mapping[str, Ref]) -> None:
        """Record that the program receives these refs, with their current roles and names."""
        self.refs.give(refs, self.state)

    def received(self, ref: Ref) -> Ref:
        """Return the ref as the program last received it on this connection."""
        return self.refs.as_received(ref, self.state)

    def node(self, target: ElementTarget) -> Node:
        """Return the node of a `target` that needs no search. Raises the errors of `resolve`."""
        return resolve(self.target, self.refs, target)

    async def find_node(self, target: ElementTarget, budget: Budget) -> Node:
        """Wait for the document of the target's frame, and for a Locator's match, and return the node."""
        target = await self.find_element(target, budget.deadline)
        node, navigation = self.node(target), self.target.navigation
        if navigation.pending or navigation.fresh:
            await wait_for_documents(self.target, (node.frame_id,), budget)
            return self.node(target)
        return node

    async def find_element(self, target: ElementTarget, deadline: float) -> ElementTarget:
        """Return the target of a Locator's match or of a handle's node; other targets unchanged.

        Waits for a match until `deadline` (trio's clock). Raises the errors of `page.find` and StaleRefError, and
        InvalidArgumentError for a Locator of another page.
        """
        if isinstance(target, BaseLocator):
            target.check_page(self.target)
            return await find_match(target, deadline)
        if isinstance(target, JSHandle):
            return await find_handle_node(self.target, self.worlds, target)
        return target

    async def on_node(
        self,
        target: ElementTarget,
        budget: Budget,
        use: Callable[[Node], Awaitable[T]],
        *,
        waits: bool = True,
    ) -> T:
        """Return the result of `use` on the target's node.

        A Locator is found again if the page replaces its match before the end of `use`, which must change nothing
        until then. Without `waits`, a match must exist now. Raises the errors of `find_node` and of `use`.
        """
        while True:
            try:
                node = await self.find_node(target, budget if waits else Budget.start(budget.action, 0))
                return await use(node)
            except StaleRefError:
                if not finds_again(target):
                    raise
                budget.step(REPLACED)
                await trio.lowlevel.checkpoint()

    def role_of(self, target: ElementTarget) -> str:
        """Return the role that a ref had in its snapshot, or "" for other targets."""
        if isinstance(target, str):
            return self.refs.lookup(target).role
        return target.role if isinstance(target, Ref) else ""

    async def resolve_target(
        self, target: ElementTarget, heal: bool, budget: Budget
    ) -> tuple[Node, Ref | None]:
        """Return the node of `target`. With `heal`, return the replacement of a stale one and its new ref.

        Raises the errors of `resolve`. With `heal`, raises StaleRefError only if the replacement is ambiguous.
        """
        if not heal or not isinstance(target, str | Ref):
            return await self.find_node(target, budget), None
        ref = look_up_ref(self.refs, target)
        error = await find_staleness(self.target, self.refs, self.worlds, ref)
        if error is None:
            return self.node(ref), None
        page = self.target
        while (captured := await look_again(page, self.worlds, ref, error, budget.remaining)) is None:
            budget.step("the frame's document was replaced during the search")
        self.refs.assign(captured.documents)
        healed = find_successor(page, self.refs, ref, error)
        return self.node(healed), healed

    def context(self, budget: Budget, navigation: SideEffects | None = None) -> ActionContext:
        """Return the context in which an action runs."""
        return ActionContext(
            self.keyboard,
            self.mouse,
            self.touch,
            self.worlds,
            budget,
            self.target.running,
            navigation,
            self.target.keep_focus,
        )

    async def read(
        self, action: str, source: str, timeout: float, *args: object, frame: Frame | None = None
    ) -> object:
        """Evaluate one of the engine's scripts in its isolated world, in the main frame or in `frame`.

        A script without `args` only reads: if a navigation has begun meanwhile, the next document is read.
        """
        budget = Budget.start(action, timeout)
        async with explain_deadline(self.target, budget.deadline):
            evaluated = Script(source, args, frame, own=True)
            with action_span(f"page.{action}"):
                if args:
                    return await self.evaluator.evaluate(evaluated, budget)
                await confirm_input(self.target, budget.remaining)
                return await read_present(
                    self.target,
                    lambda: ((frame or self.target.frames.main).id,),
                    lambda: self.evaluator.evaluate(evaluated, budget),
                    budget,
                )

    @asynccontextmanager
    async def action(
        self,
        action: str,
        timeout: float,
        *,
        also_unready: bool = False,
        also_discarded: bool = False,
        everywhere: bool = False,
    ) -> AsyncIterator[Budget]:
        """Run one action under its budget, once the page is ready and its next document has arrived.

        With `also_unready`, the page may be crashed, stuck or navigating, because the action brings it back. With
        `also_discarded`, a tab that Chrome discarded counts as ready, because Chrome executes the commands when it
        loads the tab. With `everywhere`, the action also waits for new documents of all frames.
        """
        try:
            with (
                action_span(f"page.{action}"),
                within(action, timeout) as budget,
                self.target.running.run(action, budget.deadline),
            ):
                running = self.target.running
                if running.listeners or running.read_listeners:
                    note_budget(budget)
                try:
                    await (running.started() if also_unready else running.ready())
                except TargetCrashedError:
                    if not (also_discarded and self.session.is_discarded):
                        raise
                    also_unready = True
                navigation = self.target.navigation
                if not also_unready and (navigation.pending or navigation.fresh):
                    frames = self.target.frames if everywhere else (self.target.frames.main,)
                    await wait_for_documents(self.target, (frame.id for frame in frames), budget)
                try:
                    yield budget
                    after_input = running.unconfirmed > 0
                    await wait_until_begun(self.target, budget.deadline, after_input=after_input)
                except StaleRefError as error:
                    raise await explain_stale(
                        self.target, self.refs, self.worlds, error, self.state
                    ) from error.__cause__
        except DeadlineExceededError as late:  # explain_deadline costs one generator more
            if (explained := await find_unresponsive(self.target, late)) is None:
                raise
            raise explained from late

    @asynccontextmanager
    async def input(
        self, action: str, timeout: float, *, refuse_renamed: bool = False
    ) -> AsyncIterator[InputAction]:
        """Run one action that sends input, and collect its effects on the page."""
        if self.state.slow_mo:
            await trio.sleep(self.state.slow_mo)
        async with self.action(action, timeout) as budget:
            renaming = Renaming(
                self.target, self.worlds, lambda: self.refs, self.received, budget, refuse_renamed
            )
            with self.target.running.record() as effects:
                try:
                    self.target.running.unconfirmed = 1
                    yield InputAction(self, self.context(budget, effects), effects, renaming)
                except CoveredError as error:
                    error.covered_ref = self._ref_of(error.covering_node, self.session.id)
                    raise
                except FocusMovedError as error:
                    error.focus_ref = self._ref_of(error.focus_node, error.session_id)
                    if error.focus_node is not None and not error.focus_ref:
                        left = min(_NAMING_TIMEOUT, max(0.0, budget.remaining - _MARGIN))
                        found = await assign_ref(
                            self.target, self.refs, self.worlds, error.focus_node, error.session_id, left
                        )
                        if found is not None:
                            self.give({found.id: found})
                            error.focus_ref = found.id
                    raise

    async def act(
        self,
        action: str,
        do: Callable[..., Awaitable[ActionOutcome]],
        target: ElementTarget,
        heal: bool,
        timeout: float,
        *,
        refuse_renamed: bool = False,
        repeatable: bool = True,
        harmless: bool = False,
    ) -> ActionOutcome:
        """Run `do(node, context=...)` on the target's node. Return its outcome with the effects on the page.

        The page can replace the match of a Locator, or with `heal` the element of a ref, before the action reaches
        it. The engine then finds it again and repeats the action, if `repeatable` says that a repetition is safe.
        With `harmless`, that is safe even if the input was sent and its receiver is unknown.
        """
        async with self.input(action, timeout, refuse_renamed=refuse_renamed) as act:
            do_in_context = partial(do, context=act.context)
            while True:
                node = None
                try:
                    node = await act.resolve_target(target, heal)
                    return await act.with_effects(await act.do_to(node, do_in_context))
                except StaleRefError as error:
                    heals = heal and node is not None and error.became != "renamed"
                    if not (repeatable and (heals or finds_again(target))):
                        raise
                except NotDeliveredError:
                    if not (harmless and (heal or finds_again(target))):
                        raise
                    if node is not None and not await is_gone(node, self.worlds):
                        raise
                act.context.budget.step(REPLACED)
                await trio.lowlevel.checkpoint()

    def _ref_of(self, node: int | None, session_id: str | None) -> str:
        """Return the ref of a backend node in the session's frames, or "" if no snapshot contains it."""
        if node is None:
            return ""
        frames = [frame for frame in self.target.frames if frame.session.id == session_id]
        known = (self.refs.known(frame.loader_id, node) for frame in frames)
        return next((ref.id for ref in known if ref is not None), "")


@attrs.define(eq=False)
class InputAction:
    """One action that sends input: its context, and its effects on the page.

    `healed` is the ref that replaced a stale target, `healed_destination` the ref that replaced a stale drag
    destination.
    """

    _core: PageCore
    context: ActionContext
    effects: SideEffects
    renaming: Renaming
    healed: Ref | None = None
    healed_destination: Ref | None = None

    async def resolve_target(self, target: ElementTarget, heal: bool) -> Node:
        """Return the node of the action's target and set `healed`. Works like `PageCore.resolve_target`."""
        budget = self.context.budget
        node, self.healed = await self._core.resolve_target(target, heal, budget)
        if self._core.target.running.listeners:
            await announce_node("target", node, budget.remaining)
        return self._expect(node, self.healed or target)

    async def resolve_destination(self, target: ElementTarget, heal: bool) -> Node:
        """Return the node on which a drag ends and set `healed_destination`. Works like `resolve_target`."""
        budget = self.context.budget
        node, self.healed_destination = await self._core.resolve_target(target, heal, budget)
        if self._core.target.running.listeners:
            await announce_node("destination", node, budget.remaining)

        async def meet(node: Node) -> Node:
            async with self.context.inspect(node, "drag to") as inspection:
                await inspection.check_expected_name()
            return node

        return await self.do_to(self._expect(node, self.healed_destination or target), meet)

    async def resolve_field(self, number: int, target: ElementTarget, budget: Budget) -> Node:
        """Return the node of one form field, found within the field's budget."""
        node = await self._core.find_node(target, budget)
        if self._core.target.running.listeners:
            await announce_node(f"field {number}", node, budget.remaining)
        return self._expect(node, target)

    def _expect(self, node: Node, target: ElementTarget) -> Node:
        """Return the node with its ref's role and name, to detect that the page reused it for another item."""
        if not isinstance(target, str | Ref):
            return node
        return self.renaming.expect(node, look_up_ref(self._core.refs, target))

    async def do_to(self, node: Node, do: Callable[[Node], Awaitable[T]]) -> T:
        """Run `do` on a node. With `refuse_renamed`, raises StaleRefError if the node now shows another item."""
        return await run_with_renaming(node, do, self.renaming.settle)

    async def with_effects(self, outcome: ActionOutcome) -> ActionOutcome:
        """Return the outcome with the effects on the page, once the new documents have arrived."""
        effects, page = self.effects, self._core.target
        if effects.tracked_dialogs:
            await page.dialogs.wait_for_answer()
        if effects.scheduled or trio.current_time() - effects.since > QUICK:
            await confirm_effects(page, effects, self.context.budget)
        if effects.navigations or effects.new_tabs:
            page.navigation.add_set_off(effects.frames_that_leave())
            await wait_for_effects(page, effects, self.context.budget)
            if effects.tracked_dialogs:
                await page.dialogs.wait_for_answer()
        renamed = [each.new for each in self.renaming.found]
        healed = [each for each in (self.healed, self.healed_destination) if each is not None]
        self._core.give({each.id: each for each in (*renamed, *healed)})
        return attrs.evolve(
            outcome,
            dialogs=tuple(tracked.dialog for tracked in effects.tracked_dialogs),
            dialog_opened=outcome.dialog_opened or bool(effects.tracked_dialogs),
            navigation=describe_navigation(page, effects) if effects.navigations else None,
            popup=next(iter(effects.popups), None),
            download=next(iter(effects.downloads), None),
            healed=self.healed,
            healed_destination=self.healed_destination,
            all_renamed=tuple(self.renaming.found),
        )
