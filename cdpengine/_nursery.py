"""open_body_nursery: a nursery whose errors leave as themselves.

Rule: what leaves the block is what was raised, not a group made around it. The body is the owner: when it
ends, the background tasks are cancelled; when a background task fails, the body is cancelled. Only when
several tasks really fail at once does a group leave, because then each of its errors is needed; a Ctrl-C is
never in such a group.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractAsyncContextManager
from types import TracebackType

import attrs
import trio


def open_body_nursery() -> AbstractAsyncContextManager[trio.Nursery]:
    """Return an async context manager that gives a `trio.Nursery` and closes it when the body ends.

    - The body ends, in whatever way: the background tasks are cancelled and waited for.
    - The body raises: that exception leaves, the same object, even when it is an exception group itself.
    - A background task raises: the body is cancelled, and that exception leaves, the same object (if it is
      a group: that group or an equal one, without another one around it).
    - Cancelled from outside: a bare `trio.Cancelled` leaves. Together with a real error, the error leaves.
    - Several tasks (the body counts as one) raise real errors: an exception group of them leaves; but where one of
      them is a KeyboardInterrupt, that one alone, so that Ctrl-C ends a program as it does elsewhere.
    """
    return _BodyNursery()


@attrs.define(eq=False)
class _BodyNursery(AbstractAsyncContextManager[trio.Nursery]):
    """A class, not a generator: a Ctrl-C between a generator's frames would leave the nursery open."""

    _manager: AbstractAsyncContextManager[trio.Nursery] = attrs.field(init=False)
    _nursery: trio.Nursery = attrs.field(init=False)

    @trio.lowlevel.enable_ki_protection
    async def __aenter__(self) -> trio.Nursery:
        self._manager = trio.open_nursery(strict_exception_groups=True)
        self._nursery = await self._manager.__aenter__()
        return self._nursery

    @trio.lowlevel.enable_ki_protection
    async def __aexit__(
        self,
        exc_type: type[BaseException] | None,
        exc: BaseException | None,
        traceback: TracebackType | None,
    ) -> bool:
        self._nursery.cancel_scope.cancel()
        held = None if exc is None or _holds_cancelled(exc) else exc
        errors: list[BaseException] = [] if held is None else [held]
        try:
            # A body error without a Cancelled in it does not concern the nursery, and is kept from it:
            # a cancel scope that takes its Cancelled out of a group makes a copy of every group inside.
            swallowed = await (
                self._manager.__aexit__(exc_type, exc, traceback)
                if held is None
                else self._manager.__aexit__(None, None, None)
            )
            if held is None:
                return bool(swallowed)
        except BaseExceptionGroup as group:
            # With strict groups, this group is always the nursery's own: one member for each failed task.
            errors += group.exceptions
        error = choose_error(errors)
        del errors
        if error is exc:
            return False
        context = error.__context__
        try:
            raise error
        finally:
            # Raising inside __aexit__ makes the body's exception (often just a Cancelled) the context; put
            # back the one that the error came with. The names are deleted because the error's traceback
            # holds this frame: a cycle otherwise.
            error.__context__ = context
            del error, context, exc, held


def _holds_cancelled(error: BaseException) -> bool:
    if isinstance(error, BaseExceptionGroup):
        return error.subgroup(trio.Cancelled) is not None
    return isinstance(error, trio.Cancelled)


def choose_error(errors: Sequence[BaseException]) -> BaseException:
    """Choose from the errors of a nursery's tasks (at least one) what leaves the block."""
    real = [error for error in errors if not isinstance(error, trio.Cancelled)]
    if not real:
        return errors[0]
    if len(real) == 1:
        return real[0]
    # trio raises a Ctrl-C in whichever task runs; what fails in the others then is the consequence.
    for error in real:
        if isinstance(error, KeyboardInterrupt):
            return error
    return BaseExceptionGroup("several tasks failed together", real)
