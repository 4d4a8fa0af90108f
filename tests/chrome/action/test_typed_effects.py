"""The outcome reports a navigation that a typed character starts, whichever event starts it."""

from __future__ import annotations

import pytest
from pytest_httpserver import HTTPServer

import cdpengine

pytestmark = pytest.mark.chrome

EVENTS = ("onkeydown", "onkeypress", "onbeforeinput", "oninput", "onkeyup")

NAVIGATIONS = {
    "location": "location.href = '/there'",
    "submit": "document.forms[0].submit()",
    "requestSubmit": "document.forms[0].requestSubmit()",
    "a link's click": "document.links[0].click()",
    "a frame": "document.querySelector('iframe').src = '/there'",
}


async def show(page: cdpengine.Page, httpserver: HTTPServer, event: str, code: str) -> cdpengine.FoundNode:
    """Show a form whose field runs `code` at the first such event, and return the field."""
    field = f"""<input id=field {event}="if (!window.done) {{ done = true; {code} }}">"""
    links = "<a href='/there'>There</a><iframe></iframe>"
    form = f"<!doctype html><form action='/there'>{field}</form>{links}"
    httpserver.expect_request("/form").respond_with_data(form, content_type="text/html")
    httpserver.expect_request("/there").respond_with_data("<p>there</p>", content_type="text/html")
    await page.goto(httpserver.url_for("/form"))
    return await page.find("#field")


@pytest.mark.parametrize("event", EVENTS)
@pytest.mark.parametrize("reaction", NAVIGATIONS)
async def test_outcome_reports_the_navigation(
    used_page: cdpengine.Page, httpserver: HTTPServer, reaction: str, event: str
) -> None:
    field = await show(used_page, httpserver, event, NAVIGATIONS[reaction])
    outcome = await used_page.type(field, "a")
    assert outcome.navigation is not None
    assert outcome.navigation.url.partition("?")[0] == httpserver.url_for("/there")
    if reaction != "a frame":
        assert "there" in (await used_page.snapshot()).text


async def test_characters_before_and_after_are_typed(
    used_page: cdpengine.Page, httpserver: HTTPServer
) -> None:
    """A page that stays receives the whole string, whatever its first character causes."""
    field = await show(used_page, httpserver, "oninput", NAVIGATIONS["a frame"])
    outcome = await used_page.type(field, "all of the text" * 20)
    assert outcome.navigation is not None
    assert await used_page.evaluate("field.value") == "all of the text" * 20
