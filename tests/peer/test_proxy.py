"""The proxy between clients and a scripted peer or a plain web server: traffic, ends, and their reasons."""

from __future__ import annotations

import json
import socket
from collections.abc import AsyncIterator
from pathlib import Path

import httpx
import pytest
import trio
import trio.testing
from pytest_httpserver import HTTPServer
from rounds import rounds

from cdpengine import debug
from cdpengine._protocol.http_connections import get
from cdpengine._protocol.session import Connection, open_connection
from cdpengine._protocol.websocket_transport import open_websocket
from cdpengine.debug import proxy_server
from cdpengine.errors import (
    ConnectFailedError,
    ConnectionLostError,
    InvalidArgumentError,
    ProtocolError,
    RemoteError,
)
from cdpengine.testing import SILENCE, ScriptedPeer, walk_cancellations

pytestmark = pytest.mark.usefixtures("guard")


@pytest.fixture
async def peer() -> AsyncIterator[ScriptedPeer]:
    async with ScriptedPeer() as peer:
        yield peer


@pytest.fixture
async def proxy(peer: ScriptedPeer) -> AsyncIterator[debug.Proxy]:
    async with debug.proxy(peer.endpoint) as proxy:
        yield proxy


@pytest.fixture
async def connection(proxy: debug.Proxy) -> AsyncIterator[Connection]:
    async with open_websocket(proxy.ws_endpoint) as transport, open_connection(transport) as connection:
        yield connection


async def ended(proxy: debug.Proxy, number: int = 0) -> str:
    """Wait until a connection through the proxy is over. Return the reason."""
    while (ending := proxy.passages[number].ending) is None:
        await trio.testing.wait_all_tasks_blocked(0.005)
    return ending


async def test_calls_and_events_go_through_as_they_are(
    peer: ScriptedPeer, proxy: debug.Proxy, connection: Connection
) -> None:
    peer.on("A.a", result={"text": "ä😀", "n": 1})
    async with connection.root.subscribe("B.*") as events:
        assert await connection.root.call("A.a", x=1) == {"text": "ä😀", "n": 1}
        peer.send_event("B.b", {"y": 2})
        assert (await anext(events)).method == "B.b"
    assert peer.received[0].params == {"x": 1}
    (passage,) = proxy.passages
    assert (passage.sent, passage.received) == (1, 2)
    assert passage.path == "/devtools/browser/scripted-peer"


@pytest.mark.parametrize("megabytes", [1, rounds(10, 40)])
async def test_large_messages_go_through_whole(
    peer: ScriptedPeer, connection: Connection, megabytes: int
) -> None:
    text = "x" * (megabytes * 1_000_000 - 1000)
    peer.on("A.a", lambda request: {"size": len(request.params["text"])})
    assert await connection.root.call("A.a", text=text) == {"size": len(text)}
    peer.on("A.b", result={"text": text})
    assert len((await connection.root.call("A.b"))["text"]) == len(text)


async def test_many_concurrent_clients(peer: ScriptedPeer, proxy: debug.Proxy) -> None:
    peer.on("A.a", lambda request: dict(request.params))

    async def client(number: int) -> None:
        async with open_websocket(proxy.ws_endpoint) as transport, open_connection(transport) as connection:
            for call in range(10):
                assert await connection.root.call("A.a", n=number, call=call) == {"n": number, "call": call}

    async with trio.open_nursery() as nursery:
        for number in range(40):
            nursery.start_soon(client, number)
    for number in range(40):
        assert "the client closed the websocket" in await ended(proxy, number)
    assert len({passage.name for passage in proxy.passages}) == 40
    while any(link.open for link in peer.links):
        await trio.testing.wait_all_tasks_blocked(0.005)


async def test_a_client_that_vanishes_ends_its_connection_to_the_browser(
    peer: ScriptedPeer, proxy: debug.Proxy
) -> None:
    stream = await trio.open_tcp_stream(*proxy.listens_on)
    handshake = (
        f"GET /devtools/browser/x HTTP/1.1\r\nHost: 127.0.0.1:{proxy.listens_on[1]}\r\nUpgrade: websocket\r\n"
        "Connection: Upgrade\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\r\n"
    )
    await stream.send_all(handshake.encode())
    assert b"101" in await stream.receive_some(1000)
    link = await peer.linked()
    stream.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
    await stream.aclose()
    assert await ended(proxy) == "the client vanished without a close frame"
    while link.open:
        await trio.testing.wait_all_tasks_blocked(0.005)


@pytest.mark.parametrize(
    ("how", "expected"),
    [
        ("drop", "vanished without a close frame"),
        ("mid-message", "vanished without a close frame"),
        ("reset", "vanished without a close frame"),
        ("close", "closed with code 1000"),
    ],
)
async def test_a_browser_that_closes_ends_the_client_with_the_reason(
    peer: ScriptedPeer, proxy: debug.Proxy, connection: Connection, how: str, expected: str
) -> None:
    peer.on("A.a", SILENCE)
    call = connection.root.post("A.a")
    await peer.wait_for("A.a")
    if how == "close":
        peer.close(1000, "bye")
    else:
        peer.drop(mid_message=how == "mid-message", reset=how == "reset")
    with pytest.raises(ConnectionLostError) as caught:
        await call.raw()
    assert expected in caught.value.reason
    assert expected in await ended(proxy)


@pytest.mark.parametrize(
    ("handshake", "status"), [(404, 502), ("close", 502), ("ignore", 504)], ids=["404", "close", "ignore"]
)
async def test_a_browser_that_refuses_connections_refuses_the_client(
    peer: ScriptedPeer,
    proxy: debug.Proxy,
    monkeypatch: pytest.MonkeyPatch,
    handshake: object,
    status: int,
) -> None:
    peer.handshake = handshake  # type: ignore[assignment]
    monkeypatch.setattr(proxy_server, "OPEN_PATIENCE", 0.3)
    with pytest.raises(ConnectFailedError, match=f"HTTP status {status}"):
        async with open_websocket(proxy.ws_endpoint):
            pass
    assert "did not let it in" in await ended(proxy)


async def test_a_browser_sees_the_origin_of_a_web_page_and_refuses_it(
    peer: ScriptedPeer, proxy: debug.Proxy
) -> None:
    async with open_websocket(proxy.ws_endpoint, headers={"Origin": "http://evil.example"}):
        await peer.linked()
    # The peer accepts it; Chrome would refuse. The test only requires that the header arrived.
    assert proxy.passages[0].path == "/devtools/browser/scripted-peer"


# --- faults ------------------------------------------------------------------------------------------------


async def test_an_error_is_answered_without_asking_the_browser(
    peer: ScriptedPeer, proxy: debug.Proxy, connection: Connection
) -> None:
    proxy.faults.add("error:Page.navigate:2:-32000:no")
    await connection.root.call("Page.navigate")
    with pytest.raises(RemoteError) as caught:
        await connection.root.call("Page.navigate")
    assert (caught.value.code, caught.value.message) == (-32000, "no")
    await connection.root.call("Page.navigate")
    assert peer.count("Page.navigate") == 2


async def test_a_dropped_call_is_not_sent_and_a_dropped_reply_not_delivered(
    peer: ScriptedPeer, proxy: debug.Proxy, connection: Connection
) -> None:
    proxy.faults.add("drop:A.a:1")
    proxy.faults.add("drop:B.b@reply:1")
    first, second = connection.root.post("A.a"), connection.root.post("B.b")
    await connection.root.call("C.c")
    assert (peer.count("A.a"), peer.count("B.b")) == (0, 1)
    assert not first.done
    assert not second.done


async def test_a_duplicate_arrives_twice(
    peer: ScriptedPeer, proxy: debug.Proxy, connection: Connection
) -> None:
    proxy.faults.add("duplicate:A.a:1")
    proxy.faults.add("duplicate:B.b@event:1")
    async with connection.root.subscribe("B.b") as events:
        await connection.root.call("A.a")
        peer.send_event("B.b")
        await anext(events)
        await anext(events)
        await connection.root.call("C.c")
    assert peer.count("A.a") == 2
    assert connection.statistics().late_replies == 1


async def test_a_truncated_reply_ends_its_call(
    peer: ScriptedPeer, proxy: debug.Proxy, connection: Connection
) -> None:
    peer.on("A.a", result={"text": "x" * 100})
    proxy.faults.add("truncate:A.a@reply:1:40")
    with pytest.raises(ProtocolError):
        await connection.root.call("A.a")
    assert (await connection.root.call("A.a"))["text"]


async def test_a_delay_also_delays_later_messages(
    peer: ScriptedPeer, proxy: debug.Proxy, connection: Connection
) -> None:
    proxy.faults.add("delay:A.a:1:150")
    started = trio.current_time()
    calls = [connection.root.post("A.a"), connection.root.post("B.b")]
    for call in calls:
        await call.raw()
    assert trio.current_time() - started >= 0.15
    assert [request.method for request in peer.received] == ["A.a", "B.b"]


@pytest.mark.parametrize("fault", ["cut:A.a:1", "cut:A.a@reply:1"])
async def test_a_cut_ends_both_sides(
    peer: ScriptedPeer, proxy: debug.Proxy, connection: Connection, fault: str
) -> None:
    number = proxy.faults.add(fault)
    with pytest.raises(ConnectionLostError):
        await connection.root.call("A.a")
    assert await ended(proxy) == f"it was cut by the fault {fault}"
    assert proxy.faults.made(number) == 1
    link = await peer.linked()
    while link.open:
        await trio.testing.wait_all_tasks_blocked(0.005)


# --- HTTP --------------------------------------------------------------------------------------------------


async def test_http_requests_of_a_client_are_not_logged(
    httpserver: HTTPServer, caplog: pytest.LogCaptureFixture
) -> None:
    """httpx logs complete URLs, and the URLs of a gateway contain tokens."""
    caplog.set_level("DEBUG")
    httpserver.expect_request("/json/list", query_string="token=sesame").respond_with_json([])
    async with debug.proxy(f"ws://127.0.0.1:{httpserver.port}/devtools/browser/1") as proxy:
        asked = f"{proxy.endpoint}/json/list?token=sesame"
        assert await get(asked, {}, endpoint="the proxy", longest=100) == (asked, b"[]")
    assert not [record for record in caplog.records if record.name.startswith("http")]
    async with httpx.AsyncClient(trust_env=False) as client:
        await client.get(f"http://127.0.0.1:{httpserver.port}/json/list?token=sesame")
    assert "httpx" in {record.name for record in caplog.records}, (
        "the program's own requests are logged as usual"
    )


async def ask(proxy: debug.Proxy, path: str, method: str = "GET", **headers: str) -> httpx.Response:
    async with httpx.AsyncClient(trust_env=False) as client:
        return await client.request(method, f"{proxy.endpoint}{path}", headers=headers)


async def test_json_endpoints_of_the_browser_point_at_the_proxy(httpserver: HTTPServer) -> None:
    here = f"{httpserver.host}:{httpserver.port}"
    version = {"Browser": "X/1", "webSocketDebuggerUrl": f"ws://{here}/devtools/browser/b"}
    page = {
        "id": "P",
        "webSocketDebuggerUrl": f"ws://{here}/devtools/page/P",
        "devtoolsFrontendUrl": f"/devtools/inspector.html?ws={here}/devtools/page/P",
    }
    httpserver.expect_request("/json/version").respond_with_json(version)
    httpserver.expect_request("/json/list").respond_with_json([page])
    httpserver.expect_request("/json/new", method="PUT", query_string="about:blank").respond_with_json(page)
    httpserver.expect_request("/json/close/Q").respond_with_data("No such target id: Q", status=404)
    httpserver.expect_request("/devtools/inspector.html").respond_with_data("<p>", content_type="text/html")
    async with debug.proxy(f"http://{here}") as proxy:
        port = proxy.listens_on[1]
        assert proxy.ws_endpoint == f"ws://127.0.0.1:{port}/devtools/browser/b"
        assert (await ask(proxy, "/json/version")).json() == {
            "Browser": "X/1",
            "webSocketDebuggerUrl": proxy.ws_endpoint,
        }
        changed = {
            "id": "P",
            "webSocketDebuggerUrl": f"ws://127.0.0.1:{port}/devtools/page/P",
            "devtoolsFrontendUrl": f"/devtools/inspector.html?ws=127.0.0.1:{port}/devtools/page/P",
        }
        assert (await ask(proxy, "/json/list")).json() == [changed]
        assert (await ask(proxy, "/json/new?about:blank", "PUT")).json() == changed
        gone = await ask(proxy, "/json/close/Q")
        assert (gone.status_code, gone.text) == (404, "No such target id: Q")
        frontend = await ask(proxy, "/devtools/inspector.html")
        assert (frontend.text, frontend.headers["content-type"]) == ("<p>", "text/html")
        # Under another name, such as that of a forwarded port, the addresses use the requested name.
        forwarded = (await ask(proxy, "/json/version", host="localhost:99")).json()
        assert forwarded["webSocketDebuggerUrl"] == "ws://localhost:99/devtools/browser/b"
        assert (await ask(proxy, "/json/version", host="evil.example")).status_code == 403
        httpserver.stop()
        refused = await ask(proxy, "/json/version")
        assert refused.status_code == 502
        assert "no answer from the browser" in refused.text
    httpserver.start()


async def test_a_browser_without_json_is_identified_by_its_websocket(proxy: debug.Proxy) -> None:
    known = (await ask(proxy, "/json/version")).json()
    assert known["webSocketDebuggerUrl"] == proxy.ws_endpoint
    assert (await ask(proxy, "/json/list")).status_code >= 400


@pytest.mark.parametrize(
    ("sent", "answer"),
    [
        (b"nonsense\r\n\r\n", b"400"),
        (b"GET /json HTTP/1.1\r\nHost: 127.0.0.1\r\nA: " + b"x" * 2_000_000, b"431"),
        (b"", b""),
        (b"GET /json HTTP/1.1\r\nHo", b""),
    ],
    ids=["nonsense", "endless", "nothing", "half"],
)
async def test_clients_without_http_end_alone(proxy: debug.Proxy, sent: bytes, answer: bytes) -> None:
    async with await trio.open_tcp_stream(*proxy.listens_on) as stream:
        try:
            await stream.send_all(sent)
            await stream.send_eof()
            assert answer[:1] in await stream.receive_some(1000)
        except trio.BrokenResourceError:
            assert len(sent) > 1_000_000  # closed during its send
    async with open_websocket(proxy.ws_endpoint) as transport, open_connection(transport) as connection:
        await connection.root.call("A.a")


# --- environment
# -----------------------------------------------------------------------------------------------


async def test_impossible_settings_are_refused_immediately(peer: ScriptedPeer) -> None:
    async with debug.proxy(peer.endpoint) as proxy:
        for arguments in (
            {"port": proxy.listens_on[1]},
            {"port": -1},
            {"host": "192.0.2.1"},
            {"faults": ["explode:A.b"]},
        ):
            with pytest.raises(InvalidArgumentError):
                async with debug.proxy(peer.endpoint, **arguments):
                    pass
    with pytest.raises(InvalidArgumentError):
        async with debug.proxy("nonsense"):
            pass
    with pytest.raises(ConnectFailedError):
        async with debug.proxy("http://127.0.0.1:1"):
            pass


async def test_ending_the_proxy_ends_its_clients(peer: ScriptedPeer) -> None:
    peer.on("A.a", SILENCE)
    async with trio.open_nursery() as nursery:
        started, lost = trio.Event(), trio.Event()

        async def client(endpoint: str) -> None:
            async with open_websocket(endpoint) as transport, open_connection(transport) as connection:
                started.set()
                with pytest.raises(ConnectionLostError, match="the proxy was ended"):
                    await connection.root.call("A.a")
                lost.set()

        async with debug.proxy(peer.endpoint) as proxy:
            nursery.start_soon(client, proxy.ws_endpoint)
            await started.wait()
            await peer.wait_for("A.a")
        await lost.wait()


async def test_the_recording_holds_the_clients_side(peer: ScriptedPeer, tmp_path: Path) -> None:
    peer.on("A.a", lambda _: peer.send_event("B.b"))
    path = tmp_path / "a.jsonl"
    async with debug.proxy(peer.endpoint, record=path, faults=["drop:B.b:1", "error:C.c:1:-5:no"]) as proxy:
        for _ in range(2):
            async with (
                open_websocket(proxy.ws_endpoint) as transport,
                open_connection(transport) as connection,
            ):
                await connection.root.call("A.a", password="c4nary-secret")
        async with open_websocket(proxy.ws_endpoint) as transport, open_connection(transport) as connection:
            with pytest.raises(RemoteError):
                await connection.root.call("C.c")
    with debug.open_recording(path) as recording:
        lines = [line for line in recording if line.k not in ("entered", "end")]
    assert "c4nary" not in path.read_text()
    kinds = [(line.c.split(" /")[0], line.k, line.m) for line in lines]
    assert kinds == [
        ("client 1", "call", "A.a"),
        ("client 1", "reply", "A.a"),
        ("client 2", "call", "A.a"),
        ("client 2", "event", "B.b"),
        ("client 2", "reply", "A.a"),
        ("client 3", "call", "C.c"),
        ("client 3", "error", "C.c"),
    ]
    assert json.loads(bytes(lines[-1].msg))["error"]["message"] == "no"


async def test_a_cancellation_at_any_moment_leaves_nothing_behind(peer: ScriptedPeer) -> None:
    async def operation() -> None:
        async with (
            debug.proxy(peer.endpoint) as proxy,
            open_websocket(proxy.ws_endpoint) as transport,
            open_connection(transport) as connection,
        ):
            await connection.root.call("A.a")

    async def check() -> None:
        while any(link.open for link in peer.links):
            await trio.testing.wait_all_tasks_blocked(0.001)

    await walk_cancellations(operation, check, own_steps_only=True)
