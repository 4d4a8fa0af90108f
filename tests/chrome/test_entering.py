"""Entered values are registered as secrets before the first message that contains them."""

from __future__ import annotations

import base64
import json
from collections.abc import AsyncIterator
from urllib.parse import quote

import pytest
from entering import DATES, FORM, WAYS, Stage
from network_site import Site
from pytest_httpserver import HTTPServer
from rounds import every_nth

import cdpengine
from cdpengine._protocol.instruments import Traffic

pytestmark = pytest.mark.chrome


class Ear:
    """A watcher that searches each message for a string, and notes messages sent before it was registered."""

    def __init__(self, secret: str) -> None:
        self.secrets: list[str] = []
        self.early: list[str] = []
        self.heard = 0
        base = base64.b64encode(secret.encode()).decode()[:-4]
        self._forms = {secret, json.dumps(secret)[1:-1], quote(secret), base}
        self._secret = secret
        self._keys = ""

    def add_secret(self, text: str) -> None:
        self.secrets.append(text)

    def __call__(self, traffic: Traffic) -> None:
        raw = traffic.message
        message = raw if isinstance(raw, str) else bytes(raw).decode("utf-8", "replace")
        if traffic.direction == "sent" and '"Input.dispatchKeyEvent"' in message:
            self._keys += json.loads(message)["params"].get("text", "")
            if self._keys and self._secret.startswith(self._keys):
                message = self._secret  # its beginning, key by key
        if any(form in message for form in self._forms):
            self.heard += 1
            if not any(self._secret in each for each in self.secrets):
                self.early.append(message[:300])


@pytest.fixture
async def stage(browser: cdpengine.Browser, httpserver: HTTPServer) -> AsyncIterator[Stage]:
    site = Site(httpserver)
    async with browser.new_context() as context:
        page = await context.new_page()
        await page.goto(site.url)
        yield Stage(browser, context, page, site)


async def test_entered_values_are_registered_before_sending(stage: Stage) -> None:
    ways = [
        (name, each, way) for name, of in WAYS.items() if isinstance(of, dict) for each, way in of.items()
    ]
    wrong = {}
    for number, (name, each, way) in enumerate(every_nth(2, ways)):
        await stage.page.set_content(FORM)
        await stage.page.focus(await stage.node("#field"))
        ear = Ear(secret := f"c4nary-{number:03}-entered")
        with stage.browser.instruments.attached(ear):
            await way(stage, secret)
        if ear.early or not ear.heard or secret not in "\n".join(ear.secrets):
            wrong[f"{name} ({each})"] = (ear.early, ear.heard, ear.secrets[-3:])
    assert wrong == {}
    assert len(ways) > 30


@pytest.mark.sample(3)
@pytest.mark.parametrize("css", DATES)
async def test_value_is_registered_in_its_sent_form(stage: Stage, css: str) -> None:
    value, form = DATES[css]
    await stage.page.set_content(FORM)
    ear = Ear(form)
    with stage.browser.instruments.attached(ear):
        await stage.page.fill(await stage.node(css), value)
    assert (ear.early, form in ear.secrets) == ([], True)
    assert ear.heard
    assert await stage.page.evaluate(f"document.querySelector('{css}').value") == form


async def test_page_values_are_not_registered_as_secrets(stage: Stage) -> None:
    """A page must not be able to have its own strings redacted, so passed-on or restored values are not
    registered.
    """
    page, origin = stage.page, stage.site.url.rstrip("/")
    await page.storage.local.set({"old": "entered-item"})
    await page.evaluate("localStorage.setItem('theirs', 'theirs-item')")
    await page.evaluate("document.cookie = 'theirs=theirs-cookie'")
    ear = Ear("theirs-")
    with stage.browser.instruments.attached(ear):
        async with page.route("*/echo*", lambda route: route.continue_(headers=route.request.headers)):
            await page.evaluate(
                "fetch('/echo', {headers: {'X-Token': 'theirs-header'}}).then((r) => r.text())"
            )
        async with page.route("*/echo*", lambda route: route.continue_(post_data=route.request.post_data)):
            await page.evaluate(
                "fetch('/echo', {method: 'POST', body: JSON.stringify({a: 'theirs-post'})}).then((r) => r.text())"
            )
        async with page.route("*/echo*", _with_the_headers_of_the_server):
            await page.evaluate("fetch('/echo').then((r) => r.text())")
        async with page.expect_dialog():
            await page.evaluate("void prompt('?', 'theirs-default')")
        with pytest.raises(cdpengine.errors.StorageUnavailableError):
            await stage.context.storage.local(origin).set({"theirs": "x" * 12_000_000})
        with pytest.raises(cdpengine.errors.InvalidArgumentError):
            await stage.context.storage.set_cookies(
                [
                    {"name": "theirs", "value": "entered-cookie", "domain": "127.0.0.1"},
                    {"name": "x", "value": "entered-too", "domain": ".com"},
                ]
            )
        await page.snapshot()
        await page.content()
    assert ear.heard
    assert [each for each in ear.secrets if "theirs" in each] == []
    assert (await page.storage.local.items())["theirs"] == "theirs-item"


async def _with_the_headers_of_the_server(route: cdpengine.Route) -> None:
    response = await route.fetch()
    await route.fulfill(headers=[*response.header_list, ("X-Made", "1")], body="other")


async def test_connection_headers_are_registered_from_the_start(shared_endpoint: str) -> None:
    headers = {"Authorization": "Bearer c4nary-bearer", "User-Agent": "harmless-agent"}
    async with cdpengine.connect(f"{shared_endpoint}/?token=c4nary-token", headers=headers) as browser:
        assert {"c4nary-bearer", "c4nary-token"} <= set(browser.instruments.secrets)
        assert "harmless-agent" not in browser.instruments.secrets
