"""Every public method of a page, with each reply of the browser replaced by a bad one: it raises only
EngineErrors.

Rule: introspection finds the methods, and a run without faults finds the replies, so new methods and calls
are covered automatically. A reply is refused, has another shape or other values, or never comes because the
page closes. After each run no key or button is down.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from page_calls import CALLS, FaultyBrowser, Harm, crash, methods, use
from scripted_browser import quiet
from trio.testing import MockClock

import cdpengine
from cdpengine.testing import SILENCE, Refusal, Request
from cdpengine.testing.peer import Answer

ASKS_NOTHING = {
    "expect_download",
    "expect_popup",
    "expect_worker",
    "scripts.remove_init_scripts",
    "emulation.reset",
    "frame.frame_element",
    "locator.all",
    "locator.count",
    "network.reset",
    "scripts.unexpose",
    "network.unroute",
}
"""Methods that send nothing to the browser here."""


def changed(value: Any) -> Any:
    """The same value with other leaves: empty lists, other numbers, and strings that are not base64 either."""
    if isinstance(value, dict):
        return {name: changed(part) for name, part in value.items()}
    if isinstance(value, bool) or value is None:
        return not value
    return [] if isinstance(value, list) else -1 if isinstance(value, int | float) else "aGk"


def vanish(browser: FaultyBrowser, _request: Request, _answer: Answer) -> Answer:
    browser.vanish(browser.target)
    return SILENCE


def commit(browser: FaultyBrowser, _request: Request, answer: Answer) -> Answer:
    browser.commit(browser.target, "https://elsewhere.example/")
    return Refusal(-32000, "Cannot find context with specified id")


def always(answer: Answer) -> Harm:
    return lambda *_call: answer


HARMS: dict[str, Harm] = {
    "refused": always(Refusal(-32000, "Not now")),
    "empty": always({}),
    "shapeless": always({"result": [], "object": 1, "node": "x", "quads": [[1]]}),
    "changed": lambda _browser, _request, answer: changed(answer),
    "replaced": commit,
    "crashes": crash,
    "vanishes": vanish,
}


@pytest.fixture
def guard() -> None:
    """The virtual seconds of these tests say nothing about hangs. Rely on pytest-timeout instead."""


def test_all_methods_are_covered() -> None:
    assert set(CALLS) == set(methods())


@pytest.mark.parametrize("name", CALLS)
async def test_only_engine_errors_leave(
    name: str, tmp_path: Path, guard: None, autojump_clock: MockClock
) -> None:
    call = CALLS[name]
    steps = 0
    async with FaultyBrowser() as browser, browser.engine() as engine:
        browser.control = call.kind
        page = await engine.new_page()
        for what, harm in HARMS.items():
            for step in range(1, 200):
                if page.closed or page.session.crashed:
                    page = await engine.new_page()
                browser.target = page.target_id
                browser.arm(step, harm)
                autojump_clock.rate = 20  # the clock does not jump while a task polls the page
                try:
                    await use(page, name, call, tmp_path / "written")
                except cdpengine.errors.EngineError:
                    pass
                except BaseException as error:
                    error.add_note(f"{name}: {what} at call {step}")
                    raise
                finally:
                    autojump_clock.rate = 0  # a new page gets enough time on a busy machine, too
                finished, browser.left = browser.left, None
                assert finished is not None
                await quiet()
                assert (page.keyboard.modifiers, page.mouse.buttons) == (0, 0), (what, step)
                if finished > 0:
                    break
                steps += 1
    assert steps or name in ASKS_NOTHING
