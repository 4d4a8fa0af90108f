"""Segments of Chrome's inputs of dates and times, and the keys that write a value into them. Pure.

Rule: Chrome draws one segment for each of day, month, year, hour and so on, in the order of the browser's
language, and moves on by itself after two digits. One segment (not the year, where there is another) is emptied
first and written last: so the input holds nothing until it holds all of it, and no half-written year in between.
No keys are made where that is not certain to work.
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

    `most` is the largest number that it takes; `fixed` says that it cannot be changed.
    """

    name: str
    most: int = 0
    fixed: bool = False


def segments_in(node: DescribedNode) -> list[Segment]:
    """Return the segments within an input, in the order in which they are shown; [] for other elements."""
    found: list[Segment] = []
    held = dict(zip(node.attributes[::2], node.attributes[1::2], strict=False))
    if match := _PSEUDO.fullmatch(held.get("pseudo", "")):
        most = held.get("aria-valuemax", "")
        found.append(Segment(match[1], int(most) if most.isdigit() else 0, "disabled" in held))
    for inner in (*node.shadow_roots, *node.children):
        found += segments_in(inner)
    return found


def segment_keys(segments: Sequence[Segment], text: str, *, anywhere: bool) -> list[str]:
    """Return the keys that write `text`, an input's value; [] where that cannot be said for sure.

    "" empties the input. `anywhere`: the focus may be on any segment, not only on the first.
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
            keys += start  # a month may be a name there: whether such a segment goes on is not known
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
    """Return what each segment gets of an input's value, AM as 1, PM as 2; [] where it does not fit."""
    parts = _parts(text)
    if parts is None:
        return []
    shown = {segment.name: segment for segment in segments}
    if "hour" in parts:
        hour, most = parts["hour"], shown["hour"].most if "hour" in shown else 0
        if "ampm" in shown:
            parts["ampm"] = 2 if hour >= 12 else 1
            parts["hour"] = hour % 12 if most == 11 else (hour % 12 or 12)
        elif most == 24 and hour == 0:
            parts["hour"] = 24
    if any(number for name, number in parts.items() if name not in shown) or not shown.keys() <= parts.keys():
        return []
    return [f"{parts[segment.name]:0{_WIDTHS.get(segment.name, 2)}d}" for segment in segments]


def _last(segments: Sequence[Segment], written: Sequence[str]) -> int:
    """Return the segment to write last: one that takes a value by a single key, if there is one."""

    def cost(number: int) -> tuple[bool, bool, bool]:
        name = segments[number].name
        return name == "year", name != "ampm", not written[number].startswith("0")

    return min(range(len(segments)), key=cost)
