"""Canonical URLs, so that a crawl visits each page once, and a bounded memory of seen URLs.

Rule: two URLs are equal if the standards say so (`cdpengine._urls.reading`). Further simplifications are options.
`cdpengine.cache.normalize_url` is different: it recognises pages and drops secrets, so it merges more URLs.

A new URL is never mistaken for a seen one (16 bytes of BLAKE2 identify each). A URL is forgotten only after at
least half of `most` others were added, and then counts as new. So no URL is skipped by mistake, and repetitions
are far apart.
"""

from __future__ import annotations

from collections.abc import Collection
from hashlib import blake2b

import attrs

from cdpengine._checks import check_count, checked
from cdpengine._urls.parameters import TRACKING_PARAMETERS, is_listed, named_items
from cdpengine._urls.reading import read_url
from cdpengine.errors import InvalidArgumentError

__all__ = ["TRACKING_PARAMETERS", "SeenUrls", "canonicalize_url"]

_DIGEST_BYTES = 16


def canonicalize_url(url: str, *, sort_query: bool = False, drop_parameters: Collection[str] = ()) -> str:
    """Return the canonical form of an http or https URL.

    Scheme and host are lower-case. The host is ASCII (IDNA like browsers, UTS #46), addresses are in their
    shortest form. The default port, dot segments and the fragment are removed, and the path is at least "/".
    Percent-encodings are upper-case, those of letters, digits and "-._~" are decoded, and a lone "%" becomes
    "%25".

    `sort_query` sorts the parameters by name; equal names keep their order. `drop_parameters` are names of
    parameters to remove; "utm_*" matches a prefix. `TRACKING_PARAMETERS` is such a list.

    Raises InvalidArgumentError for a URL that no browser can open over http or https. The message does not contain
    the URL.
    """
    parts = read_url(url)
    if parts.query is not None and (sort_query or drop_parameters):
        parts = attrs.evolve(parts, query=_arrange(parts.query, sort_query, drop_parameters))
    return parts.text


def _arrange(query: str, sort_query: bool, drop: Collection[str]) -> str | None:
    named = named_items(query)
    remaining = [(name, item) for name, item in named if not is_listed(name, drop)]
    if len(remaining) < len(named) and not remaining:
        return None
    if sort_query:
        remaining.sort(key=lambda each: each[0])  # stable
    return "&".join(item for _, item in remaining)


@attrs.define(eq=False)
class SeenUrls:
    """The added URLs in canonical form (`canonicalize_url` with the same options).

    `most` is the maximum number of URLs in memory. When it is reached, the older half is forgotten. Each URL takes
    about 110 bytes, so the default takes up to 110 MB.
    """

    most: int = attrs.field(default=1_000_000, validator=checked(check_count, least=2, unit="URLs"))
    sort_query: bool = attrs.field(default=False, kw_only=True)
    drop_parameters: Collection[str] = attrs.field(default=(), kw_only=True)
    _young: set[bytes] = attrs.field(factory=set, init=False, repr=False)
    _old: set[bytes] = attrs.field(factory=set, init=False, repr=False)

    def add(self, url: str) -> bool:
        """Add a URL and return whether it is new. A string that is not a web URL is used unchanged."""
        digest = self._digest(url)
        if digest in self._young:
            return False
        is_new = digest not in self._old
        # A repeated URL counts as recent again, so it is forgotten later.
        self._young.add(digest)
        if len(self._young) >= self.most // 2:
            self._old, self._young = self._young, set()
        return is_new

    def __contains__(self, url: str) -> bool:
        digest = self._digest(url)
        return digest in self._young or digest in self._old

    def __len__(self) -> int:
        return len(self._young | self._old)

    def _digest(self, url: str) -> bytes:
        try:
            form = canonicalize_url(url, sort_query=self.sort_query, drop_parameters=self.drop_parameters)
        except InvalidArgumentError:
            form = url
        return blake2b(form.encode("utf-8", "surrogatepass"), digest_size=_DIGEST_BYTES).digest()
