"""The bridges between asyncio and trio: each call ends once, cancellation waits for the end, and no thread
remains.
"""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

import pytest
import trio

from cdpengine.cluster.asyncio_thread import open_asyncio_thread
from cdpengine.cluster.trio_thread import CallCancelled, TrioThread, TrioThreadEnded

# --- trio, called from asyncio
# -----------------------------------------------------------------------------------


class Block:
    """The object that the thread holds open. It records its events."""

    def __init__(self) -> None:
        self.notes: list[str] = []
        self.failure: Exception | None = None

    @asynccontextmanager
    async def open(self) -> AsyncIterator[Block]:
        if self.failure is not None:
            raise self.failure
        self.notes.append("opened")
        try:
            yield self
        finally:
            self.notes.append("closed")

    async def hang(self) -> None:
        self.notes.append("began")
        try:
            await trio.sleep_forever()
        finally:
            with trio.move_on_after(0.05, shield=True):
                await trio.sleep_forever()  # leaving takes a moment
            self.notes.append("left")


async def began(block: Block, count: int = 1) -> None:
    while block.notes.count("began") < count:  # noqa: ASYNC110 - it is another thread that notes
        await asyncio.sleep(0.001)


def asked(test: Callable[[TrioThread[Block], Block], Awaitable[None]]) -> list[str]:
    """Run a test in asyncio, with a thread that is stopped at its end. Return the notes."""
    block = Block()

    async def main() -> None:
        thread = TrioThread(block.open, name="tested")
        await thread.start()
        try:
            await test(thread, block)
        finally:
            await thread.stop()

    asyncio.run(main())
    assert not [each for each in threading.enumerate() if each.name == "tested"]
    return block.notes


def test_values_and_errors_come_back() -> None:
    async def fail(block: Block) -> None:
        raise LookupError("its own")

    async def leave(block: Block) -> None:
        raise SystemExit(3)

    async def own_thread(block: Block) -> str:
        await trio.lowlevel.checkpoint()
        return threading.current_thread().name

    async def test(thread: TrioThread[Block], block: Block) -> None:
        calls = [thread.call(own_thread) for _ in range(50)]
        assert [await call.outcome() for call in calls] == ["tested"] * 50
        for failing, error in ((fail, LookupError), (leave, SystemExit)):
            with pytest.raises(error):
                await thread.call(failing).outcome()
        assert await thread.call(own_thread).outcome() == "tested"

    assert asked(test) == ["opened", "closed"]


def test_a_cancelled_call_has_ended() -> None:
    async def test(thread: TrioThread[Block], block: Block) -> None:
        call = thread.call(Block.hang)
        await began(block)
        call.cancel()
        with pytest.raises(CallCancelled):
            await call.outcome()
        assert block.notes[-1] == "left"

        async def ask() -> None:
            await thread.call(Block.hang).outcome()

        task = asyncio.create_task(ask())
        await began(block, 2)
        task.cancel()
        await asyncio.sleep(0)
        task.cancel()  # again, while it ends
        with pytest.raises(asyncio.CancelledError):
            await task
        assert block.notes[-1] == "left"

    assert asked(test) == ["opened", *["began", "left"] * 2, "closed"]


def test_the_end_of_the_thread_ends_its_calls() -> None:
    async def test(thread: TrioThread[Block], block: Block) -> None:
        calls = [thread.call(Block.hang) for _ in range(2)]
        await began(block, 2)
        await thread.stop()
        for call in (*calls, thread.call(Block.hang)):
            with pytest.raises(TrioThreadEnded):
                await call.outcome()

    assert asked(test) == ["opened", "began", "began", "left", "left", "closed"]


def test_a_block_that_cannot_be_opened() -> None:
    block = Block()
    block.failure = OSError("no")

    async def main() -> None:
        thread = TrioThread(block.open, name="tested")
        with pytest.raises(OSError, match="no"):
            await thread.start()
        with pytest.raises(TrioThreadEnded):
            await thread.call(Block.hang).outcome()

    asyncio.run(main())


def test_a_cancelled_start() -> None:
    notes: list[str] = []

    @asynccontextmanager
    async def never() -> AsyncIterator[None]:
        notes.append("opening")
        try:
            while True:
                await trio.sleep(1)
                if not notes:
                    yield
        finally:
            notes.append("left")

    async def main() -> None:
        task = asyncio.create_task(TrioThread(never, name="tested").start())
        while not notes:  # noqa: ASYNC110
            await asyncio.sleep(0.001)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(main())
    assert notes == ["opening", "left"]


# --- asyncio, called from trio
# -----------------------------------------------------------------------------------


async def test_calls_into_asyncio() -> None:
    async def add(one: int, two: int) -> int:
        await asyncio.sleep(0)
        return one + two

    async def fail() -> None:
        raise LookupError("its own")

    async with open_asyncio_thread() as thread:
        results: list[int] = []

        async def ask(number: int) -> None:
            results.append(await thread.call(add, number, 1))

        async with trio.open_nursery() as nursery:
            for number in range(50):
                nursery.start_soon(ask, number)
        assert sorted(results) == list(range(1, 51))
        with pytest.raises(LookupError):
            await thread.call(fail)
    assert not [each for each in threading.enumerate() if each.name == "cdpengine asyncio"]


async def test_a_call_cancelled_by_trio_has_ended_in_asyncio() -> None:
    notes: list[str] = []

    async def hang() -> None:
        notes.append("began")
        try:
            await asyncio.Event().wait()
        finally:
            await asyncio.sleep(0.02)  # leaving takes a moment
            notes.append("left")

    async with open_asyncio_thread() as thread:
        with trio.CancelScope() as scope:
            async with trio.open_nursery() as nursery:
                nursery.start_soon(thread.call, hang)
                while not notes:  # noqa: ASYNC110
                    await trio.sleep(0.001)
                scope.cancel()
        assert notes == ["began", "left"]
        begun = time.monotonic()
        with trio.move_on_after(0):
            await thread.call(hang)
        assert time.monotonic() - begun < 1
        assert notes.count("began") == notes.count("left")


async def test_an_error_in_the_block_ends_the_thread() -> None:
    with pytest.raises(KeyError):
        async with open_asyncio_thread() as thread:
            raise KeyError(thread)
    assert not [each for each in threading.enumerate() if each.name == "cdpengine asyncio"]
