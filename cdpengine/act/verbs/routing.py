"""Verbs about routes: block requests, or answer them instead of the server."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import attrs

from cdpengine._urls.patterns import url_words
from cdpengine.act.fields import field
from cdpengine.act.notations import CommandForm, Place, ToolForm
from cdpengine.act.requests import ActRequest
from cdpengine.errors import InvalidArgumentError
from cdpengine.errors.texts import escape_line

if TYPE_CHECKING:
    from cdpengine import Route
    from cdpengine.act.observing.lasting_settings import LastingSetting
    from cdpengine.act.performing import Performance


@attrs.frozen(kw_only=True)
class AddRoute(ActRequest):
    """Block the requests of all pages of the session that match, or answer them instead of the server.

    The latest route of several comes first.
    """

    kind = "route"
    needs_page = False
    tool = ToolForm(
        meaning="Block matching requests of all tabs, or answer them yourself.",
        action="add",
        fields=("block", "status", "body", "contentType", "resourceTypes"),
        capability="network",
    )
    commands = (
        CommandForm(
            meaning="Block the session's requests that match URL, or answer them instead of the server.",
            places=(Place("URL", "url"),),
            example="""route '*/api/user' --body '{"name": "Ada"}' --content-type application/json""",
            console=False,
        ),
    )

    url: str = field("A glob for the URL; only * is special.")
    block: bool = field("Fail the requests.", False)
    status: int | None = field("The status of the answer, by default 200.", None, least=100, most=599)
    body: str | None = field("The body of the answer.", None, secret=True)
    content_type: str | None = field("The type of the answer, by default text/plain.", None)
    headers: dict[str, str] = field(
        "Further headers of the answer.", attrs.Factory(dict), most=100, secret=True
    )
    path: str | None = field("The file with the body of the answer.", None, file=True)
    resource_types: tuple[str, ...] = field(
        'Only requests of these types: "Document", "Script", "Image", "Fetch", "XHR", ...', (), most=30
    )

    def script(self) -> str:
        """Return "route with a body" if the answer can contain a script, else ""."""
        return "" if self.body is None and self.path is None else "route with a body"

    def check(self) -> None:
        """Raise InvalidArgumentError unless the route either blocks or answers."""
        answer = (self.status, self.body, self.content_type, self.path, self.headers or None)
        answers = any(each is not None for each in answer)
        if answers is self.block:
            given = "block and an answer" if answers else "neither block nor an answer"
            raise InvalidArgumentError("route", given, "block, or an answer: body, path, status or headers")
        if self.body is not None and self.path is not None:
            raise InvalidArgumentError("route", "body and path", "one of them")

    async def run(self, performance: Performance) -> None:
        types: Any = self.resource_types  # the engine checks the names
        route = performance.context.route(
            self.url, self._answer, resource_type=types, timeout=performance.left
        )
        await performance.actor.lasting.add(self.kind, self, route)

    async def _answer(self, route: Route) -> None:
        if self.block:
            await route.abort("BlockedByClient")
            return
        await route.fulfill(
            status=self.status,
            headers=self.headers,
            body=self.body,
            path=self.path,
            content_type=self.content_type,
        )


@attrs.frozen(kw_only=True)
class Routes(ActRequest):
    """Return the routes of the session, latest first."""

    kind = "routes"
    listed = ("", "no routes")
    in_order = False
    needs_page = False
    tool = ToolForm(name="route", action="list", capability="network")
    commands = (CommandForm(meaning="Print the session's routes.", console=False),)

    async def run(self, performance: Performance) -> list[dict[str, Any]]:
        return [_describe(each) for each in reversed(performance.actor.lasting.made) if _is_route(each)]

    @staticmethod
    def text_lines(result: Any) -> Iterable[str]:
        for each in result:
            types = f"  {' '.join(each['resourceTypes'])}" if each["resourceTypes"] else ""
            count = f"{each['requests']} request{'s' * (each['requests'] != 1)}"
            yield escape_line(f"{each['url']}  {each['answer']}  {count}{types}")


@attrs.frozen(kw_only=True)
class RemoveRoutes(ActRequest):
    """End the routes of a pattern, or all routes of the session, and return their number."""

    kind = "unroute"
    needs_page = False
    tool = ToolForm(name="route", action="remove", capability="network")
    commands = (
        CommandForm(
            meaning="End the session's routes of URL; without it, all.",
            places=(Place("URL", "url", needed=False),),
            console=False,
        ),
    )

    url: str | None = field("The glob of the routes, as in route; without, all.", None)

    async def run(self, performance: Performance) -> dict[str, int]:
        words = None if self.url is None else url_words(self.url)
        removed = await performance.actor.lasting.end(
            lambda each: _is_route(each) and words in (None, each.value.match.words)
        )
        return {"removed": removed}


def _is_route(setting: LastingSetting) -> bool:
    return isinstance(setting.request, AddRoute)


def _describe(setting: LastingSetting) -> dict[str, Any]:
    request = setting.request
    assert isinstance(request, AddRoute)
    return {
        "url": request.url,
        "answer": "block" if request.block else str(request.status or 200),
        "resourceTypes": list(request.resource_types),
        "requests": setting.value.seen,
    }
