"""A page for the action floor's own tests: a window a file; a new document, session and emulation a test."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator

import pytest
import trio
from action_stage import Stage, Window, close_window, open_stage, open_window

import cdpengine
from cdpengine.browser.endpoint import resolve_endpoint


@pytest.fixture(scope="module")
def window(shared_endpoint: str) -> Iterator[Window]:
    window = trio.run(open_window, trio.run(resolve_endpoint, shared_endpoint).ws_url)
    yield window
    trio.run(close_window, window)


@pytest.fixture
async def stage(window: Window) -> AsyncIterator[Stage]:
    async with open_stage(window) as opened:
        yield opened


@pytest.fixture
async def page(browser: cdpengine.Browser, window: Window) -> cdpengine.Page:
    """The window's page, at an empty document."""
    page = await browser.wait_for_page(where=lambda page: page.target_id == window.target_id)
    await page.goto("about:blank")
    return page
