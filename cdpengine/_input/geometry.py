"""Geometry: quads, their visible parts, and the points for actions on a node. Pure.

Rule: coordinates are CSS pixels of the viewport. A quad arrives as eight floats, clockwise from the top left
corner of the untransformed box. Points are derived from quads, which are correct for links over several lines,
transforms and `display: contents`. The box model is used only if there are no quads, and for offsets from the
border box.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import NamedTuple, TypeAlias

import attrs

from cdpengine._protocol.domains.dom import BoxModel

# Minimum area of a visible part. Chrome rounds layout to 1/64 px; smaller parts are artefacts of clipping.
_LEAST_AREA = 1 / 64**2
# Maximum skew, in pixels, that rounding alone may cause.
_LEAST_SKEW = 1 / 64
# Minimum distance from the eye, where the top left corner is at distance 1.
_LEAST_DEPTH = 1e-6
# Distance below which corners are considered equal: the edge between them has no meaningful direction.
_SAME_POINT = 1e-9


class Point(NamedTuple):
    """A point in CSS pixels of the viewport."""

    x: float
    y: float


NO_MARK = Point(0.0, 0.0)

Polygon = tuple[Point, ...]

Floats: TypeAlias = tuple[float, float, float, float, float, float, float, float]
"""A quad in the protocol's form: x and y of each corner."""


@attrs.frozen
class Quad:
    """The four corners of a box after its transforms: top left, top right, bottom right, bottom left."""

    top_left: Point
    top_right: Point
    bottom_right: Point
    bottom_left: Point

    @classmethod
    def from_floats(cls, floats: Sequence[float], zoom: float = 1.0) -> Quad:
        """Create a quad from the protocol's eight floats, x and y of each corner.

        Raises ValueError for another number. `zoom` is the CSS zoom of the frames around the document, by which
        Chrome divided the floats.
        """
        if len(floats) != 8:
            raise ValueError(f"a quad has 8 floats, not {len(floats)}")
        x1, y1, x2, y2, x3, y3, x4, y4 = (each * zoom for each in floats)
        return cls(Point(x1, y1), Point(x2, y2), Point(x3, y3), Point(x4, y4))

    @classmethod
    def from_rect(cls, x: float, y: float, width: float, height: float) -> Quad:
        """Return the quad of an upright rectangle."""
        return cls(Point(x, y), Point(x + width, y), Point(x + width, y + height), Point(x, y + height))

    @property
    def polygon(self) -> Polygon:
        """The corners in order."""
        return (self.top_left, self.top_right, self.bottom_right, self.bottom_left)

    @property
    def area(self) -> float:
        """Area in square pixels, for either orientation of the corners."""
        return area(self.polygon)

    def at(self, across: float, down: float) -> Point:
        """Map fractions of the box (0..1 across, 0..1 down) to the viewport. Exact for every transform."""
        a, b, c, d, e, f, g, h = self._projection
        depth = g * across + h * down + 1
        if depth < _LEAST_DEPTH:  # behind the eye, far outside of the box
            depth = 1.0
        return Point((a * across + b * down + c) / depth, (d * across + e * down + f) / depth)

    def fractions(self, point: Point) -> Point | None:
        """Return the fractions of the box at which `point` lies: the inverse of `at`.

        None if the quad has no area, or if the point is beyond the horizon of a perspective.
        """
        a, b, c, d, e, f, g, h = self._projection
        determinant = a * (e - f * h) - b * (d - f * g) + c * (d * h - e * g)
        if abs(determinant) < _LEAST_AREA:
            return None
        x, y = point
        depth = ((d * h - e * g) * x + (b * g - a * h) * y + (a * e - b * d)) / determinant
        if depth < _LEAST_DEPTH:
            return None
        across = (e - f * h) * x + (c * h - b) * y + (b * f - c * e)
        down = (f * g - d) * x + (a - c * g) * y + (c * d - a * f)
        return Point(across / determinant / depth, down / determinant / depth)

    @property
    def _projection(self) -> Floats:
        """Coefficients a to h: `at` is (a u + b v + c, d u + e v + f) / (g u + h v + 1)."""
        (x0, y0), (x1, y1), (x2, y2), (x3, y3) = self.polygon
        # Distance of the fourth corner from its position in a parallelogram.
        skew_x, skew_y = x0 - x1 + x2 - x3, y0 - y1 + y2 - y3
        g = h = 0.0
        determinant = (x1 - x2) * (y3 - y2) - (x3 - x2) * (y1 - y2)
        if max(abs(skew_x), abs(skew_y)) > _LEAST_SKEW and abs(determinant) > _LEAST_AREA:
            g = (skew_x * (y3 - y2) - (x3 - x2) * skew_y) / determinant
            h = ((x1 - x2) * skew_y - skew_x * (y1 - y2)) / determinant
            if min(1 + g, 1 + h, 1 + g + h) < _LEAST_DEPTH:  # not a projection of a planar box
                g = h = 0.0
        return (x1 - x0 + g * x1, x3 - x0 + h * x3, x0, y1 - y0 + g * y1, y3 - y0 + h * y3, y0, g, h)


def signed_area(polygon: Sequence[Point]) -> float:
    """Return the area by the shoelace formula, in square pixels. Positive if clockwise on screen (y down)."""
    total = 0.0
    for index, (x, y) in enumerate(polygon):
        before_x, before_y = polygon[index - 1]
        total += before_x * y - x * before_y
    return total / 2


def area(polygon: Sequence[Point]) -> float:
    """Return the area of a simple polygon, in square pixels."""
    return abs(signed_area(polygon))


def clip(polygon: Sequence[Point], window: Sequence[Point]) -> Polygon:
    """Return the part of a convex `polygon` inside the convex `window`, empty if they do not overlap.

    Uses the Sutherland-Hodgman algorithm: cut along each edge of the window.
    """
    if signed_area(window) < 0:
        window = tuple(reversed(window))
    part = tuple(polygon) if len(window) >= 3 else ()
    for index, end in enumerate(window):
        if not part:
            break
        part = _cut(part, window[index - 1], end)
    return part if len(part) >= 3 else ()


def contains(polygon: Sequence[Point], point: Point, slack: float = 0.0) -> bool:
    """Return whether a convex polygon contains `point`, or has it at most `slack` pixels outside of an edge."""
    corners = tuple(reversed(polygon)) if signed_area(polygon) < 0 else tuple(polygon)
    for index, end in enumerate(corners):
        start = corners[index - 1]
        length = math.hypot(end.x - start.x, end.y - start.y)
        if length > _SAME_POINT and _depth(point, start, end) / length < -slack:
            return False
    return len(corners) >= 3


def centroid(polygon: Sequence[Point]) -> Point:
    """Return the centre of mass of a polygon, or the mean of its corners if it has no area."""
    doubled, cx, cy = 0.0, 0.0, 0.0
    # Relative to a corner, because far from the origin the products would lose precision.
    origin = polygon[0]
    for index, corner in enumerate(polygon):
        before = polygon[index - 1]
        bx, by = before.x - origin.x, before.y - origin.y
        x, y = corner.x - origin.x, corner.y - origin.y
        cross = bx * y - x * by
        doubled += cross
        cx += (bx + x) * cross
        cy += (by + y) * cross
    if abs(doubled) < _LEAST_AREA:
        count = len(polygon)
        return Point(sum(p.x for p in polygon) / count, sum(p.y for p in polygon) / count)
    return Point(origin.x + cx / (3 * doubled), origin.y + cy / (3 * doubled))


def visible_parts(quads: Iterable[Quad], windows: Sequence[Polygon]) -> tuple[Polygon, ...]:
    """Clip each quad by all windows (viewport, frames). Return the remaining parts, the largest first."""
    parts: list[Polygon] = []
    for quad in quads:
        part = quad.polygon
        for window in windows:
            part = clip(part, window)
        if part and area(part) >= _LEAST_AREA:
            parts.append(part)
    return tuple(sorted(parts, key=area, reverse=True))


def candidates(parts: Sequence[Polygon], most: int = 16) -> tuple[Point, ...]:
    """Return the points to try: first where a user would point, then where an edge may be uncovered.

    The order is: the centre of each part, the largest first; then, of the largest part, points half-way from the
    centre to its corners and edges; then points close to these.
    """
    if not parts:
        return ()
    points = [centroid(part) for part in parts[: most // 2]]
    largest = parts[0]
    centre = points[0]
    rim = [*largest, *(_between(largest[i - 1], corner, 0.5) for i, corner in enumerate(largest))]
    for share in (0.5, 0.9):
        points.extend(_between(centre, corner, share) for corner in rim)
    chosen: list[Point] = []
    for point in points:
        part = next((part for part in parts if contains(part, point, slack=0.01)), largest)
        snapped = on_pixel(point, part)
        if snapped not in chosen:
            chosen.append(snapped)
    return tuple(chosen[:most])


def on_pixel(point: Point, part: Sequence[Point]) -> Point:
    """Return `point` rounded down to whole pixels if that is still in `part`, else the point itself.

    Chrome floors the coordinates of a mouse event before it determines the target, but not those of a hit test. At
    whole pixels both have the same target.
    """
    floored = Point(float(math.floor(point.x)), float(math.floor(point.y)))
    return floored if contains(part, floored) else point


@attrs.frozen
class ClickPoints:
    """The current position of a node.

    Attributes:
        points: Points to try, in order.
        frames: Content boxes of the frames around the node.
        settle: Whether to sample the node's position for movement.
        outside: The reason if there is no point.
        outer: The points in the pixels of the outer processes, the nearest first.
        outer_frames: Boxes of the frames in these processes, the nearest first.
        corner: The node's top left corner if it is in view.
    """

    points: Sequence[Point]
    frames: Sequence[Quad]
    settle: bool
    outside: str
    outer: Sequence[Sequence[Point]] = ()
    outer_frames: Sequence[Sequence[Quad]] = ()
    corner: Point | None = None


def choose_points(
    quads: Sequence[Quad],
    windows: Sequence[Polygon],
    border: Quad | None,
    box: BoxModel | None,
    position: tuple[float, float] | None,
) -> ClickPoints:
    """Choose the points to try. `border` is the quad of `box`. The caller adds the frames."""
    parts = visible_parts(quads, windows)
    clipped = sum(area(part) for part in parts) < 0.99 * sum(quad.area for quad in quads)
    outside = "no part of it is inside the viewport, and it cannot be scrolled there"
    if position is None:
        return ClickPoints(candidates(parts), (), settle=clipped, outside=outside)
    if border is not None and box is not None and box.width and box.height:
        at = border.at(position[0] / box.width, position[1] / box.height)
    elif quads:
        at = Point(quads[0].top_left.x + position[0], quads[0].top_left.y + position[1])
    else:
        return ClickPoints((), (), settle=True, outside=outside)
    if not all(contains(window, at) for window in windows):
        where = f"the point ({position[0]:g}, {position[1]:g}) of it is outside the viewport"
        return ClickPoints((), (), settle=True, outside=where)
    return ClickPoints((on_pixel(at, windows[0]),), (), settle=clipped, outside=outside)


def _cut(polygon: Polygon, start: Point, end: Point) -> Polygon:
    """Return the part on the right-hand side (on screen) of the line from `start` to `end`."""
    corners: list[Point] = []
    for index, corner in enumerate(polygon):
        before = polygon[index - 1]
        depth, depth_before = _depth(corner, start, end), _depth(before, start, end)
        if (depth > 0 > depth_before) or (depth < 0 < depth_before):
            share = depth_before / (depth_before - depth)
            corners.append(
                Point(before.x + share * (corner.x - before.x), before.y + share * (corner.y - before.y))
            )
        if depth >= 0:
            corners.append(corner)
    return tuple(corners)


def _depth(point: Point, start: Point, end: Point) -> float:
    return (end.x - start.x) * (point.y - start.y) - (end.y - start.y) * (point.x - start.x)


def _between(start: Point, end: Point, share: float) -> Point:
    return Point(start.x + share * (end.x - start.x), start.y + share * (end.y - start.y))
