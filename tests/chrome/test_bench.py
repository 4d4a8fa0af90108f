"""Measuring a real browser from the command line and from a program, without leftovers."""

from __future__ import annotations

from functools import partial

import trio

import cdpengine
from cdpengine.bench import QUICK, Case, Figure, measure_browser


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
