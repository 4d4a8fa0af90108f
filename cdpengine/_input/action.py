"""Actions on nodes: what they are given, what is known of them afterwards; clicks, hovers and taps.

Rule: probe, then act, with nothing in between; an InputObserver in the page sees what received the input, and what
the node did not receive is an error. Nothing is sent twice, except a press that was held back and that nothing
received. Arguments are checked before anything is sent. The budget bounds the wait; the input itself is never cut
in half.
"""

from __future__ import annotations

import math
from collections.abc import Awaitable, Callable, Iterable
from contextlib import AbstractAsyncContextManager
from typing import Any

import attrs
import trio

from cdpengine._budget import Budget
from cdpengine._input.actionability.inspection import Inspection, inspect, retry_pauses
from cdpengine._input.actionability.page_library import MOVE_EVENTS, InputObserver, Record
from cdpengine._input.actionability.requirements import NO_REQUIREMENTS, Requirements
from cdpengine._input.devices.keyboard import KeyboardDevice
from cdpengine._input.devices.keys import modifier_mask
from cdpengine._input.devices.mouse import Interruptions, MouseDevice, TouchDevice, check_delay
from cdpengine._input.geometry import Point
from cdpengine._page.dialogs import Dialog
from cdpengine._page.scripts.page_functions import IsolatedWorlds, Node
from cdpengine._page.side_effects import DownloadStarted, NavigationStarted, PopupOpened, SideEffects
from cdpengine.errors import DeadlineExceededError, InvalidArgumentError, NotDeliveredError


@attrs.frozen(eq=False)
class ActionContext:
    """The means of one action.

    `interruptions` says when a dialog holds replies back, `navigation` when the page is on its way to another
    document. `keep_focus` has Chrome treat the page as focused.
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
        """Open an inspection of the node; `action` is what errors call the attempt. As `inspect` in all else.

        First it restores the emulated focus of the page, which another client may have ended.
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
        """Return the same with another budget: that of one step of the action."""
        return attrs.evolve(self, budget=budget)


@attrs.frozen
class ActionOutcome:
    """`action` was delivered to `target` (its description; "" for the page's focus).

    `point` is where, in CSS pixels of the viewport of the session that the node belongs to; None for actions
    without a pointer.

    For actions of the pointer, the page's own trusted events say what came of it. `delivered` means one thing: the
    node itself received the whole of it, as this table says; None for other actions.

    | action | what the node received |
    | --- | --- |
    | click | the press, and its `click` (with `count`, all of them; `auxclick` of other buttons) |
    | right click | the press, and its `contextmenu`, or its `auxclick` |
    | tap | the touch, and its `click`, unless the page prevented that |
    | hover | the mouse's `mousemove` |
    | scroll | the `wheel` |
    | drag | of the source the press; then the release, or the `drop` of an HTML5 drag, came down at the point |

    The element of a frame passes input on to the document in it, which is not asked: it received the action unless
    something else in its own document did.

    A drop counts in the destination, and in what the page had put there in answer; one to a point in whatever is
    there (None: the point is in another frame's document, and it is not known). `received_by` says what that was.

    False: the node received the beginning, and the page's own answer to that took the rest away: at one of these
    events, or as the focus moved, it removed, covered, moved, disabled or replaced the node, or left the document.
    To act again would be to do it twice. False too with `force`, or when a dialog opened at an early event (a
    mousemove or mousedown handler): Chrome drops what comes in behind it, and typing ends with it. In all other
    cases there is an error: NotDeliveredError.

    `events` are the types of the events that the node received, `elsewhere` those that something else received:
    type, and a description of that. `received_by` is the target's description, or that of the first that received
    something in its place. What another client's input set off counts for neither: the engine's presses and moves
    bear a mark, a fraction of a pixel below 1/8, that comes back in the page's pointer events. Only in a document
    in which no such mark has come back yet (also where pages are zoomed by pinching, in frames) can the two not be
    told apart.

    `dialogs` are the JavaScript dialogs that opened meanwhile, and how they were answered; `dialog_opened` says
    whether there were any. `navigation`, `popup` and `download` are the first that had started on the page by the
    time the action ended; None when none had. An action that sets off a navigation returns once the new document
    is there, or after 5 s (less where its timeout is): `navigation` names where the page went in the end, and its
    `state` is what came of it.

    `set_by_script` says that a value was set by script, because keys did not bring it about: the page's input and
    change events were not trusted ones then. The text of a code editor comes by a paste event of the script.

    `healed` is the Ref (`cdpengine.Ref`) that the action was done to instead of a stale one, with `heal=True`;
    None where the target was what it had been. `healed_destination` is the same of the node that a drag ends on.

    `all_renamed` are the elements that are called otherwise than when their refs were last given: pairs of Refs,
    `old` and `new`. `renamed` is the first of them.
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

    healed: Any = None  # a Ref; this layer does not know what that is
    healed_destination: Any = None
    all_renamed: tuple[Any, ...] = ()

    @property
    def dialog(self) -> Dialog | None:
        """The first dialog that opened meanwhile."""
        return self.dialogs[0] if self.dialogs else None

    @property
    def renamed(self) -> Any:
        """The first renamed element, or None: `old` is its Ref as it was last given, `new` as it is now."""
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
"""Seconds in which the click of a tap comes: where a page can be zoomed by a double tap, Chrome waits 0.3 s for a
second one. A page that prevents the touch's default has none."""

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
    """Click the node once it is visible, enabled, still, and receives events at the point.

    `position` is an offset in CSS pixels from the top left corner of its border box; else a point in its
    visible part is found. `delay` is how long the button stays down each time, in seconds. `force` takes the first
    such point without these checks.

    Raises InvalidArgumentError; StaleRefError when the node left its document; InvisibleError, DisabledError,
    UnstableError or CoveredError when the budget ends first; NotDeliveredError when the click was sent and the
    node did not receive it.
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
    """Move the mouse over the node once it is visible, still, and receives events there; disabled is fine.

    Raises as `click` does.
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
    """Tap the node as a finger does, checked and verified as a click is. Raises as `click` does.

    Waits for the click that Chrome makes out of it, up to 0.4 s. A page that prevents it has received the tap all
    the same.
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
    """Wait until the node meets `required`, run the gesture at its point, and say what `observer` saw of it."""
    check_position(position)
    async with inspect(
        node, action, worlds=context.worlds, budget=context.budget, interruptions=context.interruptions
    ) as inspection:
        point, record, dialog = await deliver(
            inspection, gesture, observer, required, navigation=context.navigation, position=position
        )
    forced = required is NO_REQUIREMENTS
    verdict = verify(node, action, record, forced=forced, dialog=dialog)
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
    """Run the gesture at a point of the node; return that, what the observer saw, and whether a dialog opened.

    A press that was held back, and that nothing received, is tried again once the node can be acted on, while
    there is time. `undo` ends the gesture that it belongs to while it is still held back.
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
            again = record is not None and record.kept_back and not dialog
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
        budget.step(f"{record.held} came in the way, and the press was held back")
        observer.renew()
        await trio.sleep(pause)


@attrs.frozen
class Verdict:
    """What came of the input: whether the node received it, what did, and who received which events."""

    delivered: bool
    received_by: str
    events: tuple[str, ...]
    elsewhere: tuple[tuple[str, str], ...] = ()


def verify(node: Node, action: str, record: Record | None, *, forced: bool, dialog: bool) -> Verdict:
    """Say what received the action.

    Raises NotDeliveredError unless the node did, or the page answered its beginning. Not where it was forced, or
    where a dialog made Chrome drop the rest: then the verdict says so.
    """
    record_or_empty = record or Record()
    seen, elsewhere = tuple(record_or_empty.seen), tuple(record_or_empty.astray)
    if record_or_empty.complete:
        return Verdict(True, node.description, seen, elsewhere)
    answered = record_or_empty.begun and record_or_empty.answered
    if answered or forced or dialog:
        other = record_or_empty.other
        return Verdict(False, node.description if seen and not other else other, seen, elsewhere)
    raise NotDeliveredError(
        action=action,
        target=node.description,
        reason=_reason(record),
        received_by=record_or_empty.other,
        held_back=record_or_empty.kept_back,
        events=seen,
        elsewhere=elsewhere,
    )


def _reason(record: Record | None) -> str:
    if record is None:
        return "the input was sent, and its document went away before it could report what received it"
    other = record.other
    if record.kept_back:
        return f"{other} came in the way, so the press was held back, and nothing received it; try again"
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
        raise InvalidArgumentError(
            what="position", given=repr(position), expected="(x, y) in CSS pixels from the node's top left"
        )
