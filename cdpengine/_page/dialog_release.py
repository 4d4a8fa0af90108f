"""Release of a page whose dialog Chrome has lost: no client can answer the dialog, and the script stays stopped.

Rule: Chrome shows one dialog for each page. If frames of two processes open dialogs at the same moment, the second
dialog replaces the first one, but Chrome refuses every answer to it with "No dialog is showing". Starting a
navigation closes that dialog. So the engine starts a navigation that changes nothing: it intercepts the request on
a separate session and answers it with status 204.
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
"""Seconds after which a release is abandoned. A beforeunload listener in a stopped frame can delay it."""


async def release_page(session: Session, is_needed: Callable[[], bool]) -> None:
    """Start a navigation of `session`'s page, which closes its dialog, if `is_needed` still returns True.

    The document stays. If another navigation of the page is waiting for its response, Chrome cancels it.
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
                if not ended:  # without its session the navigation would lead to Chrome's error page
                    own.post("Page.stopLoading")
                root.post("Target.detachFromTarget", sessionId=own.id)


def _answer(session: Session, event: Event) -> None:
    """Answer the request. Runs in the reader, so it sends without waiting."""
    paused = event.decode(RequestPaused)
    with suppress(SessionGoneError, ConnectionLostError):
        session.post("Fetch.fulfillRequest", requestId=paused.request_id, responseCode=204)
