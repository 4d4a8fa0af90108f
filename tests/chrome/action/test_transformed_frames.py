"""Frames under CSS zoom and 3D transforms: a click scrolls to the target and arrives where it was sent."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random

import pytest
from frame_pages import settled_frames
from pytest_httpserver import HTTPServer

import cdpengine

INNER = """<!doctype html><style>html { zoom: 1.3 }</style><body style='height:2400px'><div style='height:900px'></div>
<button id=go style='margin-left:40px' onclick='top.postMessage([event.target.id, event.isTrusted], "*")'>Go</button>"""
LOG = "<script>record = []; addEventListener('message', (event) => record.push(event.data))</script>"


def frame(style: str) -> str:
    return f"<iframe src=SRC width=300 height=200 style='{style}'></iframe>"


OUTER = {
    "zoomed root": "<style>html { zoom: 2 }</style>" + frame(""),
    "zoomed body": "<style>body { zoom: .6 }</style>" + frame("border: 5px solid"),
    "zoomed frame": frame("zoom: 1.5"),
    "zoomed frame in a zoomed block": "<div style='zoom: 2'>" + frame("zoom: .7") + "</div>",
    "turned away": "<div style='perspective: 400px'>" + frame("transform: rotateY(50deg)") + "</div>",
    "tilted": frame("margin: 60px; transform: perspective(300px) rotateX(40deg) rotateZ(20deg)"),
    "zoomed and turned": "<style>html { zoom: 1.5 }</style><div style='height: 900px'></div>"
    + frame("transform: perspective(500px) rotateY(-50deg)"),
}  # fmt: skip


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost"], ids=["same process", "process of its own"])
async def test_click_arrives_in_a_transformed_frame(
    page: cdpengine.Page, httpserver: HTTPServer, host: str
) -> None:
    httpserver.expect_request("/inner").respond_with_data(INNER, content_type="text/html")
    inner = httpserver.url_for("/inner").replace("127.0.0.1", host)
    for number, (case, html) in enumerate(OUTER.items()):
        outer = f"<!doctype html><p>top</p>{html.replace('SRC', inner)}<div style='height:900px'></div>{LOG}"
        httpserver.expect_request(f"/{number}").respond_with_data(outer, content_type="text/html")
        await page.goto(httpserver.url_for(f"/{number}"))
        await settled_frames(page, 2)
        go = page.locate(css="#go")
        outcome = await page.click(go, timeout=20)
        assert outcome.delivered, case
        await page.wait_for(expression="record.length > 0", timeout=10)
        assert await page.evaluate("record") == [["go", True]], case
        await page.hover(go, timeout=20)
        box = await page.elements.bounding_box(go)
        assert box is not None
        x, y = box.x + box.width / 2, box.y + box.height / 2
        assert await page.evaluate(f"document.elementFromPoint({x}, {y}).localName") == "iframe", case


def nested(seed: int, depth: int, ports: str) -> Iterator[str]:
    """Nested documents, outermost first, each with a random zoom, rotation and offset."""
    random = Random(seed)

    def style() -> str:
        zoom, x, y = random.uniform(0.4, 2), random.randint(-50, 50), random.randint(-30, 30)
        turn = f"perspective(700px) rotateY({x}deg) rotateX({y}deg)"
        return random.choice(
            ["", f"zoom:{zoom:.2f}", f"transform:{turn}", f"zoom:{zoom:.2f};transform:rotate({x}deg)"]
        )

    for level in range(depth + 1):
        before = f"<div style='height:{random.choice([0, 30, 900])}px'></div>"
        src = f"http://{random.choice(['127.0.0.1', 'localhost'])}:{ports}/{seed}/{level + 1}"
        size = f"width={420 - 60 * level} height={330 - 50 * level}"
        content = (
            f"<iframe src='{src}' {size} style='margin:20px;border:3px solid;{style()}'></iframe>"
            if level < depth
            else "<button id=go onclick='top.postMessage(1, \"*\")'>Go</button>"
        )
        root = random.choice(["", "", f"<style>html {{ zoom: {random.uniform(0.5, 2):.2f} }}</style>"])
        yield f"<!doctype html>{root}{before}{content}<div style='height:900px'></div>{LOG}"


async def click_nested(page: cdpengine.Page, httpserver: HTTPServer, seed: int, depth: int) -> None:
    for level, html in enumerate(nested(seed, depth, str(httpserver.port))):
        httpserver.expect_request(f"/{seed}/{level}").respond_with_data(html, content_type="text/html")
    await page.goto(httpserver.url_for(f"/{seed}/0"))
    await settled_frames(page, depth + 1)
    await page.click(page.locate(css="#go"), timeout=20)
    await page.wait_for(expression="record.length > 0", timeout=10)
    assert await page.evaluate("record") == [1]


async def test_click_arrives_in_nested_transformed_frames(
    page: cdpengine.Page, httpserver: HTTPServer
) -> None:
    for seed in range(4):
        await click_nested(page, httpserver, seed, depth=2)


SCROLLED = """<!doctype html><body style='margin:0;width:900px;height:900px'>
<canvas id=go width=20 height=20 style='position:absolute;left:%dpx;top:60px'></canvas>
<script>go.onclick = (event) => top.postMessage([event.offsetX, event.offsetY], '*')</script>"""


@pytest.mark.parametrize("middle", ["127.0.0.1", "localhost"], ids=["of the page's site", "of another site"])
async def test_frame_of_another_site_with_scroll_bars(
    page: cdpengine.Page, httpserver: HTTPServer, middle: str
) -> None:
    """The box of a frame's element includes the scroll bars of its document; the document's viewport does not."""
    for path, left in (("/alone", 240), ("/inner", 220)):
        httpserver.expect_request(path).respond_with_data(SCROLLED % left, content_type="text/html")
    other = httpserver.url_for("/inner").replace("127.0.0.1", "localhost")
    between = f"<body style='margin:0;height:900px'><iframe src='{other}' style='padding:5px'></iframe>"
    httpserver.expect_request("/middle").respond_with_data(between, content_type="text/html")
    src = httpserver.url_for("/middle").replace("127.0.0.1", middle)
    outer = f"<iframe title=a src='{src}'></iframe><iframe title=b src='{other[:-5]}alone'></iframe>{LOG}"
    httpserver.expect_request("/").respond_with_data(outer, content_type="text/html")
    await page.goto(httpserver.url_for("/"))
    await settled_frames(page, 4)
    for frame, left in (
        (page.frame_locator(title="a").frame_locator("iframe"), 2 + 5 + 220),
        (page.frame_locator(title="b"), 2 + 240),
    ):
        canvas = frame.locate("#go")
        outside, inside = await frame.owner.bounding_box(), await canvas.bounding_box()
        assert outside is not None
        assert inside is not None
        assert (inside.width, inside.height) == pytest.approx((20, 20))
        assert inside.x - outside.x == pytest.approx(left)
        await page.evaluate("record = []")
        await canvas.click(position=(18, 3), timeout=20)
        await page.wait_for(expression="record.length > 0", timeout=20)
        assert await page.evaluate("record") == [[18, 3]]
