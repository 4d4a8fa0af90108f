"""Navigations and their outcomes."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator

import pytest
import trio
from pytest_httpserver import HTTPServer
from werkzeug import Request, Response

import cdpengine
from cdpengine.act import dispatch


def page_html(title: str, body: str = "") -> str:
    return f"<!doctype html><title>{title}</title><h1>{title}</h1>{body}"


@pytest.fixture
def site(httpserver: HTTPServer) -> HTTPServer:
    for name in ("one", "two"):
        httpserver.expect_request(f"/{name}").respond_with_data(page_html(name), content_type="text/html")
    httpserver.expect_request("/missing").respond_with_data(
        page_html("missing"), 404, content_type="text/html"
    )
    httpserver.expect_request("/nothing").respond_with_data("", 204)
    httpserver.expect_request("/away").respond_with_data("", 302, {"Location": "/further"})
    httpserver.expect_request("/further").respond_with_data("", 301, {"Location": "/one"})
    httpserver.expect_request("/file").respond_with_data(
        b"data", content_type="application/octet-stream", headers={"Content-Disposition": "attachment"}
    )
    return httpserver


@pytest.fixture
def slow(httpserver: HTTPServer) -> Iterator[threading.Event]:
    """`/slow` responds only when the event is set."""
    release = threading.Event()

    def answer(_request: Request) -> Response:
        release.wait(30)
        return Response(page_html("slow"), content_type="text/html")

    httpserver.expect_request("/slow").respond_with_handler(answer)
    yield release
    release.set()


async def test_outcome_has_the_final_url(page: cdpengine.Page, site: HTTPServer) -> None:
    url = site.url_for("/one")
    navigation = await page.goto(url)
    assert navigation == cdpengine.Navigation(url=url, status=200, mime_type="text/html")
    assert page.url == url
    assert await page.title() == "one"


@pytest.mark.sample(2)
@pytest.mark.parametrize(("url", "reason"), [
    ("no-such-scheme:x", "Chrome has no document for no-such-scheme: URLs"),
    ("mailto:ada@example.com", "Chrome has no document for mailto: URLs"),
])  # fmt: skip
async def test_response_without_document_is_reported_and_next_has_its_status(
    page: cdpengine.Page, site: HTTPServer, url: str, reason: str
) -> None:
    with pytest.raises(cdpengine.errors.NavigationFailedError, match=reason):
        await page.goto(url, timeout=10)
    assert (await page.goto(site.url_for("/missing"), timeout=20)).status == 404
    assert set(page.session.domains.users) == {"Page"}


@pytest.mark.parametrize("url", ["chrome://crash", "chrome://kill"])
async def test_url_that_crashes_the_page_raises_named_error(
    browser: cdpengine.Browser, site: HTTPServer, url: str
) -> None:
    page = await browser.new_page(site.url_for("/one"))
    with pytest.raises(cdpengine.errors.TargetCrashedError, match="crashed during Page.navigate"):
        await page.goto(url, timeout=10)
    assert (await page.goto(site.url_for("/missing"), timeout=20)).status == 404
    with pytest.raises(cdpengine.errors.TargetCrashedError):
        await page.session.call("Page.crash")
    assert (await page.reload(timeout=20)).status == 404
    assert set(page.session.domains.users) == {"Page"}
    request = {"kind": "navigate", "url": url, "timeoutMs": 10_000, "targetId": page.target_id}
    response = await dispatch(browser, request)
    assert response.error is not None
    assert response.error.kind == "targetCrashed"
    await page.close()


async def test_the_response_of_the_document(page: cdpengine.Page, site: HTTPServer) -> None:
    site.expect_request("/moved").respond_with_data(
        "", status=302, headers={"Location": "/set", "Set-Cookie": "hop=1"}
    )
    site.expect_request("/set").respond_with_data(
        page_html("set"), content_type="text/html", headers={"Set-Cookie": "end=1"}
    )
    response = (await page.goto(site.url_for("/moved"))).response
    assert response is not None
    assert (response.status, response.header("Set-Cookie"), response.mime_type) == (200, "end=1", "text/html")
    (hop,) = response.request.redirect_chain
    assert hop.response is not None
    assert (hop.response.status, hop.response.header("Set-Cookie")) == (302, "hop=1")
    with pytest.raises(cdpengine.errors.BodyUnavailableError):
        await response.body()
    assert (await page.goto("about:blank")).response is None
    await page.activity.start()
    navigation = await page.goto(site.url_for("/set"))
    assert navigation.response is not None
    assert await navigation.response.text() == page_html("set")
    assert (await page.goto(site.url_for("/set#fragment"))).response is None
    assert (await page.reload()).response is not None


async def test_a_status_is_not_a_failure(page: cdpengine.Page, site: HTTPServer) -> None:
    assert (await page.goto(site.url_for("/missing"))).status == 404


async def test_redirects_are_reported_in_order(page: cdpengine.Page, site: HTTPServer) -> None:
    navigation = await page.goto(site.url_for("/away"))
    assert navigation.url == site.url_for("/one")
    assert navigation.status == 200
    assert navigation.redirects == (site.url_for("/away"), site.url_for("/further"))


async def test_a_fragment_stays_in_the_document(page: cdpengine.Page, site: HTTPServer) -> None:
    await page.goto(site.url_for("/one"))
    await page.evaluate("window.same = true")
    for _ in range(2):  # the second one changes nothing and still ends
        navigation = await page.goto(site.url_for("/one#here"))
        assert navigation.same_document
        assert navigation.url == page.url == site.url_for("/one#here")
    assert await page.evaluate("window.same")


async def test_urls_without_http(page: cdpengine.Page) -> None:
    assert (await page.goto("about:blank")).status is None
    assert (await page.goto("data:text/html,hi")).url == "data:text/html,hi"


@pytest.mark.sample(3)
@pytest.mark.parametrize("state", ["commit", "domcontentloaded", "load", "networkidle"])
async def test_every_load_state_can_be_waited_for(page: cdpengine.Page, site: HTTPServer, state: str) -> None:
    navigation = await page.goto(site.url_for("/one"), wait_until=state)  # type: ignore[arg-type]
    assert navigation.status == 200


async def test_load_waits_longer_than_domcontentloaded(
    page: cdpengine.Page, httpserver: HTTPServer, slow: threading.Event
) -> None:
    httpserver.expect_request("/with-image").respond_with_data(
        page_html("image", "<img src=/slow>"), content_type="text/html"
    )
    url = httpserver.url_for("/with-image")
    assert (await page.goto(url, wait_until="domcontentloaded")).status == 200
    with pytest.raises(cdpengine.errors.DeadlineExceededError, match="waiting for load"):
        await page.goto(url, timeout=2)
    slow.set()
    assert (await page.goto(url)).status == 200


async def test_a_refused_connection_is_named(page: cdpengine.Page) -> None:
    with trio.socket.socket() as listener:
        await listener.bind(("127.0.0.1", 0))
        port = listener.getsockname()[1]
    url = f"http://127.0.0.1:{port}/"
    with pytest.raises(cdpengine.errors.NavigationFailedError) as caught:
        await page.goto(url)
    assert caught.value.reason == "net::ERR_CONNECTION_REFUSED"
    assert caught.value.url == url
    assert (await page.goto("about:blank")).url == "about:blank", "the page still works"


@pytest.mark.parametrize(("path", "reason"), [("/nothing", "net::ERR_ABORTED"), ("/file", "download")])
async def test_url_without_document_is_named(
    page: cdpengine.Page, site: HTTPServer, path: str, reason: str
) -> None:
    with pytest.raises(cdpengine.errors.NavigationFailedError, match=reason):
        await page.goto(site.url_for(path))


async def test_unresponsive_server_raises_at_the_deadline(
    page: cdpengine.Page, site: HTTPServer, slow: threading.Event
) -> None:
    await page.goto(site.url_for("/one"))
    with pytest.raises(cdpengine.errors.DeadlineExceededError) as caught:
        await page.goto(site.url_for("/slow"), timeout=0.3)
    assert "asking Chrome to navigate" in str(caught.value)
    slow.set()
    assert (await page.goto(site.url_for("/two"))).url == site.url_for("/two")
    assert await page.title() == "two", "the abandoned navigation does not arrive later"


async def test_navigation_follows_page_that_redirects_itself(page: cdpengine.Page, site: HTTPServer) -> None:
    site.expect_request("/hop").respond_with_data(
        "<script>location.replace('/two')</script>" + page_html("hop"), content_type="text/html"
    )
    navigation = await page.goto(site.url_for("/hop"), wait_until="networkidle")
    assert navigation.url == site.url_for("/two")


async def test_history_and_reload(page: cdpengine.Page, site: HTTPServer) -> None:
    await page.goto(site.url_for("/one"))
    await page.goto(site.url_for("/two"))
    assert (await page.go_back()).url == site.url_for("/one")
    assert (await page.go_forward()).url == site.url_for("/two")
    await page.evaluate("window.old = true")
    reloaded = await page.reload()
    assert (reloaded.url, reloaded.status) == (site.url_for("/two"), 200)
    assert await page.evaluate("window.old") is None
    with pytest.raises(
        cdpengine.errors.NavigationFailedError, match="next entry of the history failed: no such entry"
    ):
        await page.go_forward()


async def test_history_within_one_document(page: cdpengine.Page, site: HTTPServer) -> None:
    await page.goto(site.url_for("/one"))
    await page.evaluate("history.pushState(1, '', location.href)")
    navigation = await page.go_back()
    assert navigation.same_document
    assert navigation.url == site.url_for("/one")


@pytest.mark.sample(3, start=1)
@pytest.mark.parametrize("host", ["127.0.0.1", "localhost"], ids=["same process", "process of its own"])
async def test_history_of_a_frame_only(page: cdpengine.Page, site: HTTPServer, host: str) -> None:
    inner = f"http://{host}:{site.port}"
    site.expect_request("/around").respond_with_data(
        f"<iframe src='{inner}/one'></iframe><script>window.kept = true</script>", content_type="text/html"
    )
    await page.goto(site.url_for("/around"))
    await page.evaluate("void (location.href = '/two')", frame=page.frames[1])
    await page.wait_for(text="two")
    await page.evaluate("history.pushState(1, '', '/three')", frame=page.frames[1])
    back, forward = page.go_back, page.go_forward
    for go, path in ((back, "/two"), (back, "/one"), (forward, "/two"), (forward, "/three")):
        navigation = await go(timeout=20)
        assert navigation == cdpengine.Navigation(
            url=site.url_for("/around"), status=None, same_document=True
        )
        assert [frame.url for frame in page.frames[1:]] == [inner + path]
    assert await page.evaluate("window.kept") is True


async def test_frame_navigation_does_not_end_history_navigation(
    page: cdpengine.Page, site: HTTPServer
) -> None:
    busy = "<iframe src='/one'></iframe><script>let i = 0; setInterval(() => frames[0].location.replace('#' + ++i), 20)</script>"
    site.expect_request("/busy").respond_with_data(busy, content_type="text/html")
    site.expect_request("/late").respond_with_handler(_late)
    await page.goto(site.url_for("/late"))
    await page.goto(site.url_for("/busy"))
    navigation = await page.go_back()
    assert (navigation.url, navigation.same_document) == (site.url_for("/late"), False)


def _late(_request: Request) -> Response:
    time.sleep(0.3)  # the server is slow, and the old document continues meanwhile
    return Response(page_html("late"), content_type="text/html", headers={"Cache-Control": "no-store"})


async def test_frames_are_followed_over_processes(
    page: cdpengine.Page, browser: cdpengine.Browser, httpserver: HTTPServer
) -> None:
    """127.0.0.1 and localhost are two sites: the second frame has its own process and session."""
    httpserver.expect_request("/inner").respond_with_data(page_html("inner"), content_type="text/html")
    port = httpserver.port
    body = f"<iframe src='/inner'></iframe><iframe src='http://localhost:{port}/inner'></iframe>"
    httpserver.expect_request("/outer").respond_with_data(page_html("outer", body), content_type="text/html")
    await page.goto(httpserver.url_for("/outer"), wait_until="networkidle")
    main, *inner = page.frames
    assert main.url == httpserver.url_for("/outer")
    assert sorted(frame.url for frame in inner) == [
        f"http://127.0.0.1:{port}/inner",
        f"http://localhost:{port}/inner",
    ]
    assert {frame.parent_id for frame in inner} == {main.id}
    assert len({frame.session_id for frame in page.frames}) == 2
    await page.evaluate("document.querySelectorAll('iframe').forEach(f => f.remove())")
    with trio.fail_after(20):
        while len(page.frames) > 1:
            await browser.session.call("Browser.getVersion")
