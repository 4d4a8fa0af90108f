"""Chrome's accessibility trees of a session, kept between reads.

Rule: Chrome builds the whole tree for each query unless the domain is enabled.
"""

from __future__ import annotations

from weakref import WeakSet

from cdpengine._protocol.session import Session

_warm: WeakSet[Session] = WeakSet()


def keep_warm(session: Session) -> None:
    """Make Chrome keep the session's accessibility trees between reads from now on.

    Sends `Accessibility.enable` once per session without waiting, as Chrome processes commands in order. It stays
    enabled: otherwise each read rebuilds the whole tree.
    """
    if session not in _warm:
        if session.domains.add_user("Accessibility"):
            session.post("Accessibility.enable")
        _warm.add(session)
