"""The flows of the demo site, described in one design and carried out in each, judged by the site's own record."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping

import attrs
import pytest
from cache_flows import FLOWS, Flow, FlowStep, Seen, walk_flow
from cache_site.server import CacheSite, serve_site

from cdpengine import Page
from cdpengine.act import Check, Click, Fill, FormField, Select
from cdpengine.act.requests import ActRequest
from cdpengine.cache import (
    CacheEntry,
    PostCondition,
    Step,
    Target,
    Values,
    Viewport,
    describe_target,
    execute_entry,
    make_entry,
    make_key,
)

pytestmark = pytest.mark.chrome


@pytest.fixture
async def site() -> AsyncIterator[CacheSite]:
    async with serve_site() as served:
        yield served


@pytest.fixture
def page(used_page: Page) -> Page:
    return used_page


def describe(seen: Seen) -> Target:
    assert seen.ref is not None
    target = describe_target(seen.snapshot, seen.ref)
    # What a recording does: no value of a variable is in what stands around it.
    within = tuple(each for each in target.within if each.name != seen.flow.examples[0].get("product"))
    item = (
        "${product}" if target.item and target.item == seen.flow.examples[0].get("product") else target.item
    )
    target = attrs.evolve(target, within=within, item=item)
    return attrs.evolve(target, name=seen.step.a) if "${" in seen.step.a else target


def request_of(step: FlowStep) -> ActRequest:
    match step.verb:
        case "fill":
            return Fill(fields=(FormField(ref="t1", value=step.value),))
        case "select":
            return Select(ref="t1", values=(step.value,))
        case "click":
            return Click(ref="t1")
    return Check(ref="t1", checked=step.verb == "check")


def entry_of(site: CacheSite, flow: Flow, targets: list[Target], values: Mapping[str, str]) -> CacheEntry:
    key = make_key(flow.scenario, site.url + flow.start, Viewport(width=1280, height=720), values)
    steps = []
    for step, target in zip(flow.steps, targets, strict=True):
        path = (
            step.leads_to.removesuffix("*") if "?saved" in step.leads_to else step.leads_to.partition("?")[0]
        )
        url = f"{site.url}{path}" if path else None
        after = None if url is None else PostCondition(url=url, load_state="load")
        steps.append(Step(request=request_of(step), targets={"t1": target}, after=after))
    return make_entry(key, steps, now=0.0, sensitive=flow.sensitive)


@pytest.mark.parametrize("flow", FLOWS.values(), ids=FLOWS)
async def test_each_flow_is_carried_out_right_or_stopped(page: Page, site: CacheSite, flow: Flow) -> None:
    learned, other = flow.examples
    targets = [describe(seen) for seen in await walk_flow(page, site, flow, "a", learned)]
    entry = entry_of(site, flow, targets, learned)
    values = Values(other, frozenset(flow.sensitive))
    for design in ("a", "b", "c"):
        flow.reset(site, design)
        await page.goto(site.url + flow.start)
        report = await execute_entry(page, entry, values, patience=0.1, timeout=60)
        right = flow.keys(other)
        if design == "a":
            assert report.ok, report.to_table()
            assert site.submitted == flow.submitted(other)
        assert report.ok or report.reason
        assert site.touched == right[: len(site.touched)], (design, report.to_table())
        assert report.ok == (site.touched == right), (design, report.to_table())
        assert not (report.ok and design == "c")
        for name in flow.sensitive:
            if len(other[name]) > 3:  # three digits may stand in a number of milliseconds
                assert other[name] not in str(report.to_json())
