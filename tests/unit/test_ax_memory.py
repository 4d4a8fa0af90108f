"""Large accessibility trees:

Python's memory in addition to the message, and equal results of incremental decoding.
"""

from __future__ import annotations

import json
import tracemalloc
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from snapshot_trees import GARBAGE, RECORDED, REPLIES, encoded, recorded, tree

from cdpengine._collector import pause_collector
from cdpengine._snapshot.node import Document, walk
from cdpengine._snapshot.refs import RefTable
from cdpengine._snapshot.render.lines import SnapshotOptions
from cdpengine._snapshot.render.render import render
from cdpengine._snapshot.sources.ax_nodes import fold
from cdpengine._snapshot.sources.ax_tree import ax_nodes, decode_ax_tree


def rows(count: int) -> bytes:
    """Return the reply for `count` rows of link, text, button and checkbox, sixteen nodes each, as Chrome
    sends them.
    """
    nodes: list[dict[str, Any]] = []

    def add(
        role: str, name: str, parent: dict[str, Any] | None, *, ignored: bool = False, **more: Any
    ) -> Any:
        number = len(nodes) + 1
        sources: list[dict[str, Any]] = [
            {"type": "relatedElement", "attribute": "aria-labelledby"},
            {"type": "attribute", "attribute": "aria-label"},
            {"type": "contents", "value": {"type": "computedString", "value": name}},
            {"type": "attribute", "attribute": "title", "superseded": True},
        ]
        node: dict[str, Any] = {
            "nodeId": str(number),
            "ignored": ignored,
            "role": {"type": "role", "value": role},
            "chromeRole": {"type": "internalRole", "value": 9},
        }
        if ignored:
            node["ignoredReasons"] = [{"name": "uninteresting", "value": {"type": "boolean", "value": True}}]
        elif role == "InlineTextBox":
            node["name"] = {"type": "computedString", "value": name}
        else:
            node["name"] = {"type": "computedString", "value": name, "sources": sources}
            node["properties"] = [
                {"name": key, "value": {"type": "booleanOrUndefined", "value": value}}
                for key, value in more.items()
            ]
        if parent is not None:
            parent["childIds"].append(node["nodeId"])
            node["parentId"] = parent["nodeId"]
        node["childIds"] = []
        if role != "InlineTextBox":
            node["backendDOMNodeId"] = number
        nodes.append(node)
        return node

    def text(words: str, parent: dict[str, Any]) -> None:
        add("InlineTextBox", words, add("StaticText", words, parent))

    root = add("RootWebArea", "Rows", None, url="http://rows.test/")
    items = add("list", "", root)
    for number in range(count):
        item = add("listitem", "", items, level=1)
        add("ListMarker", "\u2022 ", item)
        address = f"http://rows.test/item/{number}"
        text(f"Link {number}", add("link", f"Link {number}", item, focusable=True, url=address))
        text(f"text {number}", item)
        text(f"Button {number}", add("button", f"Button {number}", item, invalid="false", focusable=True))
        label = add("none", "", item, ignored=True)
        states: dict[str, Any] = {"invalid": "false", "focusable": True, "checked": "false"}
        add("checkbox", f"Check {number}", label, **states)
        text(f"Check {number}", label)
    return json.dumps({"nodes": nodes}, separators=(",", ":")).encode()


def test_twenty_thousand_nodes_need_less_than_one_and_a_half_times_their_message() -> None:
    reply = rows(1_250)
    tracemalloc.start()
    try:
        before, _ = tracemalloc.get_traced_memory()
        with pause_collector():
            document = fold(ax_nodes(reply), frame_id="F")
            refs = RefTable().assign([document])
            rendering = render(document, refs, SnapshotOptions())
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert document.nodes_seen > 17_000
    assert len(rendering.listed) == 3 * 1_250
    assert peak - before < 1.5 * len(reply)


def drawn(document: Document) -> list[Any]:
    return [
        document.url,
        document.title,
        document.frame_id,
        document.nodes_seen,
        [
            [getattr(node, key) for key in ("role", "kind", "name", "states", "value", "url", "description")]
            + [node.placeholder, node.backend_node_id, node.frame_id, len(node.children)]
            for node in walk(document.roots)
        ],
    ]


@pytest.mark.parametrize("make", [lambda: rows(40), lambda: rows(0), lambda: b"{}", lambda: b'{"nodes":[]}'])
def test_incremental_and_full_decoding_agree(make: Callable[[], bytes]) -> None:
    reply = make()
    assert drawn(fold(ax_nodes(reply))) == drawn(fold(decode_ax_tree(reply)))


@given(REPLIES | GARBAGE)
def test_incremental_and_full_decoding_agree_for_any_reply(reply: Any) -> None:
    raw = encoded(reply)
    try:
        tree = decode_ax_tree(raw)
    except ValueError:
        with pytest.raises(ValueError, match="[a-z]"):
            list(ax_nodes(raw))
        return
    assert drawn(fold(ax_nodes(raw))) == drawn(fold(tree))


def test_one_odd_node_is_read_and_affects_no_other() -> None:
    reply = json.loads(rows(60))
    reply["nodes"][300]["properties"] = "none of the kind"
    reply["nodes"][300]["childIds"] = [1, None, "7"]
    raw = json.dumps(reply).encode()
    assert sum(len(chunk) for chunk in ax_nodes(raw)) == len(reply["nodes"])
    assert drawn(fold(ax_nodes(raw))) == drawn(fold(decode_ax_tree(raw)))


def test_a_part_of_a_tree_contains_the_given_nodes_and_their_descendants() -> None:
    ax = tree(
        ("heading", "Out"),
        (
            "generic",
            "",
            ("StaticText", "before"),
            ("button", "In", ("StaticText", "In")),
            ("link", "Also in"),
        ),
    )
    inside = {node.backend_node_id for node in ax.nodes[2:]} - {ax.nodes[2].backend_node_id}
    document = fold(ax, within={number for number in inside if number is not None}, frame_id="F")
    assert [(node.role, node.name) for node in walk(document.roots)] == [
        ("text", "before"),
        ("button", "In"),
        ("link", "Also in"),
    ]


@pytest.mark.parametrize("name", RECORDED)
def test_all_of_a_tree_within_is_the_tree(name: str) -> None:
    ax = recorded(name)
    numbers = {node.backend_node_id for node in ax.nodes if node.backend_node_id is not None}
    assert drawn(fold(ax, within=numbers)) == drawn(fold(ax))


def test_the_text_of_a_dropped_marker_is_not_a_root() -> None:
    """The text of a list marker is below a dropped node, but it is not a root."""
    ax = tree(("listitem", "", ("ListMarker", "1. ", ("StaticText", "1. ")), ("button", "Go")))
    assert [node.role for node in walk(fold(ax).roots)] == ["listitem", "button"]
