"""The gate over real sockets: permitted addresses, routing, and the treatment of invalid and slow clients."""

from __future__ import annotations

import ipaddress
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
import trio
import trio.testing

from cdpengine.service.gate.gate import Failures, Gate, open_gate
from cdpengine.service.gate.socks import Reply, accepts_no_authentication, length_of_request
from cdpengine.service.url_policy import UrlPolicy

HERE = UrlPolicy(allow=("localhost", "127.0.0.1"))


@asynccontextmanager
async def gate(policy: UrlPolicy, failures: Failures | None = None) -> AsyncIterator[Gate]:
    async with open_gate(policy, failures or Failures()) as opened:
        yield opened


@asynccontextmanager
async def echo() -> AsyncIterator[int]:
    """Run a server that echoes its input, and ends when its client does."""

    async def answer(stream: trio.SocketStream) -> None:
        async for piece in stream:
            await stream.send_all(piece)
        await stream.send_eof()

    async with trio.open_nursery() as nursery:
        serve = trio.serve_tcp
        listeners = await nursery.start(lambda task_status: serve(answer, 0, host="127.0.0.1", task_status=task_status))  # fmt: skip
        yield listeners[0].socket.getsockname()[1]
        nursery.cancel_scope.cancel()


def address(host: str) -> bytes:
    if host.startswith("4:"):
        return b"\x01" + socket.inet_pton(socket.AF_INET, host[2:])
    if host.startswith("6:"):
        return b"\x04" + socket.inet_pton(socket.AF_INET6, host[2:])
    return b"\x03" + bytes((len(host),)) + host.encode()


async def ask(opened: Gate, host: str, port: int, command: int = 1) -> tuple[int, trio.SocketStream]:
    """Ask the gate for a connection. Return its reply and the connection."""
    stream = await trio.open_tcp_stream("127.0.0.1", opened.port)
    await stream.send_all(b"\x05\x02\x01\x00")
    assert await stream.receive_some(2) == b"\x05\x00"
    await stream.send_all(bytes((5, command, 0)) + address(host) + port.to_bytes(2, "big"))
    reply = await stream.receive_some(10)
    assert len(reply) == 10
    return reply[1], stream


async def test_bytes_are_passed_both_ways_to_the_right_ends() -> None:
    sent = b"0123456789" * 100_000
    async with echo() as port, gate(HERE) as opened:
        for host in ("localhost", "LOCALHOST.", "127.0.0.1", "4:127.0.0.1"):
            reply, stream = await ask(opened, host, port)
            assert reply == Reply.DONE, host
            async with stream, trio.open_nursery() as nursery:
                nursery.start_soon(stream.send_all, sent if host == "localhost" else b"x" * 10)
                got = await stream.receive_some(10)
                assert got == (sent if host == "localhost" else b"x" * 10)[: len(got)]
                if host == "localhost":
                    while len(got) < len(sent):
                        got += await stream.receive_some()
                    assert got == sent
                    await stream.send_eof()
                    assert await stream.receive_some() == b""


@pytest.mark.parametrize(
    "host",
    ["localhost", "127.0.0.1", "4:127.0.0.1", "4:10.0.0.1", "6:::1", "::1", "[::1]", "6:::ffff:127.0.0.1", "6:fd00::1", "2130706433", "0x7f.1",
     "169.254.169.254", "0.0.0.0", "6:::"],
)  # fmt: skip
async def test_private_addresses_are_refused_in_every_spelling(host: str) -> None:
    failures = Failures()
    async with echo() as port, gate(UrlPolicy(), failures) as opened:
        reply, stream = await ask(opened, host, port)
        async with stream:
            assert reply == Reply.NOT_ALLOWED
            assert await stream.receive_some() == b""
    name = str(ipaddress.ip_address(host[2:])) if host[:2] in ("4:", "6:") else host.strip("[]")
    why = failures.of(name)
    assert why is not None
    assert why.refused
    assert "has an address" in why.reason


async def test_lists_of_hosts_apply_to_every_connection() -> None:
    async with echo() as port:
        for policy, host, expected in (
            (UrlPolicy(allow=("localhost",)), "localhost", Reply.DONE),
            (UrlPolicy(allow=("localhost",)), "127.0.0.1", Reply.NOT_ALLOWED),
            (UrlPolicy(allow_private=True, deny=("localhost",)), "localhost", Reply.NOT_ALLOWED),
            (UrlPolicy(allow_private=True, deny=("localhost",)), "127.0.0.1", Reply.DONE),
        ):
            async with gate(policy) as opened:
                reply, stream = await ask(opened, host, port)
                await stream.aclose()
                assert reply == expected, (policy, host)
    assert UrlPolicy(allow_private=True).allows_everything
    assert not UrlPolicy().allows_everything


async def test_unreachable_hosts_are_reported() -> None:
    failures = Failures()
    async with echo() as port, gate(UrlPolicy(allow_private=True, deny=("x",)), failures) as opened:
        for host, at, reply, words in (
            ("no-such-host.invalid", port, Reply.UNREACHABLE, "has no address"),
            ("127.0.0.1", 1, Reply.REFUSED, "port 1: Connection refused"),
        ):
            got, stream = await ask(opened, host, at)
            await stream.aclose()
            why = failures.of(host)
            assert (got, why is not None and why.refused) == (reply, False)
            assert why is not None
            assert words in why.reason
        _, stream = await ask(opened, "127.0.0.1", port)
        await stream.aclose()
        assert failures.of("127.0.0.1") is None, "it can be reached now"


class Rebinding(trio.abc.HostnameResolver):
    """A name that resolves to the internet when it is checked, and to this machine when it is used."""

    def __init__(self) -> None:
        self.asked = 0

    async def getaddrinfo(self, _host: Any, port: Any, *_more: Any) -> Any:
        await trio.lowlevel.checkpoint()
        self.asked += 1
        found = "93.184.216.34" if self.asked == 1 else "127.0.0.1"
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (found, port or 0))]

    async def getnameinfo(self, _sockaddr: Any, _flags: int) -> Any:
        raise NotImplementedError


async def test_a_name_that_changes_its_address_gains_nothing() -> None:
    before = trio.socket.set_custom_hostname_resolver(Rebinding())
    try:
        policy = UrlPolicy()
        assert await policy.check("http://rebind.example/") == ""
        refusal, addresses = await policy.judge_host("rebind.example")
        assert "of this machine" in refusal
        assert not addresses
    finally:
        trio.socket.set_custom_hostname_resolver(before)


@pytest.mark.parametrize(
    ("sent", "answer"),
    [(b"GET / HTTP/1.1\r\n\r\n", b""), (b"\x04\x01\x00\x50", b""), (b"\x05\x01\x02", b"\x05\xff"), (b"\x05\x01\x00\x05\x01\x00\x07abc", b"\x05\x00"),
     (b"\x05\x01\x00\x05\x01\x00\x03\x00\x00\x50", b"\x05\x00"), (b"\x05\x01\x00\x05\x01\x00\x03\x02\xff\xfe\x00\x50", b"\x05\x00"), (b"\x05", b"")],
)  # fmt: skip
async def test_anything_but_a_request_ends_the_connection(sent: bytes, answer: bytes) -> None:
    async with gate(HERE) as opened:
        async with await trio.open_tcp_stream("127.0.0.1", opened.port) as stream:
            got = b""
            with trio.fail_after(5):
                try:
                    await stream.send_all(sent)
                    await stream.send_eof()
                    while piece := await stream.receive_some():
                        got += piece
                except trio.BrokenResourceError:
                    pass  # it was closed with unread bytes
            assert got in (answer, b"")
        reply, stream = await ask(opened, "localhost", 1, command=2)
        await stream.aclose()
        assert reply == Reply.COMMAND_UNKNOWN


async def test_an_error_on_one_side_ends_both_and_the_gate_continues() -> None:
    async with echo() as port, gate(HERE) as opened:
        for _ in range(3):
            reply, stream = await ask(opened, "localhost", port)
            assert reply == Reply.DONE
            stream.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\x01\0\0\0\0\0\0\0")
            await trio.aclose_forcefully(stream)
        reply, stream = await ask(opened, "localhost", port)
        await stream.aclose()
        assert reply == Reply.DONE


def test_incompatible_settings_raise() -> None:
    for wrong in (b"", b"\x05", b"\x04\x01\x00", b"\x05\x02\x00"):
        with pytest.raises(ValueError, match="greeting"):
            accepts_no_authentication(wrong)
    with pytest.raises(ValueError, match="address type"):
        length_of_request(b"\x05\x01\x00\x09\x00")
