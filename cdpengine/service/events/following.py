"""Recording a session's activity in its journal: console, errors, requests, navigations, dialogs.

Rule: each page has two bounded queues that the reader fills without waiting: one for its activity, one for
protocol events. If a queue overflows, the journal reports how many entries are missing. Entries of one queue
keep Chrome's order. Across the two queues, `time` gives the order if both entries have one. Strings typed into
prompts are not recorded.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

import attrs
import trio

from cdpengine._activity.console import ConsoleMessage, PageError
from cdpengine._activity.request import Request, Response
from cdpengine._activity.streams import Kind, RequestEnded
from cdpengine._nursery import open_body_nursery
from cdpengine._protocol.streams import Stream
from cdpengine.act.response import describe_url
from cdpengine.errors import (
    ConnectionLostError,
    EventsLostError,
    ProtocolError,
    SessionGoneError,
    TargetCrashedError,
)
from cdpengine.service.events.journal import Journal

if TYPE_CHECKING:
    from cdpengine import BrowserContext, Event, Page
    from cdpengine._page.page_target import PageTarget

_QUEUE = 4_000
"""Maximum length of a page's queue, in items."""

_KINDS: tuple[Kind, ...] = ("console", "errors", "requests", "responses", "finished")
_OF_PAGES = (
    "Page.frameNavigated",
    "Page.navigatedWithinDocument",
    "Page.javascriptDialogOpening",
    "Page.javascriptDialogClosed",
)
_OF_DOWNLOADS = ("Browser.downloadWillBegin", "Browser.downloadProgress")

Written = tuple[str, dict[str, Any]]
"""An entry's name and its fields."""


@attrs.define(eq=False)
class Following:
    """Follows the open and future pages of one context, and its downloads."""

    _context: BrowserContext
    _journal: Journal
    _nursery: trio.Nursery = attrs.field(init=False)

    async def run(self, *, task_status: trio.TaskStatus[None]) -> None:
        """Follow until cancelled or the browser is gone; started once all open pages are followed."""
        browser = self._context.browser
        tabs = browser.internals.tabs
        async with (
            browser.session.subscribe(*_OF_DOWNLOADS, buffer=_QUEUE, enable=False) as downloads,
            open_body_nursery() as self._nursery,
        ):
            with tabs.follow_new_pages(self._follow_new):
                followed = [self._begin(page) for page in self._context.pages]
                for each in followed:
                    await each.wait()
                task_status.started()
                await self._read(downloads, "", self._describe_download)
                await trio.sleep_forever()  # until the session ends; its end has the reason

    def _follow_new(self, target: PageTarget) -> None:
        browser = self._context.browser
        page = browser.page(target.target_id)
        if page is not None and browser.context_of(page) is self._context:
            opener = None if page.opener is None else page.opener.target_id
            self._journal.add("pageOpened", page.target_id, {"url": describe_url(page.url), "opener": opener})
            self._begin(page)

    def _begin(self, page: Page) -> trio.Event:
        """Begin to follow a page; the event is set once the page is followed or gone."""
        followed = trio.Event()
        self._nursery.start_soon(self._follow, page, followed)
        return followed

    async def _follow(self, page: Page, followed: trio.Event) -> None:
        target_id = page.target_id
        while not page.closed:
            try:
                await self._read_page(page, followed)
            except TargetCrashedError:
                # The page crashed before it was followed. After a navigation it can be followed.
                self._journal.add("pageCrashed", target_id, {})
                followed.set()
                target = page.internals.target
                await target.changes.wait_for(lambda: page.closed or not page.session.crashed)
            except (SessionGoneError, ConnectionLostError):
                break
        followed.set()
        self._journal.add("pageClosed", target_id, {})

    async def _read_page(self, page: Page, followed: trio.Event) -> None:
        """Record a page's activity until the page is gone."""
        async with (
            page.session.subscribe(*_OF_PAGES, buffer=_QUEUE) as events,
            page.activity.stream(*_KINDS, buffer=_QUEUE) as activity,
            trio.open_nursery() as nursery,
        ):
            followed.set()
            describe = _of_main_frame(page)
            nursery.start_soon(partial(self._read, events, page.target_id, describe, reports_end=False))
            nursery.start_soon(self._read, activity, page.target_id, describe_activity)

    async def _read(
        self,
        stream: Stream[Any],
        target_id: str,
        describe: Callable[[Any], Written | None],
        *,
        reports_end: bool = True,
    ) -> None:
        """Record the items of a stream to its end.

        A crash ends all streams of a page. `reports_end`: this stream reports the crash.
        """
        while True:
            try:
                written = describe(await stream.receive())
            except EventsLostError as error:
                written = (
                    "lost",
                    {"count": error.count, "reason": f"more than {_QUEUE} items arrived together"},
                )
            except TargetCrashedError:
                written = ("pageCrashed", {}) if reports_end else None
            except ProtocolError as error:
                written = "lost", {"count": 1, "reason": f"it cannot be read: {error}"}
            except (SessionGoneError, ConnectionLostError):
                return
            if written is not None:
                name, fields = written
                self._journal.add(name, fields.pop("targetId", target_id), fields)

    def _describe_download(self, event: Event) -> Written | None:
        params = event.params
        guid = params.get("guid", "")
        records = self._context.browser.downloads
        record = next((each for each in records if each.guid == guid), None)
        if record is None or record.context_id not in (self._context.id, None):
            return None
        if event.method == "Browser.downloadWillBegin":
            return "download", {
                "guid": guid,
                "url": describe_url(record.url),
                "suggestedFilename": record.suggested_filename,
                "targetId": self._page_of(record.frame_id),
            }
        if params.get("state") == "inProgress":
            return None
        state = "refused" if record.refused else params.get("state")
        page = self._page_of(record.frame_id)
        return "downloadEnded", {"guid": guid, "state": state, "bytes": record.received, "targetId": page}

    def _page_of(self, frame_id: str) -> str:
        """Return the page of a frame; "" if the frame is gone."""
        for page in self._context.pages:
            if any(frame.id == frame_id for frame in page.frames):
                return page.target_id
        return ""


def describe_activity(item: object) -> Written | None:
    """Return the journal entry for an item of the page's console, errors or requests."""
    if isinstance(item, ConsoleMessage):
        fields: dict[str, Any] = {
            "level": item.level,
            "text": item.text,
            "url": describe_url(item.url),
            "line": item.line,
        }
        return "console", {**fields, "source": item.source, "time": item.time}
    if isinstance(item, PageError):
        return "pageError", {
            "text": f"{item.name or 'Uncaught'}: {item.message}",
            "url": describe_url(item.url),
            "line": item.line,
            "time": item.time,
        }
    if isinstance(item, Request):
        return "request", {
            "request": item.id,
            "method": item.method,
            "url": describe_url(item.url),
            "type": item.type,
            "time": item.time,
        }
    if isinstance(item, Response):
        return "response", {
            "request": item.request.id,
            "url": describe_url(item.url),
            "status": item.status,
        }
    if isinstance(item, RequestEnded):
        return "requestEnded", {
            "request": item.request.id,
            "url": describe_url(item.request.url),
            "failure": item.request.failure or None,
        }
    return None


def _of_main_frame(page: Page) -> Callable[[Event], Written | None]:
    """Return a function that describes a page's protocol events. It ignores navigations of child frames."""

    def describe(event: Event) -> Written | None:
        params = event.params
        if event.method == "Page.javascriptDialogOpening":
            return "dialog", {
                "type": params.get("type"),
                "text": params.get("message"),
                "url": describe_url(params.get("url", "")),
            }
        if event.method == "Page.javascriptDialogClosed":
            return "dialogClosed", {"accepted": params.get("result")}
        if event.method == "Page.navigatedWithinDocument":
            if params.get("frameId") != page.session.frame_id:
                return None
            return "navigation", {"url": describe_url(params.get("url", "")), "sameDocument": True}
        frame = params.get("frame", {})
        if frame.get("parentId"):
            return None
        url = describe_url(frame.get("url", "") + frame.get("urlFragment", ""))
        return "navigation", {"url": url, "sameDocument": False}

    return describe
