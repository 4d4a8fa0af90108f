"""Traces of a browser that reports their end late, or never: each trace gets only its own data."""

from __future__ import annotations

from pathlib import Path

import pytest
import trio
from scripted_browser import ScriptedBrowser, quiet
from trio.testing import MockClock

import cdpengine
from cdpengine.testing import Refusal, Request

COMPLETE = "Tracing.tracingComplete"


def complete(scripted: ScriptedBrowser, stream: str) -> None:
    params = {"dataLossOccurred": False, "stream": stream, "traceFormat": "json", "streamCompression": "none"}
    scripted.tell(COMPLETE, params)


@pytest.fixture
def tracing(scripted: ScriptedBrowser) -> ScriptedBrowser:
    """A browser whose traces contain the name of their stream."""
    scripted.on("Tracing.start", result={})
    scripted.on("Tracing.end", result={})
    scripted.on(
        "IO.read", lambda request: {"data": request.params["handle"], "eof": True, "base64Encoded": False}
    )
    scripted.on("IO.close", result={})
    return scripted


def closed(scripted: ScriptedBrowser) -> list[str]:
    return [request.params["handle"] for request in scripted.received if request.method == "IO.close"]


async def give_up_on_one(browser: cdpengine.Browser, path: Path, clock: MockClock) -> None:
    clock.autojump_threshold = 0.5  # the clock does not wait for threads, which write the files
    with trio.CancelScope() as scope:
        async with browser.measure.trace(path, categories=["v8"]):
            scope.cancel()
            await trio.lowlevel.checkpoint()
    assert scope.cancelled_caught


async def test_the_end_of_an_abandoned_trace_is_not_confused_with_the_next(
    browser: cdpengine.Browser, tracing: ScriptedBrowser, tmp_path: Path, autojump_clock: MockClock
) -> None:
    await give_up_on_one(browser, tmp_path / "given up", autojump_clock)

    def late(request: Request) -> dict[str, object]:
        complete(tracing, "first")
        return {}

    def later(request: Request) -> dict[str, object]:
        if request.params["handle"] == "first":
            complete(tracing, "second")
        return {}

    tracing.on("Tracing.end", late)
    tracing.on("IO.close", later)
    async with browser.measure.trace(tmp_path / "next.json", categories=["v8"], overwrite=True) as trace:
        pass
    await quiet()
    assert (tmp_path / "next.json").read_text() == "second"
    assert trace.report is not None
    assert sorted(closed(tracing)) == ["first", "second"]


async def test_a_trace_without_an_end_takes_no_later_end(
    browser: cdpengine.Browser, tracing: ScriptedBrowser, tmp_path: Path, autojump_clock: MockClock
) -> None:
    tracing.on("Tracing.end", Refusal(-32000, "Tracing is not started"))
    await give_up_on_one(browser, tmp_path / "given up", autojump_clock)

    def end(request: Request) -> dict[str, object]:
        complete(tracing, "second")
        return {}

    tracing.on("Tracing.end", end)
    async with browser.measure.trace(tmp_path / "next.json", categories=["v8"]):
        pass
    await quiet()
    assert (tmp_path / "next.json").read_text() == "second"
    assert closed(tracing) == ["second"]
