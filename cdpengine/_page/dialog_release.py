"""Release of a page whose dialog Chrome has lost: no client can answer the dialog, and the script stays stopped.

Rule: Chrome shows one dialog for each page. If frames of two processes open dialogs at the same moment, the second
dialog replaces the first one, but Chrome refuses every answer to it with "No dialog is showing". Starting a
navigation closes that dialog. So the engine starts a navigation that changes nothing: it intercepts the request on
a separate session and answers it with status 204.

Chrome asks the beforeunload listeners before it starts the navigation, and a stopped frame never answers. If the
page is closed in that state, the whole browser crashes. So the engine then ends the process of the frame, whose
scripts are all stopped, and loads its frames again. That also counts as their answer. A page that is stopped
itself stays so until `recover(allow="reload")`.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress

import trio

from cdpengine._logs import get_logger
from cdpengine._nursery import open_body_nursery
from cdpengine._page.frames import FrameTree
from cdpengine._protocol.domains.fetch import RequestPaused
from cdpengine._protocol.domains.target import AttachToTargetReply
from cdpengine._protocol.feed import CRASHED
from cdpengine._protocol.session import Session
from cdpengine._protocol.streams import Event
from cdpengine.errors import ConnectionLostError, EngineError, SessionGoneError
from cdpengine.errors.texts import shown_url

logger = get_logger("cdpengine.browser")

RELEASE_URL = "http://dialog-release.invalid/"
"""URL of the navigation. The name cannot exist (RFC 2606), and the request never leaves Chrome."""

_LIMIT = 10.0
"""Seconds after which a release is abandoned. A beforeunload listener of a stopped page can delay it."""

_PATIENCE = 2.0
"""Seconds that the navigation may take to close the dialog. Without a beforeunload listener it takes 0.05 s."""

_CRASH_TIMEOUT = 2.0
"""Seconds in which Chrome reports the end of a process. Measured: up to 0.2 s."""


async def release_page(
    session: Session, is_needed: Callable[[], bool], *, frame_id: str = "", frames: FrameTree | None = None
) -> None:
    """Start a navigation of `session`'s page, which closes its dialog, if `is_needed` still returns True.

    The document stays. If another navigation of the page is waiting for its response, Chrome cancels it. If the
    navigation does not start, because `frame_id` is the stopped frame of another process, that frame is loaded
    again.
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
                async with open_body_nursery() as nursery:
                    if frames is not None:
                        nursery.start_soon(
                            _end_frame_late,
                            session,
                            frame_id,
                            frames,
                            is_needed,
                            name="end of a stopped frame",
                        )
                    await own.call("Page.navigate", url=RELEASE_URL)
            ended = True
        finally:
            with suppress(SessionGoneError, ConnectionLostError):
                if not ended:  # without its session the navigation would lead to Chrome's error page
                    own.post("Page.stopLoading")
                root.post("Target.detachFromTarget", sessionId=own.id)


async def _end_frame_late(
    page: Session, frame_id: str, frames: FrameTree, is_needed: Callable[[], bool]
) -> None:
    """End the process of a stopped frame that keeps the navigation from starting, and load its frames again."""
    await trio.sleep(_PATIENCE)
    frame = frames.get(frame_id)
    if not is_needed() or frame is None or frame.session is page:
        return
    logger.warning(
        "a dialog that Chrome has lost stops a frame with a beforeunload listener. The process of the frame is "
        "ended, and its frames are loaded again: %s",
        shown_url(frame.url),
    )
    stopped = frame.session
    crashed = trio.Event()
    stopped.on_event(CRASHED, lambda _event: crashed.set())
    with suppress(EngineError):
        stopped.post("Page.crash")
    with trio.move_on_after(_CRASH_TIMEOUT):
        await crashed.wait()
    # Chrome takes the replacement of a frame for its answer, but not the end of its process (measured).
    for each in frames:
        if each.session.crashed and each.session is not page and each.session.frame_id == each.id:
            with suppress(SessionGoneError, ConnectionLostError):
                page.post("Page.navigate", frameId=each.id, url=each.url)


def _answer(session: Session, event: Event) -> None:
    """Answer the request. Runs in the reader, so it sends without waiting."""
    paused = event.decode(RequestPaused)
    with suppress(SessionGoneError, ConnectionLostError):
        session.post("Fetch.fulfillRequest", requestId=paused.request_id, responseCode=204)
