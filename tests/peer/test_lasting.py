"""Lasting settings, ended individually: each way to set something, on a page and on a context."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import trio
from scripted_browser import ScriptedBrowser, quiet

import cdpengine
from cdpengine.testing import walk_cancellations

Owner = Any


async def handler(_route: object) -> None:
    """Do nothing."""


async def greet(_name: str) -> str:
    return "hello"


WAYS: dict[str, Callable[[Owner, int, Path], Any]] = {
    "route": lambda owner, number, _folder: owner.route(f"https://{number}.example/*", handler),
    "expose": lambda owner, number, _folder: owner.scripts.expose(f"greet{number}", greet),
    "add_init_script": lambda owner, number, _folder: owner.scripts.add_init_script(f"n = {number}"),
    "extra_headers": lambda owner, number, _folder: owner.network.extra_headers({f"X-{number}": "1"}),
    "http_credentials": lambda owner, number, _folder: owner.network.http_credentials(
        f"user{number}", "password"
    ),
    "network_conditions": lambda owner, number, _folder: owner.network.conditions(
        ["slow 3g", "slow 4g"][number - 1]
    ),
    "offline": lambda owner, _number, _folder: owner.network.offline(),
    "throttle_cpu": lambda owner, number, _folder: owner.network.throttle_cpu(number + 1),
    "bypass_service_workers": lambda owner, _number, _folder: owner.network.bypass_service_workers(),
    "emulate": lambda owner, number, _folder: owner.emulation.set(
        timezone=["Europe/Rome", "Asia/Tokyo"][number - 1]
    ),
    "set_permissions": lambda owner, number, _folder: owner.emulation.set_permissions(
        {"geolocation": ["granted", "denied"][number - 1]}
    ),
    "grant_permissions": lambda owner, number, _folder: owner.emulation.grant_permissions(
        ["midi", "camera"][number - 1]
    ),
    "allow_downloads": lambda owner, number, folder: owner.allow_downloads(folder / str(number)),
}
OF_CONTEXTS = ("set_permissions", "grant_permissions", "allow_downloads")
CASES = [(way, on) for way in WAYS for on in ("page", "context") if on == "context" or way not in OF_CONTEXTS]


def commands_since(scripted: ScriptedBrowser, since: int) -> list[tuple[str, object]]:
    """The commands that the browser received, in any order."""
    return sorted(((each.method, str(each.params)) for each in scripted.received[since:]), key=str)


@pytest.mark.parametrize(("way", "on"), CASES)
async def test_each_is_ended_alone(
    scripted: ScriptedBrowser, browser: cdpengine.Browser, tmp_path: Path, way: str, on: str
) -> None:
    scripted.on("Page.addScriptToEvaluateOnNewDocument", result={"identifier": "1"})
    context = browser.context
    page = await browser.new_page()
    owner = page if on == "page" else context
    one, two = (WAYS[way](owner, number, tmp_path) for number in (1, 2))
    await one
    await quiet()
    alone = scripted.received[-1]
    await two
    await quiet()
    before = len(scripted.received)
    await one.aclose()
    await quiet()
    after_one = len(scripted.received)
    await one.aclose()
    await quiet()
    assert len(scripted.received) == after_one, "it had ended"
    await two.aclose()
    await quiet()
    assert commands_since(scripted, before), f"the browser received no end command ({alone.method})"
    one_again = WAYS[way](owner, 1, tmp_path)
    async with one_again:  # the same setting also works for a block
        pass
    with pytest.raises(RuntimeError, match="was not awaited"):
        await one_again.aclose()


async def test_remaining_settings_stay_in_effect(
    scripted: ScriptedBrowser, browser: cdpengine.Browser, tmp_path: Path
) -> None:
    """Whichever of three ends first, the others stay in effect, and the latest of them wins."""
    page = await browser.new_page()

    def zone() -> object:
        return browser.internals.emulations.settings_of(page.internals.target).get("timezone")

    first, second, third = (
        page.emulation.set(timezone=name) for name in ("Europe/Rome", "Asia/Tokyo", "Europe/Oslo")
    )
    for each in (first, second, third):
        await each
    other = page.emulation.set(locale="de-DE")
    await other
    await third.aclose()
    assert zone() == "Asia/Tokyo"
    await first.aclose()
    assert zone() == "Asia/Tokyo"
    await second.aclose()
    assert zone() is None
    assert browser.internals.emulations.settings_of(page.internals.target)
    await page.emulation.reset()
    await other.aclose()  # the reset already ended it
    assert browser.internals.emulations.settings_of(page.internals.target) == {}

    allowed = browser.context.allow_downloads(tmp_path / "one")
    await allowed
    assert await browser.context.allow_downloads(tmp_path / "two") == (tmp_path / "two").resolve()
    assert browser.internals.downloads.allowed(None) == (tmp_path / "two").resolve()
    await allowed.aclose()
    assert browser.internals.downloads.allowed(None) == (tmp_path / "two").resolve()


async def test_settings_that_are_never_ended_do_not_accumulate(browser: cdpengine.Browser) -> None:
    page = await browser.new_page()
    first = page.emulation.set(timezone="Europe/Rome")
    await first
    for width in range(150):
        await page.emulation.set_viewport(100 + width, 100)
    kept = browser.internals.emulations._lasting[page.target_id]
    assert len(kept.parts) == 100
    await first.aclose()  # too old to identify, so it stays in effect
    assert browser.internals.emulations.settings_of(page.internals.target)["timezone"] == "Europe/Rome"


async def test_a_cancelled_end_still_ends_the_setting(browser: cdpengine.Browser) -> None:
    async def once() -> None:
        page = await browser.new_page()
        async with trio.open_nursery() as nursery:
            nursery.start_soon(quiet)
        slow = page.network.throttle_cpu(4)
        await slow
        try:
            await slow.aclose()
        finally:
            with trio.CancelScope(shield=True):
                await quiet()
                assert page.network._scope._registry._scopes == []
                await page.close()

    await walk_cancellations(once)
