"""Every public method with `timeout`, of all objects except pages, against a browser that falls silent at
each step.

Rule: introspection finds the methods, and an answered run finds the steps. From one step on, every session is
silent. The method must end at most `LATE` after its deadline, with an EngineError or successfully, and leave
no task and no call behind. The end of a block that it opens obeys the same rule.
"""

from __future__ import annotations

import inspect
from collections import Counter
from contextlib import AbstractAsyncContextManager, AsyncExitStack
from pathlib import Path

import pytest
import trio
from busy_machine import slack
from object_calls import CALLS, ENGINE_OWN, NOT_HERE, Row, Stage, StagedBrowser, methods_with_timeout, running
from scripted_browser import quiet
from trio.testing import MockClock

import cdpengine
from cdpengine.testing import SILENCE

TIMEOUT = 1.0
LEAVING = 2.0
"""Maximum time to leave a block, in seconds. `timeout` applies to entering it."""
LATE = 0.15


@pytest.fixture
def guard() -> None:
    """The virtual seconds of these tests say nothing about hangs. Rely on pytest-timeout instead."""


def test_all_methods_are_covered() -> None:
    named = {name.partition(",")[0] for name in CALLS}
    elsewhere = {"PageActivity.wait_for_response"}  # only its deadline ends it: page_calls.py
    here = {each for each in methods_with_timeout() if each.partition(".")[0] not in NOT_HERE}
    assert named == here - elsewhere


async def spent(
    row: Row, stage: Stage, given: object, timeout: float
) -> tuple[float, float, BaseException | None]:
    """Call the method, and leave the block that it opens. Return the seconds of each, and the exception."""
    began, inside, raised = trio.current_time(), 0.0, None
    try:
        used = row.use(given, stage, timeout)
        if isinstance(used, AbstractAsyncContextManager):
            async with used:
                inside = trio.current_time()
        else:
            await used
    except cdpengine.errors.EngineError as error:
        raised = error
    ended = trio.current_time()
    return (inside or ended) - began, ended - (inside or ended), raised


async def faults_at(name: str, step: int, path: Path, timeout: float) -> tuple[bool, list[str]]:
    """Call the method with silence from call `step` on.

    Return whether it made fewer calls, and the faults.
    """
    row = CALLS[name]
    async with (
        StagedBrowser() as scripted,
        scripted.engine() as browser,
        browser.new_context() as context,
        AsyncExitStack() as stack,
    ):
        page = await context.new_page()
        stage = Stage(scripted, browser, context, page, path, stack)
        given = row.given(stage)
        if inspect.isawaitable(given):
            given = await given
        await quiet()
        before = Counter(running())
        scripted.target = page.target_id
        scripted.arm(step, lambda *_: SILENCE)
        took, leaving, raised = await spent(row, stage, given, timeout)
        assert scripted.left is not None
        done, scripted.left = scripted.left > 0, None
        await quiet()
        left = {task for task in Counter(running()) - before if task not in ENGINE_OWN}
    wrong = []
    if took > timeout + slack(LATE):
        wrong.append(f"{took - timeout:.2f} s late")
    if leaving > LEAVING + slack(LATE):
        wrong.append(f"leaving took {leaving:.2f} s")
    if left:
        wrong.append(f"left {left}")
    if done and (raised is not None) != row.waits:
        wrong.append(f"with all answered: {raised!r}")
    return done, [f"silent from call {step} on: {each}" for each in wrong]


async def ends_in_time(name: str, folder: Path, timeout: float) -> None:
    wrong: list[str] = []
    for step in range(1, 100):
        path = folder / str(step) / "a.txt"
        path.parent.mkdir()
        with trio.fail_after(20):
            done, found = await faults_at(name, step, path, timeout)
        wrong += found
        if done:
            break
    assert done
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("name", [name for name, row in CALLS.items() if not row.threads])
async def test_a_method_ends_in_time_at_whichever_step_the_browser_falls_silent(
    name: str, tmp_path: Path, guard: None, autojump_clock: MockClock
) -> None:
    await ends_in_time(name, tmp_path, TIMEOUT)


@pytest.mark.parametrize("name", [name for name, row in CALLS.items() if row.threads])
async def test_methods_that_work_in_threads_end_in_time(name: str, tmp_path: Path) -> None:
    """Runs on real time."""
    await ends_in_time(name, tmp_path, 0.5)
