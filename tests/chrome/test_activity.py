"""A page's activity: console, errors and requests, also of frames and workers; buffered, streamed, switched
off.
"""

from __future__ import annotations

import gc
import math
from collections.abc import Callable
from typing import Any
from urllib.parse import urlsplit

import pytest
import trio
from pytest_httpserver import HTTPServer
from rounds import rounds

import cdpengine
from cdpengine._activity.values import Unread

WRITES = """<!doctype html><title>t</title><iframe src="OTHER/frame"></iframe><script>
console.log("first", 1, -0, NaN, 5n, true, null, undefined, {a: 1, b: "x"}, [1, "2", null]);
console.warn("%s has %d items (%i%%), %o", "cart", 2.7, 9, {k: [1, {deep: new Date(0)}]}, "and more");
console.error(Object.assign(Object.create({}), {inherited: "no"}));
console.table([1]); console.debug("quiet");
window.worker = new Worker("/worker.js");
Promise.reject(new RangeError("unheard"));
later = Promise.reject("heard in the end"); setTimeout(() => later.catch(() => {}), 50);
setTimeout(function thrower() { throw new TypeError("thrown: here") }, 0);
setTimeout(() => { throw {code: 7} }, 0);
</script>"""

FILES = {
    "/frame": "<script>console.info('in the frame', {f: [1, 2, [3]]}); setTimeout(() => { throw Error('in frame') }, 0)</script>",
    "/worker.js": "console.log('in the worker', {w: new Map([[1, {x: 2}]])}); new Worker('/nested.js');"
    "fetch('/data?worker'); setTimeout(() => { throw new Error('in worker') }, 0)",
    "/nested.js": "console.log('in the nested worker'); fetch('/data?nested')",
}


def serve(server: HTTPServer, **pages: str) -> str:
    """Serve the files above and the pages, with another site for OTHER. Return the server's address."""
    here = server.url_for("/").replace("localhost", "127.0.0.1").rstrip("/")
    other = here.replace("127.0.0.1", "localhost")
    for path, body in {**FILES, **{f"/{name}": page for name, page in pages.items()}}.items():
        kind = "text/javascript" if path.endswith(".js") else "text/html"
        text = body.replace("OTHER", other).replace("HERE", here)
        server.expect_request(path).respond_with_data(text, content_type=kind)
    server.expect_request("/data").respond_with_json({"a": [1, "é"]}, headers={"X-Test": "yes"})
    server.expect_request("/favicon.ico").respond_with_data("", status=204)  # a 404 is a console entry
    return here


async def until(condition: Callable[[], object], seconds: float = 20) -> None:
    with trio.fail_after(seconds):
        while not condition():  # noqa: ASYNC110 - it has no event
            await trio.sleep(0.01)


async def test_messages_and_errors_of_a_page_its_frames_and_its_workers(
    page: cdpengine.Page, httpserver: HTTPServer
) -> None:
    here = serve(httpserver, main=WRITES)
    activity = page.activity
    assert not activity.started
    for what in ("console", "errors", "requests"):
        with pytest.raises(cdpengine.errors.InvalidStateError, match=what):
            getattr(activity, what)
    await activity.start()
    await page.goto(f"{here}/main")
    await until(lambda: len(activity.errors) >= 6 and any("nested" in m.text for m in activity.console))
    messages = {message.text.split()[0] + message.target_type: message for message in activity.console}

    first = messages["firstpage"]
    assert first.args[:3] == ("first", 1, 0)
    assert math.copysign(1, first.args[2]) == -1
    assert math.isnan(first.args[3])
    assert first.args[4:] == (5, True, None, None, {"a": 1, "b": "x"}, [1, "2", None])
    assert first.text == "first 1 -0 NaN 5n true null undefined {a: 1, b: x} [1, 2, null]"
    assert (first.type, first.level, first.source) == ("log", "info", "console")
    assert (first.url, first.line, first.target_type) == (f"{here}/main", 1, "page")
    assert first.stack[0].url == first.url
    assert first.time > 1.6e9

    warned = messages["cartpage"]
    assert warned.text == "cart has 2 items (9%), {k: Array(2)} and more"
    assert warned.level == "warning"
    assert isinstance(warned.args[4], Unread)
    values = await warned.values()
    assert values[4]["k"][1]["deep"].year == 1970
    assert warned.args == values

    own = [message for message in activity.console if message.source == "console"]
    assert [m.level for m in own if m.type in ("error", "table", "debug")] == ["error", "info", "debug"]
    framed = next(m for m in activity.console if m.text.startswith("in the frame"))
    worked = next(m for m in activity.console if m.text.startswith("in the worker"))
    assert framed.target_type == "iframe"
    assert (await framed.values())[1] == {"f": [1, 2, [3]]}
    assert worked.target_type == "worker"

    errors = {str(error) or error.kind: error for error in activity.errors}
    assert set(errors) == {
        "RangeError: unheard", "heard in the end", "TypeError: thrown: here", "{code: 7}", "Error: in frame",
        "Error: in worker",
    }  # fmt: skip
    rejected = errors["RangeError: unheard"]
    assert (rejected.kind, rejected.name, rejected.message) == ("rejection", "RangeError", "unheard")
    thrown = errors["TypeError: thrown: here"]
    assert (thrown.kind, thrown.url, thrown.frames[0].function_name) == (
        "exception",
        f"{here}/main",
        "thrower",
    )
    assert "at thrower" in thrown.stack
    assert errors["{code: 7}"].value == {"code": 7}
    heard = errors["heard in the end"]
    await until(lambda: heard.handled)
    assert not rejected.handled
    assert heard.value == "heard in the end"
    error = await rejected.read()
    assert isinstance(error, cdpengine.values.JSError)
    assert error.message == "unheard"
    assert (errors["Error: in frame"].target_type, errors["Error: in worker"].target_type) == (
        "iframe",
        "worker",
    )
    assert activity.console.dropped == activity.errors.dropped == activity.requests.dropped == 0


async def test_requests_with_all_known_details(page: cdpengine.Page, httpserver: HTTPServer) -> None:
    main = """<!doctype html><title>t</title><link rel=stylesheet href=/style.css><iframe src="OTHER/frame"></iframe>
        <script>worker = new Worker("/worker.js")
        go = async () => { await fetch("/data", {method: "POST", headers: {"X-Mine": "1"}, body: "p=1"}).then(r => r.text())
          await fetch("/hop").then(r => r.text()); await fetch("http://127.0.0.1:1/").catch(() => {}) }</script>"""
    here = serve(httpserver, main=main, **{"style.css": "p {}"})
    httpserver.expect_request("/hop").respond_with_data("", status=302, headers={"Location": "/data?hopped"})
    async with page.activity.collecting() as activity:
        await page.goto(f"{here}/main")
        await page.evaluate("go()")
        await until(lambda: sum("/data" in request.url for request in activity.requests) >= 4)
        await until(lambda: all(request.ended for request in activity.requests))
        by_url = {request.url.removeprefix(here): request for request in activity.requests}

        document = by_url["/main"]
        assert document.is_navigation
        assert (document.type, document.method, document.frame_id) == ("Document", "GET", page.target_id)
        assert document.response is not None
        assert (document.response.status, document.response.ok, document.response.mime_type) == (
            200,
            True,
            "text/html",
        )
        assert document.response.remote_address == ("127.0.0.1", httpserver.port)
        assert (await document.response.text()).startswith("<!doctype html>")

        posted = by_url["/data"]
        assert (posted.method, posted.post_data, posted.type) == ("POST", "p=1", "Fetch")
        assert {name.lower(): value for name, value in posted.headers.items()}["x-mine"] == "1"
        assert posted.initiator.type == "script"
        assert posted.response is not None
        assert posted.response.header("x-test") == "yes"
        assert await posted.response.json() == {"a": [1, "é"]}
        assert (await posted.response.body()).decode() == await posted.response.text()
        assert posted.body_size == len(await posted.response.body())
        assert posted.encoded_size is not None
        assert posted.encoded_size > posted.body_size
        assert posted.duration is not None
        assert posted.duration > 0
        assert set(posted.timings) == {"blocked", "dns", "connect", "ssl", "send", "wait", "receive"}
        assert posted.time > 1.6e9

        hopped = by_url["/data?hopped"]
        (hop,) = hopped.redirect_chain
        assert (hop.url, hop.redirected_to, hopped.redirected_from) == (f"{here}/hop", hopped, hop)
        assert hop.response is not None
        assert hop.response.status == 302
        with pytest.raises(cdpengine.errors.BodyUnavailableError, match="redirect"):
            await hop.response.body()

        failed = by_url["http://127.0.0.1:1/"]
        assert failed.failure.startswith("net::ERR_")
        assert failed.response is None

        framed = by_url[here.replace("127.0.0.1", "localhost") + "/frame"]
        assert framed.response is not None
        assert "in the frame" in await framed.response.text()
        assert by_url["/data?worker"].target_type == by_url["/data?nested"].target_type == "worker"
        nested = by_url["/data?nested"].response
        assert nested is not None
        script = by_url["/worker.js"].response
        assert script is not None
        assert "in the worker" in await script.text()

        await page.goto("about:blank")
        with pytest.raises(cdpengine.errors.BodyUnavailableError, match="Chrome does not have it"):
            await document.response.body()
    assert not page.activity.started
    assert len(activity.requests) >= 8  # the buffer keeps its contents
    assert set(page.session.domains.users) == {"Page"}


async def test_events_stream_live(page: cdpengine.Page, httpserver: HTTPServer) -> None:
    here = serve(httpserver, main="<title>t</title><link rel=icon href=data:,>")
    await page.goto(f"{here}/main")
    with pytest.raises(cdpengine.errors.InvalidArgumentError, match='"console", "errors"'):
        async with page.activity.stream("konsole"):  # type: ignore[arg-type]
            pass
    async with (
        page.activity.stream("console", "errors", "requests", "responses", "finished") as everything,
        page.activity.stream("console", buffer=2) as slow,
        page.activity.stream("console") as console,
    ):
        await page.evaluate(
            """(async () => { for (let i = 0; i < 20; i++) console.log(i); await fetch("/data").then(r => r.text());
            await new Promise(done => setTimeout(done, 20)); Promise.reject(8); console.log("end") })()"""
        )
        seen: list[str] = []
        with trio.fail_after(20):
            while not {"PageError", "RequestEnded"} <= set(seen) or len(seen) < 25:
                seen.append(type(await everything.receive()).__name__)
            assert [(await console.receive()).args[0] for _ in range(21)] == [*range(20), "end"]  # type: ignore[union-attr]
            assert [(await slow.receive()).args for _ in range(2)] == [(0,), (1,)]  # type: ignore[union-attr]
            with pytest.raises(cdpengine.errors.EventsLostError) as lost:
                await slow.receive()
            assert lost.value.count == slow.dropped == 19
            await page.evaluate("console.log('on')")
            assert (await slow.receive()).args == ("on",)  # type: ignore[union-attr]
        assert seen.count("ConsoleMessage") == 21
        assert [name for name in seen if name in ("Request", "Response", "RequestEnded")] == [
            "Request",
            "Response",
            "RequestEnded",
        ]
    with pytest.raises(trio.ClosedResourceError):
        while True:
            await everything.receive()
    assert set(page.session.domains.users) == {"Page"}
    assert not page.activity.started


async def test_buffers_are_exact_and_follow_navigations_as_asked(
    page: cdpengine.Page, httpserver: HTTPServer
) -> None:
    here = serve(
        httpserver, one="<script>console.log('one')</script>", two="<script>console.log('two')</script>"
    )
    activity = page.activity
    await activity.start(console=3, errors=2, requests=4)
    await page.goto(f"{here}/one")
    await page.evaluate("for (let i = 0; i < 10; i++) console.log({i: [i]}, document)")
    await until(lambda: activity.console.dropped >= 8)
    assert [message.text.split(",")[0] for message in activity.console][-1].startswith("{i: Array(1)}")
    assert len(activity.console) == 3
    kept = list(activity.console)
    assert [(await message.values())[0] for message in kept] == [{"i": [7]}, {"i": [8]}, {"i": [9]}]
    assert activity.console[-1] is kept[-1]
    assert activity.console[:2] == kept[:2]

    await activity.start(console=5, requests=50, keep_over_navigation=False)
    await page.goto(f"{here}/two")
    await until(lambda: any(m.text == "two" for m in activity.console))
    assert [m.text for m in activity.console if m.source == "console"] == ["two"]
    assert activity.console.dropped == 0
    assert activity.requests[0].url == f"{here}/two"
    await activity.start(console=0, errors=0, requests=5)
    assert set(page.session.domains.users) == {"Page", "Network"}
    before = list(activity.console)
    await page.evaluate("console.log('unheard')")
    assert list(activity.console) == before
    await activity.stop()
    assert set(page.session.domains.users) == {"Page"}
    activity.clear()
    assert len(activity.console) == len(activity.requests) == 0


async def test_items_of_the_current_document(page: cdpengine.Page, httpserver: HTTPServer) -> None:
    """Messages, errors and requests since the last navigation, whose own request and redirect belong to it."""
    script = (
        "<script>console.log(location.pathname); setTimeout(() => { throw 1 }, 0); fetch('/data')</script>"
    )
    here = serve(httpserver, one=script, two=script)
    httpserver.expect_request("/moved").respond_with_data("", 302, {"Location": "/two"})
    async with page.activity.collecting() as activity:
        for path, times in (("one", 1), ("moved", 2), ("two", 3)):
            await page.goto(f"{here}/{path}")
            await until(lambda: len(activity.errors) == times)  # noqa: B023
            await until(lambda: len([r for r in activity.requests if "/data" in r.url]) == times)  # noqa: B023
            current = activity.since_navigation
            end = "one" if path == "one" else "two"
            own = [message.text for message in current.console if message.source == "console"]
            assert own == [f"/{end}"]
            assert [error.kind for error in current.errors] == ["exception"]
            expected = ["/moved", "/two", "/data"] if path == "moved" else [f"/{path}", "/data"]
            paths = [urlsplit(request.url).path for request in current.requests]
            assert [each for each in paths if each != "/favicon.ico"] == expected
            await page.evaluate("location.hash = 'within'")
            assert activity.since_navigation.errors == current.errors
        assert len(activity.errors) == 3
        activity.clear()
        assert activity.since_navigation.requests == ()


async def test_earlier_messages_come_first(page: cdpengine.Page, httpserver: HTTPServer) -> None:
    here = serve(
        httpserver, main="<script>console.log('before', {a: [1]}); setTimeout(() => { throw 1 }, 0)</script>"
    )
    await page.goto(f"{here}/main")
    await page.evaluate("new Promise(done => setTimeout(done, 20))")
    async with page.activity.collecting(requests=0) as activity:
        await page.evaluate("console.log('after')")
        await until(lambda: any(m.text == "after" for m in activity.console))
        assert [m.text.split()[0] for m in activity.console if m.source == "console"] == ["before", "after"]
        assert (await activity.console[0].values())[1] == {"a": [1]}
        assert activity.errors[0].value == 1


async def test_from_the_start_in_pages_and_their_popups(
    browser: cdpengine.Browser, httpserver: HTTPServer
) -> None:
    here = serve(
        httpserver,
        main="<script>console.log('first'); open('/popup', '_blank', 'noopener'); open('/popup')</script>",
        popup="<script>console.log('popup', location.pathname)</script>",
    )
    page = await browser.new_page(f"{here}/main", activity=cdpengine.ActivityOptions(errors=0))
    assert page.activity.console[0].text == "first"
    await until(lambda: len(page.popups) == 2)
    for popup in page.popups:
        await popup.wait_for(load_state="load")
        await until(lambda popup=popup: len(popup.activity.console) >= 1)  # type: ignore[misc]
        assert popup.activity.console[0].args == ("popup", "/popup")
        assert any(request.is_navigation for request in popup.activity.requests)
        await popup.close()
    await page.close()
    with pytest.raises(cdpengine.errors.InvalidArgumentError, match="ActivityOptions"):
        await browser.new_page(activity="yes")  # type: ignore[arg-type]
    browser.set_activity(True)
    try:
        page = await browser.new_page(f"{here}/popup")
        assert page.activity.console[0].args == ("popup", "/popup")
        await page.close()
    finally:
        browser.set_activity(None)
    async with browser.new_context(activity=True) as context:
        inside = await context.new_page(f"{here}/popup")
        assert inside.activity.console[0].args == ("popup", "/popup")
        without = await context.new_page(activity=cdpengine.ActivityOptions(console=0, errors=0))
        assert without.activity.started
    page = await browser.new_page()
    assert not page.activity.started
    await page.close()


async def test_endless_getter_is_stopped_within_the_timeout(page: cdpengine.Page) -> None:
    await page.activity.start(requests=0)
    await page.evaluate("console.log({get endless() { for (;;) {} }, more: [[]]})")
    await until(lambda: len(page.activity.console) == 1)
    (message,) = page.activity.console
    with pytest.raises(cdpengine.errors.DeadlineExceededError, match="read what a page wrote"):
        await message.values(timeout=0.3)
    assert await page.evaluate("1 + 1", timeout=10) == 2
    with trio.move_on_after(0.2) as scope:
        await message.values()
    assert scope.cancelled_caught
    assert await page.evaluate("1 + 1", timeout=10) == 2
    await page.activity.stop()
    # Switching it off releases the page's objects.
    gone = await message.values()
    assert isinstance(gone[0], Unread)
    assert gone[0].reason


async def test_objects_of_dropped_messages_do_not_stay_in_the_page(page: cdpengine.Page) -> None:
    await page.activity.start(console=10, errors=0, requests=0)
    await page.evaluate(
        "refs = []; for (let i = 0; i < 2000; i++) { const o = {big: [i]}; refs.push(new WeakRef(o)); console.log(o) }"
    )
    await until(lambda: page.activity.console.dropped >= 1990)
    await page.session.call("HeapProfiler.collectGarbage")
    # Chrome keeps the latest 1,000 messages itself, with or without a listener.
    assert await page.evaluate("refs.filter(ref => ref.deref()).length") <= 1000
    await page.activity.stop()


async def test_crash_is_reported_and_stream_continues_after_reload(
    page: cdpengine.Page, httpserver: HTTPServer
) -> None:
    here = serve(httpserver, main="<script>console.log('here')</script>")
    await page.activity.start()
    await page.goto(f"{here}/main")
    async with page.activity.stream("console", "finished") as stream:
        with pytest.raises(cdpengine.errors.TargetCrashedError):
            await page.session.call("Page.crash")
        with trio.fail_after(20):
            with pytest.raises(cdpengine.errors.TargetCrashedError):
                while True:
                    await stream.receive()
            await page.reload()
            while not isinstance(item := await stream.receive(), cdpengine.ConsoleMessage):
                pass
        assert item.text == "here"
        await page.close()
        with trio.fail_after(20), pytest.raises(cdpengine.errors.SessionGoneError):
            while True:
                await stream.receive()


async def test_burst_of_messages_is_complete_and_leaves_nothing(
    page: cdpengine.Page, httpserver: HTTPServer
) -> None:
    messages, requests = rounds(2_000, 20_000), rounds(100, 400)
    here = serve(httpserver, main="<title>t</title>")
    await page.goto(f"{here}/main")
    await page.activity.start()
    counted: dict[str, int] = {"console": 0, "finished": 0}

    async def consume(kind: Any, until: int) -> None:
        async with page.activity.stream(kind) as stream:
            ready.append(kind)
            while counted[kind] < until:
                item = await stream.receive()
                if isinstance(item, cdpengine.ConsoleMessage):
                    assert item.args == ("message", counted[kind], "of many")
                    counted[kind] += 1
                elif isinstance(item, cdpengine.network.RequestEnded) and "/data?" in item.request.url:
                    counted[kind] += 1
            assert stream.dropped == 0

    ready: list[str] = []
    async with page.activity.stream("console", buffer=100) as never:
        with trio.fail_after(85):
            async with trio.open_nursery() as nursery:
                nursery.start_soon(consume, "console", messages)
                nursery.start_soon(consume, "finished", requests)
                await until(lambda: len(ready) == 2)
                await page.evaluate(
                    f"""(async () => {{ for (let i = 0; i < {messages}; i++) console.log("message", i, "of many");
                    for (let i = 0; i < {requests}; i += 10) await Promise.all(Array.from({{length: 10}},
                      (_, j) => fetch("/data?" + (i + j)).then(r => r.text()))) }})()""",
                    timeout=80,
                )
        assert (never.statistics().waiting, never.dropped) == (100, messages - 100)
    assert (len(page.activity.console), page.activity.console.dropped) == (500, messages - 500)
    assert page.activity.console[0].args[1] == messages - 500
    assert sum("/data?" in request.url for request in page.activity.requests) == requests
    del never
    gc.collect()
    alive = sum(isinstance(each, cdpengine.ConsoleMessage) for each in gc.get_objects())
    assert alive <= 600


async def test_from_the_start_of_a_connection(shared_endpoint: str) -> None:
    with pytest.raises(cdpengine.errors.InvalidArgumentError, match="activity"):
        async with cdpengine.connect(shared_endpoint, activity=3):  # type: ignore[arg-type]
            pass
    async with cdpengine.connect(shared_endpoint, activity=True) as browser:
        page = await browser.new_page("data:text/html,<script>console.log(1)</script>")
        assert page.activity.console[0].args == (1,)
        await page.close()
        assert page.activity.console[0].args == (1,)
