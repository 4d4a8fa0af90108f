"""cdpengine: a Chrome DevTools Protocol engine in which nothing can hang and nothing is lost in silence.

cli        the command line: parse, call the library, print
engine     Browser, Page, launch, connect: the face
evaluate   JavaScript that can be given up on      } three floors side by side,
snapshot   a page as text with refs                } none knows of the others
action     click, hover, type, press               }
browser    find Chrome, start it, tabs, frames, navigation
session    connections, sessions, event streams, targets
wire       messages, the sans-I/O mux, transports, the tap
budget, errors, nursery: what everything stands on; debug: recordings of the wire; testing: a scripted peer;
js: the page's helpers

The names are loaded when they are first used, so that importing the package costs next to nothing.
"""

from importlib import import_module
from typing import TYPE_CHECKING

from cdpengine._version import __version__

if TYPE_CHECKING:
    from cdpengine import debug
    from cdpengine.action.boxes import BoundingBox
    from cdpengine.action.fill import FillValue
    from cdpengine.action.option import Option
    from cdpengine.action.outcome import ActionOutcome
    from cdpengine.browser.activity import DownloadStarted, NavigationStarted, PopupOpened
    from cdpengine.browser.dialogs import Dialog, DialogAnswer
    from cdpengine.browser.download import Download, DownloadProgress
    from cdpengine.browser.file_choosers import FileChooser
    from cdpengine.browser.find import BrowserInstallation, find_browser, find_browsers
    from cdpengine.browser.finding import FoundNode
    from cdpengine.browser.frames import Frame
    from cdpengine.browser.navigation import Navigation
    from cdpengine.browser.windows import WindowBounds
    from cdpengine.budget import Budget
    from cdpengine.engine.browser import Browser, BrowserContext, BrowserStatistics, BrowserVersion
    from cdpengine.engine.expectations import Expected
    from cdpengine.engine.expected_chooser import ExpectedFileChooser
    from cdpengine.engine.opening import connect, launch
    from cdpengine.engine.page import Page
    from cdpengine.engine.page_forms import Field
    from cdpengine.engine.targets import BackendNode, Target
    from cdpengine.errors import (
        AmbiguousNode,
        BrowserNotFound,
        ConnectFailed,
        ConnectionLost,
        Covered,
        DeadlineExceeded,
        DialogOpened,
        Disabled,
        DownloadFailed,
        EngineError,
        EvaluationDisabled,
        EvaluationFailed,
        EvaluationTerminated,
        EvaluationTimeout,
        EventsLost,
        FailedField,
        FormErrors,
        InvalidArgument,
        Invisible,
        LaunchFailed,
        NavigationFailed,
        NodeError,
        NodeNotFound,
        NotDelivered,
        NotInteractable,
        OptionNotFound,
        PageUnresponsive,
        ProtocolError,
        RecordingDamaged,
        RecordingFailed,
        RecordingLacks,
        RemoteError,
        ReplayDiverged,
        RescueReport,
        RescueStep,
        SessionGone,
        StaleRef,
        TargetCrashed,
        UndecodableReply,
        Unstable,
        ValueRefused,
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
    from cdpengine.snapshot.snapshot import Snapshot
    from cdpengine.snapshot.stats import FrameSource, SnapshotStats

_HOME = {
    "cdpengine.action.fill": "FillValue",
    "cdpengine.action.option": "Option",
    "cdpengine.action.boxes": "BoundingBox",
    "cdpengine.action.outcome": "ActionOutcome",
    "cdpengine.browser.activity": "DownloadStarted NavigationStarted PopupOpened",
    "cdpengine.browser.dialogs": "Dialog DialogAnswer",
    "cdpengine.browser.download": "Download DownloadProgress",
    "cdpengine.browser.file_choosers": "FileChooser",
    "cdpengine.browser.find": "BrowserInstallation find_browser find_browsers",
    "cdpengine.browser.finding": "FoundNode",
    "cdpengine.browser.frames": "Frame",
    "cdpengine.browser.navigation": "Navigation",
    "cdpengine.browser.windows": "WindowBounds",
    "cdpengine.budget": "Budget",
    "cdpengine.engine.browser": "Browser BrowserContext BrowserStatistics BrowserVersion",
    "cdpengine.engine.expectations": "Expected",
    "cdpengine.engine.expected_chooser": "ExpectedFileChooser",
    "cdpengine.engine.opening": "connect launch",
    "cdpengine.engine.page": "Page",
    "cdpengine.engine.page_forms": "Field",
    "cdpengine.engine.targets": "BackendNode Target",
    "cdpengine.errors": """
        AmbiguousNode BrowserNotFound ConnectFailed ConnectionLost Covered DeadlineExceeded DialogOpened
        Disabled DownloadFailed EngineError EvaluationDisabled EvaluationFailed EvaluationTerminated
        EvaluationTimeout EventsLost FailedField FormErrors InvalidArgument Invisible LaunchFailed
        NavigationFailed NodeError NodeNotFound NotDelivered NotInteractable OptionNotFound PageUnresponsive
        ProtocolError RecordingDamaged RecordingFailed RecordingLacks RemoteError ReplayDiverged
        RescueReport RescueStep SessionGone StaleRef TargetCrashed UndecodableReply Unstable ValueRefused
        ValueTooLarge
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
    "cdpengine.snapshot.snapshot": "Snapshot",
    "cdpengine.snapshot.stats": "FrameSource SnapshotStats",
}
_MODULE_OF = {name: module for module, names in _HOME.items() for name in names.split()}


def __getattr__(name: str) -> object:
    if name == "debug":
        return import_module("cdpengine.debug")
    if name not in _MODULE_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value: object = getattr(import_module(_MODULE_OF[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})


__all__ = [
    "ActionOutcome",
    "AmbiguousNode",
    "BackendNode",
    "BoundingBox",
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
    "Download",
    "DownloadFailed",
    "DownloadProgress",
    "DownloadStarted",
    "EngineError",
    "EvaluationDisabled",
    "EvaluationFailed",
    "EvaluationStatistics",
    "EvaluationTerminated",
    "EvaluationTimeout",
    "Event",
    "EventStream",
    "EventsLost",
    "Expected",
    "ExpectedFileChooser",
    "FailedField",
    "Field",
    "FileChooser",
    "FillValue",
    "FormErrors",
    "FoundNode",
    "Frame",
    "FrameSource",
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
    "NavigationStarted",
    "NodeError",
    "NodeNotFound",
    "NotDelivered",
    "NotInteractable",
    "Option",
    "OptionNotFound",
    "Page",
    "PageUnresponsive",
    "PopupOpened",
    "ProtocolError",
    "RecordingDamaged",
    "RecordingFailed",
    "RecordingLacks",
    "Ref",
    "RemoteError",
    "ReplayDiverged",
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
    "ValueRefused",
    "ValueTooLarge",
    "WindowBounds",
    "__version__",
    "connect",
    "debug",
    "find_browser",
    "find_browsers",
    "launch",
]
