"""The numbers that the walk in the page gives to elements, and the backend node ids that they stand for.

Rule: an id is asked for once. The page keeps a new element until it is told that its id is known, so a reply that
is lost costs one more question, never a mapping.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any
from weakref import WeakKeyDictionary

import attrs
import msgspec

from cdpengine.browser.node import Node
from cdpengine.errors import ProtocolError
from cdpengine.js import own
from cdpengine.session.calls import PendingCall
from cdpengine.session.session import Session
from cdpengine.snapshot.request import FrameRequest

TAKEN_GROUP = "cdpengine.walk.taken"
"""The remote objects that live for a moment: while somebody is `taking` them."""

_takers: WeakKeyDictionary[Session, int] = WeakKeyDictionary()

_TAKEN_AT_ONCE = 10_000
"""Chrome needs some 30 microseconds for each element whose id it is asked for."""

CALL = own("function (...all) { return this(...all); }")
"""How the walk, which is a function, is called by its remote object id."""

_DEEP = {
    "serialization": "deep",
    "maxDepth": 2,
    "additionalParameters": {"maxNodeDepth": 0, "includeShadowTree": "none"},
}


@contextmanager
def taking(session: Session) -> Iterator[None]:
    """Keep what is in TAKEN_GROUP for the block.

    The last one who leaves lets it go: the frames of a process, which are read at the same time, share the group.
    """
    _takers[session] = _takers.get(session, 0) + 1
    try:
        yield
    finally:
        _takers[session] -= 1
        if not _takers[session] and session.error() is None:
            session.post("Runtime.releaseObjectGroup", objectGroup=TAKEN_GROUP)


@attrs.define(eq=False)
class InstalledWalk:
    """The walk of one document: its remote object id, and the backend node ids of its numbers, from 0 on."""

    object_id: str
    loader_id: str
    ids: array[int] = attrs.field(factory=lambda: array("q", [0]))


async def number_elements(request: FrameRequest, installed: InstalledWalk, last: int) -> bool:
    """Learn the backend node ids of the walk's numbers up to `last`, as far as they are new.

    True when some of the elements turned out to have closed shadow roots, which the walk now knows.
    """
    if len(installed.ids) > last:
        return False
    with taking(request.session):
        return await _number(request, installed, last)


async def _number(request: FrameRequest, installed: InstalledWalk, last: int) -> bool:
    session, ids = request.session, installed.ids
    adopted = False
    while len(ids) <= last:
        first = len(ids)
        nodes = await _taken(session, installed, first, min(last, first + _TAKEN_AT_ONCE - 1))
        closed = {
            first + place: root
            for place, node in enumerate(nodes)
            if node is not None and (root := node.closed_root()) is not None
        }
        if closed:
            await _adopt(request, installed, closed)
            adopted = True
        if len(ids) < first + len(nodes):  # another snapshot may have asked for the same meanwhile
            ids.extend(0 if node is None else node.backend_node_id for node in nodes[len(ids) - first :])
    if session.error() is None:
        _post_call(session, installed, {"do": "forget", "known": len(ids) - 1})
    return adopted


async def _taken(
    session: Session, installed: InstalledWalk, first: int, upto: int
) -> Sequence[_NodeValue | None]:
    """Ask for the elements with the numbers from `first` to `upto`; None for one that is gone."""
    reply = await session.request(
        "Runtime.callFunctionOn",
        {
            "objectId": installed.object_id,
            "functionDeclaration": CALL,
            "arguments": [{"value": {"do": "take", "from": first, "to": upto}}],
            "serializationOptions": _DEEP,
            "objectGroup": TAKEN_GROUP,
        },
        _NodesReply,
    )
    nodes = reply.result.deep_serialized_value.value
    if len(nodes) != upto - first + 1:
        raise ProtocolError(f"{upto - first + 1} elements were asked for, {len(nodes)} came")
    return [node.value for node in nodes]


async def _adopt(request: FrameRequest, installed: InstalledWalk, closed: Mapping[int, int]) -> None:
    """Give the walk closed shadow roots: number of the host -> backend node id of the root."""
    roots = []
    for backend_node_id in closed.values():
        node = Node(request.session, backend_node_id, request.frame_id, "a closed shadow root")
        roots.append({"objectId": await request.worlds.resolve(node, TAKEN_GROUP)})
    await request.session.call(
        "Runtime.callFunctionOn",
        objectId=installed.object_id,
        functionDeclaration=CALL,
        arguments=[{"value": {"do": "adopt", "hosts": list(closed)}}, *roots],
        returnByValue=True,
    )


def _post_call(session: Session, installed: InstalledWalk, what: dict[str, Any]) -> None:
    """Call the walk's function without waiting for its answer."""
    session.post(
        "Runtime.callFunctionOn",
        objectId=installed.object_id,
        functionDeclaration=CALL,
        arguments=[{"value": what}],
        returnByValue=True,
    )


def ask_nodes(session: Session, call: dict[str, Any]) -> PendingCall:
    """Post a call of a function that returns nodes. To be awaited by `node_ids`, in a block of `taking`."""
    return session.post("Runtime.callFunctionOn", **call, serializationOptions=_DEEP, objectGroup=TAKEN_GROUP)


async def node_ids(call: PendingCall) -> list[int]:
    """Return the backend node ids of the nodes.

    Raises as `Session.call` does, and ProtocolError when the function threw.
    """
    reply = await call.decoded(_NodesReply)
    if reply.exception_details is not None:
        raise ProtocolError(f"a function in the page threw: {reason_of(reply.exception_details)}")
    return [
        node.value.backend_node_id
        for node in reply.result.deep_serialized_value.value
        if node.value is not None
    ]


def reason_of(details: Any) -> str:
    """Return where and why a script of the engine's own failed, by the exception's details."""
    exception = details.get("exception", {}) if isinstance(details, dict) else {}
    return str(exception.get("description") or details.get("text"))[:300]


async def loader_of(session: Session, object_id: str) -> str:
    """Return the loader id of the document that the walk was made for."""
    document = await _document(session, object_id)
    return "" if document is None else document.loader_id


async def document_number(session: Session, object_id: str) -> int | None:
    """Return the backend node id of the document that the walk was made for; None when it is gone."""
    document = await _document(session, object_id)
    return None if document is None else document.backend_node_id


async def _document(session: Session, object_id: str) -> _NodeValue | None:
    reply = await session.request(
        "Runtime.callFunctionOn",
        {
            "objectId": object_id,
            "functionDeclaration": CALL,
            "arguments": [{"value": {"do": "document"}}],
            "serializationOptions": _DEEP,
            "objectGroup": TAKEN_GROUP,
        },
        _NodeReply,
    )
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
    exception_details: Any = None


class _NodeResult(msgspec.Struct, rename="camel"):
    deep_serialized_value: _DeepNode = msgspec.field(default_factory=_DeepNode)


class _NodeReply(msgspec.Struct):
    result: _NodeResult
