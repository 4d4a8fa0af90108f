"""Script and style elements that a program adds, against what the page and the server record."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest
import trio
from pytest_httpserver import HTTPServer

import cdpengine
from cdpengine.errors import EngineError, InvalidArgumentError, StaleRefError, TagNotLoadedError

POLICY = {"Content-Security-Policy": "script-src 'self'; style-src 'self'"}


@pytest.fixture
async def site(page: cdpengine.Page, serve: Callable[..., str], httpserver: HTTPServer) -> cdpengine.Page:
    url = serve("<p id=text>Text</p><iframe src=/frame></iframe>")
    httpserver.expect_request("/frame").respond_with_data("<p>Frame</p>", content_type="text/html")
    for path, body in {
        "/a.js": "window.ran = (window.ran ?? 0) + 1",
        "/thrown.js": "throw new Error('own')",
    }.items():
        httpserver.expect_request(path).respond_with_data(body, content_type="text/javascript")
    httpserver.expect_request("/m.js").respond_with_data("export const m = 4", content_type="text/javascript")
    css = "p { color: rgb(1, 2, 3) }"
    httpserver.expect_request("/a.css").respond_with_data(css, content_type="text/css")
    httpserver.expect_request("/strict").respond_with_data(
        "<p>Strict</p>", content_type="text/html", headers=POLICY
    )
    await page.goto(url)
    return page


async def test_scripts_by_url_path_and_content(site: cdpengine.Page, tmp_path: Path) -> None:
    added = await site.scripts.add_script_tag("/a.js")
    assert await site.evaluate("window.ran") == 1
    assert (await site.elements.get_attribute(added, "src")) == "/a.js"
    await site.scripts.add_script_tag(content="window.ran += 10; document.currentScript.id = 'own'")
    assert await site.evaluate("window.ran") == 11
    file = tmp_path / "own.js"
    file.write_text("window.stack = new Error().stack")
    await site.scripts.add_script_tag(path=file)
    assert "own.js" in await site.evaluate("window.stack")
    await site.scripts.add_script_tag("/m.js", type="module")
    await site.scripts.add_script_tag(content="import {m} from '/m.js'; window.module = m", type="module")
    await site.wait_for(expression="window.module === 4", timeout=5)
    await site.scripts.add_script_tag("/thrown.js")  # it loads; its own error is an error of the page


async def test_styles_by_url_path_and_content(site: cdpengine.Page, tmp_path: Path) -> None:
    text = site.locate("#text")
    link = await site.scripts.add_style_tag("/a.css")
    assert await text.computed_style("color") == "rgb(1, 2, 3)"
    assert "link" in await site.elements.outer_html(link)
    await site.scripts.add_style_tag(content="p { color: rgb(4, 5, 6) !important }")
    assert await text.computed_style("color") == "rgb(4, 5, 6)"
    file = tmp_path / "own.css"
    file.write_text("#text { font-size: 33px }")
    added = await site.scripts.add_style_tag(path=file)
    assert await text.computed_style("font-size") == "33px"
    await site.evaluate("(style) => style.remove()", added)
    assert await text.computed_style("font-size") != "33px"


@pytest.mark.parametrize(
    ("url", "reason"),
    [
        ("/missing.js", "the server answered with status 5|status 404"),
        ("http://127.0.0.1:9/a.js", "net::ERR_"),
        ("http://nothing.invalid/a.js", "net::ERR_NAME_NOT_RESOLVED"),
    ],
)
async def test_a_failure_names_its_reason(site: cdpengine.Page, url: str, reason: str) -> None:
    for add in (site.scripts.add_script_tag, site.scripts.add_style_tag):
        with pytest.raises(TagNotLoadedError, match=reason):
            await add(url)
    assert await site.evaluate("document.querySelectorAll('script, link').length") == 0


async def test_a_policy_that_refuses_is_named(site: cdpengine.Page) -> None:
    await site.goto(site.url.replace("/login", "/strict"))
    scripts = site.scripts
    await scripts.add_script_tag("/a.js")
    await scripts.add_style_tag("/a.css")
    assert await site.evaluate("window.ran") == 1
    foreign = site.url.replace("localhost", "127.0.0.1").replace("/strict", "/a.js")
    foreign = foreign if "localhost" in site.url else foreign.replace("127.0.0.1", "localhost")
    refused: list[Callable[[], Awaitable[cdpengine.FoundNode]]] = [
        lambda: scripts.add_script_tag(content="window.ran = 100"),
        lambda: scripts.add_style_tag(content="p { color: red }"),
        lambda: scripts.add_script_tag(foreign),
    ]
    for failing in refused:
        with pytest.raises(
            TagNotLoadedError, match=r"Content Security Policy refuses it \((script|style)-src-elem\)"
        ):
            await failing()
    assert await site.evaluate("window.ran") == 1


async def test_tags_in_frames(site: cdpengine.Page, serve: Callable[..., str]) -> None:
    frame = site.frames[1]
    await site.scripts.add_script_tag("/a.js", frame=frame)
    await site.scripts.add_style_tag(content="p { color: rgb(7, 7, 7) }", frame=frame)
    assert await site.evaluate("window.ran", frame=frame) == 1
    assert await site.evaluate("window.ran") is None
    assert await site.locate("p", frame=frame).computed_style("color") == "rgb(7, 7, 7)"
    far = (
        site.url.replace("localhost", "127.0.0.1")
        if "localhost" in site.url
        else site.url.replace("127.0.0.1", "localhost")
    )
    load = "(url) => new Promise(done => { const at = document.querySelector('iframe'); at.onload = done; at.src = url })"
    await site.evaluate(load, far.replace("/login", "/frame"))
    other = site.frames[1]
    assert other.session is not site.session
    added = await site.scripts.add_script_tag("/a.js", frame=other)
    assert added.frame_id == other.id
    assert await site.evaluate("window.ran", frame=other) == 1
    with pytest.raises(TagNotLoadedError, match="status"):
        await site.scripts.add_script_tag("/missing.js", frame=other)


async def test_refused_arguments_and_a_slow_server(
    site: cdpengine.Page, httpserver: HTTPServer, tmp_path: Path
) -> None:
    with pytest.raises(InvalidArgumentError, match="one of url, path and content"):
        await site.scripts.add_script_tag()
    with pytest.raises(InvalidArgumentError, match="one of url, path and content"):
        await site.scripts.add_style_tag("/a.css", content="")
    with pytest.raises(InvalidArgumentError, match="readable file"):
        await site.scripts.add_script_tag(path=tmp_path / "missing.js")
    async with site.route("*/slow.js", _never):
        with pytest.raises(EngineError):
            await site.scripts.add_script_tag("/slow.js", timeout=0.5)
    assert await site.evaluate("1") == 1
    with pytest.raises(StaleRefError, match="left its document"):  # after the script ran
        await site.scripts.add_script_tag(content="location.search = '?after'")
    assert await site.elements.inner_text(site.locate("#text")) == "Text"
    assert site.url.endswith("?after")


async def _never(route: cdpengine.Route) -> None:
    await trio.sleep(1)
    await route.abort()
