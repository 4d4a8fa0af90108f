"""A flow replayed by the action cache, compared with the same flow with a snapshot before every step.

Rule: all sides perform the same requests, with the same post-conditions. "engine" is `execute_entry`. "stored replay"
is `ActionCache.execute` with an encrypted store of 1,000 entries. The others find each element in a snapshot by role
and name: "fresh" reuses no part of the page, "ax" uses Chrome's accessibility tree, "hooked" has the store's knowledge
in the response text. The floor reads nothing. Each turn begins with a newly drawn page, which is not counted. It ends
with a check of the page's record, so that exactly the timed steps happened.
"""

from __future__ import annotations

import json
import re
import time
from collections.abc import Awaitable, Callable, Mapping
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import attrs

import cdpengine
from benchmarks.harness.bench import Bench, Case, Turn, timed
from cdpengine.act import Actor, ActRequest, Fill, TakeSnapshot, dispatch
from cdpengine.act.actor import actor_of
from cdpengine.act.requests import ElementRequest
from cdpengine.cache import (
    ActionCache,
    CacheConfig,
    CacheEntry,
    CacheRequests,
    Step,
    Values,
    execute_entry,
    learn_steps,
    make_entry,
    make_key,
)
from cdpengine.cache.matching.conditions import wait_for_condition

ROWS = (10, 100, 1_000)

VARIABLES: Mapping[str, str] = {"product": "item", "order": "Price"}

STEPS = 6
MOST_TRIES = 5

ENTRIES = 1_000  # number of entries in the store, including that of the flow


def record_of(row: int) -> list[str]:
    return [
        "input product",
        "change order",
        "change left",
        "click apply",
        f"change compare {row}",
        f"click buy {row}",
    ]


PATIENCE = 60.0
"""Timeout for a snapshot or an effect of a step, in seconds. The accessibility tree takes long."""


async def opened(page: cdpengine.Page, url: str) -> None:
    """Reopen the page in its initial state, and wait until it has been drawn."""
    await page.goto(url)
    await page.evaluate("new Promise((done) => requestAnimationFrame(() => setTimeout(done)))")


async def do_by_program(page: cdpengine.Page, row: int) -> None:
    """Perform the flow once for the learning, like a person or a program."""
    await page.fill(page.locate(role="textbox", name="Product"), VARIABLES["product"])
    await page.select(page.locate(role="combobox", name="Order"), VARIABLES["order"])
    await page.check(page.locate(role="checkbox", name="Only what is left"))
    await page.click(page.locate(role="button", name="Apply"))
    await page.check(page.locate(role="checkbox", name=f"Compare {row}"))
    await page.click(page.locate(role="button", name=f"Buy {row}"))


async def learn_flow(page: cdpengine.Page, url: str, row: int) -> CacheEntry:
    """Return the entry of the flow. A learner on a busy large page can miss a step, so this tries repeatedly."""
    for _ in range(MOST_TRIES):
        await opened(page, url)
        async with learn_steps(page, variables=VARIABLES) as learned:
            await do_by_program(page, row)
        features, viewport = learned.features, learned.viewport
        if len(learned.steps) == STEPS and features and not features.partial and viewport:
            key = make_key("settings", learned.url, viewport, learned.variables)
            return make_entry(key, learned.steps, now=time.time(), features=features)
    raise AssertionError(f"{learned.notes}, {learned.features}")


Find = Callable[[str, str], str]
"""Function that returns the ref of the element with a role and a name."""


def ref_in(snapshot: cdpengine.Snapshot) -> Find:
    """Return a finder of refs in a snapshot, whose text is rendered as for a program that reads it."""
    assert snapshot.text
    return lambda role, name: snapshot.find(role=role, name=name).id


def ref_in_text(text: str, role: str, name: str) -> str:
    """Find a ref in a snapshot's text, like a client."""
    pattern = rf"^\s*- {re.escape(role)} {re.escape(json.dumps(name))}.*?\[ref=(\w+)\]"
    found = re.search(pattern, text, re.MULTILINE)
    assert found is not None, (role, name)
    return found[1]


@attrs.frozen
class Flow:
    """The flow on one page, in several ways."""

    page: cdpengine.Page
    actor: Actor
    url: str
    row: int
    entry: CacheEntry
    values: Values
    cache: ActionCache

    async def timed(self, steps: Callable[[], Awaitable[None]]) -> float:
        """Return the milliseconds of a turn's steps on the newly opened page."""
        await opened(self.page, self.url)
        taken = await timed(steps)
        await self.check()
        return taken

    async def check(self) -> None:
        record, expected = await self.page.evaluate("record"), record_of(self.row)
        assert record == expected, f"got {record}, expected {expected}"

    async def stored_replay(self) -> None:
        report = await self.cache.execute(self.page, "settings", variables=VARIABLES)
        assert report.ok, report.reason

    async def with_hook(self) -> None:
        """Read the page before each step by a request whose response includes the store's knowledge of the page."""
        requests = CacheRequests(self.cache)
        actor = Actor(self.page.browser, cache=requests, hooks=(requests.hook,))
        for step in self.entry.all_steps():
            response = await dispatch(actor, TakeSnapshot(target_id=self.page.target_id))
            assert response.cached, response.error
            await self.do(step, partial(ref_in_text, response.result["snapshot"]))

    async def replay(self) -> None:
        report = await execute_entry(self.page, self.entry, self.values)
        assert report.ok, report.reason

    async def with_snapshots(self, **options: Any) -> None:
        for step in self.entry.all_steps():
            await self.do(step, ref_in(await self.page.snapshot(timeout=PATIENCE, **options)))

    async def without_reading(self) -> float:
        """Perform the steps with known refs. No side can be faster."""
        await opened(self.page, self.url)
        find = ref_in(await self.page.snapshot(timeout=PATIENCE))
        started = time.perf_counter()
        for step in self.entry.all_steps():
            await self.do(step, find)
        taken = time.perf_counter() - started
        await self.check()
        return taken * 1000

    async def do(self, step: Step, find: Find) -> None:
        """Perform a step on elements found by `find`, and wait for its effect."""
        refs = {
            slot: find(target.role, self.values.fill(target.name)) for slot, target in step.targets.items()
        }
        request: ActRequest = self.values.fill_request(step.request)
        if isinstance(request, Fill):
            fields = tuple(attrs.evolve(field, ref=refs[field.ref or ""]) for field in request.fields)
            request = attrs.evolve(request, fields=fields, target_id=self.page.target_id)
        else:
            assert isinstance(request, ElementRequest)
            (ref,) = refs.values()
            request = attrs.evolve(request, ref=ref, target_id=self.page.target_id)
        response = await dispatch(self.actor, request)
        assert response.error is None, response.error
        if step.after is not None:
            await wait_for_condition(self.page, step.after, self.values, PATIENCE)


async def filled(cache: ActionCache, entry: CacheEntry) -> None:
    await cache.clear()
    for number in range(ENTRIES - 1):
        other = attrs.evolve(entry.key, address=f"https://shop.example/page/{number}")
        await cache.store.put(attrs.evolve(entry, key=other))
    await cache.store.put(entry)


async def run(bench: Bench) -> None:
    config = CacheConfig(keyring=False)
    with TemporaryDirectory() as folder:
        path = Path(folder) / "cache.sqlite3"
        async with bench.launch() as browser, ActionCache.open(path, config=config, key=b"k" * 32) as cache:
            page = await browser.new_page()
            for rows in (1_000,) if bench.quick else ROWS:
                await measure(bench, page, cache, rows)


async def measure(bench: Bench, page: cdpengine.Page, cache: ActionCache, rows: int) -> None:
    url = f"{bench.site}/stock/{rows}"
    row = min(50, rows // 2)  # for the last two steps
    entry = await learn_flow(page, url, row)
    await filled(cache, entry)
    flow = Flow(page, actor_of(page.browser), url, row, entry, Values(dict(VARIABLES)), cache)
    ways: dict[str, Callable[[], Awaitable[None]]] = {
        "engine": flow.replay,
        "engine: stored replay": flow.stored_replay,
        "engine: hooked snapshots": flow.with_hook,
        "engine: fresh snapshots": partial(flow.with_snapshots, fresh=True),
        "engine: ax snapshots": partial(flow.with_snapshots, source="ax"),
    }
    sides: dict[str, Turn] = {name: partial(flow.timed, steps) for name, steps in ways.items()}
    sides["floor: nothing is read"] = flow.without_reading
    variant = f"{STEPS} steps on {rows:,} rows"
    await bench.turns(sides, variant, unit="ms", turns=min(bench.turn_count, 2))


CASE = Case("cached_flow", "Flows that the action cache replays", run, seconds=130, quick_seconds=30)
