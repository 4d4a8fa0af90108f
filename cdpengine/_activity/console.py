"""Console messages and page errors, and the values in them.

Rule: each message or error is built from one event. Values that the event contains completely (arguments, thrown
values, stacks) are returned unchanged. Every other value is an Unread, a description that can be read in the page
within a given time; values are never approximated. Reading may run getters of the page that never end. They are
terminated in a shielded and bounded step.
"""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from typing import Any, Literal

import attrs
import trio

from cdpengine._budget import undoing, within
from cdpengine._pickling import DepartedSession, restore_state, state_without_page
from cdpengine._protocol.domains.runtime import (
    ConsoleAPICalled,
    ExceptionThrown,
    LogEntry,
    ObjectPreview,
    PropertyPreview,
    RemoteArgument,
    StackFrame,
    StackTrace,
)
from cdpengine._protocol.session import Session
from cdpengine.errors import ConnectionLostError, EngineError
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

    async def values(self, *, timeout: float = 30) -> tuple[Any, ...]:
        """Return the arguments as `Page.evaluate` returns values, with objects in their current state.

        Getters of objects run in the page. A getter that does not end within `timeout` seconds is terminated,
        together with everything else that its process runs. A value stays an Unread with a `reason` if it cannot
        be read, or if its document or the message is gone. Raises DeadlineExceededError, ConnectionLostError.
        """
        reader = _unless_left(self._reader, self._session, self._document_number)
        self._args = await read_values(self._session, self._remote, self.args, reader, timeout)
        return self._args


_FORMAT = re.compile(r"%([sdifoOcj%])")


def format_message(arguments: Sequence[RemoteArgument]) -> str:
    """Format a message: apply the first argument's format to the others, and append the rest."""
    if not arguments:
        return ""
    first, rest = arguments[0], list(arguments[1:])
    if first.type != "string" or not rest or "%" not in str(first.value):
        return " ".join(map(format_argument, arguments))

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
        return format_argument(argument)

    text = _FORMAT.sub(put, str(first.value))
    return " ".join([text, *map(format_argument, rest)])


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


def _whole(value: object) -> str:
    if isinstance(value, float) and abs(value) < float("inf"):
        return str(int(value))
    return "NaN" if isinstance(value, str | Unread | None) or value != value else str(value)


# --- values in the page ----------------------------------------------------------------------------

ValueReader = Callable[[Session, RemoteArgument], Awaitable[Any]]
"""Function that reads an object in the page, which may run getters. Raises an EngineError on failure."""


@attrs.frozen
class Unread:
    """A value that was left in the page. `type` is for example "Object", "map" or "function".

    `description` is Chrome's description of the value. `reason` explains why an attempt to read it failed.
    """

    type: str
    description: str
    reason: str = ""

    def __str__(self) -> str:
        return self.description


_NUMBERS = {
    "NaN": float("nan"),
    "Infinity": float("inf"),
    "-Infinity": float("-inf"),
    "-0": -0.0,
}

_EXACT = 2**53

_ABBREVIATED = 100
"""Length from which a preview shortens strings, in characters."""

_LONGEST_INTEGER = 600
"""Number of digits that Python always converts in one step."""

_MISSING = object()


def value_in_event(argument: RemoteArgument) -> Any:
    """Return the value if the event contains it completely, else an Unread.

    Primitives are exact: NaN, infinities and -0 are floats, a BigInt is an int, undefined and null are None. A
    plain object or array of primitives that fits into Chrome's preview is a dict or list.
    """
    value = _primitive(argument)
    if value is _MISSING and argument.preview is not None and not argument.preview.overflow:
        if argument.subtype == "array" and argument.class_name == "Array":
            value = _array(argument, argument.preview.properties)
        elif argument.subtype is None and argument.class_name == "Object":
            value = _object(argument.preview.properties)
    if value is _MISSING:
        kind = argument.subtype or argument.class_name or argument.type
        return Unread(kind, argument.description or kind)
    return value


def format_argument(argument: RemoteArgument) -> str:
    """Format an argument like a console."""
    if argument.type == "string":
        return str(argument.value)
    if argument.type == "undefined":
        return "undefined"
    if argument.subtype == "null":
        return "null"
    if argument.unserializable_value is not None:
        return argument.unserializable_value
    if argument.type == "boolean":
        return "true" if argument.value else "false"
    if argument.type == "number":
        return _number_text(argument.value)
    if argument.preview is not None and argument.subtype in (None, "array"):
        return _preview_text(argument, argument.preview)
    return argument.description or argument.class_name or argument.type


_TERMINATE_TIMEOUT = 1.0
"""Timeout for terminating a getter, in seconds."""


async def read_values(
    session: Session,
    remote: Sequence[RemoteArgument],
    known: Sequence[Any],
    reader: ValueReader | None,
    timeout: float,
) -> tuple[Any, ...]:
    """Return `known` with each Unread replaced by its value, or by an Unread with a reason.

    Raises DeadlineExceededError if the page does not answer within `timeout` seconds, and ConnectionLostError.
    """
    values = list(known)
    with within("read what a page wrote", timeout):
        await trio.lowlevel.checkpoint()
        for index, value in enumerate(values):
            if isinstance(value, Unread):
                values[index] = await _read(session, remote[index], value, reader)
    return tuple(values)


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


def _primitive(argument: RemoteArgument) -> Any:
    if argument.type == "undefined" or argument.subtype == "null":
        return None
    special = argument.unserializable_value
    if special is not None:
        if argument.type == "bigint":
            return _integer(special.removesuffix("n"))
        return _NUMBERS.get(special, _MISSING)
    if argument.type in ("string", "boolean"):
        return argument.value
    if argument.type == "number" and isinstance(argument.value, int | float):
        whole = argument.value
        return float(whole) if isinstance(whole, int) and abs(whole) > _EXACT else whole
    return _MISSING


def _integer(digits: str) -> Any:
    return int(digits) if len(digits) <= _LONGEST_INTEGER else _MISSING


def _array(argument: RemoteArgument, properties: list[PropertyPreview]) -> Any:
    # The preview omits holes and includes properties that are not elements, so check the length and the indices.
    if argument.description != f"Array({len(properties)})":
        return _MISSING
    if any(each.name != str(index) for index, each in enumerate(properties)):
        return _MISSING
    items = [_preview_value(each) for each in properties]
    return _MISSING if any(item is _MISSING for item in items) else items


def _object(properties: list[PropertyPreview]) -> Any:
    found = {each.name: _preview_value(each) for each in properties}
    # A symbol key is shown by its description, which a string key may equal.
    if any(value is _MISSING or name.startswith("Symbol(") for name, value in found.items()):
        return _MISSING
    return found


def _preview_value(each: PropertyPreview) -> Any:
    text = each.value
    match each.type, each.subtype:
        case "undefined", _:
            return None
        case "object", "null":
            return None
        case "boolean", _ if text in ("true", "false"):
            return text == "true"
        case "string", _ if text is not None and len(text) < _ABBREVIATED:
            return text
        case "number", _ if text is not None:
            return _number(text)
        case "bigint", _ if text is not None and text.endswith("n") and len(text) < _ABBREVIATED:
            return _integer(text[:-1])
    return _MISSING


def _number(text: str) -> Any:
    if text in _NUMBERS:
        return _NUMBERS[text]
    try:
        whole = int(text)
    except ValueError:
        try:
            return float(text)
        except ValueError:
            return _MISSING
    return whole if abs(whole) <= _EXACT else float(text)


def _number_text(value: object) -> str:
    return (
        str(int(value))
        if isinstance(value, float) and value.is_integer() and abs(value) < 1e21
        else str(value)
    )


def _preview_text(argument: RemoteArgument, preview: ObjectPreview) -> str:
    array = argument.subtype == "array"
    parts = [
        (each.value or "") if array else f"{each.name}: {each.value or ''}" for each in preview.properties
    ]
    if preview.overflow:
        parts.append("…")
    inside = ", ".join(parts)
    if array:
        return f"[{inside}]"
    name = "" if argument.class_name in (None, "Object") else f"{argument.class_name} "
    return f"{name}{{{inside}}}"


def _unless_left(reader: ValueReader | None, session: Session, document_number: int) -> ValueReader | None:
    """Return the reader, or None after a navigation: the object ids may then belong to other objects."""
    return None if reader is None or document_number != session.documents_shown else reader


async def _read(
    session: Session, argument: RemoteArgument, unread: Unread, reader: ValueReader | None
) -> Any:
    if argument.object_id is None or reader is None:
        return attrs.evolve(unread, reason="Chrome no longer has it")
    try:
        return await reader(session, argument)
    except ConnectionLostError:
        raise
    except EngineError as error:
        return attrs.evolve(unread, reason=str(error))
    except (trio.Cancelled, KeyboardInterrupt):
        with (
            undoing(_TERMINATE_TIMEOUT),
            suppress(EngineError),  # it is gone together with its script
        ):
            await session.call("Runtime.terminateExecution")
        raise
