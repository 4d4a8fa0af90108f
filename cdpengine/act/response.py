"""What a request is answered with: a result and what the action set off, or an error with what to do about it.

Rule: a response is data that JSON holds, and holds no secrets: the words of an error are those of the engine's
errors, which never show them. `to_json` leaves out what there is not.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import attrs

from cdpengine import errors
from cdpengine._plain import to_plain
from cdpengine.act.fields import camel_case
from cdpengine.errors import CoveredError, EngineError, FocusMovedError, NotDeliveredError, StaleRefError
from cdpengine.errors.texts import escape_line


@attrs.frozen(kw_only=True)
class StartedNavigation:
    """A navigation that the action set off.

    `state` is what came of it by the end of the action: "arrived" (`url` is where redirects led), "under way",
    "no document" (as with status 204 and downloads) or "failed" (an error page is shown).
    """

    url: str
    within_document: bool = False
    state: str = "arrived"


@attrs.frozen(kw_only=True)
class OpenedPage:
    """A page that was opened; `target_id` names it."""

    target_id: str
    url: str


@attrs.frozen(kw_only=True)
class AnsweredDialog:
    """A JavaScript dialog that opened, and whether it was answered with OK (None: it is open)."""

    type: str
    message: str
    accepted: bool | None = None
    answered_by: str = ""


@attrs.frozen(kw_only=True)
class BegunDownload:
    """A download that began."""

    url: str
    suggested_filename: str


@attrs.frozen(kw_only=True)
class RenamedElement:
    """An element that was acted on and is called otherwise than when its ref was last given: role and name."""

    ref: str
    was: str
    now: str


@attrs.frozen(kw_only=True)
class Effects:
    """What an action set off in its page, by the time it ended.

    `dialogs` are all that opened since the answer before, on any page of the actor, closed ones included: each is
    reported once. Of more than 100 the latest are listed, and `dialogs_omitted` counts the others.
    """

    navigation: StartedNavigation | None = None
    popup: OpenedPage | None = None
    dialogs: tuple[AnsweredDialog, ...] = ()
    dialogs_omitted: int = 0
    download: BegunDownload | None = None
    healed_ref: str | None = None
    renamed: tuple[RenamedElement, ...] = ()
    delivered: bool | None = None
    """False: the element received the beginning, and the page's own answer to it took the rest away."""


@attrs.frozen(kw_only=True)
class Failure:
    """Why a request came to nothing.

    `kind` tells what went wrong, for programs; `message` says it, with what stood in the way; `hint` says what to
    do. `retryable`: the same request may succeed if it is sent again as it is. `covered_by` describes the element
    that covers the one that was aimed at, `covered_by_ref` is its ref; `alternatives` are refs that may be meant.
    """

    kind: str
    message: str
    hint: str
    retryable: bool
    covered_by: str | None = None
    covered_by_ref: str | None = None
    alternatives: tuple[str, ...] = ()


@attrs.frozen(kw_only=True)
class CachedActions:
    """An entry of the action cache for the page: an executeCached request with its id replays it.

    `variables` are the names that need values. `success_rate` is from 0 to 1; None before the first run.
    """

    entry: str
    scenario: str
    level: str
    steps: int
    variables: tuple[str, ...] = ()
    success_rate: float | None = None


@attrs.frozen(kw_only=True)
class ActResponse:
    """The answer to one request.

    `target_id` and `url` are the page's that it was done to, after it; None where there was none. `result` is what
    the kind of request returns. `diff` says what changed in the snapshot, where that was asked for. `cached` is
    what an action cache knows for the page.
    """

    kind: str
    ok: bool
    target_id: str | None = None
    url: str | None = None
    result: Any = None
    effects: Effects = Effects()
    diff: str | None = None
    cached: tuple[CachedActions, ...] = ()
    error: Failure | None = None

    def to_json(self) -> dict[str, Any]:
        """Return it as JSON has it: names in camelCase, and what there is not left out."""
        return {"ok": self.ok, **to_plain(_fields(self), fields_of=_fields)}


def _fields(value: Any) -> dict[str, Any]:
    """Return the fields that say something, by their names in JSON."""
    return {
        camel_case(field.name): item
        for field in attrs.fields(type(value))
        if (item := getattr(value, field.name)) != field.default
    }


def describe_url(url: str) -> str:
    """Return a URL for a program: whole, but for the document that a data: URL is."""
    return (
        url
        if not url.startswith("data:") or len(url) <= _LONGEST_DATA_URL
        else f"{url[:_LONGEST_DATA_URL]}..."
    )


_LONGEST_DATA_URL = 200


# --- errors --------------------------------------------------------------------------------------------------


@attrs.frozen
class Advice:
    """What to do about an error of one class, and whether the same request may succeed if it is sent again."""

    hint: str
    retryable: bool = False


_NEW_SNAPSHOT = "Take a snapshot and use a ref of it."
_RENAMED = (
    f"{_NEW_SNAPSHOT} Where the element is meant as it is now, that gives its ref under its present name. "
    "If its name changes all the time, name the element by a selector instead."
)
_LOOK = "Take a snapshot to see what the page shows now."
_NO_SCRIPTS = "This service runs no scripts of its callers. Use find, extract or snapshot."

ADVICE: Mapping[type[EngineError], Advice] = {
    errors.InvalidArgumentError: Advice("Correct the request as the message says."),
    errors.ActionSyntaxError: Advice("Write the action as the message says."),
    errors.StaleRefError: Advice(_NEW_SNAPSHOT),
    errors.NodeNotFoundError: Advice(_NEW_SNAPSHOT),
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
    errors.NotInteractableError: Advice("Aim at another element, or use another kind of request."),
    errors.NodeError: Advice(_NEW_SNAPSHOT),
    errors.FormError: Advice("The other fields were filled in. Send those that failed once more, corrected."),
    errors.PageUnresponsiveError: Advice(
        "A script keeps the page busy: navigate or reload it, which ends the script."
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
        "The page went away, or its scripts were stopped.", retryable=True
    ),
    errors.NavigationFailedError: Advice("Check the URL, and that its server answers.", retryable=True),
    errors.DownloadFailedError: Advice("Begin the download again.", retryable=True),
    errors.DialogOpenedError: Advice("Say with a dialog request how it is to be answered, and act again."),
    errors.TargetCrashedError: Advice("The page crashed: navigate it anew, or close it."),
    errors.SessionGoneError: Advice("The page is gone. List the tabs, and use another one."),
    errors.ConnectionLostError: Advice("The browser is gone. Start it again."),
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


def name_error(kind: type[EngineError]) -> str:
    """Return what an error is called in JSON: StaleRefError is "staleRef"."""
    name = kind.__name__.removesuffix("Error")
    return name[:1].lower() + name[1:]


def describe_failure(error: EngineError) -> Failure:
    """Return an error as data."""
    kind = type(error)
    advice = next(ADVICE[each] for each in kind.__mro__ if each in ADVICE)
    covered_by = covered_ref = None
    alternatives: tuple[str, ...] = ()
    hint = advice.hint
    if isinstance(error, StaleRefError) and error.became == "renamed":
        hint = _RENAMED
    if isinstance(error, CoveredError):
        covered_by, covered_ref = error.covered_by or None, error.covered_ref or None
    elif isinstance(error, FocusMovedError):
        covered_by, covered_ref = error.received_by or None, error.focus_ref or None
    elif isinstance(error, NotDeliveredError):
        covered_by = error.received_by or None
    elif isinstance(error, StaleRefError):
        alternatives = tuple(ref.id for ref in error.alternatives)
    return Failure(
        kind=name_error(kind),
        message=str(error),
        hint=hint,
        retryable=advice.retryable,
        covered_by=None if covered_by is None else escape_line(covered_by),
        covered_by_ref=covered_ref,
        alternatives=alternatives,
    )


def effects_of(outcome: Any) -> Effects:
    """Return what an `ActionOutcome` tells of what the action set off; its dialogs are reported by the actor."""
    started, popup, download = outcome.navigation, outcome.popup, outcome.download
    return Effects(
        navigation=started
        and StartedNavigation(
            url=describe_url(started.url), within_document=started.within_document, state=started.state
        ),
        popup=popup and OpenedPage(target_id=popup.target_id, url=describe_url(popup.url)),
        download=download
        and BegunDownload(url=describe_url(download.url), suggested_filename=download.suggested_filename),
        healed_ref=outcome.healed and outcome.healed.id,
        renamed=tuple(
            RenamedElement(ref=old.id, was=old.describe(), now=new.describe())
            for old, new in outcome.all_renamed
        ),
        delivered=outcome.delivered,
    )


def tell_effects(effects: Effects) -> list[str]:
    """Return what an action set off in words, one line each, for people and models."""
    lines = []
    navigation = effects.navigation
    if navigation is not None and not (effects.download and navigation.state == "no document"):
        lines.append(f"navigation to {escape_line(navigation.url)}{_STATES.get(navigation.state, '')}")
    if effects.popup is not None:
        lines.append(f"a new tab opened: {escape_line(effects.popup.url)}")
    if effects.dialogs_omitted:
        lines.append(f"{effects.dialogs_omitted} dialogs opened before these:")
    lines += [
        f"a {each.type} opened ('{escape_line(each.message)}'), {_ANSWERS[each.accepted]}"
        for each in effects.dialogs
    ]
    if effects.download is not None:
        lines.append(f"a download began: {escape_line(effects.download.suggested_filename)}")
    if effects.healed_ref is not None:
        lines.append(f"the ref was stale; {effects.healed_ref} was taken for it")
    lines += [f"{each.ref} was {each.was}, and is {each.now} now" for each in effects.renamed]
    if effects.delivered is False:
        lines.append("the page took the element away in the middle of the action")
    return lines


def tell_cached(known: Iterable[CachedActions]) -> list[str]:
    """Return what an action cache knows in words, one line each, for people and models."""
    return [
        f"known: {each.scenario} in {each.steps} steps, entry {each.entry}"
        + (f", needs {', '.join(each.variables)}" if each.variables else "")
        for each in known
    ]


_STATES = {
    "under way": ", still under way",
    "no document": ": the server sent no document, and the page stays",
    "failed": " failed: an error page is shown",
}

_ANSWERS = {True: "answered OK", False: "answered Cancel", None: "not answered yet"}


def shorten_diff(diff: str) -> str:
    """Return a diff without the checksums of its first line, which programs need to apply it."""
    head, line_end, rest = diff.partition("\n")
    return diff if not head.startswith("# diff of ") else rest if line_end else "nothing changed"


def describe_dialog(dialog: Any) -> AnsweredDialog:
    """Return the record of a dialog as data."""
    return AnsweredDialog(
        type=dialog.type, message=dialog.message, accepted=dialog.accepted, answered_by=dialog.answered_by
    )
