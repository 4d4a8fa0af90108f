"""Snapshot: finding refs by role and name, and creating one over a session."""

from __future__ import annotations

import re

import attrs
import pytest
from node_trees import rendered
from snapshot_trees import recorded, snapshot_of, tree

from cdpengine._snapshot.node import Document, Node
from cdpengine._snapshot.refs import Ref
from cdpengine._snapshot.snapshot import RefQuery, Snapshot, not_found
from cdpengine.errors import InvalidArgumentError, NodeNotFoundError


@pytest.fixture
def shop() -> Snapshot:
    return snapshot_of(recorded("shop"))


def test_text_refs_and_stats(shop: Snapshot) -> None:
    assert str(shop) == shop.text
    assert (shop.url, shop.title) == ("http://127.0.0.1:8000/shop.html", "Shop")
    assert shop.refs["e8"].backend_node_id == shop.find("button", "Add to cart", nth=1).backend_node_id
    assert shop.stats.source == "ax"
    assert shop.stats.nodes_seen == 175
    assert (shop.stats.lines, shop.stats.refs, shop.stats.interactive) == (56, 26, 10)


def test_a_snapshot_cannot_be_changed(shop: Snapshot) -> None:
    with pytest.raises(TypeError):
        shop.refs["e1"] = shop.refs["e2"]  # type: ignore[index]
    with pytest.raises(attrs.exceptions.FrozenInstanceError):
        shop.text = ""  # type: ignore[misc]


def found(refs: list[Ref]) -> list[str]:
    return [ref.id for ref in refs]


def test_find(shop: Snapshot) -> None:
    assert shop.find(role="button", name="Add to cart").id == "e4"
    assert shop.find(role="button", name="Add to cart", nth=2).id == "e12"
    assert shop.find(name="Rake").role == "heading"
    assert shop.find(role="link", name=re.compile("^R")).name == "Rake"
    assert shop.find(role="link").id == "e3"
    assert shop.find(name="  add \n to cart ").id == "e4"


def test_find_all(shop: Snapshot) -> None:
    assert found(shop.find_all("button", "Save")) == ["e5", "e9", "e13"]
    assert found(shop.find_all(name=re.compile("a(dd|sk)", re.IGNORECASE))) == ["e4", "e8", "e12", "e23"]
    assert found(shop.find_all()) == list(shop.refs)
    assert shop.find_all("button", "Nothing") == []


def test_the_same_case_is_preferred_to_any_case() -> None:
    snapshot = snapshot_of(tree(("button", "SAVE"), ("button", "Save"), ("button", "STRASSE")))
    assert found(snapshot.find_all("button", "Save")) == ["e2"]
    assert found(snapshot.find_all("button", "save")) == ["e1", "e2"]
    assert found(snapshot.find_all("button", "straße")) == ["e3"]
    assert snapshot.find_all("button", "Sav") == []
    assert snapshot.find_all("button", "save", exact=True) == []
    assert found(snapshot.find_all("button", " Save\n", exact=True)) == ["e2"]
    with pytest.raises(NodeNotFoundError, match='near it: e1 button "SAVE"'):
        snapshot.find("button", "save", exact=True)


def test_a_role_by_any_of_its_names() -> None:
    snapshot = snapshot_of(
        tree(("ColorWell", "Ink"), ("DisclosureTriangle", "More"), ("NewRole", "New", {"focusable": True}))
    )
    assert [ref.role for ref in snapshot.refs.values()] == ["color", "button", "newrole"]
    for role, ref in {"color": "e1", "ColorWell": "e1", "DisclosureTriangle": "e2", "button": "e2"}.items():
        assert found(snapshot.find_all(role)) == [ref]
    # A role of a newer browser is known once a snapshot has shown it.
    assert found(snapshot.find_all("newrole")) == found(snapshot.find_all("NewRole")) == ["e3"]
    assert snapshot.find_all("canvas") == []


@pytest.mark.parametrize(
    ("role", "expected"),
    [
        ("buton", "'button'"),
        ("Button", "'button'"),
        ("dropdown", "'combobox'"),
        ("list item", "'listitem'"),
        ("text", "text= finds"),
        ("StaticText", "text= finds"),
        ("RootWebArea", "the document itself"),
        ("presentation", "presentational elements have no line"),
        ("", "'button'"),
        (5, "name of a role"),
    ],
)
def test_an_unknown_role_names_the_nearest(shop: Snapshot, role: str, expected: str) -> None:
    for find in (shop.find, shop.find_all):
        with pytest.raises(InvalidArgumentError, match=re.escape(expected)):
            find(role)


@pytest.mark.parametrize("name", [5, re.compile(b"x"), ["Save"]])
def test_rejects_invalid_names(shop: Snapshot, name: str) -> None:
    for find in (shop.find, shop.find_all):
        with pytest.raises(InvalidArgumentError, match="name"):
            find(name=name)


def test_nth_of_a_ref_finds_it_again(shop: Snapshot) -> None:
    for ref in shop.refs.values():
        assert shop.find(ref.role, ref.name, ref.nth) is ref


@pytest.mark.parametrize(
    ("role", "name", "nth", "message"),
    [
        (
            "button",
            "Save",
            3,
            r'^button "Save" nth=3: the snapshot shows only 3 of these: e5 button "Save", e9',
        ),
        (
            "button",
            "Rake",
            0,
            r'^button "Rake": not in the snapshot; near it: e6 heading "Rake", e7 link "Rake"',
        ),
        ("button", "Ad to cart", 0, r'near it: e4 button "Add to cart"'),
        ("button", "cart", 0, r'near it: e4 button "Add to cart"'),
        (
            "button",
            re.compile("^Hoe"),
            0,
            r'^button /\^Hoe/: not in the snapshot; near it: e10 heading "Hoe"',
        ),
        ("slider", None, 0, r"^slider: not in the snapshot$"),
        (None, "zzz", 0, r'^any role "zzz": not in the snapshot$'),
        ("link", "zzz", 0, r'near it: e3 link "Green spade Spade", e7 link "Rake"'),
    ],
)
def test_a_missing_element_names_similar_ones(
    shop: Snapshot, role: str | None, name: str | re.Pattern[str] | None, nth: int, message: str
) -> None:
    with pytest.raises(NodeNotFoundError, match=message):
        shop.find(role, name, nth)


def test_an_error_names_few_and_is_one_line(shop: Snapshot) -> None:
    with pytest.raises(NodeNotFoundError) as caught:
        shop.find("cell", "a\nb\u202e" + "x" * 1000)
    assert len(str(caught.value)) < 400
    assert len(str(caught.value).splitlines()) == 1


@pytest.mark.parametrize("nth", [-1, True, 1.5])
def test_rejects_an_impossible_nth(shop: Snapshot, nth: int) -> None:
    with pytest.raises(InvalidArgumentError, match="nth"):
        shop.find("button", nth=nth)


# --- hidden and unread parts ------------------------------------------------------------------------------


def test_elements_omitted_by_options_are_named() -> None:
    shown = snapshot_of(tree(("button", "Buy"), ("heading", "Total")), interactive=True)
    with pytest.raises(
        NodeNotFoundError, match=r'left out of this snapshot by its options: e2 heading "Total"$'
    ):
        shown.find("heading", "Total")
    assert [ref.id for ref in shown.unshown] == ["e2"]
    cut = snapshot_of(tree(*[("button", f"Buy {number}") for number in range(50)]), max_chars=400)
    with pytest.raises(
        NodeNotFoundError, match='left out of this snapshot by its options: e50 button "Buy 49"$'
    ):
        cut.find("button", "Buy 49")


def test_unread_frames_are_named() -> None:
    silent = Node("iframe", "interactive", "Ad", backend_node_id=1, remark="frame not responding")
    parts = [
        Document([], cut=True, nodes_seen=64),
        Document([], cut=True, nodes_seen=20_000),
        Document([], cut=True, deep=True, nodes_seen=20_000),
    ]
    frames = [
        Node("iframe", "interactive", f"Map {number}", backend_node_id=number, document=part)
        for number, part in enumerate(parts, 2)
    ]
    document = Document([silent, *frames], cut=True, nodes_seen=64)
    gaps = rendered(document).gaps
    late = "because it was read too late (64 elements in time)"
    large = "because it is too large (20000 elements in time)"
    deep = "because its elements are nested too deep"
    assert gaps == [
        f"the document was read only in part, {late}",
        'e1 iframe "Ad": frame not responding',
        f'e2 iframe "Map 2": read only in part, {late}',
        f'e3 iframe "Map 3": read only in part, {large}',
        f'e4 iframe "Map 4": read only in part, {deep}',
    ]
    error = not_found([], [], RefQuery("button", "Win"), 0, gaps=gaps[:3])
    assert str(error).endswith("; not read: " + ", ".join(gaps[:3]))
    lines = rendered(document).text.splitlines()
    assert lines == [
        '- iframe "Ad" [ref=e1] [frame not responding]',
        '- iframe "Map 2" [ref=e2] [partly read, too late]',
        '- iframe "Map 3" [ref=e3] [partly read, too large]',
        '- iframe "Map 4" [ref=e4] [partly read, too deep]',
        f"# this document was read only in part, {late}; take an element as root to read a part",
    ]
