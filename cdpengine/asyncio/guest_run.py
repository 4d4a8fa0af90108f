"""GuestRun: trio beside an asyncio loop, in the loop's thread (trio's guest mode).

Rule: every call has exactly one outcome, in asyncio. A cancelled call is cancelled in trio and awaited, so none of
its work continues after its caller. A block is entered and left in one task of trio. The run ends with its last
user, or with the loop, and leaves no task, thread or process.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncGenerator, Awaitable, Callable, Coroutine
from contextlib import AbstractAsyncContextManager
from typing import Any, Generic, TypeVar

import attrs
import outcome
import trio

from cdpengine.errors import InvalidStateError, WrongRunError

T = TypeVar("T")

_LEAVING_TIMEOUT = 10.0
"""Maximum time in seconds for asyncio tasks to leave their blocks when the run is cancelled, as by a signal."""


class GuestRun:
    """A trio run in the thread of one asyncio loop. Get it from `join_run`, and end its use with `leave`."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._users = 0
        self._ready: asyncio.Future[trio.Nursery] = loop.create_future()
        self._stop = trio.Event()
        self._over: asyncio.Future[None] = loop.create_future()
        self._hooks: tuple[Any, Any] | None = None
        self._end_with_loop = self._live_as_long_as_loop()
        self._nursery: trio.Nursery | None = None

    # --- its life ------------------------------------------------------------------------------------------------

    async def join(self) -> None:
        """Count a user, and start the run for the first one."""
        self._users += 1
        if self._users > 1:
            return
        # Not cancellable: the first steps of a run wait for nothing.
        self._run_tick(self._start)
        await self._end_with_loop.__anext__()
        await _finish(self._ready)

    async def leave(self) -> None:
        """Count a user less. The last one ends the run, and waits for its end."""
        self._users -= 1
        if not self._users:
            await self.end()

    @property
    def ending(self) -> bool:
        """Whether the run ends or has ended."""
        return self._stop.is_set() or self._over.done()

    async def end(self) -> None:
        """Cancel all calls and blocks, and wait for the end of the run."""
        self._stop.set()
        await self.wait_until_over()
        await self._end_with_loop.aclose()

    async def wait_until_over(self) -> None:
        """Wait for the end of the run, also when cancelled."""
        await _finish(self._over)

    def _start(self) -> None:
        trio.lowlevel.start_guest_run(
            self._main,
            run_sync_soon_threadsafe=lambda tick: self._loop.call_soon_threadsafe(self._run_tick, tick),
            run_sync_soon_not_threadsafe=lambda tick: self._loop.call_soon(self._run_tick, tick),
            done_callback=self._note_end,
            host_uses_signal_set_wakeup_fd=True,
            strict_exception_groups=True,
        )

    def _run_tick(self, tick: Callable[[], object]) -> None:
        """Run a part of trio with its own hooks for asynchronous generators.

        Otherwise the loop would register generators of trio's tasks, and close them in asyncio at its end.
        """
        outside = sys.get_asyncgen_hooks()
        if self._hooks is not None:
            sys.set_asyncgen_hooks(*self._hooks)
        try:
            tick()
        finally:
            self._hooks = sys.get_asyncgen_hooks()
            sys.set_asyncgen_hooks(*outside)

    async def _main(self) -> None:
        async with trio.open_nursery() as nursery:
            self._nursery = nursery
            self._ready.set_result(nursery)
            await self._stop.wait()
            nursery.cancel_scope.cancel()

    def _note_end(self, ended: outcome.Outcome[None]) -> None:
        self._nursery = None
        _RUNS.pop(self._loop, None)
        if not self._over.done():
            error = ended.error if isinstance(ended, outcome.Error) else None
            if error is None or isinstance(error, trio.Cancelled):
                self._over.set_result(None)
            else:
                self._over.set_exception(error)

    async def _live_as_long_as_loop(self) -> AsyncGenerator[None, None]:
        """End the run when the loop closes its asynchronous generators, as `asyncio.run` does at its end."""
        try:
            yield
        finally:
            if not self._over.done():
                self._stop.set()
                await self.wait_until_over()

    def _tasks(self) -> trio.Nursery:
        if self._nursery is None:
            raise InvalidStateError("call the engine", _ENDED)
        if asyncio.get_running_loop() is not self._loop:
            raise WrongRunError("call the engine")
        return self._nursery

    # --- from asyncio to trio ------------------------------------------------------------------------------------

    async def call(
        self,
        function: Callable[[], Awaitable[T]],
        name: str,
        undo: Callable[[T], Awaitable[object]] | None = None,
    ) -> T:
        """Await `function()` in trio, and return or raise its outcome. `undo` takes a value that is lost."""
        answered: asyncio.Future[T] = self._loop.create_future()
        call = _Call(function, answered)
        self._tasks().start_soon(call.run, name=name)
        try:
            return await answered
        except asyncio.CancelledError:
            await self._cancel(call, undo)
            raise
        finally:
            del call, answered  # the error's traceback refers to this frame

    async def _cancel(self, call: _Call[T], undo: Callable[[T], Awaitable[object]] | None) -> None:
        if call.outcome is None:
            call.over = self._loop.create_future()
            call.scope.cancel()
            await _finish(call.over)
        assert call.outcome is not None
        if undo is not None and isinstance(call.outcome, outcome.Value):
            value, end = call.outcome.value, undo
            undoing: _Call[object] = _Call(lambda: end(value), self._loop.create_future())
            self._tasks().start_soon(undoing.run)
            await _finish(undoing.answered)

    def hold(self, manager: AbstractAsyncContextManager[T], name: str) -> HeldBlock[T]:
        """Return a block of trio, to enter and leave from asyncio."""
        return HeldBlock(manager, self._loop, self._tasks(), name)

    # --- from trio to asyncio ------------------------------------------------------------------------------------

    async def await_in_asyncio(self, coroutine: Coroutine[Any, Any, T]) -> T:
        """Run a coroutine of asyncio as a task of the loop. Cancelling it in trio cancels the task, and waits."""
        task = self._loop.create_task(coroutine)
        ended = trio.Event()
        task.add_done_callback(lambda _: ended.set())
        try:
            await ended.wait()
        except trio.Cancelled:
            task.cancel()
            with trio.CancelScope(shield=True):
                await ended.wait()
            if not task.cancelled():
                task.exception()  # retrieved, so that asyncio does not report it
            raise
        if task.cancelled():
            raise InvalidStateError("run a callback in asyncio", "its task was cancelled")
        return task.result()


@attrs.define(eq=False)
class _Call(Generic[T]):
    """One call from asyncio. `over` is set if the caller was cancelled while the call ran."""

    function: Callable[[], Awaitable[T]]
    answered: asyncio.Future[T]
    over: asyncio.Future[None] | None = None
    outcome: outcome.Outcome[T] | None = None
    scope: trio.CancelScope = attrs.field(factory=trio.CancelScope)

    async def run(self) -> None:
        with self.scope:
            self.outcome = await outcome.acapture(self.function)
        if self.outcome is None:
            self.outcome = outcome.Error(_ended_error())
        _settle(self.answered, self.outcome)
        if self.over is not None:
            self.over.set_result(None)


class HeldBlock(Generic[T]):
    """A block of trio in a task of its own, for one `async with` of asyncio."""

    def __init__(
        self,
        manager: AbstractAsyncContextManager[T],
        loop: asyncio.AbstractEventLoop,
        nursery: trio.Nursery,
        name: str,
    ) -> None:
        self._manager = manager
        self._owner = asyncio.current_task()
        self._entered: asyncio.Future[T] = loop.create_future()
        self._over: asyncio.Future[None] = loop.create_future()
        self._leaving = trio.Event()
        self._scope = trio.CancelScope()
        self._error: BaseException | None = None
        self._failure: BaseException | None = None
        nursery.start_soon(self._run, name=name)

    async def enter(self) -> T:
        """Wait until the block is entered, and return its value. Raises the errors of entering."""
        try:
            return await self._entered
        except asyncio.CancelledError:
            await self._abandon()
            raise

    async def leave(self, error: BaseException | None) -> bool:
        """Leave the block with the error of its body, and return whether it swallowed the error."""
        if isinstance(error, Exception | None):
            self._error = error
            self._leaving.set()
            try:
                await asyncio.shield(self._over)
            except asyncio.CancelledError:
                await self._abandon()
                raise
        else:  # cancelled, or asyncio ends
            await self._abandon()
        failure, self._failure, self._error = self._failure, None, None
        try:
            if failure is None:
                return error is not None and isinstance(error, Exception)
            if failure is error or (error is not None and isinstance(failure, trio.Cancelled)):
                return False
            raise _ended_error() if isinstance(failure, trio.Cancelled) else failure
        finally:
            del failure, error

    async def _abandon(self) -> None:
        self._scope.cancel()
        self._leaving.set()
        await _finish(self._over)

    async def _run(self) -> None:
        try:
            with self._scope:
                async with self._manager as value:
                    _settle(self._entered, outcome.Value(value))
                    await self._wait_for_end()
                    if self._error is not None:
                        raise self._error
        except BaseException as error:  # noqa: BLE001 - the caller raises it
            self._failure = error
        _settle(self._entered, outcome.Error(self._failure or _ended_error()))
        if not self._over.done():
            self._over.set_result(None)

    async def _wait_for_end(self) -> None:
        try:
            await self._leaving.wait()
        except trio.Cancelled:
            # Not by the body: a signal ends the program, or the loop ends.
            if self._owner is not None and not self._leaving.is_set() and not self._owner.done():
                self._owner.cancel()
                with trio.move_on_after(_LEAVING_TIMEOUT, shield=True):
                    await self._leaving.wait()
            raise


_ENDED = "the engine has ended in this event loop. Use it inside of the block of cdpengine.asyncio.launch()"


def _ended_error() -> InvalidStateError:
    return InvalidStateError("finish the call", _ENDED)


def _settle(future: asyncio.Future[T], result: outcome.Outcome[T]) -> None:
    if future.done():  # its waiting task was cancelled
        return
    if isinstance(result, outcome.Value):
        future.set_result(result.value)
    elif isinstance(result, outcome.Error):
        future.set_exception(_ended_error() if isinstance(result.error, trio.Cancelled) else result.error)


async def _finish(future: asyncio.Future[Any]) -> None:
    """Wait for a future that is soon done, also when cancelled; raise the cancellation after it."""
    cancelled: asyncio.CancelledError | None = None
    while not future.done():
        try:
            await asyncio.wait((future,))
        except asyncio.CancelledError as error:
            cancelled = error
    if future.exception() is not None:
        raise future.exception()  # type: ignore[misc]
    if cancelled is not None:
        raise cancelled


_RUNS: dict[asyncio.AbstractEventLoop, GuestRun] = {}
"""The run of each loop that has one."""


async def join_run() -> GuestRun:
    """Return the trio run of the running loop, started if needed. End the use with `GuestRun.leave`.

    Raises InvalidStateError if this thread runs trio already.
    """
    loop = asyncio.get_running_loop()
    while (run := _RUNS.get(loop)) is not None and run.ending:
        await run.wait_until_over()
    if run is None:
        if trio.lowlevel.in_trio_run():
            raise InvalidStateError(
                "start the engine beside asyncio", "this thread runs trio: use cdpengine.launch()"
            )
        run = _RUNS[loop] = GuestRun(loop)
    await run.join()
    return run
