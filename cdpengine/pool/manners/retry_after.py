"""Retry-After: the pause that a server requests (RFC 9110, section 10.2.3). Pure.

Rule: only 429 (RFC 6585) and 503 request a pause. The value is a number of seconds or an HTTP-date. A date is
compared with the server's `Date` header if present, because clocks differ. Invalid values are ignored.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import UTC
from email.utils import parsedate_to_datetime

STATUSES = frozenset({429, 503})
"""Statuses that request a later retry."""


def requested_pause(status: int, headers: Mapping[str, str], now: float) -> float | None:
    """Return the seconds until the server accepts a retry, or None if it does not specify them.

    Header names may be in any case. `now` is in seconds since 1970, such as `time.time()`. A time in the past
    gives 0.
    """
    if status not in STATUSES:
        return None
    found = {name.lower(): value for name, value in headers.items()}
    value = found.get("retry-after", "").strip()
    if re.fullmatch("[0-9]{1,18}", value):
        return float(value)
    moment = _moment(value)
    if moment is None:
        return None
    sent = _moment(found.get("date", ""))
    return max(0.0, moment - (now if sent is None else sent))


def _moment(value: str) -> float | None:
    """Parse an HTTP-date in any of its three forms (RFC 9110, section 5.6.7) to seconds since 1970."""
    try:
        found = parsedate_to_datetime(value.strip())
        # The asctime form has no zone and means UTC.
        return (found if found.tzinfo else found.replace(tzinfo=UTC)).timestamp()
    except (TypeError, ValueError, IndexError, OverflowError):
        return None
