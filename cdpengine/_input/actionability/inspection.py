"""Inspection: waits until a node can be acted on, and returns the point for the action.

Rule: the first probe is quick. One call of actionability.js returns the node's middle as the point, if the node
needs no scrolling, measuring or waiting. Otherwise full probes follow (`measuring.py`). If a probe fails for a
temporary reason, it is repeated until the budget ends, with short growing pauses. The page or another task may
remove the obstacle meanwhile. The last reason becomes the error. A reason that only another action can remove is
logged within the first second (logger `cdpengine.action`), and the error repeats it. A node that has left its
document never returns: that raises StaleRefError immediately.

Stability is sampled over two animation frames if the node may be moving: an animation of the node, of an
ancestor or of another element's layout runs, the node was scrolled or is partly outside of the viewport, or an
earlier probe failed. Otherwise sampling is skipped, which saves two frames (33 ms) on a still page. Movement by
script alone does not count as unstable. The hit test runs right before the event, and an InputObserver armed in
the same call sees which element receives it.
"""

from __future__ import annotations

import itertools
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from functools import cache
from typing import TypeVar

import attrs
import msgspec
import trio

from cdpengine._budget import Budget
from cdpengine._input.actionability.key_guard import KeyGuard
from cdpengine._input.actionability.library_calls import (
    AnyHandle,
    Handle,
    check_name,
    decode_result,
    handle_on,
    known_handle,
    name_expectation,
    note_name_checked,
    post_library_call,
    post_run,
    run,
)
from cdpengine._input.actionability.measuring import Cover, FullProbe
from cdpengine._input.actionability.page_library import (
    InputObserver,
    ProbeReply,
    probe_nodes,
    probe_request,
    use_node,
)
from cdpengine._input.actionability.requirements import Requirements, Usability
from cdpengine._input.devices.mouse import Interruptions
from cdpengine._input.geometry import Point
from cdpengine._input.hindrance import Hindrance
from cdpengine._javascript import script_with
from cdpengine._page.scripts.page_functions import Node, ObjectGroup, object_group
from cdpengine._page.scripts.worlds import IsolatedWorlds
from cdpengine._protocol.calls import PendingCall
from cdpengine.errors import (
    CoveredError,
    NotInteractableError,
    StaleRefError,
    UnreadyState,
)

T = TypeVar("T")


_PAUSES = (0.0, 0.016, 0.033, 0.05)
_LONGEST_PAUSE = 0.1
"""Pauses between probes, in seconds: a frame or two at first, then ten probes a second."""


def retry_pauses() -> Iterator[float]:
    """Return the pauses after failed probes, in seconds, as an endless iterator."""
    return itertools.chain(_PAUSES, itertools.repeat(_LONGEST_PAUSE))


_NAMING_TIMEOUT = 0.1
"""Maximum time to identify the covering node, in seconds."""

_BEHIND_LABEL = ". Its label is pressed in its place: use click() without a position, check() or upload()"


class _FinalRefusal(Exception):
    """A refusal that waiting cannot change."""

    def __init__(self, error: NotInteractableError) -> None:
        self.error = error


_MARGIN = 0.2
"""Seconds before the deadline at which the specific error is raised. At most a fifth of the timeout."""

_DIALOG_CHECK_TIMEOUT = 0.01
"""Maximum time to check for an open dialog, in seconds. The engine tracks dialogs, so no query is needed."""


class FocusReply(msgspec.Struct):
    """The result of focus.js."""

    focused: bool
    holder: str = ""
    removed: bool = False
    fresh: bool = False
    masked: bool = False
    labelled: bool = False


@cache
def _focus_source() -> str:
    return script_with(
        "_input/actionability/focus",
        "_page/scripts/secret_field",
        "_input/forms/mask",
        parameters="request, keys",
    )


@attrs.define(eq=False)
class Inspection:
    """Probes of one node for one action. Created by `inspect`, which releases its remote objects."""

    node: Node
    action: str
    worlds: IsolatedWorlds
    budget: Budget
    interruptions: Interruptions
    _group: ObjectGroup
    dragging: bool = False
    _handle: Handle | None = None
    _used: AnyHandle | None = None
    _full_probe: FullProbe | None = None
    _probes: int = 0
    _frees: str = ""
    _cover: Cover | None = None
    _covering: str = ""
    _covering_node: int | None = None

    async def wait_for_point(
        self,
        requirements: Requirements,
        position: tuple[float, float] | None = None,
        observer: InputObserver | None = None,
    ) -> Point:
        """Wait until the node meets the requirements, and return the point to act on.

        `position` is an offset in CSS pixels from the top left corner of the node's border box. By default the
        point is the middle of the node's largest visible part, or another visible point if that one is covered.
        The probe that finds the point arms `observer`.

        Raises StaleRefError immediately if the node left its document. At the end of the budget raises
        CoveredError, or NotInteractableError with the node's state, or without one if a dialog blocks the page.
        """
        if observer is not None:
            observer.choose_mark(self.node)
        return await self._until(lambda: self._point(requirements, position, observer))

    async def is_clear(self, requirements: Requirements) -> bool:
        """Return whether a single probe, without scrolling, finds a point that meets the requirements."""
        with suppress(StaleRefError):
            point, _ = await self._quick_probe(requirements, None)
            return point is not None
        return False

    async def wait_for_focus(
        self, *, editable: bool, at_end: bool, guard: KeyGuard | None = None, again: bool = False
    ) -> FocusReply:
        """Wait until the node is enabled, then focus it. With `at_end` the caret moves behind the content.

        `guard` is armed in the same call. `again`: the node already had the focus, so the caret stays where the
        page put it.

        With `editable` the node must be visible and accept typed text. Without it the node needs no box, as for
        the Tab key. Raises the errors of `wait_for_point`. Raises NotInteractableError immediately if the node
        can never accept text or does not take the focus.
        """
        return await self._until(
            lambda: self._focus(editable=editable, at_end=at_end, guard=guard, again=again)
        )

    async def run_when_usable(
        self, source: str, request: object, kind: type[T], usability: Usability | None = None
    ) -> T:
        """Wait until the node can be used, and call the function as `run` does, in the same round trip.

        Raises the errors of `wait_for_focus` and `run`.
        """
        required = usability or Usability()
        return await self._until(lambda: self._run_usable(source, request, kind, required))

    async def focus_when_usable(self, *, visible: bool = True) -> bool:
        """Wait until the node can be used, then focus it. Return whether it keeps the focus.

        `visible`: the node must be visible as well.

        Raises the errors of `wait_for_focus`.
        """
        required, request = Usability(visible=visible), {"atEnd": False, "guard": None}
        return (await self.run_when_usable(_focus_source(), request, FocusReply, required)).focused

    async def wait_until_usable(self, *, visible: bool = True) -> None:
        """Wait until the node is enabled and, with `visible`, visible.

        Raises the errors of `wait_for_focus`.
        """
        await self._until(lambda: self._usable(Usability(visible=visible, reached=visible)))

    async def handle(self) -> Handle | None:
        """Return the node's handle, valid as long as this inspection; None if the node's document is gone."""
        try:
            return await self._resolve()
        except StaleRefError:
            return None

    async def run(self, source: str, request: object, kind: type[T]) -> T:
        """Call the engine's function on the node in its isolated world. `kind` is the type of the result.

        Raises StaleRefError if the node's document is gone, EvaluationFailedError if the function threw.
        """
        await self.check_expected_name()
        return await run(await self._resolve(), source, request, kind)

    async def check_expected_name(self) -> None:
        """Compare the node's role and name with the expected ones, unless that was done. Raises NameChanged."""
        if (expected := name_expectation(self.node)) is not None:
            call = post_library_call(await self._resolve(), "renamed", expected)
            check_name(self.node, await decode_result(call, self.node, tuple[str, str] | None))  # type: ignore[arg-type]
            note_name_checked(self.node)

    def post(self, source: str, request: object) -> PendingCall:
        """Post the call of `run` on a node that was used before. Await it with `decode_result`."""
        return post_run(self.used, source, request)

    @contextmanager
    def arming(self, guard: KeyGuard | None) -> Iterator[None]:
        """Store where the calls of the body armed the guard. They may have armed it even if they fail."""
        try:
            yield
        finally:
            if guard is not None and self._used is not None:
                guard.note_armed(self._used.library)

    @property
    def used(self) -> AnyHandle:
        """The handle with which the node was last used."""
        assert self._used is not None
        return self._used

    @property
    def margin(self) -> float:
        """Seconds before the deadline at which probes stop, so that the specific error can be raised."""
        return min(_MARGIN, self.budget.timeout / 5)

    # --- waiting -------------------------------------------------------------------------------------------

    async def _until(self, probe: Callable[[], Awaitable[T]]) -> T:
        started = trio.current_time()
        failure: NotInteractableError | None = None
        hindrance: Hindrance | None = None
        margin = self.margin
        with trio.CancelScope(deadline=self.budget.deadline - margin):
            for pause in retry_pauses():
                self._probes += 1
                try:
                    found = await probe()
                    note_name_checked(self.node)
                    self.budget.hindrance = None
                    return found
                except _FinalRefusal as never:
                    raise never.error from None
                except NotInteractableError as error:
                    if not (error.state or isinstance(error, CoveredError)):
                        raise  # waiting does not change it
                    failure = error
                    # If the program resumes after the deadline, the timeout error still names the reason.
                    self.budget.hindrance = error
                    self.budget.step(error.reason)
                    error.steps = tuple(self.budget.steps)
                    if self._frees:
                        hindrance = hindrance or Hindrance(self.action, self.node, self.budget, started)
                        hindrance.note(f"{error.reason}; {self._frees}")
                    if (
                        isinstance(error, CoveredError)
                        and self._probes > 1
                        and self._covering != error.covered_by
                    ):
                        # Find the cover early, because after the deadline a busy page may respond too late.
                        await self._name_cover(error)
                await trio.sleep(pause)
        with trio.move_on_after(_DIALOG_CHECK_TIMEOUT, shield=True):
            await self.interruptions.dialog_opened()
            raise self._refusal(
                "a JavaScript dialog is open and stops the page; accept or dismiss it first",
            )
        if failure is None:
            raise self.budget.exceeded()
        if isinstance(failure, CoveredError) and self._cover is not None:
            with trio.CancelScope(shield=True):
                await self._name_cover(failure)
        spent = trio.current_time() - started
        if self._frees:
            failure.reason = f"{failure.reason}; {self._frees}"
        failure.steps = (*self.budget.steps, f"probed {self._probes} times in {spent:.1f} s")
        raise failure

    async def _name_cover(self, error: CoveredError) -> None:
        """Find the node that covers this one. On a timeout use the last cover with the same description."""
        assert self._cover is not None
        found = await self._cover.find_node(_NAMING_TIMEOUT)
        if found is not None or self._covering != error.covered_by:
            self._covering, self._covering_node = error.covered_by, found
        error.covering_node = self._covering_node

    def _refusal(self, reason: str, state: UnreadyState = "") -> NotInteractableError:
        return NotInteractableError(
            action=self.action, target=self.node.description, reason=reason, state=state
        )

    # --- one probe ------------------------------------------------------------------------------------------

    async def _point(
        self, required: Requirements, position: tuple[float, float] | None, observer: InputObserver | None
    ) -> Point:
        labelled = False
        if self._probes == 1 and position is None:
            point, labelled = await self._quick_probe(required, observer)
            if point is not None:
                return point
        if self._full_probe is None:
            self._full_probe = FullProbe(self.node, self.worlds, self._group, self._resolve, self.dragging)
        found = await self._full_probe.probe(
            position, observer, checked=required.receives_events, again=self._probes > 1, labelled=labelled
        )
        reply = found.reply
        self._frees = reply.frees
        if found.taken:
            raise _FinalRefusal(self._refusal(found.outside))
        if reply.never:
            raise _FinalRefusal(self._refusal(reply.never, "invisible"))
        if position is not None and reply.labelled:
            reason = f"{reply.invisible or 'it is hidden'}, so it has no such point{_BEHIND_LABEL}"
            raise _FinalRefusal(self._refusal(reason, "invisible"))
        if required.visible and reply.invisible:
            raise self._refusal(reply.invisible, "invisible")
        if required.enabled and reply.disabled:
            raise self._refusal(reply.disabled, "disabled")
        if required.stable and found.moved:
            raise self._refusal("it keeps moving", "unstable")
        if not found.points and found.corner is not None and not required.area:
            return found.corner
        if not found.points:
            raise self._refusal(reply.invisible or found.outside, "invisible")
        if not required.receives_events:
            return found.points[0]
        if (reached := found.reached_point) is not None:
            return reached
        self._full_probe.use_next_alignment()
        self._cover = found.cover
        covering = self._cover.reply
        self._frees = covering.frees
        hint = ", and it has pointer-events: none" if reply.untouchable else ""
        raise CoveredError(
            action=self.action,
            target=self.node.description,
            reason=f"{covering.covered} receives the events there{hint}",
            covered_by=covering.covered,
        )

    async def _quick_probe(
        self, required: Requirements, observer: InputObserver | None
    ) -> tuple[Point | None, bool]:
        """Return the point if a quick probe finds no problem, else None; and whether to press the label instead.

        Only for nodes of the page's own document: the surroundings of a frame have to be measured.
        """
        node, outermost = self.node, self.node.session.target_type != "iframe"
        if not (outermost and node.frame_id == node.session.frame_id and required.receives_events):
            return None, False
        request = probe_request((), quick=True, dragging=self.dragging)

        async def ask(handle: AnyHandle) -> ProbeReply:
            if observer is not None:
                request["observer"] = observer.arming(inside=False, checked=True)
                observer.note_armed([handle])
            return (await probe_nodes(node, [(handle, request)], observer))[0]

        reply = await self._with_handle(ask)
        disabled = required.enabled and reply.disabled
        poor = reply.invisible or reply.labelled or disabled or not all(reply.hits)
        return None if poor else reply.point, reply.labelled and not disabled

    async def _focus(
        self, *, editable: bool, at_end: bool, guard: KeyGuard | None, again: bool
    ) -> FocusReply:
        required = Usability(visible=editable, editable=editable)
        request = {"atEnd": at_end, "guard": None if guard is None else guard.arming(), "again": again}
        with self.arming(guard):
            reply, focus = await self._use(_focus_source(), request, FocusReply, required)
        if not focus.focused and reply.labelled:
            raise self._refusal(f"{reply.invisible or 'it takes no focus'}{_BEHIND_LABEL}")
        if not focus.focused and reply.invisible:
            # Hidden, so it did not take the focus. It may become visible later.
            raise self._refusal(reply.invisible, "invisible")
        if not focus.focused:
            if focus.removed:
                raise self._refusal("the page removed it when it got the focus")
            holder = f"; the focus is on {focus.holder}" if focus.holder else ""
            raise self._refusal(f"it does not take the keyboard focus{holder}")
        return focus

    async def _run_usable(self, source: str, request: object, kind: type[T], required: Usability) -> T:
        return (await self._use(source, request, kind, required))[1]

    async def _use(
        self, source: str, request: object, kind: type[T], required: Usability
    ) -> tuple[ProbeReply, T]:
        """Probe the node and, if it is usable as `required`, call the function on it in the same round trip."""
        probe = {**probe_request(()), "expected": name_expectation(self.node)}
        params = {"probe": probe, "act": request, **attrs.asdict(required)}
        reply, made = await self._with_handle(lambda handle: use_node(handle, source, params, kind))
        self._check_usable(reply, required)
        assert made is not None  # when_usable.js and _check_usable apply the same conditions
        return reply, made

    async def _usable(self, required: Usability) -> None:
        self._check_usable(await self._probe_alone(), required)

    def _check_usable(self, reply: ProbeReply, required: Usability) -> None:
        """Raise the reason why the node cannot be used. The same conditions apply in when_usable.js."""
        self._frees = reply.frees
        if required.visible and reply.never:
            raise _FinalRefusal(self._refusal(reply.never, "invisible"))
        if required.visible and reply.invisible and not reply.labelled:
            raise self._refusal(reply.invisible, "invisible")
        if reply.disabled:
            raise self._refusal(reply.disabled, "disabled")
        if reply.behind and required.reached:
            raise self._refusal(reply.behind, "disabled")
        if required.editable and reply.uneditable:
            raise self._refusal(f"{reply.uneditable}. For keys without a field, use press()")
        if reply.readonly and (required.editable or (required.writable and not reply.chooses)):
            raise self._refusal(reply.readonly, "disabled")

    async def _probe_alone(self) -> ProbeReply:
        (reply,) = await probe_nodes(self.node, [(await self._resolve(), probe_request(()))])
        return reply

    async def _with_handle(self, ask: Callable[[AnyHandle], Awaitable[T]]) -> T:
        """Call `ask` with the handle that a snapshot provides, which saves a round trip, or a resolved one."""
        known = known_handle(self.node, self.worlds) if self._handle is None else None
        if known is not None:
            self._used = known
            with suppress(StaleRefError):  # the resolved handle reports the reason
                result = await ask(known)
                if self.node.valid():
                    return result
        self._used = handle = await self._resolve()
        return await ask(handle)

    async def _resolve(self) -> Handle:
        if self._handle is None:
            self._handle = await handle_on(self.node, self.worlds, self._group)
        return self._handle


@asynccontextmanager
async def inspect(
    node: Node,
    action: str,
    *,
    worlds: IsolatedWorlds,
    budget: Budget,
    interruptions: Interruptions,
    dragging: bool = False,
) -> AsyncIterator[Inspection]:
    """Yield an Inspection of `node`. Its remote objects are released when the block ends.

    `dragging`: the node is the target of a drag. The dragged element then covers nothing.
    """
    # Released before the input that follows, in order. Chrome processes the release even while a dialog blocks the
    # page.
    with object_group("action") as group:
        yield Inspection(node, action, worlds, budget, interruptions, group, dragging)
