"""Clickables merged into a tree: nothing lost, the order of the page kept, a second time without effect."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cdpengine.snapshot.clickables import MOST_INSIDE, Clickable, find_clickables, subtree_ends
from cdpengine.snapshot.domsnapshot import (
    Capture,
    CapturedDocument,
    CapturedLayout,
    CapturedNodes,
    RareBooleans,
)
from cdpengine.snapshot.hybrid import fill_boxes, merge, merge_clickables
from cdpengine.snapshot.node import Document, Node, walk

# --- a page in short: "tag", attributes, children; a string is text ---------------------------------------

Short = tuple[Any, ...] | str
_SIGNS = ("listens", "cursor", "visibility", "display", "hidden", "node")


def capture_of(*page: Short, frame_id: str = "F") -> Capture:
    """The capture of a body with these. Backend node ids are ten more than the index; x is the index, too."""
    strings: list[str] = []
    columns: dict[str, list[Any]] = {
        key: [] for key in ("parents", "types", "names", "attributes", "listening", "rows", "styles", "texts")
    }

    def number(text: str) -> int:
        if text not in strings:
            strings.append(text)
        return strings.index(text)

    def add(node: Short, parent: int, cursor: str) -> None:
        index = len(columns["parents"])
        columns["parents"].append(parent)
        tag, *rest = (node, {}) if isinstance(node, str) else node
        given: dict[str, Any] = next((item for item in rest if isinstance(item, dict)), {})
        is_text = isinstance(node, str)
        columns["types"].append(3 if is_text else 1)
        columns["names"].append(number("#text" if is_text else tag.upper()))
        pairs = [(key, str(value)) for key, value in given.items() if key not in _SIGNS]
        columns["attributes"].append(tuple(number(text) for pair in pairs for text in pair))
        cursor = given.get("cursor", cursor)
        if given.get("listens"):
            columns["listening"].append(index)
        if not given.get("hidden"):
            columns["rows"].append(index)
            styles = (cursor, given.get("visibility", "visible"), given.get("display", "block"))
            columns["styles"].append(tuple(number(style) for style in styles))
            columns["texts"].append(number(tag) if is_text else -1)
        for child in rest:
            if not isinstance(child, dict):
                add(child, index, cursor)

    add(("body", *page), -1, "auto")
    count = len(columns["parents"])
    return Capture(
        documents=(
            CapturedDocument(
                number(frame_id),
                CapturedNodes(
                    tuple(columns["parents"]),
                    tuple(columns["types"]),
                    tuple(columns["names"]),
                    tuple(range(10, 10 + count)),
                    tuple(columns["attributes"]),
                    RareBooleans(tuple(columns["listening"])),
                ),
                CapturedLayout(
                    tuple(columns["rows"]),
                    tuple(columns["styles"]),
                    tuple((row, 100.0, 5.0, 5.0) for row in columns["rows"]),
                    tuple(columns["texts"]),
                ),
                scroll_offset_y=40.0,
            ),
        ),
        strings=tuple(strings),
    )


LISTENS = {"listens": True}
POINTER = {"cursor": "pointer"}


@pytest.mark.parametrize(
    ("page", "names"),
    [
        ([("div", LISTENS, "A")], ["A"]),
        ([("div", POINTER, "A ", ("b", {"display": "inline"}, "bold"))], ["A bold"]),
        ([("div", {"tabindex": 0}, "A")], ["A"]),
        ([("div", {"tabindex": -1}, "A")], []),
        ([("div", {"tabindex": "x"}, "A")], []),
        ([("div", "A")], []),
        ([("div", LISTENS | {"hidden": True}, "A")], []),
        ([("div", LISTENS | {"visibility": "hidden"}, "A")], []),
        ([("html", LISTENS, ("body", POINTER, "A"))], []),
        ([("label", LISTENS | POINTER, "A", ("input", {}))], []),
        ([("div", LISTENS, "A", ("div", LISTENS, "B"))], ["B"]),
        ([("div", LISTENS | POINTER, "A", ("div", LISTENS, "B"))], ["A B", "B"]),
        ([("ul", LISTENS, *[("li", {}, f"r{i}") for i in range(MOST_INSIDE + 1)])], []),
        ([("ul", LISTENS, *[("li", {}, "r") for i in range(MOST_INSIDE)])], [" ".join("r" * MOST_INSIDE)]),
        ([("div", LISTENS, ("button", {}, "B"))], []),
        ([("div", POINTER, ("a", {"href": "x"}, "B"))], []),
        ([("div", POINTER, "A", ("a", {"href": "x"}, "B"))], ["A B"]),
        ([("button", {}, ("span", POINTER, "B"))], []),
        ([("button", {}, ("span", LISTENS, "B"))], ["B"]),
        ([("div", {"contenteditable": ""} | LISTENS, "A", ("b", LISTENS, "B"))], []),
        ([("div", {"contenteditable": "", "onclick": "x"} | LISTENS, "A")], ["A"]),
        ([("i", POINTER | {"title": "Close"})], ["Close"]),
        ([("i", POINTER, ("img", {"alt": "Icon"}))], ["Icon"]),
        ([("i", LISTENS | {"aria-label": "Label"}, "text")], ["Label"]),
        ([("div", POINTER, "x" * 300)], ["x" * 79 + "\u2026"]),
        ([("li", POINTER, ("::marker", {}, "\u2022"), "A")], ["A"]),
    ],
)
def test_what_is_clickable_by_its_own_doing(page: list[Short], names: list[str]) -> None:
    capture = capture_of(*page)
    assert [each.name for each in find_clickables(capture, "F")] == names
    assert find_clickables(capture, "another frame") == []


def test_only_what_is_within_an_element() -> None:
    capture = capture_of(("div", LISTENS, "A"), ("p", {}, ("b", LISTENS, "B")))
    paragraph = 10 + 3
    assert [each.name for each in find_clickables(capture, "F", within=paragraph)] == ["B"]
    assert find_clickables(capture, "F", within=9999) == []


def test_a_control_that_the_tree_leaves_out_is_not_put_back() -> None:
    document = Document([])
    capture = capture_of(("a", {"href": "x"} | POINTER, "hidden from the tree"), ("div", POINTER, "shown"))
    assert [node.name for node in merge_clickables(document, capture, "F")] == ["shown"]


def text(name: str) -> Node:
    return Node("text", "text", name)


def shape(nodes: list[Node]) -> list[Any]:
    return [
        (node.role, node.name, shape(node.children)) if node.children else (node.role, node.name)
        for node in nodes
    ]


@pytest.mark.parametrize(
    ("page", "roots", "expected"),
    [
        (
            ["before ", ("span", POINTER, "mid"), " after"],
            [text("before mid after")],
            [("text", "before"), ("generic", "mid"), ("text", "after")],
        ),
        (
            [("p", {}, "midst"), ("span", POINTER, "mid")],
            [text("midst"), text("mid")],
            [("text", "midst"), ("generic", "mid")],
        ),
        (
            [("div", POINTER, ("p", {}, "one"), ("p", {}, "two")), "three"],
            [text("one"), text("two"), text("three")],
            [("generic", "one two"), ("text", "three")],
        ),
        (
            [("b", POINTER, "x"), ("b", POINTER, "x"), ("b", POINTER, "x")],
            [text("x"), text("x"), text("x")],
            [("generic", "x")] * 3,
        ),
        ([("i", POINTER | {"title": "t"})], [text("else")], [("text", "else"), ("generic", "t")]),
        (
            [("div", POINTER, "y" * 100)],
            [text("y" * 100)],
            [("generic", "y" * 79 + "\u2026", [("text", "y" * 100)])],
        ),
    ],
)
def test_texts_stay_where_they_were(page: list[Short], roots: list[Node], expected: list[Any]) -> None:
    document = Document(roots)
    merge_clickables(document, capture_of(*page), "F")
    assert shape(document.roots) == expected


def test_a_node_takes_over_what_is_inside_of_it() -> None:
    link = Node("link", "interactive", "L", backend_node_id=10 + 4)
    document = Document([text("lead"), link, text("trail"), text("outside")])
    page: list[Short] = [
        ("div", POINTER, "lead", ("p", {}, ("a", {"href": "x"}, "L")), "trail"),
        ("p", {}, "outside"),
    ]
    merge_clickables(document, capture_of(*page), "F")
    assert shape(document.roots) == [("generic", "lead L trail", [("link", "L")]), ("text", "outside")]


def test_boxes_are_in_the_viewport() -> None:
    node = Node("generic", "interactive", backend_node_id=11)
    gone = Node("generic", "interactive", backend_node_id=9999)
    fill_boxes(Document([node, gone]), capture_of(("p", {}, "x")), "F")
    assert (node.box, gone.box) == ((1.0, 60.0, 5.0, 5.0), None)


# --- any page whatever ------------------------------------------------------------------------------------


@attrs.define(eq=False)
class Element:
    """An element or text of a made-up page: `shown` where the tree has a node for it."""

    shown: bool
    clickable: bool
    word: str
    inside: list[Element]


ELEMENTS = st.recursive(
    st.builds(Element, st.booleans(), st.booleans(), st.sampled_from(["", "", "a", "b", "a b"]), st.just([])),
    lambda inner: st.builds(
        Element,
        st.booleans(),
        st.booleans(),
        st.just(""),
        st.lists(inner, max_size=4),
    ),
    max_leaves=12,
)


def made(elements: list[Element]) -> tuple[Document, list[Clickable], dict[int, int], list[int]]:
    """The document, the clickables, and the places of a page. A word is text, with nothing inside."""
    parents: list[int] = [-1]
    written: dict[int, str] = {}
    clickable: list[tuple[int, bool]] = []

    def add(element: Element, parent: int) -> list[Node]:
        index = len(parents)
        parents.append(parent)
        if element.word:
            written[index] = element.word
            return [text(element.word)]
        if element.clickable:
            clickable.append((index, True))
        children = [node for each in element.inside for node in add(each, index)]
        if not element.shown:
            return children
        return [Node("group", "content", f"n{index}", backend_node_id=index + 10, children=children)]

    roots = [node for each in elements for node in add(each, 0)]
    ends = subtree_ends(tuple(parents))
    found = []
    for index, new in clickable:
        words = " ".join(written[at] for at in range(index, ends[index]) if at in written)
        found.append(Clickable(index, ends[index], index + 10, words, words, new))
    return Document(roots), found, {index + 10: index for index in range(len(parents))}, parents


def state(document: Document) -> Iterator[tuple[Any, ...]]:
    for node in walk(document.roots):
        yield id(node), node.name, node.clickable, tuple(map(id, node.children))


@given(st.lists(ELEMENTS, max_size=5))
def test_merging_loses_nothing_and_keeps_the_order(elements: list[Element]) -> None:
    document, clickables, indices, parents = made(elements)
    before = list(walk(document.roots))
    words = [word for node in before if node.kind == "text" for word in node.name.split()]
    added = merge(document, clickables, indices, parents)
    after = list(walk(document.roots))
    assert len(set(after)) == len(after)
    # Every node is there, in the order of the page, and each clickable is one of them, once.
    numbers = [node.backend_node_id for node in after if node.backend_node_id is not None]
    assert numbers == sorted(numbers)
    wanted = {node.backend_node_id for node in before} | {each.backend_node_id for each in clickables}
    assert numbers == sorted(wanted - {None}, key=lambda number: number or 0)
    assert [node for node in after if node in set(before) and node.kind != "text"] == [
        node for node in before if node.kind != "text"
    ]
    assert {each.backend_node_id for each in clickables} == {
        node.backend_node_id for node in after if node.clickable
    }
    # What is in an element is in its node, and nothing else is.
    for each in clickables:
        node = next(node for node in after if node.backend_node_id == each.backend_node_id)
        inside = {child.backend_node_id for child in walk(node.children)} - {None}
        assert inside == {number for number in numbers if each.index < number - 10 < each.end}
    # Words are in a text, or in the name that made the text needless.
    left = [word for node in after if node.kind == "text" for word in node.name.split()]
    named = [word for node in added for word in node.name.split()]
    for word in set(words):
        assert left.count(word) + named.count(word) >= words.count(word)
        assert left.count(word) <= words.count(word)


@given(st.lists(ELEMENTS, max_size=5))
def test_merging_twice_is_merging_once(elements: list[Element]) -> None:
    document, clickables, indices, parents = made(elements)
    merge(document, clickables, indices, parents)
    once = list(state(document))
    assert merge(document, clickables, indices, parents) == []
    assert list(state(document)) == once


@given(st.lists(st.integers(-5, 12), max_size=12), st.lists(st.integers(-5, 40), max_size=12))
def test_a_reply_that_makes_no_sense_does_no_harm(parents: list[int], numbers: list[int]) -> None:
    capture = Capture(
        (
            CapturedDocument(
                0,
                CapturedNodes(
                    tuple(parents),
                    tuple(1 for _ in parents),
                    tuple(numbers[: len(parents)] + [0] * (len(parents) - len(numbers))),
                    tuple(range(len(parents))),
                    (),
                    RareBooleans(tuple(numbers)),
                ),
                CapturedLayout(tuple(numbers), (), (), ()),
            ),
        ),
        ("F", "DIV", "pointer"),
    )
    document = Document([Node("group", "content", "g", backend_node_id=1)])
    merge_clickables(document, capture, "F")
    fill_boxes(document, capture, "F")
    assert document.roots[0].name == "g"
