"""Carousels: the buttons and markers that style sheets give to scrollers, as nodes.

Rule: these are pseudo elements (`::scroll-button`, `::scroll-marker`), whose roles, names and states no script in
the page can read. The walk marks their places with rows of the roles below, which have the scroller's number.
Their details come from Chrome's accessibility tree. A page without carousels costs nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from cdpengine._protocol.calls import PendingCall, pending_group, result_or_none
from cdpengine._protocol.domains.accessibility import AXNode, AXTree
from cdpengine._protocol.domains.dom import DescribedNode, DescribeNodeReply
from cdpengine._snapshot.node import Document, FrameRequest, Node
from cdpengine._snapshot.sources.ax_nodes import fold
from cdpengine._snapshot.sources.ax_tree import decode_ax_tree
from cdpengine.errors import RemoteError

_BUTTONS, _MARKERS = "scrollbuttons", "scrollmarkers"

_MOST = 200
"""Maximum number of pseudo elements of one scroller that are requested."""


async def fill_carousels(request: FrameRequest, document: Document) -> None:
    """Replace the placeholders by the buttons and markers. Takes two round trips.

    Raises the errors of `Session.call`. If Chrome refuses the details, the placeholder is removed.
    """
    session = request.session
    places = list(_places(document.roots))
    with pending_group() as post:
        calls = [
            post(session.post("DOM.describeNode", backendNodeId=node.backend_node_id, depth=-1))
            for _, node in places
        ]
        described = [await result_or_none(call, DescribeNodeReply) for call in calls]
        pending = [
            [
                post(
                    session.post("Accessibility.getPartialAXTree", backendNodeId=number, fetchRelatives=False)
                )
                for number in ([] if reply is None else _find_parts(reply.node, node.role))
            ]
            for (_, node), reply in zip(places, described, strict=True)
        ]
        for (children, node), parts in zip(places, pending, strict=True):
            found = [each for call in parts for each in await _ax_nodes(call)]
            made = fold(AXTree(tuple(found)), frame_id=document.frame_id).roots if found else []
            at = next(index for index, each in enumerate(children) if each is node)
            children[at : at + 1] = made


def _places(children: list[Node]) -> Iterator[tuple[list[Node], Node]]:
    """Yield the placeholder nodes, each with the list that contains it."""
    waiting = [children]
    while waiting:
        nodes = waiting.pop()
        for node in nodes:
            if node.role in (_BUTTONS, _MARKERS):
                yield nodes, node
            elif node.children:
                waiting.append(node.children)


def _find_parts(scroller: DescribedNode, what: str) -> Sequence[int]:
    """Return the backend node ids of a scroller's buttons, or of its marker group and markers."""
    if what == _BUTTONS:
        return [
            each.backend_node_id for each in scroller.pseudo_elements if each.pseudo_type == "scroll-button"
        ]
    found = [each for each in scroller.pseudo_elements if each.pseudo_type == "scroll-marker-group"]
    waiting = list(reversed(scroller.children))
    while waiting and len(found) < _MOST:
        node = waiting.pop()
        kinds = {each.pseudo_type: each for each in node.pseudo_elements}
        if "scroll-marker" in kinds:
            found.append(kinds["scroll-marker"])
        if "scroll-marker-group" not in kinds:  # a nested group takes the markers in it
            waiting.extend(reversed([*node.shadow_roots, *node.children]))
    return [each.backend_node_id for each in found]


async def _ax_nodes(call: PendingCall) -> Sequence[AXNode]:
    try:
        return decode_ax_tree(await call.raw()).nodes
    except (RemoteError, ValueError):
        return ()
