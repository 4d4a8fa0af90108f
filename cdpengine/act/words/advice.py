"""Advice for each error: a hint by class, in the words of requests.

Rule: a hint names a request as "a KIND request" and fields by their names in JSON. Clients with other words
(MCP, the shell) translate these, and have different hints if the advice differs: `act/words/wording.py`.
"""

from __future__ import annotations

from collections.abc import Mapping

import attrs

from cdpengine import errors
from cdpengine.errors import EngineError


@attrs.frozen
class Advice:
    """Advice for errors of one class, and whether the same request may succeed if it is sent again."""

    hint: str
    retryable: bool = False


NEW_SNAPSHOT = "Take a snapshot and use a ref of it."
RENAMED = (
    f"{NEW_SNAPSHOT} If you mean the element with its new name, the snapshot has its new ref. "
    "If its name keeps changing, use a selector instead."
)
OTHERS_FILLED = "The other fields were filled in. Correct the failed ones and send them again."
NO_SUCH_ENTRY = "A cacheList request lists the entries with their ids."
_LOOK = "Take a snapshot to see the page as it is now."
_NO_SCRIPTS = "This service runs no scripts of its callers. Use find, extract or snapshot."

ADVICE: Mapping[type[EngineError], Advice] = {
    errors.InvalidArgumentError: Advice("Correct the request as the message explains."),
    errors.InvalidStateError: Advice("Follow the message; then try again.", retryable=True),
    errors.ActionSyntaxError: Advice("Correct the action as the message explains."),
    errors.StaleRefError: Advice(NEW_SNAPSHOT),
    errors.NodeNotFoundError: Advice(NEW_SNAPSHOT),
    errors.AmbiguousNodeError: Advice("Give a ref of a snapshot, or a selector that matches one element."),
    errors.CoveredError: Advice("Close or move the covering element first; then try again.", retryable=True),
    errors.FocusMovedError: Advice(
        f"The page moved the focus. {_LOOK} Fill the field, which replaces its value, or use the element that "
        "has the focus now."
    ),
    errors.NotDeliveredError: Advice(f"The input was sent. {_LOOK}"),
    errors.ValueRefusedError: Advice(f"The control accepts another kind of value. {_LOOK}"),
    errors.OptionNotFoundError: Advice("Choose one of the options that the message lists."),
    errors.NotInteractableError: Advice("Use another element or another action."),
    errors.NodeError: Advice(NEW_SNAPSHOT),
    errors.FormError: Advice("Correct the fields that failed, and send them again."),
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
    errors.EvaluationFailedError: Advice("Correct the script as the message explains."),
    errors.EvaluationDisabledError: Advice(_NO_SCRIPTS),
    errors.EvaluationTerminatedError: Advice(
        "The script of another page in the process was stopped, or the page navigated. Send it again.",
        retryable=True,
    ),
    errors.NavigationFailedError: Advice(
        "Check the URL, and that its server answers. Without a history entry, send a navigate request.",
        retryable=True,
    ),
    errors.DownloadFailedError: Advice("Begin the download again.", retryable=True),
    errors.DialogOpenedError: Advice("Use a dialog request to set the answer, then act again."),
    errors.TargetCrashedError: Advice(
        "The page crashed. A reload request, a navigate request, a back request or a forward request brings it "
        "back."
    ),
    errors.SessionGoneError: Advice("The page is gone. A tabs request lists the open pages."),
    errors.ConnectionLostError: Advice(
        "The browser has ended. A navigate request starts a new one if the service can."
    ),
    errors.RemoteError: Advice("The browser refused a command. The message has its reason."),
    errors.ProtocolError: Advice("The engine does not know this version of the browser. Report it."),
    errors.EventsLostError: Advice("Events arrived faster than they were read. Try again.", retryable=True),
    errors.LaunchFailedError: Advice("Run cdpengine doctor to find the cause."),
    errors.ConnectFailedError: Advice("Check that a browser listens at the endpoint."),
    errors.StorageUnavailableError: Advice("Go to a page of the site first."),
    errors.BodyUnavailableError: Advice("The browser no longer has the body. Load the page again."),
    errors.BodyUndecodableError: Advice("Read the body as bytes."),
    errors.FileUnreadableError: Advice("Follow the message, or make the file again."),
    errors.FileNotWrittenError: Advice("Check the file's folder and the disk space; then try again."),
    errors.MeasurementFailedError: Advice("Try again.", retryable=True),
    errors.ReplayDivergedError: Advice("Record again: the calls have changed."),
    errors.WrongRunError: Advice(
        "Start the program in trio, and use the browser in the run that started it."
    ),
    errors.VariablesError: Advice(
        "Pass a value for each missing variable, and omit the unused ones, or learn the flow again with them."
    ),
    errors.WrongOriginError: Advice("Check the page's URL: this value is for another site."),
    errors.CacheMissError: Advice("Perform the actions step by step, and learn them for the next time."),
    errors.CacheUnavailableError: Advice(
        "Continue without the cache, or make room; then try again.", retryable=True
    ),
    errors.LeaseEndedError: Advice("Lease another page; then try again.", retryable=True),
    errors.PoolUnavailableError: Advice(
        "Check the reasons in the message, and that the pool is open.", retryable=True
    ),
    errors.JobCancelledError: Advice("No action is needed: the program cancelled it."),
    errors.WorkerLostError: Advice("Check whether the job already ran before retrying."),
    errors.DisallowedByRobotsError: Advice("Omit this URL. The message has the reason."),
    errors.ResourcesExhaustedError: Advice("Close pages or programs; then try again.", retryable=True),
    errors.AssertionFailedError: Advice("The message has the expected and the latest state of the page."),
    errors.TagNotLoadedError: Advice("Check the URL and the page's content security policy."),
    errors.HttpRequestFailedError: Advice("Check the URL, and that its server answers.", retryable=True),
    errors.HttpStatusError: Advice("The server refused the request. Check the URL and the request."),
    errors.PackageMissingError: Advice("Install the package that the message names."),
    EngineError: Advice("The message describes the error."),
}
"""By class; a class that is missing has the advice of its nearest ancestor."""


_FOR_STATES: Mapping[errors.UnreadyState, Advice] = {
    "invisible": Advice(
        "Open the part of the page that contains it, or wait until it is visible; then try again.",
        retryable=True,
    ),
    "disabled": Advice("Enable it first, for example by filling in required fields.", retryable=True),
    "unstable": Advice("It kept moving. Wait until the page is at rest, and try again.", retryable=True),
}
"""By the `state` of a NotInteractableError."""


NOT_INSTALLED = Advice("Install Chrome or Chromium, or name its path.")
"""For a browser that was not found."""

_WITHOUT_KEY = Advice("Continue without the cache: only its owner can set the key.")


def advice_for(error: EngineError) -> Advice:
    """Return the advice for an error: for its state, its class, or its class's nearest ancestor."""
    match error:
        case errors.NotInteractableError(state=state) if state in _FOR_STATES:
            return _FOR_STATES[state]
        case errors.CacheUnavailableError(needs_key=True):
            return _WITHOUT_KEY
        case errors.LaunchFailedError() if error.looked_for:
            return NOT_INSTALLED
    return next(ADVICE[each] for each in type(error).__mro__ if each in ADVICE)
