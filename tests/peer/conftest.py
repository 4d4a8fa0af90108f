"""A scripted peer and a connection to it, over a websocket and over pipes; and the engine on a scripted
browser.
"""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest
import trio
from scripted_browser import ScriptedBrowser
from scripting import Kind, settled

import cdpengine
from cdpengine._protocol.session import Connection, Session
from cdpengine.testing import ScriptedPeer

GUARD = 60
"""Seconds after which a hung test is ended. Every test is far faster."""


def waiting_tasks() -> str:
    """Return where each task of the run waits, so that a log is enough to explain a rare hang."""
    lines: list[str] = []
    root = trio.lowlevel.current_root_task()
    waiting = [root] if root is not None else []
    while waiting:
        task = waiting.pop()
        waiting.extend(child for nursery in task.child_nurseries for child in nursery.child_tasks)
        stack = [f"{frame.f_code.co_filename}:{line}" for frame, line in task.iter_await_frames()]
        lines.append(f"{task.name}: {' > '.join(stack[-12:])}")
    return "\n".join(lines)


@pytest.fixture(autouse=True)
async def guard() -> AsyncIterator[None]:
    async def fail() -> None:
        await trio.sleep(GUARD)
        raise trio.TooSlowError(
            f"the test did not end within {GUARD} s; its tasks wait here:\n{waiting_tasks()}"
        )

    async with trio.open_nursery() as nursery:
        nursery.start_soon(fail)
        yield
        nursery.cancel_scope.cancel()


@pytest.fixture(params=["websocket", "pipe"])
def kind(request: pytest.FixtureRequest) -> Kind:
    chosen: Kind = request.param
    return chosen


@pytest.fixture
async def peer(kind: Kind, guard: None) -> AsyncIterator[ScriptedPeer]:
    async with ScriptedPeer(kind) as peer:
        yield peer


@pytest.fixture
async def connection(peer: ScriptedPeer) -> AsyncIterator[Connection]:
    async with peer.connect() as connection:
        yield connection
        if connection.lost is None:
            # No test may leave entries in the tables.
            await settled(connection)
            statistics = connection.statistics()
            assert (statistics.in_flight, statistics.queued) == (0, 0)


@pytest.fixture
def root(connection: Connection) -> Session:
    return connection.root


@pytest.fixture
async def scripted(guard: None) -> AsyncIterator[ScriptedBrowser]:
    async with ScriptedBrowser() as peer:
        yield peer


@pytest.fixture
async def browser(scripted: ScriptedBrowser) -> AsyncIterator[cdpengine.Browser]:
    async with scripted.engine() as browser:
        yield browser


@pytest.fixture
async def page(browser: cdpengine.Browser) -> cdpengine.Page:
    return await browser.new_page()
