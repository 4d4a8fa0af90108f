"""ActivityOptions: what is kept of a page's activity, and how much. KeepBodies: which bodies.

Rule: an impossible value is refused when the options are made, before anything is switched on.
"""

from __future__ import annotations

from collections.abc import Iterable

import attrs

from cdpengine._page.urls import UrlPattern, url_test
from cdpengine.errors import InvalidArgumentError


def _check_count(what: str, given: object, least: int = 0) -> None:
    if isinstance(given, bool) or not isinstance(given, int) or given < least:
        raise InvalidArgumentError(
            what=what, given=repr(given)[:80], expected=f"a whole number, {least} or more"
        )


@attrs.frozen
class KeepBodies:
    """Which bodies of responses are kept from the moment they arrive, whatever becomes of their page.

    `url` (a glob, a compiled regular expression, a function of the URL) and `types` (Chrome's resource types,
    such as "Document", "XHR", "Fetch", "Script") choose; None takes all. A body above `largest` bytes is not
    kept; where all kept ones together are above `total`, the oldest go. Raises InvalidArgumentError.
    """

    url: UrlPattern | None = None
    types: Iterable[str] | None = None
    largest: int = 2**20
    total: int = 32 * 2**20

    def __attrs_post_init__(self) -> None:
        _check_count("largest", self.largest, 1)
        _check_count("total", self.total, 1)
        if self.url is not None:
            url_test(self.url)
        if self.types is not None:
            names = None if isinstance(self.types, str) else tuple(self.types)
            if names is None or not all(isinstance(name, str) for name in names):
                raise InvalidArgumentError(
                    what="types", given=repr(self.types)[:80], expected='several of "Document", "XHR", ...'
                )
            object.__setattr__(self, "types", frozenset(name.lower() for name in names))

    def wants(self, url: str, kind: str) -> bool:
        """Whether the body of such a response is to be kept."""
        if self.types is not None and kind.lower() not in self.types:
            return False
        return self.url is None or url_test(self.url)(url)


def _bodies(given: object) -> KeepBodies | None:
    if given is None or given is False:
        return None
    if given is True:
        return KeepBodies()
    if isinstance(given, KeepBodies):
        return given
    raise InvalidArgumentError(
        what="bodies", given=f"a {type(given).__name__}", expected="True, False or KeepBodies(...)"
    )


@attrs.frozen
class ActivityOptions:
    """What is kept of one page: the latest `console` messages, `errors` and `requests`; 0: none of that kind.

    `keep_over_navigation` False clears all of it when the page goes to another document, but for the requests
    of that document. `bodies` says which bodies are kept; True is `KeepBodies()`. Raises InvalidArgumentError.
    """

    console: int = 500
    errors: int = 200
    requests: int = 500
    keep_over_navigation: bool = True
    bodies: KeepBodies | None = attrs.field(default=None, converter=_bodies)

    def __attrs_post_init__(self) -> None:
        for what in ("console", "errors", "requests"):
            _check_count(what, getattr(self, what))
        kept: object = self.keep_over_navigation
        if not isinstance(kept, bool):
            given = repr(kept)[:80]
            raise InvalidArgumentError(what="keep_over_navigation", given=given, expected="True or False")
        if self.bodies is not None and not self.requests:
            raise InvalidArgumentError(
                what="bodies", given="KeepBodies(...) with requests=0", expected="requests=1 or more with it"
            )

    @property
    def parts(self) -> frozenset[str]:
        """What of "console", "errors" and "requests" is kept."""
        return frozenset(part for part in ("console", "errors", "requests") if getattr(self, part))


def check_options(given: object) -> ActivityOptions | None:
    """Return the options that `activity=` means: True is all the defaults, None and False nothing.

    Raises InvalidArgumentError for anything else than those and an ActivityOptions.
    """
    if given is None or given is False:
        return None
    if given is True:
        return ActivityOptions()
    if isinstance(given, ActivityOptions):
        return given
    expected = "True, or an ActivityOptions"
    raise InvalidArgumentError(what="activity", given=f"a {type(given).__name__}", expected=expected)
