"""One look at a node: what it is asked, what it answers, and what has to hold before an action.

Rule: data only; how a look is taken, and when it is repeated, is told in actionability.py.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import attrs
import msgspec

from cdpengine._input.geometry import Point, Quad


@attrs.frozen
class Requirements:
    """What has to hold before an action. Without `area`, a corner will do as a point: for nodes of no size."""

    visible: bool = True
    enabled: bool = True
    stable: bool = True
    receives_events: bool = True
    area: bool = True


NO_REQUIREMENTS = Requirements(visible=False, enabled=False, stable=False, receives_events=False)


class Look(msgspec.Struct):
    """What actionability.js answers. A reason is "" when there is none; `point` is that of a glance.

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


def look_request(
    points: Sequence[Point],
    frame: Quad | None = None,
    *,
    settle: bool = False,
    glance: bool = False,
    dragging: bool = False,
) -> dict[str, Any]:
    """Return what the library's `look` is asked; with `frame`, the points are taken to fractions of it.

    With `glance` it chooses the point itself, if there is one that needs no measuring. With `dragging`, what is
    being dragged covers nothing.
    """
    if frame is not None:
        points = [frame.fractions(point) or Point(-1, -1) for point in points]
    return {
        "points": list(points),
        "fractions": frame is not None,
        "settle": settle,
        "glance": glance,
        "dragging": dragging,
        "witness": None,
    }
