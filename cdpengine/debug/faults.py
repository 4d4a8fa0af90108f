"""Faults that a proxy injects into messages, as data. Pure: no socket, no clock.

Rule: a fault has an action, a message filter, and a position among the matching messages. Nothing is random. The
grammar of one fault:

    ACTION:METHOD[@KIND][:NTH[:ARGUMENTS]]

    delay:Page.navigate:*:250                 delay it, and everything after it in its direction, by 250 ms
    drop:Page.loadEventFired                  discard it
    duplicate:Runtime.evaluate@reply:2        pass it on twice
    truncate:DOM.getDocument@reply:1:40       pass on its first 40 characters
    error:Page.navigate:2:-32000:no           refuse the call with this code and message; do not pass it on
    cut:Input.dispatchMouseEvent:1            drop it and end the connection both ways, without a close frame

METHOD   name of a method or event, with * for any part: "Network.*", "*"
@KIND    call, reply, event, or any; the default is calls and events, which contain the method
NTH      "2" the second, "3+" from the third on, "*" (default) each; each fault counts separately, over all
         connections
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from fnmatch import fnmatchcase
from typing import Literal, get_args

import attrs

from cdpengine import _json
from cdpengine._checks import invalid
from cdpengine.errors import InvalidArgumentError

Action = Literal["delay", "drop", "duplicate", "truncate", "error", "cut"]
MessageKind = Literal["call", "reply", "event"]
KindChoice = Literal["named", "call", "reply", "event", "any"]

ACTIONS: dict[str, tuple[str, ...]] = {
    "delay": ("milliseconds",),
    "drop": (),
    "duplicate": (),
    "truncate": ("characters",),
    "error": ("code", "message"),
    "cut": (),
}
"""Actions and the names of their arguments, in order."""

DEFAULTS = {"milliseconds": 100.0, "characters": 20, "code": -32000, "message": "refused by the proxy"}

_LONGEST_DELAY = 3_600_000.0
_NTH = re.compile(r"(\*)|([1-9]\d{0,8})(\+?)")
_METHOD = re.compile(r"[\w*?.\[\]-]+")
_EXPECTED = (
    "ACTION:METHOD[@KIND][:NTH[:ARGUMENTS]], such as drop:Page.loadEventFired or error:Page.navigate:2"
)


@attrs.frozen
class Fault:
    """A fault. `first` and `last` (None: no end) select among the matching messages, from 1."""

    action: Action
    method: str
    kind: KindChoice = "named"
    first: int = 1
    last: int | None = None
    milliseconds: float = 100.0
    characters: int = 20
    code: int = -32000
    message: str = "refused by the proxy"

    def fits(self, kind: MessageKind, method: str) -> bool:
        """Return whether the fault applies to messages of this kind and method."""
        # A reply or an event cannot be refused; parse_fault rejects such an "error".
        right = kind != "reply" if self.kind == "named" else self.kind in ("any", kind)
        return right and fnmatchcase(method, self.method)

    def __str__(self) -> str:
        """Return the fault in its grammar."""
        kind = "" if self.kind == "named" else f"@{self.kind}"
        nth = "*"
        if self.last is not None:
            nth = str(self.first)
        elif self.first > 1:
            nth = f"{self.first}+"
        arguments = "".join(f":{_plain(getattr(self, name))}" for name in ACTIONS[self.action])
        return f"{self.action}:{self.method}{kind}:{nth}{arguments}"


def _plain(value: object) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)


def parse_fault(text: str) -> Fault:
    """Parse a fault. Raises InvalidArgumentError with the reason."""

    def wrong(expected: str) -> InvalidArgumentError:
        return InvalidArgumentError(what="fault", given=repr(text)[:120], expected=expected)

    if not isinstance(text, str):
        raise wrong(_EXPECTED)
    action, _, rest = text.strip().partition(":")
    if action not in ACTIONS:
        raise wrong(f"one that begins with {', '.join(ACTIONS)}: {_EXPECTED}")
    names = ACTIONS[action]
    # The last argument is a free string that may contain colons.
    parts = rest.split(":", 1 + max(len(names), 1))
    target, nth, *arguments = [*parts, "", ""][:2] + parts[2:]
    method, at, kind = target.partition("@")
    if not _METHOD.fullmatch(method):
        raise wrong(f"a method after {action}: {_EXPECTED}")
    if at and kind not in ("call", "reply", "event", "any"):
        raise wrong("@call, @reply, @event or @any after the method")
    if action == "error" and kind not in ("", "call"):
        raise wrong("calls: only an unanswered call can be refused")
    counted = _NTH.fullmatch(nth or "*")
    if counted is None:
        raise wrong('a position after the method: "2", "3+" or "*"')
    if len(arguments) > len(names):
        raise wrong(f"no more after that: {action} takes {', '.join(names) or 'no arguments'}")
    first = 1 if counted[1] else int(counted[2])
    values: dict[str, object] = {}
    for name, value in zip(names, arguments, strict=False):
        values[name] = _argument(name, value, wrong)
    return Fault(
        action=action,  # type: ignore[arg-type]
        method=method,
        kind="call" if action == "error" else kind or "named",  # type: ignore[arg-type]
        first=first,
        last=None if counted[1] or counted[3] else first,
        **values,  # type: ignore[arg-type]
    )


def _argument(name: str, value: str, wrong: Callable[[str], InvalidArgumentError]) -> object:
    default = DEFAULTS[name]
    if not value:
        return default
    if isinstance(default, str):
        return value
    try:
        number = float(value)
        if not 0 <= number <= _LONGEST_DELAY and name != "code":
            raise ValueError
        return number if isinstance(default, float) else int(value)
    except ValueError:
        raise wrong(f"a number for {name}, not {value[:40]!r}") from None


def parse_faults(lines: Iterable[str]) -> Iterator[Fault]:
    """Parse a file with one fault a line. Skips empty lines and lines that begin with "#"."""
    for line in lines:
        if line.strip() and not line.lstrip().startswith("#"):
            yield parse_fault(line)


class FaultInjector:
    """The active faults by number, their counts, and the choice among them."""

    def __init__(self, faults: Iterable[Fault | str] = ()) -> None:
        self.active: dict[int, Fault] = {}
        self.injected: Counter[int] = Counter()
        self._matching: Counter[int] = Counter()
        self._next = 1
        for fault in faults:
            self.add(fault)

    def add(self, fault: Fault | str) -> int:
        """Add a fault, as data or as a string, and return its number. Raises InvalidArgumentError."""
        if not isinstance(fault, Fault):
            fault = parse_fault(fault)
        elif fault.action not in get_args(Action):
            raise invalid("fault", fault.action, ", ".join(ACTIONS))
        number, self._next = self._next, self._next + 1
        self.active[number] = fault
        return number

    def decide(self, kind: MessageKind, method: str) -> Fault | None:
        """Count one message, and return the fault due for it."""
        due: int | None = None
        for number, fault in self.active.items():
            if not fault.fits(kind, method):
                continue
            self._matching[number] += 1
            count = self._matching[number]
            if due is None and count >= fault.first and (fault.last is None or count <= fault.last):
                due = number
        if due is None:
            return None
        self.injected[due] += 1
        return self.active[due]


class Faults:
    """The faults of a proxy and their counts. They can be changed while the proxy runs.

    The first due fault, in the order of addition, applies to a message.
    """

    def __init__(self, injector: FaultInjector) -> None:
        self._injector = injector

    def __bool__(self) -> bool:
        return bool(self._injector.active)

    def __iter__(self) -> Iterator[Fault]:
        return iter(list(self._injector.active.values()))

    def add(self, fault: Fault | str) -> int:
        """Add a fault, as data or as a string. It counts messages from now on.

        Returns its number. Raises InvalidArgumentError.
        """
        return self._injector.add(fault)

    def remove(self, number: int) -> None:
        """Remove the fault with that number. Raises InvalidArgumentError for an unknown number."""
        if self._injector.active.pop(number, None) is None:
            raise invalid("fault", number, "the number of an active fault")

    def clear(self) -> None:
        """Remove all faults."""
        self._injector.active.clear()

    def made(self, number: int) -> int:
        """Return how many times the fault with that number was injected."""
        return self._injector.injected[number]


def refusal(call_id: int, session_id: str | None, fault: Fault) -> str:
    """Return the message that refuses a call."""
    message: dict[str, object] = {"id": call_id, "error": {"code": fault.code, "message": fault.message}}
    if session_id is not None:
        message["sessionId"] = session_id
    return _json.encode(message).decode()
