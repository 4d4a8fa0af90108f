"""`to_plain`: its results are always valid JSON, whatever the references between values."""

import json
from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import pytest

from cdpengine._evaluate.values import JSObject
from cdpengine._json_values import MOST_REPEATED, to_plain
from cdpengine.act.response import ActResponse
from cdpengine.cli.output import print_json


def both_ways(value: object) -> list[Any]:
    """Return the JSON of the value in the forms of the command line and of a request's answer."""
    answer = ActResponse(kind="evaluate", ok=True, result=value).to_json()
    return [json.loads(json.dumps(plain)) for plain in (to_plain(value), answer["result"])]


def a_list(inner: list[Any]) -> list[Any]:
    return [inner]


def a_dict(inner: list[Any]) -> list[Any]:
    return [{"in": inner}]


def an_object(inner: list[Any]) -> list[Any]:
    return [JSObject("Node", {"parent": inner})]


@pytest.mark.parametrize(
    ("moment", "written"),
    [
        (datetime(2026, 11, 22, 18, 30, tzinfo=UTC), "2026-11-22T18:30:00.000Z"),
        (datetime(2026, 1, 2, 3, 4, 5, 678_900, tzinfo=UTC), "2026-01-02T03:04:05.678Z"),
        (datetime(1, 1, 1, tzinfo=UTC), "0001-01-01T00:00:00.000Z"),
        (datetime(2026, 1, 1, 1, 0, tzinfo=timezone(timedelta(hours=2))), "2025-12-31T23:00:00.000Z"),
    ],
)
def test_a_moment_is_json_as_javascript_writes_it(moment: datetime, written: str) -> None:
    """With T and Z: the format of `JSON.stringify(new Date())`, which `new Date(text)` reads."""
    assert to_plain({"at": [moment]}) == {"at": [written]}


@pytest.mark.parametrize("wrap", [a_list, a_dict, an_object])
def test_a_value_that_contains_itself_is_written_once(wrap: Any) -> None:
    value: list[Any] = [1]
    value += wrap(value)
    for plain in both_ways(value):
        assert plain[0] == 1
        assert json.dumps(plain[1]).count('"[Circular]"') == 1
        assert '"[Repeated]"' not in json.dumps(plain)


def test_a_shared_value_is_written_twice() -> None:
    shared = {"a": [1]}
    for plain in both_ways([shared, shared, [shared]]):
        assert plain == [{"a": [1]}, {"a": [1]}, [{"a": [1]}]]


@pytest.mark.parametrize("wrap", [a_list, a_dict, an_object])
def test_exponentially_growing_values_are_bounded(wrap: Any) -> None:
    value: list[Any] = [0]
    for _ in range(60):
        (once,) = wrap(value)
        value = [once, value]
    for plain in both_ways(value):
        text = json.dumps(plain)
        assert '"[Repeated]"' in text
        assert len(text) < 100 * MOST_REPEATED


@pytest.mark.parametrize(("wrap", "levels"), [(a_list, 500), (a_dict, 250)])
def test_as_deep_as_evaluate_gives_it(wrap: Any, levels: int, capsys: pytest.CaptureFixture[str]) -> None:
    value: list[Any] = []
    for _ in range(levels):
        value = wrap(value)
    assert both_ways(value) == [value, value]
    print_json(value)
    assert json.loads(capsys.readouterr().out) == value
