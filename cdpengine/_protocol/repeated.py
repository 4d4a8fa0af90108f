"""RepeatedWarning: a warning that may come for each message; all are counted, and some are told.

Rule: a peer or a page that goes wrong thousands of times a second fills no log. The first warnings of a kind are
told as they are; after those, one in INTERVAL seconds, with the number that was passed over since the last. What
was passed over at the end is told at the end, where there is one.
"""

from __future__ import annotations

import logging
from collections.abc import Callable

import trio

FIRST = 5
"""Warnings that are told at once, whenever they come."""

INTERVAL = 1.0
"""Seconds between two of the others."""


class Pace:
    """Says which of many equal reports are told. Pure: it is given the time, in seconds."""

    def __init__(self, first: int = FIRST, interval: float = INTERVAL) -> None:
        self.total = 0
        self._first = first
        self._interval = interval
        self._told_at = 0.0
        self._passed_over = 0

    def take(self, now: float) -> int | None:
        """Count one report. Returns how many were passed over before it since the last that was told.

        None: this one is passed over too.
        """
        self.total += 1
        if self.total > self._first and now - self._told_at < self._interval:
            self._passed_over += 1
            return None
        self._told_at = now
        return self.take_rest()

    def take_rest(self) -> int:
        """Return how many were passed over since the last that was told, and count from 0 again."""
        rest, self._passed_over = self._passed_over, 0
        return rest


class RepeatedWarning:
    """One kind of warning: `text` is a format of the logging module. `clock` gives seconds."""

    def __init__(
        self,
        logger: logging.Logger,
        text: str,
        *,
        level: int = logging.WARNING,
        clock: Callable[[], float] = trio.current_time,
    ) -> None:
        self._logger = logger
        self._text = text
        self._level = level
        self._clock = clock
        self._pace = Pace()

    @property
    def total(self) -> int:
        """How many there were, told or not."""
        return self._pace.total

    def tell(self, *args: object, error: BaseException | None = None) -> None:
        """Tell it, or count it. `args` are those of the format; the traceback of `error` goes with it."""
        passed_over = self._pace.take(self._clock())
        if passed_over is None:
            return
        if passed_over:
            text = f"{self._text} (%d more warnings like this one were passed over since the last)"
            self._logger.log(self._level, text, *args, passed_over, exc_info=error)
        else:
            self._logger.log(self._level, self._text, *args, exc_info=error)

    def tell_rest(self, where: str) -> None:
        """Tell how many were passed over since the last one; `where` says whose warnings they were."""
        if rest := self._pace.take_rest():
            text = "%s: %d more warnings like the last were passed over: %s"
            self._logger.log(self._level, text, where, rest, self._text.replace("%s", "..."))
