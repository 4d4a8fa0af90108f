"""Chrome's serialization of an array of nodes, strings and numbers: the parts are identified, whatever their
order.
"""

from __future__ import annotations

import json
from typing import Any

import msgspec
import pytest

from cdpengine._page.scripts.node_lists import SerializedList, SerializedNode, split_text
from cdpengine._snapshot.sources.numbers import find_closed_root
from cdpengine.errors import ProtocolError

METHOD = "Runtime.callFunctionOn"


def text(value: str) -> dict[str, Any]:
    return {"type": "string", "value": value}


def node(number: int, **more: object) -> dict[str, Any]:
    value = {
        "nodeType": 1,
        "childNodeCount": 0,
        "backendNodeId": number,
        "attributes": {"class": "a"},
        **more,
    }
    return {"type": "node", "value": value}


NOTHING: dict[str, Any] = {"type": "null"}


def array(*items: dict[str, Any]) -> msgspec.Raw:
    return msgspec.Raw(json.dumps({"type": "array", "value": items}).encode())


def numbers(nodes: list[SerializedNode | None]) -> list[int | None]:
    return [None if each is None else each.backend_node_id for each in nodes]


@pytest.mark.parametrize(
    ("items", "expected"),
    [
        ([], []),
        ([node(7)], [7]),
        ([node(7), NOTHING, node(9)], [7, None, 9]),
        ([text("no node"), node(9)], [None, 9]),
        ([{"type": "number", "value": 3}, node(9)], [None, 9]),
    ],
)
def test_a_text_and_the_nodes_behind_it(items: list[dict[str, Any]], expected: list[int | None]) -> None:
    head, nodes = split_text(METHOD, array(text('{"a": [1]}'), *items), dict[str, list[int]])
    assert (head, numbers(nodes)) == ({"a": [1]}, expected)


@pytest.mark.parametrize(
    "raw",
    [
        array(),
        array(node(7)),
        array(NOTHING, text("{}")),
        array(text("[]")),
        array(text("no JSON")),
        msgspec.Raw(b'{"type":"array","value":7}'),
        msgspec.Raw(b"null"),
    ],
    ids=["empty", "no text", "text behind", "other shape", "no JSON", "no array", "null"],
)
def test_a_list_without_such_a_text_at_its_beginning_is_refused(raw: msgspec.Raw) -> None:
    with pytest.raises(ProtocolError):
        split_text(METHOD, raw, dict[str, list[int]])


def test_only_nodes_of_the_list_are_returned() -> None:
    raw = array({"type": "number", "value": 1}, node(7, loaderId="L", localName="h1"), NOTHING, text("7"))
    (found,) = msgspec.json.decode(raw, type=SerializedList).nodes()
    assert found == SerializedNode(7, "L", "h1")


@pytest.mark.parametrize(
    ("name", "root", "expected"),
    [
        ("div", {"mode": "closed", "backendNodeId": 8}, 8),
        ("my-own", {"mode": "closed", "backendNodeId": 8}, 8),
        ("div", {"mode": "open", "backendNodeId": 8}, None),
        ("select", {"mode": "closed", "backendNodeId": 8}, None),
        ("div", None, None),
    ],
)
def test_a_closed_root_is_one_that_a_page_attached(
    name: str, root: dict[str, Any] | None, expected: int | None
) -> None:
    shown = {} if root is None else {"shadowRoot": {"type": "node", "value": root}}
    (found,) = msgspec.json.decode(array(node(7, localName=name, **shown)), type=SerializedList).nodes()
    assert find_closed_root(found) == expected
