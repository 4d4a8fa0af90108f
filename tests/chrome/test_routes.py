"""Intercepted requests of real pages: every response, every failure, every kind of page that can send
requests.
"""

from __future__ import annotations

import json
import logging
import re
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
import trio
from network_site import ASK, ASK_IN_WORKER, REFUSED, Site, ask, echo
from pytest_httpserver import HTTPServer

import cdpengine
from cdpengine import Route


@pytest.fixture
def site(httpserver: HTTPServer) -> Site:
    return Site(httpserver)


async def post_instead(route: Route) -> None:
    headers = {**route.request.headers, "X-Extra": "changed"}
    await route.continue_(method="POST", post_data=b"\x41bc", headers=headers)


async def made_from_fetched(route: Route) -> None:
    response = await route.fetch(headers={"X-Extra": "fetched"})
    said = await response.json()
    assert response.status == 200
    assert (await response.text()).startswith("[")
    await route.fulfill(body=json.dumps([*said, "made"]), headers={"X-Made": "yes"})


async def fetched_and_let_go(route: Route) -> None:
    response = await route.fetch()
    await response.body()
    await route.continue_(status=202, headers=[*response.header_list, ("X-Made", "here")])


ANSWERS: dict[str, tuple[Callable[[Route], Awaitable[object]], object]] = {
    "continue": (lambda route: route.continue_(), [200, echo("/echo/a"), None]),
    "continue changed": (
        post_instead,
        [200, echo("/echo/a", method="POST", posted="Abc", extra="changed"), None],
    ),
    "continue elsewhere": (
        lambda route: route.continue_(url=route.request.url.replace("/a", "/b")),
        [200, echo("/echo/b"), None],
    ),
    "fulfill nothing": (lambda route: route.fulfill(), [200, "", None]),
    "fulfill text": (
        lambda route: route.fulfill(status=299, body="hé", headers={"X-Made": "1"}),
        [299, "hé", "1"],
    ),
    "fulfill bytes": (lambda route: route.fulfill(body=b"b", content_type="text/x"), [200, "b", None]),
    "fulfill json": (lambda route: route.fulfill(status=404, json={"a": [1]}), [404, '{"a":[1]}', None]),
    "fulfill from file": (
        lambda route: route.fulfill(path=__file__),
        [200, Path(__file__).read_text(), None],
    ),
    "abort": (lambda route: route.abort(), REFUSED),
    "abort with a reason": (lambda route: route.abort("NameNotResolved"), REFUSED),
    "fall back": (
        lambda route: route.fallback(headers={"X-Extra": "on"}),
        [200, echo("/echo/a", extra="on"), None],
    ),
    "fetch, then fulfill": (
        made_from_fetched,
        [200, json.dumps(["GET", "/echo/a", "", "fetched", "made"]), "yes"],
    ),
    "fetch, then continue": (fetched_and_let_go, [202, echo("/echo/a"), "here"]),
}


async def test_every_answer(page: cdpengine.Page, site: Site) -> None:
    await page.goto(site.url)
    for name, (handler, expected) in ANSWERS.items():
        async with page.route("*/echo/*", handler) as route:
            assert await ask(page, "/echo/a") == expected, name
            assert route.seen == 1
        assert list(route.failures) == []
    assert await ask(page, "/echo/a") == [200, echo("/echo/a"), None], "no route is left"
    assert page.network.routes.active == []
    assert page.session.domains.users.keys() <= {"Page"}


async def raises(route: Route) -> None:
    raise ValueError("boom")


async def gives_none(route: Route) -> None:
    return None


async def hangs(route: Route) -> None:
    await trio.sleep_forever()


def no_coroutine(route: Route) -> Any:
    return None


async def answers_twice(route: Route) -> None:
    await route.fulfill(body="first")
    await route.fulfill(body="second")


async def refused_by_chrome(route: Route) -> None:
    await route.continue_(headers={"Host": "elsewhere"})


async def outlives_errors(route: Route) -> None:
    with pytest.raises(cdpengine.errors.InvalidArgumentError):
        await route.fulfill(status=42)
    with pytest.raises(cdpengine.errors.InvalidArgumentError):
        await route.abort("Bored")  # type: ignore[arg-type]
    with pytest.raises(cdpengine.errors.InvalidArgumentError):
        await route.fulfill(path="/nowhere/at/all")
    with pytest.raises(cdpengine.errors.InvalidArgumentError):
        await route.continue_(headers={"X-A": "line\nbreak"})
    await route.fulfill(body="sound")


FAILURES: dict[str, tuple[Callable[[Route], Awaitable[object]], object, str]] = {
    "raises": (raises, REFUSED, "it raised ValueError: boom"),
    "gives none": (gives_none, REFUSED, "it ended without an answer"),
    "is no coroutine": (
        no_coroutine,
        REFUSED,
        "it raised InvalidArgumentError: handler: got a function that returns a NoneType",
    ),
    "hangs": (hangs, REFUSED, "it gave no answer within 0.3 s"),
    "answers twice": (
        answers_twice,
        [200, "first", None],
        "it raised InvalidStateError: cannot fulfill the route of",
    ),
    "is refused": (refused_by_chrome, REFUSED, "it raised RemoteError: Fetch.continueRequest"),
    "gets over it": (outlives_errors, [200, "sound", None], ""),
}


async def test_failed_handler_fails_only_its_request(
    page: cdpengine.Page, site: Site, caplog: pytest.LogCaptureFixture
) -> None:
    await page.goto(site.url)
    caplog.set_level(logging.CRITICAL, "cdpengine.network")
    for name, (handler, expected, reason) in FAILURES.items():
        before = len(page.network.routes.failures)
        limit = 0.3 if name == "hangs" else 30
        async with page.route("*/echo/bad", handler, limit=limit) as route:
            assert await ask(page, "/echo/bad") == expected, name
            assert await ask(page, "/echo/good") == [200, echo("/echo/good"), None], name
        assert [failure.reason.startswith(reason) for failure in route.failures] == [True] * bool(reason), (
            route.failures
        )
        assert len(page.network.routes.failures) - before == len(route.failures)
    failure = page.network.routes.failures[0]
    assert (failure.url, failure.method, failure.resource_type) == (f"{site.url}echo/bad", "GET", "XHR")
    assert (failure.pattern, failure.handler) == ("*/echo/bad", "raises")
    assert failure.frame_id == page.target_id


async def test_failure_is_logged_with_traceback(
    page: cdpengine.Page, site: Site, caplog: pytest.LogCaptureFixture
) -> None:
    await page.goto(site.url)

    def picky(url: str) -> bool:
        if url.endswith("/favicon.ico"):  # the browser's own request, at any time
            return False
        raise KeyError("no such url")

    async with page.route(picky, gives_none):
        assert await ask(page, "/echo/a") == REFUSED
    assert page.network.routes.failures[0].reason == "its pattern raised KeyError: 'no such url'"
    (record,) = [record for record in caplog.records if record.name == "cdpengine.network"]
    assert record.exc_info is not None
    assert "GET" in record.getMessage()


async def test_patterns_types_and_order(page: cdpengine.Page, site: Site) -> None:
    """The latest route comes first. Each one passes on other requests, and sees the changes made before."""
    await page.goto(site.url)
    order: list[str] = []

    def passes(name: str) -> Callable[[Route], Awaitable[None]]:
        async def handler(route: Route) -> None:
            order.append(f"{name}:{route.request.header('x-trail') or ''}")
            trail = {**route.request.headers, "X-Trail": name, "X-Extra": name}
            await route.fallback(headers=trail)

        return handler

    async with (
        page.route("*/echo/*", passes("glob")),
        page.route(re.compile(r"/echo/[ab]$"), passes("regex")),
        page.route(lambda url: url.endswith("/a"), passes("function")),
        page.route("*", passes("type"), resource_type=["XHR", "Image"]),
        page.route("*", passes("other type"), resource_type="Document"),
        page.route("*/echo/a?b=\\c*", passes("literal")),
        page.route("*/echo/*", passes("response"), stage="response"),
    ):
        assert await ask(page, "/echo/a") == [200, echo("/echo/a", extra="glob"), None]
        assert order == ["type:", "function:type", "regex:function", "glob:regex", "response:glob"]
        order.clear()
        await ask(page, "/echo/c")
        assert order == ["type:", "glob:type", "response:glob"]
        order.clear()
        await ask(page, "/echo/a?b=\\cd")
        assert [name.partition(":")[0] for name in order] == ["literal", "type", "glob", "response"]
        order.clear()
        await page.goto(f"{site.url}page2")
        assert order == ["other type:"]


async def test_response_route_runs_before_the_page_gets_it(page: cdpengine.Page, site: Site) -> None:
    await page.goto(site.url)
    seen: list[object] = []

    async def handler(route: Route) -> None:
        response = route.response
        assert response is not None
        seen.append((response.status, response.failure, response.header("CONTENT-TYPE")))
        if response.failure or response.status == 302:
            with pytest.raises(cdpengine.errors.BodyUnavailableError):
                await response.body()
            await route.continue_()
        else:
            assert await response.body() == await response.body()
            await route.fulfill(body=(await response.text()).upper())

    async with page.route("*", handler, stage="response", resource_type="Fetch"):
        assert await ask(page, "/redirect") == [200, echo("/ECHO/REDIRECTED").replace("null", "NULL"), None]
        assert await ask(page, "http://127.0.0.1:1/") == REFUSED
    assert seen == [
        (302, "", "text/plain; charset=utf-8"),
        (200, "", "application/json"),
        (0, "Failed", None),
    ]


async def test_request_details(page: cdpengine.Page, site: Site) -> None:
    await page.goto(site.url)
    seen: list[cdpengine.InterceptedRequest] = []

    async def handler(route: Route) -> None:
        seen.append(route.request)
        await route.continue_()

    async with page.route(lambda url: not url.endswith("favicon.ico"), handler):
        await ask(page, "/echo/x#part", method="POST", body='{"a": 1}', headers={"X-Extra": "given"})
        await page.goto(f"{site.url}redirect")
    posted, navigation, redirected = seen[:3]
    assert (posted.url, posted.method, posted.post_data) == (f"{site.url}echo/x", "POST", b'{"a": 1}')
    assert posted.json() == {"a": 1}
    assert posted.header("x-extra") == "given"
    assert not posted.is_navigation
    assert navigation.is_navigation
    assert not navigation.redirected
    assert redirected.redirected
    assert redirected.url == f"{site.url}echo/redirected"
    assert {request.frame_id for request in seen} == {page.target_id}


@pytest.mark.sample(4)
@pytest.mark.parametrize("reason", cdpengine.network.ABORT_REASONS)
async def test_chrome_accepts_every_failure_reason(
    page: cdpengine.Page, reason: cdpengine.network.AbortReason
) -> None:
    async with page.route("*", lambda route: route.abort(reason)):
        with pytest.raises(cdpengine.errors.NavigationFailedError) as failed:
            await page.goto("http://127.0.0.1:9/")
    assert failed.value.reason.startswith(cdpengine.network.ABORT_REASONS[reason])


async def test_frames_popups_and_workers_from_their_first_request(
    browser: cdpengine.Browser, page: cdpengine.Page, site: Site
) -> None:
    await page.goto(site.url)
    paths: list[str] = []

    async def handler(route: Route) -> None:
        path = route.request.url.partition("//")[2].partition("/")[2]
        if path == "favicon.ico":
            await route.abort()
            return
        paths.append(path)
        if route.request.is_navigation:
            await route.fulfill(body=f"<title>{path}</title>", content_type="text/html")
        else:
            await route.continue_()

    async with page.route("*", handler):
        for url in (f"{site.url}same", f"{site.elsewhere}other"):
            await page.evaluate(
                """(url) => new Promise((resolve) => {
                    const frame = document.createElement("iframe");
                    frame.onload = resolve;
                    frame.src = url;
                    document.body.append(frame);
                })""",
                url,
            )
        other = page.frames[-1]
        assert other.session_id != page.session.id
        assert await page.evaluate("fetch('/echo/framed').then((reply) => reply.status)", frame=other) == 200
        assert paths == ["same", "other", "echo/framed"], "each once"
        paths.clear()
        assert json.loads(str(await page.evaluate(ASK_IN_WORKER, "/echo/worker"))) == [
            "GET",
            "/echo/worker",
            "",
            None,
        ]
        assert paths == ["worker.js", "echo/worker"]
        for number, (url, features) in enumerate(
            (
                (f"{site.url}popup0", ""),
                (f"{site.url}popup1", "noopener"),
                (f"{site.elsewhere}popup2", ""),
                (f"{site.elsewhere}popup3", "noopener"),
            )
        ):
            paths.clear()
            async with browser.expect_page(opener=page) as opened:
                await page.evaluate(
                    "([url, features]) => void open(url, '_blank', features)", [url, features]
                )
            popup = opened.value
            await popup.wait_for(url=url, load_state="load")
            assert await popup.title() == f"popup{number}"
            await ask(popup, "/echo/popped")
            assert paths == [f"popup{number}", "echo/popped"]
            await popup.close()
    assert not any(path.startswith(("/same", "/other", "/popup")) for path in site.requested), (
        "none came through"
    )


@asynccontextmanager
async def held(page: cdpengine.Page, paths: int) -> AsyncIterator[trio.Event]:
    """A route that holds its requests. In the block, it holds the given number of the page's requests."""
    arrived, release = trio.Event(), trio.Event()
    count = 0

    async def handler(route: Route) -> None:
        nonlocal count
        count += 1
        if count == paths:
            arrived.set()
        await release.wait()
        await route.fulfill(body="held")

    async with page.route("*/echo/*", handler):
        for number in range(paths):
            await page.evaluate(
                f"void ({ASK})('/echo/{number}').then((said) => (self.got ??= []).push(said[1]))"
            )
        await arrived.wait()
        yield release


async def test_requests_held_at_end_of_block_continue(page: cdpengine.Page, site: Site) -> None:
    """The block ends normally, by an error, or by cancellation. Held requests continue to the older route or
    the server.
    """

    async def older(route: Route) -> None:
        await route.fulfill(body="older")

    class Stop(Exception):
        pass

    for end in ("leave", "raise", "cancel"):
        for expected in ("older", "server"):
            await page.goto(site.url)
            async with page.route("*/echo/*" if expected == "older" else "nothing", older):
                with trio.CancelScope() as scope:
                    try:
                        async with held(page, 3):
                            if end == "raise":
                                raise Stop
                            if end == "cancel":
                                scope.cancel()
                                await trio.sleep_forever()
                    except Stop:
                        pass
                await page.wait_for(expression="(self.got || []).length == 3")
                got = await page.evaluate("got.sort()")
            assert got == (
                ["older"] * 3 if expected == "older" else [echo(f"/echo/{n}") for n in range(3)]
            ), end
            assert list(page.network.routes.failures) == []


async def test_a_context_routes_all_its_pages_and_no_other(
    browser: cdpengine.Browser, page: cdpengine.Page, site: Site
) -> None:
    async def handler(route: Route) -> None:
        await route.fulfill(body="from the context")

    async def by_page(route: Route) -> None:
        await route.fallback(headers={"X-Extra": "page"})

    async with browser.new_context() as context:
        before = await context.new_page(site.url)
        async with context.route("*/echo/*", handler) as route:
            after = await context.new_page(site.url)
            for each in (before, after):
                assert await ask(each, "/echo/a") == [200, "from the context", None]
            async with before.route("*/echo/*", by_page):
                assert await ask(before, "/echo/a") == [200, "from the context", None]
            await page.goto(site.url)
            assert await ask(page, "/echo/a") == [200, echo("/echo/a"), None]
        assert route.seen == 3
        assert await ask(after, "/echo/a") == [200, echo("/echo/a"), None]
