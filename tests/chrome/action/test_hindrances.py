"""Hindrances that only another action could remove: logged within a second, retried, and named in the error."""

from __future__ import annotations

import logging
import re
from collections.abc import Awaitable, Callable

import attrs
import pytest
import trio
from form_page import FormPage

import cdpengine
from cdpengine.errors import (
    CoveredError,
    NotInteractableError,
    OptionNotFoundError,
)

pytestmark = pytest.mark.chrome

Act = Callable[[cdpengine.Page, cdpengine.BackendNode], Awaitable[object]]


@attrs.frozen
class Case:
    body: str
    act: Act
    error: type[NotInteractableError]
    says: str
    frees: str


def click(page: cdpengine.Page, node: cdpengine.BackendNode) -> Awaitable[object]:
    return page.click(node, timeout=2)


def fill(page: cdpengine.Page, node: cdpengine.BackendNode) -> Awaitable[object]:
    return page.fill(node, "b", timeout=2)


def choose(page: cdpengine.Page, node: cdpengine.BackendNode) -> Awaitable[object]:
    return page.select(node, "b", timeout=2)


FIELD = "<input id=at onclick='this.clicked = true'>"
MODAL = f"{FIELD}<dialog id=over>over</dialog><script>over.showModal()</script>"
COVER = f"""{FIELD}<div id=over role=dialog aria-modal=true style='position:fixed;inset:0;background:white'>over</div>"""

CASES = {
    "modal, click": Case(MODAL, click, CoveredError, "dialog#over 'over' is a modal dialog", "over.close()"),
    "modal, fill": Case(
        MODAL, fill, NotInteractableError, "dialog#over 'over' is a modal dialog", "over.close()"
    ),
    "made by the page": Case(
        COVER, click, CoveredError, "div#over 'over' is a modal dialog", "over.remove()"
    ),
    "closed dialog": Case(
        f"<dialog id=over>{FIELD}</dialog>",
        click,
        NotInteractableError,
        "dialog#over is a closed dialog",
        "over.show()",
    ),
    "closed details": Case(
        f"<details id=over><summary>s</summary>{FIELD}</details>",
        fill,
        NotInteractableError,
        "is closed",
        "over.open = true",
    ),
    "closed popover": Case(
        f"<div popover id=over>{FIELD}</div>",
        click,
        NotInteractableError,
        "is a closed popover",
        "over.showPopover()",
    ),
    "inert": Case(
        f"<div inert id=over>{FIELD}</div>", click, NotInteractableError, "is inert", "over.inert = false"
    ),
    "fieldset": Case(
        f"<fieldset disabled id=over>{FIELD}</fieldset>",
        fill,
        NotInteractableError,
        "is disabled",
        "over.disabled = false",
    ),
    "option": Case(
        "<select id=at><option value=''>Which?</select>",
        choose,
        OptionNotFoundError,
        "does not exist",
        "at.add(new Option('b'))",
    ),
    "disabled option": Case(
        "<select id=at><option>a<option disabled id=over>b</select>",
        choose,
        NotInteractableError,
        "option 'b' is disabled",
        "over.disabled = false",
    ),
    "option made by the page": Case(
        "<ul id=at role=listbox><li role=option>a</ul>",
        choose,
        OptionNotFoundError,
        "does not exist",
        "at.innerHTML = '<li role=option onclick=\"this.ariaSelected = true\">b'",
    ),
}


@pytest.fixture
async def form(page: cdpengine.Page) -> FormPage:
    return FormPage(page)


@pytest.mark.sample(5)
@pytest.mark.parametrize("name", CASES)
async def test_hindrance_is_logged_and_action_continues_without_it(
    form: FormPage, caplog: pytest.LogCaptureFixture, name: str
) -> None:
    case = CASES[name]
    await form.show(case.body)
    logged = trio.Event()
    started = trio.current_time()

    class Watch(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            assert record.levelno == logging.INFO
            assert re.search(re.escape(case.says), record.getMessage())
            logged.set()

    watch, logger = Watch(), logging.getLogger("cdpengine.action")
    caplog.set_level(logging.INFO, "cdpengine.action")
    logger.addHandler(watch)
    try:
        async with trio.open_nursery() as nursery:

            async def free() -> None:
                await logged.wait()
                assert trio.current_time() - started < 1.5
                await form.js(f"void ({case.frees})")

            nursery.start_soon(free)
            await case.act(form.page, await form.node("#at"))
    finally:
        logger.removeHandler(watch)
