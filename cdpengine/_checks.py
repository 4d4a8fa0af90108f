"""Checks of arguments: each returns the valid value, or raises InvalidArgumentError.

Rule: a check declares the valid values, and the error describes them in the same words everywhere. `expected`
replaces this description.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Collection
from contextlib import suppress
from types import UnionType
from typing import Any, TypeVar

import attrs

from cdpengine.errors import InvalidArgumentError
from cdpengine.errors.selectors import advise

T = TypeVar("T")

_LONGEST_GIVEN = 80
"""Maximum length of a value in an error, in characters."""


def invalid(what: str, given: object, expected: str) -> InvalidArgumentError:
    """Return the error of an invalid value, which it shows."""
    shown = f"a {type(given).__name__}"
    with suppress(Exception):  # an integer of over 4,300 digits has no repr, and a caller's class may fail
        shown = repr(given)[:_LONGEST_GIVEN]
    return InvalidArgumentError(what=what, given=shown, expected=expected)


def invalid_selector(css: str, reason: str) -> InvalidArgumentError:
    """Return the error of a CSS selector that Chrome refused for `reason`. It names the call that may be meant."""
    advice = advise(css)
    return invalid("css", css, f"a CSS selector. {advice}" if advice else f"a selector ({reason})")


def wrong_type(what: str, given: object, expected: str) -> InvalidArgumentError:
    """Return the error of a value of a wrong type. It does not show the value, which may be long or secret."""
    return InvalidArgumentError(what=what, given=f"a {type(given).__name__}", expected=expected)


def check_type(what: str, given: T, kind: type | UnionType, expected: str) -> T:
    """Return the value if it is an instance of `kind`."""
    if not isinstance(given, kind):
        raise wrong_type(what, given, expected)
    return given


def check_string(what: str, given: object, expected: str = "", *, empty: bool = True) -> str:
    """Return the value if it is a string. Without `empty`, it needs other characters than white space."""
    if not isinstance(given, str):
        raise wrong_type(what, given, expected or ("a str" if empty else "a non-empty string"))
    if not empty and not given.strip():
        raise invalid(what, given, expected or "a non-empty string")
    return given


def check_flag(what: str, given: object) -> bool:
    """Return the value if it is a bool."""
    if not isinstance(given, bool):
        raise invalid(what, given, "True or False")
    return given


def check_choice(what: str, given: object, choices: Collection[T], expected: str = "") -> T:
    """Return the choice that equals the value."""
    for choice in choices:
        if choice == given:
            return choice
    quoted = ", ".join(f'"{choice}"' for choice in choices)
    raise invalid(what, given, expected or f"one of {quoted}")


def check_count(
    what: str, given: object, *, least: int = 0, most: float = math.inf, unit: str = "", expected: str = ""
) -> int:
    """Return the value if it is an int within the limits, and no bool. `unit` is a plural noun: "bytes"."""
    if isinstance(given, bool) or not isinstance(given, int) or not least <= given <= most:
        noun = f"a number of {unit}" if unit else "a whole number"
        limits = f"{least} or more" if most == math.inf else f"{least} to {most}"
        raise invalid(what, given, expected or f"{noun}, {limits}")
    return given


def check_number(
    what: str,
    given: object,
    *,
    least: float | None = None,
    above: float | None = None,
    most: float = sys.float_info.max,
    unit: str = "a number",
    expected: str = "",
) -> float:
    """Return the value if it is an int or a float within the limits, and no bool.

    NaN is never valid, and infinity only with `most=math.inf`.
    """
    if not isinstance(given, bool) and isinstance(given, int | float):
        with suppress(OverflowError):
            number = float(given)
            if number <= most and (least is None or number >= least) and (above is None or number > above):
                return number
    raise invalid(what, given, expected or f"{unit}{_describe_limits(least, above, most)}")


def checked(
    check: Callable[..., object], **options: Any
) -> Callable[[object, attrs.Attribute[Any], Any], None]:
    """Return a validator of an attrs field. It calls `check` with the field's name, its value and the options."""

    def validate(_instance: object, attribute: attrs.Attribute[Any], value: Any) -> None:
        check(attribute.name, value, **options)

    return validate


def _describe_limits(least: float | None, above: float | None, most: float) -> str:
    bounded = most < sys.float_info.max
    if above is not None:
        return f", more than {above:g}" + f", up to {most:g}" * bounded
    if least is not None:
        return f", {least:g} to {most:g}" if bounded else f", {least:g} or more"
    return f", up to {most:g}" if bounded else ""
