"""What a deadline means on a page that does not answer.

Rule: the page is asked whether it is there some time before the deadline. An action whose time ran out says that
it does not answer only where that question is still open: a machine that is busy for a moment is no reason. A
budget that was spent before it began asks nothing, because nothing was sent.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

import trio

from cdpengine._logs import get_logger
from cdpengine._page.navigation.liveness import KNOWN_SILENCE, QUICK_PROBE
from cdpengine._page.page_target import PageTarget
from cdpengine.errors import (
    ConnectionLostError,
    DeadlineExceededError,
    PageUnresponsiveError,
    SessionGoneError,
)

logger = get_logger("cdpengine.recovery")


@asynccontextmanager
async def told_unresponsive(page: PageTarget, deadline: float) -> AsyncIterator[None]:
    """Turn a DeadlineExceededError of the body into PageUnresponsiveError where the page did not answer.

    `deadline` is that of the body, on trio's clock.
    """
    try:
        with page.early_questions.before(deadline):
            yield
    except DeadlineExceededError as late:
        if (told := await unresponsive(page, late)) is None:
            raise
        raise told from late


async def unresponsive(page: PageTarget, late: DeadlineExceededError) -> PageUnresponsiveError | None:
    """Return what to raise in place of an error that came at a deadline; None where no long silence is known."""
    silence = 0.0 if late.timeout == 0 else await _silence(page)
    if not silence:
        return None
    waits = ("the page waits for another document; Chrome holds back what is asked of it until then",)
    steps = (*late.steps, *(waits if page.navigation.under_way else ()))
    logger.debug("%s: no answer for %.2f s at a deadline", page.session.describe(), silence)
    return PageUnresponsiveError(late.action, late.timeout, steps, silence)


async def _silence(page: PageTarget) -> float:
    silence = 0.0
    # Gone or lost: nobody is there to ask, and that has names of its own.
    with trio.CancelScope(shield=True), suppress(SessionGoneError, ConnectionLostError):
        if page.pulse.owed_for() + QUICK_PROBE < KNOWN_SILENCE:
            page.pulse.ask()  # so the next action knows more
        else:
            silence = await page.pulse.silence(QUICK_PROBE)
    return silence if silence >= KNOWN_SILENCE else 0.0
