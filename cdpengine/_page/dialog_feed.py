"""DialogFeed: the dialogs of some pages that were not reported yet, those of pages that have ended included. Pure.

Rule: each dialog is taken once, in the order in which they opened, and not before it was answered. Memory is
bounded: of more than `KEPT` dialogs the oldest ones are counted, and not kept.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import TYPE_CHECKING

import attrs

from cdpengine._page.dialogs import KEPT, Dialog, Shown

if TYPE_CHECKING:
    from cdpengine._page.page_target import PageTarget


@attrs.define(eq=False)
class DialogFeed:
    """The dialogs that open on the pages that `holds` chooses, until they are taken."""

    _holds: Callable[[PageTarget], bool]
    _waiting: deque[tuple[str, Shown]] = attrs.field(factory=deque, init=False)
    _omitted: int = attrs.field(default=0, init=False)

    def note(self, page: PageTarget, shown: Shown) -> None:
        """Keep a dialog that opened, if it is one of these pages. Runs in the reader."""
        if not self._holds(page):
            return
        self._waiting.append((page.target_id, shown))
        if len(self._waiting) > KEPT:
            self._waiting.popleft()
            self._omitted += 1

    def take(self, is_busy: Callable[[str], bool] = lambda _target_id: False) -> tuple[list[Dialog], int]:
        """Return the dialogs that were answered, and how many older ones were not kept.

        Dialogs of pages for whose target id `is_busy` answers True stay for later.
        """
        taken: list[Dialog] = []
        left: deque[tuple[str, Shown]] = deque()
        for target_id, shown in self._waiting:
            if shown.open or is_busy(target_id):
                left.append((target_id, shown))
            else:
                taken.append(shown.dialog)
        self._waiting = left
        omitted, self._omitted = self._omitted, 0
        return taken, omitted
