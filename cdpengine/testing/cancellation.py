"""walk_cancellations: cancel an operation at every moment at which it can be cancelled, one run a moment.

Rule: a moment is a step of trio's scheduler, not a time: nothing sleeps, and a failure names its moment. After
each run the caller's own check says whether what was cancelled left everything as it found it.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable

import trio

from cdpengine.errors import InvalidArgumentError


async def walk_cancellations(
    operation: Callable[[], Awaitable[object]],
    check: Callable[[], Awaitable[object]] | None = None,
    *,
    own_steps_only: bool = False,
    every: int = 1,
    most: int = 10_000,
) -> int:
    """Run `operation` again and again, each time cancelled one moment later, until it completes untouched.

    The first run is cancelled before it starts; the next one where the operation goes to sleep for the first
    time, and so on through its own steps. Then the same is done counting the steps of all tasks, because a
    step of another task can be the one that wakes the operation: so both "while it waits" and "in the tick in
    which its answer came" are met. How many steps the others make varies with the scheduler, so this second
    walk ends only after several runs in a row were untouched. `own_steps_only` leaves it out: fewer runs, for
    systems where much else goes on. `every` takes a sample: the first two moments, and from there on each
    `every`-th one. After each run, cancelled or not, `check()` is awaited outside the cancelled scope.

    Returns the number of runs. An error of the operation or of the check leaves as it is, with a note of the
    moment. Raises InvalidArgumentError when `every` is less than 1, and when a walk has not ended after `most`
    runs. An operation that never ends by itself makes the walk hang: put a cancel scope around it.
    """
    if every < 1:
        raise InvalidArgumentError(what="every", given=repr(every), expected="1 or more")
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
    raise InvalidArgumentError(
        what="most", given=repr(most), expected="more runs than the operation has steps"
    )


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
    """Counts steps of tasks and cancels a scope after the chosen one."""

    def __init__(self, scope: trio.CancelScope, moment: int, only: trio.lowlevel.Task | None) -> None:
        self._scope = scope
        self._left = moment
        self._only = only

    def after_task_step(self, task: trio.lowlevel.Task) -> None:
        if self._only is None or task is self._only:
            self._left -= 1
            if self._left == 0:
                self._scope.cancel()
