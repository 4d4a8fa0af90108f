"""Faults of runs that no entry causes: each kind in several ways. None counts as a failure of the entry."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

import attrs
import pytest
import trio
from pytest_httpserver import HTTPServer
from werkzeug import Response

import cdpengine
from cdpengine.act import Actor, ActRequest, Click, Navigate, NewTab, Upload
from cdpengine.cache import (
    ActionCache,
    CacheEntry,
    ExecutionReport,
    PostCondition,
    Step,
    Target,
    Viewport,
    make_entry,
    make_key,
)
from cdpengine.cache.replaying import execution
from cdpengine.errors import EngineError

pytestmark = pytest.mark.chrome

PAGE = """<!doctype html><title>Form</title><h1>Form</h1><label>File <input type=file></label>
<button onclick="{}">Send</button><p id=out></p>"""
BUTTON, FILE = Target(role="button", name="Send"), Target(role="button", name="File")
SENT = PostCondition(text="Sent")


@attrs.define
class Stage:
    """A page with an entry of one step."""

    page: cdpengine.Page
    cache: ActionCache
    server: HTTPServer
    folder: Path

    def serve(self, path: str, body: str, status: int = 200) -> str:
        self.server.expect_request(path).respond_with_data(body, status=status, content_type="text/html")
        return self.server.url_for(path)

    async def show(self, script: str = "out.textContent = 'Sent'") -> None:
        self.server.clear()
        await self.page.goto(self.serve("/form", PAGE.format(script)))

    async def put(self, request: ActRequest, target: Target | None = None, **more: Any) -> CacheEntry:
        """Store an entry whose only step is this request."""
        targets = {} if target is None else {"t1": target}
        variables = ("place",) if "${place}" in str(request) else ()
        key = make_key("send", self.server.url_for("/form"), Viewport(width=780, height=493), variables)
        steps = [Step(request=request, targets=targets, **more)]
        return await self.cache.store.put(make_entry(key, steps, now=1.0, expires_at=1e12))

    async def run(self, **options: Any) -> ExecutionReport:
        return await self.cache.execute(self.page, "send", **options)

    @asynccontextmanager
    async def when_pressed(self, act: Callable[[], Awaitable[Any]]) -> AsyncIterator[None]:
        """Call `act` when the page shows that its button was pressed, during the block."""

        async def watch() -> None:
            await self.page.wait_for(text="pressed")
            await act()

        async with trio.open_nursery() as nursery:
            nursery.start_soon(watch)
            yield


PRESSED = "out.textContent = 'pressed'"


async def slow_document(stage: Stage) -> ExecutionReport:
    def answer(_request: Any) -> Response:
        time.sleep(2)
        return Response("<h1>late</h1>", content_type="text/html")

    await stage.show()
    stage.server.expect_request("/slow").respond_with_handler(answer)
    await stage.put(Navigate(url=stage.server.url_for("/slow")))
    return await stage.run(timeout=0.5)


async def no_time_for_the_condition(stage: Stage) -> ExecutionReport:
    await stage.show(PRESSED)
    await stage.put(Click(ref="t1"), BUTTON, after=SENT)
    return await stage.run(timeout=1)


async def no_time_to_find(stage: Stage) -> ExecutionReport:
    await stage.show()
    await stage.put(Click(ref="t1"), Target(role="button", name="Later"))
    return await stage.run(timeout=0.5, patience=30)


async def no_time_at_all(stage: Stage) -> ExecutionReport:
    await stage.show()
    await stage.put(Click(ref="t1"), BUTTON, after=SENT)
    return await stage.run(timeout=0.001)


async def busy_page(stage: Stage) -> ExecutionReport:
    await stage.show("const end = Date.now() + 2500; while (Date.now() < end);")
    await stage.put(Click(ref="t1"), BUTTON, after=SENT)
    return await stage.run(timeout=1)


async def closed_page(stage: Stage) -> ExecutionReport:
    await stage.show(PRESSED)
    await stage.put(Click(ref="t1"), BUTTON, after=SENT)
    async with stage.when_pressed(stage.page.close):
        return await stage.run()


async def crashed_page(stage: Stage) -> ExecutionReport:
    async def crash() -> None:
        with trio.move_on_after(5):
            await stage.page.session.call("Page.crash")

    await stage.show(PRESSED)
    await stage.put(Click(ref="t1"), BUTTON, after=SENT)
    async with trio.open_nursery() as nursery:
        nursery.start_soon(watch_and, stage, crash)
        return await stage.run()


async def watch_and(stage: Stage, act: Callable[[], Awaitable[Any]]) -> None:
    await stage.page.wait_for(text="pressed")
    with suppress(EngineError):  # the crash ends the call
        await act()


async def closed_before(stage: Stage) -> ExecutionReport:
    await stage.show()
    await stage.put(Click(ref="t1"), BUTTON, after=SENT)
    await stage.page.close()
    return await stage.run()


async def script_as_a_url(stage: Stage) -> ExecutionReport:
    await stage.show()
    await stage.put(Navigate(url="${place}"))
    actor = Actor(stage.page.browser, evaluate_enabled=False)
    return await stage.run(actor=actor, variables={"place": "javascript:1"})


async def file_as_a_url(stage: Stage) -> ExecutionReport:
    await stage.show()
    await stage.put(NewTab(url=(stage.folder / "a.html").as_uri()))
    return await stage.run(actor=Actor(stage.page.browser, files=None))


async def file_as_a_url_of_the_caller(stage: Stage) -> ExecutionReport:
    await stage.show()
    await stage.put(Navigate(url="${place}"))
    place = (stage.folder / "a.html").as_uri()
    return await stage.run(
        actor=Actor(stage.page.browser, files=stage.folder / "b"), variables={"place": place}
    )


async def file_to_upload(stage: Stage) -> ExecutionReport:
    await stage.show()
    await stage.put(Upload(ref="t1", paths=(str(stage.folder / "a.html"),)), FILE)
    return await stage.run(actor=Actor(stage.page.browser, files=None))


async def file_to_upload_of_the_caller(stage: Stage) -> ExecutionReport:
    await stage.show()
    await stage.put(Upload(ref="t1", paths=("${place}",)), FILE)
    place = str(stage.folder / "a.html")
    return await stage.run(actor=Actor(stage.page.browser, files=None), variables={"place": place})


async def refused_document(stage: Stage) -> ExecutionReport:
    await stage.show()
    await stage.put(Navigate(url=stage.serve("/refused", "<h1>Refused</h1>")))
    async with stage.page.route("*/refused", lambda route: route.abort("BlockedByClient")):
        return await stage.run()


async def refused_document_of_a_link(stage: Stage) -> ExecutionReport:
    await stage.show("location = '/refused'")
    stage.serve("/refused", "<h1>Sent</h1>")
    await stage.put(Click(ref="t1"), BUTTON, after=SENT)
    async with stage.page.route("*/refused", lambda route: route.abort("BlockedByClient")):
        return await stage.run()


async def server_error(stage: Stage) -> ExecutionReport:
    await stage.show("location = '/down'")
    stage.serve("/down", "<h1>Down</h1>", status=502)
    await stage.put(Click(ref="t1"), BUTTON, after=SENT)
    return await stage.run()


async def server_that_ends_the_connection(stage: Stage) -> ExecutionReport:
    await stage.show()
    async with trio.open_nursery() as nursery:
        listeners = await trio.open_tcp_listeners(0, host="127.0.0.1")

        async def end(stream: trio.SocketStream) -> None:
            await stream.aclose()

        nursery.start_soon(trio.serve_listeners, end, listeners)
        port = listeners[0].socket.getsockname()[1]
        await stage.put(Navigate(url=f"http://127.0.0.1:{port}/"))
        report = await stage.run()
        nursery.cancel_scope.cancel()
    return report


async def empty_place(stage: Stage) -> ExecutionReport:
    await stage.show()
    await stage.put(Navigate(url="${place}"))
    return await stage.run(variables={"place": ""})


async def file_that_does_not_exist(stage: Stage) -> ExecutionReport:
    await stage.show()
    await stage.put(Upload(ref="t1", paths=("${place}",)), FILE)
    return await stage.run(variables={"place": str(stage.folder / "missing.txt")})


WAYS: dict[str, list[Callable[[Stage], Awaitable[ExecutionReport]]]] = {
    "timeout": [slow_document, no_time_for_the_condition, no_time_to_find, no_time_at_all, busy_page],
    "ended": [closed_page, crashed_page, closed_before],
    "forbidden": [
        script_as_a_url, file_as_a_url, file_as_a_url_of_the_caller, file_to_upload, file_to_upload_of_the_caller,
    ],
    "unreachable": [
        server_error, server_that_ends_the_connection, refused_document, refused_document_of_a_link,
    ],
    "address": [empty_place],
    "value": [file_that_does_not_exist],
}  # fmt: skip


@pytest.mark.sample(2)
@pytest.mark.parametrize(("fault", "way"), [(fault, way) for fault, ways in WAYS.items() for way in ways])
async def test_a_fault_of_others_is_named_and_does_not_count(
    fault: str,
    way: Callable[[Stage], Awaitable[ExecutionReport]],
    new_tab: cdpengine.Page,
    cache: ActionCache,
    httpserver: HTTPServer,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(execution, "_LEADING", 3)
    (tmp_path / "a.html").write_text("<h1>Secret</h1>")
    with trio.fail_after(30):
        report = await way(Stage(new_tab, cache, httpserver, tmp_path))
    assert (report.ok, report.fault) == (False, fault), report.reason
    (entry,) = await cache.list()
    found = entry.statistics
    assert (found.successes, found.failures, found.mistakes, found.failed_in_row) == (0, 0, 1, 0)
    counted = await cache.statistics()
    assert (counted.runs, counted.mistakes, counted.failures) == (1, 1, 0)
