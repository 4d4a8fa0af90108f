"""Errors of browsers, connections and the network: not found, lost or refused, and bodies that cannot be had."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import attrs

from cdpengine import _json
from cdpengine.errors.root import NEVER_SHOWN, EngineError
from cdpengine.errors.texts import cut, listed, shown_url


@attrs.define(eq=False, slots=False, str=False, repr=False)
class BrowserNotFoundError(EngineError):
    """No browser is installed where one was looked for. `looked_for` lists those places."""

    wanted: str
    looked_for: Sequence[str]
    advice: str

    def _describe(self) -> str:
        return (
            f"no {self.wanted} was found. {self.advice}\nLooked for:{listed(self.looked_for, '.looked_for')}"
        )


@attrs.define(eq=False, slots=False, str=False, repr=False)
class LaunchFailedError(EngineError):
    """The browser did not come up. `exit_code` is None when it was still running, `output` its last lines.

    `reason` begins with the kind of reason, followed by the line of `output` that gives it, where there is one.
    `advice` says what to do.
    """

    executable: str
    reason: str
    exit_code: int | None = None
    output: Sequence[str] = ()
    advice: str = ""

    def _describe(self) -> str:
        advice = f". {self.advice}" if self.advice else ""
        ended = "" if self.exit_code is None else f" (exit code {self.exit_code})"
        # The line with the reason is in it; the last lines are often consequences.
        lines = "" if self.advice else listed(self.output, ".output", last=True)
        said = f"\nIts last output:{lines}" if lines else ""
        return f"{self.executable} did not start: {self.reason}{ended}{advice}{said}"


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
    """The connection to the browser ended. `method` is the call that it ended under, if any."""

    endpoint: str
    reason: str
    method: str | None = None

    def _describe(self) -> str:
        during = f" during {self.method}" if self.method else ""
        return f"connection to {self.endpoint} lost{during}: {self.reason}"


@attrs.define(eq=False, slots=False, str=False, repr=False)
class SessionGoneError(EngineError):
    """The session's target went away: closed, detached, or replaced. Other sessions are not touched."""

    target: str
    reason: str
    method: str | None = None

    def _describe(self) -> str:
        during = f" during {self.method}" if self.method else ""
        return f"session of {self.target} is gone{during}: {self.reason}"


class TargetCrashedError(SessionGoneError):
    """The target's renderer crashed. Chrome never answers what was pending; a reload brings the page back."""

    def _describe(self) -> str:
        during = f" during {self.method}" if self.method else ""
        return f"{self.target} crashed{during}: {self.reason}. Reload it to go on"


@attrs.define(eq=False, slots=False, str=False, repr=False)
class RemoteError(EngineError):
    """Chrome refused a command: `code` and `message` are its own words, `data` what it added to them."""

    code: int
    message: str
    method: str
    data: str | None = None

    def _describe(self) -> str:
        more = f" ({self.data})" if self.data else ""
        return f"{self.method}: {cut(f'{self.message}{more}', 300)} [{self.code}]"


class ProtocolError(EngineError):
    """The peer sent something that is not what the protocol promises."""


@attrs.define(eq=False, slots=False, str=False, repr=False)
class UndecodableReplyError(ProtocolError):
    """A reply came, or an event (`is_event`), but not in the shape that was asked for.

    `raw` is its own JSON (the result object, or the parameters, undecoded), so that the caller can go on with it.
    It may hold page content, so it is not part of the message.
    """

    method: str
    reason: str
    raw: bytes = attrs.field(metadata={NEVER_SHOWN: True})
    is_event: bool = False

    def _describe(self) -> str:
        what = "the event" if self.is_event else "the reply to"
        return (
            f"{what} {self.method} could not be decoded: {cut(self.reason, 250)} "
            f"({len(self.raw)} bytes; the raw JSON is in .raw)"
        )

    def result(self) -> Any:
        """Return the reply as plain dicts and lists. Raises ValueError when it is not JSON at all."""
        return _json.decode_leniently(self.raw)


@attrs.define(eq=False, slots=False, str=False, repr=False)
class EventsLostError(EngineError):
    """A stream's buffer was full and `count` events were dropped at this point of the sequence.

    The stream goes on after this error: receive again for the events that follow the gap.
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
    """The body of a response cannot be had (any more). `reason` says why."""

    url: str
    reason: str

    def _describe(self) -> str:
        return (
            f"the body of {shown_url(self.url)} is not available: {self.reason}. "
            "To have bodies whatever becomes of their page, collect with bodies=KeepBodies(...)"
        )


@attrs.define(eq=False, slots=False, str=False, repr=False)
class RouteAnsweredError(EngineError):
    """A route was asked for a second answer. The first one, `answer`, holds; nothing more was sent.

    `answer` is the name of the first ("continue_", "fulfill", ...), or says why the route is no longer the
    handler's: it was too slow, or its scope has ended.
    """

    url: str
    answer: str
    tried: str

    def _describe(self) -> str:
        return (
            f"{self.tried} of the route of {shown_url(self.url)}: it has been answered ({self.answer}); "
            "answer each route once"
        )


class InterceptedBodyUnavailableError(BodyUnavailableError):
    """The body of an intercepted response cannot be had: there is none, or the route was answered."""

    def _describe(self) -> str:
        return f"the body of the intercepted response of {shown_url(self.url)} cannot be had: {self.reason}"


@attrs.define(eq=False, slots=False, str=False, repr=False)
class BodyUndecodableError(EngineError, ValueError):
    """The body of a response is not what it was read as. `reason` says where it is not."""

    url: str
    read_as: str
    reason: str

    def _describe(self) -> str:
        return f"the body of {shown_url(self.url)} is not {self.read_as}: {self.reason}"


@attrs.define(eq=False, slots=False, str=False, repr=False)
class ActivityOffError(EngineError):
    """What a page did was asked for, and nothing collects it. `what` is "console", "errors" or "requests"."""

    what: str

    def _describe(self) -> str:
        return (
            f"page.activity.{self.what}: it is not collected. Call `await page.activity.start()` before what is "
            "to be seen happens, or open the page with `activity=True`"
        )
