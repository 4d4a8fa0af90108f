"""A canary password, typed in every learned scenario, appears nowhere but in the page."""

from __future__ import annotations

import json
import logging
from pathlib import Path
from typing import Any

import pytest
from cache_flows import FLOWS, LOGIN, Flow, run_flow
from cache_site.server import CacheSite

from cdpengine import Page
from cdpengine.act import Actor, dispatch
from cdpengine.cache import ActionCache, CacheConfig, CacheRequests
from cdpengine.debug import record
from cdpengine.errors import VariablesError

pytestmark = pytest.mark.chrome

CANARY = "kanarienvogel7"
CARD, CVC = "4000056655665556", "9182"
SECRETS = {"password": CANARY, "card_number": CARD, "cvc": CVC}

SCENARIOS = [
    pytest.param(name, marks=[] if name in ("login", "logout") else [pytest.mark.slow]) for name in FLOWS
]


def values_of(flow: Flow) -> dict[str, str]:
    """Return the values of a flow and of the login before it, with canaries as secrets."""
    plain = {**LOGIN.examples[0], **flow.examples[0], "username": "ada"}
    return {name: SECRETS.get(name, value) for name, value in plain.items()}


async def do(page: Page, site: CacheSite, flow: Flow, values: dict[str, str]) -> None:
    """Type the password and continue with the scenario."""
    await page.fill(page.locate(role="textbox", name="User name"), values["username"])
    await page.fill(page.locate(role="textbox", name="Password"), values["password"])
    if flow is not LOGIN:
        await page.goto(site.url + flow.start)
        await run_flow(page, flow, values)


@pytest.mark.parametrize("name", SCENARIOS)
async def test_password_appears_nowhere(
    page: Page, site: CacheSite, tmp_path: Path, caplog: pytest.LogCaptureFixture, name: str
) -> None:
    caplog.set_level(logging.DEBUG)
    flow = FLOWS[name]
    values = values_of(flow)
    file, wire = tmp_path / "cache" / "cache.sqlite3", tmp_path / "wire.jsonl"
    said: list[str] = []
    pictures: list[bytes] = []

    def keep(*found: Any) -> None:
        said.extend(each if isinstance(each, str) else repr(each) for each in found)

    async def begin(design: Any) -> None:
        flow.reset(site, design)
        await page.goto(site.url + LOGIN.start)

    config = CacheConfig(keyring=False)
    async with record(page.browser, wire), ActionCache.open(file, config=config) as cache:
        await begin("a")
        async with cache.learn(page, scenario=name, variables=values) as learning:
            await do(page, site, flow, values)
        assert learning.entry is not None, learning.learned.notes
        assert "password" in learning.entry.sensitive
        keep(learning, learning.entry, learning.learned, *learning.learned.notes)
        for design in ("a", "c"):
            await begin(design)
            report = await cache.execute(page, name, variables=values, timeout=20)
            assert report.ok is (design == "a" or flow is LOGIN), report.reason
            keep(report, json.dumps(report.to_json() | {"screenshot": None}), report.to_table())
            pictures += [] if report.screenshot is None else [report.screenshot]
        await begin("a")
        with pytest.raises(VariablesError) as caught:
            await cache.execute(page, name, variables={"password": CANARY})
        requests = CacheRequests(cache)
        actor = Actor(page.browser, cache=requests, hooks=(requests.hook,))
        actor.focus(page)
        response = await dispatch(actor, {"kind": "executeCached", "scenario": name, "variables": values})
        keep(str(caught.value), response, json.dumps(response.to_json()))
        listed = [
            await dispatch(actor, {"kind": kind}) for kind in ("cacheList", "scenarioList", "cacheStats")
        ]
        keep(*(json.dumps(each.to_json()) for each in listed))
        found = await cache.look_up(page, f"log in as ada with password {CANARY}")
        keep(found, await cache.guide(), (await cache.export()).text, (await cache.export(typed=True)).text)
    keep(*(record_.getMessage() for record_ in caplog.records))
    text = "\n".join(said)
    assert flow.scenario in text
    kept = b"".join(each.read_bytes() for each in file.parent.iterdir())
    assert name.encode() in kept
    for secret in (CANARY, CARD, CVC):
        assert secret not in text, secret
        assert secret.encode() not in kept, secret
        assert all(secret.encode() not in picture for picture in pictures), secret
    assert wire.stat().st_size > 10_000
    assert CANARY not in wire.read_text("utf-8")
