"""With `refs="all"`, each line of an element has a ref, and no additional line appears."""

from __future__ import annotations

import re
from typing import get_args

import pytest
from snapshot_trees import RECORDED, element_lines, recorded, snapshot_of, tree

from cdpengine._snapshot.node import Document, Node
from cdpengine._snapshot.refs import RefTable
from cdpengine._snapshot.render.lines import AX_MODES, Mode, SnapshotOptions
from cdpengine.errors import InvalidArgumentError

MODES: tuple[Mode, ...] = get_args(Mode)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("name", RECORDED)
def test_each_element_of_a_recorded_page_has_a_ref(name: str, mode: Mode) -> None:
    table = RefTable()
    usual = snapshot_of(recorded(name), table, mode=mode)
    snapshot = snapshot_of(recorded(name), table, mode=mode, refs="all")
    assert [ref for _, ref in element_lines(snapshot.text, mode)] == list(snapshot.refs), snapshot.text
    assert len({ref.backend_node_id for ref in snapshot.refs.values()}) == len(snapshot.refs)
    assert all(node.ref is not None for node in snapshot.nodes if node.role != "text")
    assert set(usual.refs) <= set(snapshot.refs)
    if mode not in AX_MODES:
        assert [re.sub(r" \[(?:ref|nth)=\w+\]|\[\d+\] ", "", line) for line in usual.text.splitlines()] == [
            re.sub(r" \[(?:ref|nth)=\w+\]|\[\d+\] ", "", line) for line in snapshot.text.splitlines()
        ]


def test_items_without_a_name_have_refs() -> None:
    items = tree(
        ("RootWebArea", "", ("list", "", *(("listitem", "", ("StaticText", name)) for name in "AB")))
    )
    assert not snapshot_of(items).refs
    snapshot = snapshot_of(items, refs="all")
    assert [str(ref) for ref in snapshot.refs.values()] == ["e1 list", "e2 listitem", "e3 listitem (nth=1)"]
    assert snapshot.find(text="B").id == "e3"
    assert snapshot.find("listitem", nth=1).id == "e3"


@pytest.mark.parametrize("mode", ["role", "ai", "numbered"])
def test_compact_leaves_out_the_same_lines(mode: Mode) -> None:
    for name in RECORDED:
        texts = [
            snapshot_of(recorded(name), mode=mode, compact=True, refs=refs).text
            for refs in ("actions", "all")
        ]
        assert len(texts[0].splitlines()) == len(texts[1].splitlines())


def test_a_node_keeps_its_ref_from_one_to_the_other() -> None:
    table = RefTable()
    item = Node("listitem", "content", "", backend_node_id=3)
    button = Node("button", "interactive", "Up", backend_node_id=4)
    document = Document([item, button])
    assert {node.role: ref.id for node, ref in table.assign([document]).items()} == {"button": "e1"}
    assert {node.role: ref.id for node, ref in table.assign([document], every=True).items()} == {
        "listitem": "e2",
        "button": "e1",
    }
    assert {node.role: ref.id for node, ref in table.assign([document]).items()} == {"button": "e1"}


def test_another_word_is_refused() -> None:
    with pytest.raises(InvalidArgumentError, match='one of "actions", "all"'):
        SnapshotOptions(refs="some")  # type: ignore[arg-type]
