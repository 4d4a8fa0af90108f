"""ActionCache: what is known of a page is replayed; what is not is asked of a planner, and kept.

Rule: nothing is done before all values are there, and nothing is kept that did not work. A replay that stops says
where and why; with a planner, what it left is done by the planner, and both become the next version of the entry.
"""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Callable, Iterable, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Unpack

import attrs
import trio

from cdpengine import Page
from cdpengine._budget import within
from cdpengine.act import Actor
from cdpengine.cache.acting.guide import read_guide
from cdpengine.cache.acting.learning import (
    WITHOUT_KEY,
    Learning,
    Lookup,
    conclude,
    learn_entry,
)
from cdpengine.cache.acting.looking_up import look_up_goal
from cdpengine.cache.acting.planned import Goal, plan_goal
from cdpengine.cache.acting.planning import PerformReport, Planner
from cdpengine.cache.acting.running import (
    count_use,
    find_for_use,
    replay_variants,
    resolve_for_entry,
)
from cdpengine.cache.acting.statistics import (
    MISS,
    REPORTED,
    CacheStatistics,
    add_up,
)
from cdpengine.cache.changes import PageType
from cdpengine.cache.config import CacheConfig, read_config
from cdpengine.cache.entries import CacheEntry, CacheKey, LearningCost, Level, Viewport, make_key
from cdpengine.cache.entry_json import Export, ImportReport
from cdpengine.cache.entry_table import ScenarioSummary, StoreLimits
from cdpengine.cache.judging.faults import is_mistake
from cdpengine.cache.recognizing.recognition import (
    ASKS_NOTHING,
    CLASSIFYING,
    Classifier,
    RecognitionHistory,
    ScenarioRecognizer,
)
from cdpengine.cache.recognizing.scenario_rules import SCENARIO_RULES, ScenarioRule
from cdpengine.cache.recording.recording import record_steps
from cdpengine.cache.replaying.options import ConfirmOptions, ExecutionOptions
from cdpengine.cache.replaying.report import ExecutionReport
from cdpengine.cache.store import CacheStore
from cdpengine.cache.variables import (
    AskForSecret,
    Values,
    taken_from_environment,
)
from cdpengine.errors import CacheMissError, InvalidArgumentError, UnusedVariablesError

_GUIDED = 20
"""Scenarios that the guide names."""

LONGEST_RUN = 300.0
"""Seconds that a run has unless another time is given."""


class ActionCache:
    """An open cache of actions: see `ActionCache.open`."""

    def __init__(
        self,
        store: CacheStore,
        config: CacheConfig,
        recognizer: ScenarioRecognizer,
        history: RecognitionHistory,
        ask: AskForSecret | None,
        now: Callable[[], float],
    ) -> None:
        """Not to be called: `open` does."""
        self._store = store
        self._config = config
        self._recognizer = recognizer
        self._history = history
        self._ask = ask
        self._now = now

    @classmethod
    @asynccontextmanager
    async def open(
        cls,
        path: str | Path | None = None,
        *,
        config: CacheConfig | None = None,
        key: bytes | None = None,
        rules: Iterable[ScenarioRule] = SCENARIO_RULES,
        classifier: Classifier | None = None,
        ask: AskForSecret | None = None,
        now: Callable[[], float] = time.time,
    ) -> AsyncIterator[ActionCache]:
        """Open a cache for the length of the block; its file is made where there is none.

        path: the file; without, that of the user (`default_path`).
        config: the options; without, those of `read_config`.
        key: 32 bytes to encrypt with; without, CDPENGINE_CACHE_KEY, and then the user's keyring.
        rules, classifier: by what scenarios are recognised (`ScenarioRecognizer`).
        ask: an async callable that is asked for values that nothing else has, such as passwords. One that raises
            has no value, and the error names the class of its exception.
        now: the time, in seconds since 1970.

        Raises what `read_config` and `CacheStore.open` raise, and InvalidArgumentError where the options require a
        key and there is none.
        """
        options = await read_config() if config is None else config
        limits = StoreLimits(entries=options.entries, bytes=options.megabytes * 2**20, unused=options.unused)
        async with CacheStore.open(
            path, owner=options.owner, limits=limits, key=key, keyring=options.keyring, now=now
        ) as store:
            if options.require_key and not store.encrypted:
                raise InvalidArgumentError(
                    "require_key", "a file without a key", "CDPENGINE_CACHE_KEY, or a key in the keyring"
                )
            history = RecognitionHistory(options.history)
            recognizer = ScenarioRecognizer(rules, classifier=classifier, history=history)
            yield cls(store, options, recognizer, history, ask, now)

    @property
    def config(self) -> CacheConfig:
        """The options."""
        return self._config

    @property
    def store(self) -> CacheStore:
        """The file of the cache."""
        return self._store

    # --- learning --------------------------------------------------------------------------------------------

    @asynccontextmanager
    async def record(
        self,
        page: Page,
        *,
        scenario: str,
        variables: Mapping[str, str] | None = None,
        level: Level = "L3",
        description: str = "",
        tags: Iterable[str] = (),
        variant: str = "",
        page_type: PageType = "dynamic",
    ) -> AsyncIterator[Learning]:
        """Learn a scenario from what is done on the page while the block runs, by a program or a person.

        scenario: its name, such as "login".
        variables: values by name; where one of them is entered, chosen or gone to, the variable is kept. A secret
            that is not among them becomes a variable of its own; without a key, so does every typed text, and
            `Learning.notice` says so from the start.
        level: what the entry covers. description, tags, variant: kept with it.
        page_type: which thresholds say how soon a change of the page counts.

        The entry is kept at the end of the block, unless that ends with an error; `Learning.entry` has it then.
        Raises InvalidArgumentError for a wrong scenario, at once, and what `record_steps` and `CacheStore.put`
        raise.
        """
        make_key(
            scenario, "https://a.example/", Viewport(width=1, height=1), variables or (), variant=variant
        )
        began = trio.current_time()
        async with record_steps(page, variables=variables, keep_typed=self._store.encrypted) as recording:
            learning = Learning(recording=recording, notice="" if self._store.encrypted else WITHOUT_KEY)
            yield learning
        if recording.steps and learning.keep:
            cost = LearningCost(tokens=recording.tokens, milliseconds=(trio.current_time() - began) * 1_000)
            made = learn_entry(
                recording,
                scenario,
                level=level,
                source="recorded",
                cost=cost,
                now=self._now(),
                lifetime=self._config.lifetime(level),
                variant=variant,
            )
            known = taken_from_environment(variables or {}, made.key.variables)
            named = attrs.evolve(
                made, description=description, tags=tuple(tags), page_type=page_type, environment=known
            )
            learning.entry = await self._store.put(named, replace_narrower=True)

    # --- using -----------------------------------------------------------------------------------------------

    async def execute(
        self,
        page: Page,
        scenario_or_key: str | CacheKey,
        *,
        variables: Mapping[str, str] | None = None,
        variant: str | None = None,
        timeout: float = LONGEST_RUN,
        **options: Unpack[ExecutionOptions],
    ) -> ExecutionReport:
        """Replay an entry on the page, and return the report of it.

        scenario_or_key: a scenario, of which the entry for the page's address is taken; an entry's key, or its id.
        variables: values by name; what is missing comes from the environment (CDPENGINE_VAR_) and from `ask`.
        variant: only this one; without, the variant whose elements the page shows is tried first, then the others.
        from_index, to_index: which of the entry's steps are done, as in a slice.
        dry_run: finds the elements, and does nothing.
        force: goes on though the page has changed as a whole; each element is checked all the same.
        actor: who acts, within the limits that it has; without, the one that a program is for the whole browser.
        confirm: asks a person before a step that sends, pays or deletes: an async callable, or one that a thread
            runs. It gets a `Confirmation`, and returns True for a yes. Anything else, and no answer within 120 s,
            ends the run there, `refused`. confirm_if: chooses the steps: a callable that gets each `Step`.
        patience: seconds that an element may take to appear (2). timeout: seconds for all of it.

        What stops a replay is in the report. Raises CacheMissError where there is nothing to replay,
        UnusedVariablesError with all given variables that the entry does not use, UndefinedVariablesError with all
        variables that have no value, InvalidArgumentError for wrong indexes, and DeadlineExceededError where the
        values do not come in time.
        """
        deadline = trio.current_time() + timeout
        with within("find what is to be replayed, and the values for it", timeout):
            entries = await find_for_use(
                self._store, self._config, page, scenario_or_key, variables or {}, now=self._now(),
                variant=variant, counts=not options.get("dry_run", False),
            )  # fmt: skip
        return (await self._replay(page, entries, variables or {}, deadline, **options))[1]

    async def perform(
        self,
        page: Page,
        goal: str,
        *,
        variables: Mapping[str, str] | None = None,
        variant: str | None = None,
        planner: Planner | None = None,
        actor: Actor | None = None,
        timeout: float = LONGEST_RUN,
        **asking: Unpack[ConfirmOptions],
    ) -> PerformReport:
        """Reach a goal on the page: from the cache where it is known, else by what the planner answers.

        goal: a sentence in English or Chinese, such as "log in as ada". Values that it says are variables.
        variables: values by name; they come before those of the sentence.
        variant: as for `execute`; what the planner does is kept under it.
        actor: who acts, within the limits that it has: in a replay, and for the planner.
        planner: asked on a miss, and for what a replay that stopped has left; what it did is kept if it worked.
        confirm, confirm_if: as for `execute`, also for what the planner does. A no has the outcome "refused".
        timeout: seconds for all of it.

        Why a goal was not reached is in the report. Raises CacheMissError where nothing is known and no planner is
        there, UnusedVariablesError where variables are given or said that no entry uses and no planner is there,
        UndefinedVariablesError before anything is done that needs a variable without a value,
        and DeadlineExceededError where values do not come in time. A planner or a classifier that fails is in the
        report. A question, a negation and a remark do nothing: the outcome is "known".
        """
        deadline = trio.current_time() + timeout
        with within("find out what the goal means", timeout):
            found, known = await self._look_up(
                page, goal, variables or {}, patience=timeout / 2, variant=variant
            )
        if not found.acts:
            return conclude("known", found, entry=found.entry, reason=ASKS_NOTHING)
        asked = Goal(text=goal, found=found, known=known, deadline=deadline, actor=actor, asking=asking)
        done = await self._perform(page, asked, planner)
        if done.ok and found.match is not None:  # a goal of no known scenario is known by its very words
            self._history.add(goal, found.scenario)
        return attrs.evolve(done, remarks=found.remarks)

    async def _perform(self, page: Page, goal: Goal, planner: Planner | None) -> PerformReport:
        """Replay what is known for a goal, or have the planner reach it."""
        report: ExecutionReport | None = None
        found = goal.found
        if found.entry is not None and self._config.auto_use:
            variants = (found.entry, *found.others)
            replayed, report = await self._replay(
                page, variants, goal.known, goal.deadline, goal.used, actor=goal.actor, **goal.asking
            )
            if report.ok:
                return conclude("replayed", found, replay=report, entry=replayed)
            if report.refused:
                return conclude("refused", found, replay=report, entry=replayed, reason=report.reason)
            found = attrs.evolve(found, entry=replayed)
        else:
            await count_use(self._store, self._config, MISS)
        if planner is None or (report is not None and is_mistake(report.fault)):
            if report is None and found.unused:
                raise UnusedVariablesError(found.unused, found.used, found.scenario)
            if report is None:
                reason = found.reason or "entries are not used by themselves"
                raise CacheMissError(found.scenario, page.url, "; ".join([reason, *found.remarks]))
            return conclude("failed", found, replay=report, reason=report.reason)
        goal = attrs.evolve(goal, found=found)
        return await plan_goal(
            self._store, self._config, page, goal, planner, report, ask=self._ask, now=self._now
        )

    async def look_up(self, page: Page, goal: str, *, variant: str | None = None) -> Lookup:
        """Return what the cache has for a goal on the page. Nothing is done or counted.

        variant: only this one; without, that whose elements the page shows comes first.
        """
        return (await self._look_up(page, goal, {}, variant=variant))[0]

    async def look_up_address(self, goal: str, url: str, *, variant: str | None = None) -> Lookup:
        """Return what the cache has for a goal on a page with this URL.

        variant: only this one. Without it, and without a page, variants are in no order.
        """
        return (await self._look_up(url, goal, {}, variant=variant))[0]

    async def _look_up(
        self,
        place: Page | str,
        goal: str,
        given: Mapping[str, str],
        *,
        patience: float = CLASSIFYING,
        variant: str | None = None,
    ) -> tuple[Lookup, Mapping[str, str]]:
        return await look_up_goal(
            self._store,
            self._config,
            self._recognizer,
            goal,
            place,
            given,
            patience=patience,
            variant=variant,
        )

    async def _replay(
        self,
        page: Page,
        entries: tuple[CacheEntry, ...],
        known: Mapping[str, str],
        deadline: float,
        used: dict[str, str] | None = None,
        **options: Unpack[ExecutionOptions],
    ) -> tuple[CacheEntry, ExecutionReport]:
        begins = not options.get("from_index")

        async def resolve(entry: CacheEntry) -> Values:
            values = await resolve_for_entry(
                entry, url=page.url, variables=known, ask=self._ask, begins=begins
            )
            if used is not None:
                used.update(values.reveal())
            return values

        return await replay_variants(
            self._store, self._config, page, entries, resolve, deadline=deadline, **options
        )

    # --- what there is ---------------------------------------------------------------------------------------

    async def get(self, key_id: str) -> CacheEntry | None:
        """Return the entry whose key has this id, expired or not; None where there is none."""
        return await self._store.get(key_id, expired=True)

    async def known_for(self, url: str, *, limit: int | None = None) -> tuple[CacheEntry, ...]:
        """Return the entries that can be used for a page with this URL, the most exact address first."""
        return await self._store.find(
            None, url, levels=tuple(self._config.levels), fewer_failures=self._config.failures, limit=limit
        )

    async def guide(self) -> str:
        """Return what a language model is to know of the cache, for its prompt, with the known scenarios."""
        text = read_guide("requests")
        known = await self.scenarios(limit=_GUIDED)
        rows = [f"- {each.scenario}: variables {', '.join(each.variables) or 'none'}" for each in known]
        return "\n".join([text.rstrip(), "", "Known scenarios:", *rows, ""]) if rows else text

    async def list(
        self, scenario: str | None = None, *, limit: int = 50, offset: int = 0
    ) -> tuple[CacheEntry, ...]:
        """Return entries, or those of a scenario, the latest used first; those that expired, too.

        `limit` are returned at most, from `offset` on; `size` says how many there are. An entry that cannot be
        read is skipped, logged, and named in `store.damaged`.
        """
        return await self._store.entries(scenario, limit=limit, offset=offset)

    async def size(self, scenario: str | None = None) -> int:
        """Return how many entries are kept, or how many of a scenario."""
        return await self._store.size(scenario)

    async def scenarios(self, *, limit: int = 50) -> tuple[ScenarioSummary, ...]:
        """Return what is kept by scenario, in alphabetical order; `limit` scenarios at most."""
        return await self._store.scenarios(limit=limit)

    async def versions(self, key_id: str) -> tuple[CacheEntry, ...]:
        """Return an entry and its older versions, the newest first; () where there is none of this id."""
        return await self._store.versions(key_id)

    async def restore(self, key_id: str, version: int) -> CacheEntry:
        """Make an older version of an entry its newest one, and return it as it is kept then.

        Raises CacheMissError where that version is not kept.
        """
        kept = await self._store.restore(key_id, version)
        if kept is None:
            raise CacheMissError(f"version {version} of entry {key_id}", "any page", "it is not kept")
        return kept

    async def delete(self, key_id: str) -> bool:
        """Delete an entry with its versions, readable or not; say whether there was one."""
        return await self._store.delete(key_id)

    async def statistics(self) -> CacheStatistics:
        """Return what the cache is worth: hits, misses, runs, and what was saved, as an estimate."""
        return add_up(await self._store.counters(), await self._store.statistics())

    async def refresh(self, key_id: str) -> bool:
        """Have an entry not be used any more: it is learned anew, as its next version. Say whether it was used."""
        return await self._store.expire(key_id)

    async def report_error(self, key_id: str) -> bool:
        """Count a run of an entry as failed, though each of its steps was done. Say whether it is still used.

        After as many failures in a row as the options say it is not. Raises CacheMissError where there is no entry
        of this id.
        """
        entry = await self.get(key_id)
        if entry is None:
            raise CacheMissError(f"entry {key_id}", "any page", "there is no such entry")
        figures = {REPORTED: 1} if self._config.statistics else {}
        after = await self._store.note_run(entry.key, succeeded=False, milliseconds=0.0, figures=figures)
        return after is not None and after.failed_in_row < self._config.failures

    async def clear(self, scenario: str | None = None) -> int:
        """Delete all entries, or those of a scenario; return how many there were."""
        return await self._store.clear(scenario)

    async def export(self, *, typed: bool = False) -> Export:
        """Return the entries as JSON; those that hold typed text only with `typed`."""
        return await self._store.export(typed=typed)

    async def import_(self, text: str | bytes, *, replace: bool = False) -> ImportReport:
        """Put the entries of an export; with `replace` in place of those that are there. See `CacheStore`."""
        return await self._store.import_entries(text, replace=replace)
