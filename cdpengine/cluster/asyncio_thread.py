"""AsyncioThread: asyncio in a thread of its own, asked from trio.

Rule: whatever is asked has exactly one end, on trio's side. What is cancelled there is cancelled here, and waited
for, though not longer than a deadline. The thread ends with its block, and is waited for.
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
"""Seconds that something which was cancelled gets to end."""

_ENDING = 10.0
"""Seconds that the thread gets to end."""


class AsyncioThread:
    """A thread that runs asyncio. Made by `open_asyncio_thread`."""

    def __init__(self) -> None:
        self._trio = trio.lowlevel.current_trio_token()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._ended = False
        self._started = trio.Event()
        self._over = trio.Event()
        self._stop: asyncio.Event | None = None
        self._thread = threading.Thread(target=self._run, name="cdpengine asyncio", daemon=True)

    async def call(self, function: Callable[..., Coroutine[Any, Any, Value]], *args: object) -> Value:
        """Await `function(*args)` there, and return or raise what comes of it."""
        assert self._loop is not None
        loop, ended = self._loop, trio.Event()
        tasks: list[asyncio.Task[Value]] = []

        def begin() -> None:
            task = loop.create_task(function(*args))
            tasks.append(task)
            task.add_done_callback(end)

        def end(task: asyncio.Task[Value]) -> None:
            if not task.cancelled():
                task.exception()  # seen: asyncio does not complain where nobody waits any more
            self._tell(ended.set)

        def cancel() -> None:
            for task in tasks:
                task.cancel()

        loop.call_soon_threadsafe(begin)
        try:
            await ended.wait()
        except BaseException:  # a Ctrl-C, too
            loop.call_soon_threadsafe(cancel)
            with trio.move_on_after(_CANCELLING, shield=True):
                await ended.wait()
            raise
        return tasks[0].result()

    def _run(self) -> None:
        try:
            asyncio.run(self._main())
        finally:
            self._tell(self._over.set)

    async def _main(self) -> None:
        self._loop, self._stop = asyncio.get_running_loop(), asyncio.Event()
        self._tell(self._started.set)
        await self._stop.wait()

    def _tell(self, function: Callable[[], object]) -> None:
        try:
            self._trio.run_sync_soon(function)
        except trio.RunFinishedError:
            return  # nobody waits any more

    async def _hold(self) -> None:
        with trio.CancelScope(shield=True):  # a thread starts in no time; without it there is nothing to end
            self._thread.start()
            await self._started.wait()

    async def _end(self) -> None:
        assert self._loop is not None
        assert self._stop is not None
        self._loop.call_soon_threadsafe(self._stop.set)
        with trio.move_on_after(_ENDING, shield=True):
            await self._over.wait()
            self._thread.join()


@asynccontextmanager
async def open_asyncio_thread() -> AsyncIterator[AsyncioThread]:
    """Have a thread that runs asyncio for a block."""
    thread = AsyncioThread()
    await thread._hold()
    try:
        yield thread
    finally:
        await thread._end()
