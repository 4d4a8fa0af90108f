"""Snapshot.nodes: the lines as data, equal to the lines parsed by the grammar of docs/snapshot-format.md."""

from __future__ import annotations

import json
from typing import Any

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st
from node_trees import DOCUMENTS, refs_of
from snapshot_trees import RECORDED, REPLIES, encoded, parsed, recorded, snapshot_of, tree

from cdpengine._snapshot.node import Document, Node, walk
from cdpengine._snapshot.render.lines import DEEPEST_INDENT, Mode, SnapshotOptions
from cdpengine._snapshot.render.render import render
from cdpengine._snapshot.snapshot import Snapshot, SnapshotStats, build_snapshot
from cdpengine._snapshot.sources.ax_tree import decode_ax_tree
from cdpengine.errors import InvalidArgumentError, NodeNotFoundError

OPTIONS = st.builds(
    SnapshotOptions,
    interactive=st.booleans(),
    compact=st.booleans(),
    max_depth=st.none() | st.integers(0, 3),
    max_chars=st.none() | st.integers(0, 400),
)


def snapshot(document: Document, options: SnapshotOptions) -> Snapshot:
    refs = refs_of(document)
    rendering = render(document, refs, options)
    stats = SnapshotStats(
        lines=0, chars=0, tokens=0, refs=0, interactive=0, nodes_seen=0, source="ax", milliseconds={}
    )
    return build_snapshot(rendering, document, refs, stats, options)


def check_nodes(shown: Snapshot) -> None:
    """Compare the nodes with the lines."""
    lines = list(parsed(shown.text))
    assert len(lines) == len(shown.nodes)
    depths: list[int] = []
    for line, node in zip(lines, shown.nodes, strict=True):
        assert node.parent is None or node.parent < len(depths)
        depths.append(0 if node.parent is None else depths[node.parent] + 1)
        assert line.depth == min(depths[-1], DEEPEST_INDENT)
        assert line.role == node.role
        assert (line.name or "") == node.name
        assert line.ref == (None if node.ref is None else node.ref.id)
        assert (line.text or "") == node.text
        for state, value in node.states.items():
            if isinstance(value, str) or value is True:
                assert line.states[state] == value
        if node.value is not None:
            assert line.states["value"] == node.value
        assert line.states.get("description", "") == node.description
        assert line.states.get("placeholder", "") == node.placeholder
        if node.clickable and node.ref is not None:
            assert "clickable" in line.states or node.role in ("button", "link", "textbox", "iframe")


@pytest.mark.parametrize("name", RECORDED)
def test_recorded_pages(name: str) -> None:
    shown = snapshot_of(recorded(name))
    check_nodes(shown)
    assert [node.ref.id for node in shown.nodes if node.ref] == list(shown.refs)
    assert len(shown.nodes) == shown.stats.lines


@given(REPLIES, OPTIONS)
def test_any_tree_by_any_options(reply: Any, options: SnapshotOptions) -> None:
    check_nodes(snapshot_of(decode_ax_tree(encoded(reply)), **attrs.asdict(options)))


@given(DOCUMENTS, OPTIONS)
def test_every_line_has_its_node(document: Document, options: SnapshotOptions) -> None:
    shown = snapshot(document, options)
    lines = [line for line in shown.text.splitlines() if not line.startswith("# ")]
    assert len(shown.nodes) == len(lines)
    assert [node.ref for node in shown.nodes if node.ref] == list(shown.refs.values())
    assert all(node.parent is None or node.parent < place for place, node in enumerate(shown.nodes))


def test_nodes_of_frames_and_fields() -> None:
    inside = Document(
        [Node("heading", "content", "In", backend_node_id=2)], url="http://in.test/", frame_id="B"
    )
    frame = Node("iframe", "interactive", "F", backend_node_id=1, children=inside.roots, document=inside)
    field = Node("textbox", "interactive", "Name", (("required", True),), "Ada", backend_node_id=3)
    shown = snapshot(Document([frame, field], frame_id="A"), SnapshotOptions())
    assert [(node.role, node.parent, node.frame, node.url) for node in shown.nodes] == [
        ("iframe", None, "A", "http://in.test/"),
        ("heading", 0, "B", ""),
        ("textbox", None, "A", ""),
    ]
    assert (shown.nodes[2].value, shown.nodes[2].states) == ("Ada", {"required": True})
    assert shown.nodes[0].ref is shown.refs["e1"]
    with pytest.raises(attrs.exceptions.FrozenInstanceError):
        shown.nodes[0].name = ""  # type: ignore[misc]
    with pytest.raises(TypeError):
        shown.nodes[2].states["checked"] = True  # type: ignore[index]
    assert len({*shown.nodes, *shown.nodes}) == 3


@pytest.mark.parametrize("mode", ["role", "ai", "numbered", "aria", "webarena"])
def test_every_mode_has_the_same_nodes(mode: Mode) -> None:
    plain = snapshot_of(recorded("login")).nodes
    assert snapshot_of(recorded("login"), mode=mode).nodes == plain


def test_find_by_text() -> None:
    shown = snapshot_of(
        tree(
            (
                "list",
                "",
                ("listitem", "", ("link", "Rake", ("StaticText", "Rake")), ("StaticText", " 12 euros")),
            ),
            ("button", "Buy the rake"),
            ("button", "Save", ("StaticText", "now")),
            ("region", "Prices", ("paragraph", "", ("StaticText", "in euros"))),
        )
    )

    def ids(**wanted: Any) -> list[str]:
        return [ref.name for ref in shown.find_all(**wanted)]

    assert ids(text="rake") == ["Rake", "Buy the rake"]
    assert ids(text="Rake", exact=True) == ["Rake"]
    assert ids(text="euros") == ["Prices"]
    assert ids(role="button", text="NOW") == ["Save"]
    assert ids(role="region", text="in euros", exact=True) == ["Prices"]
    assert ids(role="link", text="euros") == []
    assert shown.find(text="buy").role == "button"
    with pytest.raises(NodeNotFoundError, match='link with text "now": .*near it: e3 button "Save"'):
        shown.find("link", text="now")
    with pytest.raises(InvalidArgumentError, match="text"):
        shown.find(text=" ")


def check_ids(shown: Snapshot) -> None:
    nodes = json.loads(json.dumps(shown.to_json()))["nodes"]
    known = [(node["frameId"], node["nodeId"]) for node in nodes]
    children = [(node["frameId"], child) for node in nodes for child in node["childIds"]]
    assert len(children) == len(set(children)) or len(known) != len(set(known))
    assert set(children) <= set(known)


@pytest.mark.parametrize("ignored", [False, True])
@pytest.mark.parametrize("name", RECORDED)
def test_every_child_id_exists(name: str, ignored: bool) -> None:
    shown = snapshot_of(recorded(name), mode="aria", ignored=ignored)
    check_ids(shown)
    nodes = shown.to_json()["nodes"]
    # One root: all other nodes are children, whatever was omitted in between.
    assert sum(len(node["childIds"]) for node in nodes) == len(nodes) - 1


@given(REPLIES, st.booleans())
def test_every_child_id_of_any_tree_exists(reply: Any, ignored: bool) -> None:
    check_ids(snapshot_of(decode_ax_tree(encoded(reply)), mode="aria", ignored=ignored))


def test_descriptions_are_linear_in_depth() -> None:
    node = Node("text", "text", "deep")
    for _ in range(3000):
        node = Node("group", "content", "", children=[node])
    shown = snapshot(Document([node]), SnapshotOptions())
    assert shown.find_all(text="deep") == []
    assert sum(1 for _ in walk([node])) == 3001
