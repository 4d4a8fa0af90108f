"""The debugging pipe of a browser that many tests share. Each test in turn uses it like a dedicated pipe.

Rule: the messages are the browser's, and only their addressing changes. Commands of a test to the browser use
a separate browser-level session (Target.attachToBrowserTarget). When that session ends, Chrome undoes
everything that the test did over it.
"""

from __future__ import annotations

import math
import os
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path

import attrs
import trio

from cdpengine._api.attach import attach
from cdpengine._api.browser import Browser
from cdpengine._launch.child import PipeEnds
from cdpengine._launch.process import BrowserProcess
from cdpengine._protocol.messages import decode_envelope
from cdpengine._protocol.pipe_transport import PipeTransport
from cdpengine._protocol.transport import TransportBroken

_SESSION = re.compile(rb',"sessionId":"[0-9A-F]{32}"\}$')
_ID = 2_000_000_000  # above the ids of any test
_LONGEST_SESSION = 60  # maximum bytes of a match


@attrs.define(eq=False)
class _Client:
    session: bytes
    transport: PipeTransport


class SharedPipe:
    """Serves a browser's pipe to one client at a time.

    `serve` runs in the browser's trio run, `open` in any.
    """

    def __init__(self, ends: PipeEnds, endpoint: str | None) -> None:
        self.endpoint = endpoint
        self._pipe = PipeTransport(ends.to_browser, ends.from_browser)
        self._token = trio.lowlevel.current_trio_token()
        self._client: _Client | None = None
        self._answers, self._answered = trio.open_memory_channel[bytes](math.inf)
        self._writing = trio.Lock()
        self._free = trio.Semaphore(1)
        self._nursery: trio.Nursery | None = None

    async def serve(self, task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED) -> None:
        """Pass on the browser's messages until it exits."""
        async with trio.open_nursery() as self._nursery:
            task_status.started()
            while True:
                try:
                    message = await self._pipe.receive()
                except TransportBroken:
                    break
                await self._pass_on(message)
            self._nursery.cancel_scope.cancel()

    async def _pass_on(self, message: bytes) -> None:
        client = self._client
        if not _SESSION.search(message[-_LONGEST_SESSION:]):
            envelope = decode_envelope(message)
            if envelope.id == _ID:
                await self._answers.send(message)
                return
            if envelope.method is not None:
                return  # an event of the connection's root session: the test's session began or ended
        if client is not None:
            own = b',"sessionId":"%b"}' % client.session
            with suppress(TransportBroken):  # the client leaves, and its session ends
                await client.transport.send(
                    message.removesuffix(own) + b"}" if message.endswith(own) else message
                )

    async def _ask(self, method: str, params: str) -> bytes:
        message = b'{"id":%d,"method":"%b","params":%b}' % (_ID, method.encode(), params.encode())
        async with self._writing:
            await self._pipe.send(message)
        return await self._answered.receive()

    async def _take(self, to_client: int, from_client: int) -> None:
        """Serve a client over these descriptors. Returns once the client has a session."""
        assert self._nursery is not None
        await self._free.acquire()
        answer = await self._ask("Target.attachToBrowserTarget", "{}")
        found = re.search(rb'"sessionId":"([0-9A-F]{32})"', answer)
        assert found is not None, answer
        ends = trio.lowlevel.FdStream(to_client), trio.lowlevel.FdStream(from_client)
        self._client = _Client(found[1], PipeTransport(*ends, name="a test"))
        self._nursery.start_soon(self._serve_client, self._client)

    async def _serve_client(self, client: _Client) -> None:
        own = b',"sessionId":"%b"}' % client.session
        try:
            while True:
                message = await client.transport.receive()
                if decode_envelope(message).session_id is None:
                    message = message[:-1] + own
                async with self._writing:
                    await self._pipe.send(message)
        except TransportBroken as gone:
            if "into a message" in str(gone):
                raise  # half a message: tests must not leave one behind
        finally:
            await client.transport.aclose()
        self._client = None
        await self._ask("Target.detachFromTarget", f'{{"sessionId":"{client.session.decode()}"}}')
        self._free.release()

    @asynccontextmanager
    async def open(self) -> AsyncIterator[Browser]:
        """Yield the browser over the pipe, in a trio run of the caller."""
        reading, to_client = os.pipe()
        from_client, writing = os.pipe()
        await trio.to_thread.run_sync(
            lambda: trio.from_thread.run(self._take, to_client, from_client, trio_token=self._token)
        )
        ends = PipeEnds(trio.lowlevel.FdStream(writing), trio.lowlevel.FdStream(reading))
        process = BrowserProcess(pid=0, profile=Path(), executable=Path(), endpoint=self.endpoint, pipe=ends)
        async with ends.to_browser, ends.from_browser, attach(process, (), evaluate_enabled=True) as browser:
            yield browser
