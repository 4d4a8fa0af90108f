"""Watchdog: notices a page that has hung by itself, in a timer or a click handler, and recovers it.

Rule: it asks each page from time to time whether it answers, one question at a time. A page that has not answered
for `recover_after` seconds gets the default recovery: its dialog dismissed, its script terminated. It closes no
page.
"""

from __future__ import annotations

from contextlib import suppress

import trio

from cdpengine._evaluate.recovery import recover
from cdpengine._page.page_target import PageTarget
from cdpengine._page.tabs import Tabs
from cdpengine.errors import ConnectionLostError, SessionGoneError, TargetCrashedError

_PARTS = 4
"""Questions in the time that a page may be silent, so that a hang is noticed early in it."""

_SHORTEST, _LONGEST = 0.5, 2.0
"""Bounds for the seconds between two questions."""


async def watch_pages(tabs: Tabs, recover_after: float) -> None:
    """Watch every page there is and will be. Ends with the connection, or when it is cancelled."""
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
                await page.ready()
                silence = await page.pulse.silence(pause)
                if silence and page.navigation.under_way:
                    await page.wait_for(lambda: not page.navigation.under_way)
                    page.pulse.forget()  # it was held back, and did not hang
                elif silence >= recover_after:
                    report = await recover(page, None, sent=True)
                    if not report.responsive:
                        await trio.sleep(recover_after)  # what did not help is not repeated at once
                elif not silence:
                    await trio.sleep(pause)
            except TargetCrashedError:
                await page.changes.wait_for(lambda: page.closed or not page.session.crashed)
            except (SessionGoneError, ConnectionLostError):
                await trio.sleep(
                    pause
                )  # the page's end, or only its evaluation session's: then there is a new one soon
    finally:
        watched.discard(page.target_id)
