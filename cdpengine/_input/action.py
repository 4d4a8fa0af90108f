"""Actions on nodes: their context and outcome, and the actions click, hover and tap.

Rule: probe, then act, with nothing in between. An InputObserver in the page records which element received the
input. Input that the node did not receive is an error. Input is never repeated, except a held-back press that no
element received. Arguments are checked before anything is sent. The budget limits the waiting; input that has
begun is always completed.
"""

from __future__ import annotations

import math
from collections.abc import Awaitable, Callable, Iterable
from contextlib import AbstractAsyncContextManager
from typing import Any

import attrs
import trio

from cdpengine._budget import Budget
from cdpengine._checks import invalid
from cdpengine._input.actionability.inspection import Inspection, inspect, retry_pauses
from cdpengine._input.actionability.page_library import MOVE_EVENTS, InputObserver, Record
from cdpengine._input.actionability.requirements import NO_REQUIREMENTS, Requirements
from cdpengine._input.devices.keyboard import KeyboardDevice
from cdpengine._input.devices.keys import modifier_mask
from cdpengine._input.devices.mouse import Interruptions, MouseDevice, TouchDevice, check_delay
from cdpengine._input.geometry import Point
from cdpengine._page.dialogs import Dialog
from cdpengine._page.scripts.page_functions import Node
from cdpengine._page.scripts.worlds import IsolatedWorlds
from cdpengine._page.side_effects import DownloadStarted, NavigationStarted, PopupOpened, SideEffects
from cdpengine.errors import DeadlineExceededError, NotDeliveredError


@attrs.frozen(eq=False)
class ActionContext:
    """The devices, worlds and budget of one action.

    `interruptions` reports dialogs that block responses, `navigation` a pending navigation of the page.
    `keep_focus` makes Chrome treat the page as focused.
    """

    keyboard: KeyboardDevice
    mouse: MouseDevice
    touch: TouchDevice
    worlds: IsolatedWorlds
    budget: Budget
    interruptions: Interruptions
    navigation: SideEffects | None = None
    keep_focus: Callable[[], None] = lambda: None

    def inspect(
        self, node: Node, action: str, *, dragging: bool = False
    ) -> AbstractAsyncContextManager[Inspection]:
        """Open an inspection of the node, as `inspect` does. `action` names the attempt in errors.

        First restores the page's emulated focus, which another client may have ended.
        """
        self.keep_focus()
        return inspect(
            node,
            action,
            worlds=self.worlds,
            budget=self.budget,
            interruptions=self.interruptions,
            dragging=dragging,
        )

    def within(self, budget: Budget) -> ActionContext:
        """Return a copy with another budget, for one step of the action."""
        return attrs.evolve(self, budget=budget)


@attrs.frozen
class ActionOutcome:
    """The result of `action` on `target`, its description ("" for the page's focused element).

    `point` is the point of the action in CSS pixels of the viewport of the node's session, or None for actions
    without a pointer.

    For pointer actions, `delivered` is whether the node itself received the complete action, according to the
    page's own trusted events. For other actions it is None. The complete action is:

    | action | events that the node received |
    | --- | --- |
    | click | the press, and its `click` (with `count`, all of them; `auxclick` of other buttons) |
    | right click | the press, and its `contextmenu`, or its `auxclick` |
    | tap | the touch, and its `click`, unless the page prevented that |
    | hover | the mouse's `mousemove` |
    | scroll | the `wheel` |
    | drag | the press on the source; then the release, or the `drop` of an HTML5 drag, at the point |

    A frame element passes input on to its document, which is not observed. The frame element counts as having
    received the action unless another element of its own document did.

    A drop counts if the destination received it, or an element that the page placed there in response. A drop at a
    point counts for any element there; `delivered` is None if the point is in another frame's document.
    `received_by` describes the element.

    False means that the node received the beginning, and the page's response prevented the rest. During one of
    these events or a focus change, the page removed, covered, moved, disabled or replaced the node, or left the
    document. Do not repeat such an action: its first part took effect. False is also possible with `force`, or if
    a dialog opened at an early event (in a mousemove or mousedown handler). Chrome then drops the input after it,
    and typing ends. In all other cases the action raises NotDeliveredError.

    `events` are the types of the events that the node received. `elsewhere` lists the events that other elements
    received, as type and description. `received_by` is the target's description, or that of the first other
    element that received an event. Events of another client's input count for neither. The engine's presses and
    moves carry a mark, a fraction of a pixel below 1/8, that appears in the page's pointer events. Until the
    first mark has appeared in a document, the engine cannot distinguish the two. The same is true for frames of
    pages under pinch zoom.

    `dialogs` are the JavaScript dialogs that opened during the action, with their responses. `dialog_opened` is
    whether there were any. `navigation`, `popup` and `download` are the first of each that the page started
    before the action ended, or None. An action that starts a navigation returns when the new document is
    available, or after 5 s (or its timeout, if shorter). `navigation` has the final address, and `state` its
    result.

    `set_by_script` is whether a script set the value, because keys did not achieve it. The page's input and change
    events were then untrusted. In a code editor, a script enters the value by a paste event.

    `chosen` are the options that `select` chose: their values in a <select>, their labels in a custom list.

    `healed` is the Ref (`cdpengine.Ref`) that replaced a stale target with `heal=True`, or None if the target was
    valid. `healed_destination` is the same for the destination of a drag.

    `all_renamed` are the elements whose names changed since their refs were last returned: pairs of Refs, `old`
    and `new`. `renamed` is the first of them.
    """

    action: str
    target: str
    point: Point | None = None
    dialog_opened: bool = False
    dialogs: tuple[Dialog, ...] = ()
    delivered: bool | None = None
    received_by: str = ""
    events: tuple[str, ...] = ()
    elsewhere: tuple[tuple[str, str], ...] = ()
    navigation: NavigationStarted | None = None
    popup: PopupOpened | None = None
    download: DownloadStarted | None = None
    set_by_script: bool = False
    chosen: tuple[str, ...] = attrs.field(default=(), repr=False)

    healed: Any = None  # a Ref, which is a type of a higher layer
    healed_destination: Any = None
    all_renamed: tuple[Any, ...] = ()

    @property
    def dialog(self) -> Dialog | None:
        """The first dialog that opened during the action, or None."""
        return self.dialogs[0] if self.dialogs else None

    @property
    def renamed(self) -> Any:
        """The first renamed element, or None. `old` is its Ref as last returned, `new` its current Ref."""
        return self.all_renamed[0] if self.all_renamed else None


TO_CLICK = Requirements()
TO_HOVER = Requirements(enabled=False)

_PRESS_EVENTS = (
    "pointerdown",
    "mousedown",
    "pointerup",
    "mouseup",
    "click",
    "auxclick",
    "dblclick",
    "contextmenu",
)
_TOUCH_EVENTS = ("touchstart", "touchend", "touchcancel", *_PRESS_EVENTS)

_TAP_CLICK_TIMEOUT = 0.4
"""Maximum time until the click of a tap, in seconds. If double-tap zoom is possible, Chrome waits 0.3 s for a
second tap. A page that prevents the touch's default gets no click."""

_NAMES = {1: "click", 2: "double-click", 3: "triple-click"}


async def click(
    node: Node,
    *,
    context: ActionContext,
    button: str = "left",
    count: int = 1,
    modifiers: Iterable[str] = (),
    position: tuple[float, float] | None = None,
    delay: float = 0,
    force: bool = False,
) -> ActionOutcome:
    """Click the node when it is visible, enabled, not moving, and receives events at the point.

    `position` is an offset in CSS pixels from the top left corner of the border box. By default the engine chooses
    a point in the visible part. `delay` is the time between press and release, in seconds. With `force`, the
    engine clicks the first possible point without these checks.

    Raises InvalidArgumentError. Raises StaleRefError if the node left its document. Raises NotInteractableError
    with the node's state, or CoveredError, if the budget ends first. Raises NotDeliveredError if the node did
    not receive the click.
    """
    modifiers = (modifiers,) if isinstance(modifiers, str) else tuple(modifiers)
    mouse = context.mouse.on(node.session)
    mouse.check_click(button=button, count=count, modifiers=modifiers)
    check_delay(delay)

    def gesture(point: Point) -> Awaitable[bool]:
        return mouse.click(
            point.x,
            point.y,
            button=button,
            count=count,
            modifiers=modifiers,
            delay=delay,
            interruptions=context.interruptions,
            mark=observer.mark,
        )

    observer = InputObserver(
        _PRESS_EVENTS,
        "click" if button == "left" else "auxclick",
        count,
        settled_by="contextmenu" if button == "right" and count == 1 else "",
        marked=True,
    )
    return await perform(
        node,
        _NAMES[count],
        gesture,
        observer,
        NO_REQUIREMENTS if force else TO_CLICK,
        context=context,
        position=position,
    )


async def hover(
    node: Node,
    *,
    context: ActionContext,
    modifiers: Iterable[str] = (),
    position: tuple[float, float] | None = None,
    force: bool = False,
) -> ActionOutcome:
    """Move the mouse over the node when it is visible, not moving, and receives events. It may be disabled.

    Raises the errors of `click`.
    """
    modifiers = (modifiers,) if isinstance(modifiers, str) else tuple(modifiers)
    mouse = context.mouse.on(node.session)
    mouse.check_click(button="left", count=1, modifiers=modifiers)

    def gesture(point: Point) -> Awaitable[bool]:
        return mouse.hover(
            point.x, point.y, modifiers=modifiers, interruptions=context.interruptions, mark=observer.mark
        )

    observer = InputObserver(MOVE_EVENTS, "mousemove", guard=False, on_disabled=True, marked=True)

    return await perform(
        node,
        "hover over",
        gesture,
        observer,
        NO_REQUIREMENTS if force else TO_HOVER,
        context=context,
        position=position,
    )


async def tap(
    node: Node,
    *,
    context: ActionContext,
    modifiers: Iterable[str] = (),
    position: tuple[float, float] | None = None,
    force: bool = False,
) -> ActionOutcome:
    """Tap the node with a finger, with the checks of a click. Raises the errors of `click`.

    Waits up to 0.4 s for the click that Chrome generates. If the page prevents that click, the tap still counts as
    received.
    """
    modifiers = (modifiers,) if isinstance(modifiers, str) else tuple(modifiers)
    modifier_mask(modifiers)
    touch = context.touch.on(node.session)
    observer = InputObserver(_TOUCH_EVENTS, "click", enough="touchend", marked=True)

    async def gesture(point: Point) -> bool:
        dialog = await touch.tap(point.x, point.y, modifiers=modifiers, mark=observer.mark)
        if not dialog:
            await observer.linger(_TAP_CLICK_TIMEOUT)
        return dialog

    return await perform(
        node,
        "tap",
        gesture,
        observer,
        NO_REQUIREMENTS if force else TO_CLICK,
        context=context,
        position=position,
    )


async def perform(
    node: Node,
    action: str,
    gesture: Callable[[Point], Awaitable[bool]],
    observer: InputObserver,
    required: Requirements,
    *,
    context: ActionContext,
    position: tuple[float, float] | None = None,
) -> ActionOutcome:
    """Wait until the node meets `required`, run the gesture at its point, and return the observed outcome."""
    check_position(position)
    async with inspect(
        node, action, worlds=context.worlds, budget=context.budget, interruptions=context.interruptions
    ) as inspection:
        point, record, dialog = await deliver(
            inspection, gesture, observer, required, navigation=context.navigation, position=position
        )
    forced = required is NO_REQUIREMENTS
    left = record is None and context.navigation is not None and context.navigation.navigation_pending
    verdict = verify(node, action, record, forced=forced, dialog=dialog, left=left)
    return ActionOutcome(
        action,
        node.description,
        point,
        dialog_opened=dialog,
        delivered=verdict.delivered,
        received_by=verdict.received_by,
        events=verdict.events,
        elsewhere=verdict.elsewhere,
    )


async def deliver(
    inspection: Inspection,
    gesture: Callable[[Point], Awaitable[bool]],
    observer: InputObserver,
    required: Requirements,
    *,
    navigation: SideEffects | None = None,
    position: tuple[float, float] | None = None,
    undo: Callable[[], Awaitable[object]] | None = None,
) -> tuple[Point, Record | None, bool]:
    """Run the gesture at a point of the node. Return the point, the record, and whether a dialog opened.

    A held-back press that no element received is repeated when the node can be acted on, as long as time is left.
    `undo` ends a held-back press.
    """
    budget, interruptions = inspection.budget, inspection.interruptions
    pauses = retry_pauses()
    tried: tuple[Point, Record | None, bool] | None = None
    while True:
        try:
            try:
                point = await inspection.wait_for_point(required, position, observer)
            except DeadlineExceededError:
                if tried is None:
                    raise
                return tried
            budget.step("the input was sent")
            record, dialog = await observer.watch_over(lambda: gesture(point), interruptions, navigation)  # noqa: B023
            again = record is not None and record.fully_blocked and not dialog
            if again and undo is not None:
                await undo()
        finally:
            observer.end()
        tried = point, record, dialog
        if not again:
            return tried
        pause = next(pauses)
        if budget.remaining <= pause + inspection.margin:
            return tried
        assert record is not None
        budget.step(f"{record.held} was in the way, and the press was held back")
        observer.renew()
        await trio.sleep(pause)


@attrs.frozen
class Verdict:
    """The delivery of the input: whether the node received it, the actual receiver, and the events of each."""

    delivered: bool
    received_by: str
    events: tuple[str, ...]
    elsewhere: tuple[tuple[str, str], ...] = ()


def verify(
    node: Node, action: str, record: Record | None, *, forced: bool, dialog: bool, left: bool = False
) -> Verdict:
    """Return the verdict on an action.

    Raises NotDeliveredError unless the node received the action or the page responded to its beginning. It does
    not raise if the action was forced, or a dialog made Chrome drop the rest. The verdict then contains the
    result. `left`: a navigation began since the action, so a document that goes away without a report responded.
    """
    record_or_empty = record or Record()
    events, elsewhere = tuple(record_or_empty.seen), tuple(record_or_empty.astray)
    if record_or_empty.complete:
        return Verdict(True, node.description, events, elsewhere)
    answered = record_or_empty.begun and record_or_empty.answered
    if answered or forced or dialog or (left and record is None):
        other = record_or_empty.other
        return Verdict(False, node.description if events and not other else other, events, elsewhere)
    raise NotDeliveredError(
        action=action,
        target=node.description,
        reason=_reason(record),
        received_by=record_or_empty.other,
        held_back=record_or_empty.fully_blocked,
        events=events,
        elsewhere=elsewhere,
    )


def _reason(record: Record | None) -> str:
    if record is None:
        return "the input was sent, and its document went away before it could report what received it"
    other = record.other
    if record.fully_blocked:
        return f"{other} was in the way, so the press was held back and no element received it; try again"
    lost = ", ".join(dict.fromkeys(kind for kind, _ in record.astray))
    if record.seen:
        rest = f"{lost} went to {other}" if lost else "nothing after that"
        return f"it received {', '.join(record.seen)}, and {rest}; the page did nothing that explains it"
    if lost:
        return f"the input was sent, and {other} received it"
    return "the input was sent, and nothing in its document received it"


def check_position(position: tuple[float, float] | None) -> None:
    """Raise InvalidArgumentError unless `position` is None or two finite numbers."""
    good = position is None or (
        isinstance(position, (tuple, list))
        and len(position) == 2
        and all(isinstance(part, (int, float)) and math.isfinite(part) for part in position)
    )
    if not good:
        raise invalid("position", position, "(x, y) in CSS pixels from the node's top left")
