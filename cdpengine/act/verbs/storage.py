"""Verbs about cookies and storages."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Literal

import attrs

from cdpengine.act.fields import camel_case, field
from cdpengine.act.requests import (
    ActRequest,
)

if TYPE_CHECKING:
    from cdpengine.act.performing import Performance


@attrs.frozen(kw_only=True)
class Cookies(ActRequest):
    """Return the cookies of the page's browser context."""

    kind: ClassVar[str] = "cookies"
    in_order: ClassVar[bool] = False
    urls: tuple[str, ...] = field("Only cookies that would be sent to these URLs.", (), most=100)

    async def run(self, performance: Performance) -> list[dict[str, Any]]:
        names = [field for field in attrs.fields_dict(CookieSetting) if field != "url"]
        found = await performance.page.storage.cookies(*self.urls, timeout=performance.left)
        return [{camel_case(name): getattr(cookie, name) for name in names} for cookie in found]


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

    kind: ClassVar[str] = "setCookies"
    cookies: tuple[CookieSetting, ...] = field("The cookies.", least=1, most=1000)

    async def run(self, performance: Performance) -> None:
        from cdpengine import Cookie

        cookies = [Cookie(**attrs.asdict(each)) for each in self.cookies]
        await performance.page.storage.set_cookies(cookies, timeout=performance.left)


@attrs.frozen(kw_only=True)
class ClearCookies(ActRequest):
    """Remove all cookies of the page's browser context."""

    kind: ClassVar[str] = "clearCookies"

    async def run(self, performance: Performance) -> None:
        await performance.page.storage.clear_cookies(timeout=performance.left)


@attrs.frozen(kw_only=True)
class Storage(ActRequest):
    """Return the items of the document's local or session storage."""

    kind: ClassVar[str] = "storage"
    in_order: ClassVar[bool] = False
    area: Literal["local", "session"] = field("Which storage.", "local")

    async def run(self, performance: Performance) -> dict[str, str]:
        items: dict[str, str] = await _area(performance, self).items(timeout=performance.left)
        return items


@attrs.frozen(kw_only=True)
class SetStorage(ActRequest):
    """Set items of the document's local or session storage."""

    kind: ClassVar[str] = "setStorage"
    area: Literal["local", "session"] = field("Which storage.", "local")
    items: dict[str, str] = field("The items: names and values.", least=1, most=10_000, secret=True)

    async def run(self, performance: Performance) -> None:
        await _area(performance, self).set(self.items, timeout=performance.left)


@attrs.frozen(kw_only=True)
class ClearStorage(ActRequest):
    """Remove items of the document's local or session storage."""

    kind: ClassVar[str] = "clearStorage"
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
