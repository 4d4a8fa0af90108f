"""The cases, in the order of the report."""

from __future__ import annotations

import importlib

from benchmarks.harness.bench import Case

NAMES = (
    "start", "imports", "round_trip", "throughput", "events", "requests", "replies", "looks",
    "agent_step", "snapshot", "actions", "cached_flow", "hung_evaluate", "shell", "pages_at_once",
    "pool", "navigations", "growth", "recorder", "streams", "mcp", "proxy", "instructions", "scale",
)  # fmt: skip

CASES: dict[str, Case] = {name: importlib.import_module(f"benchmarks.cases.{name}").CASE for name in NAMES}
