"""Jobs for clusters, in a module that workers can import, and Dask clusters for tests."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import trio

import cdpengine
from cdpengine.cluster import BrowserCluster

SUPPORT = Path(__file__).parent
ROOT = SUPPORT.parent.parent


class NeedsTwoError(Exception):
    """An error that can be pickled but not unpickled: its arguments differ from those of its class."""

    def __init__(self, one: str, two: str) -> None:
        super().__init__(f"{one} and {two}")


async def work(page: cdpengine.Page, number: int) -> object:
    """Do the action of this number."""
    match number % 8:
        case 1:
            raise LookupError(f"number {number}")
        case 2:
            await page.evaluate("while (true) {}", timeout=0.2)
        case 3:
            return page  # a page cannot be pickled
        case 4:
            raise NeedsTwoError("a", "b")
        case 5:
            sys.exit(3)
    return await page.evaluate(f"{number} * 2")


async def worker_of(page: cdpengine.Page, _item: object) -> int:
    """Return the process id of the worker."""
    return os.getpid()


async def double(page: cdpengine.Page, number: int) -> int:
    return int(await page.evaluate(f"{number} * 2"))


async def results_of_all_kinds(page: cdpengine.Page, url: str) -> dict[str, object]:
    """Return the results of several page methods."""
    navigation = await page.goto(url)
    snapshot = await page.snapshot()
    outcome = await page.click(snapshot.find(role="button"))
    return {
        "navigation": navigation,
        "snapshot": snapshot,
        "outcome": outcome,
        "metrics": await page.measure.metrics(),
        "cookies": await page.context.storage.cookies(),
        "statistics": page.browser.statistics(),
        "value": await page.evaluate("new Map([[1, /a/g]])"),
    }


async def hang(page: cdpengine.Page, notes: str) -> None:
    """Note the start, then hang."""
    note(notes, "began")
    await page.evaluate("while (true) {}", timeout=60)


async def meet(page: cdpengine.Page, given: tuple[str, int]) -> int:
    """Wait until this many jobs run at the same time. Return the process id of the worker."""
    notes, count = given
    note(notes, "here")
    await wait_until_noted(Path(notes), count)
    return os.getpid()


async def note_and_double(page: cdpengine.Page, given: tuple[str, int]) -> int:
    """Note that the job started. The worker chosen to die dies once."""
    notes, number = given
    note(notes, str(number))
    deaths = Path(notes).with_suffix(".deaths")
    if number == 5 and not deaths.exists():
        deaths.touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return await double(page, number)


def note(notes: str, text: str) -> None:
    with Path(notes).open("a") as file:
        file.write(f"{text}\n")


def read_notes(notes: Path) -> list[str]:
    return notes.read_text().splitlines() if notes.exists() else []


async def wait_until_noted(notes: Path, count: int) -> None:
    """Wait for this many notes. Files are the only signal from these processes."""
    with trio.fail_after(40):
        while len(read_notes(notes)) < count:  # noqa: ASYNC110
            await trio.sleep(0.01)


async def leases_of(cluster: BrowserCluster) -> int:
    """Return the number of leased pages in the pools of all workers."""
    each = await cluster.statistics()
    return sum(browser.leases for pool in each.values() for browser in pool.browsers)


async def wait_until_free(cluster: BrowserCluster) -> float:
    """Wait until no page of any worker is leased. Return the elapsed time, in seconds."""
    begun = trio.current_time()
    with trio.fail_after(20):
        while await leases_of(cluster):  # noqa: ASYNC110
            await trio.sleep(0.01)
    return trio.current_time() - begun


def environment(folder: Path) -> dict[str, str]:
    """Return the environment of a process that imports the same modules and keeps temporary files in
    `folder`.
    """
    paths = [str(ROOT), str(SUPPORT), *filter(None, sys.path)]
    return {**os.environ, "PYTHONPATH": os.pathsep.join(paths), "TMPDIR": str(folder)}


@contextmanager
def local_scheduler(folder: Path, *, workers: int = 2, pages: int = 2) -> Iterator[str]:
    """Run a LocalCluster that a program can connect to. Yield its address."""
    options = {"workers": workers, "pages": pages, "folder": str(folder / "dask")}
    command = [sys.executable, "-m", "cdpengine.cluster.host", json.dumps(options)]
    with subprocess.Popen(
        command,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env=environment(folder),
        start_new_session=True,
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            yield process.stdout.readline().decode().strip()
        finally:
            process.stdin.close()
            try:
                process.wait(30)
            finally:
                process.kill()


@contextmanager
def dask_programs(folder: Path) -> Iterator[tuple[str, list[subprocess.Popen[bytes]]]]:
    """Run a Dask scheduler and two workers of one thread each. Yield the address and the processes."""
    file = folder / "scheduler.json"
    of_all = ["--host", "127.0.0.1", "--no-dashboard"]
    scheduler = ["dask_scheduler", *of_all, "--port", "0", "--scheduler-file", str(file)]
    worker = ["dask_worker", "--scheduler-file", str(file), *of_all, "--nthreads", "1"]
    programs: list[subprocess.Popen[bytes]] = []
    try:
        for name, *options in (scheduler, worker, worker):
            command = [sys.executable, "-m", f"distributed.cli.{name}", *options]
            programs.append(
                subprocess.Popen(
                    command, env=environment(folder), start_new_session=True, stderr=subprocess.DEVNULL
                )
            )
            while not file.exists():
                time.sleep(0.02)
        yield str(json.loads(file.read_text())["address"]), programs
    finally:
        for program in reversed(programs):
            program.send_signal(signal.SIGINT)
        for program in programs:
            try:
                program.wait(30)
            finally:
                program.kill()
