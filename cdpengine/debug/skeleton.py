"""Skeletons: what a message says, without what differs from run to run. Pure.

Rule: ids, times and ports are replaced by what they are ("<id>", "<time>", "<port>"), and marks are taken off the
places of input; everything else stays. Two
runs of one program have the same skeletons, two programs that ask for different things do not.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable

import msgspec

LONGEST = 2_000
"""Characters of a skeleton that are kept; two that differ only beyond that count as the same."""

ID, TIME, PORT = "<id>", "<time>", "<port>"

TIMES = frozenset({
    "timestamp", "wallTime", "monotonicTime", "time", "requestTime", "responseTime", "startTime", "endTime",
    "currentTime", "baseTime", "virtualTimeTicksBase",
})  # fmt: skip
"""Fields that hold a time, when their value is a number."""

LEFT_OF_DEADLINES = frozenset({"timeout", "milliseconds", "patience", "await"})
"""Fields in which the engine sends how much of a deadline is left, when their value is a number."""

_ID_NAME = re.compile(r"(?:^id|I[dD]s?|^uuid|^guid|^pid|^stream|^handle)$")
_PLAIN_NUMBERS = frozenset({"windowId"})
_COORDINATES = frozenset({"x", "y"})
_MARKS = frozenset(range(1, 32))
"""In 256ths of a CSS pixel: the fractions by which the engine tells its input from that of others, by session."""

_COUNTER = re.compile(r"(?<=-)\d+$")
"""At the end of the name of an object group: clients count them."""

_IN_TEXT: tuple[tuple[re.Pattern[str], str], ...] = (
    (re.compile(r"\b[0-9A-Fa-f]{32}\b"), ID),
    (re.compile(r"\b[0-9A-Fa-f]{8}(?:-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}\b"), ID),
    (re.compile(r"-?\b\d{6,}\.\d+\.\d+\b"), ID),  # a remote object's: isolate.context.number
    (re.compile(r"((?:127\.0\.0\.1|localhost|\[::1\]):)\d{2,5}\b"), rf"\1{PORT}"),
)

_encode: Callable[[object], bytes] = msgspec.json.Encoder(order="sorted").encode


def skeleton(payload: bytes | memoryview) -> str:
    """Return the skeleton of a payload (JSON; empty for none), its keys in order."""
    if not payload:
        return "{}"
    try:
        loaded = msgspec.json.decode(payload)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return "<no JSON>"
    return _encode(_bare(loaded, "")).decode()[:LONGEST]


def bare_text(text: str) -> str:
    """Return a text without the ids and ports in it."""
    for pattern, replacement in _IN_TEXT:
        text = pattern.sub(replacement, text)
    return text


def _bare(value: object, name: str) -> object:
    if isinstance(value, dict):
        return {str(key): _bare(item, str(key)) for key, item in value.items()}
    if isinstance(value, list):
        return [_bare(item, name) for item in value]
    if isinstance(value, bool) or value is None:
        return value
    if _ID_NAME.search(name) and name not in _PLAIN_NUMBERS:
        return ID
    if name in _COORDINATES and isinstance(value, float) and (value * 256) % 256 in _MARKS:
        return math.floor(value)
    if isinstance(value, int | float):
        timed = name in TIMES or name in LEFT_OF_DEADLINES
        return TIME if timed else value
    if name == "objectGroup":
        return _COUNTER.sub(ID, str(value))
    return bare_text(str(value))
