"""A replay server, which serves a recording as a browser's endpoint (HTTP, websockets, in-process); and cassettes.

Rule: nothing waits forever. If a program omits a recorded call, the rest is delivered after the recorded pause
plus `PATIENCE`. The first call that was not recorded is answered with a protocol error, and the block raises
ReplayDivergedError.

A cassette is the traffic of a program, recorded once with a browser and replayed afterwards without one. In both
modes the program connects to an endpoint, so it behaves the same. A recording is stored only if the program
completes, so a failed run leaves nothing behind.
"""

from __future__ import annotations

import math
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from typing import Literal

import attrs
import trio

from cdpengine import _json
from cdpengine._checks import check_number
from cdpengine._launch.find import find_browser
from cdpengine._launch.process import LaunchOptions, start_browser
from cdpengine._logs import RepeatedWarning, get_logger
from cdpengine._nursery import open_body_nursery
from cdpengine._paths import to_path
from cdpengine._protocol.transport import LARGEST_INCOMING, Transport, TransportBroken
from cdpengine.debug.http_websocket_server import (
    HttpAnswer,
    HttpRequest,
    Socket,
    redirect_websockets,
    serve_http_and_websockets,
)
from cdpengine.debug.proxy_server import proxy
from cdpengine.debug.recording_format import http_params
from cdpengine.debug.replaying.playback import Delivery, Playback, load_playback
from cdpengine.debug.replaying.tape import Client, HttpReply
from cdpengine.errors import InvalidArgumentError, ReplayDivergedError

logger = get_logger("cdpengine.debug")

PATIENCE = 2.0
"""Time beyond the recorded pause after which omitted calls are skipped, in seconds."""

BROWSER_PATH = "/devtools/browser/replay"


@attrs.define(eq=False)
class _Line:
    """The queue of messages to one client."""

    send: trio.MemorySendChannel[bytes]
    receive: trio.MemoryReceiveChannel[bytes]


class _ReplayServer:
    """The server of a replay."""

    def __init__(self, playback: Playback, patience: float) -> None:
        self.playback = playback
        self.changed = trio.Event()
        """Set after each message, and replaced."""
        self.address = ""
        self._patience = patience
        self._lines: dict[int, _Line] = {}
        self._reported = 0
        self._no_calls = RepeatedWarning(logger, "client %d of the replay sent something that is not a call")

    # --- HTTP and websockets -----------------------------------------------------------------------------------

    async def answer(self, request: HttpRequest) -> HttpAnswer:
        """Answer an HTTP request from the recording, or with the general answers of a browser."""
        here = request.headers.get("host") or self.address
        path = http_params(request.target)["path"]
        if not path.startswith("/json"):
            return HttpAnswer(404, b"A recording has nothing but /json.\n")
        with self.join(request.target) as (client, line):
            known = self.playback.ask_http(client, request.method, request.target)
            self._send_due()
            if known:
                reply = _json.decode(await line.receive.receive(), HttpReply)
                return HttpAnswer(reply.status, redirect_websockets(reply.content, here), reply.type)
        return self._answer_unrecorded(path, here)

    def _answer_unrecorded(self, path: str, here: str) -> HttpAnswer:
        """Return an answer for a path that was not recorded."""
        page: object
        if path == "/json/version":
            page = {
                "Browser": self.playback.product or "replay",
                "Protocol-Version": "1.3",
                "webSocketDebuggerUrl": f"ws://{here}{BROWSER_PATH}{'/pipe' if self.playback.is_pipe else ''}",
            }
        elif path == "/json/list":
            page = [
                {
                    "id": each.rpartition("/")[2],
                    "type": "page",
                    "title": "",
                    "url": "",
                    "webSocketDebuggerUrl": f"ws://{here}{each}",
                }
                for each in self.playback.page_paths
            ]
        else:
            return HttpAnswer(404, b"This was not asked when the traffic was recorded.\n")
        return HttpAnswer(200, _json.encode(page, indent=3), "application/json; charset=UTF-8")

    async def take(self, socket: Socket) -> None:
        """Replay to one client until it disconnects."""
        if "origin" in socket.request.headers:
            await socket.refuse(403, "connections from web pages are refused\n")
            return
        await socket.accept()
        with self.join(socket.request.target) as (client, line):
            async with open_body_nursery() as nursery:
                nursery.start_soon(_write, socket, line, name=f"replay to client {client.number}")
                try:
                    while True:
                        self.ask(client, await socket.receive())
                except TransportBroken:
                    logger.debug("client %d of the replay left", client.number)
                finally:
                    await socket.close(1001, "the replay was ended")

    # --- playing -----------------------------------------------------------------------------------------------

    def ask(self, client: Client, message: bytes | str) -> None:
        """Process one call, and send the messages due after it."""
        if not self.playback.ask(client, message):
            self._no_calls.log(client.number)
        self._send_due()

    async def watch(self) -> None:
        """Skip omitted calls, so that later messages do not wait forever."""
        while True:
            changed = self.changed
            with trio.move_on_after(self._patience):
                await changed.wait()
            if changed.is_set():
                continue
            waited = self.playback.find_pause() if self._lines else None
            with trio.move_on_after(math.inf if waited is None else waited):
                await changed.wait()
            if not changed.is_set():
                self.playback.pass_over()
                self._send_due()

    def _send_due(self) -> None:
        for delivery in self.playback.due():
            self._send(delivery)
        for what in self.playback.passed_over[self._reported :]:
            logger.warning("not replayed: %s", what)
        self._reported = len(self.playback.passed_over)
        self.changed.set()
        self.changed = trio.Event()

    def _send(self, delivery: Delivery) -> None:
        line = self._lines.get(delivery.client.number)
        if line is not None:  # None after its disconnect
            line.send.send_nowait(delivery.message)

    def join(self, path: str) -> _Joined:
        """Return a context manager in which a client is connected."""
        return _Joined(self.playback, self._lines, path)


_GRACE = 0.1


class Replay:
    """A served recording. Clients connect to `endpoint` instead of a browser's endpoint."""

    def __init__(self, server: _ReplayServer) -> None:
        self.endpoint = f"http://{server.address}"
        self._server = server

    @property
    def divergence(self) -> ReplayDivergedError | None:
        """The first divergence from the recording, or None."""
        return self._server.playback.divergence

    @property
    def left(self) -> int:
        """Number of recorded calls not made yet."""
        return len(self._server.playback.left)

    @property
    def passed_over(self) -> list[str]:
        """Parts of the recording that cannot be delivered or compared, such as cut events."""
        return self._server.playback.passed_over

    async def until_divergence(self) -> None:
        """Wait for a divergence, plus a moment for the program to receive the error."""
        while self.divergence is None:
            await self._server.changed.wait()
            await trio.lowlevel.checkpoint()
        await trio.sleep(_GRACE)

    @asynccontextmanager
    async def open_transport(self) -> AsyncIterator[Transport]:
        """Connect a client in this process, for `cdpengine._protocol.session.open_connection`."""
        with self._server.join(BROWSER_PATH) as (client, line):
            yield _InProcess(self._server, client, line)


class _Joined:
    """A client during a block."""

    def __init__(self, playback: Playback, lines: dict[int, _Line], path: str) -> None:
        self._playback = playback
        self._lines = lines
        self._path = path
        self._number = 0

    def __enter__(self) -> tuple[Client, _Line]:
        client = self._playback.join(self._path)
        self._number = client.number
        # Unbounded: it contains at most the recording, which is already in memory.
        line = self._lines[client.number] = _Line(*trio.open_memory_channel[bytes](math.inf))
        return client, line

    def __exit__(self, *_: object) -> None:
        line = self._lines.pop(self._number)
        line.send.close()


async def _write(socket: Socket, line: _Line) -> None:
    async for message in line.receive:
        try:
            await socket.send(message)
        except TransportBroken:
            return


class _InProcess:
    """A client's transport without a socket."""

    largest_outgoing = LARGEST_INCOMING

    def __init__(self, server: _ReplayServer, client: Client, line: _Line) -> None:
        self.name = f"replay, client {client.number}"
        self._server = server
        self._client = client
        self._line = line

    async def send(self, *messages: bytes) -> None:
        await trio.lowlevel.checkpoint()
        for message in messages:
            self._server.ask(self._client, message)

    async def receive(self) -> bytes | str:
        try:
            return await self._line.receive.receive()
        except (trio.EndOfChannel, trio.ClosedResourceError):
            raise TransportBroken("the replay was ended") from None

    async def aclose(self) -> None:
        self._line.receive.close()
        await trio.lowlevel.checkpoint()


@asynccontextmanager
async def replay(
    path: str | Path,
    *,
    host: str = "127.0.0.1",
    port: int = 0,
    patience: float = PATIENCE,
    complete: bool = False,
    strict: bool = False,
) -> AsyncIterator[Replay]:
    """Serve a recording as a browser while the block runs. Clients connect to `replay.endpoint`.

    Calls are matched by method, parameters and session in any order. `cdpengine.debug.replaying.matching` lists
    the parameters that may differ. Replies and events are sent in the recorded order. Omitted calls are skipped
    when the program pauses `patience` seconds longer than in the recording. With `strict`, entered text must have
    the recorded fingerprints. Without it, and without fingerprints, redacted parts match everything.

    Raises ReplayDivergedError at the end of the block if the client made an unrecorded call, or, with `complete`,
    omitted a recorded one. It replaces an error of the body that resulted from the divergence. Raises
    InvalidArgumentError and FileUnreadableError for files that cannot be replayed. The recording is held in
    memory.
    """
    check_number("patience", patience, least=0, unit="seconds")
    playback = await trio.to_thread.run_sync(partial(load_playback, path, strict=strict))
    server = _ReplayServer(playback, patience)
    try:
        async with (
            open_body_nursery() as nursery,
            serve_http_and_websockets(server.answer, server.take, host=host, port=port) as (
                address,
                bound,
            ),
        ):
            url_host = f"[{address}]" if ":" in address else address
            server.address = f"{url_host}:{bound}"
            nursery.start_soon(server.watch, name="patience of the replay")
            yield Replay(server)
    except Exception as error:
        if playback.divergence is not None:
            raise playback.divergence from error
        raise
    if playback.divergence is not None:
        raise playback.divergence
    if complete and playback.left:
        left = playback.left
        raise ReplayDivergedError(
            path=playback.path,
            line=left[0].line,
            got="no more",
            expected=tuple(map(str, left[:5])),
            reason=f"{len(left)} recorded calls were never made",
        )


# --- cassettes -----------------------------------------------------------------------------------------------


@attrs.frozen
class Cassette:
    """The endpoint for a program, of a browser or of a replayed recording, according to `mode`."""

    path: Path
    mode: Literal["record", "replay"]
    endpoint: str


@asynccontextmanager
async def cassette(
    path: str | Path,
    *,
    record: bool | None = None,
    executable: str | Path | None = None,
    unredacted: bool = False,
    keep_arguments: bool = False,
    complete: bool = False,
    patience: float = PATIENCE,
    strict: bool = True,
) -> AsyncIterator[Cassette]:
    """Provide an endpoint that replays the file `path`. If the file is missing, start a browser and record it.

    `record=True` always records, False never; None records a missing file. `executable` selects the browser as in
    `launch`. Secrets are redacted unless `unredacted`, and arguments and results of the program's scripts are
    withheld unless `keep_arguments`. `complete`, `patience` and `strict` work as in `replay`. With `strict`, the
    program must enter the recorded text.

    Raises ReplayDivergedError if the program diverges from the recording, InvalidArgumentError if there is no file
    to replay, FileUnreadableError, and the errors of starting a browser.
    """
    path = to_path("cassette", path)
    if record is None:
        record = not path.exists()
    if not record:
        async with replay(path, complete=complete, patience=patience, strict=strict) as running:
            yield Cassette(path, "replay", running.endpoint)
        return
    if not path.parent.is_dir():
        raise InvalidArgumentError(what="cassette", given=str(path), expected="a file in an existing folder")
    # The name's ending is kept because it selects compression.
    taking = path.with_name(f".taking-{path.name}")
    taking.unlink(missing_ok=True)  # of a program that was killed
    try:
        async with (
            start_browser(LaunchOptions(executable=find_browser(executable).path)) as process,
            proxy(
                process.endpoint or "",
                record=taking,
                unredacted=unredacted,
                keep_arguments=keep_arguments,
                limit=0,
                overwrite=True,
            ) as running_proxy,
        ):
            yield Cassette(path, "record", running_proxy.endpoint)
        taking.replace(path)
    finally:
        taking.unlink(missing_ok=True)
