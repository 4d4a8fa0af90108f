"""Running: replays of entries, with the healed entry and the counters of each run.

Rule: the next variant is tried only if the previous one performed no action. A variant that does not fit the
page has not failed, and its counters do not change. Each use is counted once, as `statistics` defines it, in
one transaction at its end. This includes cancelled runs.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Iterable, Mapping, Sequence
from functools import partial
from typing import Unpack

import attrs
import trio

from cdpengine import Page
from cdpengine._budget import within
from cdpengine._logs import get_logger
from cdpengine._urls.origins import origin_of
from cdpengine.cache.acting.choosing import find_entry, used_variables
from cdpengine.cache.acting.statistics import MISS, REFUSED, count_run
from cdpengine.cache.config import CacheConfig
from cdpengine.cache.entries import CacheEntry, CacheKey, Excuse, begins_anywhere
from cdpengine.cache.judging.faults import is_mistake
from cdpengine.cache.replaying.execution import execute_entry
from cdpengine.cache.replaying.options import ExecutionOptions
from cdpengine.cache.replaying.report import ExecutionReport
from cdpengine.cache.store import CacheStore
from cdpengine.cache.variables import AskForSecret, Values, is_permitted, resolve_values
from cdpengine.errors import CacheMissError, EngineError, InvalidArgumentError, VariablesError

_log = get_logger("cdpengine.cache")

_COUNTING = 2.0
"""Maximum time to write the counters of a cancelled run, in seconds."""


async def replay_variants(
    store: CacheStore,
    config: CacheConfig,
    page: Page,
    entries: Sequence[CacheEntry],
    resolve: Callable[[CacheEntry], Awaitable[Values]],
    *,
    deadline: float,
    **options: Unpack[ExecutionOptions],
) -> tuple[CacheEntry, ExecutionReport]:
    """Replay the first entry that fits the page. Return the entry and its report.

    entries: a scenario's variants, in the order of replay. If none fits, the first one is returned.
    deadline: on trio's clock. Raises the errors of `resolve` and `execute_entry`.
    """
    tried: list[tuple[CacheEntry, ExecutionReport]] = []
    counts = not options.get("dry_run", False)
    options["force"] = options.get("force", False) or not config.detect_changes
    options["thresholds"] = config.thresholds
    run = _Run(store, config, counts=counts, whole=_is_whole(options))
    for entry in entries:
        run.begin(entry)
        try:
            with within("find the values for the entry", time_left(deadline)):
                values = await resolve(entry)
            run.began = trio.current_time()
            report = await execute_entry(page, entry, values, timeout=time_left(deadline), **options)
        except trio.Cancelled:
            await run.note_cancelled()
            raise
        except EngineError:
            await run.count(REFUSED)
            raise
        of_variants = bool(entry.key.variant) or len(entries) > 1
        tried.append((entry, report))
        if not (of_variants and report.misfits):
            await run.note(report)
            return tried[-1]
    await run.count(MISS)
    return tried[0]


async def find_for_use(
    store: CacheStore,
    config: CacheConfig,
    page: Page,
    scenario_or_key: str | CacheKey,
    names: Collection[str],
    *,
    now: float,
    variant: str | None,
    counts: bool,
) -> tuple[CacheEntry, ...]:
    """Return the entries of `find_entry`. Count a miss or a refused use if it raises."""
    try:
        return await find_entry(store, config, page, scenario_or_key, names, now=now, variant=variant)
    except (CacheMissError, VariablesError):  # of unused variables: the values are not known yet
        await count_use(store, config, MISS if counts else None)
        raise
    except InvalidArgumentError:
        await count_use(store, config, REFUSED if counts else None)
        raise


async def count_use(store: CacheStore, config: CacheConfig, name: str | None) -> None:
    """Count a use without a run. `name` is the name of its counter, and None counts nothing."""
    if name is not None and config.statistics and config.enabled:
        await _surely(partial(store.count, {name: 1}))


def _is_whole(options: ExecutionOptions) -> bool:
    return not options.get("from_index") and options.get("to_index") is None


@attrs.define
class _Run:
    """The current use: the entry to try, and the start of its run (None before the run)."""

    _store: CacheStore
    _config: CacheConfig
    _counts: bool
    _whole: bool
    entry: CacheEntry | None = None
    began: float | None = None

    def begin(self, entry: CacheEntry) -> None:
        self.entry, self.began = entry, None

    async def count(self, name: str) -> None:
        await count_use(self._store, self._config, name if self._counts else None)

    async def note(self, report: ExecutionReport) -> None:
        """Count the run and keep the healed entry."""
        if not self._counts or self.entry is None:
            return
        excuse: Excuse | None = "mistake" if is_mistake(report.fault) else None
        excuse = "cancelled" if report.refused else excuse
        await self._note(succeeded=report.ok, excuse=excuse, healed=report.healed is not None)
        if report.ok and report.healed is not None:
            await self._store.put(report.healed, based_on=self.entry.version)

    async def note_cancelled(self) -> None:
        """Count a cancelled run."""
        if self._counts and self.began is not None:
            await self._note(succeeded=False, excuse="cancelled", healed=False)

    async def _note(self, *, succeeded: bool, excuse: Excuse | None, healed: bool) -> None:
        entry = self.entry
        assert entry is not None
        milliseconds = (trio.current_time() - (self.began or 0.0)) * 1_000
        figures: dict[str, float] = {}
        if self._config.statistics:
            figures = count_run(
                entry, succeeded=succeeded, excuse=excuse, milliseconds=milliseconds, whole=self._whole,
                healed=healed,
            )  # fmt: skip
        await _surely(
            partial(
                self._store.note_run,
                entry.key,
                succeeded=succeeded,
                milliseconds=milliseconds,
                excuse=excuse,
                figures=figures,
            )
        )


async def _surely(work: Callable[[], Awaitable[object]]) -> None:
    """Write counters, even in a cancelled task. A cancelled write has no effect, so it is repeated."""
    try:
        await work()
    except trio.Cancelled:
        with trio.CancelScope(shield=True, deadline=trio.current_time() + _COUNTING) as scope:
            try:
                await work()
            except EngineError as error:
                _log.warning("the figures of a cancelled run were not kept: %s", error)
        if scope.cancelled_caught:
            _log.warning("the figures of a cancelled run were not kept within %g s", _COUNTING)
        raise


async def resolve_for_entry(
    entry: CacheEntry, url: str, variables: Mapping[str, str], ask: AskForSecret | None, *, begins: bool
) -> Values:
    """Return the values for an entry. Values from the environment are limited to the origin where it was learned.

    url: the page's URL. If the entry begins with a navigation, and `begins` is True, its own page counts
        instead.
    """
    learned_on = origin_of(entry.key.address)
    origin = learned_on if begins and begins_anywhere(entry) else origin_of(url)
    learned = entry.environment if origin == learned_on else ()
    return await resolve_values(
        sorted(used_variables(entry)),
        values=variables,
        permitted=partial(is_permitted, learned=learned, origin=origin),
        ask=ask,
        sensitive=entry.sensitive,
    )


async def resolve_for_planner(
    names: Iterable[str], url: str, variables: Mapping[str, str], ask: AskForSecret | None
) -> Values:
    """Return the values of a plan's variables, for a page with this URL."""
    permitted = partial(is_permitted, learned=(), origin=origin_of(url))
    return await resolve_values(names, values=variables, permitted=permitted, ask=ask)


def time_left(deadline: float) -> float:
    """Return the seconds until a deadline on trio's clock, in steps of 1 ms and at least 1 ms."""
    return max(round(deadline - trio.current_time(), 3), 0.001)
