"""Processes that write to one store: concurrent writers, killed writers, and a full disk.

Run as a program with a case and a path. It prints its observations as JSON. The modules are loaded once,
before it forks.
"""

from __future__ import annotations

import json
import os
import resource
import signal
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path

import trio

from cdpengine.act import Press
from cdpengine.cache import CacheKey, CacheStore, Step, Viewport, make_entry, make_key
from cdpengine.errors import CacheUnavailableError

KEY = b"k" * 32
WRITERS, ROUNDS, KILLS, CONFIRMED = 8, 3, 2, 8


def key(name: str) -> CacheKey:
    return make_key("login", f"https://a.example/{name}", Viewport(width=1, height=1))


async def put(store: CacheStore, name: str, padding: int = 0) -> None:
    await store.put(
        make_entry(key(name), [Step(request=Press(key="Enter"))], now=9e9, description="x" * padding)
    )


async def names(path: Path) -> list[str]:
    async with CacheStore.open(path, key=KEY, keyring=False) as store:
        return sorted(each.key.address.rpartition("/")[2] for each in await store.entries())


def fork(work: Callable[[], object]) -> int:
    child = os.fork()
    if child:
        return child
    try:
        work()
        os._exit(0)
    except BaseException as error:  # noqa: BLE001 - the child process reports it
        print(type(error).__name__, error, file=sys.stderr, flush=True)
        os._exit(1)


async def write_rounds(path: Path, number: int) -> None:
    async with CacheStore.open(path, key=KEY, keyring=False) as store:
        await put(store, "shared")
        for each in range(ROUNDS):
            await put(store, f"{number}-{each}")
            assert await store.note_run(key("shared"), succeeded=True, milliseconds=1.0) is not None


def many_at_once(path: Path) -> dict[str, object]:
    children = [fork(partial(trio.run, write_rounds, path, number)) for number in range(WRITERS)]
    codes = [os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children]

    async def look() -> tuple[list[str], int]:
        async with CacheStore.open(path, key=KEY, keyring=False) as store:
            shared = await store.get(key("shared"))
            assert shared is not None
            return await names(path), shared.statistics.successes

    found, runs = trio.run(look)
    return {"codes": codes, "names": found, "runs": runs}


async def write_and_confirm(path: Path, start: int, pipe: int) -> None:
    async with CacheStore.open(path, key=KEY, keyring=False) as store:
        number = start
        while True:
            await put(store, f"{number}", padding=3_000)
            os.write(pipe, f"{number}\n".encode())
            number += 1


def killed(path: Path) -> dict[str, object]:
    confirmed: list[str] = []
    for turn in range(KILLS):
        reading, writing = os.pipe()
        child = fork(partial(trio.run, write_and_confirm, path, turn * 10_000, writing))
        os.close(writing)
        output = b""
        while output.count(b"\n") < CONFIRMED + turn and (more := os.read(reading, 100)):
            output += more
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        while more := os.read(reading, 1_000):
            output += more
        os.close(reading)
        confirmed += output.decode().split()
    return {"confirmed": confirmed, "names": trio.run(names, path)}


async def fill_up(path: Path) -> dict[str, object]:
    confirmed: list[str] = []
    error_text = ""
    _, most = resource.getrlimit(resource.RLIMIT_FSIZE)
    async with CacheStore.open(path, key=KEY, keyring=False) as store:
        resource.setrlimit(resource.RLIMIT_FSIZE, (200_000, most))
        for number in range(500):
            try:
                await put(store, f"{number}", padding=5_000)
            except CacheUnavailableError as error:
                error_text = str(error)
                break
            confirmed.append(f"{number}")
        full = sorted(each.key.address.rpartition("/")[2] for each in await store.entries())
        resource.setrlimit(resource.RLIMIT_FSIZE, (most, most))
        await put(store, "after", padding=5_000)
    return {"confirmed": confirmed, "said": error_text, "full": full, "names": await names(path)}


def main() -> None:
    case, path = sys.argv[1], Path(sys.argv[2])
    cases: dict[str, Callable[[Path], dict[str, object]]] = {
        "many": many_at_once,
        "killed": killed,
        "full": lambda path: trio.run(fill_up, path),
    }
    print(json.dumps(cases[case](path)))


if __name__ == "__main__":
    main()
