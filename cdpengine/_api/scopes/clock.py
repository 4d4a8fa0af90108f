"""PageClock: the clock of a page's documents, which the program moves.

Rule: the clock is a script in the main world of every document (clock.js). The engine's own scripts run in other
worlds, so they keep the real clock. After each move, new documents get the script with the main frame's state.
"""

from __future__ import annotations

import secrets
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager, suppress
from datetime import UTC, datetime, timedelta
from typing import Any

import attrs
import trio

from cdpengine import _json
from cdpengine._api.page.core import PageCore
from cdpengine._api.scopes.awaitable_scope import AwaitableScope, SettingScope
from cdpengine._budget import Budget, undoing, within
from cdpengine._checks import check_flag, check_number, wrong_type
from cdpengine._evaluate.init_script import InitScript
from cdpengine._evaluate.script import Script
from cdpengine._javascript import own, script
from cdpengine._page.frame_changes import FrameNavigated, FrameReport
from cdpengine._page.frames import Frame
from cdpengine._page.page_scope import PageScope, SessionOverride
from cdpengine._page.tabs import Posted
from cdpengine._pickling import not_picklable
from cdpengine._protocol.session import Session
from cdpengine.errors import (
    EngineError,
    EvaluationDisabledError,
    EvaluationTerminatedError,
    InvalidArgumentError,
    InvalidStateError,
)

_END_TIMEOUT = 0.5
"""Time in seconds for all documents together to get their clock back."""

_LATEST_NUMBER = 1e11  # the year 5138; a larger number is probably in milliseconds
_LATEST = 8.64e12
"""The latest time of a JavaScript Date, in seconds since 1970."""

_TELL = own("(name) => { window.dispatchEvent(new Event(name)); }")

_CALL = "(key, name, value) => globalThis[key]?.[name](value)"


@not_picklable("the times that you set")
class PageClock:
    """The clock of a page's documents and frames: `page.clock`.

    `install` replaces it. Until its end, the other methods move it. Times are seconds since 1970 or datetimes.
    """

    def __init__(self, core: PageCore, scope: SettingScope) -> None:
        self._core = core
        self._scope = scope
        self._installed: _Installed | None = None

    def install(
        self, time: float | datetime | None = None, *, paused: bool = False, timeout: float = 30
    ) -> AwaitableScope[None]:
        """Replace the clock of the page's documents. It begins at `time` (default: now) and runs at normal speed.

        With `paused`, it stands still until it is moved. Use `async with` to replace it for a block, or `await` to
        replace it until `uninstall`.

        It applies to Date, Intl and Temporal, setTimeout, setInterval, requestAnimationFrame, requestIdleCallback,
        performance.now, performance.timeOrigin and Event.timeStamp, in existing documents and in new ones before
        their first script, in all frames. Timers that wait at the beginning stay on the real clock. CSS
        animations, workers, popups and the network keep the real clock, and so do the engine's waits. At the end,
        waiting timers continue on the real clock.

        Raises InvalidArgumentError, InvalidStateError if the clock is installed already,
        EvaluationDisabledError, DeadlineExceededError, or the error of an unreachable page.
        """
        begin = None if time is None else _milliseconds(time)
        check_flag("paused", paused)

        @asynccontextmanager
        async def scope() -> AsyncIterator[None]:
            if not self._scope.evaluate_enabled:
                raise EvaluationDisabledError(action="install a clock")
            if self._installed is not None:
                raise InvalidStateError(action="install a clock", reason="the page has one already")
            installed = self._installed = _Installed(self._core)
            try:
                async with self._scope.entering("install a clock", timeout):
                    await installed.begin(begin, paused)
                with self._core.target.frame_changes.listening(installed.note_frame):
                    yield
            finally:
                self._installed = None
                await installed.end()

        return self._scope.lasting("clock", "clock.install", scope)

    async def uninstall(self, *, timeout: float = 30) -> int:
        """End an awaited `install`, and return the number of ended clocks (0 or 1).

        Raises DeadlineExceededError.
        """
        with within("uninstall the clock", timeout):
            return await self._scope.end("clock")

    async def run_for(self, seconds: float | timedelta, *, timeout: float = 30) -> None:
        """Move the clock forward and run all timers that are due, each at its time and in order.

        Between two timers, settled promises and messages of the page get their turn. Timers of different frames
        are not interleaved: the main frame comes first. An exception of a callback is an ordinary error of the
        page. Raises InvalidArgumentError, InvalidStateError without a clock, DeadlineExceededError.
        """
        await self._move("run the clock", "run", _duration(seconds), timeout)

    async def fast_forward(self, seconds: float | timedelta, *, timeout: float = 30) -> None:
        """Move the clock forward in one jump. Timers that are due run once, at the new time, in order.

        This is what a page sees after the computer was asleep. Raises the errors of `run_for`.
        """
        await self._move("move the clock", "jump", _duration(seconds), timeout)

    async def pause_at(self, time: float | datetime, *, timeout: float = 30) -> None:
        """Jump to `time` as `fast_forward` does, and stop the clock there.

        Raises InvalidArgumentError if the clock is later than `time`, and the errors of `run_for`.
        """
        await self._move("pause the clock", "pause", _milliseconds(time), timeout)

    async def resume(self, *, timeout: float = 30) -> None:
        """Let the clock run again after `pause_at` or `set_fixed_time`. Raises the errors of `run_for`."""
        await self._move("resume the clock", "resume", None, timeout)

    async def set_fixed_time(self, time: float | datetime, *, timeout: float = 30) -> None:
        """Fix the date of the page at `time`. Timers run on.

        `resume`, `pause_at` and `set_system_time` end it. Raises the errors of `run_for`.
        """
        await self._move("fix the time", "fix", _milliseconds(time), timeout)

    async def set_system_time(self, time: float | datetime, *, timeout: float = 30) -> None:
        """Set the date of the page, which then goes on from `time`. No timer runs because of it.

        This is what a page sees when a person sets the computer's clock. Raises the errors of `run_for`.
        """
        await self._move("set the time", "set", _milliseconds(time), timeout)

    async def _move(self, action: str, name: str, value: float | None, timeout: float) -> None:
        if self._installed is None:
            reason = "the page has the real clock. Use `async with page.clock.install():` first"
            raise InvalidStateError(action=action, reason=reason)
        async with self._core.action(action, timeout) as budget:
            await self._installed.move(name, value, budget)


@attrs.define(eq=False)
class _Installed:
    """An installed clock: its script in the documents of the page, with the latest state."""

    _core: PageCore
    _key: str = attrs.field(factory=lambda: f"cdpengine_{secrets.token_hex(8)}")
    _turn: trio.Lock = attrs.field(factory=trio.Lock)
    _override: SessionOverride | None = None
    _script: InitScript = attrs.field(init=False)
    _state: dict[str, Any] = attrs.field(init=False)
    _noted_at: float = attrs.field(init=False)

    async def begin(self, time: float | None, paused: bool) -> None:
        """Install the clock in all documents. `time` is in milliseconds, None for the real time."""
        main = self._core.target.frames.main
        world = await self._core.worlds.context(main.session, main.id)
        real = await world.evaluate(own("Date.now()"), returns=float)
        clock = real if time is None else time
        state = {"clock": clock, "real": real, "paused": paused, "fixed": None}
        self._state, self._noted_at = state, trio.current_time()
        self._script = self._make_script(state, at_once=True)
        scope = PageScope.of_page(self._core.state.tabs, self._core.target, popups=False)
        self._override = SessionOverride(scope, self._add, self._remove, renew=self._renew)
        await self._override.enter()

    async def move(self, name: str, value: float | None, budget: Budget) -> None:
        """Call a function of the clock in the main frame, and let the other frames follow."""
        async with self._turn:
            main, *others = self._core.target.frames
            left = main.loader_id
            try:
                state = await self._call(main, name, value, budget)
            except EvaluationTerminatedError:
                if main.loader_id == left and not self._core.target.navigation.pending:
                    raise
                # A timer has navigated. The new document gets the time at which the move would have ended.
                state, others = self._expect(name, value), [main]
            except BaseException:
                await self._tell([main], f"{self._key} stop")
                raise
            if not isinstance(state, dict):
                raise InvalidStateError(action=budget.action, reason="the document runs no scripts")
            if "past" in state:
                moment = datetime.fromtimestamp(state["past"] / 1000, UTC)
                raise InvalidArgumentError(
                    what="time", given=f"a time before the page's clock ({moment})", expected="a later time"
                )
            self._note(state)
            follow = {"jumps": name != "run", "other": state}
            for frame in others:
                if frame.attached:
                    with suppress(EngineError):  # its document is gone, or stuck
                        await self._call(frame, "follow", follow, budget)

    def _expect(self, name: str, value: float | None) -> dict[str, Any]:
        """Return the state after a move that a navigation ended, from the latest known state."""
        state = dict(self._state)
        passed = (trio.current_time() - self._noted_at) * 1000
        state["real"] += passed
        state["clock"] += 0 if state["paused"] else passed
        if name == "pause":
            state |= {"clock": value, "paused": True, "fixed": None}
        elif value is not None:
            state["clock"] += value
        return state

    def _note(self, state: dict[str, Any]) -> None:
        """Give the state to new documents."""
        self._state, self._noted_at = state, trio.current_time()
        assert self._override is not None
        before, self._script = self._script, self._make_script(state)
        for session in self._override.sessions:
            with suppress(EngineError):
                self._script.begin(session)
                before.end(session)

    async def end(self) -> None:
        """Remove the script, and restore all documents. Shielded and bounded."""
        if self._override is not None:
            await self._override.leave()
            await self._tell(self._core.target.frames, self._key)

    async def _tell(self, frames: Iterable[Frame], name: str) -> None:
        """Send an event to the clock in each frame. Shielded and bounded: a stuck page gets it later."""
        calls = []
        with undoing(_END_TIMEOUT):
            for frame in frames:
                with suppress(EngineError):
                    world = await self._core.worlds.context(frame.session, frame.id)
                    calls.append(world.post(_TELL, name))
            for call in calls:
                with suppress(EngineError):
                    await call.raw()

    def note_frame(self, report: FrameReport) -> None:
        """Install the clock again in a document that left the back/forward cache."""
        if isinstance(report, FrameNavigated) and report.restored and self._override is not None:
            for session in self._override.sessions:
                self._core.state.tabs.in_background(self._renew, session)

    async def _call(self, frame: Frame, name: str, value: object, budget: Budget) -> Any:
        return await self._core.evaluator.evaluate(Script(_CALL, (self._key, name, value), frame), budget)

    def _make_script(self, state: object, *, at_once: bool = False) -> InitScript:
        source = f"{script('_evaluate/clock')}({_json.encode_ascii(state)}, {_json.encode_ascii(self._key)})"
        return InitScript(self._core.state.tabs, source, at_once=at_once)

    def _add(self, session: Session) -> list[Posted]:
        return self._script.begin(session)

    def _remove(self, session: Session) -> list[Posted]:
        return self._script.end(session)

    async def _renew(self, session: Session) -> None:
        await self._script.renew(session)


def _milliseconds(time: float | datetime) -> float:
    if isinstance(time, datetime):
        return time.timestamp() * 1000
    if isinstance(time, bool) or not isinstance(time, int | float):
        raise wrong_type("time", time, "seconds since 1970, or a datetime")
    unit = "seconds since 1970, not milliseconds"
    return check_number("time", time, least=-_LATEST, most=_LATEST_NUMBER, unit=unit) * 1000


def _duration(seconds: float | timedelta) -> float:
    if isinstance(seconds, timedelta):
        seconds = seconds.total_seconds()
    return check_number("seconds", seconds, least=0, most=_LATEST, unit="seconds") * 1000
