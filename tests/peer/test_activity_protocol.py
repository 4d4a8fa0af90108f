"""The activity of a page, reported by a browser in bursts, late, out of order, or not at all."""

from __future__ import annotations

import base64
from contextlib import suppress
from typing import Any

import pytest
import trio
from redirects import Chain, chains
from scripted_browser import ScriptedBrowser, quiet
from trio.testing import MockClock

import cdpengine
from cdpengine._activity.values import Unread
from cdpengine.testing import SILENCE, Refusal


def write(peer: ScriptedBrowser, *values: object, **told: Any) -> None:
    args = [{"type": "number" if isinstance(value, int) else "string", "value": value} for value in values]
    peer.page_event("Runtime.consoleAPICalled", {"type": "log", "args": args, "timestamp": 1.0, **told})


def network(peer: ScriptedBrowser, name: str, request_id: str = "1", **params: Any) -> None:
    peer.page_event(f"Network.{name}", {"requestId": request_id, "timestamp": 1.0, **params})


def ask(
    peer: ScriptedBrowser, request_id: str = "1", url: str = "https://a.example/x", **params: Any
) -> None:
    network(
        peer,
        "requestWillBeSent",
        request_id,
        request={"url": url, "method": "GET"},
        type="XHR",
        wallTime=1.7e9,
        **params,
    )


def answer(peer: ScriptedBrowser, request_id: str = "1", **response: Any) -> None:
    told = {"url": "https://a.example/x", "status": 200, "mimeType": "text/plain", "headers": {}, **response}
    network(peer, "responseReceived", request_id, response=told)


def data(peer: ScriptedBrowser, part: bytes, *, told: bool = True, request_id: str = "1") -> None:
    more = {"data": base64.b64encode(part).decode()} if told else {}
    network(peer, "dataReceived", request_id, dataLength=len(part), **more)


def sent(peer: ScriptedBrowser, method: str) -> int:
    return sum(request.method == method for request in peer.received)


@pytest.mark.slow
async def test_a_burst_reaches_a_fast_reader_completely_and_is_free_without_one(
    page: cdpengine.Page, scripted: ScriptedBrowser
) -> None:
    await page.activity.start()
    counts = {"console": 0, "finished": 0}

    async def consume(kind: Any, count: int) -> None:
        async with page.activity.stream(kind) as stream:
            while counts[kind] < count:
                item = await stream.receive()
                if isinstance(item, cdpengine.ConsoleMessage):
                    assert item.args == ("message", counts[kind])
                elif isinstance(item, cdpengine.network.RequestEnded):
                    assert item.request.id == str(counts[kind])
                counts[kind] += 1
            assert stream.dropped == 0

    async with (
        page.activity.stream("console", "requests", "finished", buffer=10) as never,
        trio.open_nursery() as nursery,
    ):
        nursery.start_soon(consume, "console", 20_000)
        nursery.start_soon(consume, "finished", 5_000)
        await quiet()
        for number in range(20_000):
            write(scripted, "message", number)
            if number % 4 == 0:
                ask(scripted, str(number // 4))
                answer(scripted, str(number // 4))
                network(scripted, "loadingFinished", str(number // 4), encodedDataLength=9)
            if number % 500 == 0:
                await trio.lowlevel.checkpoint()
    assert (never.statistics().waiting, never.dropped) == (10, 30_000 - 10)
    activity = page.activity
    assert (len(activity.console), activity.console.dropped) == (500, 19_500)
    assert (len(activity.requests), activity.requests.dropped) == (500, 4_500)
    assert (activity.console[0].args, activity.requests[0].id) == (("message", 19_500), "4500")
    assert len(activity._collector.requests._exchanges._known) <= 201


async def test_no_watch_starts_on_a_page_that_does_not_answer(
    autojump_clock: MockClock, page: cdpengine.Page, scripted: ScriptedBrowser
) -> None:
    scripted.on("Log.enable", SILENCE)
    with pytest.raises(cdpengine.errors.DeadlineExceededError, match="start collecting"):
        await page.activity.start(timeout=2)
    assert not page.activity.started
    await quiet()
    assert sent(scripted, "Runtime.disable") == sent(scripted, "Network.disable") == 1
    # A stream does not wait for an answer.
    async with page.activity.stream("console") as stream:
        write(scripted, "heard")
        assert (await stream.receive()).args == ("heard",)  # type: ignore[union-attr]


async def test_a_slow_value_is_stopped_and_a_lost_one_is_marked(
    autojump_clock: MockClock, page: cdpengine.Page, scripted: ScriptedBrowser
) -> None:
    await page.activity.start(requests=0)
    remote = {"type": "object", "className": "Thing", "description": "Thing", "objectId": "9"}
    scripted.page_event("Runtime.consoleAPICalled", {"args": [{"type": "number", "value": 1}, remote]})
    thrown = {"text": "Uncaught", "exception": remote}
    scripted.page_event("Runtime.exceptionThrown", {"exceptionDetails": thrown})
    await quiet()
    (message,) = page.activity.console
    scripted.on("Runtime.callFunctionOn", SILENCE)
    scripted.on("Runtime.terminateExecution", SILENCE)
    started = trio.current_time()
    with pytest.raises(cdpengine.errors.DeadlineExceededError):
        await message.values(timeout=3)
    assert trio.current_time() - started <= 4.5
    assert sent(scripted, "Runtime.terminateExecution") == 1
    scripted.on(
        "Runtime.callFunctionOn", lambda _request: Refusal(-32000, "Could not find object with given id")
    )
    number, gone = await message.values()
    assert number == 1
    assert isinstance(gone, Unread)
    assert "no longer has the object" in gone.reason
    (error,) = page.activity.errors
    assert isinstance(await error.read(), Unread)


async def test_bodies_are_kept_in_any_order_of_events(
    page: cdpengine.Page, scripted: ScriptedBrowser
) -> None:
    await page.activity.start(bodies=True)
    scripted.on("Network.streamResourceContent", {"bufferedData": base64.b64encode(b"ab").decode()})
    scripted.on(
        "Network.getResponseBody",
        lambda request: {"body": f"asked {request.params['requestId']}", "base64Encoded": False},
    )
    ask(scripted, "1")
    answer(scripted, "1")
    data(scripted, b"ab", told=False)
    await quiet()
    data(scripted, b"cd")
    network(scripted, "loadingFinished", "1")
    # One body that is reported only partly in pieces, and one refused body.
    ask(scripted, "2")
    answer(scripted, "2")
    await quiet()
    data(scripted, b"xyz", told=False, request_id="2")
    network(scripted, "loadingFinished", "2")
    await quiet()
    scripted.on(
        "Network.streamResourceContent", lambda _request: Refusal(-32602, "has already finished loading")
    )
    ask(scripted, "3")
    answer(scripted, "3")
    network(scripted, "loadingFinished", "3")
    await quiet()
    # Announced as larger than the limit.
    ask(scripted, "4")
    answer(scripted, "4", headers={"Content-Length": "9999999"})
    network(scripted, "loadingFinished", "4")
    await quiet()
    scripted.on(
        "Network.getResponseBody", lambda _request: Refusal(-32000, "No resource with given identifier found")
    )
    responses = [request.response for request in page.activity.requests]
    bodies = [await response.body() for response in responses[:3] if response is not None]
    assert bodies == [b"abcd", b"asked 2", b"asked 3"]
    assert responses[3] is not None
    with pytest.raises(cdpengine.errors.BodyUnavailableError, match="9999999 bytes, more than"):
        await responses[3].body()


async def test_the_bodies_of_the_oldest_requests_make_room(
    page: cdpengine.Page, scripted: ScriptedBrowser
) -> None:
    await page.activity.start(bodies=cdpengine.network.KeepBodies(total=8))
    scripted.on("Network.streamResourceContent", lambda _request: Refusal(-32602, "has already ended"))
    scripted.on("Network.getResponseBody", {"body": "four", "base64Encoded": False})
    late = scripted.hold("Network.getResponseBody", nth=2)
    for number in ("1", "2", "3", "4"):
        ask(scripted, number)
        answer(scripted, number)
        network(scripted, "loadingFinished", number)
        await quiet()
    late.release({"body": "late", "base64Encoded": False})
    await quiet()
    gone = Refusal(-32000, "No resource with given identifier found")
    scripted.on("Network.getResponseBody", lambda _request: gone)
    kept = []
    for request in page.activity.requests:
        assert request.response is not None
        with suppress(cdpengine.errors.BodyUnavailableError):
            await request.response.body()
            kept.append(request.id)
    assert kept == ["3", "4"]


async def test_a_body_in_pieces_with_a_slow_reader(page: cdpengine.Page, scripted: ScriptedBrowser) -> None:
    await page.activity.start()
    scripted.on("Network.streamResourceContent", {"bufferedData": ""})
    ask(scripted)
    answer(scripted)
    await quiet()
    response = page.activity.requests[0].response
    assert response is not None
    async with response.stream() as whole, response.stream(backlog=2**16) as slow, response.stream() as cut:
        async with trio.open_nursery() as nursery:
            for each in (whole, slow, cut):
                nursery.start_soon(_first, each)
            await quiet()
            data(scripted, b"first")
        for _ in range(3):
            data(scripted, b"x" * 2**15)
        await quiet()
        with pytest.raises(
            cdpengine.errors.BodyUnavailableError, match="fell behind by more than 65536 bytes"
        ):
            await anext(slow)
        assert [await anext(whole) for _ in range(3)] == [b"x" * 2**15] * 3
        data(scripted, b"lost", told=False)
        network(scripted, "loadingFinished")
        with pytest.raises(cdpengine.errors.BodyUnavailableError, match="were reported"):
            await anext(whole)


async def _first(stream: cdpengine.network.BodyStream) -> None:
    assert await anext(stream) == b"first"


async def test_an_archive_of_a_page_that_does_not_answer_is_bounded(
    autojump_clock: MockClock, page: cdpengine.Page, scripted: ScriptedBrowser
) -> None:
    await page.activity.start()
    for number in range(20):
        ask(scripted, str(number))
        answer(scripted, str(number))
        network(scripted, "loadingFinished", str(number))
    await quiet()
    scripted.on("Network.getResponseBody", SILENCE)
    started = trio.current_time()
    archive = await page.activity.har(timeout=10)
    assert 4.9 <= trio.current_time() - started <= 5.5
    comments = [entry["response"]["content"]["comment"] for entry in archive["log"]["entries"]]
    assert comments == ["the page did not answer in time"] * 20


async def test_activity_of_a_worker_ends_with_it_or_with_the_watch(
    page: cdpengine.Page, scripted: ScriptedBrowser
) -> None:
    info = {"targetId": "W1", "type": "worker", "url": "w.js"}
    attached = {"sessionId": "S-W1", "targetInfo": info, "waitingForDebugger": True}
    await page.activity.start()
    scripted.page_event("Target.attachedToTarget", attached)
    await quiet()
    methods = [request.method for request in scripted.received if request.session_id == "S-W1"]
    assert methods.index("Runtime.enable") < methods.index("Runtime.runIfWaitingForDebugger")
    assert methods.index("Network.enable") < methods.index("Runtime.runIfWaitingForDebugger")
    scripted.tell(
        "Network.requestWillBeSent", {"requestId": "w", "request": {"url": "u"}, "timestamp": 1.0}, "S-W1"
    )
    scripted.page_event("Target.detachedFromTarget", {"sessionId": "S-W1"})
    ask(scripted, "mine")
    await quiet()
    theirs, mine = page.activity.requests
    assert (theirs.failure, theirs.ended) == ("its worker is gone", True)
    async with trio.open_nursery() as nursery:

        async def wait() -> None:
            with pytest.raises(cdpengine.errors.BodyUnavailableError, match="nothing follows"):
                await mine.finished()

        nursery.start_soon(wait)
        await quiet()
        await page.activity.stop()


async def test_events_of_another_shape_are_skipped(page: cdpengine.Page, scripted: ScriptedBrowser) -> None:
    await page.activity.start()
    for method in (
        "Runtime.consoleAPICalled",
        "Runtime.exceptionThrown",
        "Log.entryAdded",
        "Network.requestWillBeSent",
    ):
        scripted.page_event(method, {"args": 5, "exceptionDetails": [], "entry": "x", "requestId": {}})
    scripted.page_event("Log.entryAdded", {"entry": {"source": "worker", "text": "twice"}})
    scripted.page_event(
        "Log.entryAdded", {"entry": {"source": "network", "level": "error", "text": "told", "url": "u"}}
    )
    for name in ("responseReceived", "dataReceived", "loadingFinished", "loadingFailed", "webSocketClosed"):
        network(scripted, name, "unknown")
    await quiet()
    (message,) = page.activity.console
    assert (message.text, message.level, message.source, message.url, message.args) == (
        "told",
        "error",
        "network",
        "u",
        (),
    )
    assert len(page.activity.errors) == len(page.activity.requests) == 0


async def test_a_stream_begins_when_the_page_confirms_its_reports(
    page: cdpengine.Page, scripted: ScriptedBrowser, autojump_clock: MockClock
) -> None:
    """Evaluations use another connection. Requests that they start must not precede the stream."""
    enabling = scripted.hold("Network.enable", nth=1)
    entered: list[str] = []

    async def listen(name: str) -> None:
        async with page.activity.stream("requests"):
            entered.append(name)
            await trio.sleep_forever()

    async def expect() -> None:
        async with page.expect_response("*"):
            entered.append("expect")
            await trio.sleep_forever()

    async with trio.open_nursery() as nursery:
        nursery.start_soon(listen, "first")
        await enabling.wait()
        nursery.start_soon(listen, "second")
        nursery.start_soon(expect)
        await quiet()
        assert entered == []
        enabling.release({})
        await quiet()
        assert sorted(entered) == ["expect", "first", "second"]
        nursery.cancel_scope.cancel()
    assert scripted.count("Network.enable") == 1


async def test_a_page_that_never_confirms_is_still_watched(
    page: cdpengine.Page, scripted: ScriptedBrowser, autojump_clock: MockClock
) -> None:
    scripted.on("Network.enable", SILENCE)
    began = trio.current_time()
    async with page.activity.stream("requests"):
        assert trio.current_time() - began < 5


async def test_every_order_of_a_redirect_gives_each_response_its_headers(
    page: cdpengine.Page, scripted: ScriptedBrowser
) -> None:
    """Holds in streams, kept requests and archives. A preflight of the same request has a separate id."""
    told = [chain for chain in chains() if len(chain.extra) <= 2 and chain.ending != "unanswered"]
    orders = [(chain, order) for chain in told for order in chain.orders()]
    await page.activity.start(requests=2000)
    async with page.activity.stream("responses", "finished", buffer=10_000) as stream:
        for number, (_chain, order) in enumerate(orders):
            for name, params in order:
                network(scripted, name, f"r{number}", **params)
                if name == "requestWillBeSent":
                    for preflight in Chain((True,)).requests() + Chain((True,)).headers():
                        network(
                            scripted, preflight[0], f"p{number}-{params['request']['url']}", **preflight[1]
                        )
        await quiet()
        assert stream.dropped == 0
        given: dict[str, list[str]] = {}
        for _ in range(stream.statistics().waiting):
            item = await stream.receive()
            assert isinstance(item, cdpengine.network.RequestEnded | cdpengine.Response)
            request = item.request
            what = "end" if isinstance(item, cdpengine.network.RequestEnded) else "response"
            given.setdefault(request.id, []).append(f"{what} {request.url[-1]}")
    for number, (chain, _order) in enumerate(orders):
        assert given[f"r{number}"] == [f"{what} {hop}" for hop in chain.hops for what in ("response", "end")]
    for request in page.activity.requests:
        hop = int(request.url[-1])
        chain = orders[int(request.id[1:])][0] if request.id.startswith("r") else Chain((True,))
        assert request.response is not None
        assert (request.response.status, request.response.headers) == (chain.status(hop), chain.answered(hop))
        assert request.headers["X-Hop"] == chain.sent(hop)
    archive = await page.activity.har(bodies=False, redacted=False)
    entries = {
        (entry["request"]["url"][-1], entry["response"]["status"]) for entry in archive["log"]["entries"]
    }
    assert entries == {("0", 200), ("0", 302), ("1", 200)}


async def test_a_response_arrives_with_its_headers(page: cdpengine.Page, scripted: ScriptedBrowser) -> None:
    chain = Chain((True, True))
    first, second, response, end = chain.requests()
    sent_0, answered_0, sent_1, answered_1 = chain.headers()
    async with page.activity.stream("responses") as stream:

        async def waiting_after(*events: tuple[str, dict[str, Any]]) -> int:
            for name, params in events:
                network(scripted, name, "1", **params)
            await quiet()
            return stream.statistics().waiting

        assert await waiting_after(first, sent_0, second) == 0
        assert await waiting_after(answered_0) == 1
        assert await waiting_after(sent_1, response) == 1
        assert await waiting_after(answered_1) == 2
        assert await waiting_after(end) == 2
        # If the headers never come, the end of the request releases the response.
        for name, params in (first, sent_0, second, response):
            network(scripted, name, "2", **params)
        await quiet()
        assert stream.statistics().waiting == 2
        network(scripted, end[0], "2", **end[1])
        await quiet()
        assert stream.statistics().waiting == 4


def frame(peer: ScriptedBrowser, text: str) -> None:
    network(peer, "webSocketFrameReceived", "w", response={"opcode": 1, "mask": False, "payloadData": text})


async def test_messages_are_kept_while_a_stream_yields_websockets(
    page: cdpengine.Page, scripted: ScriptedBrowser
) -> None:
    async with page.events("websockets") as events:
        network(scripted, "webSocketCreated", "w", url="wss://a.example/")
        socket = await events.wait_for(cdpengine.network.WebSocket)
        for number in range(1_100):
            frame(scripted, str(number))
        await quiet()
        assert [each.data for each in socket.messages] == [str(number) for number in range(100, 1_100)]
        assert socket.messages.dropped == 100
    async with page.activity.stream("messages") as stream:
        frame(scripted, "late")
        network(scripted, "webSocketCreated", "w", url="wss://a.example/")
        frame(scripted, "of another websocket")
        with trio.fail_after(10):
            await stream.receive()
    assert len(socket.messages) == 1_000
    await page.activity.start(messages=2)
    async with page.activity.stream("websockets") as stream:
        network(scripted, "webSocketCreated", "w", url="wss://a.example/")
        other = await stream.receive()
        assert isinstance(other, cdpengine.network.WebSocket)
        for number in range(5):
            frame(scripted, str(number))
        await quiet()
        assert len(other.messages) == 5
    frame(scripted, "5")
    await quiet()
    assert [each.data for each in other.messages] == ["4", "5"]
    assert len(socket.messages) == 1_000
