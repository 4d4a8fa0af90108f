"""Normalized addresses of pages, and patterns that match many addresses. Pure.

Rule: URLs of one page have the same normalized form. It is the canonical form (`cdpengine._urls.reading`), and:

- The user and the password are removed. Percent-encoding remains only where it is necessary.
- Parameters are sorted by name. Tracking parameters (`TRACKING_PARAMETERS`) are removed.
- A session id identifies the visitor, not the page. Known ones are removed: parameters, `;jsessionid=`, and
  segments of ASP.NET.
- The value of a secret parameter (`token=...`) becomes `*`, because the form is stored and shown. So does a random
  path segment, which can identify the page.
- The fragment is removed unless it is a client-side route (`#/cart`, `#!cart`).

Normalization is idempotent.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable
from functools import lru_cache
from itertools import pairwise
from urllib.parse import unquote

import attrs

from cdpengine._secrets import is_secret_parameter, is_session_parameter
from cdpengine._urls.parameters import TRACKING_PARAMETERS, is_listed, named_items
from cdpengine._urls.reading import Url, encode, read_url, resolve_dots
from cdpengine.errors import InvalidArgumentError

LONGEST_URL = 8_192
"""Maximum length of a URL and of a pattern, in characters."""

__all__ = ["TRACKING_PARAMETERS", "UrlPattern", "choose_pattern", "generalize_url", "normalize_url"]

SCHEMES = ("http", "https", "file")

_NOT_IN_PATH = re.compile(r"[^%A-Za-z0-9._~\-!$&'()*+,;=:@/]")
_NOT_IN_QUERY = re.compile(r"[^%A-Za-z0-9._~\-!$'()*+,;:@/?=&]")
_ROUTE = re.compile(r"[!/]")


def normalize_url(url: str, *, tracking: Collection[str] = TRACKING_PARAMETERS) -> str:
    """Return the normalized form of a page's URL, without the parameters in `tracking`.

    Raises InvalidArgumentError for anything but an absolute http, https or file URL.
    """
    parts = _read(url, "url")
    if "*" in parts.host:
        raise InvalidArgumentError(what="url", given="a host with *", expected="a URL of one host")
    query = _query(parts.query, tracking)
    return f"{parts.origin}{_path(parts.path)}{f'?{query}' if query else ''}{_fragment(parts.fragment)}"


def has_address(url: str) -> bool:
    """Return whether a page with this URL can have entries. Blank tabs and generated documents cannot."""
    return url.partition(":")[0].lower() in SCHEMES


def generalize_url(url: str) -> str:
    """Return the pattern of all similar pages: `*` replaces each id in the path.

    Ids are numbers, UUIDs, and words of at least 16 characters that mix letters and digits. For a URL without
    ids, the pattern is the normalized URL.
    """
    form = normalize_url(url)
    head, mark, rest = _cut_path(form)
    path = head.split("/")
    path[3:] = ["*" if _ID.fullmatch(segment) else segment for segment in path[3:]]
    return "/".join(path) + mark + rest


_ID = re.compile(
    r"[0-9]+|[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}|(?=[A-Za-z_-]*[0-9])(?=[0-9_-]*[A-Za-z])[\w-]{16,}",
    re.ASCII,
)


@attrs.frozen
class UrlPattern:
    """A pattern of URLs, such as `https://*.example.com/orders/*?page=*`.

    `*` matches any characters except `/`, and in a host any characters except the dot. `**` matches any
    characters in a path. A pattern without a query matches any query. A pattern with a query matches URLs
    that have at least its parameters. The same rules apply to a fragment. A normalized URL is also a pattern:
    it matches itself, also with additional parameters.
    """

    text: str

    def __attrs_post_init__(self) -> None:
        """Raise InvalidArgumentError for an invalid pattern."""
        _compile(self.text)

    @property
    def is_exact(self) -> bool:
        """Whether the pattern has no `*`."""
        return "*" not in self.text

    @property
    def weight(self) -> int:
        """The specificity: the pattern with the higher weight fits a page better."""
        return len(self.text.replace("*", ""))

    def matches(self, url: str) -> bool:
        """Return whether the pattern matches a URL in any form. An invalid URL never matches."""
        try:
            form = normalize_url(url)
        except InvalidArgumentError:
            return False
        if form == self.text:
            return True
        head, parameters, fragment = _compile(self.text)
        path, mark, rest = _cut_path(form)
        query, _, route = (rest if mark == "?" else f"#{rest}" if mark else "").partition("#")
        if head.fullmatch(path) is None or (fragment is not None and fragment.fullmatch(route) is None):
            return False
        items = [item for item in query.split("&") if item]
        return all(any(pattern.fullmatch(item) for item in items) for pattern in parameters)


def choose_pattern(patterns: Iterable[UrlPattern], url: str) -> UrlPattern | None:
    """Return the most specific pattern that matches a URL, or None."""
    return max(
        (each for each in patterns if each.matches(url)),
        key=lambda each: (each.is_exact, each.weight, each.text),
        default=None,
    )


@lru_cache(maxsize=1_000)
def _compile(text: str) -> tuple[re.Pattern[str], tuple[re.Pattern[str], ...], re.Pattern[str] | None]:
    """Return a pattern's regular expressions for scheme to path, for each parameter, and for the fragment."""
    parts = _read(text, "pattern")
    host = _glob(parts.origin.partition("://")[2], r"[^./:]*", r"[^/]*")
    path = _glob(_path(parts.path), "[^/]*", ".*")
    items = [item for item in _query(parts.query, ()).split("&") if item]
    fragment = _fragment(parts.fragment)
    return (
        re.compile(f"{parts.scheme}://{host}{path}", re.DOTALL),
        tuple(re.compile(_glob(item, ".*", ".*"), re.DOTALL) for item in items),
        re.compile(_glob(fragment[1:], ".*", ".*"), re.DOTALL) if fragment else None,
    )


def _glob(text: str, one: str, many: str) -> str:
    pieces = re.split(r"(\*+)", text)
    return "".join(
        (one if len(piece) == 1 else many) if piece.startswith("*") else re.escape(piece) for piece in pieces
    )


def _cut_path(form: str) -> tuple[str, str, str]:
    """Split a URL at its query or fragment: the part before, the separator, and the part after."""
    found = re.search(r"[?#]", form)
    return (form, "", "") if found is None else (form[: found.start()], found[0], form[found.end() :])


def _read(url: str, what: str) -> Url:
    return read_url(url, what, schemes=SCHEMES, longest=LONGEST_URL)


def _path(path: str) -> str:
    # Without its session id, a segment may be ".".
    return resolve_dots(_generalize(path))


def _generalize(path: str) -> str:
    return replace_random(drop_session_segments(encode(path, _NOT_IN_PATH)))


def _query(query: str | None, tracking: Collection[str]) -> str:
    items = []
    for name, item in named_items(encode(query or "", _NOT_IN_QUERY)):
        if not item or is_listed(name, tracking) or is_session_parameter(name):
            continue
        written, equals, value = item.partition("=")
        items.append((name, f"{written}{equals}{'*' if value and is_secret_parameter(name) else value}"))
    # The sort is stable: parameters of the same name keep their order.
    return "&".join(text for _, text in sorted(items, key=lambda each: each[0]))


def _fragment(fragment: str) -> str:
    if _ROUTE.match(fragment) is None:
        return ""
    path, mark, query = fragment.partition("?")
    query = _query(query, TRACKING_PARAMETERS)
    return f"#{_generalize(path)}{mark if query else ''}{query}"


# --- session ids and random segments -------------------------------------------------------------------------

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
