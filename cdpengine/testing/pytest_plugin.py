"""Fixtures for pytest with pytest-trio. They are not registered automatically.

Add to a conftest.py: `pytest_plugins = ["cdpengine.testing.pytest_plugin"]`. Coroutine tests run if pytest.ini
contains `trio_mode = true`, or if they are marked with `@pytest.mark.trio`.
"""

from __future__ import annotations

import os
import re
from collections.abc import AsyncIterator
from typing import TYPE_CHECKING

import pytest
import pytest_trio  # type: ignore[import-untyped]

from cdpengine._protocol.session import Connection
from cdpengine.testing.peer import ScriptedPeer

if TYPE_CHECKING:
    from cdpengine import Browser

RECORD_ANEW = "CDPENGINE_TEST_RECORD"
UPDATE_SNAPSHOTS = "CDPENGINE_UPDATE_SNAPSHOTS"


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add --record-traffic and --update-snapshots."""
    parser.addoption(
        "--record-traffic",
        action="store_true",
        default=False,
        help=f"record the tests of `recorded_browser` again, with a browser (like {RECORD_ANEW}=1)",
    )
    parser.addoption(
        "--update-snapshots",
        action="store_true",
        default=False,
        help=f"write the templates of `to_match_snapshot` that do not match (like {UPDATE_SNAPSHOTS}=1)",
    )


def pytest_configure(config: pytest.Config) -> None:
    """Register the marker of `recorded_browser`, and apply --update-snapshots to this process and its workers."""
    if config.getoption("--update-snapshots", default=False):
        os.environ[UPDATE_SNAPSHOTS] = "1"
    config.addinivalue_line(
        "markers", "cassette(keep_arguments=False): how the cassette of `recorded_browser` is recorded"
    )


@pytest_trio.trio_fixture  # type: ignore[untyped-decorator]
async def cdp_peer() -> AsyncIterator[ScriptedPeer]:
    """Provide a running scripted peer over a websocket; `cdp_peer.endpoint` is its URL."""
    async with ScriptedPeer() as peer:
        yield peer


@pytest_trio.trio_fixture  # type: ignore[untyped-decorator]
async def cdp_connection(cdp_peer: ScriptedPeer) -> AsyncIterator[Connection]:
    """Provide a connection of the engine to `cdp_peer`."""
    async with cdp_peer.connect() as connection:
        yield connection


@pytest_trio.trio_fixture  # type: ignore[untyped-decorator]
async def recorded_browser(request: pytest.FixtureRequest) -> AsyncIterator[Browser]:
    """Provide a browser whose traffic is recorded once, and replayed afterwards without a browser.

    The recording is `cassettes/<module>.<test>.jsonl.zst` in the folder of the test's file, with secrets redacted.
    A missing one is recorded. --record-traffic or CDPENGINE_TEST_RECORD=1 records it again. With
    CDPENGINE_TEST_RECORD=0 a missing one fails the test (for continuous integration). A test that makes other
    calls than recorded, or enters other text, fails with ReplayDivergedError, which reports the difference.

    Arguments and results of the test's scripts (`page.evaluate`) are withheld from the recording, and a replay
    that needs such a result fails. `@pytest.mark.cassette(keep_arguments=True)` keeps them, for evaluating tests
    without secrets in these strings.
    """
    import cdpengine
    from cdpengine.debug import cassette

    folder = request.path.parent / "cassettes"
    folder.mkdir(exist_ok=True)
    name = re.sub(r"[^\w.-]+", "_", request.node.name)
    setting = os.environ.get(RECORD_ANEW, "")
    anew = request.config.getoption("--record-traffic", default=False) or setting == "1"
    record = True if anew else (False if setting == "0" else None)
    path = folder / f"{request.path.stem}.{name}.jsonl.zst"
    keep_arguments = _keeps_arguments(request.node)
    async with (
        cassette(path, record=record, keep_arguments=keep_arguments) as taped,
        cdpengine.connect(taped.endpoint) as browser,
    ):
        yield browser


def _keeps_arguments(node: pytest.Item) -> bool:
    """Return the value of the "cassette" marker of a test, its class or its module."""
    marker = node.get_closest_marker("cassette")
    if marker is None:
        return False
    keep = marker.kwargs.get("keep_arguments", False)
    if marker.args or marker.kwargs.keys() - {"keep_arguments"} or not isinstance(keep, bool):
        raise pytest.UsageError(
            f"{node.nodeid}: got the marker {_spell(marker)}, expected cassette(keep_arguments=True) or False"
        )
    return keep


def _spell(marker: pytest.Mark) -> str:
    arguments = [repr(each) for each in marker.args] + [
        f"{key}={value!r}" for key, value in marker.kwargs.items()
    ]
    return f"{marker.name}({', '.join(arguments)})"
