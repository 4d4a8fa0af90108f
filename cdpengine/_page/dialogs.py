"""Dialogs: alert, confirm, prompt and beforeunload of one page, answered as soon as Chrome reports them.

Rule: nothing waits for a human. While a dialog is open the page's script stands still, and with it every call that
needs the page. A policy (pure) answers at once, in the reader; a handler gets a task of its own and a limited
time. Whatever becomes of the handler, the dialog is answered: what it leaves open is answered by the default, and
a prompt that is accepted without a text is given its default text. Chrome reports the dialogs of all the page's
frames on the page's own session.

Frames of two processes can open dialogs at the same moment. Chrome then dismisses the first one, and loses the
second: no answer reaches it. The engine closes it in another way (`dialog_release`), so it is dismissed, too.
"""

from __future__ import annotations

import inspect
import logging
from collections import deque
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import Any, Literal

import attrs
import trio

from cdpengine._logs import RepeatedWarning, get_logger
from cdpengine._notifier import Notifier
from cdpengine._page.dialog_release import release_page
from cdpengine._page.navigation.active import not_active
from cdpengine._protocol.calls import PendingCall
from cdpengine._protocol.domains.page import JavascriptDialogClosed, JavascriptDialogOpening
from cdpengine._protocol.session import CRASHED, Session
from cdpengine._protocol.streams import Event
from cdpengine.errors import (
    ConnectionLostError,
    InvalidArgumentError,
    RemoteError,
    SessionGoneError,
    UndecodableReplyError,
)


@attrs.frozen
class Dialog:
    """A dialog that opened, and how it was answered.

    `type` is "alert", "confirm", "prompt", "beforeunload", or newer; `message` is the page's text, `url` and
    `frame_id` tell whose it is, and `page` is the Page that shows it, so that one handler can serve many pages.
    `default_prompt` is what stood in a prompt's field. `accepted` says whether it was answered with OK, None while
    it is open; `prompt_text` is the text that a prompt was given.

    `answered_by`: "policy"; "handler"; "expectation" (`page.expect_dialog`); "default" where a handler left it to
    the default; "elsewhere" where another client, a person or a recovery was faster, or the page went away; ""
    while it is open. `failure` tells how the handler failed ("ValueError: ...", or that it took too long), or that
    another client was faster with another answer; "" otherwise. A copy by pickle has no `page`.
    """

    type: str
    message: str
    url: str
    accepted: bool | None = None
    default_prompt: str = ""
    prompt_text: str | None = attrs.field(default=None, repr=False)
    frame_id: str = ""
    answered_by: str = ""
    failure: str = ""
    page: Any = attrs.field(default=None, repr=False, eq=False)

    def __getstate__(self) -> dict[str, Any]:
        return {each.name: getattr(self, each.name) for each in attrs.fields(Dialog)} | {"page": None}

    def __setstate__(self, state: dict[str, Any]) -> None:
        for name, value in state.items():
            object.__setattr__(self, name, value)


@attrs.frozen
class DialogAnswer:
    """OK or Cancel; `prompt_text` is for a prompt that is accepted (None: what stands in its field)."""

    accept: bool
    prompt_text: str | None = attrs.field(default=None, repr=False)


HandlerResult = DialogAnswer | bool | str | None
"""What a handler may return: an answer, OK or Cancel, the text of a prompt, None for the default answer."""

DialogHandler = Callable[[Dialog], HandlerResult | Awaitable[HandlerResult]]

PolicyName = Literal["default", "accept", "dismiss", "raise"]

_NAMES = ("default", "accept", "dismiss", "raise")

_DEFAULTS: Mapping[str, bool] = {"alert": True, "confirm": False, "prompt": False, "beforeunload": True}
"""Whether a dialog of a type is accepted by default. A question that nobody answers is a no; leaving a page is a
yes, because who navigates means it. A type not known here is dismissed."""


@attrs.frozen
class DialogPolicy:
    """How a page's dialogs are answered: a name or a handler, and the text for accepted prompts."""

    choice: PolicyName | DialogHandler = "default"
    prompt_text: str | None = attrs.field(default=None, repr=False)

    @classmethod
    def checked(cls, choice: PolicyName | DialogHandler, prompt_text: str | None = None) -> DialogPolicy:
        """Return the policy.

        Raises InvalidArgumentError for an unknown choice, and for a text that has no use.
        """
        if not callable(choice) and choice not in _NAMES:
            names = ", ".join(f'"{name}"' for name in _NAMES)
            raise InvalidArgumentError(
                what="policy", given=repr(choice)[:80], expected=f"{names}, or a function that takes a Dialog"
            )
        if prompt_text is not None and (choice != "accept" or not isinstance(prompt_text, str)):
            raise InvalidArgumentError(
                what="prompt_text",
                given=f"a {type(prompt_text).__name__} with another policy or of another type",
                expected='a str, with the policy "accept"; a handler returns its text',
            )
        return cls(choice, prompt_text)

    @property
    def handler(self) -> DialogHandler | None:
        """The handler, if the policy is one."""
        return self.choice if callable(self.choice) else None

    @property
    def raises(self) -> bool:
        """Whether the action during which a dialog opens fails with DialogOpenedError."""
        return self.choice == "raise"

    def answer(self, dialog: Dialog) -> DialogAnswer:
        """Return what is answered at once; a handler's policy gives the default."""
        if self.choice == "accept":
            return filled_in(DialogAnswer(accept=True, prompt_text=self.prompt_text), dialog)
        if self.choice in ("dismiss", "raise"):
            return DialogAnswer(accept=False)
        return default_answer(dialog)


def default_answer(dialog: Dialog) -> DialogAnswer:
    """Return what a dialog is answered where nobody said otherwise."""
    return DialogAnswer(accept=_DEFAULTS.get(dialog.type, False))


def answer_from(result: object, dialog: Dialog) -> DialogAnswer | None:
    """Turn what a handler returned into an answer; None where it left that to the default.

    Raises TypeError for a value that is not an answer.
    """
    if result is None:
        return None
    if isinstance(result, bool):
        return filled_in(DialogAnswer(accept=result), dialog)
    if isinstance(result, str):
        return DialogAnswer(accept=True, prompt_text=result)
    if isinstance(result, DialogAnswer):
        return filled_in(result, dialog)
    raise TypeError(f"it returned a {type(result).__name__}, not a DialogAnswer, bool, str or None")


def filled_in(answer: DialogAnswer, dialog: Dialog) -> DialogAnswer:
    """Give an accepted prompt its own default text where none is given: Chrome would take an empty one."""
    if dialog.type != "prompt" or not answer.accept:
        return DialogAnswer(accept=answer.accept)
    if answer.prompt_text is None:
        return DialogAnswer(accept=True, prompt_text=dialog.default_prompt)
    return answer


logger = get_logger("cdpengine.browser")

KEPT = 100
"""Dialogs a page whose record is kept."""

HANDLER_LIMIT = 5.0
"""Seconds that a handler gets; then the default answer is given."""

REPLIES_TIMEOUT = HANDLER_LIMIT + 1.0
"""Seconds that input waits, after the dialog that it opened, for its own replies. A page that opens one dialog
after the other holds nobody up for longer."""

_LONGEST_FAILURE = 300


@attrs.define(eq=False)
class Shown:
    """One dialog that opened: its record as of now, and the task of its handler. `lost`: no answer reaches it."""

    dialog: Dialog
    raises: bool
    open: bool = True
    handling: trio.CancelScope | None = None
    lost: bool = False


@attrs.define(eq=False)
class AwaitedDialog:
    """One expectation: the next dialog gets `answer`, whatever the policy is."""

    answer: DialogAnswer
    shown: Shown | None = None


class PageDialogs:
    """Follows and answers the dialogs of `session`'s page. Handlers run in `nursery`; `owner`: `Dialog.page`."""

    def __init__(
        self,
        session: Session,
        changes: Notifier,
        nursery: trio.Nursery,
        policy: DialogPolicy,
        *,
        owner: Callable[[], object] = lambda: None,
    ) -> None:
        self.policy = policy
        self.answering = True
        """Whether the policy answers. False leaves dialogs to another client, or a person."""
        self._owner = owner
        self._listeners: list[Callable[[Shown], None]] = []
        self.handler_failures = 0
        self._refusals = 0
        self._session = session
        self._changes = changes
        self._nursery = nursery
        self._kept: deque[Shown] = deque(maxlen=KEPT)
        self._current: Shown | None = None
        self._replaced: list[Shown] = []
        self._releasing = trio.Lock()
        self._awaited: list[AwaitedDialog] = []
        self._not_understood = RepeatedWarning(
            logger, "a dialog was not understood and is dismissed: %s", level=logging.INFO
        )
        self._handler_failed = RepeatedWarning(
            logger, "the handler of a %s dialog failed: %s", level=logging.ERROR
        )
        self._overruled = RepeatedWarning(logger, "the answer to a %s dialog came too late: %s")
        session.on_event("Page.javascriptDialogOpening", self._note_opening)
        session.on_event("Page.javascriptDialogClosed", self._note_closing)
        session.on_event(CRASHED, lambda _event: self._note_gone())
        session.on_end(self._note_gone)

    @property
    def records(self) -> list[Dialog]:
        """The latest dialogs, oldest first."""
        return [shown.dialog for shown in self._kept]

    def on_opening(self, listener: Callable[[Shown], None]) -> None:
        """Have `listener` called with each dialog that opens, before it is answered."""
        self._listeners.append(listener)

    def set_policy(self, policy: DialogPolicy) -> None:
        """Have dialogs answered by this policy from now on."""
        self.policy = policy
        self.begin_answering()

    def begin_answering(self) -> None:
        """Have the policy answer from now on, also the dialogs that are open and were left to others."""
        self.answering = True
        for shown in self._open_ones():
            if not shown.dialog.answered_by and shown.handling is None:
                self._answer_by_policy(shown)

    @property
    def is_open(self) -> bool:
        """Whether a dialog is open now."""
        return self._current is not None or bool(self._replaced)

    @property
    def refusals(self) -> int:
        """How many beforeunload dialogs were dismissed; the end of the last one may not be reported yet."""
        shown = self._current
        refused = shown is not None and shown.dialog.type == "beforeunload" and shown.dialog.accepted is False
        return self._refusals + refused

    @contextmanager
    def expecting(self, answer: DialogAnswer) -> Iterator[AwaitedDialog]:
        """Give the next dialog that opens while the body runs that answer. Of several, the first one is first."""
        awaited = AwaitedDialog(answer)
        self._awaited.append(awaited)
        try:
            yield awaited
        finally:
            self._awaited.remove(awaited)

    async def wait_for_answer(self) -> None:
        """Wait until no dialog is open. Bounded: handlers have their limit, and what ends the page ends it."""
        if self.is_open:
            await self._changes.wait_for(lambda: not self.is_open)

    # --- what Chrome tells, in the reader --------------------------------------------------------------------

    def _note_opening(self, event: Event) -> None:
        try:
            opening = event.decode(JavascriptDialogOpening)
        except UndecodableReplyError as error:
            self._not_understood.tell(error)
            opening = JavascriptDialogOpening(type="unknown")
        if self._current is not None:  # of another process; Chrome reports its end after this event
            self._replaced.append(self._current)
        dialog = Dialog(
            type=opening.type,
            message=opening.message,
            url=opening.url,
            default_prompt=opening.default_prompt,
            frame_id=opening.frame_id,
            page=self._owner(),
        )
        awaited = next((each for each in self._awaited if each.shown is None), None)
        shown = self._current = Shown(dialog, raises=awaited is None and self.policy.raises)
        self._kept.append(shown)
        for listener in self._listeners:
            listener(shown)
        if awaited is not None:
            awaited.shown = shown
            self._answer(shown, filled_in(awaited.answer, dialog), "expectation")
        elif self.answering:
            self._answer_by_policy(shown)
        self._changes.notify()

    def _answer_by_policy(self, shown: Shown) -> None:
        handler = self.policy.handler
        if handler is None or shown.dialog.type == "unknown":
            self._answer(shown, self.policy.answer(shown.dialog), "policy")
        else:
            shown.handling = trio.CancelScope()
            self._nursery.start_soon(self._handle, shown, handler, shown.handling, name="dialog handler")

    def _note_closing(self, event: Event) -> None:
        try:
            closed = event.decode(JavascriptDialogClosed)
        except UndecodableReplyError:
            self._note_gone()
            return
        shown = self._closed_one(closed.frame_id)
        if shown is None:
            return
        # Chrome's word counts, not ours: somebody may have been faster.
        ours = bool(shown.dialog.answered_by) and shown.dialog.accepted == closed.result
        if shown.dialog.answered_by and not ours:
            self._note_overruled(shown, closed.result)
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
        for lost in self._open_ones():
            if not lost.lost and self.answering:
                lost.lost = True
                self._nursery.start_soon(self._release, lost, name="dialog release")

    def _note_overruled(self, shown: Shown, accepted: bool) -> None:
        """Note that Chrome took another answer than the engine's."""
        asked, came = (("accepted", "dismissed")[not each] for each in (shown.dialog.accepted, accepted))
        failure = f"another client of the browser, or a person, was faster: it was {came}, not {asked}"
        shown.dialog = attrs.evolve(shown.dialog, failure=shown.dialog.failure or failure)
        self._overruled.tell(shown.dialog.type, failure)

    def _open_ones(self) -> list[Shown]:
        return [*self._replaced, *([] if self._current is None else [self._current])]

    def _closed_one(self, frame_id: str) -> Shown | None:
        """Return the open dialog of a frame; the oldest one where Chrome does not say the frame.

        A frame opens one at a time: of several, Chrome has not reported the end of the older ones.
        """
        shown = self._open_ones()
        of_frame = [each for each in shown if each.dialog.frame_id == frame_id]
        return of_frame[-1] if of_frame else next(iter(shown), None)

    def _note_gone(self) -> None:
        """Note that the open dialogs, if any, are over without an answer that Chrome has confirmed."""
        for shown in self._open_ones():
            if not shown.dialog.answered_by:
                shown.dialog = attrs.evolve(shown.dialog, accepted=False, answered_by="elsewhere")
            self._end(shown)

    def _end(self, shown: Shown) -> None:
        shown.open = False
        if shown is self._current:
            self._current = None
        else:
            self._replaced.remove(shown)
        if shown.handling is not None:
            shown.handling.cancel()  # its answer would come too late
        self._changes.notify()

    async def _release(self, shown: Shown) -> None:
        async with self._releasing:
            await release_page(self._session, lambda: shown.open)
        if shown.open and self._session.error() is None:
            logger.warning("a dialog that Chrome has lost was not closed: a script of the page stays stopped")

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
            call = self._session.post("Page.handleJavaScriptDialog", **params, **text)
            self._nursery.start_soon(self._see_answered, shown, call, name="dialog answer")

    async def _see_answered(self, shown: Shown, call: PendingCall) -> None:
        """Release the page if a navigation that is about to replace its document keeps the answer from the dialog.

        Chrome then waits for the document's process, which waits for the dialog (measured: 6 of 60 late dialogs).
        """
        try:
            await call.raw()
        except RemoteError as error:
            if not_active(error) and shown.open and not shown.lost:
                shown.lost = True
                await self._release(shown)
        except (SessionGoneError, ConnectionLostError):
            return

    async def _handle(self, shown: Shown, handler: DialogHandler, scope: trio.CancelScope) -> None:
        answer: DialogAnswer | None = None
        failure = ""
        try:
            with scope, trio.move_on_after(HANDLER_LIMIT) as limit:
                # A handler is a stranger's code: whatever it raises must neither leave the dialog open nor end
                # the engine. It is recorded and logged.
                try:
                    answer = answer_from(await _call(handler, shown.dialog), shown.dialog)
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


async def _call(handler: DialogHandler, dialog: Dialog) -> object:
    result: object = handler(dialog)
    return await result if inspect.isawaitable(result) else result
