"""Values that events carry: arguments of console messages, what was thrown, stacks; and reading what they lack.

Rule: a value that the event holds whole is that value. For everything else there is an Unread, which says what it
is. It is read in the page when it is asked for, within the time that was given; there is no approximation of a
value. Reading may run the page's own code (getters), which may not end: it is then terminated in a shielded and
bounded step.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from typing import Any

import attrs
import trio

from cdpengine._budget import undoing, within
from cdpengine._protocol.domains.runtime import (
    ObjectPreview,
    PropertyPreview,
    RemoteArgument,
    StackFrame,
    StackTrace,
)
from cdpengine._protocol.session import Session
from cdpengine.errors import ConnectionLostError, EngineError

ValueReader = Callable[[Session, RemoteArgument], Awaitable[Any]]
"""Reads the value of an object in the page; it may run getters there. Raises an EngineError when it cannot."""


@attrs.frozen
class Unread:
    """A value that stays in the page. `type` is such as "Object", "map" or "function", `description` Chrome's.

    `reason` says why it could not be read, where that was tried.
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
"""Characters from which on a preview shortens a text."""

_LONGEST_INTEGER = 600
"""Digits that Python always reads at once."""

_MISSING = object()


def value_in_event(argument: RemoteArgument) -> Any:
    """Return the value that an event holds whole, else an Unread.

    Primitives are exact: NaN, infinities and -0 are floats, a BigInt is an int, undefined and null are None.
    A plain object or array of primitives, small enough for Chrome's preview, is a dict or list.
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


def shown(argument: RemoteArgument) -> str:
    """Return an argument as a line of a console shows it."""
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
"""Seconds that terminating a getter may take."""


async def read_values(
    session: Session,
    remote: Sequence[RemoteArgument],
    known: Sequence[Any],
    reader: ValueReader | None,
    timeout: float,
) -> tuple[Any, ...]:
    """Return `known` with each Unread replaced by its value, or by an Unread that says why it cannot be read.

    Raises DeadlineExceededError when the page does not answer in `timeout` seconds, ConnectionLostError.
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
    """Return all frames, the innermost first, then those that led to them."""
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
    # The preview leaves out holes, and has properties that are no elements: then it is not an array of elements
    # alone.
    if argument.description != f"Array({len(properties)})":
        return _MISSING
    if any(each.name != str(index) for index, each in enumerate(properties)):
        return _MISSING
    items = [_preview_value(each) for each in properties]
    return _MISSING if any(item is _MISSING for item in items) else items


def _object(properties: list[PropertyPreview]) -> Any:
    found = {each.name: _preview_value(each) for each in properties}
    # A symbol as key is shown by its description, which a text can have too.
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


async def _read(
    session: Session, argument: RemoteArgument, unread: Unread, reader: ValueReader | None
) -> Any:
    if argument.object_id is None or reader is None:
        return attrs.evolve(unread, reason="Chrome has no more of it")
    try:
        return await reader(session, argument)
    except ConnectionLostError:
        raise
    except EngineError as error:
        return attrs.evolve(unread, reason=str(error))
    except (trio.Cancelled, KeyboardInterrupt):
        with (
            undoing(_TERMINATE_TIMEOUT),
            suppress(EngineError),  # gone, with whatever it was running
        ):
            await session.call("Runtime.terminateExecution")
        raise
