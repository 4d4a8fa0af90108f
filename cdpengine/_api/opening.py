"""launch and connect: from nothing to a Browser, and back to nothing.

Rule: after the block nothing is left of what it made: no process, no profile, no session, no task; however it
ends. What the body raises leaves as itself. A browser that somebody else started is never closed.
"""

from __future__ import annotations

import itertools
import logging
import math
import os
import re
from collections.abc import AsyncIterator, Callable, Iterable, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from pathlib import Path
from typing import Literal
from urllib.parse import urlsplit

import trio

from cdpengine._activity.options import ActivityOptions, check_options
from cdpengine._api.browser import Browser
from cdpengine._budget import Budget
from cdpengine._launch.endpoint import (
    ResolvedEndpoint,
    browser_key,
    names_one_browser,
    redact_endpoint,
    resolve_endpoint,
    secrets_in_endpoint,
)
from cdpengine._launch.find import find_browser
from cdpengine._launch.process import BrowserProcess, LaunchOptions, start_browser
from cdpengine._network.headers import secret_values
from cdpengine._nursery import open_body_nursery
from cdpengine._page.navigation.liveness import check_seconds
from cdpengine._page.scripts.evaluation_sessions import ConnectionOpener
from cdpengine._page.tabs import Tabs
from cdpengine._protocol.connection import Connection, open_connection
from cdpengine._protocol.domains.browser import BrowserVersion
from cdpengine._protocol.http_connections import lacking
from cdpengine._protocol.instruments import Instruments
from cdpengine._protocol.instruments import logger as wire_logger
from cdpengine._protocol.transport import PipeTransport, open_websocket
from cdpengine.errors import (
    ConnectFailedError,
    ConnectionLostError,
    InvalidArgumentError,
    LaunchFailedError,
    ProtocolError,
    RemoteError,
    Shortage,
    shortage_of,
    shortages_named,
)

_CLOSE_GRACE = 1.5
"""Seconds that Chrome gets to close itself when asked, before its process is ended."""

_PASSWORD = re.compile(r"://[^/?#\s:@]*:([^/?#\s]+)@")
_EXIT_GRACE = 1.0
"""Seconds that a browser gets to be seen to have ended, when its connection ended while it was starting."""

_pipe_numbers = itertools.count(1)


@asynccontextmanager
async def launch(
    *,
    executable: str | Path | None = None,
    headless: bool = True,
    args: Sequence[str] = (),
    user_data_dir: str | Path | None = None,
    transport: Literal["websocket", "pipe"] = "websocket",
    env: Mapping[str, str] | None = None,
    recover_after: float | None = None,
    evaluate_enabled: bool = True,
    computed_accessibility: bool = True,
    activity: bool | ActivityOptions | None = None,
    timeout: float = 30,
) -> AsyncIterator[Browser]:
    """Start a browser and give it; end it, and remove its temporary profile, when the block ends.

    `executable` is a path or a channel ("chrome", "chromium", "edge", "brave"); None takes CDPENGINE_BROWSER
    or the first one installed. `args` are further switches. `user_data_dir` is a profile to use and keep.
    `transport="pipe"` opens no port. `env` replaces the environment. `timeout` (seconds) is for the start.

    `recover_after` (seconds) has every page watched: one that does not answer for so long has its dialog dismissed
    and its script terminated, an evaluate's as well as the page's own. `evaluate_enabled=False` refuses every
    evaluate with EvaluationDisabledError; the engine's own scripts still run, in a world of their own.

    `computed_accessibility` switches on Blink's ComputedAccessibilityInfo, with which snapshots are several times
    faster. Pages can see it: `'computedRole' in Element.prototype` is true then. False leaves it off, and pages
    are read from Chrome's accessibility tree.

    `activity` has kept what all pages do, as `Browser.set_activity`: True, or an ActivityOptions.

    While there is a browser, SIGTERM and SIGHUP cancel the whole trio program where they would have ended it on
    the spot: every block is left, recordings get their last line, the browser ends. Then, within 30 s in any case,
    the process ends by that signal; code after `trio.run` does not run. A second signal does not disturb this, a
    third ends the process at once. A handler of the program's own is left alone, an ignored signal stays ignored.
    Outside of the main thread Python has no signals. There, and on SIGKILL, the browser ends because a pipe from
    this process closes, and the next launch of this user removes its profile. Windows has neither these signals
    nor that pipe, and such a profile stays there.

    Raises BrowserNotFoundError, LaunchFailedError with the browser's last output, InvalidArgumentError;
    RecordingFailedError and InvalidArgumentError for what CDPENGINE_RECORD names.
    """
    if transport not in ("websocket", "pipe"):
        raise InvalidArgumentError(what="transport", given=repr(transport), expected='"websocket" or "pipe"')
    if recover_after is not None:
        check_seconds("recover_after", recover_after)
    activity_options = check_options(activity)
    budget = Budget.start("launch the browser", timeout)
    options = LaunchOptions(
        executable=find_browser(executable).path,
        headless=headless,
        args=tuple(args),
        user_data_dir=None if user_data_dir is None else Path(user_data_dir),
        transport=transport,
        env=env,
        computed_accessibility=computed_accessibility,
    )
    _check_recording()
    process: BrowserProcess | None = None

    def lacks(shortage: Shortage) -> LaunchFailedError:
        return LaunchFailedError(executable=str(options.executable), reason=str(shortage))

    with budget.scope() as starting, shortages_named(lacks) as started:
        async with (
            start_browser(options) as process,
            _early_end_named(process, options.executable) as ready,
            _attach(process, _passwords(args), evaluate_enabled=evaluate_enabled) as browser,
        ):
            starting.deadline = math.inf
            await trio.lowlevel.checkpoint_if_cancelled()  # it was over in the very last moment
            browser.refuse_downloads()
            browser.set_activity(activity_options)
            started()
            ready()
            try:
                async with browser.watched(recover_after):
                    yield browser
            finally:
                await _close(browser)
    if starting.cancelled_caught:
        raise LaunchFailedError(
            executable=str(options.executable),
            reason=f"it was not ready within {timeout:g} s",
            output=() if process is None else process.output_tail(),
        )


@asynccontextmanager
async def connect(
    endpoint: str,
    *,
    headers: Mapping[str, str] | None = None,
    recover_after: float | None = None,
    evaluate_enabled: bool = True,
    activity: bool | ActivityOptions | None = None,
    timeout: float = 30,
) -> AsyncIterator[Browser]:
    """Connect to a running browser: "http://host:port", or its own "ws://..." address.

    Leaving the block closes the connection, never the browser. A tab that is stuck holds up nothing.

    What stops scripts has a second connection where the address names one browser (/devtools/browser/<id>, as http://host:port
    gives for Chrome) and that browser is reached again. Elsewhere, as at services that start a browser for each
    connection or allow only one, it is on the first one.
    `recover_after`, `evaluate_enabled` and `activity` as in `launch`.

    Raises InvalidArgumentError for what is no endpoint, ConnectFailedError when no browser answers there in
    `timeout`.
    """
    if recover_after is not None:
        check_seconds("recover_after", recover_after)
    activity_options = check_options(activity)
    budget = Budget.start("connect", timeout)
    _check_recording()
    resolved: ResolvedEndpoint | None = None
    with (
        budget.scope() as starting,
        shortages_named(lambda shortage: lacking(redact_endpoint(endpoint), shortage)) as started,
    ):
        resolved = await resolve_endpoint(endpoint, headers)
        if "/devtools/page/" in urlsplit(resolved.ws_url).path:
            raise InvalidArgumentError(
                what="endpoint",
                given=redact_endpoint(endpoint),
                expected="the browser's address (ws://host:port/devtools/browser/..., or http://host:port), "
                "not that of one page",
            )
        secrets = [*secrets_in_endpoint(endpoint), *secrets_in_endpoint(resolved.ws_url)]
        secrets += secret_values(resolved.headers.items())
        async with _attach_websocket(
            resolved, secrets, evaluate_enabled=evaluate_enabled, launched=False
        ) as browser:
            starting.deadline = math.inf
            await trio.lowlevel.checkpoint_if_cancelled()  # it was over in the very last moment
            browser.set_activity(activity_options)
            started()
            async with browser.watched(recover_after):
                yield browser
    if starting.cancelled_caught:
        raise ConnectFailedError(endpoint=redact_endpoint(endpoint), reason=f"no answer within {timeout:g} s")


@asynccontextmanager
async def _early_end_named(process: BrowserProcess, executable: Path) -> AsyncIterator[Callable[[], None]]:
    """Until the given function is called, tell of a browser that ended as such, not by how that was met."""
    starting = True

    def ready() -> None:
        nonlocal starting
        starting = False

    try:
        yield ready
    except (ConnectFailedError, ConnectionLostError) as error:
        lacks = shortage_of(error) if starting else None
        if lacks is not None:
            raise LaunchFailedError(executable=str(executable), reason=str(lacks)) from error
        if starting:
            with trio.move_on_after(_EXIT_GRACE, shield=True):
                await process.ended.wait()
        if not starting or process.returncode is None:
            raise
        raise LaunchFailedError(
            executable=str(executable),
            reason=process.why_ended_early(),
            exit_code=process.returncode,
            output=process.output_tail(),
        ) from error


@asynccontextmanager
async def _attach(
    process: BrowserProcess, secrets: Iterable[str], *, evaluate_enabled: bool
) -> AsyncIterator[Browser]:
    if process.pipe is not None and process.endpoint is None:
        transport = PipeTransport(process.pipe.to_browser, process.pipe.from_browser)
        instruments = _instruments_that_know(secrets)
        async with (
            _watched_as_asked(instruments),
            open_connection(transport, instruments=instruments) as connection,
            # Nobody else can come to a browser over its pipe.
            _engine(
                connection, None, instruments, f"pipe {next(_pipe_numbers)}", None, evaluate_enabled
            ) as browser,
        ):
            yield browser
    else:
        assert process.endpoint is not None
        endpoint = await resolve_endpoint(process.endpoint, None)
        async with _attach_websocket(endpoint, secrets, evaluate_enabled=evaluate_enabled) as browser:
            yield browser


@asynccontextmanager
async def _attach_websocket(
    endpoint: ResolvedEndpoint, secrets: Iterable[str], *, evaluate_enabled: bool, launched: bool = True
) -> AsyncIterator[Browser]:
    instruments = _instruments_that_know(secrets)

    @asynccontextmanager
    async def open_one() -> AsyncIterator[Connection]:
        async with (
            open_websocket(endpoint.ws_url, headers=endpoint.headers) as transport,
            open_connection(transport, instruments=instruments) as connection,
        ):
            yield connection

    key = browser_key(endpoint.ws_url)
    # A gateway's address may start a browser for each connection, which costs something.
    opener = open_one if names_one_browser(endpoint.ws_url) else None
    async with (
        _watched_as_asked(instruments),
        open_one() as main,
        _engine(
            main, opener, instruments, key, endpoint.ws_url, evaluate_enabled, opener_optional=not launched
        ) as browser,
    ):
        yield browser


def _instruments_that_know(secrets: Iterable[str]) -> Instruments:
    """Return instruments for the connections of a browser; each is given the secrets before any message."""
    instruments = Instruments()
    for secret in secrets:
        instruments.add_secret(secret)
    return instruments


def _passwords(args: Sequence[str]) -> list[str]:
    """Return the passwords in switches such as "--proxy-server=http://user:password@host"."""
    return [found for each in args for found in _PASSWORD.findall(str(each))]


def _check_recording() -> None:
    """Refuse before a browser starts what the recording that the environment asks for would be refused for."""
    if os.environ.get("CDPENGINE_RECORD"):
        from cdpengine.debug.recording_files import check_as_asked

        check_as_asked()


@asynccontextmanager
async def _watched_as_asked(instruments: Instruments) -> AsyncIterator[None]:
    """Record the traffic where the environment says so, and log it where the logger wants that."""
    async with AsyncExitStack() as stack:
        if os.environ.get("CDPENGINE_RECORD"):
            from cdpengine.debug.recorder import record_as_asked

            await stack.enter_async_context(record_as_asked(instruments))
        if wire_logger.isEnabledFor(logging.DEBUG):
            from cdpengine.debug.wire_log import log_traffic

            stack.enter_context(log_traffic(instruments))
        yield


@asynccontextmanager
async def _engine(
    main: Connection,
    opener: ConnectionOpener | None,
    instruments: Instruments,
    key: str,
    endpoint: str | None = None,
    evaluate_enabled: bool = True,
    *,
    opener_optional: bool = False,
) -> AsyncIterator[Browser]:
    async with open_body_nursery() as nursery:
        tabs = Tabs(main, opener, nursery, opener_optional=opener_optional)
        version = await _version_of(main)
        # Made before its pages are attached: its parts want to tell them things before they run.
        browser = Browser(
            tabs, version, instruments, key=key, endpoint=endpoint, evaluate_enabled=evaluate_enabled
        )
        await tabs.start()
        try:
            yield browser
        finally:
            await tabs.downloads.close()
            await tabs.creations.settle()
            # Before the nursery closes: nothing that comes in later may find it closed.
            tabs.evaluation_sessions.close()
            main.lose("this program closed the connection")


async def _version_of(main: Connection) -> BrowserVersion:
    """Ask who answers on a new connection. Raises ConnectFailedError when it is no browser, or nobody any more."""
    try:
        return await main.root.request("Browser.getVersion", {}, BrowserVersion)
    except (RemoteError, ProtocolError) as error:
        raise ConnectFailedError(
            endpoint=main.name,
            reason=f"what answers there is no browser: {error}",
            advice="Others speak the protocol too, such as Node.js, without tabs: pass a browser's address",
        ) from error
    except ConnectionLostError as error:
        raise ConnectFailedError(
            endpoint=main.name,
            reason=f"the connection ended before the browser had answered: {error.reason}",
            advice="Something listens there, and gives no session: its own log or account page says why",
        ) from error


async def _close(browser: Browser) -> None:
    """Ask Chrome to end itself, so that a kept profile is written whole. Gone already is as good."""
    with trio.move_on_after(_CLOSE_GRACE, shield=True), suppress(ConnectionLostError, RemoteError):
        await browser.session.call("Browser.close")
