"""What the lines of a snapshot say of small pages, by every source: nothing that the page did not say."""

from __future__ import annotations

from typing import get_args

import pytest

import cdpengine
from cdpengine.snapshot.node import Source

pytestmark = pytest.mark.chrome

SOURCES: tuple[Source, ...] = get_args(Source)


@pytest.fixture
def page(kept_page: cdpengine.Page) -> cdpengine.Page:
    return kept_page


def without_refs(text: str) -> list[str]:
    """Return the lines without what differs with the page's history."""
    out = []
    for line in text.splitlines():
        parts = [part for part in line.split(" [") if not part.startswith(("ref=", "nth="))]
        tail = line.rpartition("]: ")
        said = ": " + tail[2] if tail[1] and line.split(" [")[-1].startswith(("ref=", "nth=")) else ""
        out.append(" [".join(parts) + said)
    return out


BOUNDS = {
    "<input type=number aria-label=A>": '- spinbutton "A"',
    "<input type=number max=9 aria-label=A>": '- spinbutton "A" [max=9]',
    "<input type=number min=0 max=0 aria-label=A>": '- spinbutton "A" [min=0] [max=0]',
    "<input type=number min=-4 max=0 aria-label=A>": '- spinbutton "A" [min=-4] [max=0]',
    "<input type=number min=zero aria-label=A>": '- spinbutton "A"',
    "<input type=number aria-valuemin=3 aria-label=A>": '- spinbutton "A" [min=3]',
    "<div role=spinbutton aria-label=A aria-valuenow=2></div>": '- spinbutton "A" [value="2"]',
    "<div role=spinbutton aria-label=A aria-valuenow=2 aria-valuemin=0></div>": (
        '- spinbutton "A" [min=0] [value="2"]'
    ),
    "<input type=range aria-label=A>": '- slider "A" [min=0] [max=100] [value="50"]',
    "<input type=range min=8 max=3 aria-label=A>": '- slider "A" [min=8] [max=8] [value="8"]',
    "<div role=slider aria-label=A aria-valuenow=2></div>": '- slider "A" [min=0] [max=100] [value="2"]',
}


@pytest.mark.parametrize("source", SOURCES)
async def test_bounds_are_those_that_the_page_gave(page: cdpengine.Page, source: Source) -> None:
    await page.set_content("<!doctype html>" + "".join(BOUNDS))
    assert without_refs(str(await page.snapshot(source=source))) == list(BOUNDS.values())


WRAPPERS = {
    "menu items": (
        "<ul role=menu><li onclick=0 class=p><div role=menuitem>Close</div></li></ul>",
        ["- menu", '  - menuitem "Close"'],
    ),
    "a menu": (
        "<div onclick=0 class=p><div role=menu><div role=menuitem>A</div><div role=menuitem>B</div></div></div>",
        ["- menu", '  - menuitem "A"', '  - menuitem "B"'],
    ),
    "a wrapper in a wrapper": (
        "<div onclick=0 class=p><span onclick=0 class=p>Go on</span></div>",
        ['- generic "Go on" [clickable]'],
    ),
    "a button by its attribute": (
        "<div onclick=0><button aria-label=Save></button></div>",
        ['- button "Save"'],
    ),
    "what says more": (
        "<div onclick=0 class=p>Row 1 <a role=menuitem>More</a></div>",
        ["- generic [clickable]", '  - text: "Row 1"', '  - menuitem "More"'],
    ),
    "what shows more": (
        "<div onclick=0 class=p><img alt=Cat><a href=data:,>Cat</a></div>",
        ["- generic [clickable]", '  - image "Cat"', '  - link "Cat" [url="data:,"]'],
    ),
    "another name": (
        "<div onclick=0 aria-label=Card><button>Save</button></div>",
        ['- generic "Card" [clickable]', '  - button "Save"'],
    ),
    "a disabled button": (
        "<div onclick=0 class=p><button disabled>Save</button></div>",
        ["- generic [clickable]", '  - button "Save" [disabled]'],
    ),
    "pictures": (
        '<img onclick=0 alt=""><img onclick=0 alt=Cat><svg onclick=0 width=9 height=9><rect width=9 height=9 /></svg>',
        ["- image [clickable]", '- image "Cat" [clickable]', "- image [clickable]"],
    ),
}


@pytest.mark.parametrize("name", WRAPPERS)
async def test_what_wraps_controls_has_no_line_of_its_own(page: cdpengine.Page, name: str) -> None:
    html, expected = WRAPPERS[name]
    await page.set_content(
        f"<!doctype html><style>.p {{ cursor: pointer }} img {{ width: 9px; height: 9px }}</style>{html}"
    )
    for _ in range(2):
        assert without_refs(str(await page.snapshot(source="hybrid"))) == expected


SAID = {
    "a list item's title is no content": (
        '<ul><li title="Order 66 and more">Order 66</li><li title=Same>Same</li><li title="a b"><p>b</p></li></ul>',
        [
            "- list",
            '  - listitem "Order 66 and more": "Order 66"',
            '  - listitem: "Same"',
            '  - listitem "a b"',
            '    - paragraph: "b"',
        ],
    ),
    "what is presentation has no line": (
        "<div role=none title=t><p>q</p></div><div role=presentation><b>x</b></div><table role=none><tr><td>1<td>2</table><ul role=none><li>a</ul>",
        ['- paragraph: "q"', '- text: "x"', '- text: "1"', '- text: "2"', '- text: "a"'],
    ),
    "presentation that can take the focus": ("<div role=none tabindex=0>abc</div>", ['- generic: "abc"']),
    "a focusable wrapper of a button": (
        '<span tabindex=0 aria-label="Buy now"><button>Buy now</button></span><span tabindex=0 aria-label=Go>Go</span>',
        ["- generic", '  - button "Buy now"', '- generic "Go"'],
    ),
}


@pytest.mark.parametrize("source", SOURCES)
@pytest.mark.parametrize("name", SAID)
async def test_what_is_said_once_and_what_is_not_lost(
    page: cdpengine.Page, source: Source, name: str
) -> None:
    html, expected = SAID[name]
    await page.set_content(f"<!doctype html>{html}")
    assert without_refs(str(await page.snapshot(source=source))) == expected


@pytest.mark.parametrize("source", ["computed", "dom"])
async def test_canvases_in_a_row_that_say_nothing_are_one_line(page: cdpengine.Page, source: Source) -> None:
    await page.set_content(
        "<!doctype html><canvas></canvas> <canvas></canvas><canvas></canvas><canvas aria-label=Chart></canvas><canvas></canvas>x<canvas></canvas>"
    )
    expected = ["- canvas [count=3]", '- canvas "Chart"', "- canvas", '- text: "x"', "- canvas"]
    for _ in range(3):
        snapshot = await page.snapshot(source=source)
        assert without_refs(str(snapshot)) == expected
    last = snapshot.nodes[0].ref
    assert last is not None
    third = (await page.find_all("canvas"))[2]
    assert last.backend_node_id == third.backend_node_id
