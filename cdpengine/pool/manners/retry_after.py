"""Retry-After: how long a server asks to be left alone (RFC 9110, section 10.2.3). Pure.

Rule: only 429 (RFC 6585) and 503 ask for it. A value is a number of seconds or an HTTP-date. A date is compared
with the server's own `Date`, where it sent one: clocks differ. What cannot be read says nothing.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import UTC
from email.utils import parsedate_to_datetime

STATUSES = frozenset({429, 503})
"""The statuses that ask to come later."""


def seconds_asked_for(status: int, headers: Mapping[str, str], now: float) -> float | None:
    """Return the seconds after which a server wants to be asked again; None where it does not say.

    The names of headers may be in any case; `now` is the time in seconds since 1970, such as `time.time()`. A
    moment that has passed is 0.
    """
    if status not in STATUSES:
        return None
    found = {name.lower(): value for name, value in headers.items()}
    value = found.get("retry-after", "").strip()
    if re.fullmatch("[0-9]{1,18}", value):
        return float(value)
    asked = _moment(value)
    if asked is None:
        return None
    sent = _moment(found.get("date", ""))
    return max(0.0, asked - (now if sent is None else sent))


def _moment(value: str) -> float | None:
    """Return an HTTP-date as seconds since 1970: any of its three forms (RFC 9110, section 5.6.7)."""
    try:
        found = parsedate_to_datetime(value.strip())
        # The form of asctime has no zone: it is UTC.
        return (found if found.tzinfo else found.replace(tzinfo=UTC)).timestamp()
    except (TypeError, ValueError, IndexError, OverflowError):
        return None
