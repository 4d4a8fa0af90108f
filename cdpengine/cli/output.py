"""Printing JSON: results and errors, in one shape for all commands.

Rule: with --json, standard output is one JSON document whatever happens; an error is {"error": {"type", "message",
...}} with the error's own fields beside them, and the exit status is the same as without --json.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager

import attrs
import click

from cdpengine.cli.options import Failed
from cdpengine.errors import EngineError, InvalidArgument


def to_plain(value: object) -> object:
    """Return `value` as what JSON has. Numbers that JSON lacks become their names, other objects their text."""
    match value:
        case None | bool() | int() | str():
            return value
        case float():
            return value if math.isfinite(value) else _number_name(value)
        case Mapping():
            return {str(key): to_plain(item) for key, item in value.items()}
        case Sequence() | set() | frozenset() if not isinstance(value, bytes | bytearray | memoryview):
            return [to_plain(item) for item in value]
    kind = type(value)
    if attrs.has(kind):
        names = [field.name for field in attrs.fields(kind) if not field.name.startswith("_")]
        return {name: to_plain(getattr(value, name)) for name in names}
    return str(value)


def print_json(document: Mapping[str, object]) -> None:
    """Print one JSON document."""
    click.echo(json.dumps(to_plain(document), ensure_ascii=False, indent=2))


@contextmanager
def errors_as_json(*, wanted: bool) -> Iterator[None]:
    """Print what the body raises as JSON too, when `wanted`; the message still goes to standard error."""
    try:
        yield
    except EngineError as error:
        if not wanted:
            raise
        print_json({"error": describe_error(error)})
        if isinstance(error, InvalidArgument):
            raise
        click.echo(f"Error: {error}", err=True)
        raise Failed from error


def describe_error(error: EngineError) -> dict[str, object]:
    """Return the error's type, its message and its own fields."""
    description: dict[str, object] = {"type": type(error).__name__, "message": str(error)}
    kind: type[object] = type(error)
    if attrs.has(kind):
        for field in attrs.fields(kind):
            # RemoteError has a `message` of its own: Chrome's words, which are part of ours.
            description.setdefault(field.name, to_plain(getattr(error, field.name)))
    return description


def _number_name(value: float) -> str:
    """Return JavaScript's name of a number that JSON has no way to write."""
    if math.isnan(value):
        return "NaN"
    return "Infinity" if value > 0 else "-Infinity"
