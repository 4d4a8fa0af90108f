"""Mode aria: the accessibility tree whole, for debugging.

Rule: one line is one AX node as Chrome tells it, in Chrome's words:

    - StaticText "name" [ref=e3] [node=12] [backend=34] [focusable] [level=2] [value="..."] [describedby="hint"]

A property that is true stands by its name, `[name.nodes=34,35]` are the backend ids that a property points to.
Ignored nodes (on request) are `[ignored=reason,reason]`. Everything between double quotes is a JSON string and
comes from the page; everything outside of them comes from Chrome or from here. A line that begins with `#` is a
remark of ours.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from cdpengine._protocol.domains.accessibility import AXPropertyValue
from cdpengine._snapshot.node import Document, Node
from cdpengine._snapshot.options import SnapshotOptions
from cdpengine._snapshot.refs.refs import Ref
from cdpengine._snapshot.render.ax_lines import Visit, ax_lines, ax_visits, is_masked, value_text
from cdpengine._snapshot.render.lines import Lines, safe_remark
from cdpengine._snapshot.roles import TEXT_ROLES
from cdpengine._snapshot.sources.ax_tree import ignored_reasons
from cdpengine._snapshot.text import is_token, quote

_TEXT_ROLES = TEXT_ROLES | {"InlineTextBox"}
_OURS = frozenset({"backend", "ignored", "node", "ref"})


def aria_lines(document: Document, refs: Mapping[Node, Ref], options: SnapshotOptions) -> Lines:
    """Return the lines of all trees."""

    def describe(visit: Visit) -> str | None:
        left_out = visit.ax.ignored and visit.ref is None and not options.ignored
        return None if left_out else _line(visit)

    return ax_lines(document, refs, describe, indent="  ", max_depth=options.max_depth)


def to_json(document: Document, refs: Mapping[Node, Ref], *, ignored: bool = False) -> list[dict[str, Any]]:
    """Return the trees as a flat list of what JSON can say, parents before children.

    Keys are the protocol's where the protocol has the thing; `childIds` count within one `frameId`, and are those
    of nodes in the list: in the place of one that is left out stand those in it. `properties` is a mapping, `ref`
    is None for a node without one.
    """
    out: list[dict[str, Any]] = []
    above: list[
        tuple[Document, dict[str, Any]]
    ] = []  # the last node of each depth, as far as the present one
    for visit, depth in ax_visits(document, refs, ignored=ignored):
        ax = visit.ax
        name, value = _shown(visit)
        del above[depth:]
        if above and above[-1][0] is visit.document:
            above[-1][1]["childIds"].append(ax.node_id)
        out.append(
            {
                "nodeId": ax.node_id,
                "backendNodeId": ax.backend_node_id,
                "frameId": visit.document.frame_id,
                "ref": None if visit.ref is None else visit.ref.id,
                "role": value_text(ax.role),
                "name": name,
                "value": value,
                "description": value_text(ax.description),
                "properties": {
                    item.name: _plain(item.value) for item in ax.properties if item.value is not None
                },
                "ignored": ax.ignored,
                "ignoredReasons": ignored_reasons(ax),
                "childIds": [],
                "remark": "" if visit.node is None else visit.node.remark,
            }
        )
        above.append((visit.document, out[-1]))
    return out


def _line(visit: Visit) -> str:
    ax = visit.ax
    role = value_text(ax.role)
    name, value = _shown(visit)
    line = f"- {role}" if is_token(role) else "- unknown"
    if name:
        line += f" {quote(name)}"
    if visit.ref is not None:
        line += f" [ref={visit.ref.id}]"
    line += f" [node={ax.node_id if is_token('n' + ax.node_id) else quote(ax.node_id)}]"
    if ax.backend_node_id is not None:
        line += f" [backend={ax.backend_node_id}]"
    if ax.ignored:
        reasons = [reason for reason in ignored_reasons(ax) if is_token(reason)]
        line += f" [ignored={','.join(reasons)}]" if reasons else " [ignored]"
    if visit.node is not None and visit.node.remark:
        line += f" [{safe_remark(visit.node.remark)}]"
    for item in ax.properties:
        if item.value is not None:
            line += _property(item.name, item.value)
    if value is not None:
        line += " [value=hidden]" if value == _HIDDEN else f" [value={quote(value)}]"
    description = value_text(ax.description)
    return f"{line} [description={quote(description)}]" if description else line


_HIDDEN = "(hidden)"


def _shown(visit: Visit) -> tuple[str, str | None]:
    """Return the name and the value, without what a masked field holds."""
    ax = visit.ax
    name, value = value_text(ax.name), None if ax.value is None else value_text(ax.value)
    if visit.hidden and value_text(ax.role) in _TEXT_ROLES:
        name = _HIDDEN
    return name, _HIDDEN if value is not None and (visit.hidden or is_masked(value)) else value


def _property(name: str, given: AXPropertyValue) -> str:
    name = name if is_token(name) and name not in _OURS else quote(name)
    value, text = given.value, ""
    if value is True:
        text = f" [{name}]"
    elif value is False:
        text = f" [{name}=false]"
    elif isinstance(value, int | float):
        text = f" [{name}={value:g}]"
    elif isinstance(value, str):
        text = f" [{name}={value if is_token(value) else quote(value)}]"
    if given.related_nodes:
        numbers = [
            str(node.backend_node_id) for node in given.related_nodes if node.backend_node_id is not None
        ]
        text += f" [{name}.nodes={','.join(numbers)}]" if numbers else ""
    return text


def _plain(given: AXPropertyValue) -> object:
    if not given.related_nodes:
        return given.value
    return {"value": given.value, "backendNodeIds": [node.backend_node_id for node in given.related_nodes]}
