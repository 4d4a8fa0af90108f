from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cdpengine._input.geometry import (
    Point,
    Quad,
    area,
    candidates,
    centroid,
    clip,
    contains,
    on_pixel,
    signed_area,
    visible_parts,
)

coordinates = st.floats(-2000, 2000, allow_nan=False)
sizes = st.floats(1, 1500)
VIEWPORT = Quad.from_rect(0, 0, 800, 600)


@st.composite
def turned_boxes(draw: st.DrawFn) -> Quad:
    """A random rectangle, rotated, stretched, and perhaps mirrored."""
    x, y, width, height = draw(coordinates), draw(coordinates), draw(sizes), draw(sizes)
    angle, mirrored = draw(st.floats(0, math.tau)), draw(st.booleans())
    cos, sin = math.cos(angle), math.sin(angle)
    corners = [(0.0, 0.0), (width, 0.0), (width, height), (0.0, height)]
    flip = -1 if mirrored else 1
    points = [Point(x + flip * (cx * cos - cy * sin), y + cx * sin + cy * cos) for cx, cy in corners]
    return Quad(*points)


def test_quad_from_floats() -> None:
    quad = Quad.from_floats([1, 2, 11, 2, 11, 22, 1, 22])
    assert quad == Quad.from_rect(1, 2, 10, 20)
    assert quad.area == 200
    with pytest.raises(ValueError, match="8 floats"):
        Quad.from_floats([1, 2, 3])


def test_clip_at_a_corner_gives_a_rectangle() -> None:
    part = clip(Quad.from_rect(-10, -10, 30, 30).polygon, VIEWPORT.polygon)
    assert area(part) == 400
    assert set(part) == {Point(0, 0), Point(20, 0), Point(20, 20), Point(0, 20)}


def test_clip_of_a_diamond() -> None:
    diamond = (Point(0, -10), Point(10, 0), Point(0, 10), Point(-10, 0))
    assert area(clip(diamond, VIEWPORT.polygon)) == pytest.approx(50)


def test_clipping_outside_gives_nothing() -> None:
    assert clip(Quad.from_rect(900, 0, 10, 10).polygon, VIEWPORT.polygon) == ()
    assert visible_parts([Quad.from_rect(0, 600, 10, 10)], [VIEWPORT.polygon]) == ()


@given(turned_boxes())
def test_a_part_is_inside_both(quad: Quad) -> None:
    part = clip(quad.polygon, VIEWPORT.polygon)
    assert area(part) <= quad.area * (1 + 1e-6) + 1e-6
    for corner in part:
        assert contains(VIEWPORT.polygon, corner, slack=1e-6)
        assert contains(quad.polygon, corner, slack=1e-6)


@given(turned_boxes())
def test_clipping_by_itself_changes_nothing(quad: Quad) -> None:
    assert area(clip(quad.polygon, quad.polygon)) == pytest.approx(quad.area, rel=1e-6)


@given(turned_boxes(), turned_boxes())
def test_clipping_is_symmetric(first: Quad, second: Quad) -> None:
    one, other = clip(first.polygon, second.polygon), clip(second.polygon, first.polygon)
    assert area(one) == pytest.approx(area(other), rel=1e-6, abs=1e-3)


@given(turned_boxes())
def test_direction_does_not_matter(quad: Quad) -> None:
    backwards = tuple(reversed(quad.polygon))
    assert signed_area(backwards) == pytest.approx(-signed_area(quad.polygon))
    assert area(clip(backwards, VIEWPORT.polygon)) == pytest.approx(
        area(clip(quad.polygon, VIEWPORT.polygon)), rel=1e-6, abs=1e-6
    )


@given(turned_boxes())
def test_centroid_of_a_box_is_its_middle(quad: Quad) -> None:
    middle = quad.at(0.5, 0.5)
    assert centroid(quad.polygon) == pytest.approx(middle, rel=1e-6, abs=1e-5)


@given(turned_boxes(), st.floats(-1, 2), st.floats(-1, 2))
def test_fractions_undo_at(quad: Quad, across: float, down: float) -> None:
    fractions = quad.fractions(quad.at(across, down))
    assert fractions is not None
    assert fractions == pytest.approx((across, down), rel=1e-5, abs=1e-5)


@given(st.floats(-0.4, 0.4), st.floats(-0.4, 0.4), st.floats(0, 1), st.floats(0, 1))
def test_perspective_keeps_lines_straight(tilt: float, turn: float, across: float, down: float) -> None:
    def seen(u: float, v: float) -> Point:
        depth = 1 + tilt * u + turn * v
        return Point(300 * u / depth + 20, (200 * v + 50 * u) / depth + 10)

    quad = Quad(seen(0, 0), seen(1, 0), seen(1, 1), seen(0, 1))
    assert quad.at(across, down) == pytest.approx(seen(across, down), abs=0.1)
    assert quad.fractions(quad.at(across, down)) == pytest.approx((across, down), abs=1e-5)


def test_points_beyond_the_horizon_have_no_fractions() -> None:
    quad = Quad(Point(40, 0), Point(60, 0), Point(100, 100), Point(0, 100))  # its sides meet at (50, -25)
    assert quad.fractions(Point(50, -20)) is not None
    assert quad.fractions(Point(50, -30)) is None


def test_flat_quad_has_no_fractions() -> None:
    assert Quad.from_rect(0, 0, 10, 0).fractions(Point(5, 0)) is None


@given(st.lists(turned_boxes(), min_size=1, max_size=4))
def test_candidates_are_visible_and_the_middle_comes_first(quads: list[Quad]) -> None:
    parts = visible_parts(quads, [VIEWPORT.polygon])
    points = candidates(parts)
    assert bool(points) == bool(parts)
    assert len(set(points)) == len(points) <= 16
    for point in points:
        assert any(contains(part, point, slack=0.05) for part in parts)
    if points:
        middle = centroid(parts[0])
        assert math.dist(points[0], middle) < math.sqrt(2)


def test_the_largest_parts_come_first() -> None:
    parts = visible_parts([Quad.from_rect(0, 0, 5, 5), Quad.from_rect(0, 20, 50, 5)], [VIEWPORT.polygon])
    assert [area(part) for part in parts] == [250, 25]


def test_frames_clip_too() -> None:
    frame = Quad.from_rect(100, 100, 50, 50)
    parts = visible_parts([Quad.from_rect(90, 140, 40, 40)], [VIEWPORT.polygon, frame.polygon])
    assert [area(part) for part in parts] == [300]


@given(coordinates, coordinates, st.floats(2, 50))
def test_whole_pixels_if_they_fit(x: float, y: float, size: float) -> None:
    box = Quad.from_rect(x, y, size, size).polygon
    point = on_pixel(centroid(box), box)
    assert contains(box, point, slack=1e-6)
    assert point == (math.floor(point.x), math.floor(point.y)) or size < 2.1


def test_less_than_a_pixel_keeps_its_exact_point() -> None:
    box = Quad.from_rect(0.25, 0.25, 0.5, 0.5).polygon
    assert on_pixel(Point(0.5, 0.5), box) == (0.5, 0.5)
