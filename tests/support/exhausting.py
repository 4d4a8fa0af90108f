"""A program that runs with few file descriptors, or loses the last ones at some moment, and reports the outcome.

Call it with an endpoint. It prints one JSON object for each attempt: {"what", "few", "error", "text",
"left"}.
"""

from __future__ import annotations

import json
import os
import resource
import stat
import sys
import tempfile
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import trio

import cdpengine
from cdpengine import debug
from cdpengine._page.downloads.output_file import output_file
from cdpengine._storage.storage_state import StorageState, write_state

LIMIT = 64

BROWSER = """#!/bin/sh
echo "DevTools listening on {endpoint}" >&2
exec cat <&3 >/dev/null
"""

ENDPOINT = sys.argv[1]


async def talk(browser: cdpengine.Browser) -> None:
    await browser.session.call("Any.call")


async def connect() -> None:
    async with cdpengine.connect(ENDPOINT, timeout=5) as browser:
        await talk(browser)


async def launch() -> None:
    async with cdpengine.launch(
        executable=Path("browser").absolute(), transport="websocket", timeout=5
    ) as browser:
        await talk(browser)


async def launch_with_a_pipe() -> None:
    # The started program never answers on its pipe and exits, which is enough for this test.
    async with cdpengine.launch(executable="/bin/cat", transport="pipe", timeout=0.2):
        raise AssertionError("it is no browser")


async def record() -> None:
    async with cdpengine.connect(ENDPOINT, timeout=5) as browser, debug.record(browser, "a.jsonl.zst"):
        await talk(browser)


async def proxy() -> None:
    async with debug.proxy(ENDPOINT, record="b.jsonl") as running:
        await trio.lowlevel.checkpoint()
        assert running.endpoint


async def write() -> None:
    async with output_file("the thing", Path("c.gz"), compress_late=True, overwrite=False) as file:
        await file.write(b"x" * 1000)


async def write_storage_state() -> None:
    await trio.to_thread.run_sync(write_state, Path("d.json"), StorageState())


TRIES: list[Callable[[], Awaitable[None]]] = [
    connect, launch, launch_with_a_pipe, record, proxy, write, write_storage_state,
]  # fmt: skip


@contextmanager
def only(few: int) -> Iterator[None]:
    """Leave `few` descriptors for the body."""
    taken: list[int] = []
    try:
        while True:
            taken.append(os.open(os.devnull, os.O_RDONLY))
    except OSError:
        for _ in range(few):
            os.close(taken.pop())
    try:
        yield
    finally:
        for each in taken:
            os.close(each)


class Taker(trio.abc.Instrument):
    """Takes all remaining descriptors after `steps` task steps."""

    def __init__(self, steps: int) -> None:
        self.steps = steps
        self.taken: list[int] = []

    def after_task_step(self, _task: trio.lowlevel.Task) -> None:
        self.steps -= 1
        if self.steps == 0:
            try:
                while True:
                    self.taken.append(os.open(os.devnull, os.O_RDONLY))
            except OSError:
                pass

    def give_back(self) -> bool:
        """Release the descriptors. Return whether any were taken."""
        for each in self.taken:
            os.close(each)
        return bool(self.taken)


def left() -> list[str]:
    """Return unwanted leftovers: folders, partial files, children, files that other users can read."""
    found = [f"temporary {each}" for each in os.listdir(tempfile.gettempdir())]
    for path in Path().iterdir():
        if path.name == "browser":
            continue
        if path.name.startswith(".") or stat.S_IMODE(path.stat().st_mode) != 0o600:
            found.append(path.name)
        path.unlink()
    children = Path(f"/proc/self/task/{os.getpid()}/children").read_text().split()
    return found + [f"child {each}" for each in children]


def open_descriptors() -> int:
    return len(os.listdir("/proc/self/fd"))


async def attempt(what: Callable[[], Awaitable[None]]) -> tuple[str, str]:
    try:
        with trio.fail_after(8):
            await what()
    except cdpengine.errors.EngineError as error:
        return type(error).__name__, str(error)
    except BaseException as error:  # noqa: BLE001 - reported, and it fails the test
        return f"bare {type(error).__name__}", repr(error)
    return "", ""


async def main() -> None:
    Path("browser").write_text(BROWSER.format(endpoint=ENDPOINT))
    Path("browser").chmod(0o700)
    resource.setrlimit(resource.RLIMIT_NOFILE, (LIMIT, LIMIT))
    before = open_descriptors()

    def tell(what: Callable[[], Awaitable[None]], few: str, error: str, text: str) -> None:
        more = open_descriptors() - before
        found = left() + ([f"{more} descriptors"] if more else [])
        name = getattr(what, "__name__", "")
        print(json.dumps({"what": name, "few": few, "error": error, "text": text, "left": found}), flush=True)

    for what in TRIES:  # without a warm-up, so lazy imports meet scarce descriptors too
        for few in range(14):
            with only(few):
                outcome = await attempt(what)
            tell(what, f"{few} left", *outcome)
    for what in TRIES:
        steps = 1
        while True:
            taker = Taker(steps)
            trio.lowlevel.add_instrument(taker)
            outcome = await attempt(what)
            trio.lowlevel.remove_instrument(taker)
            if not taker.give_back():
                break
            tell(what, f"none left after {steps} steps", *outcome)
            steps += 1 + steps // 8


trio.run(main)
