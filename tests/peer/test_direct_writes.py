"""Over a pipe, a task that waits for a reply also writes: immediately, whole, in order, without the writer
task.
"""

from __future__ import annotations

import json
import os
import random
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager

import pytest
import trio
import trio.testing

from cdpengine._protocol.pipe_transport import PipeTransport
from cdpengine._protocol.session import Connection, open_connection
from cdpengine._protocol.transport import TransportBroken
from cdpengine.errors import ConnectionLostError


class Browser:
    """The other ends of the two pipes, read and written by the test."""

    def __init__(self, commands: int, replies: int) -> None:
        self.commands = commands
        self.replies = replies

    def read(self) -> list[dict[str, object]]:
        """Return the data in the pipe."""
        data = b""
        while True:
            try:
                piece = os.read(self.commands, 1 << 20)
            except BlockingIOError:
                break
            if not piece:
                break
            data += piece
        assert not data or data.endswith(b"\0"), "half a message"
        return [json.loads(each) for each in data.split(b"\0")[:-1]]

    def write(self, *messages: Mapping[str, object]) -> None:
        os.write(self.replies, b"".join(json.dumps(each).encode() + b"\0" for each in messages))


@contextmanager
def pipes() -> Iterator[tuple[PipeTransport, Browser]]:
    command_read, command_write = os.pipe()
    reply_read, reply_write = os.pipe()
    os.set_blocking(command_read, False)
    browser = Browser(command_read, reply_write)
    try:
        yield (
            PipeTransport(trio.lowlevel.FdStream(command_write), trio.lowlevel.FdStream(reply_read)),
            browser,
        )
    finally:
        os.close(command_read)
        os.close(reply_write)


@asynccontextmanager
async def connected() -> AsyncIterator[tuple[Connection, Browser]]:
    with pipes() as (transport, browser):
        try:
            async with open_connection(transport) as connection:
                await trio.testing.wait_all_tasks_blocked()
                yield connection, browser
        finally:
            await transport.aclose()


async def test_a_call_is_written_before_anybody_else_has_a_turn() -> None:
    async with connected() as (connection, browser), trio.open_nursery() as nursery:
        turns: list[str] = []

        async def other() -> None:
            turns.append(f"other saw {[each['method'] for each in browser.read()]}")

        async def caller() -> None:
            nursery.start_soon(other)
            await connection.root.call("A.first")

        nursery.start_soon(caller)
        await trio.testing.wait_all_tasks_blocked()
        assert turns == ["other saw ['A.first']"]
        nursery.cancel_scope.cancel()


async def test_posted_commands_leave_with_the_first_wait_in_one_write() -> None:
    async with connected() as (connection, browser):
        calls = [connection.root.post("A.b", number=number) for number in range(5)]
        calls[3].abandon()
        assert browser.read() == []
        browser.write(*({"id": call.call.id, "result": {"n": call.call.id}} for call in calls))
        assert await calls[4].result() == {"n": calls[4].call.id}
        assert [each["params"] for each in browser.read()] == [{"number": n} for n in (0, 1, 2, 4)]
        for call in calls:
            call.abandon()


async def test_posted_commands_leave_without_a_wait_too() -> None:
    async with connected() as (connection, browser):
        connection.root.post("A.b")
        await trio.testing.wait_all_tasks_blocked()
        assert [each["method"] for each in browser.read()] == ["A.b"]


async def test_a_full_pipe_causes_no_partial_or_reordered_writes() -> None:
    chance = random.Random(5)
    async with connected() as (connection, browser):
        asked: list[int] = []
        got: list[int] = []

        async def call(number: int) -> None:
            asked.append(number)
            with trio.move_on_after(chance.uniform(0, 0.05)):
                await connection.root.call("A.b", number=number, text="x" * chance.randrange(30_000))

        async def read_slowly() -> None:
            rest = b""
            while -1 not in got:
                await trio.sleep(0.001)
                try:
                    rest += os.read(browser.commands, 10_000)
                except BlockingIOError:
                    continue
                *whole, rest = rest.split(b"\0")
                got.extend(json.loads(each)["params"]["number"] for each in whole)

        with trio.fail_after(10):
            async with trio.open_nursery() as reading:
                reading.start_soon(read_slowly)
                async with trio.open_nursery() as calling:
                    for number in range(300):
                        calling.start_soon(call, number)
                        if number % 40 == 0:
                            await trio.sleep(0.02)
                assert connection.statistics().in_flight == 0
                connection.root.post("A.b", number=-1)
        assert 2 < len(got) == len(set(got)) == connection.statistics().sent
        assert [number for number in asked if number in set(got)] == got[:-1]


async def test_a_message_larger_than_the_pipe_arrives_whole() -> None:
    async with connected() as (connection, browser), trio.open_nursery() as nursery:
        nursery.start_soon(connection.root.call, "A.large")
        nursery.start_soon(lambda: connection.root.call("A.larger", text="y" * 3_000_000))
        nursery.start_soon(connection.root.call, "A.last")
        data = b""
        with trio.fail_after(10):
            while data.count(b"\0") < 3:
                await trio.lowlevel.wait_readable(browser.commands)
                data += os.read(browser.commands, 1 << 20)
        messages = [json.loads(each) for each in data.split(b"\0")[:-1]]
        assert sorted(each["method"] for each in messages) == ["A.large", "A.larger", "A.last"]
        nursery.cancel_scope.cancel()


async def test_a_closed_browser_ends_the_call_that_discovers_it() -> None:
    with pipes() as (transport, browser):
        async with open_connection(transport) as connection:
            waiting = connection.root.post("A.before")
            await trio.testing.wait_all_tasks_blocked()
            os.close(browser.commands)
            with trio.fail_after(2), pytest.raises(ConnectionLostError, match="closed its end of the pipe"):
                await connection.root.call("A.b")
            with pytest.raises(ConnectionLostError):
                await waiting.result()
            browser.commands = os.dup(browser.replies)
        await transport.aclose()


async def test_a_cancelled_send_resumes_at_the_same_byte() -> None:
    with pipes() as (transport, browser):
        with trio.move_on_after(0.05) as scope:
            await transport.send(b"a" * 200_000, b"b")
        assert scope.cancelled_caught
        data = b""
        async with trio.open_nursery() as nursery:
            nursery.start_soon(transport.send, b"c")
            while data.count(b"\0") < 3:
                await trio.lowlevel.wait_readable(browser.commands)
                data += os.read(browser.commands, 1 << 20)
        assert data == b"a" * 200_000 + b"\0b\0c\0"
        await transport.aclose()
        with pytest.raises(TransportBroken, match="on this side"):
            transport.send_nowait(b"d")


@pytest.mark.parametrize("buffer", [2, 3, 10, 1000])
async def test_a_burst_of_events_reaches_a_reading_consumer_completely(buffer: int) -> None:
    async with (
        connected() as (connection, browser),
        connection.root.subscribe("A.*", buffer=buffer) as events,
    ):
        browser.write(*({"method": "A.b", "params": {"n": n}} for n in range(1000)))
        with trio.fail_after(5):
            assert [(await events.receive()).params["n"] for _ in range(1000)] == list(range(1000))
        assert events.dropped == 0


async def test_a_burst_of_replies_leaves_others_their_turn() -> None:
    async with connected() as (connection, browser), trio.open_nursery() as nursery:
        turns = 0

        async def other() -> None:
            nonlocal turns
            while True:
                turns += 1
                await trio.lowlevel.checkpoint()

        calls = [connection.root.post("A.b") for _ in range(1000)]
        await trio.testing.wait_all_tasks_blocked()
        browser.read()
        nursery.start_soon(other)
        browser.write(*({"id": call.call.id, "result": {}} for call in calls))
        await calls[-1].result()
        assert turns >= 1000 // 64
        nursery.cancel_scope.cancel()


async def test_a_session_is_visible_before_the_next_reply() -> None:
    async with connected() as (connection, browser), trio.open_nursery() as nursery:
        seen: set[str] = set()

        async def see() -> None:
            async for attachment in connection.targets.attachments:
                assert attachment.session.id is not None
                seen.add(attachment.session.id)

        nursery.start_soon(see)
        for number in range(100):
            info = {"targetId": f"T{number}", "type": "page", "title": "", "url": "", "attached": True}
            call = connection.root.post("Target.setAutoAttach")
            browser.write(
                {
                    "method": "Target.attachedToTarget",
                    "params": {"sessionId": f"S{number}", "targetInfo": info, "waitingForDebugger": False},
                },
                {"id": call.call.id, "result": {}},
            )
            await call.result()
            assert f"S{number}" in seen
        nursery.cancel_scope.cancel()
