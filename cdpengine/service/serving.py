"""serve: the service listens, and ends in order.

Rule: it listens on this machine unless another address is named. When it ends, no new request is taken, those that
run have a little time, what still runs is cancelled and answered by name, and the browser is closed. Its tasks are
shielded: that the program around it is cancelled begins this ending, and does not cut it short.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from urllib.parse import urlsplit

import attrs
import hypercorn.trio
import trio
from hypercorn.config import Config

from cdpengine._nursery import open_body_nursery
from cdpengine.service.app import Service
from cdpengine.service.guard import Guard
from cdpengine.service.sessions import Sessions
from cdpengine.service.settings import ServiceSettings

_LAST_ANSWERS = 1.0
"""Seconds that the answers to what was cancelled may take to go out."""


@attrs.frozen
class Listening:
    """A service that listens. `url` is where."""

    url: str
    service: Service


@asynccontextmanager
async def serve(settings: ServiceSettings) -> AsyncIterator[Listening]:
    """Run the service while the block runs, over HTTP. Its browser is started with the first request.

    Raises OSError where it cannot listen there.
    """
    async with open_body_nursery() as nursery:
        listening: Listening = await nursery.start(_run, settings, _listen)
        try:
            yield listening
        finally:
            listening.service.closing.set()


@asynccontextmanager
async def open_service(settings: ServiceSettings) -> AsyncIterator[Service]:
    """Run the service while the block runs, without listening anywhere: for one client in this program."""
    async with open_body_nursery() as nursery:
        listening: Listening = await nursery.start(_run, settings, _listen_nowhere)
        try:
            yield listening.service
        finally:
            listening.service.closing.set()


Listen = Callable[[Service, "trio.TaskStatus[str]"], Awaitable[None]]


async def _run(settings: ServiceSettings, listen: Listen, task_status: trio.TaskStatus[Listening]) -> None:
    with trio.CancelScope(shield=True):
        # What the inner nursery keeps is cancelled at the end; the outer one still sends the last answers then.
        async with trio.open_nursery() as serving, trio.open_nursery() as keeping:
            service = Service(settings, Sessions(settings, keeping))
            url: str = await serving.start(listen, service)
            task_status.started(Listening(url, service))
            await service.closing.wait()
            with trio.move_on_after(settings.ending):
                await service.until_done()
            service.cancel_running()
            with trio.move_on_after(_LAST_ANSWERS):
                await service.until_done()
            serving.cancel_scope.deadline = trio.current_time() + _LAST_ANSWERS
            keeping.cancel_scope.cancel()


async def _listen_nowhere(_service: Service, task_status: trio.TaskStatus[str]) -> None:
    task_status.started("")
    await trio.lowlevel.checkpoint()


async def _listen(service: Service, task_status: trio.TaskStatus[str]) -> None:
    guard = Guard(service.application(), service.settings)

    async def run(task_status: trio.TaskStatus[list[str]]) -> None:
        await hypercorn.trio.serve(
            guard,  # type: ignore[arg-type]  # an ASGI application by its shape
            _configure(service.settings),
            shutdown_trigger=service.closing.wait,
            task_status=task_status,
            mode="asgi",
        )

    async with trio.open_nursery() as nursery:
        addresses: list[str] = await nursery.start(run)
        guard.port = urlsplit(addresses[0]).port or service.settings.port
        task_status.started(addresses[0])


def _configure(settings: ServiceSettings) -> Config:
    config = Config()
    config.bind = [f"{settings.host}:{settings.port}"]
    config.include_server_header = False
    config.graceful_timeout = settings.ending + _LAST_ANSWERS
    config.shutdown_timeout = settings.ending + _LAST_ANSWERS
    config.accesslog = None
    config.errorlog = None
    return config
