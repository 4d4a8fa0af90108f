"""Routed websockets of real pages: the page's own log, and the server's, show what each side received."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Callable

import pytest
import trio
from network_site import Site
from pytest_httpserver import HTTPServer
from websocket_site import OPEN, WebSocketSite, page_log, until, websocket_site

import cdpengine
from cdpengine.network import WebSocketRoute

URL = "wss://chat.example/room"


@pytest.fixture
async def sockets() -> AsyncIterator[WebSocketSite]:
    async with websocket_site() as site:
        yield site


@pytest.fixture
def site(httpserver: HTTPServer) -> Site:
    return Site(httpserver)


async def echo(route: WebSocketRoute) -> None:
    async for message in route:
        await route.send(message * 2)


async def test_a_handler_answers_without_a_server(page: cdpengine.Page, site: Site) -> None:
    async with page.route_websocket("wss://chat.example/*", echo) as registration:
        await page.goto(site.url)
        assert await page.evaluate(OPEN, URL) == ["open "]
        await page.evaluate("socket.send('hé\\n😀'); socket.send(new Uint8Array([1, 255, 0]).buffer)")
        await page.evaluate("socket.send(new Blob(['blob'])); socket.send('last')")
        expected = ["open ", "message hé\n😀hé\n😀", "message Blob 6", "message Blob 8", "message lastlast"]
        assert await page_log(page, 5) == expected
        await page.evaluate("socket.close(3210, 'bye')")
        assert (await page_log(page, 6))[-1] == "close 3210 bye true"
    assert (registration.seen, list(registration.failures)) == (1, [])


async def test_the_handler_sees_urls_protocols_and_the_close(page: cdpengine.Page, site: Site) -> None:
    seen: list[object] = []

    async def handler(route: WebSocketRoute) -> None:
        seen.append((route.url, route.protocols))
        await route.accept("b")
        seen.extend([message async for message in route])
        seen.append((route.closed, route.close_code, route.close_reason))

    async with page.route_websocket(re.compile("/room"), handler):
        await page.goto(site.url)
        assert await page.evaluate(OPEN, "/room?x=1", ["a", "b"]) == ["open b"]
        await page.evaluate("socket.send(new Uint16Array([258])); socket.send('t'); socket.close()")
        assert (await page_log(page, 2))[-1] == "close 1005  true"
        await until(lambda: len(seen) == 4)
    address = site.url.replace("http", "ws") + "room?x=1"
    assert seen == [(address, ("a", "b")), b"\x02\x01", "t", (True, 1005, "")]


async def test_a_handler_closes_with_a_code(page: cdpengine.Page, site: Site) -> None:
    async def handler(route: WebSocketRoute) -> None:
        await route.send("first")
        await route.close(4321, "enough")

    async with page.route_websocket(URL, handler):
        await page.goto(site.url)
        await page.evaluate(OPEN, URL)
        assert await page_log(page, 3) == ["open ", "message first", "close 4321 enough true"]
        assert await page.evaluate("[socket.readyState, socket.bufferedAmount]") == [3, 0]
        assert await page.evaluate("socket.send('late'), socket.bufferedAmount") == 4


async def test_a_handler_refuses_the_connection(page: cdpengine.Page, site: Site) -> None:
    async def handler(route: WebSocketRoute) -> None:
        await route.close()

    async with page.route_websocket(URL, handler) as registration:
        await page.goto(site.url)
        assert await page.evaluate(OPEN, URL) == ["error", "close 1006  false"]
    assert list(registration.failures) == []


async def test_messages_are_changed_dropped_and_delayed_on_their_way(
    page: cdpengine.Page, site: Site, sockets: WebSocketSite
) -> None:
    async def to_server(message: str | bytes) -> str | bytes | None:
        await trio.sleep(0.02)
        return None if message == "secret" else message

    def to_page(message: str | bytes) -> str | bytes:
        return f"<{message}>" if isinstance(message, str) else message + b"!"

    async def handler(route: WebSocketRoute) -> None:
        await route.forward(to_server=to_server, to_page=to_page)

    async with page.route_websocket(sockets.url + "*", handler):
        await page.goto(site.url)
        assert await page.evaluate(OPEN, sockets.url + "chat", ["p"]) == ["open p"]
        await page.evaluate("socket.binaryType = 'arraybuffer'; socket.send('a'); socket.send('secret')")
        await page.evaluate("socket.send('b'); socket.send(new Uint8Array([7]))")
        assert await page_log(page, 4) == ["open p", "message <A>", "message <B>", "message ArrayBuffer 2"]
        await page.evaluate("socket.close(3333, 'over')")
        assert (await page_log(page, 5))[-1] == "close 3333 over true"
        await until(lambda: sockets.log[-1] == "close 3333 over")
    assert sockets.messages == ["message 'a'", "message 'b'", "message b'\\x07'"]
    assert sockets.requests[0][1]["origin"] == site.url.rstrip("/")


async def test_the_server_closes_a_forwarded_websocket(
    page: cdpengine.Page, site: Site, sockets: WebSocketSite
) -> None:
    async def handler(route: WebSocketRoute) -> None:
        await route.forward()

    async with page.route_websocket("ws://*", handler):
        await page.goto(site.url)
        await page.evaluate(OPEN, sockets.url)
        await page.evaluate("socket.send('close')")
        assert (await page_log(page, 2))[-1] == "close 4001 asked true"


async def test_both_sides_are_used_by_hand(page: cdpengine.Page, site: Site, sockets: WebSocketSite) -> None:
    replies: list[object] = []

    async def handler(route: WebSocketRoute) -> None:
        server = await route.connect_to_server()
        await server.send("from the handler")
        replies.append(await server.receive())
        await route.send("only this")
        await server.close(3000, "enough")
        with pytest.raises(trio.EndOfChannel):
            await server.receive()
        replies.append((server.close_code, server.closed))
        await route.receive()

    async with page.route_websocket("ws://*", handler):
        await page.goto(site.url)
        await page.evaluate(OPEN, sockets.url)
        assert await page_log(page, 2) == ["open ", "message only this"]
        await until(lambda: len(replies) == 2)
        assert replies == ["FROM THE HANDLER", (3000, True)]


async def test_a_server_that_refuses_fails_the_page_and_is_recorded(
    page: cdpengine.Page, site: Site, sockets: WebSocketSite
) -> None:
    async def handler(route: WebSocketRoute) -> None:
        await route.connect_to_server()

    async with page.route_websocket("ws://*", handler) as registration:
        await page.goto(site.url)
        assert await page.evaluate(OPEN, sockets.url + "refused") == ["error", "close 1006  false"]
        await until(lambda: registration.failures)
        assert "the server refused it" in registration.failures[0].reason


async def test_other_urls_and_fallbacks_use_a_real_connection(
    page: cdpengine.Page, site: Site, sockets: WebSocketSite
) -> None:
    used: list[str] = []

    async def passing(route: WebSocketRoute) -> None:
        used.append("passing")
        await route.fallback()

    def never(url: str) -> bool:
        return False

    async with (
        page.route_websocket("wss://other.example/*", echo),
        page.route_websocket(sockets.url + "passed", passing),
    ):
        await page.goto(site.url)
        for path in ("glob", "passed"):
            await page.evaluate(OPEN, sockets.url + path, ["p"])
            await page.evaluate("socket.send('x')")
            assert await page_log(page, 2) == ["open p", "message X"]
            await page.evaluate("socket.send('close')")
            assert (await page_log(page, 3))[-1] == "close 4001 asked true"
        async with page.route_websocket(never, echo):
            await page.evaluate(OPEN, sockets.url + "asked", ["p"])
            await page.evaluate("socket.send(new Blob(['ab'])); socket.send('y')")
            assert await page_log(page, 3) == ["open p", "message Blob 2", "message Y"]
    await page.evaluate("socket.send('after')")
    assert (await page_log(page, 4))[-1] == "message AFTER"
    assert used == ["passing"]


async def test_the_latest_route_comes_first_and_falls_back_to_the_earlier_one(
    browser: cdpengine.Browser, site: Site
) -> None:
    async def first(route: WebSocketRoute) -> None:
        await route.send("first")

    async def second(route: WebSocketRoute) -> None:
        await (route.fallback() if "back" in route.url else route.send("second"))

    async with browser.new_context() as context, context.route_websocket("wss://*", first):
        page = await context.new_page(site.url)
        await page.route_websocket("wss://*", second)
        await page.evaluate(OPEN, URL)
        assert await page_log(page, 3) == ["open ", "message second", "close 1000  true"]
        await page.evaluate(OPEN, URL + "?back")
        assert await page_log(page, 3) == ["open ", "message first", "close 1000  true"]


async def raising(route: WebSocketRoute) -> None:
    await route.accept()
    raise ValueError("by the test")


async def hanging(route: WebSocketRoute) -> None:
    await trio.sleep_forever()


async def silent(route: WebSocketRoute) -> None:
    await trio.lowlevel.checkpoint()


@pytest.mark.parametrize(
    ("handler", "log", "reason"),
    [
        (raising, ["open ", "close 1011 the handler failed true"], "it raised ValueError: by the test"),
        (
            hanging,
            ["error", "close 1006  false"],
            "it did not accept, close or pass on the websocket within 0.3 s",
        ),
        (silent, ["error", "close 1006  false"], "it ended without an answer"),
    ],
)
async def test_a_handler_that_fails_closes_only_its_websocket(
    page: cdpengine.Page,
    site: Site,
    handler: Callable[[WebSocketRoute], object],
    log: list[str],
    reason: str,
) -> None:
    async with page.route_websocket("wss://good.example/", echo):
        await page.goto(site.url)
        await page.evaluate(OPEN, "wss://good.example/")
        await page.evaluate("self.good = socket; 1")
        async with page.route_websocket(URL, handler, limit=0.3) as registration:  # type: ignore[arg-type]
            await page.evaluate(OPEN, URL)
            assert await page_log(page, 2) == log
            await until(lambda: registration.failures)
        failure = registration.failures[0]
        assert (failure.url, failure.resource_type, failure.pattern, failure.reason) == (
            URL,
            "WebSocket",
            URL,
            reason,
        )
        assert page.network.routes.failures[-1] == failure
        await page.evaluate("good.send('still'); good.onmessage = (event) => log.push(event.data)")
        assert (await page_log(page, 3))[-1] == "stillstill"


async def test_the_end_of_the_block_closes_and_restores(page: cdpengine.Page, site: Site) -> None:
    ended: list[object] = []

    async def handler(route: WebSocketRoute) -> None:
        try:
            await echo(route)
        finally:
            ended.append(route.close_code)

    await page.goto(site.url)
    await page.evaluate("self.before = [WebSocket, Object.getOwnPropertyDescriptor(self, 'WebSocket')]; 1")
    async with page.route_websocket(URL, handler):
        await page.evaluate(OPEN, URL)
        assert await page.evaluate("WebSocket !== before[0]")
    assert await page_log(page, 2) == ["open ", "close 1001 the route has ended true"]
    assert ended == [1001]
    restored = "const now = Object.getOwnPropertyDescriptor(self, 'WebSocket'); "
    restored += (
        "WebSocket === before[0] && now.enumerable === before[1].enumerable && socket instanceof WebSocket"
    )
    assert await page.evaluate(
        f"(() => {{ {restored.replace('WebSocket ===', 'return WebSocket ===', 1)} }})()"
    )
    assert await page.evaluate("[socket.readyState, socket.url]") == [3, URL]
    assert (
        await page.evaluate("Reflect.ownKeys(self).filter((key) => String(key).includes('cdpengine'))") == []
    )
    await page.reload()
    assert await page.evaluate("String(WebSocket)") == "function WebSocket() { [native code] }"


async def test_a_cancelled_block_closes_its_websockets(page: cdpengine.Page, site: Site) -> None:
    await page.goto(site.url)
    with trio.move_on_after(1.5):
        async with page.route_websocket(URL, hanging):
            await page.evaluate(OPEN.replace("resolve(log) };", "resolve(log) }; resolve(log);"), URL)
            await trio.sleep_forever()
    assert (await page_log(page, 1))[-1].startswith("close 1001")


async def test_a_reload_ends_the_handlers_of_the_old_document(page: cdpengine.Page, site: Site) -> None:
    closes: list[object] = []

    async def handler(route: WebSocketRoute) -> None:
        await echo(route)
        closes.append((route.close_code, route.close_reason))

    async with page.route_websocket(URL, handler) as registration:
        await page.goto(site.url)
        await page.evaluate(OPEN, URL)
        await page.reload()
        await until(lambda: closes)
        assert closes == [(1001, "its document is gone")]
        await page.evaluate(OPEN, URL)
        await page.evaluate("socket.send('again')")
        assert (await page_log(page, 2))[-1] == "message againagain"
    assert (registration.seen, list(registration.failures)) == (2, [])


async def test_frames_of_other_sites_and_popups_are_routed(page: cdpengine.Page, site: Site) -> None:
    async with page.route_websocket(URL, echo) as registration:
        await page.goto(site.url)
        await page.set_content(f"<iframe src='{site.elsewhere}page'></iframe>")
        await until(lambda: len(page.frames) == 2 and page.frames[1].url.startswith(site.elsewhere))
        frame = page.frames[1]
        assert await page.evaluate(OPEN, URL, frame=frame) == ["open "]
        await page.evaluate("socket.send('f')", frame=frame)
        await until(lambda: registration.seen == 1)
        async with page.expect_popup() as popup:
            await page.evaluate("self.open('/page'); 1")
        assert await popup.value.evaluate(OPEN, URL) == ["open "]
        await popup.value.close()


CLASS = """(url) => {
    const socket = new WebSocket(url);
    const thrown = (act) => { try { act(); return null } catch (error) { return error.name } };
    class Own extends WebSocket { send(data) { super.send(`own ${data}`) } }
    self.own = new Own(url);
    return {
        instance: socket instanceof WebSocket && own instanceof Own && own instanceof WebSocket,
        target: socket instanceof EventTarget,
        name: WebSocket.name,
        length: WebSocket.length,
        tag: String(socket),
        constructor: socket.constructor === WebSocket,
        constants: [WebSocket.CONNECTING, WebSocket.OPEN, WebSocket.CLOSING, WebSocket.CLOSED, socket.OPEN],
        keys: Object.keys(WebSocket.prototype).sort().join(),
        state: [socket.readyState, socket.url, socket.protocol, socket.extensions, socket.binaryType],
        handlers: [socket.onopen, socket.onclose],
        early: thrown(() => socket.send("x")),
        code: thrown(() => socket.close(1001)),
        reason: thrown(() => socket.close(1000, "x".repeat(124))),
        call: thrown(() => WebSocket(url)),
        scheme: thrown(() => new WebSocket("ftp://chat.example/")),
        protocols: thrown(() => new WebSocket(url, ["a", "a"])),
        token: thrown(() => new WebSocket(url, ["a b"])),
        illegal: thrown(() => WebSocket.prototype.send.call({}, "x")),
    };
}"""


async def test_the_class_looks_like_the_real_one(page: cdpengine.Page, site: Site) -> None:
    await page.goto(site.url)
    keys = await page.evaluate("Object.keys(WebSocket.prototype).sort().join()")
    async with page.route_websocket(URL, echo):
        await page.reload()
        found = await page.evaluate(CLASS, URL)
        assert found == {
            "instance": True,
            "target": True,
            "name": "WebSocket",
            "length": 1,
            "tag": "[object WebSocket]",
            "constructor": True,
            "constants": [0, 1, 2, 3, 1],
            "keys": found["keys"],
            "state": [0, URL, "", "", "blob"],
            "handlers": [None, None],
            "early": "InvalidStateError",
            "code": "InvalidAccessError",
            "reason": "SyntaxError",
            "call": "TypeError",
            "scheme": "SyntaxError",
            "protocols": "SyntaxError",
            "token": "SyntaxError",
            "illegal": "TypeError",
        }
        assert set(found["keys"].split(",")) <= set(keys.split(","))
        await page.evaluate(
            "self.log = []; own.addEventListener('message', (event) => log.push(event.data)); 1"
        )
        await page.evaluate("(own.readyState ? own.send('x') : (own.onopen = () => own.send('x')), 1)")
        assert await page_log(page, 1) == ["own xown x"]


ORDER = """(url) => new Promise((resolve) => {
    const order = [];
    const socket = new WebSocket(url);
    socket.addEventListener("open", () => order.push("listener 1"));
    socket.onopen = () => order.push("replaced");
    socket.addEventListener("open", () => order.push("listener 2"), { once: true });
    socket.onopen = function (event) { order.push(this === socket && event.target === socket ? "handler" : "wrong") };
    socket.addEventListener("open", { handleEvent() { order.push("object"); socket.close() } });
    const removed = () => order.push("removed");
    socket.addEventListener("open", removed);
    socket.removeEventListener("open", removed);
    socket.addEventListener("close", (event) => resolve([...order, event instanceof CloseEvent]));
})"""


async def test_listeners_and_handlers_are_called_in_order(page: cdpengine.Page, site: Site) -> None:
    async with page.route_websocket(URL, echo):
        await page.goto(site.url)
        found = await page.evaluate(ORDER, URL)
    assert found == ["listener 1", "handler", "listener 2", "object", True]


async def test_many_messages_keep_their_order(page: cdpengine.Page, site: Site) -> None:
    async def handler(route: WebSocketRoute) -> None:
        for number in range(200):
            await route.send(f"{number}")
        async for message in route:
            await route.send(f"got {message!s}")

    async with page.route_websocket(URL, handler):
        await page.goto(site.url)
        await page.evaluate(OPEN, URL)
        await page.evaluate("for (let i = 0; i < 200; i++) socket.send(`${i}`)")
        log = await page_log(page, 401)
    assert log[1:201] == [f"message {number}" for number in range(200)]
    assert log[201:] == [f"message got {number}" for number in range(200)]


async def test_a_page_without_routes_has_its_own_class(page: cdpengine.Page, site: Site) -> None:
    await page.goto(site.url)
    assert await page.evaluate("String(WebSocket)") == "function WebSocket() { [native code] }"
    route = page.route_websocket(URL, echo)
    await route
    assert await page.evaluate(OPEN, URL) == ["open "]
    assert await page.network.unroute(URL) == 1
    assert (await page_log(page, 2))[-1].startswith("close 1001")


IN_WORKER = """
const log = [];
const socket = new WebSocket("wss://chat.example/room");
const first = `${WebSocket.name} ${typeof setTimeout} ${socket instanceof WebSocket} ${socket.readyState}`;
socket.onopen = () => socket.send("from a worker");
socket.onmessage = (event) => { log.push(event.data); socket.close(3000, "done") };
socket.onclose = (event) => postMessage([first, ...log, event.code, event.reason]);
"""

START = """([kind, source, type]) => new Promise((resolve, reject) => {
    const inner = URL.createObjectURL(new Blob([source], { type: "text/javascript" }));
    const nested = `onmessage = null; const w = new Worker("${inner}"); w.onmessage = (e) => postMessage(e.data);`;
    const url = kind === "nested" ? URL.createObjectURL(new Blob([nested], { type: "text/javascript" }))
        : kind === "url" ? "/worker.js" : inner;
    self.worker = new Worker(url, { type });
    worker.onmessage = (event) => resolve(event.data);
    worker.onerror = (event) => reject(new Error(event.message));
})"""


@pytest.mark.parametrize(
    ("kind", "type_"), [("blob", "classic"), ("blob", "module"), ("url", "classic"), ("nested", "classic")]
)
async def test_websockets_of_workers_are_routed_from_their_first_line(
    page: cdpengine.Page, site: Site, httpserver: HTTPServer, kind: str, type_: str
) -> None:
    httpserver.clear()
    httpserver.expect_request("/worker.js").respond_with_data(IN_WORKER, content_type="text/javascript")
    Site(httpserver)
    async with page.route_websocket("wss://chat.example/*", echo) as registration:
        await page.goto(site.url)
        for _ in range(3):
            found = await page.evaluate(START, [kind, IN_WORKER, type_], timeout=20)
            assert found == [
                "WebSocket function true 0",
                "from a workerfrom a worker",
                3000,
                "done",
            ]
    assert (registration.seen, list(registration.failures)) == (3, [])


async def test_the_websockets_of_a_running_worker_are_routed_during_the_block(
    page: cdpengine.Page, site: Site, sockets: WebSocketSite
) -> None:
    await page.goto(site.url)
    async with page.expect_worker() as expected:
        await page.evaluate("self.worker = new Worker('/worker.js'); 1")
    worker = expected.value
    assert await worker.evaluate("String(WebSocket).includes('native')")

    async def shout(route: WebSocketRoute) -> None:
        await route.forward(to_server=lambda message: f"{message!s}!")

    async with page.route_websocket("ws://*", shout):
        assert await worker.evaluate(OPEN, sockets.url) == ["open "]
        await worker.evaluate("socket.send('x'); 1")
        await until(lambda: sockets.messages)
        assert sockets.messages == ["message 'x!'"]
    assert (await worker.evaluate("new Promise((done) => setTimeout(() => done(log), 200))"))[-1].startswith(
        "close 1001"
    )
    assert await worker.evaluate("String(WebSocket).includes('native')")


async def test_a_worker_that_ends_ends_its_handlers(page: cdpengine.Page, site: Site) -> None:
    closes: list[object] = []

    async def handler(route: WebSocketRoute) -> None:
        await echo(route)
        closes.append(route.close_code)

    async with page.route_websocket(URL, handler):
        await page.goto(site.url)
        async with page.expect_worker() as expected:
            await page.evaluate("self.worker = new Worker('/worker.js'); 1")
        assert await expected.value.evaluate(OPEN, URL) == ["open "]
        await page.evaluate("worker.terminate(); 1")
        await until(lambda: closes)
    assert closes == [1001]
