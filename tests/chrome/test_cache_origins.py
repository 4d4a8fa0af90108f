"""Values of variables are entered only in documents of the origins that they were learned on."""

from __future__ import annotations

from typing import Any

import attrs
import pytest
import trio
from cache_login import CONFIG
from pytest_httpserver import HTTPServer

from cdpengine import Page, Snapshot
from cdpengine.act import Actor, ActRequest, DispatchHook, dispatch
from cdpengine.cache import ActionCache, CacheEntry, CacheRequests, Plan, execute_entry
from cdpengine.cache.variables import Values

pytestmark = pytest.mark.chrome

FORM = (
    "<title>F</title><form aria-label=F method=post action=/take><label>Password <input name=x type=password></label>"
    "<label>Size <select name=s><option>small<option>large</select></label><button>Go</button></form>"
)
FRAMED = "<title>Outer</title><h1>Outer</h1><iframe title=inner src='{inner}' width=500 height=200></iframe>"
BLANK = (
    "<title>Blank</title><iframe title=inner srcdoc='<form aria-label=F><label>Password <input name=x></label></form>'>"
    "</iframe>"
)
FIRST, SECRET = "abcdef-1", "hunter2-hunter2"


@attrs.frozen
class TwoOrigins:
    """One server with two origins."""

    server: HTTPServer

    @property
    def here(self) -> str:
        return f"http://127.0.0.1:{self.server.port}"

    @property
    def elsewhere(self) -> str:
        return f"http://localhost:{self.server.port}"

    def serve(self, path: str, html: str) -> None:
        self.server.expect_request(path).respond_with_data(html, content_type="text/html; charset=utf-8")

    def bodies(self) -> list[str]:
        return [request.get_data(as_text=True) for request, _ in self.server.log if request.method == "POST"]


@pytest.fixture
def origins(httpserver: HTTPServer) -> TwoOrigins:
    httpserver.clear()
    both = TwoOrigins(httpserver)
    both.serve("/form", FORM)
    both.serve("/take", "<h1>Taken</h1>")
    both.serve("/blank", BLANK)
    return both


async def learn_form(page: Page, cache: ActionCache, url: str, **variables: str) -> CacheEntry:
    await page.goto(url)
    async with cache.learn(page, scenario="gift", variables=variables) as learning:
        if "size" in variables:
            await page.select(page.locate(role="combobox", name="Size"), variables["size"])
        await page.fill(page.locate(role="textbox", name="Password"), variables["password"])
        if url.endswith("/form"):
            await page.click(page.locate(role="button", name="Go"))
    assert learning.entry is not None
    return learning.entry


async def test_a_value_is_entered_only_where_it_was_learned(
    page: Page, cache: ActionCache, origins: TwoOrigins, monkeypatch: pytest.MonkeyPatch
) -> None:
    entry = await learn_form(page, cache, f"{origins.here}/form", password=FIRST)
    assert entry.steps[0].origins == (origins.here,)  # type: ignore[union-attr]
    assert entry.steps[1].origins == ()  # type: ignore[union-attr]
    await page.goto(f"{origins.here}/form")
    assert (await cache.execute(page, "gift", variables={"password": SECRET})).ok
    assert origins.bodies() == [f"x={FIRST}&s=small", f"x={SECRET}&s=small"]
    await page.goto(f"{origins.elsewhere}/form")
    report = await cache.execute(page, entry.key, variables={"password": "other-value-9"}, force=True)
    assert not report.ok
    assert (report.stopped_at, report.steps[0].status) == (0, "failed")
    assert (
        f"the value of password is for {origins.here}, and the document is of {origins.elsewhere}"
        in report.reason
    )
    assert "other-value-9" not in report.reason
    assert await page.evaluate("document.querySelector('[name=x]').value") == ""
    monkeypatch.setenv("CDPENGINE_ORIGINS_PASSWORD", origins.elsewhere)
    given = {"password": "other-value-9"}
    assert (await cache.execute(page, entry.key, variables=given, force=True, to_index=1)).ok
    assert await page.evaluate("document.querySelector('[name=x]').value") == "other-value-9"


async def test_requested_values_are_not_sent_to_another_origin(
    page: Page, file: Any, origins: TwoOrigins
) -> None:
    async def ask(_name: str) -> str:
        await trio.lowlevel.checkpoint()
        return SECRET

    async with ActionCache.open(file, config=CONFIG, ask=ask) as cache:
        entry = await learn_form(page, cache, f"{origins.here}/form", password=FIRST)
        await page.goto(f"{origins.elsewhere}/form")
        report = await cache.execute(page, entry.key, force=True)
    assert f"is for {origins.here}" in report.reason
    assert await page.evaluate("document.querySelector('[name=x]').value") == ""
    assert origins.bodies() == [f"x={FIRST}&s=small"]


async def test_a_page_that_navigates_right_before_a_step_gets_no_value(
    page: Page, cache: ActionCache, origins: TwoOrigins
) -> None:
    entry = await learn_form(page, cache, f"{origins.here}/form", size="large", password=FIRST)
    values = Values({"size": "large", "password": SECRET})

    async def leave(_actor: Actor, request: ActRequest) -> None:
        if request.kind in leaves_before:
            leaves_before.clear()
            await page.goto(f"{origins.elsewhere}/form")

    for kind, reason in (("select", f"is for {origins.here}"), ("fill", "its document was replaced")):
        leaves_before = {kind}
        await page.goto(f"{origins.here}/form")
        actor = Actor(page.browser, page.browser.context_of(page), hooks=(DispatchHook(before=leave),))
        report = await execute_entry(page, entry, values, actor=actor)
        assert reason in report.reason, report.reason
        assert page.url == f"{origins.elsewhere}/form"
        found = await page.evaluate("[...document.querySelectorAll('[name]')].map(each => each.value)")
        assert found == ["", "small"]
    assert origins.bodies() == [f"x={FIRST}&s=large"]


@pytest.mark.parametrize("inner", ["here", "elsewhere"])
async def test_a_frame_of_another_origin_gets_no_value(
    page: Page, cache: ActionCache, origins: TwoOrigins, inner: str
) -> None:
    """Same-process and cross-process frames. At the end, a frame has the same form at another origin."""
    first, second = getattr(origins, inner), "https://never.example"
    origins.serve("/framed", FRAMED.format(inner=f"{first}/form"))
    entry = await learn_form(page, cache, f"{origins.here}/framed", password=FIRST)
    assert [step.origins for step in entry.all_steps()] == [(first,)]
    await page.goto(f"{origins.here}/framed")
    assert (await execute_entry(page, entry, Values({"password": SECRET}))).ok
    step = next(entry.all_steps())
    other = attrs.evolve(entry, steps=(attrs.evolve(step, origins=(second,)),))
    await page.goto(f"{origins.here}/framed")
    report = await execute_entry(page, other, Values({"password": SECRET}))
    assert f"is for {second}, and the document is of {first}" in report.reason
    # Written by hand: a step without origins uses those of the entry's address and frames.
    plain = attrs.evolve(entry, steps=(attrs.evolve(step, origins=()),))
    assert (await execute_entry(page, plain, Values({"password": SECRET}))).ok


async def test_a_frame_without_an_address_has_the_origin_of_its_page(
    page: Page, cache: ActionCache, origins: TwoOrigins
) -> None:
    entry = await learn_form(page, cache, f"{origins.here}/blank", password=FIRST)
    assert [step.origins for step in entry.all_steps()] == [(origins.here,)]
    await page.goto(f"{origins.here}/blank")
    assert (await execute_entry(page, entry, Values({"password": SECRET}))).ok


async def test_planner_enters_secrets_only_on_its_start_origin(
    page: Page, cache: ActionCache, origins: TwoOrigins, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fill(page_now: Snapshot) -> list[dict[str, Any]]:
        field, button = page_now.find("textbox", "Password").id, page_now.find("button", "Go").id
        typing = {"kind": "fill", "fields": [{"ref": field, "value": "${password}"}]}
        return [typing, {"kind": "click", "ref": button}]

    async def planner(_goal: str, snapshot: Snapshot) -> Any:
        await trio.lowlevel.checkpoint()
        if snapshot.url.startswith(origins.here) or not snapshot.url.startswith("http"):
            return Plan(({"kind": "navigate", "url": f"{origins.elsewhere}/form"},), done=False)
        return fill(snapshot)

    async def script(_goal: str, _snapshot: Snapshot) -> Any:
        await trio.lowlevel.checkpoint()
        return [{"kind": "evaluate", "function": f"fetch('{origins.elsewhere}/take?' + ${{password}})"}]

    secret = {"password": SECRET}
    await page.goto(f"{origins.here}/form")
    done = await cache.perform(page, "log in", variables=secret, planner=planner)
    assert done.outcome == "failed"
    assert f"is for {origins.here}, and the document is of {origins.elsewhere}" in done.reason
    assert origins.bodies() == []
    await page.goto(f"{origins.here}/form")
    done = await cache.perform(page, "log in", variables=secret, planner=script)
    assert "the sensitive variable password" in done.reason
    assert not any("take" in request.url for request, _ in origins.server.log)
    # A blank tab has no origin, so the first page provides it. After that, the environment's list decides.
    await page.goto("about:blank")
    done = await cache.perform(page, "log in", variables=secret, planner=planner)
    assert done.outcome == "planned", done.reason
    await cache.clear()
    monkeypatch.setenv("CDPENGINE_ORIGINS_PASSWORD", origins.elsewhere)
    await page.goto(f"{origins.here}/form")
    done = await cache.perform(page, "log in", variables=secret, planner=planner)
    assert done.outcome == "planned", done.reason
    assert origins.bodies() == [f"x={SECRET}&s=small"] * 2


async def test_replay_by_request_names_the_origin(
    page: Page, cache: ActionCache, origins: TwoOrigins
) -> None:
    entry = await learn_form(page, cache, f"{origins.here}/form", password=FIRST)
    await page.goto(f"{origins.elsewhere}/form")
    actor = Actor(page.browser, cache=CacheRequests(cache))
    actor.focus(page)
    asked = {"kind": "executeCached", "entry": entry.key.id, "variables": {"password": SECRET}, "force": True}
    response = await dispatch(actor, asked)
    assert response.ok
    assert f"is for {origins.here}, and the document is of {origins.elsewhere}" in response.result["reason"]
    assert SECRET not in str(response.to_json())
    assert response.result["fault"] == "address"
    for _ in range(3):
        assert (await dispatch(actor, asked)).result["fault"] == "address"
    (counted,) = await cache.list()
    assert (counted.statistics.failures, counted.statistics.mistakes) == (0, 4)
    await page.goto(f"{origins.here}/form")
    assert (await dispatch(actor, asked)).result["ok"]
