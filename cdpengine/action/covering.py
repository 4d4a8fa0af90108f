"""Covering: the node that lies over another one, by Chrome's id, so that an error can name its ref.

Rule: it is worth a moment, no more; where it cannot be had, the error does without.
"""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import trio

from cdpengine.action.in_page import Handle, post_library_call, returned_object, together
from cdpengine.errors import EvaluationFailed, RemoteError, StaleRef
from cdpengine.protocol.dom import DescribeNodeReply


async def covering_node(handle: Handle, request: dict[str, Any], patience: float) -> int | None:
    """Return the backend node id of what covers the request's point, seen from the node of `handle`.

    `request` is one of actionability.js with a single point. None where that is not known within `patience`
    seconds.
    """
    session = handle.node.session
    if session.target_type == "iframe":
        return None  # node ids count per process: only the page's own are of use to others
    with trio.move_on_after(patience), suppress(RemoteError, StaleRef, EvaluationFailed), together() as post:
        found = post(post_library_call(handle, "covering", request, by_value=False))
        object_id = await returned_object(found, handle.node)
        if object_id is not None:
            described = await session.request("DOM.describeNode", {"objectId": object_id}, DescribeNodeReply)
            session.post("Runtime.releaseObject", objectId=object_id)
            return described.node.backend_node_id
    return None
