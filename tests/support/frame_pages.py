"""Pages with frames: waiting until all of their documents have loaded."""

from __future__ import annotations

import trio

import cdpengine


async def settled_frames(page: cdpengine.Page, count: int) -> None:
    """Wait until the page has `count` frames and has settled."""
    with trio.fail_after(20):
        while len(page.frames) < count:
            await page.settled(quiet=0.02, timeout=15)
        await page.settled(quiet=0.02, timeout=15)
