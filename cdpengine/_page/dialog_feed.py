"""DialogFeed: dialogs that were not reported yet, including those of closed pages. Pure.

Rule: each dialog is taken once, after its answer, in the order of opening. At most `MAX_RECORDS` dialogs are kept;
older ones are only counted.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import TYPE_CHECKING

import attrs

from cdpengine._page.dialogs import MAX_RECORDS, Dialog, TrackedDialog

if TYPE_CHECKING:
    from cdpengine._page.page_target import PageTarget


@attrs.define(eq=False)
class DialogFeed:
    """Answered dialogs of the pages for which `holds` returns True, until they are taken."""

    _holds: Callable[[PageTarget], bool]
    _waiting: deque[tuple[str, TrackedDialog]] = attrs.field(factory=deque, init=False)
    _omitted: int = attrs.field(default=0, init=False)

    def note(self, page: PageTarget, tracked: TrackedDialog) -> None:
        """Keep a dialog that opened, if the feed covers its page. Runs in the reader."""
        if not self._holds(page):
            return
        self._waiting.append((page.target_id, tracked))
        if len(self._waiting) > MAX_RECORDS:
            self._waiting.popleft()
            self._omitted += 1

    def take(self, is_busy: Callable[[str], bool] = lambda _target_id: False) -> tuple[list[Dialog], int]:
        """Return the dialogs that were answered, and the number of older dialogs that were not kept.

        Dialogs of pages for which `is_busy(target_id)` is True stay in the feed.
        """
        taken: list[Dialog] = []
        left: deque[tuple[str, TrackedDialog]] = deque()
        for target_id, tracked in self._waiting:
            if tracked.open or is_busy(target_id):
                left.append((target_id, tracked))
            else:
                taken.append(tracked.dialog)
        self._waiting = left
        omitted, self._omitted = self._omitted, 0
        return taken, omitted
