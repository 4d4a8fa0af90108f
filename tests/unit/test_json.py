"""JSON: unpaired surrogates survive every conversion."""

from __future__ import annotations

import json
import re
from typing import Any

import attrs
import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cdpengine import _json

HIGH, LOW = "\ud83d", "\ude00"
HALVES = (
    HIGH,
    LOW,
    LOW + HIGH,
    HIGH + HIGH,
    f"{HIGH}\\",
    f"\\{LOW}",
    f'"{HIGH}"',
    "\ufdd0\ud800",
    "\\ud83d" + LOW,
)
PLACES = ("{}", "a{}", "{}b", "a{}b", "\U0001f600{}\U0001f600", "{}\n")
TEXTS = [place.format(half) for half in HALVES for place in PLACES]

STRINGS = st.text(st.characters(exclude_categories=()))  # including unpaired surrogates
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**63), 2**63 - 1) | st.floats(allow_nan=False, allow_infinity=False)
    | STRINGS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(STRINGS, inner, max_size=4),
    max_leaves=8,
)  # fmt: skip


class Item(msgspec.Struct, frozen=True, omit_defaults=True):
    text: str = ""
    raw: msgspec.Raw = msgspec.Raw(b"")
    texts: tuple[str, ...] = ()
    more: dict[str, Any] = {}


@attrs.frozen
class Record:
    text: str
    item: Item


def joined(value: Any) -> Any:
    """Return the value after a JSON round trip: two adjacent halves of a surrogate pair become one character."""
    return json.loads(json.dumps(value))


@pytest.mark.parametrize("text", TEXTS, ids=ascii)
def test_structs_and_raw_parts(text: str) -> None:
    raw = json.dumps({text: text}).encode()
    message = b'{"text":%b,"raw":%b,"texts":[%b],"more":{%b:1}}' % (
        (json.dumps(text).encode(), raw) + (json.dumps(text).encode(),) * 2
    )
    item = _json.decode(message, Item)
    whole = joined(text)
    assert (item.text, item.texts, item.more) == (whole, (whole,), {whole: 1})
    assert bytes(item.raw) == raw
    assert json.loads(_json.encode(item)) == json.loads(message)
    assert json.loads(_json.encode(Record(text, item)))["item"] == json.loads(message)


@given(VALUES)
def test_any_value_survives_a_round_trip(value: Any) -> None:
    assert _json.decode(_json.encode(value)) == joined(value)
    assert _json.decode_leniently(_json.encode_text(value)) == joined(value)
    assert json.loads(_json.encode(value, indent=1)) == joined(value)


@given(STRINGS)
def test_any_string_has_a_form_without_escapes(text: str) -> None:
    shown = _json.replace_unpaired(text)
    assert shown.encode().decode() == shown
    assert shown == re.sub("[\ud800-\udfff]", "\ufffd", joined(text))


@pytest.mark.parametrize(
    "raw",
    [
        b"",
        b"{",
        b'"\\ud83d',
        b'{"a":NaN,"b":"\\ud83d"}',
        b'"\xff"',
        b"[" * 100_000,
        b'["\\ud83d",' + b"[" * 100_000,
        "\ud83d",
    ],
    ids=lambda raw: ascii(raw[:20]),
)
def test_invalid_json_is_refused(raw: bytes | str) -> None:
    with pytest.raises(msgspec.DecodeError):
        _json.decode(raw)
    with pytest.raises(ValueError, match="JSON|UTF-8"):
        _json.decode_leniently(raw)


def test_another_shape_is_a_validation_error() -> None:
    for raw in (b'{"text":1}', b'{"text":1,"more":{"a":"\\ud83d"}}'):
        with pytest.raises(msgspec.ValidationError):
            _json.decode(raw, Item)
