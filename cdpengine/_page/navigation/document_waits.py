"""Waits of actions and reads for the documents of navigations that the page itself began.

Rule: a wait ends when the frame has parsed its next document, when Chrome reports that no document comes (status
204, a download, a stopped navigation), when a dialog opens, or after PATIENCE seconds. If the page replaces its
document again (by script or refresh), the wait continues. To learn whether the main frame still waits, the engine
sends a query: Chrome answers it only after the navigation.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable
from contextlib import suppress
from typing import TypeVar

import attrs
import trio

from cdpengine._budget import Budget
from cdpengine._nursery import open_body_nursery
from cdpengine._page.frames import Frame
from cdpengine._page.navigation.liveness import answers
from cdpengine._page.page_target import PageTarget
from cdpengine._page.side_effects import NavigationStarted, NavigationState, SideEffects
from cdpengine.errors import ConnectionLostError, EvaluationTerminatedError, SessionGoneError

T = TypeVar("T")

PATIENCE = 5.0
"""Maximum time in seconds that an action or a read waits for pending documents."""

PARSING = 1.5
"""Time in seconds for a new document to be parsed before it is read."""

_ANSWER_TIMEOUT = 0.5
"""Time in seconds for a new document to answer. A document with a longer script is read later."""

QUESTIONS = 2
"""Number of queries to a document. Due timers, such as a refresh, can run after one answer (measured)."""

_LOAD_TIMEOUT = 0.05
"""Time in seconds for a parsed document to load. If it loads nothing more, its refresh begins then."""

_CONFIRM_TIMEOUT = 0.1
"""Time in seconds for a page to answer after input, before a script is sent to it anyway."""

QUICK = 0.03
"""Time in seconds in which an action on an idle machine ends, its effects reported. Measured: 4 to 8 ms."""

_MARGIN = 0.1
"""Time before its deadline, in seconds, at which an action stops waiting; at most a tenth of the rest."""

_TAB_TIMEOUT = 0.5
"""Time in seconds in which Chrome creates a tab that a page requested. Measured: up to 0.04 s."""

_DOWNLOAD_TIMEOUT = 0.1
"""Time in seconds in which Chrome reports a download after its navigation has ended. Measured: 2 ms."""


async def wait_for_documents(
    page: PageTarget, frame_ids: Iterable[str], budget: Budget, seconds: float = PATIENCE
) -> bool:
    """Wait until no document of these frames is pending, at most `seconds`. Return whether one was pending.

    Callers first check `pending` and `fresh` of the navigation, which are usually empty. Navigations longer than
    PATIENCE are not waited for again. Raises the error of a page that ended.
    """
    navigation, frame_ids = page.navigation, list(frame_ids)
    if not navigation.is_awaited(frame_ids):
        return False
    budget.step("waiting for the next document")
    with trio.move_on_after(seconds) as waiting:
        while navigation.is_awaited(frame_ids) and not page.running.dialog_is_open:
            changing = navigation.leaving(frame_ids).union(navigation.fresh).intersection(frame_ids)
            await _wait_until_over(page, frame_ids)
            await _wait_until_read(page, changing)
    if waiting.cancelled_caught and seconds >= PATIENCE:
        navigation.give_up(frame_ids)
    return True


async def read_present(
    page: PageTarget,
    frame_ids: Callable[[], Iterable[str]],
    read: Callable[[], Awaitable[T]],
    budget: Budget,
) -> T:
    """Return the result of `read`. If a navigation began meanwhile, read the next documents instead.

    Raises the errors of `read`, except EvaluationTerminatedError caused by such a navigation.
    """
    end = trio.current_time() + PATIENCE
    while True:
        before = _documents(page, frame_ids())
        try:
            value = await read()
        except EvaluationTerminatedError:
            left = end - trio.current_time()
            awaited = left > 0 and await wait_for_documents(page, frame_ids(), budget, left)
            if not awaited and _documents(page, frame_ids()) == before:
                raise
        else:
            left = end - trio.current_time()
            if left <= 0 or not await wait_for_documents(page, frame_ids(), budget, left):
                return value
        budget.step("the document was replaced meanwhile; reading the new one")


def _documents(page: PageTarget, frame_ids: Iterable[str]) -> list[str]:
    frames = (page.frames.get(each) for each in frame_ids)
    return [page.frames.main.loader_id, *(frame.loader_id for frame in frames if frame is not None)]


async def confirm_input(page: PageTarget, seconds: float) -> None:
    """Wait until the page answers a query after input or a script. Navigations that it caused are then known.

    Chrome reports input and page events on different paths, so an answer to input can come before its events.
    Timers of a script run after its answer.
    """
    if questions := page.running.unconfirmed:
        page.running.unconfirmed = 0
        with trio.move_on_after(min(_CONFIRM_TIMEOUT, seconds / 2)):
            for _ in range(questions):
                await answers(page.session)


async def _wait_until_over(page: PageTarget, frame_ids: list[str]) -> None:
    """Wait until no navigation of these frames is pending, or a dialog is open."""
    navigation = page.navigation
    if not navigation.leaving(frame_ids):
        return
    async with open_body_nursery() as nursery:
        nursery.start_soon(_settle_doubts, page, frame_ids, name="ask whether a navigation is over")
        await page.wait_for(lambda: page.running.dialog_is_open or not navigation.leaving(frame_ids))


async def wait_until_begun(page: PageTarget, seconds: float) -> None:
    """Wait until a requested navigation of the main frame has begun or ended, at most `seconds`."""
    navigation, main_id = page.navigation, page.session.frame_id

    def known() -> bool:
        pending = navigation.pending.get(main_id)
        return pending is None or (pending.begun and not pending.requested and not pending.stopped)

    if not known():
        with trio.move_on_after(seconds):
            async with open_body_nursery() as nursery:
                nursery.start_soon(_settle_doubts, page, [main_id], name="ask whether a navigation is over")
                await page.changes.wait_for(known)


async def _settle_doubts(page: PageTarget, frame_ids: list[str]) -> None:
    """Mark navigations as ended as soon as their frames answer. Runs until cancelled.

    While a frame waits for a document in the main frame or in another process, it does not answer. If the previous
    document was still loading, Chrome does not report the end of a navigation without a document.
    """
    navigation = page.navigation
    with suppress(SessionGoneError, ConnectionLostError):
        while True:
            frame_id = await page.wait_for(lambda: navigation.find_doubtful(frame_ids))
            known, frame = navigation.pending[frame_id], page.frames.get(frame_id)
            since = known.since
            for _ in range(QUESTIONS):
                await answers(page.session if frame is None else frame.session)
            if frame is page.frames.main and page.activation.possible:
                page.activation.suspect()
                await page.running.ready()
            if known.since == since and navigation.pending.get(frame_id) is known:
                navigation.end(frame_id)


async def _wait_until_read(page: PageTarget, frame_ids: Iterable[str]) -> None:
    """Wait until the new documents can be read and have answered.

    By then, navigations that a document starts during parsing are known, such as redirects by script or refresh.
    So are documents that Chrome reports only after they have loaded, such as one from the back/forward cache.
    """
    navigation = page.navigation
    frames = [frame for each in frame_ids if (frame := page.frames.get(each)) is not None]
    came = {frame.id: navigation.fresh[frame.id] for frame in frames if frame.id in navigation.fresh}

    async def wait_until_reached(name: str) -> None:
        def has_reached(frame: Frame) -> bool:
            return frame.id in navigation.pending or name in frame.lifecycle.get(frame.loader_id, ())

        await page.wait_for(
            lambda: (
                page.running.dialog_is_open or all(has_reached(frame) for frame in frames if frame.id in came)
            )
        )

    if came:
        with trio.move_on_at(max(came.values()) + PARSING):
            await wait_until_reached("DOMContentLoaded")
            with trio.move_on_after(_LOAD_TIMEOUT):
                await wait_until_reached("load")
    with trio.move_on_after(_ANSWER_TIMEOUT):
        for session in {frame.session: None for frame in frames if not frame.session.ended}:
            if page.running.dialog_is_open:
                return
            with suppress(SessionGoneError):  # the frame continues in another process
                for _ in range(QUESTIONS):
                    await answers(session)
    for frame_id, when in came.items():
        if navigation.fresh.get(frame_id) == when:
            del navigation.fresh[frame_id]


# --- effects of an action ------------------------------------------------------------------------------------


async def confirm_effects(page: PageTarget, effects: SideEffects, budget: Budget) -> None:
    """Wait until Chrome has reported the navigations and tabs that an action caused.

    Chrome confirms input and reports its effects on different paths, and an answer of the page comes after them.
    On an idle machine, they arrive in time: see QUICK.
    """
    await effects.wait_for_requests()
    if effects.any:
        return
    with (
        trio.move_on_after(min(_ANSWER_TIMEOUT, budget.remaining / 2)) as waiting,
        suppress(SessionGoneError, ConnectionLostError),
    ):
        async with open_body_nursery() as nursery:
            nursery.start_soon(_cancel_when_any, effects, waiting, name="wait for effects of an action")
            for _ in range(QUESTIONS):
                await answers(page.session)
        page.running.unconfirmed = 0
    await effects.wait_for_requests()


async def _cancel_when_any(effects: SideEffects, waiting: trio.CancelScope) -> None:
    await effects.changes.wait_for(lambda: effects.any)
    waiting.cancel()


async def wait_for_effects(page: PageTarget, effects: SideEffects, budget: Budget) -> None:
    """Wait for the documents and tabs of the navigations that an action caused.

    Raises nothing, because the action is complete, and therefore stops before the budget ends.
    """
    frame_ids = effects.frames_that_leave() - effects.new_frames
    seconds = min(PATIENCE, budget.remaining - min(_MARGIN, budget.remaining / 10))
    end = trio.current_time() + seconds
    with suppress(SessionGoneError, ConnectionLostError):
        if effects.new_tabs > len(effects.popups):
            with trio.move_on_after(min(_TAB_TIMEOUT, seconds)):
                await page.wait_for(lambda: effects.new_tabs <= len(effects.popups))
        await wait_for_documents(page, frame_ids, budget, seconds)
        for frame_id in frame_ids:
            if _state_of(page, frame_id, effects) == "no document" and not effects.downloads:
                with trio.move_on_at(min(end, trio.current_time() + _DOWNLOAD_TIMEOUT)):
                    await page.wait_for(lambda: bool(effects.downloads))
                break


def describe_navigation(page: PageTarget, effects: SideEffects) -> NavigationStarted | None:
    """Return the navigation that an action caused, with its result, or None.

    Of several, the main frame's has priority, then the first one. First documents of new frames do not count.
    """
    begun = [each for each in effects.navigations if each.frame_id not in effects.new_frames]
    if not begun:
        return None
    frame_id = next(
        (each.frame_id for each in begun if each.frame_id == page.session.frame_id), begun[0].frame_id
    )
    own = [each for each in begun if each.frame_id == frame_id]
    leaving = [each for each in own if not each.within_document]
    frame = page.frames.get(frame_id)
    if not leaving:
        return attrs.evolve(own[-1], url=own[-1].url if frame is None else frame.url)
    state = _state_of(page, frame_id, effects)
    if state == "arrived" and frame is not None:
        if frame.unreachable_url:
            return NavigationStarted(frame_id, frame.unreachable_url, state="failed")
        return NavigationStarted(frame_id, frame.url)
    return NavigationStarted(frame_id, leaving[-1].url, state=state)


def _state_of(page: PageTarget, frame_id: str, effects: SideEffects) -> NavigationState:
    navigation = page.navigation
    if frame_id in navigation.pending:
        return "under way"
    return "arrived" if navigation.arrived.get(frame_id, -1.0) >= effects.since else "no document"
