"""Click positions in scrollers, shapes, labels, shadow trees and frames."""

from __future__ import annotations

import pytest
import trio
from action_stage import Stage, clicked
from pytest_httpserver import HTTPServer
from refusals import refused

from cdpengine.errors import (
    CoveredError,
    StaleRefError,
)

pytestmark = pytest.mark.chrome

# --- scrolling ------------------------------------------------------------------------------------------------


async def test_page_scrolled_800_px_down(stage: Stage) -> None:
    await stage.show(
        "<div style='height:1000px'></div><button id=go>Go</button><div style='height:2000px'></div>"
    )
    await stage.js("scrollTo(0, 800)")
    await stage.click("#go")
    assert await clicked(stage) == ["go"]
    assert await stage.js("scrollY") == 800


async def test_click_scrolls_to_element_far_below(stage: Stage) -> None:
    await stage.show("<div style='height:5000px'></div><button id=go>Go</button>")
    await stage.click("#go")
    assert await clicked(stage) == ["go"]
    assert await stage.js("scrollY") > 4000


async def test_click_waits_for_smooth_scrolling(stage: Stage) -> None:
    await stage.show(
        "<style>html{scroll-behavior:smooth}</style><div style='height:3000px'></div><button id=go>Go</button>"
    )
    await stage.click("#go")
    assert await clicked(stage) == ["go"]


async def test_nested_scrollers(stage: Stage) -> None:
    await stage.show(
        "<div style='height:900px'></div>"
        "<div style='height:150px;width:200px;overflow:auto'><div style='height:700px'></div>"
        "<div style='height:80px;overflow:auto'><div style='height:500px'></div><button id=go>Go</button></div>"
        "<div style='height:700px'></div></div><div style='height:900px'></div>"
    )
    await stage.click("#go")
    assert await clicked(stage) == ["go"]


async def test_sticky_header_in_front(stage: Stage) -> None:
    await stage.show(
        "<div id=head style='position:sticky;top:0;height:100px;background:#eee'>Menu</div>"
        "<div style='height:300px'></div><button id=go>Go</button><div style='height:3000px'></div>"
    )
    await stage.js("scrollTo(0, 380)")
    assert await stage.js("go.getBoundingClientRect().top") < 80
    await stage.click("#go")
    assert await clicked(stage) == ["go"]


async def test_fixed_footer_in_front(stage: Stage) -> None:
    await stage.show(
        "<div style='height:540px'></div><button id=go>Go</button><div style='height:3000px'></div>"
        "<div style='position:fixed;bottom:0;left:0;right:0;height:120px;background:#eee'>Accept cookies</div>"
    )
    await stage.click("#go")
    assert await clicked(stage) == ["go"]


async def test_larger_than_the_viewport(stage: Stage) -> None:
    await stage.show("<div id=go style='width:3000px;height:4000px;background:#efe'></div>")
    await stage.click("#go")
    assert await clicked(stage) == ["go"]


# --- shapes ---------------------------------------------------------------------------------------------------


async def test_link_broken_over_lines(stage: Stage) -> None:
    await stage.show(
        "<p style='width:200px;font:16px monospace'>xxxxxxxxxxxx "
        "<a id=go href='#there'>one two three</a> xxxxxxxxx</p>"
    )
    box = await stage.js("(r => [r.length, go.getBoundingClientRect().width])(go.getClientRects())")
    assert box[0] > 1
    await stage.click("#go")
    assert await clicked(stage) == ["go"]


async def test_display_contents(stage: Stage) -> None:
    await stage.show("<div id=go style='display:contents'><span id=inner>Go here</span></div>")
    await stage.js("void go.addEventListener('click', () => { window.reached = true })")
    await stage.click("#go")
    assert await clicked(stage) == ["inner"]
    assert await stage.js("reached") is True


@pytest.mark.sample(2)
@pytest.mark.parametrize(
    "transform", ["rotate(45deg)", "scale(.3)", "skewX(50deg)", "rotate(120deg) scale(1.5)"]
)
async def test_transforms(stage: Stage, transform: str) -> None:
    await stage.show(
        f"<div id=go style='position:absolute;left:300px;top:250px;width:160px;height:12px;transform:{transform}'></div>"
    )
    await stage.click("#go")
    assert await clicked(stage) == ["go"]


async def test_svg_shape(stage: Stage) -> None:
    await stage.show("<svg width=200 height=200><circle id=go cx=100 cy=100 r=50></circle></svg>")
    await stage.click("#go")
    assert await clicked(stage) == ["go"]


async def test_text_node(stage: Stage) -> None:
    await stage.show("<p>before <b id=bold>bold</b> after</p>")
    await stage.click(await stage.node("bold.firstChild"))
    assert await clicked(stage) == ["bold"]


# --- labels, shadow trees, slots --------------------------------------------------------------------------------


async def test_label_over_its_checkbox_is_not_a_cover(stage: Stage) -> None:
    await stage.show(
        "<div style='position:relative'><input type=checkbox id=box style='position:absolute;left:5px;top:5px'>"
        "<label for=box id=label style='position:absolute;left:0;top:0;width:90px;height:30px'>Agree</label></div>"
    )
    await stage.click("#box")
    assert await stage.js("box.checked") is True


async def test_label_checks_its_checkbox(stage: Stage) -> None:
    await stage.show("<label id=label><input type=checkbox id=box> Agree to everything there is</label>")
    await stage.click("#label")
    assert await stage.js("box.checked") is True


@pytest.mark.parametrize("mode", ["open", "closed"])
async def test_inside_a_shadow_root(stage: Stage, mode: str) -> None:
    await stage.show("<div id=host></div>")
    await stage.js(
        f"void (window.tree = host.attachShadow({{mode: '{mode}'}})).append("
        "Object.assign(document.createElement('button'), {id: 'go', textContent: 'Go'})),"
        "void tree.firstChild.addEventListener('click', () => { window.reached = true })"
    )
    await stage.click(await stage.node("tree.firstChild"))
    assert await stage.js("reached") is True


async def test_covered_inside_a_shadow_root(stage: Stage) -> None:
    await stage.show("<div id=host></div>")
    await stage.js(
        "void (host.attachShadow({mode: 'open'}).innerHTML = '<button>Go</button>"
        '<i id=veil style="position:fixed;inset:0">veil</i>\')'
    )
    aim = await stage.node("host.shadowRoot.firstChild")
    caught = await refused(CoveredError, lambda timeout: stage.click(aim, timeout=timeout))
    assert caught.value.covered_by == "i#veil 'veil'"


async def test_shadow_host(stage: Stage) -> None:
    await stage.show("<div id=host></div>")
    await stage.js("void (host.attachShadow({mode: 'open'}).innerHTML = '<button id=inner>Go</button>')")
    await stage.click("#host", position=(5, 5))
    assert await clicked(stage) == ["inner"]


async def test_slot_and_slotted_element(stage: Stage) -> None:
    await stage.show("<div id=host><button id=light>Go</button></div>")
    await stage.js("void (host.attachShadow({mode: 'open'}).innerHTML = '<p><slot></slot></p>')")
    await stage.click("#light")
    await stage.click(await stage.node("host.shadowRoot.querySelector('slot')"))
    await stage.click(await stage.node("host.shadowRoot.querySelector('p')"), position=(8, 8))
    assert await clicked(stage) == ["light", "light", "light"]


# --- frames ---------------------------------------------------------------------------------------------------

FRAMED = """<!doctype html><body style='margin:0'><div style='height:400px'></div>
<button id=inner style='position:absolute;left:20px;top:500px;width:60px;height:20px'>In</button>
<script>addEventListener('click', (e) => { window.hits = (window.hits || []).concat([[e.target.id, e.clientX, e.clientY]]) })
</script><div style='height:900px'></div>"""


async def frame_node(stage: Stage, httpserver: HTTPServer, style: str, extra: str = "") -> object:
    httpserver.expect_request("/frame").respond_with_data(FRAMED, content_type="text/html")
    httpserver.expect_request("/page").respond_with_data(
        "<!doctype html><body style='margin:0'><div style='height:120px'></div>"
        f"<iframe id=frame src='/frame' style='{style}'></iframe>{extra}",
        content_type="text/html",
    )
    await stage.goto(httpserver.url_for("/page"))
    frames = await stage.child_frames()
    return await stage.node("frame.contentDocument.querySelector('#inner')", frame=frames[0]["id"])


@pytest.mark.sample(2)
@pytest.mark.parametrize(
    "style",
    [
        "width:300px;height:200px",
        "width:300px;height:200px;border:7px solid;padding:9px;margin:13px",
        "width:300px;height:200px;transform:rotate(30deg) scale(.8)",
    ],
)
async def test_same_process_frame(stage: Stage, httpserver: HTTPServer, style: str) -> None:
    node = await frame_node(stage, httpserver, style)
    await stage.click(node)  # type: ignore[arg-type]
    hits = await stage.js("frame.contentWindow.hits")
    assert [hit[0] for hit in hits] == ["inner"]


async def test_cover_over_a_frame_is_seen(stage: Stage, httpserver: HTTPServer) -> None:
    cover = "<div id=veil style='position:fixed;inset:0'>Sign in first</div>"
    node = await frame_node(stage, httpserver, "width:300px;height:200px", cover)
    caught = await refused(CoveredError, lambda timeout: stage.click(node, timeout=timeout))  # type: ignore[arg-type]
    assert caught.value.covered_by == "div#veil 'Sign in first'"
    assert await stage.js("frame.contentWindow.hits ?? null") is None


async def test_frame_removed_is_stale(stage: Stage, httpserver: HTTPServer) -> None:
    node = await frame_node(stage, httpserver, "width:300px;height:200px")
    await stage.js("frame.remove()")
    with trio.fail_after(20), pytest.raises(StaleRefError):
        await stage.click(node, timeout=30)  # type: ignore[arg-type]
