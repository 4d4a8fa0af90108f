"""Lookup of a goal: its scenario, its values, and its entry for a page or an address.

Rule: a page and its address find the same entry, but only a page distinguishes variants. Values without names
are assigned to the variables of the entry in the order of its steps, if their numbers are equal.
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Mapping, Sequence
from typing import Any

import attrs

from cdpengine import Page
from cdpengine.cache.acting.choosing import choose_for_page, orders_for_page
from cdpengine.cache.config import CacheConfig
from cdpengine.cache.entries import CacheEntry
from cdpengine.cache.recognizing.recognition import ASKS_NOTHING, ScenarioMatch, ScenarioRecognizer
from cdpengine.cache.recognizing.sentences import Extraction, extract_variables, is_plausible, mask_values
from cdpengine.cache.recognizing.variable_rules import ORDERS
from cdpengine.cache.store import CacheStore


@attrs.frozen(kw_only=True)
class Lookup:
    """The result of a lookup: the entry for a goal, or the reason that none is usable.

    `variant` is the requested variant. `acts`: whether the goal can request an action. A question, a
    negation and a remark do not. `remarks` are failures during the recognition. `variables` are the names
    that the caller and the goal gave. `unused` are the variables that no entry uses. `used` are the
    variables of the nearest entry. `unassigned` is the number of values in the goal that have no name and
    belong to no variable for certain. Such a goal is not performed.
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
    unassigned: int = 0

    def to_json(self) -> dict[str, Any]:
        """Return the lookup as JSON data, without the entries."""
        result: dict[str, Any] = {
            "scenario": self.scenario,
            "acts": self.acts,
            "variables": list(self.variables),
        }
        if self.match is not None:
            result |= {"confidence": self.match.confidence, "method": self.match.method}
        if self.unused:
            result["unused"] = list(self.unused)
        if self.unassigned:
            result["unassigned"] = self.unassigned
        if self.reason:
            result["reason"] = self.reason
        if self.remarks:
            result["remarks"] = list(self.remarks)
        return result


async def look_up_goal(
    store: CacheStore,
    config: CacheConfig,
    recognizer: ScenarioRecognizer,
    goal: str,
    place: Page | str,
    values: Mapping[str, str],
    *,
    patience: float,
    variant: str | None = None,
) -> tuple[Lookup, Mapping[str, str]]:
    """Return the lookup of a goal, and the values from the caller and from the goal.

    place: the page, or its URL. patience: timeout of the classifier, in seconds.
    """
    url = place if isinstance(place, str) else place.url
    seen = await recognizer.understand(
        goal, url, least=config.least_confidence, patience=patience, values=values
    )
    scenario = _name_goal(goal) if seen.match is None else seen.match.scenario
    extracts = config.extract_variables and seen.acts
    extracted = extract_variables(goal, scenario) if extracts else Extraction(values={})
    named = {*extracted.values, *extracted.refused}
    known = {**extracted.values, **values}
    found = Lookup(
        scenario=scenario, match=seen.match, acts=seen.acts, remarks=seen.remarks, variant=variant or "",
        variables=tuple(sorted({*known, *named})),
    )  # fmt: skip
    if not config.enabled:
        return attrs.evolve(found, reason="the cache is switched off"), known
    if extracted.unnamed and seen.match is not None:
        orders = await orders_for_page(store, config, url, scenario, named)
        if not orders and scenario in ORDERS:
            orders = {ORDERS[scenario]}
        assigned = _assign(extracted.unnamed, orders, scenario, named, values)
        if assigned is None:
            reason = _describe_unassigned(len(extracted.unnamed), orders, named)
            return attrs.evolve(found, unassigned=len(extracted.unnamed), reason=reason), known
        known = {**assigned, **known}
    names = {*known, *named}
    found = attrs.evolve(found, variables=tuple(sorted(names)))
    choice = await choose_for_page(store, config, place, scenario, names, variant)
    found = attrs.evolve(
        found, entry=choice.entry, others=choice.others, unused=choice.unused, used=choice.used
    )
    return attrs.evolve(found, reason=choice.reason if seen.acts else ASKS_NOTHING), known


def _name_goal(goal: str) -> str:
    """Return a scenario name for a goal of an unknown scenario. Equal words give equal names."""
    words = " ".join(mask_values(goal).lower().split())
    return f"goal_{hashlib.sha256(words.encode()).hexdigest()[:16]}"


def _assign(
    unnamed: Sequence[str],
    orders: Collection[tuple[str, ...]],
    scenario: str,
    named: Collection[str],
    values: Mapping[str, str],
) -> Mapping[str, str] | None:
    """Return the values without names by variable, or None if the assignment is not certain.

    orders: the variables of each possible entry. named: the variables with a name in the goal. values: the
    caller's values. A value of the goal must not differ from them. If they include all variables, no value of
    the goal is needed.
    """
    for taken in (set(named), {*named, *values}):
        left = {tuple(name for name in order if name not in taken) for order in orders}
        fitting = [names for names in left if len(names) == len(unnamed)]
        if len(fitting) == 1:
            pairs = dict(zip(fitting[0], unnamed, strict=True))
            certain = all(
                is_plausible(name, value, scenario) and values.get(name, value) == value
                for name, value in pairs.items()
            )
            return pairs if certain else None
        if fitting:
            return None
    return {} if all(set(order) <= {*named, *values} for order in orders) else None


def _describe_unassigned(count: int, orders: Collection[tuple[str, ...]], named: Collection[str]) -> str:
    left = sorted({name for order in orders for name in order if name not in named})
    has = "1 value without a name" if count == 1 else f"{count} values without names"
    return (
        f"the sentence has {has}, which cannot be assigned to {', '.join(left) or 'any variable'} for certain"
    )
