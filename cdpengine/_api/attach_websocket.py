"""Websocket connections of a browser, and the Browser that uses them.

Rule: evaluation sessions have a separate connection only if the address names one browser. Other addresses may
start a browser for each connection.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager

from cdpengine._api.attach import make_instruments, open_engine, record_and_log
from cdpengine._api.browser import Browser
from cdpengine._launch.endpoint import ResolvedEndpoint, browser_key, names_one_browser, resolve_endpoint
from cdpengine._protocol.connection import Connection, open_connection
from cdpengine._protocol.websocket_transport import open_websocket

__all__ = ["attach_websocket", "resolve_endpoint"]


@asynccontextmanager
async def attach_websocket(
    endpoint: ResolvedEndpoint, secrets: Iterable[str], *, evaluate_enabled: bool, launched: bool = True
) -> AsyncIterator[Browser]:
    """Yield the Browser behind a websocket address.

    `launched` means that this program started the browser, so further connections cost nothing.
    """
    instruments = make_instruments(secrets)

    @asynccontextmanager
    async def open_one() -> AsyncIterator[Connection]:
        async with (
            open_websocket(endpoint.ws_url, headers=endpoint.headers) as transport,
            open_connection(transport, instruments=instruments) as connection,
        ):
            yield connection

    key = browser_key(endpoint.ws_url)
    # A gateway's address may start a browser for each connection, which costs money or memory.
    opener = open_one if names_one_browser(endpoint.ws_url) else None
    async with (
        record_and_log(instruments),
        open_one() as main,
        open_engine(
            main, opener, instruments, key, endpoint.ws_url, evaluate_enabled, launched=launched
        ) as browser,
    ):
        yield browser
