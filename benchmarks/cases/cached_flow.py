"""A flow that the action cache replays, beside the same flow with a snapshot of the page before every step.

Rule: the flow was recorded once, on a page of so many rows, and both sides do its very steps: the same requests by the
same dispatch, the same post-conditions waited for. One side is `execute_entry`; the other reads the page before each
step, as a program (or a model) does that has to see it: a snapshot of the whole page with its text and its refs, in
which it finds the element by role and name. "further" may use parts of the page that have not changed, "fresh" may not,
"ax" is by Chrome's accessibility tree. "stored replay" is the whole of `ActionCache.execute`, with an encrypted store of
1,000 entries: it finds the entry, decrypts it, carries it out and counts the run. "hooked snapshots" are requests of an
actor whose hook says with each snapshot what the same store knows of the page; the elements are found in the text of
the response. Beside them stands what the steps take when nothing at all is read. Each turn begins with a page that was
just opened and drawn, which is not counted on any side, and ends with a look at the page's own record: whatever was
timed has happened, and nothing else. What a model takes to read a snapshot is in no figure.
"""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import attrs

import cdpengine
from benchmarks.harness.bench import Bench, Case, Turn
from cdpengine.act import Actor, ActRequest, Fill, TakeSnapshot, dispatch
from cdpengine.act.actor import actor_of
from cdpengine.act.requests import ElementRequest
from cdpengine.cache import (
    ActionCache,
    CacheConfig,
    CacheEntry,
    CacheRequests,
    Recording,
    Step,
    Values,
    execute_entry,
    make_entry,
    make_key,
    record_steps,
)
from cdpengine.cache.replaying.conditions import wait_for_condition

ROWS = (10, 100, 1_000)

VARIABLES: Mapping[str, str] = {"product": "item", "order": "Price"}

STEPS = 6

ENTRIES = 1_000
"""Entries in the store, that of the flow included."""


def row_of(rows: int) -> int:
    """Return the row, of so many, in which the last two steps are done."""
    return min(50, rows // 2)


def record_of(row: int) -> list[str]:
    """Return what the page itself says was done."""
    return [
        "input product",
        "change order",
        "change left",
        "click apply",
        f"change compare {row}",
        f"click buy {row}",
    ]


PATIENCE = 60.0
"""Seconds that a look at the page, or what a step leads to, may take: by the accessibility tree it takes long."""


async def opened(page: cdpengine.Page, url: str) -> None:
    """Open the page anew, as it was before, and wait until it has been drawn."""
    await page.goto(url)
    await page.evaluate("new Promise((done) => requestAnimationFrame(() => setTimeout(done)))")


async def do_by_program(page: cdpengine.Page, row: int) -> None:
    """Do the flow once, as a person or a program would, to be recorded."""
    await page.fill(page.locate(role="textbox", name="Product"), VARIABLES["product"])
    await page.select(page.locate(role="combobox", name="Order"), VARIABLES["order"])
    await page.check(page.locate(role="checkbox", name="Only what is left"))
    await page.click(page.locate(role="button", name="Apply"))
    await page.check(page.locate(role="checkbox", name=f"Compare {row}"))
    await page.click(page.locate(role="button", name=f"Buy {row}"))


def is_whole(recording: Recording) -> bool:
    """Say whether all of the flow was recorded, and the page on which it begins was read as a whole."""
    features = recording.features
    return len(recording.steps) == STEPS and features is not None and not features.partial


RECORDINGS = 5
"""How often the flow is recorded until all of it was: a recorder that finds a large page busy leaves a step out."""


async def recorded(page: cdpengine.Page, url: str, row: int) -> CacheEntry:
    """Return the entry of the flow."""
    for _ in range(RECORDINGS):
        await opened(page, url)
        async with record_steps(page, variables=VARIABLES) as recording:
            await do_by_program(page, row)
        if is_whole(recording):
            break
    assert recording.viewport is not None
    assert is_whole(recording), f"{recording.notes}, {recording.features}"
    key = make_key("settings", recording.url, recording.viewport, recording.variables)
    return make_entry(key, recording.steps, now=time.time(), features=recording.features)


Find = Callable[[str, str], str]
"""Returns the ref of the element with a role and a name."""


def ref_in(snapshot: cdpengine.Snapshot) -> Find:
    """Return what finds refs in a snapshot, whose text is rendered as a program that reads it needs it."""
    assert snapshot.text
    return lambda role, name: snapshot.find(role=role, name=name).id


def ref_in_text(text: str, role: str, name: str) -> str:
    """Return a ref as a client finds it in the text of a snapshot."""
    pattern = rf"^\s*- {re.escape(role)} {re.escape(json.dumps(name))}.*?\[ref=(\w+)\]"
    found = re.search(pattern, text, re.MULTILINE)
    assert found is not None, (role, name)
    return found[1]


@attrs.frozen
class Flow:
    """The flow on one page; each way returns the milliseconds that it took."""

    page: cdpengine.Page
    actor: Actor
    url: str
    row: int
    entry: CacheEntry
    values: Values
    cache: ActionCache

    async def stored_replay(self) -> float:
        """Have the cache find the entry in its store, carry it out and count the run."""
        await opened(self.page, self.url)
        started = time.perf_counter()
        report = await self.cache.execute(self.page, "settings", variables=VARIABLES)
        taken = time.perf_counter() - started
        assert report.ok, report.reason
        await self.check()
        return taken * 1000

    async def with_hook(self) -> float:
        """Read the page before each step by a request, whose response says what the store knows of the page."""
        await opened(self.page, self.url)
        requests = CacheRequests(self.cache)
        actor = Actor(self.page.browser, cache=requests, hooks=(requests.hook,))
        started = time.perf_counter()
        for step in self.entry.all_steps():
            response = await dispatch(actor, TakeSnapshot(target_id=self.page.target_id))
            assert response.cached, response.error
            await self.do(step, partial(ref_in_text, response.result["snapshot"]))
        taken = time.perf_counter() - started
        await self.check()
        return taken * 1000

    async def replay(self) -> float:
        """Have the cache carry out the entry."""
        await opened(self.page, self.url)
        started = time.perf_counter()
        report = await execute_entry(self.page, self.entry, self.values)
        taken = time.perf_counter() - started
        assert report.ok, report.reason
        await self.check()
        return taken * 1000

    def with_snapshots(self, **options: Any) -> Turn:
        """Return the turn that reads the page before each step, by a snapshot with these options."""

        async def turn() -> float:
            await opened(self.page, self.url)
            started = time.perf_counter()
            for step in self.entry.all_steps():
                await self.do(step, ref_in(await self.page.snapshot(timeout=PATIENCE, **options)))
            taken = time.perf_counter() - started
            await self.check()
            return taken * 1000

        return turn

    async def without_reading(self) -> float:
        """Do the steps with refs that are known already: less than this nobody can take."""
        await opened(self.page, self.url)
        find = ref_in(await self.page.snapshot(timeout=PATIENCE))
        started = time.perf_counter()
        for step in self.entry.all_steps():
            await self.do(step, find)
        taken = time.perf_counter() - started
        await self.check()
        return taken * 1000

    async def do(self, step: Step, find: Find) -> None:
        """Do a step to the elements that `find` finds, and wait for what it leads to."""
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

    async def check(self) -> None:
        """Check with the page's own record that the flow was done, and nothing else."""
        record = await self.page.evaluate("record")
        expected = record_of(self.row)
        assert record == expected, f"got {record}, expected {expected}"


async def filled(cache: ActionCache, entry: CacheEntry) -> None:
    """Put the entry of the flow and as many of other pages as make `ENTRIES`."""
    await cache.clear()
    for number in range(ENTRIES - 1):
        other = attrs.evolve(entry.key, address=f"https://shop.example/page/{number}")
        await cache.store.put(attrs.evolve(entry, key=other))
    await cache.store.put(entry)


async def run(bench: Bench) -> None:
    with TemporaryDirectory() as folder:
        async with (
            bench.launch() as browser,
            ActionCache.open(
                Path(folder) / "cache.sqlite3", config=CacheConfig(keyring=False), key=b"k" * 32
            ) as cache,
        ):
            page = await browser.new_page()
            for rows in (1_000,) if bench.quick else ROWS:
                await _measure(bench, page, cache, rows)


async def _measure(bench: Bench, page: cdpengine.Page, cache: ActionCache, rows: int) -> None:
    url = f"{bench.site}/stock/{rows}"
    row = row_of(rows)
    entry = await recorded(page, url, row)
    await filled(cache, entry)
    flow = Flow(page, actor_of(page.browser), url, row, entry, Values(dict(VARIABLES)), cache)
    sides: dict[str, Turn] = {
        "engine": flow.replay,
        "engine: stored replay": flow.stored_replay,
        "engine: further snapshots": flow.with_snapshots(),
        "engine: hooked snapshots": flow.with_hook,
        "engine: fresh snapshots": flow.with_snapshots(fresh=True),
        "engine: ax snapshots": flow.with_snapshots(source="ax"),
        "floor: nothing is read": flow.without_reading,
    }
    variant = f"{STEPS} steps on {rows:,} rows"
    turns = min(bench.turn_count, 2)
    await bench.turns("cached_flow", sides, unit="ms", variant=variant, size=rows, turns=turns)


CASE = Case(
    name="cached_flow", title="Flows that the action cache replays", run=run, seconds=130, quick_seconds=30
)
