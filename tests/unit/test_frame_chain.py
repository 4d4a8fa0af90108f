"""Points through frames of other processes, and the verdict about an observer's events: pure functions."""

from __future__ import annotations

from typing import Any

import pytest

from cdpengine._input.action import verify
from cdpengine._input.actionability.frame_chain import Measured, points_outside, windows_from_outside
from cdpengine._input.actionability.page_library import Record
from cdpengine._input.geometry import Point, Quad
from cdpengine._page.scripts.page_functions import Node
from cdpengine._protocol.domains.page import LayoutViewport
from cdpengine.errors import NotDeliveredError

NODE: Any = Node(None, 1, "F", 'e1 button "Go"')  # type: ignore[arg-type]
SMALL, LARGE = LayoutViewport(100, 50), LayoutViewport(800, 600)
INSIDE = 100, 50


def test_a_point_is_converted_outwards_through_each_frame() -> None:
    middle = Measured([Quad.from_rect(10, 20, 200, 100)], SMALL, INSIDE)  # twice as large as its content
    outer = Measured([Quad.from_rect(300, 300, 100, 50)], LARGE, INSIDE)
    tiers = points_outside([Point(50, 25)], [middle, outer])
    assert tiers == [[Point(110, 70)], [Point(410, 370)]]
    assert points_outside([Point(1, 2)], []) == []


def test_the_visible_part_outside_is_known_inside() -> None:
    # The frame extends beyond the right edge of the viewport: half of it is visible.
    frame = Measured([Quad.from_rect(700, 0, 200, 100)], LARGE, INSIDE)
    windows = windows_from_outside([frame])
    assert windows is not None
    (window,) = windows
    assert set(window) == {Point(0, 0), Point(50, 0), Point(50, 50), Point(0, 50)}


def test_a_frame_turned_by_a_quarter() -> None:
    turned = Quad(Point(100, 0), Point(100, 100), Point(50, 100), Point(50, 0))
    (tier,) = points_outside([Point(100, 0), Point(0, 50)], [Measured([turned], LARGE, INSIDE)])
    assert tier == [Point(100, 100), Point(50, 0)]


def test_a_frame_without_area_hides_all() -> None:
    flat = Measured([Quad.from_rect(0, 0, 0, 50)], LARGE, INSIDE)
    assert windows_from_outside([flat]) is None


@pytest.mark.parametrize(
    ("record", "delivered", "receiver"),
    [
        (Record(complete=True, seen=["mousedown", "click"]), True, NODE.description),
        (Record(complete=True, seen=["mousedown", "contextmenu"], astray=[("mouseup", "ul")]), True, NODE.description),
        (Record(answered=True, seen=["mousedown"]), False, NODE.description),
        (Record(answered=True, seen=["mousedown"], astray=[("mouseup", "p"), ("click", "body")]), False, "p"),
        (Record(answered=True, seen=["pointerover"], astray=[("mousemove", "p")]), False, "p"),
        (Record(answered=True, seen=["mousedown", "click"], held="p"), False, "p"),
    ],
)  # fmt: skip
def test_verdict_about_received_events(record: Record, delivered: bool, receiver: str) -> None:
    verdict = verify(NODE, "click", record, forced=False, dialog=False)
    assert verdict.delivered is delivered
    assert verdict.received_by == receiver
    assert verdict.events == tuple(record.seen)
    assert verdict.elsewhere == tuple(record.astray)


@pytest.mark.parametrize(
    ("record", "words"),
    [
        (None, "went away before"),
        (Record(), "nothing in its document received it"),
        (Record(held="div#x"), "div#x was in the way, so the press was held back"),
        (Record(astray=[("mousedown", "div#x")]), "div#x received it"),
        (Record(seen=["mousedown"], astray=[("mouseup", "div#x")]), "it received mousedown, and mouseup went to div#x"),
        (Record(seen=["mousedown"]), "it received mousedown, and nothing after that"),
        (Record(seen=["mousedown"], held="div#x"), "it received mousedown, and nothing after that"),
        (Record(seen=["mouseup"], answered=True), "it received mouseup, and nothing after that"),
    ],
)  # fmt: skip
def test_verdict_about_missing_events(record: Record | None, words: str) -> None:
    with pytest.raises(NotDeliveredError, match=words) as caught:
        verify(NODE, "click", record, forced=False, dialog=False)
    assert caught.value.held_back is bool(record and record.held and not record.seen)
    for options in ({"forced": True, "dialog": False}, {"forced": False, "dialog": True}):
        assert verify(NODE, "click", record, **options).delivered is False


def test_document_that_a_navigation_replaces_before_its_report_has_responded() -> None:
    assert verify(NODE, "click", None, forced=False, dialog=False, left=True).delivered is False
    with pytest.raises(NotDeliveredError):
        verify(NODE, "click", Record(), forced=False, dialog=False, left=True)
