"""Expired actions: report an unresponsive page as the reason of a missed deadline.

Rule: the page is the reason only if a query from before the deadline is still open, because a machine may be busy
for a moment.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

import trio

from cdpengine._logs import get_logger
from cdpengine._page.page_target import PageTarget
from cdpengine._page.running_actions import KNOWN_UNRESPONSIVE, QUICK_PROBE
from cdpengine.errors import (
    ConnectionLostError,
    DeadlineExceededError,
    PageUnresponsiveError,
    SessionGoneError,
)

logger = get_logger("cdpengine.recovery")


@asynccontextmanager
async def explain_deadline(page: PageTarget, deadline: float) -> AsyncIterator[None]:
    """Turn a DeadlineExceededError of the body into PageUnresponsiveError if the page did not answer.

    `deadline` is the body's deadline on trio's clock.
    """
    try:
        with page.running.ask_before(deadline):
            yield
    except DeadlineExceededError as late:
        if (explained := await find_unresponsive(page, late)) is None:
            raise
        raise explained from late


async def find_unresponsive(page: PageTarget, late: DeadlineExceededError) -> PageUnresponsiveError | None:
    """Return the PageUnresponsiveError for an expired action, or None if no long silence is known."""
    silence = 0.0 if late.timeout == 0 else await _measure_unresponsive(page)
    if not silence:
        return None
    waits = (
        "the page waits for another document; until it arrives, Chrome delays all commands. "
        'page.goto(), or page.recover(allow="reload"), stops that navigation'
    )
    steps = (*late.steps, waits) if page.navigation.under_way else late.steps
    logger.debug("%s: no answer for %.2f s at a deadline", page.session.describe(), silence)
    return PageUnresponsiveError(late.action, late.timeout, steps, silence)


async def _measure_unresponsive(page: PageTarget) -> float:
    silence = 0.0
    # A page that is gone or lost has other errors.
    with trio.CancelScope(shield=True), suppress(SessionGoneError, ConnectionLostError):
        if page.ping.owed_for() + QUICK_PROBE < KNOWN_UNRESPONSIVE:
            page.ping.ask()  # for the next action
        else:
            silence = await page.ping.unresponsive_time(QUICK_PROBE)
    return silence if silence >= KNOWN_UNRESPONSIVE else 0.0
