"""Page errors: exceptions that nobody caught, and promises that were rejected with nobody to hear it.

Rule: made of one event; what was thrown is read as the arguments of console messages are.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

from cdpengine._activity.arguments import ValueReader, at_hand, shown
from cdpengine._activity.reading import read_values
from cdpengine._activity.stack import frames_of
from cdpengine._protocol.domains.runtime import ExceptionThrown, RemoteArgument, StackFrame
from cdpengine._protocol.session import Session
from cdpengine.errors.words import shown as fit_to_show


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

    def __init__(self, told: ExceptionThrown, session: Session, reader: ValueReader | None = None) -> None:
        details = told.exception_details
        self.kind: Literal["exception", "rejection"] = (
            "rejection" if "(in promise)" in details.text else "exception"
        )
        self.time = told.timestamp / 1000
        self.frames: tuple[StackFrame, ...] = frames_of(details.stack_trace)
        self.url = details.url or (self.frames[0].url if self.frames else "")
        self.line, self.column = details.line_number or 0, details.column_number or 0
        self.exception_id = details.exception_id
        self.handled = False
        self.target_type = session.target_type
        self.target_id = session.target_id
        self._session = session
        self._reader = reader
        thrown = self._details = details.exception or RemoteArgument()
        self._value: Any = at_hand(thrown)
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
        """What was thrown, where the event tells it whole or `read` has read it; else an Unread."""
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
