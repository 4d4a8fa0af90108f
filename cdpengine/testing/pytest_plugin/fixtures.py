"""Fixtures: the options of browsers and contexts, the worker's browser, recorded browsers, and a scripted peer.

Rule: nothing but pytest is imported before a test uses a fixture.
"""

from __future__ import annotations

import os
import re
from collections.abc import AsyncIterator, Iterator, Mapping
from typing import TYPE_CHECKING, Any

import pytest

from cdpengine.testing.pytest_plugin import options
from cdpengine.testing.pytest_plugin.options import RECORD_ANEW

if TYPE_CHECKING:
    from cdpengine import Browser
    from cdpengine._protocol.session import Connection
    from cdpengine.testing.peer import ScriptedPeer
    from cdpengine.testing.pytest_plugin.shared_browser import SharedBrowsers


# --- options of `browser`, `context` and `page` ------------------------------------------------------------------


@pytest.fixture(scope="session")
def launch_options(pytestconfig: pytest.Config) -> dict[str, Any]:
    """Provide the options of `cdpengine.launch` for `browser`. Override it to change them.

    Tests with different options have different browsers.
    """
    made: dict[str, Any] = {}
    if options.has_flag(pytestconfig, "--headed"):
        made["headless"] = False
    if (path := options.text(pytestconfig, "--browser-path")) is not None:
        made["executable"] = path
    if pause := options.seconds(pytestconfig, "--slow-mo"):
        made["slow_mo"] = pause
    return made


@pytest.fixture(scope="session")
def context_options(pytestconfig: pytest.Config) -> dict[str, Any]:
    """Provide the options of `browser.new_context` for `context`. Override it to change them.

    `activity` keeps the console and the requests for the artifacts of a failure.
    """
    made: dict[str, Any] = {"activity": True}
    if (device := options.text(pytestconfig, "--device")) is not None:
        made["device"] = device
    if (base_url := options.text(pytestconfig, "--base-url")) is not None:
        made["base_url"] = base_url
    return made


@pytest.fixture(scope="session")
def cdpengine_browsers() -> Iterator[SharedBrowsers]:
    """Provide the browser processes of this worker. They end with the session."""
    from cdpengine.testing.pytest_plugin.shared_browser import SharedBrowsers

    browsers = SharedBrowsers()
    yield browsers
    browsers.close()


@pytest.fixture
def cdpengine_endpoint(
    request: pytest.FixtureRequest, cdpengine_browsers: SharedBrowsers, launch_options: Mapping[str, Any]
) -> str:
    """Provide the endpoint of a running browser with the test's `launch_options`.

    Skips the test if its marker `browser_version` excludes the browser.
    """
    from cdpengine.testing.pytest_plugin.versions import skip_other_versions

    shared = cdpengine_browsers.get(launch_options)
    if request.node.get_closest_marker("browser_version") is not None:
        skip_other_versions(request.node, shared.version())
    return shared.endpoint


# --- a scripted peer ---------------------------------------------------------------------------------------------


@pytest.fixture
async def cdp_peer() -> AsyncIterator[ScriptedPeer]:
    """Provide a running scripted peer over a websocket; `cdp_peer.endpoint` is its URL."""
    from cdpengine.testing.peer import ScriptedPeer

    async with ScriptedPeer() as peer:
        yield peer


@pytest.fixture
async def cdp_connection(cdp_peer: ScriptedPeer) -> AsyncIterator[Connection]:
    """Provide a connection of the engine to `cdp_peer`."""
    async with cdp_peer.connect() as connection:
        yield connection


# --- recorded browsers -------------------------------------------------------------------------------------------


@pytest.fixture
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
    anew = options.has_flag(request.config, "--record-traffic") or setting == "1"
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
