"""Endpoints that never finish: whatever they send piece by piece, a connecting function returns in time.

Rule: each way to stall, over each scheme that allows it, for each function that searches for a browser. All
run concurrently on real time. If the machine was too busy for one, that case is tried again alone.
"""

from __future__ import annotations

import socket
from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager, ExitStack
from urllib.parse import urlsplit

import attrs
import pytest
import trio
from busy_machine import slack
from raw_server import LOOPBACK_TLS, ByteStream, accepting, read_request, tcp_server
from scripted_browser import ScriptedBrowser

import cdpengine
from cdpengine._page.scripts.evaluation_sessions import ANSWER_TIMEOUT
from cdpengine._protocol.transport import CLOSE_GRACE
from cdpengine.debug import proxy
from cdpengine.debug.explorer.protocol import fetch_protocol

TIMEOUT = 0.4
LATE = 0.15
PAUSE = 0.02
"""Pause between two pieces, in seconds."""

OK = b"HTTP/1.1 200 OK\r\n"
SWITCHING = b"HTTP/1.1 101 Switching Protocols\r\n"


@attrs.frozen
class Stall:
    """Writes `first`, then `piece` repeatedly, or nothing more if it is empty.

    `asked`: it reads a request first. `upgraded`: it also answers with a websocket's handshake.
    """

    first: bytes = b""
    piece: bytes = b""
    asked: bool = True
    upgraded: bool = False


def stalls_of(status_line: bytes) -> dict[str, Stall]:
    return {
        "accepted and silent": Stall(asked=False),
        "asked and silent": Stall(),
        "half a status line": Stall(status_line[:10]),
        "a status line that trickles": Stall(status_line[:-2], b"K"),
        "a head without end, a byte at a time": Stall(status_line + b"X-A: ", b"a"),
        "a head without end, a line at a time": Stall(status_line, b"X-A: a\r\n"),
    }


OVER_HTTP = stalls_of(OK) | {
    "continue, for ever": Stall(b"", b"HTTP/1.1 100 Continue\r\n\r\n"),
    "a body that trickles": Stall(OK + b"Content-Length: 60000\r\n\r\n{", b" "),
    "a body shorter than its length": Stall(OK + b'Content-Length: 60000\r\n\r\n{"Browser": "Chrome/1"}'),
    "a body without length": Stall(OK + b"\r\n{", b" "),
    "chunks for ever": Stall(OK + b"Transfer-Encoding: chunked\r\n\r\n1\r\n{\r\n", b"1\r\n \r\n"),
    "half a chunk": Stall(OK + b"Transfer-Encoding: chunked\r\n\r\nffff\r\n{"),
    "trailers for ever": Stall(OK + b"Transfer-Encoding: chunked\r\n\r\n1\r\n{\r\n0\r\n", b"X-A: a\r\n"),
}
OVER_WEBSOCKETS = stalls_of(SWITCHING) | {
    "half a handshake": Stall(SWITCHING + b"Upgrade: web"),
    "a handshake that trickles": Stall(SWITCHING + b"Upgrade: websocket\r\nX-A: ", b"a"),
    "a websocket, and silent": Stall(upgraded=True),
    "half a frame": Stall(b"\x81\x7e\xff\xff{", upgraded=True),
    "a frame that trickles": Stall(b"\x81\x7e\xff\xff{", b" ", upgraded=True),
    "a message in fragments, for ever": Stall(b"\x01\x01{", b"\x00\x01 ", upgraded=True),
    "pings, for ever": Stall(b"", b"\x89\x00", upgraded=True),
    "events, for ever": Stall(b"", b'\x81\x0e{"method":"a"}', upgraded=True),
}
BEFORE_TLS = {
    "accepted and silent": Stall(asked=False),
    "half a record": Stall(b"\x16\x03\x03\x40\x00\x02", asked=False),
    "a record that trickles": Stall(b"\x16\x03\x03\x40\x00\x02\x00\x40\x00", b"\x03", asked=False),
}

WAYS: list[tuple[str, str, Stall]] = [
    *[(scheme, name, stall) for scheme in ("http", "https") for name, stall in OVER_HTTP.items()],
    *[(scheme, name, stall) for scheme in ("ws", "wss") for name, stall in OVER_WEBSOCKETS.items()],
    *[
        (f"{scheme} before TLS", name, stall)
        for scheme in ("https", "wss")
        for name, stall in BEFORE_TLS.items()
    ],
    *[("http, then ws", name, stall) for name, stall in OVER_WEBSOCKETS.items()],
]


HTTP_WAYS = [way for way in WAYS if way[0].startswith("http") and way[0] != "http, then ws"]


async def connected(endpoint: str) -> None:
    async with cdpengine.connect(endpoint, timeout=TIMEOUT):
        pytest.fail("connected")


async def proxied(endpoint: str) -> None:
    async with proxy(endpoint, timeout=TIMEOUT):
        pytest.fail("a proxy, and no browser")


async def asked_for_its_protocol(endpoint: str) -> None:
    await fetch_protocol(endpoint, timeout=TIMEOUT)


def serve(scheme: str, stall: Stall, port: Callable[[], int]) -> Callable[[ByteStream], Awaitable[None]]:
    async def answer(stream: ByteStream) -> None:
        request = await read_request(stream) if stall.asked else b""
        if scheme == "http, then ws" and b" /json/version " in request:
            body = b'{"webSocketDebuggerUrl": "ws://127.0.0.1:%d/devtools/browser/1"}' % port()
            await stream.send_all(OK + b"Content-Length: %d\r\n\r\n" % len(body) + body)
            return
        await stream.send_all((accepting(request) if stall.upgraded else b"") + stall.first)
        while stall.piece:
            await stream.send_all(stall.piece)
            await trio.sleep(PAUSE)
        await trio.sleep_forever()

    return answer


async def lateness(look: Callable[[str], Awaitable[None]], way: tuple[str, str, Stall]) -> float:
    """Return the delay after the deadline.

    The call must raise ConnectFailedError, and not before its deadline.
    """
    scheme, _, stall = way
    name = scheme.partition(" ")[0].rstrip(",")
    ports: list[int] = []
    server: AbstractAsyncContextManager[int] = tcp_server(
        serve(scheme, stall, lambda: ports[0]), tls=scheme in ("https", "wss")
    )
    async with server as port:
        ports.append(port)
        path = "/devtools/browser/1" if name.startswith("ws") else ""
        began = trio.current_time()
        with trio.fail_after(5), pytest.raises(cdpengine.errors.ConnectFailedError, match="within"):
            await look(f"{name}://127.0.0.1:{port}{path}")
        return trio.current_time() - began - TIMEOUT


@pytest.mark.parametrize(
    ("look", "ways"),
    [(connected, WAYS), (proxied, HTTP_WAYS), (asked_for_its_protocol, HTTP_WAYS)],
)
async def test_it_ends_in_time(
    look: Callable[[str], Awaitable[None]],
    ways: list[tuple[str, str, Stall]],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", str(LOOPBACK_TLS))
    late: dict[tuple[str, str, Stall], float] = {}

    async def measure(way: tuple[str, str, Stall]) -> None:
        try:
            late[way] = await lateness(look, way)
        except BaseException as error:
            error.add_note(f"{way[0]}: {way[1]}")
            raise

    async with trio.open_nursery() as nursery:
        for way in ways:
            nursery.start_soon(measure, way)
    for way in [way for way in ways if late[way] > slack(LATE)]:
        await measure(way)
    assert not {way: over for way, over in late.items() if over > slack(LATE)}


@pytest.mark.parametrize(
    "name",
    [
        "accepted and silent",
        "a handshake that trickles",
        "a websocket, and silent",
        "a frame that trickles",
    ],
)
async def test_a_second_connection_that_stalls_delays_nothing(name: str) -> None:
    """A separate connection stops scripts. If it fails, the first connection takes over."""
    stall = OVER_WEBSOCKETS[name]
    taken = 0

    async def serve_first(stream: ByteStream) -> None:
        nonlocal taken
        taken += 1
        if taken > 1:
            await serve("ws", stall, int)(stream)
        at = urlsplit(scripted.endpoint)
        async with (
            await trio.open_tcp_stream("127.0.0.1", at.port or 0) as inner,
            trio.open_nursery() as both,
        ):
            both.start_soon(pass_on, stream, inner, both.cancel_scope)
            both.start_soon(pass_on, inner, stream, both.cancel_scope)

    async with ScriptedBrowser("websocket") as scripted, tcp_server(serve_first) as port:
        began = trio.current_time()
        async with cdpengine.connect(f"ws://127.0.0.1:{port}/devtools/browser/1", timeout=0.6) as browser:
            assert trio.current_time() - began <= 0.6 / 2 + slack(LATE)
            began = trio.current_time()
            page = await browser.new_page(timeout=10)
            assert trio.current_time() - began <= ANSWER_TIMEOUT + slack(LATE)
            assert await page.evaluate("1") == 1
            assert (
                await page.internals.target.evaluation_session_of("T1")
            ).connection is browser.session.connection
            began = trio.current_time()
        assert trio.current_time() - began <= CLOSE_GRACE + slack(LATE)


async def pass_on(source: ByteStream, destination: ByteStream, done: trio.CancelScope) -> None:
    async for data in source:
        await destination.send_all(data)
    done.cancel()


async def test_a_port_that_accepts_no_connection() -> None:
    """Its queue is full, so the system leaves the TCP handshake open, like a firewall that drops packets."""

    async def look_for_it(look: Callable[[str], Awaitable[None]]) -> None:
        began = trio.current_time()
        with pytest.raises(cdpengine.errors.ConnectFailedError, match="within"):
            await look(f"http://127.0.0.1:{port}")
        assert trio.current_time() - began <= TIMEOUT + slack(LATE)

    with ExitStack() as stack:
        listening = stack.enter_context(socket.socket())
        listening.bind(("127.0.0.1", 0))
        listening.listen(0)
        port = listening.getsockname()[1]
        for _ in range(3):
            waiting = stack.enter_context(socket.socket())
            waiting.setblocking(False)
            waiting.connect_ex(("127.0.0.1", port))
        async with trio.open_nursery() as nursery:
            for look in (connected, proxied, asked_for_its_protocol):
                nursery.start_soon(look_for_it, look)
