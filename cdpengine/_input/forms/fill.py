"""Fill: give a form control its value, and read back what it took.

Rule: text goes in as a person replaces it: the field gets the focus, its content is selected, and one input
replaces it. The page sees trusted beforeinput and input events, and change when the field is left. Dates and times
are written segment by segment, ranges moved by the arrow keys. Where keys did not work, and for colours (Chrome
has only its picker for them), the value is set by script; the page's input and change events are not trusted ones
then, and the outcome says so. A value that the control cannot take is refused before anything is changed, where
that is known. Otherwise the control is read back, and the error says what it holds instead, unless that is secret.

Python's own values become what HTML's inputs hold: a date for each type of input that can hold one, numbers in
their shortest form. Chrome draws an input of dates as one segment for each of day, month, year, hour and so on, in
the order of the browser's language, and moves on by itself after two digits. One segment (not the year, where
there is another) is emptied first and written last: so the input holds nothing until it holds all of it, and no
half-written year in between. No keys are made where that is not certain to work.
"""

from __future__ import annotations

import datetime as dt
import math
import re
from collections.abc import Mapping, Sequence
from typing import TypeAlias

import attrs
import msgspec

from cdpengine._input.action import ActionContext, ActionOutcome
from cdpengine._input.actionability.inspection import Inspection, Usability
from cdpengine._input.actionability.key_guard import KeyGuard
from cdpengine._input.actionability.page_library import decode_result
from cdpengine._input.devices.keyboard import check_text
from cdpengine._input.forms.check import set_checked
from cdpengine._input.forms.listbox import Option
from cdpengine._input.forms.related import related_node
from cdpengine._input.forms.select import select
from cdpengine._javascript import script_with
from cdpengine._page.scripts.page_functions import Node
from cdpengine._protocol.calls import PendingCall, pending_group
from cdpengine._protocol.domains.dom import DescribedNode, DescribeNodeReply
from cdpengine.errors import (
    InvalidArgumentError,
    NotInteractableError,
    StaleRefError,
    ValueRefusedError,
)

TextValue: TypeAlias = str | int | float | dt.date | dt.time
"""What a text field, or one of dates, times and numbers, can be filled with. A datetime is a date."""

EVERY_TYPE = ""
"""The key of the text for all types of input that have none of their own."""


def texts_of(value: TextValue) -> Mapping[str, str]:
    """Return the text for each type of input that needs its own, and for all others under `EVERY_TYPE`.

    Raises InvalidArgumentError for what has no text; a text itself is never shown.
    """
    if isinstance(value, dt.datetime):
        if value.tzinfo is not None:
            raise InvalidArgumentError(
                what="value", given="a datetime with a time zone", expected="one without: inputs have none"
            )
        whole = value.isoformat(timespec=_precision(value.time()))
        return _texts_of_date(value.date()) | {
            EVERY_TYPE: whole,
            "date": whole[:10],
            "datetime-local": whole,
            "time": whole[11:],
        }
    if isinstance(value, dt.date):
        return _texts_of_date(value)
    if isinstance(value, dt.time):
        return {EVERY_TYPE: value.replace(tzinfo=None).isoformat(timespec=_precision(value))}
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        if not math.isfinite(value):
            raise InvalidArgumentError(
                what="value", given=repr(value), expected="a number that can be written"
            )
        return {EVERY_TYPE: f"{value:d}" if isinstance(value, int) else _shortest(value)}
    if not isinstance(value, str):
        raise InvalidArgumentError(
            what="value",
            given=f"a {type(value).__name__}",
            expected="a string, a number, a date, a time, or a bool for what can be checked",
        )
    check_text(value)
    return {EVERY_TYPE: value}


_PSEUDO = re.compile(r"-webkit-datetime-edit-([a-z]+)-field")
_WIDTHS = {"year": 4, "millisecond": 3, "ampm": 1}
_VALUE = re.compile(
    r"(?:(?P<year>\d{4})-(?:W(?P<week>\d\d)|(?P<month>\d\d)(?:-(?P<day>\d\d))?))?T?"
    r"(?:(?P<hour>\d\d):(?P<minute>\d\d)(?::(?P<second>\d\d)(?:\.(?P<millisecond>\d{1,3}))?)?)?"
)


@attrs.frozen
class Segment:
    """One segment: "year", "month", "day", "week", "hour", "minute", "second", "millisecond" or "ampm".

    `most` is the largest number that it takes; `fixed` says that it cannot be changed.
    """

    name: str
    most: int = 0
    fixed: bool = False


def segments_in(node: DescribedNode) -> list[Segment]:
    """Return the segments within an input, in the order in which they are shown; [] for other elements."""
    found: list[Segment] = []
    held = dict(zip(node.attributes[::2], node.attributes[1::2], strict=False))
    if match := _PSEUDO.fullmatch(held.get("pseudo", "")):
        most = held.get("aria-valuemax", "")
        found.append(Segment(match[1], int(most) if most.isdigit() else 0, "disabled" in held))
    for inner in (*node.shadow_roots, *node.children):
        found += segments_in(inner)
    return found


def segment_keys(segments: Sequence[Segment], text: str, *, anywhere: bool) -> list[str]:
    """Return the keys that write `text`, an input's value; [] where that cannot be said for sure.

    "" empties the input. `anywhere`: the focus may be on any segment, not only on the first.
    """
    if not segments or any(segment.fixed for segment in segments):
        return []
    start = ["ArrowLeft"] * (len(segments) - 1)
    keys = start if anywhere else []
    if not text:
        return [*keys, *["Backspace", "ArrowRight"] * (len(segments) - 1), "Backspace"]
    written = _written(segments, text)
    if not written:
        return []
    last = _last(segments, written)
    place = 0

    def go(to: int) -> list[str]:
        return ["ArrowRight"] * (to - place) if to > place else ["ArrowLeft"] * (place - to)

    keys = [*keys, *go(last), "Backspace"]
    place = last
    for number in [*(each for each in range(len(segments)) if each != last), last]:
        keys += [*go(number), *written[number]]
        place = number
        name = segments[number].name
        if name in ("ampm", "millisecond") or (name == "month" and len(segments) == 2):
            keys += start  # a month may be a name there: whether such a segment goes on is not known
            place = 0
        elif name != "year" and number < len(segments) - 1:
            place = number + 1
    return keys


def _texts_of_date(value: dt.date) -> dict[str, str]:
    year, week, _day = value.isocalendar()
    day = value.isoformat()
    return {
        EVERY_TYPE: day,
        "month": day[:7],
        "week": f"{year:04d}-W{week:02d}",
        "datetime-local": f"{day}T00:00",
    }


def _precision(value: dt.time) -> str:
    return "milliseconds" if value.microsecond else "seconds" if value.second else "minutes"


def _shortest(value: float) -> str:
    return f"{value:.0f}" if value == int(value) and abs(value) < 1e15 else repr(value)


def _parts(text: str) -> dict[str, int] | None:
    match = _VALUE.fullmatch(text)
    if match is None:
        return None
    parts = {name: int(digits) for name, digits in match.groupdict().items() if digits}
    if match["millisecond"]:
        parts["millisecond"] = int(match["millisecond"].ljust(3, "0"))
    if match["hour"]:
        parts.setdefault("second", 0)
        parts.setdefault("millisecond", 0)
    return parts


def _written(segments: Sequence[Segment], text: str) -> list[str]:
    parts = _parts(text)
    if parts is None:
        return []
    shown = {segment.name: segment for segment in segments}
    if "hour" in parts:
        hour, most = parts["hour"], shown["hour"].most if "hour" in shown else 0
        if "ampm" in shown:
            parts["ampm"] = 2 if hour >= 12 else 1
            parts["hour"] = hour % 12 if most == 11 else (hour % 12 or 12)
        elif most == 24 and hour == 0:
            parts["hour"] = 24
    if any(number for name, number in parts.items() if name not in shown) or not shown.keys() <= parts.keys():
        return []
    return [f"{parts[segment.name]:0{_WIDTHS.get(segment.name, 2)}d}" for segment in segments]


def _last(segments: Sequence[Segment], written: Sequence[str]) -> int:
    """Return the segment to write last: one that takes a value by a single key, if there is one."""

    def cost(number: int) -> tuple[bool, bool, bool]:
        name = segments[number].name
        return name == "year", name != "ampm", not written[number].startswith("0")

    return min(range(len(segments)), key=cost)


FillValue = TextValue | bool | Option


_FILL = ("_input/forms/fill", "_page/scripts/secret_field", "_input/forms/field_values")
_HELD = ("_input/forms/held", "_page/scripts/secret_field", "_input/forms/field_values")


def _source(parts: tuple[str, ...]) -> str:
    return script_with(*parts, given="request, keys")


class _Made(msgspec.Struct):
    """What fill.js answers."""

    kind: str
    type: str = ""
    reason: str = ""
    holds: str | None = None
    keys: list[str] = []
    range: bool = False
    focused: bool = False
    labelled: bool = False
    scripted: bool = False
    fresh: bool = False


class _Held(msgspec.Struct):
    """What held.js answers."""

    taken: bool
    holds: str | None


def check_fill_value(value: FillValue) -> None:
    """Raise InvalidArgumentError for what no control can hold. Sends nothing, and never shows a text."""
    if not isinstance(value, (bool, Option)):
        texts_of(value)


async def fill(node: Node, value: FillValue, *, context: ActionContext) -> ActionOutcome:
    """Put `value` in the place of what the control holds.

    Inputs of every type but files, textareas, contenteditable elements, a label of one of them; a bool for
    what can be checked; a text or an Option for selects and listboxes.

    Raises InvalidArgumentError; StaleRefError when the node left its document; NotInteractableError at once for
    what cannot be filled in; ValueRefusedError when the control does not take the value; FocusMovedError when
    the page moves the focus before it has it; InvisibleError or DisabledError (read-only too) when the budget ends
    first.
    """
    check_fill_value(value)
    if isinstance(value, bool):
        return await set_checked(node, value, context=context)
    if isinstance(value, Option):
        return await select(node, value, context=context)
    texts = texts_of(value)
    for text in texts.values():  # known to be secret before the first script of this action is given them
        node.session.connection.instruments.add_secret(text)
    guard = KeyGuard("fill", node)
    async with context.inspect(node, "fill") as inspection:
        request = {"texts": texts, "script": False, "guard": guard.arming()}
        try:
            made = await inspection.run_when_usable(_source(_FILL), request, _Made, Usability(writable=True))
            if made.kind in ("text", "keys"):
                guard.note_armed(inspection.used.library)
            if made.kind == "text":
                return await _replace(node, made, texts, inspection, guard, context)
            if made.kind == "keys":
                by_keys = await _by_keys(node, made, texts, inspection, guard, context)
                if by_keys is not None:
                    return by_keys
                made = await inspection.run(_source(_FILL), {**request, "script": True}, _Made)
        finally:
            guard.end()
    match made.kind:
        case "set":
            if made.reason:
                raise _make_refusal(node, made.reason, made.holds)
            return ActionOutcome("fill", node.description, set_by_script=made.scripted)
        case "select" | "listbox":
            return await select(node, texts[EVERY_TYPE], context=context)
        case "toggle":
            raise InvalidArgumentError(
                what="value",
                given=f"a {type(value).__name__}",
                expected="True or False for what can be checked",
            )
        case "file":
            raise _never(node, "it takes files; use upload()")
        case _:
            raise _never(node, made.reason)


async def _replace(
    node: Node,
    made: _Made,
    texts: Mapping[str, str],
    inspection: Inspection,
    guard: KeyGuard,
    context: ActionContext,
) -> ActionOutcome:
    if made.reason:
        raise _make_refusal(node, made.reason, made.holds)
    text = texts.get(made.type, texts[EVERY_TYPE])
    keyboard = context.keyboard.on(node.session)
    with pending_group() as post:
        early: PendingCall | None = None

        def ask() -> None:
            # Right behind the text. What comes to the page before the text does is asked again below.
            nonlocal early
            early = post(inspection.post(_source(_HELD), _held_request(text, made, guard)))

        if text:
            dialog = await keyboard.insert_text(text, behind=ask if made.fresh else None)
        else:
            dialog = await keyboard.press("Delete")
        outcome = ActionOutcome("fill", node.description, dialog_opened=dialog)
        if early is not None and not dialog and await _is_taken(early, node):
            guard.note_ended()
            return outcome
    held = await _held(inspection, text, made, guard)
    if held is not None and not held.taken:
        unit = "characters" if text else "keys"
        total = len(text) or 1
        await guard.conclude(
            context.interruptions,
            context.navigation,
            sent=1,
            count=lambda arrived: (arrived * total, total),
            unit=unit,
        )
        raise _make_refusal(node, "the control, or the page's script, made something else of it", held.holds)
    return outcome


async def _is_taken(held: PendingCall, node: Node) -> bool:
    try:
        answer = await decode_result(held, node, _Held | None)  # type: ignore[arg-type]
    except StaleRefError:
        return False
    return answer is not None and answer.taken


async def _by_keys(
    node: Node,
    made: _Made,
    texts: Mapping[str, str],
    inspection: Inspection,
    guard: KeyGuard,
    context: ActionContext,
) -> ActionOutcome | None:
    """Give a date, time or range its value by keys; None where they do not do it."""
    text = texts.get(made.type, texts[EVERY_TYPE])
    keys = made.keys if made.range else await _keys_for_segments(node, made, text, context)
    if not keys:
        return None
    dialog = await context.keyboard.on(node.session).press_each(*keys)
    outcome = ActionOutcome("fill", node.description, dialog_opened=dialog)
    held = await _held(inspection, text, made, guard)
    if held is None or held.taken:
        return outcome
    if dialog:
        raise _make_refusal(node, "a dialog opened while it was being filled in", held.holds)
    await guard.conclude(
        context.interruptions,
        context.navigation,
        sent=len(keys),
        count=lambda arrived: (arrived, len(keys)),
        unit="keys",
    )
    return None


def _held_request(text: str, made: _Made, guard: KeyGuard) -> dict[str, str]:
    return {"wanted": text, "type": made.type, "guard": guard.id}


async def _held(inspection: Inspection, text: str, made: _Made, guard: KeyGuard) -> _Held | None:
    """Ask whether the control took the text; None when the input made the page show another document."""
    try:
        held = await inspection.run(_source(_HELD), _held_request(text, made, guard), _Held)
    except StaleRefError:
        return None
    if held.taken:
        guard.note_ended()
    return held


async def _keys_for_segments(node: Node, made: _Made, text: str, context: ActionContext) -> list[str]:
    control = node
    if made.labelled:
        found = await related_node(
            node, "_input/forms/control", None, node.description, worlds=context.worlds
        )
        if found is None:
            return []
        control = found
    described = await node.session.request(
        "DOM.describeNode",
        {"backendNodeId": control.backend_node_id, "depth": -1, "pierce": True},
        DescribeNodeReply,
    )
    return segment_keys(segments_in(described.node), text.replace(" ", "T"), anywhere=made.focused)


def _make_refusal(node: Node, reason: str, holds: str | None) -> ValueRefusedError:
    return ValueRefusedError(action="fill", target=node.description, reason=reason, took=holds)


def _never(node: Node, reason: str) -> NotInteractableError:
    return NotInteractableError(
        action="fill", target=node.description, reason=reason or "it cannot be filled in"
    )
