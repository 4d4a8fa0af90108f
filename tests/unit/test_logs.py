"""Logs and warnings: foreign parts are one line without secrets, and every logger has the filter."""

from __future__ import annotations

import ast
import contextlib
import gc
import logging
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

import cdpengine
from cdpengine._api.scopes.awaitable_scope import AwaitableScope
from cdpengine._logs import get_logger
from cdpengine._protocol.instruments import Instruments
from cdpengine.errors import NavigationFailedError

PACKAGE = Path(cdpengine.__file__).parent
HOSTILE = "a\nERROR forged \x1b]0;x\x07\x9b\u202e\ud800 https://u:hunter2@host/?token=hunter2"
SAFE = r"a\nERROR forged \x1b]0;x\x07\x9b\u202e\ud800 https://***@host/?token=***"
NOT_BY_US = {"_launch/process.py", "debug/recording/recorder.py"}
"""Modules whose loggers share names with others, which have the filter."""

logger = get_logger("cdpengine.test")


def logged(caplog: pytest.LogCaptureFixture) -> str:
    (record,) = caplog.records
    return logging.Formatter("%(levelname)s %(message)s").format(record)


class LoggedText:
    def __str__(self) -> str:
        return HOSTILE


@pytest.mark.parametrize(
    "value", [HOSTILE, LoggedText(), ValueError(HOSTILE)], ids=lambda value: type(value).__name__
)
def test_a_logged_message_is_one_line(caplog: pytest.LogCaptureFixture, value: object) -> None:
    logger.warning("%d of it: %s, %.1f", 3, value, 0.25)
    assert logged(caplog) == f"WARNING 3 of it: {SAFE}, 0.2"


@pytest.mark.parametrize("value", [{"a": HOSTILE}])
def test_named_arguments(caplog: pytest.LogCaptureFixture, value: dict[str, str]) -> None:
    logger.warning("it was %(a)s", value)
    assert logged(caplog) == f"WARNING it was {SAFE}"


def test_an_error_of_the_engine_keeps_its_own_lines(caplog: pytest.LogCaptureFixture) -> None:
    logger.warning("it failed: %s", NavigationFailedError(HOSTILE, HOSTILE))
    assert logged(caplog).startswith("WARNING it failed: navigation to a\\nERROR%20forged%20\\x1b")
    assert len(logged(caplog).splitlines()) == 1
    assert "hunter2" not in logged(caplog)


def test_other_objects_than_strings_are_logged_safely_too(caplog: pytest.LogCaptureFixture) -> None:
    logger.warning(LoggedText())
    assert logged(caplog) == f"WARNING {SAFE}"


def test_a_traceback_begins_no_line_with_foreign_text(caplog: pytest.LogCaptureFixture) -> None:
    try:
        raise ValueError(HOSTILE)
    except ValueError:
        logger.exception("it failed")
    first, *lines = logged(caplog).splitlines()
    assert first == "ERROR it failed"
    assert lines
    assert all(line.startswith("  | ") for line in lines)
    assert "  | ValueError: a" in lines
    assert not {"\x1b", "\x9b", "\u202e", "\ud800"} & set(logged(caplog))
    assert "hunter2" not in logged(caplog)


def test_the_filter_is_installed_once() -> None:
    assert get_logger("cdpengine.test") is logger
    assert len(logger.filters) == 1


def calls(*names: str) -> list[tuple[str, ast.Call]]:
    """Return the calls of functions with these names in the package, each with the path of its module."""
    texts = {path: path.read_text("utf-8") for path in PACKAGE.rglob("*.py")}
    return [
        (str(path.relative_to(PACKAGE)), node)
        for path, text in texts.items()
        if any(name.rpartition(".")[2] in text for name in names)  # parsing all of them takes seconds
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.Call) and ast.unparse(node.func) in names
    ]


def test_every_logger_has_the_filter() -> None:
    ours, others = "get_logger", "logging.getLogger"
    made: dict[str, set[str]] = {ours: set(), others: set()}
    for path, call in calls(ours, others):
        if path != "_logs.py":
            how = ast.unparse(call.func)
            made[how].add(ast.literal_eval(call.args[0]))
            assert how == ours or path in NOT_BY_US, path
    assert made[ours] >= made[others]
    assert len(made[ours]) > 8


def test_a_warning_of_the_engine() -> None:
    async def last() -> tuple[None, Callable[[], Awaitable[None]]]:
        raise NotImplementedError

    with pytest.warns(RuntimeWarning) as caught:
        AwaitableScope(HOSTILE, last, contextlib.nullcontext)
    assert (
        str(caught[0].message) == f"{SAFE} was neither awaited nor entered with `async with`: nothing was set"
    )


def test_entered_text_is_in_no_log(caplog: pytest.LogCaptureFixture) -> None:
    instruments = Instruments()
    for secret in (
        "correct horse",
        "correct horse battery",
        "it's \\ quoted",
        "first line\nsecond line",
        "short",
    ):
        instruments.add_secret(secret)
    try:
        raise ValueError("no correct horse battery, no second line, a short one")
    except ValueError as error:
        logger.exception("failed with %s, %r", error, "it's \\ quoted")
    (record,) = caplog.records
    text = logging.Formatter().format(record)
    assert "no ***, no ***, a short one" in text
    assert not [
        each for each in ("correct", "battery", "quoted", "second") if each in text.replace(__file__, "")
    ]


def test_secrets_are_forgotten_with_their_browser(caplog: pytest.LogCaptureFixture) -> None:
    instruments = Instruments()
    instruments.add_secret("forgotten later")
    del instruments
    gc.collect()
    logger.warning("a %s", "forgotten later")
    assert logged(caplog) == "WARNING a forgotten later"
