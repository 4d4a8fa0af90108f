"""Management of entries, with results as JSON data.

Rule: all clients (requests, MCP, HTTP, the shell and the command line) return this data. No result contains a
value of a variable. An unknown id is an error.
"""

from __future__ import annotations

from typing import Any

import attrs

from cdpengine.act import CachedActions
from cdpengine.act.fields import camel_case
from cdpengine.cache.acting.action_cache import UNKNOWN_ID, ActionCache
from cdpengine.cache.acting.looking_up import Lookup
from cdpengine.cache.entries import CacheEntry
from cdpengine.cache.judging.faults import describe_rule
from cdpengine.cache.replaying.places import describe_step
from cdpengine.errors import CacheMissError


def summarize(entry: CacheEntry) -> CachedActions:
    """Return the summary of an entry that responses list."""
    return CachedActions(
        entry=entry.key.id,
        scenario=entry.key.scenario,
        level=entry.level,
        steps=len(entry.steps),
        variables=entry.key.variables,
        success_rate=entry.statistics.success_rate,
        variant=entry.key.variant or None,
    )


def to_json(value: Any) -> dict[str, Any]:
    """Return the fields of an attrs object as JSON data. Fields with None are omitted."""
    return {
        camel_case(field.name): list(item) if isinstance(item, tuple) else item
        for field in attrs.fields(type(value))
        if (item := getattr(value, field.name)) is not None
    }


def describe_entry(entry: CacheEntry) -> dict[str, Any]:
    """Return an entry without its steps."""
    return {
        **to_json(summarize(entry)),
        "address": entry.key.address,
        "description": entry.description,
        "version": entry.version,
        "source": entry.source,
        "successes": entry.statistics.successes,
        "failures": entry.statistics.failures,
        "expiresAt": entry.expires_at,
    }


def describe_lookup(found: Lookup) -> dict[str, Any]:
    """Return a lookup with its entry and the entries of other variants."""
    result = found.to_json()
    if found.entry is not None:
        result["entry"] = describe_entry(found.entry)
    if found.others:
        result["others"] = [describe_entry(each) for each in found.others]
    return result


async def list_entries(
    cache: ActionCache, scenario: str | None, *, limit: int, offset: int
) -> dict[str, Any]:
    """Return entries, latest used first, with the number of all entries, and the damaged ones."""
    found = await cache.list(scenario, limit=limit, offset=offset)
    result: dict[str, Any] = {
        "count": await cache.size(scenario),
        "offset": offset,
        "entries": [describe_entry(entry) for entry in found],
    }
    return result | ({"damaged": dict(cache.store.damaged)} if cache.store.damaged else {})


async def show_entry(cache: ActionCache, identity: str) -> dict[str, Any]:
    """Return an entry with its steps, the outcomes of its runs, and the rule that ends its use."""
    entry = await cache.get(identity)
    if entry is None:
        raise _unknown(identity)
    runs = entry.statistics
    figures = to_json(runs) | {"stopped": runs.failures + runs.mistakes}
    return {
        "entry": describe_entry(entry),
        "steps": [describe_step(step) for step in entry.all_steps()],
        "statistics": figures,
        "rule": describe_rule(cache.config.failures),
    }


async def list_versions(cache: ActionCache, identity: str) -> dict[str, Any]:
    """Return an entry and its older versions, newest first."""
    found = await cache.versions(identity)
    if not found:
        raise _unknown(identity)
    return {"versions": [describe_entry(entry) for entry in found]}


async def restore_version(cache: ActionCache, identity: str, version: int) -> dict[str, Any]:
    """Make an older version of an entry the newest, and return the entry."""
    return {"entry": describe_entry(await cache.restore(identity, version)), "restored": version}


async def delete_entry(cache: ActionCache, identity: str) -> dict[str, Any]:
    """Delete an entry with its versions."""
    if not await cache.delete(identity):
        raise _unknown(identity)
    return {"deleted": True}


async def refresh_entry(cache: ActionCache, identity: str) -> dict[str, Any]:
    """Stop using an entry, and return whether it was in use."""
    refreshed = await cache.refresh(identity)
    if not refreshed and not await cache.versions(identity):
        raise _unknown(identity)
    return {"refreshed": refreshed}


async def report_entry(cache: ActionCache, identity: str) -> dict[str, Any]:
    """Count a failure of an entry, and return its consecutive failures and whether it is still used."""
    used = await cache.report_error(identity)
    entry = await cache.get(identity)
    failed = 0 if entry is None else entry.statistics.failed_in_row  # None: deleted meanwhile
    return {"stillUsed": used, "failedInRow": failed, "limit": cache.config.failures}


async def list_scenarios(cache: ActionCache) -> dict[str, Any]:
    """Return the known scenarios."""
    return {"scenarios": [to_json(each) for each in await cache.scenarios()]}


async def read_statistics(cache: ActionCache) -> dict[str, Any]:
    """Return the statistics of the cache."""
    found = await cache.statistics()
    figures = to_json(found) | {
        "runs": found.runs, "hitRate": found.hit_rate, "successRate": found.success_rate,
    }  # fmt: skip
    return figures | {"store": to_json(found.store)}


async def clear_entries(cache: ActionCache, scenario: str | None) -> dict[str, Any]:
    """Delete the entries of a scenario, or all entries."""
    return {"deleted": await cache.clear(scenario)}


def _unknown(identity: str) -> CacheMissError:
    return CacheMissError(f"entry {identity}", "", UNKNOWN_ID)
