"""Robots: what the robots.txt of each origin allows, asked for once a day at most.

Rule: one task at a time asks an origin, the others wait for what it gets. A task that is cancelled while it asks
leaves nothing behind: the next one asks itself. What was read holds for 24 hours (RFC 9309, section 2.4). An
origin that cannot be asked disallows everything until it is asked again, after a minute, then after twice as long
each time, up to an hour; rules that were read before hold on meanwhile.
"""

from __future__ import annotations

import math
import re
from collections import OrderedDict
from typing import TYPE_CHECKING

import attrs
import trio

from cdpengine.errors import DisallowedByRobotsError, packages_named
from cdpengine.pool.manners.limits import HostLimits
from cdpengine.pool.manners.robots_fetch import RobotsAnswer, fetch_robots
from cdpengine.pool.manners.urls import WebUrl

if TYPE_CHECKING:
    from protego import Protego

LONGEST_KEPT = 24 * 3600.0
"""Seconds for which a robots.txt holds."""

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
    """The rules of many origins, for one agent. `limits` are paused where a server asks for it.

    `agent` is the User-Agent header with which robots.txt is asked for; the name at its beginning is what rules
    are looked up by. An answer that takes longer than `longest_fetch` seconds is none.
    """

    agent: str
    limits: HostLimits
    proxy: str | None = None
    longest_fetch: float = 20.0
    _token: str = attrs.field(init=False, repr=False)
    _origins: OrderedDict[str, _Origin] = attrs.field(factory=OrderedDict, init=False, repr=False)

    def __attrs_post_init__(self) -> None:
        """Take the name out of the agent."""
        self._token = product_token(self.agent)

    async def check(self, url: WebUrl) -> float:
        """Return the seconds that the origin wants between two visits (Crawl-delay), 0 where it does not say.

        Raises DisallowedByRobotsError where the URL is not to be visited, PackageMissingError without the extra
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

    def delay_of(self, url: WebUrl) -> float:
        """Return the seconds that the origin is known to want between two visits, 0 where nothing is known."""
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
            from protego import Protego  # first: nothing is fetched that cannot be read

        answer = RobotsAnswer(None, f"no whole answer within {self.longest_fetch:g} s")
        with trio.move_on_after(self.longest_fetch):
            answer = await fetch_robots(name, agent=self.agent, proxy=self.proxy)
        if answer.text is not None:
            # In a thread: half a megabyte of rules takes some 0.3 s.
            origin.rules = await trio.to_thread.run_sync(Protego.parse, answer.text, abandon_on_cancel=True)
            origin.failures = 0
            origin.fresh_until = trio.current_time() + LONGEST_KEPT
            return
        origin.obstacle = answer.obstacle
        wait = min(_FIRST_RETRY * 2.0 ** min(origin.failures, 10), _LONGEST_RETRY)
        if answer.retry_after is not None:
            self.limits.pause(name, answer.retry_after)
            wait = min(max(answer.retry_after, 1.0), _LONGEST_RETRY)
        origin.failures += 1
        origin.fresh_until = trio.current_time() + wait


def product_token(agent: str) -> str:
    """Return the name that an agent's rules stand under, such as "mybot" of "mybot/1.0 (+https://me.example)".

    "" where the text does not begin with one.
    """
    found = re.match(r"[A-Za-z_][A-Za-z0-9_.-]*", agent)
    return found[0] if found else ""
