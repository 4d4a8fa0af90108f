"""columns: from the walk's string to nodes, with hand-written strings."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cdpengine._snapshot import roles
from cdpengine._snapshot.node import Document, walk
from cdpengine._snapshot.roles import role_and_kind
from cdpengine._snapshot.sources.columns import PartChanged, Parts, decode_walk, nodes_of, role_bits

BUTTON, LINK, LIST, ITEM, FIELD = 0, 2, 4, 6, 8
ROLES = ["button", "link", "list", "listitem", "textbox"]
TEXT, EDGE, CAPTION = -1, -2, -3


def document(rows: list[tuple[int, int, str]], **more: Any) -> Document:
    """Return a document of rows (depth, kind, text).

    The number of each row's element is its index, from 1.
    """
    answer: dict[str, Any] = {
        "roles": ROLES,
        "depths": [depth for depth, _, _ in rows],
        "kinds": [kind for _, kind, _ in rows],
        "uids": list(range(1, len(rows) + 1)),
        "texts": [text for _, _, text in rows],
        "url": "http://a/",
        "title": " A  title ",
        "seen": 9,
    } | more
    return nodes_of(
        decode_walk(json.dumps(answer)), [0, *(100 + n for n in range(1, len(rows) + 1))], frame_id="F"
    )


def shape(document: Document) -> list[Any]:
    def below(nodes: list[Any]) -> list[Any]:
        return [(node.role, node.name, *([below(node.children)] if node.children else [])) for node in nodes]

    return below(document.roots)


def test_rows_become_nodes() -> None:
    made = document([(0, LIST, ""), (1, ITEM, ""), (2, LINK, "L"), (2, TEXT, "after"), (0, BUTTON, "B")])
    assert shape(made) == [
        ("list", "", [("listitem", "", [("link", "L"), ("text", "after")])]),
        ("button", "B"),
    ]
    assert [node.backend_node_id for node in walk(made.roots)] == [101, 102, 103, None, 105]
    assert {node.frame_id for node in walk(made.roots)} == {"F"}
    assert (made.url, made.title, made.nodes_seen, made.source) == ("http://a/", "A title", 9, "computed")


def test_texts_are_joined_up_to_an_edge() -> None:
    made = document(
        [(0, TEXT, " one "), (0, TEXT, " two"), (0, EDGE, ""), (0, TEXT, "three "), (0, EDGE, "")]
    )
    assert shape(made) == [("text", "one two"), ("text", "three")]


def test_text_that_repeats_the_name_is_left_out() -> None:
    assert shape(document([(0, BUTTON, "Buy now"), (1, TEXT, " now ")])) == [("button", "Buy now")]
    assert shape(document([(0, BUTTON, "Buy"), (1, TEXT, "more")])) == [("button", "Buy", [("text", "more")])]


def test_a_caption_that_named_something_is_left_out() -> None:
    rows = [(0, CAPTION, ""), (0, TEXT, "City"), (0, EDGE, ""), (0, FIELD, "City")]
    assert shape(document(rows, labels=[1, "City"])) == [("textbox", "City")]
    assert shape(document(rows, labels=[2, "City"])) == [("text", "City"), ("textbox", "City")]


def test_text_in_a_field_is_its_value() -> None:
    made = document([(0, FIELD, ""), (1, TEXT, "typed")], extras=[0, "value", "typed"])
    assert shape(made) == [("textbox", "")]
    assert made.roots[0].value == "typed"


def test_extras() -> None:
    made = document(
        [(0, LINK, "L"), (0, FIELD, "F"), (0, FIELD, "G"), (0, BUTTON, "H")],
        extras=[
            0, "url", "http://b/", 0, "readonly", True,
            1, "required", True, 1, "description", "F", 1, "placeholder", " Hint ", 1, "value", None,
            2, "placeholder", "G", 2, "invalid", True, 2, "readonly", True,
            3, "hasPopup", "menu", 3, "clickable", True,
        ],
        boxes=[3, 1, 2.5, 3, 4],
        cut=True,
    )  # fmt: skip
    link, field, other, button = made.roots
    assert (link.url, link.states) == ("http://b/", ())  # a link cannot be read-only
    assert (field.description, field.placeholder, field.value) == ("", "Hint", None)
    assert field.states == (("required", True), ("value", "hidden"))
    assert (other.placeholder, other.states) == ("", (("invalid", True), ("readonly", True)))
    assert (button.states, button.clickable, button.box) == ((("haspopup", "menu"),), True, (1, 2.5, 3, 4))
    assert link.box is None
    assert made.cut


def test_focusable_elements_are_interactive() -> None:
    made = document([(0, LIST + 1, ""), (0, LIST, "")])
    assert [(node.role, node.kind) for node in made.roots] == [("list", "interactive")]


def test_half_a_character_is_replaced() -> None:
    assert shape(document([(0, BUTTON, "cut \ud83d"), (0, BUTTON, "\U0001f600 \\ud83d")])) == [
        ("button", "cut \ud83d"),
        ("button", "\U0001f600 \\ud83d"),
    ]


@pytest.mark.parametrize("text", ["", "null", "[]", '{"depths": 3}', "{"])
def test_invalid_walks_are_refused(text: str) -> None:
    with pytest.raises(ValueError, match="."):
        decode_walk(text)


ROWS = st.lists(
    st.tuples(
        st.integers(0, 6), st.sampled_from([BUTTON, LINK, LIST, ITEM, TEXT, EDGE]), st.sampled_from("ab ")
    )
)


@given(ROWS)
def test_any_depths_make_a_tree(rows: list[tuple[int, int, str]]) -> None:
    made = document(rows)
    ids = [node.backend_node_id for node in walk(made.roots) if node.backend_node_id is not None]
    assert len(ids) == len(set(ids))
    assert ids == sorted(ids)
    buttons = sum(kind in (BUTTON, LINK) for _, kind, _ in rows)
    assert sum(node.kind == "interactive" for node in walk(made.roots)) == buttons


def test_the_walk_receives_the_tables() -> None:
    bits = role_bits()
    assert bits["strong"] & 1
    assert bits["generic"] & 2
    assert not bits["button"] & 3
    assert bits["button"] & 4
    assert all(bits[role] & 64 for role in roles.DROPPED_ROLES)
    assert role_and_kind("DisclosureTriangle") == ("button", "interactive")
    assert role_and_kind("Odd role!") == ("generic", "structural")


# --- reused parts
# ------------------------------------------------------------------------------------------------

REUSED, OPENED, CLOSED = -4, -5, -6


def walked(rows: list[tuple[int, int, int, str]], parts: Parts, **more: Any) -> list[Any]:
    """Return nodes of rows (depth, kind, number, text)."""
    columns = [list(column) for column in zip(*rows, strict=True)]
    answer = dict(zip(("depths", "kinds", "uids", "texts"), columns, strict=True)) | {"roles": ROLES} | more
    return shape(nodes_of(decode_walk(json.dumps(answer)), list(range(100, 200)), parts=parts))


LISTED = [(0, LIST, 1, ""), (1, OPENED, 7, ""), (1, ITEM, 2, ""), (2, BUTTON, 3, "Buy"), (1, CLOSED, 7, "")]


def test_a_part_is_reused() -> None:
    first = Parts()
    whole = walked([*LISTED, (1, TEXT, 0, "after")], first)
    assert whole == [("list", "", [("listitem", "", [("button", "Buy")]), ("text", "after")])]
    again = Parts(first.found)
    assert walked([LISTED[0], (1, REUSED, 7, ""), (1, TEXT, 0, "after")], again) == whole
    assert again.reused == 1
    assert again.found == first.found  # and can be reused again
    (part,) = again.found.values()
    assert part.top == first.found[7].top


def test_parts_that_left_the_page_are_dropped() -> None:
    first = Parts()
    walked(LISTED, first)
    second = Parts(first.found)
    assert walked([(0, BUTTON, 3, "Only")], second) == [("button", "Only")]
    assert not second.found


def test_a_part_without_anything_to_show_stays_without() -> None:
    first = Parts()
    assert walked([(0, OPENED, 1, ""), (0, ITEM, 2, ""), (0, CLOSED, 1, ""), (0, BUTTON, 3, "B")], first) == [
        ("button", "B")
    ]
    assert walked([(0, REUSED, 1, ""), (0, BUTTON, 3, "B")], Parts(first.found)) == [("button", "B")]


def test_an_unknown_part_is_refused() -> None:
    with pytest.raises(PartChanged):
        walked([(0, REUSED, 7, "")], Parts())


def test_a_part_under_another_name_is_refused() -> None:
    """Text that only repeats the name above it is left out."""
    rows = [(1, OPENED, 7, ""), (1, TEXT, 0, "Name"), (1, CLOSED, 7, "")]
    first = Parts()
    assert walked([(0, BUTTON, 1, "Name"), *rows], first) == [("button", "Name")]
    assert walked([(0, BUTTON, 1, "Name"), (1, REUSED, 7, "")], Parts(first.found)) == [("button", "Name")]
    with pytest.raises(PartChanged):
        walked([(0, BUTTON, 1, "Other"), (1, REUSED, 7, "")], Parts(first.found))


def test_a_part_with_a_caption_of_another_name_is_refused() -> None:
    rows = [
        (0, OPENED, 7, ""),
        (0, CAPTION, 4, ""),
        (0, TEXT, 0, "Age"),
        (0, EDGE, 0, ""),
        (0, CLOSED, 7, ""),
    ]
    field = (0, FIELD, 1, "Age")
    first = Parts()
    assert walked([*rows, field], first, labels=[4, "Age"]) == [("textbox", "Age")]
    reused = [(0, REUSED, 7, ""), field]
    assert walked(reused, Parts(first.found), labels=[4, "Age"]) == [("textbox", "Age")]
    for labels in ([], [4, "Years"]):
        with pytest.raises(PartChanged):
            walked(reused, Parts(first.found), labels=labels)


def test_an_unfinished_part_is_not_kept() -> None:
    parts = Parts()
    walked(LISTED[:-1], parts)
    assert not parts.found
