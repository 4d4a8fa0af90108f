from __future__ import annotations

from pathlib import Path

import pytest

from cdpengine._api.page.forms import Field, check_fields
from cdpengine._input.forms.form import check_field_value
from cdpengine._input.forms.listbox import Option, kind_of, request_for
from cdpengine._input.forms.upload import have_arrived
from cdpengine.errors import InvalidArgumentError


@pytest.mark.parametrize(
    ("wanted", "request_", "words"),
    [
        ("r", {"text": "r"}, "an option with this value or label (1 characters)"),
        (Option(label="Red"), {"label": "Red"}, "an option with this label (3 characters)"),
        (
            Option(value="", index=0),
            {"value": "", "index": 0},
            "an option with this value (0 characters) and index 0",
        ),
    ],
)
def test_options(wanted: str | Option, request_: dict[str, object], words: str) -> None:
    assert request_for(wanted) == request_
    assert kind_of(wanted) == words


@pytest.mark.parametrize("parts", [{}, {"index": -1}, {"index": True}, {"label": 1}, {"value": b""}])
def test_invalid_options(parts: dict[str, object]) -> None:
    with pytest.raises(InvalidArgumentError, match=".".join(["[oO]ption", *parts])):
        Option(**parts)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "fields", [{"e1": "a"}, [("e1", "a")], [["e1", "a"]], [Field("e1", "a")], iter([Field("e1", "a")])]
)
def test_fields_in_every_form(fields: object) -> None:
    assert check_fields(fields) == [Field("e1", "a")]


@pytest.mark.parametrize("fields", ["e1", b"e1", 7, None, ["e1"], [("e1",)], [("e1", "a", "b")]])
def test_invalid_fields(fields: object) -> None:
    with pytest.raises(InvalidArgumentError, match="fields"):
        check_fields(fields)


@pytest.mark.parametrize(
    "value", ["a", 1, True, Path("x"), [Path("x")], ["a", Option(index=0)], (), Option(index=0)]
)
def test_field_values(value: object) -> None:
    check_field_value(value)  # type: ignore[arg-type]


@pytest.mark.parametrize("value", [None, [1], {"a": 1}, b"a", [b"a"]])
def test_invalid_field_values(value: object) -> None:
    with pytest.raises(InvalidArgumentError):
        check_field_value(value)  # type: ignore[arg-type]


def test_first_content_of_dropped_files(tmp_path: Path) -> None:
    one, two = tmp_path / "a", tmp_path / "b"
    assert have_arrived([one, two], ["b", "a"])
    assert not have_arrived([one, two], ["a"])
    assert not have_arrived([one], [])
    assert have_arrived([tmp_path], [f"{tmp_path.name}/a", f"{tmp_path.name}/b/c"])
    assert not have_arrived([tmp_path], ["other/a"])
