"""Peers: other engines in separate processes, which perform one task on command and report its duration.

Rule: a peer cannot harm the run. It gets one task at a time, each with a deadline. A peer that times out or ends
is killed with all its descendants. For the rest of the case it raises Cannot with the reason and its last output;
for the next case it is restarted. A mark in the environment identifies its descendants, so that nothing survives
the program.
"""

from __future__ import annotations

import json
import os
import secrets
import subprocess
from collections import deque
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import attrs
import msgspec
import trio

from benchmarks.harness.installed import HERE, PEERS, Kind, why_not
from benchmarks.harness.leftovers import MARK, end_marked
from cdpengine._launch.process import LaunchOptions, start_browser

PEER_NAMES = tuple(PEERS)

READY_PATIENCE = 40.0
"""Timeout of a peer's start, in seconds."""

PATIENCE = 45.0
"""Default timeout of a peer's task, in seconds."""

STOP_PATIENCE = 6.0
"""Timeout for a peer to close its browser and end, in seconds."""

STARTS = 3
"""Maximum number of starts of a failing peer in one run."""

LONGEST_LINE = 16 * 1024 * 1024
KEPT_LINES = 12
SHOWN = 200


class Cannot(Exception):
    """A side cannot perform the measured task. The message is the reason."""


class Answer(msgspec.Struct):
    """A peer's answer, one line of JSON."""

    values: list[float] = []
    cannot: str | None = None
    error: str | None = None
    note: str = ""
    ready: bool = False
    version: str = ""
    attached: str = ""


@attrs.define(eq=False)
class Peer:
    """A peer that is running, or the reason why it is not.

    `version` and `attached` are reported by the peer. `note` accompanies its last values. `mark` is in the
    environment of its processes.
    """

    name: str
    version: str = ""
    attached: str = ""
    note: str = ""
    refusal: str = ""
    mark: str = attrs.field(factory=lambda: secrets.token_hex(8))
    _process: trio.Process | None = None
    _rest: bytearray = attrs.field(factory=bytearray)
    _words: deque[str] = attrs.field(factory=lambda: deque(maxlen=KEPT_LINES))
    _lost: trio.Event = attrs.field(factory=trio.Event)
    _leave: trio.Event = attrs.field(factory=trio.Event)
    _gone: trio.Event = attrs.field(factory=trio.Event)
    _one_at_a_time: trio.Lock = attrs.field(factory=trio.Lock)

    @classmethod
    def refused(cls, name: str, reason: str) -> Peer:
        """Return a peer that does not run."""
        peer = cls(name, refusal=reason)
        peer._gone.set()
        return peer

    async def ask(self, do: str, *, patience: float = PATIENCE, **order: object) -> list[float]:
        """Send a task and return the reported values. Raises Cannot with the peer's reason, or that of its
        failure.
        """
        said = await self.tell(do, patience=patience, **order)
        values: list[float] = said.get("values", [])
        return values

    async def tell(self, do: str, *, patience: float = PATIENCE, **order: object) -> dict[str, Any]:
        """Send a task and return the whole answer. Raises Cannot like `ask`."""
        if self.refusal:
            raise Cannot(self.refusal)
        async with self._one_at_a_time:
            return await self._tell(do, patience, order)

    async def _tell(self, do: str, patience: float, order: dict[str, object]) -> dict[str, Any]:
        assert self._process is not None
        assert self._process.stdin is not None
        try:
            with trio.fail_after(patience):
                await self._process.stdin.send_all(json.dumps({"do": do, **order}).encode() + b"\n")
                line = await self._line()
        except trio.TooSlowError:
            self._give_up(f"did not answer “{do}” within {patience:g} s")
            raise Cannot(self.refusal) from None
        except (trio.BrokenResourceError, trio.ClosedResourceError, EOFError):
            self._give_up(f"ended at “{do}”{self.last_words()}")
            raise Cannot(self.refusal) from None
        except trio.Cancelled:
            self._give_up(f"was interrupted at “{do}”")
            raise
        answer, whole = line
        self.note = answer.note
        self.version = answer.version or self.version
        self.attached = answer.attached or self.attached
        if answer.cannot is not None or answer.error is not None:
            raise Cannot(answer.cannot or answer.error or "cannot, without a reason")
        return whole

    async def _line(self) -> tuple[Answer, dict[str, Any]]:
        """Return its next answer. Other output is stored. Raises EOFError."""
        assert self._process is not None
        assert self._process.stdout is not None
        while True:
            end = self._rest.find(b"\n")
            if end < 0:
                if len(self._rest) > LONGEST_LINE:
                    raise EOFError("the peer printed a line without an end")
                more = await self._process.stdout.receive_some()
                if not more:
                    raise EOFError("the peer ended")
                self._rest += more
                continue
            line = bytes(self._rest[:end])
            del self._rest[: end + 1]
            try:
                return msgspec.json.decode(line, type=Answer), msgspec.json.decode(line)
            except (msgspec.DecodeError, msgspec.ValidationError):
                self._words.append(line.decode("utf-8", "replace").strip())

    def last_words(self) -> str:
        """Return ": " and the last line of its standard error, or ""."""
        words = next((line for line in reversed(self._words) if line), "")
        return f": {words[:SHOWN]}" if words else ""

    def _give_up(self, reason: str) -> None:
        self.refusal = self.refusal or reason
        self._lost.set()

    async def live(self, command: list[str], order: dict[str, object], started: trio.Event) -> None:
        """Run its process until `leave` or a failure, and clean up completely."""
        environment = {**os.environ, MARK: self.mark, "PYTHONUNBUFFERED": "1"}
        try:
            async with trio.open_nursery() as nursery:
                self._process = await trio.lowlevel.open_process(
                    [*command, json.dumps(order)],
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    stderr=subprocess.PIPE,
                    env=environment,
                    start_new_session=True,
                    cwd=HERE.parent,
                )
                nursery.start_soon(self._listen)
                await self._greet()
                started.set()
                await self._until_it_ends()
                nursery.cancel_scope.cancel()
        except OSError as error:
            self._give_up(f"cannot be started: {error}")
        finally:
            with trio.CancelScope(shield=True):
                await end_marked(self.mark, self._process)
            self._gone.set()
            started.set()

    async def _greet(self) -> None:
        try:
            with trio.fail_after(READY_PATIENCE):
                answer, _ = await self._line()
        except trio.TooSlowError:
            self._give_up(f"was not ready within {READY_PATIENCE:g} s{self.last_words()}")
            return
        except (trio.BrokenResourceError, trio.ClosedResourceError, EOFError):
            with trio.move_on_after(1):
                await self._process_ended()  # its last output is available then
            self._give_up(f"ended at its start{self.last_words()}")
            return
        self.version, self.attached = answer.version, answer.attached
        if not answer.ready:
            self._give_up(answer.cannot or answer.error or "did not report that it is ready")

    async def _process_ended(self) -> None:
        assert self._process is not None
        await self._process.wait()
        await trio.sleep(0.05)  # for the rest of its standard error

    async def _until_it_ends(self) -> None:
        async with trio.open_nursery() as nursery:

            async def until(event: trio.Event) -> None:
                await event.wait()
                nursery.cancel_scope.cancel()

            nursery.start_soon(until, self._lost)
            nursery.start_soon(until, self._leave)
        if self.refusal or self._process is None or self._process.stdin is None:
            return
        with trio.move_on_after(STOP_PATIENCE):
            try:
                await self._process.stdin.send_all(b'{"do": "stop"}\n')
                await self._process.stdin.aclose()
            except (trio.BrokenResourceError, trio.ClosedResourceError):
                return
            await self._process.wait()

    async def _listen(self) -> None:
        """Store the last lines of its standard error. Read everything, so that it never blocks."""
        assert self._process is not None
        assert self._process.stderr is not None
        rest = b""
        async for piece in self._process.stderr:
            *lines, rest = (rest + piece).split(b"\n")
            rest = rest[-LONGEST_LINE:]
            self._words.extend(line.decode("utf-8", "replace").strip() for line in lines)
            if rest and not lines:
                self._words.append(rest.decode("utf-8", "replace").strip())

    async def close(self) -> None:
        """End it and its browser. Returns after the cleanup."""
        self._leave.set()
        await self._gone.wait()


@attrs.define(eq=False)
class PeerGroup:
    """The peers of one run. `names` are the requested ones, in order; `nursery` runs them."""

    names: tuple[str, ...]
    executable: str
    flags: tuple[str, ...]
    site: str
    nursery: trio.Nursery
    kinds: dict[str, Kind] = attrs.field(factory=lambda: dict(PEERS))
    said: dict[str, Peer] = attrs.field(factory=dict)
    """The last peer of each name, for the report, even after its end."""
    say: Callable[[str], None] = lambda _text: None
    _running: dict[str, Peer] = attrs.field(factory=dict)
    _starts: dict[str, int] = attrs.field(factory=dict)

    async def ready(self, verb: str) -> dict[str, Peer]:
        """Return all peers, running if possible, and prepared for `verb`."""

        async def start(name: str) -> None:
            self._running[name] = self.said[name] = await self._start(name)

        async with trio.open_nursery() as nursery:
            for name in self.names:
                if name not in self._running:
                    nursery.start_soon(start, name)
        told = {name: self._running[name] for name in self.names}

        async def tell(name: str, peer: Peer) -> None:
            try:
                await peer.tell("ready", verb=verb)
            except Cannot as reason:
                # Only for this verb: another case uses another one.
                told[name] = Peer.refused(name, str(reason))

        async with trio.open_nursery() as nursery:
            for name, peer in list(told.items()):
                if not peer.refusal:
                    nursery.start_soon(tell, name, peer)
        return told

    async def _start(self, name: str) -> Peer:
        kind = self.kinds[name]
        reason = why_not(name, kind)
        if not reason and self._starts.get(name, 0) >= STARTS:
            before = self.said.get(name)
            reason = f"failed {STARTS} times" + (f", lastly it {before.refusal}" if before else "")
        if reason:
            return Peer.refused(name, reason)
        peer, started = Peer(name), trio.Event()
        self.nursery.start_soon(self._live, peer, kind, started)
        await started.wait()
        if peer.refusal:
            self.say(f"{name} {peer.refusal}")
        return peer

    async def _live(self, peer: Peer, kind: Kind, started: trio.Event) -> None:
        order: dict[str, object] = {
            "peer": peer.name,
            "executable": self.executable,
            "flags": list(self.flags),
            "site": self.site,
            "endpoint": None,
        }
        if not kind.attaches:
            await peer.live(kind.command(), order, started)
            return
        try:
            async with start_browser(LaunchOptions(Path(self.executable))) as process:
                await peer.live(kind.command(), {**order, "endpoint": process.endpoint}, started)
        finally:
            started.set()

    def forget_notes(self) -> None:
        """Forget the notes of the peers."""
        for peer in self._running.values():
            peer.note = ""

    def note(self, name: str) -> str:
        """Return the note of that peer's last values, or ""."""
        peer = self._running.get(name)
        return "" if peer is None else peer.note

    async def close(self) -> None:
        """End all running peers. Failed ones are counted, and restarted the next time."""
        async with trio.open_nursery() as nursery:
            for name, peer in self._running.items():
                if peer.refusal:
                    self._starts[name] = self._starts.get(name, 0) + 1
                nursery.start_soon(peer.close)
        self._running.clear()


def known(names: Iterable[str]) -> tuple[str, ...]:
    """Return the names in the report's order. Raises ValueError for an unknown peer."""
    wanted = set(names)
    if unknown := sorted(wanted - set(PEERS)):
        raise ValueError(f"no peer is named {', '.join(unknown)}; there are {', '.join(PEERS)}")
    return tuple(name for name in PEERS if name in wanted)
