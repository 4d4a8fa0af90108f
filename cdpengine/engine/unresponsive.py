"""What a deadline means on a page that does not answer.

Rule: an action whose time ran out asks once, quickly and shielded, whether the page answers; if it does not, the
error says so. A budget that was spent before it began asks nothing, because nothing was sent.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

import trio

from cdpengine.browser.page_target import PageTarget
from cdpengine.errors import ConnectionLost, DeadlineExceeded, PageUnresponsive, SessionGone
from cdpengine.logs import get_logger

QUICK_PROBE = 0.05
"""Seconds that a page gets to answer after a deadline."""

logger = get_logger("cdpengine.rescue")


@asynccontextmanager
async def told_unresponsive(page: PageTarget) -> AsyncIterator[None]:
    """Turn a DeadlineExceeded of the body into PageUnresponsive where the page does not answer."""
    try:
        yield
    except DeadlineExceeded as late:
        if (told := await unresponsive(page, late)) is None:
            raise
        raise told from late


async def unresponsive(page: PageTarget, late: DeadlineExceeded) -> PageUnresponsive | None:
    """Return what to raise in place of an error that came at a deadline; None where the page does answer."""
    silence = 0.0 if late.timeout == 0 else await _silence(page)
    if not silence:
        return None
    waits = ("the page waits for another document; Chrome holds back what is asked of it until then",)
    steps = (*late.steps, *(waits if page.navigation.under_way else ()))
    logger.debug("%s: no answer for %.2f s at a deadline", page.session.describe(), silence)
    return PageUnresponsive(late.action, late.timeout, steps, silence)


async def _silence(page: PageTarget) -> float:
    silence = 0.0
    # Gone or lost: nobody is there to ask, and that has names of its own.
    with trio.CancelScope(shield=True), suppress(SessionGone, ConnectionLost):
        silence = await page.pulse.silence(QUICK_PROBE)
    return silence
