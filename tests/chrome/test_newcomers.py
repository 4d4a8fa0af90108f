"""Mistakes of newcomers: each ends in an error that names the right call."""

from __future__ import annotations

import asyncio
import re
from contextlib import suppress

import pytest
import trio

import cdpengine
from cdpengine.errors import ActivityOffError, NotInTrioError, WrongRunError
from cdpengine.errors.other_libraries import BROWSER, CONTEXT, ELEMENT, FRAME, LOCATOR, PAGE
from cdpengine.pool import BrowserPool

TABLES = {
    "page": PAGE,
    "browser": BROWSER,
    "context": CONTEXT,
    "element": ELEMENT,
    "frame": FRAME,
    "locator": LOCATOR,
}


@pytest.mark.parametrize(
    "open_it", [cdpengine.launch, lambda: cdpengine.connect("ws://127.0.0.1:1"), BrowserPool]
)
def test_asyncio_is_refused_with_what_to_do(open_it) -> None:  # type: ignore[no-untyped-def]
    async def main() -> None:
        async with open_it():
            pass

    with pytest.raises(NotInTrioError, match=r"trio\.run\(main\) instead of asyncio\.run"):
        asyncio.run(main())


async def test_another_thread_gets_an_error_and_the_page_goes_on(page: cdpengine.Page) -> None:
    await page.set_content("<title>here</title><button>Save</button>")
    button = await page.find("button")
    calls = {
        "title": page.title,
        "click": lambda: page.click(button),
        "snapshot": page.snapshot,
        "evaluate": lambda: page.evaluate("1"),
        "wait_for": lambda: page.wait_for(text="never", timeout=1),
        "goto": lambda: page.goto("about:blank"),
        "session": lambda: page.session.call("Page.reload"),
        "outer_html": lambda: page.elements.outer_html(button),
    }

    def run_elsewhere(call) -> None:  # type: ignore[no-untyped-def]
        with pytest.raises(WrongRunError, match=r"trio\.from_thread\.run"):
            trio.run(call)

    for call in calls.values():
        await trio.to_thread.run_sync(run_elsewhere, call)
    assert await page.title() == "here"


async def test_milliseconds_are_noticed(page: cdpengine.Page) -> None:
    with pytest.warns(UserWarning, match=r"timeout=30000 is 8\.3 hours: times are in seconds") as caught:
        await page.goto("about:blank", timeout=30000)
    assert caught[0].filename == __file__
    await page.goto("about:blank", timeout=3600)  # an hour is no round number of milliseconds


async def test_names_of_other_libraries_lead_to_the_engines_names(
    browser: cdpengine.Browser, page: cdpengine.Page
) -> None:
    await page.set_content("<b>bold</b>")
    objects = {
        "page": page, "browser": browser, "context": browser.context, "element": await page.find("b"),
        "frame": page.frames[0], "locator": page.locate("b"),
    }  # fmt: skip
    for kind, table in TABLES.items():
        for name, ours in table.items():
            with pytest.raises(
                AttributeError, match=re.escape(f"has no attribute {name!r}. In cdpengine: {ours}")
            ):
                getattr(objects[kind], name)
            for base, path in re.findall(
                r"\b(page|browser|context|locator|frame)\.([a-z_]+(?:\.[a-z_]+)*)", ours
            ):
                found: object = objects[base]
                with suppress(ActivityOffError):
                    for part in path.split("."):
                        found = getattr(found, part)


async def test_an_unknown_name_is_an_ordinary_attribute_error(page: cdpengine.Page) -> None:
    with pytest.raises(AttributeError, match="^'Page' object has no attribute 'frobnicate'$"):
        page.frobnicate  # type: ignore[attr-defined]  # noqa: B018
    assert not hasattr(page, "locator")
