"""The scripted peer itself: it follows its rules, and its errors fail the test."""

from __future__ import annotations

import json

import pytest
import trio
import trio.testing
from scripting import Kind

from cdpengine._protocol.session import Session
from cdpengine._protocol.transport import TransportBroken
from cdpengine._protocol.websocket_transport import open_websocket
from cdpengine.errors import InvalidArgumentError, RemoteError
from cdpengine.testing import SILENCE, Request, ScriptedPeer


async def test_calls_without_a_rule_get_an_empty_answer(peer: ScriptedPeer, root: Session) -> None:
    assert await root.call("A.b", x=1) == {}
    (request,) = peer.received
    assert (request.method, request.params, request.session_id) == ("A.b", {"x": 1}, None)


async def test_the_last_rule_wins_and_a_rule_for_the_nth_call_overrides_it(
    peer: ScriptedPeer, root: Session
) -> None:
    peer.on("A.b", result={"n": 2}, nth=2)
    peer.on("A.b", result={"n": 0})
    peer.on("A.b", result={"n": 1})
    assert [await root.call("A.b") for _ in range(3)] == [{"n": 1}, {"n": 2}, {"n": 1}]
    assert peer.count("A.b") == 3


async def test_a_rule_for_everything_else(peer: ScriptedPeer, root: Session) -> None:
    peer.on("*", error=(-32601, "wasn't found"))
    peer.on("A.b")
    assert await root.call("A.b") == {}
    with pytest.raises(RemoteError, match="wasn't found"):
        await root.call("A.c")
    peer.on("*")


async def test_handlers_sync_and_async(peer: ScriptedPeer, root: Session) -> None:
    async def later(request: Request) -> dict[str, object]:
        await trio.lowlevel.checkpoint()
        return {"later": request.params}

    peer.on("A.sync", lambda request: {"now": request.params})
    peer.on("A.async", later)
    assert await root.call("A.sync", x=1) == {"now": {"x": 1}}
    assert await root.call("A.async", x=2) == {"later": {"x": 2}}


async def test_an_async_handler_does_not_hold_up_the_others(peer: ScriptedPeer, root: Session) -> None:
    go = trio.Event()

    async def later(_request: Request) -> None:
        await go.wait()

    peer.on("A.slow", later)
    slow = root.post("A.slow")
    assert await root.call("A.fast") == {}
    go.set()
    assert await slow.result() == {}


async def test_holding_and_releasing(peer: ScriptedPeer, root: Session) -> None:
    hold = peer.hold("A.b", nth=2)
    first, second = root.post("A.b"), root.post("A.b")
    assert await first.result() == {}
    (request,) = await hold.wait()
    assert not second.done
    request.reply({"n": 2})
    assert await second.result() == {"n": 2}


@pytest.mark.parametrize("asynchronous", [False, True])
async def test_an_error_in_a_handler_ends_the_block_with_it(kind: Kind, asynchronous: bool) -> None:
    error = ZeroDivisionError("handler")

    def fails(_request: Request) -> None:
        raise error

    async def fails_later(_request: Request) -> None:
        raise error

    with pytest.raises(ZeroDivisionError) as caught:
        async with ScriptedPeer(kind) as peer, peer.connect() as connection:
            peer.on("A.b", fails_later if asynchronous else fails)
            await connection.root.call("A.b")
    assert caught.value is error


async def test_a_client_that_sends_no_command_ends_the_block(kind: Kind) -> None:
    with pytest.raises(ValueError, match="not JSON"):
        async with ScriptedPeer(kind) as peer, peer.open_transport() as transport:
            await transport.send(b"nonsense")
            await peer.wait_for("A.b")


async def test_wait_for_the_nth_call(peer: ScriptedPeer, root: Session) -> None:
    got: list[Request] = []
    async with trio.open_nursery() as nursery:

        @nursery.start_soon
        async def wait() -> None:
            got.append(await peer.wait_for("A.b", nth=2))

        await root.call("A.b", n=1)
        assert not got
        await root.call("A.b", n=2)
    assert got[0].params == {"n": 2}
    assert (await peer.wait_for("A.b")).params == {"n": 1}


async def test_several_clients_share_a_script(kind: Kind) -> None:
    async with ScriptedPeer(kind) as peer, peer.connect() as first, peer.connect() as second:
        peer.on("A.b", result={"x": 1})
        assert await first.root.call("A.b") == await second.root.call("A.b") == {"x": 1}
        assert [peer.links.index(request.link) for request in peer.received] == [0, 1]
        assert await peer.linked(2) is peer.link
        async with second.root.subscribe("*") as events:
            peer.send_event("A.event")  # sent to the most recent connection
            assert (await events.receive()).method == "A.event"


async def test_whole_messages_go_out_before_a_drop(kind: Kind) -> None:
    async with ScriptedPeer(kind) as peer, peer.open_transport() as transport:
        peer.send_raw('{"method":"A.one"}')
        peer.send_chunks([b'{"method":', b'"A.two"}'])
        peer.drop(mid_message=True)
        peer.send_raw('{"method":"A.never"}')
        got = [json.loads(await transport.receive())["method"] for _ in range(2)]
        assert got == ["A.one", "A.two"]
        with pytest.raises(TransportBroken):
            await transport.receive()
        await peer.flushed()
        assert not peer.link.open


async def test_binary_and_text_messages(kind: Kind) -> None:
    async with ScriptedPeer(kind) as peer, peer.open_transport() as transport:
        peer.send_raw("☃")
        peer.send_raw(b"\xff")
        text, data = await transport.receive(), await transport.receive()
        assert (text if isinstance(text, str) else text.decode()) == "☃"
        assert data == b"\xff"


async def test_sending_without_a_client_raises(kind: Kind) -> None:
    async with ScriptedPeer(kind) as peer:
        with pytest.raises(LookupError, match="no client has connected"):
            peer.send_event("A.b")


async def test_not_running(kind: Kind) -> None:
    with pytest.raises(RuntimeError, match="not running"):
        async with ScriptedPeer("pipe").open_transport():
            pytest.fail("connected")


@pytest.mark.parametrize("nth", [0, -1])
async def test_calls_are_counted_from_one(peer: ScriptedPeer, nth: int) -> None:
    with pytest.raises(InvalidArgumentError, match="nth"):
        peer.on("A.b", SILENCE, nth=nth)


async def test_it_leaves_no_task_behind(kind: Kind) -> None:
    before = trio.lowlevel.current_statistics().tasks_living
    async with ScriptedPeer(kind) as peer, peer.connect() as connection:
        peer.hold("A.b")
        connection.root.post("A.b").abandon()
        await connection.root.call("A.c")
    assert trio.lowlevel.current_statistics().tasks_living == before


async def test_its_endpoint_is_closed_afterwards() -> None:
    async with ScriptedPeer() as peer:
        endpoint = peer.endpoint
    with pytest.raises(Exception, match="could not connect"):
        async with open_websocket(endpoint):
            pytest.fail("connected")


async def test_one_message_in_many_chunks(kind: Kind) -> None:
    async with ScriptedPeer(kind) as peer, peer.open_transport() as transport:
        peer.send_chunks(b"x" * 1_000_000 for _ in range(20))
        assert len(await transport.receive()) == 20_000_000
        assert peer.link.open
