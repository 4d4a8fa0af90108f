"""Two tasks read one page at nearly the same time: each gets the same result as alone.

CDPENGINE_PAIRS is the number of rounds for each pair with `--run-slow` (default: 5).
"""

from __future__ import annotations

import itertools
import os
import random
from collections.abc import Awaitable, Callable

import pytest
import trio
from pytest_httpserver import HTTPServer
from rounds import every_nth, rounds

import cdpengine

pytestmark = pytest.mark.chrome

PAIRS = int(os.environ.get("CDPENGINE_PAIRS", "5"))
AT_MOST = 0.008
"""Maximum delay of the second reading, in seconds: the time that Chrome takes for a few responses."""

Reading = Callable[[], Awaitable[object]]


@pytest.fixture
async def readings(
    new_tab: cdpengine.Page, httpserver: HTTPServer
) -> dict[str, tuple[Reading, Callable[[object], bool]]]:
    """The ways to read a page with one cross-process and one same-process frame, and their results."""
    page = new_tab
    far = httpserver.url_for("/far").replace("127.0.0.1", "localhost")
    frames = f"<iframe src=/near></iframe><iframe src='{far}'></iframe>"
    for path, html in {
        "/": f"<title>Top</title><p>Top words</p><button>Go</button>{frames}",
        "/near": "<title>Near</title><p>Near words</p><button>Close</button>",
        "/far": "<title>Far</title><p>Far words</p><button>Remote</button>",
    }.items():
        httpserver.expect_request(path).respond_with_data("<!doctype html>" + html, content_type="text/html")
    httpserver.expect_request("/favicon.ico").respond_with_data("")
    await page.goto(httpserver.url_for("/"))
    await page.settled()
    near = next(frame for frame in page.frames if frame.url.endswith("/near"))
    other = next(frame for frame in page.frames if frame.url.endswith("/far"))

    async def handle(frame: cdpengine.Frame | None) -> object:
        async with page.evaluate_handle("({title: document.title})", frame=frame) as held:
            return await page.evaluate("(held) => held.title", held)

    def has(*words: str) -> Callable[[object], bool]:
        return lambda seen: all(word in str(seen) for word in words)

    def is_(right: object) -> Callable[[object], bool]:
        return lambda seen: seen == right

    def some(seen: object) -> bool:
        return bool(seen)

    title = "[document.title]"
    return {
        "title": (page.title, is_("Top")),
        "content": (page.content, has("Top words")),
        "snapshot": (page.snapshot, has("Go", "Close", "Remote")),
        "ax": (lambda: page.snapshot(source="ax"), has("Go", "Close", "Remote")),
        "find by text": (lambda: page.find(text="Near words"), some),
        "find by role": (lambda: page.find(role="button", name="Remote"), some),
        "find all": (lambda: page.find_all(css="button"), some),
        "text": (page.extract_text, has("Top words", "Near words", "Far words")),
        "markdown": (page.extract_markdown, has("Top words", "Near words", "Far words")),
        "evaluate": (lambda: page.evaluate(title), is_(["Top"])),
        "evaluate near": (lambda: page.evaluate(title, frame=near), is_(["Near"])),
        "evaluate far": (lambda: page.evaluate(title, frame=other), is_(["Far"])),
        "isolated near": (lambda: page.evaluate(title, frame=near, world="isolated"), is_(["Near"])),
        "isolated far": (lambda: page.evaluate(title, frame=other, world="isolated"), is_(["Far"])),
        "handle": (lambda: handle(None), is_("Top")),
        "handle near": (lambda: handle(near), is_("Near")),
        "handle far": (lambda: handle(other), is_("Far")),
        "wait for text": (lambda: page.wait_for(text="Near words"), is_(None)),
        "wait for css": (lambda: page.wait_for(css="button"), is_(None)),
        "wait until": (lambda: page.wait_for(expression="1 < 2"), is_(None)),
        "wait for load": (lambda: page.wait_for(load_state="load"), is_(None)),
        "wait for idle": (lambda: page.wait_for(network_idle=0.01), is_(None)),
        "settled": (lambda: page.settled(quiet=0.01), is_(None)),
        "metrics": (page.measure.metrics, some),
        "picture": (page.screenshot, some),
        "whole picture": (lambda: page.screenshot(full_page=True), some),
        "pdf": (page.pdf, some),
    }


async def read_both(
    readings: dict[str, tuple[Reading, Callable[[object], bool]]], pair: tuple[str, str], pause: float
) -> list[str]:
    """Read both at nearly the same time, and return the wrong results."""
    wrong: list[str] = []

    async def read(name: str, pause: float) -> None:
        await trio.sleep(pause)
        ask, is_right = readings[name]
        try:
            seen = await ask()
        except cdpengine.errors.EngineError as error:
            wrong.append(f"{pair}: {name}: {type(error).__name__}: {error}")
        else:
            if not is_right(seen):
                wrong.append(f"{pair}: {name} gave {str(seen)[:200]!r}")

    async with trio.open_nursery() as nursery:
        nursery.start_soon(read, pair[0], 0.0)
        nursery.start_soon(read, pair[1], pause)
    return wrong


async def test_concurrent_readings_are_correct(
    readings: dict[str, tuple[Reading, Callable[[object], bool]]],
) -> None:
    chosen = random.Random(36)
    pairs = list(itertools.combinations_with_replacement(readings, 2))
    wrong = []
    for pair in every_nth(8, pairs):
        for _ in range(rounds(1, PAIRS)):
            wrong += await read_both(readings, pair, chosen.random() * AT_MOST)
    assert wrong == []


async def test_concurrent_evaluations_in_frames_are_correct(
    readings: dict[str, tuple[Reading, Callable[[object], bool]]],
) -> None:
    """Each one has Chrome report the contexts of the frame's process for a moment."""
    chosen = random.Random(36)
    names = ("evaluate near", "evaluate far", "handle near")
    wrong = []
    for one, other in itertools.product(names, repeat=2):
        for _ in range(rounds(8, 200)):
            wrong += await read_both(readings, (one, other), chosen.random() * AT_MOST)
    assert wrong == []


async def test_cancelled_reading_leaves_others_correct(
    readings: dict[str, tuple[Reading, Callable[[object], bool]]],
) -> None:
    chosen = random.Random(36)
    for name in ("evaluate near", "evaluate far", "pdf"):
        ask, is_right = readings[name]
        for _ in range(rounds(5, 50)):
            with trio.move_on_after(chosen.random() * AT_MOST):
                await ask()
            assert is_right(await ask()), name
