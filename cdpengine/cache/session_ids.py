"""Session ids and tokens in URLs: known parameters, `;jsessionid=`, and random segments of paths. Pure.

Rule: a session id identifies the visitor, not the page. Keys and stored data therefore contain no session
ids. The engine removes known session ids, because the page is the same without them. A random segment can
identify the page, so the engine replaces it by `*`.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from itertools import pairwise
from urllib.parse import unquote

from cdpengine._secrets import is_session_parameter

_SHORTEST = 20
"""Minimum length of a random segment, in characters."""

_SHORTEST_PIECE = 14
"""Minimum length of a random piece of a segment, between separators, in characters."""

_SEPARATORS = re.compile(r"[-._~:,=+/]")
_UUID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.IGNORECASE)
_TOKEN = re.compile(r"[A-Za-z0-9._~:,=+/-]+", re.ASCII)
_ASP_NET = re.compile(r"\((?:[A-Z]\([^()/]{8,}\))+\)", re.IGNORECASE)
"""An ASP.NET path segment for sessions without cookies: "(S(lit3py55t21z5v55vlm25s55))"."""


def is_random(segment: str) -> bool:
    """Return whether a segment of a path looks random: a UUID, or a long mix of letters and digits."""
    text = unquote(segment)
    if _UUID.fullmatch(text):
        return True
    if len(text) < _SHORTEST or _TOKEN.fullmatch(text) is None:
        return False
    pieces = _SEPARATORS.split(text)
    if any(len(piece) >= _SHORTEST_PIECE and _is_mixed(piece) for piece in pieces):
        return True
    # URL-safe base64 has hyphens and underscores anywhere. Words contain no capitals or digits inside.
    whole = "".join(pieces)
    cases = re.search("[a-z]", whole) and re.search("[A-Z]", whole) and re.search("[0-9]", whole)
    return bool(cases) and _turns(whole) * 2.5 >= len(whole)


def _is_mixed(piece: str) -> bool:
    """Return whether digits, capitals and lowercase letters alternate more often than in words."""
    has_digits = any(each.isdigit() for each in piece)
    # A name such as "getUserAccountDetails" changes case every few letters, but has no digits.
    return _turns(piece) * (4 if has_digits else 2.5) >= len(piece)


def _turns(piece: str) -> int:
    """Return the number of changes between digits, capitals and lowercase letters."""
    kinds = ["0" if each.isdigit() else "A" if each.isupper() else "a" for each in piece]
    return sum(first != second for first, second in pairwise(kinds))


def drop_session_segments(path: str) -> str:
    """Return a path without known session ids: parameters such as `;jsessionid=`, and ASP.NET segments."""
    segments = [_drop_parameters(each) for each in path.split("/") if not _ASP_NET.fullmatch(unquote(each))]
    return "/".join(segments)


def _drop_parameters(segment: str) -> str:
    first, *others = segment.split(";")
    kept = [each for each in others if not is_session_parameter(each.partition("=")[0])]
    return ";".join([first, *kept])


def replace_random(path: str, replace: Callable[[str], str] = lambda _segment: "*") -> str:
    """Replace each random segment of a path."""
    return "/".join(replace(each) if is_random(each) else each for each in path.split("/"))


def clean_url(url: str, replace: Callable[[str], str] = lambda _segment: "*") -> str:
    """Remove known session ids from a URL, and replace each random segment."""
    scheme, mark, rest = url.partition("://")
    if not mark:
        return url
    end = re.search(r"[?#]", rest)
    head, tail = (rest, "") if end is None else (rest[: end.start()], rest[end.start() :])
    host, slash, path = head.partition("/")
    query, hash_mark, fragment = tail.partition("#")
    if fragment[:1] in ("/", "!"):
        route, question, more = fragment.partition("?")
        route = replace_random(drop_session_segments(route), replace)
        fragment = route + question * bool(kept := _clean_query(more)) + kept
    path = replace_random(drop_session_segments(path), replace)
    query = _clean_query(query[1:])
    return f"{scheme}{mark}{host}{slash}{path}{'?' if query else ''}{query}{hash_mark}{fragment}"


def _clean_query(query: str) -> str:
    return "&".join(each for each in query.split("&") if not is_session_parameter(each.partition("=")[0]))
