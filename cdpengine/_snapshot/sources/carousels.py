"""Carousels: the buttons and markers that style sheets give to scrollers, as nodes.

Rule: these are pseudo elements (`::scroll-button`, `::scroll-marker`), of which no script in the page knows roles,
names or states. The walk says where they are, by rows of the roles below with the scroller's number. What they are
comes from Chrome's accessibility tree. A page without carousels costs nothing.
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
"""Pseudo elements of one scroller that are asked for."""


async def fill_carousels(request: FrameRequest, document: Document) -> None:
    """Put the buttons and markers into the places that stand for them. Two round trips.

    Raises as `Session.call` does, but for what Chrome refuses to say: then nothing stands there.
    """
    session = request.session
    places = list(_places(document.roots))
    with pending_group() as post:
        calls = [
            post(session.post("DOM.describeNode", backendNodeId=node.backend_node_id, depth=-1))
            for _, node in places
        ]
        described = [await result_or_none(call, DescribeNodeReply) for call in calls]
        asked = [
            [
                post(
                    session.post("Accessibility.getPartialAXTree", backendNodeId=number, fetchRelatives=False)
                )
                for number in ([] if reply is None else _find_parts(reply.node, node.role))
            ]
            for (_, node), reply in zip(places, described, strict=True)
        ]
        for (children, node), parts in zip(places, asked, strict=True):
            found = [each for call in parts for each in await _ax_nodes(call)]
            made = fold(AXTree(tuple(found)), frame_id=document.frame_id).roots if found else []
            at = next(index for index, each in enumerate(children) if each is node)
            children[at : at + 1] = made


def _places(children: list[Node]) -> Iterator[tuple[list[Node], Node]]:
    """Go through the nodes that stand for parts of carousels, each with the list that it is in."""
    waiting = [children]
    while waiting:
        nodes = waiting.pop()
        for node in nodes:
            if node.role in (_BUTTONS, _MARKERS):
                yield nodes, node
            elif node.children:
                waiting.append(node.children)


def _find_parts(scroller: DescribedNode, what: str) -> Sequence[int]:
    """Return the backend node ids of a scroller's buttons, or of its group of markers and these."""
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
        if "scroll-marker-group" not in kinds:  # one in another takes the markers in it
            waiting.extend(reversed([*node.shadow_roots, *node.children]))
    return [each.backend_node_id for each in found]


async def _ax_nodes(call: PendingCall) -> Sequence[AXNode]:
    try:
        return decode_ax_tree(await call.raw()).nodes
    except (RemoteError, ValueError):
        return ()
