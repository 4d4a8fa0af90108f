"""Features of pages, differences between pages, and descriptions of elements, on snapshots of handwritten trees."""

from __future__ import annotations

import attrs
import pytest
from snapshot_trees import Short, recorded, snapshot_of, tree

from cdpengine._snapshot.snapshot import Snapshot
from cdpengine.cache import (
    THRESHOLDS,
    FramePlace,
    Landmark,
    PageChange,
    PageFeatures,
    PathStep,
    Thresholds,
    compare_features,
    describe_target,
    judge_change,
    read_features,
)
from cdpengine.errors import InvalidArgumentError, NodeNotFoundError


def page(*nodes: Short) -> Snapshot:
    return snapshot_of(tree(("RootWebArea", "Shop", *nodes)))


def item(name: str) -> Short:
    return ("listitem", "", ("link", name, ("StaticText", name)))


LOGIN: tuple[Short, ...] = (
    ("heading", "Log in", {"level": 1}, ("StaticText", "Log in")),
    (
        "form", "Log in",
        ("textbox", "User", {"value": "ada"}),
        ("textbox", "Password", {"value": "hunter2"}),
        ("button", "Log in", ("StaticText", "Log in")),
    ),
    ("list", "", item("One"), item("Two")),
)  # fmt: skip


def features(*nodes: Short) -> PageFeatures:
    return read_features(page(*nodes))


def test_the_counts() -> None:
    found = read_features(page(*LOGIN), scripts=3)
    assert (found.forms, found.buttons, found.links, found.headings, found.fields, found.scripts) == (
        1,
        1,
        2,
        1,
        2,
        3,
    )
    assert features(*LOGIN).scripts is None
    assert not found.partial
    assert compare_features(found, found) == PageChange(kind="none", confidence=0)


def test_values_of_fields_are_never_remembered() -> None:
    name, label, *inside = LOGIN[1]
    other = [("textbox", each[1], {"value": "canary"}) if each[0] == "textbox" else each for each in inside]
    assert features(LOGIN[0], (name, label, *other), LOGIN[2]) == features(*LOGIN)
    assert "hunter2" not in repr(features(*LOGIN))


def test_other_words_are_content_and_not_structure() -> None:
    before, now = (
        features(*LOGIN),
        features(("heading", "Anmelden", {"level": 1}, ("StaticText", "Anmelden")), *LOGIN[1:]),
    )
    assert before.structure == now.structure
    assert compare_features(before, now) == PageChange(kind="content", confidence=20)


def test_a_longer_list_keeps_the_structure_but_is_counted() -> None:
    before, now = (
        features(*LOGIN),
        features(*LOGIN[:2], ("list", "", *[item(str(number)) for number in range(9)])),
    )
    change = compare_features(before, now)
    assert change.kind == "content"
    assert change.details == (("links", 2, 9),)


def test_a_new_field_is_structure() -> None:
    name, _, *inside = LOGIN[1]
    change = compare_features(
        features(*LOGIN), features(LOGIN[0], (name, "Log in", *inside, ("textbox", "Code")), LOGIN[2])
    )
    assert change.kind == "structure"
    assert change.details == (("fields", 2, 3),)
    assert 50 < change.confidence < 70


def test_a_reordered_page_has_the_least_confidence() -> None:
    assert compare_features(features(*LOGIN), features(*LOGIN[::-1])) == PageChange(
        kind="structure", confidence=50
    )


def test_an_entirely_different_page_is_certain() -> None:
    change = compare_features(features(*LOGIN), features(("table", "", ("row", "", ("cell", "1")))))
    assert change.confidence >= 95
    assert judge_change(change, "dynamic") == "hard"


def test_an_empty_page_and_no_difference() -> None:
    assert compare_features(features(), features()).kind == "none"
    assert compare_features(features(), features(*LOGIN)).confidence == 100


def test_an_incomplete_reading_is_never_certain() -> None:
    before = features(*LOGIN)
    change = compare_features(before, attrs.evolve(features(), partial=True))
    assert (change.kind, change.confidence) == ("structure", 40)
    assert [judge_change(change, kind) for kind in ("static", "form", "dynamic")] == ["soft", "keep", "keep"]


def test_features_need_nodes() -> None:
    with pytest.raises(InvalidArgumentError):
        read_features(Snapshot(text="- button", refs={}, stats=page(*LOGIN).stats))


@pytest.mark.parametrize("page_type", THRESHOLDS)
def test_each_verdict_begins_at_its_threshold(page_type: str) -> None:
    limits = THRESHOLDS[page_type]  # type: ignore[index]
    verdicts = {
        confidence: judge_change(PageChange(kind="structure", confidence=confidence), page_type)  # type: ignore[arg-type]
        for confidence in (0, limits.soft - 1, limits.soft, limits.hard - 1, limits.hard, 100)
    }
    assert list(verdicts.values()) == ["keep", "keep", "soft", "soft", "hard", "hard"]
    assert judge_change(PageChange(kind="none", confidence=100), page_type) == "keep"  # type: ignore[arg-type]


def test_a_change_of_words_matters_on_static_pages_only() -> None:
    change = PageChange(kind="content", confidence=20)
    assert {kind: judge_change(change, kind) for kind in THRESHOLDS} == {
        "static": "soft",
        "form": "keep",
        "dynamic": "keep",
    }
    own = dict.fromkeys(THRESHOLDS, Thresholds(soft=5, hard=15))
    assert judge_change(change, "form", thresholds=own) == "hard"


@pytest.mark.parametrize(("soft", "hard"), [(0, 50), (60, 50), (50, 101)])
def test_thresholds_out_of_order_are_refused(soft: int, hard: int) -> None:
    with pytest.raises(InvalidArgumentError):
        Thresholds(soft=soft, hard=hard)


@pytest.mark.parametrize("name", ["login", "shop", "widgets", "frames"])
def test_recorded_pages_differ_from_each_other_and_not_from_themselves(name: str) -> None:
    own = read_features(snapshot_of(recorded(name)))
    assert read_features(snapshot_of(recorded(name))) == own
    for other in {"login", "shop", "widgets", "frames"} - {name}:
        assert compare_features(own, read_features(snapshot_of(recorded(other)))).kind == "structure"


# --- targets -------------------------------------------------------------------------------------------------


def test_a_target_is_described_by_its_surroundings() -> None:
    snapshot = page(*LOGIN)
    made = describe_target(snapshot, snapshot.find("textbox", "Password").id)
    assert (made.role, made.name, made.nth, made.alike, made.frames) == ("textbox", "Password", 0, 1, ())
    assert made.within == (Landmark(role="form", name="Log in"),)
    assert made.before == Landmark(role="textbox", name="User")
    assert made.after == Landmark(role="button", name="Log in")
    assert made.path == (PathStep(role="form"), PathStep(role="textbox", nth=1))
    assert "hunter2" not in repr(made)


def test_equal_elements_are_counted() -> None:
    snapshot = page(
        *[("button", "Buy", ("StaticText", "Buy"))] * 3, ("button", "Sell", ("StaticText", "Sell"))
    )
    found = [describe_target(snapshot, ref.id) for ref in snapshot.find_all("button", "Buy")]
    assert [(each.nth, each.alike) for each in found] == [(0, 3), (1, 3), (2, 3)]
    assert [each.path[-1].nth for each in found] == [0, 1, 2]


def test_a_dollar_in_a_name_is_not_a_template() -> None:
    snapshot = page(("button", "Pay ${5}"))
    assert describe_target(snapshot, snapshot.find("button").id).name == "Pay $${5}"


def test_a_missing_ref() -> None:
    with pytest.raises(NodeNotFoundError):
        describe_target(page(*LOGIN), "e999")
    with pytest.raises(InvalidArgumentError):
        describe_target(page(*LOGIN), "#go")


def test_a_frame_is_described_from_outside() -> None:
    from cdpengine._snapshot.node import Document, Node
    from cdpengine._snapshot.refs import Ref
    from cdpengine._snapshot.snapshot import ListedNodes

    def element(role: str, name: str, number: int, *children: Node) -> Node:
        return Node(role, "interactive", name, backend_node_id=number, children=list(children))

    pay = element("button", "Pay", 1)
    frames = [element("iframe", "Box", 2), element("iframe", "Box", 3, pay)]
    frames[1].document = Document([pay], url="https://pay.example/?token=hunter2", frame_id="F2")
    nodes = [element("button", "Pay", 4), *frames]
    refs = {
        node: Ref(
            f"e{node.backend_node_id}", node.role, node.name, 0, node.backend_node_id or 0, None, None, None
        )
        for node in [*nodes, pay]
    }
    snapshot = attrs.evolve(page(), internals=ListedNodes(Document(nodes, frame_id="F1"), refs))
    made = describe_target(snapshot, "e1")
    assert made.frames == (FramePlace(name="Box", address="https://pay.example/?token=*", nth=1),)
    assert (made.nth, made.alike, made.path) == (0, 1, (PathStep(role="button"),))
    assert describe_target(snapshot, "e4").frames == ()
