"""Errors of a page: navigations, dialogs, actions on nodes; deadlines, and JavaScript that threw or was ended."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import attrs

from cdpengine.errors.root import NEVER_SHOWN, PACKAGE, DeadlineExceededError, EngineError
from cdpengine.errors.texts import LONGEST_TEXT, LONGEST_URL, cut, listed, shown_url, tried


@attrs.define(eq=False, slots=False, str=False, repr=False)
class NavigationFailedError(EngineError):
    """The document did not load. `reason` is Chrome's own word, such as net::ERR_CONNECTION_REFUSED.

    `url` is where it was to go; with `asked` (an entry of the history that is not there), where the page is.
    """

    url: str
    reason: str
    asked: str = ""

    def _describe(self) -> str:
        return f"navigation to {self.asked or shown_url(self.url)} failed: {self.reason}"


@attrs.define(eq=False, slots=False, str=False, repr=False)
class DownloadFailedError(EngineError):
    """There is no file: the download was cancelled, refused or broken off, or its file could not be kept."""

    url: str
    reason: str

    def _describe(self) -> str:
        return f"download of {shown_url(self.url)} failed: {self.reason}"


@attrs.define(eq=False, slots=False, str=False, repr=False)
class DialogOpenedError(EngineError):
    """A JavaScript dialog opened during `action`, under the policy "raise". It was dismissed at once.

    `dialog` is its record (a `cdpengine.Dialog`); `kind` is its type, `text` what the page said in it. The action
    itself came to its end.
    """

    action: str
    kind: str
    text: str = ""
    dialog: object = None

    def _describe(self) -> str:
        text = self.text if len(self.text) <= LONGEST_URL else f"{self.text[:LONGEST_URL]}..."
        return f"{self.action}: the page opened a dialog ({self.kind} {text!r}), which was dismissed"


class NodeError(EngineError):
    """Something about one node of the page."""


Became = Literal[
    "", "removed", "detached", "replaced", "swapped", "moved", "frame gone", "dropped", "foreign", "renamed"
]
"""What came of a node whose ref is stale."""


@attrs.define(eq=False, slots=False, str=False, repr=False)
class StaleRefError(NodeError):
    """The ref named a node that is no longer what it was. It never hits another element instead.

    `became` says what came of the node, where that is known: "removed" (gone for good), "detached" (it lives, but
    is in no document), "replaced" (its document was, by a navigation or reload), "swapped" (its frame went on in
    another process), "moved" (it is in another frame's document), "frame gone", "dropped" (forgotten, to bound
    memory), "foreign" (it is of another page, or of a browser that has ended), "renamed" (the page uses it for
    something else: its role or name is not what the caller was last given). `alternatives` are refs
    (`cdpengine.Ref`) of the present page with the same role and name, or the same but for a counter, as far as the
    latest snapshot knows; for a node that left its document, its frame is read again. `candidates` says that they
    were looked for anew, by `heal`, and that it was not sure which.
    """

    ref: str
    description: str
    reason: str
    became: Became = ""
    alternatives: tuple[Any, ...] = ()
    candidates: bool = False

    def _describe(self) -> str:
        said = f"{self.ref} ({self.description}) is stale: {self.reason}"
        if self.candidates:
            found = ", ".join(map(str, self.alternatives)) or "nothing like it"
            return f"{said}. Healing was not sure; the page has {found}"
        if self.alternatives:
            said += f"; the page has {', '.join(map(str, self.alternatives))}"
        return f"{said}. Take a new snapshot"


@attrs.define(eq=False, slots=False, str=False, repr=False)
class NodeNotFoundError(NodeError):
    """Nothing on the page matches `target`."""

    target: str
    reason: str

    def _describe(self) -> str:
        return f"{self.target}: {self.reason}"


@attrs.define(eq=False, slots=False, str=False, repr=False)
class AmbiguousNodeError(NodeError):
    """Several nodes match `target`, and one was asked for. `candidates` describes the first of them."""

    target: str
    count: int
    candidates: Sequence[str] = ()

    def _describe(self) -> str:
        more = self.count - len(self.candidates)
        rest = f"\n  - and {more} more" if more > 0 else ""
        return (
            f"{self.target}: {self.count} nodes match. Ask more precisely, or pass nth= (from 0):"
            f"{tried(self.candidates)}{rest}"
        )


@attrs.define(eq=False, slots=False, str=False, repr=False)
class NotInteractableError(NodeError):
    """The node is there, but `action` cannot be done to it now. `steps` lists what was tried, in order."""

    action: str
    target: str
    reason: str
    steps: Sequence[str] = ()

    def _describe(self) -> str:
        return f"cannot {self.action} {self.target}: {self.reason}{tried(self.steps)}"


@attrs.define(eq=False, slots=False, str=False, repr=False)
class CoveredError(NotInteractableError):
    """Another element would receive the event; nothing on the page has received a press.

    `covered_by` describes it, `covered_ref` is its ref if a snapshot gave it one, `covering_node` Chrome's
    backendDOMNodeId of it if that could be asked for in time.
    """

    covered_by: str = ""
    covered_ref: str = ""
    covering_node: int | None = None

    def _describe(self) -> str:
        ref = f" (it is {self.covered_ref})" if self.covered_ref else ""
        return f"cannot {self.action} {self.target}: {self.reason}{ref}{tried(self.steps)}"


@attrs.define(eq=False, slots=False, str=False, repr=False)
class NotDeliveredError(NotInteractableError):
    """The input was sent, and the node did not receive its press (of a hover: the mouse); or it lost the rest.

    `events` are the types of those that the node did receive: with a press among them, nothing that the page did
    at these events explains where the rest went (where it does, there is no error: the outcome's `delivered` is
    False). `elsewhere` are those that something else received: type, and a description of that; `received_by` is
    the first such description, "" where nothing of the document is known to have received any. `held_back`: they
    were kept from that, so nothing on the page has noticed; the press was tried again until the deadline.
    """

    received_by: str = ""
    held_back: bool = False
    events: Sequence[str] = ()
    elsewhere: Sequence[tuple[str, str]] = ()


@attrs.define(eq=False, slots=False, str=False, repr=False)
class FocusMovedError(NotDeliveredError):
    """The page moved the focus while keys were sent: `typed` of `total` characters reached the node.

    `unit` is "keys" for controls that are filled key by key, such as dates.

    `held_back` says that no other element received the rest; otherwise the focus went to a frame of another site,
    where keys cannot be held back. `received_by` describes the element that has the focus now, "" for none.
    `focus_ref` is its ref, given now if no snapshot has given it one, and "" where it gets none. `focus_node` is
    Chrome's backendDOMNodeId of it in the session `session_id`. For a single key, `total` is 0. The message shows
    nothing of the text.
    """

    typed: int = 0
    total: int = 0
    unit: str = "characters"
    focus_ref: str = ""
    focus_node: int | None = None
    session_id: str | None = None

    def _describe(self) -> str:
        ref = f" ({self.focus_ref})" if self.focus_ref else ""
        moved = f"the focus moved to {self.received_by}{ref}" if self.received_by else "it lost the focus"
        rest = "the rest was held back" if self.held_back else "the rest may have arrived there"
        done = (
            f"typed {self.typed} of {self.total} {self.unit}" if self.total else "it did not receive the key"
        )
        return f"cannot {self.action} {self.target}: {done}; {moved}, and {rest}{tried(self.steps)}"


class InvisibleError(NotInteractableError):
    """The node has no visible area: hidden, of no size, detached, or clipped away."""


class DisabledError(NotInteractableError):
    """The node is disabled, or read-only where text was to be typed."""


class UnstableError(NotInteractableError):
    """The node kept moving until the deadline."""


@attrs.define(eq=False, slots=False, str=False, repr=False)
class ValueRefusedError(NotInteractableError):
    """The control did not take the value. `took` is what it holds instead; None for a secret field.

    The message does not show it: it is what was typed, or made of that.
    """

    took: str | None = attrs.field(default=None, metadata={NEVER_SHOWN: True})

    def _describe(self) -> str:
        held = "; what it holds is not shown"
        if self.took is not None:
            held += f", and is in .took ({len(self.took)} characters)"
        return f"cannot {self.action} {self.target}: {self.reason}{held}{tried(self.steps)}"


@attrs.define(eq=False, slots=False, str=False, repr=False)
class OptionNotFoundError(NotInteractableError):
    """A select or listbox has no such option. `options` are the labels that it has, the first of them.

    `wanted` are the values, labels or places that were asked for in vain; the message does not show them.
    """

    options: Sequence[str] = ()
    wanted: Sequence[str] = attrs.field(default=(), metadata={NEVER_SHOWN: True})

    def _describe(self) -> str:
        there = (
            f". It has: {cut(', '.join(map(repr, self.options)), 150)}" if self.options else ". It has none"
        )
        return f"cannot {self.action} {self.target}: {self.reason}{there}{tried(self.steps)}"


@attrs.frozen
class FailedField:
    """One field of a form that could not be filled in: its target, as it was given, and why."""

    __module__ = PACKAGE

    target: str
    error: EngineError = attrs.field(eq=str)  # errors have no equality of their own


@attrs.define(eq=False, slots=False, str=False, repr=False)
class FormError(EngineError):
    """Some fields of a form could not be filled in; all of them are in `failed`. `filled` others were."""

    failed: Sequence[FailedField]
    filled: int = 0

    def _describe(self) -> str:
        total = len(self.failed) + self.filled
        lines = listed(
            [f"{field.target}: {str(field.error).partition(chr(10))[0]}" for field in self.failed], ".failed"
        )
        return f"{len(self.failed)} of {total} fields were not filled in:{lines}"


# --- time, and evaluation ------------------------------------------------------------------------------------


@attrs.define(eq=False, slots=False, str=False, repr=False)
class PageUnresponsiveError(DeadlineExceededError):
    """The time ran out, and the page does not answer: its script keeps it busy, or waits and lets nothing run.

    `unresponsive_for` is for how many seconds at least, 0.5 or more: since the page was asked whether it is there,
    which it has not answered yet. Where less is known, as with a first `timeout` below 0.5 s, the error is
    DeadlineExceededError.
    """

    unresponsive_for: float = 0.0

    def _describe(self) -> str:
        return (
            f"{self.action} did not finish within {self.timeout:g} s: the page has not answered for at least "
            f'{self.unresponsive_for:.2f} s. page.recover() stops its script, page.recover(allow="reload") also '
            f'reloads it, page.recover(allow="close") closes it{tried(self.steps)}'
        )


@attrs.define(eq=False, slots=False, str=False, repr=False)
class EvaluationFailedError(EngineError):
    """The page's JavaScript threw. `text` is the thrown value's own description, `stack` its frames.

    Where it did not throw (`threw` is False), `text` says why its value cannot be had.
    Texts of 6 characters or more that the script was given stand in neither: they read "***".
    """

    text: str
    stack: str = ""
    line: int | None = None
    column: int | None = None
    threw: bool = True

    def _describe(self) -> str:
        what = "JavaScript threw" if self.threw else "the value cannot be had"
        return f"{what}: {cut(self.text, LONGEST_TEXT)}"


class ValueTooLargeError(EvaluationFailedError):
    """The script ran to its end, but its value is too large, or nested too deeply, to be brought here."""

    def _describe(self) -> str:
        return f"the script ran, but its value was not returned: {self.text}. Return the parts that you need"


@attrs.frozen
class RecoveryStep:
    """One thing that was done to bring a page back. `done`: Chrome confirmed it, and in time."""

    __module__ = PACKAGE

    name: Literal["dialog", "terminate", "reload", "close"]
    done: bool
    detail: str = ""
    milliseconds: float = 0.0

    def __str__(self) -> str:
        more = f" ({self.detail})" if self.detail else ""
        return f"{self.name}: {'done' if self.done else 'not confirmed'}{more}, {self.milliseconds:.0f} ms"


@attrs.frozen
class RecoveryReport:
    """What was done to bring a page back, in order, and what is known of it after that.

    `sent`: a script was given to the page at all. `responsive`: the page answered a probe after the last step.
    `under_way`: more is being done, and the page's next action waits for its end. `terminated`: Chrome
    confirmed that what ran in the page's process was terminated. `closed`: the page was closed.
    """

    __module__ = PACKAGE

    sent: bool = False
    steps: tuple[RecoveryStep, ...] = ()
    responsive: bool = False
    under_way: bool = False
    terminated: bool = attrs.field(init=False)
    closed: bool = attrs.field(init=False)

    @terminated.default
    def _terminated(self) -> bool:
        return self.did("terminate")

    @closed.default
    def _closed(self) -> bool:
        return self.did("close")

    def did(self, name: str) -> bool:
        """Tell whether the step of that name was done."""
        return any(step.done for step in self.steps if step.name == name)

    def __str__(self) -> str:
        if self.closed:
            state = "the page was closed"
        elif self.responsive:
            state = "the page answers again" if self.steps else "the page answers"
        else:
            state = "the page does not answer yet"
        more = (
            "; the recovery is under way, and the page's next action waits for it" if self.under_way else ""
        )
        steps = f" [{'; '.join(map(str, self.steps))}]" if self.steps else ""
        return f"{state}{more}{steps}"


@attrs.define(eq=False, slots=False, str=False, repr=False)
class EvaluationTimeoutError(DeadlineExceededError):
    """The script did not finish in time and was terminated. `report` says what was done and what is known."""

    report: RecoveryReport = attrs.field(factory=RecoveryReport)

    def _describe(self) -> str:
        return f"{self.action} did not finish within {self.timeout:g} s: {self._state()}{tried(self.steps)}"

    def _state(self) -> str:
        if not self.report.sent:
            script = "the script was never sent"
            return f"{script}; {self.report}" if self.report.steps or self.report.under_way else script
        if self.report.terminated:
            return f"the script was terminated, and {self.report}"
        return f"the script was told to stop, and Chrome has not confirmed it; {self.report}"


@attrs.define(eq=False, slots=False, str=False, repr=False)
class EvaluationDisabledError(EngineError):
    """Evaluation was switched off when the browser was launched or connected to; nothing was sent."""

    action: str

    def _describe(self) -> str:
        return f"{self.action}: evaluation is switched off for this browser (evaluate_enabled=False)"


@attrs.define(eq=False, slots=False, str=False, repr=False)
class EvaluationTerminatedError(EngineError):
    """Somebody else ended this script: a termination is isolate-wide and hits every script running there."""

    reason: str

    def _describe(self) -> str:
        return f"the evaluation was ended from outside: {self.reason}"
