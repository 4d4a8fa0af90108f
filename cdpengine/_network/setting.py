"""Setting: something that Chrome is told for a session as one whole, while several want something of it.

Rule: what holds is made of all that are wanted, in the order in which they came; what is given back leaves the
others as they are. The last one that goes takes Chrome back to where it was, its domain included.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Generic, TypeVar
from weakref import WeakKeyDictionary

import attrs

from cdpengine._page.page_scope import Tell
from cdpengine._protocol.calls import PendingCall
from cdpengine._protocol.session import Session

T = TypeVar("T")


@attrs.define(eq=False)
class _Wanted(Generic[T]):
    value: T


@attrs.define(eq=False)
class Setting(Generic[T]):
    """One kind of setting. `post` tells a session what these values (oldest first; none: as before) make together.

    `domain` is kept enabled on each session of which something is wanted.
    """

    post: Callable[[Session, Sequence[T]], PendingCall]
    domain: str | None = None
    _wanted: WeakKeyDictionary[Session, list[_Wanted[T]]] = attrs.field(factory=WeakKeyDictionary, init=False)

    def want(self, value: T) -> tuple[Tell, Tell]:
        """Return the two functions that begin to want `value` of a session, and end it."""
        wanted = _Wanted(value)

        def begin(session: Session) -> list[PendingCall]:
            if self.domain is not None:
                session.hold(self.domain)
            self._wanted.setdefault(session, []).append(wanted)
            return [self.post(session, self.values(session))]

        def end(session: Session) -> list[PendingCall]:
            all_wanted = self._wanted.get(session, [])
            if wanted not in all_wanted:
                return []
            all_wanted.remove(wanted)
            try:
                return [self.post(session, self.values(session))]
            finally:
                if self.domain is not None:
                    session.release_domains(self.domain)

        return begin, end

    def values(self, session: Session) -> list[T]:
        """Return what is wanted of a session now, oldest first."""
        return [wanted.value for wanted in self._wanted.get(session, [])]
