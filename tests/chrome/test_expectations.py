"""Expected popups, dialogs and downloads; closing tabs; windows. The oracle is the browser's real state."""

from __future__ import annotations

import threading
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import pytest
import trio
import trio.testing
from pytest_httpserver import HTTPServer
from werkzeug import Request, Response

import cdpengine

pytestmark = pytest.mark.transport("pipe", "websocket")

PAGE = """<!doctype html><title>t</title>
<a id=blank target=_blank href="/there">blank</a> <a id=named target=it rel=opener href="/there">named</a>
<a id=noopener target=_blank rel=noopener href="/there">noopener</a>
<button id=open onclick="self.popup = window.open('/there?opened')">open</button>
<button id=empty onclick="self.popup = window.open('')">empty</button>
<button id=detached onclick="window.open('/there', '', 'noopener')">detached</button>
<button id=window onclick="window.open('/there', '', 'width=300,height=200')">window</button>
<button id=ask onclick="got = [confirm('Sure?'), prompt('Name?', 'Ada')]">ask</button>
<button id=prompt onclick="got = prompt('Name?', 'Ada')">prompt</button>
<button id=later onclick="setTimeout(() => got = confirm('Later?'), 50)">later</button>
<button id=close onclick="window.close()">close</button> <button id=nothing>nothing</button>
<a id=file href="/file">file</a> <a id=slow href="/slow">slow</a> <a id=broken href="/broken">broken</a>
<a id=evil href="/evil">evil</a> <a id=popupfile target=_blank href="/file">file in a popup</a>
<a id=data download="CON.txt" href="data:text/plain,hi">data</a>
<iframe srcdoc="<a id=inner href='/file'>inner</a><button id=innerask onclick='parent.got = confirm(1)'>x</button>"></iframe>"""

CONTENT = b"content " * 1000


@pytest.fixture
def go() -> Iterator[threading.Event]:
    event = threading.Event()
    yield event
    event.set()


@pytest.fixture
def site(httpserver: HTTPServer, go: threading.Event) -> str:
    def attached(name: str) -> dict[str, str]:
        return {
            "Content-Disposition": f'attachment; filename="{name}"',
            "Content-Type": "application/octet-stream",
        }

    def slowly(_request: Request) -> Response:
        def parts() -> Iterator[bytes]:
            yield b"x" * 100_000
            go.wait(20)
            yield b"y" * 100_000

        headers = attached("slow.bin") | {"Content-Length": "200000"}
        return Response(parts(), headers=headers, direct_passthrough=True)

    def broken(_request: Request) -> Response:
        def parts() -> Iterator[bytes]:
            yield b"x" * 100_000
            raise ConnectionAbortedError

        return Response(parts(), headers=attached("broken.bin") | {"Content-Length": "200000"})

    httpserver.expect_request("/").respond_with_data(PAGE, content_type="text/html")
    httpserver.expect_request("/there").respond_with_data("<title>there</title>", content_type="text/html")
    httpserver.expect_request("/file").respond_with_data(CONTENT, headers=attached("file.txt"))
    httpserver.expect_request("/evil").respond_with_data(CONTENT, headers=attached("..%2F..%2Fevil .txt."))
    httpserver.expect_request("/slow").respond_with_handler(slowly)
    httpserver.expect_request("/broken").respond_with_handler(broken)
    return httpserver.url_for("/")


@pytest.fixture
async def browser() -> AsyncIterator[cdpengine.Browser]:
    """A separate browser, because downloads and dialogs affect the whole browser."""
    async with cdpengine.launch() as browser:
        yield browser


@pytest.fixture
async def shown(browser: cdpengine.Browser, site: str) -> cdpengine.Page:
    return await browser.new_page(site)


@pytest.fixture
async def apart(shared_endpoint: str, site: str) -> AsyncIterator[cdpengine.Page]:
    """A page in its own context, for tests that must see no other page."""
    async with cdpengine.connect(shared_endpoint) as browser, browser.new_context() as context:
        yield await context.new_page(site)


async def click(page: cdpengine.Page, css: str) -> None:
    await page.click(await page.find(css), timeout=20)


async def load_two(page: cdpengine.Page) -> None:
    """Make a page load #file, and #data by script as soon as the first load has begun."""
    browser = page.browser
    before = len(browser.downloads)
    await click(page, "#file")
    with trio.fail_after(20):
        while len(browser.downloads) == before:
            await browser.session.call("Browser.getVersion")
    await page.evaluate("document.querySelector('#data').click()")


# --- pages ---------------------------------------------------------------------------------------------------


async def test_popups_of_every_kind(browser: cdpengine.Browser, shown: cdpengine.Page) -> None:
    for css in ("#blank", "#named", "#noopener", "#open", "#empty", "#detached", "#window"):
        async with shown.expect_popup(timeout=10) as expected:
            await click(shown, css)
        popup = expected.value
        assert popup.opener is shown, css
        assert shown.popups == [popup], css
        if css != "#empty":
            await popup.wait_for(url="*/there*", load_state="load", timeout=20)
            assert await popup.title() == "there"
        has_opener = css in ("#named", "#open", "#empty", "#window")
        assert await popup.evaluate("opener !== null") is has_opener, css
        await popup.close()
    assert shown.popups == []


async def test_which_page_is_expected(browser: cdpengine.Browser, shown: cdpengine.Page) -> None:
    async with browser.expect_page(url="*there*opened", timeout=20) as expected:
        await click(shown, "#blank")
        await click(shown, "#open")
        with pytest.raises(cdpengine.errors.InvalidArgumentError, match="after the block"):
            _ = expected.value
    assert expected.value.url.endswith("?opened")
    async with browser.expect_page(where=lambda page: page.opener is None, timeout=20) as other:
        made = await browser.new_page()
    assert other.value is made
    with pytest.raises(cdpengine.errors.DeadlineExceededError, match="others opened: http.*there"):
        async with browser.expect_page(url="*never*", timeout=2):
            await click(shown, "#blank")
    with pytest.raises(cdpengine.errors.DeadlineExceededError, match="no page opened"):
        async with shown.expect_popup(timeout=0.2):
            await click(shown, "#nothing")
    with pytest.raises(ZeroDivisionError):
        async with shown.expect_popup():
            raise ZeroDivisionError


async def test_a_popup_during_a_long_block_counts(apart: cdpengine.Page) -> None:
    async with apart.expect_popup(timeout=0.05) as expected:
        await click(apart, "#empty")
        await trio.sleep(0.1)
    assert expected.value.opener is apart


@pytest.mark.slow
async def test_front_and_window(browser: cdpengine.Browser, shown: cdpengine.Page) -> None:
    other = await browser.new_page()
    await shown.bring_to_front()
    before = await shown.window.bounds()
    assert before.window_id == (await other.window.bounds()).window_id
    bounds = await shown.window.set_bounds(width=700, height=500, left=20, top=30)
    assert (bounds.left, bounds.top, bounds.width, bounds.height, bounds.state) == (
        20,
        30,
        700,
        500,
        "normal",
    )
    await shown.wait_for(expression="outerWidth === 700 && outerHeight === 500", timeout=20)
    for state in ("minimized", "fullscreen", "maximized", "minimized", "normal"):
        assert (await shown.window.set_bounds(state=state)).state == state
    assert await shown.window.set_bounds(state="normal") == bounds
    await shown.window.set_bounds(state="maximized")
    assert (await shown.window.set_bounds(width=600)).width == 600
    async with shown.expect_popup(timeout=20) as expected:
        await click(shown, "#window")
    assert (await expected.value.window.bounds()).window_id != before.window_id
    wrong: list[dict[str, Any]] = [
        {},
        {"width": 0},
        {"left": 1.5},
        {"state": "large"},
        {"width": 5, "state": "maximized"},
    ]
    for arguments in wrong:
        with pytest.raises(cdpengine.errors.InvalidArgumentError):
            await shown.window.set_bounds(**arguments)


# --- dialogs -------------------------------------------------------------------------------------------------


async def test_expected_dialogs(apart: cdpengine.Page) -> None:
    cases: list[tuple[str, dict[str, Any], Any, str]] = [
        ("#prompt", {}, "Ada", "prompt"),
        ("#prompt", {"text": "Grace"}, "Grace", "prompt"),
        ("#prompt", {"accept": False}, None, "prompt"),
        ("#later", {}, True, "confirm"),
        ("#later", {"accept": False}, False, "confirm"),
        ("#innerask", {}, True, "confirm"),
    ]
    apart.dialogs.set_policy("raise")
    for css, answer, got, kind in cases:
        async with apart.expect_dialog(timeout=20, **answer) as expected:
            await click(apart, css)
        dialog = expected.value
        assert (dialog.type, dialog.accepted, dialog.answered_by) == (
            kind,
            answer.get("accept", True),
            "expectation",
        )
        await apart.wait_for(expression="typeof got !== 'undefined'", timeout=20)
        assert await apart.evaluate("got") == got, (css, answer)
        assert dialog == apart.dialogs.records[-1]


# --- downloads -----------------------------------------------------------------------------------------------


async def test_downloads_of_every_kind(
    browser: cdpengine.Browser, shown: cdpengine.Page, tmp_path: Path
) -> None:
    given = tmp_path / "a" / "b"
    cases = {
        "#file": "file.txt",
        "#inner": "file (1).txt",
        "#popupfile": "file (2).txt",
        "#evil": "_.._evil .txt",
        "#data": "_CON.txt",
    }
    for css, name in cases.items():
        async with shown.expect_download(given, timeout=10) as expected:
            await click(shown, css)
        download = expected.value
        path = await download.wait(timeout=10)
        assert path == given.resolve() / name, css
        assert path.read_bytes() == (b"hi" if css == "#data" else CONTENT)
        assert (download.state, download.failure, download.received) == ("completed", "", path.stat().st_size)
        assert await download.wait() == path
        await download.cancel()
        assert path.exists(), "a complete file remains"
    assert sorted(path.name for path in given.iterdir()) == sorted(cases.values())
    assert [path.name for path in tmp_path.iterdir()] == ["a"]


async def test_progress(apart: cdpengine.Page, tmp_path: Path, go: threading.Event) -> None:
    async with apart.expect_download(tmp_path, timeout=10) as expected:
        await click(apart, "#slow")
    seen = []
    with trio.fail_after(10):
        async for progress in expected.value.progresses():
            seen.append(progress)
            if progress.received >= 100_000:
                go.set()
    assert seen[-1] == cdpengine.pages.DownloadProgress(200_000, 200_000, "completed")
    assert [progress.received for progress in seen] == sorted(progress.received for progress in seen)
    assert (await expected.value.wait()).stat().st_size == 200_000


@pytest.mark.slow
async def test_ends_without_a_file(browser: cdpengine.Browser, shown: cdpengine.Page, tmp_path: Path) -> None:
    async with shown.expect_download(tmp_path, timeout=10) as expected:
        await click(shown, "#slow")
    with pytest.raises(cdpengine.errors.DeadlineExceededError, match="bytes received"):
        await expected.value.wait(timeout=0.1)
    await expected.value.cancel(timeout=20)
    assert expected.value.state == "cancelled"
    with pytest.raises(cdpengine.errors.DownloadFailedError, match="it was cancelled"):
        await expected.value.wait()
    async with shown.expect_download(tmp_path, timeout=10) as expected:
        await click(shown, "#broken")
    with pytest.raises(cdpengine.errors.DownloadFailedError, match="gave it up after") as caught:
        await expected.value.wait(timeout=10)
    assert caught.value.url.endswith("/broken")
    with pytest.raises(ZeroDivisionError):
        async with shown.expect_download(tmp_path):
            await click(shown, "#slow")
            with trio.fail_after(20):
                while not browser.downloads[-1].url.endswith("/slow") or browser.downloads[-1].ended:
                    await browser.session.call("Browser.getVersion")
            raise ZeroDivisionError
    assert browser.downloads[-1].state == "cancelled"
    assert list(tmp_path.iterdir()) == []


async def test_unexpected_download_is_refused(
    browser: cdpengine.Browser, shown: cdpengine.Page, tmp_path: Path, site: str
) -> None:
    async def refused(page: cdpengine.Page, number: int) -> None:
        await click(page, "#file")
        with trio.fail_after(20):
            while len(browser.downloads) < number or not browser.downloads[-1].ended:
                await browser.session.call("Browser.getVersion")
        assert browser.downloads[-1].state == "refused"
        with pytest.raises(cdpengine.errors.DownloadFailedError, match="it was not expected"):
            await browser.downloads[-1].wait()

    await refused(shown, 1)
    async with shown.expect_download(tmp_path / "one", timeout=10) as expected:
        await click(shown, "#file")
    await expected.value.wait(timeout=20)
    await refused(shown, 3)
    other = await browser.new_page(site)
    async with shown.expect_download(tmp_path / "two", timeout=10) as expected:
        await refused(other, 4)
        await load_two(shown)
    await expected.value.wait(timeout=20)
    with trio.fail_after(20):
        while len(browser.downloads) < 6 or not browser.downloads[-1].ended:
            await browser.session.call("Browser.getVersion")
    assert [download.state for download in browser.downloads[3:]] == ["refused", "completed", "refused"]
    async with browser.new_context() as context:
        apart = await context.new_page(site)
        await refused(apart, 7)
        async with apart.expect_download(tmp_path / "three", timeout=10) as expected:
            await click(apart, "#file")
        await expected.value.wait(timeout=20)
    with pytest.raises(cdpengine.errors.DeadlineExceededError, match="none began"):
        async with shown.expect_download(tmp_path, timeout=0.2):
            await click(shown, "#nothing")
    names = sorted(str(path.relative_to(tmp_path)) for path in tmp_path.rglob("*") if path.is_file())
    assert names == ["one/file.txt", "three/file.txt", "two/file.txt"]


async def test_two_downloads_expected_concurrently(apart: cdpengine.Page, tmp_path: Path) -> None:
    one, two = (apart.expect_download(tmp_path / name, timeout=10) for name in ("one", "two"))
    async with one as first, two as second:
        await load_two(apart)
    assert await first.value.wait(timeout=20) == (tmp_path / "one").resolve() / "file.txt"
    assert await second.value.wait(timeout=20) == (tmp_path / "two").resolve() / "_CON.txt"
    assert len(list(tmp_path.rglob("*.txt"))) == 2
