"""The gate: a SOCKS proxy on this machine through which a browser makes all of its connections.

Rule: a host is judged when a connection to it is made, by the addresses that its name has then, and the connection
is made to one of exactly those. So nothing that a page loads gets past the policy (scripts, frames, websockets,
workers), and a name whose address changes between two questions (DNS rebinding) gains nothing. Bytes are passed on
as they are.
"""

from __future__ import annotations

import os
import socket
from collections import OrderedDict
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import attrs
import trio

from cdpengine._logs import get_logger
from cdpengine._nursery import open_body_nursery
from cdpengine._urls import Address
from cdpengine.service.gate import socks
from cdpengine.service.gate.socks import Destination, Reply
from cdpengine.service.url_policy import UrlPolicy

_log = get_logger("cdpengine.service")

_HANDSHAKE = 10.0
"""Seconds that a client has to say where it wants to go."""

_CONNECTING = 10.0
"""Seconds for one address of a host."""

_PIECE = 2**16
_MOST = 1024
"""Connections at the same time; more wait."""

_KEPT = 200


@attrs.frozen
class NotConnected:
    """Why there was no connection to a host, and whether that was the policy's doing."""

    reason: str
    refused: bool


@attrs.define(eq=False)
class Failures:
    """Why there was no connection to a host, for the latest hosts of which that is so."""

    _by_host: OrderedDict[str, NotConnected] = attrs.field(factory=OrderedDict)

    def note(self, host: str, why: NotConnected | None) -> None:
        """Take note of why, or that there is a connection now."""
        self._by_host.pop(host, None)
        if why is not None:
            self._by_host[host] = why
        if len(self._by_host) > _KEPT:
            self._by_host.popitem(last=False)

    def of(self, host: str) -> NotConnected | None:
        """Return why there was none, None where there was one, or nobody asked."""
        return self._by_host.get(host)


@attrs.define(eq=False)
class Gate:
    """The gate of one browser."""

    _policy: UrlPolicy
    _failures: Failures = attrs.field(factory=Failures)
    port: int = 0
    _room: trio.CapacityLimiter = attrs.field(factory=lambda: trio.CapacityLimiter(_MOST))

    @property
    def switches(self) -> tuple[str, ...]:
        """The switches with which Chrome has no way past it: loopback included, no names resolved, no UDP."""
        return (
            f"--proxy-server=socks5://127.0.0.1:{self.port}",
            "--proxy-bypass-list=<-loopback>",
            "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
            "--webrtc-ip-handling-policy=disable_non_proxied_udp",
        )

    async def serve(self, *, task_status: trio.TaskStatus[None]) -> None:
        """Take connections until cancelled."""
        listeners = await trio.open_tcp_listeners(0, host="127.0.0.1")
        self.port = listeners[0].socket.getsockname()[1]
        async with trio.open_nursery() as nursery:
            await nursery.start(trio.serve_listeners, self._pass_on, listeners)
            task_status.started()

    async def _pass_on(self, browser: trio.SocketStream) -> None:
        """Serve one connection. Whatever goes wrong ends it: the browser says so to its page."""
        async with self._room:
            try:
                destination: Destination | None = None
                with trio.move_on_after(_HANDSHAKE):
                    destination = await _read_destination(browser)
                if destination is None:
                    return
                server = await self._connect(browser, destination)
                if server is not None:
                    async with server:
                        await browser.send_all(socks.make_reply(Reply.DONE))
                        await _join(browser, server)
            except (ValueError, trio.BrokenResourceError, trio.ClosedResourceError) as error:
                _log.debug("a connection through the gate ended: %s", error)

    async def _connect(
        self, browser: trio.SocketStream, destination: Destination
    ) -> trio.SocketStream | None:
        """Connect to where the browser wants to go, or tell it why not."""
        host = destination.host.rstrip(".").lower()
        refusal, addresses = await self._policy.judge_host(host)
        if refusal:
            self._failures.note(host, NotConnected(refusal, refused=True))
            await browser.send_all(socks.make_reply(Reply.NOT_ALLOWED))
            return None
        reply, reason = Reply.UNREACHABLE, f"the host {host[:80]} has no address"
        for address in addresses:
            try:
                with trio.move_on_after(_CONNECTING):
                    server = await _open(address, destination.port)
                    self._failures.note(host, None)
                    return server
                reason = f"{address} did not answer within {_CONNECTING:g} s"
            except OSError as error:
                refused = isinstance(error, ConnectionRefusedError)
                reply = Reply.REFUSED if refused else Reply.UNREACHABLE
                cause = os.strerror(error.errno) if error.errno else str(error)
                reason = f"no connection to {address}, port {destination.port}: {cause}"
        self._failures.note(host, NotConnected(reason, refused=False))
        await browser.send_all(socks.make_reply(reply))
        return None


async def _open(address: Address, port: int) -> trio.SocketStream:
    family = socket.AF_INET if address.version == 4 else socket.AF_INET6
    made = trio.socket.socket(family, socket.SOCK_STREAM)
    try:
        await made.connect((str(address), port))
        return trio.SocketStream(made)
    except BaseException:
        made.close()
        raise


async def _read_destination(browser: trio.SocketStream) -> Destination | None:
    """Do the handshake, and return where to; None for what was answered already. Raises ValueError."""
    head = await _read_exactly(browser, 2)
    if not socks.accepts_no_authentication(head + await _read_exactly(browser, head[1])):
        await browser.send_all(socks.NO_METHOD)
        return None
    await browser.send_all(socks.NO_AUTHENTICATION)
    head = await _read_exactly(browser, 5)
    request = head + await _read_exactly(browser, socks.length_of_request(head) - 5)
    destination = socks.parse_request(request)
    if destination is None:
        await browser.send_all(socks.make_reply(Reply.COMMAND_UNKNOWN))
    return destination


async def _read_exactly(stream: trio.SocketStream, count: int) -> bytes:
    read = b""
    while len(read) < count:
        piece = await stream.receive_some(count - len(read))
        if not piece:
            raise ValueError("the client left in the middle of its request")
        read += piece
    return read


async def _join(browser: trio.SocketStream, server: trio.SocketStream) -> None:
    """Pass bytes on in both directions, each to its own end; an error in one ends both."""
    async with open_body_nursery() as nursery:
        other = trio.Event()

        async def answer() -> None:
            await _copy(server, browser)
            other.set()

        nursery.start_soon(answer)
        await _copy(browser, server)
        await other.wait()


async def _copy(source: trio.SocketStream, target: trio.SocketStream) -> None:
    while piece := await source.receive_some(_PIECE):
        await target.send_all(piece)
    await target.send_eof()


@asynccontextmanager
async def open_gate(policy: UrlPolicy, failures: Failures) -> AsyncIterator[Gate]:
    """Give a gate while the block runs."""
    gate = Gate(policy, failures)
    async with open_body_nursery() as nursery:
        await nursery.start(gate.serve)
        yield gate
