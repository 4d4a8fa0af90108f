"""Many nodes of a page at once: as objects by their backend node ids, and these ids of what a function found.

Rule: all are asked for together; what is not there is left out. Ids come with the function's own answer, in the
same round trip: Chrome serializes the nodes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TypeVar

import msgspec

from cdpengine._page.scripts.page_functions import AnyGroup, RemoteHandle, deep, post_resolve, returned
from cdpengine._protocol.calls import PendingCall, decode_reply, pending_group
from cdpengine._protocol.domains.dom import ResolveNodeReply
from cdpengine._protocol.session import Session
from cdpengine.errors import RemoteError

T = TypeVar("T")

TEXT_AND_NODES = deep(2)
"""How a function is called that returns an array of a text, which is JSON, and of nodes."""


class _NodeValue(msgspec.Struct, rename="camel"):
    backend_node_id: int = 0


class _Serialized(msgspec.Struct):
    """A text, or a node."""

    value: str | _NodeValue


class _Array(msgspec.Struct):
    value: list[_Serialized] = []


async def text_and_numbers(call: PendingCall, kind: type[T]) -> tuple[T, list[int]]:
    """Return what the text says, decoded into `kind`, and the backend node ids of the nodes, in their order.

    `call` is of a function that was called so (TEXT_AND_NODES). Raises EvaluationFailedError when it threw, and as
    `PendingCall.decoded`.
    """
    method = call.call.method
    said = decode_reply(method, (await returned(call)).deep_serialized_value, _Array).value
    texts = [each.value for each in said if isinstance(each.value, str)]
    numbers = [each.value.backend_node_id for each in said if isinstance(each.value, _NodeValue)]
    return decode_reply(method, texts[0].encode(), kind), numbers


async def objects_of_nodes(
    session: Session,
    numbers: Iterable[int],
    group: AnyGroup,
    *,
    refused: Callable[[RemoteError], None] = lambda _: None,
    **where: int,
) -> dict[int, RemoteHandle]:
    """Return, by backend node id, those of the nodes that are there. All are asked for together.

    What Chrome refuses is left out, after `refused` was called with it. `where` is as for `post_resolve`.
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
