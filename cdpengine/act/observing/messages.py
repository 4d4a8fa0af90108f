"""MessageLog: the newest protocol messages of a browser, as lines of a recording, without secrets.

Rule: it processes the messages in order, like a recorder, so that a secret that an earlier message reveals is
hidden in later ones. It keeps only the newest lines. Long payloads are cut, with a mark.
"""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, Any

import trio

from cdpengine import _json
from cdpengine._protocol.instruments import Traffic
from cdpengine._urls.patterns import url_test
from cdpengine.errors import packages_named

if TYPE_CHECKING:
    from cdpengine.debug.recording.lines import LineMaker

MOST_LINES = 500
_LONGEST = 4_000
"""Maximum size of a message, in bytes; payloads of larger ones are cut."""

_TOGETHER = 50
"""Number of messages that are made into lines together."""

_FIELDS = ("t", "k", "d", "T", "id", "m", "ms", "name", "msg")
"""The returned members of a line: see `debug/recording_format.py`."""


class MessageLog:
    """An instrument that keeps the newest messages."""

    def __init__(self) -> None:
        with packages_named():
            from cdpengine.debug.recording.lines import LineMaker
            from cdpengine.debug.recording.redact import Redactor
        self._maker: LineMaker = LineMaker(began=trio.current_time(), limit=_LONGEST, redactor=Redactor())
        self._gathered: list[Traffic] = []
        self._lines: deque[bytes] = deque(maxlen=MOST_LINES)

    def __call__(self, traffic: Traffic) -> None:
        """Keep one message."""
        self._gathered.append(traffic)
        if len(self._gathered) >= _TOGETHER:
            self._make_lines()

    def add_secret(self, text: str) -> None:
        """Hide a string from now on."""
        self._make_lines()
        self._maker.add_secret(text)

    def newest(self, method: str | None, limit: int) -> list[dict[str, Any]]:
        """Return the newest messages whose method matches a glob, oldest first."""
        self._make_lines()
        matches = (lambda _method: True) if method is None else url_test(method)
        lines = [_json.decode_leniently(line) for line in self._lines]
        found = [line for line in lines if line.get("m") and matches(line["m"])]
        return [{name: line[name] for name in _FIELDS if name in line} for line in found[-limit:]]

    def _make_lines(self) -> None:
        gathered, self._gathered = self._gathered, []
        if gathered:
            self._lines.extend(self._maker.lines(*gathered))
