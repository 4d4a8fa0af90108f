"""Methods of browsers and contexts that take `timeout`, with a browser that stops to answer at each step.

Rule: as for those of pages: from one step on nothing is answered any more, and the method ends in time all the same.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager
from typing import Any

import pytest
import trio
from page_calls import FaultyBrowser
from trio.testing import MockClock

import cdpengine
from cdpengine.testing import SILENCE, Request

TIMEOUT = 1.0
LATE = 0.15

COOKIE = cdpengine.Cookie(name="a", value="b", domain="a.example", path="/")
STATE = cdpengine.StorageState((COOKIE,), ())

Used = Awaitable[Any] | AbstractAsyncContextManager[Any]

CALLS: dict[str, Callable[[cdpengine.Browser, cdpengine.BrowserContext], Used]] = {
    "browser.new_page": lambda browser, _: browser.new_page(timeout=TIMEOUT),
    "browser.new_context": lambda browser, _: browser.new_context(timeout=TIMEOUT),
    "browser.new_context with a state": lambda browser, _: browser.new_context(
        storage_state=STATE, timeout=TIMEOUT
    ),
    "context.new_page": lambda _, context: context.new_page(timeout=TIMEOUT),
    "context.cookies": lambda _, context: context.cookies(timeout=TIMEOUT),
    "context.set_cookies": lambda _, context: context.set_cookies([COOKIE], timeout=TIMEOUT),
    "context.clear_cookies": lambda _, context: context.clear_cookies(timeout=TIMEOUT),
    "context.delete_cookies": lambda _, context: context.delete_cookies(name="a", timeout=TIMEOUT),
    "context.storage_state": lambda _, context: context.storage_state(timeout=TIMEOUT),
    "context.restore_storage_state": lambda _, context: context.restore_storage_state(STATE, timeout=TIMEOUT),
    "context.grant_permissions": lambda _, context: context.grant_permissions("geolocation", timeout=TIMEOUT),
    "context.reset_permissions": lambda _, context: context.reset_permissions(timeout=TIMEOUT),
    "context.emulate": lambda _, context: context.emulate(timezone="Europe/Berlin", timeout=TIMEOUT),
    "context.reset_emulation": lambda _, context: context.reset_emulation(timeout=TIMEOUT),
}


class SilentBrowser(FaultyBrowser):
    """Answers so many calls, and then none."""

    def _answer(self, request: Request, answer: Any) -> None:
        super()._answer(request, SILENCE if self.left is not None and self.left <= 1 else answer)


@pytest.fixture
def guard() -> None:
    """Seconds of the clock of these tests are no measure of whether one hangs; pytest-timeout's are."""


@pytest.mark.parametrize("name", CALLS)
async def test_a_method_ends_in_time_wherever_the_browser_stops_to_answer(
    name: str, guard: None, autojump_clock: MockClock
) -> None:
    late = []
    for step in range(1, 100):
        async with SilentBrowser() as scripted:
            scripted.on("Storage.getCookies", result={"cookies": []})
            async with scripted.engine() as browser, browser.new_context() as context:
                await context.new_page()
                scripted.arm(step, lambda *_: SILENCE)
                started = trio.current_time()
                try:
                    used = CALLS[name](browser, context)
                    if isinstance(used, AbstractAsyncContextManager):
                        await used.__aenter__()
                        started = trio.current_time()
                        scripted.left = 10_000
                        await used.__aexit__(None, None, None)
                    else:
                        await used
                except cdpengine.EngineError:
                    pass
                over = trio.current_time() - started - TIMEOUT
                finished, scripted.left = scripted.left, None
                if over > LATE:
                    late.append(f"at call {step}, {over:.2f} s late; {scripted.received[-1].method}")
        if finished is not None and finished > 0:
            break
    assert step > 1 or "emulat" in name  # pages that do not answer hold up no emulation
    assert not late, "\n".join(late)
