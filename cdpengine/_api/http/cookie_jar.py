"""Cookies of HTTP requests: those that a context sends to a URL, and those that a response sets.

Rule: the context's cookies are the only ones. A cookie that browsers refuse is ignored, as browsers do.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from contextlib import suppress
from email.utils import parsedate_to_datetime
from typing import Any

from cdpengine._logs import get_logger
from cdpengine._protocol.session import Session
from cdpengine._storage.cookies import (
    Cookie,
    check_cookie,
    goes_to,
    is_expired,
    read_cookies,
    to_chrome,
)
from cdpengine._urls.hosts import host_matches, is_below, parse_address
from cdpengine._urls.reading import Url, parse_url
from cdpengine.errors import InvalidArgumentError, RemoteError, shown_url

logger = get_logger("cdpengine.http")

_SAME_SITE = {"strict": "Strict", "lax": "Lax", "none": "None"}
_PAST = 1.0
"""An expiry date that deletes a cookie, in seconds since 1970."""


async def cookies_for(root: Session, context_id: str | None, url: str) -> list[Cookie]:
    """Return the context's cookies for a URL, in the order of the Cookie header. Partitioned ones are left out."""
    found = [
        cookie
        for cookie in await read_cookies(root, context_id)
        if cookie.partition is None and goes_to(cookie, url) and not is_expired(cookie)
    ]
    return sorted(found, key=lambda cookie: -len(cookie.path))


def cookie_header(cookies: Sequence[Cookie]) -> str:
    """Return the value of the Cookie header."""
    return "; ".join(f"{each.name}={each.value}" if each.name else each.value for each in cookies)


async def keep_cookies(root: Session, context_id: str | None, url: str, lines: Iterable[str]) -> None:
    """Set the cookies of a response's Set-Cookie headers in the context. Ignores those that browsers refuse."""
    parts = parse_url(url)
    secure = parts.scheme == "https" or is_below(parts.host, "localhost") or parts.host.startswith("127.")
    present: list[Cookie] | None = None
    where: dict[str, Any] = {} if context_id is None else {"browserContextId": context_id}
    for line in lines:
        cookie = parse_set_cookie(line, parts)
        if cookie is None or (cookie.secure and not secure):
            logger.debug("a cookie of %s is ignored", shown_url(url))
            continue
        if not secure and not cookie.secure:
            # An insecure response cannot replace a secure cookie.
            present = await read_cookies(root, context_id) if present is None else present
            if any(_is_shadowed(cookie, each) for each in present):
                continue
        with suppress(RemoteError):  # Chrome refuses the cookie
            await root.call("Storage.setCookies", cookies=[to_chrome(cookie)], **where)


def _is_shadowed(cookie: Cookie, present: Cookie) -> bool:
    ours, theirs = cookie.domain.lstrip("."), present.domain.lstrip(".")
    related = is_below(ours, theirs) or is_below(theirs, ours)
    return present.secure and present.name == cookie.name and related


def parse_set_cookie(line: str, url: Url) -> Cookie | None:
    """Return the cookie of a Set-Cookie header (RFC 6265bis), or None for one that browsers refuse. Pure."""
    pair, *attributes = line.split(";")
    name, equals, value = pair.partition("=")
    if not equals:
        name, value = "", pair
    options: dict[str, str] = {}
    for attribute in attributes:
        key, _, given = attribute.partition("=")
        options[key.strip().lower()] = given.strip()
    domain = options.get("domain", "").lstrip(".").lower()
    if domain and not (domain == url.host or (_is_name(url.host) and host_matches(url.host, f".{domain}"))):
        return None
    path = options.get("path", "")
    cookie: dict[str, Any] = {
        "name": name.strip(),
        "value": value.strip(),
        "domain": f".{domain}" if domain else url.host,
        "path": path if path.startswith("/") else _default_path(url.path),
        "expires": _expiry(options),
        "http_only": "httponly" in options,
        "secure": "secure" in options,
        "same_site": _SAME_SITE.get(options.get("samesite", "").lower()),
    }
    try:
        return check_cookie(cookie)
    except InvalidArgumentError:
        return None


def _is_name(host: str) -> bool:
    return not host.startswith("[") and parse_address(host) is None


def _default_path(path: str) -> str:
    return path.rpartition("/")[0] or "/"


def _expiry(options: dict[str, str]) -> float | None:
    age = options.get("max-age", "")
    if age.lstrip("-").isdigit():
        seconds = int(age[:12])
        return time.time() + seconds if seconds > 0 else _PAST
    if expires := options.get("expires"):
        try:
            return max(_PAST, parsedate_to_datetime(expires.replace("-", " ")).timestamp())
        except (ValueError, OverflowError, IndexError):
            return None
    return None
