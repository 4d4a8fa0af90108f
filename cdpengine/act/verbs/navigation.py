"""Verbs that lead a page to another document: navigate, back, forward and reload."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import attrs

from cdpengine.act.fields import field
from cdpengine.act.notations import CommandForm, Place, ToolForm
from cdpengine.act.requests import LOADING, ActingRequest, LoadStateName, script_in_url
from cdpengine.act.response import describe_url, navigation_lines
from cdpengine.errors import TargetCrashedError

if TYPE_CHECKING:
    from cdpengine.act.performing import Performance


BROWSER = {
    "--headful": "Show the browser's window. Only for the first command, because it applies to the whole service.",
    "--browser PATH": (
        "The browser to start: a path, or chrome, chromium, edge, brave. Only for the first command."
    ),
    "--viewport SIZE": (
        "The viewport of new pages, by default 1280x720; none is the window's. Only for the first command."
    ),
    "--endpoint URL": (
        "Use a running browser with its tabs and logins, and leave it running. Only for the first command."
    ),
    "--user-data-dir DIR": "Keep the profile, with its logins, in this folder. Only for the first command.",
    "--trace FILE": (
        "Write a step trace of the service to FILE (.zip), until close --all. If FILE exists, the trace is "
        "FILE-2, and so on. Only for the first command."
    ),
}
"""Options of the shell for the browser that it starts."""


@attrs.frozen(kw_only=True)
class Navigate(ActingRequest):
    """Go to a URL."""

    kind = "navigate"
    timing = LOADING
    leaves = True
    opens_url = True
    tool = ToolForm(
        meaning="Go to a URL, or through the history. recover stops the script of a page that hangs.",
        action="go",
        fields=("diff",),
    )
    commands = (
        CommandForm(
            name="open",
            meaning="Go to a URL; start the browser if none is running.",
            places=(Place("URL", "url"),),
            options=BROWSER,
            example="open https://example.com",
        ),
    )

    url: str = field("The URL.")
    wait_until: LoadStateName = field("The load state to wait for.", "load")

    def script(self) -> str:
        """Return how the URL runs a script of the caller, or "" for a URL that contains none."""
        return script_in_url(self.kind, self.url)

    async def run(self, performance: Performance) -> dict[str, Any]:
        await _revive(performance)
        await performance.actor.watch(performance.page, performance.left)
        return _describe(
            await performance.page.goto(self.url, wait_until=self.wait_until, timeout=performance.left)
        )

    @staticmethod
    def text_lines(result: Any) -> Iterable[str]:
        return navigation_lines(result)


@attrs.frozen(kw_only=True)
class Back(ActingRequest):
    """Go back in the page's history."""

    kind = "back"
    timing = LOADING
    leaves = True
    tool = ToolForm(name="navigate", action="back")
    commands = (CommandForm(),)

    wait_until: LoadStateName = field("The load state to wait for.", "load")

    async def run(self, performance: Performance) -> dict[str, Any]:
        await _revive(performance)
        return _describe(await performance.page.go_back(wait_until=self.wait_until, timeout=performance.left))

    @staticmethod
    def text_lines(result: Any) -> Iterable[str]:
        return navigation_lines(result)


@attrs.frozen(kw_only=True)
class Forward(ActingRequest):
    """Go forward in the page's history."""

    kind = "forward"
    timing = LOADING
    leaves = True
    tool = ToolForm(name="navigate", action="forward")
    commands = (CommandForm(),)

    wait_until: LoadStateName = field("The load state to wait for.", "load")

    async def run(self, performance: Performance) -> dict[str, Any]:
        await _revive(performance)
        return _describe(
            await performance.page.go_forward(wait_until=self.wait_until, timeout=performance.left)
        )

    @staticmethod
    def text_lines(result: Any) -> Iterable[str]:
        return navigation_lines(result)


@attrs.frozen(kw_only=True)
class Reload(ActingRequest):
    """Load the document again."""

    kind = "reload"
    timing = LOADING
    leaves = True
    tool = ToolForm(name="navigate", action="reload")
    commands = (CommandForm(),)

    wait_until: LoadStateName = field("The load state to wait for.", "load")

    async def run(self, performance: Performance) -> dict[str, Any]:
        await _revive(performance)
        return _describe(await performance.page.reload(wait_until=self.wait_until, timeout=performance.left))

    @staticmethod
    def text_lines(result: Any) -> Iterable[str]:
        return navigation_lines(result)


async def _revive(performance: Performance) -> None:
    """Stop the script of an unresponsive page, so that it can leave its document.

    A crashed page runs no script, and the navigation restores it. A page that ignores the termination is reloaded:
    its document is about to be left anyway.
    """
    with suppress(TargetCrashedError):
        if await performance.page.measure.unresponsive_for():
            await performance.page.recover(allow="reload", timeout=performance.left)


def _describe(navigation: Any) -> dict[str, Any]:
    return {
        "url": describe_url(navigation.url),
        "status": navigation.status,
        "redirects": [describe_url(url) for url in navigation.redirects],
        "sameDocument": navigation.same_document,
    }
