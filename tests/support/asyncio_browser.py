"""A scripted browser for programs of asyncio."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

from scripted_browser import ScriptedBrowser

import cdpengine
from cdpengine.asyncio import AsyncioBrowser
from cdpengine.asyncio.facades import AsyncioBlock
from cdpengine.asyncio.guest_run import GuestRun, join_run

GUARD = 80
"""Default time limit of a program, in seconds."""


@asynccontextmanager
async def open_scripted(scripted: ScriptedBrowser) -> AsyncIterator[cdpengine.Browser]:
    async with scripted, scripted.engine() as browser:
        yield browser


@asynccontextmanager
async def scripted_for_asyncio(scripted: ScriptedBrowser | None = None) -> AsyncIterator[AsyncioBrowser]:
    """Yield a scripted browser for the running loop."""
    run = await join_run()
    try:
        async with AsyncioBlock(open_scripted(scripted or ScriptedBrowser()), run) as browser:
            yield browser
    finally:
        await run.leave()


def run_of(browser: AsyncioBrowser) -> GuestRun:
    run = browser.guest_run  # type: ignore[attr-defined]
    assert isinstance(run, GuestRun)
    return run


def run_program(main: Callable[[], Awaitable[None]], limit: float = GUARD) -> None:
    """Run a program with a time limit in seconds."""

    async def limited() -> None:
        async with asyncio.timeout(limit):
            await main()

    asyncio.run(limited())
