"""Tabs that hung before the engine connected: they answer no session of the engine."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
import trio
from bare_protocol import bare_connection
from pytest_httpserver import HTTPServer
from rounds import slow_but

import cdpengine
from cdpengine._launch.endpoint import resolve_endpoint

PAGE = "<title>Site</title><button>Go</button>"

HANGS = {
    "script": "for (;;);",
    "alert": "alert(1)",
    "prompt": "prompt(1)",
    "request": "const r = new XMLHttpRequest(); r.open('GET', 'http://127.0.0.1:{silent}/', false); r.send()",
}


@asynccontextmanager
async def hung(endpoint: str, url: str, script: str) -> AsyncIterator[cdpengine.Page]:
    """Yield a page that hung before this connection. Another client follows its dialogs and answers none."""
    async with bare_connection((await resolve_endpoint(endpoint)).ws_url) as bare:
        target = (await bare.call("Target.createTarget", url=url))["targetId"]
        session = (await bare.call("Target.attachToTarget", targetId=target, flatten=True))["sessionId"]
        await bare.call("Page.enable", session)
        with trio.fail_after(20):
            while await bare.title(session) != "Site":
                pass
        hang = f"setTimeout(() => {{ {script} }})"
        await bare.call("Runtime.evaluate", session, expression=hang)
        with trio.move_on_after(0.3):
            while True:  # until it no longer answers
                await bare.title(session)
        async with cdpengine.connect(endpoint) as browser:
            yield next(page for page in browser.pages if page.target_id == target)
            await browser.session.call("Target.closeTarget", targetId=target)


@pytest.mark.parametrize("name", slow_but(HANGS, ["alert", "request"]))
async def test_recovery_of_page_that_hung_before_connecting(
    name: str, shared_endpoint: str, silent_port: int, httpserver: HTTPServer
) -> None:
    """ "terminate" closes a dialog. Other hangs need "reload", and the first report says so."""
    httpserver.expect_request("/").respond_with_data(PAGE, content_type="text/html")
    script = HANGS[name].replace("{silent}", str(silent_port))
    async with hung(shared_endpoint, httpserver.url_for("/"), script) as page:
        report = await page.recover(allow="terminate", timeout=20)
        if name in ("alert", "prompt"):
            assert report.responsive
            assert [(step.name, step.done) for step in report.steps] == [("dialog", True)]
        else:
            assert not report.responsive
            assert 'use allow="reload" or "close"' in str(report)
            report = await page.recover(allow="reload", timeout=20)
            assert report.responsive
            assert report.did("reload")
        assert (await page.snapshot(timeout=20)).find(role="button").name == "Go"
        assert page.url == httpserver.url_for("/")
