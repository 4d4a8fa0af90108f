"""Actionability: waits until a node can be acted on, and says where.

Rule: one look is two round trips. The first scrolls the node into view and asks for its quads, the viewport
and a handle on the node in an isolated world; the second runs actionability.js on the node and on the iframe
elements around it, which answers what the node is like and who receives events at the candidate points. A look
that fails for a reason that may pass is repeated, after short growing pauses, until the budget ends; then the
last reason is the error. A node that left its document never comes back: that is StaleRef at once.

Stability is sampled over two animation frames when something may be moving: an animation runs in the document,
the node was just scrolled or is partly outside, or an earlier look failed. Otherwise the samples are skipped,
which saves two frames (33 ms) on a still page. Movement by script alone does not count as unstable: the hit
test comes after it and right before the event.
"""

from __future__ import annotations

import itertools
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager, suppress
from typing import TypeVar

import attrs
import msgspec
import trio

from cdpengine.action.delivery import Interruptions
from cdpengine.action.geometry import Point, Quad
from cdpengine.action.placement import BoxModelReply, MetricsReply, Placed, QuadsReply, place
from cdpengine.browser.frames import FrameTreeNode, FrameTreeReply
from cdpengine.browser.node import Node
from cdpengine.browser.worlds import IsolatedWorlds, context_gone
from cdpengine.budget import Budget
from cdpengine.errors import (
    ConnectionLost,
    Covered,
    Disabled,
    EvaluationFailed,
    Invisible,
    NotInteractable,
    RemoteError,
    SessionGone,
    StaleRef,
    Unstable,
)
from cdpengine.js import script
from cdpengine.session.calls import PendingCall

T = TypeVar("T")

_PASSING = (Covered, Disabled, Invisible, Unstable)
"""What may be otherwise a moment later."""

_PAUSES = (0.0, 0.016, 0.033, 0.05)
_LONGEST_PAUSE = 0.1
"""Seconds between looks: a frame or two at first, then ten looks a second."""

_MARGIN = 0.2
"""Seconds, at most a fifth of the timeout, in which the named error is raised before the deadline cuts in."""

_DIALOG_LOOK = 0.01
"""Seconds that the page's state gets to say whether a dialog is open; it knows without asking Chrome."""

_ALIGNMENTS = ("center", "end", "start")
"""Where to scroll a covered node to, one after another: what is in front may be a fixed header or footer."""

_ALIGN = "function (block) { this.scrollIntoView({ block, inline: 'nearest', behavior: 'instant' }); }"

_group_numbers = itertools.count(1)


@attrs.frozen
class Requirements:
    """What has to hold before an action; with all of them off, a node only needs a point."""

    visible: bool = True
    enabled: bool = True
    stable: bool = True
    receives_events: bool = True


NO_REQUIREMENTS = Requirements(visible=False, enabled=False, stable=False, receives_events=False)


class Look(msgspec.Struct):
    """What actionability.js answers. A reason is "" when there is none."""

    connected: bool
    element: str
    invisible: str = ""
    disabled: str = ""
    uneditable: str = ""
    readonly: str = ""
    moved: bool = False
    hits: list[bool] = []
    covered: str = ""
    untouchable: bool = False


class _Focus(msgspec.Struct):
    focused: bool
    holder: str = ""


class _FrameOwner(msgspec.Struct, rename="camel"):
    backend_node_id: int


class _Thrown(msgspec.Struct):
    text: str = ""


class _Value(msgspec.Struct):
    value: msgspec.Raw = msgspec.Raw(b"null")


class _Returned(msgspec.Struct, rename="camel"):
    result: _Value
    exception_details: _Thrown | None = None


@attrs.frozen
class _Handle:
    """A node and its remote object in the isolated world of its frame."""

    node: Node
    object_id: str


@attrs.define(eq=False)
class Inspection:
    """Looks at one node for one action. Made by `inspect`, which releases what it holds in the page."""

    node: Node
    action: str
    worlds: IsolatedWorlds
    budget: Budget
    interruptions: Interruptions
    _group: str
    _handle: _Handle | None = None
    _owners: Sequence[_Handle] = ()
    _looks: int = 0
    _alignments: Iterator[str] = attrs.field(factory=lambda: iter(_ALIGNMENTS))
    _align: str | None = None

    async def wait_for_point(
        self, requirements: Requirements, position: tuple[float, float] | None = None
    ) -> Point:
        """Wait until the node meets the requirements, and return the point to act on.

        `position` is an offset in CSS pixels from the top left corner of the node's border box; else the
        middle of its largest visible part is taken, or another visible point where that one is covered.

        Raises StaleRef at once when the node left its document; at the end of the budget Invisible, Disabled,
        Unstable, Covered, or NotInteractable while a dialog blocks the page.
        """
        return await self._until(lambda: self._point(requirements, position))

    async def wait_for_focus(self, *, editable: bool, at_end: bool) -> None:
        """Wait until the node is visible and enabled, and give it the focus; `at_end`: the caret goes there.

        With `editable`, it has to take typed text. Raises as `wait_for_point` does; NotInteractable at once
        when it can never take text, or does not take the focus.
        """
        await self._until(lambda: self._focus(editable=editable, at_end=at_end))

    # --- waiting -------------------------------------------------------------------------------------------

    async def _until(self, look: Callable[[], Awaitable[T]]) -> T:
        started = trio.current_time()
        failure: NotInteractable | None = None
        margin = min(_MARGIN, self.budget.timeout / 5)
        with trio.CancelScope(deadline=self.budget.deadline - margin):
            for pause in itertools.chain(_PAUSES, itertools.repeat(_LONGEST_PAUSE)):
                self._looks += 1
                try:
                    return await look()
                except _PASSING as error:
                    failure = error
                    self.budget.step(error.reason)
                await trio.sleep(pause)
        with trio.move_on_after(_DIALOG_LOOK, shield=True):
            await self.interruptions.dialog_opened()
            raise self._refusal(
                NotInteractable, "a JavaScript dialog is open and stops the page; accept or dismiss it first"
            )
        if failure is None:
            raise self.budget.exceeded()
        spent = trio.current_time() - started
        failure.steps = (*self.budget.steps, f"looked {self._looks} times in {spent:.1f} s")
        raise failure

    def _refusal(self, kind: type[NotInteractable], reason: str) -> NotInteractable:
        return kind(action=self.action, target=self.node.description, reason=reason)

    def _stale(self, what: str, reason: str) -> StaleRef:
        return StaleRef(ref=self.node.description, description=what, reason=reason)

    # --- one look ------------------------------------------------------------------------------------------

    async def _point(self, required: Requirements, position: tuple[float, float] | None) -> Point:
        placed = await self._place(position)
        look, around = await self._look(placed)
        if required.visible and look.invisible:
            raise self._refusal(Invisible, look.invisible)
        if required.enabled and look.disabled:
            raise self._refusal(Disabled, look.disabled)
        if required.stable and (look.moved or any(outer.moved for outer in around)):
            raise self._refusal(Unstable, "it keeps moving")
        if not placed.points:
            raise self._refusal(Invisible, look.invisible or placed.outside)
        if not required.receives_events:
            return placed.points[0]
        for index, point in enumerate(placed.points):
            if all(one.hits[index] for one in (look, *around)):
                return point
        self._align = next(self._alignments, None)
        covering = next((one for one in (*around, look) if not all(one.hits)), look)
        hint = ", and it has pointer-events: none" if look.untouchable else ""
        raise Covered(
            action=self.action,
            target=self.node.description,
            reason=f"{covering.covered} receives the events there{hint}",
            covered_by=covering.covered,
        )

    async def _focus(self, *, editable: bool, at_end: bool) -> None:
        handle = self._handle or await self._resolve()
        look = self._connected(await self._run(handle, script("actionability"), _request(()), Look))
        if look.invisible:
            raise self._refusal(Invisible, look.invisible)
        if look.disabled:
            raise self._refusal(Disabled, look.disabled)
        if editable and look.uneditable:
            raise self._refusal(NotInteractable, f"{look.uneditable}. For keys without a field, use press()")
        if editable and look.readonly:
            raise self._refusal(Disabled, look.readonly)
        focus = await self._run(handle, script("focus"), {"atEnd": at_end}, _Focus)
        if not focus.focused:
            holder = f"; the focus is on {focus.holder}" if focus.holder else ""
            raise self._refusal(NotInteractable, f"it does not take the keyboard focus{holder}")

    async def _place(self, position: tuple[float, float] | None) -> Placed:
        """Scroll the node into view and measure it, in one round trip once its frames are known."""
        session, node_id = self.node.session, self.node.backend_node_id
        if self.node.frame_id != session.target_id and not self._owners:
            self._owners = await self._resolve_owners()
        if self._align is not None and self._handle is not None:
            align, self._align = self._align, None
            await self._run(self._handle, _ALIGN, align, msgspec.Raw)
        # With a position it is that pixel of the node that has to come into view.
        rect = {"rect": {"x": position[0], "y": position[1], "width": 1, "height": 1}} if position else {}
        with _together() as post:
            before = post(session.post("DOM.getContentQuads", backendNodeId=node_id))
            scrolling = post(session.post("DOM.scrollIntoViewIfNeeded", backendNodeId=node_id, **rect))
            after = post(session.post("DOM.getContentQuads", backendNodeId=node_id))
            box = post(session.post("DOM.getBoxModel", backendNodeId=node_id))
            metrics = post(session.post("Page.getLayoutMetrics"))
            frames = [
                post(session.post("DOM.getBoxModel", backendNodeId=owner.node.backend_node_id))
                for owner in self._owners
            ]
            if self._handle is None:
                self._handle = await self._resolve()
            quads_before = await _quads(before)
            await _unless_refused(scrolling, msgspec.Raw)
            quads = await _quads(after)
            found = await _unless_refused(box, BoxModelReply)
            model = None if found is None else found.model
            size = (await metrics.decoded(MetricsReply)).css_layout_viewport
            owners = [await _unless_refused(frame, BoxModelReply) for frame in frames]
        viewport = Quad.from_rect(0, 0, size.client_width, size.client_height)
        frame_quads = [Quad.from_floats(owner.model.content) for owner in owners if owner is not None]
        if len(frame_quads) < len(owners):
            return Placed((), (), settle=True, outside="a frame around it has no box")
        if not quads and model is not None:
            quads = [Quad.from_floats(model.border)]
        placed = place(quads, [viewport, *frame_quads], model, position)
        moved = quads != quads_before or self._looks > 1
        return attrs.evolve(placed, frames=frame_quads, settle=placed.settle or moved)

    async def _look(self, placed: Placed) -> tuple[Look, list[Look]]:
        """Run the in-page helper on the node and on the iframe elements around it, in one round trip.

        A point is taken to the coordinates of each document: the outermost has the session's own; in a frame
        they are fractions of the frame element's content box, which holds under every affine transform.
        """
        assert self._handle is not None
        handles = [*self._owners, self._handle]
        frames: list[Quad | None] = [None, *placed.frames]
        source = script("actionability")
        with _together() as post:
            calls = [
                post(_post_run(handle, source, _request(placed.points, frame, settle=placed.settle)))
                for handle, frame in zip(handles, frames, strict=True)
            ]
            looks = [self._connected(await self._returned(call, Look)) for call in calls]
        return looks[-1], looks[:-1]

    def _connected(self, look: Look) -> Look:
        if not look.connected:
            raise self._stale(look.element, "it is no longer in the document")
        return look

    # --- handles -------------------------------------------------------------------------------------------

    async def _resolve(self) -> _Handle:
        return await self._handle_on(self.node)

    async def _resolve_owners(self) -> Sequence[_Handle]:
        """Return the iframe elements around the node's frame within its session, the outermost first."""
        session = self.node.session
        tree = (await session.request("Page.getFrameTree", {}, FrameTreeReply)).frame_tree
        path = _path_to(self.node.frame_id, tree)
        if path is None:
            raise self._stale("a node of a frame", "its frame is gone")
        handles: list[_Handle] = []
        for parent, frame in itertools.pairwise(path):
            try:
                owner = await session.request("DOM.getFrameOwner", {"frameId": frame}, _FrameOwner)
            except RemoteError as error:
                raise self._stale("a node of a frame", "its frame is gone") from error
            handles.append(
                await self._handle_on(Node(session, owner.backend_node_id, parent, "the frame around it"))
            )
        return handles

    async def _handle_on(self, node: Node) -> _Handle:
        try:
            return _Handle(node, await self.worlds.resolve(node, self._group))
        except RemoteError as error:
            # Chrome knows no such frame, or no such node in the document that the frame shows now.
            raise self._stale("a node of another document", "its document is gone") from error

    # --- running JavaScript --------------------------------------------------------------------------------

    async def _run(self, handle: _Handle, source: str, request: object, kind: type[T]) -> T:
        with _together() as post:
            return await self._returned(post(_post_run(handle, source, request)), kind)

    async def _returned(self, pending: PendingCall, kind: type[T]) -> T:
        try:
            returned = await pending.decoded(_Returned)
        except RemoteError as error:
            if context_gone(error):
                raise self._stale("a node of another document", "its document was replaced") from error
            raise
        if returned.exception_details is not None:
            raise EvaluationFailed(text=f"in the engine's own helper: {returned.exception_details.text}")
        return msgspec.json.decode(returned.result.value, type=kind)


@asynccontextmanager
async def inspect(
    node: Node, action: str, *, worlds: IsolatedWorlds, budget: Budget, interruptions: Interruptions
) -> AsyncIterator[Inspection]:
    """Give an Inspection of `node`; its remote objects are released when the block ends, however it ends."""
    group = f"cdpengine-action-{next(_group_numbers)}"
    try:
        yield Inspection(node, action, worlds, budget, interruptions, group)
    finally:
        # Posted, not awaited: it goes out in order, before the input that follows, and Chrome answers it in
        # its own time, also when this task is being cancelled or a dialog holds the page.
        with suppress(SessionGone, ConnectionLost):
            node.session.post("Runtime.releaseObjectGroup", objectGroup=group)


@contextmanager
def _together() -> Iterator[Callable[[PendingCall], PendingCall]]:
    """Collect calls that are posted together; on leaving, those that nobody awaited are abandoned."""
    pendings: list[PendingCall] = []

    def collect(pending: PendingCall) -> PendingCall:
        pendings.append(pending)
        return pending

    try:
        yield collect
    finally:
        for pending in pendings:
            pending.abandon()


async def _unless_refused(pending: PendingCall, kind: type[T]) -> T | None:
    """Return the decoded result, or None where Chrome refuses: a node without a box, or detached.

    The in-page helper, asked next, says which of them it is.
    """
    try:
        return await pending.decoded(kind)
    except RemoteError:
        return None


async def _quads(pending: PendingCall) -> list[Quad]:
    found = await _unless_refused(pending, QuadsReply)
    return [] if found is None else [Quad.from_floats(floats) for floats in found.quads]


def _request(
    points: Sequence[Point], frame: Quad | None = None, *, settle: bool = False
) -> dict[str, object]:
    if frame is None:
        return {"points": list(points), "fractions": False, "settle": settle}
    inside = [frame.fractions(point) or Point(-1, -1) for point in points]
    return {"points": inside, "fractions": True, "settle": settle}


def _path_to(frame_id: str, tree: FrameTreeNode) -> list[str] | None:
    if tree.frame.id == frame_id:
        return [frame_id]
    for child in tree.child_frames:
        path = _path_to(frame_id, child)
        if path is not None:
            return [tree.frame.id, *path]
    return None


def _post_run(handle: _Handle, source: str, request: object) -> PendingCall:
    return handle.node.session.post(
        "Runtime.callFunctionOn",
        objectId=handle.object_id,
        functionDeclaration=source,
        arguments=[{"value": request}],
        returnByValue=True,
        awaitPromise=True,
    )
