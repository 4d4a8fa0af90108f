"""Placement: from what Chrome says of a node's shape to the points at which it can be acted on. Pure.

Rule: quads first, because they are right for links over several lines, for transforms and for
`display: contents`; the box model only where there are no quads, and for offsets from the border box.
"""

from __future__ import annotations

from collections.abc import Sequence

import attrs

from cdpengine._input.geometry import Point, Quad, area, candidates, contains, on_pixel, visible_parts
from cdpengine._protocol.domains.dom import BoxModel


@attrs.frozen
class Placed:
    """Where the node is now.

    `points` are to be tried in order, `frames` are the content boxes of the frames around it, `settle` asks for
    samples of its position, `outside` says why there is no point where there is none. `outer` has the points in
    the pixels of the processes around it, `outer_frames` the boxes of the frames there; both the nearest first.
    """

    points: Sequence[Point]
    frames: Sequence[Quad]
    settle: bool
    outside: str
    outer: Sequence[Sequence[Point]] = ()
    outer_frames: Sequence[Sequence[Quad]] = ()


def place(
    quads: Sequence[Quad], windows: Sequence[Quad], box: BoxModel | None, position: tuple[float, float] | None
) -> Placed:
    """Choose the points to try; the frames are not known here."""
    parts = visible_parts(quads, windows)
    clipped = sum(area(part) for part in parts) < 0.99 * sum(quad.area for quad in quads)
    outside = "no part of it is inside the viewport, and it cannot be scrolled there"
    if position is None:
        return Placed(candidates(parts), (), settle=clipped, outside=outside)
    if box is not None and box.width and box.height:
        at = Quad.from_floats(box.border).at(position[0] / box.width, position[1] / box.height)
    elif quads:
        at = Point(quads[0].top_left.x + position[0], quads[0].top_left.y + position[1])
    else:
        return Placed((), (), settle=True, outside=outside)
    if not all(contains(window.polygon, at) for window in windows):
        where = f"the point ({position[0]:g}, {position[1]:g}) of it is outside the viewport"
        return Placed((), (), settle=True, outside=where)
    return Placed((on_pixel(at, windows[0].polygon),), (), settle=clipped, outside=outside)
