"""The engine behind a faulty proxy: every fault ends in a named error or none, and nothing hangs.

A matrix of faults and browser operations. Each case has its own proxy, connection and tab. The cases of one
operation run in parallel, because most of them wait for a deadline. A guard above the deadlines reports
hangs.
"""

from __future__ import annotations

import urllib.request
from collections.abc import Awaitable, Callable, Sequence

import attrs
import pytest
import trio
import trio.testing
from rounds import every_nth

import cdpengine
from cdpengine import debug
from cdpengine.errors import (
    ConnectionLostError,
    DeadlineExceededError,
    EngineError,
    EvaluationFailedError,
    NavigationFailedError,
    ProtocolError,
    RemoteError,
)

pytestmark = pytest.mark.chrome

SHORT = (0.4, 2.0, 20.0)
"""Timeouts, in seconds, of an operation that cannot finish. The longer ones are for operations that did not
reach the fault.
"""

AT_ONCE = 5
"""Cases that run in parallel. With all of them, a busy machine opens no page in time."""

LONG = 30.0
"""Timeout, in seconds, of an operation that must succeed or be refused."""

GUARD = 60.0
"""Seconds after which an operation counts as hung."""

PAGE = "data:text/html,<title>Yard</title><button onclick='document.title += 1'>Go</button>"
OTHER = "data:text/html,<title>Other</title>"

Expected = tuple[type[EngineError], ...]


@attrs.frozen
class Operation:
    """An operation, and the method that it needs."""

    run: Callable[[cdpengine.Page, float], Awaitable[object]]
    method: str


async def _goto(page: cdpengine.Page, timeout: float) -> None:
    await page.goto(OTHER, timeout=timeout)


async def _snapshot(page: cdpengine.Page, timeout: float) -> None:
    assert 'button "Go"' in str(await page.snapshot(timeout=timeout))


async def _evaluate(page: cdpengine.Page, timeout: float) -> None:
    assert await page.evaluate("document.title", timeout=timeout) == "Yard"


async def _click(page: cdpengine.Page, timeout: float) -> None:
    # The last number used: numbers continue after a lost connection to the same browser.
    await page.click(f"e{page.internals.refs.last_number}", timeout=timeout)


async def _new_page(page: cdpengine.Page, timeout: float) -> None:
    await (await page.browser.new_page(timeout=timeout)).close(timeout=timeout)


OPERATIONS = {
    "goto": Operation(_goto, "Page.navigate"),
    "snapshot": Operation(_snapshot, "Runtime.callFunctionOn"),
    "evaluate": Operation(_evaluate, "Runtime.evaluate"),
    "click": Operation(_click, "Input.dispatchMouseEvent"),
    "new page": Operation(_new_page, "Target.createTarget"),
}

TIMES_OUT: Expected = (DeadlineExceededError,)
HARMLESS: Expected = ()

MATRIX: dict[str, Expected] = {
    "delay:{method}:1:100": HARMLESS,
    "delay:{method}@reply:*:50": HARMLESS,
    "delay:{method}:1:120000": TIMES_OUT,
    "drop:{method}:*": TIMES_OUT,
    "drop:{method}@reply:*": TIMES_OUT,
    "duplicate:{method}@reply:*": HARMLESS,
    "truncate:{method}@reply:*:8": TIMES_OUT,
    "truncate:{method}@reply:*:60": (DeadlineExceededError, ProtocolError),
    "error:{method}:*:-32000:the proxy says no": (RemoteError, NavigationFailedError, EvaluationFailedError),
    "cut:{method}:1": (ConnectionLostError,),
    "cut:{method}@reply:1": (ConnectionLostError,),
    "drop:*:*": TIMES_OUT,
    "drop:*@any:*": TIMES_OUT,
    "cut:*@any:1": (ConnectionLostError,),
}
"""The faults and their expected errors, one of which must occur. None if the operation must succeed despite
the fault.
"""


def close(endpoint: str, target_id: str) -> None:
    """Close a page without the proxy, whose connection may be lost."""
    with urllib.request.urlopen(f"{endpoint}/json/close/{target_id}", timeout=GUARD) as answer:
        answer.read()


NEVER_MADE = "the fault was never made"


async def wrong_in(endpoint: str, operation: Operation, fault: str) -> str | None:
    """Run one case and return the fault in its end."""
    if DeadlineExceededError not in MATRIX[fault]:
        return await wrong_within(LONG, endpoint, operation, fault)
    for timeout in SHORT:
        problem = await wrong_within(timeout, endpoint, operation, fault)
        if problem is None or not problem.startswith(NEVER_MADE):
            break
    return problem


async def wrong_within(timeout: float, endpoint: str, operation: Operation, fault: str) -> str | None:
    """Run one case with the operation's `timeout` in seconds, and return the fault in its end."""
    expected = MATRIX[fault]
    raised: BaseException | None = None
    async with debug.proxy(endpoint) as proxy:
        async with cdpengine.connect(proxy.endpoint) as browser:
            page = await browser.new_page(PAGE)
            await page.snapshot()
            await page.evaluate("1")
            number = proxy.faults.add(fault.format(method=operation.method))
            with trio.move_on_after(GUARD) as guard:
                try:
                    await operation.run(page, timeout)
                except EngineError as error:
                    raised = error
            # The first message after it may belong to the connection of the evaluation sessions, which
            # reconnects automatically.
            evaluation_session_only = fault == "cut:*@any:1" and browser.connections[0].lost is None
            made = proxy.faults.made(number)
            proxy.faults.clear()
            await trio.to_thread.run_sync(close, endpoint, page.target_id)
        with trio.fail_after(GUARD):
            while any(passage.ending is None for passage in proxy.passages):
                await trio.testing.wait_all_tasks_blocked(0.005)
    if guard.cancelled_caught:
        return "it hung"
    if not made:
        return f"{NEVER_MADE}, and it ended with {raised!r}"
    if evaluation_session_only and raised is None:
        return None
    right = isinstance(raised, expected) if expected else raised is None
    return None if right else f"it ended with {raised!r}"


def faults_of(name: str) -> Sequence[str]:
    """Return the faults for an operation. In a usual run each operation has some of them, and all operations
    together have all.
    """
    return every_nth(len(OPERATIONS), list(MATRIX), start=list(OPERATIONS).index(name))


@pytest.mark.parametrize("name", OPERATIONS)
async def test_every_fault_ends_in_a_named_error(shared_endpoint: str, name: str) -> None:
    wrong: dict[str, str] = {}
    limit = trio.CapacityLimiter(AT_ONCE)

    async def case(fault: str) -> None:
        async with limit:
            problem = await wrong_in(shared_endpoint, OPERATIONS[name], fault)
        if problem is not None:
            wrong[fault] = problem

    async with trio.open_nursery() as nursery:
        for fault in faults_of(name):
            nursery.start_soon(case, fault)
    assert wrong == {}
