"""ActionCache: replays known actions on pages, and learns new ones from a planner or from actions on a page.

Rule: an action starts only after all its values are available. Failed steps are never stored. If a replay
stops, the report contains the step and the reason. With a planner, the planner completes the goal, and the
steps of both become the next version of the entry.
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
from cdpengine.cache.acting.learned_entry import WITHOUT_KEY, Learning, learn_entry
from cdpengine.cache.acting.looking_up import Lookup, look_up_goal
from cdpengine.cache.acting.planning import Goal, PerformReport, Planner, conclude, plan_goal
from cdpengine.cache.acting.running import (
    count_use,
    find_for_use,
    replay_variants,
    resolve_for_entry,
)
from cdpengine.cache.acting.statistics import (
    MISS,
    REFUSED,
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
from cdpengine.cache.learning.learned_steps import learn_steps
from cdpengine.cache.recognizing.recognition import (
    ASKS_NOTHING,
    CLASSIFYING,
    Classifier,
    RecognitionHistory,
    ScenarioRecognizer,
)
from cdpengine.cache.recognizing.scenario_rules import SCENARIO_RULES, ScenarioRule
from cdpengine.cache.replaying.options import ConfirmOptions, ExecutionOptions
from cdpengine.cache.replaying.report import ExecutionReport
from cdpengine.cache.store import CacheStore
from cdpengine.cache.variables import (
    AskForSecret,
    Values,
    taken_from_environment,
)
from cdpengine.errors import CacheMissError, InvalidArgumentError, VariablesError

UNKNOWN_ID = "list the entries to see their ids"
"""Reason of an error about an id without an entry."""

_GUIDED = 20
"""Maximum number of scenarios in the guide."""

LONGEST_RUN = 300.0
"""Default timeout of a run, in seconds."""


class ActionCache:
    """An open cache of actions. `ActionCache.open` creates it."""

    def __init__(
        self,
        store: CacheStore,
        config: CacheConfig,
        recognizer: ScenarioRecognizer,
        history: RecognitionHistory,
        ask: AskForSecret | None,
        now: Callable[[], float],
    ) -> None:
        """Use `open` instead."""
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
        """Open a cache during the block. A missing file is created.

        path: the file. By default, the user's file (`default_path`).
        config: the options. By default, the options from `read_config`.
        key: the encryption key, 32 bytes. By default, CDPENGINE_CACHE_KEY, then the user's keyring.
        rules, classifier: the means to recognise scenarios (`ScenarioRecognizer`).
        ask: an async callable that supplies values without another source, such as passwords. If it raises,
            the value is missing, and the error names the exception's class.
        now: a clock, in seconds since 1970.

        Raises the errors of `read_config` and `CacheStore.open`. Raises InvalidArgumentError if the options
        require a key and none exists.
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
    async def learn(
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
        """Learn a scenario from the actions on the page during the block, by a program or a person.

        scenario: its name, such as "login".
        variables: values by name. If an action enters a value, selects it or navigates to it, the entry
            stores the variable. A secret without a variable becomes a new variable. Without an encryption
            key, all typed input becomes variables, and `Learning.notice` reports this from the start.
        level: the scope of the entry. description, tags, variant: stored with the entry.
        page_type: selects the thresholds for changes of the page.

        The end of the block stores the entry in the cache and in `Learning.entry`. A block that raises stores
        nothing. Raises InvalidArgumentError immediately for an invalid scenario. Also raises the errors of
        `learn_steps` and `CacheStore.put`.
        """
        make_key(
            scenario, "https://a.example/", Viewport(width=1, height=1), variables or (), variant=variant
        )
        began = trio.current_time()
        async with learn_steps(page, variables=variables, keep_typed=self._store.encrypted) as learned:
            learning = Learning(learned=learned, notice="" if self._store.encrypted else WITHOUT_KEY)
            yield learning
        if learned.steps and learning.keep:
            cost = LearningCost(tokens=learned.tokens, milliseconds=(trio.current_time() - began) * 1_000)
            made = learn_entry(
                learned,
                scenario,
                level=level,
                source="learned",
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

    record = learn
    """Another name of `learn`."""

    # --- replay ----------------------------------------------------------------------------------------------

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
        """Replay an entry on the page and return the report.

        scenario_or_key: a scenario, or the key or id of an entry. For a scenario, the URL selects the entry.
        variables: values by name. Missing values come from the environment (CDPENGINE_VAR_) and from `ask`.
        variant: the only variant to try. By default, the best match to the page comes first, then the others.
        from_index, to_index: the range of steps to replay, as in a slice.
        dry_run: finds the elements without acting on them.
        force: continues even if the page as a whole has changed. The replay still checks each element.
        actor: performs the steps, within its limits. By default, the program's actor for the whole browser.
        confirm: asks a person before a step that sends, pays or deletes. An async callable, or a callable
            for a thread, that gets a `Confirmation` and returns True to confirm. Any other result, and no
            answer within 120 s, ends the run as `refused`.
        confirm_if: selects the steps to confirm. A callable that gets each `Step`.
        patience: time for an element to appear, in seconds (2). timeout: time for the whole call, in seconds.

        The report contains the reason of a stopped replay. Raises CacheMissError if no entry matches. Raises
        VariablesError with all variables that the entry does not use, or that have no value. Raises
        InvalidArgumentError for wrong indexes, and DeadlineExceededError if the values do not arrive in time.
        """
        deadline = trio.current_time() + timeout
        with within("find the entry and its values", timeout):
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
        """Reach a goal on the page by a replay from the cache or by the planner.

        goal: a sentence in English or Chinese, such as "log in as ada". Its values become variables.
        variables: values by name. They take precedence over the values in the sentence.
        variant: as for `execute`. The planner's steps are stored under it.
        actor: performs the steps of a replay and of the planner, within its limits.
        planner: plans unknown goals and completes stopped replays. Its successful steps are stored.
        confirm, confirm_if: as for `execute`, also for the planner's steps. A "no" has the outcome "refused".
        timeout: time for the whole call, in seconds.

        The report contains the reason of a failure, including failures of the planner and the classifier. A
        question, a negation or a remark causes no action and has the outcome "known".

        Raises CacheMissError if no entry matches and no planner is available. Raises VariablesError if no entry
        uses a given variable and no planner is available, and before any action that needs a variable without a
        value. Raises InvalidArgumentError if the goal has values without names that belong to no variable for
        certain. Raises DeadlineExceededError if the values do not arrive in time.
        """
        deadline = trio.current_time() + timeout
        with within("find out what the goal means", timeout):
            found, known = await self._look_up(
                page, goal, variables or {}, patience=timeout / 2, variant=variant
            )
        if not found.acts:
            return conclude("known", found, entry=found.entry, reason=ASKS_NOTHING)
        if found.unassigned:
            await count_use(self._store, self._config, REFUSED)
            raise InvalidArgumentError(
                "goal", found.reason, 'a name before each value, such as "username ada"'
            )
        request = Goal(text=goal, found=found, known=known, deadline=deadline, actor=actor, asking=asking)
        done = await self._perform(page, request, planner)
        if done.ok and found.match is not None:  # goals of unknown scenarios are stored under their own words
            self._history.add(goal, found.scenario)
        return attrs.evolve(done, remarks=found.remarks)

    async def _perform(self, page: Page, goal: Goal, planner: Planner | None) -> PerformReport:
        """Replay the entry for a goal, or let the planner reach it."""
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
                raise VariablesError(unused=found.unused, used=found.used, scenario=found.scenario)
            if report is None:
                reason = found.reason or "the option auto_use is off"
                raise CacheMissError(found.scenario, page.url, "; ".join([reason, *found.remarks]))
            return conclude("failed", found, replay=report, reason=report.reason)
        goal = attrs.evolve(goal, found=found)
        return await plan_goal(
            self._store, self._config, page, goal, planner, report, ask=self._ask, now=self._now
        )

    async def look_up(self, page: Page, goal: str, *, variant: str | None = None) -> Lookup:
        """Look up the entry for a goal on the page, without any action or count.

        variant: the only variant to find. By default, the variant with the best match to the page comes
            first.
        """
        return (await self._look_up(page, goal, {}, variant=variant))[0]

    async def look_up_address(self, goal: str, url: str, *, variant: str | None = None) -> Lookup:
        """Look up the entry for a goal on a page with this URL.

        variant: the only variant to find. By default, the variants have no order, because no page is
            available.
        """
        return (await self._look_up(url, goal, {}, variant=variant))[0]

    async def _look_up(
        self,
        place: Page | str,
        goal: str,
        values: Mapping[str, str],
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
            values,
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

    # --- entries ---------------------------------------------------------------------------------------------

    async def get(self, key_id: str) -> CacheEntry | None:
        """Return the entry with this id, even if it has expired. Return None if it does not exist."""
        return await self._store.get(key_id, expired=True)

    async def known_for(self, url: str, *, limit: int | None = None) -> tuple[CacheEntry, ...]:
        """Return the usable entries for a page with this URL, most exact address first."""
        return await self._store.find(
            None, url, levels=tuple(self._config.levels), fewer_failures=self._config.failures, limit=limit
        )

    async def guide(self) -> str:
        """Return instructions for the prompt of a language model, with the known scenarios."""
        text = read_guide("requests")
        known = await self.scenarios(limit=_GUIDED)
        rows = [f"- {each.scenario}: variables {', '.join(each.variables) or 'none'}" for each in known]
        return "\n".join([text.rstrip(), "", "Known scenarios:", *rows, ""]) if rows else text

    async def list(
        self, scenario: str | None = None, *, limit: int = 50, offset: int = 0
    ) -> tuple[CacheEntry, ...]:
        """Return entries, or a scenario's entries, most recently used first. Expired entries are included.

        limit: maximum number of entries. offset: number of entries to skip. `size` returns the total. An
        unreadable entry is skipped, logged and listed in `store.damaged`.
        """
        return await self._store.entries(scenario, limit=limit, offset=offset)

    async def size(self, scenario: str | None = None) -> int:
        """Return the number of entries, or of a scenario's entries."""
        return await self._store.size(scenario)

    async def scenarios(self, *, limit: int = 50) -> tuple[ScenarioSummary, ...]:
        """Return summaries of the scenarios in alphabetical order, at most `limit`."""
        return await self._store.scenarios(limit=limit)

    async def versions(self, key_id: str) -> tuple[CacheEntry, ...]:
        """Return the versions of an entry, newest first. Return () if no entry has this id."""
        return await self._store.versions(key_id)

    async def restore(self, key_id: str, version: int) -> CacheEntry:
        """Store an older version of an entry as its newest one, and return the stored entry.

        Raises CacheMissError if the cache does not have that version.
        """
        kept = await self._store.restore(key_id, version)
        if kept is None:
            versions = ", ".join(str(each.version) for each in await self.versions(key_id))
            reason = f"it has these versions: {versions}" if versions else UNKNOWN_ID
            raise CacheMissError(f"version {version} of entry {key_id}", "", reason)
        return kept

    async def delete(self, key_id: str) -> bool:
        """Delete an entry with its versions, even if it is unreadable. Return whether it existed."""
        return await self._store.delete(key_id)

    async def statistics(self) -> CacheStatistics:
        """Return the hits, the misses, the runs, and estimates of the savings."""
        return add_up(await self._store.counters(), await self._store.statistics())

    async def refresh(self, key_id: str) -> bool:
        """Expire an entry, so that the next learning creates a new version. Return whether it was in use."""
        return await self._store.expire(key_id)

    async def report_error(self, key_id: str) -> bool:
        """Count a run as failed although all its steps succeeded. Return whether the entry is still in use.

        Use ends after as many consecutive failures as the option `failures` allows. Raises CacheMissError
        if no entry has this id.
        """
        entry = await self.get(key_id)
        if entry is None:
            raise CacheMissError(f"entry {key_id}", "", UNKNOWN_ID)
        figures = {REPORTED: 1} if self._config.statistics else {}
        after = await self._store.note_run(entry.key, succeeded=False, milliseconds=0.0, figures=figures)
        return after is not None and after.failed_in_row < self._config.failures

    async def clear(self, scenario: str | None = None) -> int:
        """Delete all entries or a scenario's entries. Return the number of deleted entries."""
        return await self._store.clear(scenario)

    async def export(self, *, typed: bool = False) -> Export:
        """Return the entries as JSON. Entries with typed strings are included only if `typed` is True."""
        return await self._store.export(typed=typed)

    async def import_(self, text: str | bytes, *, replace: bool = False) -> ImportReport:
        """Store the entries of an export. With `replace`, they replace existing entries. See `CacheStore`."""
        return await self._store.import_entries(text, replace=replace)
