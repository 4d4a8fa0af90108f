"""EngineError, the base of all errors; and the errors of every method: for its arguments, and for its time.

Rule: a class defines its message in `_describe`, never in `__str__`. In `_describe`, the fields are safe to
display: each string is one line, escaped, and without secrets. So page content cannot begin a line, and no class
can forget the escaping. The fields themselves are unchanged, for programs.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeVar

import attrs

from cdpengine.errors.texts import cut, duration, escape_lines, hide_secrets, shown, tried

_Error = TypeVar("_Error", bound="EngineError")

NEVER_SHOWN = "cdpengine.never_shown"
"""Metadata key of a field that is only for programs, such as an entered value."""


_LONGEST_GIVEN, _LONGEST_EXPECTED = 180, 500
"""Maximum lengths of the two halves of an InvalidArgumentError's message, in characters."""


PACKAGE = "cdpengine.errors"
"""The errors' `__module__`, in tracebacks and pickles: the package from which users import them."""


class EngineError(Exception):
    """The base of all exceptions that cdpengine raises on purpose."""

    __module__ = PACKAGE

    def __init_subclass__(cls) -> None:
        if cls.__module__.startswith(f"{PACKAGE}."):
            cls.__module__ = PACKAGE

    def __str__(self) -> str:
        return escape_lines(self._describe_copy(_fit_to_show(self)))

    def __repr__(self) -> str:
        return f"{type(self).__name__}({str(self)!r})"

    def _describe(self) -> str:
        """Return the message. Here, `self` is a copy whose strings are safe to display."""
        return Exception.__str__(self)

    @classmethod
    def _describe_copy(cls, copy: EngineError) -> str:
        return cls._describe(copy)


@attrs.define(eq=False, slots=False, str=False, repr=False)
class WrongRunError(EngineError, RuntimeError):
    """The browser belongs to another `trio.run`: in another thread, or in an earlier notebook cell.

    `outside`: the call runs outside of trio, for example in `asyncio.run`.
    """

    action: str
    outside: bool = False

    def _describe(self) -> str:
        if self.outside:
            return (
                f"cannot {self.action} outside of trio: start the program with trio.run(main), or use "
                "cdpengine.asyncio in asyncio. In another thread, use trio.from_thread.run. In a notebook, "
                "run %autoawait trio first."
            )
        return (
            f"cannot {self.action}: the browser belongs to another trio.run(...). From another thread, use "
            "trio.from_thread.run(...). In a notebook, launch and use the browser in one cell."
        )


@attrs.define(eq=False, slots=False, str=False, repr=False)
class InvalidArgumentError(EngineError, ValueError):
    """An argument that can never work, or that Chrome refuses; it has no effect.

    `what` names the argument, `given` is its representation, `expected` describes valid values.
    """

    what: str
    given: str
    expected: str

    def _describe(self) -> str:
        given = self.given.rstrip(",. ")
        if given.startswith(("a a", "a e", "a i", "a o")):
            given = f"an{given[1:]}"
        given, expected = cut(given, _LONGEST_GIVEN), cut(self.expected, _LONGEST_EXPECTED)
        return f"{self.what}: got {given}, expected {expected}"


@attrs.define(eq=False, slots=False, str=False, repr=False)
class InvalidStateError(EngineError):
    """`action` is not possible now, because of `reason`; nothing was sent.

    Examples are a second answer to a route, a second trace, and the activity of a page that does not collect it.
    """

    action: str
    reason: str

    def _describe(self) -> str:
        return f"cannot {self.action}: {self.reason}"


@attrs.define(eq=False, slots=False, str=False, repr=False)
class ActionSyntaxError(EngineError, ValueError):
    """A string that is not an action: at `line` and `column` (from 1), `given` is in the place of `expected`."""

    line: int
    column: int
    given: str
    expected: str

    def _describe(self) -> str:
        given, expected = cut(self.given, _LONGEST_GIVEN), cut(self.expected, _LONGEST_EXPECTED)
        return f"line {self.line}, column {self.column}: got {given}, expected {expected}"


@attrs.define(eq=False, slots=False, str=False, repr=False)
class DeadlineExceededError(EngineError):
    """The method's `timeout` (seconds) ran out. `steps` lists the attempts, in order."""

    action: str
    timeout: float
    steps: Sequence[str] = ()

    def _describe(self) -> str:
        return f"{self.action} did not finish within {duration(self.timeout)}{tried(self.steps)}"


def describe_fields(error: EngineError) -> dict[str, object]:
    """Return the fields of an error for display, without secrets and without the fields that are never displayed.

    Strings are not shortened, and not escaped, because JSON escapes them.
    """
    kind: type[object] = type(error)
    if not attrs.has(kind):
        return {}
    return {
        field.name: _without_secrets(getattr(error, field.name))
        for field in attrs.fields(kind)
        if not field.metadata.get(NEVER_SHOWN)
    }


def _fit_to_show(error: _Error) -> _Error:
    kind = type(error)
    # A class with fields takes them as arguments.
    fit = kind.__new__(kind, *(() if attrs.has(kind) else map(_fit, error.args)))
    fit.__dict__.update({name: _fit(value) for name, value in error.__dict__.items()})
    return fit


def _fit(value: Any) -> Any:
    if isinstance(value, str):
        return shown(value)
    if value is None or isinstance(value, bool | int | float | bytes | EngineError):
        return value
    if isinstance(value, Sequence):
        return tuple(map(_fit, value))
    kind = type(value)
    if attrs.has(kind) and kind.__module__.startswith(__package__):
        return attrs.evolve(
            value,
            **{field.name: _fit(getattr(value, field.name)) for field in attrs.fields(kind) if field.init},
        )
    return shown(str(value))


def _without_secrets(value: Any) -> Any:
    """Return the value with secrets removed from all strings."""
    if isinstance(value, str):
        return hide_secrets(value)
    if isinstance(value, bytes):
        return f"{len(value)} bytes"
    if isinstance(value, Mapping):
        return {_without_secrets(key): _without_secrets(item) for key, item in value.items()}
    if isinstance(value, Sequence):
        return [_without_secrets(item) for item in value]
    if isinstance(value, EngineError):
        return {"type": type(value).__name__, "message": str(value), **describe_fields(value)}
    kind = type(value)
    if attrs.has(kind):
        return {
            field.name: _without_secrets(getattr(value, field.name))
            for field in attrs.fields(kind)
            if not field.name.startswith("_") and not field.metadata.get(NEVER_SHOWN)
        }
    return value
