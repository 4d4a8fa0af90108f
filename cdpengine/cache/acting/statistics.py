"""The statistics of a cache: uses, hits, misses and runs, and an estimate of the saved tokens and time. Pure.

Rule: a use is a call of `execute` or `perform` that requests an action, by any client. Each use is a hit, a
miss or refused. Each hit begins one run. A run ends as a success, a failure, a mistake of the caller or
cancelled. The number of hits equals the number of runs. Dry runs, lookups, and uses cancelled before their
run do not count. The counters belong to the owner. Healing, repair, replacement and deletion of entries do
not reset them.

A successful run saves the tokens of the snapshots that its steps would otherwise need (`LearningCost`). The
output and the thoughts of a model do not count. The saved time is the learning time, planner included, minus
the time of the run, and at least 0. For an entry that was learned from a person, it reflects the person's pace.
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
"""Names of counters. Hits have one counter per level, such as "hits L3"."""


@attrs.frozen(kw_only=True)
class CacheStatistics:
    """The statistics of an owner's cache.

    `hits` are the uses that began a run, by level. `misses` are the uses without an entry or with variants
    that do not fit the page. `refused` are the uses that an error ended before the run, such as a missing
    variable. `successes`, `failures`, `mistakes` (of the caller, such as a wrong password) and `cancelled`
    are the results of runs. `reported` are failures from `report_error`. They belong to no run. `healed`
    counts the successes with a changed element. `stopped` counts the failures and the mistakes. `planned`
    counts the goals that a planner reached alone. `repaired` counts the goals that a planner reached after
    a stopped replay. `tokens_saved` and `seconds_saved` are estimates (see the module). `store` summarises
    the current entries.
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
        """The share of hits among hits and misses, from 0 to 1. None before the first lookup."""
        return sum(self.hits.values()) / self.lookups if self.lookups else None

    @property
    def success_rate(self) -> float | None:
        """The share of successes among successes and failures, from 0 to 1. None before the first."""
        judged = self.successes + self.failures
        return self.successes / judged if judged else None


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
    """Return the counter increments of a run. `whole`: whether the run includes all steps of the entry."""
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
