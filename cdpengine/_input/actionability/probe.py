"""Probe: what actionability.js is asked about a node and what it answers, and what has to hold before an action.

Rule: data only; `inspection.py` sends probes and repeats them. One more question names the node that covers a
point, for the error alone: it gets a moment, and the error does without where there is no answer.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from typing import Any

import attrs
import msgspec
import trio

from cdpengine._input.actionability.node_handle import Handle, decode_object, post_library_call
from cdpengine._input.geometry import Point, Quad
from cdpengine.errors import EvaluationFailedError, RemoteError, StaleRefError


@attrs.frozen
class Requirements:
    """What has to hold before an action. Without `area`, a corner will do as a point: for nodes of no size."""

    visible: bool = True
    enabled: bool = True
    stable: bool = True
    receives_events: bool = True
    area: bool = True


NO_REQUIREMENTS = Requirements(visible=False, enabled=False, stable=False, receives_events=False)


class ProbeReply(msgspec.Struct):
    """What actionability.js answers. A reason is "" when there is none; `point` is that of a quick one.

    `never`: no waiting helps. `frees`: what another action has to do first. `behind`: the modal dialog in the way.
    """

    connected: bool
    element: str
    invisible: str = ""
    disabled: str = ""
    uneditable: str = ""
    readonly: str = ""
    moved: bool = False
    hits: list[bool] = []
    covered: str = ""
    untouchable: bool = False
    never: str = ""
    frees: str = ""
    behind: str = ""
    point: Point | None = None


def probe_request(
    points: Sequence[Point],
    frame: Quad | None = None,
    *,
    settle: bool = False,
    quick: bool = False,
    dragging: bool = False,
) -> dict[str, Any]:
    """Return what the library's `probe` is asked; with `frame`, the points are taken to fractions of it.

    With `quick` it chooses the point itself, if there is one that needs no measuring. With `dragging`, what is
    being dragged covers nothing.
    """
    if frame is not None:
        points = [frame.fractions(point) or Point(-1, -1) for point in points]
    return {
        "points": list(points),
        "fractions": frame is not None,
        "settle": settle,
        "quick": quick,
        "dragging": dragging,
        "observer": None,
    }


async def covering_node(handle: Handle, request: dict[str, Any], patience: float) -> int | None:
    """Return the backend node id of what covers the request's point, seen from the node of `handle`.

    `request` is one of actionability.js with a single point. None where that is not known within `patience`
    seconds.
    """
    if handle.node.session.target_type == "iframe":
        return None  # node ids count per process: only the page's own are of use to others
    with trio.move_on_after(patience), suppress(RemoteError, StaleRefError, EvaluationFailedError):
        call = post_library_call(handle, "covering", request, by_value=False)
        covering = await decode_object(call, handle.node)
        if covering is not None:
            try:
                return await covering.backend_node_id()
            finally:
                covering.release()
    return None
