"""Puppeteer and Playwright, unmodified, through the proxy. Skipped where they are not installed (`make test-peers`)."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
import trio
import trio.testing
from pytest_httpserver import HTTPServer

from cdpengine import debug

ROOT = Path(__file__).parents[2]
CLIENTS = Path(__file__).parent / "clients"
NODE_PEERS = ROOT / "benchmarks/peers_node"
PYTHON_PEERS = ROOT / "benchmarks/.peers/bin/python"

PAGE = """<!doctype html><title>Hall</title><input id=name><button id=greet onclick="
  const p = document.createElement('p'); p.id = 'greeting';
  p.textContent = 'Hello ' + document.getElementById('name').value; document.body.append(p)">Greet</button>"""
SEEN = {"greeting": "Hello Ada", "title": "Hall", "sum": 5, "screenshot": True, "pages": 2}


def puppeteer() -> Sequence[str]:
    node = shutil.which("node")
    if node is None:
        pytest.skip("there is no node on this machine")
    if not (NODE_PEERS / "node_modules/puppeteer-core").is_dir():
        pytest.skip("puppeteer-core is not installed: make test-peers")
    return [node, "client.mjs"]


def playwright() -> Sequence[str]:
    if not PYTHON_PEERS.exists():
        pytest.skip("Playwright is not installed: make test-peers")
    return [str(PYTHON_PEERS), str(CLIENTS / "playwright_client.py")]


@pytest.mark.peers
@pytest.mark.parametrize("client", [puppeteer, playwright], ids=lambda client: client.__name__)
async def test_a_client_runs_unmodified(
    client: Callable[[], Sequence[str]], shared_endpoint: str, httpserver: HTTPServer, tmp_path: Path
) -> None:
    command = client()
    if command[0].endswith("node"):
        # An ES module looks for its packages beside itself.
        script = tmp_path / "client.mjs"
        script.write_text((CLIENTS / "puppeteer_client.mjs").read_text())
        (tmp_path / "node_modules").symlink_to(NODE_PEERS / "node_modules")
        command = [command[0], str(script)]
    httpserver.expect_request("/hall").respond_with_data(PAGE, content_type="text/html")
    url = httpserver.url_for("/hall")
    async with debug.proxy(shared_endpoint, record=tmp_path / "traffic.jsonl") as proxy:
        environment = {name: value for name, value in os.environ.items() if "proxy" not in name.lower()}
        with trio.fail_after(60):
            done = await trio.run_process(
                [*command, proxy.endpoint, url],
                env=environment,
                capture_stdout=True,
                capture_stderr=True,
                check=False,
            )
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


def test_the_versions_are_locked() -> None:
    lock = json.loads((NODE_PEERS / "package-lock.json").read_text())
    wanted = json.loads((NODE_PEERS / "package.json").read_text())["dependencies"]
    for name, version in wanted.items():
        assert lock["packages"][f"node_modules/{name}"]["version"] == version
