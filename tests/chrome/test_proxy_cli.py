"""`cdpengine proxy` and `cdpengine recording replay`, each in a separate process."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import attrs
import pytest
import trio

import cdpengine
from cdpengine import debug
from cdpengine.errors import RemoteError

pytestmark = pytest.mark.chrome

BOUND = 60
PAGE = "data:text/html,<title>Yard</title>"


@attrs.define
class Command:
    """A running command: its first line, and, after the block, its whole output and exit status."""

    process: trio.Process
    endpoint: str = ""
    output: str = ""
    status: int | None = None

    async def read(self, enough: str = "") -> None:
        """Read its output up to a string, or to the end without one."""
        assert self.process.stdout is not None
        while not enough or enough not in self.output:
            chunk = await self.process.stdout.receive_some()
            if not chunk:
                return
            self.output += chunk.decode()


@asynccontextmanager
async def running(*arguments: str) -> AsyncIterator[Command]:
    process = await trio.lowlevel.open_process(
        [sys.executable, "-m", "cdpengine", *arguments], stdout=subprocess.PIPE, stderr=subprocess.STDOUT
    )
    command = Command(process)
    with trio.fail_after(BOUND):
        try:
            await command.read("\n")
            command.endpoint = command.output.split()[0]
            yield command
            if process.poll() is None:
                process.send_signal(signal.SIGINT)
            await command.read()
            command.status = await process.wait()
        finally:
            if process.poll() is None:
                process.kill()
            with trio.CancelScope(shield=True):
                await process.wait()
            assert process.stdout is not None
            await process.stdout.aclose()


async def test_proxy_prints_records_and_injects_faults(shared_endpoint: str, tmp_path: Path) -> None:
    faults = tmp_path / "faults.txt"
    faults.write_text("# one of them\nerror:Page.reload:1:-32000:not now\n")
    tape = tmp_path / "tape.jsonl"
    options = [
        "--filter",
        "Page.*",
        "--faults",
        str(faults),
        "--fault",
        "drop:Nothing.here",
        "--record",
        str(tape),
    ]

    async def program(endpoint: str) -> None:
        async with cdpengine.connect(endpoint) as browser:
            page = await browser.new_page()
            await page.goto(f"{PAGE}<!--password=c4nary-typed-->")
            with pytest.raises(RemoteError, match="not now"):
                await page.session.call("Page.reload")
            assert await page.evaluate("document.title") == "Yard"
            await page.close()

    async with running("proxy", "--listen", "0", "--upstream", shared_endpoint, *options) as command:
        await program(command.endpoint)
    assert command.status == 130
    lines = command.output.splitlines()
    assert lines[1:3] == ["fault error:Page.reload@call:1:-32000:not now", "fault drop:Nothing.here:*"]
    assert any("Page.navigate" in line and "->" in line for line in lines)
    assert any("error of the call Page.reload" in line for line in lines)
    assert not any("Target.createTarget" in line for line in lines)
    assert any("over: the client closed the websocket" in line for line in lines)
    assert "Traceback" not in command.output
    assert "WARNING" not in command.output
    assert "c4nary" not in command.output
    with debug.open_recording(tape) as recording:
        assert {"Page.navigate", "Target.createTarget"} <= {line.m for line in recording}
        assert recording.closed_in_order


async def test_proxy_warns_that_other_machines_can_reach_it(shared_endpoint: str) -> None:
    async with running(
        "proxy", "--listen", "0", "--host", "0.0.0.0", "--upstream", shared_endpoint, "--quiet"
    ) as command:
        await command.read(shared_endpoint)
    assert "WARNING: listening on 0.0.0.0: all programs that can reach this port" in command.output


async def test_replay_serves_a_recording_until_a_program_leaves_it(
    shared_endpoint: str, tmp_path: Path
) -> None:
    tape = tmp_path / "tape.jsonl"

    async def program(endpoint: str, expression: str) -> object:
        async with cdpengine.connect(endpoint) as browser:
            page = await browser.new_page(PAGE)
            value = await page.evaluate(expression)
            await page.close()
            return value

    # With the return values of scripts: the title comes from the recording.
    async with debug.proxy(shared_endpoint, record=tape, keep_arguments=True) as proxy:
        assert await program(proxy.endpoint, "document.title") == "Yard"
    async with running("recording", "replay", str(tape)) as command:
        assert await program(command.endpoint, "document.title") == "Yard"
    assert command.status == 130
    async with running("recording", "replay", str(tape)) as command:
        with pytest.raises(RemoteError, match="diverged from the recording"):
            await program(command.endpoint, "document.URL")
        await command.process.wait()
    assert command.status == 1
    assert "document.URL" in command.output
    assert "Traceback" not in command.output


async def test_proxy_starts_a_browser_itself(tmp_path: Path) -> None:
    tape = tmp_path / "tape.jsonl"
    async with (
        running("proxy", "--listen", "0", "--quiet", "--launch", "--record", str(tape)) as proxy,
        cdpengine.connect(proxy.endpoint) as browser,
    ):
        page = await browser.new_page()
        await page.goto(PAGE)
        assert await page.title() == "Yard"
    assert proxy.status == 130
    with debug.open_recording(tape) as recording:
        assert "Page.navigate" in {line.m for line in recording}
