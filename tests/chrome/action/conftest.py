"""A page for the action layer's own tests: a window a file; a new document, session and emulation a test."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest
from action_stage import Stage, open_stage
from kept_window import Window


@pytest.fixture
async def stage(open_window: Window) -> AsyncIterator[Stage]:
    async with open_stage(open_window) as opened:
        yield opened
