"""Every public method with `timeout`, against a browser that falls silent at each step: the method ends in
time.

Rule: introspection finds the methods, and an answered run finds the steps. From one step on, every session is
silent. The method must end at most `LATE` after its deadline, with an EngineError or successfully.
"""

from __future__ import annotations

from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import Any

import pytest
import trio
from busy_machine import slack
from page_calls import CALLS, PATH, Call, FaultyBrowser, method_of
from trio.testing import MockClock

import cdpengine
from cdpengine.testing import SILENCE, Request, ScriptedPeer

TIMEOUT = 1.0
LATE = 0.15


class SilentBrowser(FaultyBrowser):
    """Answers a number of calls, and then none."""

    def _answer(self, request: Request, answer: Any) -> None:
        super()._answer(request, SILENCE if self.left is not None and self.left <= 1 else answer)


@pytest.fixture
def guard() -> None:
    """The virtual seconds of these tests say nothing about hangs. Rely on pytest-timeout instead."""


WRITING = {"expect_download", "measure.heap_snapshot", "pictures.save_pdf", "measure.trace", "trace_steps"}
"""Methods that write files in threads. A clock that jumps does not wait for threads."""


async def spent(page: cdpengine.Page, name: str, call: Call, path: Path, timeout: float) -> float:
    """Return the delay after the deadline of the method, or of the end of the block that it opens."""
    arguments = [path if argument is PATH else argument for argument in call.arguments]
    started, longest = trio.current_time(), 0.0
    try:
        used = method_of(page, name)(*arguments, **(call.options | {"timeout": timeout}))
        if isinstance(used, AbstractAsyncContextManager):
            async with used:
                longest, started = trio.current_time() - started, trio.current_time()
        else:
            await used
    except cdpengine.errors.EngineError:
        pass
    return max(longest, trio.current_time() - started) - timeout


async def ends_in_time(name: str, path: Path, timeout: float) -> None:
    late = []
    call = CALLS[name]
    for step in range(1, 200):
        async with SilentBrowser() as browser, browser.engine() as engine:
            browser.control = call.kind
            page = await engine.new_page()
            browser.target = page.target_id
            browser.arm(step, lambda *_: SILENCE)
            over = await spent(page, name, call, path, timeout)
            finished, browser.left = browser.left, None
            if over > slack(LATE):
                asked = [request.method for request in browser.received if request.session_id is not None]
                late.append(f"at call {step}, {over:.2f} s late; last were {asked[-3:]}")
            if finished is not None and finished > 0:
                break
    assert not late, "\n".join(late)


@pytest.mark.parametrize("name", sorted(set(CALLS) - WRITING))
async def test_a_method_ends_in_time_at_whichever_step_the_browser_falls_silent(
    name: str, tmp_path: Path, guard: None, autojump_clock: MockClock
) -> None:
    # The clock does not jump while a task polls the page; these methods need little time.
    autojump_clock.rate = 0.5
    await ends_in_time(name, tmp_path / "written", CALLS[name].options.get("timeout") or TIMEOUT)


@pytest.mark.parametrize("name", sorted(WRITING))
async def test_methods_that_write_files_end_in_time(name: str, tmp_path: Path) -> None:
    await ends_in_time(name, tmp_path / "written", 0.2)


@pytest.mark.parametrize(
    "silent", ["Browser.getVersion", "Target.setDiscoverTargets", "Target.setAutoAttach"]
)
async def test_connect_ends_in_time_with_a_silent_browser(silent: str) -> None:
    async with ScriptedPeer("websocket") as peer:
        peer.on("Browser.getVersion", result={"product": "Peer/1", "userAgent": "Peer"})
        peer.on(silent, SILENCE)
        started = trio.current_time()
        with pytest.raises(cdpengine.errors.ConnectFailedError):
            async with cdpengine.connect(peer.endpoint, timeout=0.3):
                raise AssertionError("the block must not be entered")
        assert trio.current_time() - started <= 0.3 + slack(LATE)
