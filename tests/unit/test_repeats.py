"""Messages that Chrome reports again: each counts once, in any session."""

from __future__ import annotations

from typing import cast

import attrs

from cdpengine._activity.repeats import Repeats
from cdpengine._protocol.session import Session


@attrs.frozen(eq=False)
class _Reporter:
    target_id: str


def test_only_reports_from_before_the_replacement_of_contexts_are_repetitions() -> None:
    page, frame = (cast("Session", _Reporter(name)) for name in ("page", "frame"))
    repeats = Repeats()
    assert [repeats.take(page, time) for time in (1.5, 2.5, 2.5)] == [False] * 3
    repeats.expect(page)
    repeats.expect(page)
    assert repeats.take(frame, 1.5) is False, "another target's"
    assert [repeats.take(page, time) for time in (1.5, 2.0, 2.5, 2.5, 3.5, 3.5)] == [
        True, False, True, True, False, False,
    ]  # fmt: skip
    repeats.expect(page)
    assert [repeats.take(page, time) for time in (2.0, 3.5, 4.5)] == [True, True, False]


def test_an_iframe_is_recognised_in_a_new_session() -> None:
    before, after = (cast("Session", _Reporter("frame")) for _ in range(2))
    repeats = Repeats()
    repeats.expect(before)
    assert not repeats.take(before, 1.5)
    repeats.expect(after)
    assert repeats.take(after, 1.5)


def test_the_memory_is_bounded() -> None:
    page = cast("Session", _Reporter("page"))
    repeats = Repeats()
    for time in range(12_000):
        repeats.take(page, time)
    repeats.expect(page)
    assert not repeats.take(page, 0)
    assert repeats.take(page, 11_999)
