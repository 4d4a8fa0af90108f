"""Pointer actions on many kinds of targets: what the page itself recorded of them."""

from __future__ import annotations

from typing import Any

import pytest
import trio
from pytest_httpserver import HTTPServer

import cdpengine
from cdpengine.action.geometry import Point
from cdpengine.errors import (
    Covered,
    Disabled,
    InvalidArgument,
    Invisible,
    NotDelivered,
    NotInteractable,
    StaleRef,
    Unstable,
)

pytestmark = pytest.mark.chrome

RECORDER = """<script>
  record = [];
  const names = "pointerdown mousedown pointerup mouseup click auxclick dblclick contextmenu mousemove wheel " +
    "touchstart touchend dragstart dragover drop dragend input change";
  for (const name of names.split(" ")) addEventListener(name, (event) => {
    const inner = event.composedPath()[0];
    record.push({ type: event.type, target: inner.id || inner.localName || "document", trusted: event.isTrusted,
      x: event.clientX, y: event.clientY, button: event.button, buttons: event.buttons, detail: event.detail,
      shift: event.shiftKey, pointer: event.pointerType, deltaX: event.deltaX, deltaY: event.deltaY,
      data: event.dataTransfer ? event.dataTransfer.getData("text/plain") : "" });
  }, true);
</script>"""


async def show(page: cdpengine.Page, body: str, *, head: str = "") -> None:
    await page.set_content(f"<!doctype html>{head}{RECORDER}<body style='margin:0'>{body}</body>")


async def node(page: cdpengine.Page, expression: str) -> cdpengine.BackendNode:
    found = await page.session.call("Runtime.evaluate", expression=expression)
    assert "objectId" in found["result"], found
    described = await page.session.call("DOM.describeNode", objectId=found["result"]["objectId"])
    return cdpengine.BackendNode(described["node"]["backendNodeId"])


async def record(page: cdpengine.Page, *types: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = await page.evaluate("record")
    return [entry for entry in found if not types or entry["type"] in types]


def at(left: int, top: int, width: int = 80, height: int = 30) -> str:
    return f"position:absolute;left:{left}px;top:{top}px;width:{width}px;height:{height}px"


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


@pytest.mark.parametrize("name", LANDS)
async def test_where_a_click_lands(page: cdpengine.Page, name: str) -> None:
    body, receiver = LANDS[name]
    await show(page, body)
    expression = "label" if name == "text of a label" else "go"
    outcome = await page.click(await node(page, expression), timeout=5)
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
    await page.set_viewport(600, 400, device_scale_factor=2.5)
    await show(page, f"<button id=go style='{at(100, 50)}'>Go</button>")
    await page.click(await node(page, "go"), timeout=5)
    assert [(e["target"], e["x"], e["y"]) for e in await record(page, "click")] == [("go", 140, 65)]


async def test_zoomed_by_pinching(page: cdpengine.Page) -> None:
    await show(
        page,
        f"<button id=go style='{at(500, 420)}'>Go</button><div style='height:3000px;width:2000px'></div>",
    )
    await page.session.call("Emulation.setPageScaleFactor", pageScaleFactor=2)
    outcome = await page.click(await node(page, "go"), timeout=5)
    clicks = await record(page, "click")
    assert [entry["target"] for entry in clicks] == ["go"]
    assert outcome.delivered
    assert await page.evaluate("visualViewport.scale") == 2
    await page.session.call("Emulation.setPageScaleFactor", pageScaleFactor=1)


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
    outcome = await page.click(await node(page, "go"), timeout=5, modifiers=["Shift"], **options)
    seen = await record(page, "mousedown", "mouseup", "click", "auxclick", "dblclick")
    assert [(e["type"], e["button"], e["buttons"], e["detail"]) for e in seen] == expected
    assert all(entry["shift"] and entry["trusted"] and entry["target"] == "go" for entry in seen)
    assert outcome.delivered


async def test_triple_click_selects_the_paragraph(page: cdpengine.Page) -> None:
    await show(page, "<p id=go>One two three</p><p>Four</p>")
    await page.triple_click(await node(page, "go"), timeout=5)
    assert (await page.evaluate("getSelection().toString()")).strip() == "One two three"


# --- refusals, and what is said of them ------------------------------------------------------------------------

REFUSED: dict[str, tuple[str, type[NotInteractable], str]] = {
    "covered": (f"<button id=go>Go</button><div id=veil style='{at(0, 0, 900, 900)}'>Wait</div>", Covered, "div#veil 'Wait'"),
    "invisible": ("<button id=go style='visibility:hidden'>Go</button>", Invisible, "visibility: hidden"),
    "no size": ("<div id=go style='height:0'></div>", Invisible, "its size"),
    "disabled": ("<fieldset disabled><button id=go>Go</button></fieldset>", Disabled, "disabled"),
    "unstable": (
        "<style>@keyframes m{to{margin-left:400px}} #go{animation:m .4s infinite alternate}</style><button id=go>Go</button>",
        Unstable, "keeps moving"),
    "unstable by its ancestor": (
        ("<style>@keyframes m{to{transform:translateX(300px)}} div{animation:m .4s infinite alternate}</style>"
        "<div><button id=go>Go</button></div>"), Unstable, "keeps moving"),
    "moved by its neighbour": (
        ("<style>@keyframes m{to{height:300px}} div{animation:m .4s infinite alternate;height:0}</style>"
        "<div></div><button id=go>Go</button>"), Unstable, "keeps moving"),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
async def test_refused_and_nothing_sent(page: cdpengine.Page, name: str) -> None:
    body, kind, words = REFUSED[name]
    await show(page, body)
    with pytest.raises(kind) as caught:
        await page.click(await node(page, "go"), timeout=0.6)
    assert words in str(caught.value)
    assert await record(page, "mousedown", "click") == []


async def test_cover_is_named_by_its_ref(page: cdpengine.Page) -> None:
    await show(page, f"<button id=go>Go</button><button id=veil style='{at(0, 0, 900, 900)}'>Wait</button>")
    veil = (await page.snapshot()).find(role="button", name="Wait")
    with pytest.raises(Covered) as caught:
        await page.click(await node(page, "go"), timeout=0.6)
    assert caught.value.covered_ref == veil.id
    assert veil.id in str(caught.value)


async def test_force_says_what_received_it(page: cdpengine.Page) -> None:
    await show(page, f"<button id=go>Go</button><div id=veil style='{at(0, 0, 900, 900)}'>Wait</div>")
    outcome = await page.click(await node(page, "go"), force=True, timeout=5)
    assert outcome.delivered is False
    assert outcome.received_by == "div#veil 'Wait'"
    assert [entry["target"] for entry in await record(page, "click")] == ["veil"]


# --- delivery -------------------------------------------------------------------------------------------------


async def test_a_cover_that_comes_with_the_pointer_is_not_clicked(page: cdpengine.Page) -> None:
    """What comes in the way between the check and the press gets none of it."""
    await show(
        page,
        f"<button id=go>Go</button><div id=veil hidden style='{at(0, 0, 900, 900)}'></div>"
        "<script>go.onmousemove = () => { veil.hidden = false }</script>",
    )
    with pytest.raises(NotDelivered) as caught:
        await page.click(await node(page, "go"), timeout=5)
    assert caught.value.held_back
    assert caught.value.received_by == "div#veil"
    # The recorder listens in the window too, and longer: it sees the press before it is held back, the veil does not.
    assert await page.evaluate("veil.matches(':active')") is False
    assert await page.evaluate("document.activeElement === document.body") is True


@pytest.mark.parametrize(
    ("handler", "events"),
    [
        ("go.onmousedown = () => go.remove()", ("pointerdown", "mousedown")),
        ("go.onpointerdown = () => go.remove()", ("pointerdown",)),
        ("go.onmousedown = (event) => { event.stopPropagation(); go.hidden = true }", ("pointerdown", "mousedown")),
        ("go.onmousedown = (event) => event.preventDefault()", ("pointerdown", "mousedown", "pointerup", "mouseup", "click")),
    ],
)  # fmt: skip
async def test_a_press_that_the_page_acts_on_is_delivered(
    page: cdpengine.Page, handler: str, events: tuple[str, ...]
) -> None:
    await show(page, f"<button id=go>Go</button><div id=under>under</div><script>{handler}</script>")
    outcome = await page.click(await node(page, "go"), timeout=5)
    assert outcome.delivered is True
    assert outcome.events == events


async def test_two_clicks_at_once_are_told_apart(page: cdpengine.Page) -> None:
    await show(
        page, f"<button id=a style='{at(0, 0)}'>A</button><button id=b style='{at(200, 0)}'>B</button>"
    )
    a, b = await node(page, "a"), await node(page, "b")
    for _ in range(5):
        async with trio.open_nursery() as nursery:
            nursery.start_soon(page.click, a)
            nursery.start_soon(page.click, b)
    assert sorted(entry["target"] for entry in await record(page, "click")) == ["a"] * 5 + ["b"] * 5


async def test_a_waiting_click_holds_nothing_back_from_others(page: cdpengine.Page) -> None:
    """The cover is clicked away by another task, at the very point that the first one waits for."""
    await show(
        page,
        "<button id=go>Go</button><button id=veil style='position:fixed;inset:0' onclick='this.remove()'>x</button>",
    )
    go, veil = await node(page, "go"), await node(page, "veil")
    async with trio.open_nursery() as nursery:
        nursery.start_soon(page.click, go)
        await trio.sleep(0.05)
        box = await page.bounding_box(go)
        assert box is not None
        await page.click(veil, position=(box.x + box.width / 2, box.y + box.height / 2))
    assert [entry["target"] for entry in await record(page, "click")] == ["veil", "go"]


@pytest.mark.parametrize("mode", ["open", "closed"])
async def test_inside_a_shadow_root_held_back_and_received(page: cdpengine.Page, mode: str) -> None:
    await show(page, "<div id=host></div><p id=other>Other</p>")
    await page.evaluate(
        "(mode) => { root = host.attachShadow({ mode }); root.innerHTML = '<button id=go>Go</button>'; }",
        mode,
    )
    outcome = await page.click(await node(page, "root.firstChild"), timeout=5)
    assert outcome.delivered
    assert outcome.events[-1] == "click"


async def test_the_page_closes_at_the_click(browser: cdpengine.Browser, page: cdpengine.Page) -> None:
    await show(page, "<button id=go onclick='window.open(\"about:blank\")'>Go</button>")
    outcome = await page.click(await node(page, "go"), timeout=5)
    assert outcome.popup is not None
    popup = await browser.wait_for_page(opener=page)
    assert popup.target_id == outcome.popup.target_id
    await popup.set_content("<button id=go onclick='window.close()'>Close</button>")
    target = await node(popup, "go")
    outcome = await popup.click(
        target, timeout=5
    )  # that the page closed is the click's own doing, and no error
    assert outcome.delivered


async def test_navigation_and_download_are_told(page: cdpengine.Page, httpserver: HTTPServer) -> None:
    httpserver.expect_request("/").respond_with_data(
        "<a id=far href='/next'>far</a> <a id=near href='#x'>near</a> <a id=file href='/file'>file</a>",
        content_type="text/html",
    )
    httpserver.expect_request("/next").respond_with_data("<p>Next", content_type="text/html")
    httpserver.expect_request("/file").respond_with_data(
        "abc", headers={"Content-Disposition": "attachment; filename=x.txt"}
    )
    await page.goto(httpserver.url_for("/"))
    near = await page.click(await node(page, "near"), timeout=5)
    assert near.navigation is not None
    assert near.navigation.within_document
    far = await page.click(await node(page, "far"), timeout=5)
    assert far.delivered
    assert far.navigation is not None
    assert far.navigation.url == httpserver.url_for("/next")
    assert not far.navigation.within_document


async def test_replaced_is_stale(page: cdpengine.Page) -> None:
    await show(page, "<button id=go>Go</button>")
    target = await node(page, "go")
    await page.evaluate("void go.replaceWith(go.cloneNode(true))")
    with pytest.raises(StaleRef):
        await page.click(target, timeout=5)
    assert await record(page, "click") == []


# --- hover, tap, wheel ----------------------------------------------------------------------------------------


async def test_hover(page: cdpengine.Page) -> None:
    await show(page, f"<button id=go disabled style='{at(100, 50)}'>Go</button>")
    outcome = await page.hover(await node(page, "go"), timeout=5)
    moves = await record(page)
    assert {(entry["type"], entry["target"], entry["buttons"]) for entry in moves} <= {("mousemove", "go", 0)}
    assert await page.evaluate("go.matches(':hover')") is True
    assert outcome.point == Point(140, 65)
    # Once more at the same place: seen again.
    assert (await page.hover(await node(page, "go"), timeout=5)).received_by == outcome.received_by


async def test_hover_sends_no_key_events(page: cdpengine.Page) -> None:
    await show(
        page,
        "<input id=field autofocus accesskey=a><button id=go>Go</button><script>keys = [];"
        "for (const name of 'keydown keypress keyup beforeinput input textInput'.split(' '))"
        " addEventListener(name, (event) => keys.push(name), true); field.focus()</script>",
    )
    await page.hover(await node(page, "go"), timeout=5)
    assert await page.evaluate("[keys, field.value, document.activeElement.id]") == [[], "", "field"]


async def test_tap(page: cdpengine.Page) -> None:
    await show(page, f"<button id=go style='{at(100, 50)}'>Go</button>")
    outcome = await page.tap(await node(page, "go"), timeout=5)
    seen = await record(page, "pointerdown", "touchstart", "touchend", "click")
    assert [(e["type"], e["target"]) for e in seen] == [
        ("pointerdown", "go"),
        ("touchstart", "go"),
        ("touchend", "go"),
        ("click", "go"),
    ]
    assert seen[0]["pointer"] == "touch"
    assert outcome.delivered
    await page.evaluate("go.addEventListener('touchend', (event) => event.preventDefault())")
    assert (await page.tap(await node(page, "go"), timeout=5)).events == (
        "pointerdown",
        "touchstart",
        "pointerup",
        "touchend",
    )
    await page.touch.tap(110, 60)


async def test_scroll_over_a_scroller_and_the_page(page: cdpengine.Page) -> None:
    await show(
        page,
        "<div id=box style='width:200px;height:100px;overflow:auto'><p style='height:900px'>x</p></div>"
        "<p style='height:4000px'>y</p>",
    )
    box = await node(page, "box")
    outcome = await page.scroll(0, 130, box, timeout=5)
    assert outcome.delivered
    assert await page.evaluate("[box.scrollTop, scrollY]") == [130, 0]
    await page.mouse.move(300, 300)
    await page.scroll(0, 240, timeout=5)
    assert await page.evaluate("[box.scrollTop, scrollY]") == [130, 240]
    wheels = await record(page, "wheel")
    assert [(e["deltaY"], e["trusted"]) for e in wheels] == [(130, True), (240, True)]
    await page.scroll(0, -1000, timeout=5)
    assert await page.evaluate("scrollY") == 0


async def test_scroll_into_view_boxes_and_pictures(page: cdpengine.Page) -> None:
    await show(
        page,
        "<div style='height:2000px'></div><div id=go style='width:120px;height:40px;background:#00f'></div>"
        "<div style='height:2000px'></div><i id=gone hidden></i>",
    )
    go = await node(page, "go")
    below = await page.bounding_box(go)
    assert below is not None
    assert (below.y, below.width, below.height) == (2000, 120, 40)
    await page.scroll_into_view(go, timeout=5)
    box = await page.bounding_box(go)
    assert box is not None
    assert 0 <= box.y <= await page.evaluate("innerHeight - 40")
    assert await page.bounding_box(await node(page, "gone")) is None
    with pytest.raises(Invisible):
        await page.scroll_into_view(await node(page, "gone"), timeout=0.5)
    with pytest.raises(Invisible):
        await page.screenshot(target=await node(page, "gone"), timeout=0.5)
    await page.evaluate("scrollTo(0, 0)")
    picture = await page.screenshot(target=go)
    assert [int.from_bytes(picture[start : start + 4], "big") for start in (16, 20)] == [120, 40]
    with pytest.raises(InvalidArgument):
        await page.screenshot(target=go, full_page=True)


async def test_highlight_is_drawn_and_undone(page: cdpengine.Page) -> None:
    await show(page, f"<button id=go style='{at(100, 50)}'>Go</button>")
    go = await node(page, "go")
    before, markup = await page.screenshot(), await page.content()
    async with page.highlight(go, info=False):
        assert await page.content() == markup
        with trio.fail_after(5):
            while await page.screenshot() == before:
                await trio.lowlevel.checkpoint()
    with trio.fail_after(5):
        while await page.screenshot() != before:
            await trio.lowlevel.checkpoint()
    with pytest.raises(InvalidArgument):
        async with page.highlight(go, color="blue"):
            pass
    await page.evaluate("go.remove()")
    with pytest.raises(Invisible):
        async with page.highlight(go):
            pass


# --- drags ----------------------------------------------------------------------------------------------------

DRAGS = f"""
<div id=src draggable=true style='{at(20, 20, 60, 40)};background:#f88'>S</div>
<div id=dst style='{at(220, 120, 90, 70)};background:#88f'>D</div>
<div id=no style='{at(420, 120, 90, 70)};background:#888'>N</div>
<div id=knob style='{at(20, 220, 20, 20)};background:#0a0'></div>
<input id=slider type=range min=0 max=100 value=0 style='{at(20, 300, 200, 20)};margin:0'>
<button id=go style='{at(20, 400)}'>Go</button>
<div id=far style='{at(20, 2400)};background:#8f8'>F</div>
<script>
  src.ondragstart = (event) => event.dataTransfer.setData("text/plain", "hello");
  for (const zone of [dst, far]) {{ zone.ondragover = (event) => event.preventDefault(); zone.ondrop = (event) => event.preventDefault(); }}
  knob.onpointerdown = (event) => knob.setPointerCapture(event.pointerId);
  knob.onpointermove = (event) => {{ if (event.buttons) knob.style.left = event.clientX - 10 + "px"; }};
</script>"""


async def still_usable(page: cdpengine.Page) -> None:
    await page.evaluate("void (record.length = 0)")
    await page.click(await node(page, "go"), timeout=5)
    seen = await record(page, "mousemove", "mousedown", "mouseup", "click")
    assert [(e["type"], e["buttons"]) for e in seen if e["type"] != "mousemove"] == [
        ("mousedown", 1),
        ("mouseup", 0),
        ("click", 0),
    ]
    assert page.mouse.buttons == 0


@pytest.mark.parametrize("target", ["dst", "far"])
async def test_html5_drag_and_drop(page: cdpengine.Page, target: str) -> None:
    await show(page, DRAGS)
    outcome = await page.drag(await node(page, "src"), await node(page, target), timeout=5)
    seen = await record(page, "dragstart", "drop", "dragend", "mouseup")
    assert [(e["type"], e["target"], e["trusted"]) for e in seen] == [
        ("dragstart", "src", True),
        ("drop", target, True),
        ("dragend", "src", True),
    ]
    assert seen[1]["data"] == "hello"
    assert outcome.delivered
    assert outcome.events[-1] == "drop"
    await still_usable(page)


async def test_html5_drop_that_is_not_accepted(page: cdpengine.Page) -> None:
    await show(page, DRAGS)
    with pytest.raises(NotDelivered, match="did not accept"):
        await page.drag(await node(page, "src"), await node(page, "no"), timeout=5)
    assert await record(page, "drop") == []
    assert [entry["target"] for entry in await record(page, "dragend")] == ["src"]
    await still_usable(page)


async def test_html5_drag_to_a_point(page: cdpengine.Page) -> None:
    await show(page, DRAGS)
    await page.drag(await node(page, "src"), (265, 155), timeout=5)
    assert [(e["target"], e["x"], e["y"]) for e in await record(page, "drop")] == [("dst", 265, 155)]
    await still_usable(page)


async def test_pointer_drag_and_slider(page: cdpengine.Page) -> None:
    await show(page, DRAGS)
    outcome = await page.drag(await node(page, "knob"), await node(page, "no"), steps=4, timeout=5)
    assert outcome.received_by == "backend node " + str((await node(page, "knob")).id) or outcome.received_by
    assert await page.evaluate("knob.offsetLeft") == 455
    moves = [entry["buttons"] for entry in await record(page, "mousemove")]
    assert moves[0] == 0
    assert moves.count(1) >= 5
    await page.drag(await node(page, "slider"), (120, 310), source_position=(4, 10), timeout=5)
    assert await page.evaluate("slider.value") == "50"
    assert "change" in [entry["type"] for entry in await record(page)]
    await still_usable(page)


async def test_drag_from_what_is_covered(page: cdpengine.Page) -> None:
    await show(page, DRAGS + f"<div id=veil style='{at(0, 0, 150, 150)}'></div>")
    with pytest.raises(Covered):
        await page.drag(await node(page, "src"), await node(page, "dst"), timeout=0.6)
    assert await record(page, "mousedown") == []
    await still_usable(page)


async def test_drag_to_what_is_covered_lets_go(page: cdpengine.Page) -> None:
    await show(page, DRAGS + f"<div id=veil style='{at(200, 100, 150, 150)}'></div>")
    with pytest.raises(Covered):
        await page.drag(await node(page, "src"), await node(page, "dst"), timeout=0.8)
    assert await record(page, "drop") == []
    assert len(await record(page, "dragend")) == 1
    await still_usable(page)


@pytest.mark.parametrize(
    "arguments", [{"steps": 0}, {"position": (1,)}, {"source_position": ("a", 1)}, {"modifiers": ["Hyper"]}]
)
async def test_drags_that_cannot_be(page: cdpengine.Page, arguments: dict[str, Any]) -> None:
    await show(page, DRAGS)
    src, dst = await node(page, "src"), await node(page, "dst")
    with pytest.raises(InvalidArgument):
        await page.drag(src, dst, **arguments)
    assert await record(page, "mousedown") == []


async def test_devices(page: cdpengine.Page) -> None:
    await show(page, DRAGS)
    await page.mouse.move(30, 30)
    await page.mouse.move(60, 410, steps=3)
    await page.mouse.down()
    await page.mouse.up()
    seen = await record(page, "mousemove", "mousedown", "mouseup", "click")
    assert [(e["type"], e["x"], e["y"]) for e in seen] == [
        ("mousemove", 30, 30),
        ("mousemove", 40, pytest.approx(156, abs=1)),
        ("mousemove", 50, pytest.approx(283, abs=1)),
        ("mousemove", 60, 410),
        ("mousedown", 60, 410),
        ("mouseup", 60, 410),
        ("click", 60, 410),
    ]
