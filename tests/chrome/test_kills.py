"""Recording programs that are killed at random moments: each recording is readable, and nothing is left
behind.

CDPENGINE_KILLS sets the number of moments for each signal and format. The default is 1 for each signal with
one format, or 2 with --run-slow. The moments are spread over start-up, running and ending, and over the ways
to record: `cdpengine evaluate --record`, a program with `launch` and `debug.record`, and `cdpengine proxy
--record` in front of a scripted peer.
"""

from __future__ import annotations

import itertools
import math
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager, suppress
from pathlib import Path
from typing import Literal

import attrs
import pytest
import trio
from rounds import rounds

from cdpengine._protocol.session import open_connection
from cdpengine._protocol.websocket_transport import open_websocket
from cdpengine.debug import open_recording
from cdpengine.errors import EngineError
from cdpengine.testing import ScriptedPeer

ASKED = os.environ.get("CDPENGINE_KILLS")
pytestmark = [
    pytest.mark.chrome,
    pytest.mark.timeout(0 if ASKED else 300),
    pytest.mark.skipif(sys.platform == "win32", reason="Windows lacks these signals"),
]

MOMENTS = int(ASKED or rounds(1, 2))
AT_ONCE = 2
BOUND = 60
ROOT = Path(__file__).parents[2]
ENDINGS = (signal.SIGTERM, signal.SIGHUP, signal.SIGINT)
SIGNALS = (*ENDINGS, signal.SIGKILL)
COMBINATIONS = list(enumerate(itertools.product(SIGNALS, ("jsonl", "jsonl.zst"))))
FEW = (0, 2, 5, 7)
"""Combinations with each signal once, each format twice, and each way with a browser twice."""

PAGE = "data:text/html,<script>setInterval(() => console.log('x'.repeat(500), performance.now()), 5)</script>"
PROGRAM = f"""
import sys, trio, cdpengine, cdpengine.debug

async def main():
    async with cdpengine.launch(transport=sys.argv[2]) as browser:
        async with cdpengine.debug.record(browser, sys.argv[1]):
            page = await browser.new_page({PAGE!r})
            for number in range(60):
                await page.evaluate("1")

trio.run(main)
"""
SWEEPER = """
import os, sys, trio, cdpengine

async def main():
    with trio.fail_after(30):
        async with cdpengine.launch() as browser:
            while len(os.listdir(sys.argv[1])) > 1:  # its own profile
                await trio.sleep(0.05)

trio.run(main)
"""


@attrs.frozen
class Run:
    """A program to end with signal `number`, `seconds` after its start or after the start of its recording."""

    number: signal.Signals
    seconds: float
    counted_from: Literal["start", "recording"]
    recording: Path
    folder: Path  # for its temporary files

    async def start(self, *command: str) -> trio.Process:
        with (self.folder.with_suffix(".out")).open("wb") as output:
            return await trio.lowlevel.open_process(
                [sys.executable, *command],
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                env={**os.environ, "TMPDIR": str(self.folder), "PYTHONPATH": str(ROOT)},
                start_new_session=True,
            )

    def output(self) -> str:
        return self.folder.with_suffix(".out").read_text()


Way = Callable[[Run], AbstractAsyncContextManager[trio.Process]]


# --- the ways ------------------------------------------------------------------------------------------------


@asynccontextmanager
async def evaluate(run: Run) -> AsyncIterator[trio.Process]:
    expression = "new Promise(done => setTimeout(done, 300))"
    yield await run.start("-m", "cdpengine", "evaluate", PAGE, expression, "--record", str(run.recording))


@asynccontextmanager
async def program(run: Run) -> AsyncIterator[trio.Process]:
    transport = random.choice(["websocket", "pipe"])
    yield await run.start("-c", PROGRAM, str(run.recording), transport)


@asynccontextmanager
async def proxy(run: Run) -> AsyncIterator[trio.Process]:
    """A proxy whose client sends many messages and then a request to end, so that some signals arrive while
    it ends.
    """
    async with ScriptedPeer() as peer, trio.open_nursery() as nursery:
        peer.on("A.a", lambda request: {"text": "some text " * request.params["n"]})
        process = await run.start(
            "-m", "cdpengine", "proxy", "--listen", "0", "--quiet", "--upstream", peer.endpoint,
            "--record", str(run.recording),
        )  # fmt: skip

        async def talk() -> None:
            while "(ws://" not in run.output():  # noqa: ASYNC110 - a file has no event
                await trio.sleep(0.005)
            endpoint = run.output().partition("(")[2].partition(")")[0]
            with suppress(EngineError):
                async with open_websocket(endpoint) as transport, open_connection(transport) as connection:
                    for number in range(300):
                        await connection.root.call("A.a", n=number)
            process.send_signal(random.choice(ENDINGS))

        nursery.start_soon(talk)
        yield process
        nursery.cancel_scope.cancel()


# --- leftovers -----------------------------------------------------------------------------------------------


def processes_of(folder: Path) -> list[str]:
    """Return the command lines of live processes with `folder` in them or in their environment."""
    found = []
    for process in Path("/proc").iterdir():
        if process.name.isdecimal():
            with suppress(OSError):
                command = (process / "cmdline").read_bytes()
                if command and str(folder).encode() in command + (process / "environ").read_bytes():
                    found.append(command.decode()[:100])
    return found


async def complaints(run: Run, status: int) -> AsyncIterator[str]:
    """Return the faults in the leftovers of an ended program."""
    was_killed = run.number == signal.SIGKILL
    if run.recording.exists():
        try:
            with open_recording(run.recording) as recording:
                numbers = [line.n for line in recording]
            if numbers != list(range(1, len(numbers) + 1)):
                yield "lines of the recording are missing"
            if len(recording.damage) > 1:
                yield f"the recording is damaged: {recording.damage}"
            if not was_killed and (recording.damage or not recording.closed_in_order):
                yield f"the recording has no last line: {recording.all_damage}"
        except EngineError as error:
            yield f"the recording cannot be read: {error}"
    # A program that is still loading ends like any other. Another signal also asks the proxy to end.
    signals = ENDINGS if run.folder.name.startswith("proxy") else [run.number]
    expected = {0, -run.number, *(128 + number for number in signals), *(-number for number in signals)}
    if run.number == signal.SIGINT and (not run.recording.exists() or run.folder.name.startswith("program")):
        # Python itself exits with this status if Ctrl-C arrives before it runs code. In a program, trio
        # raises Ctrl-C in any running task. In the task that reads a websocket it causes a connection loss.
        expected.add(1)
    if status not in expected:
        yield f"the exit status is {status}"
    with trio.move_on_after(5):
        while processes_of(run.folder):  # noqa: ASYNC110 - other programs have no event
            await trio.sleep(0.02)
    if found := processes_of(run.folder):
        yield f"processes are left: {found}"
    if was_killed and any(run.folder.iterdir()):
        sweeping = await run.start("-c", SWEEPER, str(run.folder))
        if await sweeping.wait() != 0:
            yield "the next launch did not sweep"
    if left := [path.name for path in run.folder.iterdir()]:
        yield f"files are left in the temporary folder: {left}"


async def pass_time(run: Run, process: trio.Process) -> None:
    """Wait for the run's moment, or for its end."""
    while (  # noqa: ASYNC110 - a file has no event
        run.counted_from == "recording" and not run.recording.exists() and process.poll() is None
    ):
        await trio.sleep(0.002)
    with trio.move_on_after(run.seconds):
        await process.wait()


async def measure(way: Way, run: Run) -> tuple[float, float]:
    """Run a program undisturbed. Return the seconds from start to recording, and from there to the end."""
    began = time.monotonic()
    appeared = math.inf

    async def note() -> None:
        nonlocal appeared
        while not run.recording.exists():  # noqa: ASYNC110 - a file has no event
            await trio.sleep(0.002)
        appeared = time.monotonic()

    async with trio.open_nursery() as nursery:
        nursery.start_soon(note)
        _, found = await end_at(way, run)
    assert not found
    return appeared - began, time.monotonic() - appeared


async def end_at(way: Way, run: Run) -> tuple[int, list[str]]:
    """Run a program and end it at its moment. Return its exit status and the faults in its leftovers."""
    run.folder.mkdir()
    with trio.fail_after(BOUND):
        async with way(run) as process:
            await pass_time(run, process)
            if process.returncode is None:
                process.send_signal(run.number)
            status = await process.wait()
    found = [each async for each in complaints(run, status)]
    return status, [f"{run}: {each}; its output is {run.output()[-2000:]!r}" for each in found]


def way_of(moment: int, combination: int) -> Way:
    """Return the way for a moment. Every third one is the way without a browser, which is the fastest."""
    return proxy if moment % 3 == 0 else (evaluate, program)[(moment + combination + combination // 2) % 2]


@pytest.mark.sample(4, start=1)
@pytest.mark.parametrize("way", [evaluate, program, proxy])
async def test_recording_of_killed_program_is_readable_and_nothing_is_left(way: Way, tmp_path: Path) -> None:
    name = way.__name__
    # A short path, and not below the other's, because socket paths are limited.
    short = Path(tempfile.mkdtemp(dir="/tmp"))
    wrong: list[str] = []
    seen: Counter[str] = Counter()
    whole = Run(signal.SIGTERM, math.inf, "start", tmp_path / "whole.jsonl", short / f"{name}-whole")
    starting, running = await measure(way, whole)
    limit = trio.CapacityLimiter(AT_ONCE)

    async def end_one(run: Run) -> None:
        async with limit:
            status, found = await end_at(way, run)
        wrong.extend(found)
        kind = "none" if not run.recording.exists() else "one"
        seen[f"{run.number.name}{run.recording.suffix}: status {status}, {kind} recording"] += 1

    async with trio.open_nursery() as nursery:
        for combination, (number, ending) in COMBINATIONS if ASKED else [COMBINATIONS[each] for each in FEW]:
            count = sum(way_of(each, combination) is way for each in range(MOMENTS))
            for each in range(count):
                # A quarter of the moments before the recording starts, the others spread over the rest.
                place = f"{name}-{number.name}-{ending[-3:]}-{each}"
                files = tmp_path / f"{place}.{ending}", short / place
                part = (each + random.random()) / count
                if part < 1 / 4:
                    run = Run(number, starting * 4 * part, "start", *files)
                else:
                    run = Run(number, running * (part - 1 / 4) / (3 / 4), "recording", *files)
                nursery.start_soon(end_one, run)
    for what, how_often in sorted(seen.items()):
        print(f"{name}: {what}: {how_often}")
    assert not wrong, f"{len(wrong)} of {sum(seen.values())}:\n" + "\n".join(wrong[:10])
    shutil.rmtree(short)
