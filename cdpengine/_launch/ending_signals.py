"""Unwinding of a program with browsers on SIGTERM and SIGHUP, before the signal ends it.

Rule: by default these signals end a program immediately, without cleanup. While the program has browsers that it
started, the signals cancel its whole trio program instead, from the main task on: every block is left and every
`finally` runs, and no exception handler can keep the program running. Then the process ends by the signal, so that
its parent sees the expected status. Unwinding never raises in the middle of running code, as Ctrl-C does, so no
operation is left half done.

Only a signal that would end the program is caught. A signal with a handler of the program, or an ignored one
(nohup), keeps its handling. Python delivers signals only in the main thread. Windows has no such signals.
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
"""Maximum duration of unwinding, in seconds: a program that waits for an endless thread would never end."""

_DEBOUNCE = 0.5
"""Debounce interval for repeated signals, in seconds.

When a terminal closes, its shell and the system both send SIGHUP.
"""

_MAX_REQUESTS = 3
"""Exit immediately, without unwinding, on this many requests."""


class Wishes:
    """Counts the requests to end the program. `first` is the first signal, or None."""

    def __init__(self) -> None:
        self.first: int | None = None
        self._count = 0
        self._latest = -_DEBOUNCE

    def take(self, number: int) -> bool:
        """Count a signal. Return whether it is the first. The third request ends the process immediately."""
        now = time.monotonic()
        if now - self._latest >= _DEBOUNCE:
            self._count += 1
            self._latest = now
        if self._count >= _MAX_REQUESTS:
            end_by(number)
        is_first = self.first is None
        if is_first:
            self.first = number
        return is_first


def end_by(number: int) -> None:
    """End this process by a signal, immediately."""
    signal.signal(number, signal.SIG_DFL)
    signal.raise_signal(number)


def cancel_main_task() -> None:
    """Cancel the whole running trio program. Call it in trio's thread, by `TrioToken.run_sync_soon`."""
    # The last nursery of the root task belongs to the main task. After the main task it is the nursery of the
    # system tasks, which is already cancelled.
    trio.lowlevel.current_root_task().child_nurseries[-1].cancel_scope.cancel()  # type: ignore[union-attr]


@attrs.define(eq=False)
class _Run:
    """The state of a trio program with browsers: the number of browsers, and whether a signal asked it to end."""

    token: trio.lowlevel.TrioToken
    browsers: int = 0
    wishes: Wishes = attrs.field(factory=Wishes)
    ending: trio.Event = attrs.field(factory=trio.Event)
    watching: trio.CancelScope = attrs.field(factory=trio.CancelScope)

    def unwind(self) -> None:
        self.ending.set()
        cancel_main_task()

    async def watch(self) -> None:
        """End the process when the main task has ended, which cancels this task, or after the maximum duration."""
        try:
            with self.watching:
                await self.ending.wait()
                await trio.sleep(_UNWINDING_SECONDS)
        finally:
            if self.wishes.first is not None:
                _end_in_order(self.wishes.first)


_run: _Run | None = None
"""The program with browsers in the main thread, if any."""

_process = os.getpid()


def _end_in_order(number: int) -> None:
    # Restore the default action first, because flushing can take time: another signal then ends the process.
    signal.signal(number, signal.SIG_DFL)
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(OSError, ValueError):  # a closed terminal or stream
            if stream is not None:
                stream.flush()
    signal.raise_signal(number)


def _handle(number: int, _frame: FrameType | None) -> None:
    run = _run
    # A forked child inherits this handler without browsers, and other code may have restored the handler late.
    if run is None or os.getpid() != _process:
        end_by(number)
    elif run.wishes.take(number):
        try:
            run.token.run_sync_soon(run.unwind)
        except trio.RunFinishedError:
            end_by(number)


class UnwoundBySignals:
    """A block during which SIGTERM and SIGHUP unwind the program, if they would otherwise end it."""

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
        # The garbage collector may close an abandoned block, in any thread.
        if run.browsers or run.wishes.first or threading.current_thread() is not threading.main_thread():
            return
        for number in ENDING_SIGNALS:
            if signal.getsignal(number) is _handle:
                signal.signal(number, signal.SIG_DFL)
        run.watching.cancel()
        if _run is run:
            _run = None
