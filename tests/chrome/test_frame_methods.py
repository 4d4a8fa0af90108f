"""The methods of a frame, in frames of the page's site and of another site, against the server's own record."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

import pytest
import trio
from pytest_httpserver import HTTPServer

import cdpengine
from cdpengine.errors import (
    DeadlineExceededError,
    InvalidStateError,
    NavigationFailedError,
    NodeNotFoundError,
    TagNotLoadedError,
)

INNER = "<!doctype html><title>{0}</title><h1>{0}</h1><button onclick='this.textContent = 1'>Go</button><p id=p></p>"


@pytest.fixture
def hosts(httpserver: HTTPServer) -> tuple[str, str]:
    """The same server's origins under two sites."""
    own, other = (f"http://{host}:{httpserver.port}" for host in ("localhost", "127.0.0.1"))
    return own, other


@pytest.fixture(params=["near", "far"])
async def frame(
    page: cdpengine.Page, httpserver: HTTPServer, hosts: tuple[str, str], request: pytest.FixtureRequest
) -> cdpengine.Frame:
    own, other = hosts
    httpserver.clear()
    inner = (own if request.param == "near" else other) + "/one"
    outer = f"<title>Outer</title><h2>Outer</h2><iframe name=inner src='{inner}'></iframe><iframe src=/two></iframe>"
    httpserver.expect_request("/").respond_with_data(outer, content_type="text/html")
    for name in ("one", "two", "three"):
        html = INNER.format(name)
        httpserver.expect_request(f"/{name}").respond_with_data(html, content_type="text/html")
    httpserver.expect_request("/moved").respond_with_data("", 302, headers={"Location": "/three"})
    httpserver.expect_request("/missing").respond_with_data("<h1>none</h1>", 404, content_type="text/html")
    httpserver.expect_request("/empty").respond_with_data("", 204)
    deny = {"X-Frame-Options": "DENY"}
    httpserver.expect_request("/denied").respond_with_data("no", headers=deny, content_type="text/html")
    httpserver.expect_request("/a.js").respond_with_data("window.ran = 1", content_type="text/javascript")
    await page.goto(own + "/")
    found = next(each for each in page.frames if each.name == "inner")
    assert (found.session is not page.session) is (request.param == "far")
    return found


async def test_a_page_has_one_object_for_each_frame(page: cdpengine.Page, frame: cdpengine.Frame) -> None:
    assert page.main_frame is page.frames[0]
    assert frame is next(each for each in page.frames if each.name == "inner")
    assert frame.parent is page.main_frame
    assert page.main_frame.parent is None
    assert page.main_frame.children == page.frames[1:]
    assert frame.children == []
    assert frame.page is page
    assert "inner" in repr(frame)
    owner = await frame.frame_element()
    assert await page.elements.get_attribute(owner, "name") == "inner"
    assert await page.content_frame(owner) is frame
    assert await page.content_frame(page.locate("[name=inner]")) is frame
    with pytest.raises(InvalidStateError, match="the main frame has none"):
        await page.main_frame.frame_element()


async def test_reads_waits_and_actions_in_a_frame(page: cdpengine.Page, frame: cdpengine.Frame) -> None:
    assert await frame.title() == "one"
    assert await page.title() == "Outer"
    assert "<h1>one</h1>" in await frame.content()
    assert await frame.evaluate("document.title") == "one"
    assert (await frame.find("h1")).frame_id == frame.id
    assert [each.frame_id for each in await frame.find_all("button")] == [frame.id]
    assert (await frame.locate("button").click()).delivered
    assert await frame.locate(role="button").inner_text() == "1"
    await frame.evaluate("setTimeout(() => { p.textContent = 'late' }, 100)")
    await frame.wait_for(text="late", timeout=5)
    await frame.wait_for(
        css="h1", expression="document.title === 'one'", load_state="load", url="*/one", timeout=5
    )
    with pytest.raises(DeadlineExceededError):
        await frame.wait_for(text="Outer", timeout=0.3)
    assert 'heading "one"' in (await frame.snapshot()).text
    await frame.add_script_tag("/a.js")
    assert await frame.evaluate("window.ran") == 1
    with pytest.raises(TagNotLoadedError):
        await frame.add_style_tag("http://127.0.0.1:9/a.css")
    async with frame.evaluate_handle("document.querySelector('button')") as handle:
        assert (await page.click(handle)).delivered
    with pytest.raises(TypeError, match="no argument 'frame'"):
        await frame.evaluate("1", frame=frame)


@pytest.mark.parametrize("to", [0, 1])
async def test_goto_follows_the_frame_to_any_site(
    page: cdpengine.Page, frame: cdpengine.Frame, hosts: tuple[str, str], to: int
) -> None:
    url, outer = hosts[to] + "/two", page.url
    navigation = await frame.goto(url)
    assert (navigation.url, navigation.status, frame.url) == (url, 200, url)
    assert navigation.response is not None
    assert navigation.response.status == 200
    assert await frame.title() == "two"
    assert (await frame.locate("button").click()).delivered
    assert frame in page.frames
    assert frame.attached
    redirected = await frame.goto(hosts[to] + "/moved")
    assert redirected.url == hosts[to] + "/three"
    assert redirected.redirects == (hosts[to] + "/moved",)
    assert (await frame.goto(hosts[to] + "/missing")).status == 404
    assert (await frame.goto(frame.url + "#part")).same_document
    assert frame.url.endswith("#part")
    back = await frame.goto(hosts[1 - to] + "/one", wait_until="domcontentloaded")
    assert back.status == 200
    assert await frame.title() == "one"
    assert page.url == outer
    assert await page.title() == "Outer"


@pytest.mark.parametrize(
    ("path", "reason"),
    [
        ("/empty", "status 204|ERR_ABORTED"),
        ("/denied", "ERR_BLOCKED_BY_RESPONSE"),
        ("http://127.0.0.1:9/", "ERR_"),
    ],
)
async def test_a_failed_navigation_names_its_reason(
    page: cdpengine.Page, frame: cdpengine.Frame, hosts: tuple[str, str], path: str, reason: str
) -> None:
    url = path if path.startswith("http") else hosts[0] + path
    with pytest.raises(NavigationFailedError, match=reason):
        await frame.goto(url, timeout=10)
    assert (await frame.goto(hosts[1] + "/two")).status == 200
    assert await frame.title() == "two"


async def test_a_late_document_ends_at_the_deadline_and_the_frame_stays_usable(
    page: cdpengine.Page, frame: cdpengine.Frame, hosts: tuple[str, str], httpserver: HTTPServer
) -> None:
    async def late(route: cdpengine.Route) -> None:
        await trio.sleep(3)
        await route.continue_()

    async with page.route("*/late", late):
        started = trio.current_time()
        with pytest.raises(DeadlineExceededError):
            await frame.goto(hosts[1] + "/late", timeout=0.6)
        assert trio.current_time() - started < 1.5
        assert await page.title() == "Outer"
        with trio.move_on_after(0.3) as scope:
            await frame.goto(hosts[0] + "/late")
        assert scope.cancelled_caught
    assert (await frame.goto(hosts[0] + "/three")).status == 200
    assert await frame.title() == "three"


async def test_set_content_replaces_the_content_of_the_frame_alone(
    page: cdpengine.Page, frame: cdpengine.Frame
) -> None:
    await frame.set_content("<title>made</title><h3>Made</h3>")
    assert await frame.title() == "made"
    assert await frame.locate("h3").inner_text() == "Made"
    assert await page.locate("h2", frame=page.main_frame).inner_text() == "Outer"
    await page.main_frame.set_content("<title>new</title>")
    assert await page.title() == "new"


async def test_a_removed_frame_is_named(
    page: cdpengine.Page, frame: cdpengine.Frame, hosts: tuple[str, str]
) -> None:
    await page.evaluate("document.querySelector('[name=inner]').remove()")
    await page.wait_for(css_gone="[name=inner]", timeout=5)
    with trio.fail_after(5):
        while frame.attached:  # noqa: ASYNC110
            await trio.sleep(0.01)
    uses: list[Callable[[], Awaitable[object]]] = [
        lambda: frame.goto(hosts[0] + "/two"),
        frame.title,
        lambda: frame.evaluate("1"),
        frame.frame_element,
        lambda: frame.find("h1"),
    ]
    for use in uses:
        with pytest.raises(NodeNotFoundError):
            await use()
    assert frame.parent is None or frame.parent is page.main_frame
    assert "detached" in repr(frame)


async def test_a_frame_that_is_removed_during_goto(
    page: cdpengine.Page, frame: cdpengine.Frame, hosts: tuple[str, str]
) -> None:
    async def remove(route: cdpengine.Route) -> None:
        await page.evaluate("document.querySelector('[name=inner]').remove()")
        await route.abort()

    async with page.route("*/three", remove):
        with pytest.raises((NodeNotFoundError, NavigationFailedError)):
            await frame.goto(hosts[0] + "/three", timeout=5)


async def test_the_main_frame_has_the_same_methods(
    page: cdpengine.Page, frame: cdpengine.Frame, hosts: tuple[str, str]
) -> None:
    navigation = await page.main_frame.goto(hosts[0] + "/two")
    assert navigation.status == 200
    assert page.url == hosts[0] + "/two"
    assert await page.main_frame.title() == "two"
    assert not frame.attached
