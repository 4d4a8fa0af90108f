"""Pages that hang, crash or change during an action. The engine recovers them or explains why it cannot."""

from __future__ import annotations

import pytest
import trio
from pytest_httpserver import HTTPServer

import cdpengine


@pytest.fixture
def site(httpserver: HTTPServer) -> HTTPServer:
    httpserver.expect_request("/").respond_with_data("<button>Go</button>", content_type="text/html")
    httpserver.expect_request("/loop").respond_with_data(
        "<p>loop</p><script>for (;;);</script>", content_type="text/html"
    )
    return httpserver


async def works(page: cdpengine.Page) -> None:
    assert await page.evaluate("1 + 1", timeout=10) == 2
    await page.click((await page.snapshot(timeout=10)).find(role="button"), timeout=10)


@pytest.mark.sample(3)
@pytest.mark.parametrize("host", ["127.0.0.1", "localhost"])
async def test_goto_frees_a_page_whose_script_hangs(
    page: cdpengine.Page, site: HTTPServer, host: str
) -> None:
    await page.goto(site.url_for("/"))
    with pytest.raises(cdpengine.errors.DeadlineExceededError):
        await page.goto(site.url_for("/loop"), timeout=0.5)
    url = f"http://{host}:{site.port}/"
    navigation = await page.goto(url, timeout=20)
    assert (navigation.url, navigation.status) == (url, 200)
    await works(page)


async def test_reload_frees_a_page_whose_script_hangs(page: cdpengine.Page, site: HTTPServer) -> None:
    await page.goto(site.url_for("/"))
    async with trio.open_nursery() as nursery:

        async def hang() -> None:
            with pytest.raises(cdpengine.errors.EvaluationTerminatedError):
                await page.evaluate("window.hung = true; for (;;);", timeout=60)

        nursery.start_soon(hang)
        await trio.sleep(0.1)
        assert (await page.reload(timeout=20)).status == 200
    assert await page.evaluate("window.hung") is None
    await works(page)


async def test_page_that_crashed_before_connecting(
    page: cdpengine.Page, site: HTTPServer, shared_endpoint: str
) -> None:
    with pytest.raises(cdpengine.errors.TargetCrashedError):
        await page.session.call("Page.crash")
    async with cdpengine.connect(shared_endpoint) as other:
        dead = other.page(page.target_id)
        assert dead is not None
        with pytest.raises(cdpengine.errors.TargetCrashedError, match="Reload"):
            await dead.snapshot(timeout=10)
        assert (await dead.goto(site.url_for("/"), timeout=20)).url == site.url_for("/")
        await works(dead)
        with pytest.raises(cdpengine.errors.EvaluationTimeoutError):
            await dead.evaluate("while (true) {}", timeout=0.2)
        await works(dead)


async def test_popup_is_found_by_its_final_url(
    browser: cdpengine.Browser, page: cdpengine.Page, site: HTTPServer
) -> None:
    await page.goto(site.url_for("/"))
    async with trio.open_nursery() as nursery:

        async def wait() -> None:
            popup = await browser.wait_for_page(url="*/?late", timeout=20)
            assert popup.opener is page
            await popup.close()

        nursery.start_soon(wait)
        await page.evaluate("p = open('about:blank'); setTimeout(() => p.location = '/?late', 100); 0")


async def test_thrown_errors_are_not_kept_in_the_page(page: cdpengine.Page) -> None:
    await page.evaluate("registry = []; 0")
    for _ in range(5):
        with pytest.raises(cdpengine.errors.EvaluationFailedError):
            await page.evaluate("{ const e = new Error('x'); registry.push(new WeakRef(e)); throw e; }")
    with trio.fail_after(20):
        while await page.evaluate("registry.some((ref) => ref.deref())"):
            await page.session.call("HeapProfiler.collectGarbage")


async def test_the_address_of_one_page_is_no_endpoint(page: cdpengine.Page, shared_endpoint: str) -> None:
    address = f"{shared_endpoint.replace('http', 'ws')}/devtools/page/{page.target_id}"
    with pytest.raises(cdpengine.errors.InvalidArgumentError, match="not the address of one page"):
        async with cdpengine.connect(address):
            pass
