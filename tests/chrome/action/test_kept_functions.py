"""Functions of the engine are sent to a document once. Later calls refer to them by number."""

from __future__ import annotations

import pytest
import trio

import cdpengine
from cdpengine.errors import EngineError

pytestmark = pytest.mark.chrome


async def test_functions_survive_terminations(page: cdpengine.Page) -> None:
    await page.set_content("<input id=one><input id=two><input id=three>")

    async def disturb() -> None:
        for _ in range(5):
            with pytest.raises(EngineError):
                await page.evaluate("while (true);", timeout=0.05)

    async with trio.open_nursery() as nursery:
        nursery.start_soon(disturb)
        for number in range(4):
            for name in ("one", "two", "three"):
                await page.fill(page.locate(css=f"#{name}"), f"{name} {number}")
    assert await page.evaluate("[one.value, two.value, three.value]") == ["one 3", "two 3", "three 3"]
