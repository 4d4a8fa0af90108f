"""AsyncioThread: asyncio in a separate thread, called from trio.

Rule: every call has exactly one outcome, in trio. Cancelling it in trio cancels it in the thread too, and waits
for it up to a deadline. The thread ends with its block, which waits for it.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager
from typing import Any, TypeVar

import trio

Value = TypeVar("Value")

_CANCELLING = 5.0
"""Maximum time for a cancelled call to end, in seconds."""

_ENDING = 10.0
"""Maximum time for the thread to end, in seconds."""


class AsyncioThread:
    """A thread that runs asyncio. Created by `open_asyncio_thread`."""

    def __init__(self) -> None:
        self._trio = trio.lowlevel.current_trio_token()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._ended = False
        self._started = trio.Event()
        self._over = trio.Event()
        self._stop: asyncio.Event | None = None
        self._thread = threading.Thread(target=self._run, name="cdpengine asyncio", daemon=True)

    async def call(self, function: Callable[..., Coroutine[Any, Any, Value]], *args: object) -> Value:
        """Await `function(*args)` in the thread, and return or raise its outcome."""
        assert self._loop is not None
        loop, ended = self._loop, trio.Event()
        tasks: list[asyncio.Task[Value]] = []

        def begin() -> None:
            task = loop.create_task(function(*args))
            tasks.append(task)
            task.add_done_callback(end)

        def end(task: asyncio.Task[Value]) -> None:
            if not task.cancelled():
                task.exception()  # retrieved, so that asyncio does not complain about an abandoned call
            self._run_in_trio(ended.set)

        def cancel() -> None:
            for task in tasks:
                task.cancel()

        loop.call_soon_threadsafe(begin)
        try:
            await ended.wait()
        except BaseException:  # also a Ctrl-C
            loop.call_soon_threadsafe(cancel)
            with trio.move_on_after(_CANCELLING, shield=True):
                await ended.wait()
            raise
        return tasks[0].result()

    def _run(self) -> None:
        try:
            asyncio.run(self._main())
        finally:
            self._run_in_trio(self._over.set)

    async def _main(self) -> None:
        self._loop, self._stop = asyncio.get_running_loop(), asyncio.Event()
        self._run_in_trio(self._started.set)
        await self._stop.wait()

    def _run_in_trio(self, function: Callable[[], object]) -> None:
        try:
            self._trio.run_sync_soon(function)
        except trio.RunFinishedError:
            return  # no waiter is left

    async def begin(self) -> None:
        """Start the thread."""
        with trio.CancelScope(
            shield=True
        ):  # a thread starts immediately, and must start before it can be ended
            self._thread.start()
            await self._started.wait()

    async def end(self) -> None:
        """Stop the thread."""
        assert self._loop is not None
        assert self._stop is not None
        self._loop.call_soon_threadsafe(self._stop.set)
        with trio.move_on_after(_ENDING, shield=True):
            await self._over.wait()
            self._thread.join()


@asynccontextmanager
async def open_asyncio_thread() -> AsyncIterator[AsyncioThread]:
    """Run asyncio in a thread for a block."""
    thread = AsyncioThread()
    await thread.begin()
    try:
        yield thread
    finally:
        await thread.end()
