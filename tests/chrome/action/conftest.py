"""A page for the action layer's own tests: a window a file; a new document, session and emulation a test."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest
from action_stage import Stage, open_stage
from kept_window import Window

import cdpengine


@pytest.fixture
async def stage(window: Window) -> AsyncIterator[Stage]:
    async with open_stage(window) as opened:
        yield opened


@pytest.fixture
def page(kept_page: cdpengine.Page) -> cdpengine.Page:
    return kept_page
