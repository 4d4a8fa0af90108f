"""Verbs about tabs: list, open, focus and close."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import attrs
import trio

from cdpengine.act.fields import field
from cdpengine.act.notations import CommandForm, Place, ToolForm
from cdpengine.act.requests import LOADING, ActRequest, LoadStateName, script_in_url
from cdpengine.act.response import describe_url, navigation_lines
from cdpengine.errors import InvalidArgumentError
from cdpengine.errors.texts import escape_line

if TYPE_CHECKING:
    from cdpengine.act.performing import Performance


@attrs.frozen(kw_only=True)
class Tabs(ActRequest):
    """List the open pages; the current one is marked."""

    kind = "tabs"
    listed = ("", "no page is open")
    in_order = False
    needs_page = False
    tool = ToolForm(meaning="List, open, change to or close tabs.", action="list")
    commands = (
        CommandForm(
            options={"--endpoint URL": "List the tabs of a running browser. Only for the first command."}
        ),
    )

    async def run(self, performance: Performance) -> list[dict[str, Any]]:
        await trio.lowlevel.checkpoint()
        current = performance.actor.current
        return [
            {
                "index": index,
                "targetId": page.target_id,
                "url": describe_url(page.url),
                "current": page is current,
                "opener": None if page.opener is None else page.opener.target_id,
            }
            for index, page in enumerate(performance.actor.pages)
        ]

    @staticmethod
    def text_lines(result: Any) -> Iterable[str]:
        for each in result:
            yield escape_line(f"{'*' if each['current'] else ' '} {each['index']}  {each['url']}")


@attrs.frozen(kw_only=True)
class NewTab(ActRequest):
    """Open a page, which becomes the current one."""

    kind = "newTab"
    timing = LOADING
    in_order = False
    needs_page = False
    opens_url = True
    tool = ToolForm(name="tabs", action="new", fields=("url",))
    commands = (CommandForm(places=(Place("URL", "url", needed=False),)),)

    url: str | None = field("Its URL; without, it is blank.", None)
    wait_until: LoadStateName = field("The load state to wait for.", "load")

    def script(self) -> str:
        """Return how the URL runs a script of the caller, or "" for a URL that contains none."""
        return script_in_url(self.kind, self.url)

    async def run(self, performance: Performance) -> dict[str, Any]:
        page = await performance.actor.open_page(timeout=performance.left)
        performance.page_or_none = page
        if self.url is None:
            return {"url": page.url}
        try:
            navigation = await page.goto(self.url, wait_until=self.wait_until, timeout=performance.left)
        except BaseException:
            await performance.actor.discard(page)
            performance.page_or_none = None
            raise
        return {"url": describe_url(navigation.url), "status": navigation.status}

    @staticmethod
    def text_lines(result: Any) -> Iterable[str]:
        return navigation_lines(result)


@attrs.frozen(kw_only=True)
class FocusTab(ActRequest):
    """Make a page the current one, and its window's active tab."""

    kind = "focusTab"
    tool = ToolForm(name="tabs", action="focus", fields=("index",))
    commands = (
        CommandForm(
            meaning="Make a page the current one, by its number in tabs.",
            places=(Place("TAB", "index", needed=False),),
            console=False,
        ),
    )

    index: int | None = field("Its number in tabs, from 0, instead of targetId.", None, least=0)

    def check(self) -> None:
        """Raise InvalidArgumentError unless the fields name one page."""
        _check_tab(self.kind, self.index, self.target_id)
        if self.index is None and not self.target_id:
            raise InvalidArgumentError(self.kind, "no page", "its index in tabs, or its targetId")

    async def run(self, performance: Performance) -> None:
        await performance.page.bring_to_front(timeout=performance.left)
        performance.actor.focus(performance.page)


@attrs.frozen(kw_only=True)
class Close(ActRequest):
    """Close a page. Its opener, or the last open page, becomes the current one."""

    kind = "close"
    in_order = False
    tool = ToolForm(name="tabs", action="close")
    commands = (
        CommandForm(
            name="close-tab",
            meaning="Close a page: the current one, or the one with this number in tabs.",
            places=(Place("TAB", "index", needed=False),),
            console=False,
        ),
    )

    index: int | None = field("Its number in tabs, from 0, instead of targetId.", None, least=0)

    def check(self) -> None:
        """Raise InvalidArgumentError if the fields name two pages."""
        _check_tab(self.kind, self.index, self.target_id)

    async def run(self, performance: Performance) -> dict[str, Any]:
        opener = performance.page.opener
        was_current = performance.actor.current is performance.page
        await performance.page.close(timeout=performance.left)
        if was_current and opener is not None and opener in performance.actor.pages:
            performance.actor.focus(opener)
        performance.page_or_none = None
        current = performance.actor.current
        return {"current": None if current is None else current.target_id}

    @staticmethod
    def text_lines(_result: Any) -> Iterable[str]:
        return ()


def _check_tab(kind: str, index: int | None, target_id: str | None) -> None:
    """Raise InvalidArgumentError for two names of a page."""
    if index is not None and target_id is not None:
        raise InvalidArgumentError(kind, "an index and a targetId", "one of them")
