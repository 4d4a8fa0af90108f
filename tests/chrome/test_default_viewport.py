"""The default viewport, as page scripts see it, in every way to open a page."""

from __future__ import annotations

import struct
from typing import Any

import pytest
import trio
from command_line import run_here
from pytest_httpserver import HTTPServer

import cdpengine
from cdpengine.act import Actor, dispatch
from cdpengine.pool import BrowserPool, LaunchedBrowsers
from cdpengine.service.serving import open_service
from cdpengine.service.settings import ServiceSettings
from cdpengine.service.url_policy import UrlPolicy

PAGE = (
    "<!doctype html><meta charset=utf-8><title>t</title><script>first = [innerWidth, innerHeight]</script>"
    "<style>html {scrollbar-width: none}</style><body style='margin: 0; height: 2000px'>"
)
SIZE = "[innerWidth, innerHeight]"
DEFAULT = [1280, 720]
SEEN = """[innerWidth, innerHeight, screen.width, screen.height, devicePixelRatio,
matchMedia("(width: 1280px) and (height: 720px)").matches]"""


@pytest.fixture
def url(httpserver: HTTPServer) -> str:
    httpserver.expect_request("/").respond_with_data(PAGE, content_type="text/html")
    return httpserver.url_for("/")


async def sizes(page: cdpengine.Page) -> Any:
    """Return the sizes that the document's first script saw and that its scripts see now."""
    return await page.evaluate(f"[first, {SIZE}]")


def size_of(png: bytes) -> tuple[int, int]:
    width, height = struct.unpack(">II", png[16:24])
    return width, height


@pytest.mark.parametrize("transport", ["pipe", pytest.param("websocket", marks=pytest.mark.slow)])
async def test_a_launched_browser_s_pages_have_the_default(url: str, transport: Any) -> None:
    elsewhere = url.replace("127.0.0.1", "localhost")
    async with cdpengine.launch(transport=transport) as browser:
        assert await browser.pages[0].evaluate(SIZE) == DEFAULT
        page = await browser.new_page(url)
        assert await sizes(page) == [DEFAULT, DEFAULT]
        assert await page.evaluate(SEEN) == [*DEFAULT, *DEFAULT, 1, True]
        assert size_of(await page.screenshot()) == tuple(DEFAULT)
        assert size_of(await page.screenshot(full_page=True)) == (1280, 2000)
        assert await page.evaluate(SIZE) == DEFAULT
        await page.goto(elsewhere)
        assert await sizes(page) == [DEFAULT, DEFAULT]
        await page.go_back()
        assert await page.evaluate(SIZE) == DEFAULT
        with pytest.raises(cdpengine.errors.EngineError):
            await page.goto("chrome://crash", timeout=5)
        await page.reload()
        assert await sizes(page) == [DEFAULT, DEFAULT]
        for features, wanted in (("", DEFAULT), ("noopener", DEFAULT), ("width=320,height=240", [320, 240])):
            async with page.expect_popup(timeout=10) as expected:
                await page.evaluate(f"void window.open({url!r}, '_blank', {features!r})")
            await expected.value.wait_for(load_state="load")
            for size in await sizes(expected.value):
                assert size == pytest.approx(wanted, abs=1)
        await page.emulation.set(device="iPhone 16")
        await page.emulation.set(device=None)
        assert await page.evaluate(SIZE) == DEFAULT
        async with browser.new_context() as context:
            assert await sizes(await context.new_page(url)) == [DEFAULT, DEFAULT]
        async with browser.new_context(viewport=(600, 500)) as context:
            assert await sizes(await context.new_page(url)) == [[600, 500], [600, 500]]
            page = await context.new_page(url, viewport=(500, 400))
            assert await sizes(page) == [[500, 400], [500, 400]]
            await page.emulation.reset()
        own = await browser.new_page(url, viewport=None)
        async with browser.new_context(viewport=None) as context:
            assert await sizes(await context.new_page(url)) == await sizes(own)
        assert DEFAULT not in await sizes(own)
        for wrong in ((0, 5), (1280.0, 720), "1280x720", 5):
            with pytest.raises(cdpengine.errors.InvalidArgumentError, match="viewport"):
                await browser.new_page(viewport=wrong)  # type: ignore[arg-type]


async def test_launch_can_leave_pages_the_size_of_their_windows(url: str) -> None:
    async with cdpengine.launch(viewport=None) as browser:
        page = await browser.new_page(url)
        window = await page.session.call("Browser.getWindowForTarget")
        assert (await page.evaluate("[outerWidth, outerHeight]")) == [
            window["bounds"]["width"],
            window["bounds"]["height"],
        ]
        assert (await page.evaluate(SIZE))[0] == window["bounds"]["width"]
    with pytest.raises(cdpengine.errors.InvalidArgumentError, match="viewport"):
        async with cdpengine.launch(viewport=(0, 0)):
            pass


async def test_a_connected_engine_leaves_the_pages_of_others_as_they_are(url: str) -> None:
    async with cdpengine.launch(viewport=(900, 500), debugging_port=0) as browser:
        theirs = await browser.new_page(url)
        async with cdpengine.connect(str(browser.endpoint)) as other:
            page = other.page(theirs.target_id)
            assert page is not None
            assert await page.evaluate(SIZE) == [900, 500]
            async with page.expect_popup(timeout=10) as expected:
                await page.evaluate("void window.open(location.href)")
            assert await expected.value.evaluate(SIZE) == [900, 500]
            for _ in range(5):
                mine = await other.new_page(url)
                assert await sizes(mine) == [DEFAULT, DEFAULT]
                await mine.close()
            async with other.new_context() as context:
                assert await sizes(await context.new_page(url)) == [DEFAULT, DEFAULT]
        assert await theirs.evaluate(SIZE) == [900, 500]
        async with cdpengine.connect(str(browser.endpoint), viewport=(700, 600)) as other:
            assert await sizes(await other.new_page(url)) == [[700, 600], [700, 600]]


async def test_lasting_settings_of_closed_page_are_dropped(browser: cdpengine.Browser) -> None:
    emulations = browser.internals.emulations
    before = len(emulations._layers)
    page = await browser.new_page(viewport=(500, 400))
    async with page.expect_popup(timeout=10) as expected:
        await page.evaluate("void window.open('about:blank')")
    await page.close()
    assert await expected.value.evaluate(SIZE) == [500, 400]
    await expected.value.close()
    with trio.fail_after(10):
        while len(emulations._layers) != before:
            await trio.lowlevel.checkpoint()


async def test_browsers_of_pools_have_the_default_viewport(url: str) -> None:
    members = [LaunchedBrowsers(1, options={"viewport": (640, 480)})]
    async with BrowserPool(members, pages=2) as pool, pool.page() as page:
        assert await page.evaluate(SIZE) == [640, 480]
        actor = Actor(page.browser)
        answer = await dispatch(actor, {"kind": "newTab", "url": url})
        assert answer.ok
        assert actor.current is not None
        assert await sizes(actor.current) == [[640, 480], [640, 480]]


async def test_pages_of_service_sessions_have_the_default_viewport(url: str, shared_endpoint: str) -> None:
    for viewport, wanted in (((640, 480), [640, 480]), (None, None)):
        settings = ServiceSettings(
            token="x" * 32,
            endpoint=shared_endpoint,
            viewport=viewport,
            url_policy=UrlPolicy(allow_private=True),
        )
        async with open_service(settings) as service:
            assert (await service.perform("a", {"kind": "navigate", "url": url})).ok
            seen = (await service.perform("a", {"kind": "evaluate", "function": f"[first, {SIZE}]"})).result
            assert seen == ([wanted, wanted] if wanted else [seen[0], seen[0]])
            assert DEFAULT not in seen
    with pytest.raises(cdpengine.errors.InvalidArgumentError, match="viewport"):
        ServiceSettings(token="x" * 32, viewport=(0, 1))


def test_commands_take_it(url: str, shared_endpoint: str) -> None:
    told = "data:text/html,<body><script>document.write(innerWidth + 'by' + innerHeight)</script>"
    for options, wanted in (([], "1280by720"), (["--viewport", "400x300"], "400by300")):
        done = run_here("text", told, *options, "--endpoint", shared_endpoint)
        assert (done.returncode, done.stdout) == (0, f"{wanted}\n"), done.stderr
    done = run_here("text", told, "--viewport", "none", "--endpoint", shared_endpoint)
    assert done.returncode == 0
    assert "1280by720" not in done.stdout
    done = run_here("text", told, "--viewport", "4x", "--endpoint", shared_endpoint)
    assert done.returncode == 2
    assert "such as 1280x720" in done.stderr
