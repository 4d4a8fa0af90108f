"""Relaying of a browser's debugging port: a proxy at the port that the client knows.

Rule: the browser listens at a port of its own choice. The client learns only the proxy's port: from its own
command line, from the line on standard error, or from DevToolsActivePort. Before the browser listens, the port
refuses connections, as the browser's does.
"""

from __future__ import annotations

import os
import socket
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import SplitResult, urlsplit

import attrs
import trio

from cdpengine._launch.endpoint import resolve_endpoint
from cdpengine._launch.profile import PORT_FILE
from cdpengine._logs import get_logger
from cdpengine._nursery import open_body_nursery
from cdpengine._protocol.instruments import Instruments
from cdpengine.debug.faults import FaultInjector
from cdpengine.debug.http_websocket_server import serve_http_and_websockets
from cdpengine.debug.proxy_server import ProxyServer
from cdpengine.debug.wrapping.output import relay_output
from cdpengine.debug.wrapping.port_file import PortFile
from cdpengine.errors import ConnectFailedError

if TYPE_CHECKING:
    import httpx

_log = get_logger("cdpengine.debug")

STANDARD_ERROR = 2
_BACKLOG = 128
_ANSWER = 60.0
"""Timeout for the browser's answer after it reported its port, in seconds."""


@attrs.frozen
class SharedParts:
    """Resources that the ports of all browsers share."""

    instruments: Instruments
    http: httpx.AsyncClient
    missing: Path
    """A folder that does not exist."""


class PortRelay:
    """The port of one browser. `given` is the standard error for the browser; the caller closes it."""

    def __init__(
        self, name: str, port: int, profile: Path | None, client: dict[int, int], shared: SharedParts
    ) -> None:
        """Reserve the port (0: any). Takes descriptor 2 out of `client`. Raises OSError if the port is taken."""
        self.given: dict[int, int] = {}
        self._name = name
        self._shared = shared
        self._any_port = port == 0
        self._bound = _reserve(port)
        self._port: int = self._bound.getsockname()[1]
        self._server: ProxyServer | None = None
        self._port_file: PortFile | None = None
        if profile is not None:
            try:
                self._port_file = PortFile(profile / PORT_FILE, shared.missing / name.replace(" ", "-"))
            except OSError as error:
                _log.info("the port file in %s cannot be replaced: %s", profile, error)
        self._client = client.pop(STANDARD_ERROR, None)
        output, self.given[STANDARD_ERROR] = os.pipe()
        self._output = trio.lowlevel.FdStream(output)

    async def run(self, ended: trio.Event) -> None:
        """Relay the output to its end, and the port until the last message of the ended browser."""
        try:
            async with open_body_nursery() as nursery:
                await relay_output(self._output, self._client, partial(self._open, nursery))
                await ended.wait()
                if self._server is not None:
                    await self._server.wait_until_idle()
        finally:
            await self.aclose()

    async def _open(self, nursery: trio.Nursery, address: str) -> str:
        """Open the port for clients. Return the address that replaces the browser's own."""
        url = urlsplit(address)
        with trio.move_on_after(_ANSWER):
            try:
                # The browser writes the port file before it answers, in the same thread.
                await resolve_endpoint(f"http://{url.netloc}")
            except ConnectFailedError as error:
                _log.info("%s reported its port but does not answer: %s", self._name, error)
        await nursery.start(self._serve, url)
        if self._port_file is not None and self._any_port:
            try:
                self._port_file.write(self._port, url.path)
            except OSError as error:
                _log.info("the port file of %s cannot be written: %s", self._name, error)
        elif self._port_file is not None:
            self._port_file.restore()  # with a fixed port, the browser writes none
        return url._replace(netloc=f"{url.netloc.rpartition(':')[0]}:{self._port}").geturl()

    async def _serve(self, url: SplitResult, task_status: trio.TaskStatus[None]) -> None:
        upstream = url._replace(scheme="http", path="")
        shared = self._shared
        self._server = server = ProxyServer(
            upstream, url.path, {}, FaultInjector(), instruments=shared.instruments, prefix=f"{self._name} "
        )
        self._bound.listen(_BACKLOG)
        listener = trio.SocketListener(trio.socket.from_stdlib_socket(self._bound))
        async with serve_http_and_websockets(server.answer, server.take, listeners=[listener]) as address:
            server.start(*address, shared.http)
            task_status.started()
            await trio.sleep_forever()

    async def aclose(self) -> None:
        """Close the port and the descriptors of this program. Restore the port file unless it was written."""
        self._bound.close()
        if self._port_file is not None:
            self._port_file.restore()
        with trio.CancelScope(shield=True):
            await self._output.aclose()
        if self._client is not None:
            os.close(self._client)
            self._client = None


def _reserve(port: int) -> socket.socket:
    """Return a socket with the port that does not listen yet, so that connections are refused."""
    bound = socket.socket()
    try:
        if port:
            bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        bound.bind(("127.0.0.1", port))
    except OSError:
        bound.close()
        raise
    return bound
