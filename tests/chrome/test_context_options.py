"""Options of a context: relative URLs, scripts, content security policies, certificates, downloads, workers."""

from __future__ import annotations

import json
import time
from typing import Any
from urllib.request import urlopen

import pytest
import trio
from pytest_httpserver import HTTPServer
from tls_site import tls_site
from werkzeug import Request, Response

import cdpengine
from cdpengine import Route

PAGE = """<!doctype html><title>plain</title><a href=/next>next</a><a href=/next target=_blank>tab</a>
<script>document.title = 'script'</script>"""
SHOP = "<!doctype html><title>shop</title><button onclick=\"location = '/cart?n=1'\">Buy</button>"
REGISTER = "navigator.serviceWorker.register('/worker.js').then(() => 'registered', (error) => error.name)"
ADD_INLINE = """() => {
    const script = document.createElement("script");
    script.textContent = "globalThis.inline = true";
    document.head.append(script);
    return globalThis.inline === true;
}"""


@pytest.fixture
def site(httpserver: HTTPServer) -> HTTPServer:
    def policy(_request: Request) -> Response:
        headers = {"Content-Security-Policy": "script-src 'none'"}
        return Response(PAGE, headers=headers, content_type="text/html")

    httpserver.expect_request("/shop/").respond_with_data(SHOP, content_type="text/html")
    httpserver.expect_request("/csp").respond_with_handler(policy)
    httpserver.expect_request("/worker.js").respond_with_data("", content_type="text/javascript")
    httpserver.expect_request("/file").respond_with_data(
        "content", headers={"Content-Disposition": 'attachment; filename="file.txt"'}
    )
    for path in ("/", "/next", "/cart", "/shop/item", "/shop/popup"):
        httpserver.expect_request(path).respond_with_data(PAGE, content_type="text/html")
    return httpserver


def requested(server: HTTPServer) -> list[str]:
    paths = [request.full_path.rstrip("?") for request, _response in server.log]
    return [path for path in paths if path != "/favicon.ico"]


# --- base URLs -----------------------------------------------------------------------------------------------


async def test_relative_urls_and_patterns_are_joined_to_the_base_url(
    browser: cdpengine.Browser, site: HTTPServer
) -> None:
    async def answer(route: Route) -> None:
        await route.fulfill(body="<title>routed</title>", content_type="text/html")

    base = site.url_for("/shop/")
    async with browser.new_context(base_url=base) as context:
        page = await context.new_page("")
        assert page.url == base
        await page.goto("item")
        assert page.url == f"{base}item"
        await page.goto("/")
        assert page.url == site.url_for("/")
        await page.goto("?a=1")
        assert page.url == f"{base}?a=1"
        async with page.expect_response("/cart?n=*") as response:
            await page.click(page.locate(role="button"))
            await page.wait_for(url="/cart*", timeout=5)
            await cdpengine.expect(page).to_have_url("/cart?n=*")
            await cdpengine.expect(page).not_.to_have_url("cart?n=*")
        assert response.value.status == 200
        async with page.expect_popup(url="popup") as popup:
            await page.evaluate("void open('/shop/popup')")
        await popup.value.goto("item")
        assert popup.value.url == f"{base}item", "popups have the base URL of their context"
        async with page.expect_worker(url="/worker.js") as worker:
            await page.evaluate("void new Worker('/worker.js')")
        assert worker.value.url == site.url_for("/worker.js")
        async with page.route("item", answer):
            await page.goto("item")
            assert await page.title() == "routed"
        await context.route("/next", answer)
        await page.goto("/next")
        assert await page.title() == "routed"
        assert await context.network.unroute("/next") == 1
        await page.goto("/next")
        assert await page.title() == "script"
    assert requested(site).count("/shop/item") == 2


async def test_globs_that_begin_with_anything_are_not_joined(
    browser: cdpengine.Browser, site: HTTPServer
) -> None:
    async with browser.new_context(base_url="http://elsewhere.invalid/") as context:
        page = await context.new_page()
        for pattern in ("*/next", site.url_for("/next"), "http*://127.0.0.1*/next"):
            await page.goto(site.url_for("/next"))
            await page.wait_for(url=pattern, timeout=5)
        with pytest.raises(cdpengine.errors.DeadlineExceededError, match=r"http://elsewhere\.invalid/next"):
            await page.wait_for(url="/next", timeout=0.2)


async def test_a_relative_url_without_a_base_url_is_refused(page: cdpengine.Page) -> None:
    with pytest.raises(cdpengine.errors.InvalidArgumentError, match="a path without a host"):
        await page.goto("/next")


@pytest.mark.parametrize(
    ("option", "value", "named"),
    [
        ("base_url", "shop", "base_url"),
        ("base_url", "data:text/html,x", "base_url"),
        ("java_script_enabled", 1, "java_script_enabled"),
        ("bypass_csp", "yes", "bypass_csp"),
        ("ignore_https_errors", None, "ignore_https_errors"),
        ("service_workers", "none", "service_workers"),
        ("accept_downloads", "here", "accept_downloads"),
    ],
)
async def test_wrong_options_are_refused(
    browser: cdpengine.Browser, option: str, value: Any, named: str
) -> None:
    with pytest.raises(cdpengine.errors.InvalidArgumentError, match=named):
        async with browser.new_context(**{option: value}):
            pass


# --- scripts and policies ------------------------------------------------------------------------------------


async def test_pages_without_scripts_can_be_read_and_operated(
    browser: cdpengine.Browser, site: HTTPServer
) -> None:
    async with browser.new_context(java_script_enabled=False, base_url=site.url_for("/")) as context:
        page = await context.new_page("/")
        assert await page.title() == "plain", "the page's script did not run"
        assert 'link "next"' in (await page.snapshot()).text
        assert await page.evaluate("1 + 1") == 2
        async with page.expect_popup() as popup:
            await page.click(page.locate(role="link", name="tab"))
        assert await popup.value.title() == "plain", "nor in a popup"
        outcome = await page.click(page.locate(role="link", name="next"))
        assert outcome.navigation is not None
        assert await page.title() == "plain"
    async with browser.new_context(base_url=site.url_for("/")) as context:
        assert await (await context.new_page("/")).title() == "script"


async def test_content_security_policies_are_bypassed(browser: cdpengine.Browser, site: HTTPServer) -> None:
    for bypass in (True, False):
        async with browser.new_context(bypass_csp=bypass) as context:
            page = await context.new_page(site.url_for("/csp"))
            assert await page.title() == ("script" if bypass else "plain")
            assert await page.evaluate(ADD_INLINE) is bypass


async def test_service_workers_are_blocked(browser: cdpengine.Browser, site: HTTPServer) -> None:
    for choice, outcome in (("block", "SecurityError"), ("allow", "registered")):
        async with browser.new_context(service_workers=choice) as context:  # type: ignore[arg-type]
            page = await context.new_page(site.url_for("/"))
            assert await page.evaluate(REGISTER) == outcome
            registrations = "navigator.serviceWorker.getRegistrations().then((all) => all.length)"
            assert await page.evaluate(registrations) == (outcome == "registered")
    assert requested(site).count("/worker.js") == 1, "a blocked worker is not requested"


# --- certificates --------------------------------------------------------------------------------------------


async def test_invalid_certificates_are_accepted_in_pages_frames_and_workers(
    browser: cdpengine.Browser,
) -> None:
    with tls_site() as server:
        url = server.url_for("/")
        elsewhere = url.replace("localhost", "127.0.0.1")
        server.expect_request("/").respond_with_data(
            f"<title>secure</title><iframe src='{elsewhere}frame'></iframe>", content_type="text/html"
        )
        server.expect_request("/frame").respond_with_data("<p>framed</p>", content_type="text/html")
        server.expect_request("/worker.js").respond_with_data(
            "fetch('/data').then((reply) => reply.text()).then(postMessage)", content_type="text/javascript"
        )
        server.expect_request("/data").respond_with_data("data")
        async with browser.new_context() as context:
            page = await context.new_page()
            with pytest.raises(cdpengine.errors.NavigationFailedError, match="ERR_CERT"):
                await page.goto(url)
        async with browser.new_context(ignore_https_errors=True) as context:
            page = await context.new_page()
            response = (await page.goto(url)).response
            assert response is not None
            assert await page.title() == "secure"
            await page.wait_for(text="framed")
            ask = "new Promise((resolve) => { new Worker('/worker.js').onmessage = (e) => resolve(e.data) })"
            assert await page.evaluate(ask) == "data"
            details = response.security_details
            assert details is not None
            assert (details.protocol, details.subject) == ("TLS 1.3", "loopback")
            assert {"127.0.0.1", "localhost"} <= set(details.names)
            assert details.issuer == details.subject
            assert details.valid_from < time.time() < details.valid_to
            assert response.remote_address == ("127.0.0.1", server.port)
        async with browser.new_context() as context:
            page = await context.new_page()
            with pytest.raises(cdpengine.errors.NavigationFailedError, match="ERR_CERT"):
                await page.goto(url)


async def test_a_response_without_encryption_has_no_security_details(
    page: cdpengine.Page, site: HTTPServer
) -> None:
    response = (await page.goto(site.url_for("/"))).response
    assert response is not None
    assert response.security_details is None


async def test_a_server_that_requires_a_client_certificate_cannot_be_reached(
    browser: cdpengine.Browser, shared_endpoint: str
) -> None:
    """No command of the protocol chooses a certificate. The docs name this limit."""
    described = await trio.to_thread.run_sync(urlopen, f"{shared_endpoint}/json/protocol")
    with described as reply:
        domains = json.loads(reply.read())["domains"]
    commands = [command for domain in domains for command in domain.get("commands", ())]
    words = [json.dumps(command).lower() for command in commands]
    assert len(words) > 500
    assert [each for each in words if "client cert" in each or "clientcert" in each] == []
    with tls_site(client_certificate=True) as server:
        server.expect_request("/").respond_with_data("secret")
        async with browser.new_context(ignore_https_errors=True) as context:
            page = await context.new_page()
            refusals = "CLIENT_AUTH|CERT|SOCKET_NOT_CONNECTED"  # the last one if the server closes first
            with pytest.raises(cdpengine.errors.NavigationFailedError, match=refusals):
                await page.goto(server.url_for("/"))


# --- downloads -----------------------------------------------------------------------------------------------


async def downloaded(context: cdpengine.BrowserContext) -> None:
    """Wait for the first download of the context."""
    with trio.fail_after(10):
        await context.internals.state.downloads.changes.wait_for(lambda: context.downloads or None)


async def test_all_downloads_are_accepted_in_a_temporary_directory(
    browser: cdpengine.Browser, site: HTTPServer
) -> None:
    async with browser.new_context(accept_downloads=True) as context:
        page = await context.new_page(site.url_for("/"))
        await page.evaluate("void (location = '/file')")
        await downloaded(context)
        path = await context.downloads[0].wait()
        assert path.read_text() == "content"
    async with browser.new_context() as context:
        page = await context.new_page(site.url_for("/"))
        await page.evaluate("void (location = '/file')")
        await downloaded(context)
        with pytest.raises(cdpengine.errors.DownloadFailedError):
            await context.downloads[0].wait()


# --- referrers -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("elsewhere", [False, True])
async def test_a_navigation_names_its_referrer(
    page: cdpengine.Page, site: HTTPServer, elsewhere: bool
) -> None:
    url = site.url_for("/")
    referer = "http://elsewhere.example/path?q=1" if elsewhere else f"{url}from?q=1"
    await page.goto(url, referer=referer)
    seen = "http://elsewhere.example/" if elsewhere else referer
    assert [request.headers.get("Referer") for request, _ in site.log if request.path == "/"] == [seen]
    assert await page.evaluate("document.referrer") == seen
    await page.goto(f"{url}next")
    assert await page.evaluate("document.referrer") == ""
    with pytest.raises(cdpengine.errors.InvalidArgumentError, match="referer"):
        await page.goto(url, referer="elsewhere")
