"""Manners: how a program behaves at hosts of other people. What crawls takes one, and asks it before each visit.

Rule: manners are due at foreign hosts (`is_foreign`): a program's own machine and network are visited without any,
unless `foreign_only` is off. What is asked is the URL of the visit; where its redirects lead is the server's
matter.
"""

from __future__ import annotations

import math
import time
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from functools import partial
from typing import Any

import attrs
import trio

from cdpengine.errors import InvalidArgumentError
from cdpengine.pool.manners.foreign import is_foreign
from cdpengine.pool.manners.limits import HostLimits
from cdpengine.pool.manners.retry_after import STATUSES, seconds_asked_for
from cdpengine.pool.manners.robots import Robots, product_token
from cdpengine.pool.manners.schedule import HostSchedule
from cdpengine.pool.manners.seen import SeenUrls
from cdpengine.pool.manners.urls import read_web_url

_SETTINGS = (
    "robots", "agent", "at_once", "delay", "longest_delay", "longest_pause", "default_pause", "foreign_only",
    "own_names", "proxy",
)  # fmt: skip


@attrs.define(eq=False, kw_only=True)
class Manners:
    """Robots.txt, limits a host and URLs seen before, for one trio program.

    `robots`: whether robots.txt is obeyed, which needs the extra `crawl`. `agent`: what robots.txt is asked for
    as; it begins with the name that rules are looked up by, as "mybot" in "mybot/1.0 (+https://me.example)". Pages
    have a user agent of their own. `proxy`: the URL of an HTTP proxy to ask for robots.txt through; without, that
    of the environment.

    `at_once`: visits of one host that may be under way. `delay`: seconds between the beginnings of two, at least;
    a longer Crawl-delay of the host's counts, up to `longest_delay`. A host that answers 429 or 503 is left alone
    for as long as it says, up to `longest_pause`; for `default_pause` where it does not say.

    `seen`: the memory for `admit`; without one, every URL is admitted. `foreign_only` and `own_names`: see
    `is_foreign`.

    A copy by pickle has the same settings and no memory: no `seen`, and nothing of what is under way. So each
    process keeps the limits for itself.
    """

    robots: bool = True
    agent: str = attrs.field(default="cdpengine")
    at_once: int = 2
    delay: float = 1.0
    longest_delay: float = 60.0
    longest_pause: float = 600.0
    default_pause: float = attrs.field(default=10.0)
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
            expected = 'a text that begins with a name, such as "mybot/1.0 (+https://me.example)"'
            raise InvalidArgumentError(what="agent", given=repr(value)[:80], expected=expected)

    @proxy.validator
    def _check_proxy(self, _attribute: object, value: str | None) -> None:
        if value is None:
            return
        try:
            read_web_url(value)
        except InvalidArgumentError as error:
            # The text itself is not repeated: it may hold a password.
            raise attrs.evolve(error, what="proxy", expected="an http:// or https:// URL") from None

    @default_pause.validator
    def _check_default_pause(self, _attribute: object, value: float) -> None:
        if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < math.inf:
            raise InvalidArgumentError(
                what="default_pause",
                given=repr(value)[:80],
                expected="seconds, 0 or more, and not without end",
            )

    def __attrs_post_init__(self) -> None:
        """Raise InvalidArgumentError for limits that cannot be kept."""
        schedule = HostSchedule(
            self.at_once, self.delay, longest_delay=self.longest_delay, longest_pause=self.longest_pause
        )
        self._limits = HostLimits(schedule)
        self._robots = Robots(self.agent, self._limits, self.proxy)

    def __reduce__(self) -> tuple[Any, ...]:
        return partial(Manners, **{name: getattr(self, name) for name in _SETTINGS}), ()

    def are_due(self, url: str) -> bool:
        """Say whether manners are due at a URL: at foreign hosts; at all where `foreign_only` is off."""
        if self.foreign_only:
            return is_foreign(url, own_names=self.own_names)
        try:
            read_web_url(url)
        except InvalidArgumentError:
            return False
        return True

    def admit(self, url: str) -> bool:
        """Say whether a URL is to be visited at all: False where `seen` has it. It is remembered.

        For what takes items in, once for each; a visit that is tried again is not admitted again.
        """
        return self.seen is None or self.seen.add(url)

    @asynccontextmanager
    async def turn(self, url: str) -> AsyncIterator[None]:
        """Wait until a URL may be visited; the block is the visit. Has no timeout: put it in a cancel scope.

        Raises DisallowedByRobotsError where it is not to be visited, and what `check` raises.
        """
        delay = await self.check(url)
        if not self.are_due(url):
            yield
            return
        async with self._limits.turn(url, delay=delay):
            yield

    async def check(self, url: str) -> float:
        """Ask robots.txt, where it is due and not known; return the seconds that the host wants between visits.

        Raises DisallowedByRobotsError where the URL is not to be visited, PackageMissingError without the extra
        `crawl`, ResourcesExhaustedError.
        """
        await trio.lowlevel.checkpoint()
        if not self.robots or not self.are_due(url):
            return 0.0
        return await self._robots.check(read_web_url(url))

    def begin(self, url: str) -> float | None:
        """Begin a visit without waiting, if one may begin now: then return None, and call `end` once for it.

        Otherwise return the moment, in trio's clock, to ask again: `math.inf` where a visit of this host has to
        end before. For a scheduler that has visits of other hosts to begin meanwhile. Of robots.txt it takes what
        `check`, which comes first, has learned.
        """
        if not self.are_due(url):
            return None
        delay = self._robots.delay_of(read_web_url(url)) if self.robots else 0.0
        return self._limits.begin(url, delay=delay)

    def end(self, url: str) -> None:
        """End a visit that `begin` began."""
        if self.are_due(url):
            self._limits.end(url)

    def pause(self, url: str, seconds: float) -> float:
        """Let no visit of the URL's host begin for so many seconds; return the seconds left.

        See `HostLimits.pause`.
        """
        return self._limits.pause(url, seconds) if self.are_due(url) else 0.0

    def note_response(self, url: str, status: int, headers: Mapping[str, str]) -> float:
        """Note what a host answered; return the seconds for which it is left alone now.

        429 and 503 pause the host, for all: for what Retry-After says (seconds or a date), for `default_pause`
        without.
        """
        if status not in STATUSES:
            return 0.0
        asked = seconds_asked_for(status, headers, time.time())
        return self.pause(url, self.default_pause if asked is None else asked)
