"""Field values: what is written into form controls, as text or as keys. Pure.

Rule: Python's own values become what HTML's inputs hold: a date for each type of input that can hold one, numbers
in their shortest form. A date or time is written by keys: Chrome draws such an input as one segment for each of
day, month, year, hour and so on, in the order of the browser's language, and moves on by itself after two digits.
One segment (not the year, where there is another) is emptied first and written last. So the input holds nothing
until it holds all of it, and no half-written year in between. No keys are returned where that is not certain to
work.
"""

from __future__ import annotations

import datetime as dt
import math
import re
from collections.abc import Mapping, Sequence
from typing import TypeAlias

import attrs

from cdpengine._input.devices.keyboard import check_text
from cdpengine._protocol.domains.dom import DescribedNode
from cdpengine.errors import InvalidArgumentError

TextValue: TypeAlias = str | int | float | dt.date | dt.time
"""What a text field, or one of dates, times and numbers, can be filled with. A datetime is a date."""

EVERY_TYPE = ""
"""The key of the text for all types of input that have none of their own."""


def texts_of(value: TextValue) -> Mapping[str, str]:
    """Return the text for each type of input that needs its own, and for all others under `EVERY_TYPE`.

    Raises InvalidArgumentError for what has no text; a text itself is never shown.
    """
    if isinstance(value, dt.datetime):
        if value.tzinfo is not None:
            raise InvalidArgumentError(
                what="value", given="a datetime with a time zone", expected="one without: inputs have none"
            )
        whole = value.isoformat(timespec=_precision(value.time()))
        return _texts_of_date(value.date()) | {
            EVERY_TYPE: whole,
            "date": whole[:10],
            "datetime-local": whole,
            "time": whole[11:],
        }
    if isinstance(value, dt.date):
        return _texts_of_date(value)
    if isinstance(value, dt.time):
        return {EVERY_TYPE: value.replace(tzinfo=None).isoformat(timespec=_precision(value))}
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        if not math.isfinite(value):
            raise InvalidArgumentError(
                what="value", given=repr(value), expected="a number that can be written"
            )
        return {EVERY_TYPE: f"{value:d}" if isinstance(value, int) else _shortest(value)}
    if not isinstance(value, str):
        raise InvalidArgumentError(
            what="value",
            given=f"a {type(value).__name__}",
            expected="a string, a number, a date, a time, or a bool for what can be checked",
        )
    check_text(value)
    return {EVERY_TYPE: value}


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
    written = _written(segments, text)
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


def _texts_of_date(value: dt.date) -> dict[str, str]:
    year, week, _day = value.isocalendar()
    day = value.isoformat()
    return {
        EVERY_TYPE: day,
        "month": day[:7],
        "week": f"{year:04d}-W{week:02d}",
        "datetime-local": f"{day}T00:00",
    }


def _precision(value: dt.time) -> str:
    return "milliseconds" if value.microsecond else "seconds" if value.second else "minutes"


def _shortest(value: float) -> str:
    return f"{value:.0f}" if value == int(value) and abs(value) < 1e15 else repr(value)


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


def _written(segments: Sequence[Segment], text: str) -> list[str]:
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
