"""Related nodes: from one node to another one that a function of the engine's own finds from it."""

from __future__ import annotations

import itertools
from contextlib import suppress

import attrs

from cdpengine.action.context import ActionContext
from cdpengine.action.in_page import Handle, handle_on, returned_object, stale, together
from cdpengine.browser.node import Node
from cdpengine.browser.worlds import context_gone
from cdpengine.errors import ConnectionLost, RemoteError, SessionGone
from cdpengine.js import own, script
from cdpengine.protocol.dom import DescribeNodeReply

_group_numbers = itertools.count(1)


async def related_node(
    node: Node, name: str, request: object, description: str, *, context: ActionContext
) -> Node | None:
    """Return the node that the function in the file `name` gives for `node` and `request`; None for none.

    Raises StaleRef when the node's document is gone, EvaluationFailed when the function threw.
    """
    session = node.session
    group = f"cdpengine-related-{next(_group_numbers)}"
    try:
        found = await object_from(await handle_on(node, context.worlds, group), name, request)
        if found is None:
            return None
        described = await session.request("DOM.describeNode", {"objectId": found}, DescribeNodeReply)
    except RemoteError as error:
        if not context_gone(error):
            raise
        raise stale(node, "a node of another document", "its document was replaced") from error
    finally:
        # Posted, not awaited: Chrome answers it in its own time, also when this task is being cancelled.
        with suppress(SessionGone, ConnectionLost):
            session.post("Runtime.releaseObjectGroup", objectGroup=group)
    return attrs.evolve(node, backend_node_id=described.node.backend_node_id, description=description)


async def object_from(handle: Handle, name: str, request: object) -> str | None:
    """Return the id of the remote object that the function in the file `name` gives; None for null.

    Chrome puts it into the object group that the handle's node is in.
    """
    with together() as post:
        call = handle.node.session.post(
            "Runtime.callFunctionOn",
            objectId=handle.object_id,
            functionDeclaration=own(script(name)),
            arguments=[{"value": request}],
        )
        return await returned_object(post(call), handle.node)
