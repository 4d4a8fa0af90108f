"""The background service: it listens on its user's socket, and performs each command through `Service.perform`.

Rule: each user has at most one service, because it holds a lock, which the system releases however the service
ends. The socket has its name only while the service listens, so a socket that refuses connections belongs to a
killed service. If a client disconnects, its command is cancelled. The service ends after its idle time, with
its last session, and on SIGTERM. Its browser ends with it, even if the service is killed.
"""

from __future__ import annotations

import argparse
import fcntl
import os
import signal
import socket
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path

import attrs
import trio

from cdpengine._emulation.options import parse_viewport
from cdpengine.act import ActResponse
from cdpengine.act.commands.parsing import Command, Typed, parse, wants_json
from cdpengine.errors import EngineError, InvalidArgumentError
from cdpengine.service.app import Service
from cdpengine.service.serving import open_service
from cdpengine.service.settings import ServiceSettings, make_token
from cdpengine.service.url_policy import UrlPolicy
from cdpengine.shell import client
from cdpengine.shell.client import LONGEST, PROTOCOL, TAKEN
from cdpengine.shell.printing import DONE, Printed, print_error, print_response
from cdpengine.shell.ref_number_file import RefNumberFile
from cdpengine.shell.without_session import answer_without_session, print_outcome

IDLE = 1800.0
"""Idle time after which the service ends, in seconds."""

_SCHEMES = frozenset(
    {"http", "https", "file", "data", "blob", "javascript", "chrome", "chrome-extension", "view-source"}
)
_LONGEST_HEAD = 64
_FIELDS = 3
"""Values before the arguments: the folder, the session and the encoding."""

_ARRIVING = 10.0
"""Timeout for receiving a command and for sending the answer, in seconds."""

_TAKING_OVER = 15.0
"""Maximum time to wait for a service that is ending, in seconds."""


@attrs.frozen(kw_only=True)
class BackgroundOptions:
    """Options that the first command sets: the browser, its profile, window and step trace, and the idle time."""

    idle: float = IDLE
    executable: str | None = None
    headless: bool = True
    viewport: str = "1280x720"
    endpoint: str | None = None
    user_data_dir: str | None = None
    trace: str | None = None

    def settings(self) -> ServiceSettings:
        """Return the settings of the service.

        They restrict nothing, because the user could do everything anyway.
        """
        return ServiceSettings(
            token=make_token(),  # unused: only this user can open the socket's folder
            url_policy=UrlPolicy(schemes=_SCHEMES, allow_private=True),
            files=Path("/"),
            commands_enabled=True,
            cache="user",
            states=Path(client.states_folder()),
            endpoint=self.endpoint,
            default_context=self.endpoint is not None,
            user_data_dir=None if self.user_data_dir is None else Path(self.user_data_dir),
            executable=self.executable,
            headless=self.headless,
            viewport=parse_viewport(self.viewport),
            session_idle=self.idle,
            ending=1,
        )


@attrs.define(eq=False)
class Background:
    """The service's side of the shell: reads commands, performs them, and decides when to end."""

    service: Service
    options: BackgroundOptions
    refs: RefNumberFile
    ending: trio.Event = attrs.field(factory=trio.Event)
    ended: trio.Event = attrs.field(factory=trio.Event)
    _under_way: int = 0
    _last_used: float = attrs.field(factory=trio.current_time)
    _used: trio.Event = attrs.field(factory=trio.Event)

    async def answer(self, stream: trio.SocketStream) -> None:
        """Perform the command of one client, and send the answer.

        If the client disconnects, cancel the command.
        """
        async with stream:
            with suppress(trio.BrokenResourceError, trio.ClosedResourceError):
                await self._answer(stream)

    async def _answer(self, stream: trio.SocketStream) -> None:
        command = None
        with trio.move_on_after(_ARRIVING):
            command = await read_command(stream)
        if command is None or self.ending.is_set():
            return  # the client sees that the command did not begin, and starts another service
        typed, encoding = command
        self._under_way += 1
        try:
            await stream.send_all(TAKEN)
            printed = await self._unless_left(stream, typed)
        finally:
            self._under_way -= 1
            self._last_used = trio.current_time()
            self._used.set()
            self._used = trio.Event()
        if printed is not None:
            with trio.move_on_after(_ARRIVING, shield=True):
                await send_answer(stream, printed, encoding, as_json=wants_json(typed.arguments))

    async def _unless_left(self, stream: trio.SocketStream, typed: Typed) -> Printed | None:
        """Perform a command; return None, and cancel it, if the client disconnects."""
        done: list[Printed] = []
        async with trio.open_nursery() as nursery:

            async def watch() -> None:
                with suppress(trio.BrokenResourceError):
                    while await stream.receive_some(1):
                        pass  # clients send nothing more
                nursery.cancel_scope.cancel()

            nursery.start_soon(watch)
            done.append(await self.perform(typed))
            nursery.cancel_scope.cancel()
        return done[0] if done else None

    async def perform(self, typed: Typed) -> Printed:
        """Perform a command, and return its output."""
        try:
            command = parse(typed)
            self._check_options(command)
            if command.request is None:
                return await self._perform_own(command)
            sessions = self.service.sessions
            if sessions.find(command.session) is None and command.session not in sessions.lost:
                printed = answer_without_session(command)
                if printed is not None:
                    return printed
            response = await self.service.perform(command.session, dict(command.request))
            await self.refs.keep(self.service.sessions.last_ref)
            if response.error is not None and response.error.kind in ("launchFailed", "connectFailed"):
                self._end_without_sessions()
        except EngineError as error:
            verb = next((each for each in typed.arguments if not each.startswith("-")), "")
            return print_error(
                error,
                f"cdpengine {verb} --help shows its arguments and options.",
                kind="",
                as_json=wants_json(typed.arguments),
            )
        return print_outcome(command, response)

    def _check_options(self, command: Command) -> None:
        """Refuse options for a browser that differs from the service's browser."""
        for option, has in (
            ("--headful", not self.options.headless),
            ("--browser", self.options.executable),
            ("--viewport", self.options.viewport),
            ("--endpoint", self.options.endpoint),
            ("--user-data-dir", self.options.user_data_dir),
            ("--trace", self.options.trace),
        ):
            requested = command.options.get(option)
            if requested is not None and requested != has:
                raise InvalidArgumentError(
                    what=option,
                    given=f"a value for a service that runs with {'another one' if has else 'none'}",
                    expected="the option with the first command; cdpengine close --all ends the service",
                )

    def _end_without_sessions(self) -> None:
        """End if no browser could be started: the next command may choose another one."""
        if not self.service.sessions.names:
            self.ending.set()

    async def _perform_own(self, command: Command) -> Printed:
        sessions = self.service.sessions
        if command.verb.name == "sessions":
            await trio.lowlevel.checkpoint()
            response = ActResponse(kind="", ok=True, result=sessions.names)
            return (
                print_response(response, as_json=True)
                if command.as_json
                else Printed(DONE, "".join(f"{name}\n" for name in sessions.names))
            )
        if "--all" not in command.options:
            await sessions.close(command.session)
        if "--all" in command.options or not sessions.names:
            self.ending.set()
            with trio.CancelScope(shield=True):
                await self.ended.wait()
        return print_response(ActResponse(kind="", ok=True), as_json=command.as_json)

    async def end_when_idle(self) -> None:
        """End the service after its idle time."""
        while not self.ending.is_set():
            used = self._used
            left = self._last_used + self.options.idle - trio.current_time()
            if left <= 0 and not self._under_way:
                self.ending.set()
                return
            with trio.move_on_after(left if left > 0 else self.options.idle):
                await used.wait()


# --- the protocol of the socket ------------------------------------------------------------------------------


async def read_command(stream: trio.SocketStream) -> tuple[Typed, str] | None:
    """Return a client's command and the encoding of its output; None for an unknown client."""
    data = bytearray()
    while b"\n" not in data:
        piece = await stream.receive_some(1 << 16)
        if not piece or (len(data) > _LONGEST_HEAD and b"\n" not in data[:_LONGEST_HEAD]):
            return None
        data += piece
    head, _, rest = bytes(data).partition(b"\n")
    name, _, sizes = head.rpartition(PROTOCOL + b" ")
    try:
        packed, stdin_size = map(int, sizes.split())
    except ValueError:
        return None
    if name or min(packed, stdin_size) < 0 or packed + stdin_size > LONGEST:
        return None
    pieces = [rest]
    missing = packed + stdin_size - len(rest)
    while missing > 0:
        piece = await stream.receive_some(min(missing, 1 << 18))
        if not piece:
            return None
        pieces.append(bytes(piece))
        missing -= len(piece)
    body = b"".join(pieces)
    fields = [os.fsdecode(each) for each in body[:packed].split(b"\0")]
    if len(fields) < _FIELDS:
        return None
    folder, session, encoding, *arguments = fields
    text = body[packed:].decode("utf-8", "replace")
    return Typed(arguments=client.verb_first(arguments), folder=folder, session=session, stdin=text), encoding


async def send_answer(stream: trio.SocketStream, printed: Printed, encoding: str, *, as_json: bool) -> None:
    """Send the output to a client."""
    status, err, out = printed.encode(encoding, as_json=as_json)
    await stream.send_all(b"%d %d %d\n%s%s" % (status, len(err), len(out), err, out))


# --- one service for each user -------------------------------------------------------------------------------


@asynccontextmanager
async def running(options: BackgroundOptions) -> AsyncIterator[Background]:
    """Run the service during the block, and listen for clients.

    The caller must hold the lock. At the end of the block or of the service, it accepts no more clients, closes
    the browser, and answers the waiting clients.
    """
    async with trio.open_nursery() as clients:
        async with open_service(options.settings()) as service, trio.open_nursery() as nursery:
            refs = await RefNumberFile.load(Path(client.refs_path()))
            service.sessions.begin_refs_after(refs.last)
            background = Background(service, options, refs)
            nursery.start_soon(_accept, listen(), background, clients)
            nursery.start_soon(background.end_when_idle)
            try:
                yield background
            finally:
                background.ending.set()
                _unlink(client.socket_path())
                nursery.cancel_scope.cancel()
        background.ended.set()
        clients.cancel_scope.deadline = trio.current_time() + 1


def _unlink(path: str) -> None:
    with suppress(FileNotFoundError):
        os.unlink(path)


async def _accept(listener: trio.SocketListener, background: Background, clients: trio.Nursery) -> None:
    async with listener:
        while True:
            clients.start_soon(background.answer, await listener.accept())


def listen() -> trio.SocketListener:
    """Open the user's socket with mode 0600, and return its listener."""
    path = Path(client.socket_path())
    new = path.with_name(f"{path.name}.{os.getpid()}")
    new.unlink(missing_ok=True)
    bound = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        before = os.umask(0o177)
        try:
            bound.bind(str(new))
        finally:
            os.umask(before)
        bound.listen(128)
        new.replace(path)
    except BaseException:
        bound.close()
        new.unlink(missing_ok=True)
        raise
    bound.setblocking(False)
    return trio.SocketListener(trio.socket.from_stdlib_socket(bound))


async def take_lock() -> int | None:
    """Return the descriptor of the lock, or None if a running service has it.

    Raises TimeoutError if a service that is ending keeps it.
    """
    descriptor = os.open(client.lock_path(), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    locked = False
    try:
        with trio.move_on_after(_TAKING_OVER):
            while not (locked := _lock(descriptor)):
                if answers():
                    return None
                await trio.sleep(0.02)  # the other service begins or ends, without any event
        if not locked:
            raise TimeoutError
        os.ftruncate(descriptor, 0)
        os.write(descriptor, b"%d\n" % os.getpid())
        return descriptor
    finally:
        if not locked:
            os.close(descriptor)


def _lock(descriptor: int) -> bool:
    """Take the lock if it is free."""
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def answers() -> bool:
    """Return whether a service listens on the user's socket."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as probe:
        try:
            probe.connect(client.socket_path())
        except OSError:
            return False
    return True


async def run(options: BackgroundOptions, ready: int) -> None:
    """Run the service to its end, unless one is running. Write a byte to `ready` when one listens."""
    lock = await take_lock()
    if lock is None:
        _say_ready(ready)
        return
    with trio.open_signal_receiver(signal.SIGTERM, signal.SIGINT, signal.SIGHUP) as signals:
        async with running(options) as background, trio.open_nursery() as nursery:

            async def end_by_signal() -> None:
                async for _ in signals:
                    background.ending.set()

            nursery.start_soon(end_by_signal)
            _say_ready(ready)
            await background.ending.wait()
            nursery.cancel_scope.cancel()


def _say_ready(pipe: int) -> None:
    """Notify the client that started this service that a service listens."""
    with suppress(BrokenPipeError):  # it has ended
        os.write(pipe, b"+")
    os.close(pipe)


def main() -> None:
    """Run the service as a program. `--ready` is the descriptor to write to once it listens."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--ready", type=int, required=True)
    parser.add_argument("--idle", type=float, default=IDLE)
    parser.add_argument("--browser")
    parser.add_argument("--headful", action="store_true")
    parser.add_argument("--viewport", default="1280x720")
    parser.add_argument("--endpoint")
    parser.add_argument("--user-data-dir")
    parser.add_argument("--trace")
    arguments = parser.parse_args()
    options = BackgroundOptions(
        idle=arguments.idle,
        executable=arguments.browser,
        headless=not arguments.headful,
        viewport=arguments.viewport,
        endpoint=arguments.endpoint,
        user_data_dir=arguments.user_data_dir,
        trace=arguments.trace,
    )
    if options.trace is not None:
        os.environ["CDPENGINE_TRACE"] = options.trace
    try:
        trio.run(run, options, arguments.ready)
    except TimeoutError:
        sys.exit("a service that was ending did not end")


if __name__ == "__main__":
    main()
