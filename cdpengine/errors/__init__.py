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
      NodeError > NotInteractableError > NotDeliveredError > FocusMovedError
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
      UnusedVariablesError                  variables are given that no cached action uses
      WrongOriginError                      the value of a variable was to be sent to another origin
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

Names are loaded when they are first used, so that the start of a browser does not wait for the errors of a cache.
They stand in `__init__.pyi`, once.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
