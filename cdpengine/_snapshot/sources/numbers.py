"""Numbers: the walk's numbers of elements, and their backend node ids.

Rule: each id is requested once. The page keeps a new element until it learns that its id is known, so a lost reply
costs another query and never a wrong mapping. Most ids come with the list of listeners, which is queried after
each walk (_snapshot/sources/walk_marks.js). Elements that the list lacks, and those that may have a closed shadow
root, are serialized.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import attrs
import trio

from cdpengine._page.scripts.node_lists import SERIALIZED, NodesReply, SerializedNode, SerializedValue
from cdpengine._page.scripts.page_functions import Node, ObjectGroup, object_group
from cdpengine._snapshot.node import FrameRequest
from cdpengine._snapshot.sources.walk import CALL, Installed
from cdpengine.errors import ProtocolError

_MOST_TAKEN = 10_000
"""Maximum number of elements per query for ids. Chrome takes about 30 microseconds for each."""

_HOSTS = frozenset(
    {
        "article", "aside", "blockquote", "body", "div", "footer", "h1", "h2", "h3", "h4", "h5", "h6", "header",
        "main", "nav", "p", "section", "span",
    }
)  # fmt: skip
"""HTML elements to which a page can attach a shadow root (DOM standard, `attachShadow`)."""


@attrs.frozen
class KnownIds:
    """Ids that are known without a query, by number, and elements that were serialized."""

    ids: Mapping[int, int] = attrs.field(factory=dict)
    nodes: Mapping[int, SerializedNode | None] = attrs.field(factory=dict)


NO_IDS = KnownIds()


async def number_elements(
    request: FrameRequest, installed: Installed, last: int, known: KnownIds = NO_IDS
) -> bool:
    """Request the backend node ids of the walk's new numbers up to `last`.

    Returns True if any of the elements has a closed shadow root, which the walk now knows.
    """
    if len(installed.ids) > last:
        return False
    with object_group("walk") as group:
        return await _number(request, installed, last, known, group)


async def _number(
    request: FrameRequest, installed: Installed, last: int, known: KnownIds, group: ObjectGroup
) -> bool:
    session, ids = request.session, installed.ids
    adopted = False
    while len(ids) <= last:
        first = len(ids)
        upto = min(last, first + _MOST_TAKEN - 1)
        nodes = {number: known.nodes[number] for number in range(first, upto + 1) if number in known.nodes}
        unknown = [
            number for number in range(first, upto + 1) if number not in known.ids and number not in nodes
        ]
        if unknown:
            nodes.update(zip(unknown, await _take(installed, unknown, group), strict=True))
        closed = {
            number: root
            for number, node in nodes.items()
            if node is not None and (root := find_closed_root(node)) is not None
        }
        if closed:
            await _adopt(request, installed, closed, group)
            adopted = True
        # Another snapshot may have received the same ids meanwhile.
        for number in range(len(ids), upto + 1):
            node = nodes.get(number)
            ids.append(known.ids.get(number, 0) if node is None else node.backend_node_id)
    if session.error() is None:
        installed.function.post(CALL, {"do": "forget", "known": len(ids) - 1})
    return adopted


def by_number(items: Sequence[SerializedValue]) -> dict[int, SerializedNode | None]:
    """Return the elements of a list that alternates numbers and elements, by number."""
    found: dict[int, SerializedNode | None] = {}
    for number, element in zip(items[::2], items[1::2], strict=True):
        if not isinstance(number, float) or not isinstance(element, SerializedNode):
            raise ProtocolError("the walk's answer does not alternate numbers and elements")
        found[int(number)] = element
    return found


def find_closed_root(node: SerializedNode) -> int | None:
    """Return the backend node id of the closed shadow root that a page attached.

    The browser's own shadow roots, of a `select` for example, are also reported as closed.
    """
    root = None if node.shadow_root is None else node.shadow_root.value
    if root is None or root.mode != "closed":
        return None
    return root.backend_node_id if "-" in node.local_name or node.local_name in _HOSTS else None


async def _take(
    installed: Installed, numbers: Sequence[int], group: ObjectGroup
) -> Sequence[SerializedNode | None]:
    """Query the elements with these ascending numbers. The result has None for a missing element."""
    await trio.lowlevel.checkpoint_if_cancelled()
    request = {"do": "take", "ranges": _ranges(numbers)}
    reply = await installed.function.post(CALL, request, how=SERIALIZED, group=group).decoded(NodesReply)
    nodes = reply.result.deep_serialized_value.value
    if len(nodes) != len(numbers):
        raise ProtocolError(f"{len(numbers)} elements were requested, {len(nodes)} received")
    return [node.value if isinstance(node.value, SerializedNode) else None for node in nodes]


def _ranges(numbers: Sequence[int]) -> list[int]:
    """Return the first and the last number of each run of consecutive numbers, in one list."""
    ranges: list[int] = []
    for number in numbers:
        if ranges and ranges[-1] == number - 1:
            ranges[-1] = number
        else:
            ranges += (number, number)
    return ranges


async def _adopt(
    request: FrameRequest, installed: Installed, closed: Mapping[int, int], group: ObjectGroup
) -> None:
    """Pass closed shadow roots to the walk: number of the host -> backend node id of the root."""
    roots = []
    for backend_node_id in closed.values():
        node = Node(request.session, backend_node_id, request.frame_id, "a closed shadow root")
        roots.append(await request.worlds.resolve(node, group))
    await installed.function.post(CALL, {"do": "adopt", "hosts": list(closed)}, *roots).raw()
