"""ActionOutcome: what is known of an action that was delivered."""

from __future__ import annotations

import attrs

from cdpengine.action.geometry import Point
from cdpengine.browser.dialogs import Dialog


@attrs.frozen
class ActionOutcome:
    """`action` was delivered to `target` (its description; "" for the page's focus).

    `point` is where, in CSS pixels of the viewport of the session that the node belongs to; None for actions
    without a pointer. `dialogs` are the JavaScript dialogs that opened meanwhile, and how they were answered;
    `dialog_opened` says whether there were any. Where a dialog came from an early event of the action (a mousemove
    or mousedown handler), Chrome may have dropped the events behind it, and typing ends with it.
    """

    action: str
    target: str
    point: Point | None = None
    dialog_opened: bool = False
    dialogs: tuple[Dialog, ...] = ()
