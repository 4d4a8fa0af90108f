"""The available peers, their locations, and their commands. Data, and checks of the disk.

Rule: nothing is installed here. `scripts/peers.sh` installs locked versions into folders that git ignores.
"""

from __future__ import annotations

import shutil
from pathlib import Path

import attrs

HERE = Path(__file__).resolve().parent.parent
PYTHON = HERE / ".peers" / "bin" / "python"
NODE_MODULES = HERE / "peers_node" / "node_modules"
INSTALL = "scripts/peers.sh installs it"


@attrs.frozen
class Kind:
    """How a peer is run.

    `script` is its file below benchmarks/peers, `package` its required package. Peers with `attaches` get a
    running browser, because their own start does not accept all flags.
    """

    script: str
    package: str
    node: bool = False
    attaches: bool = False

    def command(self) -> list[str]:
        """Return the command line without the order."""
        program = shutil.which("node") or "node" if self.node else str(PYTHON)
        return [program, str(HERE / "peers" / self.script)]


PEERS: dict[str, Kind] = {
    "playwright": Kind("playwright_peer.py", "playwright"),
    "puppeteer": Kind("puppeteer_peer.mjs", "puppeteer-core", node=True),
    "selenium": Kind("selenium_peer.py", "selenium"),
    "nodriver": Kind("nodriver_peer.py", "nodriver", attaches=True),
    "zendriver": Kind("nodriver_peer.py", "zendriver", attaches=True),
    "pydoll": Kind("pydoll_peer.py", "pydoll"),
}
"""The peers in the order of the report."""


@attrs.frozen
class McpServer:
    """How another MCP server is run: the script of its package, and its options.

    `executable` is the option for the browser.
    """

    package: str
    script: str
    options: tuple[str, ...]
    executable: str


MCP_SERVERS: dict[str, McpServer] = {
    "playwright-mcp": McpServer(
        "@playwright/mcp",
        "@playwright/mcp/cli.js",
        ("--headless", "--isolated", "--no-sandbox"),
        "--executable-path",
    ),
    "chrome-devtools-mcp": McpServer(
        "chrome-devtools-mcp",
        "chrome-devtools-mcp/build/src/bin/chrome-devtools-mcp.js",
        ("--headless", "--isolated", "--no-performance-crux", "--chromeArg=--no-sandbox"),
        "--executablePath",
    ),
}
"""Servers compared with the engine's, in the order of the report."""


def why_no_server(name: str) -> str:
    """Return why this server cannot run here, or ""."""
    if shutil.which("node") is None:
        return "not installed here: there is no Node.js"
    found = (NODE_MODULES / MCP_SERVERS[name].script).exists()
    return "" if found else f"not installed here: {name} ({INSTALL})"


def why_not(name: str, kind: Kind) -> str:
    """Return why this peer cannot run here, or ""."""
    script = HERE / "peers" / kind.script
    if not script.exists():
        return f"not here: there is no {script.relative_to(HERE.parent)}"
    if kind.node:
        if shutil.which("node") is None:
            return "not installed here: there is no Node.js"
        found = (NODE_MODULES / kind.package).exists()
    else:
        found = any(PYTHON.parent.parent.glob(f"lib/python*/site-packages/{kind.package}"))
    return "" if found else f"not installed here: {name} ({INSTALL})"
