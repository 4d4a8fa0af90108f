"""Every public exception. The tree says whose fault it is.

    EngineError
      InvalidArgumentError                  the caller's: what was passed can never work
      ActionSyntaxError                     a text that is not an action of a script
      BrowserNotFoundError, LaunchFailedError, ConnectFailedError
      PackageMissingError                   an optional package is not installed; the extra that brings it is named
      ResourcesExhaustedError               the system has no more of what was needed: descriptors, memory, room
      ConnectionLostError                   the connection ended under the call
      SessionGoneError > TargetCrashedError  the tab, frame or worker ended under the call
      RemoteError                           Chrome answered, and the answer is an error
      ProtocolError > UndecodableReplyError  Chrome's answer could not be decoded
      EventsLostError                       a consumer was too slow for its buffer
      DeadlineExceededError > EvaluationTimeoutError, PageUnresponsiveError
      NavigationFailedError
      DownloadFailedError                   a download that ended without a file
      NodeError > StaleRefError, NodeNotFoundError, AmbiguousNodeError
      NodeError > NotInteractableError > CoveredError, InvisibleError, DisabledError, UnstableError
      NodeError > NotInteractableError > NotDeliveredError, ValueRefusedError, OptionNotFoundError
      FormError                             several fields of one form, each with its own error
      EvaluationFailedError > ValueTooLargeError
      EvaluationTerminatedError, EvaluationDisabledError
      DialogOpenedError                     the page opened a dialog, and the policy is to fail then
      MeasurementBusyError, MeasurementFailedError  a trace, profile, heap snapshot or coverage
      PictureTooLargeError                  the format cannot hold it
      RecordingDamagedError, RecordingFailedError  a recording of traffic cannot be read, or written
      RecordingIncompleteError              a recording does not hold what is asked of it
      ReplayDivergedError                   a program asked something else than when it was recorded
      CookieRefusedError, EmulationRefusedError  Chrome refused a cookie, or to emulate something
      StateFileInvalidError                 a file that holds no storage state
      StateFileNotWrittenError              a storage state could not be written to its file
      StorageUnavailableError               the storage of an origin cannot be reached
      BodyUnavailableError, BodyUndecodableError  the body of a response is gone, or is of another kind
      BodyUnavailableError > InterceptedBodyUnavailableError
      RouteAnsweredError                    an intercepted request that was answered already
      ActivityOffError                      the activity of the page is not collected
      UndefinedVariablesError               variables of a cached action have no value
      CacheDamagedError, CacheUnavailableError  the file of an action cache cannot be read, or written
      CacheKeyError                         the key to a cache's file is missing, or another one
      CacheMissError                        the cache has nothing to replay there
      LeaseEndedError                       the browser of a pooled page went away or was replaced
      PoolClosedError, PoolUnavailableError  a pool gives no pages any more, or has no browser
      JobCancelledError                     a job of a pool was cancelled by its number
      DisallowedByRobotsError               robots.txt of a site, or its absence, forbids the visit
      ResultsNotWrittenError                results of many jobs could not be written to their file
      WorkerLostError                       the worker that did a job of a cluster was lost
      ClusterUnavailableError               a cluster has no scheduler, or no worker with pages
      NotSendableError                      what cannot go to another process, or come from it

Rule: a message says what was tried, on what, what stood in the way, and what to do. It never holds a
payload, a typed text or a secret. All errors can be pickled, so they cross process borders.
"""

from __future__ import annotations

from cdpengine.errors.cache import (
    CacheDamagedError,
    CacheKeyError,
    CacheMissError,
    CacheUnavailableError,
    UndefinedVariablesError,
)
from cdpengine.errors.connection import (
    ActivityOffError,
    BodyUnavailableError,
    BodyUndecodableError,
    BrowserNotFoundError,
    ConnectFailedError,
    ConnectionLostError,
    EventsLostError,
    InterceptedBodyUnavailableError,
    LaunchFailedError,
    ProtocolError,
    RemoteError,
    RouteAnsweredError,
    SessionGoneError,
    TargetCrashedError,
    UndecodableReplyError,
)
from cdpengine.errors.crawling import DisallowedByRobotsError
from cdpengine.errors.page import (
    AmbiguousNodeError,
    Became,
    CoveredError,
    DeadlineExceededError,
    DialogOpenedError,
    DisabledError,
    DownloadFailedError,
    EvaluationDisabledError,
    EvaluationFailedError,
    EvaluationTerminatedError,
    EvaluationTimeoutError,
    FailedField,
    FormError,
    InvisibleError,
    NavigationFailedError,
    NodeError,
    NodeNotFoundError,
    NotDeliveredError,
    NotInteractableError,
    OptionNotFoundError,
    PageUnresponsiveError,
    RecoveryReport,
    RecoveryStep,
    StaleRefError,
    UnstableError,
    ValueRefusedError,
    ValueTooLargeError,
)
from cdpengine.errors.pool import (
    ClusterUnavailableError,
    JobCancelledError,
    LeaseEndedError,
    NotSendableError,
    PoolClosedError,
    PoolUnavailableError,
    ResultsNotWrittenError,
    WorkerLostError,
)
from cdpengine.errors.root import (
    ActionSyntaxError,
    EngineError,
    InvalidArgumentError,
)
from cdpengine.errors.system import (
    CookieRefusedError,
    EmulationRefusedError,
    MeasurementBusyError,
    MeasurementFailedError,
    PackageMissingError,
    PictureTooLargeError,
    RecordingDamagedError,
    RecordingFailedError,
    RecordingIncompleteError,
    ReplayDivergedError,
    ResourcesExhaustedError,
    Shortage,
    StateFileInvalidError,
    StateFileNotWrittenError,
    StorageUnavailableError,
    exhausted,
    missing_package,
    os_reason,
    packages_named,
    shortage_of,
    shortages_named,
)
from cdpengine.errors.texts import (
    shown_url,
)

__all__ = [
    "ActionSyntaxError",
    "ActivityOffError",
    "AmbiguousNodeError",
    "Became",
    "BodyUnavailableError",
    "BodyUndecodableError",
    "BrowserNotFoundError",
    "CacheDamagedError",
    "CacheKeyError",
    "CacheMissError",
    "CacheUnavailableError",
    "ClusterUnavailableError",
    "ConnectFailedError",
    "ConnectionLostError",
    "CookieRefusedError",
    "CoveredError",
    "DeadlineExceededError",
    "DialogOpenedError",
    "DisabledError",
    "DisallowedByRobotsError",
    "DownloadFailedError",
    "EmulationRefusedError",
    "EngineError",
    "EvaluationDisabledError",
    "EvaluationFailedError",
    "EvaluationTerminatedError",
    "EvaluationTimeoutError",
    "EventsLostError",
    "FailedField",
    "FormError",
    "InterceptedBodyUnavailableError",
    "InvalidArgumentError",
    "InvisibleError",
    "JobCancelledError",
    "LaunchFailedError",
    "LeaseEndedError",
    "MeasurementBusyError",
    "MeasurementFailedError",
    "NavigationFailedError",
    "NodeError",
    "NodeNotFoundError",
    "NotDeliveredError",
    "NotInteractableError",
    "NotSendableError",
    "OptionNotFoundError",
    "PackageMissingError",
    "PageUnresponsiveError",
    "PictureTooLargeError",
    "PoolClosedError",
    "PoolUnavailableError",
    "ProtocolError",
    "RecordingDamagedError",
    "RecordingFailedError",
    "RecordingIncompleteError",
    "RecoveryReport",
    "RecoveryStep",
    "RemoteError",
    "ReplayDivergedError",
    "ResourcesExhaustedError",
    "ResultsNotWrittenError",
    "RouteAnsweredError",
    "SessionGoneError",
    "Shortage",
    "StaleRefError",
    "StateFileInvalidError",
    "StateFileNotWrittenError",
    "StorageUnavailableError",
    "TargetCrashedError",
    "UndecodableReplyError",
    "UndefinedVariablesError",
    "UnstableError",
    "ValueRefusedError",
    "ValueTooLargeError",
    "WorkerLostError",
    "exhausted",
    "missing_package",
    "os_reason",
    "packages_named",
    "shortage_of",
    "shortages_named",
    "shown_url",
]

for _name in __all__:
    if isinstance(globals()[_name], type):
        globals()[_name].__module__ = __name__  # where users import it from, in tracebacks and pickles
