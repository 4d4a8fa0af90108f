"""The service's life: listening, and an orderly shutdown.

Rule: the service listens on this machine unless another address is given. At shutdown it accepts no new
requests and gives the running ones some time. It then cancels the rest, which get a response with the reason,
and closes the browser. Its tasks are shielded: cancelling the surrounding program begins the shutdown, but does
not cut it short.
"""

from __future__ import annotations

import socket
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from functools import partial

import attrs
import trio
from hypercorn.config import Config
from hypercorn.trio.worker_context import WorkerContext
from hypercorn.typing import ConnectionState
from hypercorn.utils import wrap_app

from cdpengine._logs import get_logger
from cdpengine._nursery import open_body_nursery
from cdpengine.service.app import Service
from cdpengine.service.clients import ClientConnection, Clients
from cdpengine.service.guard import Guard
from cdpengine.service.sessions import Sessions
from cdpengine.service.settings import ServiceSettings

_log = get_logger("cdpengine.service")

_CLOSING = 10.0
"""Maximum time for sessions and browsers to end, in seconds."""

_LAST_ANSWERS = 1.0
"""Maximum time to send the responses of cancelled requests, in seconds."""


@attrs.frozen
class Listening:
    """A service that listens at `url`."""

    url: str
    service: Service


@asynccontextmanager
async def serve(settings: ServiceSettings) -> AsyncIterator[Listening]:
    """Run the service over HTTP during the block. The first request starts its browser.

    Raises OSError if it cannot listen at its address.
    """
    config = _configure(settings)
    sockets = config.create_sockets().insecure_sockets
    async with open_body_nursery() as nursery:
        listening: Listening = await nursery.start(_run, settings, partial(_listen, config, sockets))
        try:
            yield listening
        finally:
            listening.service.closing.set()


@asynccontextmanager
async def open_service(settings: ServiceSettings) -> AsyncIterator[Service]:
    """Run the service during the block without listening: for one client in this program."""
    async with open_body_nursery() as nursery:
        listening: Listening = await nursery.start(_run, settings, _listen_nowhere)
        try:
            yield listening.service
        finally:
            listening.service.closing.set()


Listen = Callable[[Service, "trio.TaskStatus[str]"], Awaitable[None]]


async def _run(settings: ServiceSettings, listen: Listen, task_status: trio.TaskStatus[Listening]) -> None:
    with trio.CancelScope(shield=True):
        # The end cancels the tasks of the inner nursery; the outer one then still sends the last responses.
        async with trio.open_nursery() as serving, trio.open_nursery() as keeping:
            service = Service(settings, Sessions(settings, keeping), keeping)
            url: str = await serving.start(listen, service)
            task_status.started(Listening(url, service))
            await service.closing.wait()
            with trio.move_on_after(settings.ending):
                await service.until_done()
            service.cancel_running()
            with trio.move_on_after(_LAST_ANSWERS):
                await service.until_done()
            # Close in order. Cancelling would not let the browsers end normally.
            with trio.move_on_after(_CLOSING):
                await service.sessions.close_all()
            serving.cancel_scope.deadline = trio.current_time() + _LAST_ANSWERS
            keeping.cancel_scope.cancel()


async def _listen_nowhere(_service: Service, task_status: trio.TaskStatus[str]) -> None:
    task_status.started("")
    await trio.lowlevel.checkpoint()


async def _listen(
    config: Config, sockets: Sequence[socket.socket], service: Service, task_status: trio.TaskStatus[str]
) -> None:
    """Accept connections until the service closes; then wait until their requests are answered."""
    settings = service.settings
    guard = Guard(service.application(), settings)
    for each in sockets:
        each.listen(config.backlog)
    listeners = [trio.SocketListener(trio.socket.from_stdlib_socket(each)) for each in sockets]
    guard.port = sockets[0].getsockname()[1]
    context = WorkerContext(None)
    application = wrap_app(guard, config.wsgi_max_body_size, "asgi")  # type: ignore[arg-type]  # by its shape
    clients = Clients(settings.connections, settings.stalled)
    service.metrics.show("clients", "Connected clients.", lambda: clients.count)

    async def talk(stream: trio.SocketStream) -> None:
        with clients.connected(stream) as client:
            if client is None:
                await _turn_away(stream)
                return
            try:
                await ClientConnection(application, config, context, ConnectionState({}), client)  # type: ignore[arg-type]
            except Exception:  # noqa: BLE001 - one client's connection must not end the service
                _log.exception("a client's connection failed")

    async with trio.open_nursery() as nursery:
        try:
            async with trio.open_nursery() as accepting:
                accepting.start_soon(partial(trio.serve_listeners, talk, listeners, handler_nursery=nursery))
                host = f"[{settings.host}]" if ":" in settings.host else settings.host
                task_status.started(f"http://{host}:{guard.port}")
                await service.closing.wait()
                accepting.cancel_scope.cancel()
            await context.terminated.set()
            await clients.until_gone()
        finally:
            clients.drop()


async def _turn_away(stream: trio.SocketStream) -> None:
    with trio.move_on_after(_LAST_ANSWERS):
        await stream.send_all(
            b"HTTP/1.1 503 Service Unavailable\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
        )
    await trio.aclose_forcefully(stream)


def _configure(settings: ServiceSettings) -> Config:
    config = Config()
    config.bind = [f"{settings.host}:{settings.port}"]
    config.include_server_header = False
    config.accesslog = None
    config.errorlog = None
    return config
