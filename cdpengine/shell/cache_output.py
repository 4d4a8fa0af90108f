"""The output of the action cache's commands, from their JSON results. Pure.

Rule: `cdpengine cache list` and the shell's `cache-list` print the same, and likewise for the other commands. The
command line fits tables to its terminal; the shell's output has their full width.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from cdpengine.errors.texts import escape_line
from cdpengine.shell.tables import Column, lay_out, table_head, table_row, table_width

Table = tuple[Column, ...]

Piece = str | Table
"""A line or a table."""

_HOUR, _DAY = 3_600.0, 86_400.0


def describe_cache_result(kind: str, result: Mapping[str, Any], now: float) -> list[Piece]:
    """Return the output of a result. `kind` is the request's kind; `now` is in seconds since 1970."""
    if kind in _OF_ENTRIES:
        return list(_OF_ENTRIES[kind](result, now))
    return list(_OTHERS[kind](result))


def render(pieces: Sequence[Piece]) -> Iterator[str]:
    """Yield the lines of the output, with tables of any width."""
    for piece in pieces:
        if isinstance(piece, str):
            yield escape_line(piece)
            continue
        escaped = [
            Column(each.name, [escape_line(value) for value in each.values], each.yields, each.figure)
            for each in piece
        ]
        layout = lay_out(escaped, None)
        yield table_head(layout)
        yield "-" * table_width(layout)
        for number in range(len(piece[0].values)):
            yield from table_row(layout, number)


# --- entries -------------------------------------------------------------------------------------------------


def _table(entries: Sequence[Mapping[str, Any]], now: float) -> Table:
    variants = [each.get("variant", "") for each in entries]
    return (
        Column("entry", [each["entry"] for each in entries], figure=False),
        Column("scenario", [each["scenario"] for each in entries], figure=False),
        Column("level", [each["level"] for each in entries], figure=False),
        Column("address", [each["address"] for each in entries], 1, figure=False),
        Column("variables", [", ".join(each["variables"]) for each in entries], 2, figure=False),
        Column("steps", [str(each["steps"]) for each in entries], 4),
        Column("version", [str(each["version"]) for each in entries], 5),
        Column("done", [str(each["successes"]) for each in entries], 3),
        Column("failed", [str(each["failures"]) for each in entries], 3),
        *([Column("variant", variants, 2, figure=False)] if any(variants) else []),
        Column("ends in", [_duration(each["expiresAt"] - now) for each in entries], 6),
    )


def _duration(seconds: float) -> str:
    if seconds <= 0:
        return "expired"
    return f"{seconds / _DAY:.0f} d" if seconds >= 2 * _DAY else f"{seconds / _HOUR:.1f} h"


def _list(result: Mapping[str, Any], now: float) -> Iterator[Piece]:
    entries, damaged = result["entries"], result.get("damaged", {})
    if entries:
        yield _table(entries, now)
    elif not damaged:
        yield "no entries"
    for identity, reason in damaged.items():
        yield f"entry {identity} is damaged: {reason}. Delete it: cdpengine cache delete {identity}"
    end = result["offset"] + len(entries) + len(damaged)
    if end < result["count"]:
        yield f"{result['count']} entries in all; --offset {end} shows the next ones"


def _versions(result: Mapping[str, Any], now: float) -> Iterator[Piece]:
    yield _table(result["versions"], now)


def _lookup(result: Mapping[str, Any], now: float) -> Iterator[Piece]:
    values = f" with values for {', '.join(result['variables'])}" if result["variables"] else ""
    reason = f": {result['reason']}" if "reason" in result else ""
    yield f"scenario {result['scenario'] or 'unknown'}{values}{reason}"
    yield from result.get("remarks", ())
    if "entry" in result:
        yield _table([result["entry"], *result.get("others", ())], now)


def _show(result: Mapping[str, Any], now: float) -> Iterator[Piece]:
    entry, runs = result["entry"], result["statistics"]
    mean = runs["totalMs"] / runs["successes"] if runs["successes"] else None
    rows = {
        "entry": entry["entry"],
        "scenario": entry["scenario"],
        "description": entry["description"],
        "address": entry["address"],
        "variables": ", ".join(entry["variables"]),
        "variant": entry.get("variant", ""),
        "level": entry["level"],
        "version": str(entry["version"]),
        "source": entry["source"],
        "ends in": _duration(entry["expiresAt"] - now),
        "succeeded": str(runs["successes"]),
        "failed": str(runs["failures"]),
        "failed in a row": str(runs["failedInRow"]),
        "mistakes of the caller": str(runs["mistakes"]),
        "stopped": str(runs["stopped"]),
        "cancelled": str(runs["cancelled"]),
        "mean time of a success": "-" if mean is None else f"{mean:.0f} ms",
    }
    yield _figures({name: value for name, value in rows.items() if value})
    steps = result["steps"]
    yield (
        Column("step", [str(number) for number in range(len(steps))]),
        Column("action", steps, figure=False),
    )
    yield f"rule: {result['rule']}"


# --- the other results -------------------------------------------------------------------------------------------


def _figures(rows: Mapping[str, str]) -> Table:
    return (
        Column("figure", list(rows), figure=False),
        Column("value", list(rows.values()), figure=False),
    )


def _percent(rate: float | None) -> str:
    return "-" if rate is None else f"{rate:.0%}"


def _levels(counts: Mapping[str, int]) -> str:
    by_level = ", ".join(f"{level} {count}" for level, count in sorted(counts.items()))
    return f" ({by_level})" if by_level else ""


def _statistics(result: Mapping[str, Any]) -> Iterator[Piece]:
    store = result["store"]
    yield _figures(
        {
            "entries": f"{store['entries']}{_levels(store['levels'])}",
            "expired": str(store["expired"]),
            "bytes": str(store["bytes"]),
            "hits": f"{sum(result['hits'].values())}{_levels(result['hits'])}",
            "misses": str(result["misses"]),
            "hit rate": _percent(result["hitRate"]),
            "refused": str(result["refused"]),
            "runs": str(result["runs"]),
            "succeeded": str(result["successes"]),
            "failed": str(result["failures"]),
            "mistakes of the caller": str(result["mistakes"]),
            "cancelled": str(result["cancelled"]),
            "failures reported": str(result["reported"]),
            "success rate": _percent(result["successRate"]),
            "healed": str(result["healed"]),
            "stopped": str(result["stopped"]),
            "planned": str(result["planned"]),
            "repaired": str(result["repaired"]),
            "tokens saved (estimate)": str(result["tokensSaved"]),
            "seconds saved (estimate)": f"{result['secondsSaved']:.1f}",
        }
    )


def _scenarios(result: Mapping[str, Any]) -> Iterator[Piece]:
    found = result["scenarios"]
    if not found:
        yield "no entries"
        return
    yield (
        Column("scenario", [each["scenario"] for each in found], figure=False),
        Column("entries", [str(each["entries"]) for each in found]),
        Column("variables", [", ".join(each["variables"]) for each in found], 1, figure=False),
        Column("done", [str(each["successes"]) for each in found], 2),
        Column("failed", [str(each["failures"]) for each in found], 2),
    )


def _restored(result: Mapping[str, Any]) -> Iterator[Piece]:
    yield f"version {result['restored']} is restored as version {result['entry']['version']}"


def _deleted(_result: Mapping[str, Any]) -> Iterator[Piece]:
    yield "deleted"


def _cleared(result: Mapping[str, Any]) -> Iterator[Piece]:
    yield f"{result['deleted']} deleted"


def _refreshed(result: Mapping[str, Any]) -> Iterator[Piece]:
    yield "it will be learned again" if result["refreshed"] else "it was not in use"


def _reported(result: Mapping[str, Any]) -> Iterator[Piece]:
    failed, limit = result["failedInRow"], result["limit"]
    outcome = f"its use ends at {limit}" if result["stillUsed"] else "the entry is no longer used"
    yield f"1 failure of the entry is counted. It has {failed} in a row: {outcome}"


def _learning(result: Mapping[str, Any] | None) -> Iterator[Piece]:
    yield "learning" if not result else f"learning; {result['notice']}"


def _learned(result: Mapping[str, Any]) -> Iterator[Piece]:
    yield from result["notes"]
    if "entry" in result:
        entry = result["entry"]
        needs = f", needs {', '.join(entry['variables'])}" if entry["variables"] else ""
        yield f"stored: {entry['scenario']} in {entry['steps']} steps, entry {entry['entry']}{needs}"
    elif not result["kept"]:
        yield "discarded"


def _replayed(result: Mapping[str, Any]) -> Iterator[Piece]:
    steps = result["steps"]
    levels = [_worst(step["matches"]) for step in steps]
    yield (
        Column("step", [_place(step) for step in steps], figure=False),
        Column("status", [step["status"] for step in steps], figure=False),
        Column("match", levels, figure=False),
        Column("ms", [f"{step['milliseconds']:.0f}" for step in steps]),
        Column("what", [step["label"] or step["what"] for step in steps], figure=False),
    )
    if result["ok"]:
        yield f"{'would be done' if result['dryRun'] else 'done'} in {result['milliseconds']:.0f} ms"
    elif result["fault"] is not None:
        yield f"fault: {result['fault']}"
    yield from result["remarks"]


def _place(step: Mapping[str, Any]) -> str:
    number = "" if step["number"] is None else f".{step['number']}"
    return f"{step['index']}{number}{' (rollback)' if step['rollback'] else ''}"


_LEVELS = ("exact", "healed", "ambiguous", "missing")


def _worst(matches: Mapping[str, Mapping[str, Any]]) -> str:
    levels = [match["level"] for match in matches.values()]
    return max(levels, key=_LEVELS.index, default="")


_OF_ENTRIES: Mapping[str, Callable[[Mapping[str, Any], float], Iterator[Piece]]] = {
    "cacheList": _list,
    "cacheVersions": _versions,
    "cacheLookup": _lookup,
    "cacheShow": _show,
}
"""The output of results with entries, by the kind of request."""

_OTHERS: Mapping[str, Callable[[Any], Iterator[Piece]]] = {
    "cacheStats": _statistics,
    "scenarioList": _scenarios,
    "cacheRestore": _restored,
    "cacheDelete": _deleted,
    "cacheClear": _cleared,
    "forceRefresh": _refreshed,
    "reportError": _reported,
    "startLearning": _learning,
    "stopLearning": _learned,
    "executeCached": _replayed,
}
"""The output of the other results, by the kind of request."""

PRINTED = frozenset({*_OF_ENTRIES, *_OTHERS})
"""The kinds of requests whose results this module describes."""
