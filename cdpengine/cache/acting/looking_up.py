"""Lookup of a goal: its scenario, its values, and its entry for a page or an address.

Rule: a page and its address find the same entry, but only a page distinguishes variants.
"""

from __future__ import annotations

from collections.abc import Mapping

import attrs

from cdpengine import Page
from cdpengine.cache.acting.choosing import choose_for_page
from cdpengine.cache.acting.learning import Lookup, name_goal
from cdpengine.cache.config import CacheConfig
from cdpengine.cache.recognizing.recognition import ASKS_NOTHING, ScenarioRecognizer
from cdpengine.cache.recognizing.sentences import Extraction, extract_variables
from cdpengine.cache.store import CacheStore


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
    scenario = name_goal(goal) if seen.match is None else seen.match.scenario
    extracts = config.extract_variables and seen.acts
    extracted = extract_variables(goal, scenario) if extracts else Extraction(values={})
    known = {**extracted.values, **values}
    names = {*known, *extracted.refused}
    found = Lookup(
        scenario=scenario, match=seen.match, acts=seen.acts, remarks=seen.remarks, variant=variant or "",
        variables=tuple(sorted(names)),
    )  # fmt: skip
    if not config.enabled:
        return attrs.evolve(found, reason="the cache is switched off"), known
    choice = await choose_for_page(store, config, place, scenario, names, variant)
    found = attrs.evolve(
        found, entry=choice.entry, others=choice.others, unused=choice.unused, used=choice.used
    )
    return attrs.evolve(found, reason=choice.reason if seen.acts else ASKS_NOTHING), known
