"""Recording a real browser: the file's contents, the absence of secrets, and no effect on the program."""

from __future__ import annotations

import os
import signal
import stat
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
import trio
from command_line import run_here
from pytest_httpserver import HTTPServer
from rounds import one_in
from werkzeug import Request, Response

import cdpengine
from cdpengine import debug
from cdpengine.debug.recording.traffic_recorder import TrafficRecorder
from cdpengine.debug.recording_format import Line
from cdpengine.testing import walk_cancellations

CANARY = "cAnArY7f3x42"


@pytest.fixture
def login(httpserver: HTTPServer) -> str:
    """A page with a login: a cookie, a token in a URL, a form, storage."""

    def page(_: Request) -> Response:
        body = (
            "<!doctype html><title>Login</title><form action=/done method=post>"
            "<input aria-label=User name=user><input type=password aria-label=Password name=password>"
            f"<button>Log in</button></form><script>localStorage.setItem('session', '{CANARY}-store')</script>"
        )
        answer = Response(body, content_type="text/html")
        answer.set_cookie("sid", f"{CANARY}-cookie")
        return answer

    httpserver.expect_request("/login").respond_with_handler(page)
    httpserver.expect_request("/done").respond_with_data("<p>Welcome</p>", content_type="text/html")
    return httpserver.url_for("/login")


def read(path: Path) -> list[Line]:
    with debug.open_recording(path) as recording:
        lines = list(recording)
        assert recording.damage == []
        assert recording.closed_in_order
        return lines


@pytest.mark.sample(3, start=1)
@pytest.mark.parametrize("name", ["traffic.jsonl", "traffic.jsonl.zst"])
async def test_no_secret_reaches_the_disk(
    browser: cdpengine.Browser, login: str, tmp_path: Path, name: str
) -> None:
    path = tmp_path / name
    async with debug.record(browser, path) as recorder:
        page = await browser.new_page()
        await page.session.call("Network.enable")
        await page.session.call("DOMStorage.enable")
        await page.goto(f"{login}?access_token={CANARY}-url")
        snapshot = await page.snapshot()
        await page.type(snapshot.find(name="User"), "ada")
        await page.type(snapshot.find(name="Password"), f"{CANARY}-typed")
        await page.session.call("Network.getCookies")
        await page.session.call("Input.insertText", text=f"{CANARY}-inserted")
        assert f"sid={CANARY}-cookie" in str(await page.evaluate("document.cookie"))
        await page.session.call(
            "Network.setExtraHTTPHeaders", headers={"Authorization": f"Bearer {CANARY}-header"}
        )
        await page.session.call("Network.setCookie", name="b", value=f"{CANARY}-set", url=login)
        async with page.session.subscribe("Network.requestWillBeSent") as requests:
            await page.press("Enter", snapshot.find(name="Password"))
            await anext(requests)
        await page.close()
        assert recorder.statistics().lost == 0
    lines = read(path)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    written = b"\n".join(bytes(line.msg) + line.url.encode() + line.name.encode() for line in lines)
    assert CANARY.encode() not in written
    assert CANARY.encode() not in path.read_bytes()
    assert b"[redacted]" in written
    methods = {line.m for line in lines}
    assert {
        "Network.getCookies",
        "Input.insertText",
        "Network.requestWillBeSent",
        "Network.setCookie",
    } <= methods


async def test_unredacted_recording_contains_everything(browser: cdpengine.Browser, tmp_path: Path) -> None:
    path = tmp_path / "all.jsonl"
    async with debug.record(browser, path, unredacted=True):
        page = await browser.new_page()
        await page.evaluate(f"'{CANARY}'")
        await page.session.call("Input.insertText", text=f"{CANARY}-typed")
        await page.close()
    assert f"{CANARY}-typed".encode() in path.read_bytes()


async def test_actions_are_spans_and_sessions_have_targets(page: cdpengine.Page, tmp_path: Path) -> None:
    await page.set_content("<button>Go</button>")
    button = (await page.snapshot()).find(role="button")
    path = tmp_path / "a.jsonl"
    async with debug.record(page.browser, path):
        await page.click(button)
    lines = read(path)
    # The snapshot's trailing messages are in its span.
    (span,) = [line for line in lines if line.k == "span" and line.name != "page.snapshot"]
    (end,) = [line for line in lines if line.k == "span-end"]
    of_it = [line for line in lines if line.span == span.span]
    assert (of_it[0], of_it[-1]) == (span, end)
    assert end.ms is not None
    assert end.ms >= max(line.ms for line in of_it if line.ms is not None)
    assert end.t - span.t <= end.ms / 1000 + 1e-6
    assert span.name == f"page.click {button.id}"
    pressed = [line for line in lines if line.m == "Input.dispatchMouseEvent"]
    assert {line.k for line in pressed} == {"call", "reply"}
    assert {line.span for line in pressed} == {span.span}
    assert {line.T for line in pressed} == {page.target_id}
    assert all(line.ms is not None and line.ms > 0 for line in pressed if line.k == "reply")
    assert [line.n for line in lines] == list(range(1, len(lines) + 1))


async def test_failed_action_is_recorded_with_its_error(page: cdpengine.Page, tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    async with debug.record(page.browser, path):
        with pytest.raises(cdpengine.errors.EvaluationFailedError):
            await page.evaluate("null.x")
        with pytest.raises(cdpengine.errors.DeadlineExceededError):
            await page.evaluate("new Promise(() => {})", timeout=0.2)
        assert await page.evaluate("1") == 1
    ends = [line for line in read(path) if line.k == "span-end"]
    assert [line.failed for line in ends] == ["EvaluationFailedError", "EvaluationTimeoutError", ""]


async def test_messages_beyond_the_queue_are_counted_and_reported(
    page: cdpengine.Page, tmp_path: Path
) -> None:
    path = tmp_path / "a.jsonl"
    async with debug.record(page.browser, path, queued=50) as recorder:
        for _ in range(20):
            assert await page.session.call(
                "Runtime.evaluate", expression="'a text that is longer than the queue'"
            )
        lost = recorder.statistics().lost
    assert lost > 0
    lines = read(path)
    assert sum(line.count for line in lines if line.k == "lost") == lost


async def test_a_full_disk_is_reported_at_the_end(page: cdpengine.Page) -> None:
    if not Path("/dev/full").exists():
        pytest.skip("needs /dev/full")
    with pytest.raises(cdpengine.errors.FileNotWrittenError, match="no space is left on the disk"):
        async with debug.record(page.browser, "/dev/full"):
            for _ in range(2000):
                await page.session.call("Runtime.evaluate", expression="1")
    assert await page.evaluate("1 + 1") == 2


async def test_unwritable_file_is_refused_before_recording(page: cdpengine.Page, tmp_path: Path) -> None:
    with pytest.raises(cdpengine.errors.InvalidArgumentError, match="recording"):
        async with debug.record(page.browser, tmp_path / "no" / "folder"):
            pass


async def test_error_of_the_body_propagates_unchanged(page: cdpengine.Page, tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    with pytest.raises(ZeroDivisionError):
        async with debug.record(page.browser, path):
            raise ZeroDivisionError
    assert read(path)[-1].k == "end"


async def test_cancelled_at_each_step(page: cdpengine.Page, tmp_path: Path) -> None:
    async def operation() -> None:
        async with debug.record(page.browser, tmp_path / "a.jsonl", overwrite=True):
            await page.session.call("Runtime.evaluate", expression="1")

    async def after() -> None:
        assert not any(isinstance(watcher, TrafficRecorder) for watcher in page.browser.instruments.active)
        assert read(tmp_path / "a.jsonl")[-1].k == "end"

    assert await walk_cancellations(operation, after, every=one_in(8)) > 1


PROGRAM = """
import sys, trio, cdpengine
async def main():
    async with cdpengine.launch() as browser:
        page = await browser.new_page("data:text/html,<title>t</title>")
        print("ready", flush=True)
        while True:
            await page.evaluate("1")
trio.run(main)
"""


@contextmanager
def program(recording: Path, **options: Any) -> Iterator[subprocess.Popen[str]]:
    """PROGRAM, recorded, once its page is open. It has always ended after the block."""
    process = subprocess.Popen(
        [sys.executable, "-c", PROGRAM],
        env={**os.environ, "CDPENGINE_RECORD": str(recording)},
        stdout=subprocess.PIPE,
        text=True,
        **options,
    )
    with process:
        try:
            assert process.stdout is not None
            assert process.stdout.readline() == "ready\n"
            yield process
        finally:
            process.kill()


@pytest.mark.sample(3, start=1)
@pytest.mark.parametrize("name", ["killed.jsonl", "killed.jsonl.zst"])
async def test_recording_of_killed_program_is_readable(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    with program(path) as process:
        size = path.stat().st_size
        with trio.fail_after(20):
            while path.stat().st_size < size + 5_000:  # noqa: ASYNC110 - a file's size has no event
                await trio.sleep(0.05)
        process.send_signal(signal.SIGKILL)
        process.wait(10)
    with debug.open_recording(path) as recording:
        lines = list(recording)
        assert not recording.closed_in_order
        assert len(recording.damage) <= 1
    assert len(lines) > 50
    assert lines[-1].n in (len(lines), len(lines) + 1)


@pytest.mark.skipif(sys.platform == "win32", reason="Windows lacks this signal")
async def test_a_ctrl_c_in_the_terminal_leaves_a_whole_recording(tmp_path: Path) -> None:
    path = tmp_path / "interrupted.jsonl"
    with program(path, stderr=subprocess.DEVNULL, start_new_session=True) as process:
        os.killpg(process.pid, signal.SIGINT)
        process.wait(60)
    assert len(read(path)) > 10


def test_on_the_command_line(tmp_path: Path) -> None:
    path = tmp_path / "c.jsonl"
    done = subprocess.run(
        [sys.executable, "-m", "cdpengine", "evaluate", "--record", str(path), "data:text/html,", "1 + 1"],
        capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stdout) == (0, "2\n"), done.stderr
    assert any(line.m == "Runtime.evaluate" for line in read(path))
    again = run_here("evaluate", "--record", str(path), "data:text/html,", "1 + 1")
    assert again.returncode == 2
    assert f"{path}, which exists already, expected another name, or --force" in again.stderr
    assert list(tmp_path.iterdir()) == [path]
