"""The model of a protocol, its text, and the difference of two protocols."""

from __future__ import annotations

import json

import pytest
from protocols import document, protocol

from cdpengine.debug.explorer.compatibility import diff_protocols
from cdpengine.debug.explorer.protocol import decode_protocol
from cdpengine.debug.explorer.protocol_text import domains_text, entry_json, entry_text, list_text
from cdpengine.errors import InvalidArgumentError


@pytest.mark.parametrize(
    "text", [b"", b"<html>", b"{}", b'{"domains": 3}', b"\xff", b'{"domains": [{"commands": 1}]}']
)
def test_invalid_protocols_are_refused(text: bytes) -> None:
    with pytest.raises(InvalidArgumentError, match="somewhere"):
        decode_protocol(text, "somewhere")


def test_unknown_keys_are_harmless_and_kept() -> None:
    changed = document()
    changed["domains"][0]["commands"][0]["new"] = {"x": 1}
    assert b'"new": {"x": 1}' in protocol(changed).source


@pytest.mark.parametrize("name", ["Tree.grow", "tree.GROW", "TREE.grow"])
def test_names_are_found_in_any_case(name: str) -> None:
    (entry,) = protocol().find(name)
    assert (entry.kind, entry.name) == ("command", "Tree.grow")


def test_the_error_of_a_wrong_name_lists_near_ones() -> None:
    with pytest.raises(InvalidArgumentError, match=r"Tree\.grow"):
        protocol().find("Tree.grw")
    with pytest.raises(InvalidArgumentError, match=r"Tree\.grow"):
        protocol().find("Bush.grow")


def test_an_event_and_a_type_may_share_a_name() -> None:
    changed = document()
    changed["domains"][0]["types"].append({"id": "fallen", "type": "string"})
    assert [entry.kind for entry in protocol(changed).find("Tree.fallen")] == ["event", "type"]
    assert len(protocol(changed).find("tree.FALLEN")) == 2


def test_search_gives_names_before_descriptions_and_fields() -> None:
    assert [entry.name for entry in protocol().search("grow")] == ["Tree.grow", "Tree"]
    assert "Tree.fallen" in [entry.name for entry in protocol().search("WHY")]
    assert protocol().search("nothing at all") == []


def test_references_are_followed_once_and_across_domains() -> None:
    (entry,) = protocol().find("Tree.fallen")
    assert list(protocol().references(entry.item, "Tree")) == ["Leaf.Leaf", "Tree.Node"]


def test_a_type_is_expanded_once_and_cycles_end() -> None:
    text = entry_text(protocol(), protocol().find("Tree.grow")[0])
    assert text.count("children: array of Tree.Node (object)") == 1
    assert "(Tree.Node: see above)" in text
    assert "one of: oak, elm" in text
    assert "height?: number" in text
    assert "tree: Tree.Node (object)" in text  # of the leaf, in another domain


def test_depth_limits_the_expansion() -> None:
    entry = protocol().find("Tree.grow")[0]
    flat = entry_text(protocol(), entry, depth=0)
    assert "root: Tree.Node (object)" in flat
    assert "children" not in flat
    one = entry_text(protocol(), entry, depth=1)
    assert "leaf: Leaf.Leaf (object)" in one
    assert "tree:" not in one


def test_a_dangling_reference_is_reported() -> None:
    assert "Nowhere.Thing (not described by the protocol)" in entry_text(
        protocol(), protocol().find("Leaf.shed")[0]
    )


def test_marks_are_inherited_from_the_domain() -> None:
    assert "command Leaf.shed [experimental]" in entry_text(protocol(), protocol().find("Leaf.shed")[0])
    assert "[deprecated]" in list_text(protocol().find("Tree.fell"))
    assert "Leaf [experimental]" in domains_text(protocol())


def test_json_has_the_definition_and_all_its_types() -> None:
    made = json.loads(json.dumps(entry_json(protocol(), protocol().find("Tree.grow")[0])))
    assert list(made["types"]) == ["Leaf.Leaf", "Tree.Kind", "Tree.Node", "Tree.NodeId"]
    assert made["definition"]["parameters"][0] == {"name": "kind", "$ref": "Kind"}
    assert made["types"]["Tree.Kind"]["enum"] == ["oak", "elm"]


# --- difference ----------------------------------------------------------------------------------------------


def test_a_protocol_does_not_differ_from_itself() -> None:
    assert diff_protocols(protocol(), protocol()) == []


def test_every_kind_of_change_is_listed() -> None:
    after = document()
    tree = after["domains"][0]
    tree["commands"][0]["parameters"][1] = {"name": "height", "type": "integer"}
    tree["commands"][0]["parameters"].append({"name": "speed", "type": "number", "optional": True})
    tree["commands"][0]["returns"].pop()
    tree["commands"][1] = {"name": "fell"}
    tree["commands"].append({"name": "water"})
    tree["types"][1]["enum"] = ["oak", "ash"]
    tree["types"][0]["properties"][2]["items"] = {"type": "string"}
    tree["events"] = []
    tree["description"] = "no difference"
    after["domains"][1]["domain"] = "Blade"
    changes = {str(change) for change in diff_protocols(protocol(), protocol(after))}
    assert changes >= {
        "~ command Tree.grow: parameter height: now required",
        "~ command Tree.grow: parameter height: was number, is integer",
        "~ command Tree.grow: parameter speed added (optional)",
        "~ command Tree.grow: result rings removed",
        "~ command Tree.fell: no longer deprecated",
        "+ command Tree.water",
        "~ type Tree.Kind: value ash added",
        "~ type Tree.Kind: value elm removed",
        "~ type Tree.Node: property children: was array of Node, is array of string",
        "- event Tree.fallen",
        "+ domain Blade",
        "- domain Leaf",
        "- command Leaf.shed",
    }
    back = diff_protocols(protocol(after), protocol())
    assert len(back) == len(changes)
    assert "- command Tree.water" in {str(change) for change in back}
