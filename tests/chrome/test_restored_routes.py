"""Routes and exposed functions of documents that return from the back/forward cache."""

from __future__ import annotations

import pytest
import trio
from pytest_httpserver import HTTPServer
from websocket_site import OPEN, page_log

import cdpengine
from cdpengine.network import WebSocketRoute

URL = "wss://chat.example/room"
FIRST = """<title>first</title><script>
shown = [];
addEventListener("pageshow", (event) => shown.push(event.persisted));
</script>"""


@pytest.fixture
async def first(page: cdpengine.Page, httpserver: HTTPServer) -> cdpengine.Page:
    for path, body in {"/first": FIRST, "/second": "<title>second</title>"}.items():
        httpserver.expect_request(path).respond_with_data(body, content_type="text/html")
    await page.goto(httpserver.url_for("/first"))
    return page


async def leave(page: cdpengine.Page, httpserver: HTTPServer) -> None:
    await page.goto(httpserver.url_for("/second"))


async def restore(page: cdpengine.Page) -> None:
    await page.go_back()
    assert await page.evaluate("shown.at(-1)") is True


async def echo(route: WebSocketRoute) -> None:
    async for message in route:
        await route.send(message * 2)


async def test_a_routed_websocket_is_closed_in_a_restored_document(
    first: cdpengine.Page, httpserver: HTTPServer
) -> None:
    ended = trio.Event()

    async def handler(route: WebSocketRoute) -> None:
        await echo(route)
        ended.set()

    async with first.route_websocket(URL, handler):
        assert await first.evaluate(OPEN, URL) == ["open "]
        await leave(first, httpserver)
        with trio.fail_after(10):
            await ended.wait()
        await restore(first)
        assert (await page_log(first, 3))[1:] == ["error", "close 1006  false"]
        assert await first.evaluate(OPEN, URL) == ["open "]
        await first.evaluate("socket.send('a')")
        assert (await page_log(first, 2))[-1] == "message aa"


async def test_scopes_that_begin_and_end_while_a_document_is_cached(
    first: cdpengine.Page, httpserver: HTTPServer
) -> None:
    async def answer(route: cdpengine.Route) -> None:
        await route.fulfill(body="routed")

    async def double(number: int) -> int:
        return number * 2

    await leave(first, httpserver)
    async with (
        first.route("*/api", answer),
        first.scripts.expose("double", double),
        first.route_websocket(URL, echo),
    ):
        await restore(first)
        assert await first.evaluate("fetch('/api').then((reply) => reply.text())") == "routed"
        assert await first.evaluate("double(4)") == 8
        assert await first.evaluate(OPEN, URL) == ["open "]
        await leave(first, httpserver)
    await restore(first)
    kinds = await first.evaluate("[typeof double, WebSocket.toString().includes('native')]")
    assert kinds == ["undefined", True]
    async with first.route_websocket(URL, echo):
        assert await first.evaluate(OPEN, URL) == ["open "]


async def test_a_handler_that_lets_messages_wait_loses_its_websocket(
    first: cdpengine.Page, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("cdpengine._evaluate.websockets.routed_socket._MOST_MESSAGES", 5)

    async def idle(route: WebSocketRoute) -> None:
        await route.accept()
        await trio.sleep_forever()

    async with first.route_websocket(URL, idle) as registration:
        assert await first.evaluate(OPEN, URL) == ["open "]
        await first.evaluate("for (let i = 0; i < 6; i++) socket.send('message')")
        assert (await page_log(first, 2))[-1] == "close 1011 too many messages true"
    assert [failure.reason for failure in registration.failures] == ["too many messages wait for it"]
