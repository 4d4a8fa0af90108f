"""Undeclared clickable elements are found, positioned and clicked, by the page's record."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

import pytest

import cdpengine
from cdpengine._api.page.core import BackendNode
from cdpengine._page.scripts.worlds import IsolatedWorlds
from cdpengine._snapshot.node import Document, FrameRequest, Node, walk
from cdpengine._snapshot.sources.ax import read_ax
from cdpengine._snapshot.sources.computed import read_computed, read_dom
from cdpengine._snapshot.sources.source_choice import add_boxes

pytestmark = pytest.mark.chrome

Reader = Callable[[FrameRequest], Awaitable[Document]]
READERS: list[Reader] = [read_ax, read_computed, read_dom]

PAGE = """<!doctype html><title>Clickables</title>
<style>.pointer { cursor: pointer } div { margin: 2px }</style>
<div id=listener>By listener</div>
<div id=attribute onclick="note(this)">By attribute</div>
<div id=property>By property</div>
<div id=focusable tabindex=0>By tabindex</div>
<div id=pointer class=pointer>By <b>cursor</b></div>
<div id=pressed>By mousedown</div>
<p>A sentence with <span id=inline class=pointer>an inline one</span> in it.</p>
<div id=card class=pointer><p>Card title</p><a href="#card">Card link</a><p>Card end</p></div>
<div id=icon><i id=close class=pointer title="Close" style="display:inline-block;width:16px;height:16px"></i></div>
<li id=item>Item by listener</li>
<ul id=delegating><li id=row1>Row 1 <button>Delete 1</button></li><li id=row2>Row 2 <button>Delete 2</button></li></ul>
<div id=ancestor><span id=child class=pointer>Pointer below a listener</span> and plain text</div>
<div id=hidden class=pointer style="display:none">Hidden</div>
<div id=invisible class=pointer style="visibility:hidden">InvisibleError</div>
<div id=plain>Plain text</div>
<div id=draggable draggable=true>By draggable</div>
<div id=undraggable draggable=false>Not draggable</div>
<button><span id=inner draggable=true>Inside of a draggable button</span></button>
<div class=pointer id=around><a href="#x">Only a link</a></div>
<button><span id=inside class=pointer>Inside of a button</span></button>
<label id=label class=pointer>Label <input type=checkbox></label>
<div contenteditable id=editor>Editor <b>bold</b></div>
<script>
const clicked = [];
function note(element) { clicked.push(element.id); }
for (const id of ["listener", "item", "ancestor", "pointer", "card", "inline", "focusable", "child", "close"])
  document.getElementById(id).addEventListener("click", (event) => note(event.currentTarget));
for (const id of ["delegating"]) document.getElementById(id).addEventListener("click", () => 0);
document.getElementById("property").onclick = function () { note(this); };
document.getElementById("pressed").addEventListener("mousedown", function () { note(this); });
document.addEventListener("click", () => 0);
document.body.addEventListener("click", () => 0);
</script>"""

LISTENING = {
    "listener": "By listener",
    "attribute": "By attribute",
    "property": "By property",
    "pointer": "By cursor",
    "pressed": "By mousedown",
    "inline": "an inline one",
    "card": "",
    "close": "Close",
    "item": "",
    "child": "Pointer below a listener",
    "focusable": "",
}
"""Node names by id: the element's text if it contains only text, otherwise the title. Items have no names."""

CLICKABLE = LISTENING | {"ancestor": "", "draggable": "By draggable"}

ROOT = """<!doctype html><div id=root><header><h1>App</h1></header>
<div class=list><div class=row>One</div><div class=row>Two</div><div class=row>Three</div></div>
<div class=x style="cursor:pointer">Buy</div></div>
<script>for (const type of ["click", "mousedown", "mouseup"])
  for (const capture of [true, false]) document.getElementById("root").addEventListener(type, () => 0, capture);
</script>"""


async def frame_request(page: cdpengine.Page, *, boxes: bool = False) -> FrameRequest:
    frame = (await page.session.call("Page.getFrameTree"))["frameTree"]["frame"]
    return FrameRequest(
        session=page.session,
        worlds=IsolatedWorlds(),
        frame_id=frame["id"],
        loader_id=frame["loaderId"],
        boxes=boxes,
        clickables=True,
    )


def clickables(document: Document) -> list[Node]:
    return [node for node in walk(document.roots) if node.clickable]


async def id_of(page: cdpengine.Page, node: Node) -> str:
    described = await page.session.call("DOM.describeNode", backendNodeId=node.backend_node_id)
    attributes = described["node"].get("attributes", [])
    return str(dict(zip(attributes[::2], attributes[1::2], strict=True)).get("id", ""))


@pytest.mark.sample(2)
@pytest.mark.parametrize("reader", READERS)
async def test_only_clickable_elements_are_found(page: cdpengine.Page, reader: Reader) -> None:
    await page.set_content(PAGE)
    document = await reader(await frame_request(page))
    found = {await id_of(page, node): node for node in clickables(document) if node.role != "link"}
    assert {key: node.name for key, node in found.items()} == CLICKABLE
    assert all(node.wants_ref for node in found.values())
    assert document.unknown == ""


@pytest.mark.sample(2)
@pytest.mark.parametrize("reader", READERS)
async def test_nodes_are_at_the_positions_of_their_elements(page: cdpengine.Page, reader: Reader) -> None:
    await page.set_content(PAGE)
    document = await reader(await frame_request(page))
    sentence = next(node for node in walk(document.roots) if node.role == "paragraph")
    assert [(child.role, child.name) for child in sentence.children] == [
        ("text", "A sentence with"),
        ("generic", "an inline one"),
        ("text", "in it."),
    ]
    [card] = [node for node in clickables(document) if await id_of(page, node) == "card"]
    assert [(node.role, node.name) for node in walk(card.children)] == [
        ("paragraph", ""),
        ("text", "Card title"),
        ("link", "Card link"),
        ("paragraph", ""),
        ("text", "Card end"),
    ]


async def test_a_click_on_each_lands_on_it(page: cdpengine.Page) -> None:
    await page.set_content(PAGE)
    for node in clickables(await read_ax(await frame_request(page))):
        name = await id_of(page, node)
        if name not in LISTENING:
            continue
        await page.click(BackendNode(node.backend_node_id or 0), timeout=20)
        assert await page.evaluate("clicked.splice(0)[0]", timeout=20) == name


async def test_listener_at_root_marks_neither_root_nor_descendants(page: cdpengine.Page) -> None:
    await page.set_content(ROOT)
    for reader in READERS:
        document = await reader(await frame_request(page))
        assert [node.name for node in clickables(document)] == ["Buy"]


@pytest.mark.parametrize("reader", READERS)
async def test_a_later_draggable_attribute_counts(page: cdpengine.Page, reader: Reader) -> None:
    await page.set_content("<ul><li id=row>Row<li>Other</ul>")
    assert clickables(await reader(await frame_request(page))) == []
    await page.evaluate("() => { row.draggable = true }")
    [row] = clickables(await reader(await frame_request(page)))
    assert row.role == "listitem"
    await page.evaluate("() => { row.innerHTML = '<b draggable=true>Card</b> <p draggable=true>Text' }")
    document = await reader(await frame_request(page))
    assert [node.role for node in clickables(document)] == ["listitem", "generic", "paragraph"]
    await page.evaluate("() => { row.draggable = false; row.textContent = 'Row' }")
    assert clickables(await reader(await frame_request(page))) == []


async def test_unchanged_draggables_are_not_renamed(page: cdpengine.Page) -> None:
    """A draggable card without a name is shown by its content, which is not its name."""
    await page.set_content(
        "<div draggable=true onclick='clicked = true'><p>Card</p><button>Open</button></div>"
        "<script>var clicked = false</script>"
    )
    snapshot = await page.snapshot()
    await page.click(snapshot.find(role="generic"), refuse_renamed=True)
    assert await page.evaluate("clicked") is True


HANDLERS = """<!doctype html><title>Handlers</title>
<span id=good onclick="1">Good</span> <span id=taken onmousedown="1">Taken back</span> <span id=broken onclick="(">Broken</span>
<span id=empty onpointerup="">Empty</span> <button onclick="1">Button</button> <span hidden onclick="1">Hidden</span>
<div onclick="1"><span id=two onclick="1">Two</span><em>of them</em></div>
<x-host id=host></x-host>
<script>
taken.onmousedown = null;
host.attachShadow({ mode: "open" }).innerHTML = "<span id=inner onclick='1'>Inner</span>";
</script>"""


async def read_names(page: cdpengine.Page, reader: Reader) -> list[str]:
    return [node.name for node in clickables(await reader(await frame_request(page)))]


@pytest.mark.sample(2)
@pytest.mark.parametrize("reader", READERS)
async def test_attributes_count_where_they_are_listeners(page: cdpengine.Page, reader: Reader) -> None:
    """The walk assumes that they are, until Chrome lists the listeners. A page can remove its handlers."""
    await page.set_content(HANDLERS)
    expected = await read_names(page, read_ax)
    assert {"Good", "Two", "Inner"} < set(expected)
    assert not {"Taken back", "Broken", "Hidden"} & set(expected)
    for _ in range(3):
        assert await read_names(page, reader) == expected
    await page.evaluate("() => { good.onclick = null; taken.onmousedown = broken.onclick = () => 1 }")
    changed = await read_names(page, reader)
    assert {"Taken back", "Broken", "Two", "Inner"} < set(changed)
    assert "Good" not in changed
    await page.evaluate("() => { broken.setAttribute('onclick', ')'); good.setAttribute('onclick', '2') }")
    changed = await read_names(page, reader)
    assert {"Taken back", "Good", "Two", "Inner"} < set(changed)
    assert "Broken" not in changed
    assert await read_names(page, reader) == changed


@pytest.mark.parametrize("scale", [1, 2])
async def test_boxes_equal_those_of_the_page(page: cdpengine.Page, scale: int) -> None:
    await page.session.call(
        "Emulation.setDeviceMetricsOverride", width=800, height=600, deviceScaleFactor=scale, mobile=False
    )
    await page.set_content(
        "<!doctype html><body style='height:5000px'><p style='height:400px'>x</p><button>B</button>"
    )
    told = await page.evaluate(
        "(scrollTo(0, 150), (r => [r.x, r.y, r.width, r.height])(document.querySelector('button')"
        ".getBoundingClientRect()))"
    )
    request = await frame_request(page, boxes=True)
    document = await read_ax(request)
    await add_boxes(request, document)
    button = next(node for node in walk(document.roots) if node.role == "button")
    assert button.box == pytest.approx(told, abs=1)
    assert document.viewport is not None
    assert document.viewport[1] == 600
