"""The cases, in the order of the report."""

from __future__ import annotations

import importlib

from benchmarks.harness.bench import Case

NAMES = (
    "start",
    "imports",
    "round_trip",
    "throughput",
    "events",
    "requests",
    "replies",
    "looks",
    "agent_step",
    "snapshot",
    "actions",
    "cached_flow",
    "hung_evaluate",
    "shell",
    "pages_at_once",
    "pool",
    "navigations",
    "growth",
    "recorder",
    "streams",
    "mcp",
    "proxy",
    "instructions",
)


def _case(name: str) -> Case | None:
    try:
        case: Case = importlib.import_module(f"benchmarks.cases.{name}").CASE
    except ModuleNotFoundError as error:
        if error.name != f"benchmarks.cases.{name}":
            raise
        return None
    return case


CASES: dict[str, Case] = {name: case for name in NAMES if (case := _case(name)) is not None}
