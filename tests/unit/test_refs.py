"""Refs: one node, one ref, for the lifetime of the table."""

from __future__ import annotations

from typing import Any

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st
from snapshot_trees import REPLIES, encoded, snapshot_of, tree

from cdpengine._snapshot.node import Document, Node, SharedNodes
from cdpengine._snapshot.refs import Ref, RefTable, parse_ref_text
from cdpengine._snapshot.sources.ax_tree import decode_ax_tree
from cdpengine.errors import InvalidArgumentError, NodeNotFoundError, StaleRefError


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
        for text in (
            "",
            "e",
            "0",
            "@",
            "e0",
            "e03",
            "E3",
            "e-3",
            "e3x",
            "@@e3",
            "@ref=e3",
            "e٣",
            "e" + "9" * 19,
        )
    ],
)
def test_the_ways_to_write_a_ref(text: str, expected: str | None) -> None:
    assert parse_ref_text(text) == expected


def button(backend: int | None, name: str = "Buy") -> Node:
    return Node("button", "interactive", name, backend_node_id=backend)


def document(
    *nodes: Node, loader: str = "L", session: str = "S", frame: str = "F", renderer: str | None = "R"
) -> Document:
    return Document(list(nodes), frame_id=frame, loader_id=loader, session_id=session, renderer_id=renderer)


def assign(table: RefTable, *nodes: Node, partial: bool = False, **where: Any) -> list[Ref | None]:
    given_refs = table.assign([document(*nodes, **where)], partial=partial)
    return [given_refs.get(node) for node in nodes]


def ids(refs: list[Ref | None]) -> list[str | None]:
    return [None if ref is None else ref.id for ref in refs]


def test_a_ref_knows_its_node() -> None:
    assert assign(RefTable(), button(7)) == [Ref("e1", "button", "Buy", 0, 7, "F", "S", "L", 1)]


def test_refs_are_frozen() -> None:
    (ref,) = assign(RefTable(), button(7))
    with pytest.raises(attrs.exceptions.FrozenInstanceError):
        ref.id = "e2"  # type: ignore[misc,union-attr]


def test_which_nodes_get_a_ref() -> None:
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


def test_the_same_backend_id_in_another_process_is_another_node() -> None:
    table = RefTable()
    assign(table, button(1), frame="F1", loader="L1", session="S1", renderer="R1")
    assert ids(assign(table, button(1), frame="F1", loader="L2", session="S1", renderer="R2")) == ["e2"]
    assert ids(assign(table, button(1), frame="F3", loader="L3", session="S2", renderer="R3")) == ["e3"]
    assert (table.lookup("e1").loader_id, table.renderer_of(table.lookup("e1"))) == ("L1", "R1")


def test_with_an_unknown_process_each_document_is_separate() -> None:
    table = RefTable()
    assign(table, button(1), loader="L1", renderer=None)
    assert ids(assign(table, button(1), loader="L2", renderer=None)) == ["e2"]
    assert ids(assign(table, button(1), loader="L1", renderer=None)) == ["e1"], (
        "as when going back in history"
    )
    assert table.renderer_of(table.lookup("e1")) is None


def test_a_node_that_moves_to_another_document_of_its_process_keeps_its_ref() -> None:
    table = RefTable()
    (old,) = assign(table, button(1), frame="F1", loader="L1")
    (new,) = assign(table, button(1), frame="F2", loader="L2")
    assert old is not None
    assert new is not None
    assert (new.id, new.frame_id, new.loader_id, new.snapshot) == ("e1", "F2", "L2", 2)
    assert table.knows(old), "the Ref that was given before is good too"
    assert not table.knows(attrs.evolve(old, frame_id="F3"))
    assert not table.knows(attrs.evolve(old, backend_node_id=2))
    assert not table.knows(attrs.evolve(old, id="e2"))


def test_a_new_session_changes_the_ref_but_not_its_number() -> None:
    table = RefTable()
    assign(table, button(1), session="S1")
    (ref,) = assign(table, button(1), session="S9")
    assert ref is not None
    assert (ref.id, ref.session_id) == ("e1", "S9")


def test_an_unchanged_ref_is_the_same_object() -> None:
    table = RefTable()
    before = assign(table, button(1), button(2))
    after = assign(table, button(1), button(2))
    assert all(one is other for one, other in zip(before, after, strict=True))


def framed(*inner: Node, **where: Any) -> tuple[Node, Document]:
    """An iframe element with its document grafted below it."""
    child = document(*inner, **({"frame": "F2", "loader": "L2"} | where))
    return Node("iframe", "structural", document=child, children=child.roots, backend_node_id=99), child


@pytest.mark.parametrize("named", [True, False])
def test_frames_are_numbered_in_the_order_of_the_page_and_once(named: bool) -> None:
    table = RefTable()
    frame, child = framed(button(2), button(3))
    outer = document(button(1), frame, button(4))
    given_refs = table.assign([outer, child] if named else [outer])
    assert [(ref.id, ref.backend_node_id, ref.nth, ref.frame_id) for ref in given_refs.values()] == [
        ("e1", 1, 0, "F"),
        ("e2", 2, 0, "F2"),
        ("e3", 3, 1, "F2"),
        ("e4", 4, 1, "F"),
    ]


def test_reading_a_part_neither_drops_nor_recounts() -> None:
    table = RefTable()
    assign(table, button(1), button(2), button(3))
    (second,) = assign(table, button(2), partial=True)
    assert second is not None
    assert (second.id, second.nth) == ("e2", 1)
    assert [table.lookup(f"e{n}").nth for n in (1, 2, 3)] == [0, 1, 2]
    cut = document(button(3))
    cut.cut = True
    assert [ref.nth for ref in table.assign([cut]).values()] == [2]
    (renamed,) = assign(table, button(2, "New"), partial=True)
    assert renamed is not None
    assert (renamed.name, renamed.nth) == ("New", 0), "its old place is among others"
    assert [ref.nth for ref in assign(table, button(2), button(3)) if ref] == [0, 1], "the whole is counted"


# --- successors of removed nodes --------------------------------------------------------------------------


def heir(table: RefTable, ref_id: str, loader: str = "L") -> str | None:
    successor = table.successor(table.lookup(ref_id), loader)
    return None if successor is None else successor.id


def test_the_node_in_its_place_succeeds() -> None:
    table = RefTable()
    assign(table, button(1), button(2), button(3), button(9, "Other"))
    assign(table, button(1), button(12), button(3))
    assert heir(table, "e2") == "e5"
    assign(table, button(21), button(22), button(23), loader="L2")
    assert [heir(table, f"e{n}", "L2") for n in (1, 2, 3)] == ["e6", "e7", "e8"], "after a reload"
    assert heir(table, "e2", "L") is None, "that document was not looked at"


@pytest.mark.parametrize(
    ("after", "why"),
    [
        ([1, 3], "one was removed"),
        ([1, 3, 14], "its replacement already existed next to it"),
        ([1, 12, 13, 3], "more nodes than before"),
        ([], "no candidate"),
    ],
)
def test_an_uncertain_node_has_no_successor(after: list[int], why: str) -> None:
    table = RefTable()
    assign(table, button(1), button(2), button(3))
    assign(table, *map(button, after))
    assert heir(table, "e2") is None, why


def test_a_unique_counter_has_a_successor() -> None:
    table = RefTable()
    assign(table, button(1, "Pay (3:41)"), button(2, "Help"))
    assign(table, button(3, "Pay (3:40)"), button(2, "Help"))
    assert heir(table, "e1") == "e3"
    assert [ref.id for ref in table.alternatives(table.lookup("e1"), {"L"})] == ["e3"]
    assign(table, button(4, "Pay (3:39)"), button(2, "Help"))
    assert heir(table, "e1") == heir(table, "e3") == "e4", "over a look in between, too"
    assign(table, button(5, "Pay (3:38)"), button(6, "Pay (0:09)"))
    assert heir(table, "e4") is None, "they are a series now"
    assign(table, button(7, "Pay (3:37)"))
    assert heir(table, "e5") is None, "they were a series"
    assert table.alternatives(table.lookup("e5"), {"L"}) == ()
    assign(table, button(8, "Pay 900 EUR"))
    assert heir(table, "e7") is None, "a price is no counter"


def test_a_node_seen_only_in_a_part_has_no_successor() -> None:
    table = RefTable()
    assign(table, button(1), partial=True)
    assign(table, button(2))
    assert heir(table, "e1") is None


def test_alternatives_are_on_the_current_page() -> None:
    table = RefTable()
    assign(table, button(50), button(51), frame="F0", loader="L0")
    assign(table, *(button(n) for n in range(1, 5)), button(9, "Other"))
    assign(table, button(60), frame="F2", loader="L2")
    assign(table, *(button(n) for n in range(2, 5)))
    found = table.alternatives(table.lookup("e3"), {"L", "L2"})
    assert [ref.id for ref in found] == ["e4", "e5", "e6", "e8"]
    assign(table, *(button(n) for n in range(100, 120)))
    assert len(table.alternatives(table.lookup("e3"), {"L", "L2"})) == 5


@pytest.mark.parametrize("text", ["e4", "@e4", "ref=e4"])
def test_a_ref_that_was_never_assigned(text: str) -> None:
    table = RefTable()
    with pytest.raises(NodeNotFoundError, match="e4: this page never gave that ref; it has given none yet"):
        table.lookup(text)
    assign(table, button(1))
    with pytest.raises(NodeNotFoundError, match="the newest one is e1"):
        table.lookup(text)


def test_a_string_that_is_not_a_ref_is_refused() -> None:
    with pytest.raises(NodeNotFoundError, match=r'"#buy\\u202e": not a ref; refs look like "e3"'):
        RefTable().lookup("#buy\u202e")


@pytest.mark.parametrize("text", ["#buy", ".card > button", "button", ""])
def test_an_invalid_ref_names_the_calls_that_take_selectors(text: str) -> None:
    with pytest.raises(NodeNotFoundError) as caught:
        RefTable().lookup(text)
    assert f'await page.find("{text}")' in str(caught.value)


def test_the_oldest_are_dropped_first_and_the_latest_snapshot_is_kept_completely() -> None:
    table = RefTable(max_refs=8)
    assign(table, button(1, "One"), *(button(n) for n in range(2, 9)))
    assign(table, *(button(n) for n in range(2, 10)))
    assert len(table) == 8
    with pytest.raises(StaleRefError, match=r'button "One".*at most 8 refs are kept') as caught:
        table.lookup("e1")
    assert caught.value.became == "dropped"
    assert table.lookup("e2").backend_node_id == 2
    assert None not in assign(table, *(button(n) for n in range(10, 30)))
    assert len(table) == 20
    assert table.lookup("e14").backend_node_id == 14
    assert ids(assign(table, button(1, "One"))) == ["e30"], (
        "a returning node is not confused with a dropped one"
    )


def test_memory_for_dropped_refs_is_bounded_too() -> None:
    table = RefTable(max_refs=10)
    for start in range(0, 12_000, 10):
        assign(table, *(button(start + n) for n in range(10)), loader=f"L{start}", renderer=f"R{start}")
    assert len(table) == 10
    assert len(table._renderers) == 1
    assert len(table._looked) == 1_000
    assert len(table._dropped) == len(table._dropped_order) == 5_000
    with pytest.raises(StaleRefError, match="from an early snapshot"):
        table.lookup("e1")
    with pytest.raises(StaleRefError, match='button "Buy"'):
        table.lookup("e11990")


@pytest.mark.parametrize("bound", [0, -1])
def test_an_invalid_bound(bound: int) -> None:
    with pytest.raises(InvalidArgumentError, match="max_refs"):
        RefTable(max_refs=bound)


PROCESSES = {"F1": ["R1", "R3"], "F2": ["R1", "R2"], "F3": ["R2"]}
STEPS = st.lists(
    st.tuples(
        st.sampled_from(["F1", "F2", "F3"]),
        st.integers(0, 1),
        st.lists(st.tuples(st.integers(1, 6), st.sampled_from("ab")), max_size=6),
        st.booleans(),
    ),
    max_size=12,
)


@given(STEPS, st.integers(1, 8))
def test_one_node_one_ref_for_any_sequence_of_reads(
    steps: list[tuple[str, int, list[tuple[int, str]], bool]], bound: int
) -> None:
    table = RefTable(max_refs=bound)
    owners: dict[str, tuple[str, int]] = {}
    latest: dict[tuple[str, int], str] = {}
    for frame, which, nodes, partial in steps:
        process = PROCESSES[frame][which % len(PROCESSES[frame])]
        refs = assign(
            table,
            *(button(number, name) for number, name in nodes),
            frame=frame,
            loader=f"{frame} in {process}",
            renderer=process,
            partial=partial,
        )
        numbers = [ref.backend_node_id for ref in refs if ref is not None]
        assert sorted(numbers) == sorted({number for number, _ in nodes})
        counts: dict[str, int] = {}
        for ref in refs:
            if ref is None:
                continue
            owner = (process, ref.backend_node_id)
            assert owners.setdefault(ref.id, owner) == owner, "two nodes, one ref"
            before = latest.get(owner)
            if before != ref.id and before is not None:
                with pytest.raises(StaleRefError, match="at most"):
                    table.lookup(before)
            latest[owner] = ref.id
            assert table.lookup(ref.id) is ref
            if not partial:
                assert ref.nth == counts.get(ref.name, 0)
                counts[ref.name] = ref.nth + 1
        for ref_id, owner in owners.items():
            try:
                known = table.lookup(ref_id)
            except StaleRefError:
                continue
            assert (table.renderer_of(known), known.backend_node_id) == owner
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


def test_reused_nodes_get_identical_ref_objects() -> None:
    table, first = RefTable(), document(button(1), button(2))
    first.shared = SharedNodes()
    given = table.assign([first])
    again = first.once_more()
    assert table.assign([again]) is given
    assert table.snapshots == 2
    again = first.once_more()
    again.session_id = "S2"
    moved = table.assign([again])
    assert {ref.session_id for ref in moved.values()} == {"S2"}
    assert [ref.id for ref in moved.values()] == [ref.id for ref in given.values()]


LOOKS = st.lists(
    st.sampled_from(["same", "same", "part", "other", "session", "frames", "shrink", "new"]), max_size=12
)


@given(looks=LOOKS)
def test_the_memory_of_nodes_changes_nothing(looks: list[str]) -> None:
    """Two tables read the same page: from documents that share their nodes, and from documents without that
    information.
    """
    tables = RefTable(max_refs=6), RefTable(max_refs=6)
    nodes = [button(1), button(2), button(3, "Sell")]
    shared = SharedNodes()
    for number, look in enumerate(looks):
        if look == "new":
            nodes, shared = [button(1), button(2), button(10 + number)], SharedNodes()
        if look == "shrink":
            for table in tables:
                table.shrink(1, "for a test")
            continue
        session = "S2" if look == "session" else "S"
        seen = []
        for table, sharing in zip(tables, (shared, None), strict=True):
            one = document(*nodes, session=session)
            one.shared = sharing
            looked = [one]
            if look == "other":
                looked = [document(button(20 + number), loader="M", frame="G")]
            elif look == "frames":
                looked = [one, document(button(30), loader="N", frame="H", renderer="Q")]
            seen.append(list(table.assign(looked, partial=look == "part").values()))
        assert seen[0] == seen[1]
        assert tables[0].snapshots == tables[1].snapshots
        assert len(tables[0]) == len(tables[1])
        for ref in seen[0]:
            found = [
                (table.alternatives(ref, {"L", "M", "N"}), table.successor(ref, "L"), table.lookup(ref.id))
                for table in tables
            ]
            assert found[0] == found[1]
