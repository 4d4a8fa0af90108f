"""Mistakes of the caller: each is named with the missing condition, and none counts as a failure of the
entry.
"""

from __future__ import annotations

import socket
from collections.abc import Callable, Iterator
from typing import Any

import attrs
import pytest
import trio
from cache_executions import LOG, log_of, targets_of
from cache_login import GOAL, VALUES, begin, single
from cache_site.server import CacheSite

from cdpengine import Page
from cdpengine.act import Actor, ActRequest, Click, Fill, FormField, Navigate, Select, dispatch
from cdpengine.cache import (
    ActionCache,
    CacheEntry,
    CacheRequests,
    PostCondition,
    Step,
    Viewport,
    make_entry,
    make_key,
    read_features,
)
from cdpengine.cache.replaying import execution
from cdpengine.errors import CacheMissError, VariablesError

pytestmark = pytest.mark.chrome

WRONG = {**VALUES, "password": "not-the-one"}


async def figures_of(cache: ActionCache) -> tuple[int, int, int, int]:
    """Return the successes, failures, mistakes and consecutive failures of the only entry."""
    (entry,) = await cache.list()
    found = entry.statistics
    return found.successes, found.failures, found.mistakes, found.failed_in_row


async def test_wrong_password_is_reported_and_does_not_count_against_the_entry(
    page: Page, site: CacheSite, cache: ActionCache, known: CacheEntry
) -> None:
    for _ in range(3):
        await begin(page, site)
        with trio.fail_after(8):  # the engine waits at most 10 s for the address
            report = await cache.execute(page, "login", variables=WRONG)
        assert (report.ok, report.fault, report.stopped_at) == (False, "rejected", 3)
        assert "The user name or the password is wrong." in report.reason
        assert f"waited for the address {site.url}/account" in report.reason
        assert f"is at {site.url}/login?again" in report.reason
        assert "not-the-one" not in str(report.to_json())
    assert await figures_of(cache) == (0, 0, 3, 0)
    await begin(page, site)
    done = await cache.perform(page, GOAL, variables={"password": "also wrong"}, planner=never)
    assert (done.outcome, done.replay is not None and done.replay.fault) == ("failed", "rejected")
    await begin(page, site)
    assert (await cache.execute(page, "login", variables=VALUES)).ok
    assert await figures_of(cache) == (1, 0, 4, 0)
    found = await cache.statistics()
    assert (found.runs, found.successes, found.failures, found.mistakes) == (5, 1, 0, 4)


async def never(*_: Any) -> Any:
    pytest.fail("the planner was called for a mistake of the caller")


FORM = (
    """<!doctype html><title>Form</title><h1>Form</h1><form aria-label=Order onsubmit="{script}; return false">
<label>City <input id=city></label><label>Size <select id=size><option>Small<option>Large</select></label>
{more}<button id=go>Send</button></form><p id=out></p>"""
    + LOG
)

SAYS: dict[str, tuple[str, str, str, str]] = {
    # The page's reaction to Send, extra fields of the form, the fault, and a word of the reason.
    "an alert": ("say('alert', 'We do not go there')", "", "rejected", "We do not go there"),
    "an alert in another language": (
        "say('alert', 'Dahin fahren wir leider')",
        "",
        "rejected",
        "Dahin fahren",
    ),
    "a class": ("say('', 'Unknown city', 'field-error')", "", "rejected", "Unknown city"),
    "a dialog": ("alert('Unknown city')", "", "rejected", "Unknown city"),
    "a mark": ("city.setAttribute('aria-invalid', 'true')", "", "rejected", "'City'"),
    "an error of the server": ("location = '/broken'", "", "unreachable", "status 503"),
    "success in other words": ("say('status', 'Your order was stored')", "", "changed", "Sent"),
    "another page": ("location = '/elsewhere'", "", "changed", "Sent"),
    "a new field": ("", "<label>Code <input required></label>", "changed", "Sent"),
}
SAY = """<script>function say(role, text, kind) {
  const at = document.createElement("p"); at.role = role; at.className = kind || ""; at.textContent = text; document.body.append(at);
}</script>"""


def show(script: str, more: str = "") -> str:
    return FORM.replace("{script}", script.replace('"', "'")).replace("{more}", more) + SAY


async def learn(page: Page, cache: ActionCache, url: str) -> CacheEntry:
    """Keep the entry of the order form, described on the page at `url`."""
    await page.goto(url)
    targets = await targets_of(page, t1="textbox City", t2="combobox Size", t3="button Send")
    city = Fill(fields=(FormField(ref="t1", value="${city}"),))
    steps = [
        Step(request=city, targets={"t1": targets["t1"]}),
        Step(request=Select(ref="t1", values=("${size}",)), targets={"t1": targets["t2"]}),
        Step(request=Click(ref="t1"), targets={"t1": targets["t3"]}, after=PostCondition(text="Sent")),
    ]
    key = make_key("order", url, Viewport(width=780, height=493), ROME)
    features = read_features(await page.snapshot())
    return await cache.store.put(make_entry(key, steps, now=1.0, expires_at=1e12, features=features))


RIGHT = "say('status', 'Sent')"
ROME = {"city": "Rome", "size": "Large"}


@pytest.mark.sample(3)
@pytest.mark.parametrize("what", SAYS)
async def test_page_messages_distinguish_refused_values_from_page_change(
    what: str,
    page: Page,
    serve: Callable[..., str],
    httpserver: Any,
    cache: ActionCache,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    script, more, fault, word = SAYS[what]
    monkeypatch.setattr(execution, "_LEADING", 3)
    await learn(page, cache, serve(show(RIGHT), "/order"))
    url = serve(show(script, more), "/order")
    httpserver.expect_request("/broken").respond_with_data("down", status=503, content_type="text/html")
    httpserver.expect_request("/elsewhere").respond_with_data(
        "<h1>Another page</h1>", content_type="text/html"
    )
    await page.goto(url)
    report = await cache.execute(page, "order", variables=ROME, force=True)
    assert (report.ok, report.fault) == (False, fault), report.reason
    assert word in report.reason
    failed = fault == "changed"
    assert await figures_of(cache) == (0, int(failed), int(not failed), int(failed))


@pytest.fixture
def dead() -> Iterator[str]:
    """The URL of a closed port."""
    with socket.socket() as bound:
        bound.bind(("127.0.0.1", 0))
        yield f"http://127.0.0.1:{bound.getsockname()[1]}/"


def page_entry(page: Page, request: ActRequest, *variables: str) -> CacheEntry:
    key = make_key("open", page.url, Viewport(width=780, height=493), variables)
    return make_entry(key, [Step(request=request)], now=1.0, expires_at=1e12)


async def test_values_that_the_page_does_not_have(
    page: Page, serve: Callable[..., str], cache: ActionCache
) -> None:
    entry = await learn(page, cache, serve(show(RIGHT), "/order"))
    await page.goto(serve(show(RIGHT), "/order"))
    with trio.fail_after(8):
        report = await cache.execute(page, "order", variables={"city": "Rome", "size": "Huge"})
    assert (report.fault, report.stopped_at) == ("value", 1), report.reason
    assert "Small" in report.reason
    # The same list without a value from the caller: the learned option is gone.
    await cache.clear()
    chosen = attrs.evolve(single(entry, 1), request=Select(ref="t1", values=("Small",)))
    key = attrs.evolve(entry.key, variables=("city",))
    steps = (single(entry, 0), chosen, single(entry, 2))
    await cache.store.put(attrs.evolve(entry, key=key, steps=steps))
    await page.goto(serve(show(RIGHT).replace("<option>Small", ""), "/order"))
    report = await cache.execute(page, "order", variables={"city": "Rome"})
    assert (report.fault, report.stopped_at) == ("changed", 1), report.reason
    await cache.clear()
    links = "<h1>Shop</h1><nav aria-label=Goods><a href=#a>Cup</a> <a href=#b>Bowl</a></nav>"
    await page.goto(serve(links, "/goods"))
    async with cache.learn(page, scenario="goods", variables={"product": "Cup"}):
        await page.click(page.locate(role="link", name="Cup"))
    for product, expected in (("Bowl", None), ("Plate", "value")):
        await page.goto(serve(links, "/goods"))
        report = await cache.execute(page, "goods", variables={"product": product}, patience=0.1)
        assert report.fault == expected, report.reason
    assert await figures_of(cache) == (1, 0, 1, 0)
    await page.goto(serve("<h1>Shop</h1>", "/goods"))
    report = await cache.execute(page, "goods", variables={"product": "Bowl"}, patience=0.1, force=True)
    assert report.fault == "changed"
    assert await figures_of(cache) == (1, 1, 1, 1)


async def test_addresses_and_servers(
    page: Page, serve: Callable[..., str], httpserver: Any, cache: ActionCache, dead: str
) -> None:
    await page.goto(serve("<h1>Start</h1>", "/start"))
    entry = page_entry(page, Navigate(url="${place}"), "place")
    await cache.store.put(entry)
    for place, fault in (
        (dead, "unreachable"),
        ("http://no-such-host.invalid/", "address"),
        ("no url", "address"),
    ):
        report = await cache.execute(page, entry.key.id, variables={"place": place})
        assert report.fault == fault, (place, report.reason)
        assert place.partition("//")[2].strip("/") in report.reason
    assert await figures_of(cache) == (0, 0, 3, 0)
    # A page of another address, an error page, and a failing server.
    await cache.clear()
    order = await learn(page, cache, serve(show(RIGHT), "/order"))
    await page.goto(serve("<h1>Other</h1>", "/other"))
    report = await cache.execute(page, order.key.id, variables=ROME)
    assert (report.fault, report.stopped_at) == ("address", None)
    httpserver.clear()
    httpserver.expect_request("/order").respond_with_data(
        "<h1>Down</h1>", status=503, content_type="text/html"
    )
    await page.goto(order.key.address)
    report = await cache.execute(page, "order", variables=ROME, patience=0.1)
    assert report.fault == "unreachable", report.reason
    assert "503" in report.reason
    # A step that leads to a server that does not exist.
    httpserver.clear()
    await page.goto(serve(show(f"location = '{dead}'"), "/order"))
    with trio.fail_after(8):
        report = await cache.execute(page, "order", variables=ROME)
    assert report.fault == "unreachable", report.reason
    assert "waited for" in report.reason
    assert await figures_of(cache) == (0, 0, 3, 0)


async def test_the_callers_time_cancellation_variables_and_limits(
    page: Page, serve: Callable[..., str], cache: ActionCache, monkeypatch: pytest.MonkeyPatch
) -> None:
    await learn(page, cache, serve(show(RIGHT), "/order"))
    silent = show("say('', 'pressed')")
    await page.goto(serve(silent, "/order"))
    report = await cache.execute(page, "order", variables=ROME, timeout=1, force=True)
    assert report.fault == "timeout", report.reason
    await page.goto(serve(silent, "/order"))
    async with trio.open_nursery() as nursery:

        async def cancel() -> None:
            await page.wait_for(text="pressed")
            scope.cancel()

        nursery.start_soon(cancel)
        with trio.CancelScope() as scope:
            done = await cache.execute(page, "order", variables=ROME, force=True)
            pytest.fail(done.reason)
    assert scope.cancelled_caught
    with pytest.raises(VariablesError):
        await cache.execute(page, "order", variables={"city": "Rome"})
    await page.goto(serve(show(RIGHT), "/order"))
    actor = Actor(page.browser, evaluate_enabled=False, cache=CacheRequests(cache))
    actor.focus(page)
    assert await figures_of(cache) == (0, 0, 1, 0)
    found = await cache.statistics()
    assert (found.runs, found.mistakes, found.cancelled, found.refused, found.misses) == (2, 1, 1, 1, 0)
    await cache.clear()
    await cache.store.put(page_entry(page, Navigate(url="${place}"), "place"))
    response = await dispatch(
        actor, {"kind": "executeCached", "scenario": "open", "variables": {"place": "javascript:1"}}
    )
    assert response.result["fault"] == "forbidden"
    assert await figures_of(cache) == (0, 0, 1, 0)


async def test_closed_page_does_not_count_against_the_entry(
    new_tab: Page, serve: Callable[..., str], cache: ActionCache
) -> None:
    await learn(new_tab, cache, serve(show(RIGHT), "/order"))
    await new_tab.goto(serve(show("say('', 'pressed')"), "/order"))
    async with trio.open_nursery() as nursery:

        async def close() -> None:
            await new_tab.wait_for(text="pressed")
            await new_tab.close()

        nursery.start_soon(close)
        report = await cache.execute(new_tab, "order", variables=ROME, force=True)
    assert report.fault == "ended", report.reason
    assert await figures_of(cache) == (0, 0, 1, 0)


async def test_only_a_changed_page_condemns_an_entry(
    page: Page, serve: Callable[..., str], cache: ActionCache
) -> None:
    await learn(page, cache, serve(show(RIGHT), "/order"))
    for run in range(3):
        await page.goto(serve(show(RIGHT).replace(">Send<", ">Delete<"), "/order"))
        report = await cache.execute(page, "order", variables=ROME, patience=0.1)
        assert (report.fault, report.stopped_at) == ("changed", 2), report.reason
        assert await figures_of(cache) == (0, run + 1, 0, run + 1)
    with pytest.raises(CacheMissError, match="its last 3 runs failed"):
        await cache.execute(page, "order", variables=ROME)
    assert await log_of(page)
