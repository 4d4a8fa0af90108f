"""The engine behind a proxy that does harm: every fault ends in a named error or in none, and nothing hangs.

A matrix of faults and of what one does with a page. Each case runs in a tab of its own, after its set-up, over a
proxy of its own; the deadlines are the engine's own, and a guard above them all says "hang".
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable

import attrs
import pytest
import trio
import trio.testing

import cdpengine
from cdpengine import debug
from cdpengine.errors import (
    ConnectionLost,
    DeadlineExceeded,
    EngineError,
    EvaluationFailed,
    NavigationFailed,
    RemoteError,
    UndecodableReply,
)

pytestmark = pytest.mark.chrome

SHORT = 0.7
"""Seconds that an operation gets that cannot come to its end."""

LONG = 15.0
"""Seconds that one gets that is to succeed, or to be refused."""

GUARD = 25.0
"""Seconds after which an operation counts as hung."""

PAGE = "data:text/html,<title>Yard</title><button onclick='document.title += 1'>Go</button>"
OTHER = "data:text/html,<title>Other</title>"


@attrs.frozen
class Operation:
    """What is done, and the method that it cannot do without."""

    run: Callable[[cdpengine.Page, float], Awaitable[object]]
    method: str


async def _goto(page: cdpengine.Page, timeout: float) -> None:
    await page.goto(OTHER, timeout=timeout)


async def _snapshot(page: cdpengine.Page, timeout: float) -> None:
    assert 'button "Go"' in str(await page.snapshot(timeout=timeout))


async def _evaluate(page: cdpengine.Page, timeout: float) -> None:
    assert await page.evaluate("document.title", timeout=timeout) == "Yard"


async def _click(page: cdpengine.Page, timeout: float) -> None:
    await page.click("e1", timeout=timeout)


OPERATIONS = {
    "goto": Operation(_goto, "Page.navigate"),
    "snapshot": Operation(_snapshot, "Accessibility.getFullAXTree"),
    "evaluate": Operation(_evaluate, "Runtime.evaluate"),
    "click": Operation(_click, "Input.dispatchMouseEvent"),
}

TIMES_OUT: tuple[type[EngineError], ...] = (DeadlineExceeded,)
HARMLESS: tuple[type[EngineError], ...] = ()

MATRIX: dict[str, tuple[type[EngineError], ...]] = {
    "delay:{method}:1:100": HARMLESS,
    "delay:{method}@reply:*:50": HARMLESS,
    "delay:{method}:1:60000": TIMES_OUT,
    "drop:{method}:*": TIMES_OUT,
    "drop:{method}@reply:*": TIMES_OUT,
    "duplicate:{method}@reply:*": HARMLESS,
    "truncate:{method}@reply:*:8": TIMES_OUT,
    "truncate:{method}@reply:*:60": (DeadlineExceeded, UndecodableReply),
    "error:{method}:*:-32000:the proxy says no": (RemoteError, NavigationFailed, EvaluationFailed),
    "cut:{method}:1": (ConnectionLost,),
    "cut:{method}@reply:1": (ConnectionLost,),
    "drop:*:*": TIMES_OUT,
    "drop:*@any:*": TIMES_OUT,
    "cut:*@any:1": (ConnectionLost,),
}
"""The faults, and the errors of which one must come; none where the operation is to succeed all the same."""


@pytest.mark.parametrize("fault", MATRIX)
@pytest.mark.parametrize("name", OPERATIONS)
async def test_every_fault_ends_in_a_named_error(shared_endpoint: str, name: str, fault: str) -> None:
    operation = OPERATIONS[name]
    expected = MATRIX[fault]
    timeout = SHORT if DeadlineExceeded in expected else LONG
    async with debug.proxy(shared_endpoint) as proxy:
        async with cdpengine.connect(proxy.endpoint) as browser:
            page = await browser.new_page(PAGE)
            target_id = page.target_id
            await page.snapshot()
            await page.evaluate("1")
            number = proxy.faults.add(fault.format(method=operation.method))
            raised: BaseException | None = None
            with trio.move_on_after(GUARD) as guard:
                try:
                    await operation.run(page, timeout)
                except EngineError as error:
                    raised = error
            proxy.faults.clear()
            assert not guard.cancelled_caught, "it hung"
            assert proxy.faults.made(number) > 0, "the fault was never made"
            assert isinstance(raised, expected) if expected else raised is None, repr(raised)
        with trio.fail_after(5):
            while any(passage.ending is None for passage in proxy.passages):
                await trio.testing.wait_all_tasks_blocked(0.005)
    async with cdpengine.connect(shared_endpoint) as direct:
        page = next((each for each in direct.pages if each.target_id == target_id), None)  # type: ignore[assignment]
        if page is not None:
            await page.close()
