"""Actions whose event handlers hang forever. Each action ends in time and reports the hang."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

import pytest
import trio

import cdpengine

TIMEOUT = 0.5
LATE = 0.15

Act = Callable[[cdpengine.Page, Any], Awaitable[object]]

ACTIONS: dict[str, tuple[Act, tuple[str, ...]]] = {
    "click": (lambda page, field: page.click(field, timeout=TIMEOUT), ("mousedown",)),
    "hover": (lambda page, field: page.hover(field, timeout=TIMEOUT), ("mouseover",)),
    "press": (lambda page, field: page.press("a", field, timeout=TIMEOUT), ("keydown",)),
    "type": (lambda page, field: page.type(field, "ab", timeout=TIMEOUT), ("input",)),
    "fill": (lambda page, field: page.fill(field, "ab", timeout=TIMEOUT), ("focus", "input")),
}


@pytest.mark.sample(6)
@pytest.mark.parametrize(
    ("name", "event"), [(name, event) for name, (_, events) in ACTIONS.items() for event in events]
)
async def test_an_action_whose_handler_hangs_ends_in_time(
    page: cdpengine.Page, name: str, event: str
) -> None:
    act, _ = ACTIONS[name]
    late = []
    for _ in range(2):  # the machine may be busy for a moment
        await page.set_content("<input id=field>")
        await page.evaluate(
            "(event) => field.addEventListener(event, () => { field.title = 'hangs'; for (;;); })", event
        )
        field = await page.find("#field")
        started = trio.current_time()
        with pytest.raises(cdpengine.errors.EngineError) as caught:
            await act(page, field)
        late.append(trio.current_time() - started - TIMEOUT)
        assert isinstance(
            caught.value, cdpengine.errors.DeadlineExceededError | cdpengine.errors.NotDeliveredError
        ), caught.value
        await page.recover(timeout=10)
        assert await page.evaluate("field.title", timeout=10) == "hangs"
        if late[-1] <= LATE:
            break
    assert min(late) <= LATE
