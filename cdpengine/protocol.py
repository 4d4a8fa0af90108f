"""The connection: its streams and statistics, and structures of Chrome's protocol."""

from cdpengine._budget import Budget
from cdpengine._protocol.domains.browser import BrowserVersion
from cdpengine._protocol.domains.runtime import StackFrame
from cdpengine._protocol.domains.target import TargetInfo
from cdpengine._protocol.session import Connection
from cdpengine._protocol.streams import EventStream, StreamStatistics
from cdpengine._protocol.wire import ConnectionStatistics

__all__ = [
    "BrowserVersion",
    "Budget",
    "Connection",
    "ConnectionStatistics",
    "EventStream",
    "StackFrame",
    "StreamStatistics",
    "TargetInfo",
]
