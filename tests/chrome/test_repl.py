"""The console: lines in a real browser, scripts from standard input, and people at a terminal."""

from __future__ import annotations

import os
import re
import signal
import stat
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path

import pytest
import trio
import trio.lowlevel
from kept_window import Window
from terminals import Terminal

import cdpengine
from cdpengine._nursery import open_body_nursery
from cdpengine.cli import main
from cdpengine.debug.explorer.interpreter import Interpreter, Output, Quit
from cdpengine.debug.explorer.protocol import fetch_protocol
from cdpengine.errors import (
    DeadlineExceededError,
    InvalidArgumentError,
    RemoteError,
    SessionGoneError,
)

pytestmark = pytest.mark.chrome

COMMAND = [sys.executable, "-m", "cdpengine", "repl"]
CANARY = "hunter2-canary"
PROMPT = r"(page \d+|browser)>"


@asynccontextmanager
async def console(browser: cdpengine.Browser, endpoint: str) -> AsyncIterator[tuple[Interpreter, list[str]]]:
    shown: list[str] = []
    protocol = await fetch_protocol(endpoint)
    async with open_body_nursery() as nursery:
        yield Interpreter(browser, protocol, nursery, shown.append), shown
        nursery.cancel_scope.cancel()


async def text(console: Interpreter, line: str) -> str:
    output = await console.run(line)
    assert isinstance(output, Output)
    return output.text


async def test_console_opens_reads_and_clicks_a_page(
    browser: cdpengine.Browser, shared_endpoint: str
) -> None:
    async with console(browser, shared_endpoint) as (repl, shown):
        await repl.run(
            "!new data:text/html,<title>x</title><button onclick=this.textContent='done'>Go</button><input>"
        )
        try:
            assert repl.place.startswith("page ")
            assert re.search(r"\* \d+  page  data:text/html", await text(repl, "!targets"))
            assert 'button "Go" [ref=e1]' in await text(repl, "!snapshot")
            assert await repl.run("!click e1") is None
            assert "textbox" in await text(repl, "!snapshot --interactive")
            ref = repl.refs[-1]
            await repl.run(f"!type {ref} two words")
            assert await text(repl, "!evaluate document.querySelector('input').value") == '"two words"'
            assert '"done"' in await text(repl, "!evaluate document.querySelector('button').textContent")
            assert '"value": 2' in await text(repl, "Runtime.evaluate expression=1+1 returnByValue=true")
            assert "Page.navigate" in await text(repl, "? Page.navigate")
            # Page content cannot control the terminal.
            assert "\x1b" not in await text(repl, r"!evaluate '\x1b[31m\x9b'")
            await repl.run("!events Page.*")
            await repl.run("!open data:text/html,again")
            assert any(line.startswith("Page.frameNavigated {") for line in shown)
            await repl.run("!events off")
            count = len(shown)
            await repl.run("!open data:text/html,silent")
            assert len(shown) == count
            with pytest.raises(InvalidArgumentError, match=r"Page\.navigate"):
                await repl.run("Page.navigat url=x")
            with pytest.raises(RemoteError, match="Cannot navigate"):
                await repl.run("Page.navigate url=nonsense")
            await repl.run("!timeout 0.2")
            with pytest.raises(DeadlineExceededError):
                await repl.run("!next Page.loadEventFired")
            await repl.run("!use 0")
            assert repl.place == "browser"
            assert '"product"' in await text(repl, "Browser.getVersion")
            with pytest.raises(InvalidArgumentError, match="a page"):
                await repl.run("!snapshot")
            with pytest.raises(InvalidArgumentError, match="one of 0"):
                await repl.run("!use 99")
            with pytest.raises(Quit):
                await repl.run("!quit")
        finally:
            page = browser.pages[-1]
            await page.close()


async def test_events_follow_the_target_and_report_its_closing(
    browser: cdpengine.Browser, shared_endpoint: str
) -> None:
    async with console(browser, shared_endpoint) as (repl, shown):
        await repl.run("!new")
        page = browser.pages[-1]
        await repl.run("!events Page.frameNavigated")
        await page.close()
        with trio.fail_after(10):
            while not any(line.startswith("no more events") for line in shown):
                await trio.testing.wait_all_tasks_blocked(0.01)
        with pytest.raises(SessionGoneError):
            await repl.run("Page.reload")
        await repl.run("!use 0")


LOOP = "while(true){}"


@pytest.mark.sample(4)
@pytest.mark.parametrize(
    ("script", "status"),
    [
        ("", 0),
        ("!evaluate 1", 0),  # without a newline
        ("!quit\nnonsense\n", 0),
        ("nonsense\n", 2),
        ("!fill e1 x\n!nothing\n", 1),
        (b"\xff\xfe\n", 2),
        ("!evaluate x.y.z\n", 1),
        (f"!timeout 0.2\n!evaluate {LOOP}\n", 3),
        (f'!timeout 0.2\nRuntime.evaluate expression="{LOOP}"\n', 3),
        ("!timeout 0.2\n!next Page.loadEventFired\n", 1),
    ],
)
def test_the_status_of_a_script(
    script: str | bytes,
    status: int,
    open_window: Window,
    shared_endpoint: str,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    file = tmp_path / "script"
    file.write_bytes(script.encode() if isinstance(script, str) else script)
    with file.open() as stdin, pytest.raises(SystemExit) as ended:
        monkeypatch.setattr("sys.stdin", stdin)
        main(["repl", shared_endpoint])
    assert ended.value.code == status


async def test_ctrl_c_ends_a_script_and_leaves_no_hung_page(
    page: cdpengine.Page, shared_endpoint: str
) -> None:
    await page.goto("data:text/html,<title>mine</title>")
    with started_script(shared_endpoint) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdin.write(b"!targets\n")
        process.stdin.flush()
        lines = iter(process.stdout.readline, b"")
        number = await trio.to_thread.run_sync(
            lambda: next(found[1] for line in lines if (found := re.search(rb"(\d+)  page .*mine", line)))
        )
        process.stdin.write(b'!use %s\nRuntime.evaluate expression="%s"\n' % (number, LOOP.encode()))
        process.stdin.flush()
        with trio.fail_after(20):
            while not await page.measure.unresponsive_for():
                pass
            process.send_signal(signal.SIGINT)
            # Its standard input stays open, so only the signal ends it.
            assert await trio.to_thread.run_sync(process.wait, abandon_on_cancel=True) == 130
        errors = process.stderr.read().decode()
    assert "line 3 of the script: stopped: the script that ran was terminated" in errors
    assert "Traceback" not in errors
    assert await page.evaluate("1 + 1", timeout=2) == 2


@contextmanager
def started_script(endpoint: str) -> Iterator[subprocess.Popen[bytes]]:
    pipe = subprocess.PIPE
    with subprocess.Popen([*COMMAND, endpoint], stdin=pipe, stdout=pipe, stderr=pipe) as process:
        try:
            yield process
        finally:
            process.kill()  # if it has not ended itself


@pytest.fixture
def terminal(shared_endpoint: str, tmp_path: Path) -> Iterator[Terminal]:
    terminal = Terminal([*COMMAND, shared_endpoint], tmp_path)
    yield terminal
    terminal.close()


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="no pseudo-terminals")
async def test_at_a_terminal(terminal: Terminal, page: cdpengine.Page, tmp_path: Path) -> None:
    def converse() -> int:
        terminal.expect(r"Ctrl-D leaves")
        terminal.expect(PROMPT)
        terminal.type("Browser.getVer\t")
        terminal.expect(r"Browser\.getVersion")
        terminal.type("\r")
        terminal.expect(r'"product": "')
        terminal.expect(PROMPT)
        terminal.type("half a line\x03")  # Ctrl-C at the prompt only clears the line
        terminal.expect(PROMPT)
        terminal.type("!targets\r")
        terminal.expect(r"\n. (\d+)  page  about:blank")
        terminal.expect(PROMPT)
        terminal.type("!evaluate new Promise(() => 0)\r")
        terminal.expect(r"\n")
        terminal.type_until("\x03", r"stopped")  # during a command it stops the command
        terminal.expect(PROMPT)
        terminal.type(f'Runtime.evaluate expression="{LOOP}"\r')
        terminal.expect(r"the page has not answered for 1\.\d s; Ctrl-C stops the command")
        terminal.type_until(
            "\x03",
            r"the script that ran was (?:terminated|asked to stop), and the page answers, after \d+ ms",
        )
        terminal.expect(PROMPT)
        terminal.type("!evaluate 40+2\r")
        terminal.expect(r"\n42")
        terminal.expect(PROMPT)
        terminal.type(f"!fill e99999 {CANARY}\r")
        terminal.expect(r"NodeNotFoundError: [^\n]*\n")
        terminal.expect(PROMPT)
        terminal.type("Page.nothing\r")
        terminal.expect(r"-32601|an existing one")
        terminal.expect(PROMPT)
        terminal.type(f"Input.insertText text={CANARY}\r")
        terminal.expect(r"\{\}")
        terminal.expect(PROMPT)
        terminal.type("\x04")
        return terminal.end()

    assert await trio.to_thread.run_sync(converse) == 0
    history = tmp_path / "cdpengine" / "history"
    assert stat.S_IMODE(history.stat().st_mode) == 0o600
    kept = history.read_text()
    assert "Browser.getVersion" in kept
    assert "!evaluate new Promise(() => 0)" in kept
    assert CANARY not in kept


@pytest.mark.skipif(sys.platform == "win32", reason="no pseudo-terminals")
def test_the_prompt_ends_when_the_browser_does(tmp_path: Path) -> None:
    terminal = Terminal(COMMAND, tmp_path)
    try:
        terminal.expect(r"Ctrl-D leaves")
        terminal.expect(PROMPT)
        terminal.type("!use 0\r")
        terminal.expect(r"browser>")
        terminal.type("Browser.close\r")
        assert terminal.end() == 1
    finally:
        terminal.close()


@pytest.mark.sample(4, start=1)
@pytest.mark.skipif(sys.platform == "win32", reason="no pseudo-terminals")
@pytest.mark.parametrize(
    ("how", "while_busy"), [(signal.SIGTERM, False), (signal.SIGHUP, True), ("closed", False)]
)
def test_signal_ends_console_and_restores_the_terminal(
    terminal: Terminal, how: signal.Signals | str, *, while_busy: bool
) -> None:
    import termios

    terminal.expect(PROMPT)
    if while_busy:
        terminal.type("!events *\r")
        terminal.expect(PROMPT)
        terminal.type("!next Nothing.happens\r")
        terminal.expect(r"\n")
    else:
        terminal.type("half a line")
        terminal.expect("half a line")
    assert how == "closed" or while_busy or not termios.tcgetattr(terminal.main)[3] & termios.ICANON
    if isinstance(how, signal.Signals):
        terminal.process.send_signal(how)
        assert terminal.end() == 128 + how
        assert termios.tcgetattr(terminal.main)[3] & termios.ICANON
        assert termios.tcgetattr(terminal.main)[3] & termios.ECHO
    else:
        other = os.open(os.devnull, os.O_RDWR)
        os.dup2(other, terminal.main)  # closes it, and remembers its number for the final close
        os.close(other)
        assert terminal.process.wait(30) == 129
