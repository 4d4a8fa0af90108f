"""HTTP Archives of pages and contexts: recorded to a file, answered from it without the server, and updated."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest
import trio
from pytest_httpserver import HTTPServer
from werkzeug import Request, Response

import cdpengine
from cdpengine.errors import FileUnreadableError, InvalidArgumentError, NavigationFailedError

PAGE = """<!doctype html><title>recorded</title><link rel=icon href=data:,><link rel=stylesheet href=/style.css><img src=/dot.png>
<h1>shop</h1><script src=/app.js></script>"""
SCRIPT = """
(async () => {
  const lines = [];
  for (const body of ["one", "two"]) {
    lines.push(await (await fetch("/echo", {method: "POST", body})).text());
  }
  for (let time = 0; time < 3; time++) lines.push(await (await fetch("/count")).text());
  lines.push(await (await fetch("/moved")).text());
  lines.push((await fetch("/missing")).status);
  globalThis.lines = lines;
})();
"""
DOT = bytes.fromhex(
    "89504e470d0a1a0a0000000d4948445200000001000000010806000000"
    "1f15c4890000000d49444154789c63f8cfc0f01f000501"
    "01ff5f2a7d8d0000000049454e44ae426082"
)
LINES = ["echo one", "echo two", "1", "2", "3", "arrived", 404]
READ = "[lines, getComputedStyle(document.querySelector('h1')).color, document.title]"
EXPECTED = [LINES, "rgb(1, 2, 3)", "recorded"]


@pytest.fixture
def site(httpserver: HTTPServer) -> HTTPServer:
    counts = iter(range(1, 1000))

    def count(_request: Request) -> Response:
        return Response(str(next(counts)), headers={"Cache-Control": "no-store"})

    def echo(request: Request) -> Response:
        return Response(f"echo {request.get_data(as_text=True)}")

    def login(_request: Request) -> Response:
        response = Response("<title>in</title>", content_type="text/html")
        response.set_cookie("session", "recorded-secret-value")
        return response

    httpserver.expect_request("/").respond_with_data(PAGE, content_type="text/html")
    httpserver.expect_request("/style.css").respond_with_data(
        "h1 { color: rgb(1, 2, 3) }", content_type="text/css"
    )
    httpserver.expect_request("/dot.png").respond_with_data(DOT, content_type="image/png")
    httpserver.expect_request("/app.js").respond_with_data(SCRIPT, content_type="text/javascript")
    httpserver.expect_request("/echo").respond_with_handler(echo)
    httpserver.expect_request("/count").respond_with_handler(count)
    httpserver.expect_request("/moved").respond_with_data("", 302, {"Location": "/arrived"})
    httpserver.expect_request("/missing").respond_with_data("", status=404)
    httpserver.expect_request("/arrived").respond_with_data("arrived")
    httpserver.expect_request("/page").respond_with_data("", 301, {"Location": "/"})
    httpserver.expect_request("/popup").respond_with_data("<title>popup</title>", content_type="text/html")
    httpserver.expect_request("/login").respond_with_handler(login)
    return httpserver


def paths(archive: dict[str, Any]) -> list[str]:
    found = [
        "/" + entry["request"]["url"].partition("//")[2].partition("/")[2]
        for entry in archive["log"]["entries"]
    ]
    return [path for path in found if path != "/favicon.ico"]


async def visit(page: cdpengine.Page, url: str) -> Any:
    await page.goto(url)
    await page.wait_for(expression="globalThis.lines !== undefined", timeout=10)
    return await page.evaluate(READ)


async def record(browser: cdpengine.Browser, site: HTTPServer, file: Path, **options: Any) -> None:
    async with browser.new_context() as context, context.record_har(file, **options) as place:
        assert place == file
        page = await context.new_page()
        found = await visit(page, site.url_for("/page"))
        assert found == EXPECTED, found
        await page.close()


@pytest.mark.parametrize("name", ["site.har", "site.har.gz"])
@pytest.mark.parametrize("redacted", [False, True])
async def test_a_recorded_site_is_answered_without_its_server(
    browser: cdpengine.Browser, site: HTTPServer, tmp_path: Path, name: str, redacted: bool
) -> None:
    file = tmp_path / name
    await record(browser, site, file, redacted=redacted)
    assert file.stat().st_mode & 0o777 == 0o600
    raw = gzip.decompress(file.read_bytes()) if name.endswith("gz") else file.read_bytes()
    assert paths(json.loads(raw))[:2] == ["/page", "/"], "the file is complete although the page was closed"
    asked = len(site.log)
    async with browser.new_context() as context:
        page = await context.new_page()
        async with context.route_from_har(file) as archive:
            assert archive is not None
            assert await visit(page, site.url_for("/page")) == EXPECTED
            assert page.url == site.url_for("/")
            assert await page.evaluate("document.querySelector('img').naturalWidth") == 1
            assert (archive.used, archive.redacted) == (13, redacted)
            with pytest.raises(NavigationFailedError, match="ERR_FAILED"):
                await page.goto(site.url_for("/other"))
            assert archive.missing >= 1
            assert site.url_for("/other") in archive.missing_urls
    assert len(site.log) == asked, "nothing reached the server"


async def test_missing_responses_fall_back(
    browser: cdpengine.Browser, site: HTTPServer, tmp_path: Path
) -> None:
    file = tmp_path / "site.har"
    await record(browser, site, file, url="*/arrived")
    assert paths(json.loads(file.read_text())) == ["/arrived"]
    asked = len(site.log)

    async def answer(route: cdpengine.Route) -> None:
        await route.fulfill(body="<title>earlier route</title>", content_type="text/html")

    async with browser.new_context(base_url=site.url_for("/")) as context:
        page = await context.new_page()
        await context.route("/special", answer)
        await page.route_from_har(file, not_found="fallback")
        await page.goto("/popup")
        assert await page.title() == "popup"
        assert await page.evaluate("fetch('/arrived').then((reply) => reply.text())") == "arrived"
        await page.goto("/special")
        assert await page.title() == "earlier route"
        assert await page.network.unroute() == 1
        assert await page.evaluate("fetch('/arrived').then((reply) => reply.text())") == "arrived"
    seen = [request.path for request, _ in site.log[asked:] if request.path != "/favicon.ico"]
    assert seen == ["/popup", "/arrived"]


async def test_posted_bodies_choose_the_response(
    browser: cdpengine.Browser, site: HTTPServer, tmp_path: Path
) -> None:
    file = tmp_path / "site.har"
    await record(browser, site, file, redacted=False)
    ask = "(body) => fetch('/echo', {method: 'POST', body}).then((reply) => reply.text(), () => 'failed')"
    async with browser.new_context() as context, context.route_from_har(file):
        page = await context.new_page(site.url_for("/"))
        assert [await page.evaluate(ask, body) for body in ("two", "one", "two")] == [
            "echo two",
            "echo one",
            "echo two",
        ]
        assert await page.evaluate(ask, "three") == "failed"


async def test_update_records_the_file_anew(
    browser: cdpengine.Browser, site: HTTPServer, tmp_path: Path
) -> None:
    file = tmp_path / "site.har"
    await record(browser, site, file)
    async with browser.new_context() as context:
        page = await context.new_page()
        async with page.route_from_har(file, update=True) as archive:
            assert archive is None
            await page.goto(site.url_for("/popup"))
        assert paths(json.loads(file.read_text())) == ["/popup"]
        with pytest.raises(InvalidArgumentError, match="async with"):
            await page.route_from_har(file, update=True)


async def test_a_page_records_itself_and_its_popups_beside_other_activity(
    browser: cdpengine.Browser, site: HTTPServer, tmp_path: Path
) -> None:
    file = tmp_path / "page.har"
    async with browser.new_context() as context:
        page, other = await context.new_page(), await context.new_page()
        await page.activity.start(requests=2, console=5)
        await page.goto(site.url_for("/popup"))
        async with page.record_har(file):
            await other.goto(site.url_for("/arrived"))
            await page.goto(site.url_for("/arrived"))
            async with page.expect_popup() as popup:
                await page.evaluate("void open('/popup')")
            await popup.value.wait_for(load_state="load")
        archive = json.loads(file.read_text())
        assert paths(archive) == ["/arrived", "/popup"]
        ids = [each["id"] for each in archive["log"]["pages"]]
        assert len(ids) == len(set(ids)) >= 2
        assert {entry["pageref"] for entry in archive["log"]["entries"]} == set(ids)
        assert page.activity.requests.bound == 2, "the page's own bounds are back"
        assert page.activity.started
        assert not popup.value.activity.started or popup.value.activity.requests.bound == 2
        assert not other.activity.started


async def test_secrets_are_redacted_unless_requested(
    browser: cdpengine.Browser, site: HTTPServer, tmp_path: Path
) -> None:
    for redacted in (True, False):
        file = tmp_path / f"{redacted}.har"
        async with browser.new_context() as context:
            page = await context.new_page()
            async with page.record_har(file, redacted=redacted):
                await page.goto(site.url_for("/login"))
                await page.evaluate(
                    "fetch('/echo', {method: 'POST', body: 'password=recorded-secret-value'})"
                )
        assert ("recorded-secret-value" in file.read_text()) is not redacted
        async with browser.new_context() as context, context.route_from_har(file):
            page = await context.new_page(site.url_for("/login"))
            cookies = [cookie.value for cookie in await context.storage.cookies()]
            assert cookies == ([] if redacted else ["recorded-secret-value"])


async def test_the_file_is_written_after_an_error_and_a_cancellation(
    page: cdpengine.Page, site: HTTPServer, tmp_path: Path
) -> None:
    file = tmp_path / "error.har"
    with pytest.raises(ZeroDivisionError):
        async with page.record_har(file):
            await page.goto(site.url_for("/popup"))
            raise ZeroDivisionError
    assert paths(json.loads(file.read_text())) == ["/popup"]
    file = tmp_path / "cancelled.har"
    with trio.move_on_after(1) as scope:
        async with page.record_har(file):
            await page.goto(site.url_for("/popup"))
            await trio.sleep_forever()
    assert scope.cancelled_caught
    assert paths(json.loads(file.read_text())) == ["/popup"]
    assert not page.activity.started


async def test_existing_files_can_be_kept(page: cdpengine.Page, tmp_path: Path) -> None:
    file = tmp_path / "site.har"
    file.write_text("old")
    with pytest.raises(InvalidArgumentError):
        async with page.record_har(file, overwrite=False):
            pass
    assert file.read_text() == "old"


ENTRY = {"request": {"method": "GET", "url": "http://a.example/"}, "response": {"status": 200}}


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (None, "No such file"),
        ("", "no HTTP archive"),
        ("[]", "no HTTP archive"),
        ('{"log": {"entries": [1]}}', "entries"),
        (json.dumps({"log": {"entries": [{**ENTRY, "response": {"status": "200"}}]}}), "status"),
    ],
)
async def test_unreadable_archives_are_refused(
    page: cdpengine.Page, tmp_path: Path, content: str | None, reason: str
) -> None:
    file = tmp_path / "site.har"
    if content is not None:
        file.write_text(content)
    with pytest.raises(FileUnreadableError, match=reason):
        await page.route_from_har(file)


async def test_archives_of_other_tools(page: cdpengine.Page, site: HTTPServer, tmp_path: Path) -> None:
    """Bodies in files beside the archive, pseudo headers, missing bodies, failures, and preflights."""

    def entry(path: str, status: int = 200, host: str = "http://a.example", **content: Any) -> dict[str, Any]:
        headers = [{"name": ":status", "value": "200"}, {"name": "Content-Type", "value": "text/html"}]
        headers += [{"name": "Content-Length", "value": "9999"}, {"name": "Content-Encoding", "value": "br"}]
        headers += [{"name": "Access-Control-Allow-Origin", "value": "*"}]
        return {
            "request": {"method": "GET", "url": host + path, "headers": []},
            "response": {"status": status, "headers": headers, "content": content},
        }

    (tmp_path / "body.html").write_text("<title>attached</title>")
    (tmp_path.parent / "outside.html").write_text("<title>outside</title>")
    file = tmp_path / "site.har"
    entries = [
        entry("/", _file="body.html"),
        entry("/outside", _file="../outside.html"),
        entry("/lost", size=5),
        entry("/failed", status=0),
        entry("/data", host="http://b.example", text="data"),
        entry("/empty", status=204),
    ]
    file.write_text(json.dumps({"log": {"version": "1.2", "entries": entries}}))
    async with page.route_from_har(file):
        await page.goto("http://a.example/")
        assert await page.title() == "attached"
        ask = "(url, init) => fetch(url, init).then((reply) => reply.text(), (error) => error.name)"
        for path in ("/outside", "/lost", "/failed", "/unknown"):
            assert await page.evaluate(ask, path) == "TypeError", path
        assert await page.evaluate(ask, "/empty") == ""
        custom = {"headers": {"X-Custom": "1"}}
        assert await page.evaluate(ask, "http://b.example/data", custom) == "data", "the preflight is allowed"
