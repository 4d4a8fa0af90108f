"""Which peers there are, where they are installed, and how each is started. Data, and a look at the disk.

Rule: nothing is installed here (`scripts/peers.sh` does that, at locked versions, into folders that git ignores).
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

    `script` is below benchmarks/peers, `package` what has to be installed for it. `attaches` are those that are given
    a browser that runs already, because their own way of starting one does not take all flags.
    """

    script: str
    package: str
    node: bool = False
    attaches: bool = False

    def command(self) -> list[str]:
        """Return the command line, without the order."""
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
"""In the order of the report."""


def why_not(name: str, kind: Kind) -> str:
    """Return why this peer cannot be run here, or ""."""
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
