"""Cancellation of an operation at every possible moment, one run for each moment.

Rule: a moment is a step of trio's scheduler, not a time. Nothing sleeps, and a failure names its moment. After
each run the caller's check verifies that the cancelled operation left everything unchanged.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable

import trio

from cdpengine._checks import check_count, invalid


async def walk_cancellations(
    operation: Callable[[], Awaitable[object]],
    check: Callable[[], Awaitable[object]] | None = None,
    *,
    own_steps_only: bool = False,
    every: int = 1,
    most: int = 10_000,
) -> int:
    """Run `operation` repeatedly, cancelled one moment later each time, until it completes.

    The first run is cancelled before it starts, the next one when the operation first sleeps, and so on through
    its steps. A second walk counts the steps of all tasks, because a step of another task can wake the operation.
    Together they cover "while it waits" and "in the tick of its answer". The number of other tasks' steps varies,
    so the second walk ends only after several completed runs in a row. `own_steps_only` omits it: fewer runs, for
    systems with much other activity. `every` takes a sample: the first two moments, then each `every`-th one.
    After each run, `check()` is awaited outside of the cancelled scope.

    Returns the number of runs. Errors of the operation or the check are raised with a note of the moment. Raises
    InvalidArgumentError if `every` is less than 1, or if a walk has not ended after `most` runs. An operation that
    never ends makes the walk hang: use a cancel scope.
    """
    check_count("every", every, least=1)
    runs = await _walk(operation, check, own_steps_only=True, untouched_runs=1, every=every, most=most)
    if not own_steps_only:
        untouched = _UNTOUCHED_RUNS
        runs += await _walk(
            operation, check, own_steps_only=False, untouched_runs=untouched, every=every, most=most
        )
    return runs


_UNTOUCHED_RUNS = 4


async def _walk(
    operation: Callable[[], Awaitable[object]],
    check: Callable[[], Awaitable[object]] | None,
    *,
    own_steps_only: bool,
    untouched_runs: int,
    every: int,
    most: int,
) -> int:
    in_a_row = 0
    for run in range(most):
        moment = 1 + (run - 1) * every if run else 0
        try:
            untouched = await _run_cancelled_at(moment, operation, own_steps_only=own_steps_only)
            if check is not None:
                await check()
        except trio.Cancelled:
            raise
        except Exception as error:
            error.add_note(f"the operation was cancelled at step {moment}")
            raise
        in_a_row = in_a_row + 1 if untouched else 0
        if in_a_row == untouched_runs:
            return run + 1
    raise invalid("most", most, "more runs than the operation has steps")


async def _run_cancelled_at(
    moment: int, operation: Callable[[], Awaitable[object]], *, own_steps_only: bool
) -> bool:
    with trio.CancelScope() as scope:
        if moment == 0:
            scope.cancel()
            await operation()
            return False
        steps = _Steps(scope, moment, trio.lowlevel.current_task() if own_steps_only else None)
        trio.lowlevel.add_instrument(steps)
        try:
            await operation()
        finally:
            trio.lowlevel.remove_instrument(steps)
    return not scope.cancel_called


class _Steps(trio.abc.Instrument):
    """Instrument that counts steps of tasks and cancels a scope after the chosen step."""

    def __init__(self, scope: trio.CancelScope, moment: int, only: trio.lowlevel.Task | None) -> None:
        self._scope = scope
        self._left = moment
        self._only = only

    def after_task_step(self, task: trio.lowlevel.Task) -> None:
        if self._only is None or task is self._only:
            self._left -= 1
            if self._left == 0:
                self._scope.cancel()
