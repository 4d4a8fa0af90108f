"""Many nodes of a page at once, as objects, by their backend node ids.

Rule: all are asked for together; what is not there is left out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from cdpengine._page.scripts.page_functions import AnyGroup, RemoteHandle, post_resolve
from cdpengine._protocol.calls import pending_group
from cdpengine._protocol.domains.dom import ResolveNodeReply
from cdpengine._protocol.session import Session
from cdpengine.errors import RemoteError


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
