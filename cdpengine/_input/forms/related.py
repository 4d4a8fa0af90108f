"""Related nodes of a control, such as the control of a label, an option, or the select of an option.

Rule: a function of a .js file finds the node, called on the control in the isolated world of its frame. The
related node is in the same document, so it has the control's session and frame, and becomes stale with it.
"""

from __future__ import annotations

from collections.abc import Sequence

import attrs

from cdpengine._input.actionability.library_calls import Handle, check_not_gone, handle_on
from cdpengine._input.actionability.measuring import decode_object
from cdpengine._javascript import own, script, script_with
from cdpengine._page.scripts.page_functions import OBJECT, Node, RemoteHandle, object_group
from cdpengine._page.scripts.worlds import IsolatedWorlds
from cdpengine.errors import RemoteError


async def related_node(
    node: Node,
    name: str,
    request: object,
    description: str,
    *,
    worlds: IsolatedWorlds,
    parts: Sequence[str] = (),
) -> Node | None:
    """Return the node that the function in the file `name` returns for `node` and `request`, or None.

    `parts` are the parts for `script_with`.

    Raises StaleRefError if the node's document is gone, EvaluationFailedError if the function threw.
    """
    with object_group("related") as group:
        try:
            found = await object_from(await handle_on(node, worlds, group), name, request, parts)
            if found is None:
                return None
            number = await found.backend_node_id()
        except RemoteError as error:
            check_not_gone(node, error)
            raise
    return attrs.evolve(node, backend_node_id=number, description=description)


async def object_from(
    handle: Handle, name: str, request: object, parts: Sequence[str] = ()
) -> RemoteHandle | None:
    """Return the remote object that the function in the file `name` returns, or None for null.

    Chrome adds it to the object group of the handle's node.
    """
    source = script_with(name, *parts) if parts else own(script(name))
    return await decode_object(handle.object.post(source, request, how=OBJECT), handle.node)
