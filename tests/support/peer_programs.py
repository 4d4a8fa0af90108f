"""Programs of other protocol clients (tests/chrome/clients), as commands. Tests skip missing clients."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

import pytest
import trio

ROOT = Path(__file__).parents[2]
CLIENTS = ROOT / "tests/chrome/clients"
NODE_PEERS = ROOT / "benchmarks/peers_node"
PYTHON_PEERS = ROOT / "benchmarks/.peers"
BROWSERLESS = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "cdpengine-peers/browserless"

PACKAGES = {
    "cri": "chrome-remote-interface", "puppeteer": "puppeteer-core", "puppeteer_more": "puppeteer-core",
    "playwright": "playwright", "playwright_more": "playwright", "nodriver": "nodriver", "pydoll": "pydoll",
    "selenium": "selenium",
}  # fmt: skip
"""The package that each program needs."""


def command(name: str, folder: Path) -> Sequence[str]:
    """Return the command of a program, to which the caller adds an endpoint and a URL.

    `folder` is for its files.
    """
    package = PACKAGES[name]
    script = CLIENTS / f"{name}_client.mjs"
    if script.exists():
        node = shutil.which("node")
        if node is None:
            pytest.skip("node is not installed")
        if not (NODE_PEERS / "node_modules" / package).is_dir():
            pytest.skip(f"{package} is not installed: make test-peers")
        # An ES module looks for its packages in its own folder.
        shutil.copy(script, folder / script.name)
        if not (folder / "node_modules").exists():
            (folder / "node_modules").symlink_to(NODE_PEERS / "node_modules")
        return [node, str(folder / script.name)]
    if not any((PYTHON_PEERS / "lib").glob(f"python3*/site-packages/{package}")):
        pytest.skip(f"{package} is not installed: make test-peers")
    if name == "selenium" and shutil.which("chromedriver") is None:
        pytest.skip("chromedriver is not installed: make test-peers")
    return [str(PYTHON_PEERS / "bin/python"), str(CLIENTS / f"{name}_client.py")]


async def run_program(
    name: str, folder: Path, endpoint: str, url: str, seconds: float = 60
) -> subprocess.CompletedProcess[bytes]:
    """Run a program to its end, in an environment without proxies."""
    environment = {key: value for key, value in os.environ.items() if "proxy" not in key.lower()}
    with trio.fail_after(seconds):
        return await trio.run_process(
            [*command(name, folder), endpoint, url],
            env=environment | {"SE_OFFLINE": "true"},  # otherwise Selenium looks for newer drivers
            capture_stdout=True,
            capture_stderr=True,
            check=False,
        )
