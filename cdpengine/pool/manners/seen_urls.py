"""A bounded memory of seen URLs.

Rule: a new URL is never mistaken for a seen one (16 bytes of BLAKE2 identify each). A URL is forgotten only after
at least half of `most` others were added, and then counts as new. So no URL is skipped by mistake, and repetitions
are far apart.
"""

from __future__ import annotations

from collections.abc import Collection
from hashlib import blake2b

import attrs

from cdpengine._checks import check_count, checked
from cdpengine.errors import InvalidArgumentError
from cdpengine.pool.manners.urls import canonicalize_url

_DIGEST_BYTES = 16


@attrs.define(eq=False)
class SeenUrls:
    """The added URLs in canonical form (`canonicalize_url` with the same options).

    `most` is the maximum number of remembered URLs; at least half of it are remembered. Each takes about 110
    bytes, so the default takes up to 110 MB.
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
