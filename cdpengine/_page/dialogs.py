"""Dialogs: alert, confirm, prompt and beforeunload of one page, answered as soon as Chrome reports them.

Rule: nothing waits for a person. An open dialog pauses the page's script, and every call that needs the page. A
policy (pure) answers immediately, in the reader. A handler runs in a separate task, for a limited time. The dialog
is always answered: if the handler fails, by the default answer. An accepted prompt without an answer gets its
default. Chrome reports the dialogs of all frames on the page's session.

Frames of two processes can open dialogs at the same moment. Chrome then dismisses the first one and loses the
second, which no answer reaches. The engine closes it in another way (`dialog_release`), which dismisses it too.
"""

from __future__ import annotations

import logging
from collections import deque
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import Any, Literal

import attrs
import trio

from cdpengine._checks import invalid
from cdpengine._handlers import call_handler, describe_failure
from cdpengine._logs import RepeatedWarning, get_logger
from cdpengine._notifier import Notifier
from cdpengine._page.dialog_release import release_page
from cdpengine._page.frames import FrameTree
from cdpengine._page.navigation.active_document import is_not_active
from cdpengine._protocol.calls import PendingCall
from cdpengine._protocol.domains.page import JavascriptDialogClosed, JavascriptDialogOpening
from cdpengine._protocol.feed import CRASHED
from cdpengine._protocol.session import Session
from cdpengine._protocol.streams import Event
from cdpengine.errors import (
    ConnectionLostError,
    InvalidArgumentError,
    ProtocolError,
    RemoteError,
    SessionGoneError,
)


@attrs.frozen
class Dialog:
    """A dialog and its answer.

    `type` is "alert", "confirm", "prompt", "beforeunload", or a newer type. `message` is the page's text. `url`
    and `frame_id` identify its frame. `page` is the Page that shows it, so that one handler can serve many pages.
    `default_prompt` is the initial text of a prompt. `accepted` is whether it was answered with OK, None while it
    is open. `prompt_text` is the answer given to a prompt.

    `answered_by` is "policy"; "handler"; "expectation" (`page.expect_dialog`); "default" if a handler returned
    None; "elsewhere" if another client, a person or a recovery was faster, or the page went away; "" while it is
    open. `failure` describes a failure of the handler ("ValueError: ...", or a timeout), or a different answer by
    another client; otherwise it is "". A pickled copy has no `page`.
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
    """OK or Cancel. `prompt_text` is for an accepted prompt; None keeps its initial text."""

    accept: bool
    prompt_text: str | None = attrs.field(default=None, repr=False)


HandlerResult = DialogAnswer | bool | str | None
"""Result of a handler: an answer, OK or Cancel, a prompt's answer, or None for the default answer."""

DialogHandler = Callable[[Dialog], HandlerResult | Awaitable[HandlerResult]]

PolicyName = Literal["default", "accept", "dismiss", "raise"]

_NAMES = ("default", "accept", "dismiss", "raise")

_DEFAULTS: Mapping[str, bool] = {"alert": True, "confirm": False, "prompt": False, "beforeunload": True}
"""Whether a dialog of a type is accepted by default. Questions are declined. Leaving a page is accepted, because a
navigation intends it. Unknown types are dismissed."""


@attrs.frozen
class DialogPolicy:
    """Answers to a page's dialogs: a policy name or a handler, and the answer to accepted prompts."""

    choice: PolicyName | DialogHandler = "default"
    prompt_text: str | None = attrs.field(default=None, repr=False)

    @classmethod
    def checked(cls, choice: PolicyName | DialogHandler, prompt_text: str | None = None) -> DialogPolicy:
        """Return the policy.

        Raises InvalidArgumentError for an unknown choice, and for a `prompt_text` that the policy would not use.
        """
        if not callable(choice) and choice not in _NAMES:
            names = ", ".join(f'"{name}"' for name in _NAMES)
            raise invalid("policy", choice, f"{names}, or a function that takes a Dialog")
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
        """Whether the action during which a dialog opens raises DialogOpenedError."""
        return self.choice == "raise"

    def answer(self, dialog: Dialog) -> DialogAnswer:
        """Return the immediate answer. For a handler, this is the default answer."""
        if self.choice == "accept":
            return with_default_text(DialogAnswer(accept=True, prompt_text=self.prompt_text), dialog)
        if self.choice in ("dismiss", "raise"):
            return DialogAnswer(accept=False)
        return default_answer(dialog)


def default_answer(dialog: Dialog) -> DialogAnswer:
    """Return the default answer to a dialog."""
    return DialogAnswer(accept=_DEFAULTS.get(dialog.type, False))


def answer_from(result: object, dialog: Dialog) -> DialogAnswer | None:
    """Return the answer from a handler's result, or None if the handler chose the default.

    Raises TypeError for a value that is not an answer.
    """
    if result is None:
        return None
    if isinstance(result, bool):
        return with_default_text(DialogAnswer(accept=result), dialog)
    if isinstance(result, str):
        return DialogAnswer(accept=True, prompt_text=result)
    if isinstance(result, DialogAnswer):
        return with_default_text(result, dialog)
    raise TypeError(f"it returned a {type(result).__name__}, not a DialogAnswer, bool, str or None")


def with_default_text(answer: DialogAnswer, dialog: Dialog) -> DialogAnswer:
    """Add a prompt's default to an answer without a string, because Chrome would use an empty one."""
    if dialog.type != "prompt" or not answer.accept:
        return DialogAnswer(accept=answer.accept)
    if answer.prompt_text is None:
        return DialogAnswer(accept=True, prompt_text=dialog.default_prompt)
    return answer


logger = get_logger("cdpengine.browser")

MAX_RECORDS = 100
"""Maximum number of dialogs of a page whose record is kept."""

HANDLER_LIMIT = 5.0
"""Timeout of a handler in seconds. Afterwards the default answer is used."""

REPLIES_TIMEOUT = HANDLER_LIMIT + 1.0
"""Time in seconds that input waits for its replies after it opened a dialog. A page that opens one dialog after
another delays no input for longer."""


@attrs.define(eq=False)
class TrackedDialog:
    """One open dialog: its current record and its handler's task. `lost`: no answer reaches it."""

    dialog: Dialog
    raises: bool
    open: bool = True
    handling: trio.CancelScope | None = None
    lost: bool = False


@attrs.define(eq=False)
class AwaitedDialog:
    """A prepared answer for the next dialog, whatever the policy is."""

    answer: DialogAnswer
    tracked: TrackedDialog | None = None


class PageDialogs:
    """The dialogs of `session`'s page and their answers. Handlers run in `nursery`. `owner` is `Dialog.page`."""

    def __init__(
        self,
        session: Session,
        changes: Notifier,
        nursery: trio.Nursery,
        policy: DialogPolicy,
        *,
        frames: FrameTree | None = None,
        owner: Callable[[], object] = lambda: None,
    ) -> None:
        self.policy = policy
        self.answering = True
        """Whether the policy answers. False leaves dialogs to another client or a person."""
        self._owner = owner
        self._frames = frames
        self._listeners: list[Callable[[TrackedDialog], None]] = []
        self._refusals = 0
        self._session = session
        self._changes = changes
        self._nursery = nursery
        self._tracked: deque[TrackedDialog] = deque(maxlen=MAX_RECORDS)
        self._current: TrackedDialog | None = None
        self._replaced: list[TrackedDialog] = []
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
        return [tracked.dialog for tracked in self._tracked]

    def on_opening(self, listener: Callable[[TrackedDialog], None]) -> None:
        """Call `listener` with each dialog that opens, before it is answered."""
        self._listeners.append(listener)

    def off_opening(self, listener: Callable[[TrackedDialog], None]) -> None:
        """Remove a listener of `on_opening`."""
        self._listeners.remove(listener)

    def set_policy(self, policy: DialogPolicy) -> None:
        """Set the policy for later dialogs."""
        self.policy = policy
        self.begin_answering()

    def begin_answering(self) -> None:
        """Let the policy answer from now on, including open dialogs that were left to others."""
        self.answering = True
        for tracked in self._open_ones():
            if not tracked.dialog.answered_by and tracked.handling is None:
                self._answer_by_policy(tracked)

    @property
    def is_open(self) -> bool:
        """Whether a dialog is open now."""
        return self._current is not None or bool(self._replaced)

    @property
    def refusals(self) -> int:
        """The number of dismissed beforeunload dialogs.

        Chrome may not have reported the end of the last one yet.
        """
        tracked = self._current
        refused = (
            tracked is not None and tracked.dialog.type == "beforeunload" and tracked.dialog.accepted is False
        )
        return self._refusals + refused

    @contextmanager
    def expecting(self, answer: DialogAnswer) -> Iterator[AwaitedDialog]:
        """Answer the next dialog during the body with `answer`. The first expectation has priority."""
        awaited = AwaitedDialog(answer)
        self._awaited.append(awaited)
        try:
            yield awaited
        finally:
            self._awaited.remove(awaited)

    async def wait_for_answer(self) -> None:
        """Wait until no dialog is open. Handlers are limited, and the end of the page ends the wait."""
        if self.is_open:
            await self._changes.wait_for(lambda: not self.is_open)

    # --- Chrome's reports, in the reader -------------------------------------------------------------------------

    def _note_opening(self, event: Event) -> None:
        try:
            opening = event.decode(JavascriptDialogOpening)
        except ProtocolError as error:
            self._not_understood.log(error)
            opening = JavascriptDialogOpening(type="unknown")
        if self._current is not None:  # in another process; Chrome reports its end after this event
            self._replaced.append(self._current)
        dialog = Dialog(
            type=opening.type,
            message=opening.message,
            url=opening.url,
            default_prompt=opening.default_prompt,
            frame_id=opening.frame_id,
            page=self._owner(),
        )
        awaited = next((each for each in self._awaited if each.tracked is None), None)
        tracked = self._current = TrackedDialog(dialog, raises=awaited is None and self.policy.raises)
        self._tracked.append(tracked)
        for listener in tuple(self._listeners):
            listener(tracked)
        if awaited is not None:
            awaited.tracked = tracked
            self._answer(tracked, with_default_text(awaited.answer, dialog), "expectation")
        elif self.answering:
            self._answer_by_policy(tracked)
        self._changes.notify()

    def _answer_by_policy(self, tracked: TrackedDialog) -> None:
        handler = self.policy.handler
        if handler is None or tracked.dialog.type == "unknown":
            self._answer(tracked, self.policy.answer(tracked.dialog), "policy")
        else:
            tracked.handling = trio.CancelScope()
            self._nursery.start_soon(self._handle, tracked, handler, tracked.handling, name="dialog handler")

    def _note_closing(self, event: Event) -> None:
        try:
            closed = event.decode(JavascriptDialogClosed)
        except ProtocolError:
            self._note_gone()
            return
        tracked = self._find_closed(closed.frame_id)
        if tracked is None:
            return
        # Chrome's report decides, because another client may have been faster.
        ours = bool(tracked.dialog.answered_by) and tracked.dialog.accepted == closed.result
        if tracked.dialog.answered_by and not ours:
            self._note_overruled(tracked, closed.result)
        text = closed.user_input if tracked.dialog.type == "prompt" and closed.result else None
        tracked.dialog = attrs.evolve(
            tracked.dialog,
            accepted=closed.result,
            prompt_text=text,
            answered_by=tracked.dialog.answered_by if ours else "elsewhere",
        )
        if tracked.dialog.type == "beforeunload" and not closed.result:
            self._refusals += 1
        self._end(tracked)
        for lost in self._open_ones():
            if not lost.lost and self.answering:
                lost.lost = True
                self._nursery.start_soon(self._release, lost, name="dialog release")

    def _note_overruled(self, tracked: TrackedDialog, accepted: bool) -> None:
        """Note that Chrome used another answer than the engine sent."""
        requested, actual = (
            ("accepted", "dismissed")[not each] for each in (tracked.dialog.accepted, accepted)
        )
        failure = f"another client of the browser, or a person, was faster: it was {actual}, not {requested}"
        tracked.dialog = attrs.evolve(tracked.dialog, failure=tracked.dialog.failure or failure)
        self._overruled.log(tracked.dialog.type, failure)

    def _open_ones(self) -> list[TrackedDialog]:
        return [*self._replaced, *([] if self._current is None else [self._current])]

    def _find_closed(self, frame_id: str) -> TrackedDialog | None:
        """Return the open dialog of a frame, or the oldest one if Chrome does not report the frame.

        A frame opens one dialog at a time. Of several, Chrome has not reported the end of the older ones.
        """
        open_dialogs = self._open_ones()
        of_frame = [each for each in open_dialogs if each.dialog.frame_id == frame_id]
        return of_frame[-1] if of_frame else next(iter(open_dialogs), None)

    def _note_gone(self) -> None:
        """Mark the open dialogs as ended without a confirmed answer."""
        for tracked in self._open_ones():
            if not tracked.dialog.answered_by:
                tracked.dialog = attrs.evolve(tracked.dialog, accepted=False, answered_by="elsewhere")
            self._end(tracked)

    def _end(self, tracked: TrackedDialog) -> None:
        tracked.open = False
        if tracked is self._current:
            self._current = None
        else:
            self._replaced.remove(tracked)
        if tracked.handling is not None:
            tracked.handling.cancel()  # its answer would be too late
        self._changes.notify()

    async def _release(self, tracked: TrackedDialog) -> None:
        async with self._releasing:
            await release_page(
                self._session,
                lambda: tracked.open,
                frame_id=tracked.dialog.frame_id,
                frames=self._frames,
            )
        if tracked.open and self._session.error() is None:
            logger.warning(
                "a dialog that Chrome has lost was not closed: a script of the page stays stopped. "
                'page.recover(allow="reload") ends it'
            )

    # --- answers ---------------------------------------------------------------------------------------------

    def _answer(self, tracked: TrackedDialog, answer: DialogAnswer, answered_by: str) -> None:
        if not tracked.open:
            return
        tracked.dialog = attrs.evolve(
            tracked.dialog, accepted=answer.accept, prompt_text=answer.prompt_text, answered_by=answered_by
        )
        params = {"accept": answer.accept}
        text = {} if answer.prompt_text is None else {"promptText": answer.prompt_text}
        # Not awaited. A refusal means that the user or another client was faster.
        with suppress(SessionGoneError, ConnectionLostError):
            if answer.prompt_text is not None and answer.prompt_text != tracked.dialog.default_prompt:
                self._session.connection.instruments.add_secret(
                    answer.prompt_text
                )  # the page defines the default
            call = self._session.post("Page.handleJavaScriptDialog", **params, **text)
            self._nursery.start_soon(self._release_if_blocked, tracked, call, name="dialog answer")

    async def _release_if_blocked(self, tracked: TrackedDialog, call: PendingCall) -> None:
        """Release the page if a pending navigation blocks the answer to its dialog.

        Chrome then waits for the document's process, which waits for the dialog (measured: 6 of 60 late dialogs).
        """
        try:
            await call.raw()
        except RemoteError as error:
            if is_not_active(error) and tracked.open and not tracked.lost:
                tracked.lost = True
                await self._release(tracked)
        except (SessionGoneError, ConnectionLostError):
            return

    async def _handle(self, tracked: TrackedDialog, handler: DialogHandler, scope: trio.CancelScope) -> None:
        answer: DialogAnswer | None = None
        failure = ""
        try:
            with scope, trio.move_on_after(HANDLER_LIMIT) as limit:
                # A handler is the user's code. No exception of it may leave the dialog open or end the engine. It
                # is recorded and logged.
                try:
                    answer = answer_from(await call_handler(handler, tracked.dialog), tracked.dialog)
                except Exception as error:  # noqa: BLE001 - recorded and logged
                    failure = describe_failure(error)
                    self._handler_failed.log(tracked.dialog.type, failure, error=error)
            if limit.cancelled_caught:
                failure = f"it did not answer within {HANDLER_LIMIT:g} s"
                self._handler_failed.log(tracked.dialog.type, failure)
        finally:  # also when the engine ends, so that no dialog remains in a shared browser
            if failure:
                tracked.dialog = attrs.evolve(tracked.dialog, failure=failure)
            by_handler = answer is not None
            self._answer(
                tracked, answer or default_answer(tracked.dialog), "handler" if by_handler else "default"
            )
            self._changes.notify()
