"""Pools of each kind for tests: launched browsers, a local stand-in for a service, and browserless."""

from __future__ import annotations

import os
import signal
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
import trio
from private_browsers import TOKEN, private_browsers, run_browserless

import cdpengine
from cdpengine.pool import BrowserPool, LaunchedBrowsers, RemoteBrowsers

KINDS = [
    "launched",
    pytest.param("private", marks=pytest.mark.slow),
    pytest.param("browserless", marks=[pytest.mark.peers, pytest.mark.slow]),
]
"""The code treats connections to a service like launched browsers, so a normal run tests them only in
test_pool_replacing.py.
"""


@asynccontextmanager
async def members_of(
    kind: str, folder: Path, *, browsers: int = 2
) -> AsyncIterator[LaunchedBrowsers | RemoteBrowsers]:
    """Yield the members of a pool of that kind."""
    if kind == "launched":
        yield LaunchedBrowsers(browsers)
    elif kind == "private":
        async with private_browsers() as service:
            yield RemoteBrowsers(f"ws://127.0.0.1:{service.port}?token={TOKEN}", connections=browsers)
    else:
        async with run_browserless(folder) as port:
            yield RemoteBrowsers(f"ws://127.0.0.1:{port}/chromium?token={TOKEN}", connections=browsers)


async def process_of(page: cdpengine.Page) -> int:
    """Return the process id of a page's browser."""
    answer = await page.browser.session.call("SystemInfo.getProcessInfo")
    return next(int(each["id"]) for each in answer["processInfo"] if each["type"] == "browser")


async def kill_browser(page: cdpengine.Page, with_signal: int = signal.SIGKILL) -> None:
    """Send a signal to the browser of a page."""
    os.kill(await process_of(page), with_signal)


async def wait_until(condition: Callable[[], bool]) -> None:
    """Wait until the condition holds. Polls, because a pool publishes its counts without events."""
    with trio.fail_after(30):
        while not condition():  # noqa: ASYNC110
            await trio.sleep(0.01)


async def wait_until_ready(pool: BrowserPool, browsers: int) -> None:
    """Wait until this many browsers of a pool are ready."""
    await wait_until(lambda: sum(each.stage == "ready" for each in pool.statistics().browsers) >= browsers)


async def wait_until_idle(pool: BrowserPool) -> None:
    """Wait until no page of a pool is leased."""
    await wait_until(lambda: not any(browser.leases for browser in pool.statistics().browsers))
