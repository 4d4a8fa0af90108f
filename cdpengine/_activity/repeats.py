"""Detection of messages and errors that Chrome repeats for a document from the back/forward cache.

Rule: a repeated event has the timestamp of the first report, to the microsecond. Only events older than the latest
replacement of the page's execution contexts can be repeated, so no new message is dropped. Messages that a
document wrote while it was being left are first reported when it is restored.
"""

from __future__ import annotations

from collections import OrderedDict, deque

import attrs

from cdpengine._protocol.session import Session

_TARGETS = 200
_REMEMBERED = 10_000
"""Timestamps per target. Chrome keeps 1,000 messages per document, and at most 6 documents."""


@attrs.define(eq=False)
class _Target:
    newest: float = 0.0
    until: float = 0.0
    order: deque[float] = attrs.field(factory=deque)
    known: set[float] = attrs.field(factory=set)


class Repeats:
    """The events of one page that were already reported. Iframes are also recognised in new sessions."""

    def __init__(self) -> None:
        self._targets: OrderedDict[str | None, _Target] = OrderedDict()

    def expect(self, session: Session) -> None:
        """Note that Chrome may now repeat older events of a session's target."""
        target = self._of(session)
        target.until = target.newest

    def take(self, session: Session, timestamp: float) -> bool:
        """Remember an event by its timestamp. Return whether it was reported before."""
        target = self._of(session)
        if 0 < timestamp <= target.until and timestamp in target.known:
            return True
        target.newest = max(target.newest, timestamp)
        if timestamp not in target.known:
            target.known.add(timestamp)
            target.order.append(timestamp)
            if len(target.order) > _REMEMBERED:
                target.known.discard(target.order.popleft())
        return False

    def _of(self, session: Session) -> _Target:
        target = self._targets.get(session.target_id)
        if target is None:
            target = self._targets[session.target_id] = _Target()
            if len(self._targets) > _TARGETS:
                self._targets.popitem(last=False)
        return target
