"""`page.events()`: one typed stream of a page's events, compared with a bare connection's record of the same run."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest
import trio
from bare_protocol import bare_connection
from event_record import EventRecord, recording
from pytest_httpserver import HTTPServer

import cdpengine
from cdpengine import events as ev
from cdpengine._launch.endpoint import resolve_endpoint
from cdpengine.errors import EventsLostError, InvalidArgumentError, SessionGoneError
from cdpengine.network import RequestEnded

MAIN = """<!doctype html><title>t</title><body><script>
console.log("main script");
addEventListener("load", () => console.log("main load"));
</script><iframe name="same" src="/same"></iframe><iframe src="OTHER/other"></iframe>
<input type=file id=file><a id=download download="a.txt" href="data:text/plain,abc">d</a>"""

FILES = {
    "/same": "<script>console.log('same script')</script><iframe></iframe>",
    "/other": "<script>console.log('other script'); fetch('/data?other')</script>",
    "/worker.js": "console.log('worker script'); fetch('/data?worker')",
    "/next": "<title>next</title><script>console.log('next script')</script><iframe src='/same?2'></iframe>",
    "/popup": "<title>popup</title>",
}


def serve(server: HTTPServer) -> str:
    here = server.url_for("/").replace("localhost", "127.0.0.1").rstrip("/")
    other = here.replace("127.0.0.1", "localhost")
    for path, body in {"/main": MAIN, **FILES}.items():
        kind = "text/javascript" if path.endswith(".js") else "text/html"
        server.expect_request(path).respond_with_data(body.replace("OTHER", other), content_type=kind)
    server.expect_request("/data").respond_with_json([1])
    server.expect_request("/favicon.ico").respond_with_data("", status=204)
    return here


def seen(event: object) -> tuple[str, ...] | None:
    """Return an event in the form of `recorded`, or None if a record does not have it in this form."""
    match event:
        case ev.FrameAttached():
            return "attached", event.frame_id
        case ev.FrameNavigated():
            kind = "moved" if event.within_document else "navigated"
            return kind, event.frame_id, event.url
        case ev.LoadStateReached():
            return event.state, event.frame_id, event.loader_id
        case cdpengine.ConsoleMessage():
            return "console", event.text
        case cdpengine.PageError():
            return "error", str(event)
        case cdpengine.Request():
            return "request", event.url
        case RequestEnded():
            return "finished", event.request.url
        case ev.DialogEvent():
            return "dialog", event.dialog.message
        case ev.FileChooserEvent():
            return "chooser", event.chooser.frame_id
        case _:
            return None


def recorded(events: list[tuple[str, dict[str, Any]]]) -> list[tuple[str, ...]]:
    urls: dict[str, str] = {}
    found: list[tuple[str, ...]] = []
    for method, params in events:
        match method:
            case "Page.frameAttached":
                found.append(("attached", params["frameId"]))
            case "Page.frameNavigated":
                frame = params["frame"]
                found.append(("navigated", frame["id"], frame["url"] + frame.get("urlFragment", "")))
            case "Page.navigatedWithinDocument":
                found.append(("moved", params["frameId"], params["url"]))
            case "Page.lifecycleEvent" if params["name"] in ("DOMContentLoaded", "load"):
                found.append((params["name"].lower(), params["frameId"], params["loaderId"]))
            case "Runtime.consoleAPICalled":
                found.append(("console", str(params["args"][0]["value"])))
            case "Runtime.exceptionThrown":
                text = params["exceptionDetails"]["exception"]["description"].split("\n")[0]
                found.append(("error", text))
            case "Network.requestWillBeSent":
                urls[params["requestId"]] = params["request"]["url"]
                found.append(("request", params["request"]["url"]))
            case "Network.loadingFinished" | "Network.loadingFailed":
                if params["requestId"] in urls:
                    found.append(("finished", urls[params["requestId"]]))
            case "Page.javascriptDialogOpening":
                found.append(("dialog", params["message"]))
            case "Page.fileChooserOpened":
                found.append(("chooser", params["frameId"]))
    return found


async def drain(events: ev.PageEvents[cdpengine.Page]) -> list[object]:
    """Return the buffered events."""
    found: list[object] = []
    while True:
        try:
            found.append(events.receive_nowait())
        except trio.WouldBlock:
            return found


async def rest(page: cdpengine.Page, done: Callable[[], bool]) -> None:
    with trio.fail_after(20):
        while not done():  # noqa: ASYNC110 - it has no event
            await trio.sleep(0.02)
    await page.evaluate("new Promise(done => setTimeout(done, 100))")


async def test_events_equal_the_record_of_a_bare_connection_in_order(
    page: cdpengine.Page, httpserver: HTTPServer, shared_endpoint: str
) -> None:
    here = serve(httpserver)
    await page.goto(f"{here}/popup")
    endpoint = (await resolve_endpoint(shared_endpoint)).ws_url
    async with recording(endpoint, page.target_id) as record, page.events() as events:
        await page.goto(f"{here}/main")
        await page.evaluate("console.log('evaluated'); history.pushState(1, '', '#pushed'); 1")
        await page.evaluate("() => { setTimeout(() => { throw new TypeError('late') }, 0) }")
        await page.evaluate("new Worker('/worker.js'); fetch('/data?1').then(r => r.text())")
        await page.evaluate("alert('hello'); document.querySelector('iframe').remove(); 1")
        await page.click(page.locate(css="#file"))
        await page.goto(f"{here}/next")
        await rest(page, lambda: "/same?2" in str([frame.url for frame in page.frames]))
        await trio.sleep(0.3)
        found = await drain(events)
        attached = {e.frame_id for e in found if isinstance(e, ev.FrameAttached)}
        detached = {e.frame_id for e in found if isinstance(e, ev.FrameDetached)}
        assert {frame.id for frame in page.frames[1:]} == attached - detached
        async with bare_connection(endpoint) as bare, bare.session(page.target_id) as session:
            assert set(await bare.frames(session)) == {page.frames[0].id} | (attached - detached)
    check_order(record, [each for event in found if (each := seen(event)) is not None])
    started = [e for e in found if isinstance(e, ev.WorkerStarted | ev.WorkerEnded)]
    assert [(type(e).__name__, e.worker.url) for e in started] == [
        ("WorkerStarted", f"{here}/worker.js"), ("WorkerEnded", f"{here}/worker.js"),
    ]  # fmt: skip
    script = next(e for e in found if isinstance(e, cdpengine.ConsoleMessage) and e.text == "worker script")
    assert found.index(started[0]) < found.index(script)
    texts = {e.text for e in found if isinstance(e, cdpengine.ConsoleMessage)}
    assert {
        "main script",
        "main load",
        "same script",
        "other script",
        "worker script",
        "next script",
    } <= texts


def check_order(record: EventRecord, found: list[tuple[str, ...]]) -> None:
    """Each recorded session is a part of the found events, in order; the page's own session has no others."""
    left = Counter(found)
    for session, raw in record.sessions.items():
        expected = recorded(raw)
        left -= Counter(expected)
        wanted = Counter(expected)
        own = [each for each in found if each in wanted]
        assert own == expected, f"{'page' if session == record.page else session}"
    # The bare connection follows a frame or worker only once it runs, so it lacks its beginning.
    kinds = {each[0] for each in left}
    assert kinds <= {"navigated", "domcontentloaded", "load", "console", "request", "finished", "chooser"}
    assert not [each for each in left if "main" in each[-1] or "next" in each[-1]]
    assert sum(each[0] == "chooser" for each in left.elements()) == 1  # only the engine intercepts choosers


async def test_popups_downloads_and_the_end_of_the_page(
    browser: cdpengine.Browser, httpserver: HTTPServer
) -> None:
    here = serve(httpserver)
    async with browser.new_context() as context:
        page = await context.new_page(f"{here}/main")
        async with page.events("popups", "downloads") as events:
            await page.evaluate(f"open('{here}/popup'); open('{here}/popup?2', '', 'noopener'); 1")
            first = await events.wait_for(ev.PopupEvent, timeout=10)
            second = await events.wait_for(ev.PopupEvent, timeout=10)
            assert {first.page, second.page} == set(page.popups)
            await first.page.wait_for(url="*/popup*")
            await page.evaluate("document.querySelector('#download').click()")
            download = await events.wait_for(ev.DownloadEvent, timeout=10)
            assert download.download.suggested_filename == "a.txt"
            assert download.download.refused
            await page.close()
            assert [event async for event in events] == [ev.PageClosed("this program closed it")]
            with pytest.raises(SessionGoneError):
                await events.receive()
        with pytest.raises(SessionGoneError):
            async with page.events():
                pass


async def test_nothing_is_lost_between_the_subscription_and_the_first_receive(
    page: cdpengine.Page, httpserver: HTTPServer
) -> None:
    here = serve(httpserver)
    await page.goto(f"{here}/popup")
    await page.evaluate("console.log('before the block'); 1")
    async with page.events("console", "frames", "load_states") as events:
        await page.evaluate("for (let i = 0; i < 200; i++) console.log(i); 1")
        await page.goto(f"{here}/next")
        await trio.sleep(0.2)
        found = await drain(events)
    texts = [event.text for event in found if isinstance(event, cdpengine.ConsoleMessage)]
    assert texts[:200] == [str(n) for n in range(200)]
    assert "next script" in texts
    main = [e for e in found if isinstance(e, ev.LoadStateReached) and e.parent_id is None]
    assert [event.state for event in main] == ["domcontentloaded", "load"]
    assert {event.url for event in main} == {f"{here}/next"}
    with pytest.raises(trio.ClosedResourceError):
        await events.receive()


async def test_a_full_buffer_counts_the_lost_events(page: cdpengine.Page) -> None:
    async with page.events("console", buffer=5) as events:
        await page.evaluate("for (let i = 0; i < 100; i++) console.log(i); 1")
        for n in range(5):
            message = await events.receive()
            assert isinstance(message, cdpengine.ConsoleMessage)
            assert message.text == str(n)
        with pytest.raises(EventsLostError) as lost:
            await events.receive()
        assert (lost.value.count, events.dropped) == (95, 95)
        await page.evaluate("console.log('after'); 1")
        message = await events.wait_for(cdpengine.ConsoleMessage, lambda each: each.text == "after")
        assert message.text == "after"


async def test_a_crash_is_an_event_and_the_events_continue(
    new_tab: cdpengine.Page, httpserver: HTTPServer
) -> None:
    here = serve(httpserver)
    await new_tab.goto(f"{here}/popup")
    async with new_tab.events("console", "load_states") as events:
        with trio.move_on_after(5), pytest.raises(SessionGoneError):
            await new_tab.session.call("Page.crash")
        assert await events.receive() == ev.PageCrashed()
        await new_tab.reload()
        reached = await events.wait_for(ev.LoadStateReached, lambda each: each.state == "load", timeout=10)
        assert reached.url == f"{here}/popup"
        await new_tab.evaluate("console.log('restored'); 1")
        await events.wait_for(cdpengine.ConsoleMessage, lambda each: each.text == "restored", timeout=10)


async def test_documents_of_the_back_forward_cache_are_restored_with_their_frames(
    page: cdpengine.Page, httpserver: HTTPServer
) -> None:
    here = serve(httpserver)
    await page.goto(f"{here}/next")
    async with page.events("frames") as events:
        await page.goto(f"{here}/popup")
        await page.go_back()
        found = await drain(events)
        moves = [event for event in found if isinstance(event, ev.FrameNavigated) and event.parent_id is None]
        assert [event.url for event in moves] == [f"{here}/popup", f"{here}/next"]
        present = {frame.id for frame in page.frames[1:]}
        counts: Counter[str] = Counter()
        for event in found:
            if isinstance(event, ev.FrameAttached):
                counts[event.frame_id] += 1
            elif isinstance(event, ev.FrameDetached):
                counts[event.frame_id] -= 1
        assert {frame_id for frame_id, count in counts.items() if count > 0} <= present
        assert set(counts.values()) <= {-1, 0, 1}


async def test_nothing_is_enabled_outside_the_block_and_only_the_chosen_domains_in_it(
    page: cdpengine.Page, wire_log: list[str]
) -> None:
    def sent(name: str) -> int:
        return sum("->" in line and f'"{name}"' in line for line in wire_log)

    wire_log.clear()
    async with page.events("popups", "dialogs", "downloads", "frames", "load_states", "workers"):
        await page.evaluate("1")
    assert not [line for line in wire_log if "->" in line and ".enable" in line]
    async with page.events("requests"):
        assert (sent("Network.enable"), sent("Runtime.enable")) == (1, 0)
    await page.evaluate("1")
    assert sent("Network.disable") == 1
    assert sent("Browser.setDownloadBehavior") == 2  # on and off again: the shared browser is not ours


async def test_a_websocket_is_an_event_and_a_started_worker_can_be_used(
    page: cdpengine.Page, serve: Callable[..., str]
) -> None:
    await page.goto(serve("<title>a</title>"))
    async with page.events("websockets") as events:
        await page.evaluate("new WebSocket('ws://127.0.0.1:9/none'); 1")
        socket = await events.wait_for(cdpengine.network.WebSocket, timeout=10)
        assert socket.url == "ws://127.0.0.1:9/none"
    async with page.events("workers") as events:
        await page.evaluate("worker = new Worker('data:,self.n = 5'); 1")
        started = await events.wait_for(ev.WorkerStarted, timeout=10)
        assert started.worker in page.workers
        assert await started.worker.evaluate("n") == 5
        await page.evaluate("worker.terminate(); 1")
        ended = await events.wait_for(ev.WorkerEnded, timeout=10)
        assert ended.worker is started.worker
        assert ended.worker.closed


async def test_wait_for_names_the_skipped_events(page: cdpengine.Page) -> None:
    async with page.events("console") as events:
        await page.evaluate("console.log('a'); console.log('b'); 1")
        with pytest.raises(cdpengine.errors.DeadlineExceededError, match="2 ConsoleMessage"):
            await events.wait_for(ev.DialogEvent, timeout=0.2)
    with pytest.raises(InvalidArgumentError, match="kinds"):
        async with page.events("request"):  # type: ignore[arg-type]
            pass
