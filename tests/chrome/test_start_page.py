"""The blank page that a browser opens at its start: the first new page, unless the program has seen it."""

from __future__ import annotations

from pathlib import Path

import cdpengine

HISTORY = "[history.length, document.referrer, document.visibilityState, opener]"


async def test_first_new_page_is_the_blank_page_of_the_start() -> None:
    async with cdpengine.launch() as browser:
        first = await browser.new_page("data:text/html,<title>first</title>")
        assert browser.pages == [first]
        second = await browser.new_page("data:text/html,<title>second</title>")
        assert browser.pages == [first, second]
        assert await first.title() == "first"
        assert await first.evaluate(HISTORY) == await second.evaluate(HISTORY) == [2, "", "visible", None]
        await first.close()
        await second.close()
        assert browser.pages == []
        third = await browser.new_page(
            "data:text/html,<title>third</title>"
        )  # the browser runs without a page
        assert await third.title() == "third"


async def test_settings_of_the_browser_reach_the_first_document() -> None:
    async with cdpengine.launch(viewport=(700, 500), activity=True) as browser:
        await browser.context.scripts.add_init_script("window.early = innerWidth")
        page = await browser.new_page("data:text/html,<script>console.log(`width ${early}`)</script>")
        assert await page.evaluate("early") == 700
        assert [message.text for message in page.activity.console] == ["width 700"]


async def test_page_that_the_program_has_seen_or_expects_is_left_alone() -> None:
    async with cdpengine.launch() as browser:
        seen = await browser.wait_for_page()
        assert await browser.new_page() is not seen
    async with cdpengine.launch() as browser, browser.expect_page() as expected:
        page = await browser.new_page()
    assert expected.value is page


async def test_start_page_of_the_arguments_or_of_a_kept_profile_is_left_alone(tmp_path: Path) -> None:
    for options in ({"args": ["about:blank"]}, {"user_data_dir": tmp_path}):
        async with cdpengine.launch(**options) as browser:
            page = await browser.new_page()
            assert len(browser.pages) == 2
            assert page is browser.pages[1]


async def test_failed_first_page_is_closed() -> None:
    async with cdpengine.launch() as browser:
        try:
            await browser.new_page("http://127.0.0.1:9/")
        except cdpengine.errors.NavigationFailedError:
            assert browser.pages == []
        assert await (await browser.new_page()).evaluate("1") == 1
