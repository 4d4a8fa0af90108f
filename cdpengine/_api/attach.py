"""The connections of a browser, and the Browser that uses them.

Rule: on every exit, the engine's tasks and sessions end before its connections. `launch` imports this module while
the browser starts; websockets are imported only if needed.
"""

from __future__ import annotations

import itertools
import logging
import os
from collections.abc import AsyncIterator, Iterable
from contextlib import AsyncExitStack, asynccontextmanager
from typing import TYPE_CHECKING

import msgspec

from cdpengine._api.browser import Browser
from cdpengine._launch.process import BrowserProcess
from cdpengine._nursery import open_body_nursery
from cdpengine._page.scripts.evaluation_sessions import ConnectionOpener
from cdpengine._page.tabs import Tabs
from cdpengine._protocol.domains.browser import BrowserVersion
from cdpengine._protocol.instruments import Instruments
from cdpengine._protocol.instruments import logger as wire_logger
from cdpengine._protocol.pipe_transport import PipeTransport
from cdpengine._protocol.session import Connection, open_connection
from cdpengine.errors import (
    ConnectFailedError,
    ConnectionLostError,
    ProtocolError,
    RemoteError,
    packages_named,
)

if TYPE_CHECKING:
    from cdpengine._launch.endpoint import ResolvedEndpoint

_pipe_numbers = itertools.count(1)


@asynccontextmanager
async def attach(
    process: BrowserProcess, secrets: Iterable[str], *, evaluate_enabled: bool
) -> AsyncIterator[Browser]:
    """Yield the Browser of a started process. All instruments redact `secrets`."""
    if process.pipe is not None:
        transport = PipeTransport(process.pipe.to_browser, process.pipe.from_browser)
        instruments = make_instruments(secrets)
        # A pipe has only this client. An open port has others too.
        key = f"pipe {next(_pipe_numbers)}" if process.endpoint is None else _key_of(process.endpoint)
        async with (
            record_and_log(instruments),
            open_connection(transport, instruments=instruments) as connection,
            open_engine(
                connection,
                None,
                instruments,
                key,
                process.endpoint,
                evaluate_enabled,
                version=None if instruments.active else _version_in(process.proof),
            ) as browser,
        ):
            yield browser
    else:
        assert process.endpoint is not None
        from cdpengine._launch.endpoint import resolve_endpoint

        endpoint = await resolve_endpoint(process.endpoint, None)
        async with attach_websocket(endpoint, secrets, evaluate_enabled=evaluate_enabled) as browser:
            yield browser


@asynccontextmanager
async def attach_websocket(
    endpoint: ResolvedEndpoint, secrets: Iterable[str], *, evaluate_enabled: bool, launched: bool = True
) -> AsyncIterator[Browser]:
    """Yield the Browser behind a websocket address.

    `launched` means that this program started the browser, so further connections cost nothing.
    """
    from cdpengine._launch.endpoint import names_one_browser
    from cdpengine._protocol.websocket_transport import open_websocket

    instruments = make_instruments(secrets)

    @asynccontextmanager
    async def open_one() -> AsyncIterator[Connection]:
        async with (
            open_websocket(endpoint.ws_url, headers=endpoint.headers) as transport,
            open_connection(transport, instruments=instruments) as connection,
        ):
            yield connection

    key = _key_of(endpoint.ws_url)
    # A gateway's address may start a browser for each connection, which costs money or memory. So evaluation
    # sessions have a separate connection only if the address names one browser.
    opener = open_one if names_one_browser(endpoint.ws_url) else None
    async with (
        record_and_log(instruments),
        open_one() as main,
        open_engine(
            main, opener, instruments, key, endpoint.ws_url, evaluate_enabled, launched=launched
        ) as browser,
    ):
        yield browser


def _key_of(endpoint: str) -> str:
    from cdpengine._launch.endpoint import browser_key

    return browser_key(endpoint)


def make_instruments(secrets: Iterable[str]) -> Instruments:
    """Return the instruments of a browser's connections. They receive the secrets before any message."""
    instruments = Instruments()
    for secret in secrets:
        instruments.add_secret(secret)
    return instruments


@asynccontextmanager
async def record_and_log(instruments: Instruments) -> AsyncIterator[None]:
    """Record and log the traffic as the environment and the logger's level request."""
    async with AsyncExitStack() as stack:
        if os.environ.get("CDPENGINE_RECORD"):
            with packages_named():
                from cdpengine.debug.recording.recorder import record_from_environment

            await stack.enter_async_context(record_from_environment(instruments))
        if wire_logger.isEnabledFor(logging.DEBUG):
            with packages_named():
                from cdpengine.debug.recording.recorder import log_traffic

            stack.enter_context(log_traffic(instruments))
        yield


@asynccontextmanager
async def trace_steps_if_asked(browser: Browser) -> AsyncIterator[None]:
    """Write a step trace of all pages during the block, if the environment names its file."""
    if not os.environ.get("CDPENGINE_TRACE"):
        yield
        return
    with packages_named():
        from cdpengine.debug.steps.from_environment import trace_from_environment
    async with trace_from_environment(browser):
        yield


@asynccontextmanager
async def open_engine(
    main: Connection,
    opener: ConnectionOpener | None,
    instruments: Instruments,
    key: str,
    endpoint: str | None = None,
    evaluate_enabled: bool = True,
    *,
    launched: bool = True,
    version: BrowserVersion | None = None,
) -> AsyncIterator[Browser]:
    """Run the engine on a connection, and stop all of it at the end.

    `opener` opens the separate connection of evaluation sessions. `launched` means that this program started the
    browser. `version` is the browser's version; None requests it.
    """
    async with open_body_nursery() as nursery:
        tabs = Tabs(main, opener, nursery, opener_optional=not launched, launched=launched)
        version = version or await _version_of(main)
        # Created before its pages are attached, because its parts send settings to them before they run.
        browser = Browser(
            tabs, version, instruments, key=key, endpoint=endpoint, evaluate_enabled=evaluate_enabled
        )
        await tabs.start()
        try:
            async with trace_steps_if_asked(browser):
                yield browser
        finally:
            browser.internals.closing = True
            await tabs.downloads.close()
            await tabs.creations.settle()
            # Closed before the nursery, so that no later event finds the nursery closed.
            tabs.evaluation_sessions.close()
            main.wire.close()


def _version_in(message: bytes) -> BrowserVersion | None:
    """Return the version in the reply that proved the browser's life, or None for another message."""
    try:
        return msgspec.json.decode(message, type=_Proof).result
    except msgspec.DecodeError:
        return None


class _Proof(msgspec.Struct):
    result: BrowserVersion | None = None


async def _version_of(main: Connection) -> BrowserVersion:
    """Return the version of a new connection's browser.

    Raises ConnectFailedError if it is not a browser, or if the connection ends.
    """
    try:
        return await main.root.request("Browser.getVersion", {}, BrowserVersion)
    except (RemoteError, ProtocolError) as error:
        raise ConnectFailedError(
            endpoint=main.name,
            reason=f"the endpoint is not a browser: {error}",
            advice="Node.js and others use the protocol too, without tabs. Pass the address of a browser",
        ) from error
    except ConnectionLostError as error:
        raise ConnectFailedError(
            endpoint=main.name,
            reason=f"the connection ended before the browser answered: {error.reason}",
            advice="A server there accepts connections, but opens no session. Check its log or account page",
        ) from error
