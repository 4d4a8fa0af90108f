"""`cdpengine serve` as a program: its shutdown, and its leftovers after a kill."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import AsyncGenerator, AsyncIterator, Iterator
from contextlib import aclosing, asynccontextmanager
from pathlib import Path
from typing import Any

import attrs
import httpx
import pytest
import trio
from busy_machine import slack

pytestmark = [
    pytest.mark.chrome,
    pytest.mark.skipif(os.name != "posix" or not Path("/proc").is_dir(), reason="needs signals and /proc"),
]


@pytest.fixture
def folder() -> Iterator[Path]:
    """The folder for temporary files, with a path short enough for Chrome's socket."""
    short = Path(tempfile.mkdtemp(dir="/tmp"))
    yield short
    shutil.rmtree(short)


@attrs.frozen
class Program:
    """A service that runs as a program. `lines` are those of its standard error."""

    process: trio.Process
    lines: AsyncIterator[bytes]
    http: httpx.AsyncClient

    async def ask(self, request: dict[str, Any]) -> dict[str, Any]:
        answer: dict[str, Any] = (await self.http.post("/act", json=request)).json()
        return answer

    async def line_with(self, words: bytes) -> str:
        while words not in (line := await anext(self.lines)):
            pass
        return line.decode().strip()


async def lines_of(stream: Any) -> AsyncGenerator[bytes, None]:
    held = b""
    async for piece in stream:
        *whole, held = (held + piece).split(b"\n")
        for line in whole:
            yield line


@asynccontextmanager
async def started(folder: Path) -> AsyncIterator[Program]:
    token = folder.parent / f"{folder.name}.token"
    command = [
        sys.executable,
        "-m",
        "cdpengine",
        "serve",
        "--port",
        "0",
        "--token-file",
        str(token),
        "--ending",
        "0.3",
    ]
    environment = {**os.environ, "TMPDIR": str(folder)}
    process = await trio.lowlevel.open_process(command, stderr=subprocess.PIPE, env=environment)
    try:
        async with aclosing(lines_of(process.stderr)) as lines:
            with trio.fail_after(slack(20)):
                while b"listening on " not in (line := await anext(lines)):
                    pass
                url = line.decode().split()[-1]
                await anext(lines)
            headers = {"Authorization": f"Bearer {token.read_text().strip()}"}
            async with httpx.AsyncClient(base_url=url, headers=headers, timeout=60) as http:
                yield Program(process, lines, http)
    finally:
        process.kill()
        with trio.CancelScope(shield=True):
            await process.wait()
        assert process.stderr is not None
        await trio.aclose_forcefully(process.stderr)
        token.unlink(missing_ok=True)


def browsers_on(folder: Path) -> list[int]:
    """Return the processes of browsers whose profile is in that folder."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdecimal():
            try:
                command = (entry / "cmdline").read_bytes()
            except OSError:
                continue
            if f"--user-data-dir={folder}".encode() in command:
                found.append(int(entry.name))
    return found


async def no_browser_on(folder: Path) -> None:
    with trio.fail_after(slack(5)):
        while browsers_on(folder):  # noqa: ASYNC110 - other programs have no event
            await trio.sleep(0.02)


async def test_program_exits_normally_on_request(folder: Path) -> None:
    answers: list[dict[str, Any]] = []
    async with started(folder) as program:
        assert (await program.ask({"kind": "newTab"}))["ok"]
        assert browsers_on(folder)

        async def hang() -> None:
            answers.append(await program.ask({"kind": "wait", "text": "never", "timeoutMs": 60_000}))

        async with trio.open_nursery() as nursery:
            nursery.start_soon(hang)
            await until_under_way(program, 1)
            began = trio.current_time()
            program.process.send_signal(signal.SIGTERM)
            await program.line_with(b"ending")
        with trio.fail_after(slack(10)):
            assert await program.process.wait() == 0
        assert trio.current_time() - began < 0.3 + slack(3)
    assert answers[0]["error"]["kind"] == "busy"
    assert answers[0]["error"]["message"] == "the service ended before the request was done"
    await no_browser_on(folder)
    assert list(folder.iterdir()) == [], "the profile is removed"


async def until_under_way(program: Program, count: int) -> None:
    while f"requests_under_way {count}.0" not in (await program.http.get("/metrics")).text:  # noqa: ASYNC110
        await trio.sleep(0.02)
