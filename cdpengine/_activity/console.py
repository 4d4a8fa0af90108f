"""Console messages and page errors: what a page writes to its console, and what it did not catch.

Rule: each is made of one event, and of nothing else. What the event does not hold whole stays in the page until it
is asked for. A page that then does not answer is stopped within the time that was given.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, Literal

from cdpengine._activity.values import Unread, ValueReader, all_frames, read_values, shown, value_in_event
from cdpengine._protocol.domains.runtime import (
    ConsoleAPICalled,
    ExceptionThrown,
    LogEntry,
    RemoteArgument,
    StackFrame,
)
from cdpengine._protocol.session import Session
from cdpengine.errors.words import shown as fit_to_show

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
        self, event: ConsoleAPICalled | LogEntry, session: Session, reader: ValueReader | None = None
    ) -> None:
        self.stack: tuple[StackFrame, ...] = all_frames(event.stack_trace)
        top = self.stack[0] if self.stack else StackFrame()
        self.url, self.line, self.column = top.url, top.line_number, top.column_number
        self.time = event.timestamp / 1000
        self.target_type = session.target_type
        self.target_id = session.target_id
        self._remote = event.args
        self._session = session
        self._reader = reader
        self._args: tuple[Any, ...] | None = None
        self._text: str | None = None
        if isinstance(event, LogEntry):
            self.source, self.type = event.source, event.level
            self._text = event.text
            if not self.stack:
                self.url, self.line = event.url, event.line_number
        else:
            self.source, self.type = "console", event.type
        self.level: Level = _LEVELS.get(self.type, "info")

    def __repr__(self) -> str:
        return f"<ConsoleMessage {self.type} {self.text[:80]!r}>"

    @property
    def text(self) -> str:
        """The message as one text, its format (%s, %d, ...) applied, objects as Chrome describes them."""
        if self._text is None:
            self._text = format_message(self._remote)
        return self._text

    @property
    def args(self) -> tuple[Any, ...]:
        """The arguments: each its value where the event holds it whole or `values` has read it, else an Unread.

        Whole are primitives, and small plain objects and arrays of primitives. undefined and null are None.
        """
        if self._args is None:
            self._args = tuple(map(value_in_event, self._remote))
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


def format_message(arguments: Sequence[RemoteArgument]) -> str:
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
            value = value_in_event(argument)
            number = isinstance(value, int | float) and not isinstance(value, bool) and value == value // 1
            return str(int(value)) if number else _whole(value)
        return shown(argument)

    text = _FORMAT.sub(put, str(first.value))
    return " ".join([text, *map(shown, rest)])


class PageError:
    """One error.

    `kind` is "exception" or "rejection"; `name` is such as "TypeError" ("" where no Error was thrown),
    `message` its words, `stack` its stack as text, `frames` the same as data. `url`, `line` and `column`
    (from 0) are where it was thrown. `handled`: of a rejection, that it was handled later. `time` is in
    seconds since 1970; `target_type` ("page", "iframe", "worker") and `target_id` name where.
    """

    __slots__ = (
        "_details",
        "_reader",
        "_session",
        "_value",
        "column",
        "exception_id",
        "frames",
        "handled",
        "kind",
        "line",
        "message",
        "name",
        "stack",
        "target_id",
        "target_type",
        "time",
        "url",
    )  # fmt: skip

    def __init__(self, event: ExceptionThrown, session: Session, reader: ValueReader | None = None) -> None:
        details = event.exception_details
        self.kind: Literal["exception", "rejection"] = (
            "rejection" if "(in promise)" in details.text else "exception"
        )
        self.time = event.timestamp / 1000
        self.frames: tuple[StackFrame, ...] = all_frames(details.stack_trace)
        self.url = details.url or (self.frames[0].url if self.frames else "")
        self.line, self.column = details.line_number or 0, details.column_number or 0
        self.exception_id = details.exception_id
        self.handled = False
        self.target_type = session.target_type
        self.target_id = session.target_id
        self._session = session
        self._reader = reader
        thrown = self._details = details.exception or RemoteArgument()
        self._value: Any = value_in_event(thrown)
        self.name, self.message, self.stack = "", details.text, ""
        if thrown.subtype == "error" and thrown.description is not None:
            head, separator, _ = thrown.description.partition("\n    at ")
            self.stack = thrown.description if separator else ""
            name, colon, message = head.partition(": ")
            plain = colon and " " not in name and "\n" not in name
            self.name = name if plain else thrown.class_name or ""
            self.message = message if plain else head
            if head == thrown.class_name:
                self.message = ""
        elif details.exception is not None:
            self.message = shown(thrown)

    def __repr__(self) -> str:
        return f"<PageError {self.kind} {fit_to_show(str(self))}>"

    def __str__(self) -> str:
        return f"{self.name}: {self.message}" if self.name and self.message else self.name or self.message

    @property
    def value(self) -> Any:
        """What was thrown, where the event holds it whole or `read` has read it; else an Unread."""
        return self._value

    async def read(self, *, timeout: float = 30) -> Any:
        """Return what was thrown, an Error as a JSError. As `ConsoleMessage.values`, in everything else."""
        self._value = (
            await read_values(self._session, [self._details], [self._value], self._reader, timeout)
        )[0]
        return self._value

    @property
    def object_ids(self) -> Sequence[str]:
        """The objects that the page keeps for this error. For the engine's own parts."""
        return [] if self._details.object_id is None else [self._details.object_id]


def _whole(value: object) -> str:
    if isinstance(value, float) and abs(value) < float("inf"):
        return str(int(value))
    return "NaN" if isinstance(value, str | Unread | None) or value != value else str(value)
