"""Every public method of a page, with each reply of the browser in turn gone wrong: nothing but EngineErrors leaves.

Rule: the methods come from introspection and the replies from what a run without faults is answered, so neither a new
method nor a new call can be left out. A reply is refused, of another shape, of other values, or does not come because the
page ends. After each run nothing is held down.
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
    "scripts.remove_init_scripts",
    "emulation.reset",
    "network.reset",
    "scripts.unexpose",
    "network.unroute",
}
"""Methods that have nothing to ask of the browser here."""


def changed(value: Any) -> Any:
    """The same value with other leaves: empty lists, other numbers, and texts that are no base64 either."""
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
    """Seconds of the clock of these tests are no measure of whether one hangs; pytest-timeout's are."""


def test_no_method_is_left_out() -> None:
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
                autojump_clock.rate = (
                    20  # it does not jump while something waits for the page again and again
                )
                try:
                    await use(page, name, call, tmp_path / "written")
                except cdpengine.EngineError:
                    pass
                except BaseException as error:
                    error.add_note(f"{name}: {what} at call {step}")
                    raise
                finally:
                    autojump_clock.rate = 0  # a new page has its time on a busy machine, too
                finished, browser.left = browser.left, None
                assert finished is not None
                await quiet()
                assert (page.keyboard.modifiers, page.mouse.buttons) == (0, 0), (what, step)
                if finished > 0:
                    break
                steps += 1
    assert steps or name in ASKS_NOTHING
