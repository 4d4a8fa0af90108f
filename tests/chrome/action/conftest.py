"""A page for tests of the action layer. The tests of a file share a window; each test gets a new document,
session and emulation.
"""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest
from action_stage import Stage, open_stage
from kept_window import Window


@pytest.fixture
async def stage(open_window: Window) -> AsyncIterator[Stage]:
    async with open_stage(open_window) as opened:
        yield opened
