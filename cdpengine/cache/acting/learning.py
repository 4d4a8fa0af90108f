"""What was recorded becomes an entry: where it begins, what it is called, and what it took.

Rule: an entry begins at the page's address where its recording began; one that begins with a navigation from a
blank page begins where that goes, and can be replayed from anywhere. A repair keeps the steps that still work.
"""

from __future__ import annotations

import hashlib
import re
from typing import Any

import attrs

from cdpengine.act import Navigate
from cdpengine.cache.acting.planning import Outcome, PerformReport
from cdpengine.cache.addresses import UrlPattern, has_address
from cdpengine.cache.config import CacheConfig
from cdpengine.cache.entries import (
    CacheEntry,
    CacheKey,
    LearningCost,
    Level,
    Source,
    Step,
    StepGroup,
    Viewport,
    begins_with,
    make_entry,
    make_key,
)
from cdpengine.cache.recognizing.recognition import ScenarioMatch
from cdpengine.cache.recognizing.sentences import mask_values
from cdpengine.cache.recording.recording import Recording
from cdpengine.cache.store import CacheStore
from cdpengine.errors import InvalidArgumentError

WITHOUT_KEY = (
    "the cache has no key, so typed texts are not kept: one that is not the value of a variable becomes a "
    "variable that is named after its field. Set CDPENGINE_CACHE_KEY, or let the cache use the user's keyring, "
    "to keep them"
)
"""What to know before a recording begins where entries are not encrypted."""

_UNKNOWN = Viewport(width=1280, height=720)
"""The viewport that is taken where the page did not say its own."""


@attrs.define(eq=False, kw_only=True)
class Learning:
    """What a block of `ActionCache.record` learns: `recording` while it runs, `entry` after it.

    `entry` is None where nothing was done that could be a step; the notes of the recording say what was. `keep`
    may be set to False in the block: then nothing is kept. `notice` is what to know before anything is done: that
    typed texts are not kept for want of a key. It is "" where there is nothing to know.
    """

    recording: Recording
    notice: str = ""
    keep: bool = True
    entry: CacheEntry | None = None


@attrs.frozen(kw_only=True)
class Lookup:
    """What the cache has for a goal on a page: the entry, or why there is none. `variant` was asked for.

    `acts`: whether the goal may ask for something; a question, a negation and a remark do not. `remarks` say what
    failed while it was recognised. `variables` are the names that were given or said. `unused` are those that
    no entry uses; the nearest one uses `used`.
    """

    scenario: str
    match: ScenarioMatch | None = None
    entry: CacheEntry | None = None
    others: tuple[CacheEntry, ...] = attrs.field(default=(), repr=False)
    variant: str = ""
    reason: str = ""
    acts: bool = True
    remarks: tuple[str, ...] = ()
    variables: tuple[str, ...] = ()
    unused: tuple[str, ...] = ()
    used: tuple[str, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """Return what it says of the goal, without the entries."""
        result: dict[str, Any] = {
            "scenario": self.scenario,
            "acts": self.acts,
            "variables": list(self.variables),
        }
        if self.match is not None:
            result |= {"confidence": self.match.confidence, "method": self.match.method}
        if self.unused:
            result["unused"] = list(self.unused)
        if self.reason:
            result["reason"] = self.reason
        if self.remarks:
            result["remarks"] = list(self.remarks)
        return result


def conclude(outcome: Outcome, found: Lookup, **more: Any) -> PerformReport:
    """Return the report of a goal; `more` are further fields of it."""
    return PerformReport(outcome=outcome, scenario=found.scenario, match=found.match, **more)


def learn_entry(
    recording: Recording,
    scenario: str,
    *,
    level: Level,
    source: Source,
    cost: LearningCost,
    now: float,
    lifetime: float,
    variant: str = "",
) -> CacheEntry:
    """Return the entry of what was recorded. Raises InvalidArgumentError for what no entry can be."""
    address = _find_address(recording)
    key = make_key(scenario, address, recording.viewport or _UNKNOWN, recording.variables, variant=variant)
    return make_entry(
        key,
        recording.steps,
        now=now,
        expires_at=now + lifetime,
        level=level,
        source=source,
        cost=cost,
        sensitive=recording.sensitive,
        features=recording.features if address == recording.url else None,
    )


def repair_entry(
    before: CacheEntry,
    kept: tuple[Step | StepGroup, ...],
    recording: Recording,
    *,
    cost: LearningCost,
    now: float,
    lifetime: float,
) -> CacheEntry:
    """Return an entry of the steps that were kept and of those that were recorded behind them."""
    names = tuple(sorted({*before.key.variables, *recording.variables}))
    share = len(kept) / len(before.steps)  # the cost of learning the steps that are kept
    return make_entry(
        attrs.evolve(before.key, variables=names),
        (*kept, *recording.steps),
        now=now,
        expires_at=now + lifetime,
        level=before.level,
        source="planned",
        cost=LearningCost(
            tokens=round(before.cost.tokens * share) + cost.tokens,
            milliseconds=before.cost.milliseconds * share + cost.milliseconds,
        ),
        sensitive=tuple(sorted({*before.sensitive, *recording.sensitive})),
        environment=before.environment,
        features=before.features,
        description=before.description,
        tags=before.tags,
        page_type=before.page_type,
    )


def learn_plan(
    recording: Recording,
    found: Lookup,
    before: CacheEntry | None,
    stopped_at: int | None,
    *,
    cost: LearningCost,
    now: float,
    config: CacheConfig,
) -> CacheEntry:
    """Return the entry of what a planner did: whole, or behind the steps of `before` that a replay did."""
    if before is not None:
        lifetime = config.lifetime(before.level)
        return repair_entry(
            before, before.steps[:stopped_at], recording, cost=cost, now=now, lifetime=lifetime
        )
    level = config.level(0 if found.match is None else found.match.confidence)
    return learn_entry(
        recording,
        found.scenario,
        level=level,
        source="planned",
        cost=cost,
        now=now,
        lifetime=config.lifetime(level),
        variant=found.variant,
    )


async def keep_plan(store: CacheStore, made: CacheEntry, failed: CacheKey | None) -> CacheEntry:
    """Keep the entry of a plan. It takes the place of an entry that failed there with other variables."""
    same_place = failed is not None and attrs.evolve(failed, variables=made.key.variables) == made.key
    return await store.put(made, replace_narrower=True, takes_over=failed if same_place else None)


def name_goal(goal: str) -> str:
    """Return a scenario's name for a goal of no known scenario; the same words have the same name."""
    words = " ".join(mask_values(goal).lower().split())
    return f"goal_{hashlib.sha256(words.encode()).hexdigest()[:16]}"


def _find_address(recording: Recording) -> str | UrlPattern:
    """Return the address where an entry begins. Raises InvalidArgumentError where its pages have none."""
    if has_address(recording.url):
        return recording.url
    goes = begins_with(recording.steps)
    if not isinstance(goes, Navigate) or not has_address(goes.url):
        raise InvalidArgumentError(
            "page of the recording", "a blank tab or a document of a program", "a page of http, https or file"
        )
    if "${" not in goes.url:
        return goes.url
    return UrlPattern(re.sub(r"\$\{\w+\}", "*", goes.url))
