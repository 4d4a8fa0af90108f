"""Credentials for servers and proxies: right ones, wrong ones, and no credentials for other parties."""

from __future__ import annotations

import base64
from collections.abc import AsyncIterator
from functools import partial

import pytest
import trio
from network_site import Site, ask, echo
from pytest_httpserver import HTTPServer

import cdpengine


@pytest.fixture
def site(httpserver: HTTPServer) -> Site:
    return Site(httpserver)


@pytest.fixture
async def fresh_page(browser: cdpengine.Browser) -> AsyncIterator[cdpengine.Page]:
    """A page in its own context, because Chrome remembers accepted credentials."""
    async with browser.new_context() as context:
        yield await context.new_page()


async def test_credentials(fresh_page: cdpengine.Page, site: Site, caplog: pytest.LogCaptureFixture) -> None:
    page = fresh_page
    await page.goto(site.url)
    right, wrong = [200, echo("/secret/a"), None], [401, "who?", None]
    async with page.network.http_credentials("ada", "guess"):
        assert await ask(page, "/secret/a") == wrong
        warnings = [record.getMessage() for record in caplog.records if record.name == "cdpengine.network"]
        assert warnings == [f"{site.url.rstrip('/')} refused the credentials"]
        async with page.network.http_credentials("ada", "s3cret", origin=site.elsewhere.rstrip("/")):
            assert await ask(page, "/secret/a") == wrong, "they are for another origin"
        async with page.network.http_credentials("ada", "s3cret", proxy=True):
            assert await ask(page, "/secret/a") == wrong, "they are for a proxy"
        async with page.network.http_credentials("ada", "s3cret", origin=site.url.rstrip("/")):
            assert await ask(page, "/secret/a") == right
            async with page.route("*/secret/*", lambda route: route.continue_()):
                assert await ask(page, "/secret/b") == [200, echo("/secret/b"), None]
            assert (await page.goto(f"{site.url}secret/page")).status == 200
    assert "s3cret" not in caplog.text


async def test_proxy_with_authentication(browser: cdpengine.Browser, site: Site) -> None:
    """The challenge comes from the proxy, and only credentials for proxies answer it."""
    expected = base64.b64encode(b"ada:s3cret").decode()

    async def serve(stream: trio.SocketStream) -> None:
        async with stream:
            request = b""
            while b"\r\n\r\n" not in request:
                data = await stream.receive_some()
                if not data:
                    return
                request += data
            known = f"Proxy-Authorization: Basic {expected}".encode() in request
            status = "200 OK" if known else "407 Who"
            more = "" if known else 'Proxy-Authenticate: Basic realm="p"\r\n'
            if known and b"/private" in request and b"\r\nAuthorization: Basic " not in request:
                status, more, known = "401 Who", 'WWW-Authenticate: Basic realm="s"\r\n', False
            body = "through the proxy" if known else "no"
            reply = (
                f"HTTP/1.1 {status}\r\n{more}Content-Length: {len(body)}\r\nConnection: close\r\n\r\n{body}"
            )
            await stream.send_all(reply.encode())

    async with trio.open_nursery() as nursery:
        (listener,) = await nursery.start(partial(trio.serve_tcp, serve, 0, host="127.0.0.1"))
        server = f"http://127.0.0.1:{listener.socket.getsockname()[1]}"
        proxy = cdpengine.Proxy(server, bypass=["<-loopback>"])
        async with browser.new_context(proxy=proxy) as context:
            page = await context.new_page()
            async with page.network.http_credentials("ada", "s3cret"):
                assert (await page.goto(site.url)).status == 407, "those are for servers"
            async with page.network.http_credentials("ada", "s3cret", proxy=True):
                await page.goto(site.url)
                assert await page.evaluate("document.body.innerText") == "through the proxy"
        async with browser.new_context(proxy=proxy) as context:
            page = await context.new_page()
            async with (
                page.network.http_credentials("ada", "s3cret", proxy=True),
                page.network.http_credentials("ada", "other", origin="http://site.example"),
            ):
                # The proxy and the server behind it challenge the same request.
                assert (await page.goto("http://site.example/private")).status == 200
        named = cdpengine.Proxy(server, bypass=["<-loopback>"], username="ada", password="s3cret")
        async with browser.new_context(proxy=named) as context:
            page = await context.new_page(site.url)
            assert await page.evaluate("document.body.innerText") == "through the proxy"
        nursery.cancel_scope.cancel()


@pytest.mark.parametrize(("password", "status"), [("s3cret", 200), ("guess", 401)])
async def test_credentials_with_routes_in_any_order(
    fresh_page: cdpengine.Page, site: Site, password: str, status: int
) -> None:
    """The engine answers the challenge before `fetch` and response routes see the response."""
    page = fresh_page
    await page.goto(site.url)
    seen: list[int] = []

    async def fetched(route: cdpengine.Route) -> None:
        seen.append((await route.fetch()).status)
        await route.continue_()

    async def responded(route: cdpengine.Route) -> None:
        assert route.response is not None
        seen.append(route.response.status)
        await route.continue_()

    credentials = partial(page.network.http_credentials, "ada", password)
    for number, route in enumerate(
        (
            partial(page.route, "*/secret/*", fetched),
            partial(page.route, "*/secret/*", responded, stage="response"),
        )
    ):
        async with route(), credentials():
            assert (await ask(page, f"/secret/{number}"))[0] == status  # type: ignore[index]
        async with credentials(), route():
            assert (await page.goto(f"{site.url}secret/page{number}")).status == status
    assert seen == [status] * 4
