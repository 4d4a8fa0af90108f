"""Peers: other engines in separate processes, which perform one task on command and report its duration.

Rule: a peer that times out or ends is killed. For the rest of the case it raises Cannot with the reason; for the next
case it is restarted. `scripts/peers.sh` installs locked versions into folders that git ignores.
"""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import attrs
import trio

from benchmarks.harness.programs import Cannot, Program, say
from benchmarks.site import ROOT

PYTHON = ROOT / "benchmarks/.peers/bin/python"
NODE_MODULES = ROOT / "benchmarks/peers_node/node_modules"
INSTALL = "scripts/peers.sh installs it"

READY_PATIENCE = 40.0  # timeout of a peer's start, in seconds
PATIENCE = 45.0  # default timeout of a peer's task, in seconds
PEER_NAMES = ("playwright", "puppeteer", "selenium", "nodriver", "zendriver", "pydoll")
"""The peers, in the order of the report. Each has a program of its name, except the fork zendriver."""

PACKAGES = {"puppeteer": "puppeteer-core"}  # packages with other names than their peers
MCP_SERVERS = {
    "playwright-mcp": (
        "@playwright/mcp/cli.js", "--headless", "--isolated", "--no-sandbox", "--executable-path",
    ),
    "chrome-devtools-mcp": (
        "chrome-devtools-mcp/build/src/bin/chrome-devtools-mcp.js", "--headless", "--isolated",
        "--no-performance-crux", "--chromeArg=--no-sandbox", "--executablePath",
    ),
}  # fmt: skip
"""MCP servers: each one's script and its options. The browser follows the last option."""


def is_peer(side: str) -> bool:
    """Whether a side belongs to a peer: "playwright", or "playwright: variant"."""
    return side.partition(":")[0] in (*PEER_NAMES, *MCP_SERVERS)


def node() -> str:
    """Return the program of Node.js. Raises Cannot if it is missing."""
    found = shutil.which("node")
    if found is None:
        raise Cannot("not installed here: there is no Node.js")
    return found


def peer_command(name: str) -> list[str]:
    """Return the command of the peer without its order. Raises Cannot unless its package is installed."""
    package = PACKAGES.get(name, name)
    program = f"{'nodriver' if name == 'zendriver' else name}_peer"
    if name == "puppeteer":
        command, found = [node(), f"benchmarks/peers/{program}.mjs"], (NODE_MODULES / package).exists()
    else:
        command = [str(PYTHON), "-m", f"benchmarks.peers.{program}"]
        found = any(PYTHON.parents[1].glob(f"lib/python*/site-packages/{package}"))
    if not found:
        raise Cannot(f"not installed here: {name} ({INSTALL})")
    return command


@attrs.define(eq=False)
class Peer:
    """A peer that is running, or the reason why it is not (`refusal`). `version` is its own description."""

    name: str
    version: str = ""
    refusal: str = ""
    _program: Program | None = None

    async def start(self, command: list[str]) -> None:
        try:
            self._program = await Program.start(command)
            answer = await self._answer(READY_PATIENCE, "its start")
        except Cannot as reason:
            self.refusal = str(reason)
        else:
            self.version = answer["version"]

    @property
    def is_running(self) -> bool:
        return self._program is not None

    async def tell(self, do: str, *, patience: float = PATIENCE, **order: object) -> dict[str, Any]:
        """Send a task and return the answer. Raises Cannot with the peer's reason, or that of its failure."""
        if self.refusal or self._program is None:
            raise Cannot(self.refusal or "was not started")
        return await self._answer(patience, f"“{do}”", {"do": do, **order})

    async def _answer(
        self, patience: float, what: str, order: dict[str, object] | None = None
    ) -> dict[str, Any]:
        assert self._program is not None
        try:
            async with self._program.answering(what, patience):
                if order is not None:
                    await self._program.send(order)
                answer = await self._program.receive()
        except trio.Cancelled:
            self.refusal = f"was interrupted at {what}"
            raise
        except Cannot as reason:
            self.refusal = str(reason)
            await self.end(patience=0)
            raise
        if "cannot" in answer:
            raise Cannot(answer["cannot"])
        return answer

    async def end(self, patience: float | None = None) -> None:
        """End it and its browser: within a moment, or within `patience` seconds."""
        if self._program is not None:
            program, self._program = self._program, None
            await (program.end() if patience is None else program.end(patience))


@asynccontextmanager
async def engine_peer(executable: str, site: str, side: str = "engine") -> AsyncIterator[Peer]:
    """Run the engine, or a bare pipe, in a separate process, so that its memory can be measured."""
    peer = Peer("engine")
    command = [sys.executable, "-m", "benchmarks.peers.engine_peer", side, executable, site]
    try:
        await peer.start(command)
        if peer.refusal:
            raise RuntimeError(f"the engine's process {peer.refusal}")
        yield peer
    finally:
        await peer.end()


@attrs.define(eq=False)
class Peers:
    """The peers of one run. `names` are the requested ones, in order. `known` have been started once."""

    names: tuple[str, ...]
    executable: str
    flags: tuple[str, ...]
    site: str
    known: dict[str, Peer] = attrs.field(factory=dict)

    async def ready(self) -> dict[str, Peer]:
        peers = {name: self.known.setdefault(name, Peer(name)) for name in self.names}
        async with trio.open_nursery() as nursery:
            for peer in peers.values():
                if not (peer.is_running or peer.refusal):
                    nursery.start_soon(self._start, peer)
        return peers

    async def _start(self, peer: Peer) -> None:
        order = {"executable": self.executable, "flags": self.flags, "site": self.site}
        try:
            await peer.start([*peer_command(peer.name), json.dumps(order), peer.name])
        except Cannot as reason:
            peer.refusal = str(reason)
        if peer.refusal:
            say(f"{peer.name} {peer.refusal}")

    async def close(self) -> None:
        """End all running peers. The next case restarts those that have been running."""
        async with trio.open_nursery() as nursery:
            for peer in self.known.values():
                nursery.start_soon(peer.end)
        for peer in self.known.values():
            if peer.version:
                peer.refusal = ""
