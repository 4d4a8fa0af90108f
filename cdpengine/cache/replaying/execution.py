"""The replay of an entry on a page. The engine checks the page before and after each step.

Rule: a run starts only if all variables have values, the range of steps is valid, and the page is the entry's
page. The engine finds each element again right before its step. An uncertain element stops the run. Steps use
the common dispatch, with its rules for deadlines, cancellation and errors. A step is done when its
post-condition holds. Failures are in the report and are not raised.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import partial
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Unpack

import attrs
import trio

from cdpengine._budget import check_timeout, within
from cdpengine._logs import get_logger
from cdpengine._snapshot.ref import unseen
from cdpengine._snapshot.snapshot import Snapshot
from cdpengine.act import Actor, Navigate, NewTab
from cdpengine.act.actor import actor_of
from cdpengine.act.dispatch import check_limits, dispatch_within
from cdpengine.cache.changes import (
    MOST_OF_SAME_COUNTS,
    THRESHOLDS,
    PageChange,
    PageFeatures,
    PageType,
    Thresholds,
    compare_features,
    judge_change,
    read_features,
)
from cdpengine.cache.entries import CacheEntry, Step, StepGroup, begins_with
from cdpengine.cache.judging.faults import Fault, is_named_by_caller, judge_error, judge_failure
from cdpengine.cache.judging.judge import Judge, nothing_there
from cdpengine.cache.matching.conditions import watch_changes
from cdpengine.cache.matching.finding import TargetMatch, find_target
from cdpengine.cache.matching.probing import QueriedElement, forget_page, has_counts, probe_page
from cdpengine.cache.origins import expected_origins, guard_values
from cdpengine.cache.replaying.confirming import Confirming
from cdpengine.cache.replaying.evidence import gather_evidence
from cdpengine.cache.replaying.options import ExecutionOptions
from cdpengine.cache.replaying.places import (
    Healing,
    Place,
    check_range,
    check_variables,
    describe_step,
    places_of,
    request_of,
    status_of,
    why_not,
)
from cdpengine.cache.replaying.report import ExecutionReport, StepResult
from cdpengine.cache.variables import Values
from cdpengine.errors import (
    DeadlineExceededError,
    EngineError,
    shown_url,
)

if TYPE_CHECKING:
    from cdpengine import Page

_log = get_logger("cdpengine.cache")

_PATIENCE = 2.0
"""Time in which an element can appear if no post-condition waited for it, in seconds."""

_LEADING = 10.0
"""Time limit of a post-condition, in seconds."""

_LOOKING = 15.0
"""Time limit of one search on the page, in seconds."""

_ROLLING_BACK = 8.0
"""Time limit of a group's rollback, also in a cancelled run, in seconds."""

_ONCE_MORE = frozenset({"click", "hover", "scrollIntoView", "check", "select"})
"""Requests that the engine repeats on the new element if the page replaced the element before any input was
sent. Typing is not repeated: a part of the text can already be in the field."""


async def execute_entry(
    page: Page,
    entry: CacheEntry,
    values: Values,
    *,
    timeout: float = 120.0,
    **options: Unpack[ExecutionOptions],
) -> ExecutionReport:
    """Replay an entry on a page, and return the results of the steps.

    from_index, to_index: the range of `entry.steps`, as in a slice. A group counts as one item. If the range
        starts at 0, the engine compares the page with the entry. A different address or a hard change stops
        the run.
    force: ignore a different address and a hard change.
    dry_run: find the elements that are on the page now, without performing the steps.
    actor: the actor of the steps; by default the program's actor for the whole browser.
    patience: the time in which an element can appear, in seconds (2).
    thresholds: the minimum confidence of soft and hard changes.
    confirm: asks a person before a step that sends, pays or deletes. Without a yes, the run ends as
        `refused`.
    confirm_if: selects other steps for `confirm`.
    timeout: the time limit of the run, in seconds. A rollback and the evidence of a failure have additional
        time.

    Raises VariablesError with all missing variables, and InvalidArgumentError for an invalid range.
    Both are raised before the first step; later failures are in the report. A cancellation rolls an atomic
    group back within 8 s, then propagates.
    """
    deadline = trio.current_time() + check_timeout(timeout)
    first, end = check_range(entry, options.get("from_index", 0), options.get("to_index"))
    chosen = entry.steps[first:end]
    values = attrs.evolve(values, sensitive=values.sensitive | frozenset(entry.sensitive))
    check_variables(chosen, values)
    run = _Run(
        page=page,
        entry=entry,
        values=values,
        actor=options.get("actor") or actor_of(page.browser),
        force=options.get("force", False),
        patience=check_timeout(options.get("patience", _PATIENCE)),
        thresholds=options.get("thresholds", THRESHOLDS),
        deadline=deadline,
        confirming=Confirming(
            scenario=entry.key.scenario, confirm=options.get("confirm"), confirm_if=options.get("confirm_if")
        ),
    )
    try:
        with unseen(), run.judge.following():
            plan = options.get("dry_run", False)
            return await (run.plan(first, chosen) if plan else run.execute(first, chosen))
    finally:
        forget_page(run.page)


@attrs.define(eq=False, kw_only=True)
class _Run:
    """One run of an entry.

    `seen` is the last snapshot, `before` the last snapshot before an action. `features` are the page's
    features after a soft change. `fault` is the fault of the failed step. `acted` is whether a step of the
    group began.
    """

    page: Page
    entry: CacheEntry
    values: Values
    actor: Actor
    force: bool
    patience: float
    thresholds: Mapping[PageType, Thresholds]
    deadline: float
    confirming: Confirming
    results: list[StepResult] = attrs.field(factory=list)
    seen: Snapshot | None = None
    before: Snapshot | None = None
    change: PageChange | None = None
    features: PageFeatures | None = None
    healing: Healing = attrs.field(factory=Healing)
    fault: Fault | None = None
    acted: bool = False
    refused: bool = False
    judge: Judge = attrs.field(init=False)

    def __attrs_post_init__(self) -> None:
        self.judge = Judge(self.page, self.values)

    @property
    def left(self) -> float:
        return max(round(self.deadline - trio.current_time(), 3), 0)

    async def execute(self, first: int, chosen: Sequence[Step | StepGroup]) -> ExecutionReport:
        started = trio.current_time()
        reason = await self._check_page(first, chosen)
        stopped: int | None = None
        if not reason:
            for index, each in enumerate(chosen, first):
                reason = await self._do_all(index, each)
                if reason:
                    stopped = index
                    break
        begun = {(result.index, result.number) for result in self.results}
        for index, each in enumerate(chosen, first):
            for place, step in places_of(index, each):
                if reason and (place.index, place.number) not in begun:
                    self.results.append(self._result(place, step, status="skipped"))
        spent = (trio.current_time() - started) * 1000
        report = ExecutionReport(
            ok=not reason,
            steps=tuple(self.results),
            stopped_at=stopped,
            reason=reason,
            milliseconds=spent,
            change=self.change,
            healed=self.healing.apply(self.entry, self.features, ok=not reason),
            fault=self.fault if reason and not self.refused else None,
            refused=self.refused,
        )
        if reason and not self.refused:
            evidence = await gather_evidence(self.page, self.values, self.before)
            report = attrs.evolve(
                report, screenshot=evidence.screenshot, diff=evidence.diff, remarks=evidence.remarks
            )
        return report

    # --- the page ------------------------------------------------------------------------------------------

    async def _check_page(self, first: int, chosen: Sequence[Step | StepGroup]) -> str:
        """Return why the page is not the entry's page, or ""."""
        if first > 0 or isinstance(begins_with(chosen), (Navigate, NewTab)):
            return ""
        try:
            if not self.entry.key.pattern.matches(self.page.url) and not self.force:
                self.fault = "address"
                return f"the page is at {shown_url(self.page.url)}, the entry is for {self.entry.key.address}"
            verdict = await self._compare()
            hard = verdict == "hard" and not self.force and self.change is not None
            missing = await self.judge.judge_missing(nothing_there) if hard else None
        except EngineError as error:
            self.fault = "timeout" if self.left <= 0 else judge_error(error)
            return self.values.hide(f"the page could not be compared with the learned one: {error}")
        if missing is not None:
            self.fault = missing.fault
            return self.values.hide(missing.message)
        if hard and self.change is not None:
            self.fault = "changed"
            return f"the page is another one than it was ({self.change.confidence} of 100 sure)"
        return ""

    async def _compare(self) -> str:
        features = self.entry.features
        if features is None:
            return "keep"
        with within("compare the page with the learned one", min(_LOOKING, self.left)):
            same_is_kept = self.thresholds[self.entry.page_type].soft > MOST_OF_SAME_COUNTS
            if same_is_kept and len(self.page.frames) == 1 and not features.partial:
                probed = await probe_page(self.page, {}, counted=True)
                if probed is not None and has_counts(features, probed.roles):
                    return "keep"
            now = read_features(await self._snapshot())
            change = compare_features(features, now)
            most = 100 if change.details else MOST_OF_SAME_COUNTS
            self.change = attrs.evolve(change, confidence=min(change.confidence, most))
        verdict = judge_change(self.change, self.entry.page_type, thresholds=self.thresholds)
        if verdict == "soft":
            self.features = now
        return verdict

    async def _snapshot(self) -> Snapshot:
        self.seen = await self.page.snapshot(timeout=min(_LOOKING, max(self.left, 0.001)))
        return self.seen

    # --- groups --------------------------------------------------------------------------------------------

    async def _do_all(self, index: int, each: Step | StepGroup) -> str:
        """Perform a step or the steps of a group. Return the reason of a failure, or ""."""
        self.acted = False
        began = len(self.results)
        try:
            for place, step in places_of(index, each):
                result = await self._do(place, step)
                self.results.append(result)
                if result.error is not None:
                    break
            else:
                return ""
        except trio.Cancelled:
            if isinstance(each, StepGroup):
                left = "its rollback did not end in time"
                with trio.CancelScope(shield=True, deadline=trio.current_time() + _ROLLING_BACK):
                    left = await self._roll_back(index, each, began)
                if left:
                    left = self.values.hide(left, everything=True)
                    _log.warning("a cancelled run of %s: step %d: %s", self.entry.key, index, left)
            raise
        reason = f"step {result.place}: {result.error}"
        if isinstance(each, StepGroup) and (left := await self._roll_back(index, each, began)):
            reason = f"{reason}; {left}"
        return reason

    async def _roll_back(self, index: int, group: StepGroup, began: int) -> str:
        """Roll a group back if any of its steps began. Return the failures of the rollback, or "".

        After a failed step, the rollback continues with the next one. At its end, it repeats the failed steps
        once whose elements it did not find: a later step may have brought them back. Other failed steps may
        have had an effect, so that a repetition could undo too much.
        """
        if not (group.atomic and group.rollback and self.acted):
            return ""
        deadline, self.deadline = self.deadline, trio.current_time() + _ROLLING_BACK
        try:
            undone: list[StepResult] = []
            unacted: list[int] = []
            for number, step in enumerate(group.rollback):
                self.acted = False
                undone.append(await self._do(Place(index=index, number=number, rollback=True), step))
                if undone[-1].error is not None and not self.acted:
                    unacted.append(number)
            for number in unacted if len(unacted) < len(undone) else ():
                place = Place(index=index, number=number, rollback=True)
                undone[number] = await self._do(place, group.rollback[number])
            if all(result.error is None for result in undone):
                self.results[began:] = [
                    attrs.evolve(result, status="rolled back") if result.status == "done" else result
                    for result in self.results[began:]
                ]
            self.results += undone
        finally:
            self.deadline = deadline
        failed = [f"step {result.place}: {result.error}" for result in undone if result.error is not None]
        return f"its rollback failed, so the group is done in part: {'; '.join(failed)}" if failed else ""

    # --- one step ------------------------------------------------------------------------------------------

    async def _do(self, place: Place, step: Step) -> StepResult:
        started = trio.current_time()
        matches: Mapping[str, TargetMatch] = {}
        error: str | None = None
        fault: Fault = "changed"
        try:
            matches = await self._find(step)
            error = why_not(matches)
            if error is not None:
                fault, error = await self._judge_missing(step, error)
            elif not place.rollback and self.confirming.asks(step):
                error, matches = await self._ask(self._result(place, step, status="planned"), step, matches)
            if error is None:
                with guard_values(self.page, step.request, expected_origins(self.entry, step)):
                    fault, error, matches = await self._act(step, matches)
            if error is None and (verdict := await self._wait(step)) is not None:
                fault, error = verdict
        except EngineError as failure:
            fault, error = judge_error(failure), str(failure)
        if error is not None and not place.rollback:
            self.fault = "timeout" if self.left <= 0 else fault
        if error is None and not place.rollback:
            self.healing.note(place, step, matches)
        return attrs.evolve(
            self._result(place, step, status=status_of(error, refused=self.refused and not place.rollback)),
            matches=MappingProxyType(dict(matches)),
            milliseconds=(trio.current_time() - started) * 1000,
            error=None if error is None else self.values.hide(error),
        )

    async def _ask(
        self, result: StepResult, step: Step, matches: Mapping[str, TargetMatch]
    ) -> tuple[str | None, Mapping[str, TargetMatch]]:
        """Ask a person to confirm a step. Return the reason of a refusal, and the elements, found again."""
        what = result.label or result.what
        refusal = await self.confirming.refusal(result.place, what, self.page.url, self.left)
        if refusal:
            self.refused = True
            return refusal, matches
        matches = await self._find(step)
        return why_not(matches), matches

    def _result(self, place: Place, step: Step, *, status: Any) -> StepResult:
        return StepResult(
            index=place.index,
            number=place.number,
            rollback=place.rollback,
            kind=step.request.kind,
            label=step.label,
            what=describe_step(step),
            status=status,
        )

    async def _act(
        self, step: Step, matches: Mapping[str, TargetMatch]
    ) -> tuple[Fault, str | None, Mapping[str, TargetMatch]]:
        """Perform a step. Return the fault and the reason of a failure, and the elements."""
        request = request_of(step, matches, self.values, self.page, self.left)
        try:
            await check_limits(request, self.actor)
        except EngineError as error:
            return "forbidden", str(error), matches
        self.acted, self.before = True, self.seen
        await self.judge.begin(step)
        response = await dispatch_within(self.actor, request)
        if response.error is not None and response.error.kind == "staleRef" and request.kind in _ONCE_MORE:
            matches = await self._find(step)
            if (reason := why_not(matches)) is not None:
                return "changed", reason, matches
            again = request_of(step, matches, self.values, self.page, self.left)
            response = await dispatch_within(self.actor, again)
        if (failure := response.error) is not None:
            fault = judge_failure(request, step, failure)
            if fault == "changed" and (verdict := await self.judge.judge(nothing_there)) is not None:
                return verdict.fault, f"{failure.message}; {verdict.message}", matches
            return fault, failure.message, matches
        if isinstance(request, NewTab) and response.target_id is not None:
            self.page = self.actor.browser.page(response.target_id) or self.page
            self.judge.page = self.page
        return "changed", None, matches

    async def _judge_missing(self, step: Step, error: str) -> tuple[Fault, str]:
        """Return the fault and the reason of missing elements."""
        verdict = await self.judge.judge_missing(nothing_there)
        if verdict is not None:
            return verdict.fault, f"{error}; {verdict.message}"
        if is_named_by_caller(step) and self.seen is not None:
            roles = {each.role for each in step.targets.values()}
            if any(node.role in roles and node.name for node in self.seen.nodes):
                return "value", f"{error}; the page has others, called otherwise"
        return "changed", error

    async def _wait(self, step: Step) -> tuple[Fault, str] | None:
        """Wait for a loading document and the condition of a step. Return None, or the fault and the reason."""
        navigation = self.page.internals.target.navigation
        if navigation.under_way:
            await self.page.wait_for(load_state="domcontentloaded", timeout=min(_LEADING, self.left))
        if step.after is None:
            return None
        seconds = min(_LEADING, self.left)
        verdict = await self.judge.lead(step.after, partial(self._is_there, step), seconds)
        if verdict is not None and self.left <= 0:
            return "timeout", f"the run did not finish within its time; {verdict[1]}"
        return verdict

    async def _is_there(self, step: Step) -> bool:
        return bool(step.targets) and why_not(await self._look(step)) is None

    # --- targets -------------------------------------------------------------------------------------------

    async def _find(self, step: Step) -> Mapping[str, TargetMatch]:
        """Find the elements of a step. Missing elements get some time to appear."""
        if not step.targets:
            return {}
        with within(f"find what to {step.request.kind}", min(_LOOKING, self.left)):
            matches = await self._look(step)
            if why_not(matches) is None:
                return matches
            latest = [matches]
            with trio.move_on_after(self.patience):
                await self._look_again(step, latest)
            return latest[0]

    async def _look_again(self, step: Step, latest: list[Mapping[str, TargetMatch]]) -> None:
        with suppress(DeadlineExceededError):
            await self.page.settled(timeout=self.patience)
        latest[0] = await self._look(step)
        async with watch_changes(self.page) as changes:
            while why_not(latest[0]) is not None:
                await changes.next()
                latest[0] = await self._look(step)

    async def _look(self, step: Step) -> Mapping[str, TargetMatch]:
        elements = {
            slot: QueriedElement(
                target=target, name=self.values.fill(target.name), item=self.values.fill(target.item)
            )
            for slot, target in step.targets.items()
        }
        probed = await probe_page(self.page, elements)
        if probed is not None and probed.signs is not None:
            self.judge.latest = probed.signs
        matches = {
            slot: TargetMatch(level="exact", ref=ref, score=100, reason="the only one of its role and name")
            for slot, ref in ({} if probed is None else probed.refs).items()
        }
        if len(matches) < len(elements):
            snapshot = await self._snapshot()
            for slot, target in step.targets.items():
                if slot not in matches:
                    matches[slot] = find_target(snapshot, target, self.values)
        return {slot: matches[slot] for slot in step.targets}

    # --- a dry run -----------------------------------------------------------------------------------------

    async def plan(self, first: int, chosen: Sequence[Step | StepGroup]) -> ExecutionReport:
        """Find the elements that are on the page now, without performing the steps."""
        started = trio.current_time()
        reason = await self._check_page(first, chosen)
        places = [each for index, item in enumerate(chosen, first) for each in places_of(index, item)]
        stopped: int | None = None
        away = bool(reason)
        for number, (place, step) in enumerate(places):
            result = self._result(place, step, status="planned")
            if not away:
                try:
                    with within(f"find what to {step.request.kind}", min(_LOOKING, self.left)):
                        result = attrs.evolve(result, matches=MappingProxyType(dict(await self._look(step))))
                except EngineError as error:
                    reason = self.values.hide(str(error))
                missing = reason or why_not(result.matches) or ""
                away = bool(missing)
                if missing and number == 0:
                    reason, stopped = f"step {result.place}: {missing}", place.index
                    result = attrs.evolve(result, status="failed", error=missing)
                elif missing:
                    result = attrs.evolve(result, status="skipped", error=f"not on the page now: {missing}")
                away = away or isinstance(step.request, (Navigate, NewTab))
            else:
                result = attrs.evolve(result, status="skipped")
            self.results.append(result)
        return ExecutionReport(
            ok=not reason,
            steps=tuple(self.results),
            dry_run=True,
            stopped_at=stopped,
            reason=reason,
            milliseconds=(trio.current_time() - started) * 1000,
            change=self.change,
        )
