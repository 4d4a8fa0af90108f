"""Mistakes of newcomers: each ends in an error that names the right call."""

from __future__ import annotations

import asyncio
import inspect
import re
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

import pytest
import trio

import cdpengine
from cdpengine.cluster import BrowserCluster
from cdpengine.errors import (
    ConnectionLostError,
    InvalidArgumentError,
    InvalidStateError,
    NodeNotFoundError,
    SessionGoneError,
    WrongRunError,
    other_libraries,
)
from cdpengine.errors.other_libraries import BROWSER, CONTEXT, ELEMENT, FRAME, FRAME_LOCATOR, LOCATOR, PAGE
from cdpengine.pool import BrowserPool

TABLES = {
    "page": PAGE,
    "browser": BROWSER,
    "context": CONTEXT,
    "element": ELEMENT,
    "frame": FRAME,
    "locator": LOCATOR,
    "frame locator": FRAME_LOCATOR,
}


@pytest.mark.parametrize(
    "open_it", [cdpengine.launch, lambda: cdpengine.connect("ws://127.0.0.1:1"), BrowserPool]
)
def test_asyncio_is_refused_with_what_to_do(open_it) -> None:  # type: ignore[no-untyped-def]
    async def main() -> None:
        async with open_it():
            pass

    with pytest.raises(WrongRunError, match=r"trio\.run\(main\), or use cdpengine\.asyncio"):
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
        "frame locator": page.frame_locator("iframe"),
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
                with suppress(InvalidStateError):
                    for part in path.split("."):
                        found = getattr(found, part)


async def test_an_unknown_name_is_an_ordinary_attribute_error(page: cdpengine.Page) -> None:
    with pytest.raises(AttributeError, match="^'Page' object has no attribute 'frobnicate'$"):
        page.frobnicate  # type: ignore[attr-defined]  # noqa: B018
    assert not hasattr(page, "locator")


POSITIONAL = {
    "wait_for": ("h1",),
    "find": ("button", "Save"),
    "find_all": ("button", "Save"),
    "locate": ("button", "Save"),
    "screenshot": ("a.png", True),
    "type": ("e1", "text", 5),
}
"""Methods whose error for too many positional arguments names the engine's form."""


async def test_arguments_of_other_libraries_lead_to_the_engines_arguments(
    browser: cdpengine.Browser, page: cdpengine.Page
) -> None:
    tables = {
        **other_libraries.ARGUMENTS,
        "find": other_libraries.FIND,
        "find_all": other_libraries.FIND,
        "locate": other_libraries.FIND,
        "screenshot": other_libraries.SCREENSHOT,
    }
    calls: dict[str, tuple[Any, Mapping[str, str]]] = {
        name: (getattr(page, name), table) for name, table in tables.items()
    }
    calls |= {
        "launch": (cdpengine.launch, other_libraries.LAUNCH),
        "connect": (cdpengine.connect, other_libraries.CONNECT),
        "new_page": (browser.new_page, other_libraries.NEW_PAGE),
    }
    for name, (call, table) in calls.items():
        for argument, ours in table.items():
            positional = POSITIONAL.get(name, ("x",) * 3) if not argument else ()
            with pytest.raises(TypeError, match=re.escape(f". In cdpengine: {ours}")) as caught:
                await call(*positional, **({argument: 1} if argument else {}))
            assert str(caught.value).startswith(f"{name}() ")


async def test_options_of_contexts_of_other_libraries_lead_to_the_engines(
    browser: cdpengine.Browser,
) -> None:
    for option, ours in other_libraries.NEW_CONTEXT.items():
        with pytest.raises(TypeError, match=re.escape(f"{option!r}. In cdpengine: {ours}")):
            async with browser.new_context(**{option: 1}):  # type: ignore[arg-type]
                pass
    known = set(inspect.signature(cdpengine.Browser.new_context).parameters)
    assert not known & other_libraries.NEW_CONTEXT.keys()
    assert not cdpengine.EmulationOptions.__annotations__.keys() & other_libraries.NEW_CONTEXT.keys()


async def test_other_wrong_arguments_are_ordinary_type_errors(page: cdpengine.Page) -> None:
    calls: tuple[Any, ...] = (page.click, page.find, page.locate, cdpengine.launch)
    for call in calls:
        with pytest.raises(TypeError, match="unexpected keyword argument 'frobnicate'$"):
            await call(frobnicate=1)
    with pytest.raises(TypeError, match="missing 1 required positional argument: 'target'$"):
        await page.click()  # type: ignore[call-arg]


async def test_a_type_error_of_a_users_function_keeps_its_traceback(page: cdpengine.Page) -> None:
    def wrong(_url: str) -> bool:
        raise TypeError("wrong() got an unexpected keyword argument 'selector'")

    with pytest.raises(TypeError, match="'selector'$"):
        await page.wait_for(url=wrong, timeout=5)


async def test_awaiting_a_block_shows_the_block_to_write(
    browser: cdpengine.Browser, page: cdpengine.Page
) -> None:
    blocks: dict[str, Any] = {
        "async with cdpengine.launch() as browser:": cdpengine.launch(),
        "async with cdpengine.connect(endpoint) as browser:": cdpengine.connect("ws://127.0.0.1:1"),
        "async with browser.new_context() as context:": browser.new_context(),
        "async with browser.expect_page() as expected:": browser.expect_page(),
        "async with page.expect_popup() as expected:": page.expect_popup(),
        "async with page.expect_dialog() as expected:": page.expect_dialog(),
        "async with page.expect_download() as expected:": page.expect_download(),
        "async with page.expect_response() as expected:": page.expect_response(),
        "async with page.expect_file_chooser() as chooser:": page.expect_file_chooser(),
        "async with page.evaluate_handle(...) as handle:": page.evaluate_handle("1"),
        "async with page.settling():": page.settling(),
        "async with BrowserPool(...) as pool:": BrowserPool(),
        "async with BrowserCluster(...) as cluster:": BrowserCluster(),
        "async with pool.page() as page:": BrowserPool().page(),
    }
    for written, made in blocks.items():
        with pytest.raises(TypeError, match=re.escape(f"this cannot be awaited. Use `{written}`")):
            await made


async def test_a_block_that_was_not_entered_shows_the_block_to_write() -> None:
    expected = re.escape("Use `async with cdpengine.launch() as browser:`")
    with pytest.raises(
        AttributeError, match=f"the block was not entered, so it has no 'new_page'. {expected}"
    ):
        await cdpengine.launch().new_page()  # type: ignore[attr-defined]
    with pytest.raises(TypeError, match=f"iterate over the value of the block. {expected}"):
        async for _ in cdpengine.launch():  # type: ignore[attr-defined]
            pass
    with pytest.raises(TypeError, match=f"this is an async block. {expected}"), cdpengine.launch():  # type: ignore[attr-defined]
        pass


NAMES = {
    "Sign in": 'In cdpengine: page.locate(name="Sign in")',
    "text=b": 'In cdpengine: page.locate(text="b")',
    "//button": "In cdpengine: page.locate(css=...), not an XPath",
    "button:has-text('Save')": 'In cdpengine: page.locate(css="button", text="Save")',
}
"""Strings that newcomers pass as targets or selectors, with the advice."""


@pytest.mark.parametrize("given", NAMES)
async def test_a_name_or_foreign_selector_is_refused_without_a_wait(page: cdpengine.Page, given: str) -> None:
    advice = re.escape(NAMES[given])
    with trio.fail_after(10):
        with pytest.raises((NodeNotFoundError, InvalidArgumentError), match=advice):
            await page.find(given, timeout=60)
        with pytest.raises((NodeNotFoundError, InvalidArgumentError), match=advice):
            await page.click(page.locate(given), timeout=60)
        with pytest.raises((NodeNotFoundError, InvalidArgumentError), match=advice):
            await page.extract_text(given, timeout=60)
        with pytest.raises((NodeNotFoundError, InvalidArgumentError), match=advice):
            await page.snapshot(root=given, timeout=60)
        with pytest.raises(NodeNotFoundError, match=f"not a ref; .*{advice}"):
            await page.click(given, timeout=60)
        if "locate(css" not in NAMES[given]:
            with pytest.raises(InvalidArgumentError, match=r"In cdpengine: page\.wait_for\(text="):
                await page.wait_for(css=given, timeout=60)
            with pytest.raises(InvalidArgumentError, match=r"In cdpengine: page\.wait_for\(text_gone="):
                await page.wait_for(css_gone=given, timeout=60)


async def test_an_element_with_an_invented_name_is_found(page: cdpengine.Page) -> None:
    await page.set_content("<card>one</card> <Sign>two <in>three</in></Sign>")
    assert await page.extract_text(await page.find("card")) == "one"
    assert await page.extract_text(await page.find("Sign in", timeout=5)) == "three"
    late = "setTimeout(() => document.body.append(document.createElement('late')), 100)"
    await page.evaluate(late)
    assert await page.find("late", timeout=10)


async def test_a_page_after_its_block_names_the_block(
    browser: cdpengine.Browser, shared_endpoint: str
) -> None:
    async with browser.new_context() as context:
        page = await context.new_page()
        await page.snapshot()
    ended = "page [0-9A-F]{8} is gone: the block of its context has ended. Use its pages inside the block"
    for call in (page.title, page.snapshot, lambda: page.evaluate("1"), lambda: page.goto("about:blank")):
        with pytest.raises(SessionGoneError, match=ended):
            await call()
    of_context = "context [0-9A-F]{8} is gone: its block has ended. Use the context inside the block"
    calls: tuple[Any, ...] = (
        context.new_page,
        context.storage.cookies,
        context.storage.state,
        page.storage.cookies,
        lambda: context.storage.set_cookies([]),
        lambda: context.emulation.set(locale="de"),
    )
    for of_ended in calls:
        with pytest.raises(SessionGoneError, match=of_context):
            await of_ended()
    assert page.context is context
    page = await browser.new_page()
    await page.close()
    with pytest.raises(SessionGoneError, match="page [0-9A-F]{8} is gone: this program closed it"):
        await page.title()
    async with cdpengine.connect(shared_endpoint) as other:
        page = await other.new_page()
    of_browser = (page.title, page.snapshot, lambda: page.click("e1"), other.new_page)
    for of_lost in of_browser:
        with pytest.raises(ConnectionLostError, match="its `async with` block has ended. Use the browser"):
            await of_lost()
    same = browser.page(page.target_id)
    assert same is not None
    await same.close()
