"""Remote objects: what pages hold for the engine, in groups that are released as a whole.

Rule: what a page holds belongs to a group, and a group is released once, when its block ends, in every session in
which something was put into it. A release is sent and not waited for, and no error comes of it: where the session
is gone its objects are gone with it, and the reason for which the block ended is what its caller hears.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from contextlib import contextmanager, suppress

import attrs

from cdpengine._protocol.session import Session
from cdpengine.errors import ConnectionLostError, SessionGoneError

_numbers = itertools.count(1)


@attrs.frozen(eq=False)
class ObjectGroup:
    """Remote objects under one name, in any number of sessions."""

    name: str
    _sessions: dict[Session, None] = attrs.field(factory=dict, init=False, repr=False)

    def on(self, session: Session) -> str:
        """Return the name, for a command of `session` that puts something into the group."""
        self._sessions[session] = None
        return self.name

    def release(self) -> None:
        """Let Chrome release what is in the group. Sent and not waited for; raises nothing."""
        while self._sessions:
            session, _ = self._sessions.popitem()
            with suppress(SessionGoneError, ConnectionLostError):
                session.post("Runtime.releaseObjectGroup", objectGroup=self.name)

    def forget(self) -> None:
        """Note that Chrome put nothing into the group: there is nothing to release."""
        self._sessions.clear()


AnyGroup = ObjectGroup | str
"""A group, or the name of one that is never released: what is in it lives as long as its document."""


def new_group(purpose: str) -> ObjectGroup:
    """Return a group with a name of its own. Whoever cannot use `object_group` releases it."""
    return ObjectGroup(f"cdpengine-{purpose}-{next(_numbers)}")


@contextmanager
def object_group(purpose: str) -> Iterator[ObjectGroup]:
    """Give a group with a name of its own, and release it when the block ends, however it ends."""
    group = new_group(purpose)
    try:
        yield group
    finally:
        group.release()


def release_object(session: Session, object_id: str) -> None:
    """Let Chrome release one object. Sent and not waited for; raises nothing."""
    with suppress(SessionGoneError, ConnectionLostError):
        session.post("Runtime.releaseObject", objectId=object_id)
