"""cdpengine: a Chrome DevTools Protocol engine in which nothing can hang and nothing is lost in silence.

_api         Browser, Page, launch, connect
_evaluate    JavaScript that can be stopped      } layers side by side,
_snapshot    a page as text with refs            } none imports another
_input       click, hover, type, press           }
_activity, _network, _storage, _emulation, _measure, _pictures: beside them
_page        one page's state: targets, frames, navigation, dialogs, downloads
_launch      find a browser, start it, end it
_protocol    messages, mux, transports, sessions, event streams; domains: the protocol's structures
errors: every public error; debug: recordings of the wire; testing: a scripted peer; cli: the commands

The names are loaded when they are first used, so that importing the package costs next to nothing.
"""

from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING

from cdpengine._version import __version__

if TYPE_CHECKING:
    from cdpengine import debug
    from cdpengine._activity.arguments import Unread
    from cdpengine._activity.body_stream import BodyStream
    from cdpengine._activity.console import ConsoleMessage
    from cdpengine._activity.options import ActivityOptions, KeepBodies
    from cdpengine._activity.page_activity import PageActivity
    from cdpengine._activity.page_errors import PageError
    from cdpengine._activity.request import Request
    from cdpengine._activity.response import Response
    from cdpengine._activity.subscribers import ActivityStream, RequestEnded
    from cdpengine._api.browser import Browser, BrowserStatistics
    from cdpengine._api.context import BrowserContext
    from cdpengine._api.opening import connect, launch
    from cdpengine._api.page import Page
    from cdpengine._api.page_expect import Expected
    from cdpengine._api.page_forms import ExpectedFileChooser, Field
    from cdpengine._api.page_navigation import Navigation
    from cdpengine._api.targets import BackendNode, ElementTarget
    from cdpengine._budget import Budget
    from cdpengine._emulation.devices import DEVICES, Device
    from cdpengine._emulation.emulation_options import EmulationOptions, Geolocation
    from cdpengine._emulation.proxies import Proxy
    from cdpengine._emulation.user_agents import UserAgent
    from cdpengine._evaluate.bindings import Binding, BindingFailure
    from cdpengine._evaluate.counters import EvaluationStatistics
    from cdpengine._evaluate.evaluation import JSHandle
    from cdpengine._evaluate.values import (
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
    from cdpengine._input.action import ActionOutcome
    from cdpengine._input.forms.fill import FillValue
    from cdpengine._input.forms.option import Option
    from cdpengine._input.forms.upload import FileContent
    from cdpengine._input.view import BoundingBox
    from cdpengine._launch.find import BrowserInstallation, find_browser, find_browsers
    from cdpengine._measure.coverage import Coverage
    from cdpengine._measure.coverage_report import CoverageGap, CoverageReport, CoveredText
    from cdpengine._measure.cpu_profile import CpuProfile, Profiling
    from cdpengine._measure.heap_snapshot import HeapSnapshotProgress, HeapSnapshotReport
    from cdpengine._measure.metrics import PageMetrics
    from cdpengine._measure.tracing import Trace, TraceProgress, TraceReport
    from cdpengine._network.messages import InterceptedRequest, InterceptedResponse
    from cdpengine._network.registration import RouteFailure, RouteRegistration
    from cdpengine._network.route import Route
    from cdpengine._network.words import ABORT_REASONS, NETWORKS, AbortReason, NetworkConditions, ResourceType
    from cdpengine._notifier import BoundedHistory
    from cdpengine._page.activity import DownloadStarted, NavigationStarted, PopupOpened
    from cdpengine._page.dialogs import Dialog, DialogAnswer
    from cdpengine._page.downloads.download import Download, DownloadProgress
    from cdpengine._page.file_choosers import FileChooser
    from cdpengine._page.finding import FoundNode
    from cdpengine._page.frames import Frame
    from cdpengine._page.windows import WindowBounds
    from cdpengine._pictures.paper import PdfOptions
    from cdpengine._protocol.connection import Connection, ConnectionStatistics
    from cdpengine._protocol.domains.browser import BrowserVersion
    from cdpengine._protocol.domains.runtime import StackFrame
    from cdpengine._protocol.domains.target import TargetInfo
    from cdpengine._protocol.session import Session
    from cdpengine._protocol.streams import Event, EventStream, StreamStatistics
    from cdpengine._snapshot.data import SnapshotNode
    from cdpengine._snapshot.refs import Ref
    from cdpengine._snapshot.snapshot import Snapshot
    from cdpengine._snapshot.stats import FrameSource, SnapshotStats
    from cdpengine._storage.cookie import Cookie, CookiePartition
    from cdpengine._storage.databases import Database
    from cdpengine._storage.storage_state import OriginState, StorageState
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

_HOME = {
    "cdpengine._activity.arguments": "Unread",
    "cdpengine._activity.body_stream": "BodyStream",
    "cdpengine._activity.subscribers": "ActivityStream RequestEnded",
    "cdpengine._activity.console": "ConsoleMessage",
    "cdpengine._activity.options": "ActivityOptions KeepBodies",
    "cdpengine._activity.page_activity": "PageActivity",
    "cdpengine._activity.page_errors": "PageError",
    "cdpengine._activity.request": "Request",
    "cdpengine._activity.response": "Response",
    "cdpengine._protocol.domains.runtime": "StackFrame",
    "cdpengine._input.forms.fill": "FillValue",
    "cdpengine._input.forms.option": "Option",
    "cdpengine._input.forms.upload": "FileContent",
    "cdpengine._input.view": "BoundingBox",
    "cdpengine._input.action": "ActionOutcome",
    "cdpengine._page.activity": "DownloadStarted NavigationStarted PopupOpened",
    "cdpengine._page.dialogs": "Dialog DialogAnswer",
    "cdpengine._page.downloads.download": "Download DownloadProgress",
    "cdpengine._page.file_choosers": "FileChooser",
    "cdpengine._launch.find": "BrowserInstallation find_browser find_browsers",
    "cdpengine._page.finding": "FoundNode",
    "cdpengine._page.frames": "Frame",
    "cdpengine._page.windows": "WindowBounds",
    "cdpengine._budget": "Budget",
    "cdpengine._api.browser": "Browser BrowserStatistics",
    "cdpengine._protocol.domains.browser": "BrowserVersion",
    "cdpengine._api.context": "BrowserContext",
    "cdpengine._api.page_expect": "Expected",
    "cdpengine._api.opening": "connect launch",
    "cdpengine._api.page": "Page",
    "cdpengine._api.page_forms": "ExpectedFileChooser Field",
    "cdpengine._api.page_navigation": "Navigation",
    "cdpengine._api.targets": "BackendNode ElementTarget",
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
    "cdpengine._evaluate.counters": "EvaluationStatistics",
    "cdpengine._evaluate.evaluation": "JSHandle",
    "cdpengine._evaluate.values": """
        JSDate JSError JSFunction JSMap JSNode JSObject JSRegExp JSSet JSSymbol JSTypedArray JSValue JSWindow
    """,
    "cdpengine._measure.coverage": "Coverage",
    "cdpengine._measure.coverage_report": "CoverageGap CoverageReport CoveredText",
    "cdpengine._measure.cpu_profile": "CpuProfile Profiling",
    "cdpengine._measure.heap_snapshot": "HeapSnapshotProgress HeapSnapshotReport",
    "cdpengine._measure.metrics": "PageMetrics",
    "cdpengine._measure.tracing": "Trace TraceProgress TraceReport",
    "cdpengine._pictures.paper": "PdfOptions",
    "cdpengine._protocol.connection": "Connection ConnectionStatistics",
    "cdpengine._protocol.session": "Session",
    "cdpengine._protocol.streams": "Event EventStream StreamStatistics",
    "cdpengine._protocol.domains.target": "TargetInfo",
    "cdpengine._snapshot.data": "SnapshotNode",
    "cdpengine._snapshot.refs": "Ref",
    "cdpengine._snapshot.snapshot": "Snapshot",
    "cdpengine._snapshot.stats": "FrameSource SnapshotStats",
    "cdpengine._storage.cookie": "Cookie CookiePartition",
    "cdpengine._storage.databases": "Database",
    "cdpengine._emulation.devices": "DEVICES Device",
    "cdpengine._emulation.emulation_options": "EmulationOptions Geolocation",
    "cdpengine._emulation.proxies": "Proxy",
    "cdpengine._storage.storage_state": "OriginState StorageState",
    "cdpengine._emulation.user_agents": "UserAgent",
    "cdpengine._evaluate.bindings": "BindingFailure Binding",
    "cdpengine._network.messages": "InterceptedRequest InterceptedResponse",
    "cdpengine._network.route": "Route",
    "cdpengine._network.registration": "RouteRegistration RouteFailure",
    "cdpengine._network.words": "ABORT_REASONS NETWORKS AbortReason NetworkConditions ResourceType",
    "cdpengine._notifier": "BoundedHistory",
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
