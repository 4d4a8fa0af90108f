"""One shell command with a running browser: a click, a snapshot of 100 rows, and the client's start.

Rule: a turn is the whole program as started by a shell, from start to end, with its output read. Both sides have a
session with the same page, which counts the clicks. The engine's side is the installed script, on Python. The
other is agent-browser's native program, which also uses a background process. If it is not installed globally, npm
adds a launcher on Node.js, which is a separate side. The client's start is a command that the service answers from
memory.
"""

from __future__ import annotations

import json
import os
import platform
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path

import attrs
import trio

from benchmarks.harness.bench import Bench, Cannot, Case, Turn
from benchmarks.harness.installed import INSTALL, NODE_MODULES

NAME = "shell"
PEER = "agent-browser"
LAUNCHED = f"{PEER}: by Node.js"
ROWS = 100
PATIENCE = 30.0
PAUSE = 0.25
"""Pause in seconds. Effects of the last click wait for Chrome's next frame, which comes within this time."""
COUNTING = "clicks = 0; addEventListener('click', () => clicks++, true); 1"
_ARCHITECTURES = {"x86_64": "x64", "aarch64": "arm64"}


@attrs.frozen
class Shell:
    """One side: its program, its environment, and its command syntax."""

    name: str
    program: tuple[str, ...]
    environment: Mapping[str, str]
    ref: str = ""

    def run(self, *arguments: str) -> str:
        """Run one command and return its output. Raises Cannot with a line of its output on failure."""
        done = subprocess.run(
            [*self.program, *arguments],
            env=self.environment,
            capture_output=True,
            text=True,
            check=False,
            timeout=PATIENCE,
            stdin=subprocess.DEVNULL,
        )
        if done.returncode:
            words = (done.stderr or done.stdout).strip().splitlines()
            raise Cannot(f"{arguments[0]}: {words[0] if words else done.returncode}")
        return done.stdout

    def timed(self, *arguments: str) -> float:
        """Return the milliseconds of one command."""
        started = time.perf_counter()
        self.run(*arguments)
        return (time.perf_counter() - started) * 1000

    def opened(self, bench: Bench) -> Shell:
        """Open the page of rows with counted clicks, and return the side with the ref of a button."""
        self.run("open", f"{bench.site}/rows/{ROWS}")
        self.run("eval", COUNTING)
        found = re.search(rf'button "Buy {ROWS // 2}" \[ref=(e\d+)', self.run("snapshot"))
        if found is None:
            raise Cannot("its snapshot shows no ref of the button")
        return attrs.evolve(self, ref=found[1])

    def clicks(self) -> int:
        """Return the number of clicks counted by the page."""
        return int(self.run("eval", "clicks"))


def our_program() -> tuple[str, ...]:
    """Return the installed command."""
    return (str(Path(sys.executable).parent / "cdpengine"),)


def peer_program() -> Path:
    """Return the native program for this machine. Raises Cannot if it is not installed."""
    architecture = _ARCHITECTURES.get(platform.machine(), platform.machine())
    path = NODE_MODULES / PEER / "bin" / f"{PEER}-{sys.platform}-{architecture}"
    if not os.access(path, os.X_OK):
        raise Cannot(f"not installed here: {PEER} ({INSTALL})")
    return path


def find_sides(bench: Bench, folder: str) -> tuple[Shell, Shell | Cannot]:
    """Return both sides, with their files in `folder`. The peer may be the reason for its absence."""
    ours = {**os.environ, "XDG_RUNTIME_DIR": folder, "CDPENGINE_BROWSER": bench.executable}
    for name in ("CDPENGINE_SESSION", "PYTHONDONTWRITEBYTECODE"):
        ours.pop(name, None)  # installed modules are compiled
    engine = Shell("engine", our_program(), ours)
    theirs = {
        **os.environ,
        "AGENT_BROWSER_SOCKET_DIR": folder,
        "AGENT_BROWSER_EXECUTABLE_PATH": bench.executable,
        "AGENT_BROWSER_ARGS": "\n".join(bench.flags),
        "AGENT_BROWSER_SESSION": "bench",
    }
    try:
        return engine, Shell(PEER, (str(peer_program()),), theirs)
    except Cannot as reason:
        return engine, reason


def clicking(shell: Shell | Cannot, times: int, pause: float = 0) -> Turn:
    """Return a turn of clicks on a ref, verified by the page, with `pause` seconds before each."""

    async def turn() -> list[float]:
        if isinstance(shell, Cannot):
            raise shell
        await trio.lowlevel.checkpoint()
        before = shell.clicks()
        taken = []
        for _ in range(times):
            if pause:
                await trio.sleep(pause)
            taken.append(shell.timed("click", f"@{shell.ref}"))
        if shell.clicks() != before + times:
            raise Cannot(f"{times} clicks, and the page counted {shell.clicks() - before}")
        return taken

    return turn


def reading(shell: Shell | Cannot, times: int) -> Turn:
    """Return a turn of snapshots of the whole page."""

    async def turn() -> list[float]:
        if isinstance(shell, Cannot):
            raise shell
        await trio.lowlevel.checkpoint()
        return [shell.timed("snapshot") for _ in range(times)]

    return turn


def asking(shell: Shell, times: int) -> Turn:
    """Return a turn of a command that the service answers from memory."""

    async def turn() -> list[float]:
        await trio.lowlevel.checkpoint()
        assert json.loads(shell.run("sessions", "--json"))["ok"]
        return [shell.timed("sessions") for _ in range(times)]

    return turn


def starting(times: int) -> Turn:
    """Return a turn of the interpreter's start, the lower bound for clients in Python."""
    interpreter = Shell("floor", (sys.executable,), dict(os.environ))

    async def turn() -> list[float]:
        await trio.lowlevel.checkpoint()
        return [interpreter.timed("-c", "pass") for _ in range(times)]

    return turn


async def run(bench: Bench) -> None:
    """Measure."""
    times = 3 if bench.quick else 6
    with tempfile.TemporaryDirectory(prefix="shell-", dir="/tmp") as folder:
        engine, peer = find_sides(bench, folder)
        try:
            engine = engine.opened(bench)
            if isinstance(peer, Shell):
                try:
                    peer = peer.opened(bench)
                except Cannot as reason:
                    peer = reason
            launcher = peer
            if isinstance(peer, Shell):
                launcher = attrs.evolve(peer, program=(str(NODE_MODULES / ".bin" / PEER),))
            sides = {
                "engine": clicking(engine, times),
                PEER: clicking(peer, times),
                LAUNCHED: clicking(launcher, times),
            }
            await bench.turns(NAME, sides, unit="ms", variant="click")
            sides = {
                "engine": clicking(engine, times, PAUSE),
                PEER: clicking(peer, times, PAUSE),
            }
            await bench.turns(NAME, sides, unit="ms", variant="click, with a pause before it")
            sides = {"engine": reading(engine, times), PEER: reading(peer, times)}
            await bench.turns(NAME, sides, unit="ms", variant=f"snapshot of {ROWS} rows")
            own = {"engine": asking(engine, times), "floor: the interpreter alone": starting(times)}
            await bench.turns(NAME, own, unit="ms", variant="the client's own start")
        finally:
            engine.run("close", "--all")
            if isinstance(peer, Shell):
                peer.run("close")


CASE = Case(NAME, "One command of a shell, beside agent-browser", run, 40, 15)
