"""Console messages and page errors.

Rule: each message or error is built from one event. Its values (arguments, thrown values) are those of `values`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

from cdpengine._activity.values import (
    ValueReader,
    format_argument,
    format_message,
    read_values,
    value_in_event,
)
from cdpengine._pickling import DepartedSession, restore_state, state_without_page
from cdpengine._protocol.domains.runtime import (
    ConsoleAPICalled,
    ExceptionThrown,
    LogEntry,
    RemoteArgument,
    StackFrame,
    StackTrace,
)
from cdpengine._protocol.session import Session
from cdpengine.errors import StaleRefError
from cdpengine.errors.texts import shown as fit_to_show

Level = Literal["debug", "info", "warning", "error"]

_LEVELS: dict[str, Level] = {
    "debug": "debug",
    "verbose": "debug",
    "timeEnd": "info",
    "warning": "warning",
    "error": "error",
    "assert": "error",
}
"""Levels by message type; other types are "info"."""


class ConsoleMessage:
    """One console message.

    `type` is Chrome's name for the `console` method ("log", "warning", "table", "trace", ...). `level` is "debug",
    "info", "warning" or "error". `source` is "console" for messages of scripts, or Chrome's category: "network",
    "security", "deprecation", ... `time` is in seconds since 1970. `stack` begins with the innermost frame. `url`,
    `line` and `column` (from 0) are the source location. `target_type` ("page", "iframe", "worker") and
    `target_id` identify the writer.
    """

    __slots__ = (
        "_args",
        "_document_number",
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
        self._document_number = session.documents_shown
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

    def __getstate__(self) -> dict[str, object]:
        return state_without_page(self, _session=DepartedSession(self._session), _reader=None)

    def __setstate__(self, state: dict[str, object]) -> None:
        restore_state(self, state)

    def __repr__(self) -> str:
        return f"<ConsoleMessage {self.type} {self.text[:80]!r}>"

    @property
    def text(self) -> str:
        """The formatted message (%s, %d, ...), with objects as Chrome describes them."""
        if self._text is None:
            self._text = format_message(self._remote)
        return self._text

    @property
    def args(self) -> tuple[Any, ...]:
        """The arguments. Each is its value if the event contains it or `values` has read it, else an Unread.

        Events contain primitives, and small plain objects and arrays of primitives. undefined and null are None.
        """
        if self._args is None:
            self._args = tuple(map(value_in_event, self._remote))
        return self._args

    def remote_arguments(self) -> tuple[Session, Sequence[RemoteArgument]]:
        """Return the session of the message and its arguments as Chrome sent them, for `Page.console_handles`.

        Raises StaleRefError if the page left the message's document, or the message was sent to another process.
        """
        if not isinstance(self._session, Session) or self._document_number != self._session.documents_shown:
            raise StaleRefError(
                "console message",
                self.text[:80],
                "the page left its document",
                advice="Get the handles before the page navigates",
            )
        return self._session, self._remote

    async def values(self, *, timeout: float = 30) -> tuple[Any, ...]:
        """Return the arguments as `Page.evaluate` returns values, with objects in their current state.

        Getters of objects run in the page. A getter that does not end within `timeout` seconds is terminated,
        together with everything else that its process runs. A value stays an Unread with a `reason` if it cannot
        be read, or if its document or the message is gone. Raises DeadlineExceededError, ConnectionLostError.
        """
        reader = _unless_left(self._reader, self._session, self._document_number)
        self._args = await read_values(self._session, self._remote, self.args, reader, timeout)
        return self._args


class PageError:
    """An uncaught exception or an unhandled rejection.

    `kind` is "exception" or "rejection". `name` is the error's name, for example "TypeError", or "" if the value
    is not an Error. `message` is its message, `stack` its stack as a string, `frames` the stack as data. `url`,
    `line` and `column` (from 0) are the location of the throw. `handled`: whether a rejection was handled later.
    `time` is in seconds since 1970. `target_type` ("page", "iframe", "worker") and `target_id` identify the
    target.
    """

    __slots__ = (
        "_details",
        "_document_number",
        "_reader",
        "_session",
        "_value",
        "column",
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
        self.handled = False
        self.target_type = session.target_type
        self.target_id = session.target_id
        self._session = session
        self._document_number = session.documents_shown
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
            self.message = format_argument(thrown)

    def __getstate__(self) -> dict[str, object]:
        return state_without_page(self, _session=DepartedSession(self._session), _reader=None)

    def __setstate__(self, state: dict[str, object]) -> None:
        restore_state(self, state)

    def __repr__(self) -> str:
        return f"<PageError {self.kind} {fit_to_show(str(self))}>"

    def __str__(self) -> str:
        return f"{self.name}: {self.message}" if self.name and self.message else self.name or self.message

    @property
    def value(self) -> Any:
        """The thrown value if the event contains it or `read` has read it, else an Unread."""
        return self._value

    async def read(self, *, timeout: float = 30) -> Any:
        """Return the thrown value, an Error as a JSError. Waits and raises like `ConsoleMessage.values`."""
        reader = _unless_left(self._reader, self._session, self._document_number)
        read = await read_values(self._session, [self._details], [self._value], reader, timeout)
        self._value = read[0]
        return self._value


_MOST_PARENTS = 32


def all_frames(stack: StackTrace | None) -> tuple[StackFrame, ...]:
    """Return all frames from the innermost, including the asynchronous parents."""
    frames: list[StackFrame] = []
    for _ in range(_MOST_PARENTS):
        if stack is None:
            break
        frames += stack.call_frames
        stack = stack.parent
    return tuple(frames)


def _unless_left(reader: ValueReader | None, session: Session, document_number: int) -> ValueReader | None:
    """Return the reader, or None after a navigation: the object ids may then belong to other objects."""
    return None if reader is None or document_number != session.documents_shown else reader
