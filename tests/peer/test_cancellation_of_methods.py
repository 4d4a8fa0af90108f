"""Every public method with `timeout`, cancelled at each of its steps against a browser that answers everything.

Rule: introspection finds the methods (page_calls.py, object_calls.py). After each cancelled run no key and no button is
down, no call and no task is left, a block has undone its settings, and the page still answers.
"""

from __future__ import annotations

import inspect
import re
from collections import Counter
from contextlib import AbstractAsyncContextManager, AsyncExitStack
from pathlib import Path

import object_calls
import page_calls
import pytest
import trio
from object_calls import ENGINE_OWN, Row, Stage, StagedBrowser, running
from scripted_browser import quiet

import cdpengine
from cdpengine.testing import walk_cancellations

REUSED = {"BrowserContext.allow_downloads", "ExpectedFileChooser.set_files"}
"""Methods whose path is a folder, or a file that exists."""

WAITING = 0.01
"""Timeout of methods that wait for an event which never occurs, in seconds."""


def of_page(name: str, call: page_calls.Call) -> Row:
    def use(page: cdpengine.Page, stage: Stage, timeout: float) -> object_calls.Used:
        arguments = [stage.path if argument is page_calls.PATH else argument for argument in call.arguments]
        used: object_calls.Used = page_calls.method_of(page, name)(
            *arguments, **({"timeout": timeout} | call.options)
        )
        return used

    return Row(lambda stage: stage.page, use)


ROWS = {f"Page.{name}": of_page(name, call) for name, call in page_calls.CALLS.items()} | object_calls.CALLS


def held(scripted: StagedBrowser) -> set[object]:
    """Return the keys, buttons and interceptions that the browser was sent and that are still on."""
    found: set[object] = set()
    for request in scripted.received:
        params = request.params
        match request.method:
            case "Input.dispatchMouseEvent" if params["type"] in ("mousePressed", "mouseReleased"):
                (found.add if params["type"] == "mousePressed" else found.discard)(params["button"])
            case "Input.dispatchKeyEvent" if params["type"] != "char":
                (found.discard if params["type"] == "keyUp" else found.add)(params["code"])
            case "Input.dispatchTouchEvent":
                (found.add if params["touchPoints"] else found.discard)("touch")
            case "Input.setInterceptDrags":
                (found.add if params["enabled"] else found.discard)("drags")
            case "Page.setInterceptFileChooserDialog":
                (found.discard if params.get("cancel") else found.add)("choosers")
    return found


def settings(scripted: StagedBrowser, page: cdpengine.Page) -> dict[object, object]:
    """Return the latest message of each setting of the page, and the number of its scripts and bindings."""
    latest: dict[object, object] = {}
    for request in scripted.received:
        if not (request.session_id or "").endswith(page.target_id):
            continue
        domain, _, name = request.method.partition(".")
        about = re.sub("^(set|clear|reset|emulate|grant)(?=[A-Z])", "", name)
        if domain == "Fetch" or (about != name and domain in ("Emulation", "Network", "Page", "Browser")):
            latest[request.session_id, domain, "" if domain == "Fetch" else about] = (name, request.params)
        change = {"addScript": 1, "addBinding": 1, "removeScript": -1, "removeBinding": -1}
        for prefix, number in change.items():
            if name.startswith(prefix):
                key = request.session_id, prefix.removeprefix("add").removeprefix("remove")
                count = latest.get(key, 0)
                assert isinstance(count, int)
                latest[key] = count + number
    return latest


@pytest.mark.parametrize("name", ROWS)
async def test_a_cancelled_method_leaves_nothing(name: str, tmp_path: Path) -> None:
    row = ROWS[name]
    path = tmp_path / "a.txt"
    async with (
        StagedBrowser() as scripted,
        scripted.engine() as browser,
        browser.new_context() as context,
        AsyncExitStack() as stack,
    ):
        page = await context.new_page()
        stage = Stage(scripted, browser, context, page, path, stack)
        if name.startswith("Page."):
            scripted.control = page_calls.CALLS[name.removeprefix("Page.")].kind
        given = row.given(stage)
        if inspect.isawaitable(given):
            given = await given
        await quiet()
        before, on = Counter(running()), held(scripted)
        pages, domains = len(browser.pages), set(page.session.domains.users)
        is_block = False
        unset: dict[object, object] = {}

        async def operation() -> None:
            nonlocal is_block
            used = row.use(given, stage, WAITING if row.waits else 1)
            made: object = None
            try:
                if isinstance(used, AbstractAsyncContextManager):
                    is_block = True
                    async with used:
                        await trio.lowlevel.checkpoint()
                else:
                    made = await used
            except cdpengine.errors.EngineError:
                pass
            if isinstance(made, cdpengine.Page):
                with trio.CancelScope(shield=True):
                    await made.close()

        async def check() -> None:
            await quiet()
            assert held(scripted) == on
            assert page.mouse.buttons == page.keyboard.modifiers == 0
            assert len(browser.pages) == pages or page.closed
            assert {task for task in Counter(running()) - before if task not in ENGINE_OWN} == set()
            assert [each.statistics().in_flight for each in browser.connections] == [0, 0]
            if is_block:
                assert settings(scripted, page) == unset
                await page.activity.stop()
                assert set(page.session.domains.users) == domains
                assert not page.session.feed._streams
            if not page.closed:
                assert await page.evaluate("1") == 1
            if name not in REUSED:
                assert {each.name for each in tmp_path.iterdir()} <= {path.name}
                await trio.to_thread.run_sync(lambda: path.unlink(missing_ok=True))

        await operation()
        await quiet()
        unset = settings(scripted, page)
        assert await walk_cancellations(operation, check, own_steps_only=True) >= 2
