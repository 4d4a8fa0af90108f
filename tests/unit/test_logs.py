"""Logs and warnings: foreign parts are one line without secrets, and no module has another logger."""

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


def test_every_warning_is_one_safe_line() -> None:
    found = calls("warnings.warn")
    assert found
    assert all(ast.unparse(call.args[0]).startswith("shown(") for _, call in found)


WARNINGS = {
    (
        "_page/downloads/download.py",
        "the download of %s is removed ",
    ): "give a directory, or use wait()",
    ("_page/downloads/download.py", "the folder of downloads could "): "remove the folder by hand",
    ("_page/dialog_release.py", "a dialog that Chrome has lost "): "take beforeunload handlers off the frame",
    (
        "_page/dialogs.py",
        "a dialog that Chrome has lost ",
    ): "close the page, or take beforeunload handlers off it",
    (
        "_page/dialogs.py",
        "the answer to a %s dialog came",
    ): "let one client alone answer the dialogs of a page",
    ("_page/downloads/downloads.py", "a download was lost: %s"): "make room, or give another directory",
    (
        "_page/scripts/evaluation_sessions.py",
        "the connection for evaluation ",
    ): "check the endpoint, or restart",
    ("_launch/process.py", "browser process %d did not end"): "find out what keeps the process",
    ("_launch/profile.py", "cannot remove the temporary pr"): "remove the folder by hand",
    ("shell/ref_number_file.py", "cannot write the highest ref n"): "let the state folder be written",
    ("shell/ref_number_file.py", "cannot read the highest ref nu"): "remove the file, or repair it",
    ("debug/proxy_server.py", "the proxy listens on %s:%d: ev"): "let it listen on loopback",
    (
        "debug/replaying/replay_server.py",
        "not replayed: %s",
    ): "record again, or let the program ask as before",
    ("debug/replaying/replay_server.py", "client %d of the replay sent s"): "see to the client",
    ("cache/entry_table.py", "an entry of the cache is skipp"): "delete it, or put another in its place",
    ("_budget.py", None): "give the timeout in seconds",
    (
        "cache/acting/running.py",
        "the figures of a cancelled run",
    ): "see why the file of the cache is not written",
    (
        "cache/replaying/execution.py",
        "a cancelled run of %s: step %d",
    ): "undo the remaining changes by hand",
    ("act/hooks.py", "a hook of %s failed: %s"): "mend the hook, or leave it out",
    ("act/hooks.py", "a hook of %s took more than %s"): "have the hook do less",
    ("_api/scopes/awaitable_scope.py", None): "await it, or enter it",
    ("_evaluate/recovery.py", "recovery of %s: %s"): "allow more: a reload, or to close the page",
    ("_measure/tracing.py", "the trace %s lacks some events"): "give a larger buffer_size",
    ("_measure/tracing.py", "cannot write the trace of a fa"): "make room, or give another path",
    ("_network/interceptor.py", "%s refused the credentials"): "give others",
    (
        "pool/pooled_browser.py",
        "%s: the state of the context %",
    ): "log in again there: its next lease starts fresh",
    ("_protocol/streams.py", "the consumer of %s, opened at "): "receive faster, or subscribe to less",
    ("_emulation/emulation.py", "%s: %s"): "leave out the setting that the error names",
    ("_storage/storage_state.py", "%s"): "the saved state lacks that origin: see why it cannot be reached",
}
"""Each warning in the code, by the beginning of its message, and the reader's remedy."""


def test_every_warning_has_a_remedy() -> None:
    """Events without a remedy are logged as information, or counted."""
    found = set()
    for path, call in calls(
        "logger.warning", "_log.warning", "logger.log", "RepeatedWarning", "warnings.warn"
    ):
        written = ast.unparse(call)
        if "RepeatedWarning" in written and "level=" in written:
            continue  # it has another level
        if "logger.log(" in written and "WARNING" not in written:
            continue
        texts = [part for part in call.args if isinstance(part, ast.Constant) and isinstance(part.value, str)]
        found.add((path, str(ast.literal_eval(texts[0]))[:30] if texts else None))
    assert found == WARNINGS.keys()


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
