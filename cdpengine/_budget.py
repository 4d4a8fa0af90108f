"""Budgets: deadlines that start once from a `timeout` and become trio cancel scopes.

Rule: only public page-level methods have a `timeout`; they call `within()` first. The code below has only cancel
scopes and the Budget with the remaining time, so one number has the same meaning everywhere. A budget that is
spent at its start fails immediately, and sends nothing.
"""

from __future__ import annotations

import inspect
import math
import sys
import warnings
from contextlib import AbstractContextManager, suppress
from contextvars import ContextVar, Token
from types import TracebackType

import attrs
import trio

from cdpengine._checks import check_number, invalid
from cdpengine._pickling import not_picklable
from cdpengine.errors import (
    DeadlineExceededError,
    EngineError,
    WrongRunError,
)
from cdpengine.errors.texts import shown


def check_seconds(what: str, seconds: float) -> float:
    """Return `seconds`. Raises InvalidArgumentError if it is not a positive number."""
    return check_number(what, seconds, above=0, most=math.inf, unit="seconds")


def check_timeout(timeout: float) -> float:
    """Return `timeout` in seconds (`math.inf`: no limit). Raises InvalidArgumentError for an invalid timeout."""
    if not isinstance(timeout, bool) and isinstance(timeout, (int, float)):
        with suppress(OverflowError):
            if (seconds := float(timeout)) >= 0:  # False for NaN
                if seconds >= 1000 and seconds % 500 == 0:
                    _warn_of_milliseconds(seconds)
                return seconds
    raise invalid("timeout", timeout, "seconds, 0 or more (math.inf for no limit)")


def _warn_of_milliseconds(seconds: float) -> None:
    """Warn that a round number of 1,000 or more was probably meant in milliseconds, as in other libraries."""
    frame, level = inspect.currentframe(), 1
    while frame is not None and frame.f_globals.get("__name__", "").startswith(("cdpengine", "contextlib")):
        frame, level = frame.f_back, level + 1
    warnings.warn(
        shown(
            f"timeout={seconds:g} is {seconds / 3600:.1f} hours: times are in seconds, not in milliseconds"
        ),
        UserWarning,
        stacklevel=level,
    )


@not_picklable("the seconds that remain")
@attrs.define(eq=False)
class Budget:
    """The time of one action, and a record of its steps.

    `deadline` is absolute, in trio's clock; `timeout` is the caller's number, in seconds. `step_times` are the
    times of the `steps`, on trio's clock. `hindrance` is the error of the current obstacle, if it has a specific
    error. It is raised at the deadline.
    """

    action: str
    timeout: float
    deadline: float
    steps: list[str] = attrs.field(factory=list)
    step_times: list[float] = attrs.field(factory=list)
    hindrance: EngineError | None = None

    @classmethod
    def start(cls, action: str, timeout: float) -> Budget:
        """Start the clock now. Raises InvalidArgumentError for a negative or non-numeric timeout."""
        timeout = check_timeout(timeout)
        check_task(action)
        return cls(action=action, timeout=timeout, deadline=trio.current_time() + timeout)

    @property
    def remaining(self) -> float:
        """Seconds left, at least 0, including the deadlines of enclosing cancel scopes."""
        deadline = min(self.deadline, trio.current_effective_deadline())
        return max(0.0, deadline - trio.current_time())

    def child(self, action: str, *, at_most: float = math.inf, margin: float = 0.0) -> Budget:
        """Return a budget for a sub-step: at most `at_most` seconds, ending `margin` seconds before this one."""
        left = max(0.0, min(at_most, self.remaining - margin))
        return Budget(
            action=action,
            timeout=left,
            deadline=trio.current_time() + left,
            steps=self.steps,
            step_times=self.step_times,
        )

    def scope(self) -> trio.CancelScope:
        """Return a cancel scope that ends at the deadline."""
        return trio.CancelScope(deadline=self.deadline)

    def step(self, text: str) -> None:
        """Record the current step; DeadlineExceededError lists the steps.

        Repeating the last step has no effect.
        """
        if not self.steps or self.steps[-1] != text:
            self.steps.append(text)
            self.step_times.append(trio.current_time())
            if len(self.steps) > _MOST_STEPS:
                del self.steps[1], self.step_times[1]

    def exceeded(self) -> EngineError:
        """Return the error of the exhausted budget: its hindrance, or DeadlineExceededError."""
        if self.hindrance is not None:
            return self.hindrance
        return DeadlineExceededError(action=self.action, timeout=self.timeout, steps=tuple(self.steps))


_MOST_STEPS = 20

UNDOING = 0.07
"""Seconds after a deadline for undoing an action's changes.

With the page's liveness check (0.05) and some time for a busy machine, no error is raised more than 0.15 s late.
"""

_deadline: ContextVar[float] = ContextVar("deadline of the action", default=math.inf)

_TO_SEND = 0.005
"""Minimum duration of undoing, in seconds: a scope that is already over would send nothing."""


def undoing(grace: float) -> trio.CancelScope:
    """Return a shielded scope for undoing changes: `grace` seconds, or less after the deadline.

    All undoing at the end of an action shares UNDOING seconds after its deadline. Chrome executes the sent
    commands in order, whether their replies arrive in time or not.
    """
    return trio.CancelScope(deadline=undone_by(grace), shield=True)


def undone_by(grace: float) -> float:
    """Return the deadline for undoing changes, on trio's clock; see `undoing`."""
    now, deadline = trio.current_time(), _deadline.get()
    if now < deadline:
        grace = min(grace, deadline + UNDOING - now)  # also after a failure before the deadline
    if trio.current_effective_deadline() <= now or isinstance(sys.exception(), DeadlineExceededError):
        grace = min(grace, deadline + UNDOING - now if now >= deadline else UNDOING)
    return now + max(grace, _TO_SEND)


class _Within:
    """Context manager of `within`.

    A class, because every action enters one, and a generator costs more than the scope.
    """

    __slots__ = ("_budget", "_scope", "_token")

    _token: Token[float]

    def __init__(self, budget: Budget) -> None:
        self._budget = budget
        self._scope = budget.scope()

    def __enter__(self) -> Budget:
        if self._budget.timeout == 0:
            raise self._budget.exceeded()
        self._scope.__enter__()
        self._token = _deadline.set(min(self._budget.deadline, _deadline.get()))
        return self._budget

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> bool:
        _deadline.reset(self._token)
        handled = bool(self._scope.__exit__(kind, error, traceback))
        if self._scope.cancelled_caught:
            raise self._budget.exceeded() from None
        return handled


def within(action: str, timeout: float) -> AbstractContextManager[Budget]:
    """Run the body under a budget; raise DeadlineExceededError when it is spent.

    An outside cancellation propagates unchanged. With `timeout=0`, the body is not entered. The clock starts now.
    Raises InvalidArgumentError for a negative or non-numeric timeout.
    """
    return _Within(Budget.start(action, timeout))


# --- the run that owns an object ------------------------------------------------------------------------------

RunToken = trio.lowlevel.TrioToken


def current_run(action: str) -> RunToken:
    """Return the token of the current `trio.run`. Raises WrongRunError outside of trio."""
    try:
        return trio.lowlevel.current_trio_token()
    except RuntimeError:
        raise WrongRunError(action, outside=True) from None


def check_task(action: str) -> None:
    """Raise WrongRunError outside of trio's tasks, for example in a task of asyncio."""
    if not trio.lowlevel.in_trio_task():
        raise WrongRunError(action, outside=True)


def find_run() -> RunToken | None:
    """Return the token of the current `trio.run`, or None outside of trio."""
    return trio.lowlevel.current_trio_token() if trio.lowlevel.in_trio_run() else None


def check_run(owner: RunToken | None, action: str) -> None:
    """Raise WrongRunError outside of trio, and if the current `trio.run` is not `owner`."""
    if current_run(action) is not owner and owner is not None:
        raise WrongRunError(action=action)
