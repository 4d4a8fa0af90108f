"""HTTP requests of the program: with the state of their context, in both directions, by the servers' logs."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest
import trio
from pytest_httpserver import HTTPServer
from raw_server import tcp_server
from small_proxy import small_proxy
from tls_site import tls_site
from werkzeug import Request, Response

import cdpengine
from cdpengine import FileContent, Proxy
from cdpengine.errors import (
    BodyUndecodableError,
    DeadlineExceededError,
    HttpRequestFailedError,
    HttpStatusError,
    InvalidArgumentError,
    PackageMissingError,
    SessionGoneError,
)
from cdpengine.network import HttpClient


@pytest.fixture
def site(httpserver: HTTPServer) -> HTTPServer:
    def echo(request: Request) -> Response:
        said = {
            "method": request.method,
            "url": request.full_path.rstrip("?"),
            "headers": {name.lower(): value for name, value in request.headers},
            "body": request.get_data(as_text=True) if not request.files else "",
            "fields": dict(request.form),
            "files": {
                name: [file.filename, file.mimetype, file.read().decode()]
                for name, file in request.files.items()
            },
        }
        return Response(json.dumps(said), content_type="application/json")

    def set_cookies(_request: Request) -> Response:
        response = Response("set")
        response.set_cookie("plain", "one")
        response.set_cookie("http", "two", httponly=True, samesite="Strict", max_age=1000)
        response.set_cookie("deep", "three", path="/echo/deep")
        response.headers.add("Set-Cookie", "foreign=x; Domain=elsewhere.example")
        response.headers.add("Set-Cookie", "secure=x; SameSite=None")
        return response

    def delete_cookies(_request: Request) -> Response:
        response = Response("deleted")
        response.delete_cookie("plain")
        return response

    def move(request: Request) -> Response:
        status = int(request.args.get("status", 302))
        response = Response("moved", status, {"Location": request.args["to"]})
        response.set_cookie("hop", "crumb")
        return response

    def guarded(request: Request) -> Response:
        allowed = request.authorization is not None and request.authorization.password == "hush"
        challenge = {"WWW-Authenticate": 'Basic realm="r"'}
        return Response("welcome") if allowed else Response("who?", 401, challenge)

    httpserver.expect_request("/").respond_with_data("<title>page</title>", content_type="text/html")
    httpserver.expect_request("/set").respond_with_handler(set_cookies)
    httpserver.expect_request("/delete").respond_with_handler(delete_cookies)
    httpserver.expect_request("/move").respond_with_handler(move)
    httpserver.expect_request("/guarded").respond_with_handler(guarded)
    httpserver.expect_request("/missing").respond_with_data("gone", status=404)
    httpserver.expect_request("/latin").respond_with_data(
        "h\u00e9".encode("latin-1"), content_type="text/plain; charset=latin-1"
    )
    for path in ("/echo", "/echo/deep"):
        httpserver.expect_request(path).respond_with_handler(echo)
    return httpserver


@pytest.fixture
def url(site: HTTPServer) -> str:
    return site.url_for("/").rstrip("/")


@pytest.fixture
def elsewhere(url: str) -> str:
    """The same server as another site."""
    return (
        url.replace("127.0.0.1", "localhost") if "127.0.0.1" in url else url.replace("localhost", "127.0.0.1")
    )


async def echoed(request: HttpClient, url: str, **options: Any) -> Any:
    return await (await request.fetch(url, **options)).json()


# --- requests and bodies -------------------------------------------------------------------------------------


@pytest.mark.parametrize("method", ["get", "post", "put", "patch", "delete"])
async def test_each_method_sends_its_request(page: cdpengine.Page, url: str, method: str) -> None:
    response = await getattr(page.request, method)(f"{url}/echo?a=1", params={"b": "x y", "c": "\u00e9"})
    said = await response.json()
    assert (said["method"], said["url"]) == (method.upper(), "/echo?a=1&b=x+y&c=%C3%A9")
    assert (response.status, response.ok, response.status_text) == (200, True, "OK")
    assert response.url == f"{url}/echo?a=1&b=x+y&c=%C3%A9"
    assert response.header("CONTENT-TYPE") == "application/json"
    assert page.request is page.context.request


async def test_head_has_no_body(page: cdpengine.Page, url: str) -> None:
    response = await page.request.head(f"{url}/missing")
    assert (response.status, response.ok, await response.body()) == (404, False, b"")


async def test_bodies(page: cdpengine.Page, url: str, tmp_path: Path) -> None:
    file = tmp_path / "notes.txt"
    file.write_text("from disk")
    post = f"{url}/echo"
    rows: list[tuple[dict[str, Any], str, str]] = [
        ({"data": b"bytes"}, "application/octet-stream", "bytes"),
        ({"data": "h\u00e9"}, "text/plain; charset=utf-8", "h\u00e9"),
        ({"json": {"a": [1, None]}}, "application/json", '{"a":[1,null]}'),
        ({"data": "{}", "headers": {"content-type": "x/y"}}, "x/y", "{}"),
    ]
    for options, kind, body in rows:
        said = await echoed(page.request, post, method="POST", **options)
        assert (said["headers"]["content-type"], said["body"]) == (kind, body)
    said = await echoed(page.request, post, method="POST", form={"a": "1 2", "b": "&"})
    assert said["fields"] == {"a": "1 2", "b": "&"}
    content = FileContent("memory.txt", b"from memory", "text/x")
    parts = {"word": "one", "raw": b"two", "file": file, "content": content}
    said = await echoed(page.request, post, method="POST", multipart=parts)
    assert said["fields"] == {"word": "one", "raw": "two"}
    assert said["files"] == {
        "file": ["notes.txt", "text/plain", "from disk"],
        "content": ["memory.txt", "text/x", "from memory"],
    }


async def test_texts_and_invalid_json(page: cdpengine.Page, url: str) -> None:
    response = await page.request.get(f"{url}/latin")
    assert await response.text() == "h\u00e9"
    assert await response.body() == b"h\xe9"
    with pytest.raises(BodyUndecodableError):
        await response.json()


@pytest.mark.parametrize(
    ("options", "named"),
    [
        ({"data": "a", "json": 1}, "data and json"),
        ({"method": "GET /"}, "method"),
        ({"headers": {"X": "a\nb"}}, "header X"),
        ({"form": {"a": 1}}, "form"),
        ({"multipart": {"a": 1}}, "multipart"),
        ({"multipart": {"a": Path("/nowhere/x")}}, "readable file"),
        ({"json": object()}, "json"),
        ({"max_redirects": -1}, "max_redirects"),
        ({"timeout": "1"}, "timeout"),
    ],
)
async def test_wrong_arguments_send_nothing(
    page: cdpengine.Page, site: HTTPServer, url: str, options: dict[str, Any], named: str
) -> None:
    with pytest.raises(InvalidArgumentError, match=named):
        await page.request.fetch(f"{url}/echo", **options)
    assert not site.log


@pytest.mark.parametrize("given", ["/echo", "data:text/plain,x", "http://", 7])
async def test_wrong_urls_are_refused(page: cdpengine.Page, given: Any) -> None:
    with pytest.raises(InvalidArgumentError, match="url"):
        await page.request.get(given)


# --- cookies -------------------------------------------------------------------------------------------------


async def test_cookies_go_both_ways(browser: cdpengine.Browser, url: str, elsewhere: str) -> None:
    async with browser.new_context() as context, browser.new_context() as other:
        page = await context.new_page(f"{url}/")
        await page.evaluate("void (document.cookie = 'ours=page')")
        said = await echoed(context.request, f"{url}/echo")
        assert said["headers"]["cookie"] == "ours=page"
        assert "cookie" not in (await echoed(context.request, f"{elsewhere}/echo"))["headers"]

        response = await context.request.get(f"{url}/set")
        assert response.header("set-cookie").count("\n") == 4  # type: ignore[union-attr]
        assert sorted((await page.evaluate("document.cookie")).split("; ")) == ["ours=page", "plain=one"]
        cookies = {cookie.name: cookie for cookie in await context.storage.cookies()}
        assert set(cookies) == {"ours", "plain", "http", "deep"}
        assert cookies["http"].http_only
        assert cookies["http"].same_site == "Strict"
        assert cookies["http"].expires is not None
        assert cookies["plain"].expires is None
        sent = json.loads(await page.evaluate("fetch('/echo').then((reply) => reply.text())"))["headers"]
        assert set(sent["cookie"].split("; ")) == {"ours=page", "plain=one", "http=two"}
        said = await echoed(context.request, f"{url}/echo/deep")
        assert said["headers"]["cookie"].startswith("deep=three; "), "longer paths come first"
        assert set(said["headers"]["cookie"].split("; ")) == {
            "deep=three",
            "ours=page",
            "plain=one",
            "http=two",
        }

        await context.request.get(f"{url}/delete")
        assert await page.evaluate("document.cookie") == "ours=page"
        said = await echoed(context.request, f"{url}/echo", headers={"Cookie": "own=1"})
        assert said["headers"]["cookie"] == "own=1"
        assert not await other.storage.cookies()
        assert "cookie" not in (await echoed(other.request, f"{url}/echo"))["headers"]


async def test_redirects_across_hosts_keep_each_hosts_cookies(
    browser: cdpengine.Browser, site: HTTPServer, url: str, elsewhere: str
) -> None:
    async with browser.new_context() as context:
        await context.storage.set_cookies(
            [{"name": "a", "value": "1", "url": url}, {"name": "b", "value": "2", "url": elsewhere}]
        )
        response = await context.request.get(
            f"{url}/move",
            params={"to": f"{elsewhere}/move?to=/echo"},
            headers={"Authorization": "Bearer secret", "X-Kept": "yes"},
        )
        assert response.url == f"{elsewhere}/echo"
        assert response.redirects == (
            f"{url}/move?to={elsewhere.replace(':', '%3A').replace('/', '%2F')}%2Fmove%3Fto%3D%2Fecho",
            f"{elsewhere}/move?to=/echo",
        )
        hops = [request for request, _ in site.log]
        assert [request.headers.get("Authorization") for request in hops] == ["Bearer secret", None, None]
        assert [request.headers.get("X-Kept") for request in hops] == ["yes"] * 3
        assert [request.headers.get("Cookie") for request in hops] == ["a=1", "b=2", "b=2; hop=crumb"]
        found = {(cookie.domain, cookie.name) for cookie in await context.storage.cookies()}
        hosts = {request.host.partition(":")[0] for request in hops}
        assert {(host, "hop") for host in hosts} <= found


@pytest.mark.parametrize(
    ("status", "method", "arrives"),
    [
        (301, "POST", "GET"),
        (302, "PUT", "PUT"),
        (303, "PUT", "GET"),
        (307, "POST", "POST"),
        (308, "POST", "POST"),
    ],
)
async def test_redirects_change_methods_like_browsers(
    page: cdpengine.Page, url: str, status: int, method: str, arrives: str
) -> None:
    said = await echoed(page.request, f"{url}/move?status={status}&to=/echo", method=method, json=[1])
    assert (said["method"], said["body"]) == (arrives, "[1]" if arrives != "GET" else "")
    assert ("content-type" in said["headers"]) is (arrives != "GET")


async def test_redirects_are_limited(page: cdpengine.Page, url: str) -> None:
    response = await page.request.get(f"{url}/move?to=/echo", max_redirects=0)
    assert (response.status, response.header("location"), response.redirects) == (302, "/echo", ())
    with pytest.raises(HttpRequestFailedError, match="more than 3 times"):
        await page.request.get(
            f"{url}/move?to=/move%3Fto%3D/move%3Fto%3D/move%3Fto%3D/move%3Fto%3D/echo", max_redirects=3
        )
    with pytest.raises(HttpRequestFailedError, match="not http"):
        await page.request.get(f"{url}/move?to=file:///etc/passwd")


# --- settings of the context ---------------------------------------------------------------------------------


async def test_settings_of_the_context_apply(browser: cdpengine.Browser, url: str) -> None:
    options: dict[str, Any] = {"base_url": f"{url}/", "user_agent": "own/1", "locale": "de-DE"}
    async with browser.new_context(**options) as context:
        async with context.network.extra_headers({"X-Extra": "one"}):
            await context.network.extra_headers({"x-extra": "two", "X-More": "more"})
            headers = (await echoed(context.request, "echo"))["headers"]
            assert headers["user-agent"] == "own/1"
            assert headers["accept-language"] == "de-DE,de;q=0.9"
            assert (headers["x-extra"], headers["x-more"]) == ("two", "more")
            headers = (await echoed(context.request, "echo", headers={"User-Agent": "x"}))["headers"]
            assert headers["user-agent"] == "x"
        await context.network.reset()
        headers = (await echoed(context.request, "echo"))["headers"]
        assert "x-extra" not in headers
    async with browser.new_context() as context:
        page = await context.new_page(f"{url}/")
        agent = await page.evaluate("navigator.userAgent")
        assert (await echoed(context.request, f"{url}/echo"))["headers"]["user-agent"] == agent


async def test_http_credentials_answer_the_server_that_they_are_for(
    browser: cdpengine.Browser, site: HTTPServer, url: str, elsewhere: str
) -> None:
    async with browser.new_context() as context:
        assert (await context.request.get(f"{url}/guarded")).status == 401
        async with context.network.http_credentials("ada", "hush", origin=url):
            assert await (await context.request.get(f"{url}/guarded")).text() == "welcome"
            assert (await context.request.get(f"{elsewhere}/guarded")).status == 401
        assert (await context.request.get(f"{url}/guarded")).status == 401
        with_user = url.replace("//", "//ada:hush@")
        response = await context.request.get(f"{with_user}/guarded")
        assert (response.status, response.url) == (200, f"{url}/guarded")


async def test_requests_use_the_proxy_of_the_context(browser: cdpengine.Browser, url: str) -> None:
    with small_proxy("one", "ada:hush") as proxy:
        for bypass, by in (
            ([], "own"),
            (["<-loopback>"], "proxy"),
            (["127.0.0.1", "localhost", "<-loopback>"], "own"),
        ):
            through = Proxy(proxy.url, bypass=bypass, username="ada", password="hush")
            async with browser.new_context(proxy=through) as context:
                text = await (await context.request.get(f"{url}/")).text()
                assert ("page" in text) is (by == "own")
                assert "by one" in await (await context.request.get("http://nowhere.invalid/x")).text()


async def test_invalid_certificates(browser: cdpengine.Browser) -> None:
    with tls_site() as server:
        server.expect_request("/").respond_with_data("secure")
        address = server.url_for("/")
        async with browser.new_context() as context:
            with pytest.raises(HttpRequestFailedError, match="certificate is not accepted"):
                await context.request.get(address)
            response = await context.request.get(address, ignore_https_errors=True)
            assert await response.text() == "secure"
        async with browser.new_context(ignore_https_errors=True) as context:
            assert (await context.request.get(address)).ok
            with pytest.raises(HttpRequestFailedError, match="certificate"):
                await context.request.get(address, ignore_https_errors=False)


async def test_digest_credentials_answer_a_server(
    browser: cdpengine.Browser, site: HTTPServer, url: str
) -> None:
    def guarded(request: Request) -> Response:
        given = request.authorization
        if given is not None and (given.type, given.parameters.get("username")) == ("digest", "ada"):
            return Response("welcome")
        return Response("who?", 401, {"WWW-Authenticate": 'Digest realm="r", nonce="n", qop="auth"'})

    site.expect_request("/digest").respond_with_handler(guarded)
    async with browser.new_context() as context:
        assert (await context.request.get(f"{url}/digest")).status == 401
        await context.network.http_credentials("ada", "hush")
        assert await (await context.request.get(f"{url}/digest")).text() == "welcome"


async def test_ipv6_literals_have_cookies_and_redirects(browser: cdpengine.Browser) -> None:
    async def answer(stream: Any) -> None:
        asked.append((await stream.receive_some()).decode())
        head = "302 Found\r\nLocation: /next\r\nSet-Cookie: a=1" if len(asked) == 1 else "200 OK"
        await stream.send_all(f"HTTP/1.1 {head}\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok".encode())

    asked: list[str] = []
    try:
        listeners = await trio.open_tcp_listeners(0, host="::1")
    except OSError:
        pytest.skip("no IPv6 on this machine")
    async with trio.open_nursery() as nursery, browser.new_context() as context:
        nursery.start_soon(trio.serve_listeners, answer, listeners)
        address = f"http://[::1]:{listeners[0].socket.getsockname()[1]}"
        response = await context.request.get(f"{address}/first")
        assert (await response.text(), response.url, response.redirects) == (
            "ok",
            f"{address}/next",
            (f"{address}/first",),
        )
        assert [each.split("\r\n")[0] for each in asked] == ["GET /first HTTP/1.1", "GET /next HTTP/1.1"]
        assert f"host: {address[7:]}" in asked[0].lower()
        assert "cookie: a=1" in asked[1].lower()
        assert [(each.name, each.domain) for each in await context.storage.cookies(address)] == [
            ("a", "[::1]")
        ]
        nursery.cancel_scope.cancel()


# --- failures ------------------------------------------------------------------------------------------------


async def test_statuses_fail_only_on_request(page: cdpengine.Page, url: str) -> None:
    assert (await page.request.get(f"{url}/missing")).status == 404
    with pytest.raises(HttpStatusError, match=r"/missing failed: the server answered 404") as raised:
        await page.request.get(f"{url}/missing", fail_on_status=True)
    assert raised.value.status == 404
    assert (await page.request.get(f"{url}/echo", fail_on_status=True)).ok


async def test_servers_that_do_not_answer(page: cdpengine.Page) -> None:
    async def close(stream: Any) -> None:
        await stream.receive_some()

    refused = r"GET http://127\.0\.0\.1:1/ failed: 127\.0\.0\.1:1 refused the connection\. Check"
    with pytest.raises(HttpRequestFailedError, match=refused):
        await page.request.get("http://127.0.0.1:1/")
    with pytest.raises(HttpRequestFailedError, match="failed"):
        await page.request.get("http://user:hush@nowhere.invalid/")
    async with tcp_server(close) as port:
        with pytest.raises(HttpRequestFailedError):
            await page.request.get(f"http://127.0.0.1:{port}/")


async def test_passwords_are_in_no_error(page: cdpengine.Page) -> None:
    with pytest.raises(HttpRequestFailedError) as raised:
        await page.request.get("http://ada:hush123@127.0.0.1:1/?token=hush456")
    assert "hush" not in str(raised.value)


async def test_a_slow_server_ends_at_the_deadline_and_by_cancellation(page: cdpengine.Page) -> None:
    left = trio.Event()

    async def wait(stream: Any) -> None:
        await stream.receive_some()
        await stream.send_all(b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabc")
        assert await stream.receive_some() == b""
        left.set()

    async with tcp_server(wait) as port:
        with pytest.raises(DeadlineExceededError, match="GET http://127"):
            await page.request.get(f"http://127.0.0.1:{port}/", timeout=0.3)
        with trio.fail_after(2):
            await left.wait()
        left = trio.Event()
        with trio.move_on_after(0.3) as scope:
            await page.request.get(f"http://127.0.0.1:{port}/")
        assert scope.cancelled_caught
        with trio.fail_after(2):
            await left.wait()


async def test_an_ended_context_sends_nothing(browser: cdpengine.Browser, site: HTTPServer, url: str) -> None:
    async with browser.new_context() as context:
        request = context.request
    with pytest.raises(SessionGoneError):
        await request.get(f"{url}/echo")
    assert not site.log


@pytest.fixture
def without_httpx(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "httpx", None)


async def test_the_missing_package_is_named(page: cdpengine.Page, url: str, without_httpx: None) -> None:
    with pytest.raises(PackageMissingError, match=r"pip install 'cdpengine\[http\]'"):
        await page.request.get(f"{url}/echo")
