"""Values of console messages and page errors: their conversion, their text, and their reading in the page.

Rule: values that the event contains completely are returned unchanged. Every other value is an Unread, a
description that can be read in the page within a given time; values are never approximated. Reading may run
getters of the page that never end. They are terminated in a shielded and bounded step.
"""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from typing import Any

import attrs
import trio

from cdpengine._budget import undoing, within
from cdpengine._json_values import SPECIAL_NUMBERS
from cdpengine._protocol.domains.runtime import ObjectPreview, PropertyPreview, RemoteArgument
from cdpengine._protocol.session import Session
from cdpengine.errors import ConnectionLostError, EngineError


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


def _primitive(argument: RemoteArgument) -> Any:
    if argument.type == "undefined" or argument.subtype == "null":
        return None
    special = argument.unserializable_value
    if special is not None:
        if argument.type == "bigint":
            return _integer(special.removesuffix("n"))
        return SPECIAL_NUMBERS.get(special, _MISSING)
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
    if text in SPECIAL_NUMBERS:
        return SPECIAL_NUMBERS[text]
    try:
        whole = int(text)
    except ValueError:
        try:
            return float(text)
        except ValueError:
            return _MISSING
    return whole if abs(whole) <= _EXACT else float(text)


# --- text -----------------------------------------------------------------------------------------------

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
            return _whole_text(value_in_event(argument))
        return format_argument(argument)

    text = _FORMAT.sub(put, str(first.value))
    return " ".join([text, *map(format_argument, rest)])


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


def _whole_text(value: object) -> str:
    if isinstance(value, float) and abs(value) < float("inf"):
        return str(int(value))
    return "NaN" if isinstance(value, str | Unread | None) or value != value else str(value)


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


# --- reading in the page ------------------------------------------------------------------------------------

ValueReader = Callable[[Session, RemoteArgument], Awaitable[Any]]
"""Function that reads an object in the page, which may run getters. Raises an EngineError on failure."""

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
