"""Each flow of the demo site is learned from a person once and replayed with other values."""

from __future__ import annotations

import pytest
from cache_flows import FLOWS, Flow, run_step
from cache_site.server import CacheSite
from learned_steps import pause

import cdpengine
from cdpengine import Page
from cdpengine.cache import LearnedSteps, execute_entry, learn_steps, make_entry, make_key, resolve_values

pytestmark = pytest.mark.chrome


@pytest.fixture
def page(used_page: Page) -> Page:
    return used_page


CALLED = {"card_code": "cvc", "card_expiry": "expires"}
"""Names of the fields that become variables during learning, and their names in the flow."""


async def check_replayed(page: Page, site: CacheSite, flow: Flow, learned: LearnedSteps) -> None:
    """Replay the steps with other values, in the same design and in another one."""
    assert learned.viewport is not None
    start = site.url + flow.start
    key = make_key(flow.scenario, start, learned.viewport, learned.variables)
    entry = make_entry(key, learned.steps, now=1.0, sensitive=learned.sensitive, features=learned.features)
    for name in flow.sensitive:
        assert flow.examples[0][name] not in repr(entry)
    given = flow.examples[1]
    values = await resolve_values(
        learned.variables,
        values={name: given[CALLED.get(name, name)] for name in learned.variables},
        environment={},
        sensitive=learned.sensitive,
    )
    flow.reset(site, "a")
    await page.goto(start)
    report = await execute_entry(page, entry, values, timeout=20)
    assert report.ok, (report.reason, [(step.label, step.error) for step in report.steps])
    assert site.touched == flow.keys(given)
    assert site.submitted == flow.submitted(given)
    flow.reset(site, "b")
    await page.goto(start)
    report = await execute_entry(page, entry, values, force=True, timeout=20, patience=0.2)
    assert report.ok or report.reason
    assert site.touched == flow.keys(given)[: len(site.touched)]
    if report.ok:
        assert site.submitted == flow.submitted(given)


@pytest.mark.sample(2)
@pytest.mark.parametrize("flow", FLOWS.values(), ids=FLOWS)
async def test_flow_of_a_person_is_replayed(
    page: Page, site: CacheSite, flow: Flow, shared_endpoint: str
) -> None:
    flow.reset(site, "a")
    await page.goto(site.url + flow.start)
    values = flow.examples[0]
    plain = {name: value for name, value in values.items() if name not in flow.sensitive}
    async with cdpengine.connect(shared_endpoint) as other:
        person = await other.wait_for_page(where=lambda each: each.target_id == page.target_id)
        async with learn_steps(page, variables=plain) as learned:
            await pause(page)
            for step in flow.steps:
                called = step.called("a")
                assert called is not None
                await run_step(person, step, called, values)
                await pause(page)
    assert learned.notes == ()
    assert {CALLED.get(name, name) for name in learned.variables} == set(values)
    await check_replayed(page, site, flow, learned)
