"""The cache's demo site works as its tests assume: each flow succeeds in both designs, and the site records
all of it.
"""

from __future__ import annotations

import pytest
from cache_flows import FLOWS, Flow, run_flow
from cache_site.server import CacheSite, Design, hashed

import cdpengine
from cdpengine import Page
from cdpengine.errors import CoveredError

pytestmark = pytest.mark.chrome


@pytest.fixture
def page(used_page: Page) -> Page:
    return used_page


@pytest.mark.parametrize("example", [0, 1])
@pytest.mark.parametrize("design", ["a", "b"])
@pytest.mark.parametrize("flow", FLOWS.values(), ids=FLOWS)
@pytest.mark.slow  # the walk of test_cache_targets.py runs each flow in each design, in a usual run too
async def test_a_flow_ends_right(
    page: Page, site: CacheSite, flow: Flow, design: Design, example: int
) -> None:
    values = flow.examples[example]
    flow.reset(site, design)
    await page.goto(site.url + flow.start)
    await run_flow(page, flow, values, design)
    assert site.touched == flow.keys(values)
    assert site.submitted == flow.submitted(values)
    for name in flow.sensitive:
        assert values[name] not in repr(site.record)


@pytest.mark.parametrize("flow", FLOWS.values(), ids=FLOWS)
async def test_design_c_lacks_one_control_of_each_flow(page: Page, site: CacheSite, flow: Flow) -> None:
    place = flow.gone("c")
    assert place is not None
    flow.reset(site, "c")
    site.visitor.cart["Tea bowl"] = 1
    path = next((step.leads_to for step in reversed(flow.steps[:place]) if step.leads_to), flow.start)
    await page.goto(site.url + path.replace("*", "tea-bowl"))
    keys = await page.evaluate("[...document.querySelectorAll('[data-key]')].map(each => each.dataset.key)")
    assert flow.steps[place].key not in keys
    assert [key for key in keys if key.endswith((".form", ".everywhere"))]


async def test_wrong_password_is_reported_and_hashed(page: Page, site: CacheSite) -> None:
    await page.goto(f"{site.url}/login")
    await page.fill(page.locate(role="textbox", name="User name"), "ada")
    await page.fill(page.locate(role="textbox", name="Password"), "not-hers-9")
    await page.click(page.locate(role="button", name="Sign in"))
    await page.wait_for(text="The user name or the password is wrong.")
    assert site.submitted == [("login", {"user": "ada", "password": hashed("not-hers-9")}, False)]
    assert site.visitor.user == ""


async def test_form_errors_are_shown_and_recorded(page: Page, site: CacheSite) -> None:
    await page.goto(f"{site.url}/form")
    await page.fill(page.locate(role="textbox", name="Name"), "Ada")
    await page.fill(page.locate(role="spinbutton", name="Age"), "12")
    await page.click(page.locate(role="button", name="Send"))
    await page.wait_for(text="Please look at what you wrote again.", load_state="load")
    assert [(form, accepted) for form, _, accepted in site.submitted] == [("form", False)]
    assert await page.evaluate("document.querySelector('#name').value") == "Ada"


async def test_clicks_outside_the_controls_are_recorded(page: Page, site: CacheSite) -> None:
    await page.goto(f"{site.url}/login")
    await page.click(page.locate(role="heading", name="Sign in"))
    await page.type(page.locate(role="textbox", name="User name"), "ada", submit=True)
    await page.wait_for(text="The user name or the password is wrong.")
    # Enter clicks the form's button.
    assert site.touched == ["(no key: h1)", "login.user", "login.submit"]


async def test_the_advert_covers_the_button(page: Page, site: CacheSite) -> None:
    site.reset("b", user="ada", advert=True)
    await page.goto(f"{site.url}/account")
    with pytest.raises(CoveredError):
        await page.click(page.locate(role="button", name="Log out"), timeout=1)
    assert site.record == []


async def test_a_query_chooses_the_design_and_a_cookie_keeps_it(
    browser: cdpengine.Browser, site: CacheSite
) -> None:
    async with browser.new_context() as context:
        page = await context.new_page()
        await page.goto(f"{site.url}/login?design=b")
        assert await page.title() == "Log in"
        await page.goto(f"{site.url}/search")
        assert await page.title() == "Reading room"
        await page.goto(f"{site.url}/search?design=a")
        assert await page.title() == "Library"
