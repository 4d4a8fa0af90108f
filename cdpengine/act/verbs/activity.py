"""Verbs that read a page's console and its requests."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Literal

import attrs

from cdpengine._urls.patterns import url_test
from cdpengine.act.fields import field
from cdpengine.act.notations import CommandForm, ToolForm
from cdpengine.act.requests import ActRequest
from cdpengine.act.response import describe_url
from cdpengine.errors.texts import escape_line

if TYPE_CHECKING:
    from cdpengine.act.performing import Performance

_LEVELS = ("debug", "info", "warning", "error")


@attrs.frozen(kw_only=True)
class Console(ActRequest):
    """Return the page's console messages and uncaught errors; the newest 500 and 200 are kept."""

    kind = "console"
    listed = ("messages", "nothing was written")
    in_order = False
    tool = ToolForm(meaning="Read the console and errors.", fields=("level", "limit"))
    commands = (
        CommandForm(
            meaning="Print the page's console messages and uncaught errors.",
            example="console --level warning",
        ),
    )

    level: Literal["debug", "info", "warning", "error"] = field("This level and those above it.", "debug")
    limit: int = field("Maximum number of entries, the newest ones.", 100, least=1, most=700)
    clear: bool = field("Remove the returned entries.", False)

    async def run(self, performance: Performance) -> dict[str, Any]:
        await performance.actor.watch(performance.page, performance.left)
        activity = performance.page.activity
        least = _LEVELS.index(self.level)
        messages: list[dict[str, Any]] = [
            {
                "level": each.level,
                "text": each.text,
                "url": describe_url(each.url),
                "line": each.line,
                "time": each.time,
            }
            for each in activity.console
            if _LEVELS.index(each.level) >= least
        ]
        errors: list[dict[str, Any]] = [
            {
                "level": "error",
                "text": f"{each.name or 'Uncaught'}: {each.message}",
                "url": describe_url(each.url),
                "line": each.line,
                "time": each.time,
            }
            for each in activity.errors
        ]
        both = sorted([*messages, *errors], key=lambda each: float(each["time"]))
        dropped = activity.console.dropped + activity.errors.dropped
        if self.clear:
            activity.clear()
        return {"count": len(both), "dropped": dropped, "messages": both[-self.limit :]}

    @staticmethod
    def text_lines(result: Any) -> Iterable[str]:
        for each in result["messages"]:
            place = f"  ({each['url']}:{each['line'] + 1})" if each["url"] else ""
            yield escape_line(f"{each['level']}: {each['text']}{place}")


@attrs.frozen(kw_only=True)
class Requests(ActRequest):
    """Return the page's requests, with status or failure; the newest 500 are kept."""

    kind = "requests"
    listed = ("requests", "no requests")
    in_order = False
    tool = ToolForm(meaning="List network requests.", fields=("url", "failed", "limit"))
    commands = (CommandForm(meaning="Print the page's requests.", example="requests --failed"),)

    url: str | None = field("Only requests whose URL matches this glob; only * is special.", None)
    failed: bool = field("Only requests that failed or have a status of 400 or more.", False)
    limit: int = field("Maximum number of requests, the newest ones.", 100, least=1, most=500)
    clear: bool = field("Remove all kept requests.", False)

    async def run(self, performance: Performance) -> dict[str, Any]:
        await performance.actor.watch(performance.page, performance.left)
        activity = performance.page.activity
        matches = (lambda _url: True) if self.url is None else url_test(self.url)
        found = [each for each in activity.requests if matches(each.url)]
        if self.failed:
            found = [
                each for each in found if each.failure or (each.response and each.response.status >= 400)
            ]
        described = [
            {
                "method": each.method,
                "url": describe_url(each.url),
                "type": each.type,
                "status": None if each.response is None else each.response.status,
                "failure": each.failure or None,
                "ended": each.ended,
            }
            for each in found[-self.limit :]
        ]
        dropped = activity.requests.dropped
        if self.clear:
            activity.clear()
        return {"count": len(found), "dropped": dropped, "requests": described}

    @staticmethod
    def text_lines(result: Any) -> Iterable[str]:
        for each in result["requests"]:
            outcome = each["failure"] or each["status"] or "under way"
            yield escape_line(f"{outcome}  {each['method']} {each['url']}  {each['type']}")
