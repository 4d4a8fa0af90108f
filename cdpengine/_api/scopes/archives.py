"""HTTP Archives (HAR) of a page or a context: recorded to a file, and answered from a file.

Rule: a recording writes its file at the end of its block, whole or not at all. Secrets are redacted unless the
caller wants them. A page that is answered from a file reaches no server, unless the caller lets missing requests
through.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager, suppress
from pathlib import Path
from typing import Literal, TypeAlias

import trio

from cdpengine._activity import har
from cdpengine._activity.har_bodies import LARGEST_BODY
from cdpengine._activity.har_recorder import HarRecorder
from cdpengine._api.browser_state import BrowserState
from cdpengine._api.scopes.awaitable_scope import AwaitableScope, SettingScope
from cdpengine._api.scopes.network import RouteTable, route_requests
from cdpengine._budget import undoing, within
from cdpengine._checks import check_choice, check_count, check_flag
from cdpengine._network.archive import ArchivedResponse, HarArchive, read_archive
from cdpengine._network.route import Route
from cdpengine._page.downloads.output_file import checked_path, output_file
from cdpengine._paths import to_path
from cdpengine._urls.patterns import UrlPattern, join_pattern, url_test
from cdpengine.errors import EngineError, InvalidArgumentError, packages_named

NotFound: TypeAlias = Literal["abort", "fallback"]
"""What happens to a request that the archive lacks: it fails, or the next route or the server gets it."""

_LIMIT = 30.0
"""Maximum time in seconds to answer one request."""

_SAVE_TIMEOUT = 1.0
"""Maximum time in seconds to write an archive after an error or a cancellation."""


def make_redactor(state: BrowserState) -> har.Redacting:
    """Return a redactor that knows the secrets of the program. Raises PackageMissingError."""
    with packages_named():
        from cdpengine.debug.recording.redact import Redactor  # archives and recordings share one table

    redactor = Redactor()
    for secret in state.instruments.secrets:
        redactor.add_secret(secret)
    return redactor


@asynccontextmanager
async def record_har(
    scope: SettingScope,
    state: BrowserState,
    path: str | Path,
    *,
    url: UrlPattern | None,
    bodies: bool,
    largest_body: int,
    redacted: bool,
    overwrite: bool,
    timeout: float,
) -> AsyncIterator[Path]:
    """Record the scope's requests during the block: `Page.record_har`, `BrowserContext.record_har`."""
    place = checked_path("the HTTP archive", path, overwrite=overwrite)
    check_count("largest_body", largest_body, unit="bytes")
    for what, flag in (("bodies", bodies), ("redacted", redacted)):
        check_flag(what, flag)
    wants = _all if url is None else url_test(join_pattern(scope.base_url, url))
    if redacted:
        make_redactor(state)  # raises for a missing package before the recording
    recorder = HarRecorder(state.activities, scope.page_scope, wants, largest_body)

    async def save(seconds: float) -> None:
        archive = await recorder.archive(
            bodies=bodies, cookies=not redacted, product=state.version.product, seconds=seconds
        )
        if redacted:
            archive = har.redacted(archive, make_redactor(state))
        async with output_file("the HTTP archive", place, overwrite=overwrite) as file:
            await file.write(har.encode(archive))

    try:
        async with scope.entering("record an HTTP archive", timeout):
            await recorder.begin()
        yield place
    except BaseException:
        with undoing(_SAVE_TIMEOUT), suppress(EngineError):
            await save(_SAVE_TIMEOUT / 2)
        recorder.end()
        raise
    else:
        try:
            with within("write the HTTP archive", timeout) as budget:
                await save(budget.remaining / 2)
        finally:
            recorder.end()


def route_from_har(
    scope: SettingScope,
    routes: RouteTable,
    state: BrowserState,
    path: str | Path,
    *,
    url: UrlPattern | None,
    not_found: NotFound,
    update: bool,
    redacted: bool,
    timeout: float,
) -> AwaitableScope[HarArchive | None]:
    """Answer the scope's requests from a file: `Page.route_from_har`, `BrowserContext.route_from_har`."""
    place = to_path("path", path)
    check_choice("not_found", not_found, ("abort", "fallback"))
    check_flag("update", update)

    @asynccontextmanager
    async def answered() -> AsyncIterator[HarArchive]:
        archive = await trio.to_thread.run_sync(read_archive, place)
        redactor = make_redactor(state) if archive.redacted else None

        async def answer(route: Route) -> None:
            found = archive.find(route.request, None if redactor is None else redactor.text)
            if found is not None:
                await _give(route, found)
            elif _is_preflight(route):
                await _allow(route)
            elif not_found == "abort":
                await route.abort("Failed")
            else:
                await route.fallback()

        pattern: UrlPattern = "*" if url is None else url
        routed = route_requests(scope, routes, pattern, answer, (), "request", _LIMIT, timeout)
        async with routed as registration:
            archive.match = registration.match
            yield archive

    @asynccontextmanager
    async def updated() -> AsyncIterator[None]:
        recording = record_har(
            scope, state, place, url=url, bodies=True, largest_body=_UPDATED_BODY, redacted=redacted,
            overwrite=True, timeout=timeout,
        )  # fmt: skip
        async with recording:
            yield None

    def enter() -> AbstractAsyncContextManager[HarArchive | None]:
        return updated() if update else answered()

    async def last() -> tuple[HarArchive | None, Callable[[], Awaitable[object]]]:
        if update:
            given, expected = "an awaited call", "a block: `async with`, whose end writes the file"
            raise InvalidArgumentError(what="route_from_har(update=True)", given=given, expected=expected)
        return await scope.keep("route", enter)

    return AwaitableScope("route_from_har(...)", last, enter)


_UPDATED_BODY = 64 * LARGEST_BODY
"""Maximum size of a body in an updated archive, in bytes. A response without its body is not answered later."""


def _all(_url: str) -> bool:
    return True


async def _give(route: Route, response: ArchivedResponse) -> None:
    if response.status == 0:
        await route.abort("Failed")
    else:
        await route.fulfill(status=response.status, headers=response.headers, body=response.body)


def _is_preflight(route: Route) -> bool:
    asked = route.request.header("access-control-request-method")
    return route.request.method == "OPTIONS" and asked is not None


async def _allow(route: Route) -> None:
    """Allow a cross-origin request, which archives of most tools list without its preflight."""
    request = route.request
    headers = {
        "Access-Control-Allow-Origin": request.header("origin") or "*",
        "Access-Control-Allow-Credentials": "true",
        "Access-Control-Allow-Methods": request.header("access-control-request-method") or "*",
        "Access-Control-Allow-Headers": request.header("access-control-request-headers") or "*",
    }
    await route.fulfill(status=204, headers=headers)
