"""Faults: what a proxy does to messages on purpose, as data. Pure: no socket, no clock.

Rule: a fault names an action, the messages it is for, and which of them in the order in which they come; nothing
is random. The grammar of one fault, in one line:

    ACTION:METHOD[@KIND][:NTH[:ARGUMENTS]]

    delay:Page.navigate:*:250                 hold it, and all that follows it in its direction, for 250 ms
    drop:Page.loadEventFired                  throw it away
    duplicate:Runtime.evaluate@reply:2        pass it on twice
    truncate:DOM.getDocument@reply:1:40       pass on its first 40 characters
    error:Page.navigate:2:-32000:no           do not pass the call on; refuse it with this code and message
    cut:Input.dispatchMouseEvent:1            end the connection in its place, both ways, without a farewell

METHOD   a method's or an event's name, with * for any part: "Network.*", "*"
@KIND    call, reply, event, or any; without it: calls and events, that is messages that bear the name themselves
NTH      "2" the second one, "3+" from the third on, "*" (what holds when it is left out) each; every fault counts
         for itself, over all connections
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from fnmatch import fnmatchcase
from typing import Literal, get_args

import attrs

from cdpengine import _json
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
"""The actions, and the names of their arguments, in order."""

DEFAULTS = {"milliseconds": 100.0, "characters": 20, "code": -32000, "message": "refused by the proxy"}

_LONGEST_DELAY = 3_600_000.0
_NTH = re.compile(r"(\*)|([1-9]\d{0,8})(\+?)")
_METHOD = re.compile(r"[\w*?.\[\]-]+")
_EXPECTED = (
    "ACTION:METHOD[@KIND][:NTH[:ARGUMENTS]], such as drop:Page.loadEventFired or error:Page.navigate:2"
)


@attrs.frozen
class Fault:
    """One fault. `first` and `last` (None: no end) say which of the fitting messages, from 1."""

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
        """Say whether the fault is for messages like this one."""
        # A reply or an event cannot be refused any more: parse_fault makes no such "error".
        right = kind != "reply" if self.kind == "named" else self.kind in ("any", kind)
        return right and fnmatchcase(method, self.method)

    def __str__(self) -> str:
        """Return the fault as it is written."""
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
    """Return the fault that a text says. Raises InvalidArgumentError, which tells what is wrong with it."""

    def wrong(expected: str) -> InvalidArgumentError:
        return InvalidArgumentError(what="fault", given=repr(text)[:120], expected=expected)

    if not isinstance(text, str):
        raise wrong(_EXPECTED)
    action, _, rest = text.strip().partition(":")
    if action not in ACTIONS:
        raise wrong(f"one that begins with {', '.join(ACTIONS)}: {_EXPECTED}")
    names = ACTIONS[action]
    # The last argument is free text and may hold colons.
    parts = rest.split(":", 1 + max(len(names), 1))
    target, nth, *given = [*parts, "", ""][:2] + parts[2:]
    method, at, kind = target.partition("@")
    if not _METHOD.fullmatch(method):
        raise wrong(f"a method after {action}: {_EXPECTED}")
    if at and kind not in ("call", "reply", "event", "any"):
        raise wrong("@call, @reply, @event or @any after the method")
    if action == "error" and kind not in ("", "call"):
        raise wrong("calls: only what is still to be answered can be refused")
    counted = _NTH.fullmatch(nth or "*")
    if counted is None:
        raise wrong('which one, after the method: "2", "3+" or "*"')
    if len(given) > len(names):
        raise wrong(f"no more after that: {action} takes {', '.join(names) or 'no arguments'}")
    first = 1 if counted[1] else int(counted[2])
    values: dict[str, object] = {}
    for name, value in zip(names, given, strict=False):
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
    """Return the faults of a file: one a line; lines that are empty or begin with "#" do not count."""
    for line in lines:
        if line.strip() and not line.lstrip().startswith("#"):
            yield parse_fault(line)


class Faults:
    """The faults of a proxy, which can be changed while it runs, and how often each was made.

    For one message the first fault that is due is made, in the order in which they were added.
    """

    def __init__(self, faults: Iterable[Fault | str] = ()) -> None:
        self._seen: dict[int, int] = {}
        self._made: dict[int, int] = {}
        self._numbered: dict[int, Fault] = {}
        self._next = 1
        for fault in faults:
            self.add(fault)

    def __bool__(self) -> bool:
        return bool(self._numbered)

    def __iter__(self) -> Iterator[Fault]:
        return iter(list(self._numbered.values()))

    def add(self, fault: Fault | str) -> int:
        """Add a fault, as data or as text; it counts from now on.

        Returns its number. Raises InvalidArgumentError.
        """
        if not isinstance(fault, Fault):
            fault = parse_fault(fault)
        elif fault.action not in get_args(Action):
            raise InvalidArgumentError(what="fault", given=repr(fault.action), expected=", ".join(ACTIONS))
        number, self._next = self._next, self._next + 1
        self._numbered[number] = fault
        return number

    def remove(self, number: int) -> None:
        """Take the fault of that number out. Raises InvalidArgumentError when there is none."""
        if self._numbered.pop(number, None) is None:
            raise InvalidArgumentError(
                what="fault", given=repr(number), expected="the number of one that is there"
            )

    def clear(self) -> None:
        """Take all faults out."""
        self._numbered.clear()

    def made(self, number: int) -> int:
        """Return how often the fault of that number was made."""
        return self._made.get(number, 0)

    def _decide(self, kind: MessageKind, method: str) -> Fault | None:
        """Count one message, and return the fault that is due for it."""
        due: int | None = None
        for number, fault in self._numbered.items():
            if not fault.fits(kind, method):
                continue
            seen = self._seen[number] = self._seen.get(number, 0) + 1
            if due is None and seen >= fault.first and (fault.last is None or seen <= fault.last):
                due = number
        if due is None:
            return None
        self._made[due] = self._made.get(due, 0) + 1
        return self._numbered[due]


def refusal(call_id: int, session_id: str | None, fault: Fault) -> str:
    """Return the message that refuses a call."""
    message: dict[str, object] = {"id": call_id, "error": {"code": fault.code, "message": fault.message}}
    if session_id is not None:
        message["sessionId"] = session_id
    return _json.encode(message).decode()
