"""Cookies in headers, in the form of an HTTP Archive. Pure.

Rule: each cookie of a header is listed with the header's attributes. Strings that no browser accepts as a cookie
are omitted.
"""

from __future__ import annotations

import datetime as dt
import email.utils
from typing import Any

from cdpengine._headers import HeaderMapping

_TEXTS = frozenset({"path", "domain"})


def sent_cookies(headers: HeaderMapping) -> list[dict[str, Any]]:
    """Return the cookies of a request's Cookie header."""
    pairs = (part for line in _lines(headers, "cookie") for part in line.split(";"))
    return [_name_and_value(pair) for pair in pairs if pair.strip()]


def set_cookies(headers: HeaderMapping) -> list[dict[str, Any]]:
    """Return the cookies of a response's Set-Cookie headers."""
    return [_set_cookie(line) for line in _lines(headers, "set-cookie") if line.strip()]


def _lines(headers: HeaderMapping, header_name: str) -> list[str]:
    # Chrome joins the values of a repeated header with line breaks.
    return headers.get(header_name, "").split("\n")


def _name_and_value(pair: str) -> dict[str, Any]:
    name, separator, value = pair.partition("=")
    return {"name": name.strip() if separator else "", "value": (value if separator else name).strip()}


def _set_cookie(line: str) -> dict[str, Any]:
    first, *attributes = line.split(";")
    cookie = _name_and_value(first) | {"httpOnly": False, "secure": False}
    for attribute in attributes:
        name, _, value = attribute.partition("=")
        name, value = name.strip().lower(), value.strip()
        if name in _TEXTS:
            cookie[name] = value
        elif name == "httponly":
            cookie["httpOnly"] = True
        elif name == "secure":
            cookie["secure"] = True
        elif name == "expires" and (expires := _date(value)):
            cookie["expires"] = expires
    return cookie


def _date(value: str) -> str:
    """Convert a header's date to ISO 8601, or "" if it is invalid."""
    parsed = email.utils.parsedate_tz(value.replace("-", " "))
    if parsed is None:
        return ""
    try:
        moment = dt.datetime(*parsed[:6], tzinfo=dt.UTC) - dt.timedelta(seconds=parsed[9] or 0)
    except (ValueError, OverflowError):
        return ""
    return moment.isoformat(timespec="milliseconds")
