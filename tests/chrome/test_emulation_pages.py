"""Emulation of device, place and person, checked in the first scripts of pages and in server logs."""

from __future__ import annotations

import gc
import warnings
from collections.abc import AsyncIterator
from typing import Any

import pytest
import trio
from pytest_httpserver import HTTPServer
from werkzeug import Request, Response

import cdpengine

TELL = """({
  size: [innerWidth, innerHeight], screen: [screen.width, screen.height], scale: devicePixelRatio,
  turned: screen.orientation.type,
  agent: navigator.userAgent, platform: navigator.platform,
  hints: navigator.userAgentData ? [navigator.userAgentData.platform, navigator.userAgentData.mobile] : null,
  languages: navigator.languages.join(), language: navigator.language,
  locale: Intl.DateTimeFormat().resolvedOptions().locale, zone: Intl.DateTimeFormat().resolvedOptions().timeZone,
  hour: new Date(0).getHours(), number: (1234.5).toLocaleString(),
  touch: [navigator.maxTouchPoints, matchMedia("(pointer: coarse)").matches],
  media: ["(prefers-color-scheme: dark)", "(prefers-reduced-motion: reduce)", "(forced-colors: active)",
    "(prefers-contrast: more)", "print"].map((query) => matchMedia(query).matches),
})"""

PAGE = f"""<!doctype html><title>t</title><meta name=viewport content="width=device-width"><script>first = {TELL};
place = () => new Promise((done) => navigator.geolocation.getCurrentPosition(
  ({{coords}}) => done([coords.latitude, coords.longitude, coords.accuracy]), (error) => done(error.code)));
worker = () => new Promise((done) => {{ new Worker("/worker.js").onmessage = (event) => done(event.data); }});
</script>"""

WORKER = """postMessage([navigator.userAgent, navigator.language, Intl.DateTimeFormat().resolvedOptions().timeZone]);"""


@pytest.fixture
def asked(httpserver: HTTPServer) -> list[dict[str, str]]:
    headers: list[dict[str, str]] = []

    def page(request: Request) -> Response:
        headers.append({key.lower(): value for key, value in request.headers.items()})
        return Response(PAGE, content_type="text/html", headers={"Accept-CH": "Sec-CH-UA-Model"})

    httpserver.expect_request("/").respond_with_handler(page)
    httpserver.expect_request("/worker.js").respond_with_data(WORKER, content_type="text/javascript")
    return headers


@pytest.fixture
def site(httpserver: HTTPServer, asked: list[dict[str, str]]) -> str:
    return httpserver.url_for("/")


@pytest.fixture
async def shown(browser: cdpengine.Browser, site: str) -> AsyncIterator[cdpengine.Page]:
    """A page in its own context, so that it shares a process with no page of another test."""
    async with browser.new_context() as context:
        yield await context.new_page(site)


async def told(page: cdpengine.Page) -> Any:
    return await page.evaluate(TELL)


async def back(page: cdpengine.Page, before: Any) -> None:
    """Wait until a page is as before: its viewport changes with the next frames."""
    with trio.move_on_after(20):
        while await told(page) != before:
            pass
    assert await told(page) == before


async def first(page: cdpengine.Page) -> Any:
    """Return the values that the document's first script saw."""
    await page.wait_for(load_state="load", timeout=10)
    return await page.evaluate("first")


ALL: dict[str, Any] = {
    "device": "Pixel 9",
    "locale": "de-DE",
    "timezone": "Asia/Tokyo",
    "geolocation": (12.5, -7, 50),
    "color_scheme": "dark",
    "reduced_motion": "reduce",
    "forced_colors": "active",
    "contrast": "more",
    "media": "print",
}
ALL["geolocation"] = cdpengine.emulation.Geolocation(12.5, -7, 50)


async def test_all_settings_apply_in_the_block_and_end_with_it(
    browser: cdpengine.Browser, shown: cdpengine.Page, site: str, asked: list[dict[str, str]]
) -> None:
    await shown.context.emulation.grant_permissions("geolocation")
    before = await told(shown)
    async with shown.emulation.set(**ALL):
        await shown.reload()
        seen = await first(shown)
        assert seen["size"] == [412, 847]
        assert (seen["screen"], seen["scale"], seen["turned"]) == ([412, 923], 2.625, "portrait-primary")
        assert "Android 10; K" in seen["agent"]
        assert f"Chrome/{browser.version.number.partition('.')[0]}.0.0.0 Mobile" in seen["agent"]
        assert (seen["platform"], seen["hints"]) == ("Linux armv81", ["Android", True])
        assert (seen["languages"], seen["language"], seen["locale"]) == ("de-DE,de", "de-DE", "de-DE")
        assert (seen["zone"], seen["hour"], seen["number"]) == ("Asia/Tokyo", 9, "1.234,5")
        assert seen["touch"] == [5, True]
        assert seen["media"] == [True] * 5
        assert await shown.evaluate("place()") == [12.5, -7, 50]
        assert await shown.evaluate("worker()") == [seen["agent"], "de-DE", "Asia/Tokyo"]
        await shown.reload()
        headers = asked[-1]
        assert headers["accept-language"] == "de-DE,de;q=0.9"
        assert headers["user-agent"] == seen["agent"]
        assert headers["sec-ch-ua-mobile"] == "?1"
        assert headers["sec-ch-ua-platform"] == '"Android"'
        assert headers["sec-ch-ua-model"] == '"Pixel 9"'
    await back(shown, before)
    await shown.reload()
    assert await first(shown) == before
    assert "accept-language" in asked[-1]
    assert asked[-1]["user-agent"] == before["agent"]


async def test_popups_and_their_popups_have_settings_before_first_script(
    browser: cdpengine.Browser, shown: cdpengine.Page
) -> None:
    before = await told(shown)
    async with shown.emulation.set(**ALL):
        async with shown.expect_popup(timeout=10) as popup:
            await shown.evaluate("void open(location.href)")
        async with popup.value.expect_popup(timeout=10) as second:
            await popup.value.evaluate("void open(location.href, '_blank', 'noopener')")
        await shown.reload()
        for page in (popup.value, second.value):
            assert await first(page) == await first(shown)
        # One of them overrides the setting.
        async with second.value.emulation.set(color_scheme="light", device=None):
            seen = await told(second.value)
            assert seen["media"] == [False, True, True, True, True]
            assert seen["agent"] == before["agent"]
        await back(second.value, await first(second.value))
    for page in (popup.value, second.value):
        await page.reload()
        assert await first(page) == before
        await page.close()


@pytest.mark.slow
async def test_cross_site_frames_have_settings_before_first_script(
    shared_endpoint: str, site: str, httpserver: HTTPServer
) -> None:
    other = f"http://localhost:{httpserver.port}/"
    httpserver.expect_request("/frames").respond_with_data(
        f"<iframe src='{other}'></iframe>", content_type="text/html"
    )
    async with cdpengine.launch(args=["--site-per-process"]) as browser:
        page = await browser.new_page()
        async with page.emulation.set(**ALL):
            await page.goto(site + "frames")
            [session] = [
                one for one in page.internals.target.frame_sessions.values() if one is not page.session
            ]
            reply = await session.call("Runtime.evaluate", expression="first", returnByValue=True)
            seen = reply["result"]["value"]
            assert "Android 10; K" in seen["agent"]
            assert (seen["zone"], seen["locale"], seen["language"]) == ("Asia/Tokyo", "de-DE", "de-DE")
            assert seen["touch"] == [5, True]
            assert seen["media"] == [True] * 5
        with trio.move_on_after(20):
            while True:  # a page's colours reach its frames when these are drawn again
                reply = await session.call("Runtime.evaluate", expression=TELL, returnByValue=True)
                seen = reply["result"]["value"]
                if seen["media"] == [False] * 5:
                    break
        assert "Android" not in seen["agent"]
        assert seen["zone"] != "Asia/Tokyo"
        assert seen["media"] == [False] * 5


async def test_lasting_settings_add_up_until_they_are_reset(shown: cdpengine.Page) -> None:
    before = await told(shown)
    await shown.emulation.set(timezone="Asia/Tokyo", color_scheme="dark")
    await shown.emulation.set(viewport=(500, 400), color_scheme="light")
    await shown.reload()
    seen = await first(shown)
    assert (seen["zone"], seen["size"], seen["media"][0]) == ("Asia/Tokyo", [500, 400], False)
    async with shown.emulation.set(timezone="Europe/Paris", viewport="default"):
        await back(
            shown,
            {**seen, "zone": "Europe/Paris", "hour": 1, "size": before["size"], "screen": before["screen"]},
        )
        async with shown.emulation.set(timezone=None):
            assert (await told(shown))["zone"] == before["zone"]
        assert (await told(shown))["zone"] == "Europe/Paris"
    assert (await told(shown))["zone"] == "Asia/Tokyo"
    await shown.emulation.set_viewport(600, 300)
    with trio.fail_after(10):
        while (await told(shown))["size"] != [600, 300]:
            pass
    await shown.emulation.reset()
    await back(shown, before)


async def test_scopes_may_end_in_any_order(shown: cdpengine.Page) -> None:
    before = await told(shown)
    one, two = (
        shown.emulation.set(color_scheme="dark", timezone="Asia/Tokyo"),
        shown.emulation.set(color_scheme="light"),
    )
    await one.__aenter__()
    await two.__aenter__()
    assert (await told(shown))["media"][0] is False
    await one.__aexit__(None, None, None)
    seen = await told(shown)
    assert (seen["media"][0], seen["zone"]) == (False, before["zone"])
    await two.__aexit__(None, None, None)
    await back(shown, before)


async def test_context_settings_apply_to_all_its_pages(browser: cdpengine.Browser, site: str) -> None:
    async with browser.new_context(
        timezone="Asia/Tokyo",
        locale="fr-FR",
        device="iPhone 16",
        geolocation=(1, 2),
        permissions=["geolocation"],
    ) as context:
        page = await context.new_page(site)
        seen = await first(page)
        assert (seen["zone"], seen["locale"], seen["size"][0]) == ("Asia/Tokyo", "fr-FR", 393)
        assert "iPhone OS 18_5" in seen["agent"]
        assert seen["hints"] in (None, ["", False])
        assert await page.evaluate("place()") == [1, 2, 1]
        async with context.emulation.set(geolocation="unavailable", color_scheme="dark"):
            assert await page.evaluate("place()") == 2, "POSITION_UNAVAILABLE"
            async with page.emulation.set(color_scheme="light"):
                assert (await told(page))["media"][0] is False
            other = await context.new_page(site)
            assert (await first(other))["media"][0] is True
        assert (await told(other))["media"][0] is False
        await context.emulation.reset()
        await other.reload()
        assert (await first(other))["zone"] != "Asia/Tokyo"
    async with browser.new_context() as context:
        page = await context.new_page(site)
        assert (await first(page))["zone"] != "Asia/Tokyo", "another context is unchanged"


@pytest.mark.sample(4)
@pytest.mark.parametrize(
    ("options", "what"),
    [
        ({}, "emulate"),
        ({"timezon": "UTC"}, "emulate"),
        ({"device": "iPhone 99"}, "device"),
        ({"timezone": "Nowhere/City"}, "timezone"),
        ({"locale": "xx-nonsense-foo"}, "locale"),
        ({"user_agent": "a\nb"}, "user_agent"),
        ({"viewport": (0, 0)}, "viewport"),
    ],
)
async def test_invalid_settings_change_nothing(
    shown: cdpengine.Page, options: dict[str, Any], what: str
) -> None:
    before = await told(shown)
    given = {**options, "color_scheme": "dark"} if options else {}
    with pytest.raises(cdpengine.errors.InvalidArgumentError) as caught:
        await shown.emulation.set(**given)
    assert caught.value.what.startswith(what)
    with pytest.raises(cdpengine.errors.InvalidArgumentError):
        async with shown.emulation.set(**given):
            raise AssertionError("impossible settings were applied")
    await back(shown, before)


async def test_settings_end_with_page_or_block(browser: cdpengine.Browser, site: str) -> None:
    async with browser.new_context() as context:
        page = await context.new_page(site)
        before = await told(page)
        with pytest.raises(ZeroDivisionError):
            async with page.emulation.set(**ALL):
                raise ZeroDivisionError
        await back(page, before)
        with trio.move_on_after(0.05):
            async with page.emulation.set(**ALL):
                await trio.sleep_forever()
        await back(page, before)
        async with page.emulation.set(**ALL):
            await page.close()
        with pytest.raises(cdpengine.errors.SessionGoneError):
            await page.emulation.set(timezone="UTC")


async def test_setting_neither_awaited_nor_entered_warns(shown: cdpengine.Page) -> None:
    with pytest.warns(
        RuntimeWarning, match=r"page\.emulation\.set\(\.\.\.\) was neither awaited nor entered"
    ):
        _dropped(shown)
    used = shown.emulation.set(timezone="UTC")
    await used
    with pytest.raises(RuntimeError, match="was used before"):
        await used
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        del used
        gc.collect()


def _dropped(page: cdpengine.Page) -> None:
    page.emulation.set(timezone="UTC")
    gc.collect()


async def test_hung_page_delays_no_context(browser: cdpengine.Browser, site: str) -> None:
    async with browser.new_context() as context:
        page, stuck = await context.new_page(site), await context.new_page(site)
        async with trio.open_nursery() as nursery:
            nursery.start_soon(_hang, stuck)
            with trio.fail_after(20):
                while await stuck.measure.unresponsive_for() == 0:
                    pass
            with trio.fail_after(20):
                async with context.emulation.set(color_scheme="dark"):
                    assert (await told(page))["media"][0] is True
                assert (await told(page))["media"][0] is False
            nursery.cancel_scope.cancel()
        assert (await told(stuck))["media"][0] is False


async def _hang(page: cdpengine.Page) -> None:
    await page.evaluate("while (true) {}", timeout=60)


async def test_a_popup_keeps_the_size_that_its_opener_gives(browser: cdpengine.Browser) -> None:
    async with browser.new_context(viewport=(900, 700)) as context:
        page = await context.new_page()
        await page.emulation.set_viewport(800, 600)
        for features, size in (
            ("width=320,height=240", [320, 240]),
            ("", [800, 600]),
            ("noopener", [800, 600]),
        ):
            async with page.expect_popup(timeout=10) as expected:
                await page.evaluate(f"void open('about:blank', '_blank', '{features}')")
            popup = expected.value
            assert await popup.evaluate("[innerWidth, innerHeight]") == pytest.approx(size, abs=1)
            await popup.emulation.set_viewport(500, 400)
            assert await popup.evaluate("[innerWidth, innerHeight]") == [500, 400]
            await popup.close()
