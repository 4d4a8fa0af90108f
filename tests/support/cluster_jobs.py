"""Jobs for clusters, in a module that workers import too; and clusters of Dask that tests start by themselves."""

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
    """One that can be pickled, and not be read again: its arguments are not those of its class."""

    def __init__(self, one: str, two: str) -> None:
        super().__init__(f"{one} and {two}")


async def work(page: cdpengine.Page, number: int) -> object:
    """Do what the number says."""
    match number % 8:
        case 1:
            raise LookupError(f"number {number}")
        case 2:
            await page.evaluate("while (true) {}", timeout=0.2)
        case 3:
            return page  # nothing of it can be sent
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
    """Return what methods of a page answer."""
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
    """Note that it began, and hang."""
    note(notes, "began")
    await page.evaluate("while (true) {}", timeout=60)


async def meet(page: cdpengine.Page, given: tuple[str, int]) -> int:
    """Wait until so many jobs are at work at the same time, and return the process id of the worker."""
    notes, count = given
    note(notes, "here")
    await wait_until_noted(Path(notes), count)
    return os.getpid()


async def note_and_double(page: cdpengine.Page, given: tuple[str, int]) -> int:
    """Note that the number was begun; the worker that is to die dies once."""
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
    """Wait until so many notes were made, by processes that tell no other way."""
    with trio.fail_after(40):
        while len(read_notes(notes)) < count:  # noqa: ASYNC110
            await trio.sleep(0.01)


async def leases_of(cluster: BrowserCluster) -> int:
    """Return how many pages are out in the pools of all workers."""
    each = await cluster.statistics()
    return sum(browser.leases for pool in each.values() for browser in pool.browsers)


async def wait_until_free(cluster: BrowserCluster) -> float:
    """Wait until no page of any worker is out, and return how long it took."""
    begun = trio.current_time()
    with trio.fail_after(20):
        while await leases_of(cluster):  # noqa: ASYNC110
            await trio.sleep(0.01)
    return trio.current_time() - begun


def environment(folder: Path) -> dict[str, str]:
    """Return the environment of a process that imports what this one does, with its temporary files in `folder`."""
    paths = [str(ROOT), str(SUPPORT), *filter(None, sys.path)]
    return {**os.environ, "PYTHONPATH": os.pathsep.join(paths), "TMPDIR": str(folder)}


@contextmanager
def local_scheduler(folder: Path, *, workers: int = 2, pages: int = 2) -> Iterator[str]:
    """Run a LocalCluster that a program can connect to, and give its address."""
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
    """Run a scheduler of Dask, and two workers of one thread each; give its address, and the programs."""
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
