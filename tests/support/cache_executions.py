"""Cache entries built from elements of the current page, and pages that log each action."""

from __future__ import annotations

from typing import Any

import cdpengine
from cdpengine.act.requests import ActRequest
from cdpengine.cache import (
    CacheEntry,
    ExecutionReport,
    Step,
    StepGroup,
    Target,
    Values,
    Viewport,
    describe_target,
    execute_entry,
    make_entry,
    make_key,
)

SECRET = "canary-hunter-2"
VALUES = Values({"user": "ada", "password": SECRET}, frozenset({"password"}))

LOG = """<script>
var done = [];
addEventListener("click", (event) => {
  const at = event.target.closest("button, a, input[type=checkbox]");
  if (at) done.push(`click ${at.id || at.textContent.trim()}`);
}, true);
addEventListener("input", (event) => done.push(`input ${event.target.id}`), true);
</script>"""


def step(request: ActRequest, targets: dict[str, Target] | None = None, **more: Any) -> Step:
    return Step(request=request, targets=targets or {}, **more)


def entry_of(url: str, *steps: Step | StepGroup, **more: Any) -> CacheEntry:
    key = make_key("login", url, Viewport(width=800, height=600), ["user", "password"])
    return make_entry(key, steps, now=0.0, sensitive=("password",), **more)


async def targets_of(page: cdpengine.Page, **wanted: str) -> dict[str, Target]:
    """Describe elements by variable, such as t1="textbox User"."""
    snapshot = await page.snapshot()
    split = {slot: what.partition(" ") for slot, what in wanted.items()}
    return {
        slot: describe_target(snapshot, snapshot.find(role, name).id)
        for slot, (role, _, name) in split.items()
    }


async def log_of(page: cdpengine.Page) -> list[str]:
    done = await page.evaluate("done")
    assert isinstance(done, list)
    return list(dict.fromkeys(done))


async def execute(
    page: cdpengine.Page, entry: CacheEntry, values: Values = VALUES, **options: Any
) -> ExecutionReport:
    options = {"patience": 0.1, "timeout": 30} | options
    return await execute_entry(page, entry, values, **options)
