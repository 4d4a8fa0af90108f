"""KeptBrowsers: the browsers of a pool. One runs in each slot; when it leaves, another takes its place.

Rule: while a browser that the pool launched retires, its successor starts already; a service may refuse one more
connection, so there the successor waits. A browser that does not come up, or lives only for a moment, is followed
by another after a pause that doubles. Where none has been ready for `timeout` seconds, all who wait are told so.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import attrs
import trio

from cdpengine._logs import get_logger
from cdpengine._notifier import Notifier
from cdpengine._nursery import open_body_nursery
from cdpengine.errors import EngineError, PoolUnavailableError
from cdpengine.pool.members import BrowserLimits, Members
from cdpengine.pool.pooled_browser import PooledBrowser
from cdpengine.pool.statistics import PoolCounts

if TYPE_CHECKING:
    from cdpengine._storage.storage_state import StorageState

_log = get_logger("cdpengine.pool")

_FIRST_PAUSE, _LONGEST_PAUSE = 0.25, 30.0
"""Seconds before a browser is opened again whose last one did not come up; twice as long each time."""

_SHORT_LIFE = 5.0
"""Seconds: a browser that is lost sooner counts as one that did not come up, but for the first time."""


@attrs.define(eq=False)
class _Slot:
    """The place of one browser in a pool; browsers follow each other in it."""

    number: int
    member: Members
    pages: int
    error: EngineError | None = None
    """What the last start met; None where it came up."""
    over: trio.Event = attrs.field(factory=trio.Event)
    made: int = 0
    _failures: int = 0

    def pause_after(self, browser: PooledBrowser) -> float:
        """Return for how long to wait before the next one is opened; seconds."""
        lived = 0.0 if browser.ready_at is None else trio.current_time() - browser.ready_at
        if browser.cause in ("share", "age", "memory") or lived >= _SHORT_LIFE:
            self._failures = 0
            return 0.0
        self._failures += 1
        if self._failures == 1 and browser.ready_at is not None:
            return 0.0
        return min(_LONGEST_PAUSE, _FIRST_PAUSE * 2.0 ** (self._failures - 1))


class KeptBrowsers:
    """The browsers of one pool. `changed` is called after every change that may let somebody begin."""

    def __init__(
        self,
        members: Sequence[Members],
        *,
        pages: int,
        limits: BrowserLimits,
        timeout: float,
        counts: PoolCounts,
        changed: Callable[[], None],
    ) -> None:
        each = [member for member in members for _ in range(member.count)]
        self.running: list[PooledBrowser] = []
        self.states: dict[str, StorageState] = {}
        self.unavailable = False
        self.changes = Notifier()
        self._slots = [
            _Slot(number, member, member.pages or pages) for number, member in enumerate(each, start=1)
        ]
        self._limits = limits
        self._timeout = timeout
        self._counts = counts
        self._tell = changed
        self._ending = trio.Event()

    @property
    def capacity(self) -> int:
        """How many pages there can be at once, when all are ready."""
        return sum(slot.pages for slot in self._slots)

    @property
    def ready(self) -> bool:
        """Whether any of them gives pages."""
        return any(browser.stage == "ready" for browser in self.running)

    @property
    def leased(self) -> bool:
        """Whether any page is out."""
        return any(browser.leases for browser in self.running)

    async def start(self, nursery: trio.Nursery, refuse: Callable[[], None]) -> None:
        """Start all, and return when the first is ready. `refuse` is called when none has been for too long.

        Raises what the first attempt of a member met, where those of all have failed; PoolUnavailableError.
        """
        for slot in self._slots:
            nursery.start_soon(self._keep, slot)
        with trio.move_on_after(self._timeout) as waiting:
            await self.changes.wait_for(self._first_is_ready)
        if waiting.cancelled_caught:
            raise self.describe_unavailable()
        nursery.start_soon(self._watch_availability, refuse)

    def end(self, reason: str) -> None:
        """End all, now; `wait_until_gone` waits for it."""
        self._ending.set()
        for browser in list(self.running):
            browser.end("stopped", reason)

    async def wait_until_gone(self) -> None:
        """Wait until nothing is left of any."""
        for slot in self._slots:
            await slot.over.wait()

    def describe_unavailable(self) -> PoolUnavailableError:
        """Return the error that says that there is no browser, and what the last attempts met."""
        reasons = [
            f"browser {slot.number} ({slot.member}): {slot.error or 'starting'}" for slot in self._slots
        ]
        return PoolUnavailableError(seconds=self._timeout, reasons=reasons)

    def _first_is_ready(self) -> bool:
        errors = [slot.error for slot in self._slots if slot.error is not None]
        if not self.ready and len(errors) == len(self._slots):
            raise errors[0]
        return self.ready

    async def _watch_availability(self, refuse: Callable[[], None]) -> None:
        while True:
            await self.changes.wait_for(lambda: not self.ready)
            with trio.move_on_after(self._timeout) as waiting:
                await self.changes.wait_for(lambda: self.ready)
            if waiting.cancelled_caught:
                self.unavailable = True
                refuse()
                await self.changes.wait_for(lambda: self.ready)
                self.unavailable = False

    async def _keep(self, slot: _Slot) -> None:
        try:
            async with open_body_nursery() as nursery:
                browsers: list[PooledBrowser] = []
                while not self._ending.is_set():
                    browser = self._make(slot)
                    browsers = [each for each in browsers if not each.gone.is_set()] + [browser]
                    self.running.append(browser)
                    nursery.start_soon(self._run, slot, browser)
                    await browser.left.wait()
                    if not slot.member.own:
                        await browser.gone.wait()
                    if pause := slot.pause_after(browser):
                        with trio.move_on_after(pause * random.uniform(0.75, 1.25)):
                            await self._ending.wait()
                for browser in browsers:
                    await browser.gone.wait()
        finally:
            slot.over.set()

    def _make(self, slot: _Slot) -> PooledBrowser:
        slot.made += 1
        name = f"browser {slot.number}.{slot.made}"
        return PooledBrowser(name, slot.member, slot.pages, self._limits, self._changed, self.states)

    async def _run(self, slot: _Slot, browser: PooledBrowser) -> None:
        try:
            await browser.run()
        finally:
            self.running.remove(browser)
            slot.error = browser.error if browser.ready_at is None else None
            self._count_end(browser)
            self._changed()

    def _count_end(self, browser: PooledBrowser) -> None:
        counts = self._counts
        counts.ended_by_name += browser.ended_by_name
        if browser.ready_at is not None:
            counts.opened += 1
        if not self._ending.is_set():
            if browser.ready_at is None:
                counts.failed_starts += 1
            else:
                counts.replaced[browser.cause] = counts.replaced.get(browser.cause, 0) + 1
        _log.info("%s left: %s", browser.name, browser.reason)

    def _changed(self) -> None:
        self._tell()
        self.changes.notify()
