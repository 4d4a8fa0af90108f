"""Trees of nodes for tests of rendering, size and diff: literal trees, and hypothesis strategies for random
ones.
"""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st
from snapshot_trees import NASTY

from cdpengine._snapshot.node import Document, Kind, Node, walk
from cdpengine._snapshot.refs import Ref
from cdpengine._snapshot.render.render import Rendering, SnapshotOptions, render

_KINDS: dict[str, Kind] = {
    "button": "interactive",
    "link": "interactive",
    "textbox": "interactive",
    "heading": "content",
    "listitem": "content",
    "list": "structural",
    "paragraph": "structural",
    "null": "structural",
    "iframe": "interactive",
}
STATES = st.lists(
    st.tuples(st.sampled_from(["checked", "focused", "disabled"]), st.just(True) | NASTY)
    | st.tuples(st.just("level"), st.integers(1, 6) | st.floats()),
    max_size=2,
).map(tuple)
LONG = NASTY | st.builds(lambda text, times: text * times, NASTY, st.sampled_from([80, 200]))
WORDS = st.sampled_from(
    ["yes", "No", "null", "12", "1.5", "2024-01-01", "a: b", "a #b", "- x", "plain words", "~", ""]
)
BOX = st.none() | st.tuples(*[st.floats(-500, 5000, width=32)] * 2, *[st.floats(0, 900, width=32)] * 2)


@st.composite
def _node(draw: st.DrawFn, children: st.SearchStrategy[list[Node]]) -> Node:
    role = draw(st.sampled_from([*_KINDS, "text"]))
    text = LONG | WORDS
    if role == "text":
        return Node("text", "text", draw(text))
    node = Node(role, _KINDS[role], draw(text), draw(STATES), box=draw(BOX), children=draw(children))
    node.backend_node_id = 1
    node.clickable = draw(st.booleans())
    if draw(st.booleans()):
        node.value, node.url = draw(st.none() | text), draw(text)
        node.placeholder, node.description = draw(text), draw(text)
    if role == "iframe":
        node.remark = draw(st.sampled_from(["", "frame not responding"]) | NASTY)
        if not node.remark:
            node.document = Document(
                node.children, url=draw(text), cut=draw(st.booleans()), viewport=(800, 600)
            )
    return node


_NODES = st.recursive(
    st.lists(_node(st.just([])), max_size=3), lambda inner: st.lists(_node(inner), max_size=4), max_leaves=8
)


def _document(roots: list[Node], url: str) -> Document:
    for number, node in enumerate(walk(roots), 1):
        if node.kind != "text":
            node.backend_node_id = number
    return Document(roots, url=url, viewport=(800, 600))


DOCUMENTS = st.builds(_document, _NODES, NASTY | st.just("http://shop.test/list"))


def refs_of(document: Document) -> dict[Node, Ref]:
    refs: dict[Node, Ref] = {}
    for node in walk(document.roots):
        if node.wants_ref and node.backend_node_id is not None:
            ref_id = f"e{len(refs) + 1}"
            refs[node] = Ref(ref_id, node.role, node.name, 0, node.backend_node_id, None, None, None)
    return refs


def rendered(document: Document, **options: Any) -> Rendering:
    return render(document, refs_of(document), SnapshotOptions(**options))


def shop(rows: int = 3, *, frame: Document | None = None, boxes: bool = False) -> Document:
    """A list of rows with link, text and button, each 20 pixels high. The optional frame comes last."""
    items = []
    for row in range(rows):
        box = (0.0, row * 20.0, 100.0, 20.0) if boxes else None
        children = [
            Node("link", "interactive", f"Item {row}", url=f"http://shop.test/p/{row}", box=box),
            Node("text", "text", "in stock"),
            Node("button", "interactive", f"Buy {row}", box=box),
        ]
        items.append(Node("listitem", "content", children=children, box=box))
    roots = [
        Node(
            "list", "content", "Items", children=items, box=(0.0, 0.0, 100.0, rows * 20.0) if boxes else None
        )
    ]
    if frame is not None:
        roots.append(Node("iframe", "interactive", "Ad", children=frame.roots, document=frame))
    return _document(roots, "http://shop.test/list")
