"""Flows learned on one design of the demo site and replayed on each: correct, or stopped with the reason.

No replay clicks wrongly. The oracle is the site's record, with the key of each clicked or edited element and
each submission.
"""

from __future__ import annotations

from collections.abc import Mapping

import attrs
import pytest
from cache_flows import FLOWS, Flow, run_flow
from cache_site.server import CacheSite, Design

from cdpengine import Page
from cdpengine.cache import (
    CacheEntry,
    ExecutionReport,
    entry_to_json,
    execute_entry,
    learn_steps,
    make_entry,
    make_key,
    parse_entry,
    resolve_values,
)

pytestmark = pytest.mark.chrome

USUAL = {("login", "a")}
"""The learned flows and replays of a run without `--run-slow`."""

COMPLETE = {("a", "b"): {"login", "logout", "settings"}}
"""Flows that must succeed in a different design. The other flows may stop."""

LEARNED = [
    pytest.param(name, known, marks=[] if (name, known) in USUAL else [pytest.mark.slow])
    for known in ("a", "b")
    for name in FLOWS
]


@pytest.fixture
def page(used_page: Page) -> Page:
    return used_page


async def learn(
    page: Page, site: CacheSite, flow: Flow, design: Design, values: Mapping[str, str]
) -> CacheEntry:
    """Learn a flow done by a program, and return its entry after a round trip through JSON."""
    flow.reset(site, design)
    await page.goto(site.url + flow.start)
    async with learn_steps(page, variables=values) as learned:
        await run_flow(page, flow, values, design)
    assert learned.viewport is not None
    key = make_key(flow.scenario, learned.url, learned.viewport, learned.variables)
    entry = make_entry(key, learned.steps, now=1.0, sensitive=learned.sensitive, features=learned.features)
    assert site.submitted == flow.submitted(values)
    return parse_entry(entry_to_json(entry))


async def replay(
    page: Page, site: CacheSite, flow: Flow, entry: CacheEntry, values: Mapping[str, str], *, force: bool
) -> ExecutionReport:
    await page.goto(site.url + flow.start)
    needed = await resolve_values(
        entry.key.variables, values=values, environment={}, sensitive=entry.sensitive
    )
    return await execute_entry(page, entry, needed, force=force, patience=0.5, timeout=60)


def judge(site: CacheSite, flow: Flow, values: Mapping[str, str], report: ExecutionReport) -> str:
    """Return the mistakes in the site's record, or "" if there are none."""
    keys, wanted = flow.keys(values), flow.submitted(values)
    if site.touched != keys[: len(site.touched)]:
        return f"touched {site.touched}, expected {keys}"
    if report.ok and (site.touched != keys or site.submitted != wanted):
        return f"reported success, but submitted {site.submitted}"
    if site.submitted != wanted[: len(site.submitted)]:
        return f"submitted {site.submitted}"
    if not report.ok and (report.stopped_at is None and not report.reason):
        return "stopped without a reason"
    return ""


@pytest.mark.parametrize(("scenario", "known"), LEARNED)
async def test_a_flow_is_replayed_right_or_stops(
    page: Page, site: CacheSite, scenario: str, known: Design
) -> None:
    flow = FLOWS[scenario]
    entry = await learn(page, site, flow, known, flow.examples[0])
    others: Design = "b" if known == "a" else "a"
    runs: list[tuple[Design, int]] = [(known, 0), (known, 1), (others, 1), ("c", 0)]
    for design, example in runs:
        values = flow.examples[example]
        flow.reset(site, design)
        report = await replay(page, site, flow, entry, values, force=design != known)
        place = f"{known} -> {design}: {report.to_table()}"
        assert judge(site, flow, values, report) == "", place
        if design == known or scenario in COMPLETE.get((known, design), ()):
            assert report.ok, place
        if design == "c":
            assert not report.ok, place
        # Not the three digits of a card's code, because a time may contain them.
        for name in set(flow.sensitive) - {"cvc"}:
            assert values[name] not in f"{report!r}{report.to_json()}{report.to_table()}"


async def test_covered_element_is_not_clicked(page: Page, site: CacheSite) -> None:
    flow = FLOWS["logout"]
    entry = await learn(page, site, flow, "b", {})
    assert len(entry.steps) == 1 or [step.request.kind for step in entry.all_steps()] == ["click", "wait"]
    click = next(entry.all_steps())
    hasty = attrs.evolve(
        entry, steps=(attrs.evolve(click, request=attrs.evolve(click.request, timeout_ms=700)),)
    )
    flow.reset(site, "b", advert=True)
    report = await replay(page, site, flow, hasty, {}, force=True)
    assert not report.ok
    assert "cover" in report.reason
    assert site.record == []


async def test_healed_entry_matches_exactly_next_time(page: Page, site: CacheSite) -> None:
    flow = FLOWS["settings"]
    entry = await learn(page, site, flow, "a", flow.examples[0])
    flow.reset(site, "b")
    report = await replay(page, site, flow, entry, flow.examples[1], force=True)
    assert report.ok, report.to_table()
    assert "healed" in {step.level for step in report.steps}
    assert report.healed is not None
    flow.reset(site, "b")
    again = await replay(page, site, flow, report.healed, flow.examples[0], force=True)
    assert again.ok, again.to_table()
    assert {step.level for step in again.steps} <= {"exact", ""}
    assert judge(site, flow, flow.examples[0], again) == ""
