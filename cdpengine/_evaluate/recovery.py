"""Recovery of hanging pages, step by step; and the watchdog that detects them.

Rule: a step is bounded, shielded and timed. It counts as done only if Chrome confirmed it, and a page counts as
responsive only after a probe. The caller waits for the quick steps (dialog, terminate) only. Longer steps (further
terminations, a reload, a close) run in the engine's nursery, and the page's next action waits for them.

Terminations and crashes affect the whole process, and so popups and other pages of the same site in it.

The watchdog pings each page from time to time, with one ping at a time. A page that hangs on its own, in a timer
or a click handler, and has not answered for `recover_after` seconds gets the default recovery: its dialog is
dismissed, and its script is terminated. The watchdog closes no page.
"""

from __future__ import annotations

import logging
import math
from collections.abc import Sequence
from contextlib import suppress
from typing import Literal

import attrs
import trio

from cdpengine._budget import Budget
from cdpengine._checks import check_choice
from cdpengine._logs import get_logger
from cdpengine._page.dialog_release import release_page
from cdpengine._page.navigation.liveness import answers, dismiss_dialog, note_terminated, terminate
from cdpengine._page.navigation.navigation import go_to, reload
from cdpengine._page.page_target import PageTarget
from cdpengine._page.tabs import Tabs
from cdpengine._protocol.calls import SharedCall
from cdpengine._protocol.session import Session
from cdpengine.errors import (
    ConnectionLostError,
    EngineError,
    ProtocolError,
    RecoveryReport,
    RecoveryStep,
    RemoteError,
    SessionGoneError,
    TargetCrashedError,
)
from cdpengine.errors.page import CRASHED

Recovery = Literal["terminate", "reload", "close"]
"""The strongest allowed recovery. "close" does not reload first, because the page is discarded anyway."""

_RECOVERIES: tuple[Recovery, ...] = ("terminate", "reload", "close")

logger = get_logger("cdpengine.recovery")

QUICK = 0.09
"""Seconds for dialog, termination and probe together. Chrome confirms a termination in 2 ms (measured)."""

_FIRST_PROBE_TIMEOUT = 0.04
"""Seconds without an answer after which a page counts as hung, if no script is known to run in it."""

_LAST_PROBE_TIME = 0.015
"""Seconds of QUICK reserved for the probe if the termination is not confirmed."""

_TERMINATE_AGAIN_AFTER = 0.015
"""Seconds to wait for an answer before the termination is repeated.

A page without further hanging scripts answers in 2 ms (measured).
"""

_EXTRA_WAIT = 0.5
"""Additional seconds per probe of a requested recovery: on a busy machine, responsive pages may answer late."""

_SHARE = 20
"""Divisor of the caller's time: the extra wait is at most this fraction of it."""

_CONFIRM_TIMEOUT = 0.25
"""Seconds for Chrome to confirm a further termination. It never confirms one that fails."""

_GO_ON_TIMEOUT = 2.0
"""Seconds after which further terminations stop, even if the page still hangs."""

_DIALOG_TIMEOUT = 0.03

_RELEASE_TIMEOUT = 1.0
"""Seconds to close a dialog that opened before the connection. Measured: 0.05 s."""

_WAIT = 0.02
"""Additional seconds for which the caller waits for a reload or close."""

_SLOW_TIMEOUT = 5.0
"""Maximum duration of a reload or close, in seconds."""

_RELOAD_PROBE_TIMEOUT = 1.0
"""Seconds of _SLOW_TIMEOUT reserved for the probe after the reload."""

_STOP_LOADING_TIMEOUT = 0.5

_CLOSE_AGAIN_AFTER = 1.0
"""Seconds before closing is repeated. It takes 0.5 s on a hung page, and starts again if repeated (measured)."""

_ELSEWHERE = "data:text/html,"
"""A document of another site: Chrome then abandons the old process with its hanging scripts."""

_HUNG_BEFORE = (
    'it hung before this program connected, and does not accept terminations: use allow="reload" or "close"'
)


def check_recovery(allow: str) -> Recovery:
    """Return `allow`. Raises InvalidArgumentError for an unknown recovery."""
    return check_choice("recover", allow, _RECOVERIES)


async def recover(
    page: PageTarget,
    session: Session | None,
    *,
    allow: Recovery = "terminate",
    sent: bool,
    call: SharedCall | None = None,
    extra_wait: float = 0,
    reported: bool = False,
) -> RecoveryReport:
    """Do the recovery steps up to `allow`, until the page answers. Shielded; takes at most QUICK + _WAIT.

    `extra_wait` is added to the first probe and again to the steps after it. `session` is the session that
    evaluated (None: the page's own). With `sent`, a script of the caller may be
    running, and is terminated in any case; otherwise a responsive page is left unchanged. `call` is that script's
    call: until it ends, the termination is repeated, because the first one may have hit a script of another page
    in the process. With `reported`, the caller uses the report, so no warning is logged. Never raises for failures
    of the page or the browser: the report contains them.
    """
    with trio.CancelScope(shield=True):
        target_id = page.target_id if session is None else session.target_id or page.target_id
        unanswered: list[SharedCall] = []
        sessions = page.recovery_sessions(target_id)
        report = await _quick(page, sessions, sent, call, extra_wait, unanswered)
        _take_terminations(page, sessions, unanswered)
        if not report.responsive and not page.closed:
            page.doubt_evaluation_session()
            if allow != "terminate":
                report = await _slow(page, allow, report)
            elif call is not None:
                if not page.running.is_terminated_by(target_id):  # one task is enough for all waiting callers
                    page.running.begin_termination(target_id)
                    page.nursery.start_soon(_go_on_terminating, page, target_id, name="terminate further")
                report = attrs.evolve(report, under_way=True)
    _log(page, report, reported=reported)
    return report


def extra_wait_for(seconds: float) -> float:
    """Return the part of the caller's `seconds` that a recovery waits for a slow page."""
    return min(_EXTRA_WAIT, seconds / _SHARE)


async def recover_worker(session: Session, call: SharedCall, unanswered: list[SharedCall]) -> RecoveryReport:
    """Terminate the script of a worker, `call`, until the worker answers. Shielded; takes at most QUICK.

    Terminations that Chrome has not confirmed by then are added to `unanswered`.
    """
    with trio.CancelScope(shield=True):
        started, done = trio.current_time(), False
        with trio.move_on_at(started + QUICK - _LAST_PROBE_TIME):
            done = await terminate([session], unanswered)
        step = RecoveryStep("terminate", done, "the worker is gone" if session.ended else "", _since(started))
        responsive = await _wait_for_answer([session], call, started + QUICK, unanswered, again=False)
    return RecoveryReport(sent=True, steps=(step,), responsive=responsive, subject="the worker")


async def recover_page(page: PageTarget, *, allow: Recovery, extra_wait: float) -> RecoveryReport:
    """Recover the page's main frame, then each out-of-process frame; see `recover`."""
    report = await recover(page, None, allow=allow, sent=False, extra_wait=extra_wait, reported=True)
    for target_id, evaluation_session in list(page.evaluation_sessions.items()):
        if report.under_way or page.closed:
            break
        if target_id != page.target_id and not evaluation_session.ended:
            more = await recover(
                page, evaluation_session, allow=allow, sent=False, extra_wait=extra_wait, reported=True
            )
            report = RecoveryReport(
                steps=report.steps + more.steps,
                responsive=report.responsive and more.responsive,
                under_way=more.under_way,
            )
    return report


def _take_terminations(
    page: PageTarget, sessions: Sequence[Session], unanswered: Sequence[SharedCall]
) -> None:
    """Make the page's next action wait until the terminations are over, because they could end its script.

    V8 keeps a termination for the next script if none is running, so the engine runs scripts to absorb it.
    """
    pending = [call for call in unanswered if not call.done]
    if not pending:
        return

    async def wait() -> None:
        try:
            with trio.move_on_after(_GO_ON_TIMEOUT), suppress(SessionGoneError, ConnectionLostError):
                while (open_call := next((call for call in pending if not call.done), None)) is not None:
                    await answers(sessions[0])
                    with trio.move_on_after(_TERMINATE_AGAIN_AFTER), suppress(RemoteError, ProtocolError):
                        await open_call.wait()
            note_terminated(sessions)
        finally:
            for call in pending:
                call.abandon()
            page.running.end_termination(wait)

    if page.closed or sessions[0].ended:
        for call in pending:
            call.abandon()
    else:
        page.running.begin_termination(wait)
        page.nursery.start_soon(wait, name="answers to terminations")


async def _quick(
    page: PageTarget,
    sessions: Sequence[Session],
    sent: bool,
    call: SharedCall | None,
    extra_wait: float,
    unanswered: list[SharedCall],
) -> RecoveryReport:
    steps: list[RecoveryStep] = []
    end = trio.current_time() + QUICK
    if not sent and await _probe(sessions, trio.current_time() + _FIRST_PROBE_TIMEOUT + extra_wait):
        return RecoveryReport(sent=sent, responsive=True)
    # The probe's extra wait does not reduce the time of the steps, which get the same extra wait.
    end = max(end, trio.current_time() + QUICK - _FIRST_PROBE_TIMEOUT) + extra_wait
    if page.running.dialog_is_open:
        started, done = trio.current_time(), False
        with trio.move_on_after(_DIALOG_TIMEOUT):
            done = await dismiss_dialog(sessions)
        steps.append(RecoveryStep("dialog", done, "dismissed" if done else "", _since(started)))
    elif _hung_before(page):
        started = trio.current_time()
        if await _release(page, sessions):
            detail = "it opened before this program connected, and is closed now"
            steps.append(RecoveryStep("dialog", True, detail, _since(started)))
            return RecoveryReport(sent=sent, steps=tuple(steps), responsive=True)
        end += trio.current_time() - started
    started, done = trio.current_time(), False
    with trio.move_on_at(end - _LAST_PROBE_TIME):
        done = await terminate(sessions, unanswered)
    steps.append(RecoveryStep("terminate", done, _why_not(page, sessions), _since(started)))
    responsive = await _wait_for_answer(sessions, call, end, unanswered, again=extra_wait > 0)
    return RecoveryReport(sent=sent, steps=tuple(steps), responsive=responsive)


def _hung_before(page: PageTarget) -> bool:
    """Return whether the page has never answered, so that its process handles none of the engine's sessions."""
    return not page.running.is_set_up and not page.closed and not page.session.crashed


async def _release(page: PageTarget, sessions: Sequence[Session]) -> bool:
    """Close a dialog that opened before the connection, which Chrome does not report.

    Return whether the page responds.
    """
    with trio.move_on_after(_RELEASE_TIMEOUT):
        await release_page(page.session, lambda: True)
    return await _probe(sessions, trio.current_time() + _EXTRA_WAIT)


async def _wait_for_answer(
    sessions: Sequence[Session],
    call: SharedCall | None,
    deadline: float,
    unanswered: list[SharedCall],
    *,
    again: bool,
) -> bool:
    """Return whether the page answers in time. Until then, repeat the termination while the script of `call` runs.

    Without a call, `again` is whether to repeat it. The page is probed twice, because Chrome runs due timers
    between the two probes, and one of them may hang.
    """
    if not sessions:
        return False

    def goes_on() -> bool:
        return again if call is None else not call.done

    pause, answers_due = _TERMINATE_AGAIN_AFTER, 2 if goes_on() else 1
    with trio.move_on_at(deadline), suppress(SessionGoneError, ConnectionLostError):
        while answers_due:
            with trio.move_on_after(pause if goes_on() else math.inf):
                await answers(sessions[0])
                answers_due -= 1
                continue
            if goes_on():
                started = trio.current_time()
                await terminate(sessions, unanswered)
                pause = _TERMINATE_AGAIN_AFTER + 2 * (
                    trio.current_time() - started
                )  # a busy machine is slower
        return True
    return False


async def _go_on_terminating(page: PageTarget, target_id: str) -> None:
    """Continue to terminate after the call has returned, until the page answers.

    The page's next action waits for it.
    """
    started, sessions = trio.current_time(), page.recovery_sessions(target_id)
    done = responsive = False
    unanswered: list[SharedCall] = []
    try:
        with trio.move_on_after(_CONFIRM_TIMEOUT):
            done = not page.running.recovery_under_way and await terminate(sessions, unanswered)
        step = RecoveryStep("terminate", done, _why_not(page, sessions), _since(started))
        if done:
            responsive = await _wait_for_answer(
                sessions, None, started + _GO_ON_TIMEOUT, unanswered, again=True
            )
        if not page.closed:
            _log(page, RecoveryReport(sent=True, steps=(step,), responsive=responsive))
    finally:
        _take_terminations(page, sessions, unanswered)
        page.running.end_termination(target_id)


def _why_not(page: PageTarget, sessions: Sequence[Session]) -> str:
    if page.closed:
        return "the page is gone"
    if page.session.crashed:
        return CRASHED
    if _hung_before(page):
        return _HUNG_BEFORE
    return "" if sessions else "no session for the termination"


async def _probe(sessions: Sequence[Session], deadline: float) -> bool:
    if not sessions:
        return False
    with trio.move_on_at(deadline), suppress(SessionGoneError, ConnectionLostError):
        await answers(sessions[0])
        return True
    return False


# --- slow steps ----------------------------------------------------------------------------------------------


async def _slow(page: PageTarget, allow: Recovery, report: RecoveryReport) -> RecoveryReport:
    if not page.running.recovery_under_way:  # a second caller waits for the first caller's recovery
        page.running.begin_recovery()
        page.nursery.start_soon(_go_on, page, allow, report, name=f"recovery by {allow}")
    with trio.move_on_after(_WAIT):
        await page.running.recovered()
        if page.running.last_recovery is not None:
            return attrs.evolve(page.running.last_recovery, sent=report.sent)
    return attrs.evolve(report, under_way=True)


async def _go_on(page: PageTarget, allow: Recovery, report: RecoveryReport) -> None:
    started = trio.current_time()
    done, detail, responsive = False, "not in time", False
    ended: RecoveryReport | None = None
    name: Literal["reload", "close"] = "close" if allow == "close" else "reload"
    try:
        with trio.move_on_after(_SLOW_TIMEOUT):
            try:
                detail = await (_close(page) if name == "close" else _reload(page))
                done = True
            except EngineError as error:
                detail = str(error).partition("\n")[0][:200]
        milliseconds = _since(started)
        if name == "reload" and not page.closed:
            responsive = await _probe([page.session], trio.current_time() + _RELOAD_PROBE_TIMEOUT)
        step = RecoveryStep(name, done, detail, milliseconds)
        ended = attrs.evolve(report, steps=(*report.steps, step), responsive=responsive, under_way=False)
        _log(page, ended)
    finally:
        page.running.end_recovery(ended)


async def _reload(page: PageTarget) -> str:
    budget = Budget.start("recovery by reload", _SLOW_TIMEOUT - _RELOAD_PROBE_TIMEOUT)
    with budget.scope():
        url = page.frames.main.url
        if page.navigation.under_way and not page.session.crashed and await _stop_loading(page):
            return "a blocking navigation was stopped; the page was not reloaded"
        if _hung_before(page):  # its process would not accept a command to end
            await go_to(page, _ELSEWHERE, "commit", budget)
            await go_to(page, url, "domcontentloaded", budget)
            return "the page was reloaded in another process"
        before = _list_crashed(page)
        if page.session.crashed or await _crash(page):
            await reload(page, False, "domcontentloaded", budget)
            hit = _list_crashed(page) - before
            return f"crashed with it: {', '.join(sorted(hit))}" if hit else ""
        await go_to(page, _ELSEWHERE, "commit", budget)
        await go_to(page, url, "domcontentloaded", budget)
        return "Chrome refused to end its process, so the page was reloaded through another site"
    raise budget.exceeded()


def _list_crashed(page: PageTarget) -> set[str]:
    """Return the other targets whose renderer crashed, because they shared the process."""
    sessions = page.session.connection.targets.sessions.values()
    return {other.describe() for other in sessions if other.crashed and other.target_id != page.target_id}


async def _crash(page: PageTarget) -> bool:
    """End the page's process. Return False if Chrome refuses, as during a navigation."""
    session = page.session
    for _ in range(2):
        try:
            await session.call("Page.crash")
            await page.wait_for(lambda: session.crashed or None, also_crashed=True)
        except TargetCrashedError:
            return True
        except (RemoteError, ProtocolError):
            await _stop_loading(page)
        else:
            return True
    return False


async def _stop_loading(page: PageTarget) -> bool:
    """Stop the current navigation. Return whether the page then answers."""
    with trio.move_on_after(_STOP_LOADING_TIMEOUT), suppress(RemoteError, ProtocolError):
        await page.session.call("Page.stopLoading")
        await answers(page.session)
        return True
    return False


async def _close(page: PageTarget) -> str:
    root = page.session.connection.root
    while not page.closed:
        with suppress(RemoteError):  # no target with that id: it is closing
            await root.call("Target.closeTarget", targetId=page.target_id)
        with trio.move_on_after(_CLOSE_AGAIN_AFTER):
            await page.changes.wait_for(lambda: page.closed)
    return ""


def _log(page: PageTarget, report: RecoveryReport, *, reported: bool = False) -> None:
    if not report.steps:
        return  # the page answered without any step
    known = reported or report.responsive or report.closed or report.under_way
    logger.log(
        logging.INFO if known else logging.WARNING,
        "recovery of %s: %s",
        page.session.describe(),
        report,
        extra={"target_id": page.target_id, "report": report},
    )


def _since(started: float) -> float:
    return (trio.current_time() - started) * 1000


# --- the watchdog --------------------------------------------------------------------------------------------

_PARTS = 4
"""Pings within `recover_after`, so that a hang is detected early."""

_SHORTEST, _LONGEST = 0.5, 2.0
"""Bounds for the seconds between two pings."""


async def watch_pages(tabs: Tabs, recover_after: float) -> None:
    """Watch all current and future pages. Ends with the connection, or by cancellation."""
    watched: set[str] = set()

    def unwatched() -> list[PageTarget] | None:
        if error := tabs.connection.root.error():
            raise error
        return [page for page in tabs.pages.values() if page.target_id not in watched] or None

    async with trio.open_nursery() as nursery:
        with suppress(ConnectionLostError, SessionGoneError):
            while True:
                for page in await tabs.changes.wait_for(unwatched):
                    watched.add(page.target_id)
                    nursery.start_soon(
                        _watch, page, recover_after, watched, name=f"watch {page.target_id[:8]}"
                    )


async def _watch(page: PageTarget, recover_after: float, watched: set[str]) -> None:
    pause = min(max(recover_after / _PARTS, _SHORTEST), _LONGEST)
    try:
        while not page.closed:
            try:
                await page.running.ready()
                silence = await page.ping.unresponsive_time(pause)
                if silence and page.navigation.under_way:
                    await page.wait_for(lambda: not page.navigation.under_way)
                    page.ping.forget()  # the page was paused and did not hang
                elif silence >= recover_after:
                    report = await recover(page, None, sent=True)
                    if not report.responsive:
                        await trio.sleep(recover_after)  # wait before repeating a failed recovery
                elif not silence:
                    await trio.sleep(pause)
            except TargetCrashedError:
                await page.changes.wait_for(lambda: page.closed or not page.session.crashed)
            except (SessionGoneError, ConnectionLostError):
                await trio.sleep(
                    pause
                )  # the page ended, or only its evaluation session: then a new one follows soon
    finally:
        watched.discard(page.target_id)
