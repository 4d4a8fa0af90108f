"""cdpengine: a Chrome DevTools Protocol engine in which nothing can hang and nothing is lost in silence.

cli        the command line: parse, call the library, print
engine     Browser, Page, launch, connect: the face
evaluate   JavaScript that can be given up on      } three floors side by side,
snapshot   a page as text with refs                } none knows of the others
action     click, hover, type, press               }
browser    find Chrome, start it, tabs, frames, navigation
session    connections, sessions, event streams, targets
protocol   the structures of the protocol, each once
wire       messages, the sans-I/O mux, transports, the tap
budget, errors, nursery: what everything stands on; debug: recordings of the wire; testing: a scripted peer;
js: the page's helpers

The names are loaded when they are first used, so that importing the package costs next to nothing.
"""

from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING

from cdpengine._version import __version__

if TYPE_CHECKING:
    from cdpengine import debug
    from cdpengine.action.boxes import BoundingBox
    from cdpengine.action.fill import FillValue
    from cdpengine.action.option import Option
    from cdpengine.action.outcome import ActionOutcome
    from cdpengine.action.upload import FileContent
    from cdpengine.activity.arguments import Unread
    from cdpengine.activity.body_stream import BodyStream
    from cdpengine.activity.console import ConsoleMessage
    from cdpengine.activity.options import ActivityOptions, KeepBodies
    from cdpengine.activity.page_activity import PageActivity
    from cdpengine.activity.page_errors import PageError
    from cdpengine.activity.request import Request
    from cdpengine.activity.response import Response
    from cdpengine.activity.subscribers import ActivityStream, RequestEnded
    from cdpengine.browser.activity import DownloadStarted, NavigationStarted, PopupOpened
    from cdpengine.browser.bounded_history import BoundedHistory
    from cdpengine.browser.dialogs import Dialog, DialogAnswer
    from cdpengine.browser.download import Download, DownloadProgress
    from cdpengine.browser.file_choosers import FileChooser
    from cdpengine.browser.find import BrowserInstallation, find_browser, find_browsers
    from cdpengine.browser.finding import FoundNode
    from cdpengine.browser.frames import Frame
    from cdpengine.browser.windows import WindowBounds
    from cdpengine.budget import Budget
    from cdpengine.engine.browser import Browser, BrowserStatistics
    from cdpengine.engine.context import BrowserContext
    from cdpengine.engine.expectations import Expected
    from cdpengine.engine.expected_chooser import ExpectedFileChooser
    from cdpengine.engine.opening import connect, launch
    from cdpengine.engine.page import Page
    from cdpengine.engine.page_forms import Field
    from cdpengine.engine.page_navigation import Navigation
    from cdpengine.engine.targets import BackendNode, ElementTarget
    from cdpengine.errors import (
        ActivityOffError,
        AmbiguousNodeError,
        BodyUnavailableError,
        BodyUndecodableError,
        BrowserNotFoundError,
        ConnectFailedError,
        ConnectionLostError,
        CookieRefusedError,
        CoveredError,
        DeadlineExceededError,
        DialogOpenedError,
        DisabledError,
        DownloadFailedError,
        EmulationRefusedError,
        EngineError,
        EvaluationDisabledError,
        EvaluationFailedError,
        EvaluationTerminatedError,
        EvaluationTimeoutError,
        EventsLostError,
        FailedField,
        FormError,
        InterceptedBodyUnavailableError,
        InvalidArgumentError,
        InvisibleError,
        LaunchFailedError,
        MeasurementBusyError,
        MeasurementFailedError,
        NavigationFailedError,
        NodeError,
        NodeNotFoundError,
        NotDeliveredError,
        NotInteractableError,
        OptionNotFoundError,
        PageUnresponsiveError,
        PictureTooLargeError,
        ProtocolError,
        RecordingDamagedError,
        RecordingFailedError,
        RecordingIncompleteError,
        RecoveryReport,
        RecoveryStep,
        RemoteError,
        ReplayDivergedError,
        ResourcesExhaustedError,
        RouteAnsweredError,
        SessionGoneError,
        StaleRefError,
        StateFileInvalidError,
        StateFileNotWrittenError,
        StorageUnavailableError,
        TargetCrashedError,
        UndecodableReplyError,
        UnstableError,
        ValueRefusedError,
        ValueTooLargeError,
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
    from cdpengine.inject.bindings import Binding, BindingFailure
    from cdpengine.measure.coverage import Coverage
    from cdpengine.measure.coverage_report import CoverageGap, CoverageReport, CoveredText
    from cdpengine.measure.cpu_profile import CpuProfile, Profiling
    from cdpengine.measure.heap_snapshot import HeapSnapshotProgress, HeapSnapshotReport
    from cdpengine.measure.metrics import PageMetrics
    from cdpengine.measure.tracing import Trace, TraceProgress, TraceReport
    from cdpengine.network.messages import InterceptedRequest, InterceptedResponse
    from cdpengine.network.registration import RouteFailure, RouteRegistration
    from cdpengine.network.route import Route
    from cdpengine.network.words import ABORT_REASONS, NETWORKS, AbortReason, NetworkConditions, ResourceType
    from cdpengine.picture.paper import PdfOptions
    from cdpengine.protocol.browser import BrowserVersion
    from cdpengine.protocol.runtime import StackFrame
    from cdpengine.protocol.target import TargetInfo
    from cdpengine.session.connection import Connection, ConnectionStatistics
    from cdpengine.session.events import Event
    from cdpengine.session.session import Session
    from cdpengine.session.streams import EventStream, StreamStatistics
    from cdpengine.snapshot.data import SnapshotNode
    from cdpengine.snapshot.refs import Ref
    from cdpengine.snapshot.snapshot import Snapshot
    from cdpengine.snapshot.stats import FrameSource, SnapshotStats
    from cdpengine.state.cookie import Cookie, CookiePartition
    from cdpengine.state.databases import Database
    from cdpengine.state.devices import DEVICES, Device
    from cdpengine.state.emulation_options import EmulationOptions, Geolocation
    from cdpengine.state.proxies import Proxy
    from cdpengine.state.storage_state import OriginState, StorageState
    from cdpengine.state.user_agents import UserAgent

_HOME = {
    "cdpengine.activity.arguments": "Unread",
    "cdpengine.activity.body_stream": "BodyStream",
    "cdpengine.activity.subscribers": "ActivityStream RequestEnded",
    "cdpengine.activity.console": "ConsoleMessage",
    "cdpengine.activity.options": "ActivityOptions KeepBodies",
    "cdpengine.activity.page_activity": "PageActivity",
    "cdpengine.activity.page_errors": "PageError",
    "cdpengine.activity.request": "Request",
    "cdpengine.activity.response": "Response",
    "cdpengine.protocol.runtime": "StackFrame",
    "cdpengine.action.fill": "FillValue",
    "cdpengine.action.option": "Option",
    "cdpengine.action.upload": "FileContent",
    "cdpengine.action.boxes": "BoundingBox",
    "cdpengine.action.outcome": "ActionOutcome",
    "cdpengine.browser.activity": "DownloadStarted NavigationStarted PopupOpened",
    "cdpengine.browser.dialogs": "Dialog DialogAnswer",
    "cdpengine.browser.download": "Download DownloadProgress",
    "cdpengine.browser.file_choosers": "FileChooser",
    "cdpengine.browser.find": "BrowserInstallation find_browser find_browsers",
    "cdpengine.browser.finding": "FoundNode",
    "cdpengine.browser.frames": "Frame",
    "cdpengine.browser.windows": "WindowBounds",
    "cdpengine.budget": "Budget",
    "cdpengine.engine.browser": "Browser BrowserStatistics",
    "cdpengine.protocol.browser": "BrowserVersion",
    "cdpengine.engine.context": "BrowserContext",
    "cdpengine.engine.expectations": "Expected",
    "cdpengine.engine.expected_chooser": "ExpectedFileChooser",
    "cdpengine.engine.opening": "connect launch",
    "cdpengine.engine.page": "Page",
    "cdpengine.engine.page_forms": "Field",
    "cdpengine.engine.page_navigation": "Navigation",
    "cdpengine.engine.targets": "BackendNode ElementTarget",
    "cdpengine.errors": """
        ActivityOffError AmbiguousNodeError BodyUnavailableError BodyUndecodableError BrowserNotFoundError
        ConnectFailedError ConnectionLostError CookieRefusedError CoveredError DeadlineExceededError
        DialogOpenedError DisabledError DownloadFailedError EmulationRefusedError EngineError
        EvaluationDisabledError EvaluationFailedError EvaluationTerminatedError EvaluationTimeoutError
        EventsLostError FailedField FormError InterceptedBodyUnavailableError InvalidArgumentError InvisibleError
        LaunchFailedError MeasurementBusyError MeasurementFailedError NavigationFailedError NodeError
        NodeNotFoundError NotDeliveredError NotInteractableError OptionNotFoundError PageUnresponsiveError
        PictureTooLargeError ProtocolError RecordingDamagedError RecordingFailedError RecordingIncompleteError
        RemoteError ReplayDivergedError RecoveryReport RecoveryStep ResourcesExhaustedError RouteAnsweredError
        SessionGoneError StaleRefError StateFileInvalidError StateFileNotWrittenError StorageUnavailableError
        TargetCrashedError UndecodableReplyError UnstableError ValueRefusedError ValueTooLargeError
    """,
    "cdpengine.evaluate.counters": "EvaluationStatistics",
    "cdpengine.evaluate.evaluation": "JSHandle",
    "cdpengine.evaluate.values": """
        JSDate JSError JSFunction JSMap JSNode JSObject JSRegExp JSSet JSSymbol JSTypedArray JSValue JSWindow
    """,
    "cdpengine.measure.coverage": "Coverage",
    "cdpengine.measure.coverage_report": "CoverageGap CoverageReport CoveredText",
    "cdpengine.measure.cpu_profile": "CpuProfile Profiling",
    "cdpengine.measure.heap_snapshot": "HeapSnapshotProgress HeapSnapshotReport",
    "cdpengine.measure.metrics": "PageMetrics",
    "cdpengine.measure.tracing": "Trace TraceProgress TraceReport",
    "cdpengine.picture.paper": "PdfOptions",
    "cdpengine.session.connection": "Connection ConnectionStatistics",
    "cdpengine.session.events": "Event",
    "cdpengine.session.session": "Session",
    "cdpengine.session.streams": "EventStream StreamStatistics",
    "cdpengine.protocol.target": "TargetInfo",
    "cdpengine.snapshot.data": "SnapshotNode",
    "cdpengine.snapshot.refs": "Ref",
    "cdpengine.snapshot.snapshot": "Snapshot",
    "cdpengine.snapshot.stats": "FrameSource SnapshotStats",
    "cdpengine.state.cookie": "Cookie CookiePartition",
    "cdpengine.state.databases": "Database",
    "cdpengine.state.devices": "DEVICES Device",
    "cdpengine.state.emulation_options": "EmulationOptions Geolocation",
    "cdpengine.state.proxies": "Proxy",
    "cdpengine.state.storage_state": "OriginState StorageState",
    "cdpengine.state.user_agents": "UserAgent",
    "cdpengine.inject.bindings": "BindingFailure Binding",
    "cdpengine.network.messages": "InterceptedRequest InterceptedResponse",
    "cdpengine.network.route": "Route",
    "cdpengine.network.registration": "RouteRegistration RouteFailure",
    "cdpengine.network.words": "ABORT_REASONS NETWORKS AbortReason NetworkConditions ResourceType",
    "cdpengine.browser.bounded_history": "BoundedHistory",
}
_MODULE_OF = {name: module for module, names in _HOME.items() for name in names.split()}


def __getattr__(name: str) -> object:
    if name == "debug":
        return import_module("cdpengine.debug")
    if name not in _MODULE_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from cdpengine.errors import exhausted, shortages_named

    with shortages_named(partial(exhausted, f"load cdpengine.{name}")):
        value: object = getattr(import_module(_MODULE_OF[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})


__all__ = [
    "ABORT_REASONS",
    "DEVICES",
    "NETWORKS",
    "AbortReason",
    "ActionOutcome",
    "ActivityOffError",
    "ActivityOptions",
    "ActivityStream",
    "AmbiguousNodeError",
    "BackendNode",
    "Binding",
    "BindingFailure",
    "BodyStream",
    "BodyUnavailableError",
    "BodyUndecodableError",
    "BoundedHistory",
    "BoundingBox",
    "Browser",
    "BrowserContext",
    "BrowserInstallation",
    "BrowserNotFoundError",
    "BrowserStatistics",
    "BrowserVersion",
    "Budget",
    "ConnectFailedError",
    "Connection",
    "ConnectionLostError",
    "ConnectionStatistics",
    "ConsoleMessage",
    "Cookie",
    "CookiePartition",
    "CookieRefusedError",
    "Coverage",
    "CoverageGap",
    "CoverageReport",
    "CoveredError",
    "CoveredText",
    "CpuProfile",
    "Database",
    "DeadlineExceededError",
    "Device",
    "Dialog",
    "DialogAnswer",
    "DialogOpenedError",
    "DisabledError",
    "Download",
    "DownloadFailedError",
    "DownloadProgress",
    "DownloadStarted",
    "ElementTarget",
    "EmulationOptions",
    "EmulationRefusedError",
    "EngineError",
    "EvaluationDisabledError",
    "EvaluationFailedError",
    "EvaluationStatistics",
    "EvaluationTerminatedError",
    "EvaluationTimeoutError",
    "Event",
    "EventStream",
    "EventsLostError",
    "Expected",
    "ExpectedFileChooser",
    "FailedField",
    "Field",
    "FileChooser",
    "FileContent",
    "FillValue",
    "FormError",
    "FoundNode",
    "Frame",
    "FrameSource",
    "Geolocation",
    "HeapSnapshotProgress",
    "HeapSnapshotReport",
    "InterceptedBodyUnavailableError",
    "InterceptedRequest",
    "InterceptedResponse",
    "InvalidArgumentError",
    "InvisibleError",
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
    "KeepBodies",
    "LaunchFailedError",
    "MeasurementBusyError",
    "MeasurementFailedError",
    "Navigation",
    "NavigationFailedError",
    "NavigationStarted",
    "NetworkConditions",
    "NodeError",
    "NodeNotFoundError",
    "NotDeliveredError",
    "NotInteractableError",
    "Option",
    "OptionNotFoundError",
    "OriginState",
    "Page",
    "PageActivity",
    "PageError",
    "PageMetrics",
    "PageUnresponsiveError",
    "PdfOptions",
    "PictureTooLargeError",
    "PopupOpened",
    "Profiling",
    "ProtocolError",
    "Proxy",
    "RecordingDamagedError",
    "RecordingFailedError",
    "RecordingIncompleteError",
    "RecoveryReport",
    "RecoveryStep",
    "Ref",
    "RemoteError",
    "ReplayDivergedError",
    "Request",
    "RequestEnded",
    "ResourceType",
    "ResourcesExhaustedError",
    "Response",
    "Route",
    "RouteAnsweredError",
    "RouteFailure",
    "RouteRegistration",
    "Session",
    "SessionGoneError",
    "Snapshot",
    "SnapshotNode",
    "SnapshotStats",
    "StackFrame",
    "StaleRefError",
    "StateFileInvalidError",
    "StateFileNotWrittenError",
    "StorageState",
    "StorageUnavailableError",
    "StreamStatistics",
    "TargetCrashedError",
    "TargetInfo",
    "Trace",
    "TraceProgress",
    "TraceReport",
    "UndecodableReplyError",
    "Unread",
    "UnstableError",
    "UserAgent",
    "ValueRefusedError",
    "ValueTooLargeError",
    "WindowBounds",
    "__version__",
    "connect",
    "debug",
    "find_browser",
    "find_browsers",
    "launch",
]
