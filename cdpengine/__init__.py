"""cdpengine: a Chrome DevTools Protocol engine in which nothing can hang and nothing is lost in silence.

cli        the command line: parse, call the library, print
engine     Browser, Page, launch, connect: the face
evaluate   JavaScript that can be given up on      } three floors side by side,
snapshot   a page as text with refs                } none knows of the others
action     click, hover, type, press               }
browser    find Chrome, start it, tabs, frames, navigation
session    connections, sessions, event streams, targets
wire       messages, the sans-I/O mux, transports, the tap
budget, errors, nursery: what everything stands on; testing: a scripted peer; js: the page's helpers

The names are loaded when they are first used, so that importing the package costs next to nothing.
"""

from importlib import import_module
from typing import TYPE_CHECKING

from cdpengine._version import __version__

if TYPE_CHECKING:
    from cdpengine.action.outcome import ActionOutcome
    from cdpengine.browser.dialogs import Dialog, DialogAnswer
    from cdpengine.browser.find import BrowserInstallation, find_browser, find_browsers
    from cdpengine.browser.frames import Frame
    from cdpengine.browser.navigation import Navigation
    from cdpengine.budget import Budget
    from cdpengine.engine.browser import Browser, BrowserContext, BrowserStatistics, BrowserVersion
    from cdpengine.engine.opening import connect, launch
    from cdpengine.engine.page import Page
    from cdpengine.engine.targets import BackendNode, Target
    from cdpengine.errors import (
        BrowserNotFound,
        ConnectFailed,
        ConnectionLost,
        Covered,
        DeadlineExceeded,
        DialogOpened,
        Disabled,
        EngineError,
        EvaluationDisabled,
        EvaluationFailed,
        EvaluationTerminated,
        EvaluationTimeout,
        EventsLost,
        InvalidArgument,
        Invisible,
        LaunchFailed,
        NavigationFailed,
        NodeError,
        NodeNotFound,
        NotInteractable,
        PageUnresponsive,
        ProtocolError,
        RemoteError,
        RescueReport,
        RescueStep,
        SessionGone,
        StaleRef,
        TargetCrashed,
        UndecodableReply,
        Unstable,
        ValueTooLarge,
    )
    from cdpengine.evaluate.counters import EvaluationStatistics
    from cdpengine.evaluate.evaluation import JSHandle
    from cdpengine.evaluate.values import (
        JSDate,
        JSError,
        JSFunction,
        JSMap,
        JSNode,
        JSObject,
        JSRegExp,
        JSSet,
        JSSymbol,
        JSTypedArray,
        JSValue,
        JSWindow,
    )
    from cdpengine.session.connection import Connection, ConnectionStatistics
    from cdpengine.session.events import Event
    from cdpengine.session.session import Session
    from cdpengine.session.streams import EventStream, StreamStatistics
    from cdpengine.session.targets import TargetInfo
    from cdpengine.snapshot.refs import Ref
    from cdpengine.snapshot.snapshot import Snapshot, SnapshotStats

_HOME = {
    "cdpengine.action.outcome": "ActionOutcome",
    "cdpengine.browser.dialogs": "Dialog DialogAnswer",
    "cdpengine.browser.find": "BrowserInstallation find_browser find_browsers",
    "cdpengine.browser.frames": "Frame",
    "cdpengine.browser.navigation": "Navigation",
    "cdpengine.budget": "Budget",
    "cdpengine.engine.browser": "Browser BrowserContext BrowserStatistics BrowserVersion",
    "cdpengine.engine.opening": "connect launch",
    "cdpengine.engine.page": "Page",
    "cdpengine.engine.targets": "BackendNode Target",
    "cdpengine.errors": """
        BrowserNotFound ConnectFailed ConnectionLost Covered DeadlineExceeded DialogOpened Disabled EngineError
        EvaluationDisabled EvaluationFailed EvaluationTerminated EvaluationTimeout EventsLost InvalidArgument
        Invisible LaunchFailed NavigationFailed NodeError NodeNotFound NotInteractable PageUnresponsive
        ProtocolError RemoteError RescueReport RescueStep SessionGone StaleRef TargetCrashed UndecodableReply
        Unstable ValueTooLarge
    """,
    "cdpengine.evaluate.counters": "EvaluationStatistics",
    "cdpengine.evaluate.evaluation": "JSHandle",
    "cdpengine.evaluate.values": """
        JSDate JSError JSFunction JSMap JSNode JSObject JSRegExp JSSet JSSymbol JSTypedArray JSValue JSWindow
    """,
    "cdpengine.session.connection": "Connection ConnectionStatistics",
    "cdpengine.session.events": "Event",
    "cdpengine.session.session": "Session",
    "cdpengine.session.streams": "EventStream StreamStatistics",
    "cdpengine.session.targets": "TargetInfo",
    "cdpengine.snapshot.refs": "Ref",
    "cdpengine.snapshot.snapshot": "Snapshot SnapshotStats",
}
_MODULE_OF = {name: module for module, names in _HOME.items() for name in names.split()}


def __getattr__(name: str) -> object:
    if name not in _MODULE_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value: object = getattr(import_module(_MODULE_OF[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_MODULE_OF})


__all__ = [
    "ActionOutcome",
    "BackendNode",
    "Browser",
    "BrowserContext",
    "BrowserInstallation",
    "BrowserNotFound",
    "BrowserStatistics",
    "BrowserVersion",
    "Budget",
    "ConnectFailed",
    "Connection",
    "ConnectionLost",
    "ConnectionStatistics",
    "Covered",
    "DeadlineExceeded",
    "Dialog",
    "DialogAnswer",
    "DialogOpened",
    "Disabled",
    "EngineError",
    "EvaluationDisabled",
    "EvaluationFailed",
    "EvaluationStatistics",
    "EvaluationTerminated",
    "EvaluationTimeout",
    "Event",
    "EventStream",
    "EventsLost",
    "Frame",
    "InvalidArgument",
    "Invisible",
    "JSDate",
    "JSError",
    "JSFunction",
    "JSHandle",
    "JSMap",
    "JSNode",
    "JSObject",
    "JSRegExp",
    "JSSet",
    "JSSymbol",
    "JSTypedArray",
    "JSValue",
    "JSWindow",
    "LaunchFailed",
    "Navigation",
    "NavigationFailed",
    "NodeError",
    "NodeNotFound",
    "NotInteractable",
    "Page",
    "PageUnresponsive",
    "ProtocolError",
    "Ref",
    "RemoteError",
    "RescueReport",
    "RescueStep",
    "Session",
    "SessionGone",
    "Snapshot",
    "SnapshotStats",
    "StaleRef",
    "StreamStatistics",
    "Target",
    "TargetCrashed",
    "TargetInfo",
    "UndecodableReply",
    "Unstable",
    "ValueTooLarge",
    "__version__",
    "connect",
    "find_browser",
    "find_browsers",
    "launch",
]
