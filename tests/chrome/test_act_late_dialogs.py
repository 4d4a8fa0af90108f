"""Dialogs that open after an action has returned are reported once, with the next response."""

from __future__ import annotations

from collections.abc import Callable

import trio

import cdpengine
from cdpengine.act import Actor, ActResponse, dispatch
from cdpengine.act.tooling.texts import describe, describe_failure
from cdpengine.shell.printing import print_response

POPUP = "<script>alert('same'); close()</script>"
PAGE = """<button onclick="setTimeout(() => { document.title = confirm('Delete all?') }, 100)">Go</button>
<button onclick="alert('Now')">At once</button>"""


async def click(actor: Actor, page: cdpengine.Page, name: str) -> ActResponse:
    ref = (await page.snapshot()).find(role="button", name=name)
    return await dispatch(actor, {"kind": "click", "ref": ref.id})


def messages(response: ActResponse) -> list[tuple[str, bool | None]]:
    return [(each.message, each.accepted) for each in response.effects.dialogs]


async def begin(browser: cdpengine.Browser, serve: Callable[..., str]) -> tuple[Actor, cdpengine.Page]:
    actor = Actor(browser)
    response = await dispatch(actor, {"kind": "newTab", "url": serve(PAGE)})
    page = browser.page(response.target_id or "") or actor.current
    assert response.ok
    assert page is not None
    return actor, page


async def until_answered(page: cdpengine.Page, count: int = 1) -> None:
    with trio.fail_after(10):
        await page.internals.target.wait_for(
            lambda: len(page.dialogs.records) >= count and not page.internals.target.dialogs.is_open
        )


async def test_a_late_dialog_is_reported_once(browser: cdpengine.Browser, serve: Callable[..., str]) -> None:
    actor, page = await begin(browser, serve)
    assert messages(await click(actor, page, "Go")) == []
    await until_answered(page)
    response = await dispatch(actor, {"kind": "tabs"})
    assert messages(response) == [("Delete all?", False)]
    assert "a confirm opened ('Delete all?')" in describe(response)
    assert "a confirm opened ('Delete all?')" in print_response(response, as_json=False).err
    assert messages(await dispatch(actor, {"kind": "snapshot"})) == []
    assert messages(await click(actor, page, "At once")) == [("Now", True)]
    assert messages(await dispatch(actor, {"kind": "snapshot"})) == []
    await page.close()


async def test_failed_request_reports_late_dialog(
    browser: cdpengine.Browser, serve: Callable[..., str]
) -> None:
    actor, page = await begin(browser, serve)
    await click(actor, page, "Go")
    await until_answered(page)
    response = await dispatch(actor, {"kind": "click", "ref": "e999"})
    assert not response.ok
    assert messages(response) == [("Delete all?", False)]
    assert "a confirm opened ('Delete all?')" in describe_failure(response)
    assert "a confirm opened ('Delete all?')" in print_response(response, as_json=False).err
    await page.close()


async def test_dialogs_of_a_page_that_was_closed_are_reported(
    browser: cdpengine.Browser, serve: Callable[..., str]
) -> None:
    actor, page = await begin(browser, serve)
    await click(actor, page, "Go")
    await until_answered(page)
    await page.close()
    assert messages(await dispatch(actor, {"kind": "tabs"})) == [("Delete all?", False)]


async def test_dialogs_before_the_first_request_are_not_reported(
    browser: cdpengine.Browser, page: cdpengine.Page
) -> None:
    await page.evaluate("alert('before')")
    actor = Actor(browser)
    actor.focus(page)
    assert messages(await dispatch(actor, {"kind": "snapshot"})) == []
    await page.evaluate("setTimeout(() => alert('after'))")
    await until_answered(page, 2)
    assert messages(await dispatch(actor, {"kind": "snapshot"})) == [("after", True)]


async def test_refused_requests_report_late_dialogs_and_equal_ones_separately(
    browser: cdpengine.Browser, serve: Callable[..., str]
) -> None:
    actor, page = await begin(browser, serve)
    async with page.expect_popup() as opened:
        await page.evaluate(f"open().document.write({POPUP!r})")
    await page.evaluate("alert('same')")
    with trio.fail_after(10):
        while not opened.value.closed:  # noqa: ASYNC110 - the page is another browser object
            await trio.sleep(0.01)
    unknown = await dispatch(actor, {"kind": "unheard-of"})
    assert not unknown.ok
    assert messages(unknown) == [("same", True), ("same", True)]
    await page.evaluate("alert('script')")
    refused = await dispatch(actor, {"kind": "evaluate", "function": "1"}, evaluate_enabled=False)
    assert messages(refused) == [("script", True)]
    await page.close()


async def test_of_very_many_dialogs_the_latest_are_listed(
    browser: cdpengine.Browser, serve: Callable[..., str]
) -> None:
    actor, page = await begin(browser, serve)
    await page.evaluate("for (let i = 0; i < 130; i += 1) alert(i)")
    response = await dispatch(actor, {"kind": "tabs"})
    assert messages(response) == [(str(number), True) for number in range(30, 130)]
    assert response.effects.dialogs_omitted == 30
    assert describe(response).startswith("30 dialogs opened before these:\n")
    await page.close()
