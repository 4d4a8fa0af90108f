"""PageDialogs: the dialogs of one page: answered as soon as Chrome tells of them, and recorded.

Rule: nothing waits for a human. A page's script stands still while its dialog is open, and with it every call
that needs the page. A policy answers at once, in the reader; a handler gets a task of its own and a limited time,
and whatever becomes of it, the dialog is answered. Chrome tells the page's own session of the dialogs of its
frames too, those of other processes included.
"""

from __future__ import annotations

import inspect
import logging
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from types import TracebackType

import attrs
import trio

from cdpengine._logs import get_logger
from cdpengine._page.dialogs.dialogs import (
    Dialog,
    DialogAnswer,
    DialogHandler,
    DialogPolicy,
    answer_from,
    default_answer,
    filled_in,
)
from cdpengine._page.notifier import Notifier
from cdpengine._protocol.domains.page import JavascriptDialogClosed, JavascriptDialogOpening
from cdpengine._protocol.events import Event
from cdpengine._protocol.repeated import RepeatedWarning
from cdpengine._protocol.session import CRASHED, Session
from cdpengine.errors import (
    ConnectionLostError,
    DialogOpenedError,
    EngineError,
    NavigationFailedError,
    SessionGoneError,
    UndecodableReplyError,
)

logger = get_logger("cdpengine.browser")

KEPT = 100
"""Dialogs a page whose record is kept."""

HANDLER_LIMIT = 5.0
"""Seconds that a handler gets; then the default answer is given."""

_PATIENCE = HANDLER_LIMIT + 1.0
"""Seconds that input waits, after the dialog that it opened, for its own replies. A page that opens one dialog
after the other holds nobody up for longer."""

_LONGEST_FAILURE = 300


@attrs.define(eq=False)
class Shown:
    """One dialog that opened: its record as of now, and the task of its handler."""

    dialog: Dialog
    raises: bool
    open: bool = True
    handling: trio.CancelScope | None = None


@attrs.define(eq=False)
class Span:
    """The dialogs that opened while an action ran. Filled while the action runs."""

    shown: list[Shown] = attrs.field(factory=list)

    @property
    def dialogs(self) -> tuple[Dialog, ...]:
        """Their records, in the order in which they opened."""
        return tuple(shown.dialog for shown in self.shown)

    @property
    def raising(self) -> Dialog | None:
        """The first dialog that opened under the policy "raise"."""
        return next((shown.dialog for shown in self.shown if shown.raises), None)


@attrs.define(eq=False)
class AwaitedDialog:
    """One expectation: the next dialog gets `answer`, whatever the policy is."""

    answer: DialogAnswer
    shown: Shown | None = None


class PageDialogs:
    """Follows and answers the dialogs of `session`'s page. Handlers run in `nursery`."""

    def __init__(
        self, session: Session, changes: Notifier, nursery: trio.Nursery, policy: DialogPolicy
    ) -> None:
        self.policy = policy
        self.owner: Callable[[], object] = lambda: (
            None
        )  # what `Dialog.page` is: the business of the layer above
        self.opened = 0
        self.handler_failures = 0
        self._refusals = 0
        self._session = session
        self._changes = changes
        self._nursery = nursery
        self._kept: deque[Shown] = deque(maxlen=KEPT)
        self._current: Shown | None = None
        self._spans: list[Span] = []
        self._awaited: list[AwaitedDialog] = []
        self._not_understood = RepeatedWarning(
            logger, "a dialog was not understood and is dismissed: %s", level=logging.INFO
        )
        self._handler_failed = RepeatedWarning(
            logger, "the handler of a %s dialog failed: %s", level=logging.ERROR
        )
        session.on_event("Page.javascriptDialogOpening", self._opening)
        session.on_event("Page.javascriptDialogClosed", self._closed)
        session.on_event(CRASHED, lambda _event: self._gone())
        session.on_end(self._gone)

    @property
    def records(self) -> list[Dialog]:
        """The latest dialogs, oldest first."""
        return [shown.dialog for shown in self._kept]

    @property
    def is_open(self) -> bool:
        """Whether a dialog is open now."""
        return self._current is not None

    @property
    def refusals(self) -> int:
        """How many questions before leaving got a no; the end of the last one may still have to be told."""
        shown = self._current
        refused = shown is not None and shown.dialog.type == "beforeunload" and shown.dialog.accepted is False
        return self._refusals + refused

    @contextmanager
    def span(self) -> Iterator[Span]:
        """Collect the dialogs that open while the body runs."""
        span = Span()
        self._spans.append(span)
        try:
            yield span
        finally:
            self._spans.remove(span)

    @contextmanager
    def expecting(self, answer: DialogAnswer) -> Iterator[AwaitedDialog]:
        """Give the next dialog that opens while the body runs that answer. Of several, the first one is first."""
        awaited = AwaitedDialog(answer)
        self._awaited.append(awaited)
        try:
            yield awaited
        finally:
            self._awaited.remove(awaited)

    def reported(self, action: str) -> AbstractContextManager[None]:
        """Raise DialogOpenedError after the body when a dialog opened in it under the policy "raise".

        An error of the body's own leaves as itself, with a note of the dialogs; only a failed navigation gives
        way, because a dismissed question before leaving is what made it fail.
        """
        return _Reported(self._spans, action)

    async def wait_for_answer(self) -> None:
        """Wait until no dialog is open. Bounded: handlers have their limit, and what ends the page ends it."""
        if self.is_open:
            await self._changes.wait_for(lambda: not self.is_open)

    async def outlast(self) -> None:
        """Return when a gesture that opened a dialog need not be waited for any longer: 6 s from now.

        By then every handler has had its time. The gesture's own replies come before that, as a rule.
        """
        await trio.sleep(_PATIENCE)

    # --- what Chrome tells, in the reader --------------------------------------------------------------------

    def _opening(self, event: Event) -> None:
        try:
            opening = event.decode(JavascriptDialogOpening)
        except UndecodableReplyError as error:
            self._not_understood.tell(error)
            opening = JavascriptDialogOpening(type="unknown")
        self._gone()  # Chrome shows one at a time: an older one is over
        dialog = Dialog(
            type=opening.type,
            message=opening.message,
            url=opening.url,
            default_prompt=opening.default_prompt,
            frame_id=opening.frame_id,
            page=self.owner(),
        )
        awaited = next((each for each in self._awaited if each.shown is None), None)
        shown = self._current = Shown(dialog, raises=awaited is None and self.policy.raises)
        self._kept.append(shown)
        self.opened += 1
        for span in self._spans:
            span.shown.append(shown)
        handler = self.policy.handler
        if awaited is not None:
            awaited.shown = shown
            self._answer(shown, filled_in(awaited.answer, dialog), "expectation")
        elif handler is None or opening.type == "unknown":
            self._answer(shown, self.policy.answer(dialog), "policy")
        else:
            shown.handling = trio.CancelScope()
            self._nursery.start_soon(self._handle, shown, handler, shown.handling, name="dialog handler")
        self._changes.notify()

    def _closed(self, event: Event) -> None:
        shown = self._current
        if shown is None:
            return
        try:
            closed = event.decode(JavascriptDialogClosed)
        except UndecodableReplyError:
            self._gone()
            return
        # Chrome's word counts, not ours: somebody may have been faster.
        ours = shown.dialog.answered_by and shown.dialog.accepted == closed.result
        text = closed.user_input if shown.dialog.type == "prompt" and closed.result else None
        shown.dialog = attrs.evolve(
            shown.dialog,
            accepted=closed.result,
            prompt_text=text,
            answered_by=shown.dialog.answered_by if ours else "elsewhere",
        )
        if shown.dialog.type == "beforeunload" and not closed.result:
            self._refusals += 1
        self._end(shown)

    def _gone(self) -> None:
        """Note that the open dialog, if any, is over without an answer that Chrome has confirmed."""
        shown = self._current
        if shown is None:
            return
        if not shown.dialog.answered_by:
            shown.dialog = attrs.evolve(shown.dialog, accepted=False, answered_by="elsewhere")
        self._end(shown)

    def _end(self, shown: Shown) -> None:
        shown.open = False
        self._current = None
        if shown.handling is not None:
            shown.handling.cancel()  # its answer would come too late
        self._changes.notify()

    # --- answers ---------------------------------------------------------------------------------------------

    def _answer(self, shown: Shown, answer: DialogAnswer, answered_by: str) -> None:
        if not shown.open:
            return
        shown.dialog = attrs.evolve(
            shown.dialog, accepted=answer.accept, prompt_text=answer.prompt_text, answered_by=answered_by
        )
        params = {"accept": answer.accept}
        text = {} if answer.prompt_text is None else {"promptText": answer.prompt_text}
        # Not waited for. A refusal says that somebody else was faster: the user, or another client.
        with suppress(SessionGoneError, ConnectionLostError):
            if answer.prompt_text is not None and answer.prompt_text != shown.dialog.default_prompt:
                self._session.connection.instruments.add_secret(
                    answer.prompt_text
                )  # the default is the page's own
            self._session.post("Page.handleJavaScriptDialog", **params, **text)

    async def _handle(self, shown: Shown, handler: DialogHandler, scope: trio.CancelScope) -> None:
        answer: DialogAnswer | None = None
        failure = ""
        try:
            with scope, trio.move_on_after(HANDLER_LIMIT) as limit:
                # A handler is a stranger's code: whatever it raises must neither leave the dialog open nor end
                # the engine. It is recorded and logged.
                try:
                    answer = answer_from(await _called(handler, shown.dialog), shown.dialog)
                except Exception as error:  # noqa: BLE001 - recorded and logged, as said above
                    failure = f"{type(error).__name__}: {error}"[:_LONGEST_FAILURE]
                    self._handler_failed.tell(shown.dialog.type, failure, error=error)
            if limit.cancelled_caught:
                failure = f"it did not answer within {HANDLER_LIMIT:g} s"
                self._handler_failed.tell(shown.dialog.type, failure)
        finally:  # also when the engine ends: the dialog does not stay in somebody else's browser
            if failure:
                self.handler_failures += 1
                shown.dialog = attrs.evolve(shown.dialog, failure=failure)
            by_handler = answer is not None
            self._answer(
                shown, answer or default_answer(shown.dialog), "handler" if by_handler else "default"
            )
            self._changes.notify()


async def _called(handler: DialogHandler, dialog: Dialog) -> object:
    result: object = handler(dialog)
    return await result if inspect.isawaitable(result) else result


class _Reported:
    """What `PageDialogs.reported` returns."""

    __slots__ = ("_action", "_span", "_spans")

    def __init__(self, spans: list[Span], action: str) -> None:
        self._spans = spans
        self._action = action
        self._span = Span()

    def __enter__(self) -> None:
        self._spans.append(self._span)

    def __exit__(
        self, _kind: type[BaseException] | None, error: BaseException | None, _traceback: TracebackType | None
    ) -> None:
        span = self._span
        self._spans.remove(span)
        if error is None or isinstance(error, NavigationFailedError):
            if (dialog := span.raising) is not None:
                raise DialogOpenedError(
                    action=self._action, kind=dialog.type, text=dialog.message, dialog=dialog
                ) from error
        elif isinstance(error, EngineError):
            for opened in span.dialogs:
                error.add_note(f"a dialog opened meanwhile: {opened.type}")
