"""Healing: updates the targets of an entry's steps after a run. Pure."""

from __future__ import annotations

from collections.abc import Mapping

import attrs

from cdpengine.cache.changes import PageFeatures
from cdpengine.cache.entries import CacheEntry, Step, StepGroup
from cdpengine.cache.matching.finding import TargetMatch
from cdpengine.cache.replaying.places import Place


@attrs.define(eq=False)
class Healing:
    """The healed steps of a run. `unconfirmed` are the healed steps without a post-condition."""

    _healed: dict[tuple[int, int | None], Step] = attrs.field(factory=dict)
    _unconfirmed: set[tuple[int, int | None]] = attrs.field(factory=set)

    def note(self, place: Place, step: Step, matches: Mapping[str, TargetMatch]) -> None:
        """Keep a completed step and the matches of its targets."""
        found = {
            slot: match.found
            for slot, match in matches.items()
            if match.level == "healed" and match.found is not None
        }
        if found:
            key = place.index, place.number
            self._healed[key] = attrs.evolve(step, targets={**step.targets, **found})
            if step.after is None:
                self._unconfirmed.add(key)

    def apply(self, entry: CacheEntry, features: PageFeatures | None, *, ok: bool) -> CacheEntry | None:
        """Return the entry with the healed targets of confirmed steps, or of all steps if the run succeeded.

        features: the page's features after a soft change. If all steps succeeded, the entry gets them.
        """
        steps = {key: step for key, step in self._healed.items() if ok or key not in self._unconfirmed}
        remembered = features if ok and features is not None else entry.features
        if not steps and remembered is entry.features:
            return None
        made: list[Step | StepGroup] = []
        for index, each in enumerate(entry.steps):
            if isinstance(each, StepGroup):
                inside = tuple(steps.get((index, number), step) for number, step in enumerate(each.steps))
                made.append(attrs.evolve(each, steps=inside))
            else:
                made.append(steps.get((index, None), each))
        return attrs.evolve(entry, steps=tuple(made), features=remembered)
