"""Tape: a recording as what can be played: the calls, and what the browser said, in their order. Pure.

Rule: all of it is in memory, as it was recorded; only what another run may leave out is marked here.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Any

import attrs
import msgspec

from cdpengine.debug.matching import decode_params
from cdpengine.debug.recording import CUT, Line, Message
from cdpengine.wire.messages import decode_error

NO_SESSION = -32001
"""Chrome's code for a call on a session that is over."""

NO_SESSION_TO_DETACH = "No session with given id"
NO_TARGET = "No target with given id"
"""How Chrome's answer begins to a call for a target that is over."""

FAREWELLS = frozenset({"Target.detachFromTarget"})
"""Calls that a program makes when it leaves: whether there is still time for them is a matter of luck."""

_PAGE_PATH = re.compile(r"(/devtools/page/[^ ?#]+)")

decode_message = msgspec.json.Decoder(Message).decode


@attrs.define(eq=False)
class Client:
    """One client, and the recorded connection that is played to it (None: it has not asked anything yet)."""

    number: int
    path: str
    connection: str | None = None


@attrs.frozen(eq=False)
class Asked:
    """A call that a client made."""

    client: Client
    id: int
    session_id: str | None


@attrs.define(eq=False)
class RecordedCall:
    """A call of the recording. `position` is its place among all that was recorded, `line` its line's number n.

    `optional`: it came too late for its target, or when all was over, which another run may not do.
    `passed_over`: the program did not ask it in its time. `late` is its reply, when that one's place is over.
    """

    position: int
    line: int
    connection: str
    session: str
    id: int
    method: str
    raw: msgspec.Raw
    seconds: float = 0.0
    asked: Asked | None = None
    optional: bool = False
    passed_over: bool = False
    late: Received | None = None
    _params: Any = None

    def params(self) -> Any:
        """Return the parameters as plain values."""
        if self._params is None:
            self._params = decode_params(self.raw)
        return self._params

    def __str__(self) -> str:
        return f"{self.method} (line {self.line})"


@attrs.frozen(eq=False)
class Received:
    """A reply (to `call`) or an event (`call` is None). `cut`: its payload was not recorded."""

    position: int
    line: int
    connection: str
    message: bytes
    method: str
    call: RecordedCall | None
    cut: bool
    seconds: float


class Tape:
    """All of a recording. `connections` are their names, in the order in which they were first used.

    `product` is what the browser said it is, "" if it was not asked; `lacking` what was lost, in words.
    """

    def __init__(self, lines: Iterable[Line]) -> None:
        self.product = ""
        self.calls: list[RecordedCall] = []
        self.received: list[Received] = []
        self.connections: dict[str, None] = {}
        self.lacking: list[str] = []
        self._pending: dict[tuple[str, int], RecordedCall] = {}
        for position, line in enumerate(lines):
            if line.k == "lost":
                self.lacking.append(f"{line.count} messages were lost when it was recorded")
            if line.k in ("call", "reply", "error", "event"):
                self._take(position, line)

    @property
    def page_paths(self) -> Sequence[str]:
        """The paths of the websockets of single pages that were recorded."""
        return [path for path in map(page_path, self.connections) if path]

    def _take(self, position: int, line: Line) -> None:
        self.connections.setdefault(line.c)
        try:
            message = decode_message(line.msg)
        except msgspec.DecodeError:
            return  # halves of surrogate pairs; the raw text is what is needed of replies and events
        if line.k == "event":
            self._receive(position, line, message.params, None)
        elif line.id is None:
            return
        elif line.k == "call":
            call = RecordedCall(
                position, line.n, line.c, line.s, line.id, line.m, message.params, seconds=line.t
            )
            call.optional = line.m in FAREWELLS
            self.calls.append(call)
            self._pending[line.c, line.id] = call
        else:
            answered = self._pending.pop((line.c, line.id), None)
            if answered is not None:
                answered.optional |= line.k == "error" and _is_gone(message.error)
                self._receive(position, line, message.result, answered)
            if line.m == "Browser.getVersion" and not self.product and bytes(message.result):
                self.product = str(msgspec.json.decode(message.result).get("product", ""))

    def _receive(self, position: int, line: Line, payload: msgspec.Raw, call: RecordedCall | None) -> None:
        cut = bytes(payload).startswith(b'{"' + CUT.encode())
        self.received.append(Received(position, line.n, line.c, bytes(line.msg), line.m, call, cut, line.t))


def page_path(connection: str) -> str | None:
    """Return the path of a single page's websocket, None for that of a browser."""
    found = _PAGE_PATH.search(connection)
    return found[1] if found else None


def _is_gone(error: msgspec.Raw) -> bool:
    body = decode_error(error)
    return body.code == NO_SESSION or body.message.startswith((NO_TARGET, NO_SESSION_TO_DETACH))
