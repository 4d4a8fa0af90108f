"""The worth of a cache: uses, hits, misses and runs, and an estimate of the saved tokens and time. Pure.

Rule: a use is a call of `execute` or `perform`, by whatever client, that asks for something. It is a hit, a miss,
or refused. A hit begins one run, and a run ends as a success, a failure, a mistake of the caller or cancelled. So
the hits are the runs. A dry run and a look-up count nothing, and so does a use that is cancelled before its run.
The counters belong to the owner: they stay if entries are healed, repaired, replaced or deleted.

The saved tokens of a run that succeeded are those of the snapshots that a caller would have read to do its steps
(`LearningCost`). The output and the thoughts of a model are not counted. The saved time is the time that learning
took, the planner included, less that of the run, and at least 0. An entry that a person recorded counts the
person's own pace.
"""

from __future__ import annotations

from collections.abc import Mapping

import attrs

from cdpengine.cache.entries import CacheEntry, Excuse
from cdpengine.cache.store import StoreStatistics

HIT, MISS, TOKENS, MILLISECONDS = "hits", "misses", "tokens saved", "milliseconds saved"
SUCCEEDED, FAILED, MISTAKES, CANCELLED = "succeeded", "failed", "mistakes", "cancelled"
REFUSED, REPORTED = "refused", "reported"
HEALED, STOPPED, REPAIRED, PLANNED = "healed", "stopped", "repaired", "planned"
"""Names of counters; hits are counted by level, as "hits L3"."""


@attrs.frozen(kw_only=True)
class CacheStatistics:
    """The worth of an owner's cache.

    `hits` are the uses that began a run, by level. `misses` are those with nothing to replay, or with variants
    only that the page does not show. `refused` are those that an error ended before the run, such as a missing
    variable. `successes`, `failures`, `mistakes` (of the caller, such as a wrong password) and `cancelled` are the
    runs; `reported` are failures that `report_error` added, and that are in no run. `healed` counts the successes
    with an element that had changed, `stopped` the failures and mistakes. `planned` counts the goals that a
    planner reached alone, `repaired` those that it reached after a replay had stopped. `tokens_saved` and
    `seconds_saved` are estimates (see the module). `store` sums up the entries that are kept now.
    """

    hits: dict[str, int] = attrs.field(factory=dict, hash=False)
    misses: int = 0
    refused: int = 0
    successes: int = 0
    failures: int = 0
    mistakes: int = 0
    cancelled: int = 0
    reported: int = 0
    planned: int = 0
    repaired: int = 0
    healed: int = 0
    stopped: int = 0
    tokens_saved: int = 0
    seconds_saved: float = 0.0
    store: StoreStatistics

    @property
    def runs(self) -> int:
        """The number of runs."""
        return self.successes + self.failures + self.mistakes + self.cancelled

    @property
    def lookups(self) -> int:
        """The number of hits and misses."""
        return sum(self.hits.values()) + self.misses

    @property
    def hit_rate(self) -> float | None:
        """The share of hits among hits and misses, from 0 to 1; None before the first."""
        return sum(self.hits.values()) / self.lookups if self.lookups else None

    @property
    def success_rate(self) -> float | None:
        """The share of successes among successes and failures, from 0 to 1; None before the first."""
        judged = self.successes + self.failures
        return self.successes / judged if judged else None

    def to_rows(self) -> list[tuple[str, str]]:
        """Return the figures as rows of a table: what it is, and how much."""
        by_level = ", ".join(f"{level} {count}" for level, count in sorted(self.hits.items()))
        kept_levels = ", ".join(f"{level} {count}" for level, count in self.store.levels.items())
        return [
            ("entries", f"{self.store.entries}" + (f" ({kept_levels})" if kept_levels else "")),
            ("expired", str(self.store.expired)),
            ("bytes", str(self.store.bytes)),
            ("hits", f"{sum(self.hits.values())}" + (f" ({by_level})" if by_level else "")),
            ("misses", str(self.misses)),
            ("hit rate", _percent(self.hit_rate)),
            ("refused", str(self.refused)),
            ("runs", str(self.runs)),
            ("succeeded", str(self.successes)),
            ("failed", str(self.failures)),
            ("mistakes of the caller", str(self.mistakes)),
            ("cancelled", str(self.cancelled)),
            ("failures reported", str(self.reported)),
            ("success rate", _percent(self.success_rate)),
            ("healed", str(self.healed)),
            ("stopped", str(self.stopped)),
            ("planned", str(self.planned)),
            ("repaired", str(self.repaired)),
            ("tokens saved (estimate)", str(self.tokens_saved)),
            ("seconds saved (estimate)", f"{self.seconds_saved:.1f}"),
        ]


def add_up(counters: Mapping[str, float], store: StoreStatistics) -> CacheStatistics:
    """Return the statistics of a store's counters."""
    hits = {
        name.removeprefix(f"{HIT} "): int(figure)
        for name, figure in counters.items()
        if name.startswith(f"{HIT} ")
    }
    return CacheStatistics(
        hits=hits,
        misses=int(counters.get(MISS, 0)),
        refused=int(counters.get(REFUSED, 0)),
        successes=int(counters.get(SUCCEEDED, 0)),
        failures=int(counters.get(FAILED, 0)),
        mistakes=int(counters.get(MISTAKES, 0)),
        cancelled=int(counters.get(CANCELLED, 0)),
        reported=int(counters.get(REPORTED, 0)),
        planned=int(counters.get(PLANNED, 0)),
        repaired=int(counters.get(REPAIRED, 0)),
        healed=int(counters.get(HEALED, 0)),
        stopped=int(counters.get(STOPPED, 0)),
        tokens_saved=int(counters.get(TOKENS, 0)),
        seconds_saved=counters.get(MILLISECONDS, 0.0) / 1_000,
        store=store,
    )


def count_run(
    entry: CacheEntry,
    *,
    succeeded: bool,
    excuse: Excuse | None,
    milliseconds: float,
    whole: bool,
    healed: bool,
) -> dict[str, float]:
    """Return what a run adds to the counters. `whole`: all steps of the entry were asked for."""
    figures: dict[str, float] = {f"{HIT} {entry.level}": 1}
    if succeeded:
        figures[SUCCEEDED] = 1
        if whole:
            figures[TOKENS] = entry.cost.tokens
            figures[MILLISECONDS] = max(0.0, entry.cost.milliseconds - milliseconds)
        return figures | ({HEALED: 1} if healed else {})
    if excuse == "cancelled":
        return figures | {CANCELLED: 1}
    return figures | {MISTAKES if excuse == "mistake" else FAILED: 1, STOPPED: 1}


def _percent(rate: float | None) -> str:
    return "-" if rate is None else f"{rate:.0%}"
