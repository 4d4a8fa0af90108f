"""Websocket connections to servers other than browsers, and to browsers that refuse the client."""

from __future__ import annotations

import struct

import pytest
import trio
import trio.testing
from raw_server import ByteStream, Serve, accepting, answering, header, read_request, tcp_server

from cdpengine._protocol.session import open_connection
from cdpengine._protocol.transport import TransportBroken
from cdpengine._protocol.websocket_transport import open_websocket
from cdpengine.errors import ConnectFailedError, ConnectionLostError, EngineError, InvalidArgumentError
from cdpengine.testing import ScriptedPeer


async def hang_up(stream: ByteStream) -> None:
    """Close immediately."""


async def speak_first(stream: ByteStream) -> None:
    await stream.send_all(b"\x00\x01\x02" * 1000)
    await trio.sleep_forever()


REFUSALS: dict[str, tuple[Serve, str]] = {
    "403": (answering(b"HTTP/1.1 403 Forbidden\r\nContent-Length: 6\r\n\r\nsecret"), "HTTP status 403"),
    "500": (answering(b"HTTP/1.1 500 X\r\nContent-Length: 0\r\n\r\n"), "HTTP status 500"),
    "plain http server": (
        answering(b"HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nsecret"),
        "HTTP status 200",
    ),
    "redirect": (
        answering(b"HTTP/1.1 302 X\r\nLocation: /x\r\nContent-Length: 0\r\n\r\n"),
        "HTTP status 302",
    ),
    "body until close": (answering(b"HTTP/1.1 404 X\r\n\r\nsecret"), "HTTP status 404"),
    "cut head": (answering(b"HTTP/1.1 101"), "closed the connection during"),
    "closes after the request": (answering(), "closed the connection during"),
    "closes": (hang_up, "closed the connection during"),
    "another protocol": (answering(b"SSH-2.0-OpenSSH\r\n\r\n"), "does not speak the websocket protocol"),
    "speaks first": (speak_first, "does not speak the websocket protocol"),
    "wrong accept": (
        answering(
            b"HTTP/1.1 101 X\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: x\r\n\r\n"
        ),
        "does not speak the websocket protocol",
    ),
}


@pytest.mark.parametrize("refusal", REFUSALS)
async def test_servers_that_refuse_the_upgrade(refusal: str) -> None:
    serve, reason = REFUSALS[refusal]
    async with tcp_server(serve) as port:
        with pytest.raises(ConnectFailedError, match=reason) as caught:
            async with open_websocket(
                f"ws://127.0.0.1:{port}/devtools?token=secret", headers={"Authorization": "secret"}
            ):
                pytest.fail("connected")
    assert caught.value.endpoint == f"ws://127.0.0.1:{port}"
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize("handshake", [403, 500, "close"])
async def test_the_scripted_peer_refuses_too(handshake: int) -> None:
    async with ScriptedPeer() as peer:
        peer.handshake = handshake
        with pytest.raises(ConnectFailedError):
            async with open_websocket(peer.endpoint):
                pytest.fail("connected")


async def test_a_cancel_scope_leaves_a_server_that_never_answers(
    autojump_clock: trio.testing.MockClock,
) -> None:
    async with ScriptedPeer() as peer:
        peer.handshake = "ignore"
        with trio.move_on_after(30) as scope:
            async with open_websocket(peer.endpoint):
                pytest.fail("connected")
        assert scope.cancelled_caught


async def test_closed_port() -> None:
    listeners = await trio.open_tcp_listeners(0, host="127.0.0.1")
    port = listeners[0].socket.getsockname()[1]
    await listeners[0].aclose()
    with pytest.raises(ConnectFailedError, match="refused"):
        async with open_websocket(f"ws://127.0.0.1:{port}/"):
            pytest.fail("connected")


async def test_tls_with_a_server_without_it() -> None:
    async def serve(stream: ByteStream) -> None:
        await stream.receive_some(4096)
        await stream.send_all(b"HTTP/1.1 400 Bad Request\r\n\r\n")

    async with tcp_server(serve) as port:
        with pytest.raises(ConnectFailedError, match="TLS failed"):
            async with open_websocket(f"wss://127.0.0.1:{port}/"):
                pytest.fail("connected")


@pytest.mark.parametrize(
    "url",
    [
        "",
        "ws://",
        "ws:///path",
        "http://127.0.0.1:9222",
        "127.0.0.1:9222",
        "ws://127.0.0.1:99999/",
        "ws://127.0.0.1:port/",
        "ws://[::1",
        "ws://a b/",
        "ws://127.0.0.1/a b",
        "ws://127.0.0.1/\r\nX: y",
        None,
        5,
    ],
)
async def test_invalid_websocket_urls(url: str) -> None:
    with pytest.raises(InvalidArgumentError, match="websocket URL"):
        async with open_websocket(url):
            pytest.fail("connected")


@pytest.mark.parametrize("name", ["", "X y", "X:", "é", "X\n"])
async def test_invalid_header_names(name: str) -> None:
    with pytest.raises(InvalidArgumentError, match="header"):
        async with open_websocket("ws://127.0.0.1:1/", headers={name: "v"}):
            pytest.fail("connected")


@pytest.mark.parametrize("value", ["secret\r\nX: y", "secret\n", " secret", "secret\0"])
async def test_an_invalid_header_value_is_not_repeated(value: str) -> None:
    with pytest.raises(InvalidArgumentError, match="header Authorization") as caught:
        async with open_websocket("ws://127.0.0.1:1/", headers={"Authorization": value}):
            pytest.fail("connected")
    assert "secret" not in str(caught.value)


async def test_headers_host_and_resource_are_sent_without_an_origin() -> None:
    requests: list[bytes] = []

    async def serve(stream: ByteStream) -> None:
        requests.append(await read_request(stream))

    async with tcp_server(serve) as port:
        for host in (None, "localhost"):
            with pytest.raises(ConnectFailedError):
                async with open_websocket(
                    f"ws://127.0.0.1:{port}/a/b?c=d", headers={"X-Token": "t 1"}, host_header=host
                ):
                    pytest.fail("connected")
    first, second = requests
    assert first.startswith(b"GET /a/b?c=d HTTP/1.1\r\n")
    assert header(first, b"X-Token") == b"t 1"
    assert header(first, b"Host") == b"127.0.0.1:%d" % port
    assert header(second, b"Host") == b"localhost"
    assert b"origin:" not in first.lower()


# --- after the handshake -----------------------------------------------------------------------------------

TEXT_HI = b"\x81\x02hi"
FRAMES: dict[str, bytes] = {
    "half a frame": b"\x81\x05he",
    "half a message": b"\x01\x02he",
    "half a header": b"\x81",
    "nothing": b"",
    "no frame at all": b"\xff" * 100,
    "text in invalid UTF-8": b"\x81\x02\xff\xfe",
    "close": b"\x88\x02" + struct.pack("!H", 1001),
    "close with a code that does not exist": b"\x88\x02" + struct.pack("!H", 1),
    "close, then more": b"\x88\x02" + struct.pack("!H", 1001) + TEXT_HI,
    "masked by the server": b"\x81\x82\x00\x00\x00\x00hi",
}


@pytest.mark.parametrize("frames", FRAMES)
async def test_anything_after_a_message_ends_as_a_broken_transport(frames: str) -> None:
    got: list[object] = []
    async with tcp_server(answering(TEXT_HI, FRAMES[frames], upgrade=True)) as port:
        try:
            async with open_websocket(f"ws://127.0.0.1:{port}/") as transport:
                with pytest.raises(TransportBroken) as caught:
                    for _ in range(3):
                        got.append(await transport.receive())  # noqa: PERF401 (items before the error count)
                assert str(caught.value)
                with pytest.raises(TransportBroken):
                    for _ in range(3):
                        # The first sends after an end can still find a writable socket.
                        await transport.send(b"{}")
                        await trio.testing.wait_all_tasks_blocked(0.01)
        except ConnectFailedError:
            # Everything can arrive in one read with the handshake. The connection then ended before it began.
            assert any(word in frames for word in ("close", "no", "masked", "invalid"))
        else:
            assert got == ["hi"]


@pytest.mark.parametrize("frames", FRAMES)
async def test_a_connection_ends_with_connection_lost(frames: str) -> None:
    async with tcp_server(answering(FRAMES[frames], upgrade=True)) as port:
        with pytest.raises((ConnectionLostError, ConnectFailedError)):
            async with (
                open_websocket(f"ws://127.0.0.1:{port}/") as transport,
                open_connection(transport) as opened,
            ):
                await opened.root.call("A.b")


async def test_a_ping_during_the_close_handshake_is_harmless() -> None:
    pinged = trio.Event()

    async def serve(stream: ByteStream) -> None:
        await stream.send_all(accepting(await read_request(stream)) + TEXT_HI)
        await stream.receive_some(100)  # the engine's close frame
        await stream.send_all(b"\x89\x02hi" + TEXT_HI)
        pinged.set()
        await stream.receive_some(100)

    async with tcp_server(serve) as port:
        async with open_websocket(f"ws://127.0.0.1:{port}/") as transport:
            assert await transport.receive() == "hi"
        await pinged.wait()


async def test_a_server_that_ignores_the_close_frame_is_left_after_the_grace_period(
    autojump_clock: trio.testing.MockClock,
) -> None:
    async def serve(stream: ByteStream) -> None:
        await stream.send_all(accepting(await read_request(stream)))
        await trio.sleep_forever()

    async with tcp_server(serve) as port:
        async with open_websocket(f"ws://127.0.0.1:{port}/"):
            before = trio.current_time()
        assert trio.current_time() - before <= 1


@pytest.mark.parametrize(
    "error", [KeyError("body"), ExceptionGroup("body", [KeyError()]), ConnectFailedError("e", "r")]
)
async def test_an_error_of_the_body_propagates_unchanged(error: Exception) -> None:
    async with ScriptedPeer() as peer:
        with pytest.raises(type(error)) as caught:
            async with open_websocket(peer.endpoint):
                raise error
        assert caught.value is error


async def test_connect_failed_is_an_engine_error() -> None:
    assert issubclass(ConnectFailedError, EngineError)
