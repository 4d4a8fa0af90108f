"""Requests about the internals of a page: protocol commands and messages, bodies, recordings, measurements.

See `act/requests.py`. A ProtocolRequest bypasses all other limits of an actor and sees the whole browser. An actor
refuses it unless these requests are enabled.
"""

from __future__ import annotations

from typing import Any, ClassVar, Literal

import attrs

from cdpengine.act.fields import Timing, field
from cdpengine.act.requests import LOADING, LONGEST_TIMEOUT_MS, ActRequest

_ENDING = Timing(LONGEST_TIMEOUT_MS, 600_000)

Measurement = Literal["trace", "coverage", "profile"]


@attrs.frozen(kw_only=True)
class ProtocolRequest(ActRequest):
    """A request that uses the protocol directly."""

    timing: ClassVar[Timing] = LOADING
    in_order: ClassVar[bool] = False


# --- the wire ------------------------------------------------------------------------------------------------


@attrs.frozen(kw_only=True)
class Command(ProtocolRequest):
    """Send a command of the Chrome DevTools Protocol, and return its result."""

    kind: ClassVar[str] = "command"
    runs_script: ClassVar[bool] = True
    method: str = field('The command: "DOM.getDocument".')
    params: dict[str, Any] = field("Its parameters.", attrs.Factory(dict), secret=True)
    browser: bool = field("Send it to the browser instead of the page.", False)


@attrs.frozen(kw_only=True)
class Messages(ProtocolRequest):
    """Return the newest messages of the protocol, without secrets.

    The log begins with the first such request and keeps 500 messages.
    """

    kind: ClassVar[str] = "messages"
    method: str | None = field("Only those whose method matches this glob, in which only * is special.", None)
    limit: int = field("Maximum number of messages, the newest ones.", 20, least=1, most=500)
    stop: bool = field("End the log.", False)


@attrs.frozen(kw_only=True)
class StartRecording(ProtocolRequest):
    """Begin to record all traffic of the browser to a file, without secrets."""

    kind: ClassVar[str] = "startRecording"
    path: str | None = field(
        "The file, which must not exist. Without, a new one in the folder of outputs.", None
    )


@attrs.frozen(kw_only=True)
class StopRecording(ProtocolRequest):
    """End the recording, and return its path."""

    kind: ClassVar[str] = "stopRecording"
    timing: ClassVar[Timing] = _ENDING


@attrs.frozen(kw_only=True)
class ResponseBody(ActRequest):
    """Return the body of the newest matching response of the page, if the browser still has it."""

    kind: ClassVar[str] = "responseBody"
    timing: ClassVar[Timing] = LOADING
    in_order: ClassVar[bool] = False
    url: str = field("A glob for its URL; only * is special.")


# --- resource use --------------------------------------------------------------------------------------------


@attrs.frozen(kw_only=True)
class Metrics(ActRequest):
    """Return Chrome's counters of the page: documents, nodes, listeners, heap, time by activity."""

    kind: ClassVar[str] = "metrics"
    in_order: ClassVar[bool] = False


@attrs.frozen(kw_only=True)
class StartMeasurement(ActRequest):
    """Begin a trace of the page, a profile of its scripts, or a count of unused script and style sheet code."""

    kind: ClassVar[str] = "startMeasurement"
    timing: ClassVar[Timing] = LOADING
    in_order: ClassVar[bool] = False
    measurement: Measurement = field("The kind of measurement.")
    path: str | None = field(
        "The file of a trace or profile, which must not exist. Without, a new one in the folder of outputs.",
        None,
    )


@attrs.frozen(kw_only=True)
class StopMeasurement(ActRequest):
    """End a measurement, and return its result."""

    kind: ClassVar[str] = "stopMeasurement"
    timing: ClassVar[Timing] = _ENDING
    in_order: ClassVar[bool] = False
    measurement: Measurement = field("Which one.")


@attrs.frozen(kw_only=True)
class HeapSnapshot(ActRequest):
    """Write the heap of the page's scripts to a file. The page pauses meanwhile."""

    kind: ClassVar[str] = "heapSnapshot"
    timing: ClassVar[Timing] = _ENDING
    in_order: ClassVar[bool] = False
    path: str | None = field(
        "The file, which must not exist. Without, a new one in the folder of outputs.", None
    )
