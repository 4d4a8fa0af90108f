"""The fixtures `browser`, `context` and `page`.

Rule: each test has a connection and a context of its own. The browser process is shared by the tests of a worker.
The fixtures work with the runners of pytest-trio and of anyio's plugin, on trio.

If pytest-playwright is active, its fixtures of these names stay in use. A conftest.py imports these for its
folder: `from cdpengine.testing.pytest_plugin.pages import browser, context, page`.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from cdpengine import Browser, BrowserContext, Page


@pytest.fixture
async def browser(
    request: pytest.FixtureRequest, cdpengine_endpoint: str, launch_options: Mapping[str, Any]
) -> AsyncIterator[Browser]:
    """Provide a connection of the test's own to the worker's browser. Its pages and contexts end with the test."""
    from cdpengine.testing.pytest_plugin.attempt import attempt_of
    from cdpengine.testing.pytest_plugin.shared_browser import check_trio, connect

    check_trio()
    async with (
        connect(cdpengine_endpoint, launch_options) as browser,
        attempt_of(request.node).record(browser),
    ):
        yield browser


@pytest.fixture
async def context(
    request: pytest.FixtureRequest, browser: Browser, context_options: Mapping[str, Any]
) -> AsyncIterator[BrowserContext]:
    """Provide an isolated context, with `context_options`."""
    from cdpengine.testing.pytest_plugin.attempt import attempt_of

    async with browser.new_context(**context_options) as context, attempt_of(request.node).follow(context):
        yield context


@pytest.fixture
async def page(context: BrowserContext) -> Page:
    """Provide a blank page of `context`."""
    return await context.new_page()
