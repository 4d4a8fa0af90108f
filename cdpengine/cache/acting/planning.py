"""Planning: the cache asks a planner for unknown steps, performs them through `dispatch`, and stores them.

Rule: a planner gets the goal and a snapshot, and returns requests. It gets no value of a variable: the goal and
the snapshot contain names instead, and its strings are templates (`${password}`). The cache does not repeat a
failed request. The planner gets a new snapshot instead, up to a limited number of consecutive failures. The
cache asks it at most `rounds` times.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping
from typing import Any, Literal, TypeAlias

import attrs
import trio

from cdpengine import Page, Snapshot
from cdpengine._checks import wrong_type
from cdpengine._snapshot.ref import unseen
from cdpengine.act import ActRequest, ActResponse, Click, Press, dispatch
from cdpengine.act.actor import Actor
from cdpengine.act.parsing import parse_request
from cdpengine.act.response import describe_failure
from cdpengine.cache.acting.learned_entry import keep_plan, learn_plan
from cdpengine.cache.acting.looking_up import Lookup
from cdpengine.cache.acting.running import resolve_for_planner, time_left
from cdpengine.cache.acting.statistics import PLANNED, REPAIRED
from cdpengine.cache.addresses import has_address
from cdpengine.cache.config import CacheConfig
from cdpengine.cache.entries import CACHED_KINDS, CacheEntry, LearningCost, Step, Target
from cdpengine.cache.learning.learned_steps import learn_steps
from cdpengine.cache.origins import document_origin, guard_values, value_origins
from cdpengine.cache.recognizing.masking import mask_goal, mask_snapshot
from cdpengine.cache.recognizing.recognition import ScenarioMatch
from cdpengine.cache.replaying.confirming import NOBODY, Confirming
from cdpengine.cache.replaying.options import ConfirmOptions
from cdpengine.cache.replaying.places import describe_step
from cdpengine.cache.replaying.report import ExecutionReport
from cdpengine.cache.store import CacheStore
from cdpengine.cache.templates import escape, request_variables
from cdpengine.cache.variables import AskForSecret, Values
from cdpengine.errors import EngineError, InvalidArgumentError

FAILED_IN_ROW = 3
"""Consecutive failed plans before giving up."""

LOOKING = 30.0
"""Timeout for the planner's snapshot, in seconds."""

ANSWERING = 60.0
"""Timeout for one answer of the planner, in seconds."""

MOST_REQUESTS = 100
"""Maximum number of requests in one answer."""


@attrs.frozen
class Plan:
    """An answer of a planner: the next requests, and whether they complete the goal."""

    requests: tuple[ActRequest | Mapping[str, Any], ...] = ()
    done: bool = True


PlannedRequests: TypeAlias = "Plan | Iterable[ActRequest | Mapping[str, Any]] | None"

Planner: TypeAlias = Callable[[str, Snapshot], Awaitable[PlannedRequests]]
"""A callable that gets the goal and a snapshot, and returns requests as classes or as JSON.

Refs in the requests refer to that snapshot. A `Plan` that is not `done` makes the cache call the planner
again after its requests. No requests, or None, mean that no work is left.
"""


Outcome = Literal["replayed", "planned", "repaired", "known", "refused", "failed"]
"""The way to the goal: from the cache, by the planner, by the planner after a stopped replay, or none.

"refused": a person did not confirm a step.
"known": the goal required no action, and the report has the known entry.
"""


@attrs.frozen(kw_only=True)
class PerformReport:
    """The result of a goal.

    `replay` is the report of the replay, or None. `responses` are the responses to the planner's requests. `entry`
    is the stored entry. For the outcome "known", it is the existing entry. `remarks` are failures on the
    way, such as of a classifier.
    """

    outcome: Outcome
    scenario: str
    match: ScenarioMatch | None = None
    replay: ExecutionReport | None = None
    responses: tuple[ActResponse, ...] = attrs.field(default=(), repr=False)
    entry: CacheEntry | None = attrs.field(default=None, repr=False)
    reason: str = ""
    remarks: tuple[str, ...] = ()

    @property
    def ok(self) -> bool:
        """Whether the goal was reached."""
        return self.outcome not in ("known", "refused", "failed")


def conclude(outcome: Outcome, found: Lookup, **more: Any) -> PerformReport:
    """Return the report of a goal. `more` are further fields of the report."""
    return PerformReport(outcome=outcome, scenario=found.scenario, match=found.match, **more)


@attrs.frozen(kw_only=True)
class PlanResult:
    """The result of planning: the responses, the success or the reason of failure, and the tokens."""

    responses: tuple[ActResponse, ...]
    done: bool
    reason: str = ""
    tokens: int = 0
    refused: bool = False


Resolve: TypeAlias = Callable[[Iterable[str]], Awaitable[Values]]
"""Gets the names of variables and returns the values of all of them, or raises VariablesError."""


@attrs.frozen(kw_only=True)
class PlanLimits:
    """Limits of a plan.

    actor: performs the requests, within its limits.
    origins: further origins where sensitive values are allowed. The page's origin at the start of
        the plan is also allowed. In a blank tab, the origin of the first page counts.
    confirming: asks a person before critical steps. A "no" ends the plan.
    """

    actor: Actor | None = None
    origins: frozenset[str] = frozenset()
    confirming: Confirming = NOBODY


async def follow_plan(
    page: Page,
    goal: str,
    planner: Planner,
    resolve: Resolve,
    *,
    rounds: int,
    deadline: float,
    limits: PlanLimits = PlanLimits(),
) -> PlanResult:
    """Ask the planner and perform its requests, until the goal is reached, a failure or the timeout.

    deadline: on trio's clock. limits: the limits of the plan.

    Planning fails if the planner raises or does not answer within 60 s. An invalid answer counts as a
    failed one. Raises VariablesError before any request of a plan that names a variable without a
    value.
    """
    with unseen():
        acting = limits.actor or Actor(page.browser, page.browser.context_of(page))
        doing = _Doing(acting, page, deadline, set(limits.origins), limits.confirming)
        return await _follow(doing, goal, planner, resolve, rounds)


async def _follow(doing: _Doing, goal: str, planner: Planner, resolve: Resolve, rounds: int) -> PlanResult:
    page, deadline, responses = doing.page, doing.deadline, doing.responses
    failed_in_row = tokens = 0
    wrong = ""
    values = await resolve(())
    for _ in range(rounds):
        with trio.move_on_at(deadline) as asking:
            snapshot = await page.snapshot(timeout=LOOKING)
            tokens += snapshot.stats.tokens
        if asking.cancelled_caught:
            break
        with trio.move_on_at(min(deadline, trio.current_time() + ANSWERING)) as asking:
            try:
                answer: object = await planner(goal, snapshot)
            except Exception as error:  # noqa: BLE001 - the report contains the planner's failure
                failure = f"the planner raised {type(error).__name__}"
                return PlanResult(responses=tuple(responses), done=False, reason=failure, tokens=tokens)
        if asking.cancelled_caught:
            failure = "the planner did not answer in time"
            return PlanResult(responses=tuple(responses), done=False, reason=failure, tokens=tokens)
        try:
            plan = _read_plan(answer)
            parsed = [parse_request(request) for request in plan.requests]
        except InvalidArgumentError as error:
            wrong, failed_in_row = f"the planner's answer is not a plan: {error}", failed_in_row + 1
            if failed_in_row == FAILED_IN_ROW:
                break
            continue
        wrong = ""
        values = await resolve(name for request in parsed for name in request_variables(request))
        done = await doing.do(parsed, values)
        if doing.refusal:
            return PlanResult(
                responses=tuple(responses), done=False, reason=doing.refusal, tokens=tokens, refused=True
            )
        if done and (plan.done or not plan.requests):
            return PlanResult(responses=tuple(responses), done=True, tokens=tokens)
        failed_in_row = 0 if done else failed_in_row + 1
        if failed_in_row == FAILED_IN_ROW or trio.current_time() >= deadline:
            break
    reason = f"the planner was asked {rounds} times"
    if wrong:
        reason = wrong
    elif failed_in_row and responses and responses[-1].error is not None:
        reason = f"{responses[-1].kind} failed: {responses[-1].error.message}"
    elif trio.current_time() >= deadline:
        reason = "the time was over"
    return PlanResult(responses=tuple(responses), done=False, reason=values.hide(reason), tokens=tokens)


@attrs.define(eq=False)
class _Doing:
    """Performs a planner's requests. `origins` are the allowed origins for sensitive values."""

    actor: Actor
    page: Page
    deadline: float
    origins: set[str]
    confirming: Confirming
    refusal: str = ""
    responses: list[ActResponse] = attrs.field(factory=list)
    _is_placed: bool = attrs.field(default=False, init=False)

    def __attrs_post_init__(self) -> None:
        self._note_origin()

    def _note_origin(self) -> None:
        if has_address(self.page.url) and not self._is_placed:
            self.origins.add(document_origin(self.page.url))
            self._is_placed = True

    async def do(self, requests: Iterable[ActRequest], values: Values) -> bool:
        """Perform requests with values filled in, until one fails. Return whether all succeeded."""
        for request in requests:
            response = await self._do(request, values)
            self.responses.append(response)
            self._note_origin()
            if not response.ok:
                return False
        return True

    async def _do(self, request: ActRequest, values: Values) -> ActResponse:
        timeout_ms = max(1, round(min(time_left(self.deadline), request.timeout) * 1_000))
        filled = attrs.evolve(
            values.fill_request(request), target_id=self.page.target_id, timeout_ms=timeout_ms
        )
        try:
            _check_secrets(request, values)
            if await self._is_refused(request):
                raise InvalidArgumentError(request.kind, self.refusal, "a confirmation")
            with guard_values(self.page, request, self.origins, values.sensitive):
                return await dispatch(self.actor, filled)
        except EngineError as error:
            return ActResponse(kind=request.kind, ok=False, error=describe_failure(error))

    async def _is_refused(self, request: ActRequest) -> bool:
        step = _as_step(self.page, request)
        selector = getattr(request, "selector", None)
        # The element of a selector is unknown, so ask the person.
        unknown = isinstance(request, (Click, Press)) and selector and self.confirming.confirm is not None
        if unknown or (step is not None and self.confirming.asks(step)):
            what = describe_step(step) if step is not None else f"{request.kind} {selector}"
            left = max(0.0, self.deadline - trio.current_time())
            self.refusal = await self.confirming.refusal(str(len(self.responses)), what, self.page.url, left)
        return bool(self.refusal)


def _as_step(page: Page, request: ActRequest) -> Step | None:
    """Return a request as a step with the role and name of its element, or None without an element."""
    ref = getattr(request, "ref", None)
    if not isinstance(ref, str):
        return None
    found = page.internals.refs.lookup(ref)
    return Step(request=request, targets={ref: Target(role=found.role, name=escape(found.name))})


def _check_secrets(request: ActRequest, values: Values) -> None:
    """Raise InvalidArgumentError for a request that uses a secret for anything but entering it."""
    secrets = values.sensitive.intersection(request_variables(request))
    if secrets and request.kind not in CACHED_KINDS:
        secret = f"the sensitive variable {min(secrets)}"
        raise InvalidArgumentError(request.kind, secret, "a sensitive variable only in entered text")


def _read_plan(answer: object) -> Plan:
    """Return the plan of an answer. Raises InvalidArgumentError for an invalid answer."""
    what = "answer of the planner"
    requests = answer.requests if isinstance(answer, Plan) else () if answer is None else answer
    if isinstance(requests, (str, bytes, Mapping)) or not isinstance(requests, Iterable):
        raise wrong_type(what, requests, "a Plan, or a list of requests")
    plan = Plan(tuple(requests), answer.done if isinstance(answer, Plan) else True)
    if len(plan.requests) > MOST_REQUESTS:
        raise InvalidArgumentError(what, f"{len(plan.requests)} requests", f"at most {MOST_REQUESTS}")
    return plan


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

    report: the report of that replay. Raises VariablesError for a plan that uses a variable
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
