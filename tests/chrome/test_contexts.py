"""Contexts with their own proxy, permissions and downloads. Nothing remains of them, however they end."""

from __future__ import annotations

import signal
import stat
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import trio
from pytest_httpserver import HTTPServer
from small_proxy import small_proxy
from werkzeug import Request, Response

import cdpengine
from cdpengine import Proxy

PAGE = """<!doctype html><title>own</title><a id=file href=/file>file</a><a id=evil href=/evil>evil</a>
<a id=tab target=_blank href=/file>tab</a><a id=slow href=/slow>slow</a>"""


@pytest.fixture
def go() -> Iterator[threading.Event]:
    event = threading.Event()
    yield event
    event.set()


@pytest.fixture
def site(httpserver: HTTPServer, go: threading.Event) -> str:
    def file(name: str) -> Response:
        return Response(b"content", headers={"Content-Disposition": f'attachment; filename="{name}"'})

    def slow(request: Request) -> Response:
        def parts() -> Iterator[bytes]:
            yield b"x" * 100_000
            go.wait(60)
            yield b"x" * 100_000

        headers = {"Content-Disposition": 'attachment; filename="slow.bin"', "Content-Length": "200000"}
        return Response(parts(), headers=headers)

    httpserver.expect_request("/").respond_with_data(PAGE, content_type="text/html")
    httpserver.expect_request("/file").respond_with_handler(lambda _request: file("file.txt"))
    httpserver.expect_request("/evil").respond_with_handler(lambda _request: file("../../evil\\..\\x.txt"))
    httpserver.expect_request("/slow").respond_with_handler(slow)
    return httpserver.url_for("/")


async def contexts(browser: cdpengine.Browser) -> list[str]:
    reply = await browser.session.call("Target.getBrowserContexts")
    return sorted(reply["browserContextIds"])


# --- proxies -------------------------------------------------------------------------------------------------


async def test_each_context_has_its_own_proxy(browser: cdpengine.Browser, site: str) -> None:
    bypass = ["*.direct.invalid", "127.0.0.1"]
    with small_proxy("one") as one, small_proxy("two") as two:
        async with (
            browser.new_context(proxy=one.url) as first,
            browser.new_context(proxy=Proxy(two.url, bypass=[*bypass, "<-loopback>"])) as second,
            browser.new_context() as third,
        ):
            assert first.proxy == Proxy(one.url)
            pages = [await context.new_page() for context in (first, second, third)]
            for page, by in zip(pages, ("one", "two"), strict=False):
                await page.goto("http://nowhere.invalid/x")
                assert await page.title() == f"by {by}"
                await page.goto(site)
                assert await page.title() == "own", "loopback requests bypass the proxy"
            await pages[1].goto(site.replace("127.0.0.1", "localhost"))
            assert await pages[1].title() == "by two", "unless requested"
            for page, url in ((pages[1], "http://a.direct.invalid/"), (pages[2], "http://nowhere.invalid/")):
                with pytest.raises(cdpengine.errors.NavigationFailedError, match="ERR_NAME_NOT_RESOLVED"):
                    await page.goto(url)
        paths = [[url for url in proxy.requested if not url.endswith("favicon.ico")] for proxy in (one, two)]
        assert paths[0] == ["http://nowhere.invalid/x"]
        assert paths[1] == ["http://nowhere.invalid/x", site.replace("127.0.0.1", "localhost")]


@pytest.mark.slow
async def test_context_proxy_with_authentication(browser: cdpengine.Browser) -> None:
    with small_proxy("guarded", "ada:hush") as proxy:
        async with browser.new_context(proxy=Proxy(proxy.url, username="ada", password="hush")) as context:
            page = await context.new_page("http://nowhere.invalid/")
            assert await page.title() == "by guarded"
            assert "hush" not in repr(context.proxy)
        async with browser.new_context(proxy=proxy.url) as context:
            page = await context.new_page()
            with pytest.raises(cdpengine.errors.NavigationFailedError):
                await page.goto("http://nowhere.invalid/")


# --- permissions ---------------------------------------------------------------------------------------------


async def state(page: cdpengine.Page, name: str = "geolocation") -> Any:
    return await page.evaluate("(name) => navigator.permissions.query({name}).then((got) => got.state)", name)


async def test_permissions_of_a_context(browser: cdpengine.Browser, site: str) -> None:
    async with browser.new_context(permissions=["geolocation"]) as context, browser.new_context() as other:
        page, apart = await context.new_page(site), await other.new_page(site)
        usual = await state(apart)
        assert (await state(page), await state(page, "camera")) == ("granted", await state(apart, "camera"))
        async with context.emulation.set_permissions(
            {"geolocation": "denied", "camera": "granted"}, origin=site
        ):
            assert (await state(page), await state(page, "camera")) == ("denied", "granted")
            async with context.emulation.set_permissions({"camera": "prompt"}):
                assert await state(page, "camera") == "granted", "settings of an origin take precedence"
            async with context.emulation.set_permissions({"camera": "prompt"}, origin=site):
                assert await state(page, "camera") == "prompt"
            assert await state(page, "camera") == "granted"
        assert (await state(page), await state(page, "camera")) == ("granted", await state(apart, "camera"))
        await context.emulation.grant_permissions("microphone", origin="https://example.com")
        assert await state(page, "microphone") == await state(apart, "microphone")
        wrong: list[tuple[Any, Any]] = [
            ({"cammera": "granted"}, None),
            ({"camera": "granted"}, "x"),
            ({}, None),
        ]
        for permissions, origin in wrong:
            with pytest.raises(cdpengine.errors.InvalidArgumentError):
                await context.emulation.set_permissions(
                    {"geolocation": "denied", **permissions} if permissions else {}, origin=origin
                )
        with pytest.raises(cdpengine.errors.InvalidArgumentError):
            await context.emulation.grant_permissions()
        assert await state(page) == "granted"
        await context.emulation.reset_permissions()
        assert await state(page) == usual
    with pytest.raises(cdpengine.errors.InvalidArgumentError):
        async with browser.new_context(permissions="camera"):
            pass


async def test_every_listed_permission_exists(browser: cdpengine.Browser) -> None:
    from cdpengine._emulation.permissions import NAMES

    async with browser.new_context() as context:
        refused = []
        for name in NAMES:
            try:
                await context.emulation.grant_permissions(name)
            except cdpengine.errors.InvalidArgumentError as error:
                refused.append(str(error))
        assert refused == []


# --- downloads -----------------------------------------------------------------------------------------------


async def click(page: cdpengine.Page, css: str) -> None:
    await page.evaluate("(css) => document.querySelector(css).click()", css)


async def test_downloads_of_context_are_saved_in_its_directory(
    browser: cdpengine.Browser, site: str, tmp_path: Path, go: threading.Event
) -> None:
    given = tmp_path / "downloads"
    async with browser.new_context(downloads=given) as context, browser.new_context() as other:
        page, apart = await context.new_page(site), await other.new_page(site)
        for number, css in enumerate(("#file", "#evil", "#tab", "#file"), 1):
            await click(page, css)
            with trio.fail_after(10):
                while len(context.downloads) < number:
                    await browser.session.call("Browser.getVersion")
            path = await context.downloads[-1].wait(timeout=10)
            assert path.parent == given.resolve()
            assert path.read_bytes() == b"content"
        names = sorted(path.name for path in given.iterdir())
        assert len(names) == 4
        assert names[-3:] == ["file (1).txt", "file (2).txt", "file.txt"]
        async with page.expect_download(timeout=10) as expected:
            await click(page, "#file")
        assert (await expected.value.wait(timeout=10)).name == "file (3).txt"
        async with page.expect_download(tmp_path / "elsewhere", timeout=10) as expected:
            await click(page, "#file")
        assert (await expected.value.wait(timeout=10)).parent.name == "elsewhere"
        await click(apart, "#file")
        with trio.fail_after(10):
            while not other.downloads or not other.downloads[-1].ended:
                await browser.session.call("Browser.getVersion")
        assert other.downloads[-1].state == "refused", "it belongs to another context"
        async with apart.expect_download(timeout=10) as expected:
            await click(apart, "#file")
        kept = await expected.value.wait(timeout=10)
        assert (kept.name, expected.value.suggested_filename) == ("file.txt", "file.txt")
        assert stat.S_IMODE(kept.parent.stat().st_mode) == 0o700
        # Progress. A cancelled download leaves nothing.
        await click(page, "#slow")
        with trio.fail_after(10):
            while not context.downloads[-1].url.endswith("/slow") or context.downloads[-1].received < 100_000:
                await browser.session.call("Browser.getVersion")
        assert context.downloads[-1].total == 200_000
        await context.downloads[-1].cancel(timeout=10)
        assert context.downloads[-1].state == "cancelled"
        assert not [path for path in given.iterdir() if "slow" in path.name or path.suffix == ".crdownload"]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["downloads", "elsewhere"]


async def test_downloads_are_allowed_for_a_block_and_end_with_their_context(
    browser: cdpengine.Browser, site: str, tmp_path: Path
) -> None:
    async with browser.new_context() as context:
        page = await context.new_page(site)
        async with context.allow_downloads(tmp_path / "a") as directory:
            assert directory == (tmp_path / "a").resolve()
            async with page.expect_download(timeout=10) as expected:
                await click(page, "#file")
            assert (await expected.value.wait(timeout=10)).parent == directory
        await click(page, "#file")
        with trio.fail_after(10):
            while len(context.downloads) < 2 or not context.downloads[-1].ended:
                await browser.session.call("Browser.getVersion")
        assert context.downloads[-1].state == "refused"
        assert await context.allow_downloads(tmp_path / "b") == (tmp_path / "b").resolve()
        async with page.expect_download(timeout=10) as expected:
            await click(page, "#slow")
        for wrong in (5, "", Path(__file__) / "below"):
            with pytest.raises(cdpengine.errors.InvalidArgumentError, match="directory"):
                await context.allow_downloads(wrong)  # type: ignore[arg-type]
    assert expected.value.ended, "it ended with its context"
    assert list((tmp_path / "b").iterdir()) == []
    before = await contexts(browser)
    (tmp_path / "file").write_text("")
    with pytest.raises(cdpengine.errors.InvalidArgumentError):
        async with browser.new_context(downloads=tmp_path / "file"):
            raise AssertionError("a context opened with invalid options")
    assert await contexts(browser) == before


# --- their end -----------------------------------------------------------------------------------------------

CLIENT = """
import sys, trio, cdpengine

async def main():
    async with cdpengine.connect(sys.argv[1]) as browser:
        async with browser.new_context(timezone="Asia/Tokyo", permissions=["camera"], downloads=sys.argv[3]) as context:
            page = await context.new_page(sys.argv[2])
            await context.storage.set_cookies([{"name": "a", "value": "b", "url": sys.argv[2]}])
            async with context.internals.origin_page():
                print("ready", context.id, page.target_id, flush=True)
                await trio.sleep_forever()

trio.run(main)
"""


def started(command: list[str]) -> subprocess.Popen[str]:
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)


async def test_a_client_that_is_killed_leaves_nothing(
    browser: cdpengine.Browser, shared_endpoint: str, site: str, tmp_path: Path
) -> None:
    before, targets = await contexts(browser), len(browser.targets)
    command = [sys.executable, "-c", CLIENT, shared_endpoint, site, str(tmp_path)]
    with started(command) as client:
        try:
            assert client.stdout is not None
            line = await trio.to_thread.run_sync(client.stdout.readline)
            _ready, context, page = line.split()
            assert context in await contexts(browser)
            assert browser.page(page) is not None
        finally:
            client.send_signal(signal.SIGKILL)
            await trio.to_thread.run_sync(client.wait)
    with trio.fail_after(20):
        while await contexts(browser) != before or browser.page(page) is not None:
            pass
        while len(browser.targets) > targets:
            await browser.session.call("Browser.getVersion")
