"""Console lines without an answer: messages, stopped work, and timing; on a clock that jumps."""

from __future__ import annotations

import contextlib
import os
import signal
from collections.abc import AsyncIterator, Iterator

import pytest
import trio
from scripted_browser import NUMBER, ScriptedBrowser, quiet
from trio.testing import MockClock

import cdpengine
from cdpengine.cli.repl import run_script
from cdpengine.debug.explorer.interpreter import Interpreter
from cdpengine.errors import (
    ConnectionLostError,
    DeadlineExceededError,
    EvaluationTimeoutError,
    InvalidArgumentError,
    PageUnresponsiveError,
    RemoteError,
)
from cdpengine.testing import SILENCE, Request, walk_cancellations
from cdpengine.testing.peer import Answer

NOTICE = "the page has not answered for 1.1 s"
ENDS = "Ctrl-C stops the command and ends the page's script"
LEAVES = "Ctrl-C stops the command, !recover ends the page's script"


class Console:
    """A console whose page is T1, and its messages outside of the output."""

    def __init__(self, browser: cdpengine.Browser, nursery: trio.Nursery) -> None:
        self.events: list[str] = []
        self.notices: list[str] = []
        self.browser, self.nursery = browser, nursery
        self.interpreter = self.make()

    def make(self, *, unattended: bool = False) -> Interpreter:
        return Interpreter(
            self.browser,
            None,
            self.nursery,
            self.events.append,
            self.notices.append,
            unattended=unattended,
        )

    async def stop(self, line: str, after: float) -> str:
        """Run a line, stop it, and return the console's messages."""
        with trio.move_on_after(after) as scope:
            await self.interpreter.run(line)
        assert scope.cancelled_caught
        return str(self.interpreter.stopped)


@pytest.fixture
async def console(page: cdpengine.Page) -> AsyncIterator[Console]:
    async with trio.open_nursery() as nursery:
        yield Console(page.browser, nursery)
        nursery.cancel_scope.cancel()


def hang(scripted: ScriptedBrowser) -> None:
    """Let the page run a script until it is terminated, and answer then."""

    def end(_request: Request) -> Answer:
        scripted.on("Runtime.evaluate", NUMBER)
        return {}

    scripted.on("*", SILENCE)
    for method in ("Runtime.evaluate", "Runtime.callFunctionOn"):
        scripted.on(method, SILENCE)
    scripted.on("Runtime.terminateExecution", end)


SCRIPTS = [
    'Runtime.evaluate expression="while(true){}"',
    "Runtime.callFunctionOn functionDeclaration='() => {while(true){}}'",
    'Runtime.evaluate awaitPromise=true expression="new Promise(() => 0)"',
    "!evaluate while(true){}",
]
WORK = ["Input.dispatchMouseEvent type=mousePressed x=1 y=1", "Page.reload"]
QUESTIONS = ["DOM.getDocument", "!snapshot", "!settle"]


# --- Ctrl-C ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("line", [*SCRIPTS, *WORK])
async def test_stopping_a_line_ends_the_script_it_started(
    console: Console, scripted: ScriptedBrowser, autojump_clock: MockClock, line: str
) -> None:
    hang(scripted)
    message = await console.stop(line, 0.5)
    assert "the script that ran was terminated, and the page answers, after " in message
    assert int(message.split("after ")[1].split(" ms")[0]) <= 150
    assert scripted.count("Runtime.terminateExecution") >= 1
    assert console.notices == []
    assert await console.interpreter.run("Runtime.evaluate expression=1") is not None


@pytest.mark.parametrize("line", QUESTIONS)
async def test_a_stopped_question_leaves_the_page_alone(
    console: Console, scripted: ScriptedBrowser, autojump_clock: MockClock, line: str
) -> None:
    hang(scripted)
    assert await console.stop(line, 0.5) == "stopped"
    assert scripted.count("Runtime.terminateExecution") == 0


@pytest.mark.parametrize("answered", [False, True])
async def test_an_unattended_console_frees_a_page_that_had_answered(
    console: Console, scripted: ScriptedBrowser, autojump_clock: MockClock, answered: bool
) -> None:
    console.interpreter = console.make(unattended=True)
    if answered:
        await console.interpreter.run("Runtime.evaluate expression='setTimeout(() => {while(true){}}, 0)'")
    hang(scripted)
    await console.stop("DOM.getDocument", 0.5)
    assert bool(scripted.count("Runtime.terminateExecution")) == answered


async def test_a_page_that_never_answers_delays_no_line(
    console: Console, scripted: ScriptedBrowser, autojump_clock: MockClock
) -> None:
    hang(scripted)
    scripted.on("Runtime.terminateExecution", SILENCE)
    started = trio.current_time()
    message = await console.stop("Runtime.evaluate expression=1", 0.5)
    assert trio.current_time() - started < 1.2
    assert message.startswith(
        "stopped: the script that ran was asked to stop, but the page has not answered after "
    )
    assert "!recover reload" in message


async def test_a_paused_script_is_ended_by_the_session_that_paused_it(
    console: Console, scripted: ScriptedBrowser, autojump_clock: MockClock
) -> None:
    scripted.on("Runtime.evaluate", SILENCE, nth=scripted.count("Runtime.evaluate") + 1)
    async with trio.open_nursery() as nursery:
        scope = trio.CancelScope()

        async def line() -> None:
            with scope:
                await console.interpreter.run("Runtime.evaluate expression=debugger")

        nursery.start_soon(line)
        await scripted.wait_for("Runtime.evaluate", scripted.count("Runtime.evaluate") + 1)
        scripted.page_event("Debugger.paused", {"callFrames": [], "reason": "other"})
        await trio.sleep(3)
        scope.cancel()
    assert console.notices == [f"the page is paused in the debugger; {ENDS}"]
    assert (await scripted.wait_for("Debugger.resume")).params == {"terminateOnResume": True}
    assert str(console.interpreter.stopped).startswith("stopped: the script that ran was terminated")
    assert scripted.count("Runtime.terminateExecution") == 0  # Chrome confirms no termination during a pause


async def test_stopping_a_line_stops_its_navigation(
    console: Console, scripted: ScriptedBrowser, autojump_clock: MockClock
) -> None:
    def begin(_request: Request) -> Answer:
        scripted.on("Runtime.evaluate", SILENCE)
        started = {"frameId": "T1", "navigationType": "differentDocument", "url": "http://slow.example/"}
        scripted.page_event("Page.frameStartedNavigating", started)
        return SILENCE

    def stop(_request: Request) -> Answer:
        scripted.on("Runtime.evaluate", NUMBER)
        scripted.page_event("Page.frameStoppedLoading", {"frameId": "T1"})
        return {}

    scripted.on("Page.navigate", begin)
    scripted.on("Page.stopLoading", stop)
    message = await console.stop("Page.navigate url=http://slow.example/", 5)
    state = "the page waits for another document, and has not answered for 1.1 s"
    assert console.notices == [f"{state}; Ctrl-C stops the command and the navigation"]
    assert message.startswith("stopped: the navigation was stopped, and the page answers, after ")
    assert scripted.count("Runtime.terminateExecution") == 0


async def test_a_closed_page_is_reported(
    console: Console, scripted: ScriptedBrowser, autojump_clock: MockClock
) -> None:
    scripted.on("Runtime.evaluate", SILENCE)
    target = console.interpreter._target
    scripted.vanish("T1")
    await quiet()
    stopped = await target.stop("script", began=trio.current_time(), terminated_before=0)
    assert str(stopped).startswith("stopped; page T1 is gone: ")


# --- messages during a line
# ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("line", "advice"), [(SCRIPTS[0], ENDS), (SCRIPTS[-1], ENDS), *[(line, LEAVES) for line in QUESTIONS]]
)
async def test_a_silent_page_is_named_only_once(
    console: Console, scripted: ScriptedBrowser, autojump_clock: MockClock, line: str, advice: str
) -> None:
    hang(scripted)
    await console.stop(line, 1.2)
    assert console.notices == []
    hang(scripted)
    with trio.move_on_after(10):
        await console.interpreter.run(line)
    (message,) = console.notices
    assert message.startswith("the page has not answered for ")
    assert message.endswith(f" s; {advice}")


@pytest.mark.parametrize("line", ["DOM.getDocument", "Page.reload", "!next Page.loadEventFired"])
async def test_a_page_that_answers_causes_no_message(
    console: Console, scripted: ScriptedBrowser, autojump_clock: MockClock, line: str
) -> None:
    scripted.on("DOM.getDocument", SILENCE)
    scripted.on("Page.reload", SILENCE)
    message = await console.stop(line, 20)
    assert message == ("stopped; the page answers" if line == "Page.reload" else "stopped")
    assert console.notices == []


async def test_a_short_line_sends_no_probe(
    console: Console, scripted: ScriptedBrowser, autojump_clock: MockClock
) -> None:
    asked = scripted.count("Runtime.evaluate")
    held = scripted.hold("DOM.getDocument")
    async with trio.open_nursery() as nursery:

        @nursery.start_soon
        async def later() -> None:
            await held.wait()
            await trio.sleep(0.15)
            held.release({})

        await console.interpreter.run("DOM.getDocument")
    assert scripted.count("Runtime.evaluate") == asked


# --- lines that run out of time ----------------------------------------------------------------------------------


async def test_a_script_that_runs_out_of_time_is_ended_and_reported(
    console: Console, scripted: ScriptedBrowser, autojump_clock: MockClock
) -> None:
    hang(scripted)
    await console.interpreter.run("!timeout 0.5")
    with pytest.raises(
        EvaluationTimeoutError, match="Runtime.evaluate did not finish within 0.5 s: the script was"
    ) as late:
        await console.interpreter.run(SCRIPTS[0])
    assert late.value.report.terminated
    assert late.value.report.responsive


async def test_a_timeout_terminates_work_but_not_for_a_query(
    console: Console, scripted: ScriptedBrowser, autojump_clock: MockClock
) -> None:
    hang(scripted)
    await console.interpreter.run("!timeout 0.5")
    with pytest.raises(DeadlineExceededError):
        await console.interpreter.run("DOM.getDocument")
    assert scripted.count("Runtime.terminateExecution") == 0
    with pytest.raises(DeadlineExceededError):
        await console.interpreter.run(WORK[0])
    assert scripted.count("Runtime.terminateExecution") >= 1
    assert [message.partition(",")[0] for message in console.notices] == [
        "stopped: the script that ran was terminated"
    ]


async def test_a_zero_timeout_sends_nothing(
    console: Console, scripted: ScriptedBrowser, autojump_clock: MockClock
) -> None:
    await console.interpreter.run("!timeout 0")
    sent = len(scripted.received)
    with pytest.raises(DeadlineExceededError):
        await console.interpreter.run(SCRIPTS[0])
    assert len(scripted.received) == sent


# --- !recover -----------------------------------------------------------------------------------------------------


async def test_recover(console: Console, scripted: ScriptedBrowser, autojump_clock: MockClock) -> None:
    output = await console.interpreter.run("!recover")
    assert output is not None
    assert output.text == "the page answers"
    hang(scripted)
    output = await console.interpreter.run("!recover")
    assert output is not None
    assert output.text.startswith("the page answers again [terminate: done")
    hang(scripted)
    scripted.on("Runtime.terminateExecution", SILENCE)
    with pytest.raises(PageUnresponsiveError, match="the page does not answer yet"):
        await console.interpreter.run("!recover")
    scripted.on("Target.closeTarget", scripted.close_target)
    output = await console.interpreter.run("!recover close")
    assert output is not None
    assert output.text.startswith("the page was closed")


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        (["!recover everything"], '"terminate", "reload", "close"'),
        (["!use 0", "!recover"], "a page or another target"),
    ],
)
async def test_impossible_recovers(console: Console, lines: list[str], expected: str) -> None:
    for line in lines[:-1]:
        await console.interpreter.run(line)
    with pytest.raises(InvalidArgumentError, match=expected):
        await console.interpreter.run(lines[-1])


async def test_a_target_other_than_a_page_is_terminated_on_its_session(
    console: Console, scripted: ScriptedBrowser, autojump_clock: MockClock
) -> None:
    info = {"targetId": "W1", "type": "worker", "url": "w.js"}
    scripted.tell("Target.targetCreated", {"targetInfo": info})
    attached = {"sessionId": "S-W1", "targetInfo": info, "waitingForDebugger": False}
    scripted.tell("Target.attachedToTarget", attached)
    await quiet()
    number = console.interpreter.target_numbers[-1]
    await console.interpreter.run(f"!use {number}")
    assert console.interpreter.place == f"worker {number}"
    hang(scripted)
    message = await console.stop(SCRIPTS[0], 3)
    assert console.notices == [f"{NOTICE}; {ENDS}".replace("page", "worker")]
    assert message.startswith("stopped: the script that ran was terminated, and the worker answers, after ")
    ended = [each.session_id for each in scripted.received if each.method == "Runtime.terminateExecution"]
    assert set(ended) == {"S-W1"}
    hang(scripted)
    output = await console.interpreter.run("!recover")
    assert output is not None
    assert "terminate: done" in output.text
    with pytest.raises(InvalidArgumentError, match="for a worker"):
        await console.interpreter.run("!recover reload")


# --- scripts -----------------------------------------------------------------------------------------------------


@pytest.fixture
def stdin(monkeypatch: pytest.MonkeyPatch) -> Iterator[int]:
    """The writing end of standard input.

    The reading end stays open, because the reader thread may outlive the test. A file of the next test with
    the same descriptor would lose the data that the thread reads.
    """
    reading, writing = os.pipe()
    monkeypatch.setattr("sys.stdin", os.fdopen(reading, closefd=False))
    yield writing
    with contextlib.suppress(OSError):
        os.close(writing)


def ignore(_text: str) -> None:
    pass


async def shown(capsys: pytest.CaptureFixture[str], text: str) -> None:
    seen = ""
    while text not in seen:
        await trio.sleep(0.001)
        seen += capsys.readouterr().out


@pytest.mark.parametrize("line", ["", SCRIPTS[0], "DOM.getDocument"])
async def test_ctrl_c_ends_a_script_at_any_point(
    console: Console, scripted: ScriptedBrowser, stdin: int, line: str, capsys: pytest.CaptureFixture[str]
) -> None:
    console.interpreter = console.make(unattended=True)
    told: list[str] = []
    os.write(stdin, b"!help\n")
    interrupted: list[bool] = []
    async with trio.open_nursery() as nursery:

        @nursery.start_soon
        async def run() -> None:
            interrupted.append(await run_script(console.interpreter, told.append))

        await shown(capsys, "!quit")
        if line:
            hang(scripted)
            method = line.split(maxsplit=1)[0]
            sent = scripted.count(method)
            scripted.on(method, SILENCE)
            os.write(stdin, line.encode() + b"\nBrowser.getVersion\n")
            await scripted.wait_for(method, sent + 1)
        os.kill(os.getpid(), signal.SIGINT)
    assert interrupted == [True]
    assert [message.partition(":")[0] for message in told] == (["line 2 of the script"] if line else [])
    assert scripted.count("Browser.getVersion") == 1  # the call at the engine's start


@pytest.mark.parametrize("closed", [False, True])
async def test_a_script_waiting_for_a_line_ends_with_the_connection(
    console: Console,
    scripted: ScriptedBrowser,
    stdin: int,
    closed: bool,
    capsys: pytest.CaptureFixture[str],
) -> None:
    os.write(stdin, b"!help\n")
    async with trio.open_nursery() as nursery:

        @nursery.start_soon
        async def run() -> None:
            if closed:  # all its lines ran
                assert not await run_script(console.interpreter, ignore)
            else:
                with pytest.raises(ConnectionLostError):
                    await run_script(console.interpreter, ignore)

        await shown(capsys, "!quit")
        if closed:
            os.close(stdin)
        scripted.links[0].drop()


@pytest.mark.parametrize(
    ("script", "output"),
    [
        (b"", []),
        (b"# nothing\r\n\n!timeout 3\r\n!timeout 4", []),
        ("Runtime.evaluate expression='ü'\n".encode(), ["{"]),
        (b"!quit\nnonsense", []),
    ],
)
async def test_lines(
    console: Console, stdin: int, script: bytes, output: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    for byte in script:  # in pieces of any size
        os.write(stdin, bytes([byte]))
    os.close(stdin)
    assert not await run_script(console.interpreter, ignore)
    assert capsys.readouterr().out.splitlines()[:1] == output


async def test_bytes_that_are_not_utf_8(console: Console, stdin: int) -> None:
    os.write(stdin, b"!help\n\xff\n")
    os.close(stdin)
    with pytest.raises(InvalidArgumentError, match="not text"):
        await run_script(console.interpreter, ignore)


async def test_closed_standard_input(console: Console, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", None)
    assert not await run_script(console.interpreter, ignore)


# --- the rest ----------------------------------------------------------------------------------------------------


async def test_a_line_can_be_stopped_at_every_moment(console: Console, scripted: ScriptedBrowser) -> None:
    async def fine() -> None:
        output = await console.interpreter.run("Runtime.evaluate expression=1")
        assert output is not None

    runs = await walk_cancellations(
        lambda: console.interpreter.run("Runtime.evaluate expression=1"), fine, own_steps_only=True
    )
    assert runs > 1
    assert (
        await walk_cancellations(lambda: console.interpreter.run("!recover"), fine, own_steps_only=True) > 1
    )
    target = console.interpreter._target
    assert await walk_cancellations(lambda: target.recover("terminate", 1), fine, own_steps_only=True) > 1


async def test_a_failure_propagates_unchanged(console: Console, scripted: ScriptedBrowser) -> None:
    from cdpengine.testing import Refusal

    scripted.on("DOM.getDocument", Refusal(-32000, "no document"))
    with pytest.raises(RemoteError, match="no document"):
        await console.interpreter.run("DOM.getDocument")
