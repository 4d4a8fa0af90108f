"""What is written into form controls, as text. Pure.

Rule: Python's own values become what HTML's inputs hold: a date for each type of input that can hold one,
numbers in their shortest form.
"""

from __future__ import annotations

import datetime as dt
import math
from collections.abc import Mapping
from typing import TypeAlias

from cdpengine._input.keyboard import check_text
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
