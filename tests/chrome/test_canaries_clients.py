"""No secret that Playwright, Puppeteer or the console enters is in their recordings."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from urllib.parse import quote

import pytest
import trio
from canaries import Canaries, Finder, report
from canary_run import site_of
from canary_ways import prepare
from pytest_httpserver import HTTPServer

from cdpengine import debug
from cdpengine.debug.recording.recorder import record_traffic

pytestmark = pytest.mark.chrome

ROOT = Path(__file__).parents[2]
CLIENTS = Path(__file__).parent / "clients"
NODE_PEERS = ROOT / "benchmarks/peers_node"
PYTHON_PEERS = ROOT / "benchmarks/.peers/bin/python"

EXTRA = ("state_restored_item", "upload_content", "set_content_password")
ENTERED = (
    "fill", "fill_textarea", "fill_password", "fill_short", "fill_live", "type_keys", "type_live", "keyboard_insert",
    "keyboard_type", "upload", "upload_content", "prompt", "evaluate_argument", "evaluate_argument_inside",
    "evaluate_returned", "evaluate_handle", "exposed_argument", "exposed_result", "extra_headers", "route_text",
    "route_posted", "cookie_api", "init_script", "goto_query", "goto_hash", "http_credentials", "set_content_password",
)  # fmt: skip
"""The strings that both clients enter. Each must be in the unredacted recording."""


def puppeteer(folder: Path) -> list[str]:
    node = shutil.which("node")
    if node is None:
        pytest.skip("Node.js is not installed")
    if not (NODE_PEERS / "node_modules/puppeteer-core").is_dir():
        pytest.skip("puppeteer-core is not installed: make test-peers")
    # An ES module looks for packages in its own folder.
    (folder / "client.mjs").write_text((CLIENTS / "canary_puppeteer.mjs").read_text())
    (folder / "node_modules").symlink_to(NODE_PEERS / "node_modules")
    return [node, str(folder / "client.mjs")]


def playwright(_: Path) -> list[str]:
    if not PYTHON_PEERS.exists():
        pytest.skip("Playwright is not installed: make test-peers")
    return [str(PYTHON_PEERS), str(CLIENTS / "canary_playwright.py")]


@pytest.mark.peers
@pytest.mark.timeout(120)
@pytest.mark.parametrize("client", [puppeteer, playwright], ids=lambda client: client.__name__)
async def test_no_canary_of_a_client_is_recorded(
    client: Callable[[Path], list[str]], shared_endpoint: str, httpserver: HTTPServer, tmp_path: Path
) -> None:
    command = client(tmp_path)
    canaries = Canaries()
    prepare(canaries)
    for name in EXTRA:
        canaries.make(name, "token" if name == "set_content_password" else "text")
    recording, everything = tmp_path / "traffic.jsonl", tmp_path / "everything.jsonl"
    async with site_of(httpserver, canaries) as site, debug.proxy(shared_endpoint, record=recording) as proxy:
        texts = {name: canary.text for name, canary in canaries.all.items()}
        given = {
            "url": site.url,
            "elsewhere": site.elsewhere,
            "secrets": texts,
            "quoted": {name: quote(text, safe="") for name, text in texts.items()},
            "folder": str(tmp_path),
            "cookie": {"expires": -1, "httpOnly": False, "secure": False, "sameSite": "Lax"},
        }
        (tmp_path / "given.json").write_text(json.dumps(given))
        environment = {name: value for name, value in os.environ.items() if "proxy" not in name.lower()}
        async with record_traffic(proxy.instruments, everything, unredacted=True, limit=0):
            with trio.fail_after(80):
                done = await trio.run_process(
                    [*command, proxy.endpoint, str(tmp_path / "given.json")],
                    env=environment, capture_stdout=True, capture_stderr=True, check=False,
                )  # fmt: skip
    assert done.returncode == 0, done.stderr.decode()[-3000:]
    assert json.loads(done.stdout) == []
    finder = Finder(canaries.all.values())
    assert set(ENTERED) - finder.names(everything.read_bytes()) == set()
    leaks = finder.find(recording.read_bytes())
    assert not leaks, f"{len({leak.name for leak in leaks})} ways in leak:\n{report({'recording': leaks})}"


SCRIPT = """!new {page}
!snapshot
!type e1 {typed}
Input.insertText text={inserted}
!evaluate document.cookie = "sid={cookie}"
Network.setExtraHTTPHeaders headers={{"Authorization":"Bearer {header}"}}
Network.setCookie name=a value={set_cookie} url={page}
!open {page}?token={query}
Input.insertText text="{failing}" nonsense={failing}
"""


def test_no_canary_of_the_console_is_recorded(
    shared_endpoint: str, httpserver: HTTPServer, tmp_path: Path
) -> None:
    httpserver.expect_request("/").respond_with_data("<input aria-label=Name>", content_type="text/html")
    canaries = Canaries()
    names = ("typed", "inserted", "cookie", "header", "set_cookie", "query", "failing")
    texts = {name: canaries.make(name, "token").text for name in names}
    recordings = [tmp_path / "redacted.jsonl", tmp_path / "everything.jsonl"]
    printed = []
    for recording, more in zip(recordings, ([], ["--unredacted"]), strict=True):
        done = subprocess.run(
            [sys.executable, "-m", "cdpengine", "repl", shared_endpoint, "--record", str(recording), *more],
            input=SCRIPT.format(page=httpserver.url_for("/"), **texts).encode(),
            capture_output=True, timeout=60, check=False,
        )  # fmt: skip
        printed.append(done.stderr)
    finder = Finder(canaries.all.values())
    assert finder.names(recordings[1].read_bytes()) >= set(names) - {"failing"}
    leaks = {"recording": finder.find(recordings[0].read_bytes()), "errors": finder.find(printed[0])}
    assert not any(leaks.values()), f"ways in leak:\n{report(leaks)}"
