"""Related nodes: from one node to another one that a function of the engine's own finds from it."""

from __future__ import annotations

import attrs

from cdpengine._input.context import ActionContext
from cdpengine._input.in_page import Handle, handle_on, returned_object, stale
from cdpengine._page.node import Node
from cdpengine._page.scripts.page_functions import OBJECT, RemoteHandle
from cdpengine._page.scripts.remote_objects import object_group
from cdpengine._page.scripts.worlds import context_gone
from cdpengine.errors import RemoteError
from cdpengine.js import own, script


async def related_node(
    node: Node, name: str, request: object, description: str, *, context: ActionContext
) -> Node | None:
    """Return the node that the function in the file `name` gives for `node` and `request`; None for none.

    Raises StaleRefError when the node's document is gone, EvaluationFailedError when the function threw.
    """
    with object_group("related") as group:
        try:
            found = await object_from(await handle_on(node, context.worlds, group), name, request)
            if found is None:
                return None
            number = await found.backend_node_id()
        except RemoteError as error:
            if not context_gone(error):
                raise
            raise stale(node, "a node of another document", "its document was replaced") from error
    return attrs.evolve(node, backend_node_id=number, description=description)


async def object_from(handle: Handle, name: str, request: object) -> RemoteHandle | None:
    """Return the remote object that the function in the file `name` gives; None for null.

    Chrome puts it into the object group that the handle's node is in.
    """
    return await returned_object(handle.object.post(own(script(name)), request, how=OBJECT), handle.node)
