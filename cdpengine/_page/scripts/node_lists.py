"""Lists of nodes: remote objects by backend node ids, and arrays of nodes returned by functions.

Rule: all nodes are requested together, and missing ones are left out. A function returns an array of nodes, of a
string followed by nodes, or of numbers alternating with nodes. Chrome serializes the array in the function's reply
(`SERIALIZED`): a node with its backend node id, a document also with its loader id, a shadow host also with its
shadow root. Chrome takes about 25 microseconds for each node, most of them for attributes, which the engine does
not read.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TypeVar

import msgspec

from cdpengine._page.scripts.page_functions import (
    AnyGroup,
    How,
    ObjectGroup,
    RemoteHandle,
    post_resolve,
    returned,
)
from cdpengine._protocol.calls import PendingCall, decode_reply, pending_group
from cdpengine._protocol.domains.dom import ResolveNodeReply
from cdpengine._protocol.domains.runtime import ExceptionDetails
from cdpengine._protocol.session import Session
from cdpengine.errors import ProtocolError, RemoteError

T = TypeVar("T")


def deep(levels: int) -> How:
    """Return the parameters for V8's deep serialization, with nodes as backend node ids."""
    return {
        "serializationOptions": {
            "serialization": "deep",
            "maxDepth": levels,
            "additionalParameters": {"maxNodeDepth": 0, "includeShadowTree": "none"},
        }
    }


SERIALIZED = deep(2)
"""Call parameters for a function that returns an array of nodes."""

LONGEST_REASON = 300
"""Maximum length of the position and reason of an exception in the engine's scripts, in characters."""


class _ShadowRootValue(msgspec.Struct, rename="camel", gc=False):
    backend_node_id: int = 0
    mode: str = ""


class _ShadowRoot(msgspec.Struct, gc=False):
    value: _ShadowRootValue | None = None


class SerializedNode(msgspec.Struct, rename="camel", gc=False):
    """A node. A document has a `loader_id`. `shadow_root` may be closed; only this reveals closed ones."""

    backend_node_id: int = 0
    loader_id: str = ""
    local_name: str = ""
    shadow_root: _ShadowRoot | None = None


SerializedValue = SerializedNode | str | float | None


class _Item(msgspec.Struct, gc=False):
    value: SerializedValue = None


class SerializedList(msgspec.Struct, gc=False):
    """An array of nodes, strings and numbers; null and undefined are None."""

    value: tuple[_Item, ...] = ()

    def nodes(self) -> list[SerializedNode]:
        """Return the nodes."""
        return [each.value for each in self.value if isinstance(each.value, SerializedNode)]


class _NodesResult(msgspec.Struct, rename="camel"):
    deep_serialized_value: SerializedList = msgspec.field(default_factory=SerializedList)


class NodesReply(msgspec.Struct, rename="camel"):
    """The reply to a function that returns an array of nodes."""

    result: _NodesResult
    exception_details: ExceptionDetails | None = None


def ask_nodes(callee: RemoteHandle, function: str, request: object, group: ObjectGroup) -> PendingCall:
    """Post a call of a function that returns nodes. Pass the result to `node_ids`."""
    return callee.post(function, request, how=SERIALIZED, group=group)


async def node_ids(call: PendingCall) -> list[int]:
    """Return the backend node ids of the nodes.

    Raises the errors of `Session.call`, and ProtocolError if the function threw.
    """
    reply = await call.decoded(NodesReply)
    if reply.exception_details is not None:
        raise ProtocolError(
            f"a function in the page threw: {reply.exception_details.reason[:LONGEST_REASON]}"
        )
    return [node.backend_node_id for node in reply.result.deep_serialized_value.nodes()]


async def text_and_nodes(call: PendingCall, kind: type[T]) -> tuple[T, list[SerializedNode | None]]:
    """Return the JSON string, decoded into `kind`, and the nodes, with None for other values.

    `call` is a call of a function that returns both (SERIALIZED). Raises EvaluationFailedError if it threw, and
    the errors of `PendingCall.decoded`.
    """
    return split_text(call.call.method, (await returned(call)).deep_serialized_value, kind)


def split_text(method: str, raw: msgspec.Raw, kind: type[T]) -> tuple[T, list[SerializedNode | None]]:
    """Split a serialized array as `text_and_nodes` does. Raises ProtocolError."""
    items = [each.value for each in decode_reply(method, raw, SerializedList).value]
    if not items or not isinstance(items[0], str):
        raise ProtocolError("the array does not begin with a string", method, bytes(raw))
    nodes = [each if isinstance(each, SerializedNode) else None for each in items[1:]]
    return decode_reply(method, items[0].encode(), kind), nodes


async def objects_of_nodes(
    session: Session,
    numbers: Iterable[int],
    group: AnyGroup,
    *,
    refused: Callable[[RemoteError], None] = lambda _: None,
    **where: int,
) -> dict[int, RemoteHandle]:
    """Return the objects of existing nodes by backend node id. All nodes are requested together.

    `refused` is called with each refusal by Chrome, and that node is left out. `where` works as in `post_resolve`.
    """
    found: dict[int, RemoteHandle] = {}
    with pending_group() as post:
        calls = {number: post(post_resolve(session, number, group, **where)) for number in numbers}
        for number, call in calls.items():
            try:
                object_id = (await call.decoded(ResolveNodeReply)).object.object_id
            except RemoteError as error:
                refused(error)
                continue
            if object_id is not None:
                found[number] = RemoteHandle(session, object_id)
    return found
