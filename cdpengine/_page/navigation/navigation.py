"""Navigation: take a page to a document and report the result.

Rule: a navigation waits for one document, identified by its loader. If the page replaces it (by script or
refresh), the wait continues with the new document. A failed navigation raises an error with Chrome's reason. An
abandoned navigation is stopped.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager, suppress
from typing import TypeVar

import attrs
import trio

from cdpengine._budget import Budget, undoing
from cdpengine._checks import check_choice
from cdpengine._page.frames import LOAD_STATES, Frame, LoadState
from cdpengine._page.navigation.active_document import request_of_active
from cdpengine._page.navigation.document_waits import QUESTIONS, wait_for_documents, wait_until_begun
from cdpengine._page.navigation.liveness import answers
from cdpengine._page.page_target import PageTarget
from cdpengine._page.scripts.page_functions import Command
from cdpengine._protocol.domains.network import (
    LoadingFailed,
    RequestWillBeSentHead,
    ResponseHead,
    ResponseReceivedHead,
)
from cdpengine._protocol.domains.page import NavigateReply
from cdpengine._protocol.session import Session
from cdpengine._protocol.streams import Event
from cdpengine._urls.mistakes import EXAMPLE, explain_no_url
from cdpengine._urls.reading import credentials_in
from cdpengine.errors import (
    ConnectionLostError,
    InvalidArgumentError,
    NavigationFailedError,
    RemoteError,
    SessionGoneError,
    TargetCrashedError,
    shown_url,
)

T = TypeVar("T")

_WITHOUT_DOCUMENT = (204, 205)
"""HTTP statuses of responses that do not change the page's document."""

_STOP_TIMEOUT = 0.08
"""Time in seconds to stop an abandoned navigation."""

_ABORTED = "net::ERR_ABORTED"

_CRASH_TIMEOUT = 1.0
"""Time in seconds in which a crash by a chrome: URL is reported. Measured: 0.1 s."""

TRIES = 4
"""Maximum number of attempts if the page interrupts each one. The last attempt's error is raised."""

_OVERTAKING_TIMEOUT = 0.1
"""Time in seconds in which a navigation begins that the previous document requested at its end."""

_BEGIN_TIMEOUT = 0.3
"""Time in seconds in which a requested navigation begins. Measured: up to 0.06 s on a busy machine."""

_ABORTED_TIMEOUT = 1.0
"""Time in seconds in which a document may still arrive after Chrome abandoned its request."""

_ANSWER_TIMEOUT = 1.0
"""Time in seconds for a page to answer before a navigation. Afterwards its script counts as hung."""


@attrs.frozen
class NavigationResult:
    """The result of a navigation.

    `url` is the page's URL now. `status` is the HTTP status of its document, or None if unknown, as for
    about:blank. `redirects` are the URLs that redirected to it, in order. `same_document` means that the page's
    document stayed: only the fragment, the history state, or (when moving through the history) a frame in the page
    changed. `from_cache` means that no server was asked, because the document came from Chrome's HTTP cache or
    back/forward cache. For the latter, `status`, `mime_type` and `redirects` are from the original load, if the
    engine performed it. `loader_id` is Chrome's id of the document.
    """

    url: str
    status: int | None
    redirects: tuple[str, ...] = ()
    same_document: bool = False
    mime_type: str = ""
    from_cache: bool = False
    loader_id: str = attrs.field(default="", eq=False, repr=False)


@attrs.define(eq=False)
class _Document:
    """The network events of one document. A document's request id is its loader id."""

    urls: list[str] = attrs.field(factory=list)
    response: ResponseHead | None = None
    failure: str = ""


class DocumentWatch:
    """Watcher of the main frame's document requests during a navigation."""

    def __init__(self, main_frame_id: str, failed: Callable[[], object]) -> None:
        self.documents: dict[str, _Document] = {}
        self._main_frame_id = main_frame_id
        self._failed = failed

    def request_sent(self, event: Event) -> None:
        sent = event.decode(RequestWillBeSentHead)
        if sent.request_id != sent.loader_id or sent.frame_id != self._main_frame_id:
            return
        self.documents.setdefault(sent.request_id, _Document()).urls.append(sent.request.url)

    def response_received(self, event: Event) -> None:
        received = event.decode(ResponseReceivedHead)
        if document := self.documents.get(received.request_id):
            document.response = received.response

    def loading_failed(self, event: Event) -> None:
        failed = event.decode(LoadingFailed)
        if document := self.documents.get(failed.request_id):
            document.failure = failed.error_text
            self._failed()

    def find_aborted(self) -> _Document | None:
        """Return the latest requested document if Chrome gave its request up, else None."""
        latest = next(reversed(self.documents.values()), None)
        return latest if latest is not None and latest.failure == _ABORTED else None

    @contextmanager
    def on(self, session: Session) -> Iterator[None]:
        """Watch the session's Network events during the body."""
        listeners = {
            "Network.requestWillBeSent": self.request_sent,
            "Network.responseReceived": self.response_received,
            "Network.loadingFailed": self.loading_failed,
        }
        with session.listening(listeners):
            yield


def check_wait_until(wait_until: str) -> LoadState:
    """Return a valid load state. Raises InvalidArgumentError for an unknown name."""
    return check_choice("wait_until", wait_until, LOAD_STATES)


def check_url(url: str) -> str:
    """Return `url`. Raises InvalidArgumentError if it has no scheme or no host, because Chrome would refuse it."""
    problem, suggestion = explain_no_url(url) if isinstance(url, str) else ("", EXAMPLE)
    if isinstance(url, str) and not problem:
        return url
    given = f"{shown_url(url)!r}, which {problem}" if isinstance(url, str) else f"a {type(url).__name__}"
    raise InvalidArgumentError(
        what="url", given=given, expected=f'an absolute URL, such as "{shown_url(suggestion)}"'
    )


async def go_to(
    page: PageTarget,
    url: str,
    wait_until: LoadState,
    budget: Budget,
    *,
    referer: str | None = None,
    fresh: bool = False,
) -> NavigationResult:
    """Navigate and wait. `fresh`: the page was just created, is blank and set up.

    Raises NavigationFailedError with Chrome's reason, the error of an ended session, and TargetCrashedError if the
    URL itself crashes the page, as "chrome://crash" does.
    """
    for each in credentials_in(url):
        page.session.connection.instruments.add_secret(each)
    params = {"url": url} if referer is None else {"url": url, "referrer": referer}

    async def send(_dead: bool, _watch: DocumentWatch) -> str | None:
        moves_before, refusals = page.frames.main.moves_within, page.dialogs.refusals
        for tries_left in reversed(range(TRIES)):
            requests = page.navigation.requests
            budget.step(f"asking Chrome to navigate to {shown_url(url)}")
            reply = await page.session.request("Page.navigate", params, NavigateReply)
            interrupted = reply.error_text == _ABORTED and page.navigation.requests > requests
            if not (interrupted and tries_left):
                break
            budget.step("the page navigated elsewhere meanwhile; navigating again")
            await end_pending(page)
        if reply.is_download:
            raise NavigationFailedError(url=url, reason="the URL is a download, not a document")
        if reply.error_text:
            check_left(page, refusals, url)
            if reply.error_text == _ABORTED and url.lower().startswith("chrome:"):
                await _wait_for_crash(page, budget)
                if not await _does_answer(page, budget):
                    raise NavigationFailedError(url=url, reason=f"{_ABORTED} ({_MADE_HANG})")
            raise NavigationFailedError(url=url, reason=explain_refused_navigation(url, reply.error_text))
        if reply.loader_id is None:
            budget.step("waiting for the move within the document")
            await page.wait_for(lambda: page.frames.main.moves_within > moves_before)
        return reply.loader_id

    return await navigate(page, send, wait_until, budget, fresh=fresh)


async def reload(
    page: PageTarget, ignore_cache: bool, wait_until: LoadState, budget: Budget
) -> NavigationResult:
    """Load the document again and wait. Also restores a crashed page. Raises the errors of `go_to`."""

    async def send(dead: bool, watch: DocumentWatch) -> str:
        before, refusals = page.frames.main.loader_id, page.dialogs.refusals
        for tries_left in reversed(range(TRIES)):
            requests = page.navigation.requests
            budget.step("asking Chrome to reload")
            await request_of_active(page.session, Command("Page.reload", {"ignoreCache": ignore_cache}), dict)

            def replaced() -> str | None:
                check_left(page, refusals, page.frames.main.url)
                loader_id = page.frames.main.loader_id
                interrupted = tries_left and page.navigation.requests > requests  # noqa: B023
                return loader_id if loader_id != before else "" if interrupted else None

            if loader_id := await wait_for_document(page, watch, replaced, page.frames.main.url, dead=dead):
                break
            budget.step("the page navigated elsewhere meanwhile; reloading again")
            await end_pending(page)
        return loader_id

    if not page.session.crashed:  # the document to reload is the pending one
        await wait_for_documents(page, (page.frames.main.id,), budget)
    return await navigate(page, send, wait_until, budget, reloads=True)


async def wait_for_document(
    page: PageTarget, watch: DocumentWatch, find: Callable[[], T | None], url: str, *, dead: bool
) -> T:
    """Wait until `find` returns a value. Raises NavigationFailedError if Chrome abandons the document.

    Chrome abandons a document that the server does not send, or that another navigation replaces.
    """
    known: _Document | None = None

    def over() -> tuple[T | None, _Document | None] | None:
        if (value := find()) is not None and value is not False:
            return value, None
        aborted = watch.find_aborted()
        return None if aborted is None or aborted is known else (None, aborted)

    while True:
        value, known = await page.wait_for(over, also_crashed=dead)
        if value is not None:
            return value
        # If the page answers, it does not wait for a document, and a replacement that it requested is known.
        with trio.move_on_after(_ABORTED_TIMEOUT) as asking:
            for _ in range(QUESTIONS):
                await answers(page.session)
        if (value := find()) is not None and value is not False:
            return value
        pending = page.navigation.pending.get(page.frames.main.id)
        requested = pending is not None and pending.requested
        if watch.find_aborted() is known and not (asking.cancelled_caught or requested):
            page.navigation.end(page.frames.main.id)
            raise NavigationFailedError(url=url, reason=_explain_aborted(known))


async def _wait_for_crash(page: PageTarget, budget: Budget) -> None:
    """Wait briefly for the crash that a chrome: URL causes. Raises TargetCrashedError if it occurs."""
    with trio.move_on_after(min(_CRASH_TIMEOUT, budget.remaining / 2)):
        await page.wait_for(lambda: page.session.crashed or None, also_crashed=True)
        if (error := page.session.error("Page.navigate")) is not None:
            raise error


async def _does_answer(page: PageTarget, budget: Budget) -> bool:
    with trio.move_on_after(min(_ANSWER_TIMEOUT, budget.remaining / 2)) as asking:
        await answers(page.session)
    return not asking.cancelled_caught


_MADE_HANG = "this chrome: URL makes the page hang. A recovery that may reload the page restores it"


def _explain_aborted(document: _Document | None) -> str:
    response = None if document is None else document.response
    if response is None:
        return f"{_ABORTED} (Chrome gave it up, or it was replaced)"
    if response.status in _WITHOUT_DOCUMENT:
        return f"the server answered without a document (status {response.status})"
    return "the answer is a download, not a document"


def check_left(page: PageTarget, refusals: int, url: str) -> None:
    """Raise NavigationFailedError if a beforeunload dialog was dismissed since `refusals`."""
    if page.dialogs.refusals > refusals:
        reason = "the page asked before being left (beforeunload), and its dialog was dismissed"
        raise NavigationFailedError(url=url, reason=reason)


async def navigate(
    page: PageTarget,
    send: Callable[[bool, DocumentWatch], Awaitable[str | None]],
    wait_until: LoadState,
    budget: Budget,
    *,
    fresh: bool = False,
    reloads: bool = False,
) -> NavigationResult:
    session = page.session
    if not fresh:  # nothing hangs in a new page, and no collector reads it
        await _terminate_hung_script(page, budget)
        await _read_before_leaving(page, budget)
        if session.is_discarded and not reloads:
            await _load_discarded(page, budget)
    dead = session.crashed  # the navigation restores it; a later crash is a failure
    watch = DocumentWatch(page.frames.main.id, page.changes.notify)
    # Not awaited: a page that hangs does not answer, and the navigation frees it.
    async with session.enabled("Network", wait=False, also_crashed=True):
        with watch.on(session):
            for tries_left in reversed(range(TRIES)):
                with page.navigation.leading():
                    try:
                        loader_id = await send(dead, watch)
                        if loader_id is None:
                            return NavigationResult(url=page.frames.main.url, status=None, same_document=True)
                        result = await _arrive(page, loader_id, dead, wait_until, watch, budget)
                        if not page.navigation.overtaken:
                            return result
                        await _stop_overtaking(page)
                    except trio.Cancelled:
                        await _stop(session)
                        raise
                if page.frames.main.loader_id == loader_id or not tries_left:
                    return result
                budget.step("the previous document navigated elsewhere meanwhile; navigating again")
    raise AssertionError("the last try returns")


async def _arrive(
    page: PageTarget,
    loader_id: str,
    dead: bool,
    wait_until: LoadState,
    watch: DocumentWatch,
    budget: Budget,
) -> NavigationResult:
    budget.step(f"waiting for {wait_until} of the new document")
    main = page.frames.main
    committed = False

    def arrived() -> str | None:
        nonlocal committed
        if main.reached(loader_id, wait_until):
            return loader_id
        # The page navigated again before that state. Follow it, however often it does.
        committed = committed or main.reached(loader_id, "commit")
        current = main.loader_id
        replaced = committed and current != loader_id
        return current if replaced and main.reached(current, wait_until) else None

    def is_aborted() -> bool:
        failure = watch.documents[loader_id].failure if loader_id in watch.documents else ""
        return failure == _ABORTED and not main.reached(loader_id, "commit")

    arrived_id = await page.wait_for(lambda: arrived() or ("" if is_aborted() else None), also_crashed=dead)
    if not arrived_id:
        # Chrome gave the navigation up after its answer, and reports nothing more.
        with trio.move_on_after(_ABORTED_TIMEOUT):
            arrived_id = await page.wait_for(arrived, also_crashed=dead)
    if not arrived_id:
        url = watch.documents[loader_id].urls[-1]
        raise NavigationFailedError(url=url, reason=f"{_ABORTED} (Chrome gave it up, or it was replaced)")
    await page.running.set_up_answered()  # a page that hung or had crashed reports its frames only now
    return make_result(page, main, arrived_id, watch)


def make_result(page: PageTarget, frame: Frame, arrived_id: str, watch: DocumentWatch) -> NavigationResult:
    """Return the result of a navigation of `frame` that arrived at a document.

    Raises NavigationFailedError if Chrome shows an error page.
    """
    restored = frame.restored == arrived_id
    known = page.document_data(arrived_id) if restored else None
    document = watch.documents.get(arrived_id) or (known if isinstance(known, _Document) else _Document())
    if frame.loader_id == arrived_id and frame.unreachable_url:
        reason = document.failure or "Chrome shows an error page in its place"
        raise NavigationFailedError(url=frame.unreachable_url, reason=reason)
    page.store_document_data(arrived_id, document)
    response = document.response
    return NavigationResult(
        url=frame.url,
        status=response.status or None if response else None,
        redirects=tuple(document.urls[:-1]),
        mime_type=response.mime_type if response else "",
        from_cache=restored or (response is not None and response.from_disk_cache),
        loader_id=arrived_id,
    )


async def _terminate_hung_script(page: PageTarget, budget: Budget) -> None:
    """Terminate the page's script if it hangs.

    A navigation to another site leaves the page's process behind. A navigation within the site stays in it, would
    wait for the script forever, and ends the session that could have terminated it.
    """
    if page.session.crashed:
        return
    await end_pending(page)
    with trio.move_on_after(min(_ANSWER_TIMEOUT, budget.remaining / 2)) as waiting:
        with suppress(TargetCrashedError):  # no script runs in it, so none hangs
            await answers(page.session)
            await end_pending(page)  # earlier requests are known now
    if waiting.cancelled_caught:
        budget.step("stopping the page's script, which did not answer")
        # Not awaited: even without an effect, a navigation to another site frees the page.
        for session in page.recovery_sessions():
            with suppress(SessionGoneError, ConnectionLostError):
                session.post("Runtime.terminateExecution")


async def _load_discarded(page: PageTarget, budget: Budget) -> None:
    """Have Chrome create the renderer of a discarded tab, which executes the page's set-up.

    A navigation would create another renderer, and Chrome would execute the set-up after its first scripts.
    A server that does not answer delays this only briefly.
    """
    budget.step("loading the discarded tab")
    with trio.move_on_after(min(_ANSWER_TIMEOUT, budget.remaining / 2)):
        await page.session.call("Page.bringToFront")
        if page.navigation.under_way:  # Chrome does not load a crashed tab
            await page.wait_for(lambda: not page.session.crashed or None, also_crashed=True)


async def end_pending(page: PageTarget) -> None:
    """Stop the navigation that the page waits for. Until it ends, Chrome delays commands to the page.

    A navigation that was requested and has not begun would begin after the engine's navigation, and end it.
    """
    navigation, main_id = page.navigation, page.frames.main.id
    if main_id not in navigation.pending:
        return
    await wait_until_begun(page, _BEGIN_TIMEOUT)
    if navigation.under_way:
        page.session.post("Page.stopLoading")
    navigation.end(main_id)


async def _stop_overtaking(page: PageTarget) -> None:
    """Stop a navigation requested by the previous document that begins after the engine's navigation arrived."""
    with trio.move_on_after(_OVERTAKING_TIMEOUT):
        await page.wait_for(lambda: page.navigation.under_way)
        await end_pending(page)
        await answers(page.session)


async def _read_before_leaving(page: PageTarget, budget: Budget) -> None:
    """Run the readers before leaving the document. They are skipped if the page does not answer."""
    for look in page.readers_before_leaving:
        with trio.move_on_after(min(_ANSWER_TIMEOUT, budget.remaining / 2)):
            await look()


async def _stop(session: Session) -> None:
    """Stop an abandoned navigation, so that it does not arrive during the next action."""
    # Refused or gone: no navigation is left to stop.
    with undoing(_STOP_TIMEOUT), suppress(RemoteError, SessionGoneError, ConnectionLostError):
        await session.call("Page.stopLoading")


def explain_refused_navigation(url: str, error_text: str) -> str:
    """Return the reason of Chrome's refusal for people."""
    if error_text != _ABORTED:
        return error_text
    scheme = url.partition(":")[0].lower()
    if scheme in ("http", "https"):
        why = "the server answered without a document, as with status 204, or it was replaced"
    elif scheme in ("chrome", "javascript"):
        why = f"this {scheme}: URL is a command to Chrome, such as crashing the page, and has no document"
    else:
        why = f"Chrome has no document for {scheme}: URLs, or it was replaced"
    return f"{error_text} ({why})"
