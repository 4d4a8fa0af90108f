"""Requests that look behind a page: the protocol's commands and messages, bodies, recordings, measurements.

See `act/requests.py`. A ProtocolRequest is past every other limit of an actor, and sees all of the browser; where
an actor has not enabled them, they are refused.
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
    """A request that sees the protocol itself."""

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
    browser: bool = field("Send it to the browser, in place of the page.", False)


@attrs.frozen(kw_only=True)
class Messages(ProtocolRequest):
    """Return the newest messages of the protocol, without their secrets.

    500 are kept, from the first such request on.
    """

    kind: ClassVar[str] = "messages"
    method: str | None = field("Only those whose method matches this glob, in which only * is special.", None)
    limit: int = field("The most that is returned, the newest ones.", 20, least=1, most=500)
    stop: bool = field("Keep none from now on.", False)


@attrs.frozen(kw_only=True)
class StartRecording(ProtocolRequest):
    """Begin to record all traffic of the browser to a file, without its secrets."""

    kind: ClassVar[str] = "startRecording"
    path: str | None = field(
        "The file; one that exists is refused. Without, one in the folder of outputs.", None
    )


@attrs.frozen(kw_only=True)
class StopRecording(ProtocolRequest):
    """End the recording, and return where it is."""

    kind: ClassVar[str] = "stopRecording"
    timing: ClassVar[Timing] = _ENDING


@attrs.frozen(kw_only=True)
class ResponseBody(ActRequest):
    """Return the body of the newest response of the page, as far as the browser still has it."""

    kind: ClassVar[str] = "responseBody"
    timing: ClassVar[Timing] = LOADING
    in_order: ClassVar[bool] = False
    url: str = field("A glob for its URL, in which only * is special.")


# --- what pages cost -----------------------------------------------------------------------------------------


@attrs.frozen(kw_only=True)
class Metrics(ActRequest):
    """Return Chrome's counters of the page: documents, nodes, listeners, heap, seconds spent on what."""

    kind: ClassVar[str] = "metrics"
    in_order: ClassVar[bool] = False


@attrs.frozen(kw_only=True)
class StartMeasurement(ActRequest):
    """Begin a trace of the page, a profile of its scripts, or a count of what is used of scripts and sheets."""

    kind: ClassVar[str] = "startMeasurement"
    timing: ClassVar[Timing] = LOADING
    in_order: ClassVar[bool] = False
    measurement: Measurement = field("What is measured.")
    path: str | None = field(
        "The file of a trace or profile, which must not exist; without, one in the folder of outputs.",
        None,
    )


@attrs.frozen(kw_only=True)
class StopMeasurement(ActRequest):
    """End a measurement, and return what came of it."""

    kind: ClassVar[str] = "stopMeasurement"
    timing: ClassVar[Timing] = _ENDING
    in_order: ClassVar[bool] = False
    measurement: Measurement = field("Which one.")


@attrs.frozen(kw_only=True)
class HeapSnapshot(ActRequest):
    """Write all that is on the heap of the page's scripts to a file. The page stands still meanwhile."""

    kind: ClassVar[str] = "heapSnapshot"
    timing: ClassVar[Timing] = _ENDING
    in_order: ClassVar[bool] = False
    path: str | None = field(
        "The file; one that exists is refused. Without, one in the folder of outputs.", None
    )
