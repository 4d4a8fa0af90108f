"""Folding: the AX nodes that are shown, merged into their parents, or redundant."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from snapshot_trees import GARBAGE, RECORDED, REPLIES, Short, encoded, recorded, text_of, tree

from cdpengine._protocol.domains.accessibility import AXNode, AXTree, AXValue
from cdpengine._snapshot.node import Node, walk
from cdpengine._snapshot.sources.ax_nodes import fold
from cdpengine._snapshot.sources.ax_tree import decode_ax_tree

TEXT = "StaticText"


@pytest.mark.parametrize(
    ("nodes", "expected"),
    [
        pytest.param([("button", "Buy", (TEXT, "Buy"))], '- button "Buy"', id="text that repeats the name"),
        pytest.param([("button", "Save", (TEXT, "♥"))], '- button "Save": "♥"', id="text that differs"),
        pytest.param(
            [("button", "Two spans", (TEXT, "Two"), (TEXT, " "), (TEXT, "spans"))],
            '- button "Two spans"',
            id="text in pieces",
        ),
        pytest.param(
            [("link", "Page 12", (TEXT, "1"))],
            '- link "Page 12": "1"',
            id="a part of a word is no repetition",
        ),
        pytest.param(
            [("region", "News", (TEXT, "News"))],
            '- region "News": "News"',
            id="a region's name is not its content",
        ),
        pytest.param(
            [
                (
                    "link",
                    "Title Body",
                    ("heading", "Title", (TEXT, "Title")),
                    ("paragraph", "", (TEXT, "Body")),
                )
            ],
            '- link "Title Body"\n  - heading "Title"',
            id="a card",
        ),
        pytest.param(
            [("link", "Spade", ("image", "Spade"), (TEXT, "Spade"))], '- link "Spade"', id="image in a link"
        ),
        pytest.param([("image", ""), ("image", "Logo")], '- image "Logo"', id="unnamed image"),
        pytest.param(
            [("paragraph", "", (TEXT, "Use "), ("strong", "", (TEXT, "your")), (TEXT, " account\n"))],
            '- paragraph: "Use your account"',
            id="inline elements",
        ),
        pytest.param(
            [("generic", "", (TEXT, "a")), ("generic", "", (TEXT, "b"))],
            '- text: "a"\n- text: "b"',
            id="blocks keep their texts apart",
        ),
        pytest.param([(TEXT, "a"), ("LineBreak", "\n"), (TEXT, "b")], '- text: "a b"', id="line break"),
        pytest.param([("none", "", {"ignored": True}, ("button", "A"))], '- button "A"', id="ignored"),
        pytest.param(
            [("button", "A", {"ignored": True}, (TEXT, "t"))], '- text: "t"', id="ignored with a role"
        ),
        pytest.param(
            [
                (
                    "generic",
                    "",
                    ("generic", "", ("list", "", ("listitem", "", ("ListMarker", "• "), (TEXT, "x")))),
                )
            ],
            '- list\n  - listitem: "x"',
            id="structural",
        ),
        pytest.param(
            [("list", "", ("listitem", "")), ("paragraph", "", (TEXT, " \n"))], "", id="empty structural"
        ),
        pytest.param(
            [("generic", "Panel", ("button", "A"))], '- generic "Panel"\n  - button "A"', id="named generic"
        ),
        pytest.param(
            [("generic", "", {"focusable": True}, (TEXT, "x"))],
            '- generic: "x"',
            id="generic that takes the focus",
        ),
        pytest.param([(TEXT, "t", ("InlineTextBox", "t"))], '- text: "t"', id="inline text boxes"),
        pytest.param([("InlineTextBox", "t")], "", id="inline text box alone"),
        pytest.param(
            [("LabelText", "", {"id": 77}, (TEXT, "City ")), ("textbox", "City", {"labels": 77})],
            '- textbox "City"',
            id="label next to its field",
        ),
        pytest.param(
            [
                (
                    "LabelText",
                    "",
                    {"id": 77},
                    (TEXT, "City"),
                    ("textbox", "City", {"labels": 77}),
                    (TEXT, "or town"),
                )
            ],
            '- textbox "City"\n- text: "or town"',
            id="label around its field",
        ),
        pytest.param(
            [("LabelText", "", (TEXT, "City")), ("textbox", "Town")],
            '- text: "City"\n- textbox "Town"',
            id="label of nothing",
        ),
        pytest.param(
            [("cell", "ask", ("link", "ask", (TEXT, "ask")))], '- cell\n  - link "ask"', id="cell of one link"
        ),
        pytest.param([("cell", "2", (TEXT, "2"))], '- cell "2"', id="cell of text"),
        pytest.param(
            [("textbox", "A", {"value": "v", "editable": "plaintext"}, ("generic", "", (TEXT, "v")))],
            '- textbox "A" [value="v"]',
            id="text of a field",
        ),
        pytest.param(
            [("Date", "Day", {"value": "2026-01-02"}, ("spinbutton", "Month"), ("button", "Show"))],
            '- date "Day" [value="2026-01-02"]',
            id="a date field is one control",
        ),
        pytest.param([("DisclosureTriangle", "More")], '- button "More"', id="internal role"),
        pytest.param([("FutureThing", "x")], '- futurething "x"', id="unknown role"),
        pytest.param(
            [("FutureThing", "", (TEXT, "x"))], '- futurething: "x"', id="unknown role without a name"
        ),
        pytest.param([('x" [ref=e9]', "n")], '- generic "n"', id="a role other than a word"),
        pytest.param(
            [("Iframe", ""), ("Canvas", "")], "- iframe\n- canvas", id="embedded content is always shown"
        ),
        pytest.param(
            [("treeitem", "src", ("none", "", {"ignored": True}, (TEXT, "• ", {"id": None})))],
            '- treeitem "src"',
            id="bullet without a node",
        ),
        pytest.param(
            [("paragraph", "", ("deletion", "", (TEXT, "$25")))], '- paragraph\n  - deletion: "$25"', id="del"
        ),
    ],
)
def test_shown_nodes(nodes: list[Short], expected: str) -> None:
    import re

    shown = re.sub(r" \[ref=e\d+\]", "", text_of(*nodes))
    assert shown == (expected or "# nothing to show in the accessibility tree of this document")


def test_document_knows_its_address_title_and_frame() -> None:
    document = fold(tree(("button", "A")))
    assert (document.url, document.title) == ("http://shop.test/list?page=2", "Title")
    assert document.frame_id == "FRAME"
    assert document.nodes_seen == 2
    assert [node.frame_id for node in document.roots] == ["FRAME"]
    assert fold(tree(("button", "A")), frame_id="OTHER").roots[0].frame_id == "OTHER"


def ax(node_id: str, *children: str, role: str = "button") -> AXNode:
    return AXNode(node_id=node_id, role=AXValue(role), child_ids=children)


@pytest.mark.parametrize(
    ("nodes", "expected"),
    [
        pytest.param([], 0, id="nothing"),
        pytest.param([ax("1", "1")], 1, id="its own child"),
        pytest.param([ax("1", "2"), ax("2", "1")], 2, id="cycle with no root"),
        pytest.param([ax("1", "2", "2", "9"), ax("2", "1")], 2, id="named twice, and an id of nothing"),
        pytest.param([ax("1", "3"), ax("2", "3"), ax("3")], 3, id="two parents"),
        pytest.param([ax("1"), ax("1"), ax("")], 2, id="two with one id"),
        pytest.param([ax("1", role="none"), ax("2"), ax("3")], 2, id="several roots"),
    ],
)
def test_broken_trees_show_each_node_once(nodes: list[AXNode], expected: int) -> None:
    assert len(list(walk(fold(AXTree(tuple(nodes))).roots))) == expected


@pytest.mark.parametrize("role", ["button", "none", "listitem"])
def test_trees_of_any_depth(role: str) -> None:
    depth = 20_000
    nodes = [ax(str(n), str(n + 1), role=role) for n in range(depth)] + [ax(str(depth))]
    assert len(list(walk(fold(AXTree(tuple(nodes))).roots))) == (1 if role == "none" else depth + 1)


@pytest.mark.parametrize("page", RECORDED)
def test_recorded_pages_show_no_node_twice(page: str) -> None:
    seen = [node.backend_node_id for node in walk(fold(recorded(page)).roots) if node.kind != "text"]
    assert len(seen) == len(set(seen))


@given(GARBAGE | REPLIES)
def test_no_tree_makes_folding_raise(reply: Any) -> None:
    ax_tree = decode_ax_tree(encoded(reply))
    shown = [node for node in walk(fold(ax_tree).roots) if node.kind != "text"]
    assert len(shown) <= len(ax_tree.nodes)
    assert len(set(shown)) == len(shown)


@given(REPLIES)
def test_no_interactive_node_is_lost(reply: Any) -> None:
    """Each button reachable from a root is shown, unless it is inside another control."""
    for node in reply["nodes"]:
        if node["role"]["value"] in ("Date", "StaticText", "InlineTextBox", "ListMarker", "LineBreak"):
            node["childIds"] = []
    ax_tree = decode_ax_tree(encoded(reply))
    by_id: dict[str, AXNode] = {}
    for node in ax_tree.nodes:
        if node.role is None or node.role.value not in ("InlineTextBox", "ListMarker"):
            by_id.setdefault(node.node_id, node)
    below = {child for node in by_id.values() for child in node.child_ids}
    queue = [node_id for node_id in by_id if node_id not in below]
    queue = queue or [node.node_id for node in ax_tree.nodes[:1]]
    reached: set[str] = set()
    while queue:
        node_id = queue.pop()
        if node_id in by_id and node_id not in reached:
            reached.add(node_id)
            queue += by_id[node_id].child_ids
    buttons = [
        by_id[node_id]
        for node_id in reached
        if not by_id[node_id].ignored and (role := by_id[node_id].role) is not None and role.value == "button"
    ]
    shown: list[Node] = [node for node in walk(fold(ax_tree).roots) if node.role == "button"]
    assert len(shown) == len(buttons)
