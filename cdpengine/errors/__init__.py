"""Every public exception, as a tree by the place of the fault.

    EngineError
      InvalidArgumentError                  an argument that can never work, or that Chrome refuses
      WrongRunError                         the call runs outside of trio, or in another trio.run
      InvalidStateError                     a call that is not possible now
      ActionSyntaxError                     a string that is not an action of a script
      LaunchFailedError, ConnectFailedError  a browser was not found, did not start, or was unreachable
      PackageMissingError                   an optional package is not installed; the message names its extra
      ResourcesExhaustedError               the system lacks descriptors, memory or disk space
      ConnectionLostError                   the connection ended during the call
      SessionGoneError > TargetCrashedError  the tab, frame or worker ended during the call
      RemoteError                           Chrome refused a command
      ProtocolError                         Chrome's answer could not be decoded
      EventsLostError                       a consumer was too slow for its buffer
      DeadlineExceededError > EvaluationTimeoutError, PageUnresponsiveError
      NavigationFailedError
      DownloadFailedError                   a download that ended without a file
      HttpRequestFailedError, HttpStatusError  a request of `context.request`: no response, or a bad status
      NodeError > StaleRefError, NodeNotFoundError, AmbiguousNodeError
      NodeError > NotInteractableError      `state`: the node is invisible, disabled or unstable
      NodeError > NotInteractableError > CoveredError, NotDeliveredError, ValueRefusedError, OptionNotFoundError
      NodeError > NotInteractableError > NotDeliveredError > FocusMovedError
      AssertionFailedError                  an assertion of `expect` did not hold in time; also an AssertionError
      FormError                             several fields of one form, each with its own error
      EvaluationFailedError, EvaluationTerminatedError, EvaluationDisabledError
      TagNotLoadedError                     a script or style sheet that was added did not load
      DialogOpenedError                     the page opened a dialog under the policy "raise"
      MeasurementFailedError                a trace, profile, heap snapshot or coverage
      FileUnreadableError, FileNotWrittenError  a recording, a storage state, a cache or results
      ReplayDivergedError                   a program sent other calls than the recorded ones
      StorageUnavailableError               the storage of an origin is not accessible
      BodyUnavailableError, BodyUndecodableError  the body of a response is gone, or has another format
      VariablesError                        variables of a cached action without a value, or without a use
      WrongOriginError                      a variable's value would be sent to another origin
      CacheUnavailableError                 the file of an action cache cannot be opened, read or written
      CacheMissError                        the cache has no matching entry
      LeaseEndedError                       the browser of a pooled page ended or was replaced
      PoolUnavailableError                  a pool leases no more pages or has no browser; a cluster is unreachable
      JobCancelledError                     a job of a pool was cancelled by its number
      DisallowedByRobotsError               robots.txt of a site, or its absence, forbids the visit
      WorkerLostError                       the worker with a job of a cluster was lost

Rule: a message has the attempt, its target, the obstacle, and the advice. It never contains a payload, an entered
string or a secret. All errors can be pickled, so they can cross processes.

Names are imported on first use, so that the start of a browser does not import the errors of a cache.
`__init__.pyi` lists them.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
