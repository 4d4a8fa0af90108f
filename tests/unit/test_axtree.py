"""Decoding the reply of Accessibility.getFullAXTree: nothing that is JSON is refused."""

from __future__ import annotations

import json

import msgspec
import pytest
from hypothesis import given
from snapshot_trees import GARBAGE, RECORDED, encoded, recorded

from cdpengine._protocol.domains.accessibility import AXName, AXTree
from cdpengine._snapshot.sources.ax_tree import decode_ax_tree, placeholder


def name_of(tree: AXTree, index: int = 0) -> object:
    name = tree.nodes[index].name
    return None if name is None else name.value


@pytest.mark.parametrize("page", RECORDED)
def test_recorded_replies_are_read_whole(page: str) -> None:
    tree = recorded(page)
    assert len(tree.nodes) > 100
    assert tree.nodes[0].role is not None
    assert tree.nodes[0].role.value == "RootWebArea"
    assert tree.nodes[0].frame_id
    assert tree.nodes[0].backend_node_id is not None
    assert tree.nodes[0].child_ids


def test_unknown_and_missing_fields() -> None:
    tree = decode_ax_tree(b'{"nodes":[{"nodeId":"1","new":{"deep":[1]}},{}],"more":1}')
    assert [node.node_id for node in tree.nodes] == ["1", ""]
    assert tree.nodes[0].child_ids == ()
    assert decode_ax_tree(b"{}").nodes == ()


@pytest.mark.parametrize(
    ("escape", "expected"),
    [
        (r"a\ud800b", "a\ud800b"),
        (r"a\uDC00b", "a\udc00b"),
        (r"\ud83d\ude00", "\U0001f600"),
        (r"\ud83d\ud83d\ude00\ude00", "\ud83d\U0001f600\ude00"),
        (r"\ud800\\ud800", "\ud800\\ud800"),  # the second one is a backslash and the letters of an escape
        (r"\ud800\\\udc00", "\ud800\\\udc00"),
    ],
    ids=ascii,
)
def test_unpaired_surrogates_are_kept(escape: str, expected: str) -> None:
    raw = f'{{"nodes":[{{"nodeId":"1","name":{{"value":"{escape}"}}}}]}}'.encode("ascii")
    assert ascii(name_of(decode_ax_tree(raw))) == ascii(expected)


def test_bytes_that_are_not_utf8_become_replacement_characters() -> None:
    assert name_of(decode_ax_tree(b'{"nodes":[{"name":{"value":"a\xffb"}}]}')) == "a\ufffdb"


def test_fields_of_odd_types_are_left_out_and_the_rest_is_kept() -> None:
    reply = {
        "nodes": [
            7,
            {
                "nodeId": 3,
                "ignored": "no",
                "role": "button",
                "name": {"value": "Buy", "sources": 5},
                "properties": [1, {"name": "checked", "value": {"value": "mixed", "relatedNodes": [{}, 1]}}],
                "childIds": [4, None, "5"],
                "backendDOMNodeId": "8",
                "frameId": [],
            },
        ]
    }
    (node,) = decode_ax_tree(encoded(reply)).nodes
    assert (node.node_id, node.ignored, node.role, node.child_ids) == ("3", False, None, ("4", "5"))
    assert node.name is not None
    assert node.name.value == "Buy"
    assert node.backend_node_id is None
    assert node.properties[0].value is not None
    assert node.properties[0].value.value == "mixed"


def test_numbers_beyond_a_float_are_survived() -> None:
    tree = decode_ax_tree(b'{"nodes":[{"name":{"value":"x"},"value":{"value":1e999}}]}')
    assert name_of(tree) == "x"


@pytest.mark.parametrize("raw", [b"", b"{", b'{"nodes":[', b"nonsense", b'{"nodes":"\\ud8'])
def test_invalid_json_is_refused(raw: bytes) -> None:
    with pytest.raises(ValueError, match=r"."):
        decode_ax_tree(raw)


def test_endless_nesting_is_refused() -> None:
    deep = b'{"nodes":[{"value":{"value":' + b"[" * 200_000 + b"]" * 200_000 + b"}}]}"
    with pytest.raises(ValueError, match="nested too deep"):
        decode_ax_tree(deep)


@given(GARBAGE)
def test_no_valid_json_is_refused(reply: object) -> None:
    tree = decode_ax_tree(encoded(reply))
    for node in tree.nodes:
        assert isinstance(node.node_id, str)
        assert all(isinstance(child, str) for child in node.child_ids)


@pytest.mark.parametrize(
    ("sources", "expected"),
    [
        (
            [{"type": "attribute"}, {"type": "placeholder", "value": {"value": "you@example.com"}}],
            "you@example.com",
        ),
        ([{"type": "placeholder"}, {"type": "placeholder", "value": {"value": "second"}}], "second"),
        ([{"type": "placeholder", "value": {"value": 5}}], ""),
        ([{"type": 5, "value": {"value": "x"}}], ""),
        ([5], ""),
        ({}, ""),
    ],
)
def test_the_placeholder_is_found_among_the_sources_of_the_name(sources: object, expected: str) -> None:
    assert placeholder(AXName("E-mail", msgspec.Raw(json.dumps(sources).encode()))) == expected


def test_without_sources_there_is_no_placeholder() -> None:
    assert placeholder(None) == ""
    assert placeholder(AXName("x")) == ""
