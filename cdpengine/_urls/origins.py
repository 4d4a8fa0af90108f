"""Origins, such as "https://example.com": the owners of storages, permissions, cookies and credentials. Pure."""

from __future__ import annotations

from cdpengine._checks import check_string, invalid
from cdpengine._urls.hosts import UnreadableUrl
from cdpengine._urls.reading import WEB, parse_url
from cdpengine.errors import shown_url


def origin_of(url: str) -> str | None:
    """Return the origin of an http(s) URL as Chrome writes it, or None for others."""
    try:
        parts = parse_url(url)
    except UnreadableUrl:
        return None
    return parts.origin if parts.scheme in WEB else None


def check_origin(given: object, what: str = "origin", *, whole: bool = False) -> str:
    """Return the origin of a URL or origin as Chrome writes it: "https://example.com", "http://localhost:8000".

    The path is omitted. With `whole`, a value with a user, path or query is refused. Raises InvalidArgumentError
    for a value that is no http(s) URL.
    """
    expected = "http(s)://host or http(s)://host:port"
    url = check_string(what, given, expected)
    origin = origin_of(url)
    if origin is not None:
        parts = parse_url(url)
        if not whole or (parts.path == "/" and not parts.query and not parts.user):
            return origin
    raise invalid(what, shown_url(url), expected)
