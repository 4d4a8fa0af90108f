"""Manners of a program at foreign hosts. A crawler uses one object and checks it before each visit.

Rule: manners apply to foreign hosts (`is_foreign`). The program's machine and network are exempt, unless
`foreign_only` is off. Only the URL of the visit is checked; its redirects are up to the server.
"""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from functools import partial
from typing import Any

import attrs
import trio

from cdpengine._checks import check_number, checked, invalid
from cdpengine._urls.reading import read_url
from cdpengine.errors import InvalidArgumentError
from cdpengine.pool.manners.foreign_hosts import is_foreign
from cdpengine.pool.manners.limits import HostLimits
from cdpengine.pool.manners.retry_after import STATUSES, requested_pause
from cdpengine.pool.manners.robots import Robots, product_token
from cdpengine.pool.manners.schedule import HostSchedule
from cdpengine.pool.manners.seen_urls import SeenUrls

_SETTINGS = (
    "robots", "agent", "at_once", "delay", "longest_delay", "longest_pause", "default_pause", "foreign_only",
    "own_names", "proxy",
)  # fmt: skip


@attrs.define(eq=False, kw_only=True)
class Manners:
    """The manners of one trio program: robots.txt, limits for each host, and seen URLs.

    `robots`: whether to obey robots.txt, which needs the extra `crawl`. `agent`: the User-Agent of robots.txt
    requests. It begins with the name used to look up rules, as "mybot" in "mybot/1.0 (+https://me.example)". It
    does not change the user agent of pages. `proxy`: URL of an HTTP proxy for robots.txt; by default the proxy of
    the environment.

    `at_once`: maximum number of concurrent visits of a host. `delay`: minimum seconds between the starts of two
    visits; a longer Crawl-delay of the host applies, up to `longest_delay`. A host that answers 429 or 503 is
    paused for the time that it requests, up to `longest_pause`, or for `default_pause`.

    `seen`: the memory for `admit`; without it, every URL is admitted. `foreign_only` and `own_names`: see
    `is_foreign`.

    A pickled copy has the same settings but no state: no `seen` and no running visits. Each process therefore has
    separate limits.
    """

    robots: bool = True
    agent: str = attrs.field(default="cdpengine")
    at_once: int = 2
    delay: float = 1.0
    longest_delay: float = 60.0
    longest_pause: float = 600.0
    default_pause: float = attrs.field(default=10.0, validator=checked(check_number, least=0, unit="seconds"))
    seen: SeenUrls | None = None
    foreign_only: bool = True
    own_names: Sequence[str] = ()
    proxy: str | None = attrs.field(default=None)
    _limits: HostLimits = attrs.field(init=False, repr=False)
    _robots: Robots = attrs.field(init=False, repr=False)

    @agent.validator
    def _check_agent(self, _attribute: object, value: str) -> None:
        if (
            not isinstance(value, str)
            or not product_token(value)
            or not value.isascii()
            or not value.isprintable()
        ):
            expected = 'a string that begins with a name, such as "mybot/1.0 (+https://me.example)"'
            raise invalid("agent", value, expected)

    @proxy.validator
    def _check_proxy(self, _attribute: object, value: str | None) -> None:
        if value is None:
            return
        try:
            read_url(value)
        except InvalidArgumentError as error:
            # The error does not repeat the URL, which may contain a password.
            raise attrs.evolve(error, what="proxy", expected="an http:// or https:// URL") from None

    def __attrs_post_init__(self) -> None:
        """Raise InvalidArgumentError for invalid limits."""
        schedule = HostSchedule(
            self.at_once, self.delay, longest_delay=self.longest_delay, longest_pause=self.longest_pause
        )
        self._limits = HostLimits(schedule)
        self._robots = Robots(self.agent, self._limits, self.proxy)

    def __reduce__(self) -> tuple[Any, ...]:
        return partial(Manners, **{name: getattr(self, name) for name in _SETTINGS}), ()

    def are_due(self, url: str) -> bool:
        """Return whether manners apply to a URL: at foreign hosts, or everywhere if `foreign_only` is off."""
        if self.foreign_only:
            return is_foreign(url, own_names=self.own_names)
        try:
            read_url(url)
        except InvalidArgumentError:
            return False
        return True

    def admit(self, url: str) -> bool:
        """Return whether a URL should be visited: False if it is in `seen`. The URL is added.

        Call it once for each new item, and not again for retries.
        """
        return self.seen is None or self.seen.add(url)

    @asynccontextmanager
    async def turn(self, url: str) -> AsyncIterator[None]:
        """Wait until a URL may be visited. The block is the visit. Has no timeout: use a cancel scope.

        Raises DisallowedByRobotsError if robots.txt disallows the URL, and the errors of `check`.
        """
        delay = await self.check(url)
        if not self.are_due(url):
            yield
            return
        async with self._limits.turn(url, delay=delay):
            yield

    async def check(self, url: str) -> float:
        """Check robots.txt if it applies. Return the host's requested seconds between visits.

        Raises DisallowedByRobotsError if robots.txt disallows the URL, PackageMissingError without the extra
        `crawl`, and ResourcesExhaustedError.
        """
        await trio.lowlevel.checkpoint()
        if not self.robots or not self.are_due(url):
            return 0.0
        return await self._robots.check(read_url(url))

    def begin(self, url: str) -> float | None:
        """Begin a visit if it is allowed now, and return None. Call `end` once after it.

        Otherwise return the time, on trio's clock, to ask again; `math.inf` if a visit of this host must end
        first. For a scheduler with visits of other hosts. It uses the robots.txt that an earlier `check` has read.
        """
        if not self.are_due(url):
            return None
        delay = self._robots.delay_of(read_url(url)) if self.robots else 0.0
        return self._limits.begin(url, delay=delay)

    def end(self, url: str) -> None:
        """End a visit started by `begin`."""
        if self.are_due(url):
            self._limits.end(url)

    def pause(self, url: str, seconds: float) -> float:
        """Block new visits of the URL's host for some seconds. Return the remaining seconds.

        See `HostLimits.pause`.
        """
        return self._limits.pause(url, seconds) if self.are_due(url) else 0.0

    def note_response(self, url: str, status: int, headers: Mapping[str, str]) -> float:
        """Note a host's response. Return the seconds for which the host is paused now.

        429 and 503 pause the host for all tasks, for the time in Retry-After (seconds or a date), or for
        `default_pause`.
        """
        if status not in STATUSES:
            return 0.0
        requested = requested_pause(status, headers, time.time())
        return self.pause(url, self.default_pause if requested is None else requested)
