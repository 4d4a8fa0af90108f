"""The rules of each origin's robots.txt, fetched at most once a day.

Rule: one task at a time fetches an origin's file, and the others wait for the result. If the fetching task is
cancelled, the next one fetches. Rules are valid for 24 hours (RFC 9309, section 2.4). An unreachable origin
disallows everything until the next attempt, after one minute, then twice as long each time, up to an hour.
Previously read rules stay valid meanwhile.
"""

from __future__ import annotations

import math
import re
from collections import OrderedDict
from typing import TYPE_CHECKING

import attrs
import trio

from cdpengine._urls.reading import Url
from cdpengine.errors import DisallowedByRobotsError, packages_named
from cdpengine.errors.texts import duration
from cdpengine.pool.manners.limits import HostLimits
from cdpengine.pool.manners.robots_fetch import RobotsAnswer, fetch_robots

if TYPE_CHECKING:
    from protego import Protego

LONGEST_CACHED = 24 * 3600.0
"""Validity of a robots.txt, in seconds."""

_FIRST_RETRY, _LONGEST_RETRY = 60.0, 3600.0
_MOST_ORIGINS = 1_000


@attrs.define(eq=False)
class _Origin:
    lock: trio.Lock = attrs.field(factory=trio.Lock)
    rules: Protego | None = None
    obstacle: str = ""
    fresh_until: float = -math.inf
    failures: int = 0


@attrs.define(eq=False)
class Robots:
    """The rules of many origins for one agent. `limits` are paused when a server requests it.

    `agent` is the User-Agent header of the requests. The name at its beginning selects the rules. A fetch times
    out after `longest_fetch` seconds.
    """

    agent: str
    limits: HostLimits
    proxy: str | None = None
    longest_fetch: float = 20.0
    _token: str = attrs.field(init=False, repr=False)
    _origins: OrderedDict[str, _Origin] = attrs.field(factory=OrderedDict, init=False, repr=False)

    def __attrs_post_init__(self) -> None:
        """Extract the name from the agent."""
        self._token = product_token(self.agent)

    async def check(self, url: Url) -> float:
        """Return the origin's seconds between two visits (Crawl-delay), or 0.

        Raises DisallowedByRobotsError if robots.txt disallows the URL, and PackageMissingError without the extra
        `crawl`.
        """
        await trio.lowlevel.checkpoint()
        origin = self._origin(url.origin)
        while trio.current_time() >= origin.fresh_until:
            async with origin.lock:
                if trio.current_time() >= origin.fresh_until:
                    await self._ask(url.origin, origin)
        if origin.rules is None:
            left = max(0.0, origin.fresh_until - trio.current_time())
            reason = (
                f"{url.origin}/robots.txt could not be read, which disallows everything: {origin.obstacle}"
            )
            raise DisallowedByRobotsError(url.text, self._token, reason, left)
        if not origin.rules.can_fetch(url.text, self._token):
            raise DisallowedByRobotsError(url.text, self._token, f"{url.origin}/robots.txt disallows it")
        return origin.rules.crawl_delay(self._token) or 0.0

    def delay_of(self, url: Url) -> float:
        """Return the known seconds between two visits of an origin, or 0."""
        origin = self._origins.get(url.origin)
        return 0.0 if origin is None or origin.rules is None else origin.rules.crawl_delay(self._token) or 0.0

    def _origin(self, name: str) -> _Origin:
        origin = self._origins.get(name)
        if origin is None:
            idle = (old for old, each in self._origins.items() if not each.lock.locked())
            if len(self._origins) >= _MOST_ORIGINS and (oldest := next(idle, None)) is not None:
                del self._origins[oldest]
            origin = self._origins[name] = _Origin()
        self._origins.move_to_end(name)
        return origin

    async def _ask(self, name: str, origin: _Origin) -> None:
        with packages_named():
            from protego import Protego  # before the fetch, which is useless without it

        answer = RobotsAnswer(None, f"no whole answer within {duration(self.longest_fetch)}")
        with trio.move_on_after(self.longest_fetch):
            answer = await fetch_robots(name, agent=self.agent, proxy=self.proxy)
        if answer.text is not None:
            # In a thread: parsing half a megabyte of rules takes about 0.3 s.
            origin.rules = await trio.to_thread.run_sync(Protego.parse, answer.text, abandon_on_cancel=True)
            origin.failures = 0
            origin.fresh_until = trio.current_time() + LONGEST_CACHED
            return
        origin.obstacle = answer.obstacle
        wait = min(_FIRST_RETRY * 2.0 ** min(origin.failures, 10), _LONGEST_RETRY)
        if answer.retry_after is not None:
            self.limits.pause(name, answer.retry_after)
            wait = min(max(answer.retry_after, 1.0), _LONGEST_RETRY)
        origin.failures += 1
        origin.fresh_until = trio.current_time() + wait


def product_token(agent: str) -> str:
    """Return the name that selects an agent's rules, such as "mybot" of "mybot/1.0 (+https://me.example)".

    Returns "" if the string does not begin with a name.
    """
    found = re.match(r"[A-Za-z_][A-Za-z0-9_.-]*", agent)
    return found[0] if found else ""
