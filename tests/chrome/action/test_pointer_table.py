"""Pointer actions on many kinds of targets, checked against the page's record."""

from __future__ import annotations

from typing import Any

import pytest
from pointer_page import at, node, record, show
from refusals import refused

import cdpengine
from cdpengine.errors import (
    CoveredError,
    NotInteractableError,
)

pytestmark = pytest.mark.chrome

# --- where a click lands --------------------------------------------------------------------------------------

LANDS: dict[str, tuple[str, str]] = {
    "plain": ("<button id=go>Go</button>", "go"),
    "a child of it receives": ("<button id=go><b id=inner>Go</b></button>", "inner"),
    "800 px down": ("<div style='height:1200px'></div><button id=go>Go</button><div style='height:3000px'></div>", "go"),
    "to the right": ("<div style='width:5000px'><button id=go style='margin-left:4000px'>Go</button></div>", "go"),
    "page zoomed by CSS": ("<div style='zoom:2.5'><button id=go>Go</button></div>", "go"),
    "scaled and turned": (f"<button id=go style='{at(200, 200)};transform:rotate(70deg) scale(.5)'>Go</button>", "go"),
    "perspective": (f"<div style='perspective:300px'><button id=go style='{at(90, 90)};transform:rotateY(40deg)'>Go</button></div>", "go"),
    "link over lines": ("<p style='width:90px'>some text <a id=go href='#x'>and a link of many words</a> here</p>", "go"),
    "display contents": ("<div id=go style='display:contents'><i id=inner>text</i></div>", "inner"),
    "svg": ("<svg width=90 height=90><circle id=go cx=45 cy=45 r=30 /></svg>", "go"),
    "svg group": ("<svg width=90 height=90><g id=go><rect id=inner x=5 y=5 width=40 height=40 /></g></svg>", "inner"),
    "area of an image map": (
        ("<map name=m><area id=go shape=rect coords='20,20,60,60' href='#x'></map>"
        "<img usemap='#m' width=90 height=90 src='data:image/gif;base64,R0lGODlhAQABAAAAACw='>"), "go"),
    "clipped by a scroller": (
        "<div style='width:120px;height:60px;overflow:hidden'><button id=go style='width:900px;height:40px'>Go</button></div>", "go"),
    "in a scroller in a scroller": (
        ("<div style='height:100px;overflow:auto'><div style='height:700px'></div><div style='height:60px;overflow:auto'>"
        "<div style='height:400px'></div><button id=go>Go</button></div></div>"), "go"),
    "under a sticky header": (
        ("<div style='position:sticky;top:0;height:90px;background:#eee;z-index:2'>x</div><div style='height:2000px'></div>"
        "<button id=go>Go</button><div style='height:2000px'></div>"), "go"),
    "over a fixed footer": (
        ("<div style='height:1500px'></div><button id=go>Go</button><div style='height:1500px'></div>"
        "<div style='position:fixed;bottom:0;width:100%;height:150px;background:#eee'></div>"), "go"),
    "half covered": (f"<button id=go style='{at(100, 50)}'>Go</button><div style='{at(90, 45, 60, 40)};background:#ccc'></div>", "go"),
    "cover that lets events through": (f"<button id=go style='{at(9, 9)}'>Go</button><div style='{at(0, 0, 200, 99)};pointer-events:none'></div>", "go"),
    "pointer-events inside of none": ("<div style='pointer-events:none'><button id=go style='pointer-events:auto'>Go</button></div>", "go"),
    "endless animation of colour": (
        "<style>@keyframes c{to{color:red}} #go{animation:c .2s infinite}</style><button id=go>Go</button>", "go"),
    "endless spinner beside it": (
        ("<style>@keyframes r{to{transform:rotate(1turn)}} i{animation:r .3s linear infinite;display:block;width:9px}</style>"
        "<i>x</i><button id=go>Go</button>"), "go"),
    "transition that ends": (
        ("<style>#go{transition:margin .2s} #go.on{margin-left:300px}</style><button id=go>Go</button>"
        "<script>requestAnimationFrame(() => setTimeout(() => go.classList.add('on')))</script>"), "go"),
    "text of a label": ("<label id=label>Name <input type=checkbox id=go style='opacity:0;width:0;margin:0'></label>", "go"),
}  # fmt: skip


@pytest.mark.sample(5)
@pytest.mark.parametrize("name", LANDS)
async def test_where_a_click_lands(page: cdpengine.Page, name: str) -> None:
    body, receiver = LANDS[name]
    await show(page, body)
    expression = "label" if name == "text of a label" else "go"
    outcome = await page.click(await node(page, expression), timeout=20)
    clicks = await record(page, "mousedown", "mouseup", "click")
    if name == "text of a label":
        assert [entry["type"] for entry in clicks][:3] == ["mousedown", "mouseup", "click"]
        assert await page.evaluate("go.checked") is True
    else:
        assert [(entry["type"], entry["target"]) for entry in clicks] == [
            ("mousedown", receiver),
            ("mouseup", receiver),
            ("click", receiver),
        ]
        assert {entry["detail"] for entry in clicks} == {1}
    assert all(entry["trusted"] for entry in clicks)
    assert outcome.delivered is True
    assert outcome.events == ("pointerdown", "mousedown", "pointerup", "mouseup", "click")
    assert outcome.point is not None


async def test_device_scale_factor(page: cdpengine.Page) -> None:
    await page.emulation.set_viewport(600, 400, device_scale_factor=2.5)
    await show(page, f"<button id=go style='{at(100, 50)}'>Go</button>")
    await page.click(await node(page, "go"), timeout=20)
    assert [(e["target"], e["x"], e["y"]) for e in await record(page, "click")] == [("go", 140, 65)]


async def test_zoomed_by_pinching(page: cdpengine.Page) -> None:
    await show(
        page,
        f"<button id=go style='{at(500, 420)}'>Go</button><div style='height:3000px;width:2000px'></div>",
    )
    await page.session.call("Emulation.setPageScaleFactor", pageScaleFactor=2)
    outcome = await page.click(await node(page, "go"), timeout=20)
    clicks = await record(page, "click")
    assert [entry["target"] for entry in clicks] == ["go"]
    assert outcome.delivered
    assert await page.evaluate("visualViewport.scale") == 2
    await page.session.call("Emulation.setPageScaleFactor", pageScaleFactor=1)


@pytest.mark.sample(3)
@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({}, [("mousedown", 0, 1, 1), ("mouseup", 0, 0, 1), ("click", 0, 0, 1)]),
        ({"button": "middle"}, [("mousedown", 1, 4, 1), ("mouseup", 1, 0, 1), ("auxclick", 1, 0, 1)]),
        ({"button": "right"}, [("mousedown", 2, 2, 1), ("mouseup", 2, 0, 1), ("auxclick", 2, 0, 1)]),
        (
            {"count": 3},
            [
                step
                for n in (1, 2, 3)
                for step in [("mousedown", 0, 1, n), ("mouseup", 0, 0, n), ("click", 0, 0, n)]
                + ([("dblclick", 0, 0, 2)] if n == 2 else [])
            ],
        ),
        ({"delay": 0.02}, [("mousedown", 0, 1, 1), ("mouseup", 0, 0, 1), ("click", 0, 0, 1)]),
    ],
)
async def test_buttons_and_counts(
    page: cdpengine.Page, options: dict[str, Any], expected: list[tuple[Any, ...]]
) -> None:
    await show(page, "<button id=go>Go</button>")
    outcome = await page.click(await node(page, "go"), timeout=20, modifiers=["Shift"], **options)
    seen = await record(page, "mousedown", "mouseup", "click", "auxclick", "dblclick")
    assert [(e["type"], e["button"], e["buttons"], e["detail"]) for e in seen] == expected
    assert all(entry["shift"] and entry["trusted"] and entry["target"] == "go" for entry in seen)
    assert outcome.delivered


async def test_triple_click_selects_the_paragraph(page: cdpengine.Page) -> None:
    await show(page, "<p id=go>One two three</p><p>Four</p>")
    await page.click(await node(page, "go"), count=3, timeout=20)
    assert (await page.evaluate("getSelection().toString()")).strip() == "One two three"


# --- refusals and their reasons --------------------------------------------------------------------------------

REFUSED: dict[str, tuple[str, type[NotInteractableError], str]] = {
    "covered": (f"<button id=go>Go</button><div id=veil style='{at(0, 0, 900, 900)}'>Wait</div>", CoveredError, "div#veil 'Wait'"),
    "invisible": ("<button id=go style='visibility:hidden'>Go</button>", NotInteractableError, "visibility: hidden"),
    "no size": ("<div id=go style='height:0'></div>", NotInteractableError, "its size"),
    "disabled": ("<fieldset disabled><button id=go>Go</button></fieldset>", NotInteractableError, "disabled"),
    "unstable": (
        "<style>@keyframes m{to{margin-left:400px}} #go{animation:m .4s infinite alternate}</style><button id=go>Go</button>",
        NotInteractableError, "keeps moving"),
    "unstable by its ancestor": (
        ("<style>@keyframes m{to{transform:translateX(300px)}} div{animation:m .4s infinite alternate}</style>"
        "<div><button id=go>Go</button></div>"), NotInteractableError, "keeps moving"),
    "moved by its neighbour": (
        ("<style>@keyframes m{to{height:300px}} div{animation:m .4s infinite alternate;height:0}</style>"
        "<div></div><button id=go>Go</button>"), NotInteractableError, "keeps moving"),
}  # fmt: skip


@pytest.mark.sample(5)
@pytest.mark.parametrize("name", REFUSED)
async def test_refused_and_nothing_sent(page: cdpengine.Page, name: str) -> None:
    body, kind, words = REFUSED[name]
    await show(page, body)
    aim = await node(page, "go")
    caught = await refused(kind, lambda timeout: page.click(aim, timeout=timeout))
    assert words in str(caught.value)
    assert await record(page, "mousedown", "click") == []


async def test_cover_is_named_by_its_ref(page: cdpengine.Page) -> None:
    await show(page, f"<button id=go>Go</button><button id=veil style='{at(0, 0, 900, 900)}'>Wait</button>")
    veil = (await page.snapshot()).find(role="button", name="Wait")
    go = await node(page, "go")
    caught = await refused(CoveredError, lambda timeout: page.click(go, timeout=timeout))
    assert caught.value.covered_ref == veil.id
    assert veil.id in str(caught.value)


async def test_force_reports_the_receiving_element(page: cdpengine.Page) -> None:
    await show(page, f"<button id=go>Go</button><div id=veil style='{at(0, 0, 900, 900)}'>Wait</div>")
    outcome = await page.click(await node(page, "go"), force=True, timeout=20)
    assert outcome.delivered is False
    assert outcome.received_by == "div#veil 'Wait'"
    assert [entry["target"] for entry in await record(page, "click")] == ["veil"]
