"""Seeing the wire: recordings of the protocol's traffic, and what can be made of them.

Rule: whoever looks on changes nothing and holds up nothing. Names are loaded when they are first used.
"""

from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from cdpengine.debug.cassettes import Cassette, cassette
    from cdpengine.debug.faults import Fault, Faults, parse_fault
    from cdpengine.debug.proxy_server import Proxy, ProxyConnection, proxy
    from cdpengine.debug.recorder import Recorder, RecorderStatistics, record
    from cdpengine.debug.recording import Header, Line, Recording, open_recording
    from cdpengine.debug.redact import Redactor
    from cdpengine.debug.replay_server import Replay, replay
    from cdpengine.debug.wire_log import log_traffic

_HOME = {
    "Cassette": "cassettes",
    "Fault": "faults",
    "Faults": "faults",
    "Header": "recording",
    "Line": "recording",
    "ProxyConnection": "proxy_server",
    "Proxy": "proxy_server",
    "Recorder": "recorder",
    "RecorderStatistics": "recorder",
    "Recording": "recording",
    "Redactor": "redact",
    "Replay": "replay_server",
    "cassette": "cassettes",
    "log_traffic": "wire_log",
    "open_recording": "recording",
    "parse_fault": "faults",
    "proxy": "proxy_server",
    "record": "recorder",
    "replay": "replay_server",
}

__all__ = [
    "Cassette",
    "Fault",
    "Faults",
    "Header",
    "Line",
    "Proxy",
    "ProxyConnection",
    "Recorder",
    "RecorderStatistics",
    "Recording",
    "Redactor",
    "Replay",
    "cassette",
    "log_traffic",
    "open_recording",
    "parse_fault",
    "proxy",
    "record",
    "replay",
]


def __getattr__(name: str) -> object:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from cdpengine.errors import exhausted, shortages_named

    with shortages_named(partial(exhausted, f"load cdpengine.debug.{name}")):
        value: object = getattr(import_module(f"{__name__}.{_HOME[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
