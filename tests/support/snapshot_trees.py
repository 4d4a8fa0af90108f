"""AX trees for tests of snapshots: recorded trees, a short notation, and hypothesis strategies for random
trees.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import attrs
from hypothesis import strategies as st

from cdpengine._api.page.snapshots import make_snapshot
from cdpengine._protocol.domains.accessibility import AXTree
from cdpengine._snapshot.capture import Capture
from cdpengine._snapshot.node import Document
from cdpengine._snapshot.refs import RefTable
from cdpengine._snapshot.render.lines import AX_MODES, Mode, SnapshotOptions
from cdpengine._snapshot.roles import NEVER_FOUND
from cdpengine._snapshot.snapshot import Snapshot
from cdpengine._snapshot.sources.ax_nodes import fold
from cdpengine._snapshot.sources.ax_tree import decode_ax_tree

DATA = Path(__file__).parent.parent / "unit" / "data" / "axtrees"
RECORDED = ("login", "shop", "widgets", "frames")

# A node in short notation: role, name, keywords ("value", "ignored", "id", "description", any property),
# children.
Short = tuple[Any, ...]


def recorded(name: str) -> AXTree:
    return decode_ax_tree((DATA / f"{name}.json").read_bytes())


def reply(*nodes: Short) -> dict[str, Any]:
    """Return the reply for a document with these nodes. Backend node ids count from 10 in page order."""
    out: list[dict[str, Any]] = []

    def add(node: Short, parent: dict[str, Any] | None) -> None:
        role, name, *rest = node
        options: dict[str, Any] = next((item for item in rest if isinstance(item, dict)), {})
        children = [item for item in rest if isinstance(item, tuple)]
        own: dict[str, Any] = {"nodeId": str(len(out) + 1), "backendDOMNodeId": len(out) + 10, "childIds": []}
        own["ignored"] = options.get("ignored", False)
        own["role"] = {"type": "role", "value": role}
        own["name"] = {"type": "computedString", "value": name}
        for key in ("value", "description"):
            if key in options:
                own[key] = {"type": "string", "value": options[key]}
        own["properties"] = [
            {"name": key, "value": {"type": "token", "value": value}}
            for key, value in options.items()
            if key not in ("value", "description", "ignored", "id", "labels")
        ]
        if "id" in options:
            own["backendDOMNodeId"] = options["id"]
        if "labels" in options:
            nodes = [{"backendDOMNodeId": options["labels"]}]
            own["properties"].append(
                {"name": "labelledby", "value": {"type": "nodeList", "relatedNodes": nodes}}
            )
        out.append(own)
        if parent is not None:
            parent["childIds"].append(own["nodeId"])
        for child in children:
            add(child, own)

    add(("RootWebArea", "Title", {"url": "http://shop.test/list?page=2"}, *nodes), None)
    out[0]["frameId"] = "FRAME"
    return {"nodes": out}


def tree(*nodes: Short) -> AXTree:
    return decode_ax_tree(encoded(reply(*nodes)))


def snapshot_of(ax: AXTree, table: RefTable | None = None, *, loader: str = "L", **options: Any) -> Snapshot:
    document = fold(ax)
    document.session_id, document.loader_id = "S", loader
    document.ax = ax if options.get("mode") in AX_MODES else None
    return snapshot_of_document(document, RefTable() if table is None else table, SnapshotOptions(**options))


def snapshot_of_document(document: Document, table: RefTable, options: SnapshotOptions) -> Snapshot:
    captured = Capture(document, (document,), {})
    return make_snapshot(captured, table, options, 0.0, partial=False, since=None)


def text_of(*nodes: Short, **options: Any) -> str:
    return snapshot_of(tree(*nodes), **options).text


# --- reading a snapshot back -----------------------------------------------------------------------------

_NO_ELEMENT = "|".join(sorted(NEVER_FOUND))
_ELEMENT = {
    "role": r"- (?!text: )",
    "ai": r"- (?!text: |/)",
    "numbered": r"(?!text )",
    "aria": rf"- (?!{_NO_ELEMENT})",
    "webarena": rf"(?!{_NO_ELEMENT})(?!\[\d+\] (?:{_NO_ELEMENT}))",
}
"""Patterns for the start of an element's line, by mode."""


def element_lines(text: str, mode: Mode) -> Iterator[tuple[str, str | None]]:
    """Return the lines of elements, each with its ref."""
    for line in text.splitlines():
        if re.match(_ELEMENT[mode], line.lstrip()) and not line.startswith("#"):
            plain = re.sub(r'"(?:\\.|[^"\\])*"', '""', line)  # page text can look like a ref
            found = re.search(r"\[(?:ref=e)?(\d+)\]", plain)
            yield line, found and f"e{found[1]}"


@attrs.frozen
class Line:
    depth: int
    role: str
    name: str | None
    ref: str | None
    states: dict[str, str | bool]
    text: str | None


_STRING = r'"(?:[^"\\\n]|\\.)*"'
_LINE = re.compile(
    rf"(?P<indent>(?:  )*)- (?P<role>[a-z][a-z0-9-]*)(?: (?P<name>{_STRING}))?(?: \[ref=(?P<ref>e[0-9]+)\])?"
    rf"(?P<states>(?: \[[a-z]+(?:=(?:{_STRING}|[A-Za-z0-9.+-]+))?\])*)(?:: (?P<text>{_STRING}))?"
)
_STATE = re.compile(rf" \[([a-z]+)(?:=({_STRING}|[A-Za-z0-9.+-]+))?\]")


def parsed(text: str) -> Iterator[Line]:
    """Parse the lines by the format's rules, without remarks. Fails on any other line."""
    for line in text.splitlines():
        if line.startswith("# "):
            continue
        match = _LINE.fullmatch(line)
        assert match is not None, line
        states: dict[str, str | bool] = {}
        for key, value in _STATE.findall(match["states"]):
            assert key not in states, line
            states[key] = json.loads(value) if value.startswith('"') else value or True
        yield Line(
            depth=len(match["indent"]) // 2,
            role=match["role"],
            name=json.loads(match["name"]) if match["name"] else None,
            ref=match["ref"],
            states=states,
            text=json.loads(match["text"]) if match["text"] else None,
        )


# --- random trees
# --------------------------------------------------------------------------------------------

NASTY = st.text(
    st.one_of(
        st.characters(),
        st.sampled_from(
            '"\\\n\r\t[]=:#- \u2028\u2029\x85\x0b\x0c\x1c\u202e\u2066\u200f\ud800\udc00\U000e0041\xa0'
        ),
    ),
    max_size=12,
) | st.sampled_from(
    ['x" [ref=e1]', '\n- button "Buy" [ref=e2]', '\\" [ref=e1]', "e1", "\u2022\u2022\u2022", "# 3 lines"]
)
ROLES = st.sampled_from(
    [
        "StaticText",
        "InlineTextBox",
        "RootWebArea",
        "button",
        "link",
        "textbox",
        "heading",
        "generic",
        "none",
        "list",
        "listitem",
        "row",
        "cell",
        "LabelText",
        "paragraph",
        "image",
        "option",
        "combobox",
        "Iframe",
        "emphasis",
        "LineBreak",
        "ListMarker",
        "Date",
        "slider",
        "checkbox",
        "article",
        "treeitem",
        "deletion",
        "table",
        "FutureRole",
    ]
)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-3, 2**70) | st.floats() | NASTY,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NASTY, inner, max_size=3),
    max_leaves=4,
)
IDS = st.integers(0, 12).map(str)
PROPERTIES = st.lists(
    st.fixed_dictionaries(
        {
            "name": st.sampled_from(
                [
                    "focusable",
                    "checked",
                    "expanded",
                    "url",
                    "level",
                    "disabled",
                    "valuetext",
                    "labelledby",
                    "editable",
                    "invalid",
                    "hasPopup",
                    "selected",
                    "pressed",
                    "readonly",
                    "valuemin",
                    "future",
                ]
            ),
            "value": st.fixed_dictionaries(
                {"value": st.booleans() | NASTY | st.sampled_from(["mixed", "true"]) | JSON},
                optional={
                    "relatedNodes": st.lists(st.fixed_dictionaries({"backendDOMNodeId": st.integers(0, 12)}))
                },
            ),
        }
    ),
    max_size=3,
)


def _ax_value(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[dict[str, Any]]:
    return st.fixed_dictionaries({"value": inner})


NODE = st.fixed_dictionaries(
    {
        "nodeId": IDS,
        "role": _ax_value(ROLES),
        "name": _ax_value(NASTY),
        "childIds": st.lists(IDS, max_size=4),
    },
    optional={
        "ignored": st.booleans(),
        "backendDOMNodeId": st.integers(0, 12),
        "value": _ax_value(NASTY | st.floats() | st.integers()),
        "description": _ax_value(NASTY),
        "properties": PROPERTIES,
        "parentId": IDS,
        "frameId": NASTY,
        "future": JSON,
    },
)
REPLIES = st.fixed_dictionaries({"nodes": st.lists(NODE, max_size=14)})
# Any JSON, sometimes in the shape of a reply.
GARBAGE = JSON | st.fixed_dictionaries(
    {
        "nodes": st.lists(
            JSON
            | st.dictionaries(
                st.sampled_from(
                    [
                        "nodeId",
                        "ignored",
                        "role",
                        "name",
                        "value",
                        "description",
                        "properties",
                        "childIds",
                        "backendDOMNodeId",
                        "frameId",
                    ]
                ),
                JSON
                | _ax_value(JSON)
                | st.lists(st.fixed_dictionaries({"name": JSON, "value": JSON | _ax_value(JSON)})),
            ),
            max_size=6,
        )
    }
)


def encoded(value: Any) -> bytes:
    """Return JSON as a browser may send it: unpaired surrogates as escapes, and numbers beyond a float's
    range.
    """

    def replace(token: re.Match[str]) -> str:
        return token[0] if token[0].startswith('"') else "null" if token[0] == "NaN" else "1e999"

    return re.sub(r'"(?:[^"\\]|\\.)*"|Infinity|NaN', replace, json.dumps(value)).encode("ascii")


SNAPSHOT_OPTIONS = st.fixed_dictionaries(
    {},
    optional={
        "interactive": st.booleans(),
        "compact": st.booleans(),
        "max_depth": st.none() | st.integers(0, 4),
        "max_chars": st.none() | st.integers(0, 400),
    },
)
