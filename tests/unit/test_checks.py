"""Checks of arguments: the valid values, and the errors of the others."""

from __future__ import annotations

import math
import re
from collections.abc import Callable

import attrs
import pytest

from cdpengine._checks import (
    check_choice,
    check_count,
    check_flag,
    check_number,
    check_string,
    check_type,
    checked,
    invalid,
)
from cdpengine.errors import InvalidArgumentError


@pytest.mark.parametrize(
    ("check", "value"),
    [
        (lambda value: check_count("n", value), 0),
        (lambda value: check_count("n", value, least=-1, most=3), -1),
        (lambda value: check_number("n", value), -1.5),
        (lambda value: check_number("n", value, least=1, most=3), 3),
        (lambda value: check_number("n", value, above=0, most=math.inf), math.inf),
        (lambda value: check_string("s", value), ""),
        (lambda value: check_string("s", value, empty=False), " a"),
        (lambda value: check_flag("f", value), False),
        (lambda value: check_choice("c", value, ("a", "b")), "b"),
        (lambda value: check_type("t", value, bytes | None, "bytes"), b"a"),
    ],
)
def test_a_valid_value_is_returned(check: Callable[[object], object], value: object) -> None:
    assert check(value) == value


@pytest.mark.parametrize(
    ("check", "value", "message"),
    [
        (lambda value: check_count("n", value), -1, "got -1, expected a whole number, 0 or more"),
        (lambda value: check_count("n", value, least=1, unit="moves"), True, "got True, expected a number of moves, 1 or more"),
        (lambda value: check_count("n", value, most=9), 1.0, "got 1.0, expected a whole number, 0 to 9"),
        (lambda value: check_count("n", value, expected="a port"), "1", "got '1', expected a port"),
        (lambda value: check_number("n", value), math.nan, "got nan, expected a number"),
        (lambda value: check_number("n", value), math.inf, "got inf, expected a number"),
        (lambda value: check_number("n", value, least=0, unit="seconds"), False, "got False, expected seconds, 0 or more"),
        (lambda value: check_number("n", value, least=0.1, most=2), 3, "got 3, expected a number, 0.1 to 2"),
        (lambda value: check_number("n", value, above=0), 0, "got 0, expected a number, more than 0"),
        (lambda value: check_number("n", value, above=0, most=20), 21, "expected a number, more than 0, up to 20"),
        (lambda value: check_number("n", value, most=20), 21, "expected a number, up to 20"),
        (lambda value: check_string("n", value), 1, "got an int, expected a str"),
        (lambda value: check_string("n", value, empty=False), " ", "got ' ', expected a non-empty string"),
        (lambda value: check_flag("n", value), 1, "got 1, expected True or False"),
        (lambda value: check_choice("n", value, ("a", "b", "c")), [], 'got [], expected one of "a", "b", "c"'),
        (lambda value: check_type("n", value, bytes | None, "bytes"), "secret", "got a str, expected bytes"),
    ],
)  # fmt: skip
def test_an_invalid_value_is_refused(check: Callable[[object], object], value: object, message: str) -> None:
    with pytest.raises(InvalidArgumentError, match=f"^n: .*{re.escape(message)}"):
        check(value)


def test_a_long_value_is_cut() -> None:
    assert len(invalid("text", "x" * 1000, "less").given) == 80


def test_an_integer_without_a_decimal_form_is_refused() -> None:
    huge = 10**5000
    assert check_count("n", huge) == huge
    for check in (
        lambda: check_count("n", huge, most=9),
        lambda: check_number("n", huge),
        lambda: check_number("n", huge, most=math.inf),
    ):
        with pytest.raises(InvalidArgumentError, match="^n: got an int, expected a"):
            check()


def test_a_checked_field_names_itself_in_its_error() -> None:
    @attrs.frozen
    class Options:
        steps: int = attrs.field(default=1, validator=checked(check_count, least=1, unit="steps"))

    assert Options(2).steps == 2
    with pytest.raises(InvalidArgumentError, match="steps: got 0, expected a number of steps, 1 or more"):
        Options(0)
