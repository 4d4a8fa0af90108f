"""Fixtures for pytest with pytest-trio. Nothing is registered by itself.

In a conftest.py: `pytest_plugins = ["cdpengine.testing.pytest_plugin"]`.
"""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest_trio  # type: ignore[import-untyped]

from cdpengine.session.connection import Connection
from cdpengine.testing.peer import ScriptedPeer


@pytest_trio.trio_fixture  # type: ignore[untyped-decorator]
async def cdp_peer() -> AsyncIterator[ScriptedPeer]:
    """Give the test a running scripted peer over a websocket; `cdp_peer.endpoint` is its URL."""
    async with ScriptedPeer() as peer:
        yield peer


@pytest_trio.trio_fixture  # type: ignore[untyped-decorator]
async def cdp_connection(cdp_peer: ScriptedPeer) -> AsyncIterator[Connection]:
    """Give the test a connection of the engine to `cdp_peer`."""
    async with cdp_peer.connect() as connection:
        yield connection
