"""The log of the wire: each message as one line of the logger `cdpengine.wire`, at level DEBUG.

Rule: whether the logger wants DEBUG is asked when a browser is opened; when it does not, there is no
instrument and no cost. What is logged is redacted and cut as in a recording, and safe to print on a terminal.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager

import msgspec
import trio

from cdpengine._logs import get_logger
from cdpengine._protocol.instruments import Instruments, Traffic
from cdpengine.debug.reading.shown_lines import plain, show_line
from cdpengine.debug.recording.lines import LineMaker
from cdpengine.debug.recording.redact import Redactor
from cdpengine.debug.recording_format import Line

logger = get_logger("cdpengine.wire")

LIMIT = 2_000
"""Bytes of a message above which its payload is cut."""


class WireLog:
    """An instrument. The logger can still be turned down and up: each message asks it."""

    def __init__(self) -> None:
        self._lines = LineMaker(began=trio.current_time(), limit=LIMIT, redactor=Redactor())
        self._decode = msgspec.json.Decoder(Line).decode

    def add_secret(self, text: str) -> None:
        """Take a text that must not be logged from now on."""
        self._lines.add_secret(text)

    def __call__(self, traffic: Traffic) -> None:
        """Take one message."""
        if not logger.isEnabledFor(logging.DEBUG):
            return
        for line in self._lines.lines(traffic):
            logger.debug("%s %s", traffic.connection, plain(show_line(self._decode(line))).strip())


@contextmanager
def log_traffic(instruments: Instruments) -> Iterator[None]:
    """Log the traffic that `instruments` (`browser.instruments`) see, during the block. Must be called in trio."""
    with instruments.attached(WireLog()):
        yield
