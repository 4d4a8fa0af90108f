"""Choosing: selection of a scenario's entry by the given variables and the page.

Rule: an entry must use every given variable. A flow without a variable for the user's name would log in as
the user of the entry, whatever name the caller gives. Among variants, the best match to the
page comes first.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Mapping, Sequence
from types import MappingProxyType

import attrs

from cdpengine import Page, Snapshot
from cdpengine._urls.origins import origin_of
from cdpengine.act import Navigate, NewTab
from cdpengine.cache.config import CacheConfig
from cdpengine.cache.entries import CacheEntry, CacheKey, Viewport, step_variables
from cdpengine.cache.learning.elements import read_viewport
from cdpengine.cache.matching.finding import find_target
from cdpengine.cache.store import CacheStore
from cdpengine.cache.templates import find_variables
from cdpengine.cache.variables import ENVIRONMENT_PREFIX, Values, is_permitted
from cdpengine.errors import CacheMissError, InvalidArgumentError, VariablesError


@attrs.frozen(kw_only=True)
class Choice:
    """The chosen entry, or the reason that none is usable.

    `others` are the entries of other variants, best match first. `unused` are the given variables that no
    entry uses. `used` are the variables of the nearest entry.
    """

    entry: CacheEntry | None = None
    others: tuple[CacheEntry, ...] = ()
    reason: str = ""
    unused: tuple[str, ...] = ()
    used: tuple[str, ...] = ()


def choose_usable(found: Sequence[CacheEntry], config: CacheConfig) -> tuple[list[CacheEntry], str]:
    """Return the entries that the options and the recent runs allow, or the reason that none is usable."""
    if not found:
        return [], "there is no entry for this address, or it has expired"
    of_level = [entry for entry in found if entry.level in config.levels]
    if not of_level:
        return [], f"the only entries have the level {found[0].level}, which the options exclude"
    sound = [entry for entry in of_level if entry.statistics.failed_in_row < config.failures]
    return sound, "" if sound else f"its last {of_level[0].statistics.failed_in_row} runs failed"


async def orders_for_page(
    store: CacheStore, config: CacheConfig, url: str, scenario: str, names: Collection[str]
) -> set[tuple[str, ...]]:
    """Return the variables of a scenario's usable entries for a URL, in the order of their steps.

    names: given variables. Only entries that use them count. Entries without variables do not count.
    """
    usable, _ = choose_usable(await _find_for_url(store, url, scenario, names), config)
    orders = {
        tuple(dict.fromkeys(name for step in entry.all_steps() for name in step_variables(step)))
        for entry in usable
    }
    return {order for order in orders if order and set(names) <= set(order)}


def used_variables(entry: CacheEntry) -> frozenset[str]:
    """Return the variables that the steps of an entry use. Its key may name more."""
    return frozenset(name for step in entry.all_steps() for name in step_variables(step))


def choose_entry(
    found: Sequence[CacheEntry], names: Collection[str], config: CacheConfig, size: Viewport | None
) -> Choice:
    """Return the entry to replay: it uses all given variables and needs the fewest others.

    found: entries, most exact address first. size: the page's size. Entries of that size are preferred.
    """
    sound, reason = choose_usable(found, config)
    if reason:
        return Choice(reason=reason)
    needed = frozenset(names)
    used = {entry.key.id: used_variables(entry) for entry in sound}
    fitting = [entry for entry in sound if needed <= used[entry.key.id]]
    if not fitting:
        nearest = min((used[entry.key.id] for entry in sound), key=lambda names: len(needed - names))
        unused = tuple(sorted(needed - nearest))
        reason = f"no entry uses these variables: {', '.join(unused)}"
        return Choice(reason=reason, unused=unused, used=tuple(sorted(nearest)))

    def rank(entry: CacheEntry) -> tuple[int, bool, int]:
        missing = (name for name in used[entry.key.id] - needed if not _has_value(entry, name))
        return sum(1 for _ in missing), entry.key.viewport != size, "L3 L2 L1".index(entry.level)

    ranked = sorted(fitting, key=rank)
    of_variants: dict[str, CacheEntry] = {}
    for entry in ranked:
        if rank(entry)[0] == rank(ranked[0])[0]:
            of_variants.setdefault(entry.key.variant, entry)
    first, *others = of_variants.values()
    return Choice(entry=first, others=tuple(others))


async def choose_for_page(
    store: CacheStore,
    config: CacheConfig,
    place: Page | str,
    scenario: str,
    names: Collection[str],
    variant: str | None = None,
) -> Choice:
    """Return a scenario's entry for the current page, or the reason that none is usable.

    place: the page, or a URL. For a URL, the size and the elements of the page do not count.
    """
    found = await _find_for_url(store, place if isinstance(place, str) else place.url, scenario, names)
    if found and variant is not None:
        found = tuple(entry for entry in found if entry.key.variant == variant)
        if not found:
            return Choice(reason=f"there is no entry of the variant {variant!r}")
    size = await read_viewport(place) if len(found) > 1 and not isinstance(place, str) else None
    choice = choose_entry(found, names, config, size)
    if choice.entry is None or not choice.others or isinstance(place, str):
        return choice
    snapshot = await place.snapshot()
    variants = (choice.entry, *choice.others)
    first, *others = sorted(variants, key=lambda entry: -_fit(snapshot, entry))
    return attrs.evolve(choice, entry=first, others=tuple(others))


def _fit(snapshot: Snapshot, entry: CacheEntry) -> float:
    """Return the share of the elements of an entry's first page that a snapshot contains, from 0 to 1.

    The first page ends with a step that leads to an address. Elements with template names do not count.
    """
    scores: list[float] = []
    values = Values({})
    for step in entry.all_steps():
        scores += [
            _FITS[find_target(snapshot, target, values).level]
            for target in step.targets.values()
            if not find_variables(target.name) and not find_variables(target.item)
        ]
        if isinstance(step.request, (Navigate, NewTab)) or (step.after is not None and step.after.url):
            break
    return sum(scores) / len(scores) if scores else 0.0


_FITS: Mapping[str, float] = MappingProxyType(
    {"exact": 1.0, "healed": 0.5, "ambiguous": 0.25, "missing": 0.0}
)
"""Score of an element by the level of its match."""


async def _find_for_url(
    store: CacheStore, url: str, scenario: str, names: Collection[str]
) -> tuple[CacheEntry, ...]:
    found = await store.find(scenario, url)
    if not any(used_variables(entry).issuperset(names) for entry in found):
        # An entry that begins with a navigation can begin anywhere.
        known = {entry.key.id for entry in found}
        anywhere = await store.find_from_anywhere(scenario)
        found += tuple(entry for entry in anywhere if entry.key.id not in known)
    return found


async def find_entry(
    store: CacheStore,
    config: CacheConfig,
    page: Page,
    scenario_or_key: str | CacheKey,
    names: Collection[str],
    *,
    now: float,
    variant: str | None = None,
) -> tuple[CacheEntry, ...]:
    """Return the entry of a scenario, a key or an id, then its other variants in replay order."""
    if not config.enabled:
        raise CacheMissError("anything", page.url, "the cache is switched off")
    if isinstance(scenario_or_key, str) and not _is_id(scenario_or_key):
        choice = await choose_for_page(store, config, page, scenario_or_key, names, variant)
        if choice.unused:
            raise VariablesError(unused=choice.unused, used=choice.used, scenario=scenario_or_key)
        if choice.entry is None:
            reason = choice.reason
            if not await store.size(scenario_or_key):
                similar = await store.scenarios_like(scenario_or_key)
                meant = f". Perhaps you mean {' or '.join(similar)}" if similar else ""
                reason = f"no scenario has this name{meant}"
            raise CacheMissError(scenario_or_key, page.url, reason)
        return choice.entry, *choice.others
    entry = await store.get(scenario_or_key)
    if entry is None or entry.expires_at <= now:
        named = f"entry {scenario_or_key}" if isinstance(scenario_or_key, str) else scenario_or_key.scenario
        raise CacheMissError(named, page.url, "the entry does not exist, or it has expired")
    used = used_variables(entry)
    if unused := set(names) - used:
        raise VariablesError(unused=sorted(unused), used=sorted(used), scenario=entry.key.scenario)
    if variant is not None and entry.key.variant != variant:
        raise InvalidArgumentError("variant", repr(variant), f"{entry.key.variant!r}, that of the entry")
    return (entry,)


def _is_id(text: str) -> bool:
    """Return whether a string is the id of an entry rather than the name of a scenario."""
    return len(text) == 32 and all(each in "0123456789abcdef" for each in text)


def _has_value(entry: CacheEntry, name: str) -> bool:
    has_one = f"{ENVIRONMENT_PREFIX}{name.upper()}" in os.environ
    return has_one and is_permitted(name, entry.environment, origin_of(entry.key.address))
