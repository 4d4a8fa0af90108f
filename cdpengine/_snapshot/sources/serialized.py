"""Serialized: what Chrome's deep serialization says of nodes, and functions in a page that answer with nodes.

Rule: a serialized node has its backend node id, a document its loader id, too, and what has a closed shadow root
says so: nothing else does. It takes Chrome some 25 microseconds for each, most of them for attributes, which are
not read.
"""

from __future__ import annotations

import msgspec

from cdpengine._page.scripts.page_functions import ObjectGroup, RemoteHandle, deep
from cdpengine._protocol.calls import PendingCall
from cdpengine._protocol.domains.runtime import ExceptionDetails
from cdpengine.errors import ProtocolError

SERIALIZED = deep(2)
"""How an array of nodes is asked for."""

LONGEST_REASON = 300
"""Characters of where and why a script of the engine's own failed."""

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


class NodeValue(msgspec.Struct, rename="camel", gc=False):
    backend_node_id: int = 0
    loader_id: str = ""
    local_name: str = ""
    shadow_root: _ShadowRoot | None = None

    def find_closed_root(self) -> int | None:
        """Return the backend node id of the closed shadow root that a page attached.

        What the browser itself attaches, to a `select` for example, is called closed too.
        """
        root = None if self.shadow_root is None else self.shadow_root.value
        if root is None or root.mode != "closed":
            return None
        return root.backend_node_id if "-" in self.local_name or self.local_name in _HOSTS else None


class _DeepNode(msgspec.Struct, gc=False):
    value: NodeValue | None = None


class _DeepNodes(msgspec.Struct):
    value: tuple[_DeepNode, ...] = ()


class _NodesResult(msgspec.Struct, rename="camel"):
    deep_serialized_value: _DeepNodes = msgspec.field(default_factory=_DeepNodes)


class NodesReply(msgspec.Struct, rename="camel"):
    result: _NodesResult
    exception_details: ExceptionDetails | None = None


class _InstalledResult(_NodesResult, rename="camel"):
    type: str = ""
    object_id: str | None = None


class InstalledReply(msgspec.Struct, rename="camel"):
    result: _InstalledResult
    exception_details: ExceptionDetails | None = None


class _HostValue(msgspec.Struct, gc=False):
    """A number, or an element."""

    type: str = ""
    value: msgspec.Raw = msgspec.Raw()


class _HostValues(msgspec.Struct):
    value: tuple[_HostValue, ...] = ()


class _HostsResult(msgspec.Struct, rename="camel"):
    deep_serialized_value: _HostValues = msgspec.field(default_factory=_HostValues)


class HostsReply(msgspec.Struct):
    result: _HostsResult


def ask_nodes(callee: RemoteHandle, function: str, request: object, group: ObjectGroup) -> PendingCall:
    """Post a call of a function that returns nodes. To be awaited by `node_ids`."""
    return callee.post(function, request, how=SERIALIZED, group=group)


async def node_ids(call: PendingCall) -> list[int]:
    """Return the backend node ids of the nodes.

    Raises as `Session.call` does, and ProtocolError when the function threw.
    """
    reply = await call.decoded(NodesReply)
    if reply.exception_details is not None:
        raise ProtocolError(
            f"a function in the page threw: {reply.exception_details.reason[:LONGEST_REASON]}"
        )
    return [
        node.value.backend_node_id
        for node in reply.result.deep_serialized_value.value
        if node.value is not None
    ]
