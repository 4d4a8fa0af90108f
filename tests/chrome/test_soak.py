"""The same operation repeated many times: nothing grows in this process or in the page."""

from __future__ import annotations

import gc
import logging
import os
from collections import Counter
from collections.abc import Awaitable, Callable
from functools import partial

import pytest
import trio
from pytest_httpserver import HTTPServer
from rounds import rounds

import cdpengine

pytestmark = [pytest.mark.chrome, pytest.mark.timeout(rounds(300, 0))]  # as many rounds as requested

HANGS = rounds(9, 999)
NAVIGATIONS = rounds(8, 500)
LOOKS = rounds(4, 20)
"""Navigations for each time that the page is also read and clicked. A leak in one of so many exceeds one in
all.
"""

ONE_MORE = 1
SOME = 10
"""Tolerated change of open descriptors: the test's server has some for the browser."""


@pytest.fixture
def page(new_tab: cdpengine.Page) -> cdpengine.Page:
    return new_tab


@pytest.fixture(autouse=True)
def no_records(caplog: pytest.LogCaptureFixture) -> None:
    """Drop log records, because pytest keeps each one until the test ends."""
    caplog.set_level(logging.CRITICAL + 1, logger="cdpengine")


def ours() -> Counter[str]:
    """Count the living objects of the engine's classes."""
    gc.collect()
    return Counter(
        f"{kind.__module__}.{kind.__qualname__}"
        for kind in map(type, gc.get_objects())
        if str(kind.__module__).startswith("cdpengine.")
    )


BOUNDED = (
    ".ref.Ref", ".ref.Entry", ".frames.Frame", ".refs.RefTable", ".refs._Renderer", ".walk_installed.Installed", ".navigation._Document",
)  # fmt: skip
"""Objects kept after their documents, up to a limit that other tests check: to explain stale refs and
recognise returning frames.
"""


def descriptors() -> int:
    return len(os.listdir("/proc/self/fd"))


PASSING = ("recovery by ", "terminate further", "answers to terminations")
"""Prefixes of names of tasks that stop hung scripts. On a busy machine they outlive the failed call."""


def tasks() -> Counter[str]:
    """Count the living tasks by name."""
    names: Counter[str] = Counter()
    waiting = [trio.lowlevel.current_root_task()]
    while waiting:
        task = waiting.pop()
        if task is not None:
            names[task.name] += 1
            waiting += (child for nursery in task.child_nurseries for child in nursery.child_tasks)
    return names


def is_busy(page: cdpengine.Page) -> bool:
    """Return whether an operation is in progress that will end by itself."""
    return any(connection.statistics().in_flight for connection in page.browser.connections) or any(
        name.startswith(PASSING) for name in tasks()
    )


async def measure(page: cdpengine.Page) -> dict[str, object]:
    # At least one round trip: a loop of bare looks would let no other task run.
    await page.browser.session.call("Browser.getVersion")
    with trio.move_on_after(20):
        while is_busy(page):
            await page.browser.session.call("Browser.getVersion")
    objects = ours()
    for name in [
        name for name in objects if name.endswith((".Event", ".Envelope", ".Traffic", ".EventsLostError"))
    ]:
        del objects[name]  # operations in progress
    for name in [name for name in objects if name.endswith(BOUNDED)]:
        del objects[name]
    return {
        "in flight": [connection.statistics().in_flight for connection in page.browser.connections],
        "sessions": [connection.statistics().sessions for connection in page.browser.connections],
        "listeners": sum(len(listeners) for listeners in page.session.feed._listeners.values()),
        "end listeners": len(page.session.feed._end_listeners),
        "domains": dict(page.session.domains.users),
        "frames": len(page.frames),
        "tasks": tasks(),
        "objects": objects,
    }


def grown(before: dict[str, object], after: dict[str, object]) -> dict[str, object]:
    """Return the differences with both values. Only classes that differ and tasks that increased are
    included.

    A task that was still in progress when it was counted, and has ended by now, is left out.
    """
    differing: dict[str, object] = {
        name: (before[name], after[name]) for name in before if before[name] != after[name]
    }
    if "tasks" in differing:
        earlier, later = before["tasks"], after["tasks"]
        assert isinstance(earlier, Counter)
        assert isinstance(later, Counter)
        differing["tasks"] = {name: (earlier[name], later[name]) for name in later - earlier}
        if not differing["tasks"]:
            del differing["tasks"]
    if "objects" in differing:
        old, new = before["objects"], after["objects"]
        assert isinstance(old, Counter)
        assert isinstance(new, Counter)
        # One error more or less is not growth: an object may remember its latest reason.
        more = {name: (old[name], new[name]) for name in old | new if new[name] - old[name] > ONE_MORE}
        if more:
            differing["objects"] = more
        else:
            del differing["objects"]
    return differing


async def growth(
    before: dict[str, object], measured: Callable[[], Awaitable[dict[str, object]]]
) -> dict[str, object]:
    """Return lasting growth. Operations still in progress on a busy machine get time to end."""
    left = grown(before, await measured())
    with trio.move_on_after(20):
        while left:
            left = grown(before, await measured())
    return left


async def hang(page: cdpengine.Page, source: str) -> None:
    with pytest.raises(cdpengine.errors.EvaluationTimeoutError):
        await page.evaluate(source, timeout=0.02)


async def test_hung_evaluates_leave_nothing(page: cdpengine.Page) -> None:
    await page.set_content("<button onclick='self.n = (self.n || 0) + 1'>Go</button>")
    button = (await page.snapshot()).find(role="button")
    sources = ["while (true) {}", "new Promise(() => {})", "(async () => { for (;;) await 0 })()"]
    for source in sources * 2:
        await hang(page, source)
    before, open_before = await measure(page), descriptors()
    for n in range(HANGS):
        await hang(page, sources[n % len(sources)])
    assert await growth(before, partial(measure, page)) == {}
    assert descriptors() <= open_before
    await page.click(button, timeout=10)
    assert await page.evaluate("self.n", timeout=10) == 1


async def test_navigations_leave_nothing(page: cdpengine.Page, httpserver: HTTPServer) -> None:
    body = "<h1>{}</h1><button>Go</button><iframe srcdoc='<p>inside</p>'></iframe>"
    for name in ("a", "b"):
        httpserver.expect_request(f"/{name}").respond_with_data(body.format(name), content_type="text/html")

    async def visit(n: int) -> None:
        await page.goto(httpserver.url_for("/ab"[0] + "ab"[n % 2]))
        if n % LOOKS == 0:
            await page.click((await page.snapshot()).find(role="button"))
            assert await page.evaluate("document.querySelector('h1').textContent") == "ab"[n % 2]

    for n in range(2 * LOOKS):  # from the second look on, documents have the object that runs the walk
        await visit(n)
    before, open_before = await measure(page), descriptors()
    for n in range(NAVIGATIONS):
        await visit(n)
    assert await growth(before, partial(measure, page)) == {}
    assert descriptors() <= open_before + SOME
