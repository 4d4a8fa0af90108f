"""Turns at hosts. Tasks wait here until they may visit their host.

Rule: turns of one host are granted in order of request, and hosts do not delay each other. Only the first waiting
task of a host watches the clock. It is woken when something changes, so no task polls. A cancelled task leaves its
place to the next one. `HostSchedule` makes the decisions.
"""

from __future__ import annotations

import math
from collections import OrderedDict
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import attrs
import trio

from cdpengine._urls.reading import read_url
from cdpengine.errors import InvalidArgumentError
from cdpengine.pool.manners.schedule import HostSchedule


def host_of(url: str) -> str:
    """Return the host of a URL, whose limits cover all ports and schemes, or "" without a host."""
    try:
        return read_url(url).host.rstrip(".")
    except InvalidArgumentError:
        return ""


@attrs.define(eq=False)
class HostLimits:
    """Limits for concurrent visits of a host and for the delay between visits. For one trio program.

    `at_once`, `delay`, `longest_delay` and `longest_pause` work as in `HostSchedule`.
    """

    schedule: HostSchedule = attrs.field(factory=HostSchedule)
    _waiting: dict[str, OrderedDict[_Waiter, None]] = attrs.field(factory=dict, init=False, repr=False)

    @asynccontextmanager
    async def turn(self, url: str, *, delay: float = 0.0) -> AsyncIterator[None]:
        """Wait until the URL's host may be visited. The block is the visit.

        `delay` is the host's requested time between two visits, in seconds. Has no timeout: use a cancel scope. A
        URL without a host does not wait.
        """
        host = host_of(url)
        await self._wait(host, delay)
        try:
            yield
        finally:
            self._end(host)

    def begin(self, url: str, *, delay: float = 0.0) -> float | None:
        """Begin a visit if it is allowed now, and return None. Call `end` once after it.

        Otherwise return the time, on trio's clock, to ask again; `math.inf` if a visit of this host must end
        first. For a scheduler with other work. Takes precedence over tasks waiting in `turn`.
        """
        host = host_of(url)
        return self.schedule.begin(host, trio.current_time(), delay=delay) if host else None

    def end(self, url: str) -> None:
        """End a visit started by `begin`."""
        self._end(host_of(url))

    def pause(self, url: str, seconds: float) -> float:
        """Block new visits of the URL's host for some seconds. Return the remaining seconds.

        The maximum is `longest_pause`. Running visits continue, and a longer pause stays.
        """
        host = host_of(url)
        return self.schedule.pause(host, trio.current_time(), seconds) if host else 0.0

    def waiting(self, url: str) -> int:
        """Return the number of tasks waiting in `turn` for the URL's host."""
        return len(self._waiting.get(host_of(url), ()))

    async def _wait(self, host: str, delay: float) -> None:
        await trio.lowlevel.checkpoint()  # before anything needs cleanup
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
                # A pause that begins meanwhile is noticed on waking, because it only delays the visit.
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
    """The place of a waiting task, which can be woken repeatedly."""

    def __init__(self) -> None:
        self._event = trio.Event()

    def wake(self) -> None:
        self._event.set()

    async def wait(self) -> None:
        try:
            await self._event.wait()
        finally:
            self._event = trio.Event()
