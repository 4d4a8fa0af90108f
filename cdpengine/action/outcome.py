"""ActionOutcome: what is known of an action that was delivered."""

from __future__ import annotations

import attrs

from cdpengine.action.geometry import Point


@attrs.frozen
class ActionOutcome:
    """`action` was delivered to `target` (its description; "" for the page's focus).

    `point` is where, in CSS pixels of the viewport of the session that the node belongs to; None for actions
    without a pointer. `dialog_opened`: a JavaScript dialog opened before Chrome had answered the input, and
    holds the page until it is handled. Where the dialog came from an early event of the action (a mousemove or
    mousedown handler), Chrome may have dropped the events behind it.
    """

    action: str
    target: str
    point: Point | None = None
    dialog_opened: bool = False
