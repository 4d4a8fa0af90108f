"""Planned goals: goals that a planner reaches alone or after a stopped replay, and the storage of its steps.

Rule: a planner gets no value of a variable. Its goal and its snapshots contain names instead.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

import attrs
import trio

from cdpengine import Page, Snapshot
from cdpengine.act import Actor
from cdpengine.cache.acting.learning import Lookup, conclude, keep_plan, learn_plan
from cdpengine.cache.acting.planning import (
    Outcome,
    PerformReport,
    PlanLimits,
    PlannedRequests,
    Planner,
    follow_plan,
)
from cdpengine.cache.acting.running import resolve_for_planner
from cdpengine.cache.acting.statistics import PLANNED, REPAIRED
from cdpengine.cache.config import CacheConfig
from cdpengine.cache.entries import CacheEntry, LearningCost
from cdpengine.cache.learning.learned_steps import learn_steps
from cdpengine.cache.origins import value_origins
from cdpengine.cache.recognizing.masking import mask_goal, mask_snapshot
from cdpengine.cache.replaying.confirming import Confirming
from cdpengine.cache.replaying.options import ConfirmOptions
from cdpengine.cache.replaying.report import ExecutionReport
from cdpengine.cache.store import CacheStore
from cdpengine.cache.variables import AskForSecret, Values


@attrs.frozen(kw_only=True)
class Goal:
    """A goal: the sentence, its lookup, the known values, and the limits.

    `used` are the values of a replay for this goal, from any source. `deadline` is on trio's clock.
    """

    text: str = attrs.field(repr=False)
    found: Lookup
    known: Mapping[str, str] = attrs.field(repr=False)
    deadline: float
    actor: Actor | None = None
    asking: ConfirmOptions = attrs.field(factory=ConfirmOptions)
    used: dict[str, str] = attrs.field(factory=dict, repr=False)


async def plan_goal(
    store: CacheStore,
    config: CacheConfig,
    page: Page,
    goal: Goal,
    planner: Planner,
    report: ExecutionReport | None,
    *,
    ask: AskForSecret | None,
    now: Callable[[], float],
) -> PerformReport:
    """Let the planner reach the goal, and store its steps after the completed steps of the replay.

    report: the report of that replay. Raises UndefinedVariablesError for a plan that uses a variable
    without a value.
    """
    began = trio.current_time()
    found = goal.found
    masked, known = mask_goal(goal.text, found.scenario, goal.known)
    masks = {**goal.used, **known}

    async def resolve(names: Iterable[str]) -> Values:
        values = await resolve_for_planner(names, page.url, known, ask)
        masks.update(values.reveal())
        return values

    async def ask_planner(_goal: str, snapshot: Snapshot) -> PlannedRequests:
        return await planner(masked, mask_snapshot(snapshot, masks))

    confirming = Confirming(scenario=found.scenario, **goal.asking)
    limits = PlanLimits(actor=goal.actor, origins=value_origins(found.entry), confirming=confirming)
    async with learn_steps(page, variables=known, keep_typed=store.encrypted) as learned:
        result = await follow_plan(
            page, masked, ask_planner, resolve, rounds=config.rounds, deadline=goal.deadline, limits=limits
        )  # fmt: skip
    if not result.done:
        ended: Outcome = "refused" if result.refused else "failed"
        return conclude(ended, found, replay=report, responses=result.responses, reason=result.reason)
    repairs = report is not None and found.entry is not None and (report.stopped_at or 0) > 0
    entry: CacheEntry | None = None
    if config.learn and config.enabled and learned.steps:
        cost = LearningCost(tokens=result.tokens, milliseconds=(trio.current_time() - began) * 1_000)
        before = found.entry if repairs else None
        stopped_at = None if before is None or report is None else report.stopped_at
        made = learn_plan(learned, found, before, stopped_at, cost=cost, now=now(), config=config)
        failed = None if report is None or found.entry is None else found.entry.key
        entry = await keep_plan(store, made, failed)
    if config.statistics:
        await store.count({REPAIRED if repairs else PLANNED: 1})
    outcome: Outcome = "repaired" if repairs else "planned"
    return conclude(outcome, found, replay=report, responses=result.responses, entry=entry)
