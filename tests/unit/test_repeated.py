"""Repeated warnings: all are counted, few are logged, and no count is lost."""

from __future__ import annotations

import logging
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cdpengine._logs import FIRST, INTERVAL, Pace, RepeatedWarning


def test_the_first_are_logged_and_then_one_each_interval() -> None:
    pace = Pace(first=2, interval=1.0)
    logged = [(now / 10, pace.take(now / 10)) for now in range(35)]
    assert [each for each in logged if each[1] is not None] == [
        (0.0, 0),
        (0.1, 0),
        (1.1, 9),
        (2.1, 9),
        (3.1, 9),
    ]
    assert (pace.total, pace.take_rest(), pace.take_rest()) == (35, 3, 0)


def test_rare_ones_are_all_logged() -> None:
    pace = Pace(first=1, interval=1.0)
    assert [pace.take(float(now)) for now in range(100)] == [0] * 100


@given(st.lists(st.floats(0, 3), max_size=200))
def test_every_report_is_logged_or_counted_and_few_are_logged(steps: list[float]) -> None:
    pace, now, logged, passed_over = Pace(), 0.0, 0, 0
    for step in steps:
        now += step
        if (before := pace.take(now)) is not None:
            logged += 1
            passed_over += before
    assert logged + passed_over + pace.take_rest() == pace.total == len(steps)
    assert logged <= FIRST + now / INTERVAL + 1


def test_the_messages_contain_the_count(caplog: pytest.LogCaptureFixture) -> None:
    now = 0.0
    warning = RepeatedWarning(logging.getLogger("cdpengine.x"), "%s went %s", clock=lambda: now)
    for number in range(1000):
        now = number / 400
        warning.log("it", "wrong")
    warning.log_suppressed("the thing")
    warning.log_suppressed("the thing")
    lines = [record.getMessage() for record in caplog.records]
    assert lines[:FIRST] == ["it went wrong"] * FIRST
    assert len(lines) == FIRST + 2 + 1
    assert all(line.startswith("it went wrong (") for line in lines[FIRST:-1])
    assert lines[-1].startswith("the thing: ")
    counted = sum(int(found[1]) for line in lines if (found := re.search(r"(\d+) more warnings like", line)))
    assert counted + len(lines) - 1 == warning.total == 1000


def test_a_logged_report_has_its_traceback(caplog: pytest.LogCaptureFixture) -> None:
    warning = RepeatedWarning(
        logging.getLogger("cdpengine.x"), "%d failed", level=logging.ERROR, clock=lambda: 0.0
    )
    warning.log(1, error=KeyError("x"))
    (record,) = caplog.records
    assert (record.levelname, record.getMessage()) == ("ERROR", "1 failed")
    assert record.exc_info is not None
    assert record.exc_info[0] is KeyError
