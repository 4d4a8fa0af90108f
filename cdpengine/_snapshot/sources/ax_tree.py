"""The accessibility tree, decoded from the reply of `Accessibility.getFullAXTree`.

Rule: a malformed node is left out; any JSON reply is accepted. msgspec decodes it in one pass. Only replies that
msgspec refuses take the slow path below. Once per session, before other accessibility calls, Chrome receives the
command to keep its trees between queries.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any
from weakref import WeakSet

import msgspec

from cdpengine import _json
from cdpengine._protocol.domains.accessibility import (
    AXName,
    AXNameSource,
    AXNode,
    AXProperty,
    AXPropertyValue,
    AXTree,
    AXTreeUnread,
    AXValue,
    RelatedNode,
)
from cdpengine._protocol.session import Session

_decode = _json.Decoder(AXTree).decode
_decode_raw = _json.Decoder(AXTreeUnread).decode
_decode_nodes = _json.Decoder(tuple[AXNode, ...]).decode
_decode_reasons = _json.Decoder(list[AXProperty]).decode
_decode_sources = _json.Decoder(list[AXNameSource]).decode


def decode_ax_tree(raw: bytes | memoryview | msgspec.Raw) -> AXTree:
    """Decode the JSON of a reply. Raises ValueError if it is not JSON or is nested too deeply.

    msgspec refuses numbers beyond a float's range, which `aria-valuemax` can have.
    """
    try:
        return _decode(raw)
    except msgspec.DecodeError:
        return _tree(_json.decode_leniently(bytes(raw).decode(errors="replace")))


_CHUNK = 256
"""Nodes to decode at a time: enough for msgspec's full speed, few enough to save memory."""


def ax_nodes(raw: bytes | memoryview | msgspec.Raw) -> Iterator[Sequence[AXNode]]:
    """Decode the nodes of a reply in chunks. A caller that releases them never holds the whole tree.

    Raises the errors of `decode_ax_tree`, before the first chunk.
    """
    try:
        waiting = _decode_raw(raw).nodes
    except msgspec.DecodeError:
        yield decode_ax_tree(raw).nodes
        return
    waiting.reverse()
    while waiting:
        chunk = waiting[: -_CHUNK - 1 : -1]
        del waiting[-_CHUNK:]
        joined = b"[" + b",".join(chunk) + b"]"
        try:
            yield _decode_nodes(joined)
        except msgspec.DecodeError:
            yield decode_ax_tree(b'{"nodes":' + joined + b"}").nodes


def placeholder(name: AXName | None) -> str:
    """Return a text field's placeholder, which the protocol reports only as a source of its name."""
    if name is None or not bytes(name.sources):
        return ""
    try:
        sources = _decode_sources(name.sources)
    except msgspec.DecodeError:
        return ""
    for source in sources:
        if source.type == "placeholder" and source.value is not None and isinstance(source.value.value, str):
            return source.value.value
    return ""


def ignored_reasons(node: AXNode) -> list[str]:
    """Return Chrome's reasons for not showing the node, in protocol terms such as "notRendered"."""
    if not bytes(node.ignored_reasons):
        return []
    try:
        return [reason.name for reason in _decode_reasons(node.ignored_reasons)]
    except msgspec.DecodeError:
        return []


# --- the slow path: any JSON, field by field ----------------------------------------------


def _tree(reply: object) -> AXTree:
    nodes = reply.get("nodes") if isinstance(reply, dict) else None
    return AXTree(tuple(_node(node) for node in _list(nodes) if isinstance(node, dict)))


def _node(node: dict[str, Any]) -> AXNode:
    properties = [item for item in _list(node.get("properties")) if isinstance(item, dict)]
    return AXNode(
        node_id=_text(node.get("nodeId")) or "",
        ignored=node.get("ignored") is True,
        role=_value(node.get("role")),
        name=_name(node.get("name")),
        description=_value(node.get("description")),
        value=_value(node.get("value")),
        properties=tuple(
            AXProperty(_text(item.get("name")) or "", _property_value(item.get("value")))
            for item in properties
        ),
        child_ids=tuple(child for item in _list(node.get("childIds")) if (child := _text(item)) is not None),
        backend_node_id=_integer(node.get("backendDOMNodeId")),
        frame_id=_text(node.get("frameId")),
        ignored_reasons=_raw_list(node.get("ignoredReasons")),
    )


def _value(item: object) -> AXValue | None:
    return AXValue(item.get("value")) if isinstance(item, dict) else None


def _name(item: object) -> AXName | None:
    if not isinstance(item, dict):
        return None
    return AXName(item.get("value"), _raw_list(item.get("sources")))


def _raw_list(item: object) -> msgspec.Raw:
    return msgspec.Raw(_json.encode(item) if isinstance(item, list) else b"")


def _property_value(item: object) -> AXPropertyValue | None:
    if not isinstance(item, dict):
        return None
    related = [node for node in _list(item.get("relatedNodes")) if isinstance(node, dict)]
    return AXPropertyValue(
        item.get("value"),
        tuple(RelatedNode(_integer(node.get("backendDOMNodeId"))) for node in related) or None,
    )


def _list(item: object) -> list[Any]:
    return item if isinstance(item, list) else []


def _text(item: object) -> str | None:
    """Return an id that is a string, or a number from another implementation of the protocol."""
    if isinstance(item, str):
        return item
    return str(item) if isinstance(item, int) and not isinstance(item, bool) else None


def _integer(item: object) -> int | None:
    return item if isinstance(item, int) and not isinstance(item, bool) else None


_warm: WeakSet[Session] = WeakSet()


def keep_warm(session: Session) -> None:
    """Make Chrome keep the session's accessibility trees between snapshots from now on.

    Sends `Accessibility.enable` once per session without waiting, as Chrome processes commands in order. It stays
    enabled: otherwise each snapshot rebuilds the whole tree.
    """
    if session not in _warm:
        if session._hold_domain("Accessibility"):
            session.post("Accessibility.enable")
        _warm.add(session)
