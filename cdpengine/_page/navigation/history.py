"""History: move a page back and forward.

Rule: a history entry is identified by its id, and the page shows it when the call returns. If the page navigates
elsewhere meanwhile, that navigation is stopped and the entry is requested again. An entry can change the page's
document, move within it, or change only some frames.
"""

from __future__ import annotations

from collections.abc import Callable

import trio

from cdpengine._budget import Budget
from cdpengine._page.frames import LoadState
from cdpengine._page.navigation.active_document import is_not_active, request_of_active
from cdpengine._page.navigation.document_waits import wait_for_documents
from cdpengine._page.navigation.liveness import answers
from cdpengine._page.navigation.navigation import (
    TRIES,
    DocumentWatch,
    NavigationResult,
    check_left,
    end_pending,
    navigate,
    wait_for_document,
)
from cdpengine._page.page_target import PageTarget
from cdpengine._page.scripts.page_functions import Command
from cdpengine._protocol.domains.page import NavigationEntry, NavigationHistoryReply
from cdpengine.errors import NavigationFailedError, RemoteError, shown_url


async def go_through_history(
    page: PageTarget, by: int, wait_until: LoadState, budget: Budget
) -> NavigationResult:
    """Go `by` entries forward (negative: back), also on a crashed page.

    Raises NavigationFailedError if the entry does not exist.
    """
    if not page.session.crashed:  # the history counts from the end of the pending navigation
        await wait_for_documents(page, (page.frames.main.id,), budget)
    budget.step("asking for the history of the page")
    history = await request_of_active(
        page.session, Command("Page.getNavigationHistory", {}), NavigationHistoryReply
    )
    index = history.current_index + by
    if not 0 <= index < len(history.entries):
        which, end = ("previous", "first") if by < 0 else ("next", "last")
        url = page.frames.main.url
        reason = f"no such entry: {shown_url(url)} is the {end} one of {len(history.entries)}"
        raise NavigationFailedError(url=url, reason=reason, asked=f"the {which} entry of the history")
    entry = history.entries[index]

    async def send(dead: bool, watch: DocumentWatch) -> str | None:
        before = page.frames.main.loader_id
        for tries_left in reversed(range(TRIES)):
            requests = page.navigation.requests
            done = await _go_to(page, entry, wait_until, watch, budget, dead=dead, once=not tries_left)
            interrupted = page.navigation.overtaken or page.navigation.requests > requests
            if done and not (tries_left and interrupted):
                break
            if not done:  # otherwise the entry's document would stop loading
                await end_pending(page)
            if await _has_arrived_at(page, entry.id):
                break
            budget.step("the page navigated elsewhere meanwhile; going through the history again")
        loader_id = page.frames.main.loader_id
        return None if loader_id == before else loader_id

    return await navigate(page, send, wait_until, budget)


async def _go_to(
    page: PageTarget,
    entry: NavigationEntry,
    wait_until: LoadState,
    watch: DocumentWatch,
    budget: Budget,
    *,
    dead: bool,
    once: bool,
) -> bool:
    """Go to an entry. Return whether the page arrived.

    Unless `once`, return False as soon as the page requests another document.
    """
    before, moves_before = page.frames.main.loader_id, page.frames.main.moves_within
    refusals, frames_before = page.dialogs.refusals, _frame_places(page)
    requests = page.navigation.requests
    budget.step(f"asking Chrome to go to {shown_url(entry.url)} in the history")
    try:
        await request_of_active(
            page.session, Command("Page.navigateToHistoryEntry", {"entryId": entry.id}), dict
        )
    except RemoteError as error:
        if not error.message.startswith(_NO_ENTRY):
            raise
        reason = "the history no longer has this entry: the page navigated elsewhere meanwhile"
        raise NavigationFailedError(url=entry.url, reason=reason) from None

    def moved() -> bool:
        check_left(page, refusals, entry.url)
        main = page.frames.main
        return main.loader_id != before or main.moves_within > moves_before

    def has_effect() -> bool:
        interrupted = not once and page.navigation.requests > requests
        return moved() or interrupted or _frame_places(page) != frames_before

    await wait_for_document(page, watch, has_effect, entry.url, dead=dead)
    while not moved() and (once or page.navigation.requests == requests):
        # A frame shows another document, perhaps for another reason. The history shows whether the entry was
        # reached.
        if await _is_at(page, entry.id) and not await _has_document_moved(page, moved):
            budget.step(f"waiting for {wait_until} of the frames that the history changed")
            await page.wait_for(lambda: moved() or _have_frames_reached(page, frames_before, wait_until))
            return True
        with trio.move_on_after(_HISTORY_PAUSE):
            await page.wait_for(moved)
    return moved()


async def _has_arrived_at(page: PageTarget, entry_id: int) -> bool:
    """Return whether the page shows that entry, once it has an active document."""
    command = Command("Page.getNavigationHistory", {})
    history = await request_of_active(page.session, command, NavigationHistoryReply)
    await answers(page.session)  # the answer comes after reported changes
    return history.entries[history.current_index].id == entry_id


async def _has_document_moved(page: PageTarget, moved: Callable[[], bool]) -> bool:
    """Return whether the page's main document has changed its URL or been replaced, or is about to.

    The browser process reports the history, and the page reports its documents. The first report may be earlier,
    so the page is queried: its answer comes after its reports.
    """
    if not moved() and not page.navigation.under_way:
        await answers(page.session)
    return moved() or page.navigation.under_way


_HISTORY_PAUSE = 0.05
"""Pause in seconds between queries for the current history entry, which no event reports."""

_NO_ENTRY = "No entry with passed id"
"""Chrome's error message for a missing history entry, as of Chromium 156."""


async def _is_at(page: PageTarget, entry_id: int) -> bool:
    try:
        history = await page.session.request("Page.getNavigationHistory", {}, NavigationHistoryReply)
    except RemoteError as error:
        if not is_not_active(error):
            raise
        return False  # the page's main document is pending
    return history.entries[history.current_index].id == entry_id


def _frame_places(page: PageTarget) -> dict[str, tuple[str, int]]:
    """Return for each frame its document and the number of moves within it."""
    main = page.frames.main
    return {frame.id: (frame.loader_id, frame.moves_within) for frame in page.frames if frame is not main}


def _have_frames_reached(page: PageTarget, before: dict[str, tuple[str, int]], state: LoadState) -> bool:
    """Return whether all frames with a new document have reached `state`."""
    known = [frame for frame in page.frames if frame.id in before]
    replaced = [frame for frame in known if frame.loader_id != before[frame.id][0]]
    return all(frame.reached(frame.loader_id, state) for frame in replaced)
