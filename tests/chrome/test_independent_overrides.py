"""Several overrides of one setting end alone, in any order, and leave the others in effect."""

from __future__ import annotations

import itertools
import json
from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager
from typing import Any

import pytest
from network_site import ASK, Site
from pytest_httpserver import HTTPServer

import cdpengine
from cdpengine.network import NetworkConditions

ORDERS = list(itertools.permutations(range(3)))
ENTERED = ("awaited", "entered", "both")


@pytest.fixture
def site(httpserver: HTTPServer) -> Site:
    return Site(httpserver)


async def extra_header(page: cdpengine.Page) -> object:
    said = await page.evaluate(ASK, "/echo/a")
    return json.loads(said[1])[3]


async def latest_speed(page: cdpengine.Page) -> object:
    """Return the estimated round trip, which the conditions set."""
    return await page.evaluate("navigator.connection.rtt")


async def emulated(page: cdpengine.Page) -> object:
    return await page.evaluate("navigator.language")


def headers(page: cdpengine.Page, number: int) -> Any:
    return page.network.extra_headers({"X-Extra": str(number)})


def conditions(page: cdpengine.Page, number: int) -> Any:
    return page.network.conditions(NetworkConditions(latency=0.3 * (number + 1)))


def emulation(page: cdpengine.Page, number: int) -> Any:
    return page.emulation.set(locale=("de-DE", "fr-FR", "it-IT")[number])


def route(page: cdpengine.Page, number: int) -> Any:
    async def answer(route: cdpengine.Route) -> None:
        await route.fulfill(json=[0, 0, 0, str(number)])

    return page.route("*/echo/*", answer)


KINDS: dict[str, tuple[Callable[[cdpengine.Page, int], Any], Callable[[cdpengine.Page], Awaitable[object]]]]
KINDS = {
    "headers": (headers, extra_header),
    "conditions": (conditions, latest_speed),
    "emulation": (emulation, emulated),
    "routes": (route, extra_header),
}


@pytest.mark.parametrize(
    ("kind", "entered"),
    # Blocks of routes have nurseries, which trio ends only in reverse order.
    [("routes", "awaited"), *itertools.product(["headers", "conditions", "emulation"], ENTERED)],
)
async def test_overrides_of_one_setting_end_in_any_order(
    page: cdpengine.Page, site: Site, kind: str, entered: str
) -> None:
    make, read = KINDS[kind]
    await page.goto(site.url)
    usual = await read(page)
    alone = []
    for number in range(3):
        async with make(page, number):
            alone.append(await read(page))
    assert len({*alone, usual}) == 4, "each override is visible"
    for order in ORDERS:
        ends: list[Callable[[], Awaitable[object]]] = []
        for number in range(3):
            scope: AbstractAsyncContextManager[Any] = make(page, number)
            if entered == "entered" or (entered == "both" and number != 1):
                await scope.__aenter__()
                ends.append(lambda scope=scope: scope.__aexit__(None, None, None))  # type: ignore[misc]
            else:
                await scope  # type: ignore[misc]
                ends.append(scope.aclose)  # type: ignore[attr-defined]
        left = {0, 1, 2}
        if entered != "both":
            assert await read(page) == alone[2]
        for number in order:
            await ends[number]()
            left.remove(number)
            if entered != "both":
                assert await read(page) == (alone[max(left)] if left else usual), (order, number)
            elif left:
                assert await read(page) in {alone[each] for each in left}, (order, number)
        assert await read(page) == usual


async def test_overrides_of_different_options_are_combined_and_end_alone(
    page: cdpengine.Page, site: Site
) -> None:
    await page.goto(site.url)
    read = "[navigator.language, matchMedia('(prefers-color-scheme: dark)').matches, innerWidth]"
    usual = await page.evaluate(read)
    options: list[dict[str, Any]] = [
        {"locale": "de-DE"}, {"color_scheme": "dark"}, {"viewport": (500, 400)}
    ]  # fmt: skip
    changed = ["de-DE", True, 500]
    for order in ORDERS:
        scopes = [page.emulation.set(**each) for each in options]
        for scope in scopes:
            await scope
        expected = list(changed)
        assert await page.evaluate(read) == expected
        for number in order:
            await scopes[number].aclose()
            expected[number] = usual[number]
            await page.wait_for(expression=f"innerWidth == {expected[2]}", timeout=5)
            assert await page.evaluate(read) == expected, (order, number)
