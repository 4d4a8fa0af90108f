"""Errors of a page: navigations, dialogs, actions on nodes, deadlines, and JavaScript failures."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import attrs

from cdpengine.errors.root import NEVER_SHOWN, PACKAGE, DeadlineExceededError, EngineError
from cdpengine.errors.texts import LONGEST_TEXT, LONGEST_URL, cut, duration, listed, shown_url, tried


@attrs.define(eq=False, slots=False, str=False, repr=False)
class NavigationFailedError(EngineError):
    """The document did not load. `reason` is Chrome's error, such as net::ERR_CONNECTION_REFUSED.

    `url` is the target of the navigation; with `asked` (a missing entry of the history), it is the page's URL.
    """

    url: str
    reason: str
    asked: str = ""

    def _describe(self) -> str:
        return f"navigation to {self.asked or shown_url(self.url)} failed: {self.reason}"


@attrs.define(eq=False, slots=False, str=False, repr=False)
class DownloadFailedError(EngineError):
    """The download was cancelled, refused or interrupted, or its file could not be kept."""

    url: str
    reason: str

    def _describe(self) -> str:
        return f"download of {shown_url(self.url)} failed: {self.reason}"


@attrs.define(eq=False, slots=False, str=False, repr=False)
class TagNotLoadedError(EngineError):
    """A script or style sheet was added to the page and did not load, or the page refused it.

    `kind` is "script" or "style sheet", `url` its URL, or "" for content.
    """

    kind: str
    url: str
    reason: str

    def _describe(self) -> str:
        return (
            f"the {self.kind}{f' from {shown_url(self.url)}' * bool(self.url)} was not added: {self.reason}"
        )


@attrs.define(eq=False, slots=False, str=False, repr=False)
class DialogOpenedError(EngineError):
    """A JavaScript dialog opened during `action`, under the policy "raise". It was dismissed immediately.

    `dialog` is the dialog's record (a `cdpengine.Dialog`), `kind` its type, `text` its message. The action itself
    was completed.
    """

    action: str
    kind: str
    text: str = ""
    dialog: object = None

    def _describe(self) -> str:
        text = self.text if len(self.text) <= LONGEST_URL else f"{self.text[:LONGEST_URL]}..."
        return f"{self.action}: the page opened a dialog ({self.kind} {text!r}), which was dismissed"


_LONGEST_LISTED = 2_000
"""Maximum length of the list of fields or candidates in a message, in characters."""


class NodeError(EngineError):
    """An error about one node of the page."""


Became = Literal[
    "", "removed", "detached", "replaced", "swapped", "moved", "frame gone", "dropped", "foreign", "renamed"
]
"""The fate of a stale ref's node."""


@attrs.define(eq=False, slots=False, str=False, repr=False)
class StaleRefError(NodeError):
    """The node of a ref is gone or changed. A stale ref never resolves to another element.

    `became` is the node's fate, if known: "removed" (gone for good), "detached" (it exists, but outside the
    document), "replaced" (a navigation or reload replaced its document), "swapped" (its frame continues in another
    process), "moved" (it is in another frame's document), "frame gone", "dropped" (forgotten, to bound memory),
    "foreign" (it belongs to another page, or to a browser that has ended), "renamed" (the page uses it for
    something else: its role or name differs from the caller's last snapshot). `alternatives` are refs
    (`cdpengine.Ref`) of the current page with the same role and name, or the same except for a counter, in the
    latest snapshot; for a node that left its document, its frame is read again. `candidates`: `heal` searched for
    a replacement, and none was certain. `advice` is the remedy.
    """

    ref: str
    description: str
    reason: str
    became: Became = ""
    alternatives: tuple[Any, ...] = ()
    candidates: bool = False
    advice: str = "Take a new snapshot"

    def _describe(self) -> str:
        message = f"{self.ref} ({self.description}) is stale: {self.reason}"
        if self.candidates:
            found = ", ".join(map(str, self.alternatives)) or "no similar element"
            return f"{message}. No replacement was certain; the page has {found}"
        if self.alternatives:
            message += f"; the page has {', '.join(map(str, self.alternatives))}"
        return f"{message}. {self.advice}"


@attrs.define(eq=False, slots=False, str=False, repr=False)
class NodeNotFoundError(NodeError):
    """No node of the page matches `target`."""

    target: str
    reason: str

    def _describe(self) -> str:
        return f"{self.target}: {self.reason}"


@attrs.define(eq=False, slots=False, str=False, repr=False)
class AmbiguousNodeError(NodeError):
    """Several nodes match `target`, but the action needs one.

    `candidates` describes the first ones: ref, element, and the frame if it is not the main one.
    """

    target: str
    count: int
    candidates: Sequence[str] = ()

    def _describe(self) -> str:
        more = self.count - len(self.candidates)
        rest = f"\n  - and {more} more" if more > 0 else ""
        lines = listed([f"- {each}" for each in self.candidates], ".candidates", most=_LONGEST_LISTED)
        advice = "Use more specific criteria, or pass nth= (from 0):"
        return f"{self.target}: {self.count} nodes match. {advice}{lines}{rest}"


_LONGEST_SEEN = 1_000
_LONGEST_DETAILS = 1_200
_LONGEST_DETAIL = 200
"""Maximum lengths of an AssertionFailedError's lists and of one line of the details, in characters."""


@attrs.define(eq=False, slots=False, str=False, repr=False)
class AssertionFailedError(EngineError, AssertionError):
    """An assertion of `cdpengine.expect` did not hold within `timeout` seconds.

    `expectation` continues "expected", such as 'button "Pay" to be enabled'. `observed` is the latest state,
    `seen` lists the states over time, with the time since the start. `details` has more lines about the latest:
    the matches with their refs, or a diff. `actual` is the complete latest value; for a snapshot, its template.
    """

    expectation: str
    observed: str
    timeout: float
    seen: Sequence[str] = ()
    details: Sequence[str] = ()
    actual: str = attrs.field(default="", metadata={NEVER_SHOWN: True})

    def _describe(self) -> str:
        within = f" within {duration(self.timeout)}" if self.timeout else ""
        message = f"expected {self.expectation}{within}, but {self.observed}"
        length = 0
        for number, line in enumerate(self.details):
            length += min(len(line), _LONGEST_DETAIL)
            if length > _LONGEST_DETAILS:
                message += f"\n  ... {len(self.details) - number} more in .details"
                break
            message += f"\n  {cut(line, _LONGEST_DETAIL)}"
        if len(self.seen) > 1:
            seen = listed([f"- {each}" for each in self.seen], ".seen", last=True, most=_LONGEST_SEEN)
            message += f"\nSeen over time:{seen}"
        return message


UnreadyState = Literal["", "invisible", "disabled", "unstable"]
"""The state of a node that prevents an action, and that waiting may change; "" for other obstacles."""


@attrs.define(eq=False, slots=False, str=False, repr=False)
class NotInteractableError(NodeError):
    """The node exists, but `action` is not possible now. `steps` lists the attempts, in order.

    `state` is the obstacle if it is a state of the node: "invisible" (no visible area: hidden, without size,
    detached, or clipped), "disabled" (also read-only, for typing) or "unstable" (it moved until the deadline).
    """

    action: str
    target: str
    reason: str
    steps: Sequence[str] = ()
    state: UnreadyState = ""

    def _describe(self) -> str:
        return f"cannot {self.action} {self.target}: {self.reason}{tried(self.steps)}"


@attrs.define(eq=False, slots=False, str=False, repr=False)
class CoveredError(NotInteractableError):
    """Another element would receive the event; no element has received a press.

    `covered_by` describes it, `covered_ref` is its ref if a snapshot assigned one, `covering_node` is its
    backendDOMNodeId in Chrome if it was determined in time.
    """

    covered_by: str = ""
    covered_ref: str = ""
    covering_node: int | None = None

    def _describe(self) -> str:
        ref = f" (it is {self.covered_ref})" if self.covered_ref else ""
        return f"cannot {self.action} {self.target}: {self.reason}{ref}{tried(self.steps)}"


@attrs.define(eq=False, slots=False, str=False, repr=False)
class NotDeliveredError(NotInteractableError):
    """The input was sent, but the node did not receive all of it.

    The node received no press (for a hover: no mouse move), or a press without the rest. `events` are the types of
    events that the node received. If they include a press, the page did nothing at these events that explains the
    loss of the rest. (If it did, no error is raised, and the outcome's `delivered` is False.) `elsewhere` lists
    the events that other elements received, each with its type and a description of the element. `received_by` is
    the first such description, or "" if no known element received an event. `held_back`: the engine blocked those
    events, so the page did not notice them, and repeated the press until the deadline.
    """

    received_by: str = ""
    held_back: bool = False
    events: Sequence[str] = ()
    elsewhere: Sequence[tuple[str, str]] = ()


@attrs.define(eq=False, slots=False, str=False, repr=False)
class FocusMovedError(NotDeliveredError):
    """The page moved the focus while keys were sent: `typed` of `total` characters reached the node.

    `unit` is "keys" for controls that are filled key by key, such as dates.

    `held_back`: no other element received the rest; otherwise the focus moved to a frame of another site, where
    keys cannot be blocked. `received_by` describes the element that has the focus now, or "" for none. `focus_ref`
    is its ref, which is assigned now if it had none, or "". `focus_node` is its backendDOMNodeId in Chrome, in the
    session `session_id`. For a single key, `total` is 0. The message does not contain the text.
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


@attrs.define(eq=False, slots=False, str=False, repr=False)
class ValueRefusedError(NotInteractableError):
    """The control did not accept the value. `took` is its value instead; None for a secret field.

    The message does not contain `took`, because it derives from the entered text.
    """

    took: str | None = attrs.field(default=None, metadata={NEVER_SHOWN: True})

    def _describe(self) -> str:
        value = "; its value is not shown"
        if self.took is not None:
            value += f", and is in .took ({len(self.took)} characters)"
        return f"cannot {self.action} {self.target}: {self.reason}{value}{tried(self.steps)}"


@attrs.define(eq=False, slots=False, str=False, repr=False)
class OptionNotFoundError(NotInteractableError):
    """A select or listbox does not have the option. `options` are its first labels.

    `wanted` are the values, labels or places that were not found; the message does not contain them.
    """

    options: Sequence[str] = ()
    wanted: Sequence[str] = attrs.field(default=(), metadata={NEVER_SHOWN: True})

    def _describe(self) -> str:
        there = (
            f". It has: {cut(', '.join(map(repr, self.options)), 150)}"
            if self.options
            else ". It has no options"
        )
        return f"cannot {self.action} {self.target}: {self.reason}{there}{tried(self.steps)}"


@attrs.frozen
class FailedField:
    """One field of a form that could not be filled: its target, as passed, and the error."""

    __module__ = PACKAGE

    target: str
    error: EngineError = attrs.field(eq=str)  # errors do not define equality

    def __str__(self) -> str:
        reason = str(self.error).partition("\n")[0].removesuffix(":")
        return reason if self.target in reason.split(":")[0] else f"{self.target}: {reason}"


@attrs.define(eq=False, slots=False, str=False, repr=False)
class FormError(EngineError):
    """Some fields of a form could not be filled; `failed` lists them. `filled` is the number of the others."""

    failed: Sequence[FailedField]
    filled: int = 0

    def _describe(self) -> str:
        lines = listed(
            [str(field) for field in self.failed],
            ".failed",
            most=_LONGEST_LISTED,
            longest=LONGEST_TEXT,
        )
        total = len(self.failed) + self.filled
        count = "the field was" if total == 1 else f"{len(self.failed)} of {total} fields were"
        return f"{count} not filled in:{lines}"


# --- time, and evaluation ------------------------------------------------------------------------------------


@attrs.define(eq=False, slots=False, str=False, repr=False)
class PageUnresponsiveError(DeadlineExceededError):
    """The time ran out, and the page does not respond: a script is busy, or blocks the page while it waits.

    `unresponsive_for` is the minimum number of seconds, 0.5 or more, since the first ping without an answer. If a
    shorter time is known, as with a first `timeout` below 0.5 s, the error is DeadlineExceededError.
    """

    unresponsive_for: float = 0.0

    def _describe(self) -> str:
        return (
            f"{self.action} did not finish within {duration(self.timeout)}: the page has not answered for at "
            f"least {self.unresponsive_for:.2f} s. page.recover() stops its script, "
            f'page.recover(allow="reload") also reloads it, page.recover(allow="close") closes it'
            f"{tried(self.steps)}"
        )


@attrs.define(eq=False, slots=False, str=False, repr=False)
class EvaluationFailedError(EngineError):
    """The page's JavaScript threw. `text` is the description of the thrown value, `stack` its frames.

    If the script did not throw (`threw` is False), `text` is the reason why its value is not available. In both
    cases, "***" replaces the script's string arguments of 6 or more characters.
    """

    text: str
    stack: str = ""
    line: int | None = None
    column: int | None = None
    threw: bool = True

    def _describe(self) -> str:
        what = "JavaScript threw" if self.threw else "the value is not available"
        return f"{what}: {cut(self.text, LONGEST_TEXT)}"


CRASHED = "the page has crashed"
"""Detail of a recovery step that could not end, because the page's renderer has crashed."""


@attrs.frozen
class RecoveryStep:
    """One step of a recovery. `done`: Chrome confirmed it in time."""

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
    """The steps of a recovery, in order, and the state of the page after them.

    `sent`: a script was sent to the page. `responsive`: the page answered a probe after the last step.
    `under_way`: more steps are running, and the page's next action waits for them. `terminated`: Chrome confirmed
    the termination of the scripts in the page's process. `closed`: the page was closed.
    `subject` is "the page", or "the worker" for a script of a worker.
    """

    __module__ = PACKAGE

    sent: bool = False
    steps: tuple[RecoveryStep, ...] = ()
    responsive: bool = False
    under_way: bool = False
    subject: str = "the page"
    terminated: bool = attrs.field(init=False)
    closed: bool = attrs.field(init=False)

    @terminated.default
    def _terminated(self) -> bool:
        return self.did("terminate")

    @closed.default
    def _closed(self) -> bool:
        return self.did("close")

    def did(self, name: str) -> bool:
        """Return whether the step of that name was done."""
        return any(step.done for step in self.steps if step.name == name)

    def __str__(self) -> str:
        if self.closed:
            state = "the page was closed"
        elif self.responsive:
            state = f"{self.subject} answers again" if self.steps else f"{self.subject} answers"
        elif any(step.detail == CRASHED for step in self.steps):
            state = f'{CRASHED}: reload it, or use recover(allow="reload")'
        else:
            state = f"{self.subject} does not answer yet"
        more = "; the recovery continues, and the page's next action waits for it" if self.under_way else ""
        steps = f" [{'; '.join(map(str, self.steps))}]" if self.steps else ""
        return f"{state}{more}{steps}"


@attrs.define(eq=False, slots=False, str=False, repr=False)
class EvaluationTimeoutError(DeadlineExceededError):
    """The script did not finish in time and was terminated.

    `report` lists the recovery steps and their results.
    """

    report: RecoveryReport = attrs.field(factory=RecoveryReport)

    def _describe(self) -> str:
        return f"{self.action} did not finish within {duration(self.timeout)}: {self._state()}{tried(self.steps)}"

    def _state(self) -> str:
        if not self.report.sent:
            script = "the script was never sent"
            return f"{script}; {self.report}" if self.report.steps or self.report.under_way else script
        if self.report.terminated:
            return f"the script was terminated, and {self.report}"
        return f"the script was asked to stop, but Chrome has not confirmed it; {self.report}"


@attrs.define(eq=False, slots=False, str=False, repr=False)
class EvaluationDisabledError(EngineError):
    """Evaluation was disabled when the browser was launched or connected; nothing was sent."""

    action: str

    def _describe(self) -> str:
        return f"{self.action}: evaluation is disabled for this browser (evaluate_enabled=False)"


@attrs.define(eq=False, slots=False, str=False, repr=False)
class EvaluationTerminatedError(EngineError):
    """Another caller's termination ended this script: it affects all scripts of the JavaScript isolate."""

    reason: str

    def _describe(self) -> str:
        return f"the evaluation was terminated: {self.reason}"
