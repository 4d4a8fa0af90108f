"""Every public exception. The tree says whose fault it is.

    EngineError
      InvalidArgument                     the caller's: what was passed can never work
      BrowserNotFound, LaunchFailed, ConnectFailed
      ResourcesExhausted                  the system has no more of what was needed: descriptors, memory, room
      ConnectionLost                      the connection ended under the call
      SessionGone > TargetCrashed         the tab, frame or worker ended under the call
      RemoteError                         Chrome answered, and the answer is an error
      ProtocolError > UndecodableReply    Chrome answered something that nobody could read
      EventsLost                          a consumer was too slow for its buffer
      DeadlineExceeded > EvaluationTimeout, PageUnresponsive
      NavigationFailed
      DownloadFailed                      no file came of it
      NodeError > StaleRef, NodeNotFound, AmbiguousNode, NotInteractable > Covered, Invisible, Disabled, Unstable
      NodeError > NotInteractable > NotDelivered, ValueRefused, OptionNotFound
      FormErrors                          several fields of one form, each with its own error
      EvaluationFailed > ValueTooLarge
      EvaluationTerminated, EvaluationDisabled
      DialogOpened                        the page asked something, and the policy is to fail then
      MeasurementBusy, MeasurementFailed  of a trace, a profile, a heap snapshot, coverage
      PictureTooLarge                     the format cannot hold it
      RecordingDamaged, RecordingFailed   a recording of traffic that cannot be read, or written
      RecordingLacks                      a recording does not hold what is asked of it
      ReplayDiverged                      a program asked something else than when it was recorded
      CookieRefused, EmulationRefused     Chrome does not take a cookie, or does not pretend what it was asked to
      StateFileInvalid                    a file that holds no storage state
      StateFileNotWritten                 a storage state that could not be put into its file
      StorageUnavailable                  an origin whose storage cannot be reached
      BodyUnavailable, BodyUndecodable    the body of a response is gone, or is not what it was read as
      BodyUnavailable > InterceptedBodyUnavailable
      RouteAnswered                       an intercepted request that was answered already
      ActivityOff                         nothing collects what a page does

Rule: a message says what was tried, on what, what stood in the way, and what to do. It never holds a
payload, a typed text or a secret. All errors can be pickled, so they cross process borders.
"""

from __future__ import annotations

from cdpengine.errors.activity import (
    ActivityOff,
    BodyUnavailable,
    BodyUndecodable,
)
from cdpengine.errors.connection import (
    BrowserNotFound,
    ConnectFailed,
    ConnectionLost,
    EventsLost,
    LaunchFailed,
    ProtocolError,
    RemoteError,
    SessionGone,
    TargetCrashed,
    UndecodableReply,
)
from cdpengine.errors.deadline import (
    DeadlineExceeded,
    PageUnresponsive,
)
from cdpengine.errors.evaluation import (
    EvaluationDisabled,
    EvaluationFailed,
    EvaluationTerminated,
    EvaluationTimeout,
    RescueReport,
    RescueStep,
    ValueTooLarge,
)
from cdpengine.errors.measure import (
    MeasurementBusy,
    MeasurementFailed,
    PictureTooLarge,
)
from cdpengine.errors.network import (
    InterceptedBodyUnavailable,
    RouteAnswered,
)
from cdpengine.errors.node import (
    AmbiguousNode,
    Became,
    Covered,
    Disabled,
    FailedField,
    FormErrors,
    Invisible,
    NodeError,
    NodeNotFound,
    NotDelivered,
    NotInteractable,
    OptionNotFound,
    StaleRef,
    Unstable,
    ValueRefused,
)
from cdpengine.errors.page import (
    DialogOpened,
    DownloadFailed,
    NavigationFailed,
)
from cdpengine.errors.recording import (
    RecordingDamaged,
    RecordingFailed,
    RecordingLacks,
    ReplayDiverged,
)
from cdpengine.errors.root import (
    EngineError,
    InvalidArgument,
)
from cdpengine.errors.state import (
    CookieRefused,
    EmulationRefused,
    StateFileInvalid,
    StateFileNotWritten,
    StorageUnavailable,
)
from cdpengine.errors.system import (
    ResourcesExhausted,
    Shortage,
    exhausted,
    os_reason,
    shortage_of,
    shortages_named,
)
from cdpengine.errors.words import (
    shown_url,
)

__all__ = [
    "ActivityOff",
    "AmbiguousNode",
    "Became",
    "BodyUnavailable",
    "BodyUndecodable",
    "BrowserNotFound",
    "ConnectFailed",
    "ConnectionLost",
    "CookieRefused",
    "Covered",
    "DeadlineExceeded",
    "DialogOpened",
    "Disabled",
    "DownloadFailed",
    "EmulationRefused",
    "EngineError",
    "EvaluationDisabled",
    "EvaluationFailed",
    "EvaluationTerminated",
    "EvaluationTimeout",
    "EventsLost",
    "FailedField",
    "FormErrors",
    "InterceptedBodyUnavailable",
    "InvalidArgument",
    "Invisible",
    "LaunchFailed",
    "MeasurementBusy",
    "MeasurementFailed",
    "NavigationFailed",
    "NodeError",
    "NodeNotFound",
    "NotDelivered",
    "NotInteractable",
    "OptionNotFound",
    "PageUnresponsive",
    "PictureTooLarge",
    "ProtocolError",
    "RecordingDamaged",
    "RecordingFailed",
    "RecordingLacks",
    "RemoteError",
    "ReplayDiverged",
    "RescueReport",
    "RescueStep",
    "ResourcesExhausted",
    "RouteAnswered",
    "SessionGone",
    "Shortage",
    "StaleRef",
    "StateFileInvalid",
    "StateFileNotWritten",
    "StorageUnavailable",
    "TargetCrashed",
    "UndecodableReply",
    "Unstable",
    "ValueRefused",
    "ValueTooLarge",
    "exhausted",
    "os_reason",
    "shortage_of",
    "shortages_named",
    "shown_url",
]
