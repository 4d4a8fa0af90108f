"""DOM: nodes, their shape and their markup."""

from __future__ import annotations

from typing import TypeAlias

import msgspec

from cdpengine._protocol.domains import reply
from cdpengine._protocol.domains.runtime import RemoteObject

Corners: TypeAlias = tuple[float, float, float, float, float, float, float, float]
"""The corners of a four-sided figure: x and y of each, clockwise, in CSS pixels (`DOM.Quad`)."""


class DescribedNode(msgspec.Struct, rename="camel"):
    """A node, with what is within it where that was asked for (`DOM.Node`).

    `attributes` are names and values, one after the other; `frame_id` is that of the frame that an element holds,
    `pseudo_type` what a pseudo element is, such as "before".
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
    """A node, described."""

    node: DescribedNode


@reply("DOM.resolveNode")
class ResolveNodeReply(msgspec.Struct):
    """A node as a remote object."""

    object: RemoteObject


@reply("DOM.getFrameOwner")
class FrameOwnerReply(msgspec.Struct, rename="camel"):
    """The element that holds a frame, in the document around it."""

    backend_node_id: int


@reply("DOM.getContentQuads")
class ContentQuadsReply(msgspec.Struct):
    """The figures that a node is shown in: one for each line of it."""

    quads: list[Corners] = []


class BoxModel(msgspec.Struct):
    """The box of a node: of what is in it, with its border, and the size of the border box before transforms."""

    content: Corners
    border: Corners
    width: float
    height: float


@reply("DOM.getBoxModel")
class BoxModelReply(msgspec.Struct):
    """The box of a node."""

    model: BoxModel


@reply("DOM.getOuterHTML")
class OuterHTMLReply(msgspec.Struct, rename="camel"):
    """The markup of a node."""

    outer_html: str = msgspec.field(name="outerHTML")
