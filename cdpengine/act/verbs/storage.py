"""Verbs about cookies and storages."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Literal

import attrs

from cdpengine.act.fields import camel_case, field
from cdpengine.act.notations import CommandForm, Place, ToolForm
from cdpengine.act.requests import ActRequest
from cdpengine.errors.texts import escape_line

if TYPE_CHECKING:
    from cdpengine.act.performing import Performance


@attrs.frozen(kw_only=True)
class Cookies(ActRequest):
    """Return the cookies of the page's browser context."""

    kind = "cookies"
    listed = ("", "no cookies")
    in_order = False
    tool = ToolForm(meaning="Read, set or clear cookies.", action="get", capability="storage")
    commands = (CommandForm(meaning="Print the session's cookies."),)

    urls: tuple[str, ...] = field("Only cookies that would be sent to these URLs.", (), most=100)

    async def run(self, performance: Performance) -> list[dict[str, Any]]:
        names = [field for field in attrs.fields_dict(CookieSetting) if field != "url"]
        found = await performance.page.storage.cookies(*self.urls, timeout=performance.left)
        return [{camel_case(name): getattr(cookie, name) for name in names} for cookie in found]

    @staticmethod
    def text_lines(result: Any) -> Iterable[str]:
        for each in result:
            yield escape_line(f"{each['name']}={each['value']}  {each['domain']}{each['path']}")


@attrs.frozen(kw_only=True)
class CookieSetting:
    """A cookie to set. Give `url` or `domain`."""

    name: str = field("Its name.")
    value: str = field("Its value.", secret=True)
    url: str = field("A URL of the cookie.", "")
    domain: str = field("The domain; with a leading dot, also its subdomains.", "")
    path: str = field("The path.", "/")
    expires: float | None = field(
        "Expiry in seconds since 1970; without, it ends with the browser's session.", None
    )
    http_only: bool = field("Hide it from scripts.", False)
    secure: bool = field("Send it only over HTTPS.", False)
    same_site: Literal["Strict", "Lax", "None"] | None = field(
        "Whether requests from other sites include it.", None
    )


@attrs.frozen(kw_only=True)
class SetCookies(ActRequest):
    """Set cookies of the page's browser context."""

    kind = "setCookies"
    tool = ToolForm(name="cookies", action="set", capability="storage")
    commands = (
        CommandForm(
            meaning="Set cookies, given as a JSON list of objects with name, value and url.",
            places=(Place("COOKIES", "cookies"),),
        ),
    )

    cookies: tuple[CookieSetting, ...] = field("The cookies.", least=1, most=1000)

    async def run(self, performance: Performance) -> None:
        from cdpengine import Cookie

        cookies = [Cookie(**attrs.asdict(each)) for each in self.cookies]
        await performance.page.storage.set_cookies(cookies, timeout=performance.left)


@attrs.frozen(kw_only=True)
class ClearCookies(ActRequest):
    """Remove all cookies of the page's browser context."""

    kind = "clearCookies"
    tool = ToolForm(name="cookies", action="clear", capability="storage")
    commands = (CommandForm(meaning="Remove the session's cookies."),)

    async def run(self, performance: Performance) -> None:
        await performance.page.storage.clear_cookies(timeout=performance.left)


@attrs.frozen(kw_only=True)
class Storage(ActRequest):
    """Return the items of the document's local or session storage."""

    kind = "storage"
    listed = ("", "nothing is stored")
    in_order = False
    tool = ToolForm(
        meaning="Read, set or clear local or session storage.",
        action="get",
        fields=("area",),
        capability="storage",
    )
    commands = (CommandForm(meaning="Print the items of the document's local or session storage."),)

    area: Literal["local", "session"] = field("Which storage.", "local")

    async def run(self, performance: Performance) -> dict[str, str]:
        items: dict[str, str] = await _area(performance, self).items(timeout=performance.left)
        return items

    @staticmethod
    def text_lines(result: Any) -> Iterable[str]:
        for name, value in result.items():
            yield escape_line(f"{name}={value}")


@attrs.frozen(kw_only=True)
class SetStorage(ActRequest):
    """Set items of the document's local or session storage."""

    kind = "setStorage"
    tool = ToolForm(name="storage", action="set", capability="storage")
    commands = (
        CommandForm(
            meaning="Set items of the document's storage, given as a JSON object.",
            places=(Place("ITEMS", "items"),),
        ),
    )

    area: Literal["local", "session"] = field("Which storage.", "local")
    items: dict[str, str] = field("The items: names and values.", least=1, most=10_000, secret=True)

    async def run(self, performance: Performance) -> None:
        await _area(performance, self).set(self.items, timeout=performance.left)


@attrs.frozen(kw_only=True)
class ClearStorage(ActRequest):
    """Remove items of the document's local or session storage."""

    kind = "clearStorage"
    tool = ToolForm(name="storage", action="clear", fields=("keys",), capability="storage")
    commands = (
        CommandForm(
            meaning="Remove items of the document's storage; without names, all.",
            places=(Place("KEY", "keys", needed=False, many=True),),
        ),
    )

    area: Literal["local", "session"] = field("Which storage.", "local")
    keys: tuple[str, ...] = field("The names of the items; an empty list removes all.", (), most=10_000)

    async def run(self, performance: Performance) -> None:
        area = _area(performance, self)
        await (
            area.delete(*self.keys, timeout=performance.left)
            if self.keys
            else area.clear(timeout=performance.left)
        )


def _area(performance: Performance, request: Any) -> Any:
    storage = performance.page.storage
    return storage.local if request.area == "local" else storage.session
