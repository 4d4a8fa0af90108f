"""Log: what Chrome itself writes to the console of a page."""

from __future__ import annotations

import msgspec

from cdpengine.protocol.described import event
from cdpengine.protocol.runtime import RemoteArgument, StackTrace


class LogEntry(msgspec.Struct, rename="camel"):
    """Chrome's own message about the page. `timestamp` is milliseconds since 1970."""

    source: str = "other"
    level: str = "info"
    text: str = ""
    timestamp: float = 0.0
    url: str = ""
    line_number: int = 0
    network_request_id: str = ""
    stack_trace: StackTrace | None = None
    args: list[RemoteArgument] = msgspec.field(default_factory=list)


@event("Log.entryAdded")
class EntryAdded(msgspec.Struct, rename="camel"):
    """A message was written."""

    entry: LogEntry = msgspec.field(default_factory=LogEntry)
