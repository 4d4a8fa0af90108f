"""The options of a page's activity: the numbers of kept items, and the rules for keeping bodies.

Rule: invalid values are refused before anything is switched on.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal, get_args

import attrs

from cdpengine._checks import check_count, check_flag, checked, invalid, wrong_type
from cdpengine._urls.patterns import UrlPattern, url_test
from cdpengine.errors import InvalidArgumentError

Part = Literal["console", "errors", "requests"]
"""A part of the activity, which is switched on and off as a whole."""

_PARTS: tuple[Part, ...] = get_args(Part)

_BYTES = checked(check_count, least=1, unit="bytes")
_ITEMS = checked(check_count)


def _check_types(types: Iterable[str] | None) -> frozenset[str] | None:
    if types is None:
        return None
    names = None if isinstance(types, str) else tuple(types)
    if names is None or not all(isinstance(name, str) for name in names):
        raise invalid("types", types, 'several of "Document", "XHR", ...')
    return frozenset(name.lower() for name in names)


@attrs.frozen
class KeepBodies:
    """Rules for keeping response bodies from their arrival, independent of their page.

    `url` (a glob, a compiled regular expression, or a function of the URL) and `types` (Chrome's resource types,
    such as "Document", "XHR", "Fetch", "Script") select responses; None selects all. Bodies above `largest` bytes
    are not kept. When all kept bodies exceed `total` bytes, the oldest are dropped. Raises InvalidArgumentError.
    """

    url: UrlPattern | None = None
    types: frozenset[str] | None = attrs.field(default=None, converter=_check_types)
    largest: int = attrs.field(default=2**20, validator=_BYTES)
    total: int = attrs.field(default=32 * 2**20, validator=_BYTES)

    def __attrs_post_init__(self) -> None:
        if self.url is not None:
            url_test(self.url)

    def wants(self, url: str, kind: str) -> bool:
        """Return whether to keep the body of a response with this URL and resource type."""
        if self.types is not None and kind.lower() not in self.types:
            return False
        return self.url is None or url_test(self.url)(url)


def _check_bodies(given: object) -> KeepBodies | None:
    if given is None or given is False:
        return None
    if given is True:
        return KeepBodies()
    if isinstance(given, KeepBodies):
        return given
    raise wrong_type("bodies", given, "True, False or KeepBodies(...)")


@attrs.frozen
class ActivityOptions:
    """Options for one page: the number of kept `console` messages, `errors` and `requests`; 0 keeps none.

    If requests are kept, so are `websockets` (and as many WebTransport sessions), and `messages` of all websockets
    together (and as many of event sources).
    `keep_over_navigation=False` clears everything when the page navigates to another document, except the requests
    of that document. `bodies` selects the kept bodies; True is `KeepBodies()`. Raises InvalidArgumentError.
    """

    console: int = attrs.field(default=500, validator=_ITEMS)
    errors: int = attrs.field(default=200, validator=_ITEMS)
    requests: int = attrs.field(default=500, validator=_ITEMS)
    websockets: int = attrs.field(default=100, validator=_ITEMS)
    messages: int = attrs.field(default=1000, validator=_ITEMS)
    keep_over_navigation: bool = attrs.field(default=True, validator=checked(check_flag))
    bodies: KeepBodies | None = attrs.field(default=None, converter=_check_bodies)

    def __attrs_post_init__(self) -> None:
        if self.bodies is not None and not self.requests:
            raise InvalidArgumentError(
                what="bodies", given="KeepBodies(...) with requests=0", expected="requests=1 or more with it"
            )

    @property
    def parts(self) -> frozenset[Part]:
        """The parts of which something is kept."""
        return frozenset(part for part in _PARTS if getattr(self, part))


def check_options(given: object) -> ActivityOptions | None:
    """Convert the argument `activity=` to options: True for the defaults, None and False for nothing.

    Raises InvalidArgumentError for any other value that is no ActivityOptions.
    """
    if given is None or given is False:
        return None
    if given is True:
        return ActivityOptions()
    if isinstance(given, ActivityOptions):
        return given
    raise wrong_type("activity", given, "True, or an ActivityOptions")
