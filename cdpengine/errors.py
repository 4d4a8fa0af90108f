"""Every public exception. The tree says whose fault it is.

    EngineError
      InvalidArgument                     the caller's: what was passed can never work
      BrowserNotFound, LaunchFailed, ConnectFailed
      ConnectionLost                      the connection ended under the call
      SessionGone > TargetCrashed         the tab, frame or worker ended under the call
      RemoteError                         Chrome answered, and the answer is an error
      ProtocolError > UndecodableReply    Chrome answered something that nobody could read
      EventsLost                          a consumer was too slow for its buffer
      DeadlineExceeded > EvaluationTimeout, PageUnresponsive
      NavigationFailed
      DownloadFailed                      no file came of it
      NodeError > StaleRef, NodeNotFound, AmbiguousNode, NotInteractable > Covered, Invisible, Disabled, Unstable
      NodeError > NotInteractable > NotDelivered, ValueRefused, OptionNotFound
      FormErrors                          several fields of one form, each with its own error
      EvaluationFailed > ValueTooLarge
      EvaluationTerminated, EvaluationDisabled
      DialogOpened                        the page asked something, and the policy is to fail then
      RecordingDamaged, RecordingFailed   a recording of traffic that cannot be read, or written
      RecordingLacks                      a recording does not hold what is asked of it
      ReplayDiverged                      a program asked something else than when it was recorded

Rule: a message says what was tried, on what, what stood in the way, and what to do. It never holds a
payload, a typed text or a secret. All errors can be pickled, so they cross process borders.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import attrs


class EngineError(Exception):
    """The root of everything that cdpengine raises on purpose."""


@attrs.define(eq=False, slots=False, str=False, repr=False)
class InvalidArgument(EngineError, ValueError):
    """An argument that cannot work whatever the browser does; nothing was sent.

    `what` names the argument, `given` is its representation, `expected` says what would be right.
    """

    what: str
    given: str
    expected: str

    def __str__(self) -> str:
        return f"{self.what}: {self.given} will not do; expected {self.expected}"


# --- browser: finding, starting, connecting ---------------------------------------------------------------


@attrs.define(eq=False, slots=False, str=False, repr=False)
class BrowserNotFound(EngineError):
    """No browser is installed where one was looked for. `looked_for` lists those places."""

    wanted: str
    looked_for: Sequence[str]
    advice: str

    def __str__(self) -> str:
        places = "".join(f"\n  {place}" for place in self.looked_for)
        return f"no {self.wanted} was found. {self.advice}\nLooked for:{places}"


@attrs.define(eq=False, slots=False, str=False, repr=False)
class LaunchFailed(EngineError):
    """The browser did not come up. `exit_code` is None when it was still running, `output` its last lines."""

    executable: str
    reason: str
    exit_code: int | None = None
    output: Sequence[str] = ()

    def __str__(self) -> str:
        ended = "" if self.exit_code is None else f" (exit code {self.exit_code})"
        lines = "".join(f"\n  {line}" for line in self.output)
        said = f"\nIts last output:{lines}" if lines else ""
        return f"{self.executable} did not start: {self.reason}{ended}{said}"


@attrs.define(eq=False, slots=False, str=False, repr=False)
class ConnectFailed(EngineError):
    """A running browser could not be reached at `endpoint`."""

    endpoint: str
    reason: str
    advice: str = "Is Chrome running there with --remote-debugging-port?"

    def __str__(self) -> str:
        return f"could not connect to {self.endpoint}: {self.reason}. {self.advice}"


# --- connection and session: what ended under a call ------------------------------------------------------


@attrs.define(eq=False, slots=False, str=False, repr=False)
class ConnectionLost(EngineError):
    """The connection to the browser ended. `method` is the call that it ended under, if any."""

    endpoint: str
    reason: str
    method: str | None = None

    def __str__(self) -> str:
        during = f" during {self.method}" if self.method else ""
        return f"connection to {self.endpoint} lost{during}: {self.reason}"


@attrs.define(eq=False, slots=False, str=False, repr=False)
class SessionGone(EngineError):
    """The session's target went away: closed, detached, or replaced. Other sessions are not touched."""

    target: str
    reason: str
    method: str | None = None

    def __str__(self) -> str:
        during = f" during {self.method}" if self.method else ""
        return f"session of {self.target} is gone{during}: {self.reason}"


class TargetCrashed(SessionGone):
    """The target's renderer crashed. Chrome never answers what was pending; a reload brings the page back."""

    def __str__(self) -> str:
        during = f" during {self.method}" if self.method else ""
        return f"{self.target} crashed{during}: {self.reason}. Reload it to go on"


@attrs.define(eq=False, slots=False, str=False, repr=False)
class RemoteError(EngineError):
    """Chrome refused a command: `code` and `message` are its own words, `data` what it added to them."""

    code: int
    message: str
    method: str
    data: str | None = None

    def __str__(self) -> str:
        more = f" ({self.data})" if self.data else ""
        return f"{self.method}: {self.message}{more} [{self.code}]"


class ProtocolError(EngineError):
    """The peer sent something that is not what the protocol promises."""


@attrs.define(eq=False, slots=False, str=False, repr=False)
class UndecodableReply(ProtocolError):
    """A reply came, but not in the shape that was asked for.

    `raw` is the reply's own JSON (the result object, undecoded), so that the caller can go on with it. It may
    hold page content, so it is not part of the message.
    """

    method: str
    reason: str
    raw: bytes

    def __str__(self) -> str:
        return (
            f"the reply to {self.method} could not be decoded: {self.reason} "
            f"({len(self.raw)} bytes; the raw JSON is in .raw)"
        )

    def result(self) -> Any:
        """Return the reply as plain dicts and lists. Raises ValueError when it is not JSON at all."""
        import json

        return json.loads(self.raw)


@attrs.define(eq=False, slots=False, str=False, repr=False)
class EventsLost(EngineError):
    """A stream's buffer was full and `count` events were dropped at this point of the sequence.

    The stream goes on after this error: receive again for the events that follow the gap.
    """

    pattern: str
    count: int
    buffer: int

    def __str__(self) -> str:
        return (
            f"{self.count} events of {self.pattern!r} were dropped: the consumer did not keep up with "
            f"a buffer of {self.buffer}. Receive faster, subscribe to less, or pass a larger buffer="
        )


# --- deadlines --------------------------------------------------------------------------------------------


@attrs.define(eq=False, slots=False, str=False, repr=False)
class DeadlineExceeded(EngineError):
    """The method's own `timeout` (seconds) ran out. `steps` tells what was tried, in order."""

    action: str
    timeout: float
    steps: Sequence[str] = ()

    def __str__(self) -> str:
        return f"{self.action} did not finish within {self.timeout:g} s{_tried(self.steps)}"


@attrs.define(eq=False, slots=False, str=False, repr=False)
class PageUnresponsive(DeadlineExceeded):
    """The time ran out, and the page does not answer: its script keeps it busy, or waits and lets nothing run.

    `unresponsive_for` is for how many seconds at least: since the first thing asked that is not answered yet.
    """

    unresponsive_for: float = 0.0

    def __str__(self) -> str:
        return (
            f"{self.action} did not finish within {self.timeout:g} s: the page has not answered for at least "
            f'{self.unresponsive_for:.2f} s. page.rescue() stops its script, page.rescue(allow="reload") also '
            f'reloads it, page.rescue(allow="close") closes it{_tried(self.steps)}'
        )


# --- pages ------------------------------------------------------------------------------------------------


@attrs.define(eq=False, slots=False, str=False, repr=False)
class NavigationFailed(EngineError):
    """The document did not load. `reason` is Chrome's own word, such as net::ERR_CONNECTION_REFUSED."""

    url: str
    reason: str

    def __str__(self) -> str:
        return f"navigation to {shown_url(self.url)} failed: {self.reason}"


@attrs.define(eq=False, slots=False, str=False, repr=False)
class DownloadFailed(EngineError):
    """There is no file: the download was cancelled, refused or broken off, or its file could not be kept."""

    url: str
    reason: str

    def __str__(self) -> str:
        return f"download of {shown_url(self.url)} failed: {self.reason}"


class NodeError(EngineError):
    """Something about one node of the page."""


Became = Literal[
    "", "removed", "detached", "replaced", "swapped", "moved", "frame gone", "dropped", "foreign"
]
"""What came of a node whose ref is stale."""


@attrs.define(eq=False, slots=False, str=False, repr=False)
class StaleRef(NodeError):
    """The ref named a node that is no longer what it was. It never hits another element instead.

    `became` says what came of the node, where that is known: "removed" (gone for good), "detached" (it lives, but
    is in no document), "replaced" (its document was, by a navigation or reload), "swapped" (its frame went on in
    another process), "moved" (it is in another frame's document), "frame gone", "dropped" (forgotten, to bound
    memory), "foreign" (it is of another page). `alternatives` are refs (`cdpengine.Ref`) of the present page with
    the same role and name, as far as the latest snapshot knows; `candidates` says that they were looked for anew,
    by `heal`, and that it was not sure which.
    """

    ref: str
    description: str
    reason: str
    became: Became = ""
    alternatives: tuple[Any, ...] = ()
    candidates: bool = False

    def __str__(self) -> str:
        said = f"{self.ref} ({self.description}) is stale: {self.reason}"
        if self.candidates:
            found = ", ".join(map(str, self.alternatives)) or "nothing like it"
            return f"{said}. Healing was not sure; the page has {found}"
        if self.alternatives:
            said += f"; the page has {', '.join(map(str, self.alternatives))}"
        return f"{said}. Take a new snapshot"


@attrs.define(eq=False, slots=False, str=False, repr=False)
class NodeNotFound(NodeError):
    """Nothing on the page answers to `target`."""

    target: str
    reason: str

    def __str__(self) -> str:
        return f"{self.target}: {self.reason}"


@attrs.define(eq=False, slots=False, str=False, repr=False)
class AmbiguousNode(NodeError):
    """Several nodes answer to `target`, and one was asked for. `candidates` describes the first of them."""

    target: str
    count: int
    candidates: Sequence[str] = ()

    def __str__(self) -> str:
        more = self.count - len(self.candidates)
        rest = f"\n  - and {more} more" if more > 0 else ""
        return (
            f"{self.target}: {self.count} nodes match. Ask for less of them, or pass nth= (from 0):"
            f"{_tried(self.candidates)}{rest}"
        )


@attrs.define(eq=False, slots=False, str=False, repr=False)
class NotInteractable(NodeError):
    """The node is there, but `action` cannot be done to it now. `steps` tells what was tried, in order."""

    action: str
    target: str
    reason: str
    steps: Sequence[str] = ()

    def __str__(self) -> str:
        return f"cannot {self.action} {self.target}: {self.reason}{_tried(self.steps)}"


@attrs.define(eq=False, slots=False, str=False, repr=False)
class Covered(NotInteractable):
    """Another element would receive the event; nothing was sent.

    `covered_by` describes it, `covered_ref` is its ref if a snapshot gave it one, `covering_node` Chrome's
    backendDOMNodeId of it if that could be asked for in time.
    """

    covered_by: str = ""
    covered_ref: str = ""
    covering_node: int | None = None

    def __str__(self) -> str:
        ref = f" (it is {self.covered_ref})" if self.covered_ref else ""
        return f"cannot {self.action} {self.target}: {self.reason}{ref}{_tried(self.steps)}"


@attrs.define(eq=False, slots=False, str=False, repr=False)
class NotDelivered(NotInteractable):
    """The input was sent, once, and the node did not receive (all of) it.

    `received_by` describes what did, "" where nothing of the document is known to have. `held_back`: it was kept
    from that, so nothing on the page has noticed and the action can be tried again. `events` are those that the
    node did receive.
    """

    received_by: str = ""
    held_back: bool = False
    events: Sequence[str] = ()


class Invisible(NotInteractable):
    """The node has no visible area: hidden, of no size, detached, or clipped away."""


class Disabled(NotInteractable):
    """The node is disabled, or read-only where text was to be typed."""


class Unstable(NotInteractable):
    """The node kept moving until the deadline."""


@attrs.define(eq=False, slots=False, str=False, repr=False)
class ValueRefused(NotInteractable):
    """The control did not take the value. `took` is what it holds instead; None for a password."""

    took: str | None = None

    def __str__(self) -> str:
        if self.took is None:
            held = "; what it holds is not shown"
        elif len(self.took) > _LONGEST_TOOK:
            held = f"; it holds {self.took[:_LONGEST_TOOK]!r}... ({len(self.took)} characters)"
        else:
            held = f"; it holds {self.took!r}"
        return f"cannot {self.action} {self.target}: {self.reason}{held}{_tried(self.steps)}"


_LONGEST_TOOK = 60


@attrs.define(eq=False, slots=False, str=False, repr=False)
class OptionNotFound(NotInteractable):
    """A select or listbox has no such option. `options` are the labels that it has, the first of them."""

    options: Sequence[str] = ()

    def __str__(self) -> str:
        there = f". It has: {', '.join(map(repr, self.options))}" if self.options else ". It has none"
        return f"cannot {self.action} {self.target}: {self.reason}{there}{_tried(self.steps)}"


@attrs.frozen
class FailedField:
    """One field of a form that could not be filled in: its target, as it was given, and why."""

    target: str
    error: EngineError = attrs.field(eq=str)  # errors have no equality of their own


@attrs.define(eq=False, slots=False, str=False, repr=False)
class FormErrors(EngineError):
    """Some fields of a form could not be filled in; all of them are in `failed`. `filled` others were."""

    failed: Sequence[FailedField]
    filled: int = 0

    def __str__(self) -> str:
        total = len(self.failed) + self.filled
        lines = "".join(f"\n  {field.target}: {field.error}" for field in self.failed)
        return f"{len(self.failed)} of {total} fields were not filled in:{lines}"


# --- evaluation -------------------------------------------------------------------------------------------


@attrs.define(eq=False, slots=False, str=False, repr=False)
class EvaluationFailed(EngineError):
    """The page's JavaScript threw. `text` is the thrown value's own description, `stack` its frames."""

    text: str
    stack: str = ""
    line: int | None = None
    column: int | None = None

    def __str__(self) -> str:
        more = " ..." if len(self.text) > _LONGEST_TEXT else ""
        return f"JavaScript threw: {self.text[:_LONGEST_TEXT]}{more}"


class ValueTooLarge(EvaluationFailed):
    """The script ran to its end, but its value is too large, or nested too deeply, to be brought here."""

    def __str__(self) -> str:
        return f"the script ran, but its value was not returned: {self.text}. Return the parts that you need"


@attrs.frozen
class RescueStep:
    """One thing that was done to bring a page back. `done`: Chrome confirmed it, and in time."""

    name: Literal["dialog", "terminate", "reload", "close"]
    done: bool
    detail: str = ""
    milliseconds: float = 0.0

    def __str__(self) -> str:
        more = f" ({self.detail})" if self.detail else ""
        return f"{self.name}: {'done' if self.done else 'not confirmed'}{more}, {self.milliseconds:.0f} ms"


@attrs.frozen
class RescueReport:
    """What was done to bring a page back, in order, and what is known of it after that.

    `sent`: a script was given to the page at all. `responsive`: the page answered a probe after the last step.
    `under_way`: a reload or a closing goes on, and the page's next action waits for its end. `terminated`: Chrome
    confirmed that what ran in the page's process was terminated. `closed`: the page was closed.
    """

    sent: bool = False
    steps: tuple[RescueStep, ...] = ()
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
        more = "; the rescue is under way, and the page's next action waits for it" if self.under_way else ""
        steps = f" [{'; '.join(map(str, self.steps))}]" if self.steps else ""
        return f"{state}{more}{steps}"


@attrs.define(eq=False, slots=False, str=False, repr=False)
class EvaluationTimeout(DeadlineExceeded):
    """The script did not finish in time and was told to stop. `report` says what was done and what is known."""

    report: RescueReport = attrs.field(factory=RescueReport)

    def __str__(self) -> str:
        return f"{self.action} did not finish within {self.timeout:g} s: {self._state()}{_tried(self.steps)}"

    def _state(self) -> str:
        if not self.report.sent:
            script = "the script was never sent"
            return f"{script}; {self.report}" if self.report.steps or self.report.under_way else script
        if self.report.terminated:
            return f"the script was terminated, and {self.report}"
        return f"the script was told to stop, and Chrome has not confirmed it; {self.report}"


@attrs.define(eq=False, slots=False, str=False, repr=False)
class EvaluationDisabled(EngineError):
    """Evaluation was switched off when the browser was launched or connected to; nothing was sent."""

    action: str

    def __str__(self) -> str:
        return f"{self.action}: evaluation is switched off for this browser (evaluate_enabled=False)"


@attrs.define(eq=False, slots=False, str=False, repr=False)
class EvaluationTerminated(EngineError):
    """Somebody else ended this script: a termination is isolate-wide and hits every script running there."""

    reason: str

    def __str__(self) -> str:
        return f"the evaluation was ended from outside: {self.reason}"


@attrs.define(eq=False, slots=False, str=False, repr=False)
class DialogOpened(EngineError):
    """A JavaScript dialog opened during `action`, under the policy "raise". It was dismissed at once.

    `dialog` is its record (a `cdpengine.Dialog`); `kind` is its type, `text` what the page said in it. The action
    itself came to its end.
    """

    action: str
    kind: str
    text: str = ""
    dialog: object = None

    def __str__(self) -> str:
        text = self.text if len(self.text) <= _LONGEST_URL else f"{self.text[:_LONGEST_URL]}..."
        return f"{self.action}: the page opened a dialog ({self.kind} {text!r}), which was dismissed"


_LONGEST_TEXT = 1000
"""Characters of a page's own error text in a message; the attribute has them all."""

_LONGEST_URL = 200


def shown_url(url: str) -> str:
    """Return a URL fit for messages: not endless (data: URLs hold whole documents), without user and password."""
    scheme, mark, rest = url.partition("://")
    end = min((position for position in map(rest.find, "/?#") if position >= 0), default=len(rest))
    user, at, _host = rest[:end].rpartition("@")
    if mark and at:
        url = f"{scheme}://***@{rest[len(user) + 1 :]}"
    return url if len(url) <= _LONGEST_URL else f"{url[:_LONGEST_URL]}..."


def _tried(steps: Sequence[str]) -> str:
    return "".join(f"\n  - {step}" for step in steps)


# --- debug: recordings ------------------------------------------------------------------------------------


@attrs.define(eq=False, slots=False, str=False, repr=False)
class RecordingDamaged(EngineError):
    """A file is no recording of traffic, or cannot be read from `line` (from 1) on."""

    path: str
    line: int
    reason: str

    def __str__(self) -> str:
        return f"{self.path}, line {self.line}: {self.reason}"


@attrs.define(eq=False, slots=False, str=False, repr=False)
class RecordingLacks(EngineError):
    """A recording does not hold `what` is wanted of it; `hint` says why, and what to do."""

    path: str
    what: str
    hint: str

    def __str__(self) -> str:
        return f"there are no {self.what} in {self.path}: {self.hint}"


@attrs.define(eq=False, slots=False, str=False, repr=False)
class RecordingFailed(EngineError):
    """Traffic could not be recorded to the end. The file holds what was written before."""

    path: str
    reason: str

    def __str__(self) -> str:
        return f"the recording {self.path} is not whole: {self.reason}"


@attrs.define(eq=False, slots=False, str=False, repr=False)
class ReplayDiverged(EngineError):
    """A program that runs against a recording asked something else than what was recorded.

    `got` is what it asked, `line` the number of the recording's message that is nearest (0: none), `expected` the
    calls that were recorded next there, `diff` how the parameters differ ("- " recorded, "+ " asked).
    """

    path: str
    line: int
    got: str
    expected: Sequence[str]
    reason: str
    diff: Sequence[str] = ()

    def __str__(self) -> str:
        at = f", at line {self.line}" if self.line else ""
        lines = "".join(f"\n  {line}" for line in self.diff)
        following = f"\nRecorded next there: {', '.join(self.expected)}" if self.expected else ""
        return (
            f"the program left the recording {self.path}{at}: it asked {self.got}: {self.reason}{lines}{following}"
            "\nRecord it anew if the program is right"
        )
