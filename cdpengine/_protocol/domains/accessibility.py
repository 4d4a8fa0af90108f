"""Accessibility: the nodes of the accessibility tree.

Rule: only the fields that are used are named, and none is required. Replies are large, so that sequences are
tuples: an empty one costs nothing, and the collector passes them by.
"""

from __future__ import annotations

from typing import Any

import msgspec

from cdpengine._protocol.domains import of_type, reply


class RelatedNode(msgspec.Struct, rename="camel", gc=False):
    """A node that a property points to, such as the label that names a field."""

    backend_node_id: int | None = msgspec.field(default=None, name="backendDOMNodeId")


class AXValue(msgspec.Struct, gc=False):
    """A role, description or value: any JSON."""

    value: Any = None


class AXName(AXValue, gc=False):
    """A name; `sources` (raw JSON) says what it could have come from."""

    sources: msgspec.Raw = msgspec.Raw(b"")


@of_type("Accessibility.AXValueSource")
class AXNameSource(msgspec.Struct, gc=False):
    """Something that a name could have come from."""

    type: Any = None
    value: AXValue | None = None


class AXPropertyValue(msgspec.Struct, rename="camel", gc=False):
    """The value of a state, or the nodes of a relation."""

    value: Any = None
    related_nodes: tuple[RelatedNode, ...] | None = None


class AXProperty(msgspec.Struct, gc=False):
    """A state or relation of a node, such as checked, level or labelledby."""

    name: str = ""
    value: AXPropertyValue | None = None


class AXNodeHead(msgspec.Struct, rename="camel", gc=False):
    """What finding by role and name reads of a node."""

    node_id: str = ""
    ignored: bool = False
    role: AXValue | None = None
    name: AXValue | None = None
    backend_node_id: int | None = msgspec.field(default=None, name="backendDOMNodeId")


class AXNode(AXNodeHead, rename="camel", gc=False):
    """One node of the accessibility tree. Its parent is the node that has it among its children.

    `ignored_reasons` is raw JSON: few ask for it, and ignored nodes are many.
    """

    name: AXName | None = None
    description: AXValue | None = None
    value: AXValue | None = None
    properties: tuple[AXProperty, ...] = ()
    child_ids: tuple[str, ...] = ()
    frame_id: str | None = None
    ignored_reasons: msgspec.Raw = msgspec.Raw(b"")


@reply("Accessibility.getFullAXTree")
@reply("Accessibility.queryAXTree")
class AXTree(msgspec.Struct, gc=False):
    """The whole tree of a frame's document, or the part of it that was asked for."""

    nodes: tuple[AXNode, ...] = ()


@reply("Accessibility.getFullAXTree", brief=True)
class AXTreeUnread(msgspec.Struct, gc=False):
    """The same with its nodes as raw JSON, to be decoded a few at a time."""

    nodes: list[msgspec.Raw] = []


@reply("Accessibility.getFullAXTree", brief=True)
@reply("Accessibility.queryAXTree", brief=True)
class AXQueryReply(msgspec.Struct):
    """The nodes of a role, of a name, or of both."""

    nodes: list[AXNodeHead] = []
