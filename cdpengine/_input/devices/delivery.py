"""Delivery of input that was posted together: the modifier keys that go with it, its replies, or a dialog.

Rule: a gesture that was posted happens as a whole. Its messages go out in order even when the caller is cancelled;
a cancelled caller still waits a moment for the replies, so that no button, key or finger stays half-way.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Iterable, Sequence
from typing import Protocol

import attrs
import trio

from cdpengine._budget import undoing, undone_by
from cdpengine._input.devices.keys import Key, modifier_mask
from cdpengine._protocol.calls import PendingCall
from cdpengine.errors import ConnectionLostError, InvalidArgumentError, RemoteError, SessionGoneError


@attrs.define(eq=False)
class HeldKeys:
    """The keys that a page's keyboard holds down, by their codes. The modifiers among them go with all input.

    `mac` says whether the browser runs on macOS, where ControlOrMeta is Meta.
    """

    mac: bool = sys.platform == "darwin"
    down: dict[str, Key] = attrs.field(factory=dict)

    @property
    def modifiers(self) -> int:
        """The bitmask of the modifier keys that are down: Alt 1, Control 2, Meta 4, Shift 8."""
        return sum({key.modifier for key in self.down.values()})

    def mask(self, names: Iterable[str]) -> int:
        """Return the bitmask of modifier names and of what is down. Raises InvalidArgumentError."""
        return self.modifiers | (modifier_mask(names, mac=self.mac) if names != () else 0)


_CANCELLED_TIMEOUT = 0.5
"""Seconds that a cancelled gesture gets to finish. Chrome answers input within one frame unless it is stuck."""


class Interruptions(Protocol):
    """What the state of a page says about dialogs, which keep input from being answered."""

    @property
    def dialog_is_open(self) -> bool:
        """Whether a JavaScript dialog is open on the page."""

    async def dialog_opened(self) -> None:
        """Return as soon as a JavaScript dialog is open on the page; at once when one is open already."""

    def on_dialog(self, listener: Callable[[], None]) -> None:
        """Have `listener` called when a dialog opens."""

    def off_dialog(self, listener: Callable[[], None]) -> None:
        """Call it no more."""

    @property
    def dialog_timeout(self) -> float:
        """Seconds after the opening until the replies that the dialog holds back are not waited for any longer."""


class _Undisturbed:
    dialog_is_open = False
    dialog_timeout = math.inf

    async def dialog_opened(self) -> None:
        await trio.sleep_forever()

    def on_dialog(self, listener: Callable[[], None]) -> None:
        pass

    def off_dialog(self, listener: Callable[[], None]) -> None:
        pass


UNDISTURBED: Interruptions = _Undisturbed()
"""For a page whose dialogs are not watched: input waits for its replies alone."""


async def wait_for_delivery(pendings: Sequence[PendingCall], interruptions: Interruptions) -> bool:
    """Wait until Chrome has answered all of `pendings`; True when a dialog opened before that.

    Chrome answers the event that opened a dialog only after the dialog was handled: the answers are waited for
    as long as `interruptions` says. What was posted behind that event is delivered then, or dropped by Chrome
    where it came in while the dialog was open.

    Cancelled, it still waits up to 0.5 s for the replies. Raises what the first failed call raises, after all
    of them have ended.
    """
    replies = trio.CancelScope()
    dialog = False

    def opened() -> None:
        nonlocal dialog
        if not dialog and not all(pending.done for pending in pendings):
            dialog = True
            replies.deadline = trio.current_time() + interruptions.dialog_timeout

    interruptions.on_dialog(opened)
    try:
        if interruptions.dialog_is_open:
            opened()
        try:
            with replies:
                for pending in pendings:
                    await pending.wait()
        except trio.Cancelled:
            with trio.CancelScope(deadline=undone_by(_CANCELLED_TIMEOUT), shield=True):
                for pending in pendings:
                    await pending.wait()
            raise
    finally:
        interruptions.off_dialog(opened)
        answered = [pending for pending in pendings if pending.done]
        if len(answered) < len(pendings):
            # The others are left: what is not written yet, a release perhaps, is sent all the same.
            next(pending for pending in pendings if not pending.done).abandon()
    for pending in answered:
        pending.raw_nowait()
    return dialog


async def release(pendings: Sequence[PendingCall]) -> None:
    """Wait for releases on the way out of a cancelled action: shielded, at most 0.5 s, without complaint."""
    with undoing(_CANCELLED_TIMEOUT):
        for pending in pendings:
            try:
                await pending.raw()
            except (RemoteError, SessionGoneError, ConnectionLostError):
                return  # the page went away, and what was held down with it


def check_delay(delay: float) -> None:
    """Raise InvalidArgumentError unless `delay` is a number of seconds, 0 or more."""
    if isinstance(delay, bool) or not isinstance(delay, (int, float)) or not 0 <= delay < float("inf"):
        raise InvalidArgumentError(what="delay", given=repr(delay), expected="seconds, 0 or more")
