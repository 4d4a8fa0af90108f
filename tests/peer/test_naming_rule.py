"""Properties and coroutines: a property returns local knowledge and sends nothing.

The rule is in docs/browsers.md. It covers every public name of these classes automatically.
"""

from __future__ import annotations

import inspect

import pytest
from scripted_browser import ScriptedBrowser, quiet

import cdpengine
from cdpengine._api.scopes.awaitable_scope import AwaitableScope
from cdpengine._page.downloads.download import Download
from cdpengine._protocol.session import Session

CLASSES = [cdpengine.Browser, cdpengine.BrowserContext, cdpengine.Page, Session, Download, AwaitableScope]


def public(kind: type) -> list[str]:
    return [name for name in dir(kind) if not name.startswith("_")]


def properties(kind: type) -> list[str]:
    return [name for name in public(kind) if not callable(inspect.getattr_static(kind, name))]


@pytest.mark.parametrize("kind", CLASSES)
async def test_a_property_is_not_a_coroutine(kind: type) -> None:
    for name in properties(kind):
        found = inspect.getattr_static(kind, name)
        getter = getattr(found, "fget", None) or getattr(found, "func", None)
        assert getter is None or not inspect.iscoroutinefunction(getter), name


@pytest.mark.parametrize("kind", CLASSES)
async def test_only_a_coroutine_takes_a_timeout(kind: type) -> None:
    """A method with a timeout asks or waits. It is awaited or entered, and never a plain method."""
    for name in public(kind):
        found = inspect.getattr_static(kind, name)
        if not inspect.isfunction(found) or "timeout" not in inspect.signature(found).parameters:
            continue
        returned = str(inspect.signature(found).return_annotation).partition("[")[0]
        entered = (
            inspect.isasyncgenfunction(inspect.unwrap(found)) or returned == "AbstractAsyncContextManager"
        )
        lasting = returned == "AwaitableScope"
        assert inspect.iscoroutinefunction(found) or entered or lasting, name


async def test_a_property_sends_nothing(scripted: ScriptedBrowser, browser: cdpengine.Browser) -> None:
    page = await browser.new_page()
    await quiet()
    before = len(scripted.received)
    for owner in (browser, browser.context, page, page.session, browser.session):
        for name in properties(type(owner)):
            assert not inspect.isawaitable(getattr(owner, name)), name
    await quiet()
    assert scripted.received[before:] == []
