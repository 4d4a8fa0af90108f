"""Commands that wait together are sent in one write, whole and in order, over both transports."""

from __future__ import annotations

import json

import trio
import trio.testing
from raw_server import ByteStream, Serve, accepting, read_request, tcp_server
from wsproto import ConnectionType
from wsproto.connection import Connection as Frames
from wsproto.events import CloseConnection, TextMessage

from cdpengine._protocol.pipe_transport import PipeTransport
from cdpengine._protocol.session import open_connection
from cdpengine._protocol.websocket_transport import open_websocket
from cdpengine.testing.cancellation import walk_cancellations


def receiving(reads: list[list[str]], ended: trio.Event) -> Serve:
    """Return a server that records the messages of each read, "close" for a close frame."""

    async def serve(stream: ByteStream) -> None:
        await stream.send_all(accepting(await read_request(stream)))
        frames = Frames(ConnectionType.SERVER)
        text = ""
        while not ended.is_set():
            frames.receive_data(bytes(await stream.receive_some(1 << 20)) or None)
            read: list[str] = []
            for event in frames.events():
                if isinstance(event, TextMessage):
                    text += event.data
                    if event.message_finished:
                        read.append(text)
                        text = ""
                elif isinstance(event, CloseConnection):
                    read.append("close" if not text else "half a message")
                    ended.set()
            reads.append(read)

    return serve


async def test_small_commands_of_one_moment_are_one_write_to_a_websocket() -> None:
    reads: list[list[str]] = []
    ended = trio.Event()
    async with (
        tcp_server(receiving(reads, ended)) as port,
        open_websocket(f"ws://127.0.0.1:{port}/") as transport,
        open_connection(transport) as connection,
    ):
        await trio.testing.wait_all_tasks_blocked()
        calls = [connection.root.post("A.b", number=number) for number in range(40)]
        large = connection.root.post("A.b", number=40, text="x" * (1 << 17))
        calls += [large, connection.root.post("A.b", number=41)]
        with trio.fail_after(5):
            while sum(map(len, reads)) < 42:
                await trio.testing.wait_all_tasks_blocked(0.01)
        for call in calls:
            call.abandon()
        sent = [json.loads(message)["params"]["number"] for read in reads for message in read]
        assert sent == list(range(42))
        assert (
            len(next(read for read in reads if read)) == 40
        )  # the large one waited for none, and none waited for it


async def test_small_commands_of_one_moment_are_one_write_to_a_pipe() -> None:
    _, from_browser = trio.testing.memory_stream_one_way_pair()
    to_browser, written = trio.testing.memory_stream_one_way_pair()
    async with open_connection(PipeTransport(to_browser, from_browser)) as connection:
        calls = [connection.root.post("A.b", number=number) for number in range(3)]
        calls[1].abandon()
        data = bytes(await written.receive_some(1 << 20))
        for call in calls:
            call.abandon()
    assert data.endswith(b"\0")
    assert [json.loads(each)["params"]["number"] for each in data.split(b"\0")[:-1]] == [0, 2]


async def test_a_cancelled_write_of_several_leaves_whole_messages() -> None:
    """The messages sent are whole and in order, and so is the close frame."""
    reads: list[list[str]] = []
    ended = trio.Event()
    runs = 0
    async with tcp_server(receiving(reads, ended)) as port:
        async with open_websocket(f"ws://127.0.0.1:{port}/") as transport:

            async def send() -> None:
                nonlocal runs
                runs += 1
                await transport.send(*(b"%d.%d" % (runs, place) for place in range(3)))

            await walk_cancellations(send)
        with trio.fail_after(5):
            await ended.wait()
    sent = [message for read in reads for message in read]
    assert sent.pop() == "close"
    assert sent == sorted(sent, key=lambda message: [int(part) for part in message.split(".")])
    assert sent[-3:] == [f"{runs}.{place}" for place in range(3)]
