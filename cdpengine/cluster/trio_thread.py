"""TrioThread: trio in a separate thread, which keeps one block open and is called from asyncio.

Rule: every call has exactly one outcome, in asyncio: its value, its error, or the reason why it has none (it was
cancelled, or the thread ended). A cancelled call is awaited, so none of its work continues after its caller. The
block ends with `stop`, and with the process.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager
from typing import Any, Generic, TypeVar

import attrs
import trio

Resource = TypeVar("Resource")
Value = TypeVar("Value")


class TrioThreadEnded(Exception):
    """The thread ended before the call did; the call does not continue."""


class CallCancelled(Exception):
    """The call was cancelled by `TrioCall.cancel`, and has ended."""


class TrioThread(Generic[Resource]):
    """A thread that keeps `open_block()` open with trio. Created and used in a running event loop."""

    def __init__(self, open_block: Callable[[], AbstractAsyncContextManager[Resource]], name: str) -> None:
        self._open_block = open_block
        self._loop = asyncio.get_running_loop()
        self._ready: asyncio.Future[None] = self._loop.create_future()
        self._over: asyncio.Future[BaseException | None] = self._loop.create_future()
        self._thread = threading.Thread(target=self._run, name=name, daemon=True)
        # Used only in the thread, except for the token.
        self._token: trio.lowlevel.TrioToken | None = None
        self._stopping = False
        self._scope = trio.CancelScope()
        self._stop = trio.Event()
        self._nursery: trio.Nursery | None = None
        self._resource: Resource | None = None

    async def start(self) -> None:
        """Start the thread, and return when the block was entered. Raises the errors of entering it."""
        self._thread.start()
        try:
            await asyncio.wait((self._ready, self._over), return_when=asyncio.FIRST_COMPLETED)
        except asyncio.CancelledError:
            await self.stop()
            raise
        if self._over.done():
            raise self._over.result() or TrioThreadEnded("it ended at its start")

    async def stop(self) -> None:
        """Cancel all calls, leave the block, end the thread, and wait for it."""
        self._stop_soon()
        await asyncio.wait((self._over,))
        self._thread.join()

    def _stop_soon(self) -> None:
        # Before trio runs, no token exists; `_main` checks whether to stop.
        self._stopping = True
        if self._token is not None:
            self._soon(self._cancel_all)

    def call(self, function: Callable[[Resource], Awaitable[Value]]) -> TrioCall[Value]:
        """Begin `await function(held)` in the thread; `await call.outcome()` waits for it."""
        call: TrioCall[Value] = TrioCall(self._loop.create_future(), self._soon)
        if not self._soon(lambda: self._begin(call, function)):
            _settle(call.future, None, TrioThreadEnded("the thread has ended"))
        return call

    # --- in the thread ---------------------------------------------------------------------------------------

    def _run(self) -> None:
        error: BaseException | None = None
        try:
            trio.run(self._main)
        except BaseException as raised:  # noqa: BLE001 - `start` raises it, and it ends all calls
            error = raised
        self._settle_soon(_settle, self._over, error, None)

    async def _main(self) -> None:
        self._token = trio.lowlevel.current_trio_token()
        with self._scope:
            if self._stopping:
                return
            async with self._open_block() as resource:
                try:
                    async with trio.open_nursery() as nursery:
                        self._resource, self._nursery = resource, nursery
                        self._settle_soon(_settle, self._ready, None, None)
                        await self._stop.wait()
                        nursery.cancel_scope.cancel()
                finally:
                    self._nursery = None

    def _cancel_all(self) -> None:
        if self._nursery is None:
            self._scope.cancel()
        else:
            self._stop.set()

    def _begin(self, call: TrioCall[Value], function: Callable[[Resource], Awaitable[Value]]) -> None:
        if self._nursery is None:
            self._settle_soon(_settle, call.future, None, TrioThreadEnded("it has ended"))
        else:
            self._nursery.start_soon(self._do, call, function)

    async def _do(self, call: TrioCall[Value], function: Callable[[Resource], Awaitable[Value]]) -> None:
        assert self._resource is not None
        value: Value | None = None
        error: BaseException | None = TrioThreadEnded("it ended under the call")
        try:
            with call.scope:
                value = await function(self._resource)
                error = None
            if call.scope.cancelled_caught:
                error = CallCancelled("it was cancelled")
        except trio.Cancelled:
            raise
        except BaseException as raised:  # noqa: BLE001 - the call's outcome, which its waiter raises
            error = raised
        finally:
            self._settle_soon(_settle, call.future, value, error)

    # --- between the threads ---------------------------------------------------------------------------------

    def _soon(self, function: Callable[[], None]) -> bool:
        """Let trio call a function. Return False if trio has ended."""
        if self._token is None:
            return False
        try:
            self._token.run_sync_soon(function)
        except trio.RunFinishedError:
            return False
        return True

    def _settle_soon(
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
                raise  # a closed loop has no waiters


@attrs.define(eq=False)
class TrioCall(Generic[Value]):
    """A call in a TrioThread."""

    future: asyncio.Future[Value]
    _soon: Callable[[Callable[[], None]], bool]
    scope: trio.CancelScope = attrs.field(factory=trio.CancelScope)

    def cancel(self) -> None:
        """Cancel the call; `outcome` raises CallCancelled when it has ended."""
        self._soon(self.scope.cancel)

    async def outcome(self) -> Value:
        """Wait until the call has ended, and return or raise its outcome.

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
            self.future.exception()  # retrieved, so that asyncio does not complain about it
            raise cancelled
        return self.future.result()


def _settle(future: asyncio.Future[Any], value: object, error: BaseException | None) -> None:
    if future.done():
        return
    if error is None:
        future.set_result(value)
    else:
        future.set_exception(error)
