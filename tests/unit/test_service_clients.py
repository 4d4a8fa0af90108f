"""The connections of a service's clients, over real sockets, without a browser: their number, slowness and
ends.
"""

from __future__ import annotations

import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from typing import Any

import pytest
import trio
from busy_machine import slack

from cdpengine.service.serving import Listening, serve
from cdpengine.service.settings import ServiceSettings

_SOON = 3.0
"""A time below the five seconds for which an idle client is kept, in seconds."""

TOKEN = "the-token-of-the-tests"


@asynccontextmanager
async def running(**settings: Any) -> AsyncIterator[Listening]:
    async with serve(ServiceSettings(token=TOKEN, ending=0.1, **settings)) as listening:
        yield listening


def port_of(listening: Listening) -> int:
    return int(listening.url.rpartition(":")[2])


async def connect(listening: Listening) -> trio.SocketStream:
    return await trio.open_tcp_stream("127.0.0.1", port_of(listening))


def request(listening: Listening, path: str, *more: str, method: str = "GET", token: str = TOKEN) -> bytes:
    lines = [f"{method} {path} HTTP/1.1", f"Host: 127.0.0.1:{port_of(listening)}", f"Authorization: Bearer {token}", *more, "", ""]  # fmt: skip
    return "\r\n".join(lines).encode()


def clients(listening: Listening) -> int:
    text = listening.service.metrics.text().decode()
    found = re.search(r"^cdpengine_clients (\S+)", text, re.M)
    assert found is not None
    return int(float(found[1]))


async def until_clients(listening: Listening, count: int) -> None:
    with trio.fail_after(_SOON):
        while clients(listening) != count:  # noqa: ASYNC110 - the service's own tasks have no event for it
            await trio.sleep(0.005)


@pytest.mark.parametrize("when", ["at once", "before its request", "after an answer", "in its headers", "in its body"])  # fmt: skip
async def test_a_closed_client_is_forgotten_immediately(when: str) -> None:
    async with running() as listening:
        async with await connect(listening) as stream:
            await until_clients(listening, 1)
            whole = request(listening, "/act", "Content-Length: 100", method="POST") + b"x" * 50
            if when == "after an answer":
                await stream.send_all(request(listening, "/healthz"))
                assert b"200" in await stream.receive_some()
            elif when in ("in its headers", "in its body"):
                await stream.send_all(whole[:30] if when == "in its headers" else whole)
        await until_clients(listening, 0)


async def test_the_number_of_clients_is_limited_and_room_is_made() -> None:
    async with running(connections=2) as listening:
        async with await connect(listening), await connect(listening):
            await until_clients(listening, 2)
            async with await connect(listening) as third:
                assert b"503" in await third.receive_some()
                assert await third.receive_some() == b""
        await until_clients(listening, 0)
        async with await connect(listening) as stream:
            await stream.send_all(request(listening, "/healthz"))
            assert b"200" in await stream.receive_some()


async def test_a_refused_client_that_keeps_sending_delays_nothing() -> None:
    async with running() as listening:
        async with await connect(listening) as stream:
            head = request(listening, "/act", "Content-Length: 900000", method="POST", token="wrong")
            await stream.send_all(head + b"x" * 100_000)
            assert b"401" in await stream.receive_some()
            with trio.move_on_after(0.2), suppress(trio.BrokenResourceError):
                await stream.send_all(b"x" * 800_000)
        await until_clients(listening, 0)


async def test_a_client_that_reads_nothing_of_its_answer_is_dropped() -> None:
    async with running(stalled=0.3) as listening, await connect(listening) as stream:
        for _ in range(400):  # more documents than all buffers between the two can contain
            with trio.move_on_after(0.2) as full:
                await stream.send_all(request(listening, "/openapi.json"))
            if full.cancelled_caught:
                break
        await until_clients(listening, 0)


async def test_the_end_does_not_wait_for_an_idle_client() -> None:
    async with running() as listening:
        stream = await connect(listening)
        await stream.send_all(request(listening, "/healthz"))
        assert b"200" in await stream.receive_some()
        began = trio.current_time()
    assert trio.current_time() - began < slack(1)
    await stream.aclose()
