"""Unmodified Puppeteer and Playwright through the proxy. Skipped if they are not installed (`make
test-peers`).
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import trio
import trio.testing
from peer_programs import run_program
from pytest_httpserver import HTTPServer

from cdpengine import debug

PAGE = """<!doctype html><title>Hall</title><input id=name><button id=greet onclick="
  const p = document.createElement('p'); p.id = 'greeting';
  p.textContent = 'Hello ' + document.getElementById('name').value; document.body.append(p)">Greet</button>"""
SEEN = {"greeting": "Hello Ada", "title": "Hall", "sum": 5, "screenshot": True, "pages": 2}


@pytest.mark.peers
@pytest.mark.parametrize("client", ["puppeteer", "playwright"])
async def test_a_client_runs_unmodified(
    client: str, shared_endpoint: str, httpserver: HTTPServer, tmp_path: Path
) -> None:
    httpserver.expect_request("/hall").respond_with_data(PAGE, content_type="text/html")
    url = httpserver.url_for("/hall")
    async with debug.proxy(shared_endpoint, record=tmp_path / "traffic.jsonl") as proxy:
        done = await run_program(client, tmp_path, proxy.endpoint, url)
        assert done.returncode == 0, done.stderr.decode()
        assert json.loads(done.stdout) == SEEN
        assert proxy.passages
        with trio.fail_after(20):
            while any(passage.ending is None for passage in proxy.passages):
                await trio.testing.wait_all_tasks_blocked(0.01)
        assert sum(passage.sent for passage in proxy.passages) > 20
    with debug.open_recording(tmp_path / "traffic.jsonl") as recording:
        methods = {line.m for line in recording if line.k == "call"}
        assert recording.damage == []
    assert {"Page.navigate", "Input.dispatchMouseEvent", "Page.captureScreenshot"} <= methods
