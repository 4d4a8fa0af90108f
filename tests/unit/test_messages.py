"""The envelope codec: optional parts of Chrome's messages, strings that UTF-8 cannot represent, and invalid
input.
"""

from __future__ import annotations

import contextlib
import json
import math
from typing import Any

import attrs
import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cdpengine._protocol.messages import decode_envelope, decode_error, decode_payload, encode_call
from cdpengine.errors import InvalidArgumentError

DEEP = b"[" * 50_000 + b"]" * 50_000

ANY_TEXT = st.text(st.characters())  # including surrogates
ANY_JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**80), 2**80)
    | st.floats(allow_nan=False, allow_infinity=False)
    | ANY_TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(ANY_TEXT, inner, max_size=3),
    max_leaves=8,
)


class Box(msgspec.Struct):
    x: float
    label: str = ""


@attrs.frozen
class AttrsBox:
    x: float
    label: str = ""


# --- outgoing
# ------------------------------------------------------------------------------------------------


def test_command_without_a_session_has_no_session_id() -> None:
    assert json.loads(encode_call(7, "Page.enable", {}, None)) == {
        "id": 7,
        "method": "Page.enable",
        "params": {},
    }


def test_none_is_sent_as_null_and_the_session_id_is_added() -> None:
    message = json.loads(encode_call(1, "A.b", {"x": None}, "S"))
    assert message == {"id": 1, "method": "A.b", "params": {"x": None}, "sessionId": "S"}


@given(st.dictionaries(ANY_TEXT, ANY_JSON, max_size=4))
def test_parameters_arrive_unchanged(params: dict[str, Any]) -> None:
    message = encode_call(1, "A.b", params, "S")
    assert json.loads(message)["params"] == params
    message.decode("utf-8")  # the text of a websocket message must be UTF-8


def test_half_of_a_surrogate_pair_is_escaped() -> None:
    message = encode_call(1, "Input.insertText", {"text": "a\ud83d"}, None)
    assert rb'"a\ud83d"' in message


def test_half_of_a_surrogate_pair_next_to_bytes() -> None:
    message = json.loads(encode_call(1, "A.b", {"text": "\ud83d", "data": b"ab"}, None))
    assert message["params"] == {"text": "\ud83d", "data": "YWI="}


def test_structs_and_attrs_classes_are_values_too() -> None:
    message = json.loads(encode_call(1, "A.b", {"a": Box(1.5), "b": AttrsBox(2.5)}, None))
    assert message["params"] == {"a": {"x": 1.5, "label": ""}, "b": {"x": 2.5, "label": ""}}


def cyclic() -> dict[str, Any]:
    params: dict[str, Any] = {}
    params["self"] = params
    return params


def deep(leaf: object) -> dict[str, Any]:
    for _ in range(50_000):
        leaf = [leaf]
    return {"x": leaf}


@pytest.mark.parametrize(
    "params",
    [
        {"x": object()},
        {"x": 10**5000},
        {("a", "b"): 1},
        {"x": object(), "y": "\ud800"},
        cyclic(),
        deep(1),
        deep("\ud800"),
    ],
    ids=["object", "huge int", "tuple key", "object+half", "cycle", "deep", "deep+half"],
)
def test_values_without_a_json_form_are_refused(params: dict[Any, Any]) -> None:
    with pytest.raises(InvalidArgumentError) as caught:
        encode_call(1, "A.b", params, None)
    assert caught.value.what == "parameters of A.b"
    assert len(str(caught.value)) < 300


def test_not_a_number_never_becomes_invalid_json() -> None:
    # JSON has no NaN. An invalid message would get no reply, and its caller would wait forever.
    assert json.loads(encode_call(1, "A.b", {"x": math.nan}, None))["params"] == {"x": None}


# --- incoming
# ------------------------------------------------------------------------------------------------


def test_envelope_of_an_event_keeps_its_payload_raw() -> None:
    envelope = decode_envelope('{"method":"A.b","params":{"x": "☃"},"sessionId":"S","new":1}')
    assert (envelope.id, envelope.method, envelope.session_id) == (None, "A.b", "S")
    assert bytes(envelope.params) == '{"x": "☃"}'.encode()


def test_nulls_in_an_envelope_mean_missing_fields() -> None:
    envelope = decode_envelope(b'{"id":null,"method":"A.b","sessionId":null,"params":null}')
    assert (envelope.id, envelope.method, envelope.session_id) == (None, "A.b", None)


def test_payload_bytes_that_are_not_utf8_do_not_spoil_the_envelope() -> None:
    envelope = decode_envelope(b'{"method":"A.b","params":{"x":"\xff"}}')
    assert envelope.method == "A.b"
    with pytest.raises(msgspec.DecodeError, match="not UTF-8"):
        decode_payload(envelope.params, dict)


@given(st.binary(max_size=80) | st.text(st.characters(), max_size=80))
def test_decoding_an_envelope_fails_in_one_way_only(message: bytes | str) -> None:
    with contextlib.suppress(msgspec.DecodeError):
        decode_envelope(message)


@given(st.binary(max_size=80))
def test_decoding_a_payload_fails_in_one_way_only(raw: bytes) -> None:
    for kind in (dict, object, Box):
        with contextlib.suppress(msgspec.DecodeError):
            decode_payload(raw, kind)


@pytest.mark.parametrize("kind", [Box, AttrsBox])
def test_payload_is_decoded_directly_into_the_type(kind: type[Box | AttrsBox]) -> None:
    assert decode_payload(b'{"x": 3, "label": "l", "unknown": [1]}', kind) == kind(3.0, "l")


@pytest.mark.parametrize("kind", [Box, AttrsBox])
def test_lone_surrogates_of_a_page_are_kept(kind: type[Box | AttrsBox]) -> None:
    assert decode_payload(rb'{"x": 1, "label": "a\ud83d"}', kind) == kind(1.0, "a\ud83d")


@given(ANY_JSON)
def test_any_json_is_decoded_as_the_standard_library_does(value: object) -> None:
    raw = json.dumps(value).encode()
    assert decode_payload(raw, object) == json.loads(raw)


@pytest.mark.parametrize("raw", [b'{"x":"text"}', b"null", b"[]", b"{}"])
def test_another_shape_is_a_validation_error(raw: bytes) -> None:
    with pytest.raises(msgspec.ValidationError):
        decode_payload(raw, Box)


@pytest.mark.parametrize("raw", [b'{"x":' + DEEP + b"}", rb'{"h":"\ud800","x":' + DEEP + b"}"])
def test_a_payload_nested_too_deeply_is_a_decode_error(raw: bytes) -> None:
    with pytest.raises(msgspec.DecodeError, match="nested too deeply"):
        decode_payload(raw, dict)


def test_big_integers_are_kept() -> None:
    assert decode_payload(b'{"x":123456789012345678901234567890}', dict) == {
        "x": 123456789012345678901234567890
    }


def test_error_bodies() -> None:
    body = decode_error(b'{"code":-32000,"message":"no","data":"why","new":1}')
    assert (body.code, body.message, body.data) == (-32000, "no", "why")
    assert decode_error(b"{}").message == "no message"


@pytest.mark.parametrize(
    "raw",
    [b'"text"', b"17", b'{"code":"x"}', b"{", b"\xff", b'{"data":' + DEEP + b"}", b'{"code":1e400}'],
)
def test_error_of_an_unknown_shape_is_described(raw: bytes) -> None:
    assert decode_error(raw).message == "an error of an unknown shape"
