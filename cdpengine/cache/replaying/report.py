"""Reports: what came of an entry that was carried out, step by step; as data, as JSON and as a table. Pure.

Rule: a report is kept and shown, so nothing secret is in it: no text that was entered, no value of a variable that
is sensitive. Where the picture of a failed run could show one, there is no picture, and `remarks` says why.
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
from cdpengine.cache.replaying.finding import TargetMatch

StepStatus = Literal["done", "failed", "skipped", "rolled back", "planned", "refused"]
"""What became of a step: "skipped" was never begun, "planned" would be done (a dry run), "rolled back" was done in
an atomic group that failed, and the group's rollback was done after it."""

_LONGEST_CELL = 70


@attrs.frozen(kw_only=True)
class StepResult:
    """What came of one step.

    `index` is that of the entry's step or group, `number` counts the steps in a group (from 0; None for a step
    that is in none), `rollback` says that it is a step of the group's rollback. `what` says in words what is done.
    `matches` has what was found of each target. `error` says why it failed.
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
        """Where it is in the entry, such as "2" or "2.1"."""
        return f"{self.index}" if self.number is None else f"{self.index}.{self.number}"

    @property
    def level(self) -> str:
        """The worst level of its targets, "" without any."""
        levels = [match.level for match in self.matches.values()]
        return max(levels, key=_LEVELS.index, default="")


_LEVELS = ("exact", "healed", "ambiguous", "missing")


@attrs.frozen(kw_only=True)
class ExecutionReport:
    """What came of an entry that was carried out.

    `ok`: all steps that were asked for were done, and led to what they are to lead to; of a dry run, that those
    which can be found now were found. `stopped_at` is the index of the step that failed (None: before the first,
    or none did), `reason` why. `fault` is whose fault that is: "changed" counts as a failure of the entry, all
    others are those of the caller, of a server or of the browser. `healed` is the entry with its targets, and
    after a soft change its page, as they are now, for the store; None where nothing has changed.
    `change` is how the page differs from what is remembered of it; None where the counts of its parts
    were the same, or nothing was compared. `screenshot` (PNG) and `diff` show the page after a failure; `remarks`
    say what is missing from them. `refused`: a person was asked to confirm the step at `stopped_at`, and did not.
    That is no failure of the entry.
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
        """Whether it stopped before anything was done, because the page does not have what the entry is for."""
        if self.ok or self.refused:
            return False
        failed = [step for step in self.steps if step.status == "failed"]
        unbegun = all(step.status in ("failed", "skipped", "planned") for step in self.steps)
        unfound = any(match.ref is None for step in failed for match in step.matches.values())
        return unbegun and (unfound or (not failed and self.change is not None))

    def to_json(self) -> dict[str, Any]:
        """Return it as values of JSON. The picture is base64."""
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
        """Return it as a table for people: one line a step, and why it stopped."""
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
