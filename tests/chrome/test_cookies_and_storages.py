"""Cookies, storages, databases, caches and storage states of contexts, checked in pages and servers."""

from __future__ import annotations

import stat
import time
from pathlib import Path

import pytest
import trio
from pytest_httpserver import HTTPServer
from rounds import rounds
from werkzeug import Request, Response

import cdpengine
from cdpengine import Cookie
from cdpengine.storage import CookiePartition

LATER = float(int(time.time()) + 1_000_000)
"""Chrome keeps no cookie for more than 400 days."""

PAGE = """<!doctype html><title>t</title><script>
heard = [];
addEventListener("storage", (event) => heard.push([event.key, event.newValue]));
</script>"""

MAKE_DATABASE = """async () => {
  await new Promise((done, failed) => {
    const request = indexedDB.open("books", 3);
    request.onupgradeneeded = () => {
      request.result.createObjectStore("pages", {keyPath: "id"});
      request.result.createObjectStore("marks");
    };
    request.onsuccess = () => { self.db = request.result; self.db.onclose = () => { self.lost = true; }; done(); };
    request.onerror = () => failed(request.error);
  });
  await (await caches.open("shelf")).put("/x", new Response("y"));
}"""


@pytest.fixture
def site(httpserver: HTTPServer) -> str:
    def cookies(request: Request) -> Response:
        return Response("; ".join(sorted(f"{key}={value}" for key, value in request.cookies.items())))

    httpserver.expect_request("/").respond_with_data(PAGE, content_type="text/html")
    httpserver.expect_request("/cookies").respond_with_handler(cookies)
    return httpserver.url_for("/")


async def becomes(page: cdpengine.Page, expression: str, expected: object) -> None:
    """Wait until a page sees the value: a write through another process arrives a moment later."""
    with trio.move_on_after(20):
        while await page.evaluate(expression) != expected:
            pass
    assert await page.evaluate(expression) == expected


def origin(site: str) -> str:
    return site.rstrip("/")


async def test_cookies_are_set_got_and_deleted(browser: cdpengine.Browser, site: str) -> None:
    async with browser.new_context() as context:
        page = await context.new_page(site)
        assert page.context is context
        await context.storage.set_cookies(
            [
                {"name": "plain", "value": "1", "url": site},
                Cookie("hidden", "2", domain="127.0.0.1", http_only=True, same_site="Strict", expires=LATER),
                Cookie("below", "3", domain="127.0.0.1", path="/below"),
                Cookie("wide", "4", domain=".example.com", secure=True, same_site="None"),
                Cookie(
                    "split",
                    "5",
                    domain="example.com",
                    secure=True,
                    partition=CookiePartition("https://top.example"),
                ),
                Cookie("split", "6", domain="example.com", secure=True),
            ]
        )
        assert await page.evaluate("document.cookie") == "plain=1"
        assert await page.evaluate("fetch('/cookies').then((got) => got.text())") == "hidden=2; plain=1"
        found = await context.storage.cookies()
        assert {(cookie.name, cookie.value) for cookie in found} == {
            ("plain", "1"),
            ("hidden", "2"),
            ("below", "3"),
            ("wide", "4"),
            ("split", "5"),
            ("split", "6"),
        }
        hidden = next(cookie for cookie in found if cookie.name == "hidden")
        assert (hidden.http_only, hidden.same_site, hidden.expires) == (True, "Strict", LATER)
        assert [cookie.partition for cookie in found if cookie.value == "5"] == [
            CookiePartition("https://top.example", True)
        ]
        assert {cookie.name for cookie in await context.storage.cookies(site)} == {"plain", "hidden"}
        assert {cookie.name for cookie in await context.storage.cookies("https://sub.example.com")} == {
            "wide"
        }
        assert {cookie.value for cookie in await context.storage.cookies("https://example.com/")} == {
            "4",
            "5",
            "6",
        }

        await context.storage.set_cookies(found)  # unchanged and in order
        assert sorted(map(repr, await context.storage.cookies())) == sorted(map(repr, found))
        assert await context.storage.delete_cookies("nothing") == 0
        assert (
            await context.storage.delete_cookies("split", where=lambda cookie: cookie.partition is not None)
            == 1
        )
        assert await context.storage.delete_cookies(domain="example.com") == 2
        assert await context.storage.delete_cookies("hidden", domain="127.0.0.1", path="/") == 1
        assert {cookie.name for cookie in await context.storage.cookies()} == {"plain", "below"}
        with pytest.raises(cdpengine.errors.InvalidArgumentError):
            await context.storage.delete_cookies()
        await context.storage.clear_cookies()
        assert await context.storage.cookies() == []
        assert await page.evaluate("document.cookie") == ""


async def test_rejected_cookies_change_nothing(browser: cdpengine.Browser) -> None:
    async with browser.new_context() as context:
        there = [
            Cookie("kept", "old", domain="example.com", expires=LATER),
            Cookie("lock", "1", domain="example.com", secure=True, path="/"),
        ]
        await context.storage.set_cookies(there)
        before = set(await context.storage.cookies())
        good = Cookie("new", "1", domain="example.com")
        changed = Cookie("kept", "new", domain="example.com")
        refused = {
            "refused": Cookie("__Http-x", "1", domain="example.com"),
            "dropped": Cookie("x", "1", domain=".com"),
        }
        for cookie in refused.values():
            with pytest.raises(cdpengine.errors.EngineError) as caught:
                await context.storage.set_cookies([good, changed, cookie])
            assert isinstance(caught.value, cdpengine.errors.InvalidArgumentError), caught.value
            assert repr(cookie.name) in caught.value.given
            assert set(await context.storage.cookies()) == before
        with pytest.raises(cdpengine.errors.InvalidArgumentError, match=r"cookies\[1\]"):
            await context.storage.set_cookies([good, {"name": "a", "value": "b"}])
        assert set(await context.storage.cookies()) == before


async def test_partitioned_cookies_match_those_of_pages(
    browser: cdpengine.Browser, httpserver: HTTPServer, site: str
) -> None:
    """The cookies that a frame of another site sets are found, and a cookie set here reaches the frame."""
    async with browser.new_context() as context:
        inner = f"http://localhost:{httpserver.port}/"
        page = await context.new_page(site)
        await page.evaluate(
            "(url) => new Promise((done) => { const f = document.createElement('iframe'); f.src = url; f.onload = done;"
            " document.body.append(f); })",
            inner,
        )
        frame = next(frame for frame in page.frames if frame.url == inner)
        session = frame.session
        await session.call(
            "Runtime.evaluate",
            expression="document.cookie = 'own=1; Secure; SameSite=None; Partitioned; Path=/'",
        )
        with trio.fail_after(20):
            while not (found := await context.storage.cookies()):
                pass
        assert [(cookie.name, cookie.partition is not None) for cookie in found] == [("own", True)]
        key = found[0].partition
        await context.storage.set_cookies(
            [Cookie("ours", "2", domain="localhost", secure=True, same_site="None", partition=key)]
        )
        reply = await session.call("Runtime.evaluate", expression="document.cookie", returnByValue=True)
        assert set(reply["result"]["value"].split("; ")) == {"own=1", "ours=2"}
        assert await context.storage.delete_cookies("own") == 1
        reply = await session.call("Runtime.evaluate", expression="document.cookie", returnByValue=True)
        assert reply["result"]["value"] == "ours=2"


async def test_default_context_supports_the_same_operations(
    browser: cdpengine.Browser, new_tab: cdpengine.Page, site: str
) -> None:
    page = new_tab
    context = browser.context
    assert page.context is context
    assert page in context.pages
    name = "of-the-default-context"
    try:
        await context.storage.set_cookies([{"name": name, "value": "1", "url": site}])
        await page.goto(site)
        assert f"{name}=1" in await page.evaluate("document.cookie")
        async with browser.new_context() as other:
            assert await other.storage.cookies() == []
            assert page not in other.pages
    finally:
        assert await context.storage.delete_cookies(name) == 1
    assert context.id is None
    assert await context.internals.real_id() == page.context_id


async def test_storages_of_a_pages_documents(
    browser: cdpengine.Browser, httpserver: HTTPServer, site: str
) -> None:
    async with browser.new_context() as context:
        page = await context.new_page(site)
        await page.evaluate("localStorage.a = '1', sessionStorage.b = '2', localStorage['ü 😀'] = ''")
        assert await page.storage.local.items() == {"a": "1", "ü 😀": ""}
        assert await page.storage.session.items() == {"b": "2"}
        await page.storage.session.set({"b": "3", "c": "line\nbreak"})
        await page.storage.local.delete("a", "not there")
        assert await page.evaluate("[{...localStorage}, {...sessionStorage}]") == [
            {"ü 😀": ""},
            {"b": "3", "c": "line\nbreak"},
        ]
        await page.storage.session.clear()
        await page.storage.local.clear()
        assert await page.evaluate("localStorage.length + sessionStorage.length") == 0
        # A frame of another site has its own storage, partitioned by the top-level site.
        inner = f"http://localhost:{httpserver.port}/"
        await page.evaluate(
            "(url) => new Promise((done) => { const f = document.createElement('iframe'); f.src = url; f.onload = done;"
            " document.body.append(f); })",
            inner,
        )
        frame = next(frame for frame in page.frames if frame.url == inner)
        await page.storage.local.set({"in": "frame"}, frame=frame)
        assert await page.storage.local.items(frame=frame) == {"in": "frame"}
        assert await page.storage.local.items() == {}
        assert await context.storage.local(inner).items() == {}, "that is the storage of the top-level site"
        for wrong in ({1: "a"}, {"a": 1}, ["a"], None):
            with pytest.raises(cdpengine.errors.InvalidArgumentError, match="items"):
                await page.storage.local.set(wrong)  # type: ignore[arg-type]
        with pytest.raises(cdpengine.errors.InvalidArgumentError, match="keys"):
            await page.storage.local.delete()
        with pytest.raises(cdpengine.errors.InvalidArgumentError, match="frame"):
            await page.storage.local.items(frame="x")  # type: ignore[arg-type]
        for url in ("about:blank", "data:text/html,x"):
            await page.goto(url)
            with pytest.raises(cdpengine.errors.StorageUnavailableError):
                await page.storage.local.items()
            with pytest.raises(cdpengine.errors.StorageUnavailableError):
                await page.storage.local.set({"a": "b"})


async def test_storage_of_any_origin_and_the_page_is_not_disturbed(
    browser: cdpengine.Browser, site: str
) -> None:
    async with browser.new_context() as context:
        page = await context.new_page(site)
        pages, targets = list(browser.pages), len(browser.targets)
        here = context.storage.local(site)
        await here.set({"k": "v", "other": "w"})
        # The event comes before the read. A page that reads on its own between two changes gets no event for
        # the second one.
        await becomes(page, "heard", [["k", "v"], ["other", "w"]])
        assert await page.evaluate("({...localStorage})") == {"k": "v", "other": "w"}, "as from another tab"
        nowhere = context.storage.local("https://nowhere.invalid:8443/path")
        assert nowhere.origin == "https://nowhere.invalid:8443"
        assert await nowhere.items() == {}
        await nowhere.set({"a": "b"})
        assert await context.storage.local("https://nowhere.invalid:8443").items() == {"a": "b"}
        assert await context.storage.local("https://nowhere.invalid").items() == {}
        with pytest.raises(cdpengine.errors.StorageUnavailableError, match="the storage is full"):
            await here.set({"k": "changed", "large": "x" * 11_000_000, "z": "1"})
        assert await here.items() == {"k": "v", "other": "w"}, "all of it or nothing"
        await here.delete("k")
        await here.clear()
        await becomes(page, "localStorage.length", 0)
        assert page.url == site
        assert list(browser.pages) == pages
        with trio.fail_after(20):
            while len(browser.targets) != targets:
                await browser.session.call("Browser.getVersion")
        with pytest.raises(cdpengine.errors.InvalidArgumentError, match="origin"):
            context.storage.local("nowhere")


async def test_databases_and_caches_are_listed_and_cleared(browser: cdpengine.Browser, site: str) -> None:
    async with browser.new_context() as context, browser.new_context() as other:
        page, apart = await context.new_page(site), await other.new_page(site)
        for each in (page, apart):
            await each.evaluate(MAKE_DATABASE)
        assert await context.storage.databases(site) == [
            cdpengine.storage.Database("books", 3, ("pages", "marks"))
        ]
        assert await context.storage.caches(site) == ["shelf"]
        assert await context.storage.databases("https://example.com") == []
        await page.evaluate("localStorage.a = 1")
        await context.storage.clear(site, "indexeddb")
        assert await context.storage.databases(site) == []
        assert await context.storage.caches(site) == ["shelf"]
        with trio.fail_after(20):
            while not await page.evaluate("self.lost === true"):
                pass
        await context.storage.clear(site)
        assert await context.storage.caches(site) == []
        await becomes(page, "localStorage.length", 0)
        assert await other.storage.caches(site) == ["shelf"], "another context is unchanged"
        for wrong in ("cookies", "everything", 5):
            with pytest.raises(cdpengine.errors.InvalidArgumentError, match="kinds"):
                await context.storage.clear(site, wrong)  # type: ignore[arg-type]


async def test_the_http_cache_is_cleared(
    browser: cdpengine.Browser, httpserver: HTTPServer, site: str
) -> None:
    requested = []

    def cached(request: Request) -> Response:
        requested.append(request.path)
        return Response("x", headers={"Cache-Control": "max-age=3600"})

    httpserver.expect_request("/cached").respond_with_handler(cached)
    fetch = "fetch('/cached').then((got) => got.text())"
    async with browser.new_context() as context:
        page = await context.new_page(site)
        await page.evaluate(fetch)
        await page.evaluate(fetch)
        assert len(requested) == 1
        await context.storage.clear_http_cache()
        await page.evaluate(fetch)
        assert len(requested) == 2


async def test_storage_is_reachable_while_no_page_is_open(site: str) -> None:
    """Chrome refuses hidden targets then: the engine opens a page, which nobody sees."""
    async with cdpengine.launch() as browser:
        for page in browser.pages:
            await page.close()
        opened: list[object] = []
        with browser.internals.tabs.follow_new_pages(opened.append):
            await browser.context.storage.local(site).set({"k": "v"})
            state = await browser.context.storage.state(origins=[site])
            async with browser.new_context(storage_state=state) as context:
                assert await context.storage.local(site).items() == {"k": "v"}
        assert (browser.pages, opened) == ([], [])
        assert await (await browser.new_page(site)).evaluate("localStorage.k") == "v"


async def test_state_is_copied_between_contexts(
    browser: cdpengine.Browser, site: str, tmp_path: Path
) -> None:
    path = tmp_path / "state.json"
    async with browser.new_context() as context:
        page = await context.new_page(site)
        await page.evaluate("localStorage.token = 'one', document.cookie = 'session=two'")
        await context.storage.local("https://example.com").set({"there": "too"})
        await context.storage.set_cookies(
            [
                Cookie(
                    "split",
                    "5",
                    domain="e.com",
                    secure=True,
                    partition=CookiePartition("https://top.example"),
                )
            ]
        )
        state = await context.storage.state(path, origins=["https://example.com"])
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
        assert {each.origin: dict(each.local_storage) for each in state.origins} == {
            "https://example.com": {"there": "too"},
            origin(site): {"token": "one"},
        }
        with pytest.raises(cdpengine.errors.FileNotWrittenError, match="No such file"):
            await context.storage.state(tmp_path / "nowhere" / "state.json")
        with pytest.raises(cdpengine.errors.InvalidArgumentError):
            await context.storage.state(origins=["x"])
    for given in (path, state, str(path))[: rounds(2, 3)]:
        async with browser.new_context(storage_state=given) as context:
            page = await context.new_page(site)
            assert await page.evaluate("[localStorage.token, document.cookie]") == ["one", "session=two"]
            assert (await context.storage.state()).cookies == state.cookies
            assert await context.storage.local("https://example.com").items() == {"there": "too"}
    async with browser.new_context() as context:
        await context.storage.local(site).set({"token": "old", "mine": "stays"})
        await context.storage.restore_state(path)
        page = await context.new_page(site)
        assert await page.evaluate("({...localStorage})") == {"token": "one", "mine": "stays"}


async def test_the_cookies_of_a_page_are_those_of_its_context(
    browser: cdpengine.Browser, new_tab: cdpengine.Page
) -> None:
    async with browser.new_context() as context:
        page = await context.new_page()
        await page.storage.set_cookies([Cookie("of-page", "1", domain="page.example")])
        assert [cookie.name for cookie in await context.storage.cookies()] == ["of-page"]
        assert await new_tab.storage.cookies("http://page.example") == []
        assert await browser.context.storage.cookies("http://page.example") == []
        assert await page.storage.delete_cookies("of-page") == 1
        assert await page.storage.cookies() == []
