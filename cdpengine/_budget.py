"""Budget: one deadline, made once from a `timeout`, carried everywhere, turned into trio cancel scopes.

Rule: `timeout` exists only in public page-level methods; they call `within()` first thing. Below that line
there are only cancel scopes and the Budget that says how much time is left, so one number means the same
everywhere. A budget that is spent before it starts fails at once, and nothing is sent.
"""

from __future__ import annotations

import math
import sys
from contextlib import AbstractContextManager, suppress
from contextvars import ContextVar, Token
from types import TracebackType

import attrs
import trio

from cdpengine._pickling import not_picklable
from cdpengine.errors import DeadlineExceededError, EngineError, InvalidArgumentError


def check_seconds(what: str, seconds: float) -> float:
    """Return `seconds`. Raises InvalidArgumentError when it is not a positive number."""
    if isinstance(seconds, bool) or not isinstance(seconds, (int, float)) or not seconds > 0:
        raise InvalidArgumentError(what=what, given=repr(seconds)[:80], expected="seconds, more than 0")
    return float(seconds)


def check_timeout(timeout: float) -> float:
    """Return `timeout` in seconds (`math.inf`: no limit). Raises InvalidArgumentError when it is not a timeout."""
    if not isinstance(timeout, bool) and isinstance(timeout, (int, float)):
        with suppress(OverflowError):
            if (seconds := float(timeout)) >= 0:  # NaN is not
                return seconds
    raise InvalidArgumentError(
        what="timeout", given=repr(timeout)[:80], expected="seconds, 0 or more (math.inf for no limit)"
    )


@not_picklable("the seconds that remain")
@attrs.define(eq=False)
class Budget:
    """The time that one action may take, and a record of what it was spent on.

    `deadline` is absolute, in trio's clock; `timeout` is the number the caller gave, in seconds. `hindrance` is
    what stands in the way just now, where that has an error of its own: it is raised at the deadline then.
    """

    action: str
    timeout: float
    deadline: float
    steps: list[str] = attrs.field(factory=list)
    hindrance: EngineError | None = None

    @classmethod
    def start(cls, action: str, timeout: float) -> Budget:
        """Start the clock now. Raises InvalidArgumentError for a negative or non-numeric timeout."""
        timeout = check_timeout(timeout)
        return cls(action=action, timeout=timeout, deadline=trio.current_time() + timeout)

    @property
    def remaining(self) -> float:
        """Seconds left, never below 0, an enclosing cancel scope's deadline included."""
        deadline = min(self.deadline, trio.current_effective_deadline())
        return max(0.0, deadline - trio.current_time())

    def child(self, action: str, *, at_most: float = math.inf, margin: float = 0.0) -> Budget:
        """Return a budget for a sub-step: at most `at_most` seconds, ending `margin` seconds before this one."""
        left = max(0.0, min(at_most, self.remaining - margin))
        return Budget(action=action, timeout=left, deadline=trio.current_time() + left, steps=self.steps)

    def scope(self) -> trio.CancelScope:
        """Return a cancel scope that ends at the deadline."""
        return trio.CancelScope(deadline=self.deadline)

    def step(self, text: str) -> None:
        """Note what is being tried now; DeadlineExceededError lists the notes.

        A repeated last note is kept once.
        """
        if not self.steps or self.steps[-1] != text:
            self.steps.append(text)
            if len(self.steps) > _MOST_STEPS:
                del self.steps[1]

    def exceeded(self) -> EngineError:
        """Return the error that says this budget ran out: what stood in the way, or DeadlineExceededError."""
        if self.hindrance is not None:
            return self.hindrance
        return DeadlineExceededError(action=self.action, timeout=self.timeout, steps=tuple(self.steps))


_MOST_STEPS = 20

UNDOING = 0.07
"""Seconds after a deadline in which what was begun is undone. With what is asked of the page then (0.05), and some
for a busy machine, no error is raised more than 0.15 s late."""

_deadline: ContextVar[float] = ContextVar("deadline of the action", default=math.inf)

_TO_SEND = 0.005
"""Seconds that there are in any case: in a scope that is over at its beginning nothing would be sent."""


def undoing(grace: float) -> trio.CancelScope:
    """Return a shielded scope for what must be undone: for `grace` seconds, less where the time is over.

    All that is undone at the end of an action shares UNDOING seconds after its deadline. What is sent in there is
    obeyed in order, whether or not its reply is seen.
    """
    return trio.CancelScope(deadline=undone_by(grace), shield=True)


def undone_by(grace: float) -> float:
    """Return when what must be undone has its end, on trio's clock; see `undoing`."""
    now, deadline = trio.current_time(), _deadline.get()
    if now < deadline:
        grace = min(grace, deadline + UNDOING - now)  # also where it failed before the deadline
    if trio.current_effective_deadline() <= now or isinstance(sys.exception(), DeadlineExceededError):
        grace = min(grace, deadline + UNDOING - now if now >= deadline else UNDOING)
    return now + max(grace, _TO_SEND)


class _Within:
    """What `within` returns. A class, since every action enters one: a generator costs more than the scope."""

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

    Cancellation from outside passes through as it is. With `timeout=0`, the body is not entered. The clock starts
    now. Raises InvalidArgumentError for a negative or non-numeric timeout.
    """
    return _Within(Budget.start(action, timeout))
