"""Interruption: Ctrl-C, SIGTERM and SIGHUP end a command in order, with the exit status that shells expect of it.

Rule: in trio, the whole of the command is cancelled, and so unwound: recordings get their last line, the browser
ends, its profile goes. Elsewhere, the signal is raised as an exception. A second signal does not disturb that; a
third one ends the process on the spot. A signal that is ignored (nohup, a job in the background) stays ignored.
"""

from __future__ import annotations

import atexit
import contextlib
import os
import signal
import sys
import traceback
from collections.abc import Callable
from types import FrameType
from typing import Any

import click
import trio

from cdpengine._launch.ending_signals import ENDING_SIGNALS, Wishes, cancel_main_task

SIGNALLED = 128
"""What is added to a signal's number for the exit status."""


class Ended(BaseException):
    """A signal asks the command to end. Raised where no trio runs; SIGINT is raised as KeyboardInterrupt."""


class _Interruption:
    """Takes the signals while a command runs."""

    def __init__(self) -> None:
        self.wishes = Wishes()
        self.is_over = False
        self._taken: dict[int, Any] = {}

    def install(self) -> None:
        """Take the signals that would end this process."""
        for number in (signal.SIGINT, *ENDING_SIGNALS):
            handler = signal.getsignal(number)
            if handler in (signal.SIG_DFL, signal.default_int_handler):
                self._taken[number] = handler
                signal.signal(number, self._handle)

    def ignore(self) -> None:
        """Ignore the signals from now on."""
        for number in self._taken:
            signal.signal(number, signal.SIG_IGN)

    def uninstall(self) -> None:
        """Give the signals back."""
        for number, handler in self._taken.items():
            signal.signal(number, handler)

    def _handle(self, number: int, _frame: FrameType | None) -> None:
        if not self.wishes.take(number) or self.is_over:
            return
        try:
            trio.lowlevel.current_trio_token().run_sync_soon(cancel_main_task)
        except trio.RunFinishedError:
            return  # trio is ending by itself; the exit status will tell
        except RuntimeError:  # no trio runs
            raise (KeyboardInterrupt if number == signal.SIGINT else Ended) from None


def run_interruptible(run: Callable[[], int]) -> int:
    """Run a command, in the main thread. Return its exit status: 128 + the signal's number where one ended it."""
    interruption = _Interruption()
    interruption.install()
    status = 0
    try:
        status = run()
    except BaseException as error:
        if interruption.wishes.first is None:
            interruption.uninstall()
            raise
        if not _is_interruption(error):
            traceback.print_exception(error)
    if interruption.wishes.first is None:
        # A signal may end the process now, with nothing undone but this. What fails here fails again, and is told
        # of, when Python ends.
        with contextlib.suppress(OSError, ValueError):
            sys.stdout.flush()
        interruption.uninstall()
        return status
    # None may end the process with another status now. Python gives handlers up while it ends, but leaves signals
    # ignored; until then the third one still counts, should a thread not let it end.
    interruption.is_over = True
    atexit.register(interruption.ignore)
    _flush()
    return SIGNALLED + interruption.wishes.first


def _is_interruption(error: BaseException) -> bool:
    if isinstance(error, BaseExceptionGroup):
        return all(_is_interruption(each) for each in error.exceptions)
    return isinstance(error, trio.Cancelled | KeyboardInterrupt | Ended | click.Abort)


def _flush() -> None:
    """Write what was printed. What is for a terminal that has been closed goes nowhere, and is no failure."""
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(ValueError):  # it was closed
            try:
                stream.flush()
            except OSError:
                os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
