"""The loop of a peer: one JSON object a line comes in, one answer a line goes out.

Rule: every order is answered, in its turn, with figures or with `cannot` and the reason in words: an error of the
library is such a reason, and so is a verb that does not end within its patience. Nothing but answers goes to standard
output. When the orders end, or at `stop`, or when told to terminate, the library closes its browser, and what is left
of the processes that it started is killed, each by its id. The standard library alone: each peer's own interpreter
runs this, and so do the tests.
"""

from __future__ import annotations

import asyncio
import contextlib
import gc
import json
import os
import signal
import sys
import threading
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from pathlib import Path
from typing import IO, Any, Protocol

PATIENCE = 120.0
"""Seconds that a verb may take, where the order does not name its `patience`."""

CLOSING = 3.0
"""Seconds that a library may take to close its browser."""

Answer = dict[str, Any]


PART_OF = {"first_look": "snapshot", "step": "snapshot"}
"""Verbs that are done with another one: who lacks that lacks them."""


class Cannot(Exception):
    """The library cannot do what it was told; str() is the reason in words."""


class Served(Protocol):
    """What answers: `begin` starts the browser, each `do_VERB` takes the order's other fields, `end` closes all."""

    version: str
    attached: str
    lacks: Mapping[str, str]

    async def begin(self) -> None: ...
    async def end(self) -> None: ...


def words_of(error: BaseException) -> str:
    """Return an error's type and the first line of what it says that has words, cut where it gets long."""
    lines = [line.strip() for line in str(error).splitlines() if any(map(str.isalnum, line))]
    return f"{type(error).__name__}: {lines[0]}"[:300] if lines else type(error).__name__


async def answer_to(peer: Served, order: Mapping[str, Any]) -> Answer:
    """Have the peer do one order; return its answer. Never raises an error of the library's."""
    fields = dict(order)
    verb = str(fields.pop("do", ""))
    patience = float(fields.pop("patience", PATIENCE))
    asked = str(fields.get("verb", "")) if verb == "ready" else verb
    needed = PART_OF.get(asked, asked)
    if needed in peer.lacks:
        return {"cannot": peer.lacks[needed]}
    work: Callable[..., Any] | None = getattr(peer, f"do_{asked}", None)
    if work is None:
        return {"cannot": f"this peer knows no {asked!r}"}
    if verb == "ready":
        return {"values": []}
    gc.collect()
    try:
        async with asyncio.timeout(patience) as deadline:
            said = await work(**fields)
    except Cannot as reason:
        return {"cannot": str(reason)}
    except Exception as error:  # noqa: BLE001 - a stranger's library: whatever it raises is its answer
        return {"cannot": f"did not end within {patience:g} s" if deadline.expired() else words_of(error)}
    return dict(said) if isinstance(said, Mapping) else {"values": list(said)}


async def obey(peer: Served, orders: AsyncIterator[str], say: Callable[[Answer], None]) -> None:
    """Start the peer, answer its orders until they end or say `stop`, and close it in every case."""
    try:
        try:
            await peer.begin()
        except Exception as error:  # noqa: BLE001 - a stranger's library: whatever it raises is its answer
            say({"ready": False, "cannot": str(error) if isinstance(error, Cannot) else words_of(error)})
            return
        say({"ready": True, "version": peer.version, "attached": peer.attached})
        async for line in orders:
            order = json.loads(line)
            if order.get("do") == "stop":
                return
            say(await answer_to(peer, order))
    finally:
        # A browser whose page hangs may never say that it is closed.
        with contextlib.suppress(Exception):
            async with asyncio.timeout(CLOSING):
                await peer.end()
        await swept(os.getpid())
        with contextlib.suppress(OSError):
            say({"values": []})


async def lines_of(stream: IO[str]) -> AsyncIterator[str]:
    """Give the lines of a stream that is read in a thread of its own, which ends with the process."""
    loop = asyncio.get_running_loop()
    queue: asyncio.Queue[str] = asyncio.Queue()

    def read() -> None:
        with contextlib.suppress(RuntimeError):  # the loop ended before the stream
            for line in stream:
                loop.call_soon_threadsafe(queue.put_nowait, line)
            loop.call_soon_threadsafe(queue.put_nowait, "")

    threading.Thread(target=read, name="orders", daemon=True).start()
    while line := await queue.get():
        if line.strip():
            yield line


def serve(make: Callable[[Mapping[str, Any]], Served]) -> None:
    """Be a peer: make it from the order in argv, and obey standard input until it ends."""
    orders = os.fdopen(os.dup(0), "r", encoding="utf-8")
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    # What the library prints, and what its children inherit, is not to be taken for orders or answers.
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os.dup2(2, 1)
    # All that is spoken to is on this machine.
    for name in [name for name in os.environ if name.lower().endswith("_proxy")]:
        del os.environ[name]

    def say(answer: Answer) -> None:
        answers.write(json.dumps(answer) + "\n")
        answers.flush()

    async def main() -> None:
        task = asyncio.current_task()
        assert task is not None
        asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, task.cancel)
        with contextlib.suppress(asyncio.CancelledError):
            await obey(make(json.loads(sys.argv[1])), lines_of(orders), say)
        # Threads of a library may still wait for a browser that is gone: they are not waited for.
        sys.stderr.flush()
        os._exit(0)

    asyncio.run(main())


# --- processes ----------------------------------------------------------------------------------------------------


def status_of(process: int) -> dict[str, str]:
    """Return what Linux says of a process, empty when there is none."""
    try:
        text = Path(f"/proc/{process}/status").read_text("utf-8", errors="replace")
    except OSError:
        return {}
    return dict(line.split(":\t", 1) for line in text.splitlines() if ":\t" in line)


def children_of(process: int) -> Iterator[int]:
    """Give the ids of a process's children. Linux."""
    for listed in Path(f"/proc/{process}/task").glob("*/children"):
        with contextlib.suppress(OSError):
            yield from map(int, listed.read_text("ascii").split())


def descendants_of(process: int) -> list[int]:
    """Return the ids of a process's living children, their children, and so on."""
    found: list[int] = []
    for child in children_of(process):
        if is_alive(child):
            found += [child, *descendants_of(child)]
    return found


def is_alive(process: int) -> bool:
    """Whether a process runs: one that ended and was not yet asked how is none."""
    return status_of(process).get("State", "Z")[0] not in "ZX"


def is_browser(process: int) -> bool:
    """Whether a process is Chromium's: its program is named so (chromedriver is not)."""
    name = status_of(process).get("Name", "")
    return name.startswith("chrom") and not name.startswith("chromedriver")


def resident(process: int) -> float:
    """Return the resident memory, in MB, of a process and its descendants, without browsers."""
    if is_browser(process):
        return 0.0
    own = int(status_of(process).get("VmRSS", "0 kB").split()[0]) / 1024
    return own + sum(map(resident, children_of(process)))


async def swept(process: int) -> None:
    """Kill what is left of a process's descendants, a moment after they were told to end by themselves."""
    for _ in range(20):
        if not descendants_of(process):
            return
        await asyncio.sleep(0.05)
    left = descendants_of(process)
    for child in left:
        with contextlib.suppress(OSError):
            os.kill(child, signal.SIGKILL)
    for _ in range(40):
        if not any(map(is_alive, left)):
            return
        await asyncio.sleep(0.05)
