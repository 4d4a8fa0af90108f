"""Playing a recording without its secrets: the results that are served, and the calls that still match."""

from __future__ import annotations

from typing import Any

import pytest
from recorded_lines import Program, Tape

from cdpengine.debug.recording.fingerprints import Fingerprints
from cdpengine.debug.replaying.matching import Strictness, fits
from cdpengine.debug.replaying.playback import DIVERGED

LACKING = "its result was withheld when it was recorded: record with keep_arguments=True (--keep-arguments)"
TEXT = {"type": "string", "value": "[redacted]"}
FUNCTION = {"type": "function", "description": "[redacted]"}


@pytest.mark.parametrize(
    ("method", "result", "lacks"),
    [
        ("Runtime.evaluate", {"result": TEXT}, True),
        ("Runtime.callFunctionOn", {"result": {"value": {"o": [{"v": "[redacted]"}]}}}, True),
        ("Runtime.awaitPromise", {"result": {"value": {"description": "[redacted]"}}}, True),
        ("Runtime.getProperties", {"result": [{"name": "a", "value": TEXT}]}, True),
        ("Runtime.getProperties", {"result": [{"name": "a", "value": FUNCTION}]}, False),
        ("Runtime.evaluate", {"result": FUNCTION}, False),
        (
            "Runtime.evaluate",
            {"result": {}, "exceptionDetails": {"exception": {"description": "[redacted]"}}},
            True,
        ),
        ("Runtime.evaluate", {"result": {"type": "string", "value": "token=[redacted]"}}, False),
        ("Runtime.evaluate", {"result": {"type": "number", "value": 3}}, False),
    ],
)
def test_a_withheld_result_is_a_divergence(method: str, result: dict[str, Any], lacks: bool) -> None:
    tape = Tape()
    tape.call(1, method)
    tape.reply(1, method, **result)
    tape.lines[-1].withheld = True
    program = Program(tape.play())
    (message,) = program.ask(method)
    divergence = program.playback.divergence
    if not lacks:
        assert (message["result"], divergence) == (result, None)
        return
    assert divergence is not None
    assert (divergence.reason, divergence.line, divergence.got) == (LACKING, 2, method)
    assert message["error"] == {"code": DIVERGED, "message": str(divergence)}


def test_a_result_that_is_secret_in_every_recording_is_served() -> None:
    """The result is known to be secret, or the engine's own script returned it: another recording would not
    help.
    """
    tape = Tape()
    tape.call(1, "Runtime.evaluate")
    tape.reply(1, "Runtime.evaluate", result=TEXT)
    program = Program(tape.play())
    assert program.ask("Runtime.evaluate")[0]["result"] == {"result": TEXT}
    assert program.playback.divergence is None


def test_a_withheld_result_that_is_not_requested_is_no_divergence() -> None:
    tape = Tape()
    tape.call(1, "Runtime.evaluate")
    tape.reply(1, "Runtime.evaluate", result=TEXT)
    tape.lines[-1].withheld = True
    tape.call(2, "Page.enable")
    tape.reply(2, "Page.enable")
    program = Program(tape.play())
    assert program.ask("Page.enable") == []
    program.playback.pass_over()
    assert [delivery.message for delivery in program.playback.due()] == [b'{"id":101,"result":{}}']
    assert program.playback.divergence is None


def test_a_counted_name_among_withheld_arguments_may_differ_in_the_strict_mode_too() -> None:
    by = Fingerprints(b"salt")
    recorded = {"arguments": [{"value": {"id": "[redacted]", "text": "[redacted]"}}]}
    places = [("arguments", 0, "value", name) for name in ("id", "text")]
    strict = Strictness(
        by, {place: by.of(text) for place, text in zip(places, ("w21", "given"), strict=True)}
    )

    def fit(name: str, text: str) -> bool:
        asked = {"arguments": [{"value": {"id": name, "text": text}}]}
        return fits("Runtime.callFunctionOn", recorded, asked, strictness=strict)

    assert fit("w21", "given")
    assert fit("w3", "given")
    assert not fit("x21", "given")
    assert not fit("w3", "another")


def test_withheld_arguments_fit_everything() -> None:
    recorded = {"arguments": [{"value": "[redacted]"}, {"value": 3}, {"value": {"v": "[redacted]"}}]}
    assert fits(
        "Runtime.callFunctionOn",
        recorded,
        {"arguments": [{"value": "a"}, {"value": 3}, {"value": {"v": "b"}}]},
    )
    assert not fits(
        "Runtime.callFunctionOn",
        recorded,
        {"arguments": [{"value": "a"}, {"value": 4}, {"value": {"v": "b"}}]},
    )
