"""Activation: a page shows a document that Chrome prerendered before the engine attached to the page.

Rule: the activated document keeps the page's session, and Chrome restores the emulation. The document lacks init
scripts, exposed functions and interception. They are sent again before the next action. Frames of other sites load
at the activation, and Chrome does not pause them for their set-up.

Network conditions that are sent on the page's session do not affect the requests of the activated document
(measured). They do affect them if sent on a session that is attached after the activation. That session stays
attached, because later documents of the tab belong to the same frame.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from weakref import WeakKeyDictionary, WeakSet

import attrs
import trio

from cdpengine._page.frames import Frame
from cdpengine._protocol.domains.target import AttachToTargetReply
from cdpengine._protocol.session import Session


@attrs.define(eq=False)
class Activation:
    """The activated documents of one page.

    `possible`: Chrome may have prerendered for the page, because no session paused it at its start. `suspect` asks
    Chrome which document the page shows, because no event reports it while an activated one loads. `renew` sends
    the missing settings. `loader_id` belongs to the latest activated document.
    """

    possible: bool
    suspect: Callable[[], None] = lambda: None
    renew: Callable[[], Awaitable[None]] = trio.lowlevel.checkpoint
    loader_id: str = ""
    _renewed: WeakSet[Session] = attrs.field(factory=WeakSet, init=False)

    def take(self, session: Session) -> bool:
        """Return whether a frame's session needs the settings from `renew`; False after the first call.

        A document that loaded after the set-up of the session has them already.
        """
        lacks = session.documents_shown == 0 and session not in self._renewed
        self._renewed.add(session)
        return lacks

    def is_shown(self, main: Frame) -> bool:
        """Return whether the main frame shows the activated document for the first time."""
        return bool(self.loader_id) and self.loader_id == main.loader_id != main.restored


_LATER: WeakKeyDictionary[Session, list[Session]] = WeakKeyDictionary()


def later_sessions(session: Session) -> list[Session]:
    """Return the sessions attached for activated documents of `session`'s page."""
    return [later for later in _LATER.get(session, ()) if not later.ended]


async def attach_later_session(session: Session) -> None:
    """Attach one more session to the page of `session`.

    Raises SessionGoneError, RemoteError, ConnectionLostError.
    """
    root = session.connection.root
    params = {"targetId": session.target_id, "flatten": True}
    reply = await root.request("Target.attachToTarget", params, AttachToTargetReply)
    later = session.connection.targets.sessions.get(reply.session_id)
    if later is not None:
        _LATER.setdefault(session, []).append(later)
