"""DOM: nodes, their shape and their markup."""

from __future__ import annotations

from typing import TypeAlias

import msgspec

from cdpengine._protocol.domains import reply
from cdpengine._protocol.domains.runtime import RemoteObject

Corners: TypeAlias = tuple[float, float, float, float, float, float, float, float]
"""The corners of a quadrilateral: x and y of each, clockwise, in CSS pixels (`DOM.Quad`)."""


class DescribedNode(msgspec.Struct, rename="camel"):
    """A node, with its children if requested (`DOM.Node`).

    `attributes` are alternating names and values. `frame_id` is the frame of a frame element, `pseudo_type` the
    type of a pseudo element, such as "before".
    """

    backend_node_id: int
    attributes: list[str] = []
    children: list[DescribedNode] = []
    shadow_roots: list[DescribedNode] = []
    pseudo_elements: list[DescribedNode] = []
    pseudo_type: str = ""
    frame_id: str | None = None


@reply("DOM.describeNode")
class DescribeNodeReply(msgspec.Struct):
    """The reply of `DOM.describeNode`."""

    node: DescribedNode


@reply("DOM.resolveNode")
class ResolveNodeReply(msgspec.Struct):
    """A node as a remote object."""

    object: RemoteObject


@reply("DOM.getFrameOwner")
class FrameOwnerReply(msgspec.Struct, rename="camel"):
    """The frame element of a frame, in the parent document."""

    backend_node_id: int


@reply("DOM.getContentQuads")
class ContentQuadsReply(msgspec.Struct):
    """The quadrilaterals of a node: one for each of its lines."""

    quads: list[Corners] = []


class BoxModel(msgspec.Struct):
    """The box of a node: content and border corners, and the size of the border box before transforms."""

    content: Corners
    border: Corners
    width: float
    height: float


@reply("DOM.getBoxModel")
class BoxModelReply(msgspec.Struct):
    """The reply of `DOM.getBoxModel`."""

    model: BoxModel


@reply("DOM.getOuterHTML")
class OuterHTMLReply(msgspec.Struct, rename="camel"):
    """The markup of a node."""

    outer_html: str = msgspec.field(name="outerHTML")
