"""Workers of real pages: found, announced, evaluated in, terminated, and gone."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
import trio
from network_site import Site
from pytest_httpserver import HTTPServer

import cdpengine
from cdpengine.pages import Worker

COUNTING = "self.number = 1; onmessage = () => { while (true); }; onconnect = () => {}"
NESTING = "self.nested = new Worker('/counting.js')"
SERVING = """
self.number = 2;
addEventListener("install", () => skipWaiting());
addEventListener("activate", (event) => event.waitUntil(clients.claim()));
"""

FETCHING = """
addEventListener("install", () => skipWaiting());
addEventListener("activate", (event) => event.waitUntil(clients.claim()));
addEventListener("fetch", (event) => {
    if (event.request.url.endsWith("/echo/page")) event.respondWith(fetch("/echo/worker"));
});
"""

RUNS = """() => new Promise((resolve) => {
    const look = () => (self.number || self.nested ? resolve() : setTimeout(look, 5));
    look();
})"""

START = "(path) => { self.worker = new Worker(path) }"


@pytest.fixture
def site(httpserver: HTTPServer) -> Site:
    sources = {
        "/counting.js": COUNTING,
        "/nesting.js": NESTING,
        "/serving.js": SERVING,
        "/fetching.js": FETCHING,
        "/ending.js": "close()",
    }
    for path, source in sources.items():
        httpserver.expect_request(path).respond_with_data(source, content_type="text/javascript")
    return Site(httpserver)


async def until(condition: Callable[[], bool]) -> None:
    with trio.fail_after(10):
        while not condition():  # noqa: ASYNC110 - the page has no event for it
            await trio.sleep(0.01)


async def started(page: cdpengine.Page, site: Site, path: str = "/counting.js") -> Worker:
    await page.goto(site.url)
    async with page.expect_worker(url=f"*{path}") as expected:
        await page.evaluate(START, path)
    worker = expected.value
    await worker.evaluate(RUNS)
    return worker


async def test_a_worker_is_announced_listed_and_evaluated_in(page: cdpengine.Page, site: Site) -> None:
    worker = await started(page, site)
    assert page.workers == [worker]
    assert (worker.kind, worker.url, worker.closed) == ("dedicated", site.url + "counting.js", False)
    assert worker.context_id == page.context_id
    assert await worker.evaluate("(more) => number + more", 2) == 3
    assert await worker.evaluate("Promise.resolve(new Map([[1, 2]]))") == {1: 2}
    async with worker.evaluate_handle("[number, 7]") as handle:
        assert await worker.evaluate("(list, index) => list[index]", handle, 1) == 7
        assert await (await handle.items())[1].json_value() == 7
        with pytest.raises(cdpengine.errors.InvalidArgumentError, match="a handle of a worker"):
            await page.evaluate("(list) => list", handle)


async def test_nested_workers_and_workers_of_frames_belong_to_the_page(
    page: cdpengine.Page, site: Site
) -> None:
    await started(page, site, "/nesting.js")
    frame = f"<iframe src='{site.elsewhere}page'></iframe>"
    async with page.expect_worker(url=f"{site.elsewhere}*") as expected:
        await page.set_content(frame)
        await page.wait_for(css="iframe")
        await until(lambda: len(page.frames) == 2 and page.frames[1].url.startswith(site.elsewhere))
        await page.evaluate(START, "/counting.js", frame=page.frames[1])
    assert expected.value in page.workers
    assert await expected.value.evaluate("location.origin") == site.elsewhere.rstrip("/")


@pytest.mark.parametrize("source", ["while (true);", "new Promise(() => {})"])
async def test_a_script_that_does_not_end_is_terminated_in_the_worker_alone(
    page: cdpengine.Page, site: Site, source: str
) -> None:
    worker = await started(page, site)
    before = trio.current_time()
    with pytest.raises(cdpengine.errors.EvaluationTimeoutError, match="the worker"):
        await worker.evaluate(source, timeout=0.3)
    assert trio.current_time() - before < 2
    assert await page.evaluate("1 + 1") == 2
    assert await worker.evaluate("number") == 1


async def test_a_cancelled_evaluation_leaves_the_worker_usable(page: cdpengine.Page, site: Site) -> None:
    worker = await started(page, site)
    with trio.move_on_after(0.2) as scope:
        await worker.evaluate("while (true);")
    assert scope.cancelled_caught
    assert await worker.evaluate("number") == 1


async def test_the_end_of_a_worker_ends_its_calls_with_a_named_error(
    page: cdpengine.Page, site: Site
) -> None:
    worker = await started(page, site)
    errors = []

    async def wait() -> None:
        try:
            await worker.evaluate("new Promise(() => {})")
        except cdpengine.errors.SessionGoneError as error:
            errors.append(str(error))

    async with trio.open_nursery() as nursery:
        nursery.start_soon(wait)
        await trio.sleep(0.1)
        await page.evaluate("worker.terminate()")
    await worker.wait_for_close()
    assert re.match("worker .* is gone", errors[0])
    assert (worker.closed, page.workers) == (True, [])
    with pytest.raises(cdpengine.errors.SessionGoneError):
        await worker.evaluate("1")


async def test_a_worker_that_ends_immediately_counts(page: cdpengine.Page, site: Site) -> None:
    await page.goto(site.url)
    async with page.expect_worker() as expected:
        await page.evaluate(START, "/ending.js")
    await expected.value.wait_for_close()
    assert expected.value.url == site.url + "ending.js"


async def test_a_navigation_ends_the_workers(page: cdpengine.Page, site: Site) -> None:
    worker = await started(page, site)
    await page.goto("about:blank")
    await worker.wait_for_close(timeout=10)
    assert page.workers == []


async def test_an_expectation_without_a_match_names_the_others(page: cdpengine.Page, site: Site) -> None:
    await page.goto(site.url)
    with pytest.raises(cdpengine.errors.DeadlineExceededError, match="others started: .*counting.js"):
        async with page.expect_worker(url="*/never.js", timeout=0.5):
            await page.evaluate(START, "/counting.js")
            await trio.sleep(0.4)


async def test_activity_marks_the_worker(page: cdpengine.Page, site: Site) -> None:
    async with page.activity.collecting():
        worker = await started(page, site)
        await worker.evaluate(
            "console.log('from the worker'); fetch('/echo/worker').then((reply) => reply.text())"
        )
        await worker.evaluate("setTimeout(() => { throw new RangeError('in the worker') })")
        await until(lambda: bool(page.activity.errors and page.activity.console))
        message, error = page.activity.console[-1], page.activity.errors[-1]
        assert (message.text, message.target_type) == ("from the worker", "worker")
        assert (error.name, error.target_type) == ("RangeError", "worker")
        request = next(each for each in page.activity.requests if each.url.endswith("/echo/worker"))
        assert {message.target_id, error.target_id, request.target_id} == {worker.target_id}


async def test_service_workers_are_listed_by_context(browser: cdpengine.Browser, site: Site) -> None:
    async with browser.new_context() as context:
        page = await context.new_page(site.url)
        async with context.expect_service_worker() as expected:
            await page.evaluate("navigator.serviceWorker.register('/serving.js').then(() => {})")
        worker = expected.value
        assert context.service_workers == [worker]
        assert worker in browser.service_workers
        assert browser.context.service_workers == []
        assert (worker.kind, worker.url) == ("service", site.url + "serving.js")
        assert await worker.evaluate("number") == 2
        with pytest.raises(cdpengine.errors.EvaluationTimeoutError):
            await worker.evaluate("while (true);", timeout=0.3)
        assert await worker.evaluate("number") == 2
        assert [each.attached for each in browser.targets if each.target_id == worker.target_id] == [False]
        await page.evaluate(
            "navigator.serviceWorker.getRegistration().then((found) => found.unregister()).then(() => {})"
        )
        await page.close()
        await worker.wait_for_close(timeout=20)
        assert context.service_workers == []


async def test_shared_workers_are_listed_while_a_page_uses_them(
    browser: cdpengine.Browser, new_tab: cdpengine.Page, site: Site
) -> None:
    page = new_tab
    await page.goto(site.url)
    await page.evaluate("self.shared = new SharedWorker('/counting.js'); 1")
    await until(lambda: bool(page.context.shared_workers))
    worker = page.context.shared_workers[0]
    assert (worker.kind, worker in browser.shared_workers) == ("shared", True)
    assert await worker.evaluate("self.constructor.name") == "SharedWorkerGlobalScope"
    await page.close()
    await worker.wait_for_close(timeout=10)


async def test_a_page_without_workers_gets_no_new_message(browser: cdpengine.Browser, site: Site) -> None:
    async with browser.new_context() as context:
        page = await context.new_page(site.url)
        before = browser.statistics().main.sent
        assert page.workers == context.service_workers == context.shared_workers == []
        assert browser.statistics().main.sent == before


REGISTER = """async (path) => {
    await navigator.serviceWorker.register(path);
    await navigator.serviceWorker.ready;
    if (!navigator.serviceWorker.controller) {
        await new Promise((resolve) => navigator.serviceWorker.addEventListener("controllerchange", resolve));
    }
}"""


@pytest.mark.parametrize("registered_first", [True, False])
async def test_a_route_of_a_context_answers_requests_of_service_workers(
    browser: cdpengine.Browser, site: Site, registered_first: bool
) -> None:
    seen: list[tuple[str, str]] = []

    async def answer(route: cdpengine.Route) -> None:
        seen.append((route.request.url.rpartition("/")[2], route.request.target_id))
        await route.fulfill(body="from the route")

    async with browser.new_context() as context:
        page = await context.new_page(site.url)
        if registered_first:
            await page.evaluate(REGISTER, "/fetching.js")
        async with context.route("*/echo/worker", answer) as registration:
            if not registered_first:
                await page.evaluate(REGISTER, "/fetching.js")
            worker = context.service_workers[0]
            assert (
                await page.evaluate("fetch('/echo/page').then((reply) => reply.text())") == "from the route"
            )
            assert (
                await worker.evaluate("fetch('/echo/worker').then((reply) => reply.text())")
                == "from the route"
            )
            assert seen == [("worker", worker.target_id)] * 2
            assert registration.seen == 2
        assert "/echo/worker" in await page.evaluate("fetch('/echo/page').then((reply) => reply.text())")
        assert "/echo/worker" in await worker.evaluate("fetch('/echo/worker').then((reply) => reply.text())")
        async with trio.open_nursery() as nursery, context.route("*/never", answer):
            slow = "new Promise((resolve) => setTimeout(resolve, 700))"
            nursery.start_soon(worker.evaluate, slow)
            await trio.sleep(0.1)
        await until(
            lambda: not any(each.attached for each in browser.targets if each.target_id == worker.target_id)
        )


async def test_a_worker_can_be_evaluated_in_as_soon_as_it_is_known(
    browser: cdpengine.Browser, site: Site
) -> None:
    # An evaluation before the worker's script is loaded crashes its process, or leaves it without timers.
    async with browser.new_context() as context:
        page = await context.new_page(site.url)
        for number in range(10):
            async with page.expect_worker() as expected:
                await page.evaluate(START, "/counting.js")
            assert await expected.value.evaluate("typeof setTimeout") == "function"
            await page.evaluate(
                "(path) => { self.shared = new SharedWorker(path) }", f"/counting.js?{number}"
            )
            await until(lambda: len(context.shared_workers) > number)  # noqa: B023 - used before the next round
            assert await context.shared_workers[-1].evaluate("typeof setTimeout") == "function"


async def test_a_session_of_a_service_worker_sees_its_requests(
    browser: cdpengine.Browser, site: Site
) -> None:
    async with browser.new_context() as context:
        page = await context.new_page(site.url)
        await page.evaluate(REGISTER, "/fetching.js")
        worker = context.service_workers[0]
        async with worker.attached() as session, session.subscribe("Network.requestWillBeSent") as events:
            await page.evaluate("fetch('/echo/page').then((reply) => reply.text())")
            with trio.fail_after(10):
                event = await events.receive()
        assert event.params["request"]["url"] == site.url + "echo/worker"
        await until(lambda: session.ended)
