"""The browsers of a pool. Each slot runs one browser and replaces it when it leaves.

Rule: while a launched browser retires, its successor already starts. A service may refuse another connection, so
there the successor waits. After a failed start or a very short life, the next attempt waits for a pause that
doubles. If no browser has been ready for `timeout` seconds, all waiting requests raise PoolUnavailableError.
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
from cdpengine.errors.texts import duration
from cdpengine.pool.members import BrowserLimits, Members
from cdpengine.pool.pooled_browser import PooledBrowser
from cdpengine.pool.statistics import PoolCounts

if TYPE_CHECKING:
    from cdpengine._storage.storage_state import StorageState

_log = get_logger("cdpengine.pool")

_FIRST_PAUSE, _LONGEST_PAUSE = 0.25, 30.0
"""First and maximum pause after a failed start, in seconds. It doubles each time."""

_SHORT_LIFE = 5.0
"""Life in seconds below which a lost browser counts as a failed start, except for the first time."""


@attrs.define(eq=False)
class _Slot:
    """A slot of a pool, in which one browser runs at a time, each replacing the previous one."""

    number: int
    member: Members
    pages: int
    error: EngineError | None = None
    """Error of the last start, or None."""
    over: trio.Event = attrs.field(factory=trio.Event)
    made: int = 0
    _failures: int = 0

    def pause_after(self, browser: PooledBrowser) -> float:
        """Return the pause before the next browser is opened, in seconds."""
        lived = 0.0 if browser.ready_at is None else trio.current_time() - browser.ready_at
        if browser.cause in ("share", "age", "memory") or lived >= _SHORT_LIFE:
            self._failures = 0
            return 0.0
        self._failures += 1
        if self._failures == 1 and browser.ready_at is not None:
            return 0.0
        return min(_LONGEST_PAUSE, _FIRST_PAUSE * 2.0 ** (self._failures - 1))


class BrowserSlots:
    """The browsers of one pool. `changed` is called after each change that may let a request begin."""

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
        self._notify = changed
        self._ending = trio.Event()

    @property
    def capacity(self) -> int:
        """Maximum number of pages when all browsers are ready."""
        return sum(slot.pages for slot in self._slots)

    @property
    def ready(self) -> bool:
        """Whether any browser accepts leases."""
        return any(browser.stage == "ready" for browser in self.running)

    @property
    def leased(self) -> bool:
        """Whether any page is leased."""
        return any(browser.leases for browser in self.running)

    async def start(self, nursery: trio.Nursery, refuse: Callable[[], None]) -> None:
        """Start all browsers, and return when the first is ready.

        Calls `refuse` when none has been ready for too long. Raises the first error of a member if all members
        failed, or PoolUnavailableError.
        """
        for slot in self._slots:
            nursery.start_soon(self._keep, slot)
        with trio.move_on_after(self._timeout) as waiting:
            await self.changes.wait_for(self._first_is_ready)
        if waiting.cancelled_caught:
            raise self.describe_unavailable()
        nursery.start_soon(self._watch_availability, refuse)

    def end(self, reason: str) -> None:
        """End all browsers now. `wait_until_gone` waits for it."""
        self._ending.set()
        for browser in list(self.running):
            browser.end("stopped", reason)

    async def wait_until_gone(self) -> None:
        """Wait until all browsers and their resources are gone."""
        for slot in self._slots:
            await slot.over.wait()

    def describe_unavailable(self) -> PoolUnavailableError:
        """Return the error for a pool without a browser, with the errors of the last attempts."""
        reasons = [
            f"browser {slot.number} ({slot.member}): {slot.error or 'starting'}" for slot in self._slots
        ]
        return PoolUnavailableError(
            "lease a page", f"the pool had no browser for {duration(self._timeout)}", reasons
        )

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
                    if not self._ending.is_set():
                        self._count_replacement(browser)
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

    def _count_replacement(self, browser: PooledBrowser) -> None:
        if browser.ready_at is None:
            self._counts.failed_starts += 1
        else:
            self._counts.replaced[browser.cause] = self._counts.replaced.get(browser.cause, 0) + 1

    def _count_end(self, browser: PooledBrowser) -> None:
        counts = self._counts
        counts.ended_by_name += browser.ended_by_name
        if browser.ready_at is not None:
            counts.opened += 1
        _log.info("%s left: %s", browser.name, browser.reason)

    def _changed(self) -> None:
        self._notify()
        self.changes.notify()
