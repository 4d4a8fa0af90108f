"""Checked cookies, and reading, setting and deleting the cookies of one browser context.

Rule: cookies that Chrome would refuse or silently drop are refused here with a reason, as far as the standard
defines it (RFC 6265bis), before anything is sent. A cookie from Chrome can be set again unchanged. Cookies that
are set together are set all or not at all; reading again finds the ones that Chrome silently dropped. The browser
process does the work: no page is needed, and no page can notice it. The connection's instruments learn the values
as secrets before the first message that contains them.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from typing import Any, Literal
from urllib.parse import quote

import attrs
import trio

from cdpengine._checks import (
    check_choice,
    check_count,
    check_flag,
    check_number,
    check_string,
    invalid,
    wrong_type,
)
from cdpengine._page.scripts.remote_resources import RemoteResources
from cdpengine._protocol.domains.network import ChromeCookie
from cdpengine._protocol.domains.storage import CookiesReply
from cdpengine._protocol.session import Session
from cdpengine._urls.hosts import UnreadableUrl, host_matches, is_below, read_host
from cdpengine._urls.origins import origin_of
from cdpengine._urls.reading import parse_url, split_url
from cdpengine.errors import (
    ConnectionLostError,
    InvalidArgumentError,
    RemoteError,
    SessionGoneError,
    shown_url,
)

_UNDO_TIMEOUT = 2.0
"""Maximum duration of the restoring of cookies, in seconds."""


def _where(context_id: str | None) -> dict[str, str]:
    return {} if context_id is None else {"browserContextId": context_id}


async def read_cookies(root: Session, context_id: str | None) -> list[Cookie]:
    """Return all cookies of a context (None: the default one). Raises the errors of `Session.request`.

    Cookies of opaque partitions are left out, because they cannot be set again or deleted individually.
    """
    reply = await root.request("Storage.getCookies", _where(context_id), CookiesReply)
    return [from_chrome(cookie) for cookie in reply.cookies if not cookie.partition_key_opaque]


async def write_cookies(
    root: Session, creations: RemoteResources, context_id: str | None, cookies: Sequence[Cookie]
) -> None:
    """Set checked cookies. If one is missing afterwards, sets none and raises InvalidArgumentError.

    After a cancellation or a refusal, the previous cookies are restored.
    """
    if not cookies:
        await trio.lowlevel.checkpoint()
        return
    for each in cookies:  # before reading: an existing cookie may have the same value
        root.connection.instruments.add_secret(each.value)
    before = {cookie.key: cookie for cookie in await read_cookies(root, context_id)}
    try:
        await _set(root, context_id, cookies)
        after = await read_cookies(root, context_id)
        for cookie in {each.key: each for each in cookies}.values():
            if not is_expired(cookie) and not any(_is_stored_as(cookie, each) for each in after):
                reason = "Chrome dropped it: a secure cookie or the site's settings may prevent it"
                raise _refused(cookie, reason)
    except BaseException:

        async def put_back(old: dict[tuple[object, ...], Cookie]) -> None:
            await _put_back(root, context_id, old, cookies)

        await creations.dispose(put_back, before, _UNDO_TIMEOUT)
        raise


async def delete_cookies(root: Session, context_id: str | None, doomed: Callable[[Cookie], bool]) -> int:
    """Delete the cookies for which `doomed` is true; return their number."""
    found = [cookie for cookie in await read_cookies(root, context_id) if doomed(cookie)]
    if found:
        await _set(root, context_id, [_make_expired(cookie) for cookie in found])
    return len(found)


async def clear_cookies(root: Session, context_id: str | None) -> None:
    """Delete all cookies of a context, those of opaque partitions included."""
    await root.call("Storage.clearCookies", **_where(context_id))


async def _set(root: Session, context_id: str | None, cookies: Sequence[Cookie]) -> None:
    try:
        await root.call("Storage.setCookies", cookies=list(map(to_chrome, cookies)), **_where(context_id))
    except RemoteError as error:
        if "cookie" not in error.message.lower():
            raise
        worst = await _find_refused(root, context_id, cookies)
        raise _refused(worst, f"Chrome answered {error.message!r}") from None


def _refused(cookie: Cookie, reason: str) -> InvalidArgumentError:
    given = f"{cookie.name[:80]!r} of {cookie.domain or 'no domain'}"
    return InvalidArgumentError("cookie", given, f"one that Chrome accepts ({reason})")


async def _find_refused(root: Session, context_id: str | None, cookies: Sequence[Cookie]) -> Cookie:
    """Return the cookie that Chrome refused. Chrome set none and does not name it, so each is tried.

    The caller restores the previous cookies.
    """
    for cookie in cookies:
        try:
            await root.call("Storage.setCookies", cookies=[to_chrome(cookie)], **_where(context_id))
        except RemoteError:
            return cookie
    return cookies[0]


async def _put_back(
    root: Session,
    context_id: str | None,
    before: dict[tuple[object, ...], Cookie],
    cookies: Sequence[Cookie],
) -> None:
    with (
        trio.move_on_after(_UNDO_TIMEOUT, shield=True),
        suppress(
            ConnectionLostError, RemoteError, SessionGoneError, InvalidArgumentError
        ),  # the context ended, and its cookies too
    ):
        touched = [each for each in await read_cookies(root, context_id) if _is_any(cookies, each)]
        new = [_make_expired(cookie) for cookie in touched if cookie.key not in before]
        old = [cookie for cookie in before.values() if _is_any(cookies, cookie)]
        if new or old:
            await _set(root, context_id, [*new, *old])


def _make_expired(cookie: Cookie) -> Cookie:
    return attrs.evolve(cookie, value="", expires=1.0) if cookie.name else attrs.evolve(cookie, expires=1.0)


def _is_any(cookies: Sequence[Cookie], there: Cookie) -> bool:
    """Return whether a cookie of the browser may come from one of `cookies`."""
    host = there.domain.removeprefix(".")
    return any(
        (each.name, each.domain.removeprefix(".").lower(), each.path) == (there.name, host, there.path)
        for each in cookies
    )


def _is_stored_as(cookie: Cookie, stored: Cookie) -> bool:
    """Return whether a cookie of the browser is the one that was set.

    Chrome stores an IP address without a leading dot, and only the site of a partition. (It also stores ".com"
    without the dot, but that is a different cookie.)
    """
    host = cookie.domain.removeprefix(".")
    numeric = host.replace(".", "").isdigit() or host.startswith("[")
    domain = host if numeric else cookie.domain
    same = (cookie.name, domain.lower(), cookie.path) == (stored.name, stored.domain.lower(), stored.path)
    if not same or cookie.value != stored.value:
        return False
    ours, theirs = cookie.partition, stored.partition
    if ours is None or theirs is None:
        return ours is theirs
    scheme, host = split_url(ours.top_level_site)
    site_scheme, site = split_url(theirs.top_level_site)
    return (
        ours.cross_site_ancestor == theirs.cross_site_ancestor
        and scheme == site_scheme
        and is_below(host, site)
    )


# --- one cookie ----------------------------------------------------------------------------------------------

SameSite = Literal["Strict", "Lax", "None"]

_LARGEST = 4096
"""Maximum size of a name and its value together, in bytes."""

_LATEST = 253402300799.0
"""The end of the year 9999, in seconds since 1970."""


@attrs.frozen
class CookiePartition:
    """The partition of a partitioned cookie (CHIPS): the top-level site, as "https://example.com".

    `cross_site_ancestor`: whether a frame of another site is between the top and the cookie's frame; true if the
    cookie's frame itself is of another site than the top.
    """

    top_level_site: str
    cross_site_ancestor: bool = True


@attrs.frozen
class Cookie:
    """One cookie. Either `url` or `domain` determines its site.

    A `domain` with a leading dot includes all subdomains; without it, only that host. `expires` is seconds since
    1970, None for a session cookie. `partition` is None for an unpartitioned cookie.
    """

    name: str
    value: str = attrs.field(repr=False)
    domain: str = ""
    path: str = "/"
    expires: float | None = None
    http_only: bool = False
    secure: bool = False
    same_site: SameSite | None = None
    partition: CookiePartition | None = None
    priority: Literal["Low", "Medium", "High"] = "Medium"
    source_scheme: Literal["Unset", "NonSecure", "Secure"] = "Unset"
    source_port: int = -1
    url: str = ""

    @property
    def key(self) -> tuple[object, ...]:
        """The cookie's identity: name, domain, path, partition."""
        return (self.name, self.domain.lower(), self.path, self.partition)


def from_chrome(cookie: ChromeCookie) -> Cookie:
    """Return Chrome's cookie as a Cookie."""
    key = cookie.partition_key
    expires = cookie.expires
    return Cookie(
        name=cookie.name,
        value=cookie.value,
        domain=cookie.domain,
        path=cookie.path,
        expires=None if cookie.session or expires is None or expires < 0 else expires,
        http_only=cookie.http_only,
        secure=cookie.secure,
        same_site=cookie.same_site,  # type: ignore[arg-type] # Chrome's values
        partition=None if key is None else CookiePartition(key.top_level_site, key.has_cross_site_ancestor),
        priority=cookie.priority,  # type: ignore[arg-type]
        source_scheme=cookie.source_scheme,  # type: ignore[arg-type]
        source_port=cookie.source_port,
    )


def to_chrome(cookie: Cookie) -> dict[str, Any]:
    """Return a cookie as `Network.CookieParam`."""
    params: dict[str, Any] = {
        "name": cookie.name,
        "value": cookie.value,
        "path": cookie.path,
        "secure": cookie.secure,
        "httpOnly": cookie.http_only,
        "priority": cookie.priority,
    }
    if cookie.domain:
        params["domain"] = cookie.domain
    else:
        params["url"] = cookie.url
    if cookie.expires is not None:
        params["expires"] = cookie.expires
    if cookie.same_site is not None:
        params["sameSite"] = cookie.same_site
    # A local page can get a secure cookie over http. Chrome reports the cookie with that scheme, but does not
    # accept it with it.
    if cookie.source_scheme != "Unset" and not (cookie.secure and cookie.source_scheme == "NonSecure"):
        params["sourceScheme"] = cookie.source_scheme
        params["sourcePort"] = cookie.source_port
    if cookie.partition is not None:
        params["partitionKey"] = {
            "topLevelSite": cookie.partition.top_level_site,
            "hasCrossSiteAncestor": cookie.partition.cross_site_ancestor,
        }
    return params


def checked_cookies(given: object) -> list[Cookie]:
    """Return cookies, passed as Cookie objects or as mappings with the same names, with their domain filled in.

    Raises InvalidArgumentError, which names the first invalid cookie.
    """
    if isinstance(given, str | bytes | Mapping | Cookie) or not isinstance(given, Iterable):
        raise wrong_type("cookies", given, "a list of cookies (Cookie or mappings)")
    return [check_cookie(each, f"cookies[{number}]") for number, each in enumerate(given)]


_NAMES = frozenset(attribute.name for attribute in attrs.fields(Cookie))


def check_cookie(given: object, what: str = "cookie") -> Cookie:
    """Return one cookie, checked. Raises InvalidArgumentError."""
    if isinstance(given, Mapping):
        unknown = [str(key)[:40] for key in given if key not in _NAMES]
        if unknown or "name" not in given or "value" not in given:
            wrong = f"a mapping with {unknown[0]!r}" if unknown else "a mapping without name or value"
            raise InvalidArgumentError(
                what=what, given=wrong, expected=f"name, value and of {_list_fields()}"
            )
        cookie = Cookie(**given)
    elif isinstance(given, Cookie):
        cookie = given
    else:
        raise wrong_type(what, given, "a Cookie or a mapping")
    _check_types(cookie, what)
    cookie = _fill_domain(cookie, what)
    _check_words(cookie, what)
    _check_rules(cookie, what)
    return cookie


def _list_fields() -> str:
    return ", ".join(sorted(_NAMES - {"name", "value"}))


def _check_types(cookie: Cookie, what: str) -> None:
    for name in ("name", "value", "domain", "path", "url"):
        check_string(f"{what}.{name}", getattr(cookie, name))
    for name in ("secure", "http_only"):
        check_flag(f"{what}.{name}", getattr(cookie, name))
    same_site = (None, "Strict", "Lax", "None")
    check_choice(f"{what}.same_site", cookie.same_site, same_site, '"Strict", "Lax", "None" or None')
    check_choice(f"{what}.priority", cookie.priority, ("Low", "Medium", "High"))
    check_choice(f"{what}.source_scheme", cookie.source_scheme, ("Unset", "NonSecure", "Secure"))
    if cookie.source_port != -1:
        port = f"{what}.source_port"
        check_count(port, cookie.source_port, least=1, most=65_535, expected="-1, or a port")
    if cookie.expires is not None:
        expected = "None, or seconds since 1970 (0 or more)"
        check_number(f"{what}.expires", cookie.expires, least=0, most=_LATEST, expected=expected)
    if cookie.partition is not None and (
        not isinstance(cookie.partition, CookiePartition)
        or not isinstance(cookie.partition.top_level_site, str)
        or origin_of(cookie.partition.top_level_site) is None
    ):
        expected = 'CookiePartition("https://the-site-at-the-top")'
        raise invalid(f"{what}.partition", cookie.partition, expected)


def _fill_domain(cookie: Cookie, what: str) -> Cookie:
    """Return the cookie with its domain, which may come from `url`."""
    if bool(cookie.domain) == bool(cookie.url):
        given = "both" if cookie.domain else "neither"
        raise InvalidArgumentError(what=f"{what}.url, .domain", given=given, expected="one of them")
    if cookie.url:
        if origin_of(cookie.url) is None:
            raise invalid(f"{what}.url", shown_url(cookie.url), "an http(s) URL")
        parts = parse_url(cookie.url)
        cookie = attrs.evolve(
            cookie, domain=parts.host, secure=cookie.secure or parts.scheme == "https", url=""
        )
    dot = "." if cookie.domain.startswith(".") else ""
    given = cookie.domain[len(dot) :]
    try:
        host = read_host(f"[{given}]" if given.count(":") > 1 and not given.startswith("[") else given)
    except UnreadableUrl:
        raise invalid(f"{what}.domain", cookie.domain, 'a host, such as ".example.com"') from None
    path = quote(cookie.path, safe=_OF_A_PATH) if not cookie.path.isascii() else cookie.path
    return attrs.evolve(cookie, domain=dot + host, path=path)


_OF_A_PATH = "".join(chr(code) for code in range(0x80))
"""Characters of a path that Chrome does not change."""


def _check_words(cookie: Cookie, what: str) -> None:
    if not cookie.name and not cookie.value:
        raise InvalidArgumentError(what=what, given="neither name nor value", expected="a name or a value")
    if not cookie.path.startswith("/"):
        raise invalid(f"{what}.path", cookie.path, 'a path from "/" on')
    for name, forbidden in (("name", ";="), ("value", ";"), ("path", ";")):
        text: str = getattr(cookie, name)
        bad = next((sign for sign in text if sign in forbidden or sign < " " or sign == "\x7f"), None)
        if bad is not None:
            expected = f"a string without {' '.join(forbidden)} and control characters"
            raise InvalidArgumentError(
                what=f"{what}.{name}", given=f"a string with {bad!r}", expected=expected
            )
        if text != text.strip(" \t") and name != "path":
            expected = "a string without surrounding white space"
            raise InvalidArgumentError(
                what=f"{what}.{name}", given="a string with surrounding white space", expected=expected
            )
    try:
        size = len(cookie.name.encode()) + len(cookie.value.encode())
    except UnicodeEncodeError:
        expected = "a string without unpaired surrogates"
        raise InvalidArgumentError(
            what=what, given="a string with an unpaired surrogate", expected=expected
        ) from None
    if size > _LARGEST:
        expected = f"at most {_LARGEST} bytes of name and value"
        raise InvalidArgumentError(what=what, given=f"{size} bytes", expected=expected)


def _check_rules(cookie: Cookie, what: str) -> None:
    if cookie.same_site == "None" and not cookie.secure:
        raise InvalidArgumentError(
            what=what, given='same_site="None" without secure', expected="secure=True with it"
        )
    if cookie.partition is not None and not cookie.secure:
        raise InvalidArgumentError(
            what=what, given="a partition without secure", expected="secure=True with it"
        )
    name = cookie.name.lower()
    if name.startswith(("__secure-", "__host-")) and not cookie.secure:
        given = f"{cookie.name[:80]!r} without secure"
        raise InvalidArgumentError(what=what, given=given, expected="secure=True with such a name")
    if name.startswith("__host-") and (cookie.domain.startswith(".") or cookie.path != "/"):
        given = f"{cookie.name[:80]!r} for {cookie.domain} and {cookie.path[:80]}"
        expected = 'a host without a leading dot and the path "/" with such a name'
        raise InvalidArgumentError(what=what, given=given, expected=expected)


def goes_to(cookie: Cookie, url: str) -> bool:
    """Return whether a cookie, partitioned or not, is sent to `url`."""
    try:
        parts = parse_url(url)
    except UnreadableUrl:
        return False
    host, path = parts.host, parts.path
    local = is_below(host, "localhost") or host.startswith("127.")
    if cookie.secure and parts.scheme != "https" and not local:
        return False
    below = path.startswith(cookie.path.rstrip("/") + "/") or path == cookie.path or cookie.path == "/"
    return below and host_matches(host, cookie.domain)


def is_expired(cookie: Cookie) -> bool:
    """Return whether the cookie has expired: setting it deletes it."""
    return cookie.expires is not None and cookie.expires <= time.time()
