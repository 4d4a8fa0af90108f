"""One shell command with a running browser: a click, a snapshot of 100 rows, and the client's start.

Rule: a turn is the whole program, from start to end, with its output read. The engine's side is the installed script;
the other is agent-browser's native program, which also uses a background process. The client's start is a command
that the service answers from memory.
"""

from __future__ import annotations

import os
import platform
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from contextlib import suppress
from functools import partial
from pathlib import Path

import attrs
import trio

from benchmarks.harness.bench import Bench, Case
from benchmarks.harness.peers import INSTALL, NODE_MODULES
from benchmarks.harness.programs import Cannot

PEER = "agent-browser"
OUR_PROGRAM = (str(Path(sys.executable).parent / "cdpengine"),)
ROWS = 100
PATIENCE = 30.0
PAUSE = 0.25
"""Pause in seconds. Effects of the last click wait for Chrome's next frame, which comes within this time."""
COUNTING = "clicks = 0; addEventListener('click', () => clicks++, true); 1"
_ARCHITECTURES = {"x86_64": "x64", "aarch64": "arm64"}


@attrs.define(eq=False)
class Shell:
    """One side: its program and its environment. `refusal` is the reason of a program that cannot take part."""

    program: tuple[str, ...]
    environment: Mapping[str, str]
    close_words: tuple[str, ...] = ("close",)
    refusal: str = ""
    ref: str = ""

    def run(self, *arguments: str) -> str:
        if self.refusal:
            raise Cannot(self.refusal)
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

    def open(self, bench: Bench) -> None:
        """Open the page of rows with counted clicks, and find the ref of a button."""
        self.run("open", f"{bench.site}/rows/{ROWS}")
        self.run("eval", COUNTING)
        found = re.search(rf'button "Buy {ROWS // 2}" \[ref=(e\d+)', self.run("snapshot"))
        if found is None:
            raise Cannot("its snapshot shows no ref of the button")
        self.ref = found[1]

    def close(self) -> None:
        with suppress(Cannot):
            self.run(*self.close_words)

    async def click(self, times: int, pause: float) -> list[float]:
        """Return the milliseconds of clicks on the ref, verified by the page, with a pause before each."""
        before = int(self.run("eval", "clicks"))
        taken = await self.timed(times, "click", f"@{self.ref}", pause=pause)
        clicked = int(self.run("eval", "clicks")) - before
        if clicked != times:
            raise Cannot(f"{times} clicks, and the page counted {clicked}")
        return taken

    async def timed(self, times: int, *arguments: str, pause: float = 0) -> list[float]:
        taken = []
        for _ in range(times):
            await trio.sleep(pause)
            started = time.perf_counter()
            self.run(*arguments)
            taken.append((time.perf_counter() - started) * 1000)
        return taken


def peer_program() -> Path:
    architecture = _ARCHITECTURES.get(platform.machine(), platform.machine())
    return NODE_MODULES / PEER / "bin" / f"{PEER}-{sys.platform}-{architecture}"


def find_sides(bench: Bench, folder: str) -> tuple[Shell, Shell]:
    ours = {**os.environ, "XDG_RUNTIME_DIR": folder, "CDPENGINE_BROWSER": bench.executable}
    for name in ("CDPENGINE_SESSION", "PYTHONDONTWRITEBYTECODE"):
        ours.pop(name, None)  # installed modules are compiled
    theirs = {
        **os.environ,
        "AGENT_BROWSER_SOCKET_DIR": folder,
        "AGENT_BROWSER_EXECUTABLE_PATH": bench.executable,
        "AGENT_BROWSER_ARGS": "\n".join(bench.flags),
        "AGENT_BROWSER_SESSION": "bench",
    }
    program = peer_program()
    refusal = "" if os.access(program, os.X_OK) else f"not installed here: {PEER} ({INSTALL})"
    return Shell(OUR_PROGRAM, ours, ("close", "--all")), Shell((str(program),), theirs, refusal=refusal)


async def run(bench: Bench) -> None:
    times = 3 if bench.quick else 6
    with tempfile.TemporaryDirectory(prefix="shell-", dir="/tmp") as folder:
        engine, peer = find_sides(bench, folder)
        sides = {"engine": engine, PEER: peer}
        try:
            engine.open(bench)
            try:
                peer.open(bench)
            except Cannot as reason:
                peer.refusal = str(reason)
            for variant, pause in (("click", 0.0), ("click, with a pause before it", PAUSE)):
                clicks = {name: partial(side.click, times, pause) for name, side in sides.items()}
                await bench.turns(clicks, variant, unit="ms")
            looks = {name: partial(side.timed, times, "snapshot") for name, side in sides.items()}
            await bench.turns(looks, f"snapshot of {ROWS} rows", unit="ms")
            interpreter = Shell((sys.executable,), dict(os.environ))
            own = {
                "engine": partial(engine.timed, times, "sessions"),
                "floor: the interpreter alone": partial(interpreter.timed, times, "-c", "pass"),
            }
            await bench.turns(own, "the client's own start", unit="ms")
        finally:
            engine.close()
            peer.close()


CASE = Case("shell", "One command of a shell, beside agent-browser", run, 40, 15)
