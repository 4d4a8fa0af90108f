"""Numbers: what the walk in the page calls elements by becomes backend node ids.

Rule: an id is asked for once. The page keeps a new element until it learns that its id is known, so a reply that
is lost costs one more question, never a mapping. Most ids come with the list of listeners, which is asked for
behind each walk (_snapshot/sources/walk_marks.js); elements that are not in it, and those that may hide a closed
shadow root, are serialized.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import attrs
import trio

from cdpengine._page.scripts.node_lists import SERIALIZED, NodesReply, SerializedNode
from cdpengine._page.scripts.page_functions import Node, ObjectGroup, object_group
from cdpengine._protocol.calls import PendingCall
from cdpengine._snapshot.node import FrameRequest
from cdpengine._snapshot.sources.walk import CALL, Installed
from cdpengine.errors import ProtocolError

_TAKEN_AT_ONCE = 10_000
"""Elements whose ids are asked for in one call: Chrome needs some 30 microseconds for each."""

_HOSTS = frozenset(
    {
        "article", "aside", "blockquote", "body", "div", "footer", "h1", "h2", "h3", "h4", "h5", "h6", "header",
        "main", "nav", "p", "section", "span",
    }
)  # fmt: skip
"""The elements of HTML's own that a page can attach a shadow root to (DOM standard, `attachShadow`)."""


@attrs.frozen
class Told:
    """What is known of numbers before they are asked for: ids by number, and what elements are serialized as."""

    ids: Mapping[int, int] = attrs.field(factory=dict)
    nodes: Mapping[int, SerializedNode | None] = attrs.field(factory=dict)


NOTHING_TOLD = Told()


async def number_elements(
    request: FrameRequest, installed: Installed, last: int, told: Told = NOTHING_TOLD
) -> bool:
    """Learn the backend node ids of the walk's numbers up to `last`, as far as they are new.

    True when some of the elements turned out to have closed shadow roots, which the walk now knows.
    """
    if len(installed.ids) > last:
        return False
    with object_group("walk") as group:
        return await _number(request, installed, last, told, group)


async def _number(
    request: FrameRequest, installed: Installed, last: int, told: Told, group: ObjectGroup
) -> bool:
    session, ids = request.session, installed.ids
    adopted = False
    while len(ids) <= last:
        first = len(ids)
        upto = min(last, first + _TAKEN_AT_ONCE - 1)
        nodes = {number: told.nodes[number] for number in range(first, upto + 1) if number in told.nodes}
        unknown = [
            number for number in range(first, upto + 1) if number not in told.ids and number not in nodes
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
        # Another snapshot may have asked for the same meanwhile.
        for number in range(len(ids), upto + 1):
            node = nodes.get(number)
            ids.append(told.ids.get(number, 0) if node is None else node.backend_node_id)
    if session.error() is None:
        installed.function.post(CALL, {"do": "forget", "known": len(ids) - 1})
    return adopted


def ask_hosts(installed: Installed, group: ObjectGroup) -> PendingCall:
    """Ask for the new elements that may hide a closed shadow root. To be awaited by `hosts_of`."""
    return installed.function.post(CALL, {"do": "hosts"}, how=SERIALIZED, group=group)


async def hosts_of(call: PendingCall) -> dict[int, SerializedNode | None]:
    """Return them by number."""
    items = (await call.decoded(NodesReply)).result.deep_serialized_value.value
    found: dict[int, SerializedNode | None] = {}
    for number, element in zip(items[::2], items[1::2], strict=True):
        if not isinstance(number.value, float) or not isinstance(element.value, SerializedNode):
            raise ProtocolError("the walk's answer is not of numbers and elements by turns")
        found[int(number.value)] = element.value
    return found


def find_closed_root(node: SerializedNode) -> int | None:
    """Return the backend node id of the closed shadow root that a page attached.

    What the browser itself attaches, to a `select` for example, is called closed too.
    """
    root = None if node.shadow_root is None else node.shadow_root.value
    if root is None or root.mode != "closed":
        return None
    return root.backend_node_id if "-" in node.local_name or node.local_name in _HOSTS else None


async def _take(
    installed: Installed, numbers: Sequence[int], group: ObjectGroup
) -> Sequence[SerializedNode | None]:
    """Ask for the elements with these numbers, which go up; None for one that is gone."""
    await trio.lowlevel.checkpoint_if_cancelled()
    request = {"do": "take", "ranges": _ranges(numbers)}
    reply = await installed.function.post(CALL, request, how=SERIALIZED, group=group).decoded(NodesReply)
    nodes = reply.result.deep_serialized_value.value
    if len(nodes) != len(numbers):
        raise ProtocolError(f"{len(numbers)} elements were asked for, {len(nodes)} came")
    return [node.value if isinstance(node.value, SerializedNode) else None for node in nodes]


def _ranges(numbers: Sequence[int]) -> list[int]:
    """Return the first and the last number of each run of numbers, one after the other."""
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
    """Give the walk closed shadow roots: number of the host -> backend node id of the root."""
    roots = []
    for backend_node_id in closed.values():
        node = Node(request.session, backend_node_id, request.frame_id, "a closed shadow root")
        roots.append(await request.worlds.resolve(node, group))
    await installed.function.post(CALL, {"do": "adopt", "hosts": list(closed)}, *roots).raw()
