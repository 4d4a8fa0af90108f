"""Console messages: what a page writes to its console, and what Chrome writes there about it.

Rule: made of one event, and of nothing else; what the event does not tell whole stays in the page until
somebody asks for it, and a page that then does not answer is stopped, within the time that was given.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, Literal

from cdpengine._activity.arguments import Unread, ValueReader, at_hand, shown
from cdpengine._activity.reading import read_values
from cdpengine._activity.stack import frames_of
from cdpengine._protocol.domains.runtime import ConsoleAPICalled, LogEntry, RemoteArgument, StackFrame
from cdpengine._protocol.session import Session

Level = Literal["debug", "info", "warning", "error"]

_LEVELS: dict[str, Level] = {
    "debug": "debug",
    "verbose": "debug",
    "timeEnd": "info",
    "warning": "warning",
    "error": "error",
    "assert": "error",
}
"""What is not here is "info"."""


class ConsoleMessage:
    """One message.

    `type` is the method of `console` in Chrome's words ("log", "warning", "table", "trace", ...); `level` is
    "debug", "info", "warning" or "error". `source` is "console" for what a script wrote, else what Chrome
    writes about: "network", "security", "deprecation", ... `time` is in seconds since 1970. `stack` has the
    innermost frame first; `url`, `line` and `column` (from 0) are where it was written. `target_type`
    ("page", "iframe", "worker") and `target_id` name who wrote it.
    """

    __slots__ = (
        "_args",
        "_reader",
        "_remote",
        "_session",
        "_text",
        "column",
        "level",
        "line",
        "source",
        "stack",
        "target_id",
        "target_type",
        "time",
        "type",
        "url",
    )  # fmt: skip

    def __init__(
        self, told: ConsoleAPICalled | LogEntry, session: Session, reader: ValueReader | None = None
    ) -> None:
        self.stack: tuple[StackFrame, ...] = frames_of(told.stack_trace)
        top = self.stack[0] if self.stack else StackFrame()
        self.url, self.line, self.column = top.url, top.line_number, top.column_number
        self.time = told.timestamp / 1000
        self.target_type = session.target_type
        self.target_id = session.target_id
        self._remote = told.args
        self._session = session
        self._reader = reader
        self._args: tuple[Any, ...] | None = None
        self._text: str | None = None
        if isinstance(told, LogEntry):
            self.source, self.type = told.source, told.level
            self._text = told.text
            if not self.stack:
                self.url, self.line = told.url, told.line_number
        else:
            self.source, self.type = "console", told.type
        self.level: Level = _LEVELS.get(self.type, "info")

    def __repr__(self) -> str:
        return f"<ConsoleMessage {self.type} {self.text[:80]!r}>"

    @property
    def text(self) -> str:
        """The message as one text, its format (%s, %d, ...) applied, objects as Chrome describes them."""
        if self._text is None:
            self._text = formatted(self._remote)
        return self._text

    @property
    def args(self) -> tuple[Any, ...]:
        """The arguments: each its value where the event tells it whole or `values` has read it, else an Unread.

        Whole are primitives, and small plain objects and arrays of primitives. undefined and null are None.
        """
        if self._args is None:
            self._args = tuple(map(at_hand, self._remote))
        return self._args

    async def values(self, *, timeout: float = 30) -> tuple[Any, ...]:
        """Return the arguments as `Page.evaluate` returns values, objects too, as they are in the page now.

        Getters of objects run in the page; one that does not end is terminated when `timeout` (seconds) is
        over, and with it what else that process runs. What is gone (its document, or the message itself was
        dropped meanwhile), and what cannot be read, stays an Unread with a `reason`. Raises DeadlineExceededError,
        ConnectionLostError.
        """
        self._args = await read_values(self._session, self._remote, self.args, self._reader, timeout)
        return self._args

    @property
    def object_ids(self) -> Sequence[str]:
        """The objects that the page keeps for this message. For the engine's own parts."""
        return [each.object_id for each in self._remote if each.object_id is not None]


_FORMAT = re.compile(r"%([sdifoOcj%])")


def formatted(arguments: Sequence[RemoteArgument]) -> str:
    """Return the text of a message: the first argument's format applied to the others, and the rest behind it."""
    if not arguments:
        return ""
    first, rest = arguments[0], list(arguments[1:])
    if first.type != "string" or not rest or "%" not in str(first.value):
        return " ".join(map(shown, arguments))

    def put(match: re.Match[str]) -> str:
        if match[1] == "%":
            return "%"
        if not rest:
            return match[0]
        argument = rest.pop(0)
        if match[1] == "c":
            return ""  # a style
        if match[1] in "di":
            value = at_hand(argument)
            number = isinstance(value, int | float) and not isinstance(value, bool) and value == value // 1
            return str(int(value)) if number else _whole(value)
        return shown(argument)

    text = _FORMAT.sub(put, str(first.value))
    return " ".join([text, *map(shown, rest)])


def _whole(value: object) -> str:
    if isinstance(value, float) and abs(value) < float("inf"):
        return str(int(value))
    return "NaN" if isinstance(value, str | Unread | None) or value != value else str(value)
