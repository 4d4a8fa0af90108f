"""Cookies of one browser context: read, set and deleted, including those of all partitions.

Rule: all cookies that are set together are there afterwards, or none of them; what Chrome drops silently is found
by reading again. The browser itself is asked: no page is needed, and no page can notice. The instruments of the
connection know the values that are set as secrets before the first message that holds them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from urllib.parse import urlsplit

import attrs
import trio

from cdpengine._page.scripts.remote_resources import RemoteResources
from cdpengine._page.urls import host_matches
from cdpengine._protocol.domains.storage import CookiesReply
from cdpengine._protocol.session import Session
from cdpengine._storage.cookie import Cookie, from_chrome, is_expired, to_chrome
from cdpengine.errors import ConnectionLostError, CookieRefusedError, RemoteError, SessionGoneError

_UNDO_TIMEOUT = 2.0
"""Seconds that putting cookies back may take."""


def _where(context_id: str | None) -> dict[str, str]:
    return {} if context_id is None else {"browserContextId": context_id}


async def read_cookies(root: Session, context_id: str | None) -> list[Cookie]:
    """Return all cookies of a context (None: the default one). Raises as `Session.request`.

    Those of opaque partitions are left out: they cannot be set again, or deleted one by one.
    """
    reply = await root.request("Storage.getCookies", _where(context_id), CookiesReply)
    return [from_chrome(cookie) for cookie in reply.cookies if not cookie.partition_key_opaque]


async def write_cookies(
    root: Session, creations: RemoteResources, context_id: str | None, cookies: Sequence[Cookie]
) -> None:
    """Set cookies that were checked. Raises CookieRefusedError when one is not there afterwards; then none is.

    Cancelled, or when the browser refuses, what was there before is put back.
    """
    if not cookies:
        await trio.lowlevel.checkpoint()
        return
    for each in cookies:  # before what is there is read: it may be the same
        root.connection.instruments.add_secret(each.value)
    before = {cookie.key: cookie for cookie in await read_cookies(root, context_id)}
    try:
        await _set(root, context_id, cookies)
        after = await read_cookies(root, context_id)
        for cookie in {each.key: each for each in cookies}.values():
            if not is_expired(cookie) and not any(_is_stored_as(cookie, each) for each in after):
                reason = (
                    "Chrome dropped it: a cookie that is secure may be in its way, or the site's settings"
                )
                raise CookieRefusedError(name=cookie.name, domain=cookie.domain, reason=reason)
    except BaseException:

        async def put_back(old: dict[tuple[object, ...], Cookie]) -> None:
            await _put_back(root, context_id, old, cookies)

        await creations.dispose(put_back, before, _UNDO_TIMEOUT)
        raise


async def delete_cookies(root: Session, context_id: str | None, doomed: Callable[[Cookie], bool]) -> int:
    """Delete the cookies for which `doomed` says so; return how many there were."""
    found = [cookie for cookie in await read_cookies(root, context_id) if doomed(cookie)]
    if found:
        await _set(root, context_id, [_grave(cookie) for cookie in found])
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
        worst = await _culprit(root, context_id, cookies)
        reason = f"Chrome says {error.message!r}"
        raise CookieRefusedError(name=worst.name, domain=worst.domain, reason=reason) from None


async def _culprit(root: Session, context_id: str | None, cookies: Sequence[Cookie]) -> Cookie:
    """Return the cookie that Chrome refused. It set none of them, and does not say which it was: each is tried.

    The caller puts back what was there.
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
            ConnectionLostError, RemoteError, SessionGoneError, CookieRefusedError
        ),  # gone, and the cookies with it
    ):
        touched = [each for each in await read_cookies(root, context_id) if _is_any(cookies, each)]
        new = [_grave(cookie) for cookie in touched if cookie.key not in before]
        old = [cookie for cookie in before.values() if _is_any(cookies, cookie)]
        if new or old:
            await _set(root, context_id, [*new, *old])


def _grave(cookie: Cookie) -> Cookie:
    return attrs.evolve(cookie, value="", expires=1.0) if cookie.name else attrs.evolve(cookie, expires=1.0)


def _is_any(cookies: Sequence[Cookie], there: Cookie) -> bool:
    """Tell whether a cookie of the browser's can be what one that was to be set did."""
    host = there.domain.removeprefix(".")
    return any(
        (each.name, each.domain.removeprefix(".").lower(), each.path) == (there.name, host, there.path)
        for each in cookies
    )


def _is_stored_as(wanted: Cookie, there: Cookie) -> bool:
    """Tell whether a cookie of the browser's is the one that was set.

    Chrome keeps an address without a leading dot, and of a partition only the site. (It also keeps ".com" without
    the dot: that is another cookie than the one that was asked for.)
    """
    host = wanted.domain.removeprefix(".")
    numeric = host.replace(".", "").isdigit() or host.startswith("[")
    domain = host if numeric else wanted.domain
    same = (wanted.name, domain.lower(), wanted.path) == (there.name, there.domain.lower(), there.path)
    if not same or wanted.value != there.value:
        return False
    ours, theirs = wanted.partition, there.partition
    if ours is None or theirs is None:
        return ours is theirs
    site = urlsplit(theirs.top_level_site)
    at = urlsplit(ours.top_level_site)
    return (
        ours.cross_site_ancestor == theirs.cross_site_ancestor
        and site.scheme == at.scheme
        and host_matches(at.hostname or "", f".{site.hostname}")
    )
