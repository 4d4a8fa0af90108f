"""A Chrome process that lives exactly as long as a block, however the block ends.

Rule: one task owns the process from before its first instruction until its profile is removed. It is not the
caller's task, and a Ctrl-C cannot arrive inside it, so the cleanup always completes. The cleanup is shielded, and
every wait in it has a deadline.

On POSIX, Chrome also holds a pipe whose other end only this process has. When this process dies, for any reason,
the pipe closes and Chrome ends. Windows has no such pipe (a job object would do the same): there, Chrome survives
if its owner is killed.
"""

from __future__ import annotations

import errno
import math
import os
import re
import sys
from collections import deque
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Mapping, Sequence
from contextlib import aclosing, asynccontextmanager
from pathlib import Path

import attrs
import trio

from cdpengine._launch import early
from cdpengine._launch.child import Child, PipeEnds
from cdpengine._launch.ending_signals import UnwoundBySignals
from cdpengine._launch.flags import Machine, Transport, command_line
from cdpengine._launch.obstacles import Explanation, describe_machine_mismatch, explain
from cdpengine._launch.profile import Profile
from cdpengine._launch.sweeping import sweep_profiles
from cdpengine._logs import get_logger
from cdpengine._nursery import open_body_nursery
from cdpengine.errors import InvalidArgumentError, LaunchFailedError, os_reason, shortage_of

if sys.platform == "win32":
    from cdpengine._launch.child import spawn_on_windows
else:
    import resource

    from cdpengine._launch.child import adopt
    from cdpengine._launch.spawning import spawn

_log = get_logger("cdpengine.browser")

_LISTENING = re.compile(r"DevTools listening on (ws://\S+)")
_NO_PORT = "Cannot start http server for devtools"  # message of a Chrome that continues without its port
_OTHER_LOOPBACK = "ws://[::1]:"  # the address of a Chrome whose port is taken on 127.0.0.1
_PROFILE_IN_USE = 21  # chrome::RESULT_CODE_PROFILE_IN_USE

ENDED_EARLY = "it ended before it was ready"
"""The reason if the browser's output has none."""

_OUT_OF_DESCRIPTORS = "Too many open files"
_FEW_DESCRIPTORS = (
    256  # Chromium 156 needs about 150 for its first page; it raises its soft limit to the hard limit
)

_MAX_OUTPUT_LINES = 200
_TAIL_LINES = 20
_LINE_LIMIT = 2_000
_CHUNK = 65_536

# Maximum duration of each step of the ending, in seconds. Chrome ends within 0.3 s of its pipe's closing.
_AFTER_LIFELINE = 1.5
_AFTER_TERMINATE = 1.0
_AFTER_KILL = 5.0
_AFTER_EXIT_OUTPUT = 0.5
_AFTER_CLOSED_PIPE = 1.0

# The start waits for the line on stderr. Chrome writes the port file a moment later; it is read too, for wrappers
# that do not pass stderr on.
_PORT_FILE_PAUSE = 0.1

_PROOF_OF_LIFE = b'{"id":0,"method":"Browser.getVersion"}\0'


@attrs.frozen
class LaunchOptions:
    """The options of a browser's start.

    `executable` is the program; `args` follow the engine's flags. `user_data_dir` is a profile to keep; None
    creates a temporary one. `transport="pipe"` opens only the `debugging_port`, if any (0: Chrome chooses it).
    `env` replaces the browser's whole environment; None passes on this program's environment. With a temporary
    profile, TMPDIR is inside the profile, unless `env` has another one. `computed_accessibility` exposes computed
    roles and names to pages.
    """

    executable: Path
    headless: bool = True
    args: Sequence[str] = ()
    user_data_dir: Path | None = None
    transport: Transport = "websocket"
    env: Mapping[str, str] | None = None
    computed_accessibility: bool = True
    debugging_port: int | None = None

    @property
    def listens(self) -> bool:
        """Whether the browser opens a port."""
        return self.transport == "websocket" or self.debugging_port is not None


@attrs.define(eq=False)
class BrowserProcess:
    """A running Chrome.

    `endpoint` is its browser-level ws:// URL, or None if it opens no port. `pipe` is this program's end of the
    debugging pipe; None with the websocket transport, where the pipe is only the lifeline. `proof` is the message
    that answered `Browser.getVersion` on it. `ended` is set when the process has ended and was reaped.
    `returncode` is None until then, and negative if a signal ended the process. `disposable`: the end of the block
    kills it without asking it to close, if its profile is temporary.
    """

    pid: int
    profile: Path
    executable: Path
    endpoint: str | None = None
    pipe: PipeEnds | None = None
    proof: bytes = b""
    disposable: bool = False
    returncode: int | None = None
    ended: trio.Event = attrs.field(factory=trio.Event)
    _lines: deque[str] = attrs.field(factory=deque)

    async def wait(self) -> int:
        """Wait until the process has ended; return its exit code."""
        await self.ended.wait()
        assert self.returncode is not None
        return self.returncode

    def why_not_up(self, generic: str) -> Explanation:
        """Return why the process is not running, from its output and the system's limits; `generic` if unknown."""
        limit = _descriptor_limit()
        reported = any(_OUT_OF_DESCRIPTORS in line for line in self._lines)
        if reported or (self.ended.is_set() and (limit or math.inf) < _FEW_DESCRIPTORS):
            return Explanation(
                f"{generic}: {'it' if reported else 'perhaps it'} has too few file descriptors (EMFILE). Its "
                f"limit is the hard limit of this program, {limit or 'none'}, and it needs several hundred: "
                "raise the limit (ulimit -Hn)"
            )
        return explain(
            tuple(self._lines),
            profile=self.profile,
            executable=self.executable,
            exit_code=self.returncode,
            generic=generic,
        )

    def output_tail(self, lines: int = _TAIL_LINES) -> tuple[str, ...]:
        """Return the last lines of Chrome's stdout and stderr, at most 200, long ones cut."""
        return tuple(self._lines)[-lines:] if lines > 0 else ()


@asynccontextmanager
async def start_browser(
    options: LaunchOptions, *, meanwhile: Callable[[], object] = lambda: None
) -> AsyncIterator[BrowserProcess]:
    """Start Chrome, yield the running process, and end it when the block ends.

    On entry, the process has answered on its pipe and reported its address. On exit, no process of its group, no
    zombie and no temporary profile is left. Ending takes about 0.1 s if Chrome was asked to close first, and a few
    seconds in the worst case. `meanwhile` is called once, while the process starts.

    Raises LaunchFailedError if the program cannot be executed, ends early, closes its pipe or has no port, and
    InvalidArgumentError for invalid options. Has no timeout: put it in a cancel scope. The body's exceptions
    propagate unwrapped.
    """
    keeper = _Keeper(options, meanwhile)
    with UnwoundBySignals():
        async with open_body_nursery() as nursery:
            nursery.start_soon(keeper.keep)
            await keeper.up.wait()
            yield keeper.process


@attrs.define(eq=False)
class _Keeper:
    """The task that owns the process, and the two tasks that watch its output and its exit."""

    _options: LaunchOptions
    _meanwhile: Callable[[], object]
    process: BrowserProcess = attrs.field(init=False)
    up: trio.Event = attrs.field(factory=trio.Event)
    _listening: trio.Event = attrs.field(factory=trio.Event)
    _no_port: trio.Event = attrs.field(factory=trio.Event)
    _child: Child = attrs.field(init=False)
    _pipe: PipeEnds | None = None
    _lines: deque[str] = attrs.field(factory=lambda: deque(maxlen=_MAX_OUTPUT_LINES))
    # Shielded: output and exit are watched during the ending, until the keeper ends.
    _watching: list[trio.CancelScope] = attrs.field(factory=list)
    _output_done: trio.Event = attrs.field(factory=trio.Event)

    @trio.lowlevel.enable_ki_protection
    async def keep(self) -> None:
        options = self._options
        if options.transport == "pipe" and sys.platform == "win32":
            raise InvalidArgumentError(what="transport", given="'pipe'", expected="'websocket' on Windows")
        machine = Machine.here()
        await trio.lowlevel.checkpoint()  # if cancelled, create nothing
        is_default = options == LaunchOptions(options.executable, transport="pipe")
        begun = early.take(options.executable) if is_default else None
        try:
            profile = Profile.prepare(options.user_data_dir) if begun is None else begun.profile
        except OSError as error:
            raise self._failed(f"its profile folder cannot be used: {os_reason(error)}") from error
        sockets: Path | None = None
        try:
            arguments = command_line(
                options.args,
                profile=profile.path,
                headless=options.headless,
                transport=options.transport,
                lifeline=sys.platform != "win32",
                machine=machine,
                computed_accessibility=options.computed_accessibility,
                debugging_port=options.debugging_port,
            )
            async with open_body_nursery() as nursery:
                await self._spawn([str(options.executable.absolute()), *arguments], profile, begun)
                nursery.start_soon(self._read_output)
                nursery.start_soon(self._await_exit)
                nursery.start_soon(sweep_profiles)
                try:
                    self._meanwhile()
                    await self._wait_until_up(profile)
                    sockets = profile.socket_folder()
                    self.up.set()
                    await trio.sleep_forever()
                finally:
                    # If Chrome has begun to end, the profile no longer has the link.
                    sockets = profile.socket_folder() or sockets
                    kills = self.process.disposable or not self.up.is_set()
                    await self._end(gently=not (kills and profile.temporary))
        finally:
            await profile.remove(sockets)

    async def _spawn(
        self, command: list[str], profile: Profile, begun: early.EarlyBrowser | None = None
    ) -> None:
        environment: Mapping[str, str] = {}
        if begun is None:
            try:
                environment = profile.environment(
                    os.environ if self._options.env is None else self._options.env
                )
            except OSError as error:
                raise self._failed(f"its profile folder cannot be used: {os_reason(error)}") from error
        try:
            if sys.platform == "win32":
                with trio.CancelScope(shield=True):  # bounded by the system's CreateProcess
                    self._child = await spawn_on_windows(command, environment)
            else:
                self._child, self._pipe = adopt(
                    spawn(command, environment) if begun is None else begun.spawned
                )
        except (OSError, ValueError) as error:
            raise self._failed(_why_not_executed(self._options.executable, error)) from error
        self.process = BrowserProcess(
            pid=self._child.pid,
            profile=profile.path,
            executable=self._options.executable,
            lines=self._lines,
        )

    # --- while it runs ---------------------------------------------------------------------------------------

    @trio.lowlevel.enable_ki_protection
    async def _read_output(self) -> None:
        with trio.CancelScope(shield=True) as scope:
            self._watching.append(scope)
            async with aclosing(_lines_of(self._child.output)) as lines:
                async for line in lines:
                    self._lines.append(line)
                    if self.process.endpoint is None and (found := _LISTENING.search(line)):
                        self._listens_at(found[1])
                    elif _NO_PORT in line:
                        self._no_port.set()
        self._output_done.set()

    @trio.lowlevel.enable_ki_protection
    async def _await_exit(self) -> None:
        with trio.CancelScope(shield=True) as scope:
            self._watching.append(scope)
            await self._child.exited()
            # The helpers keep the output open. Its end means that they have finished writing, cookies included.
            with trio.move_on_after(_AFTER_EXIT_OUTPUT):
                await self._output_done.wait()
            self.process.returncode = self._child.reap()
            self.process.ended.set()

    def _listens_at(self, endpoint: str) -> None:
        if not self._options.listens:
            return
        if self._options.debugging_port and endpoint.startswith(_OTHER_LOOPBACK):
            self._no_port.set()  # that port of 127.0.0.1 belongs to another program
            return
        self.process.endpoint = endpoint
        self._listening.set()

    async def _wait_until_up(self, profile: Profile) -> None:
        """Return when Chrome serves its protocol; raise LaunchFailedError if it ends first."""
        async with open_body_nursery() as nursery:
            nursery.start_soon(self._fail_on_exit)
            if self._options.transport == "pipe" and self._pipe is not None:
                await self._prove_life(self._pipe)
                self.process.pipe = self._pipe
            if self._options.listens:
                nursery.start_soon(self._fail_without_port)
                if profile.temporary:
                    nursery.start_soon(self._watch_port_file, profile)
                await self._listening.wait()

    async def _fail_on_exit(self) -> None:
        code = await self.process.wait()
        in_use = f"the profile {self.process.profile} is in use by another browser"
        why = self.process.why_not_up(in_use if code == _PROFILE_IN_USE else ENDED_EARLY)
        raise self._failed(why.reason, exit_code=code, advice=why.advice)

    async def _fail_without_port(self) -> None:
        await self._no_port.wait()
        port = self._options.debugging_port
        raise self._failed(
            f"its debugging port {port} is taken: pass another port, or debugging_port=0 for any free port"
            if port
            else "it could not open a debugging port"
        )

    async def _watch_port_file(self, profile: Profile) -> None:
        while (endpoint := profile.websocket_endpoint()) is None:  # noqa: ASYNC110 - a file has no event
            await trio.sleep(_PORT_FILE_PAUSE)
        if self.process.endpoint is None:
            self._listens_at(endpoint)

    async def _prove_life(self, pipe: PipeEnds) -> None:
        """Send one command over the pipe and read its answer. No other command is sent before it."""
        try:
            await pipe.to_browser.send_all(_PROOF_OF_LIFE)
            answer = b""
            while not answer.endswith(b"\0"):
                chunk = await pipe.from_browser.receive_some(_CHUNK)
                if not chunk:
                    break
                answer += chunk
            else:
                self.process.proof = answer[:-1]
                return
        except trio.BrokenResourceError:
            pass
        # An ending program closes its pipe a moment before its exit is visible. Wait a moment, because the exit
        # code and the output are more specific.
        with trio.move_on_after(_AFTER_CLOSED_PIPE):
            await trio.sleep_forever()
        why = self.process.why_not_up("it closed its debugging pipe; is it a Chrome?")
        raise self._failed(why.reason, advice=why.advice)

    def _failed(self, reason: str, *, exit_code: int | None = None, advice: str = "") -> LaunchFailedError:
        process: BrowserProcess | None = getattr(self, "process", None)
        output = () if process is None else process.output_tail()
        return LaunchFailedError(
            executable=str(self._options.executable),
            reason=reason,
            exit_code=exit_code,
            output=output,
            advice=advice,
        )

    # --- the ending ------------------------------------------------------------------------------------------

    async def _end(self, *, gently: bool) -> None:
        if self._pipe is not None:
            await _close_now(self._pipe)
        if gently:
            if self._pipe is not None:
                await self._ended_within(_AFTER_LIFELINE)
            if not self.process.ended.is_set():
                self._child.terminate()
                await self._ended_within(_AFTER_TERMINATE)
        if not self.process.ended.is_set():
            self._child.kill()
            await self._ended_within(_AFTER_KILL)
        if not self.process.ended.is_set():
            _log.warning(
                "browser process %d did not end within %g s of SIGKILL: find the cause with ps -o stat,wchan",
                self.process.pid,
                _AFTER_KILL,
            )
        with trio.move_on_after(_AFTER_EXIT_OUTPUT, shield=True):
            await self._output_done.wait()
        for scope in self._watching:
            scope.cancel()

    async def _ended_within(self, seconds: float) -> None:
        with trio.move_on_after(seconds, shield=True):
            await self.process.ended.wait()


async def _close_now(pipe: PipeEnds) -> None:
    with trio.CancelScope(shield=True, deadline=-math.inf):  # closing a descriptor does not wait
        await pipe.to_browser.aclose()
    with trio.CancelScope(shield=True, deadline=-math.inf):
        await pipe.from_browser.aclose()


async def _lines_of(stream: trio.abc.ReceiveStream) -> AsyncGenerator[str, None]:
    """Split a stream into lines, decoded with replacement and cut at a limit. Close the stream at the end."""
    rest = b""
    async with stream:
        while chunk := await stream.receive_some(_CHUNK):
            *complete, rest = (rest + chunk).split(b"\n")
            rest = rest[:_LINE_LIMIT]
            for line in complete:
                text = line[:_LINE_LIMIT].decode(errors="replace").rstrip()
                if text:
                    yield text
    if text := rest.decode(errors="replace").rstrip():
        yield text


def _descriptor_limit() -> int | None:
    if sys.platform == "win32":
        return None
    limit = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    return None if limit == resource.RLIM_INFINITY else limit


def _why_not_executed(executable: Path, error: OSError | ValueError) -> str:
    if (shortage := shortage_of(error)) is not None:
        return str(shortage)
    number = error.errno if isinstance(error, OSError) else None
    if number == errno.ENOENT:
        # A script whose interpreter is missing raises the same error as a missing file.
        return "its interpreter is missing" if executable.exists() else "the file does not exist"
    if number == errno.ENOEXEC or getattr(error, "winerror", None) == 193:
        return describe_machine_mismatch()
    if executable.is_dir():
        return "it is a folder, not a program"
    if number == errno.EACCES:
        return "it is not executable for this user"
    return str(error)
