"""TrioThread: trio in a thread of its own, which holds one block open and is asked from asyncio.

Rule: whatever is asked has exactly one end, on asyncio's side: its value, its error, or the named reason why there
is none (it was cancelled, the thread ended). What is cancelled is waited for, so nothing of it is left when its
caller goes on. The block ends with `stop`, and with the thread's process.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager
from typing import Any, Generic, TypeVar

import attrs
import trio

Held = TypeVar("Held")
Value = TypeVar("Value")


class TrioThreadEnded(Exception):
    """The thread ended before what was asked had: nothing of it goes on."""


class CallCancelled(Exception):
    """What was asked was cancelled by `TrioCall.cancel`, and has ended."""


class TrioThread(Generic[Held]):
    """A thread that holds `open_block()` open with trio. Made in a running event loop, and used from it."""

    def __init__(self, open_block: Callable[[], AbstractAsyncContextManager[Held]], name: str) -> None:
        self._open_block = open_block
        self._loop = asyncio.get_running_loop()
        self._ready: asyncio.Future[None] = self._loop.create_future()
        self._over: asyncio.Future[BaseException | None] = self._loop.create_future()
        self._thread = threading.Thread(target=self._run, name=name, daemon=True)
        # Of the thread alone, but for the token.
        self._token: trio.lowlevel.TrioToken | None = None
        self._stopping = False
        self._scope = trio.CancelScope()
        self._stop = trio.Event()
        self._nursery: trio.Nursery | None = None
        self._held: Held | None = None

    async def start(self) -> None:
        """Start, and return when the block was entered. Raises what entering it raised."""
        self._thread.start()
        try:
            await asyncio.wait((self._ready, self._over), return_when=asyncio.FIRST_COMPLETED)
        except asyncio.CancelledError:
            await self.stop()
            raise
        if self._over.done():
            raise self._over.result() or TrioThreadEnded("it ended at its start")

    async def stop(self) -> None:
        """Cancel what is under way, leave the block, end the thread, and wait for it."""
        self._stop_soon()
        await asyncio.wait((self._over,))
        self._thread.join()

    def _stop_soon(self) -> None:
        # Before trio runs there is no token; `_main` looks whether it is to stop.
        self._stopping = True
        if self._token is not None:
            self._soon(self._cancel_all)

    def call(self, function: Callable[[Held], Awaitable[Value]]) -> TrioCall[Value]:
        """Begin `await function(held)` there; `await call.outcome()` waits for it."""
        call: TrioCall[Value] = TrioCall(self._loop.create_future(), self._soon)
        if not self._soon(lambda: self._begin(call, function)):
            _settle(call.future, None, TrioThreadEnded("it has ended"))
        return call

    # --- in the thread ---------------------------------------------------------------------------------------

    def _run(self) -> None:
        error: BaseException | None = None
        try:
            trio.run(self._main)
        except BaseException as raised:  # noqa: BLE001 - it is raised where `start` waits, and ends all calls
            error = raised
        self._tell(_settle, self._over, error, None)

    async def _main(self) -> None:
        self._token = trio.lowlevel.current_trio_token()
        with self._scope:
            if self._stopping:
                return
            async with self._open_block() as held:
                try:
                    async with trio.open_nursery() as nursery:
                        self._held, self._nursery = held, nursery
                        self._tell(_settle, self._ready, None, None)
                        await self._stop.wait()
                        nursery.cancel_scope.cancel()
                finally:
                    self._nursery = None

    def _cancel_all(self) -> None:
        if self._nursery is None:
            self._scope.cancel()
        else:
            self._stop.set()

    def _begin(self, call: TrioCall[Value], function: Callable[[Held], Awaitable[Value]]) -> None:
        if self._nursery is None:
            self._tell(_settle, call.future, None, TrioThreadEnded("it has ended"))
        else:
            self._nursery.start_soon(self._do, call, function)

    async def _do(self, call: TrioCall[Value], function: Callable[[Held], Awaitable[Value]]) -> None:
        assert self._held is not None
        value: Value | None = None
        error: BaseException | None = TrioThreadEnded("it ended under the call")
        try:
            with call.scope:
                value = await function(self._held)
                error = None
            if call.scope.cancelled_caught:
                error = CallCancelled("it was cancelled")
        except trio.Cancelled:
            raise
        except BaseException as raised:  # noqa: BLE001 - it is the call's outcome, raised where that is waited for
            error = raised
        finally:
            self._tell(_settle, call.future, value, error)

    # --- between the two -------------------------------------------------------------------------------------

    def _soon(self, function: Callable[[], None]) -> bool:
        """Have trio call a function; False where it has ended."""
        if self._token is None:
            return False
        try:
            self._token.run_sync_soon(function)
        except trio.RunFinishedError:
            return False
        return True

    def _tell(
        self,
        settle: Callable[[asyncio.Future[Any], Any, BaseException | None], None],
        future: asyncio.Future[Any],
        value: object,
        error: BaseException | None,
    ) -> None:
        try:
            self._loop.call_soon_threadsafe(settle, future, value, error)
        except RuntimeError:
            if not self._loop.is_closed():
                raise  # a closed loop has nobody who waits


@attrs.define(eq=False)
class TrioCall(Generic[Value]):
    """Something that was asked of a TrioThread."""

    future: asyncio.Future[Value]
    _soon: Callable[[Callable[[], None]], bool]
    scope: trio.CancelScope = attrs.field(factory=trio.CancelScope)

    def cancel(self) -> None:
        """Cancel it; `outcome` raises CallCancelled when it has ended."""
        self._soon(self.scope.cancel)

    async def outcome(self) -> Value:
        """Wait until it has ended, and return or raise what came of it.

        Raises CallCancelled, TrioThreadEnded. Cancelling this cancels the call, and waits until it has ended.
        """
        cancelled: asyncio.CancelledError | None = None
        while not self.future.done():
            try:
                await asyncio.wait((self.future,))
            except asyncio.CancelledError as error:
                cancelled = error
                self.cancel()
        if cancelled is not None:
            self.future.exception()  # seen, so that asyncio does not complain of it
            raise cancelled
        return self.future.result()


def _settle(future: asyncio.Future[Any], value: object, error: BaseException | None) -> None:
    if future.done():
        return
    if error is None:
        future.set_result(value)
    else:
        future.set_exception(error)
