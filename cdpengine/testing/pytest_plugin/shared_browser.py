"""The browser processes of a worker, and the connections of its tests.

Rule: runners start a trio run for each test, so the process is held by a thread with a run of its own. Only the
process is shared: a second engine on the same pages would answer their dialogs.
"""

from __future__ import annotations

import json
import queue
import socket
import threading
import urllib.request
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import attrs
import pytest
import trio

import cdpengine
from cdpengine._launch.find import find_browser
from cdpengine._launch.process import BrowserProcess, LaunchOptions, start_browser
from cdpengine.errors import LaunchFailedError

if TYPE_CHECKING:
    from cdpengine import Browser

_OF_PROCESS = {
    "executable", "headless", "args", "user_data_dir", "transport", "debugging_port", "env",
    "computed_accessibility",
}  # fmt: skip
_OF_CONNECTION = {"recover_after", "evaluate_enabled", "viewport", "activity", "slow_mo"}
_SECONDS = 30.0
"""Timeout of a start and of a connection, in seconds, unless the options have a timeout."""


def check_trio() -> None:
    """Fail a test that runs on another event loop."""
    if not trio.lowlevel.in_trio_task():
        pytest.fail(
            "the fixtures of cdpengine need trio: define a fixture anyio_backend that returns 'trio'",
            pytrace=False,
        )


@asynccontextmanager
async def connect(endpoint: str, options: Mapping[str, Any]) -> AsyncIterator[Browser]:
    """Connect to a shared browser. The end of the block closes the pages that the block opened."""
    chosen = {name: value for name, value in options.items() if name in _OF_CONNECTION}
    async with cdpengine.connect(endpoint, timeout=options.get("timeout", _SECONDS), **chosen) as browser:
        before = {page.target_id for page in browser.pages}
        try:
            yield browser
        finally:
            with trio.move_on_after(2, shield=True):
                await _close_pages(browser, before)


async def _close_pages(browser: Browser, kept: set[str]) -> None:
    for page in browser.pages:
        if page.target_id not in kept:
            try:
                await page.close(timeout=1)
            except cdpengine.errors.EngineError:
                continue  # the browser has crashed, or the page with it


@attrs.define(eq=False)
class SharedBrowser:
    """A browser process, held by a thread."""

    endpoint: str
    _thread: threading.Thread
    _stop: Callable[[], None]

    def responds(self) -> bool:
        """Return whether the process accepts connections. It notices a crash before the thread does."""
        parts = urlsplit(self.endpoint)
        try:
            socket.create_connection((parts.hostname, parts.port or 80), timeout=_SECONDS).close()
        except OSError:
            return False
        return True

    def version(self) -> str:
        """Return the version of the browser, such as "140.0.7339.80"."""
        address = f"http://{urlsplit(self.endpoint).netloc}/json/version"
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        with opener.open(address, timeout=_SECONDS) as response:
            product: str = json.load(response)["Browser"]
        return product.rpartition("/")[2]

    def close(self) -> None:
        """End the process."""
        with suppress(trio.RunFinishedError):
            self._stop()
        self._thread.join(_SECONDS)


@attrs.define(eq=False)
class SharedBrowsers:
    """The browsers of a worker: one for each set of options of the process."""

    _started: dict[str, SharedBrowser] = attrs.field(factory=dict, init=False)

    def get(self, options: Mapping[str, Any]) -> SharedBrowser:
        """Return a running browser with these options of `cdpengine.launch`; start one if necessary.

        A browser that has ended is replaced. Raises UsageError for an unknown option, and LaunchFailedError.
        """
        if unknown := options.keys() - _OF_PROCESS - _OF_CONNECTION - {"timeout"}:
            raise pytest.UsageError(f"launch_options: unknown options {', '.join(sorted(unknown))}")
        own = {name: value for name, value in options.items() if name in _OF_PROCESS}
        key = repr(sorted(own.items()))
        known = self._started.get(key)
        if known is None or not known.responds():
            known = self._started[key] = _start(own, options.get("timeout", _SECONDS))
        return known

    def close(self) -> None:
        """End all browsers."""
        for each in self._started.values():
            each.close()


def _start(options: Mapping[str, Any], timeout: float) -> SharedBrowser:
    """Start a browser in a new thread. It opens a port, because each test connects to it."""
    made: queue.SimpleQueue[tuple[BrowserProcess, Callable[[], None]] | BaseException] = queue.SimpleQueue()
    executable = find_browser(options.get("executable")).path
    port = options.get("debugging_port")
    profile = options.get("user_data_dir")
    chosen = LaunchOptions(
        executable,
        options.get("headless", True),
        tuple(options.get("args", ())),
        user_data_dir=None if profile is None else Path(profile),
        env=options.get("env"),
        debugging_port=0 if port is None else port,
        computed_accessibility=options.get("computed_accessibility", True),
    )

    async def hold() -> None:
        with trio.fail_after(timeout) as starting:
            async with start_browser(chosen) as process, trio.open_nursery() as nursery:
                starting.deadline = float("inf")
                token = trio.lowlevel.current_trio_token()
                stop = nursery.cancel_scope.cancel
                made.put((process, lambda: token.run_sync_soon(stop)))
                await process.wait()

    def run() -> None:
        try:
            trio.run(hold)
        except trio.TooSlowError:
            made.put(
                LaunchFailedError(executable=str(executable), reason=f"it was not ready within {timeout:g} s")
            )
        except BaseException as error:  # noqa: BLE001 - the test's thread raises it
            made.put(error)

    thread = threading.Thread(target=run, name="cdpengine: shared browser", daemon=True)
    thread.start()
    started = made.get(timeout=timeout + _SECONDS)
    if isinstance(started, BaseException):
        raise started
    process, stop = started
    assert process.endpoint is not None, "a browser with a port reports its address"
    return SharedBrowser(process.endpoint, thread, stop)
