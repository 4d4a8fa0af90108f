"""Running: an entry is replayed, and what that says of it is kept and counted.

Rule: of the variants of an entry, the next one is tried only while nothing was done. A variant that the page does
not have has not failed: its figures stay as they are. A look-up that found an entry is one hit, however many
variants were tried; a dry run counts nothing.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import Unpack

import trio

from cdpengine import Page
from cdpengine._budget import within
from cdpengine._page.patterns import origin_of
from cdpengine.cache.acting.choosing import used_variables
from cdpengine.cache.acting.planning import time_left
from cdpengine.cache.acting.statistics import HEALED, STOPPED, count_hit, count_savings
from cdpengine.cache.config import CacheConfig
from cdpengine.cache.entries import CacheEntry
from cdpengine.cache.replaying.execution import ExecutionOptions, execute_entry
from cdpengine.cache.replaying.report import ExecutionReport
from cdpengine.cache.rows import begins_anywhere
from cdpengine.cache.store import CacheStore
from cdpengine.cache.variables import AskForSecret, Values, is_permitted, resolve_values


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
    """Replay the first entry that fits the page; return it and its report.

    entries: the variants of one scenario, in the order to try them. Where none fits, the report is that of the
    first. deadline: on trio's clock. Raises what `resolve` and `execute_entry` raise.
    """
    tried: list[tuple[CacheEntry, ExecutionReport]] = []
    hit = config.statistics and not options.get("dry_run", False)
    options["force"] = options.get("force", False) or not config.detect_changes
    options["thresholds"] = config.thresholds
    for entry in entries:
        with within("find the values for what is known", time_left(deadline)):
            values = await resolve(entry)
        if hit:
            await store.count(count_hit(entry.level))
            hit = False
        began = trio.current_time()
        report = await execute_entry(page, entry, values, timeout=time_left(deadline), **options)
        milliseconds = (trio.current_time() - began) * 1_000
        of_variants = bool(entry.key.variant) or len(entries) > 1
        tried.append((entry, report))
        if not (of_variants and report.misfits):
            if not report.dry_run:
                await _keep(store, config, entry, report, milliseconds, whole=_is_whole(options))
            return tried[-1]
    if config.statistics and not options.get("dry_run", False):
        await store.count({STOPPED: 1})
    return tried[0]


def _is_whole(options: ExecutionOptions) -> bool:
    return not options.get("from_index") and options.get("to_index") is None


async def _keep(
    store: CacheStore,
    config: CacheConfig,
    entry: CacheEntry,
    report: ExecutionReport,
    milliseconds: float,
    *,
    whole: bool,
) -> None:
    """Keep what a run says of its entry."""
    await store.note_run(entry.key, succeeded=report.ok, milliseconds=milliseconds)
    figures: dict[str, float] = {}
    if report.ok:
        figures |= count_savings(entry, milliseconds) if whole else {}
        if report.healed is not None:
            figures[HEALED] = 1
            await store.put(report.healed, based_on=entry.version)
    else:
        figures[STOPPED] = 1
    if config.statistics:
        await store.count(figures)


async def resolve_for_entry(
    entry: CacheEntry, url: str, variables: Mapping[str, str], ask: AskForSecret | None, *, begins: bool
) -> Values:
    """Return the values for an entry. Those of the environment are for where the entry was recorded with them.

    url: of the page; an entry that goes to its own page first is for that, if it `begins` with its first step.
    """
    recorded_on = origin_of(entry.key.address)
    origin = recorded_on if begins and begins_anywhere(entry) else origin_of(url)
    recorded = entry.environment if origin == recorded_on else ()
    return await resolve_values(
        sorted(used_variables(entry)),
        values=variables,
        permitted=partial(is_permitted, recorded=recorded, origin=origin),
        ask=ask,
        sensitive=entry.sensitive,
    )


async def resolve_for_planner(
    names: Iterable[str], url: str, variables: Mapping[str, str], ask: AskForSecret | None
) -> Values:
    """Return the values that a plan names, at the page with this URL."""
    permitted = partial(is_permitted, recorded=(), origin=origin_of(url))
    return await resolve_values(names, values=variables, permitted=permitted, ask=ask)
