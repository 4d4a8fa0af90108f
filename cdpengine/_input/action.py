"""An action: the means that it is given (ActionContext), and what is known of it afterwards (ActionOutcome)."""

from __future__ import annotations

from contextlib import AbstractAsyncContextManager
from typing import Any

import attrs

from cdpengine._budget import Budget
from cdpengine._input.actionability.input_observer import NavigationWatch
from cdpengine._input.actionability.inspection import Inspection, inspect
from cdpengine._input.devices.delivery import Interruptions
from cdpengine._input.devices.keyboard import KeyboardDevice
from cdpengine._input.devices.mouse import MouseDevice, TouchDevice
from cdpengine._input.geometry import Point
from cdpengine._page.activity import DownloadStarted, NavigationStarted, PopupOpened
from cdpengine._page.dialogs import Dialog
from cdpengine._page.scripts.worlds import IsolatedWorlds, Node


@attrs.frozen(eq=False)
class ActionContext:
    """The means of one action.

    `interruptions` says when a dialog holds replies back, `navigation` when the page is on its way to another
    document.
    """

    keyboard: KeyboardDevice
    mouse: MouseDevice
    touch: TouchDevice
    worlds: IsolatedWorlds
    budget: Budget
    interruptions: Interruptions
    navigation: NavigationWatch | None = None

    def inspect(self, node: Node, action: str) -> AbstractAsyncContextManager[Inspection]:
        """Open an inspection of the node; `action` is what errors call the attempt."""
        return inspect(node, action, worlds=self.worlds, budget=self.budget, interruptions=self.interruptions)

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
    time the action ended; None when none had.

    `set_by_script` says that a value was set by script, because keys did not bring it about: the page's input and
    change events were not trusted ones then.

    `healed` is the Ref (`cdpengine.Ref`) that the action was done to instead of a stale one, with `heal=True`;
    None where the target was what it had been. `healed_destination` is the same of the node that a drag ends on.
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

    @property
    def dialog(self) -> Dialog | None:
        """The first dialog that opened meanwhile."""
        return self.dialogs[0] if self.dialogs else None
