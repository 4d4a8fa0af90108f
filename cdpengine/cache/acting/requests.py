"""CacheRequests: requests about a cache through `cdpengine.act`, and the entries in other responses.

Rule: a request about the cache calls the method of `ActionCache` and returns JSON. Each response that shows a
document lists its entries, so that a model need not read the page. No response contains a variable's value.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Any

import attrs
import trio

from cdpengine import Page
from cdpengine.act import (
    Actor,
    ActRequest,
    ActResponse,
    Back,
    CacheClear,
    CacheDelete,
    CacheList,
    CacheLookup,
    CacheRequest,
    CacheRestore,
    CacheShow,
    CacheStats,
    CacheVersions,
    DispatchHook,
    ExecuteCached,
    ForceRefresh,
    Forward,
    Navigate,
    NewTab,
    Reload,
    ReportError,
    ScenarioList,
    StartLearning,
    StopLearning,
    TakeSnapshot,
)
from cdpengine.act.confirming import person
from cdpengine.act.performing import Performance
from cdpengine.cache.acting.action_cache import ActionCache
from cdpengine.cache.acting.learned_entry import Learning
from cdpengine.cache.acting.managing import (
    clear_entries,
    delete_entry,
    describe_lookup,
    list_entries,
    list_scenarios,
    list_versions,
    read_statistics,
    refresh_entry,
    report_entry,
    restore_version,
    show_entry,
    summarize,
    to_json,
)
from cdpengine.errors import InvalidArgumentError

LEARNING = "learning"

_SHOWS = (Navigate, Back, Forward, Reload, NewTab, TakeSnapshot)
"""Kinds of requests whose responses list the cache's entries."""

_MOST_LISTED = 5


class CacheRequests:
    """Performs requests about an `ActionCache`: `Actor(browser, cache=requests, hooks=(requests.hook,))`."""

    def __init__(self, cache: ActionCache) -> None:
        """Use this cache. Without `hooks`, the requests work, but responses do not list entries."""
        self._cache = cache

    async def perform(self, request: CacheRequest, *, actor: Actor, page: Page | None, timeout: float) -> Any:
        """Perform a request about the cache, and return its result as JSON data."""
        run = Performance(actor, page, trio.current_time() + timeout)
        return await _PERFORM[type(request)](self._cache, run, request)

    @property
    def hook(self) -> DispatchHook:
        """The hook that adds the entries for a document to each response that shows one."""
        return DispatchHook(after=self.tell)

    async def tell(self, actor: Actor, request: ActRequest, response: ActResponse) -> ActResponse:
        """Return the response, with the entries for its document if it shows one."""
        if not response.ok or not shows_page(request) or response.target_id is None:
            return response
        page = actor.browser.page(response.target_id)
        if page is None or not self._cache.config.enabled:
            return response
        known = await self._cache.known_for(page.url, limit=_MOST_LISTED)
        listed = tuple(summarize(entry) for entry in known)
        return attrs.evolve(response, cached=listed) if listed else response


def shows_page(request: ActRequest) -> bool:
    """Return whether the response to a request shows a document and lists its entries."""
    return isinstance(request, _SHOWS)


async def _execute(cache: ActionCache, run: Performance, request: ExecuteCached) -> dict[str, Any]:
    name = request.entry if request.entry is not None else request.scenario
    if name is None or (request.entry is not None and request.scenario is not None):
        raise InvalidArgumentError(
            what="executeCached", given="neither or both", expected="one of scenario and entry"
        )
    report = await cache.execute(
        run.page,
        name,
        variables=request.variables,
        variant=request.variant,
        from_index=request.from_index,
        to_index=request.to_index,
        dry_run=request.dry_run,
        force=request.force,
        actor=run.actor,
        confirm=person.get(),
        timeout=run.left,
    )
    result = report.to_json()
    result.pop("screenshot", None)  # models can send a screenshot request
    result.pop("healed", None)
    return result


async def _look_up(cache: ActionCache, run: Performance, request: CacheLookup) -> dict[str, Any]:
    return describe_lookup(await cache.look_up(run.page, request.goal, variant=request.variant))


async def _start(cache: ActionCache, run: Performance, request: StartLearning) -> dict[str, Any] | None:
    scope = cache.learn(
        run.page,
        scenario=request.scenario,
        variables=request.variables,
        description=request.description,
        variant=request.variant,
    )
    opened = await run.open_scope(LEARNING, scope)
    learning: Learning = opened.value
    return {"notice": learning.notice} if learning.notice else None


async def _stop(_cache: ActionCache, run: Performance, request: StopLearning) -> dict[str, Any]:
    opened = run.actor.scopes.find(LEARNING, run.page, "a startLearning request first")
    learning: Learning = opened.value
    learning.keep = request.keep
    await opened.end(run.left)
    result: dict[str, Any] = {
        "stored": learning.entry is not None,
        "kept": request.keep,
        "notes": list(learning.learned.notes),
    }
    return result | ({} if learning.entry is None else {"entry": to_json(summarize(learning.entry))})


async def _list(cache: ActionCache, _run: Performance, request: CacheList) -> dict[str, Any]:
    return await list_entries(cache, request.scenario, limit=request.limit, offset=request.offset)


async def _delete(cache: ActionCache, _run: Performance, request: CacheDelete) -> dict[str, Any]:
    return await delete_entry(cache, request.entry)


async def _show(cache: ActionCache, _run: Performance, request: CacheShow) -> dict[str, Any]:
    return await show_entry(cache, request.entry)


async def _versions(cache: ActionCache, _run: Performance, request: CacheVersions) -> dict[str, Any]:
    return await list_versions(cache, request.entry)


async def _restore(cache: ActionCache, _run: Performance, request: CacheRestore) -> dict[str, Any]:
    return await restore_version(cache, request.entry, request.version)


async def _scenarios(cache: ActionCache, _run: Performance, _request: ScenarioList) -> dict[str, Any]:
    return await list_scenarios(cache)


async def _statistics(cache: ActionCache, _run: Performance, _request: CacheStats) -> dict[str, Any]:
    return await read_statistics(cache)


async def _clear(cache: ActionCache, _run: Performance, request: CacheClear) -> dict[str, Any]:
    return await clear_entries(cache, request.scenario)


async def _refresh(cache: ActionCache, _run: Performance, request: ForceRefresh) -> dict[str, Any]:
    return await refresh_entry(cache, request.entry)


async def _report(cache: ActionCache, _run: Performance, request: ReportError) -> dict[str, Any]:
    return await report_entry(cache, request.entry)


_PERFORM: Mapping[type[CacheRequest], Callable[[ActionCache, Performance, Any], Awaitable[Any]]] = {
    ExecuteCached: _execute,
    CacheLookup: _look_up,
    StartLearning: _start,
    StopLearning: _stop,
    CacheList: _list,
    ScenarioList: _scenarios,
    CacheStats: _statistics,
    CacheClear: _clear,
    CacheDelete: _delete,
    CacheShow: _show,
    CacheVersions: _versions,
    CacheRestore: _restore,
    ForceRefresh: _refresh,
    ReportError: _report,
}
"""The handler of each kind of request."""
