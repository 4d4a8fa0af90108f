"""Segments of Chrome's date and time inputs, and the keys that write a value into them. Pure.

Rule: Chrome draws one segment each for day, month, year, hour and so on, in the order of the browser's language,
and moves to the next segment after two digits. One segment (preferably not the year) is emptied first and
written last. So the input has no value until it is complete, and the page sees no partly written year. If the
result is uncertain, no keys are returned.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

import attrs

from cdpengine._protocol.domains.dom import DescribedNode

_PSEUDO = re.compile(r"-webkit-datetime-edit-([a-z]+)-field")
_WIDTHS = {"year": 4, "millisecond": 3, "ampm": 1}
_VALUE = re.compile(
    r"(?:(?P<year>\d{4})-(?:W(?P<week>\d\d)|(?P<month>\d\d)(?:-(?P<day>\d\d))?))?T?"
    r"(?:(?P<hour>\d\d):(?P<minute>\d\d)(?::(?P<second>\d\d)(?:\.(?P<millisecond>\d{1,3}))?)?)?"
)


@attrs.frozen
class Segment:
    """One segment: "year", "month", "day", "week", "hour", "minute", "second", "millisecond" or "ampm".

    `most` is its maximum. `fixed`: it cannot be changed.
    """

    name: str
    most: int = 0
    fixed: bool = False


def segments_in(node: DescribedNode) -> list[Segment]:
    """Return the segments of an input in display order, or [] for other elements."""
    found: list[Segment] = []
    attributes = dict(zip(node.attributes[::2], node.attributes[1::2], strict=False))
    if match := _PSEUDO.fullmatch(attributes.get("pseudo", "")):
        most = attributes.get("aria-valuemax", "")
        found.append(Segment(match[1], int(most) if most.isdigit() else 0, "disabled" in attributes))
    for inner in (*node.shadow_roots, *node.children):
        found += segments_in(inner)
    return found


def segment_keys(segments: Sequence[Segment], text: str, *, anywhere: bool) -> list[str]:
    """Return the keys that type `text` into the input, or [] if they are not known.

    An empty text empties the input. `anywhere`: the focus may be on any segment, not only the first.
    """
    if not segments or any(segment.fixed for segment in segments):
        return []
    start = ["ArrowLeft"] * (len(segments) - 1)
    keys = start if anywhere else []
    if not text:
        return [*keys, *["Backspace", "ArrowRight"] * (len(segments) - 1), "Backspace"]
    written = write_segments(segments, text)
    if not written:
        return []
    last = _last(segments, written)
    place = 0

    def go(to: int) -> list[str]:
        return ["ArrowRight"] * (to - place) if to > place else ["ArrowLeft"] * (place - to)

    keys = [*keys, *go(last), "Backspace"]
    place = last
    for number in [*(each for each in range(len(segments)) if each != last), last]:
        keys += [*go(number), *written[number]]
        place = number
        name = segments[number].name
        if name in ("ampm", "millisecond") or (name == "month" and len(segments) == 2):
            keys += (
                start  # the month may be a name, and it is unknown whether such a segment moves to the next
            )
            place = 0
        elif name != "year" and number < len(segments) - 1:
            place = number + 1
    return keys


def _parts(text: str) -> dict[str, int] | None:
    match = _VALUE.fullmatch(text)
    if match is None:
        return None
    parts = {name: int(digits) for name, digits in match.groupdict().items() if digits}
    if match["millisecond"]:
        parts["millisecond"] = int(match["millisecond"].ljust(3, "0"))
    if match["hour"]:
        parts.setdefault("second", 0)
        parts.setdefault("millisecond", 0)
    return parts


def write_segments(segments: Sequence[Segment], text: str) -> list[str]:
    """Return the digits for each segment (AM is 1, PM is 2), or [] if the value does not fit the segments."""
    parts = _parts(text)
    if parts is None:
        return []
    by_name = {segment.name: segment for segment in segments}
    if "hour" in parts:
        hour, most = parts["hour"], by_name["hour"].most if "hour" in by_name else 0
        if "ampm" in by_name:
            parts["ampm"] = 2 if hour >= 12 else 1
            parts["hour"] = hour % 12 if most == 11 else (hour % 12 or 12)
        elif most == 24 and hour == 0:
            parts["hour"] = 24
    if (
        any(number for name, number in parts.items() if name not in by_name)
        or not by_name.keys() <= parts.keys()
    ):
        return []
    return [f"{parts[segment.name]:0{_WIDTHS.get(segment.name, 2)}d}" for segment in segments]


def _last(segments: Sequence[Segment], written: Sequence[str]) -> int:
    """Return the index of the segment to write last, preferably one that takes a single key."""

    def cost(number: int) -> tuple[bool, bool, bool]:
        name = segments[number].name
        return name == "year", name != "ampm", not written[number].startswith("0")

    return min(range(len(segments)), key=cost)
