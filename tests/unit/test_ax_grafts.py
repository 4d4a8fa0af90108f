"""Nodes missing from Chrome's accessibility tree, inserted at their place, once, and with all their
descendants.
"""

from __future__ import annotations

from cdpengine._protocol.domains.accessibility import AXName, AXNode, AXTree, AXValue
from cdpengine._snapshot.node import Node
from cdpengine._snapshot.sources.ax_grafts import Graft, Place, add_grafts, add_missing
from cdpengine._snapshot.sources.ax_nodes import fold


def ax(number: int, role: str, *children: int, name: str = "", ignored: bool = False) -> AXNode:
    return AXNode(
        str(number),
        ignored=ignored,
        role=AXValue(role),
        name=AXName(name),
        child_ids=tuple(map(str, children)),
        backend_node_id=number,
    )


def place(number: int, *above: int, inside: set[int] | None = None, after: set[int] | None = None) -> Place:
    return Place(number, inside or set(), above, after or set())


TREE = AXTree(
    (
        ax(1, "RootWebArea", 2, 3, 4),
        ax(2, "LabelText", 5),
        ax(5, "StaticText", name="Express"),
        ax(3, "button", name="Last"),
        ax(4, "generic", 6, ignored=True),
        ax(6, "button", name="Pay", ignored=True),
    )
)
PAY = Node("generic", "structural", children=[Node("button", "interactive", "Pay", backend_node_id=6)])


def test_a_control_replaces_its_label() -> None:
    radio = Node("radio", "interactive", "Express", (("checked", True),), backend_node_id=9)
    tree, ready = add_grafts(TREE, [Graft(radio, place(2, 1))])
    document = fold(tree, ready=ready)
    assert document.roots[0] is radio
    assert [node.name for node in document.roots] == ["Express", "Last"]
    assert [node.backend_node_id for node in tree.nodes if node.backend_node_id in (2, 5)] == []


def test_hidden_content_is_placed_by_the_flat_tree() -> None:
    for after, names in (({3}, ["Express", "", "Last"]), (set[int](), ["Express", "Last", ""])):
        tree, ready = add_grafts(TREE, [Graft(PAY, place(7, 99, 1, inside={6}, after=after))])
        document = fold(tree, ready=ready)
        assert [node.name for node in document.roots] == names
        (shown,) = [node for node in document.roots if node is PAY]
        assert [node.name for node in shown.children] == ["Pay"]
        assert [node.ignored for node in tree.nodes if node.backend_node_id == 6] == [False]


def test_an_unknown_place_means_the_end_of_the_document() -> None:
    tree, ready = add_grafts(TREE, [Graft(PAY, place(7, 99))])
    assert fold(tree, ready=ready).roots[-1] is PAY
    assert add_grafts(AXTree(()), [Graft(PAY, place(7))])[0].nodes


def test_an_inserted_node_takes_its_descendants() -> None:
    tree = add_missing(TREE, [place(7, 1, inside={2, 3}), place(3, 1), place(8, 99)])
    new = next(node for node in tree.nodes if node.backend_node_id == 7)
    assert new.child_ids == ("2", "3")
    assert next(node for node in tree.nodes if node.node_id == "1").child_ids == (new.node_id, "4")
    assert len(tree.nodes) == len(TREE.nodes) + 1
