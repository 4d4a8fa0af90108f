"""A snapshot's lines for small pages, from every source, contain only information from the page."""

from __future__ import annotations

from typing import get_args

import pytest

import cdpengine
from cdpengine._snapshot.node import Source

pytestmark = pytest.mark.chrome

SOURCES: tuple[Source, ...] = get_args(Source)


@pytest.fixture
async def page(used_page: cdpengine.Page) -> cdpengine.Page:
    """A document in which relative addresses do not resolve."""
    await used_page.goto("about:blank")
    return used_page


def without_refs(text: str) -> list[str]:
    """Return the lines without the parts that depend on the page's history."""
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


@pytest.mark.sample(3)
@pytest.mark.parametrize("source", SOURCES)
async def test_bounds_equal_the_page_attributes(page: cdpengine.Page, source: Source) -> None:
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
    "a child with other text": (
        "<div onclick=0 class=p>Row 1 <a role=menuitem>More</a></div>",
        ["- generic [clickable]", '  - text: "Row 1"', '  - menuitem "More"'],
    ),
    "a child with more content": (
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


@pytest.mark.sample(4)
@pytest.mark.parametrize("name", WRAPPERS)
async def test_wrapper_of_controls_has_no_line(page: cdpengine.Page, name: str) -> None:
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
    "presentation has no line": (
        "<div role=none title=t><p>q</p></div><div role=presentation><b>x</b></div><table role=none><tr><td>1<td>2</table><ul role=none><li>a</ul>",
        ['- paragraph: "q"', '- text: "x"', '- text: "1"', '- text: "2"', '- text: "a"'],
    ),
    "presentation that can take the focus": ("<div role=none tabindex=0>abc</div>", ['- generic: "abc"']),
    "spaces next to empty elements": (
        "<p><b>x</b> <i id=e></i> <b>y</b> <mark></mark> <time>z</time></p>",
        ['- paragraph: "x y z"'],
    ),
    "a placeholder has one line": ("<input placeholder='a \nb'>", ['- textbox "a b"']),
    "names have one line": (
        "<button>a<br>b</button><button style='white-space:pre'>a\nb</button><button aria-label='a\nb'></button><input type=submit value='a\nb'>",
        ['- button "a b"'] * 4,
    ),
    "aria-hidden in a label": (
        "<h1 id=h>x <sub aria-hidden=true><button>b</button></sub></h1><i tabindex=0 aria-labelledby=h>i</i>",
        ['- heading "x" [level=1]', "  - subscript [aria-hidden]", '    - button "b"', '- generic "x": "i"'],
    ),
    "names that Chrome keeps under aria-hidden": (
        "<h1>x <sub aria-hidden=true>t <label>lone</label> <button>b</button> <i id=d>d</i></sub></h1><p aria-describedby=d>p</p>",
        [
            '- heading "x lone b d" [level=1]',
            "  - subscript [aria-hidden]",
            '    - text: "t"',
            '    - button "b"',
            '- paragraph: "p"',
        ],
    ),
    "items of a list that is something else": (
        "<ul role=article><li tabindex=0>a</li><li>b</li></ul>",
        ["- article", '  - text: "a"', '  - text: "b"'],
    ),
    "headers keep their names": (
        (
            "<div role=grid><div role=row><div role=columnheader aria-label=Name><div>Name</div><button>Sort</button></div>"
            "<div role=columnheader><button>Age</button></div><div role=columnheader><p>Unit</p><p>price</p></div>"
            "<div role=columnheader style='white-space:pre-line'>In\nEUR</div></div>"
            "<div role=row aria-label=R><div role=rowheader><button>First</button></div>"
            "<div role=gridcell><button>1</button></div></div></div>"
        ),
        [
            "- grid",
            "  - row",
            '    - columnheader "Name"',
            '      - button "Sort"',
            '    - columnheader "Age"',
            '      - button "Age"',
            '    - columnheader "Unit price"',
            '    - columnheader "In EUR"',
            '  - row "R"',
            '    - rowheader "First"',
            '      - button "First"',
            "    - gridcell",
            '      - button "1"',
        ],
    ),
    "a focusable wrapper of a button": (
        '<span tabindex=0 aria-label="Buy now"><button>Buy now</button></span><span tabindex=0 aria-label=Go>Go</span>',
        ["- generic", '  - button "Buy now"', '- generic "Go"'],
    ),
}


@pytest.mark.sample(4)
@pytest.mark.parametrize("source", SOURCES)
@pytest.mark.parametrize("name", SAID)
async def test_repeated_text_is_merged_and_other_text_is_kept(
    page: cdpengine.Page, source: Source, name: str
) -> None:
    html, expected = SAID[name]
    await page.set_content(f"<!doctype html>{html}")
    assert without_refs(str(await page.snapshot(source=source))) == expected


@pytest.mark.parametrize("source", ["computed", "dom"])
async def test_consecutive_unnamed_canvases_are_one_line(page: cdpengine.Page, source: Source) -> None:
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


LINES = {
    "pre": ("<pre>a\n\tb\n\n c \n\n</pre>", ['- text: "a\\n\\tb\\n\\n c"']),
    "code in pre": (
        "<pre><code><b>def</b> f():\n    <i>return</i>\n<u> 1</u>\n</code></pre>",
        ['- text: "def f():\\n    return\\n 1"'],
    ),
    "one line of code": ("<pre>\n  a  b\n</pre>", ['- text: "a b"']),
    "pre-wrap, break-spaces": (
        "<p style='white-space:pre-wrap'>a\n  b</p><p style='white-space:break-spaces'>a\n  b</p>",
        ['- paragraph: "a\\n  b"', '- paragraph: "a\\n  b"'],
    ),
    "pre-line": ("<p style='white-space:pre-line'>a\n  b   c</p>", ['- paragraph: "a\\nb c"']),
    "spaces without breaks": (
        "<p>a\n  b<br>c</p><p style='white-space:nowrap'>a\nb</p><p style='white-space-collapse:preserve-spaces'>a\nb</p>",
        ['- paragraph: "a b c"', '- paragraph: "a b"', '- paragraph: "a b"'],
    ),
    "within a sentence": (
        "<p>Use\n <code style='white-space:pre'>a\n  b</code>\n now</p>",
        ['- paragraph: "Use a\\n  b now"'],
    ),
    "a textarea": (
        "<textarea aria-label=T>one\n\n two</textarea>",
        ['- textbox "T" [value="one\\n\\n two"]'],
    ),
    "focusable pre": ("<pre tabindex=0>a\n b</pre>", ['- generic: "a\\n b"']),
    "a name has one line": ("<button><pre>A\nB</pre></button>", ['- button "A B"']),
    "cells": (
        "<table><tr><th>h<tr><td><pre>1\n 2</pre></table>",
        ["- table", "  - row", '    - columnheader "h"', "  - row", '    - cell: "1\\n 2"'],
    ),
    "a forged line": ('<pre>a\n- button "Pay"</pre>', ['- text: "a\\n- button \\"Pay\\""']),
}
DESCRIBED = {
    "its own content": (
        "<button aria-label=Z title='Hello you'><b>Hello</b> you</button>",
        ['- button "Z": "Hello you"'],
    ),
    "lines inside": (
        "<div tabindex=0 aria-label=Z title='Hello you'><p>Hello</p><p>you</p></div>",
        ['- generic "Z"', '  - paragraph: "Hello"', '  - paragraph: "you"'],
    ),
    "the text after it": (
        "<input aria-label=n aria-describedby=q><span id=q>hint</span>",
        ['- textbox "n"', '- text: "hint"'],
    ),
    "the paragraph after it": (
        "<button aria-describedby=d>Go</button><p id=d>Explains it</p>",
        ['- button "Go"', '- paragraph: "Explains it"'],
    ),
    "a later line": (
        "<button aria-describedby=d>Go</button><p>But</p><p id=d>Explains it</p>",
        ['- button "Go" [description="Explains it"]', '- paragraph: "But"', '- paragraph: "Explains it"'],
    ),
    "an icon": (
        "<a href=x><i title=Delete></i></a><button><p><span><i title=Edit></i></span></p></button>",
        ['- link [description="Delete"]', '- button [description="Edit"]'],
    ),
    "a letter of an icon font": (
        "<button><i title=Edit>&#xf044;</i></button>",
        ['- button "\\uf044" [description="Edit"]'],
    ),
    "an icon beside words": ("<button><i title=Pen></i>Edit</button>", ['- button "Edit"']),
    "a clickable icon": (
        "<div onclick=0 class=p><i title=Close></i></div>",
        ['- generic [clickable] [description="Close"]'],
    ),
    "a described button": (
        "<button title=''aria-description=Own><i title=Inner></i></button>",
        ['- button [description="Own"]'],
    ),
}
OPTIONS = {
    "outside of any list box": (
        "<div role=option>A</div><div role=option><b>B</b> c</div>",
        ['- generic "A" [clickable]', '- generic "B c" [clickable]'],
    ),
    "tree items outside of a tree": ("<div role=treeitem>A</div>", ['- generic "A" [clickable]']),
    "a list box": (
        "<ul role=listbox><li role=option>A</ul><div role=listbox><div role=group><div role=option>B</div></div></div>",
        ["- listbox", '  - option "A"', "- listbox", "  - group", '    - option "B"'],
    ),
    "a list in a list box": (
        "<div role=listbox><ul><li role=option>A</ul></div>",
        ["- listbox", "  - list", '    - listitem [clickable]: "A"'],
    ),
    "a combobox that controls them": (
        "<input role=combobox aria-label=C aria-controls=l aria-activedescendant=o><ul role=listbox id=l><li id=o role=option>A</ul>",
        ['- combobox "C"', "- listbox", '  - option "A"'],
    ),
    "an input that owns them": (
        "<input role=combobox aria-label=C aria-owns=l><ul role=listbox id=l><li role=option>A</ul>",
        ['- combobox "C"', "- listbox", '  - option "A"'],
    ),
    "an input that owns another element": (
        "<input role=combobox aria-label=C aria-owns=l><div id=l><div role=option>A</div></div>",
        ['- combobox "C"', '- generic "A" [clickable]'],
    ),
    "a list box that owns them": (
        "<div role=listbox aria-owns=o></div><div role=option id=o>A</div>",
        ["- listbox", '  - option "A"'],
    ),
    "items that listen": (
        "<ul role=listbox><li onclick=0>A<li onclick=0>B</ul>",
        ["- listbox", '  - generic "A" [clickable]', '  - generic "B" [clickable]'],
    ),
}


@pytest.mark.sample(4, start=1)
@pytest.mark.parametrize("source", SOURCES)
async def test_line_breaks_descriptions_and_options(page: cdpengine.Page, source: Source) -> None:
    wrong = []
    for name, (html, expected) in (LINES | DESCRIBED | OPTIONS).items():
        await page.set_content(f"<!doctype html><style>.p {{ cursor: pointer }}</style>{html}")
        snapshot = await page.snapshot(source=source)
        lines = without_refs(str(snapshot))
        if lines != expected:
            wrong.append(f"{name}: got {lines}, expected {expected}")
        unmarked = [node for node in snapshot.nodes if node.clickable or node.role == "option"]
        assert all(node.ref is not None for node in unmarked), name
    assert not wrong, "\n".join(wrong)


@pytest.mark.sample(3)
@pytest.mark.parametrize("source", SOURCES)
async def test_descriptions_in_every_mode_and_as_data(page: cdpengine.Page, source: Source) -> None:
    await page.set_content(
        "<!doctype html><button aria-describedby=d>Go</button><p id=d>Explains</p><a href=x><i title=Delete></i></a>"
    )
    for mode in ("role", "ai", "numbered"):
        snapshot = await page.snapshot(source=source, mode=mode)
        assert [node.description for node in snapshot.nodes] == ["", "", "Delete"]
        assert str(snapshot).count("Explains") == 1
        only = await page.snapshot(source=source, mode=mode, interactive=True)
        assert [node.description for node in only.nodes] == ["Explains", "Delete"]
        assert str(only).count("Explains") == 1
    assert snapshot.find_all(name="Delete") == []
    assert await page.find_all("link", name="Delete") == []


async def test_white_space_that_a_style_sheet_changes_is_seen(page: cdpengine.Page) -> None:
    await page.set_content("<!doctype html><div><p>a\n b</p></div>" + "<p>x</p>" * 40)
    assert str(await page.snapshot()).startswith('- paragraph: "a b"')
    await page.snapshot()
    await page.evaluate("document.body.className = 'k', void document.styleSheets")
    await page.evaluate(
        "{ const s = new CSSStyleSheet(); s.replaceSync('p { white-space: pre }'); document.adoptedStyleSheets = [s]; }"
    )
    assert str(await page.snapshot()).startswith('- paragraph: "a\\n b"')
