"""Shared parts of the tests of learning: a form, fields of every kind of secret, and the full contents of
learned steps.
"""

from __future__ import annotations

import json
from contextlib import suppress
from typing import Any

import trio
from pytest_httpserver import HTTPServer

from cdpengine import Page
from cdpengine.cache import LearnedSteps, Step, Viewport, entry_to_json, make_entry, make_key
from cdpengine.cache.learning.learned_steps import _StepLearner
from cdpengine.errors import EngineError


def site(server: HTTPServer, html: str, path: str = "/") -> str:
    server.expect_request(path).respond_with_data(html, content_type="text/html")
    return server.url_for(path)


def kept(learned: LearnedSteps) -> str:
    """Return everything that learned steps contain, as an entry's JSON and as its `repr`."""
    steps: list[Any] = list(learned.steps)
    key = make_key("form_fill", "https://shop.example/", Viewport(width=1, height=1), learned.variables)
    entry = make_entry(key, steps, now=1.0, sensitive=learned.sensitive, features=learned.features)
    return "\n".join([json.dumps(entry_to_json(entry)), repr(learned), repr(steps), str(learned.notes)])


FORM = """<!doctype html><title>form</title><link rel=icon href="data:,"><h1>Shop</h1>
<form aria-label="Order" onsubmit="return false">
<label>Name <input id=name></label>
<label>Colour <select id=colour><option>red<option>blue</select></label>
<label><input type=checkbox id=gift> Gift</label>
<label><input type=checkbox id=paper checked> Paper</label>
<label>File <input type=file id=file></label>
<button id=go>Order now</button></form>
<div role=listitem tabindex=0 id=one draggable=true aria-label="First">1</div>
<div role=listitem tabindex=0 id=two aria-label="Second" ondragover="event.preventDefault()">2</div>"""
VALUES = {"user": "ada", "colour": "blue"}
"""The variables of the learned actions."""

CANARY = "Kanarien-7/$x"

SECRET_FIELDS = {
    "password": '<input type=password aria-label="Field">',
    "current-password": '<input autocomplete=current-password aria-label="Field">',
    "new-password": '<input autocomplete="section-a new-password" aria-label="Field">',
    "one-time-code": '<input autocomplete=one-time-code aria-label="Field">',
    "cc-number": '<input autocomplete=cc-number aria-label="Field">',
    "cc-csc": '<textarea autocomplete=cc-csc aria-label="Field"></textarea>',
    "cc-name": '<input autocomplete=cc-name aria-label="Field">',
    "by name": '<input name=user_passwd aria-label="Field">',
    "by id": '<input id=otpCode name=otp aria-label="Field">',
    "by label": "<label>Card number <input></label>",
    "dots": '<input style="-webkit-text-security: disc" name=wish aria-label="Field">',
    "dots to edit": '<div contenteditable style="-webkit-text-security: disc" role=textbox aria-label="Field"></div>',
}
NEW_NAMES = [
    "password", "password_2", "new_password", "code", "card_number", "card_code", "card_name", "password_3", "code_2",
    "card_number_2", "wish", "secret",
]  # fmt: skip


def shown(step: Step, which: str) -> tuple[str, str]:
    assert step.after is not None
    target = getattr(step.after, which)
    return target.role, target.name


async def pause(page: Page) -> None:
    """Wait, as a person does, until the page has settled and was seen."""
    learner = page.internals.target.running.listeners[-1]
    assert isinstance(learner, _StepLearner)
    with trio.fail_after(8):
        for session in list(page.internals.target.frame_sessions.values()):
            with suppress(EngineError):  # a frame that was removed
                await session.call("Runtime.evaluate", expression="0")  # its reports have arrived by now
        while not learner.is_up_to_date:  # noqa: ASYNC110 - the learner has no event for this state
            await trio.sleep(0.01)
