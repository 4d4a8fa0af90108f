"""The gate: a SOCKS proxy on this machine for all connections of a browser.

Rule: the gate checks a host when a connection to it begins, by the addresses that its name has then, and
connects to one of exactly those addresses. So nothing that a page loads can bypass the policy (scripts, frames,
websockets, workers), and a name that changes its address between two lookups (DNS rebinding) has no effect. The
gate does not change the bytes.
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
from cdpengine._urls.hosts import Address
from cdpengine.service.gate import socks
from cdpengine.service.gate.socks import Destination, Reply
from cdpengine.service.url_policy import UrlPolicy

_log = get_logger("cdpengine.service")

_HANDSHAKE = 10.0
"""Maximum time for a client to send its destination, in seconds."""

_CONNECTING = 10.0
"""Maximum time to connect to one address of a host, in seconds."""

_PIECE = 2**16
_MOST = 1024
"""Maximum number of simultaneous connections; further ones wait."""

_MOST_HOSTS = 200


@attrs.frozen
class NotConnected:
    """The reason why a connection to a host failed, and whether the policy refused it."""

    reason: str
    refused: bool


@attrs.define(eq=False)
class Failures:
    """The reasons of failed connections, for the latest hosts that could not be reached."""

    _by_host: OrderedDict[str, NotConnected] = attrs.field(factory=OrderedDict)

    def note(self, host: str, why: NotConnected | None) -> None:
        """Record the reason, or None for a connection that was made."""
        self._by_host.pop(host, None)
        if why is not None:
            self._by_host[host] = why
        if len(self._by_host) > _MOST_HOSTS:
            self._by_host.popitem(last=False)

    def of(self, host: str) -> NotConnected | None:
        """Return the reason, or None if the last connection succeeded or none was made."""
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
        """Chrome's switches that force all connections through the gate, without name resolution and UDP."""
        return (
            f"--proxy-server=socks5://127.0.0.1:{self.port}",
            "--proxy-bypass-list=<-loopback>",
            "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
            "--webrtc-ip-handling-policy=disable_non_proxied_udp",
        )

    async def serve(self, *, task_status: trio.TaskStatus[None]) -> None:
        """Accept connections until cancelled."""
        listeners = await trio.open_tcp_listeners(0, host="127.0.0.1")
        self.port = listeners[0].socket.getsockname()[1]
        async with trio.open_nursery() as nursery:
            await nursery.start(trio.serve_listeners, self._pass_on, listeners)
            task_status.started()

    async def _pass_on(self, browser: trio.SocketStream) -> None:
        """Serve one connection. Any error closes it, and the browser reports that to its page."""
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
        """Connect to the requested destination, or report the reason of the failure to the browser."""
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
    """Do the handshake and return the destination, or None if the request was refused here. Raises ValueError."""
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
            raise ValueError("the client disconnected during its request")
        read += piece
    return read


async def _join(browser: trio.SocketStream, server: trio.SocketStream) -> None:
    """Copy bytes in both directions until each has ended; an error in one direction ends both."""
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
    """Run a gate during the block."""
    gate = Gate(policy, failures)
    async with open_body_nursery() as nursery:
        await nursery.start(gate.serve)
        yield gate
