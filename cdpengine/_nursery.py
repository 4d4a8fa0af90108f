"""open_body_nursery: a nursery whose errors propagate unwrapped.

Rule: the block raises the original exception, not a group around it. The body is the owner: when it ends, the
background tasks are cancelled; when a background task fails, the body is cancelled. Only if several tasks really
fail together does a group propagate, because each of its errors is needed; such a group never contains a Ctrl-C.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractAsyncContextManager
from types import TracebackType

import attrs
import trio

from cdpengine._budget import check_task


def open_body_nursery() -> AbstractAsyncContextManager[trio.Nursery]:
    """Return an async context manager that yields a `trio.Nursery` and closes it when the body ends.

    - The body ends, in any way: the background tasks are cancelled and awaited.
    - The body raises: that exception propagates, the same object, even if it is an exception group itself.
    - A background task raises: the body is cancelled, and that exception propagates, the same object (a group:
      that group or an equal one, without another one around it).
    - Cancelled from outside: a bare `trio.Cancelled` propagates. Together with a real error, the error propagates.
    - Several tasks (including the body) raise real errors: an exception group of them propagates. If one of them
      is a KeyboardInterrupt, only that one propagates, so that Ctrl-C ends a program as usual.
    """
    return _BodyNursery()


@attrs.define(eq=False)
class _BodyNursery(AbstractAsyncContextManager[trio.Nursery]):
    """A class, not a generator: a Ctrl-C between a generator's frames would leave the nursery open."""

    _manager: AbstractAsyncContextManager[trio.Nursery] = attrs.field(init=False)
    _nursery: trio.Nursery = attrs.field(init=False)

    @trio.lowlevel.enable_ki_protection
    async def __aenter__(self) -> trio.Nursery:
        check_task("start tasks")
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
        body_error = None if exc is None or _holds_cancelled(exc) else exc
        errors: list[BaseException] = [] if body_error is None else [body_error]
        try:
            # Keep a body error without a Cancelled in it from the nursery: a cancel scope that removes its
            # Cancelled from a group copies every group inside.
            swallowed = await (
                self._manager.__aexit__(exc_type, exc, traceback)
                if body_error is None
                else self._manager.__aexit__(None, None, None)
            )
            if body_error is None:
                return bool(swallowed)
        except BaseExceptionGroup as group:
            # With strict groups, this group is always the nursery's: one member for each failed task.
            errors += group.exceptions
        error = choose_error(errors)
        del errors
        if error is exc:
            return False
        context = error.__context__
        try:
            raise error
        finally:
            # Raising inside __aexit__ makes the body's exception (often just a Cancelled) the context; restore the
            # original one. The names are deleted because the error's traceback references this frame, which would
            # be a cycle.
            error.__context__ = context
            del error, context, exc, body_error


def _holds_cancelled(error: BaseException) -> bool:
    if isinstance(error, BaseExceptionGroup):
        return error.subgroup(trio.Cancelled) is not None
    return isinstance(error, trio.Cancelled)


def choose_error(errors: Sequence[BaseException]) -> BaseException:
    """Choose the exception for the block from the errors (at least one) of a nursery's tasks."""
    real = [error for error in errors if not isinstance(error, trio.Cancelled)]
    if not real:
        return errors[0]
    if len(real) == 1:
        return real[0]
    # trio raises a Ctrl-C in the running task; failures of other tasks are its consequences.
    for error in real:
        if isinstance(error, KeyboardInterrupt):
            return error
    return BaseExceptionGroup("several tasks failed together", real)
