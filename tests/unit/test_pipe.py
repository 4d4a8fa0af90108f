"""The pipe transport: messages in chunks of any size."""

from __future__ import annotations

import pytest
import trio
import trio.testing
from hypothesis import given
from hypothesis import strategies as st

from cdpengine._protocol import pipe_transport as transport_module
from cdpengine._protocol.pipe_transport import PipeTransport
from cdpengine._protocol.transport import TransportBroken

Ends = tuple[PipeTransport, trio.testing.MemorySendStream, trio.testing.MemoryReceiveStream]


def make() -> Ends:
    """Return a transport, the stream that feeds it, and the stream that it writes to."""
    feed, from_browser = trio.testing.memory_stream_one_way_pair()
    to_browser, written = trio.testing.memory_stream_one_way_pair()
    return PipeTransport(to_browser, from_browser), feed, written


MESSAGES = st.lists(st.binary(max_size=30).map(lambda data: data.replace(b"\0", b".")), max_size=12)


@given(MESSAGES, st.lists(st.integers(1, 9), min_size=1, max_size=20), st.binary(min_size=1, max_size=5))
def test_messages_survive_any_chunking(messages: list[bytes], sizes: list[int], rest: bytes) -> None:
    rest = rest.replace(b"\0", b".")
    data = b"".join(message + b"\0" for message in messages) + rest

    async def main() -> None:
        pipe, feed, _ = make()
        got: list[bytes] = []

        async def read() -> None:
            with pytest.raises(TransportBroken, match=rf"{len(rest)} bytes into a message"):
                while True:
                    got.append(await pipe.receive())

        async with trio.open_nursery() as nursery:
            nursery.start_soon(read)
            at, n = 0, 0
            while at < len(data):
                size = sizes[n % len(sizes)]
                await feed.send_all(data[at : at + size])
                at, n = at + size, n + 1
                if n % 3 == 0:
                    await trio.testing.wait_all_tasks_blocked()
            await feed.aclose()
        assert got == messages

    trio.run(main)


async def test_many_messages_of_one_read_give_others_their_turn() -> None:
    pipe, feed, _ = make()
    await feed.send_all(b"x\0" * 500)
    turns = 0

    async def other() -> None:
        nonlocal turns
        while True:
            turns += 1
            await trio.lowlevel.checkpoint()

    async with trio.open_nursery() as nursery:
        nursery.start_soon(other)
        for _ in range(500):
            assert await pipe.receive() == b"x"
        nursery.cancel_scope.cancel()
    assert turns >= 400


async def test_a_cancelled_receive_loses_nothing() -> None:
    pipe, feed, _ = make()
    await feed.send_all(b"one\0two\0")
    for expected in (b"one", b"two"):
        with trio.CancelScope() as scope:
            scope.cancel()
            await pipe.receive()
        assert scope.cancelled_caught
        assert await pipe.receive() == expected


async def test_a_message_is_written_with_its_nul() -> None:
    pipe, _, written = make()
    await pipe.send(b'{"id":1}')
    assert await written.receive_some() == b'{"id":1}\0'


async def test_every_kind_of_end() -> None:
    pipe, feed, written = make()
    await feed.aclose()
    with pytest.raises(TransportBroken, match="closed its end"):
        await pipe.receive()
    await written.aclose()
    with pytest.raises(TransportBroken, match="closed its end"):
        await pipe.send(b"{}")
    await pipe.aclose()
    with pytest.raises(TransportBroken, match="on this side"):
        await pipe.send(b"{}")
    with pytest.raises(TransportBroken, match="on this side"):
        await pipe.receive()
    await pipe.aclose()


async def test_closing_wakes_the_reader() -> None:
    pipe, _, _ = make()
    async with trio.open_nursery() as nursery:

        @nursery.start_soon
        async def read() -> None:
            with pytest.raises(TransportBroken, match="on this side"):
                await pipe.receive()

        await trio.testing.wait_all_tasks_blocked()
        await pipe.aclose()


async def test_closing_under_cancellation_closes_both_ends() -> None:
    pipe, feed, written = make()
    with trio.CancelScope() as scope:
        scope.cancel()
        await pipe.aclose()
    assert await written.receive_some() == b""
    with pytest.raises(trio.BrokenResourceError):
        await feed.send_all(b"x")


async def test_a_message_without_end_is_abandoned(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(transport_module, "LARGEST_INCOMING", 1000)
    pipe, feed, _ = make()
    await feed.send_all(b"x" * 1001)
    with pytest.raises(TransportBroken, match="over 1000 bytes"):
        await pipe.receive()
