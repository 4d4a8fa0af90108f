"""A proxy between a client and a browser that relays messages, records them, and injects faults.

Rule: without faults, messages are relayed unchanged and in order, and each direction buffers at most one. The end
of one side ends the other with a reason. Both sides receive it, and `ProxyConnection.ending` keeps it. A recording
shows the client's side of the wire: it lacks messages dropped by a fault and contains messages created by one.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import SplitResult, urlsplit

import attrs
import msgspec
import trio

from cdpengine import _json
from cdpengine._launch.endpoint import check_endpoint, redact_endpoint, resolve_endpoint
from cdpengine._logs import get_logger, http_logs_suppressed
from cdpengine._nursery import open_body_nursery
from cdpengine._protocol.http_connections import lacking
from cdpengine._protocol.instruments import HttpExchange, Instruments, Traffic
from cdpengine._protocol.messages import Envelope, decode_envelope
from cdpengine._protocol.transport import CLOSE_GRACE, Transport, TransportBroken
from cdpengine._protocol.websocket_transport import open_websocket
from cdpengine.debug.faults import Fault, FaultInjector, Faults, MessageKind, refusal
from cdpengine.debug.http_websocket_server import (
    HttpAnswer,
    HttpRequest,
    Socket,
    is_loopback,
    redirect_websockets,
    serve_http_and_websockets,
)
from cdpengine.errors import ConnectFailedError, InvalidArgumentError, shortage_of, shortages_named
from cdpengine.errors.texts import duration

if TYPE_CHECKING:
    import httpx

logger = get_logger("cdpengine.debug")

OPEN_PATIENCE = 10.0
"""Timeout for the browser to accept a client or to answer over HTTP, in seconds."""

_ENDED = "the proxy was ended"
_MOST_PENDING = 10_000
_LISTED = 1_000
"""Maximum number of listed connections that have ended."""

_PASSED_ON = ("origin", "user-agent", "authorization", "cookie")
"""Client headers that are forwarded to the browser. The browser rejects web pages by their Origin."""


@attrs.define(eq=False)
class ProxyConnection:
    """A client's connection through the proxy. `ending` is the reason why it ended, None while it is open."""

    name: str
    path: str
    sent: int = 0
    received: int = 0
    ending: str | None = None


@attrs.define(eq=False)
class Proxy:
    """A running proxy.

    Clients use `endpoint` instead of the browser's endpoint, or `ws_endpoint` instead of the browser's websocket.
    `listens_on` is the address and the port. `faults` can be changed at any time. `instruments` see the clients'
    traffic. `passages` lists the clients' connections in order of arrival; the oldest ended ones are removed. Each
    of `notes` is called with a line for each new or ended connection and each injected fault.
    """

    faults: Faults
    endpoint: str = ""
    ws_endpoint: str = ""
    listens_on: tuple[str, int] = ("", 0)
    instruments: Instruments = attrs.field(factory=Instruments)
    passages: list[ProxyConnection] = attrs.field(factory=list)
    notes: list[Callable[[str], None]] = attrs.field(factory=list)


class ProxyServer:
    """The server of a proxy. `proxy` is its public part.

    `prefix` begins the name of each connection. It distinguishes browsers that share `instruments`.
    """

    def __init__(
        self,
        upstream: SplitResult,
        browser_path: str,
        headers: Mapping[str, str],
        injector: FaultInjector,
        *,
        instruments: Instruments | None = None,
        prefix: str = "",
    ) -> None:
        self.proxy = Proxy(Faults(injector), instruments=instruments or Instruments())
        self.injector = injector
        self._prefix = prefix
        self._upstream = upstream
        self._browser_path = browser_path
        self._headers = dict(headers)
        self._numbers = itertools.count(1)
        self._http: httpx.AsyncClient | None = None
        self._open_connections = 0
        self._idle = trio.lowlevel.ParkingLot()

    def start(self, host: str, port: int, http: httpx.AsyncClient) -> None:
        """Set the attributes that depend on the open port."""
        self._http = http
        url_host = {"0.0.0.0": "127.0.0.1", "::": "[::1]"}.get(host, f"[{host}]" if ":" in host else host)  # noqa: S104
        self.proxy.listens_on = (host, port)
        self.proxy.endpoint = f"http://{url_host}:{port}"
        self.proxy.ws_endpoint = f"ws://{url_host}:{port}{self._browser_path}"

    def note(self, text: str) -> None:
        """Pass a line to each of the proxy's `notes`."""
        logger.info("%s", text)
        for note in self.proxy.notes:
            note(text)

    async def wait_until_idle(self) -> None:
        """Wait until no client has a connection, and the last messages are relayed."""
        while self._open_connections:
            await self._idle.park()

    # --- HTTP ------------------------------------------------------------------------------------------------

    async def answer(self, request: HttpRequest) -> HttpAnswer:
        """Forward a client's HTTP request to the browser. Replace the browser's addresses in the response."""
        requested_at = trio.current_time()
        answer = await self._ask_browser(request)
        # The browser's other HTTP paths serve its DevTools, which are not recorded.
        if self.proxy.instruments.active and urlsplit(request.target).path.startswith("/json"):
            took = trio.current_time() - requested_at
            self.proxy.instruments.pass_on_http(
                HttpExchange(
                    requested_at,
                    request.method,
                    request.target,
                    answer.status,
                    answer.body,
                    answer.content_type,
                    took,
                )
            )
        return answer

    async def _ask_browser(self, request: HttpRequest) -> HttpAnswer:
        import httpx

        assert self._http is not None
        scheme = {"ws": "http", "wss": "https"}.get(self._upstream.scheme, self._upstream.scheme)
        path = request.target if request.target.startswith("/") else urlsplit(request.target).path or "/"
        sent = {name: request.headers[name] for name in _PASSED_ON if name in request.headers} | self._headers
        try:
            with http_logs_suppressed(), trio.fail_after(OPEN_PATIENCE):
                answer = await self._http.request(
                    request.method,
                    f"{scheme}://{self._upstream.netloc}{path}",
                    headers=sent,
                    content=request.body or None,
                )
        except (httpx.HTTPError, httpx.InvalidURL, trio.TooSlowError, OSError, ImportError) as error:
            # httpx imports parts of itself at the first request. Without free descriptors, that import fails.
            shortage = shortage_of(error)
            if shortage is None and isinstance(error, OSError | ImportError):
                raise
            if self._knows(path):
                return self._answer_version(request)
            reason = str(shortage or f"no answer from the browser ({type(error).__name__})")
            return HttpAnswer(502, f"cdpengine proxy: {reason}\n".encode())
        kind = answer.headers.get("content-type", "text/plain")
        body = answer.content
        if path.startswith("/json"):
            here = request.headers.get("host") or urlsplit(self.proxy.endpoint).netloc
            body = redirect_websockets(body, here)
            if answer.status_code != httpx.codes.OK and self._knows(path):
                return self._answer_version(request)
        return HttpAnswer(answer.status_code, body, kind)

    def _knows(self, path: str) -> bool:
        # A Chrome with debugging allowed in its settings has no /json. The address of its websocket is known.
        return path.rstrip("/") == "/json/version" and self._upstream.scheme in ("ws", "wss")

    def _answer_version(self, request: HttpRequest) -> HttpAnswer:
        here = request.headers.get("host") or urlsplit(self.proxy.endpoint).netloc
        page = {"Browser": "unknown", "webSocketDebuggerUrl": f"ws://{here}{self._browser_path}"}
        return HttpAnswer(200, _json.encode(page), "application/json; charset=UTF-8")

    # --- websockets ------------------------------------------------------------------------------------------

    async def take(self, socket: Socket) -> None:
        """Relay one client's websocket until either side ends it."""
        path = socket.request.target
        if urlsplit(path).path in ("", "/"):
            path = self._browser_path
        name = f"{self._prefix}client {next(self._numbers)} {urlsplit(path).path}"
        passage = ProxyConnection(name, path)
        self._list(passage)
        scheme = {"http": "ws", "https": "wss"}.get(self._upstream.scheme, self._upstream.scheme)
        url = f"{scheme}://{self._upstream.netloc}{path}"
        headers = {
            name: socket.request.headers[name] for name in _PASSED_ON if name in socket.request.headers
        }
        self._open_connections += 1
        try:
            await self._open(socket, passage, url, headers | self._headers)
        finally:
            self._open_connections -= 1
            self._idle.unpark_all()
            passage.ending = passage.ending or _ENDED
            self.note(f"{passage.name}: over: {passage.ending}")

    async def _open(
        self, socket: Socket, passage: ProxyConnection, url: str, headers: Mapping[str, str]
    ) -> None:
        with trio.CancelScope(deadline=trio.current_time() + OPEN_PATIENCE) as opening:
            try:
                async with open_websocket(url, headers=headers, name=passage.name) as upstream:
                    opening.deadline = math.inf
                    await self._run(socket, upstream, passage)
            except (ConnectFailedError, InvalidArgumentError) as error:
                reason = error.reason if isinstance(error, ConnectFailedError) else "the path is invalid"
                passage.ending = f"the browser did not let it in: {reason}"
                await socket.refuse(502, f"cdpengine proxy: {passage.ending}\n")
        if opening.cancelled_caught:
            passage.ending = f"the browser did not let it in within {OPEN_PATIENCE:g} s"
            await socket.refuse(504, f"cdpengine proxy: {passage.ending}\n")

    async def _run(self, socket: Socket, upstream: Transport, passage: ProxyConnection) -> None:
        try:
            await socket.accept()
        except TransportBroken as broken:
            passage.ending = str(broken)
            return
        self.note(f"{passage.name}: connected")
        relay = _Relay(self, passage, socket, upstream)
        try:
            await relay.run()
        finally:
            # A client that is gone ignores the reason.
            await socket.close(1001, passage.ending or _ENDED)

    def _list(self, passage: ProxyConnection) -> None:
        self.proxy.passages.append(passage)
        if len(self.proxy.passages) > _LISTED:
            over = next((each for each in self.proxy.passages if each.ending is not None), None)
            if over is not None:
                self.proxy.passages.remove(over)


class _Relay:
    """The two directions of one client's connection."""

    def __init__(
        self, server: ProxyServer, passage: ProxyConnection, socket: Socket, upstream: Transport
    ) -> None:
        self._server = server
        self._passage = passage
        self._socket = socket
        self._upstream = upstream
        self._methods: dict[int, str] = {}
        self._to_client = trio.Lock()
        self._over = trio.Event()

    async def run(self) -> None:
        """Relay messages until one side ends."""
        async with open_body_nursery() as nursery:
            nursery.start_soon(self._pump, self._from_client, name=f"{self._passage.name}, its calls")
            nursery.start_soon(self._pump, self._from_upstream, name=f"{self._passage.name}, its replies")
            await self._over.wait()

    async def _pump(self, pump: Callable[[], Awaitable[str]]) -> None:
        self._end(await pump())

    def _end(self, reason: str) -> None:
        """Record the first reason. The other side ends as a consequence."""
        if not self._over.is_set():
            self._passage.ending = reason
            self._over.set()

    async def _from_client(self) -> str:
        while True:
            try:
                message = await self._socket.receive()
            except TransportBroken as broken:
                return str(broken)
            self._passage.sent += 1
            self._watch("sent", message)
            fault: Fault | None = None
            envelope: Envelope | None = None
            if self._server.injector.active:
                envelope = _envelope(message)
                fault = self._due("call", envelope)
            if fault is None:
                copies = 1
            elif fault.action == "error":
                assert envelope is not None
                if envelope.id is not None:
                    self._methods.pop(envelope.id, None)
                    if not await self._to_the_client(refusal(envelope.id, envelope.session_id, fault)):
                        return self._socket.describe_end()
                continue
            else:
                if fault.action == "cut":
                    return await self._cut_connection(fault)
                message, copies = await self._harm(message, fault)
            for _ in range(copies):
                try:
                    await self._upstream.send(message if isinstance(message, bytes) else message.encode())
                except TransportBroken as broken:
                    with trio.move_on_after(CLOSE_GRACE):
                        await self._over.wait()  # the browser's last messages are still to be relayed
                    return str(broken)

    async def _from_upstream(self) -> str:
        while True:
            try:
                message = await self._upstream.receive()
            except TransportBroken as broken:
                return str(broken)
            copies = 1
            if self._server.injector.active:
                envelope = _envelope(message)
                kind: MessageKind = "event" if envelope.id is None else "reply"
                fault = self._due(kind, envelope)
                if fault is not None:
                    if fault.action == "cut":
                        return await self._cut_connection(fault)
                    message, copies = await self._harm(message, fault)
            for _ in range(copies):
                if not await self._to_the_client(message):
                    return self._socket.describe_end()

    async def _to_the_client(self, message: bytes | str) -> bool:
        self._passage.received += 1
        self._watch("received", message)
        try:
            # Both directions write to the client, because refusals by a fault are sent from here.
            async with self._to_client:
                await self._socket.send(message)
        except TransportBroken:
            return False
        return True

    def _due(self, kind: MessageKind, envelope: Envelope) -> Fault | None:
        method = envelope.method or ""
        if envelope.id is not None and kind == "call":
            self._methods[envelope.id] = method
            if len(self._methods) > _MOST_PENDING:
                del self._methods[next(iter(self._methods))]
        elif envelope.id is not None:
            method = self._methods.pop(envelope.id, "")
        fault = self._server.injector.decide(kind, method)
        if fault is not None:
            self._server.note(f"{self._passage.name}: {fault.action} of the {kind} {method} (fault {fault})")
        return fault

    async def _cut_connection(self, fault: Fault) -> str:
        reason = f"it was cut by the fault {fault}"
        self._end(reason)
        with trio.CancelScope(shield=True):
            await self._socket.cut()
        return reason

    async def _harm(self, message: bytes | str, fault: Fault) -> tuple[bytes | str, int]:
        """Apply a fault to a message. Return the message, and how often it is sent."""
        match fault.action:
            case "delay":
                with trio.move_on_after(fault.milliseconds / 1000):
                    await self._socket.gone.wait()  # no receiver is left
                return message, 1
            case "duplicate":
                return message, 2
            case "truncate":
                return message[: fault.characters], 1
            case _:
                return message, 0

    def _watch(self, direction: str, message: bytes | str) -> None:
        if self._server.proxy.instruments.active:
            self._server.proxy.instruments.pass_on(
                Traffic(trio.current_time(), direction, self._passage.name, message)  # type: ignore[arg-type]
            )


def _envelope(message: bytes | str) -> Envelope:
    try:
        return decode_envelope(message)
    except msgspec.DecodeError:
        return Envelope()


# --- running one ---------------------------------------------------------------------------------------------


@asynccontextmanager
async def proxy(
    upstream: str,
    *,
    faults: Iterable[Fault | str] = (),
    record: str | Path | None = None,
    unredacted: bool = False,
    keep_arguments: bool = False,
    limit: int | None = None,
    overwrite: bool = False,
    host: str = "127.0.0.1",
    port: int = 0,
    headers: Mapping[str, str] | None = None,
    timeout: float = 30,
) -> AsyncIterator[Proxy]:
    """Run a proxy in front of a browser inside the block. Its clients connect to `proxy.endpoint`.

    `upstream` is an address for `connect`: "http://host:port" or "ws://...". `faults` are applied to messages;
    `cdpengine.debug.faults` describes the grammar. `record` writes the clients' traffic to a file. The file is
    redacted unless `unredacted`, and must not exist unless `overwrite`. Payloads above `limit` bytes are cut (0:
    no limit; None: the recorder's default). Arguments and results of scripts are withheld unless `keep_arguments`.

    `port` 0 selects a free port. The proxy listens only on this machine unless `host` is given. Every program that
    reaches a browser's debugging port has full control of the browser. `headers` are sent to the browser with
    every request. `timeout` limits the search for the browser, in seconds.

    Raises InvalidArgumentError for invalid arguments, and ConnectFailedError if no browser answers at `upstream`.
    Raises ResourcesExhaustedError or FileNotWrittenError at the start if the system lacks resources. Raises
    FileNotWrittenError at the end if the recording could not be written.
    """
    check_endpoint(upstream)
    injector = FaultInjector(faults)
    resolved = None
    with trio.move_on_after(timeout):
        resolved = await resolve_endpoint(upstream, headers)
    if resolved is None:
        raise ConnectFailedError(
            endpoint=redact_endpoint(upstream), reason=f"no answer within {duration(timeout)}"
        )
    target = urlsplit(resolved.ws_url)
    base = target
    if urlsplit(upstream).scheme in ("http", "https"):
        base = target._replace(scheme="https" if target.scheme == "wss" else "http")
    path = target.path + (f"?{target.query}" if target.query else "")
    server = ProxyServer(base, path or "/", headers or {}, injector)
    trusts_environment = not is_loopback(target.hostname or "")
    with shortages_named(partial(lacking, redact_endpoint(upstream))) as started:
        import httpx

        async with AsyncExitStack() as stack:
            if record is not None:
                from cdpengine.debug.recording.recorder import record_traffic
                from cdpengine.debug.recording.traffic_recorder import LIMIT

                recording = record_traffic(
                    server.proxy.instruments,
                    record,
                    unredacted=unredacted,
                    keep_arguments=keep_arguments,
                    limit=LIMIT if limit is None else limit,
                    overwrite=overwrite,
                )
                await stack.enter_async_context(recording)
            client = httpx.AsyncClient(trust_env=trusts_environment, timeout=None)  # noqa: S113 - OPEN_PATIENCE
            http = await stack.enter_async_context(client)
            address = await stack.enter_async_context(
                serve_http_and_websockets(server.answer, server.take, host=host, port=port)
            )
            server.start(*address, http)
            if not is_loopback(address[0]):
                logger.warning(
                    "the proxy listens on %s:%d: every program that reaches it controls the browser", *address
                )
            started()
            yield server.proxy
