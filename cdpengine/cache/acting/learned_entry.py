"""Learned entries: conversion of learned steps to an entry with an address, a name and a cost.

Rule: an entry begins at the first address of its learning. An entry whose learning starts on a blank page begins
at the target of its first navigation. A replay of such an entry can start on any page. A repair keeps the
steps that still work.
"""

from __future__ import annotations

import re

import attrs

from cdpengine.act import Navigate
from cdpengine.cache.acting.looking_up import Lookup
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
from cdpengine.cache.learning.learned_steps import LearnedSteps
from cdpengine.cache.store import CacheStore
from cdpengine.errors import InvalidArgumentError

WITHOUT_KEY = (
    "the cache has no key, so typed strings are not stored: a string that is not the value of a variable becomes "
    "a variable with the name of its field. To store typed strings, set CDPENGINE_CACHE_KEY, or let the cache use "
    "the user's keyring"
)
"""Notice at the start of learning in a cache without encryption."""

_UNKNOWN = Viewport(width=1280, height=720)
"""Viewport of an entry if the page did not report its own."""


@attrs.define(eq=False, kw_only=True)
class Learning:
    """The result of a block of `ActionCache.learn`: `learned` during the block, `entry` after it.

    `entry` is None if no action became a step. The notes of `learned` list those actions. Set `keep` to
    False in the block to store nothing. `notice` warns that the cache has no key and stores no typed
    strings. It is "" if the cache has a key.
    """

    learned: LearnedSteps
    notice: str = ""
    keep: bool = True
    entry: CacheEntry | None = None


def learn_entry(
    learned: LearnedSteps,
    scenario: str,
    *,
    level: Level,
    source: Source,
    cost: LearningCost,
    now: float,
    lifetime: float,
    variant: str = "",
) -> CacheEntry:
    """Return the entry of the learned steps. Raises InvalidArgumentError if it cannot become an entry."""
    address = _find_address(learned)
    key = make_key(scenario, address, learned.viewport or _UNKNOWN, learned.variables, variant=variant)
    return make_entry(
        key,
        learned.steps,
        now=now,
        expires_at=now + lifetime,
        level=level,
        source=source,
        cost=cost,
        sensitive=learned.sensitive,
        features=learned.features if address == learned.url else None,
    )


def repair_entry(
    before: CacheEntry,
    kept: tuple[Step | StepGroup, ...],
    learned: LearnedSteps,
    *,
    cost: LearningCost,
    now: float,
    lifetime: float,
) -> CacheEntry:
    """Return an entry of the kept steps, followed by the learned ones."""
    names = tuple(sorted({*before.key.variables, *learned.variables}))
    share = len(kept) / len(before.steps)  # the kept share of the learning cost
    return make_entry(
        attrs.evolve(before.key, variables=names),
        (*kept, *learned.steps),
        now=now,
        expires_at=now + lifetime,
        level=before.level,
        source="planned",
        cost=LearningCost(
            tokens=round(before.cost.tokens * share) + cost.tokens,
            milliseconds=before.cost.milliseconds * share + cost.milliseconds,
        ),
        sensitive=tuple(sorted({*before.sensitive, *learned.sensitive})),
        environment=before.environment,
        features=before.features,
        description=before.description,
        tags=before.tags,
        page_type=before.page_type,
    )


def learn_plan(
    learned: LearnedSteps,
    found: Lookup,
    before: CacheEntry | None,
    stopped_at: int | None,
    *,
    cost: LearningCost,
    now: float,
    config: CacheConfig,
) -> CacheEntry:
    """Return the entry of a planner's steps, after the steps of `before` that a replay completed."""
    if before is not None:
        lifetime = config.lifetime(before.level)
        return repair_entry(before, before.steps[:stopped_at], learned, cost=cost, now=now, lifetime=lifetime)
    level = config.level(0 if found.match is None else found.match.confidence)
    return learn_entry(
        learned,
        found.scenario,
        level=level,
        source="planned",
        cost=cost,
        now=now,
        lifetime=config.lifetime(level),
        variant=found.variant,
    )


async def keep_plan(store: CacheStore, made: CacheEntry, failed: CacheKey | None) -> CacheEntry:
    """Store the entry of a plan. It replaces a failed entry with other variables at the same place."""
    same_place = failed is not None and attrs.evolve(failed, variables=made.key.variables) == made.key
    return await store.put(made, replace_narrower=True, takes_over=failed if same_place else None)


def _find_address(learned: LearnedSteps) -> str | UrlPattern:
    """Return the address where an entry begins. Raises InvalidArgumentError if its pages have no address."""
    if has_address(learned.url):
        return learned.url
    goes = begins_with(learned.steps)
    if not isinstance(goes, Navigate) or not has_address(goes.url):
        raise InvalidArgumentError(
            "page of the learning", "a blank tab or a document of a program", "a page of http, https or file"
        )
    if "${" not in goes.url:
        return goes.url
    return UrlPattern(re.sub(r"\$\{\w+\}", "*", goes.url))
