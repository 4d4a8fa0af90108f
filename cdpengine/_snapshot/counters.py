"""Counters in names: what changes in the name of an element that is still the same one. Pure.

Rule: a counter is a number or a time in brackets at the beginning or end, "Inbox (3)", or a countdown, "Resend in
30 s". Where several elements have the same name but for a counter, they are a series, "Photo (3)", and the counter
tells them apart. A bare number and a price are no counters: they tell items apart.
"""

from __future__ import annotations

import re

_UNIT = r"(?:s|secs?|seconds?|mins?|minutes?|h|hours?|left|new|unread)"
_NUMBER = rf"[(\[]\s*[0-9][0-9.,:'\u00a0\u202f ]*\+?(?:\s*{_UNIT}\b|\s*%)*\s*[)\]]"
_CLOCK = r"\b[0-9]{1,3}:[0-9]{2}(?::[0-9]{2})?\b|\b[0-9]{1,5}\s?(?:s|secs?|seconds?)\b"
_COUNTER = re.compile(rf"^\s*{_NUMBER}\s*|\s*{_NUMBER}\s*$|{_CLOCK}")


def without_counter(name: str) -> str:
    """Return the name without its counters; "" where there is nothing else in it."""
    return _COUNTER.sub("", name).strip()
