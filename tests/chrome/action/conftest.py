"""One page of its own for each of the action floor's tests."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest
from action_stage import Stage, open_stage

from cdpengine.browser.endpoint import resolve_endpoint


@pytest.fixture
async def stage(shared_endpoint: str) -> AsyncIterator[Stage]:
    async with open_stage((await resolve_endpoint(shared_endpoint)).ws_url) as opened:
        yield opened
