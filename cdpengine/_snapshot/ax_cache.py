"""The accessibility trees that Chrome keeps from one question to the next.

Rule: Chrome is asked once for each session to keep them, before anything else of its accessibility engine.
"""

from __future__ import annotations

from weakref import WeakSet

from cdpengine._protocol.session import Session

_warm: WeakSet[Session] = WeakSet()


def keep_warm(session: Session) -> None:
    """Have Chrome keep the session's accessibility trees from one snapshot to the next, from now on.

    `Accessibility.enable` is sent once for each session and not waited for; Chrome obeys in order. It stays on:
    without it, each snapshot makes the whole tree anew.
    """
    if session not in _warm:
        if session.hold_domain("Accessibility"):
            session.post("Accessibility.enable")
        _warm.add(session)
