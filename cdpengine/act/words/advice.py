"""What to do about each error: a hint by class, in the words of requests.

Rule: a hint names a request as "a KIND request" and fields by their names in JSON. Clients with other words (MCP,
the shell) translate these, and have hints of their own where the advice differs: `act/words/wording.py`.
"""

from __future__ import annotations

from collections.abc import Mapping

import attrs

from cdpengine import errors
from cdpengine.errors import EngineError


@attrs.frozen
class Advice:
    """What to do about an error of one class, and whether the same request may succeed if it is sent again."""

    hint: str
    retryable: bool = False


NEW_SNAPSHOT = "Take a snapshot and use a ref of it."
RENAMED = (
    f"{NEW_SNAPSHOT} Where the element is meant as it is now, that gives its ref under its present name. "
    "If its name changes all the time, name the element by a selector instead."
)
_LOOK = "Take a snapshot to see what the page shows now."
_NO_SCRIPTS = "This service runs no scripts of its callers. Use find, extract or snapshot."

ADVICE: Mapping[type[EngineError], Advice] = {
    errors.InvalidArgumentError: Advice("Correct the request as the message says."),
    errors.ActionSyntaxError: Advice("Write the action as the message says."),
    errors.StaleRefError: Advice(NEW_SNAPSHOT),
    errors.NodeNotFoundError: Advice(NEW_SNAPSHOT),
    errors.AmbiguousNodeError: Advice("Give a ref of a snapshot, or a selector that matches one element."),
    errors.CoveredError: Advice(
        "Act on what covers it first, for example close it; then try again.", retryable=True
    ),
    errors.InvisibleError: Advice(
        "Open what hides it, or wait until it is shown; then try again.", retryable=True
    ),
    errors.DisabledError: Advice("Do what enables it, such as filling in required fields.", retryable=True),
    errors.UnstableError: Advice(
        "It kept moving. Wait until the page is at rest, and try again.", retryable=True
    ),
    errors.FocusMovedError: Advice(
        f"The page moved the focus. {_LOOK} Fill the field, which replaces what it holds, or the element that "
        "has the focus now."
    ),
    errors.NotDeliveredError: Advice(f"The input was sent. {_LOOK}"),
    errors.ValueRefusedError: Advice(f"The control takes another kind of value. {_LOOK}"),
    errors.OptionNotFoundError: Advice("Choose one of the options that the message lists."),
    errors.NotInteractableError: Advice("Aim at another element, or act in another way."),
    errors.NodeError: Advice(NEW_SNAPSHOT),
    errors.FormError: Advice("The other fields were filled in. Send those that failed once more, corrected."),
    errors.PageUnresponsiveError: Advice(
        "A recover request stops the script that keeps the page busy. A navigate request leaves the page, "
        "which stops it too."
    ),
    errors.EvaluationTimeoutError: Advice(
        "The script was stopped. Make it shorter, or give a longer timeoutMs."
    ),
    errors.DeadlineExceededError: Advice(
        "Give a longer timeoutMs, or wait for something else.", retryable=True
    ),
    errors.ValueTooLargeError: Advice("Return less from the script."),
    errors.EvaluationFailedError: Advice("Correct the script as the message says."),
    errors.EvaluationDisabledError: Advice(_NO_SCRIPTS),
    errors.EvaluationTerminatedError: Advice(
        "Another page of the same process was stopped, or this page went away. Send it again.", retryable=True
    ),
    errors.NavigationFailedError: Advice("Check the URL, and that its server answers.", retryable=True),
    errors.DownloadFailedError: Advice("Begin the download again.", retryable=True),
    errors.DialogOpenedError: Advice("Use a dialog request to set the answer, then act again."),
    errors.TargetCrashedError: Advice(
        "The page crashed. A reload request or a navigate request brings it back."
    ),
    errors.SessionGoneError: Advice("The page is gone. A tabs request lists those that are open."),
    errors.ConnectionLostError: Advice(
        "The browser has ended. A navigate request starts another one where the service can."
    ),
    errors.RemoteError: Advice("The browser refused a command. The message has its words."),
    errors.UndecodableReplyError: Advice(
        "This version of the browser is not known to the engine. Report it."
    ),
    errors.ProtocolError: Advice("This version of the browser is not known to the engine. Report it."),
    errors.EventsLostError: Advice("More happened than was read. Ask again.", retryable=True),
    errors.BrowserNotFoundError: Advice("Install Chrome or Chromium, or name its path."),
    errors.LaunchFailedError: Advice("Run cdpengine doctor, which says what stands in the way."),
    errors.ConnectFailedError: Advice("Check that a browser listens at the endpoint."),
    errors.CookieRefusedError: Advice("Correct the cookie as the message says."),
    errors.StorageUnavailableError: Advice("Go to a page of the site first."),
    errors.EmulationRefusedError: Advice(
        "The browser does not take this setting. The message has its words."
    ),
    errors.StateFileInvalidError: Advice("Save the state anew."),
    errors.StateFileNotWrittenError: Advice("Name a file that can be written."),
    errors.ActivityOffError: Advice(
        "Nothing was kept before. Ask again after the next action.", retryable=True
    ),
    errors.InterceptedBodyUnavailableError: Advice("Read the body before the request goes on."),
    errors.BodyUnavailableError: Advice("The browser does not have the body any more. Load the page again."),
    errors.BodyUndecodableError: Advice("Take the body as bytes."),
    errors.RouteAnsweredError: Advice("Answer each request once."),
    errors.PictureTooLargeError: Advice("Take a smaller part of the page, or jpeg."),
    errors.MeasurementBusyError: Advice("Wait until the other measurement has ended.", retryable=True),
    errors.MeasurementFailedError: Advice("Check the file's folder; then try again."),
    errors.RecordingDamagedError: Advice("Record anew."),
    errors.RecordingFailedError: Advice("Check the file's folder; then try again."),
    errors.RecordingIncompleteError: Advice("Record anew, with what the message names."),
    errors.ReplayDivergedError: Advice("Record anew: what is asked has changed."),
    errors.UndefinedVariablesError: Advice("Pass a value for each variable that the message names."),
    errors.UnusedVariablesError: Advice(
        "Leave out the variables that the message names, or record the flow again with them."
    ),
    errors.NotInTrioError: Advice("Start the program in trio."),
    errors.WrongRunError: Advice("Use the browser in the run that started it."),
    errors.WrongOriginError: Advice("Look where the page is: it is not the site that this value is for."),
    errors.CacheMissError: Advice("Do it step by step; have it learned meanwhile, for the next time."),
    errors.CacheDamagedError: Advice("Learn the scenario anew, after what the message says."),
    errors.CacheUnavailableError: Advice(
        "Go on without the cache, or make room; then try again.", retryable=True
    ),
    errors.CacheKeyError: Advice("Go on without the cache: only its owner can set the key."),
    errors.LeaseEndedError: Advice("Lease another page; then try again.", retryable=True),
    errors.PoolClosedError: Advice("Ask a pool that runs."),
    errors.PoolUnavailableError: Advice("Check what the message says of each browser.", retryable=True),
    errors.JobCancelledError: Advice("Nothing is to be done: the program cancelled it."),
    errors.ResultsNotWrittenError: Advice("Make room on the disk; the same command goes on.", retryable=True),
    errors.WorkerLostError: Advice("Look whether the job was done before doing it again."),
    errors.ClusterUnavailableError: Advice("Check the scheduler and its workers.", retryable=True),
    errors.NotSendableError: Advice("Give and return plain values, such as a text or a snapshot."),
    errors.DisallowedByRobotsError: Advice("Leave this URL out. The message says why."),
    errors.ResourcesExhaustedError: Advice("Close pages or programs; then try again.", retryable=True),
    errors.PackageMissingError: Advice("Install what the message names."),
    EngineError: Advice("The message says what went wrong."),
}
"""By class; an error of another class has its nearest ancestor's."""


def advice_for(kind: type[EngineError]) -> Advice:
    """Return the advice for errors of a class: its own, or its nearest ancestor's."""
    return next(ADVICE[each] for each in kind.__mro__ if each in ADVICE)
