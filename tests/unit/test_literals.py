"""Arguments as JavaScript literals: exact, or refused by name."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cdpengine._evaluate.literals import to_literal
from cdpengine.errors import InvalidArgumentError


@pytest.mark.parametrize(
    ("value", "literal"),
    [
        (None, "null"),
        (True, "true"),
        (False, "false"),
        (0, "0"),
        (-7, "-7"),
        (2**53, "9007199254740992"),
        (2**53 + 1, "0x20000000000001n"),
        (-(2**53) - 1, "-0x20000000000001n"),
        (1.5, "1.5"),
        (-0.0, "-0.0"),
        (float("nan"), "NaN"),
        (float("inf"), "Infinity"),
        (float("-inf"), "-Infinity"),
        ('a "b" \\ \n \u2028 </script>', '"a \\"b\\" \\\\ \\n \\u2028 </script>"'),
        ("\ud83d", '"\\ud83d"'),
        ([], "[]"),
        ([1, (2, 3)], "[1,[2,3]]"),
        ({}, "{}"),
        ({"__proto__": 1}, '{["__proto__"]:1}'),
        ({"a": {"b": [None]}}, '{["a"]:{["b"]:[null]}}'),
    ],
)
def test_a_value_is_written_exactly(value: object, literal: str) -> None:
    assert to_literal(value) == literal


@pytest.mark.parametrize("value", [object(), b"bytes", {1: 2}, {"a": {"b": {3}}}, 1j, lambda: 0])
def test_values_without_a_literal_are_refused(value: object) -> None:
    with pytest.raises(InvalidArgumentError):
        to_literal(value)


def test_a_refusal_names_the_place_and_not_the_value() -> None:
    with pytest.raises(InvalidArgumentError) as caught:
        to_literal({"users": [{"password": b"secret-canary"}]})
    assert "argument.users[0].password" in str(caught.value)
    assert "secret-canary" not in str(caught.value)


def test_a_cycle_is_refused() -> None:
    cycle: list[Any] = []
    cycle.append(cycle)
    with pytest.raises(InvalidArgumentError, match="cycle"):
        to_literal(cycle)


_JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**53), 2**53)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=20,
)


@given(_JSON)
def test_without_computed_keys_it_is_json(value: object) -> None:
    def plain(inner: object) -> object:
        if isinstance(inner, dict):
            return [[key, plain(item)] for key, item in inner.items()]
        return [plain(item) for item in inner] if isinstance(inner, list) else inner

    assert json.loads(to_literal(plain(value))) == plain(value)


def test_a_cycle_of_mappings_is_refused() -> None:
    cycle: dict[str, Any] = {}
    cycle["again"] = cycle
    with pytest.raises(InvalidArgumentError, match="cycle"):
        to_literal(cycle)


@pytest.mark.parametrize("sign", [1, -1])
def test_an_integer_of_any_size_is_written(sign: int) -> None:
    value = sign * 10**5_000
    assert int(to_literal(value).removesuffix("n"), 16) == value
