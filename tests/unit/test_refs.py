"""Refs: one node, one ref, for as long as the table lives."""

from __future__ import annotations

from typing import Any

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st
from snapshot_trees import REPLIES, encoded, snapshot_of, tree

from cdpengine.errors import InvalidArgument, NodeNotFound, StaleRef
from cdpengine.snapshot.axtree import decode_ax_tree
from cdpengine.snapshot.node import Node
from cdpengine.snapshot.refs import Ref, RefTable, parse_ref_text


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("e3", "e3"),
        ("@e3", "e3"),
        ("ref=e3", "e3"),
        (" e12\n", "e12"),
        ("e999999999999999999", "e999999999999999999"),
    ]
    + [
        (text, None)
        for text in ("", "e", "3", "e0", "e03", "E3", "e-3", "e3x", "@@e3", "@ref=e3", "e٣", "e" + "9" * 19)
    ],
)
def test_the_ways_to_write_a_ref(text: str, expected: str | None) -> None:
    assert parse_ref_text(text) == expected


def button(backend: int | None, name: str = "Buy") -> Node:
    return Node("button", "interactive", name, backend_node_id=backend)


def assign(
    table: RefTable, *nodes: Node, loader: str = "L", session: str = "S", frame: str = "F"
) -> list[Ref | None]:
    given_refs = table.assign(nodes, session_id=session, frame_id=frame, loader_id=loader)
    return [given_refs.get(node) for node in nodes]


def ids(refs: list[Ref | None]) -> list[str | None]:
    return [None if ref is None else ref.id for ref in refs]


def test_a_ref_knows_its_node() -> None:
    assert assign(RefTable(), button(7)) == [Ref("e1", "button", "Buy", 0, 7, "F", "S", "L")]


def test_refs_are_frozen() -> None:
    (ref,) = assign(RefTable(), button(7))
    with pytest.raises(attrs.exceptions.FrozenInstanceError):
        ref.id = "e2"  # type: ignore[misc,union-attr]


def test_who_gets_a_ref() -> None:
    nodes = [
        button(1, ""),
        Node("heading", "content", "Title", backend_node_id=2),
        Node("heading", "content", "", backend_node_id=3),
        Node("list", "structural", "Named", backend_node_id=4),
        Node("text", "text", "words"),
        button(None),
    ]
    assert ids(assign(RefTable(), *nodes)) == ["e1", "e2", None, None, None, None]


def test_a_node_seen_again_keeps_its_ref_and_new_ones_get_new_numbers() -> None:
    table = RefTable()
    assert ids(assign(table, button(1), button(2))) == ["e1", "e2"]
    assert ids(assign(table, button(3), button(2))) == ["e3", "e2"]
    assert ids(assign(table, button(1))) == ["e1"]
    assert table.lookup("e3").backend_node_id == 3


def test_a_ref_follows_the_name_of_its_node() -> None:
    table = RefTable()
    assign(table, button(1, "Cart (3)"))
    assign(table, button(2, "Cart (4)"), button(1, "Cart (4)"))
    assert (table.lookup("e1").name, table.lookup("e1").nth) == ("Cart (4)", 1)


def test_nth_counts_the_same_role_and_name() -> None:
    table = RefTable()
    nodes = [
        button(1),
        button(2, "Other"),
        button(3),
        Node("link", "interactive", "Buy", backend_node_id=4),
        button(5),
    ]
    assert [None if ref is None else ref.nth for ref in assign(table, *nodes)] == [0, 0, 1, 0, 2]


def test_two_nodes_of_one_backend_node_share_no_ref() -> None:
    assert ids(assign(RefTable(), button(1), button(1), button(2))) == ["e1", None, "e2"]


def test_the_same_backend_id_elsewhere_is_another_node() -> None:
    table = RefTable()
    assign(table, button(1), frame="F1", loader="L1", session="S1")
    assert ids(assign(table, button(1), frame="F2", loader="L2", session="S1")) == ["e2"]
    assert ids(assign(table, button(1), frame="F3", loader="L1", session="S2")) == ["e3"]
    assert table.lookup("e1").frame_id == "F1"


def test_refs_of_a_replaced_document_are_stale_and_say_so() -> None:
    table = RefTable()
    assign(table, button(1))
    assert ids(assign(table, button(1), loader="L2")) == ["e2"]
    with pytest.raises(StaleRef, match=r'e1 \(button "Buy"\) is stale: its document was replaced') as caught:
        table.lookup("@e1")
    assert caught.value.ref == "e1"


def test_dropping_a_document_and_a_session() -> None:
    table = RefTable()
    assign(table, button(1), loader="L1", frame="F1")
    assign(table, button(1), loader="L2", frame="F2", session="S2")
    table.drop_document("L1")
    with pytest.raises(StaleRef, match="replaced"):
        table.lookup("e1")
    table.drop_session("S2")
    with pytest.raises(StaleRef, match="session ended"):
        table.lookup("e2")
    assert len(table) == 0
    assert ids(assign(table, button(1), loader="L1", frame="F1")) == ["e3"]


@pytest.mark.parametrize("text", ["e4", "@e4", "ref=e4"])
def test_a_ref_that_was_never_given(text: str) -> None:
    table = RefTable()
    with pytest.raises(NodeNotFound, match="e4: this page never gave that ref; it has given none yet"):
        table.lookup(text)
    assign(table, button(1))
    with pytest.raises(NodeNotFound, match="the newest one is e1"):
        table.lookup(text)


def test_what_is_no_ref_is_said_to_be_none() -> None:
    with pytest.raises(NodeNotFound, match=r'"#buy\\u202e": not a ref; refs look like "e3"'):
        RefTable().lookup("#buy\u202e")


def test_the_oldest_go_first_and_the_latest_snapshot_is_kept_whole() -> None:
    table = RefTable(max_refs=3)
    assign(table, button(1, "One"), button(2), button(3))
    assign(table, button(2), button(4))
    assert len(table) == 3
    with pytest.raises(StaleRef, match=r'button "One".*at most 3 refs are kept'):
        table.lookup("e1")
    assert table.lookup("e2").backend_node_id == 2
    assert None not in assign(table, *(button(n) for n in range(10, 20)))
    assert len(table) == 10
    assert table.lookup("e14").backend_node_id == 19


def test_memory_is_bounded_for_what_was_dropped_too() -> None:
    table = RefTable(max_refs=10)
    for start in range(0, 12_000, 10):
        assign(table, *(button(start + n) for n in range(10)))
    assert len(table) == 10
    assert len(table._dropped) == len(table._dropped_order) == 5_000
    with pytest.raises(StaleRef, match="from an early snapshot"):
        table.lookup("e1")
    with pytest.raises(StaleRef, match='button "Buy"'):
        table.lookup("e11990")


@pytest.mark.parametrize("bound", [0, -1])
def test_a_bound_that_cannot_be(bound: int) -> None:
    with pytest.raises(InvalidArgument, match="max_refs"):
        RefTable(max_refs=bound)


STEPS = st.lists(
    st.tuples(
        st.sampled_from(["S1", "S2"]),
        st.sampled_from(["L1", "L2", "L3"]),
        st.lists(st.tuples(st.integers(1, 6), st.sampled_from("ab")), max_size=6),
    ),
    max_size=12,
)


@given(STEPS, st.integers(1, 8))
def test_no_ref_ever_names_two_nodes(steps: list[tuple[str, str, list[tuple[int, str]]]], bound: int) -> None:
    table = RefTable(max_refs=bound)
    owners: dict[str, tuple[str, str, int]] = {}
    for session, loader, nodes in steps:
        refs = assign(
            table, *(button(number, name) for number, name in nodes), session=session, loader=loader
        )
        numbers = [ref.backend_node_id for ref in refs if ref is not None]
        assert sorted(numbers) == sorted({number for number, _ in nodes})
        counts: dict[str, int] = {}
        for ref in refs:
            if ref is None:
                continue
            owner = (session, loader, ref.backend_node_id)
            assert owners.setdefault(ref.id, owner) == owner
            assert ref.nth == counts.get(ref.name, 0)
            counts[ref.name] = ref.nth + 1
            assert table.lookup(ref.id) is ref
        for ref_id, owner in owners.items():
            try:
                known = table.lookup(ref_id)
            except StaleRef:
                continue
            assert (known.session_id, known.loader_id, known.backend_node_id) == owner
        assert len(table) <= max(bound, len(numbers))


@given(st.lists(REPLIES, min_size=1, max_size=3))
def test_no_snapshots_share_a_ref_between_nodes(replies: list[Any]) -> None:
    table = RefTable()
    owners: dict[str, int] = {}
    for reply in replies:
        for ref in snapshot_of(decode_ax_tree(encoded(reply)), table).refs.values():
            assert owners.setdefault(ref.id, ref.backend_node_id) == ref.backend_node_id
    assert len(set(owners.values())) == len(owners)


def test_options_do_not_change_refs() -> None:
    ax = tree(("heading", "Title"), ("list", "", ("listitem", "", ("button", "A")), ("button", "A")))
    table = RefTable()
    whole = snapshot_of(ax, table)
    for options in ({"interactive": True}, {"compact": True}, {"max_depth": 0}, {"max_chars": 60}):
        assert dict(snapshot_of(ax, table, **options).refs).items() <= dict(whole.refs).items()
