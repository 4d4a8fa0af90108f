"""Reports of replays, as data, JSON and tables. Pure.

Rule: a report is stored and shown, so it contains no typed text and no value of a sensitive variable. If the
screenshot of a failed run could show such a value, the report has no screenshot, and `remarks` contains the
reason.
"""

from __future__ import annotations

import base64
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any, Literal

import attrs

from cdpengine._snapshot.text import shorten
from cdpengine.act.fields import camel_case
from cdpengine.cache.changes import PageChange
from cdpengine.cache.entries import CacheEntry
from cdpengine.cache.entry_json import entry_to_json
from cdpengine.cache.judging.faults import Fault
from cdpengine.cache.matching.finding import TargetMatch

StepStatus = Literal["done", "failed", "skipped", "rolled back", "planned", "refused"]
"""Outcome of a step. "skipped": not started. "planned": found in a dry run. "rolled back": done in an atomic
group that failed and was rolled back. "refused": not confirmed by a person."""

_LONGEST_CELL = 70


@attrs.frozen(kw_only=True)
class StepResult:
    """The result of one step.

    index: the index of the step or group in the entry.
    number: the position in the group, from 0, or None outside groups.
    rollback: whether the step belongs to the group's rollback.
    what: the action in words.
    matches: the match of each target.
    error: the reason of a failure.
    """

    index: int
    number: int | None = None
    rollback: bool = False
    kind: str
    label: str = ""
    what: str = ""
    status: StepStatus
    matches: Mapping[str, TargetMatch] = attrs.field(factory=lambda: MappingProxyType({}), hash=False)
    milliseconds: float = 0.0
    error: str | None = None

    @property
    def place(self) -> str:
        """The position of the step in the entry, such as "2" or "2.1"."""
        return f"{self.index}" if self.number is None else f"{self.index}.{self.number}"

    @property
    def level(self) -> str:
        """The worst match level of the targets, or "" without targets."""
        levels = [match.level for match in self.matches.values()]
        return max(levels, key=_LEVELS.index, default="")


_LEVELS = ("exact", "healed", "ambiguous", "missing")


@attrs.frozen(kw_only=True)
class ExecutionReport:
    """The report of a replay.

    ok: whether all requested steps are done and their conditions hold. In a dry run: whether the elements
        that can be on the page now were found.
    stopped_at: the index of the failed step, or None if no step failed or the run stopped before the first
        step.
    reason: the reason of the stop.
    fault: the cause of the stop. "changed" counts as a failure of the entry. The other faults are caused by the
        caller, a server or the browser.
    healed: the entry with its current targets, and with the current page after a soft change, for the store.
        None if nothing changed.
    change: the difference between the page and the entry's features. None if the counts of elements are equal
        or the engine compared nothing.
    screenshot, diff: the page after a failure, as a PNG image and as a diff.
    remarks: the reasons for a missing screenshot or diff.
    refused: whether a person did not confirm the step at `stopped_at`. A refusal is no failure of the entry.
    """

    ok: bool
    steps: tuple[StepResult, ...]
    dry_run: bool = False
    stopped_at: int | None = None
    reason: str = ""
    fault: Fault | None = None
    milliseconds: float = 0.0
    healed: CacheEntry | None = None
    change: PageChange | None = None
    screenshot: bytes | None = attrs.field(default=None, repr=False)
    diff: str | None = attrs.field(default=None, repr=False)
    remarks: tuple[str, ...] = ()
    refused: bool = False

    @property
    def misfits(self) -> bool:
        """Whether the run stopped before its first action because the page does not fit the entry."""
        if self.ok or self.refused:
            return False
        failed = [step for step in self.steps if step.status == "failed"]
        unbegun = all(step.status in ("failed", "skipped", "planned") for step in self.steps)
        unfound = any(match.ref is None for step in failed for match in step.matches.values())
        return unbegun and (unfound or (not failed and self.change is not None))

    def to_json(self) -> dict[str, Any]:
        """Return the report as JSON values. The screenshot is in base64."""
        out: dict[str, Any] = {
            "ok": self.ok,
            "dryRun": self.dry_run,
            "stoppedAt": self.stopped_at,
            "refused": self.refused,
            "reason": self.reason,
            "fault": self.fault,
            "milliseconds": round(self.milliseconds, 3),
            "steps": [_step_to_json(step) for step in self.steps],
            "change": None if self.change is None else _named(attrs.asdict(self.change)),
            "healed": None if self.healed is None else entry_to_json(self.healed),
            "diff": self.diff,
            "remarks": list(self.remarks),
        }
        if self.screenshot is not None:
            out["screenshot"] = base64.b64encode(self.screenshot).decode("ascii")
        return out

    def to_table(self) -> str:
        """Return the report as a table with one line per step, and the reason of a stop."""
        rows = [("step", "status", "match", "ms", "what")]
        for step in self.steps:
            name = f"{step.place} (rollback)" if step.rollback else step.place
            what = shorten(step.label or step.what, _LONGEST_CELL)
            rows.append((name, step.status, step.level, f"{step.milliseconds:.0f}", what))
        widths = [max(len(row[column]) for row in rows) for column in range(4)]
        lines = [
            "  ".join(
                [*(cell.ljust(width) for cell, width in zip(row, widths, strict=False)), row[4]]
            ).rstrip()
            for row in rows
        ]
        return "\n".join([*lines, *self._ending()])

    def _ending(self) -> Sequence[str]:
        done = "would be done" if self.dry_run else "done"
        cause = f" (fault: {self.fault})" if self.fault is not None else ""
        ending = [f"{done} in {self.milliseconds:.0f} ms" if self.ok else f"stopped: {self.reason}{cause}"]
        return [*ending, *self.remarks]


def _step_to_json(step: StepResult) -> dict[str, Any]:
    out = _named(attrs.asdict(step, recurse=False, filter=attrs.filters.exclude("matches")))
    out["milliseconds"] = round(step.milliseconds, 3)
    out["matches"] = {
        slot: {
            "level": match.level,
            "ref": match.ref,
            "score": match.score,
            "reason": match.reason,
            "candidates": [_named(attrs.asdict(each)) for each in match.candidates],
        }
        for slot, match in step.matches.items()
    }
    return out


def _named(fields: Mapping[str, Any]) -> dict[str, Any]:
    return {camel_case(name): value for name, value in fields.items()}
