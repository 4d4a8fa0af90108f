"""The response to a request: a result and the action's effects, or an error with advice.

Rule: a response is JSON data without secrets: its error messages come from the engine and contain none.
`to_json` omits empty fields.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import attrs

from cdpengine._json_values import to_plain
from cdpengine._urls.reading import without_credentials
from cdpengine.act.fields import camel_case
from cdpengine.act.words.advice import NO_SUCH_ENTRY, OTHERS_FILLED, RENAMED, advice_for
from cdpengine.act.words.wording import Words, in_requests
from cdpengine.errors import (
    CacheMissError,
    CoveredError,
    EngineError,
    FocusMovedError,
    FormError,
    InvalidArgumentError,
    NotDeliveredError,
    NotInteractableError,
    StaleRefError,
    UnreadyState,
)
from cdpengine.errors.texts import escape_line


@attrs.frozen(kw_only=True)
class StartedNavigation:
    """A navigation that the action caused.

    `state` is its state at the end of the action: "arrived" (`url` is the URL after redirects), "under way", "no
    document" (as with status 204 and downloads) or "failed" (an error page is shown).
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
    """An element of the action with a new role and name since its ref was last given."""

    ref: str
    was: str
    now: str


@attrs.frozen(kw_only=True)
class Effects:
    """The effects of an action on its page, by the time it ended.

    `dialogs` are all that opened since the last response, on any page of the actor, closed ones included; each is
    reported once. At most 100 are listed, the latest ones; `dialogs_omitted` counts the others.
    """

    navigation: StartedNavigation | None = None
    popup: OpenedPage | None = None
    dialogs: tuple[AnsweredDialog, ...] = ()
    dialogs_omitted: int = 0
    download: BegunDownload | None = None
    healed_ref: str | None = None
    renamed: tuple[RenamedElement, ...] = ()
    delivered: bool | None = None
    """False: the element received the beginning of the action, and the page's reaction prevented the rest."""


@attrs.frozen(kw_only=True)
class Failure:
    """The failure of a request.

    `kind` is for programs; `message` describes the error and its cause; `hint` is advice. `retryable`: the same
    request may succeed if it is sent again unchanged. `no_page`: the request needs a page, and none is open.
    `state` is the state of the element that prevents the action: "invisible", "disabled" or "unstable".
    `covered_by` describes the element that covers the target, `covered_by_ref` is its ref. `alternatives` are refs
    that the caller may have meant. `causes` are the kinds of the errors of a form's fields.
    """

    kind: str
    message: str
    hint: str
    retryable: bool
    no_page: bool = False
    state: UnreadyState = ""
    covered_by: str | None = None
    covered_by_ref: str | None = None
    alternatives: tuple[str, ...] = ()
    causes: tuple[str, ...] = ()


class NoOpenPageError(InvalidArgumentError):
    """A request that needs a page, while none is open. In a response, it is an `invalidArgument` with `noPage`."""


@attrs.frozen(kw_only=True)
class CachedActions:
    """An entry of the action cache for the page: an executeCached request with its id replays it.

    `variables` are the names that need values. `success_rate` is from 0 to 1; None before the first run. `variant`
    names one of several designs of the page.
    """

    entry: str
    scenario: str
    level: str
    steps: int
    variables: tuple[str, ...] = ()
    success_rate: float | None = None
    variant: str | None = None


@attrs.frozen(kw_only=True)
class ActResponse:
    """The response to one request.

    `target_id` and `url` identify the request's page after the request; None without a page. `result` is the
    result of the kind of request. `diff` has the changes in the snapshot, if requested. `cached` lists the action
    cache's entries for the page.
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
        """Return the response as JSON data: names in camelCase, without empty fields."""
        return {"ok": self.ok, **to_plain(_fields(self), fields_of=_fields)}


def _fields(value: Any) -> dict[str, Any]:
    """Return the fields that are not empty, by their names in JSON."""
    return {
        camel_case(field.name): item
        for field in attrs.fields(type(value))
        if (item := getattr(value, field.name)) != field.default
    }


def describe_url(url: str) -> str:
    """Return a URL for a program, without credentials and without the document in a data: URL.

    A browser that was given the credentials also sends them to the URL without them.
    """
    if url.startswith("data:") and len(url) > _LONGEST_DATA_URL:
        return f"{url[:_LONGEST_DATA_URL]}..."
    return without_credentials(url)


_LONGEST_DATA_URL = 200


def name_error(kind: type[EngineError]) -> str:
    """Return the name of an error in JSON: "staleRef" for StaleRefError."""
    name = kind.__name__.removesuffix("Error")
    return name[:1].lower() + name[1:]


def describe_failure(error: EngineError) -> Failure:
    """Return an error as data."""
    no_page = isinstance(error, NoOpenPageError)
    kind = InvalidArgumentError if no_page else type(error)
    advice = advice_for(error)
    covered_by = covered_ref = None
    alternatives: tuple[str, ...] = ()
    causes: tuple[str, ...] = ()
    hint = advice.hint
    if isinstance(error, StaleRefError) and error.became == "renamed":
        hint = RENAMED
    if isinstance(error, CacheMissError) and not error.url:
        hint = NO_SUCH_ENTRY
    if isinstance(error, CoveredError):
        covered_by, covered_ref = error.covered_by or None, error.covered_ref or None
    elif isinstance(error, FocusMovedError):
        covered_by, covered_ref = error.received_by or None, error.focus_ref or None
    elif isinstance(error, NotDeliveredError):
        covered_by = error.received_by or None
    elif isinstance(error, StaleRefError):
        alternatives = tuple(ref.id for ref in error.alternatives)
    elif isinstance(error, FormError):
        hints = {describe_failure(field.error).hint for field in error.failed}
        hint = hints.pop() if len(hints) == 1 else hint
        hint = f"{hint} {OTHERS_FILLED}" if error.filled else hint
        causes = tuple(name_error(type(field.error)) for field in error.failed)
    return Failure(
        kind=name_error(kind),
        message=in_requests(str(error)),
        hint=hint,
        retryable=advice.retryable,
        no_page=no_page,
        state=error.state if isinstance(error, NotInteractableError) else "",
        covered_by=None if covered_by is None else escape_line(covered_by),
        covered_by_ref=covered_ref,
        alternatives=alternatives,
        causes=causes,
    )


NOT_READ = "# not read: "
"""The beginning of a diff that is the message of an error."""


def reword(response: ActResponse, words: Words) -> ActResponse:
    """Return the response with its errors in the words of a client. Text of the page is not changed."""
    if response.diff is not None and response.diff.startswith(NOT_READ):
        response = attrs.evolve(response, diff=words.translate(response.diff))
    error = response.error
    if error is None:
        return response
    refused = error.kind == "invalidArgument"
    message = words.translate_refusal(error.message) if refused else words.translate(error.message)
    return attrs.evolve(response, error=attrs.evolve(error, message=message, hint=words.advise(error.hint)))


def effects_of(outcome: Any) -> Effects:
    """Return the effects in an `ActionOutcome`; the actor reports its dialogs."""
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


def describe_effects(effects: Effects) -> list[str]:
    """Return the effects of an action in words, one line each, for people and models."""
    lines = []
    navigation = effects.navigation
    if navigation is not None and not (effects.download and navigation.state == "no document"):
        lines.append(f"navigation to {escape_line(navigation.url)}{_STATES.get(navigation.state, '')}")
    if effects.popup is not None:
        lines.append(f"a new tab opened, which is not the current one: {escape_line(effects.popup.url)}")
    if effects.dialogs_omitted:
        lines.append(f"{effects.dialogs_omitted} dialogs opened before these:")
    for each in effects.dialogs:
        article = "an" if each.type == "alert" else "a"
        lines.append(
            f"{article} {each.type} opened ('{escape_line(each.message)}'), {_ANSWERS[each.accepted]}"
        )
    if effects.download is not None:
        lines.append(f"a download began: {escape_line(effects.download.suggested_filename)}")
    if effects.healed_ref is not None:
        lines.append(f"the ref was stale; {effects.healed_ref} was used instead")
    lines += [f"{each.ref} was {each.was}, and is now {each.now}" for each in effects.renamed]
    if effects.delivered is False:
        lines.append("the page removed the element during the action")
    return lines


def describe_cached(known: Iterable[CachedActions]) -> list[str]:
    """Return the entries of an action cache in words, one line each, for people and models."""
    return [
        f"known: {each.scenario} in {each.steps} steps, entry {each.entry}"
        + (f", variant {each.variant}" if each.variant else "")
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


def navigation_lines(result: Mapping[str, Any]) -> Iterator[str]:
    """Yield the line for the document that a navigation led to: its URL, and its status if it has one."""
    status = result.get("status")
    yield f"{result['url']}  {status}" if status is not None else str(result["url"])


def file_lines(result: Mapping[str, Any]) -> Iterator[str]:
    """Yield the lines for a file: its path and size, or its content. A labelled screenshot has a snapshot, too."""
    if "snapshot" in result:
        yield str(result["snapshot"])
    yield (
        f"{escape_line(result['path'])}  {result['bytes']} bytes"
        if "path" in result
        else str(result["base64"])
    )
