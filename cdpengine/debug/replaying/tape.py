"""A recording in playable form: the calls, and the browser's messages in order. Pure.

Rule: everything is in memory as recorded. Only parts that another run may omit are marked.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from typing import Any

import attrs
import msgspec

from cdpengine import _json
from cdpengine._protocol.messages import decode_error
from cdpengine.debug.recording.fingerprints import find_redacted_places
from cdpengine.debug.recording.known_secrets import REDACTED
from cdpengine.debug.recording_format import CUT, Line, Message, http_params
from cdpengine.debug.replaying.matching import Path, decode_params, prints_by_place

NO_SESSION = -32001
"""Chrome's error code for a call on an ended session."""

NO_SESSION_TO_DETACH = "No session with given id"
NO_TARGET = "No target with given id"
"""Beginning of Chrome's error message for a call on an ended target."""

FAREWELLS = frozenset({"Target.detachFromTarget"})
"""Calls that a program sends while disconnecting. Whether they are sent depends on timing."""

QUESTIONS = frozenset({"Browser.getVersion"})
"""Questions with a constant answer.

Their number depends on timing, because programs use them to check that the browser answers.
"""

REPEATED = frozenset({"Target.closeTarget"})
"""Commands without a repeated effect. A program may send one until it sees the effect."""

_EMPTY_EVALUATION = b'"expression":"0"'
_REPORT = b"return node ? this.report(node, request) : null;"
"""Part of the engine's function that reads the events of an action."""


def is_empty_evaluation(method: str, params: msgspec.Raw) -> bool:
    """Return whether a call only asks whether the page answers.

    The engine sends some of these questions depending on time, for example after actions on a busy machine.
    """
    return method == "Runtime.evaluate" and _EMPTY_EVALUATION in bytes(params).replace(b": ", b":")


def is_report(method: str, params: msgspec.Raw) -> bool:
    """Return whether a call of the engine reads the events of an action."""
    return method == "Runtime.callFunctionOn" and _REPORT in bytes(params)


def is_second_report(method: str, params: msgspec.Raw) -> bool:
    """Return whether the engine reads the events of an action again, as it does if the page reports late."""
    return is_report(method, params) and b'"final":true' in bytes(params).replace(b": ", b":")


HTTP = "(http)"
"""Connection name of HTTP exchanges, which also consist of a call and a reply."""

HTTP_READS = frozenset({"/json", "/json/list", "/json/version", "/json/protocol"})
"""HTTP paths without side effects. They may be requested more or less often than recorded."""

_LISTS = ("result", "internalProperties", "privateProperties")
"""Fields of a Runtime.getProperties reply that list properties."""

_PAGE_PATH = re.compile(r"(/devtools/page/[^ ?#]+)")

decode_message = _json.Decoder(Message).decode


@attrs.define(eq=False)
class Client:
    """A client, and the recorded connection replayed to it (None before its first call)."""

    number: int
    path: str
    connection: str | None = None


@attrs.frozen(eq=False)
class ClientCall:
    """A call made by a client."""

    client: Client
    id: int
    session_id: str | None


@attrs.define(eq=False)
class RecordedCall:
    """A recorded call. `position` is its index in the recording, `line` the number n of its line.

    `optional`: it came too late for its target, or at the end, which another run may omit. `passed_over`: the
    program did not make it in time. `late` is its reply, if the playback has passed the reply's position. `prints`
    and `typed` are the fingerprints of the text that it entered (`entered_texts.py`).
    """

    position: float
    line: int
    connection: str
    session: str
    id: int
    method: str
    raw: msgspec.Raw
    seconds: float = 0.0
    client_call: ClientCall | None = None
    optional: bool = False
    passed_over: bool = False
    late: Received | None = None
    prints: tuple[str, ...] = ()
    typed: str = ""
    _params: Any = None
    _places: dict[Path, str] | None = None

    def params(self) -> Any:
        """Return the decoded parameters."""
        if self._params is None:
            self._params = decode_params(self.raw)
        return self._params

    def places(self) -> dict[Path, str]:
        """Return the fingerprints of its redacted strings, by path."""
        if self._places is None:
            self._places = prints_by_place(self.params(), self.prints)
        return self._places

    def equals(self, other: RecordedCall) -> bool:
        """Return whether it equals another call, including its session."""
        own = (self.connection, self.session, self.method, bytes(self.raw))
        return own == (other.connection, other.session, other.method, bytes(other.raw))

    def __str__(self) -> str:
        path = f" {self.params()['path']}" if self.connection == HTTP else ""
        return f"{self.method}{path} (line {self.line})"


class HttpReply(msgspec.Struct):
    """A recorded HTTP response."""

    status: int
    type: str
    body: msgspec.Raw

    @property
    def content(self) -> bytes:
        """The body in bytes."""
        raw = bytes(self.body)
        return _json.decode(raw, str).encode() if raw[:1] == b'"' else raw


@attrs.frozen(eq=False)
class Received:
    """A reply (to `call`) or an event (`call` is None). `cut`: its payload was not recorded.

    `withheld`: it lacks a string that a script returned or threw. Redacted known secrets do not count, because
    another recording would lack them too.
    """

    position: float
    line: int
    connection: str
    message: bytes
    method: str
    call: RecordedCall | None
    cut: bool
    seconds: float
    withheld: bool = False


class Tape:
    """A whole recording. `connections` are their names in the order of first use.

    `product` is the browser's product name, "" if unknown. `lacking` describes the lost parts. `has_redacted`: a
    call was redacted.
    """

    def __init__(self, lines: Iterable[Line]) -> None:
        self.product = ""
        self.calls: list[RecordedCall] = []
        self.received: list[Received] = []
        self.connections: dict[str, None] = {}
        self.lacking: list[str] = []
        self.has_redacted = False
        self._pending: dict[tuple[str, int], RecordedCall] = {}
        self._by_line: dict[int, RecordedCall] = {}
        self._times: list[float] = []  # time of each line, or of an earlier line with a later time
        self._gave: dict[str, bool] = {}
        for position, line in enumerate(lines):
            if line.k == "lost":
                self.lacking.append(f"{line.count} messages were lost when it was recorded")
            if line.k in ("call", "reply", "error", "event"):
                self._take(position, line)
            elif line.k == "http":
                self._take_http(position, line)
            elif line.k == "entered" and (call := self._by_line.get(line.of)) is not None:
                call.prints = line.h or call.prints
                call.typed = line.typed or call.typed
            self._times.append(line.t if line.k != "http" else 0.0)
            if position:
                self._times[-1] = max(self._times[-2:])
        self.calls.sort(key=lambda call: call.position)

    def gave(self, name: str) -> bool:
        """Return whether the browser sent a name before the program used it."""
        known = self._gave.get(name)
        if known is None:
            raw = name.encode()
            sent = next((item.position for item in self.received if raw in item.message), None)
            used = next((call.position for call in self.calls if raw in bytes(call.raw)), None)
            known = self._gave[name] = sent is not None and (used is None or sent < used)
        return known

    @property
    def page_paths(self) -> Sequence[str]:
        """Recorded websocket paths of single pages."""
        return [path for path in map(page_path, self.connections) if path]

    def _take(self, position: int, line: Line) -> None:
        self.connections.setdefault(line.c)
        try:
            message = decode_message(line.msg)
        except msgspec.DecodeError:
            return  # a stray message that is not JSON
        if line.k == "event":
            self._receive(position, line, message.params, None)
        elif line.id is None:
            return
        elif line.k == "call":
            call = RecordedCall(
                position, line.n, line.c, line.s, line.id, line.m, message.params, seconds=line.t
            )
            again = any(
                before.method == line.m and (line.m in QUESTIONS or before.equals(call))
                for before in (self.calls if line.m in QUESTIONS or line.m in REPEATED else ())
            )
            depends_on_time = is_empty_evaluation(line.m, message.params) or is_second_report(
                line.m, message.params
            )
            call.optional = line.m in FAREWELLS or again or depends_on_time
            self.calls.append(call)
            self._by_line[line.n] = call
            self.has_redacted |= REDACTED.encode() in bytes(message.params)
            self._pending[line.c, line.id] = call
        else:
            answered = self._pending.pop((line.c, line.id), None)
            if answered is not None:
                answered.optional |= line.k == "error" and _is_gone(message.error)
                self._receive(position, line, message.result, answered)
            if line.m == "Browser.getVersion" and not self.product and bytes(message.result):
                self.product = str(_json.decode(message.result).get("product", ""))

    def _take_http(self, position: int, line: Line) -> None:
        # The line has the time of the response. Events between request and response result from the request.
        requested_at = bisect_right(self._times, line.t) - 0.5
        raw = msgspec.Raw(_json.encode(http_params(line.url)))
        call = RecordedCall(requested_at, line.n, HTTP, "", 0, line.m, raw, seconds=line.t)
        call.optional = is_http_read(line.m, line.url)
        self._by_line[line.n] = call
        self.has_redacted |= REDACTED in line.url
        self.calls.append(call)
        cut = bytes(line.msg).startswith(b'{"' + CUT.encode())
        message = _json.encode(HttpReply(line.status, line.type, line.msg))
        self.received.append(Received(position, line.n, HTTP, message, line.m, call, cut, line.t))

    def _receive(self, position: int, line: Line, payload: msgspec.Raw, call: RecordedCall | None) -> None:
        cut = bytes(payload).startswith(b'{"' + CUT.encode())
        withheld = line.withheld and not cut and _lacks_a_text(line.m, payload)
        message = bytes(line.msg)
        self.received.append(Received(position, line.n, line.c, message, line.m, call, cut, line.t, withheld))


def page_path(connection: str) -> str | None:
    """Return the path of a single page's websocket, or None for a browser's websocket."""
    found = _PAGE_PATH.search(connection)
    return found[1] if found else None


def is_http_read(method: str, target: str) -> bool:
    """Return whether an HTTP request is a read without side effects."""
    return method in ("GET", "HEAD") and http_params(target)["path"] in HTTP_READS


def _lacks_a_text(method: str, result: msgspec.Raw) -> bool:
    """Return whether a script's result or exception lacks a whole string.

    Descriptions of objects in the page also lack strings, but do not matter to a program.
    """
    for path, text in find_redacted_places(decode_params(result)):
        if text != REDACTED:
            continue
        if path[0] == "exceptionDetails":
            return True
        # A property is described by an object whose `value` is the property's description.
        described = method == "Runtime.getProperties" and path[0] in _LISTS
        if "value" in path[3 if described else 0 :]:
            return True
    return False


def _is_gone(error: msgspec.Raw) -> bool:
    body = decode_error(error)
    return body.code == NO_SESSION or body.message.startswith((NO_TARGET, NO_SESSION_TO_DETACH))
