"""Accessibility: the nodes of the accessibility tree.

Rule: the structures have only used fields, and none is required. Replies are large, so sequences are tuples: empty
tuples cost nothing, and the garbage collector skips tuples.
"""

from __future__ import annotations

from typing import Any

import msgspec

from cdpengine._protocol.domains import of_type, reply


class RelatedNode(msgspec.Struct, rename="camel", gc=False):
    """A node that a property refers to, such as the label that names a field."""

    backend_node_id: int | None = msgspec.field(default=None, name="backendDOMNodeId")


class AXValue(msgspec.Struct, gc=False):
    """A role, description or value: any JSON."""

    value: Any = None


class AXName(AXValue, gc=False):
    """A name; `sources` (raw JSON) lists its possible sources."""

    sources: msgspec.Raw = msgspec.Raw(b"")


@of_type("Accessibility.AXValueSource")
class AXNameSource(msgspec.Struct, gc=False):
    """A possible source of a name."""

    type: Any = None
    value: AXValue | None = None
    attribute: str = ""


class AXPropertyValue(msgspec.Struct, rename="camel", gc=False):
    """The value of a state, or the nodes of a relation."""

    value: Any = None
    related_nodes: tuple[RelatedNode, ...] | None = None


class AXProperty(msgspec.Struct, gc=False):
    """A state or relation of a node, such as checked, level or labelledby."""

    name: str = ""
    value: AXPropertyValue | None = None


class AXNodeHead(msgspec.Struct, rename="camel", gc=False):
    """The fields of a node that finding by role and name reads."""

    node_id: str = ""
    ignored: bool = False
    role: AXValue | None = None
    name: AXValue | None = None
    backend_node_id: int | None = msgspec.field(default=None, name="backendDOMNodeId")


class AXNode(AXNodeHead, rename="camel", gc=False):
    """One node of the accessibility tree. Its parent is the node that lists it as a child.

    `ignored_reasons` is raw JSON: few callers need it, and ignored nodes are many.
    """

    name: AXName | None = None
    description: AXValue | None = None
    value: AXValue | None = None
    properties: tuple[AXProperty, ...] = ()
    child_ids: tuple[str, ...] = ()
    frame_id: str | None = None
    parent_id: str | None = None
    ignored_reasons: msgspec.Raw = msgspec.Raw(b"")


@reply("Accessibility.getFullAXTree")
@reply("Accessibility.queryAXTree")
class AXTree(msgspec.Struct, gc=False):
    """The whole tree of a frame's document, or the queried part of it."""

    nodes: tuple[AXNode, ...] = ()


@reply("Accessibility.getFullAXTree", brief=True)
class AXTreeUnread(msgspec.Struct, gc=False):
    """The tree with its nodes as raw JSON, for decoding in small batches."""

    nodes: list[msgspec.Raw] = []


@reply("Accessibility.getFullAXTree", brief=True)
@reply("Accessibility.queryAXTree", brief=True)
class AXQueryReply(msgspec.Struct):
    """The nodes with the queried role, name, or both."""

    nodes: list[AXNodeHead] = []
