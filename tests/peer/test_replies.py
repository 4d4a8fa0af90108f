"""Valid and invalid replies: each call gets its own reply, and no message of the peer does harm."""

from __future__ import annotations

import json
import logging

import msgspec
import pytest
import trio
import trio.testing
from rounds import rounds
from scripting import attach, raw_answer, settled

from cdpengine._protocol.session import Connection, Session
from cdpengine._protocol.transport import LARGEST_OUTGOING
from cdpengine.errors import ConnectionLostError, InvalidArgumentError, ProtocolError, RemoteError
from cdpengine.testing import Request, ScriptedPeer


class Version(msgspec.Struct):
    product: str


async def test_call_and_request(peer: ScriptedPeer, root: Session) -> None:
    peer.on("Browser.getVersion", result={"product": "Peer/1.0", "new": [None]})
    assert await root.call("Browser.getVersion") == {"product": "Peer/1.0", "new": [None]}
    assert await root.request("Browser.getVersion", {}, Version) == Version("Peer/1.0")


async def test_params_are_sent_unchanged(peer: ScriptedPeer, root: Session) -> None:
    await root.call("A.b", x=None, text="a\ud83d ☃\0", n=2**70)
    assert peer.received[-1].params == {"x": None, "text": "a\ud83d ☃\0", "n": 2**70}


async def test_an_error_has_the_words_of_chrome(peer: ScriptedPeer, root: Session) -> None:
    peer.on("A.b", error=(-32000, "No node with given id found", "details"))
    with pytest.raises(RemoteError) as caught:
        await root.call("A.b", secret="hunter2")
    error = caught.value
    assert (error.code, error.message, error.method, error.data) == (
        -32000,
        "No node with given id found",
        "A.b",
        "details",
    )
    assert "hunter2" not in str(error)


async def test_a_null_error_is_not_an_error(peer: ScriptedPeer, root: Session) -> None:
    peer.on("A.b", raw_answer(peer, '{"id":ID,"result":{"x":1},"error":null}'))
    assert await root.call("A.b") == {"x": 1}


@pytest.mark.parametrize("body", ['"text"', "17", '{"code":"x"}', "[]", '{"message":{}}', "false"])
async def test_an_error_of_an_unknown_shape_is_an_error_still(
    peer: ScriptedPeer, root: Session, body: str
) -> None:
    hold = peer.hold("A.b")
    async with trio.open_nursery() as nursery:

        @nursery.start_soon
        async def call() -> None:
            with pytest.raises(RemoteError, match="unknown shape"):
                await root.call("A.b")

        (request,) = await hold.wait()
        peer.send_raw(f'{{"id":{request.id},"error":{body}}}')


@pytest.mark.parametrize("result", ["null", "[1]", '"x"', "17"])
async def test_a_result_of_another_shape_carries_its_raw_json(
    peer: ScriptedPeer, root: Session, result: str
) -> None:
    peer.on("A.b", raw_answer(peer, f'{{"id":ID,"result":{result}}}'))
    with pytest.raises(ProtocolError) as caught:
        await root.call("A.b")
    assert caught.value.raw == result.encode()
    assert caught.value.result() == json.loads(result)


async def test_a_result_that_does_not_fit_the_requested_type(peer: ScriptedPeer, root: Session) -> None:
    peer.on("A.b", result={"product": 7, "password": "hunter2"})
    with pytest.raises(ProtocolError) as caught:
        await root.request("A.b", {}, Version)
    assert caught.value.result() == {"product": 7, "password": "hunter2"}
    assert "hunter2" not in str(caught.value)


async def test_lone_surrogates_of_a_page_arrive(peer: ScriptedPeer, root: Session) -> None:
    peer.on("A.b", result={"title": "half \ud83d"})
    assert await root.call("A.b") == {"title": "half \ud83d"}


async def test_a_reply_without_result_is_an_empty_one(peer: ScriptedPeer, root: Session) -> None:
    peer.on("A.b", raw_answer(peer, '{"id":ID}'))
    assert await root.call("A.b") == {}


async def test_a_reply_needs_no_session_id(peer: ScriptedPeer, connection: Connection) -> None:
    # Chrome answers a call to an unknown session without a session id.
    session = await attach(connection, peer, "S")
    message = '{"id":ID,"error":{"code":-32001,"message":"Session with given id not found."}}'
    peer.on("A.b", raw_answer(peer, message))
    with pytest.raises(RemoteError, match="Session with given id not found"):
        await session.call("A.b")


@pytest.mark.parametrize(
    "message",
    [
        b"",
        b"nonsense",
        b"[1,2]",
        b"null",
        b'{"method":5}',
        b'{"method":"A.b","params":{"x":',
        b'{"method":"A.\xff","params":{}}',
        b'{"method":"A.b","params":' + b"[" * 50_000 + b"]" * 50_000 + b"}",
        b'{"id":"x","result":{}}',
    ],
    ids=["empty", "text", "array", "null", "types", "cut", "not utf-8", "deep", "id"],
)
async def test_malformed_messages_are_counted_and_passed_over(
    peer: ScriptedPeer, connection: Connection, message: bytes, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.INFO, logger="cdpengine.session"):
        peer.send_raw(message)
        await settled(connection)
    assert connection.statistics().malformed == 1
    assert len(caplog.records) == 1


async def test_neither_reply_nor_event(peer: ScriptedPeer, connection: Connection) -> None:
    peer.send_raw('{"params":{"x":1}}')
    await settled(connection)
    assert connection.statistics().shapeless == 1


@pytest.mark.parametrize("tail", [',"result":{"x":', ',"result":{}},', ',"sessionId":[]}', ""])
async def test_a_damaged_reply_ends_only_its_call(
    peer: ScriptedPeer, connection: Connection, tail: str
) -> None:
    tail = tail or ',"result":' + "[" * 50_000 + "]" * 50_000 + "}"
    hold = peer.hold("A.other")
    peer.on("A.b", raw_answer(peer, '{"id":ID' + tail))
    async with trio.open_nursery() as nursery:
        nursery.start_soon(connection.root.call, "A.other")
        await hold.wait()
        with pytest.raises(ProtocolError):
            await connection.root.call("A.b")
        assert connection.statistics().in_flight == 1
        hold.release()
    assert connection.statistics().malformed == 1


async def test_an_error_nested_too_deeply_ends_only_its_call(peer: ScriptedPeer, root: Session) -> None:
    body = '{"code":1,"message":"m","data":' + "[" * 400 + "]" * 400 + "}"
    peer.on("A.b", raw_answer(peer, f'{{"id":ID,"error":{body}}}'))
    with pytest.raises((RemoteError, ProtocolError)):
        await root.call("A.b")


async def test_replies_without_a_call_are_counted(peer: ScriptedPeer, connection: Connection) -> None:
    await settled(connection)
    peer.send_raw('{"id":123456,"result":{}}')
    peer.send_raw('{"id":-1,"error":{"code":1,"message":"x"}}')
    peer.send_raw('{"id":0,"result":{}}')
    await settled(connection)
    assert connection.statistics().unknown_replies == 3


async def test_a_second_reply_changes_nothing(peer: ScriptedPeer, connection: Connection) -> None:
    def twice(request: Request) -> dict[str, int]:
        request.reply({"n": 1})
        request.refuse(1, "second thoughts")
        return {"n": 3}

    peer.on("A.b", twice)
    assert await connection.root.call("A.b") == {"n": 1}
    assert await connection.root.call("A.other") == {}
    assert connection.statistics().late_replies == 2


async def test_replies_out_of_order_find_their_calls(peer: ScriptedPeer, root: Session) -> None:
    hold = peer.hold("A.b")
    results: dict[int, dict[str, object]] = {}

    async def call(n: int) -> None:
        results[n] = await root.call("A.b", n=n)

    async with trio.open_nursery() as nursery:
        for n in range(50):
            nursery.start_soon(call, n)
        for request in reversed(await hold.wait(50)):
            request.reply({"n": request.params["n"]})
    assert results == {n: {"n": n} for n in range(50)}


async def test_commands_posted_together_go_out_in_order(peer: ScriptedPeer, root: Session) -> None:
    calls = [root.post(f"A.m{n}") for n in range(20)]
    for call in calls:
        await call.result()
    assert [request.method for request in peer.received] == [f"A.m{n}" for n in range(20)]
    ids = [request.id for request in peer.received]
    assert ids == sorted(set(ids))


async def test_an_abandoned_call_leaves_the_table_and_its_reply_counts_as_late(
    peer: ScriptedPeer, connection: Connection
) -> None:
    hold = peer.hold("A.b")
    call = connection.root.post("A.b")
    await hold.wait()
    call.abandon()
    assert call.done
    assert connection.statistics().in_flight == 0
    hold.release()
    await settled(connection)
    assert connection.statistics().late_replies == 1
    with pytest.raises(trio.ClosedResourceError):
        await call.result()


async def test_abandoned_before_it_was_written_it_is_never_sent(
    peer: ScriptedPeer, connection: Connection
) -> None:
    call = connection.root.post("A.b")
    call.abandon()
    await settled(connection)
    assert peer.count("A.b") == 0


async def test_cancelled_before_it_was_written_it_is_never_sent(
    peer: ScriptedPeer, connection: Connection
) -> None:
    with trio.CancelScope() as scope:
        async with trio.open_nursery() as nursery:

            @nursery.start_soon
            async def call() -> None:
                with trio.CancelScope() as inner:
                    connection.root.post("A.first")
                    inner.cancel()
                    await connection.root.call("A.b")

    assert not scope.cancelled_caught
    await settled(connection)
    assert peer.count("A.first") == 1
    assert peer.count("A.b") == 0


async def test_a_peer_that_never_answers(peer: ScriptedPeer, connection: Connection) -> None:
    hold = peer.hold("A.b")
    with trio.CancelScope() as scope:
        async with trio.open_nursery() as nursery:
            nursery.start_soon(connection.root.call, "A.b")
            await hold.wait()
            assert connection.statistics().in_flight == 1
            scope.cancel()
    assert connection.statistics().in_flight == 0
    hold.release()
    await settled(connection)
    assert connection.statistics().late_replies == 1


async def test_a_reply_in_the_tick_of_the_cancellation(peer: ScriptedPeer, connection: Connection) -> None:
    # For the watcher, the reply has arrived and its waiter has not run yet.
    scope = trio.CancelScope()
    got: list[object] = []

    def cancel(traffic: object) -> None:
        if getattr(traffic, "direction", "") == "received":
            scope.cancel()

    with connection.instruments.attached(cancel), scope:
        got.append(await connection.root.call("A.b"))
    assert got in ([], [{}])
    assert connection.statistics().in_flight == 0
    await settled(connection)


async def test_an_outgoing_message_that_is_too_large_is_refused(
    peer: ScriptedPeer, connection: Connection
) -> None:
    limit = connection.wire._transport.largest_outgoing
    assert limit >= LARGEST_OUTGOING
    connection.wire._transport.largest_outgoing = 1000
    with pytest.raises(InvalidArgumentError, match="at most 1000") as caught:
        await connection.root.call("Page.setDocumentContent", html="secret" * 200)
    assert "secret" not in str(caught.value)
    assert connection.statistics().in_flight == 0
    assert await connection.root.call("A.b", text="short") == {}


async def test_a_large_command_arrives_whole(peer: ScriptedPeer, root: Session) -> None:
    text = "☃" * 3_000_000
    await root.call("A.b", text=text)
    assert peer.received[-1].params == {"text": text}


async def test_a_reply_of_many_megabytes(peer: ScriptedPeer, connection: Connection) -> None:
    size, chunk = rounds(50_000_000, 200_000_000), b"x" * 1_000_000
    big = peer.hold("A.big")

    class Data(msgspec.Struct):
        data: msgspec.Raw

    async with trio.open_nursery() as nursery:

        @nursery.start_soon
        async def call() -> None:
            reply = await connection.root.request("A.big", {}, Data)
            assert len(memoryview(reply.data)) == size + 2

        (request,) = await big.wait()
        # It does not delay earlier messages.
        assert await connection.root.call("A.before") == {}
        peer.send_raw('{"method":"A.event"}')

        def message() -> object:
            yield b'{"id":%d,"result":{"data":"' % request.id
            for _ in range(size // len(chunk)):
                yield chunk
            yield b'"}}'

        peer.send_chunks(message())  # type: ignore[arg-type]
        assert await connection.root.call("A.after") == {}


# --- the end of a connection -------------------------------------------------------------------------------


@pytest.mark.parametrize("ending", ["drop", "half", "reset", "close"])
async def test_the_end_of_the_connection_ends_every_call_with_its_name(
    peer: ScriptedPeer, connection: Connection, ending: str
) -> None:
    sessions = [connection.root, await attach(connection, peer, "A"), await attach(connection, peer, "B")]
    hold = peer.hold("*")
    errors: list[ConnectionLostError] = []

    async def call(session: Session, method: str) -> None:
        with pytest.raises(ConnectionLostError) as caught:
            await session.call(method)
        errors.append(caught.value)

    async def listen(session: Session) -> None:
        async with session.subscribe("*") as events:
            with pytest.raises(ConnectionLostError) as caught:
                await events.receive()
            assert caught.value.method is None

    methods: list[str] = []
    async with trio.open_nursery() as nursery:
        for session in sessions:
            nursery.start_soon(listen, session)
            for n in range(3):
                methods.append(f"{session.describe().title().split()[0]}.m{len(methods)}x{n}")
                nursery.start_soon(call, session, methods[-1])
        await hold.wait(9)
        match ending:
            case "close":
                peer.close(1001, "going away")
            case _:
                peer.drop(mid_message=ending == "half", reset=ending == "reset")
    assert sorted(str(error.method) for error in errors) == sorted(methods)
    assert all(error.reason for error in errors)
    assert connection.lost
    statistics = connection.statistics()
    assert (statistics.in_flight, statistics.queued, statistics.sessions) == (0, 0, 0)
    for session in sessions:
        assert session.ended
        with pytest.raises(ConnectionLostError, match=r"during A\.later"):
            await session.call("A.later")
        with pytest.raises(ConnectionLostError, match=r"during A\.later"):
            session.post("A.later")
        with pytest.raises(ConnectionLostError):
            async with session.subscribe("A.*"):
                pytest.fail("subscribed to a lost connection")
        with pytest.raises(ConnectionLostError):
            await session.wait_for("A.b")


async def test_the_close_code_is_reported(connection: Connection, peer: ScriptedPeer) -> None:
    peer.close(1011, "out of coffee")
    with pytest.raises(ConnectionLostError) as caught:
        await connection.root.wait_for("A.b")
    expected = "1011 INTERNAL_ERROR: out of coffee" if peer.kind == "websocket" else "closed its end"
    assert expected in caught.value.reason


async def test_events_before_the_end_can_still_be_read(peer: ScriptedPeer, connection: Connection) -> None:
    async with connection.root.subscribe("A.*") as events:
        peer.send_event("A.last", {"n": 1})
        peer.drop(mid_message=True)
        assert (await events.receive()).params == {"n": 1}
        with pytest.raises(ConnectionLostError):
            await events.receive()


async def test_closing_the_connection_ends_calls_of_other_tasks(peer: ScriptedPeer) -> None:
    hold = peer.hold("A.b")
    reasons: list[str] = []

    async def call(session: Session) -> None:
        with pytest.raises(ConnectionLostError) as caught:
            await session.call("A.b")
        reasons.append(caught.value.reason)

    async with trio.open_nursery() as nursery, peer.connect() as connection:
        nursery.start_soon(call, connection.root)
        await hold.wait()
    assert reasons == ["its `async with` block has ended. Use the browser and its pages inside the block"]


async def test_an_error_of_the_body_propagates_unchanged(peer: ScriptedPeer) -> None:
    error = KeyError("body")
    with pytest.raises(KeyError) as caught:
        async with peer.connect():
            raise error
    assert caught.value is error


# --- watching ----------------------------------------------------------------------------------------------


async def test_the_tap_sees_all_traffic_in_order(peer: ScriptedPeer, connection: Connection) -> None:
    seen: list[tuple[str, str]] = []

    def watch(traffic: object) -> None:
        message = json.loads(getattr(traffic, "message", ""))
        seen.append((getattr(traffic, "direction", ""), message.get("method") or f"reply {message['id']}"))

    with connection.instruments.attached(watch):
        await connection.root.call("A.b")
        peer.send_event("A.event")
        await connection.root.call("A.c")
    first, second = (request.id for request in peer.received[-2:])
    assert seen == [
        ("sent", "A.b"),
        ("received", f"reply {first}"),
        ("sent", "A.c"),
        ("received", "A.event"),
        ("received", f"reply {second}"),
    ] or seen == [
        ("sent", "A.b"),
        ("received", f"reply {first}"),
        ("received", "A.event"),
        ("sent", "A.c"),
        ("received", f"reply {second}"),
    ]
    await connection.root.call("A.unseen")
    assert len(seen) == 5


async def test_a_watcher_that_raises_does_no_harm(
    peer: ScriptedPeer, connection: Connection, caplog: pytest.LogCaptureFixture
) -> None:
    def fails(_traffic: object) -> None:
        raise ValueError("watcher")

    with caplog.at_level(logging.CRITICAL, logger="cdpengine.wire"), connection.instruments.attached(fails):
        assert await connection.root.call("A.b") == {}
        assert not connection.instruments.active


async def test_statistics_count(peer: ScriptedPeer, connection: Connection) -> None:
    before = connection.statistics()
    await connection.root.call("A.b")
    peer.send_event("A.event")
    peer.send_event("A.event", session_id="nobody")
    await settled(connection)
    after = connection.statistics()
    assert after.sent - before.sent == 2
    assert after.received - before.received == 4
    assert after.events - before.events == 2
    assert after.events_of_unknown_sessions == 1
    assert after.bytes_sent > before.bytes_sent
    assert after.bytes_received > before.bytes_received
