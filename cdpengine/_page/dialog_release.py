"""Release of a page whose dialog Chrome has lost: nobody can answer it, and its script does not go on.

Rule: Chrome shows one dialog for a page. When frames of two processes open dialogs at the same moment, the second
dialog closes the first one and takes its place, but Chrome then refuses each answer with "No dialog is showing".
The beginning of a navigation closes it. So the engine begins one that changes nothing: it answers the request
itself, with status 204, on a session of its own.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress

import trio

from cdpengine._protocol.domains.fetch import RequestPaused
from cdpengine._protocol.domains.target import AttachToTargetReply
from cdpengine._protocol.session import Session
from cdpengine._protocol.streams import Event
from cdpengine.errors import ConnectionLostError, EngineError, SessionGoneError

RELEASE_URL = "http://dialog-release.invalid/"
"""URL of the navigation. The name cannot exist (RFC 2606), and the request never leaves Chrome."""

_LIMIT = 10.0
"""Seconds after which a release is given up. A beforeunload listener in a stopped frame can delay it."""


async def release_page(session: Session, is_needed: Callable[[], bool]) -> None:
    """Begin a navigation of `session`'s page, which closes its dialog, if that is still needed.

    The document stays. A navigation of the page that is still waiting for its response is cancelled.
    """
    root = session.connection.root
    with trio.move_on_after(_LIMIT), suppress(EngineError):
        params = {"targetId": session.target_id, "flatten": True}
        reply = await root.request("Target.attachToTarget", params, AttachToTargetReply)
        own = session.connection.targets.sessions.get(reply.session_id)
        if own is None:
            return
        ended = False
        try:
            own.on_event("Fetch.requestPaused", lambda event: _answer(own, event))
            await own.call("Fetch.enable", patterns=[{"urlPattern": f"{RELEASE_URL}*"}])
            if is_needed():
                await own.call("Page.navigate", url=RELEASE_URL)
            ended = True
        finally:
            with suppress(SessionGoneError, ConnectionLostError):
                if not ended:  # without its session the navigation would go on, to Chrome's error page
                    own.post("Page.stopLoading")
                root.post("Target.detachFromTarget", sessionId=own.id)


def _answer(session: Session, event: Event) -> None:
    """Answer the request. Runs in the reader, so it sends without waiting."""
    paused = event.decode(RequestPaused)
    with suppress(SessionGoneError, ConnectionLostError):
        session.post("Fetch.fulfillRequest", requestId=paused.request_id, responseCode=204)
