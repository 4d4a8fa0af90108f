"""Logs and warnings: what is foreign in them is one line and holds no secrets; and no module has another logger."""

from __future__ import annotations

import ast
import contextlib
import logging
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

import cdpengine
from cdpengine.engine.lasting import Lasting
from cdpengine.errors import NavigationFailed
from cdpengine.logs import get_logger

PACKAGE = Path(cdpengine.__file__).parent
HOSTILE = "a\nERROR forged \x1b]0;x\x07\x9b\u202e\ud800 https://u:hunter2@host/?token=hunter2"
SAFE = r"a\nERROR forged \x1b]0;x\x07\x9b\u202e\ud800 https://***@host/?token=***"
NOT_BY_US = {"browser/process.py", "debug/recorder.py"}
"""These have loggers of the same names as others do, which have the filter."""

logger = get_logger("cdpengine.test")


def said(caplog: pytest.LogCaptureFixture) -> str:
    (record,) = caplog.records
    return logging.Formatter("%(levelname)s %(message)s").format(record)


class Said:
    def __str__(self) -> str:
        return HOSTILE


@pytest.mark.parametrize(
    "value", [HOSTILE, Said(), ValueError(HOSTILE)], ids=lambda value: type(value).__name__
)
def test_what_is_logged_is_one_line(caplog: pytest.LogCaptureFixture, value: object) -> None:
    logger.warning("%d of it: %s, %.1f", 3, value, 0.25)
    assert said(caplog) == f"WARNING 3 of it: {SAFE}, 0.2"


@pytest.mark.parametrize("value", [{"a": HOSTILE}])
def test_named_arguments(caplog: pytest.LogCaptureFixture, value: dict[str, str]) -> None:
    logger.warning("it was %(a)s", value)
    assert said(caplog) == f"WARNING it was {SAFE}"


def test_an_error_of_ours_keeps_its_own_lines(caplog: pytest.LogCaptureFixture) -> None:
    logger.warning("it failed: %s", NavigationFailed(HOSTILE, HOSTILE))
    assert said(caplog).startswith("WARNING it failed: navigation to a\\nERROR%20forged%20\\x1b")
    assert len(said(caplog).splitlines()) == 1
    assert "hunter2" not in said(caplog)


def test_what_is_no_text_is_logged_safely_too(caplog: pytest.LogCaptureFixture) -> None:
    logger.warning(Said())
    assert said(caplog) == f"WARNING {SAFE}"


def test_a_traceback_begins_no_line_with_what_is_foreign(caplog: pytest.LogCaptureFixture) -> None:
    try:
        raise ValueError(HOSTILE)
    except ValueError:
        logger.exception("it failed")
    first, *lines = said(caplog).splitlines()
    assert first == "ERROR it failed"
    assert lines
    assert all(line.startswith("  | ") for line in lines)
    assert "  | ValueError: a" in lines
    assert not {"\x1b", "\x9b", "\u202e", "\ud800"} & set(said(caplog))
    assert "hunter2" not in said(caplog)


def test_the_filter_is_there_once() -> None:
    assert get_logger("cdpengine.test") is logger
    assert len(logger.filters) == 1


def calls(*names: str) -> list[tuple[str, ast.Call]]:
    """Return the calls of functions with these names in the package, each with the path of its module."""
    texts = {path: path.read_text("utf-8") for path in PACKAGE.rglob("*.py")}
    return [
        (str(path.relative_to(PACKAGE)), node)
        for path, text in texts.items()
        if any(name.rpartition(".")[2] in text for name in names)  # to parse them all takes seconds
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.Call) and ast.unparse(node.func) in names
    ]


def test_every_logger_has_the_filter() -> None:
    ours, others = "get_logger", "logging.getLogger"
    made: dict[str, set[str]] = {ours: set(), others: set()}
    for path, call in calls(ours, others):
        if path != "logs.py":
            how = ast.unparse(call.func)
            made[how].add(ast.literal_eval(call.args[0]))
            assert how == ours or path in NOT_BY_US, path
    assert made[ours] >= made[others]
    assert len(made[ours]) > 8


def test_every_warning_is_one_safe_line() -> None:
    found = calls("warnings.warn")
    assert found
    assert all(ast.unparse(call.args[0]).startswith("shown(") for _, call in found)


def test_a_warning_of_ours() -> None:
    async def last() -> tuple[None, Callable[[], Awaitable[None]]]:
        raise NotImplementedError

    with pytest.warns(RuntimeWarning) as caught:
        Lasting(HOSTILE, last, contextlib.nullcontext)
    assert (
        str(caught[0].message) == f"{SAFE} was neither awaited nor entered with `async with`: nothing was set"
    )
