"""Requests: the meaning of their JSON, refusals and their messages, and a schema that agrees."""

from __future__ import annotations

import json
import math
import os
from typing import Any, get_args, get_origin, get_type_hints

import attrs
import jsonschema
import pytest
from act_cases import SMALLEST
from hypothesis import given, settings
from hypothesis import strategies as st

from cdpengine.act import KINDS, parse_request, to_json
from cdpengine.act.fields import LEAST, camel_case, file_fields
from cdpengine.act.requests import file_in_url
from cdpengine.act.response import ActResponse, Effects, OpenedPage, describe_failure, name_error
from cdpengine.act.schema import make_schema
from cdpengine.act.words.advice import ADVICE
from cdpengine.errors import CoveredError, EngineError, InvalidArgumentError

SCHEMA = make_schema()
VALIDATORS = {
    name: jsonschema.Draft202012Validator(SCHEMA["$defs"][kind.__name__]) for name, kind in KINDS.items()
}
EITHER = jsonschema.Draft202012Validator({**SCHEMA, "$ref": "#/$defs/ActRequest"})
ALL = f"one of {len(KINDS)}"


def smallest(kind: str) -> dict[str, Any]:
    return {"kind": kind, **SMALLEST.get(kind, {})}


@pytest.mark.parametrize("kind", KINDS)
def test_each_kind_is_read_and_written_back(kind: str) -> None:
    data = smallest(kind)
    for form in (data, json.dumps(data), json.dumps(data).encode(), parse_request(data)):
        request = parse_request(form)
        assert type(request) is KINDS[kind]
        assert to_json(request) == data
    VALIDATORS[kind].validate(data)
    EITHER.validate(data)


@pytest.mark.parametrize("kind", KINDS)
def test_fields_that_name_files_are_declared_as_files(kind: str) -> None:
    """An actor checks these files."""
    names = {field.name for field in attrs.fields(KINDS[kind])}
    assert set(file_fields(KINDS[kind])) == names & {"path", "paths", "directory"}


def fits(value: object, kind: Any, field: attrs.Attribute[Any]) -> bool:
    """Return whether a JSON value has a type. An independent reading of the annotations."""
    origin, arguments = get_origin(kind), get_args(kind)
    if kind is Any:
        return True
    if kind in (str, bool):
        return type(value) is kind
    if kind is int:
        return type(value) is int
    if kind is float:
        return type(value) in (int, float)
    if origin is tuple:
        return type(value) is list and all(fits(each, arguments[0], field) for each in value)
    if origin is dict:
        return type(value) is dict and all(fits(each, arguments[1], field) for each in value.values())
    if str(origin) == "typing.Literal":
        return value in arguments and type(value) is str
    if attrs.has(kind):
        return False
    return any(value is None if each is type(None) else fits(value, each, field) for each in arguments)


VALUES: list[object] = [None, True, 7, 1.5, "x", ["x"], [7], {"x": 1}, [["x"]]]


@pytest.mark.parametrize("kind", KINDS)
def test_a_value_of_another_type_is_refused_with_its_path(kind: str) -> None:
    hints = get_type_hints(KINDS[kind])
    for field in attrs.fields(KINDS[kind]):
        for value in VALUES:
            if fits(value, hints[field.name], field) or (field.name.endswith("ref") and value == 7):
                continue
            data = {**smallest(kind), camel_case(field.name): value}
            with pytest.raises(InvalidArgumentError) as caught:
                parse_request(data)
            assert f"{kind}.{camel_case(field.name)}" in caught.value.what
            assert not VALIDATORS[kind].is_valid(data)


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ({"kind": "click", "ref": 8}, {"kind": "click", "ref": "8"}),
        ({"kind": "drag", "startRef": 1, "endRef": 2}, {"kind": "drag", "startRef": "1", "endRef": "2"}),
        ({"kind": "fill", "fields": [{"ref": 3, "value": "5"}]}, {"kind": "fill", "fields": [{"ref": "3", "value": "5"}]}),
        ({"kind": "focusTab", "index": "3"}, {"kind": "focusTab", "index": 3}),
        ({"kind": "focusTab", "index": 3.0}, {"kind": "focusTab", "index": 3}),
        ({"kind": "scroll", "dy": "-10.5"}, {"kind": "scroll", "dy": -10.5}),
        ({"kind": "snapshot", "interactive": "True"}, {"kind": "snapshot", "interactive": True}),
        ({"kind": "wait", "timeMs": " 30 "}, {"kind": "wait", "timeMs": 30}),
    ],
)  # fmt: skip
def test_numbers_and_booleans_may_be_strings(written: dict[str, Any], meant: dict[str, Any]) -> None:
    assert to_json(parse_request(written)) == meant


@pytest.mark.parametrize(
    "request_",
    [
        {"kind": "focusTab", "index": "-1"}, {"kind": "focusTab", "index": "1.5"}, {"kind": "wait", "timeMs": "1e3"},
        {"kind": "wait", "timeMs": "9" * 400}, {"kind": "snapshot", "interactive": "yes"}, {"kind": "scroll", "dy": "NaN"},
        {"kind": "click", "ref": True}, {"kind": "snapshot", "maxTokens": True}, {"kind": "scroll", "dy": ""},
    ],
)  # fmt: skip
def test_other_strings_are_not_numbers(request_: dict[str, Any]) -> None:
    with pytest.raises(InvalidArgumentError):
        parse_request(request_)


@pytest.mark.parametrize("kind", KINDS)
def test_an_unknown_field_is_refused_with_the_nearest_name(kind: str) -> None:
    known = [camel_case(field.name) for field in attrs.fields(KINDS[kind])]
    for right in known:
        for wrong in (right + "s", right[:-1], right.upper(), "_".join(right)):
            if wrong in known:
                continue
            data = {**smallest(kind), wrong: 1}
            with pytest.raises(InvalidArgumentError) as caught:
                parse_request(data)
            assert caught.value.what == f"a field of {kind}"
            if wrong in (right + "s", right.upper()):
                assert repr(right) in caught.value.expected
            assert not VALIDATORS[kind].is_valid(data)


@pytest.mark.parametrize(
    ("given", "nearest"),
    [
        ("clik", "'click'"), ("Click", "'click'"), ("scroll_into_view", "'scrollIntoView'"), ("screen-shot", "'screenshot'"),
        ("goto", ALL), ("", ALL), (None, ALL), (3, ALL), (["click"], ALL),
    ],
)  # fmt: skip
def test_an_unknown_kind_is_refused_with_the_nearest_name(given: object, nearest: str) -> None:
    with pytest.raises(InvalidArgumentError) as caught:
        parse_request({"kind": given})
    assert caught.value.expected.startswith(nearest)


@pytest.mark.parametrize("kind", KINDS)
def test_a_missing_required_field_is_named(kind: str) -> None:
    for missing in SMALLEST.get(kind, {}):
        data = {name: value for name, value in smallest(kind).items() if name != missing}
        with pytest.raises(InvalidArgumentError) as caught:
            parse_request(data)
        assert caught.value.what.split(".")[0] == kind
        assert caught.value.expected


@pytest.mark.parametrize("kind", KINDS)
def test_bounds_are_those_that_the_class_names(kind: str) -> None:
    for field in attrs.fields(KINDS[kind]):
        least = field.metadata.get(LEAST)
        if least is None:
            continue
        value: object = (
            [] if field.name in ("fields", "cookies", "paths") else {} if field.name == "items" else least - 1
        )
        with pytest.raises(InvalidArgumentError) as caught:
            parse_request({**smallest(kind), camel_case(field.name): value})
        assert caught.value.what == f"{kind}.{camel_case(field.name)}"


@pytest.mark.parametrize(
    ("data", "what"),
    [
        ({"kind": "click", "ref": "e1", "selector": "a"}, "a ref and a selector"),
        ({"kind": "click"}, "no element"),
        ({"kind": "fill", "fields": [{"value": "x"}]}, "no element"),
        ({"kind": "fill", "fields": [{"ref": "e1", "selector": "a", "value": "x"}]}, "a ref and a selector"),
        ({"kind": "evaluate", "function": "1", "ref": "e1", "selector": "a"}, "a ref and a selector"),
        ({"kind": "screenshot", "ref": "e1", "selector": "a"}, "a ref and a selector"),
        ({"kind": "screenshot", "ref": "e1", "fullPage": True}, "an element, and fullPage or labels"),
        ({"kind": "screenshot", "selector": "a", "labels": True}, "an element, and fullPage or labels"),
        ({"kind": "screenshot", "quality": 3}, "one for png"),
        ({"kind": "scroll"}, "no distance"),
        ({"kind": "scroll", "direction": "up", "dx": 1}, "a direction, and dx or dy"),
        ({"kind": "wait"}, "no condition"),
        ({"kind": "find"}, "nothing to find"),
        ({"kind": "snapshot", "find": " "}, "nothing to find"),
        ({"kind": "snapshot", "find": "a", "diff": True}, "find, and diff"),
        ({"kind": "snapshot", "find": "a", "maxTokens": 9}, "find, and diff, maxChars or maxTokens"),
        ({"kind": "focusTab"}, "no page"),
        ({"kind": "focusTab", "index": 0, "targetId": "A"}, "an index and a targetId"),
        ({"kind": "close", "index": 0, "targetId": "A"}, "an index and a targetId"),
        ([1], "a list"),
        ("null", "null"),
        ("3", "a number"),
        ("{", "text that is not JSON at line 1, column 2"),
        ("[" * 100_000, "nested too deep"),
        ('{"a":' * 100_000, "nested too deep"),
        (b"\xff", "bytes that are not UTF-8"),
        ('{"kind":"wait","timeMs":NaN}', "NaN"),
        ({"kind": "evaluate", "function": "f", "args": [math.inf]}, "a number"),
        ({"kind": "evaluate", "function": "f", "args": [{"a": {1, 2}}]}, "a set"),
    ],
)  # fmt: skip
def test_incompatible_fields_are_refused(data: Any, what: str) -> None:
    with pytest.raises(InvalidArgumentError) as caught:
        parse_request(data)
    assert what in caught.value.given
    assert len(str(caught.value)) <= 400


def test_deep_arguments_are_accepted_or_refused_and_never_break() -> None:
    deep: list[Any] = []
    for _ in range(50_000):
        deep = [deep]
    with pytest.raises(InvalidArgumentError):
        parse_request({"kind": "click", "ref": deep})
    parse_request({"kind": "evaluate", "function": "f", "args": deep})


def test_a_refusal_contains_no_value() -> None:
    secret = "hunter2hunter2"
    for data in (
        {"kind": "type", "ref": "e1", "text": [secret]},
        {"kind": "fill", "fields": [{"ref": "e1", "value": {secret: 1}}]},
        {"kind": "setStorage", "items": {"a": [secret]}},
        {"kind": "setCookies", "cookies": [{"name": "a", "value": {"x": secret}}]},
    ):
        with pytest.raises(InvalidArgumentError) as caught:
            parse_request(data)
        assert secret not in str(caught.value)
    request = parse_request({"kind": "type", "ref": "e1", "text": secret})
    assert secret not in repr(request)


JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=5,
)


@given(st.data())
@settings(max_examples=100, deadline=None)
def test_every_input_is_accepted_as_the_schema_describes_or_refused(data: st.DataObject) -> None:
    """The parser also refuses combinations that the schema cannot express.

    Everything that it accepts, the schema accepts too.
    """
    kind = data.draw(st.sampled_from(sorted(KINDS)))
    names = [camel_case(field.name) for field in attrs.fields(KINDS[kind])]
    request = {**smallest(kind), **data.draw(st.dictionaries(st.sampled_from(names), JSON, max_size=3))}
    try:
        parsed = parse_request(request)
    except InvalidArgumentError as error:
        assert str(error)  # noqa: PT017 - that it has words
    else:
        VALIDATORS[kind].validate(to_json(parsed))
        assert parse_request(to_json(parsed)) == parsed


# --- responses -----------------------------------------------------------------------------------------------


def error_classes(root: type[EngineError] = EngineError) -> list[type[EngineError]]:
    found = [root]
    for each in root.__subclasses__():
        if each.__module__ == "cdpengine.errors":
            found += error_classes(each)
    return found


@pytest.mark.parametrize("kind", error_classes())
def test_each_public_error_has_its_own_advice_and_name(kind: type[EngineError]) -> None:
    assert kind in ADVICE
    assert ADVICE[kind].hint.endswith(".")
    name = name_error(kind)
    assert name[0].islower()
    assert not name.endswith("Error")


def test_a_covering_element_appears_in_the_failure_with_its_ref() -> None:
    error = CoveredError("click", "button 'Go'", "covered", covered_by='dialog "Cookies"', covered_ref="e7")
    failure = describe_failure(error)
    assert (failure.kind, failure.covered_by, failure.covered_by_ref) == ("covered", 'dialog "Cookies"', "e7")
    assert failure.retryable


def test_a_response_contains_only_available_parts() -> None:
    response = ActResponse(
        kind="click",
        ok=True,
        target_id="T",
        url="u",
        effects=Effects(popup=OpenedPage(target_id="P", url="p")),
    )
    assert response.to_json() == {
        "ok": True, "kind": "click", "targetId": "T", "url": "u", "effects": {"popup": {"targetId": "P", "url": "p"}},
    }  # fmt: skip
    jsonschema.Draft202012Validator({**SCHEMA, "$ref": "#/$defs/ActResponse"}).validate(response.to_json())
    assert ActResponse(kind="evaluate", ok=True, result=math.nan).to_json()["result"] == "NaN"


@pytest.mark.parametrize(
    ("url", "path"),
    [
        ("file:///etc/passwd", "/etc/passwd"),
        ("FILE:///etc/passwd?a#b", "/etc/passwd"),
        (" \tfi\nle:/etc/pass%77d", "/etc/passwd"),
        ("file:etc", "/etc"),
        ("file:\\\\\\etc\\passwd", "/etc/passwd"),
        ("file://localhost/etc/passwd", "/etc/passwd"),
        ("file://host/share/a", "//host/share/a"),
        ("view-source:file:///etc/passwd", "/etc/passwd"),
        ("https://a.example/file:///etc", None),
        ("about:blank", None),
        ("", None),
        (None, None),
    ],
)
@pytest.mark.skipif(os.name == "nt", reason="paths of POSIX")
def test_paths_in_urls_of_files(url: str | None, path: str | None) -> None:
    assert file_in_url(url) == path
