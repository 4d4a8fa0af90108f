from __future__ import annotations

from typing import Any

import pytest
import trio
from action_stage import MOUSE_EVENTS, Stage
from pytest_httpserver import HTTPServer

from cdpengine.action.geometry import Point
from cdpengine.errors import (
    Covered,
    DeadlineExceeded,
    Disabled,
    InvalidArgument,
    Invisible,
    NotInteractable,
    StaleRef,
    Unstable,
)

pytestmark = pytest.mark.chrome

BUTTON = "<button id=go style='position:absolute;left:100px;top:50px;width:80px;height:20px'>Go</button>"


async def clicked(stage: Stage) -> list[str]:
    """What the page says was clicked."""
    return [entry["target"] for entry in await stage.record("click")]


# --- what the page sees ---------------------------------------------------------------------------------------


async def test_events_of_a_click_in_order_and_at_the_centre(stage: Stage) -> None:
    await stage.show(BUTTON)
    outcome = await stage.click("#go")
    record = await stage.record()
    assert [entry["type"] for entry in record] == ["mousemove", "mousedown", "mouseup", "click"]
    assert all(entry["trusted"] and entry["target"] == "go" for entry in record)
    assert {(entry["x"], entry["y"]) for entry in record} == {(140, 60)}
    assert [entry["buttons"] for entry in record] == [0, 1, 0, 0]
    assert [entry["detail"] for entry in record] == [0, 1, 1, 1]
    assert outcome.point == Point(140, 60)
    assert outcome.target == "e1 button"
    assert not outcome.dialog_opened


async def test_double_click(stage: Stage) -> None:
    await stage.show(BUTTON)
    await stage.click("#go", count=2)
    record = await stage.record()
    assert [(entry["type"], entry["detail"]) for entry in record[1:]] == [
        ("mousedown", 1),
        ("mouseup", 1),
        ("click", 1),
        ("mousedown", 2),
        ("mouseup", 2),
        ("click", 2),
        ("dblclick", 2),
    ]


async def test_right_button(stage: Stage) -> None:
    await stage.show(BUTTON)
    await stage.click("#go", button="right")
    record = await stage.record()
    assert {entry["type"] for entry in record} == {
        "mousemove",
        "mousedown",
        "mouseup",
        "auxclick",
        "contextmenu",
    }
    assert [(e["button"], e["buttons"]) for e in record if e["type"] in ("mousedown", "mouseup")] == [
        (2, 2),
        (2, 0),
    ]


async def test_middle_button(stage: Stage) -> None:
    await stage.show(BUTTON)
    await stage.click("#go", button="middle")
    record = await stage.record("mousedown", "mouseup", "auxclick")
    assert [(e["type"], e["button"], e["buttons"]) for e in record] == [
        ("mousedown", 1, 4),
        ("mouseup", 1, 0),
        ("auxclick", 1, 0),
    ]


async def test_modifiers_go_with_every_event(stage: Stage) -> None:
    await stage.show(BUTTON)
    await stage.click("#go", modifiers=("Shift", "Alt"))
    record = await stage.record()
    assert len(record) == 4
    assert all(e["shift"] and e["alt"] and not e["ctrl"] and not e["meta"] for e in record)


async def test_modifier_keys_that_are_down_go_with_a_click(stage: Stage) -> None:
    await stage.show(BUTTON)
    await stage.keyboard.down("Control")
    await stage.click("#go")
    await stage.keyboard.up("Control")
    await stage.click("#go")
    assert [e["ctrl"] for e in await stage.record("click")] == [True, False]


async def test_position_counts_from_the_border_box(stage: Stage) -> None:
    await stage.show(
        "<div id=box style='position:absolute;left:50px;top:40px;width:200px;height:100px;border:10px solid'></div>"
    )
    await stage.click("#box", position=(3, 4))
    assert [(e["x"], e["y"]) for e in await stage.record("click")] == [(53, 44)]


async def test_position_turns_with_the_element(stage: Stage) -> None:
    await stage.show(
        "<div id=box style='position:absolute;left:300px;top:200px;width:100px;height:100px;"
        "transform:rotate(90deg);transform-origin:0 0'></div>"
    )
    await stage.click("#box", position=(30, 10))
    # A quarter turn takes "30 across, 10 down" to "10 to the left, 30 down".
    assert [(e["x"], e["y"]) for e in await stage.record("click")] == [(290, 230)]


# --- refusals -------------------------------------------------------------------------------------------------


async def test_covered_names_the_cover_and_nothing_is_clicked(stage: Stage) -> None:
    await stage.show(
        BUTTON
        + "<div class='overlay dark' id=x style='position:fixed;inset:0;background:#0008'>Please wait</div>"
    )
    with pytest.raises(Covered) as caught:
        await stage.click("#go", timeout=0.5)
    assert caught.value.covered_by == "div#x.overlay.dark 'Please wait'"
    assert "Please wait" in str(caught.value)
    assert "looked" in caught.value.steps[-1]
    assert await stage.record() == []


async def test_waits_until_the_cover_is_gone(stage: Stage) -> None:
    await stage.show(BUTTON + "<div id=x style='position:fixed;inset:0'></div>")
    await stage.js("void setTimeout(() => x.remove(), 200)")
    await stage.click("#go")
    assert await clicked(stage) == ["go"]


async def test_partly_covered_is_clicked_where_it_shows(stage: Stage) -> None:
    await stage.show(
        BUTTON + "<div style='position:absolute;left:95px;top:45px;width:70px;height:30px'></div>"
    )
    await stage.click("#go")
    record = await stage.record("click")
    assert [e["target"] for e in record] == ["go"]
    assert record[0]["x"] >= 165


async def test_force_clicks_what_is_there(stage: Stage) -> None:
    await stage.show(BUTTON + "<div id=x style='position:fixed;inset:0'></div>")
    await stage.click("#go", force=True)
    assert await clicked(stage) == ["x"]


async def test_pointer_events_none_is_named(stage: Stage) -> None:
    await stage.show("<div id=under><button id=go style='pointer-events:none'>Go</button></div>")
    with pytest.raises(Covered, match="pointer-events: none"):
        await stage.click("#go", timeout=0.5)
    assert await stage.record() == []


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        ("<button id=go disabled>Go</button>", "it is disabled"),
        ("<fieldset id=set disabled><button id=go>Go</button></fieldset>", "disabled by fieldset#set"),
        ("<button disabled id=outer><b id=go>Go</b></button>", "its ancestor button#outer"),
        ("<button id=go aria-disabled=true>Go</button>", "aria-disabled"),
        ("<div inert id=box><button id=go>Go</button></div>", "is inert"),
        ("<label id=go>Name <input id=field disabled></label>", "its control input#field is disabled"),
    ],
)
async def test_disabled(stage: Stage, body: str, reason: str) -> None:
    await stage.show(body)
    with pytest.raises(Disabled) as caught:
        await stage.click("#go", timeout=0.5)
    assert reason in caught.value.reason
    assert await stage.record() == []


async def test_legend_of_a_disabled_fieldset_is_enabled(stage: Stage) -> None:
    await stage.show("<fieldset disabled><legend><button id=go>Go</button></legend></fieldset>")
    await stage.click("#go")
    assert await clicked(stage) == ["go"]


async def test_waits_until_enabled(stage: Stage) -> None:
    await stage.show("<button id=go disabled>Go</button>")
    await stage.js("void setTimeout(() => { go.disabled = false }, 150)")
    await stage.click("#go")
    assert await clicked(stage) == ["go"]


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        ("<button id=go style='display:none'>Go</button>", "it has display: none"),
        ("<div id=box style='display:none'><button id=go>Go</button></div>", "its ancestor div#box"),
        ("<button id=go style='visibility:hidden'>Go</button>", "visibility: hidden"),
        ("<div id=go style='width:0;height:0'></div>", "its size is 0 x 0"),
        ("<input type=hidden id=go>", "type hidden"),
        ("<select size=2><option id=go>One</option></select>", "select()"),
        ("<div id=go style='display:contents'></div>", "it has no box"),
        ("<button id=go style='position:fixed;left:-500px'>Go</button>", "cannot be scrolled there"),
    ],
)
async def test_invisible(stage: Stage, body: str, reason: str) -> None:
    await stage.show(body)
    with pytest.raises(Invisible) as caught:
        await stage.click("#go", timeout=0.5)
    assert reason in caught.value.reason
    assert await stage.record() == []


async def test_waits_until_shown(stage: Stage) -> None:
    await stage.show("<button id=go style='display:none'>Go</button>")
    await stage.js("void setTimeout(() => { go.style.display = '' }, 150)")
    await stage.click("#go")
    assert await clicked(stage) == ["go"]


async def test_detached_is_stale_at_once(stage: Stage) -> None:
    await stage.show(BUTTON)
    node = await stage.node("#go")
    await stage.js("window.kept = go; go.remove()")
    with trio.fail_after(2), pytest.raises(StaleRef, match="no longer in the document"):
        await stage.click(node, timeout=30)


async def test_detached_while_waiting_is_stale(stage: Stage) -> None:
    await stage.show("<button id=go disabled>Go</button>")
    await stage.js("void setTimeout(() => go.remove(), 150)")
    with trio.fail_after(3), pytest.raises(StaleRef):
        await stage.click("#go", timeout=30)


async def test_document_replaced_while_waiting_is_stale(stage: Stage, httpserver: HTTPServer) -> None:
    httpserver.expect_request("/next").respond_with_data(
        "<button id=go>Other</button>", content_type="text/html"
    )
    await stage.show("<button id=go disabled>Go</button>")
    await stage.js(f"void setTimeout(() => {{ location = {httpserver.url_for('/next')!r} }}, 150)")
    with trio.fail_after(5), pytest.raises(StaleRef):
        await stage.click("#go", timeout=30)


@pytest.mark.parametrize(
    "options",
    [
        {"button": "primary"},
        {"count": 0},
        {"count": True},
        {"modifiers": ("Hyper",)},
        {"modifiers": ("Enter",)},
        {"position": (1,)},
        {"position": (float("nan"), 0)},
    ],
)
async def test_wrong_arguments_send_nothing(stage: Stage, options: dict[str, Any]) -> None:
    await stage.show(BUTTON)
    node = await stage.node("#go")
    sent = stage.session.connection.statistics().sent
    with pytest.raises(InvalidArgument):
        await stage.click(node, **options)
    assert stage.session.connection.statistics().sent == sent


# --- movement -------------------------------------------------------------------------------------------------


async def test_waits_until_an_animation_has_settled(stage: Stage) -> None:
    await stage.show(BUTTON)
    await stage.js("void go.animate([{left: '600px'}, {left: '100px'}], {duration: 300})")
    await stage.click("#go")
    assert [(e["target"], e["x"]) for e in await stage.record("click")] == [("go", 140)]


async def test_endless_animation_is_unstable_at_the_deadline(stage: Stage) -> None:
    await stage.show(BUTTON)
    await stage.js("void go.animate([{left: '0'}, {left: '600px'}], {duration: 900, iterations: Infinity})")
    with pytest.raises(Unstable, match="keeps moving"):
        await stage.click("#go", timeout=0.5)
    assert await stage.record("mousedown") == []


async def test_animation_inside_a_shadow_root_counts(stage: Stage) -> None:
    await stage.show("<div id=host></div>")
    await stage.js(
        "host.attachShadow({mode: 'open'}).innerHTML = '<button style=\"position:absolute;left:0\">Go</button>',"
        "void host.shadowRoot.firstChild.animate([{left: '0'}, {left: '500px'}],"
        " {duration: 900, iterations: Infinity})"
    )
    with pytest.raises(Unstable):
        await stage.click(await stage.node("host.shadowRoot.firstChild"), timeout=0.5)


async def test_spinner_elsewhere_does_not_disturb(stage: Stage) -> None:
    await stage.show(BUTTON + "<div id=spin style='width:9px;height:9px'></div>")
    await stage.js("void spin.animate([{opacity: 0}, {opacity: 1}], {duration: 200, iterations: Infinity})")
    await stage.click("#go")
    assert await clicked(stage) == ["go"]


# --- scrolling ------------------------------------------------------------------------------------------------


async def test_page_scrolled_800_px_down(stage: Stage) -> None:
    await stage.show(
        "<div style='height:1000px'></div><button id=go>Go</button><div style='height:2000px'></div>"
    )
    await stage.js("scrollTo(0, 800)")
    await stage.click("#go")
    assert await clicked(stage) == ["go"]
    assert await stage.js("scrollY") == 800


async def test_far_below_is_scrolled_to(stage: Stage) -> None:
    await stage.show("<div style='height:5000px'></div><button id=go>Go</button>")
    await stage.click("#go")
    assert await clicked(stage) == ["go"]
    assert await stage.js("scrollY") > 4000


async def test_smooth_scrolling_is_waited_for(stage: Stage) -> None:
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
    with pytest.raises(Covered) as caught:
        await stage.click(await stage.node("host.shadowRoot.firstChild"), timeout=0.5)
    assert caught.value.covered_by == "i#veil 'veil'"


async def test_shadow_host(stage: Stage) -> None:
    await stage.show("<div id=host></div>")
    await stage.js("void (host.attachShadow({mode: 'open'}).innerHTML = '<button id=inner>Go</button>')")
    await stage.click("#host", position=(5, 5))
    assert await clicked(stage) == ["inner"]


async def test_slot_and_what_is_in_it(stage: Stage) -> None:
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
    with pytest.raises(Covered) as caught:
        await stage.click(node, timeout=0.5)  # type: ignore[arg-type]
    assert caught.value.covered_by == "div#veil 'Sign in first'"
    assert await stage.js("frame.contentWindow.hits ?? null") is None


async def test_frame_removed_is_stale(stage: Stage, httpserver: HTTPServer) -> None:
    node = await frame_node(stage, httpserver, "width:300px;height:200px")
    await stage.js("frame.remove()")
    with trio.fail_after(2), pytest.raises(StaleRef):
        await stage.click(node, timeout=30)  # type: ignore[arg-type]


# --- dialogs, cancellation, what is left behind ---------------------------------------------------------------


@pytest.mark.parametrize("event", ["click", "mousedown", "mousemove"])
async def test_dialog_on_click_does_not_hang(stage: Stage, event: str) -> None:
    await stage.show(BUTTON)
    await stage.js(f"void go.addEventListener('{event}', () => alert('Hello'), {{once: true}})")
    with trio.fail_after(3):
        outcome = await stage.click("#go", timeout=30)
    assert outcome.dialog_opened
    await stage.session.call("Page.handleJavaScriptDialog", accept=True)
    assert stage.mouse.buttons == 0
    # Chrome may drop what was posted behind the event that opened the dialog, so the page's record of this
    # click can end early. The next one is whole again.
    await stage.js("void (record.length = 0)")
    await stage.click("#go")
    assert (await stage.types("mousedown", "mouseup", "click"))[-3:] == ["mousedown", "mouseup", "click"]


async def test_open_dialog_is_named_at_the_deadline(stage: Stage) -> None:
    await stage.show(BUTTON)
    node = await stage.node("#go")
    async with trio.open_nursery() as nursery:
        nursery.start_soon(stage.js, "alert('Hello')")
        await stage.dialogs.dialog_opened()
        with pytest.raises(NotInteractable, match="dialog is open"):
            await stage.click(node, timeout=0.5)
        await stage.session.call("Page.handleJavaScriptDialog", accept=True)
    assert await stage.record() == []


async def test_stuck_page_ends_in_the_deadline(stage: Stage) -> None:
    await stage.show(BUTTON)
    node = await stage.node("#go")
    await stage.js("void setTimeout(() => { const end = Date.now() + 1500; while (Date.now() < end); }, 0)")
    with trio.fail_after(3), pytest.raises(DeadlineExceeded):
        await stage.click(node, timeout=0.5)
    await stage.click(node)
    assert await clicked(stage) == ["go"]


async def test_cancelled_click_is_whole_or_nothing(stage: Stage) -> None:
    await stage.show(BUTTON)
    node = await stage.node("#go")
    for milliseconds in range(12):
        await stage.js("void (record.length = 0)")
        with trio.move_on_after(milliseconds / 1000):
            await stage.click(node)
        kinds = await stage.types("mousedown", "mouseup", "click")
        assert kinds in ([], ["mousedown", "mouseup", "click"])
        assert stage.mouse.buttons == 0


async def test_cancelled_long_press_lets_go(stage: Stage) -> None:
    await stage.show(BUTTON)
    with trio.move_on_after(0.1) as scope:
        await stage.mouse.click(140, 60, delay=30)
    assert scope.cancelled_caught
    assert await stage.types("mousedown", "mouseup") == ["mousedown", "mouseup"]
    assert stage.mouse.buttons == 0


async def test_no_remote_object_and_no_call_is_left(stage: Stage) -> None:
    await stage.show(BUTTON + "<div id=x style='position:fixed;inset:0'></div>")
    with pytest.raises(Covered):
        await stage.click("#go", timeout=0.5)
    await stage.js("x.remove()")
    await stage.click("#go")
    await stage.js("1")
    assert stage.session.connection.statistics().in_flight == 0


async def test_the_page_sees_nothing_of_the_helpers(stage: Stage) -> None:
    await stage.show(BUTTON)
    await stage.js(
        "document.elementFromPoint = () => null; Element.prototype.getClientRects = () => [];"
        "window.getComputedStyle = () => { throw Error('patched') }; window.requestAnimationFrame = () => 0;"
        "window.names = Object.getOwnPropertyNames(window).length"
    )
    await stage.click("#go")
    assert await clicked(stage) == ["go"]
    assert await stage.js("Object.getOwnPropertyNames(window).length - names") == 1  # "names" itself


async def test_worlds_survive_navigation(stage: Stage, httpserver: HTTPServer) -> None:
    page = f"{BUTTON}<script>window.count = 0; go.onclick = () => count++</script>"
    httpserver.expect_request("/a").respond_with_data(page, content_type="text/html")
    for url in (httpserver.url_for("/a"), f"data:text/html,{page}", httpserver.url_for("/a")):
        await stage.goto(url)
        await stage.click("#go")
        assert await stage.js("count") == 1


async def test_click_that_navigates(stage: Stage, httpserver: HTTPServer) -> None:
    httpserver.expect_request("/next").respond_with_data("<title>Next</title>", content_type="text/html")
    await stage.show(f"<a id=go href='{httpserver.url_for('/next')}'>Next page</a>")
    async with stage.session.subscribe("Page.loadEventFired") as events:
        await stage.click("#go")
        await events.receive()
    assert await stage.js("document.title") == "Next"


async def test_all_mouse_events_are_trusted(stage: Stage) -> None:
    await stage.show(BUTTON, events=MOUSE_EVENTS + " pointerdown pointerup mouseover mouseenter")
    await stage.click("#go", count=2)
    record = await stage.record()
    assert record
    assert all(entry["trusted"] for entry in record)
