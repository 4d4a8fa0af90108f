"""Navigation of a child frame: `go_to_in_frame`.

Rule: Chrome navigates the frame by the session that reports it, and may continue it in another process with
another session. The frame's object stays the same. The wait follows the document that Chrome named, or the next
one if that document navigates elsewhere.
"""

from __future__ import annotations

from contextlib import suppress

import trio

from cdpengine._budget import Budget, undoing
from cdpengine._page.frames import Frame, LoadState
from cdpengine._page.navigation.liveness import answers
from cdpengine._page.navigation.navigation import (
    DocumentWatch,
    NavigationResult,
    explain_refused_navigation,
    make_result,
)
from cdpengine._page.page_target import PageTarget
from cdpengine._protocol.domains.page import NavigateReply
from cdpengine._urls.reading import credentials_in
from cdpengine.errors import (
    ConnectionLostError,
    NavigationFailedError,
    NodeNotFoundError,
    RemoteError,
    SessionGoneError,
    shown_url,
)

_STOP_TIMEOUT = 0.08
"""Time in seconds to stop an abandoned navigation."""

_ANSWER_TIMEOUT = 0.5
"""Time in seconds for the frame to answer before the navigation. A frame that hangs is navigated anyway."""

_MOVE_TIMEOUT = 1.0
"""Time in seconds in which Chrome reports a frame again that moves to another process."""

_ABORTED = "net::ERR_ABORTED"

_ERROR_PAGE_TIMEOUT = 1.0
"""Time in seconds in which Chrome shows its error page after it refused a navigation."""


async def go_to_in_frame(
    page: PageTarget,
    frame: Frame,
    url: str,
    wait_until: LoadState,
    budget: Budget,
    *,
    referer: str | None = None,
) -> NavigationResult:
    """Navigate a child frame and wait for a state of its document.

    Raises NavigationFailedError with Chrome's reason, NodeNotFoundError if the frame leaves the page meanwhile,
    and the errors of `PageTarget.wait_for`.
    """
    session = frame.session
    for each in credentials_in(url):
        session.connection.instruments.add_secret(each)
    params = {"url": url, "frameId": frame.id} | ({} if referer is None else {"referrer": referer})
    watch = DocumentWatch(frame.id, page.changes.notify)
    async with session.enabled("Network", wait=False):
        with watch.on(session):
            # In a process that only starts, Chrome would report the request before it knows of the watch.
            with (
                trio.move_on_after(min(_ANSWER_TIMEOUT, budget.remaining / 2)),
                suppress(SessionGoneError, ConnectionLostError),
            ):
                await answers(session)
            try:
                return await _navigate(page, frame, params, wait_until, watch, budget)
            except trio.Cancelled:
                # Only the page's own session can stop a navigation that the browser began.
                with undoing(_STOP_TIMEOUT), suppress(RemoteError, SessionGoneError, ConnectionLostError):
                    await page.session.call("Page.stopLoading")
                raise


async def _navigate(
    page: PageTarget,
    frame: Frame,
    params: dict[str, str],
    wait_until: LoadState,
    watch: DocumentWatch,
    budget: Budget,
) -> NavigationResult:
    url, frame_id, moves, before = params["url"], frame.id, frame.moves_within, frame.loader_id
    budget.step(f"asking Chrome to navigate to {shown_url(url)}")
    loader_id: str | None = ""
    try:
        reply = await frame.session.request("Page.navigate", params, NavigateReply)
    except (RemoteError, SessionGoneError):
        # A frame that leaves its process loses its session, perhaps before Chrome's answer.
        if page.session.ended or page.session.crashed or not await _wait_until_back(page, frame_id):
            raise _gone(frame) from None
    else:
        if reply.is_download:
            raise NavigationFailedError(url=url, reason="the URL is a download, not a document")
        if reply.error_text:
            if (
                reply.error_text != _ABORTED
            ):  # the frame shows an error page of Chrome, often in another process
                with trio.move_on_after(min(_ERROR_PAGE_TIMEOUT, budget.remaining / 2)):
                    await page.wait_for(lambda: _shows_error_page(page, frame_id))
            raise NavigationFailedError(url=url, reason=explain_refused_navigation(url, reply.error_text))
        loader_id = reply.loader_id
    if loader_id is None:
        budget.step("waiting for the move within the document")
        await page.wait_for(lambda: frame.moves_within > moves or not frame.attached)
        return NavigationResult(url=frame.url, status=None, same_document=True)
    budget.step(f"waiting for {wait_until} of the new document")
    committed = False

    def arrived() -> Frame | None:
        nonlocal committed
        current = page.frames.get(frame_id)
        if current is None:
            return None
        if loader_id:
            committed = committed or current.reached(loader_id, "commit")
            if current.reached(loader_id, wait_until):
                return current
        else:
            committed = current.loader_id not in ("", before)
        if committed and current.reached(current.loader_id, wait_until):
            return current
        if current.session.crashed and (error := current.session.error()) is not None:
            raise error
        return None

    def is_over() -> Frame | bool | None:
        if (current := arrived()) is not None:
            return current
        aborted = not committed and watch.find_aborted() is not None
        return True if aborted and frame_id not in page.navigation.pending else None

    ended = None
    while ended is None:
        missing = page.frames.get(frame_id) is None
        if missing and not await _wait_until_back(page, frame_id):
            raise _gone(frame)
        ended = await page.wait_for(lambda: is_over() or (page.frames.get(frame_id) is None and "missing"))
        ended = None if ended == "missing" else ended
    if not isinstance(ended, Frame):
        raise NavigationFailedError(url=url, reason=explain_refused_navigation(url, _ABORTED))
    arrived_id = loader_id if loader_id and ended.reached(loader_id, wait_until) else ended.loader_id
    return make_result(page, ended, arrived_id, watch)


def _shows_error_page(page: PageTarget, frame_id: str) -> bool:
    frame = page.frames.get(frame_id)
    return frame is not None and bool(frame.unreachable_url)


async def _wait_until_back(page: PageTarget, frame_id: str) -> bool:
    """Wait until a frame that may be moving to another process is reported again. Return whether it is."""
    with trio.move_on_after(_MOVE_TIMEOUT):
        await page.wait_for(lambda: page.frames.get(frame_id))
        return True
    return False


def _gone(frame: Frame) -> NodeNotFoundError:
    return NodeNotFoundError(target=f"frame {frame.id[:8]}", reason="it was removed from the page meanwhile")
