"""Reports of executions as JSON and as a table: their contents, and the form of hidden values."""

from __future__ import annotations

import json

import attrs
import pytest

from cdpengine.cache import Candidate, ExecutionReport, PageChange, StepResult, TargetMatch, Values

CANDIDATE = Candidate(ref="e4", role="button", name="Sign in", score=40, reason="same: the path")
FOUND = {
    "t1": TargetMatch(level="exact", ref="e1", score=100, reason="the only one"),
    "t2": TargetMatch(level="ambiguous", reason="two of these", candidates=(CANDIDATE,)),
}
REPORT = ExecutionReport(
    ok=False,
    steps=(
        StepResult(
            index=0, number=1, kind="click", what="click button 'Go'", status="done", milliseconds=12.3456
        ),
        StepResult(
            index=1, kind="click", label="log in", status="failed", matches=FOUND, error="ambiguous: two"
        ),
        StepResult(index=0, number=0, rollback=True, kind="press", what="press", status="done"),
    ),
    stopped_at=1,
    reason="step 1: ambiguous: two",
    milliseconds=120.4,
    change=PageChange(kind="content", confidence=20, details=(("links", 1, 2),)),
    screenshot=b"\x89PNG",
    diff="+ button",
    remarks=("one remark",),
)


def test_the_json() -> None:
    out = json.loads(json.dumps(REPORT.to_json()))
    assert (out["ok"], out["stoppedAt"], out["screenshot"], out["remarks"]) == (
        False,
        1,
        "iVBORw==",
        ["one remark"],
    )
    assert out["change"] == {"kind": "content", "confidence": 20, "details": [["links", 1, 2]]}
    assert out["steps"][0]["milliseconds"] == 12.346
    assert out["steps"][1]["matches"]["t2"]["candidates"][0]["ref"] == "e4"
    assert "screenshot" not in attrs.evolve(REPORT, screenshot=None).to_json()


def test_the_table() -> None:
    assert REPORT.to_table().splitlines() == [
        "step            status  match      ms  what",
        "0.1             done               12  click button 'Go'",
        "1               failed  ambiguous  0   log in",
        "0.0 (rollback)  done               0   press",
        "stopped: step 1: ambiguous: two",
        "one remark",
    ]
    assert attrs.evolve(REPORT, ok=True, remarks=()).to_table().endswith("\ndone in 120 ms")
    assert (
        attrs.evolve(REPORT, ok=True, dry_run=True, remarks=())
        .to_table()
        .endswith("\nwould be done in 120 ms")
    )


def test_the_worst_level_is_that_of_the_step() -> None:
    assert [step.level for step in REPORT.steps] == ["", "ambiguous", ""]
    assert [step.place for step in REPORT.steps] == ["0.1", "1", "0.0"]


@pytest.mark.parametrize(
    "shown",
    ['can"ary  &7', 'can"ary &7', 'can\\"ary  &7', 'can\\"ary &7', "can%22ary%20%20%267", "can%22ary++%267", "can%22ary+%267"],
)  # fmt: skip
def test_a_secret_is_hidden_in_every_form(shown: str) -> None:
    values = Values({"password": 'can"ary  &7', "user": "ada", "empty": ""}, frozenset({"password", "empty"}))
    assert values.hide(f"ada: {shown}.") == "ada: ***."


def test_whether_a_secret_is_involved() -> None:
    assert Values({"a": "x"}, frozenset({"a"})).has_secrets
    assert not Values({"a": ""}, frozenset({"a"})).has_secrets
    assert not Values({"a": "x"}).has_secrets
