from __future__ import annotations

import pytest

from cdpengine._input.forms.segments import Segment, segment_keys, segments_in
from cdpengine._protocol.domains.dom import DescribedNode

MONTH, DAY, YEAR = Segment("month", 12), Segment("day", 31), Segment("year", 275760)
MINUTE, AMPM = Segment("minute", 59), Segment("ampm", 2)


@pytest.mark.parametrize(
    ("segments", "text", "keys"),
    [
        # The month is emptied, day and year are written, then the month.
        ([MONTH, DAY, YEAR], "2026-02-28", "B R 2 8 2 0 2 6 L L 0 2"),
        ([DAY, MONTH, YEAR], "2026-02-28", "R B L 2 8 R 2 0 2 6 L 0 2"),
        ([YEAR, MONTH, DAY], "2026-12-03", "R R B L L 2 0 2 6 R 1 2 0 3"),
        ([Segment("week", 53), YEAR], "2026-W09", "B R 2 0 2 6 L 0 9"),
        ([Segment("hour", 23), MINUTE], "21:05", "R B L 2 1 0 5"),
        ([Segment("hour", 24), MINUTE], "00:30", "B R 3 0 L 2 4"),
        ([MONTH, DAY, YEAR], "", "B R B R B"),
    ],
)
def test_keys(segments: list[Segment], text: str, keys: str) -> None:
    names = {"B": "Backspace", "L": "ArrowLeft", "R": "ArrowRight"}
    assert segment_keys(segments, text, anywhere=False) == [names.get(key, key) for key in keys.split()]
    back = ["ArrowLeft"] * (len(segments) - 1)
    assert segment_keys(segments, text, anywhere=True)[: len(back)] == back


@pytest.mark.parametrize(
    ("hour", "most", "written"),
    [(0, 12, "121"), (12, 12, "122"), (21, 12, "092"), (0, 11, "001"), (12, 11, "002")],
)
def test_halves_of_the_day(hour: int, most: int, written: str) -> None:
    keys = segment_keys([Segment("hour", most), MINUTE, AMPM], f"{hour:02d}:59", anywhere=False)
    digits = "".join(key for key in keys if key.isdigit())
    assert digits == f"{written[:2]}59{written[2]}"


@pytest.mark.parametrize(
    ("segments", "text"),
    [
        ([], "2026-02-28"),
        ([MONTH, DAY, YEAR], "12026-02-28"),
        ([MONTH, DAY], "2026-02-28"),
        ([MONTH, DAY, YEAR, MINUTE], "2026-02-28"),
        ([Segment("month", 12, fixed=True), DAY, YEAR], "2026-02-28"),
        ([Segment("hour", 23), MINUTE], "09:05:07"),
        ([MONTH, DAY, YEAR], "tomorrow"),
    ],
)
def test_an_uncertain_value_gives_no_keys(segments: list[Segment], text: str) -> None:
    assert segment_keys(segments, text, anywhere=True) == []


def test_segments_in_their_displayed_order() -> None:
    def field(name: str, *more: str) -> DescribedNode:
        return DescribedNode(1, attributes=["pseudo", f"-webkit-datetime-edit-{name}-field", *more])

    edit = DescribedNode(
        1,
        attributes=["pseudo", "-webkit-datetime-edit"],
        children=[field("hour", "aria-valuemax", "23"), DescribedNode(1), field("minute", "disabled", "")],
    )
    found = segments_in(DescribedNode(1, shadow_roots=[DescribedNode(1, children=[edit])]))
    assert found == [Segment("hour", 23), Segment("minute", fixed=True)]
