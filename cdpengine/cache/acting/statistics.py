"""What a cache is worth: hits and misses, runs, and what was saved, as an estimate. Pure.

Rule: what is saved is an estimate from measurements. Tokens: those of the snapshots that were read while the entry
was learned, once for each run of it that succeeded; what a model would have written and thought is not counted.
Time: how long learning it took, the planner included, less how long the run took, and never less than nothing. An
entry that a person recorded counts the person's own pace.
"""

from __future__ import annotations

from collections.abc import Mapping

import attrs

from cdpengine.cache.entries import CacheEntry, Level
from cdpengine.cache.store import StoreStatistics

HIT, MISS, TOKENS, MILLISECONDS = "hits", "misses", "tokens saved", "milliseconds saved"
HEALED, STOPPED, REPAIRED, PLANNED = "healed", "stopped", "repaired", "planned"
"""Names of counters; hits are counted by level, as "hits L3"."""


@attrs.frozen(kw_only=True)
class CacheStatistics:
    """What an owner's cache is worth.

    `hits` and `misses` count the goals that something was found for, by level, and those that nothing was.
    `planned` counts what a planner did whole, `repaired` what it ended after a replay that stopped. `healed`
    counts the runs in which an element was found though it had changed, `stopped` those that did not reach their
    end. `tokens_saved` and `seconds_saved` are estimates (see the module). `store` is what is kept.
    """

    hits: dict[str, int] = attrs.field(factory=dict, hash=False)
    misses: int = 0
    planned: int = 0
    repaired: int = 0
    healed: int = 0
    stopped: int = 0
    tokens_saved: int = 0
    seconds_saved: float = 0.0
    store: StoreStatistics

    @property
    def lookups(self) -> int:
        """How many goals were looked up."""
        return sum(self.hits.values()) + self.misses

    @property
    def hit_rate(self) -> float | None:
        """The part of the lookups that found something, from 0 to 1; None before the first."""
        return sum(self.hits.values()) / self.lookups if self.lookups else None

    @property
    def success_rate(self) -> float | None:
        """The part of the runs of the entries that are kept that succeeded; None before the first."""
        runs = self.store.successes + self.store.failures
        return self.store.successes / runs if runs else None

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
            ("runs", f"{self.store.successes} succeeded, {self.store.failures} failed"),
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
        planned=int(counters.get(PLANNED, 0)),
        repaired=int(counters.get(REPAIRED, 0)),
        healed=int(counters.get(HEALED, 0)),
        stopped=int(counters.get(STOPPED, 0)),
        tokens_saved=int(counters.get(TOKENS, 0)),
        seconds_saved=counters.get(MILLISECONDS, 0.0) / 1_000,
        store=store,
    )


def count_hit(level: Level) -> dict[str, float]:
    """Return what a hit adds to the counters."""
    return {f"{HIT} {level}": 1}


def count_savings(entry: CacheEntry, milliseconds: float) -> dict[str, float]:
    """Return what a run of an entry that succeeded adds to the counters."""
    return {TOKENS: entry.cost.tokens, MILLISECONDS: max(0.0, entry.cost.milliseconds - milliseconds)}


def _percent(rate: float | None) -> str:
    return "-" if rate is None else f"{rate:.0%}"
