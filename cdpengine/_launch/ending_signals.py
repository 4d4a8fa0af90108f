"""Ending signals: a program that has browsers is unwound by SIGTERM and SIGHUP, and then ends by that signal.

Rule: by default these signals end a program on the spot, and nothing that it began is finished. While it has
browsers that it started, they cancel the whole of its trio program instead, from the main task on: every block is
left, every `finally` runs, and nothing that catches exceptions can keep the program. When all has been unwound,
the process ends by the signal, so that its parent sees what it asked for. It is never unwound by raising in the
middle of whatever runs, as Ctrl-C is: nothing is left half done.

Only a signal that would end the program is taken: one with a handler of the program's own, or one that is ignored
(nohup), is left as it is. Python has signals in its main thread only. Windows has no such signals.
"""

from __future__ import annotations

import contextlib
import os
import signal
import sys
import threading
import time
from types import FrameType, TracebackType

import attrs
import trio

ENDING_SIGNALS: tuple[signal.Signals, ...] = ()
if sys.platform != "win32":
    ENDING_SIGNALS = (signal.SIGTERM, signal.SIGHUP)

_UNWINDING_SECONDS = 30.0
"""Seconds that a program may take to unwind: one that waits for a thread that does not end would never end."""

_ONE_WISH = 0.5
"""Seconds within which signals count as one: when a terminal closes, its shell and the system both send SIGHUP."""

_PATIENCE = 3
"""The number of the wish that is granted at once, without unwinding."""


class Wishes:
    """Counts how often a program was asked to end. `first` is the signal that asked first, None before."""

    def __init__(self) -> None:
        self.first: int | None = None
        self._count = 0
        self._latest = -_ONE_WISH

    def take(self, number: int) -> bool:
        """Count a signal; return whether it is the first. One too many ends the process at once."""
        now = time.monotonic()
        if now - self._latest >= _ONE_WISH:
            self._count += 1
            self._latest = now
        if self._count >= _PATIENCE:
            end_by(number)
        is_first = self.first is None
        if is_first:
            self.first = number
        return is_first


def end_by(number: int) -> None:
    """End this process by a signal, at once."""
    signal.signal(number, signal.SIG_DFL)
    signal.raise_signal(number)


def cancel_main_task() -> None:
    """Cancel the whole of the trio program that runs. To be called in its thread, by `TrioToken.run_sync_soon`."""
    # The last nursery that the root task opened is the main task's. Once that has ended it is the one of the
    # system tasks, which is cancelled already.
    trio.lowlevel.current_root_task().child_nurseries[-1].cancel_scope.cancel()  # type: ignore[union-attr]


@attrs.define(eq=False)
class _Run:
    """A trio program with browsers: how many they are, and whether it was asked to end."""

    token: trio.lowlevel.TrioToken
    browsers: int = 0
    wishes: Wishes = attrs.field(factory=Wishes)
    asked: trio.Event = attrs.field(factory=trio.Event)
    watching: trio.CancelScope = attrs.field(factory=trio.CancelScope)

    def unwind(self) -> None:
        self.asked.set()
        cancel_main_task()

    async def watch(self) -> None:
        """End the process when the main task has ended, which cancels this, or when that takes too long."""
        try:
            with self.watching:
                await self.asked.wait()
                await trio.sleep(_UNWINDING_SECONDS)
        finally:
            if self.wishes.first is not None:
                _end_in_order(self.wishes.first)


_run: _Run | None = None
"""The program in the main thread that has browsers; there is one at most."""

_process = os.getpid()


def _end_in_order(number: int) -> None:
    # Before what may take its time: a signal that comes now ends the process.
    signal.signal(number, signal.SIG_DFL)
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(OSError, ValueError):  # a terminal that is gone, a stream that was closed
            if stream is not None:
                stream.flush()
    signal.raise_signal(number)


def _handle(number: int, _frame: FrameType | None) -> None:
    run = _run
    # A child that was forked has this handler too, and no browsers; and somebody may have put it back too late.
    if run is None or os.getpid() != _process:
        end_by(number)
    elif run.wishes.take(number):
        try:
            run.token.run_sync_soon(run.unwind)
        except trio.RunFinishedError:
            end_by(number)


class UnwoundBySignals:
    """A block during which the program is unwound by SIGTERM and SIGHUP, where they would end it."""

    _run: _Run | None = None

    @trio.lowlevel.enable_ki_protection
    def __enter__(self) -> None:
        global _run, _process  # noqa: PLW0603 - signals belong to the process
        if threading.current_thread() is not threading.main_thread():
            return
        token = trio.lowlevel.current_trio_token()
        if _run is None or _run.token is not token:
            _run = _Run(token)
            _process = os.getpid()
            trio.lowlevel.spawn_system_task(_run.watch, name="cdpengine: ending signals")
        self._run = _run
        _run.browsers += 1
        for number in ENDING_SIGNALS:
            if signal.getsignal(number) is signal.SIG_DFL:
                signal.signal(number, _handle)

    @trio.lowlevel.enable_ki_protection
    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        global _run  # noqa: PLW0603
        run = self._run
        if run is None:
            return
        run.browsers -= 1
        # A block that nobody left may be left by the collector of garbage, in any thread.
        if run.browsers or run.wishes.first or threading.current_thread() is not threading.main_thread():
            return
        for number in ENDING_SIGNALS:
            if signal.getsignal(number) is _handle:
                signal.signal(number, signal.SIG_DFL)
        run.watching.cancel()
        if _run is run:
            _run = None
