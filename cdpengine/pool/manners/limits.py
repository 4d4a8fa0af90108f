"""HostLimits: turns at hosts. Tasks wait here until their host may be visited.

Rule: turns of one host are given in the order in which they were asked for, and nobody waits for a host that is
not his own. Of the tasks that wait for a host, the first alone looks at the clock; it is woken when something
changes, and no task asks again and again. A task that is cancelled leaves its place to the next one.
`HostSchedule` decides.
"""

from __future__ import annotations

import math
from collections import OrderedDict
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import attrs
import trio

from cdpengine.errors import InvalidArgumentError
from cdpengine.pool.manners.schedule import HostSchedule
from cdpengine.pool.manners.urls import read_web_url


def host_of(url: str) -> str:
    """Return the host of a URL, whose limits are one whatever its ports and schemes; "" for what has none."""
    try:
        return read_web_url(url).host.rstrip(".")
    except InvalidArgumentError:
        return ""


@attrs.define(eq=False)
class HostLimits:
    """How many visits a host gets at once, and how close one comes after another. For one trio program.

    `at_once`, `delay`, `longest_delay` and `longest_pause` are those of `HostSchedule`.
    """

    schedule: HostSchedule = attrs.field(factory=HostSchedule)
    _waiting: dict[str, OrderedDict[_Waiter, None]] = attrs.field(factory=dict, init=False, repr=False)

    @asynccontextmanager
    async def turn(self, url: str, *, delay: float = 0.0) -> AsyncIterator[None]:
        """Wait until the URL's host may be visited; the block is the visit.

        `delay`: the seconds between two visits that the host asks for itself. Has no timeout: put it in a cancel
        scope. What has no host waits for nothing.
        """
        host = host_of(url)
        await self._wait(host, delay)
        try:
            yield
        finally:
            self._end(host)

    def begin(self, url: str, *, delay: float = 0.0) -> float | None:
        """Begin a visit without waiting, if one may begin now: then return None, and call `end` once for it.

        Otherwise return the moment, in trio's clock, to ask again: `math.inf` where a visit of this host has to
        end before. For a scheduler that has other things to do meanwhile. Goes before tasks that wait in `turn`.
        """
        host = host_of(url)
        return self.schedule.begin(host, trio.current_time(), delay=delay) if host else None

    def end(self, url: str) -> None:
        """End a visit that `begin` began."""
        self._end(host_of(url))

    def pause(self, url: str, seconds: float) -> float:
        """Let no visit of the URL's host begin for so many seconds; return the seconds left.

        It is `longest_pause` seconds at most. Visits that are under way go on, and a longer pause stays.
        """
        host = host_of(url)
        return self.schedule.pause(host, trio.current_time(), seconds) if host else 0.0

    def waiting(self, url: str) -> int:
        """Return how many tasks wait in `turn` for the URL's host."""
        return len(self._waiting.get(host_of(url), ()))

    async def _wait(self, host: str, delay: float) -> None:
        await trio.lowlevel.checkpoint()  # before anything began: nothing is to be given back
        if not host:
            return
        waiting = self._waiting.setdefault(host, OrderedDict())
        waiter = _Waiter()
        waiting[waiter] = None
        try:
            while True:
                again: float | None = math.inf
                if next(iter(waiting)) is waiter:
                    again = self.schedule.begin(host, trio.current_time(), delay=delay)
                if again is None:
                    return
                # A pause that begins meanwhile is seen when this one wakes: pauses only make it later.
                with trio.move_on_at(again):
                    await waiter.wait()
        finally:
            del waiting[waiter]
            if waiting:
                next(iter(waiting)).wake()
            else:
                del self._waiting[host]

    def _end(self, host: str) -> None:
        if not host:
            return
        self.schedule.end(host)
        if waiting := self._waiting.get(host):
            next(iter(waiting)).wake()


class _Waiter:
    """One task's place. It can be woken again and again."""

    def __init__(self) -> None:
        self._event = trio.Event()

    def wake(self) -> None:
        self._event.set()

    async def wait(self) -> None:
        try:
            await self._event.wait()
        finally:
            self._event = trio.Event()
