"""ActionOutcome: what is known of an action that was delivered."""

from __future__ import annotations

from typing import Any

import attrs

from cdpengine.action.geometry import Point
from cdpengine.browser.activity import DownloadStarted, NavigationStarted, PopupOpened
from cdpengine.browser.dialogs import Dialog


@attrs.frozen
class ActionOutcome:
    """`action` was delivered to `target` (its description; "" for the page's focus).

    `point` is where, in CSS pixels of the viewport of the session that the node belongs to; None for actions
    without a pointer.

    For actions of the pointer, the page's own trusted events say what came of it. `delivered`: the node received
    the whole of it, or its beginning, where the page's own handler took the node away then; None for others.
    False only with `force`, or when a dialog opened at an early event of the action (a mousemove or mousedown
    handler): Chrome drops what comes in behind it, and typing ends with it. `received_by` is the target's
    description, or that of what received it instead. `events` are the types of the events that the node received.

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
    navigation: NavigationStarted | None = None
    popup: PopupOpened | None = None
    download: DownloadStarted | None = None
    set_by_script: bool = False

    healed: Any = None  # a Ref; this floor does not know what that is
    healed_destination: Any = None

    @property
    def dialog(self) -> Dialog | None:
        """The first dialog that opened meanwhile."""
        return self.dialogs[0] if self.dialogs else None
