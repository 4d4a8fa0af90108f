"""The numbers that the walk in the page gives to elements, and the backend node ids that they stand for.

Rule: an id is asked for once. The page keeps a new element until it learns that its id is known, so a reply that
is lost costs one more question, never a mapping.
"""

from __future__ import annotations

from array import array
from collections.abc import Mapping, Sequence

import attrs
import msgspec
import trio

from cdpengine._javascript import own
from cdpengine._page.node import Node
from cdpengine._page.scripts.page_functions import ObjectGroup, RemoteHandle, deep, object_group
from cdpengine._protocol.calls import PendingCall
from cdpengine._protocol.domains.runtime import ExceptionDetails
from cdpengine._snapshot.sources.request import FrameRequest
from cdpengine.errors import ProtocolError

_TAKEN_AT_ONCE = 10_000
"""Chrome needs some 30 microseconds for each element whose id it is asked for."""

CALL = own("function (...all) { return this(...all); }")
"""How the walk, which is a function, is called by its remote object id."""

_DEEP = deep(2)


@attrs.define(eq=False)
class InstalledWalk:
    """The walk of one document: its function in the page, and the backend node ids of its numbers, from 0 on."""

    function: RemoteHandle
    loader_id: str
    ids: array[int] = attrs.field(factory=lambda: array("q", [0]))


async def number_elements(request: FrameRequest, installed: InstalledWalk, last: int) -> bool:
    """Learn the backend node ids of the walk's numbers up to `last`, as far as they are new.

    True when some of the elements turned out to have closed shadow roots, which the walk now knows.
    """
    if len(installed.ids) > last:
        return False
    with object_group("walk") as group:
        return await _number(request, installed, last, group)


async def _number(request: FrameRequest, installed: InstalledWalk, last: int, group: ObjectGroup) -> bool:
    session, ids = request.session, installed.ids
    adopted = False
    while len(ids) <= last:
        first = len(ids)
        nodes = await _taken(installed, first, min(last, first + _TAKEN_AT_ONCE - 1), group)
        closed = {
            first + place: root
            for place, node in enumerate(nodes)
            if node is not None and (root := node.closed_root()) is not None
        }
        if closed:
            await _adopt(request, installed, closed, group)
            adopted = True
        if len(ids) < first + len(nodes):  # another snapshot may have asked for the same meanwhile
            ids.extend(0 if node is None else node.backend_node_id for node in nodes[len(ids) - first :])
    if session.error() is None:
        installed.function.post(CALL, {"do": "forget", "known": len(ids) - 1})
    return adopted


async def _taken(
    installed: InstalledWalk, first: int, upto: int, group: ObjectGroup
) -> Sequence[_NodeValue | None]:
    """Ask for the elements with the numbers from `first` to `upto`; None for one that is gone."""
    await trio.lowlevel.checkpoint_if_cancelled()
    request = {"do": "take", "from": first, "to": upto}
    reply = await installed.function.post(CALL, request, how=_DEEP, group=group).decoded(_NodesReply)
    nodes = reply.result.deep_serialized_value.value
    if len(nodes) != upto - first + 1:
        raise ProtocolError(f"{upto - first + 1} elements were asked for, {len(nodes)} came")
    return [node.value for node in nodes]


async def _adopt(
    request: FrameRequest, installed: InstalledWalk, closed: Mapping[int, int], group: ObjectGroup
) -> None:
    """Give the walk closed shadow roots: number of the host -> backend node id of the root."""
    roots = []
    for backend_node_id in closed.values():
        node = Node(request.session, backend_node_id, request.frame_id, "a closed shadow root")
        roots.append(await request.worlds.resolve(node, group))
    await installed.function.post(CALL, {"do": "adopt", "hosts": list(closed)}, *roots).raw()


def ask_nodes(callee: RemoteHandle, function: str, request: object, group: ObjectGroup) -> PendingCall:
    """Post a call of a function that returns nodes. To be awaited by `node_ids`."""
    return callee.post(function, request, how=_DEEP, group=group)


async def node_ids(call: PendingCall) -> list[int]:
    """Return the backend node ids of the nodes.

    Raises as `Session.call` does, and ProtocolError when the function threw.
    """
    reply = await call.decoded(_NodesReply)
    if reply.exception_details is not None:
        raise ProtocolError(
            f"a function in the page threw: {reply.exception_details.reason[:LONGEST_REASON]}"
        )
    return [
        node.value.backend_node_id
        for node in reply.result.deep_serialized_value.value
        if node.value is not None
    ]


LONGEST_REASON = 300
"""Characters of where and why a script of the engine's own failed."""


async def loader_of(function: RemoteHandle) -> str:
    """Return the loader id of the document that the walk `function` was made for."""
    document = await _document(function)
    return "" if document is None else document.loader_id


async def document_number(function: RemoteHandle) -> int | None:
    """Return the backend node id of the document that the walk `function` was made for; None when it is gone."""
    document = await _document(function)
    return None if document is None else document.backend_node_id


async def _document(function: RemoteHandle) -> _NodeValue | None:
    await trio.lowlevel.checkpoint_if_cancelled()
    with object_group("walk") as group:
        reply = await function.post(CALL, {"do": "document"}, how=_DEEP, group=group).decoded(_NodeReply)
    return reply.result.deep_serialized_value.value


# --- replies -------------------------------------------------------------------------------------------------

_HOSTS = frozenset(
    {
        "article", "aside", "blockquote", "body", "div", "footer", "h1", "h2", "h3", "h4", "h5", "h6", "header",
        "main", "nav", "p", "section", "span",
    }
)  # fmt: skip
"""The elements of HTML's own that a page can attach a shadow root to (DOM standard, `attachShadow`)."""


class _ShadowValue(msgspec.Struct, rename="camel", gc=False):
    backend_node_id: int = 0
    mode: str = ""


class _ShadowRoot(msgspec.Struct, gc=False):
    value: _ShadowValue | None = None


class _NodeValue(msgspec.Struct, rename="camel", gc=False):
    backend_node_id: int = 0
    loader_id: str = ""
    local_name: str = ""
    shadow_root: _ShadowRoot | None = None

    def closed_root(self) -> int | None:
        """Return the backend node id of the closed shadow root that a page attached.

        What the browser itself attaches, to a `select` for example, is called closed too.
        """
        root = None if self.shadow_root is None else self.shadow_root.value
        if root is None or root.mode != "closed":
            return None
        return root.backend_node_id if "-" in self.local_name or self.local_name in _HOSTS else None


class _DeepNode(msgspec.Struct, gc=False):
    value: _NodeValue | None = None


class _DeepNodes(msgspec.Struct):
    value: tuple[_DeepNode, ...] = ()


class _NodesResult(msgspec.Struct, rename="camel"):
    deep_serialized_value: _DeepNodes = msgspec.field(default_factory=_DeepNodes)


class _NodesReply(msgspec.Struct, rename="camel"):
    result: _NodesResult
    exception_details: ExceptionDetails | None = None


class _NodeResult(msgspec.Struct, rename="camel"):
    deep_serialized_value: _DeepNode = msgspec.field(default_factory=_DeepNode)


class _NodeReply(msgspec.Struct):
    result: _NodeResult
