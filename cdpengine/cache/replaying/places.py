"""The steps of a run: their range, their positions, their requests, and their healed targets. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import attrs

from cdpengine._checks import check_count
from cdpengine.act import ActRequest, Drag, Fill, NewTab
from cdpengine.act.requests import ActingRequest
from cdpengine.cache.changes import PageFeatures
from cdpengine.cache.entries import CacheEntry, Step, StepGroup, all_steps, step_variables
from cdpengine.cache.matching.finding import TargetMatch
from cdpengine.cache.replaying.report import StepStatus
from cdpengine.cache.variables import Values
from cdpengine.errors import VariablesError

if TYPE_CHECKING:
    from cdpengine import Page


def check_range(entry: CacheEntry, first: int, end: int | None) -> tuple[int, int]:
    """Return the range of steps, as in a slice. Raises InvalidArgumentError for an invalid range."""
    count = len(entry.steps)
    check_count("from_index", first, most=count - 1)
    last = count if end is None else check_count("to_index", end, least=first + 1, most=count)
    return first, last


def check_variables(chosen: Sequence[Step | StepGroup], values: Values) -> None:
    """Raise VariablesError with all variables of the steps without a value."""
    needed = [name for step in all_steps(chosen) for name in step_variables(step)]
    if missing := [name for name in dict.fromkeys(needed) if name not in values.names]:
        raise VariablesError(missing)


@attrs.frozen(kw_only=True)
class Place:
    """The position of a step in its entry."""

    index: int
    number: int | None = None
    rollback: bool = False


def places_of(index: int, each: Step | StepGroup) -> list[tuple[Place, Step]]:
    """Return the steps of one item of an entry, with their places."""
    if isinstance(each, StepGroup):
        return [(Place(index=index, number=number), step) for number, step in enumerate(each.steps)]
    return [(Place(index=index), each)]


def describe_step(step: Step) -> str:
    """Describe a step in words. Templates are not filled in."""
    targets = [
        f"{each.role} {each.name[:60]!r}" if each.name else each.role for each in step.targets.values()
    ]
    return " ".join([step.request.kind, ", ".join(targets)]).strip()


def status_of(error: str | None, *, refused: bool) -> StepStatus:
    """Return the status of a started step."""
    if error is None:
        return "done"
    return "refused" if refused else "failed"


def why_not(matches: Mapping[str, TargetMatch]) -> str | None:
    """Return why a step is impossible, or None if all of its elements were found."""
    return next((f"{match.level}: {match.reason}" for match in matches.values() if match.ref is None), None)


def request_of(
    step: Step, matches: Mapping[str, TargetMatch], values: Values, page: Page, left: float
) -> ActRequest:
    """Return the request of a step, with values for templates and refs for names of targets."""
    request = values.fill_request(step.request)
    refs = {slot: match.ref for slot, match in matches.items()}
    more: dict[str, Any] = {"timeout_ms": max(round(min(request.timeout, left) * 1000), 1)}
    if not isinstance(request, NewTab):
        more["target_id"] = page.target_id
    if isinstance(request, ActingRequest):
        more["diff"] = False
    if isinstance(request, Fill):
        more["fields"] = tuple(attrs.evolve(field, ref=refs[field.ref or ""]) for field in request.fields)
    names = ("start_ref", "end_ref") if isinstance(request, Drag) else ("ref",)
    for name in names:
        if (slot := getattr(request, name, None)) is not None:
            more[name] = refs[slot]
    return attrs.evolve(request, **more)


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
