"""Visible content that Chrome's accessibility tree lacks is present and usable in every mode, from every
source.
"""

from __future__ import annotations

import re
from typing import get_args

import pytest
import trio
from pytest_httpserver import HTTPServer

import cdpengine
from cdpengine._snapshot.node import Source
from cdpengine._snapshot.render.lines import Mode
from cdpengine.errors import NotInteractableError

pytestmark = pytest.mark.chrome

HIDING = (
    "display:none",
    "visibility:hidden",
    "opacity:0;position:absolute",
    "position:absolute;width:1px;height:1px;clip:rect(0 0 0 0)",
    "position:absolute;left:-9999px",
    "width:0;height:0;margin:0;appearance:none",
)
MODES: tuple[Mode, ...] = get_args(Mode)
SOURCES: tuple[Source, ...] = get_args(Source)
BUTTON = "<button onclick='this.textContent = 0'>Pay</button>"


def lines(snapshot: cdpengine.Snapshot) -> list[str]:
    return re.sub(r" \[ref=e\d+]", "", str(snapshot)).split("\n")


async def test_hidden_controls_are_lines_in_every_mode_and_source(page: cdpengine.Page) -> None:
    for style in HIDING:
        await page.set_content(
            f"<input type=radio name=d id=a checked style='{style}'><label for=a>Standard</label>"
            f"<input type=radio name=d id=b style='{style}'><label for=b>Express</label>"
            f"<label><input type=checkbox disabled style='{style}'>Gift</label>"
            f"<label>Photo<input type=file style='{style}'></label>"
            f"<label hidden><input type=checkbox hidden>Not there</label><input type=radio hidden>"
        )
        shots = [await page.snapshot(mode=mode) for mode in MODES]
        shots += [await page.snapshot(source=source) for source in SOURCES]
        for shot in shots:
            what = f"{style}\n{shot}"
            found = {
                (ref.role, ref.name): ref for ref in shot.refs.values() if ref.role in ("radio", "checkbox")
            }
            assert set(found) == {("radio", "Standard"), ("radio", "Express"), ("checkbox", "Gift")}, what
            assert [ref.name for ref in shot.find_all(role="button")] == ["Photo"], what
            assert "Not there" not in str(shot), what
        by_ref = {node.ref.name: node.states for node in shots[0].nodes if node.ref is not None}
        assert by_ref["Standard"]["checked"] is True
        assert "checked" not in by_ref["Express"]
        assert by_ref["Gift"]["disabled"] is True
        await page.click(shots[0].find(role="radio", name="Express"), timeout=20)
        after = await page.snapshot()
        assert [node.states.get("checked") for node in after.nodes if node.role == "radio"] == [None, True], (
            style
        )


async def test_the_label_is_inside_of_the_line_of_its_control(page: cdpengine.Page) -> None:
    await page.set_content(
        "<label><input type=checkbox hidden> I accept the <a href='http://x.example/'>terms</a></label>"
        "<p>Say <label for=far>Dark</label> or not</p><div hidden><input type=checkbox role=switch id=far></div>"
        "<input type=checkbox hidden id=by aria-labelledby=said><b id=said onclick='by.click()'>By a script</b>"
        "<label onclick='1'><input type=radio>With a handler</label><label onclick='1'>Alone</label>"
    )
    expected = [
        '- checkbox "I accept the terms"',
        '  - link "terms" [url="http://x.example/"]',
        "- paragraph",
        '  - text: "Say"',
        '  - switch "Dark"',
        '  - text: "or not"',
        '- checkbox "By a script"',
        "- labeltext [clickable]",
        '  - radio "With a handler"',
        '  - text: "With a handler"',
        '- labeltext "Alone" [clickable]',
    ]
    for source in SOURCES:
        snapshot = await page.snapshot(source=source)
        assert lines(snapshot) == expected, source
    await page.check(snapshot.find(role="checkbox", name="By a script"), timeout=20)
    assert await page.evaluate("by.checked")


async def test_hidden_controls_are_found_by_role_and_name(page: cdpengine.Page) -> None:
    await page.set_content(
        "<label><input type=radio name=d>Post</label><label><input type=radio name=d hidden> Ex<b>press</b></label>"
        "<label for=on>Dark <i>mode</i></label><div hidden><input id=on type=checkbox role=switch></div>"
        "<label>Photo<input type=file hidden></label><label hidden>No<input type=radio hidden></label>"
    )
    assert [str(each) for each in await page.find_all(role="radio")] == ['radio "Post"', 'radio "Express"']
    for role, name in (
        ("radio", "express"),
        ("switch", "Dark mode"),
        ("button", "Photo"),
        (None, re.compile("^Dark")),
    ):
        await page.find(role=role, name=name, timeout=20)
    assert await page.find_all(role="radio", name="No") == []
    await page.check(page.locate(role="radio", name="Express"), timeout=20)
    assert await page.evaluate("document.querySelectorAll('input')[1].checked")


async def test_change_of_hidden_control_is_in_next_snapshot(page: cdpengine.Page) -> None:
    rows = "".join(f"<p><label for=c{n}>Row {n}</label> <a href=#{n}>x</a></p>" for n in range(40))
    hidden = "".join(f"<input type=checkbox hidden id=c{n}>" for n in range(40))
    await page.set_content(f"<main>{rows}</main><div>{hidden}</div>")
    for _ in range(3):
        snapshot = await page.snapshot()
    await page.evaluate("void (c7.checked = true)")
    snapshot = await page.snapshot()
    assert [node.name for node in snapshot.nodes if node.states.get("checked")] == ["Row 7"]
    await page.evaluate("void (c7.style.display = 'inline-block', c7.hidden = false)")
    assert str(await page.snapshot()) == str(await page.snapshot(fresh=True))


async def test_stale_aria_hidden_hides_nothing(page: cdpengine.Page) -> None:
    await page.set_content(f"<div id=root aria-hidden=true><h1>Orders</h1><p>Two</p>{BUTTON}</div>")
    expected = [
        "- generic [aria-hidden]",
        '  - heading "Orders" [level=1]',
        '  - paragraph: "Two"',
        '  - button "Pay"',
    ]
    for source in SOURCES:
        assert lines(await page.snapshot(source=source)) == expected
    for mode in MODES:
        snapshot = await page.snapshot(mode=mode)
        assert "aria-hidden" in str(snapshot)
        await page.click(snapshot.find(role="button", name=re.compile("Pay|0")), timeout=20)
    assert await page.evaluate("document.querySelector('button').textContent") == "0"
    await page.evaluate("void document.querySelector('#root').removeAttribute('aria-hidden')")
    assert lines(await page.snapshot()) == [
        '- heading "Orders" [level=1]',
        '- paragraph: "Two"',
        '- button "0" [focused]',
    ]


LEFT_OUT = {
    "an icon font": "<i aria-hidden=true style='font-family:\"Material Icons\"'>home</i>",
    "a drawing": "<svg aria-hidden=true width=9 height=9><text y=9>x</text></svg>",
    "punctuation": "<span aria-hidden=true>*</span> <span aria-hidden=true>→</span>",
    "said beside it": "<span aria-hidden=true>$ 5.00</span><b style='position:absolute;clip:rect(0 0 0 0)'>$5.00</b>",
    "said by the name": "<button aria-label='Like (5)'><span aria-hidden=true>5</span></button>",
    "an anchor": "<h2>Title <a aria-hidden=true href='#title'>#</a></h2>",
    "the picture of a link": "<a href=/a tabindex=-1 aria-hidden=true><img width=9 height=9 alt=''></a>",
    "transparent": "<input aria-hidden=true tabindex=-1 style='opacity:0'>",
    "off the page": "<div aria-hidden=true style='position:absolute;left:-5000px'>Honey <input name=pot></div>",
    "clipped": "<div style='width:50px;overflow:hidden'><div style='width:400px'><p aria-hidden=true "
    "style='margin-left:200px'>slide <a href=/s>two</a></p></div></div>",
    "behind a dialog": "<div aria-hidden=true>Page <button>Buy</button></div><div style='position:fixed;inset:0;"
    "background:#0008'></div><div role=dialog style='position:fixed;left:9px;top:9px'>Sure?</div>",
    "not displayed": "<div aria-hidden=true style='display:none'>none</div>",
}


async def test_empty_elements_under_aria_hidden_are_omitted(page: cdpengine.Page) -> None:
    for what, markup in LEFT_OUT.items():
        await page.set_content(f"<!doctype html>{markup}<p>Some text</p>")
        for source in SOURCES[:2]:
            assert "aria-hidden" not in str(await page.snapshot(source=source)), what


async def test_areas_of_an_image_map(page: cdpengine.Page) -> None:
    gif = "data:image/gif;base64,R0lGODlhAQABAIAAAP///////yH5BAAAAAAALAAAAAABAAEAAAICRAEAOw=="
    await page.set_content(
        f"<img src='{gif}' width=200 height=100 usemap=#m alt=Map><map name=m>"
        "<area coords=0,0,100,100 href='http://x.example/west' alt=West onclick='event.preventDefault(); hit = 1'>"
        "<area coords=100,0,200,100 href='http://x.example/east' alt=East onclick='event.preventDefault(); hit = 2'>"
        "<area alt=Nothing></map>"
    )
    await page.settled(timeout=20)
    for mode in MODES:
        snapshot = await page.snapshot(mode=mode)
        assert [ref.name for ref in snapshot.find_all(role="link")] == ["West", "East"], mode
    await page.click(snapshot.find(role="link", name="East"), timeout=20)
    assert await page.evaluate("hit") == 2


@pytest.mark.parametrize("sandbox", ["", "sandbox=allow-scripts"])
async def test_an_editor_in_a_frame_is_filled_in(page: cdpengine.Page, sandbox: str) -> None:
    design = '<script>document.designMode = "on"</script>'
    for body in (
        "<body contenteditable aria-label=Editor>old",
        f"<body aria-label=Editor>old{design}",
        f"<p>old</p>{design}",
    ):
        await page.set_content(f"<input autofocus><iframe {sandbox} srcdoc='{body}' title=Rich></iframe>")
        await page.settled(timeout=20)
        for source in SOURCES[:2]:
            snapshot = await page.snapshot(source=source)
            (editor,) = [ref for ref in snapshot.refs.values() if ref.role == "generic"]
            await page.click(editor, timeout=20)
            await page.fill(editor, "new", timeout=20)
            await page.click(snapshot.find(role="textbox"), timeout=20)
            await page.type(editor, " text", timeout=20)
            said = await page.evaluate("document.body.innerText", frame=page.frames[-1])
            assert said.strip() == "new text", (body, source)


GIF = bytes.fromhex("47494638396101000100800000ffffff00000021f90400000000002c00000000010001000002024401003b")
PDF = b"""%PDF-1.1
1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj 2 0 obj<</Type/Pages/Kids[3 0 R]/Count 1>>endobj
3 0 obj<</Type/Page/Parent 2 0 R/MediaBox[0 0 300 144]>>endobj
trailer<</Root 1 0 R>>
%%EOF"""


async def test_non_html_documents_name_their_type(page: cdpengine.Page, httpserver: HTTPServer) -> None:
    for path, content, kind in (
        ("/a.gif", GIF, "image/gif"),
        ("/a.txt", b"one\ntwo", "text/plain"),
        ("/a.pdf", PDF, "application/pdf"),
    ):
        httpserver.expect_request(path).respond_with_data(content, content_type=kind)
    frames = "<iframe src=/a.gif title=G></iframe><iframe src=/a.txt title=T></iframe><iframe src=/a.pdf title=P></iframe>"
    httpserver.expect_request("/").respond_with_data(frames, content_type="text/html")
    first = {
        "/a.gif": "# this document is a picture of 1 x 1 pixels (image/gif)",
        "/a.txt": "# this document is plain text (text/plain)",
        "/a.pdf": "# this document is a PDF, which only the browser's viewer shows (application/pdf)",
    }
    for path, line in first.items():
        await page.goto(httpserver.url_for(path))
        for source in SOURCES:
            assert lines(await page.snapshot(source=source))[0] == line
        for mode in MODES:
            assert str(await page.snapshot(mode=mode)).startswith(line)
    await page.goto(httpserver.url_for("/"))
    kinds = {
        "G": "a picture of 1 x 1 pixels",
        "T": "plain text",
        "P": "a PDF, which only the browser's viewer shows",
    }
    with trio.fail_after(20):
        while True:  # until all frames have loaded
            snapshot = await page.snapshot()
            if {node.name: node.remark for node in snapshot.nodes if node.role == "iframe"} == kinds:
                break
    await page.settled(timeout=20)  # Chrome reports the end of the PDF's request in another session
    assert snapshot.gaps == []


CAROUSEL = """<style>.c { width: 300px; overflow-x: scroll; scroll-marker-group: after; display: flex; scrollbar-width: none }
.c::scroll-button(right) { content: '>' / 'Next' } .c::scroll-button(left) { content: '<' / 'Previous' }
.c::scroll-marker-group { display: flex } .c p { min-width: 300px; height: 50px }
.c p::scroll-marker { content: '' / 'Go there'; width: 10px; height: 10px; background: red; display: block }</style>
<main><h1>Top</h1><div class=c><p>One <a href='http://x.example/'>a</a><p>Two<p>Three</div><b>End</b></main>"""


async def test_buttons_and_markers_of_a_carousel(page: cdpengine.Page) -> None:
    await page.set_content(CAROUSEL)
    with trio.fail_after(20):
        while "disabled" not in str(await page.snapshot()):  # Chrome disables a button some frames later
            await page.evaluate("new Promise(requestAnimationFrame)")
    expected = [
        "- main",
        '  - heading "Top" [level=1]',
        '  - button "Previous" [disabled]',
        '  - button "Next"',
        "  - paragraph",
        '    - text: "One"',
        '    - link "a" [url="http://x.example/"]',
        '  - paragraph: "Two"',
        '  - paragraph: "Three"',
        "  - navigation",
        '    - link "Go there"',
        '    - link "Go there" [nth=1]',
        '    - link "Go there" [nth=2]',
        '  - text: "End"',
    ]
    for source in SOURCES:
        snapshot = await page.snapshot(source=source)
        assert lines(snapshot) == expected, source
    scrolled = "document.querySelector('.c').scrollLeft"
    marker = snapshot.find_all(role="link")[-1]
    for target, wanted in ((snapshot.find(role="button", name="Next"), "> 0"), (marker, "=== 600")):
        assert (await page.click(target, timeout=20)).delivered
        script = f"new Promise((done) => {{ const look = () => {scrolled} {wanted} ? done(1) : setTimeout(look, 9); look() }})"
        assert await page.evaluate(script, timeout=20) == 1
    with trio.fail_after(20):
        while True:
            after = await page.snapshot()
            if [node.name for node in after.nodes if node.states.get("disabled")] == ["Next"]:
                break
    assert str(after) == str(await page.snapshot(fresh=True))
    with pytest.raises(NotInteractableError, match="does not take the keyboard focus"):
        await page.focus(marker, timeout=20)
