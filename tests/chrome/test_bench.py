"""Measuring a real browser from the command line and from a program, without leftovers."""

from __future__ import annotations

import json
import subprocess
import sys
from functools import partial

import pytest
import trio

import cdpengine
from cdpengine.bench import QUICK, Case, Figure, measure_browser


async def open_pages(browser: cdpengine.Browser) -> set[str]:
    reply = await browser.session.call("Target.getTargets")
    return {info["targetId"] for info in reply["targetInfos"] if info["type"] == "page"}


@pytest.mark.slow
async def test_the_command_measures_a_running_browser_and_leaves_nothing(
    browser: cdpengine.Browser, shared_endpoint: str
) -> None:
    before = await open_pages(browser)
    command = [sys.executable, "-m", "cdpengine", "bench", shared_endpoint, "--quick", "--json"]
    command += ["--url", "data:text/html,<button>Go</button><button>Stay</button><a href=x>There</a><input>"]
    run = partial(subprocess.run, command, capture_output=True, text=True, timeout=120, check=False)
    done = await trio.to_thread.run_sync(run)
    assert done.returncode == 0, done.stdout + done.stderr
    answer = json.loads(done.stdout)
    figures = {figure["name"]: figure for figure in answer["figures"]}
    assert not [figure for figure in figures.values() if figure["cannot"]]
    assert all(figure["median"] > 0 for figure in figures.values())
    assert {"connect", "round trip, page", "throughput 1 x 5", "events", "click", "snapshot"} <= set(figures)
    assert "by computed" in figures["snapshot"]["detail"]
    assert answer["product"] == browser.version.product
    assert await open_pages(browser) <= before, "its tabs are closed"


async def test_failed_measurement_names_the_reason(browser: cdpengine.Browser) -> None:
    async def refused() -> list[Figure]:
        async with trio.open_nursery() as nursery:
            nursery.start_soon(partial(browser.session.call, "Browser.nonsense"))
        return []

    async def never() -> list[Figure]:
        await trio.Event().wait()
        return []

    (figure,) = await Case((("a", "ms"),), refused).run(60)
    assert (figure.name, figure.values) == ("a", ())
    assert "RemoteError: Browser.nonsense" in figure.cannot
    first, second = await Case((("b", "ms"), ("c", "calls/s")), never).run(0.01)
    assert (first.cannot, second.cannot) == ("it did not end within 0.01 s",) * 2


async def test_cancelled_measurement_closes_its_tabs(browser: cdpengine.Browser) -> None:
    before = {page.target_id for page in browser.pages}
    async with trio.open_nursery() as nursery:
        nursery.start_soon(partial(measure_browser, browser, effort=QUICK))
        await browser.wait_for_page(where=lambda page: page.target_id not in before)
        nursery.cancel_scope.cancel()
    assert {page.target_id for page in browser.pages} == before
