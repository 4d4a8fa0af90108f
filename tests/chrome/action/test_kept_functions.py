"""Functions of the engine are sent to a document once. Later calls refer to them by number."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

import pytest
import trio

import cdpengine
from cdpengine._protocol.instruments import Traffic
from cdpengine.errors import EngineError

pytestmark = pytest.mark.chrome

PAGE = "data:text/html,<input id=one><input id=two><textarea id=three></textarea>"
LARGE = 4_000


def encode(message: bytes | str) -> bytes:
    return message.encode() if isinstance(message, str) else message


async def test_a_function_is_sent_to_a_document_once(
    used_page: cdpengine.Page, browser: cdpengine.Browser
) -> None:
    page = used_page
    await page.goto(PAGE)
    lengths: list[int] = []

    def watch(traffic: Traffic) -> None:
        if traffic.direction == "sent" and b"this.kept(" in encode(traffic.message):
            lengths.append(len(traffic.message))

    async def longest(act: Callable[[], Awaitable[object]]) -> int:
        lengths.clear()
        await act()
        return max(lengths)

    one, two, three = (page.locate(css=f"#{name}") for name in ("one", "two", "three"))
    with browser.instruments.attached(watch):
        assert await longest(lambda: page.fill(one, "1")) > LARGE
        assert await longest(lambda: page.fill(two, "2")) < LARGE
        await page.type(two, "22")
        assert await longest(lambda: page.type(three, "3")) < LARGE
        assert await page.evaluate("[one.value, two.value, three.value]") == ["1", "222", "3"]
        await page.reload()
        assert await longest(lambda: page.fill(two, "of a new document")) > LARGE
        assert await longest(lambda: page.fill(one, "1")) < LARGE
    await page.goto(PAGE.replace("three", "four"))
    await page.fill(page.locate(css="#four"), "4")
    await page.go_back()
    await page.fill(three, "restored")
    assert await page.evaluate("[two.value, three.value].at(-1)") == "restored"


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
