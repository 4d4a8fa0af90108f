from __future__ import annotations

import datetime as dt
import pickle

import pytest

from cdpengine._input.forms.fill import TextValue, texts_of
from cdpengine._input.forms.filling import EVERY_TYPE
from cdpengine.errors import (
    FailedField,
    FormError,
    InvalidArgumentError,
    OptionNotFoundError,
    StaleRefError,
    ValueRefusedError,
)


@pytest.mark.parametrize(
    ("value", "kind", "text"),
    [
        ("as it is", EVERY_TYPE, "as it is"),
        ("", EVERY_TYPE, ""),
        (7, EVERY_TYPE, "7"),
        (-0.5, EVERY_TYPE, "-0.5"),
        (3.0, EVERY_TYPE, "3"),
        (1e22, EVERY_TYPE, "1e+22"),
        (dt.date(2026, 1, 1), EVERY_TYPE, "2026-01-01"),
        (dt.date(2026, 1, 1), "month", "2026-01"),
        (dt.date(2027, 1, 1), "week", "2026-W53"),
        (dt.date(2026, 1, 1), "datetime-local", "2026-01-01T00:00"),
        (dt.datetime(2026, 1, 2, 3, 4), EVERY_TYPE, "2026-01-02T03:04"),
        (dt.datetime(2026, 1, 2, 3, 4, 5), "datetime-local", "2026-01-02T03:04:05"),
        (dt.datetime(2026, 1, 2, 3, 4, 5, 6000), "time", "03:04:05.006"),
        (dt.datetime(2026, 1, 2, 3, 4), "date", "2026-01-02"),
        (dt.time(23, 59), EVERY_TYPE, "23:59"),
    ],
)
def test_texts(value: TextValue, kind: str, text: str) -> None:
    assert texts_of(value)[kind] == text


@pytest.mark.parametrize(
    "value",
    [None, b"x", True, float("inf"), "\udc00", dt.datetime(2026, 1, 1, tzinfo=dt.UTC), [], object()],
)
def test_values_without_a_text(value: object) -> None:
    with pytest.raises(InvalidArgumentError, match="value|text"):
        texts_of(value)  # type: ignore[arg-type]


def test_errors_tell_and_travel() -> None:
    refused = ValueRefusedError("fill", "e1 textbox", "too long", took="x" * 90)
    assert (
        str(refused)
        == "cannot fill e1 textbox: too long; its value is not shown, and is in .took (90 characters)"
    )
    assert "not shown" in str(ValueRefusedError("fill", "e1", "r"))
    missing = OptionNotFoundError("select from", "e2", "'c' is not there", options=["a", "b"])
    assert str(missing) == "cannot select from e2: 'c' is not there. It has: 'a', 'b'"
    stale = StaleRefError("e3", "a node", "gone")
    form = FormError([FailedField("e1", refused), FailedField("e3", stale)], filled=3)
    assert str(form).splitlines()[0] == "2 of 5 fields were not filled in:"
    again = pickle.loads(pickle.dumps(form))
    assert str(again) == str(form)
    assert [type(failed.error) for failed in again.failed] == [ValueRefusedError, StaleRefError]
