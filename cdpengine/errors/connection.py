"""Errors of browsers, connections and the network: missing, lost or refused, and unavailable bodies."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import attrs

from cdpengine import _json
from cdpengine.errors.root import NEVER_SHOWN, EngineError
from cdpengine.errors.texts import cut, listed, shown_url


@attrs.define(eq=False, slots=False, str=False, repr=False)
class LaunchFailedError(EngineError):
    """The browser did not start. `exit_code` is None if it was still running; `output` has its last lines.

    `reason` begins with the kind of reason, followed by the decisive line of `output`, if any. `advice` is the
    remedy. `looked_for` lists the searched places if no browser was found; `executable` is then the wanted
    browser.
    """

    executable: str
    reason: str
    exit_code: int | None = None
    output: Sequence[str] = ()
    advice: str = ""
    looked_for: Sequence[str] = ()

    def _describe(self) -> str:
        advice = f". {self.advice}" if self.advice else ""
        if self.looked_for:
            return f"{self.reason}{advice}\nLooked for:{listed(self.looked_for, '.looked_for')}"
        ended = "" if self.exit_code is None else f" (exit code {self.exit_code})"
        # The reason contains the decisive line; the last lines are often consequences.
        lines = "" if self.advice else listed(self.output, ".output", last=True)
        last_output = f"\nIts last output:{lines}" if lines else ""
        return f"{self.executable} did not start: {self.reason}{ended}{advice}{last_output}"


@attrs.define(eq=False, slots=False, str=False, repr=False)
class ConnectFailedError(EngineError):
    """A running browser could not be reached at `endpoint`. `status` is the HTTP status of a refusal, if any."""

    endpoint: str
    reason: str
    advice: str = "Is Chrome running there with --remote-debugging-port?"
    status: int | None = None

    def _describe(self) -> str:
        return f"could not connect to {self.endpoint}: {self.reason}. {self.advice}"


@attrs.define(eq=False, slots=False, str=False, repr=False)
class ConnectionLostError(EngineError):
    """The connection to the browser ended. `method` is the interrupted call, if any."""

    endpoint: str
    reason: str
    method: str | None = None

    def _describe(self) -> str:
        during = f" during {self.method}" if self.method else ""
        return f"connection to {self.endpoint} lost{during}: {self.reason}"


@attrs.define(eq=False, slots=False, str=False, repr=False)
class SessionGoneError(EngineError):
    """The session's target was closed, detached, or replaced. Other sessions are not affected."""

    target: str
    reason: str
    method: str | None = None

    def _describe(self) -> str:
        during = f" during {self.method}" if self.method else ""
        return f"{self.target} is gone{during}: {self.reason}"


class TargetCrashedError(SessionGoneError):
    """The target's renderer crashed. Chrome does not answer pending calls; a reload restores the page."""

    def _describe(self) -> str:
        during = f" during {self.method}" if self.method else ""
        return f"{self.target} crashed{during}: {self.reason}. Reload it to continue"


@attrs.define(eq=False, slots=False, str=False, repr=False)
class RemoteError(EngineError):
    """Chrome refused a command. `code` and `message` are Chrome's error; `data` has details, if any."""

    code: int
    message: str
    method: str
    data: str | None = None

    def _describe(self) -> str:
        more = f" ({self.data})" if self.data else ""
        return f"{self.method}: {cut(f'{self.message}{more}', 300)} [{self.code}]"


@attrs.define(eq=False, slots=False, str=False, repr=False)
class ProtocolError(EngineError):
    """The browser violated the protocol: a reply to `method`, or an event (`is_event`), has an unexpected shape.

    `raw` is its JSON (the result object, or the parameters, undecoded), for further use by the caller. It is not
    part of the message, because it may contain page content. `method` and `raw` are empty if several replies
    do not fit together.
    """

    reason: str
    method: str = ""
    raw: bytes = attrs.field(default=b"", metadata={NEVER_SHOWN: True})
    is_event: bool = False

    def _describe(self) -> str:
        reason = cut(self.reason, 250)
        if not self.method:
            return reason
        what = "the event" if self.is_event else "the reply to"
        raw = f" ({len(self.raw)} bytes; the raw JSON is in .raw)" if self.raw else ""
        return f"{what} {self.method} could not be decoded: {reason}{raw}"

    def result(self) -> Any:
        """Return the reply as plain dicts and lists. Raises ValueError if it is not JSON."""
        return _json.decode_leniently(self.raw)


@attrs.define(eq=False, slots=False, str=False, repr=False)
class EventsLostError(EngineError):
    """A stream's buffer was full, and `count` events were dropped at this point of the sequence.

    The stream continues after this error: receive again for the events after the gap.
    """

    pattern: str
    count: int
    buffer: int

    def _describe(self) -> str:
        return (
            f"{self.count} events of {self.pattern!r} were dropped: the consumer did not keep up with "
            f"a buffer of {self.buffer}. Receive faster, subscribe to less, or pass a larger buffer="
        )


@attrs.define(eq=False, slots=False, str=False, repr=False)
class BodyUnavailableError(EngineError):
    """The body of a response is not available, or no longer available. `reason` is the cause.

    `intercepted`: the response of a route has no body, or the route was answered.
    """

    url: str
    reason: str
    intercepted: bool = False

    def _describe(self) -> str:
        if self.intercepted:
            return f"the body of the intercepted response of {shown_url(self.url)} is not available: {self.reason}"
        return (
            f"the body of {shown_url(self.url)} is not available: {self.reason}. "
            "To keep bodies after their page changes, collect with bodies=KeepBodies(...)"
        )


@attrs.define(eq=False, slots=False, str=False, repr=False)
class BodyUndecodableError(EngineError, ValueError):
    """The body of a response does not have the expected format. `reason` has the place of the fault."""

    url: str
    read_as: str
    reason: str

    def _describe(self) -> str:
        return f"the body of {shown_url(self.url)} is not {self.read_as}: {self.reason}"
