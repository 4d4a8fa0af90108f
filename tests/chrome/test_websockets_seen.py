"""Websockets, event sources and WebTransport sessions of real pages, as `page.activity` keeps and streams them."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator

import pytest
import trio
from network_site import Site
from pytest_httpserver import HTTPServer
from websocket_site import OPEN, WebSocketSite, page_log, until, websocket_site

import cdpengine
from cdpengine.network import EventSourceMessage, WebSocket, WebSocketMessage

EVENTS = "data: one\n\nevent: named\nid: 7\ndata: two\ndata: lines\n\n"


@pytest.fixture
async def sockets() -> AsyncIterator[WebSocketSite]:
    async with websocket_site() as site:
        yield site


@pytest.fixture
def site(httpserver: HTTPServer) -> Site:
    httpserver.expect_request("/events").respond_with_data(EVENTS, content_type="text/event-stream")
    return Site(httpserver)


async def test_a_websocket_is_kept_with_its_request_and_messages(
    page: cdpengine.Page, site: Site, sockets: WebSocketSite
) -> None:
    await page.goto(site.url)
    async with page.activity.collecting() as activity:
        await page.evaluate(OPEN, sockets.url + "chat", ["chosen", "other"])
        await page.evaluate("socket.send('hello'); socket.send(new Uint8Array([1, 2, 255]))")
        await page_log(page, 3)
        socket = activity.websockets[0]
        assert (socket.url, socket.status, socket.protocol) == (sockets.url + "chat", "open", "chosen")
        assert socket.request in list(activity.requests)
        assert socket.request is not None
        assert socket.request.type == "WebSocket"
        assert socket.request.response is not None
        assert socket.request.response.status == 101
        await until(lambda: len(socket.messages) == 4)
        kept = sorted((each.direction, each.data) for each in socket.messages if each.opcode == 1)
        assert kept == [("received", "HELLO"), ("sent", "hello")]
        binary = sorted((each.direction, each.data) for each in socket.messages if each.opcode == 2)
        assert binary == [("received", b"\xff\x02\x01"), ("sent", b"\x01\x02\xff")]
        assert all(abs(each.time - time.time()) < 30 for each in socket.messages)
        assert socket.opened_at is not None
        await page.evaluate("socket.close(3001, 'done')")
        await until(lambda: socket.closed)
        assert socket.closed_at is not None
        assert socket.closed_at >= socket.opened_at
    await until(lambda: sockets.log[-1] == "close 3001 done")


async def test_the_iteration_of_a_stream_ends_with_its_websocket(
    page: cdpengine.Page, site: Site, sockets: WebSocketSite
) -> None:
    await page.goto(site.url)
    async with page.activity.collecting() as activity:
        await page.evaluate(OPEN, sockets.url)
        async with activity.websockets[0].stream() as stream:
            await page.evaluate("socket.send('a'); socket.send('close')")
            with trio.fail_after(15):
                found = [(message.direction, message.data) async for message in stream]
        assert sorted(found) == [("received", "A"), ("sent", "a"), ("sent", "close")]
        assert activity.websockets[0].closed


async def test_the_latest_messages_are_kept_and_the_others_counted(
    page: cdpengine.Page, site: Site, sockets: WebSocketSite
) -> None:
    await page.goto(site.url)
    async with page.activity.collecting(messages=3) as activity:
        await page.evaluate(OPEN, sockets.url)
        await page.evaluate("for (let i = 0; i < 5; i++) socket.send(`m${i}`)")
        await page_log(page, 6)
        await until(
            lambda: len(activity.websockets[0].messages) + activity.websockets[0].messages.dropped == 10
        )
        assert len(activity.websockets[0].messages) == 3
        activity.clear()
        assert list(activity.websockets) == []


async def test_streams_of_the_page_yield_websockets_and_messages_in_order(
    page: cdpengine.Page, site: Site, sockets: WebSocketSite
) -> None:
    await page.goto(site.url)
    async with page.activity.stream("websockets", "messages", "event_messages") as stream:
        await page.evaluate(OPEN, sockets.url)
        await page.evaluate("socket.send('x')")
        await page.evaluate("self.source = new EventSource('/events'); 1")
        with trio.fail_after(15):
            socket = await stream.receive()
            rest = [await stream.receive() for _ in range(4)]
    assert isinstance(socket, WebSocket)
    messages = [each for each in rest if isinstance(each, WebSocketMessage)]
    assert [(each.data, each.websocket_id) for each in messages] == [("x", socket.id), ("X", socket.id)]
    events = [each for each in rest if isinstance(each, EventSourceMessage)]
    assert [(each.name, each.id, each.data) for each in events] == [
        ("message", "", "one"),
        ("named", "7", "two\nlines"),
    ]
    assert {each.url for each in events} == {site.url + "events"}


async def test_a_websocket_that_is_refused_has_its_failure(
    page: cdpengine.Page, site: Site, sockets: WebSocketSite
) -> None:
    await page.goto(site.url)
    async with page.activity.collecting() as activity:
        assert (await page.evaluate(OPEN, sockets.url + "refused"))[-1].startswith("close 1006")
        await until(lambda: activity.websockets[0].closed)
        assert "403" in activity.websockets[0].failure
        assert activity.websockets[0].opened_at is None


async def test_the_end_of_a_document_closes_its_websockets(
    page: cdpengine.Page, site: Site, sockets: WebSocketSite
) -> None:
    await page.goto(site.url)
    async with page.activity.collecting() as activity:
        await page.evaluate(OPEN, sockets.url)
        await page.goto("about:blank")
        await until(lambda: activity.websockets[0].closed)


async def test_websockets_of_workers_name_the_worker(
    page: cdpengine.Page, site: Site, sockets: WebSocketSite
) -> None:
    await page.goto(site.url)
    async with page.activity.collecting() as activity:
        async with page.expect_worker() as expected:
            await page.evaluate("self.worker = new Worker('/worker.js'); 1")
        await expected.value.evaluate(OPEN, sockets.url)
        assert activity.websockets[0].target_id == expected.value.target_id


async def test_webtransport_sessions_are_kept(page: cdpengine.Page, site: Site) -> None:
    await page.goto(site.url)
    async with page.activity.collecting() as activity:
        await page.evaluate("new WebTransport('https://127.0.0.1:9/none').ready.catch(() => {})", timeout=20)
        await until(lambda: activity.webtransports and activity.webtransports[0].status == "closed")
        assert activity.webtransports[0].url == "https://127.0.0.1:9/none"
        assert activity.webtransports[0].opened_at is None
