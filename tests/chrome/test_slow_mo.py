"""`slow_mo`: a pause before each action that sends input."""

from __future__ import annotations

import pytest
import trio

import cdpengine
from cdpengine.errors import InvalidArgumentError

pytestmark = pytest.mark.chrome


async def test_pauses_before_each_action_and_not_within_its_timeout(shared_endpoint: str) -> None:
    async with cdpengine.connect(shared_endpoint, slow_mo=0.6) as browser, browser.new_context() as context:
        page = await context.new_page("data:text/html,<button>Go</button><input>")
        began = trio.current_time()
        await page.click(page.locate("button"), timeout=0.5)
        await page.locate("input").fill("Ada", timeout=0.5)
        assert trio.current_time() - began >= 1.2
        began = trio.current_time()
        with trio.move_on_after(0.2):
            await page.click(page.locate("button"))
        assert trio.current_time() - began < 0.6


@pytest.mark.parametrize("pause", [-1, 500, "fast"])
async def test_milliseconds_and_other_values_are_refused(pause: float) -> None:
    with pytest.raises(InvalidArgumentError, match="slow_mo"):
        async with cdpengine.launch(slow_mo=pause):
            pass
