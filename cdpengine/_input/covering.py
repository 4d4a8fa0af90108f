"""Covering: the node that lies over another one, by Chrome's id, so that an error can name its ref.

Rule: it is worth a moment, no more; where it cannot be had, the error does without.
"""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import trio

from cdpengine._input.in_page import Handle, post_library_call, returned_object
from cdpengine.errors import EvaluationFailedError, RemoteError, StaleRefError


async def covering_node(handle: Handle, request: dict[str, Any], patience: float) -> int | None:
    """Return the backend node id of what covers the request's point, seen from the node of `handle`.

    `request` is one of actionability.js with a single point. None where that is not known within `patience`
    seconds.
    """
    if handle.node.session.target_type == "iframe":
        return None  # node ids count per process: only the page's own are of use to others
    with trio.move_on_after(patience), suppress(RemoteError, StaleRefError, EvaluationFailedError):
        call = post_library_call(handle, "covering", request, by_value=False)
        covering = await returned_object(call, handle.node)
        if covering is not None:
            try:
                return await covering.backend_node_id()
            finally:
                covering.release()
    return None
