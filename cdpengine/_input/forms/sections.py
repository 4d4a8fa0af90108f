"""Custom date and time fields: a group of spin buttons, one each for day, month, year, hour and so on.

Rule: each section is filled in as a separate field, in the order of the page, and all are read back. An ISO date
or time is distributed to the sections by their ranges. Other strings must have the order of the sections, as the
field displays it ("11/26/2026").
"""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Sequence

import msgspec

from cdpengine._input.action import ActionContext, ActionOutcome
from cdpengine._input.forms.related import related_node
from cdpengine._input.forms.segments import Segment, write_segments
from cdpengine._input.forms.text_entry import press
from cdpengine._javascript import script
from cdpengine._page.scripts.page_functions import Node
from cdpengine.errors import NotInteractableError, ValueRefusedError

_SECTIONS = "_input/forms/sections"

_TYPES = {"dayPeriod": "ampm"}
_DAY_PERIODS = {"1": "AM", "2": "PM"}

_MOST_NAMED = 12
"""Largest maximum of a section that may display names: months, or AM and PM."""

_LEAST_YEAR = 1000
"""Smallest maximum of a section that is a year."""


class _Section(msgspec.Struct):
    """One section, as described by sections.js."""

    type: str
    most: float
    least: float
    now: float | None
    text: str


async def fill_sections(
    node: Node,
    text: str,
    fill_one: Callable[[Node, str], Awaitable[ActionOutcome]],
    *,
    context: ActionContext,
) -> ActionOutcome | None:
    """Fill in the sections of a date or time field, each with `fill_one`. Return None for other nodes.

    Raises NotInteractableError for a string that does not fit the sections. Raises ValueRefusedError if they hold
    another value afterwards. Raises the errors of `fill_one`.
    """
    sections = await _look(node, context)
    if not sections:
        return None
    written = _section_strings(sections, text) if text else [""] * len(sections)
    if not written:
        kinds = ", ".join(each.name for each in _named(sections)) or f"{len(sections)} sections"
        reason = f"it is a date or time of {kinds}, and the value does not fit"
        raise NotInteractableError(action="fill", target=node.description, reason=reason)
    dialog = False
    for number, part in enumerate(written):
        description = f"section {number + 1} of {node.description}"
        section = await related_node(node, _SECTIONS, {"take": number}, description, worlds=context.worlds)
        if section is None:
            break
        if part:
            outcome = await fill_one(section, part)
        else:
            outcome = await _clear(node, section, number, sections[number], context)
        dialog = dialog or outcome.dialog_opened
    found = await _look(node, context)
    if len(found) != len(written) or not all(map(_is_taken, found, written)):
        raise ValueRefusedError(
            action="fill",
            target=node.description,
            reason="the field holds another value",
            took=" ".join(each.text for each in found),
        )
    return ActionOutcome("fill", node.description, dialog_opened=dialog)


async def _clear(
    node: Node, section: Node, number: int, described: _Section, context: ActionContext
) -> ActionOutcome:
    """Empty a section of `node`. Backspace removes its whole content (MUI), or one digit (React Aria)."""
    outcome = await press("Backspace", node=section, context=context)
    for _ in range(len(f"{described.most:.0f}") - 1):
        found = await _look(node, context)
        if number >= len(found) or found[number].now is None:
            break
        outcome = await press("Backspace", node=section, context=context)
    return outcome


async def _look(node: Node, context: ActionContext) -> list[_Section]:
    async with context.inspect(node, "fill") as inspection:
        return await inspection.run(script(_SECTIONS), {"take": None}, list[_Section])


def _section_strings(sections: Sequence[_Section], text: str) -> list[str]:
    """Return the string for each section, or [] if `text` does not fit them."""
    named = _named(sections)
    written = write_segments(named, text.strip().replace(" ", "T", 1)) if named else []
    if written:
        pairs = zip(named, written, strict=True)
        parts = [_DAY_PERIODS[part] if each.name == "ampm" else part for each, part in pairs]
    else:
        parts = re.findall(r"\w+", text)
    if len(parts) != len(sections) or not all(map(_takes, sections, parts)):
        return []
    return [
        part.zfill(len(f"{each.most:.0f}")) if part.isdecimal() else part
        for each, part in zip(sections, parts, strict=True)
    ]


def _takes(section: _Section, part: str) -> bool:
    if not part.isdecimal():
        return section.most <= _MOST_NAMED
    return section.least <= int(part) <= section.most and (
        section.most < _LEAST_YEAR or len(part) >= len("2026")
    )


def _named(sections: Sequence[_Section]) -> list[Segment]:
    """Return the sections with names derived from their maxima, or [] if the maxima are ambiguous."""
    found: list[Segment] = []
    has_date = any(_by_number(each.most) in ("year", "day") for each in sections)
    for each in sections:
        before = {segment.name for segment in found}
        name = _TYPES.get(each.type, each.type) or _by_number(each.most)
        if name == "month" and (not has_date or "month" in before):
            name = "hour"
        if name == "minute" and "minute" in before:
            name = "second"
        if not name or name in before:
            return []
        found.append(Segment(name, int(each.most)))
    return found


def _by_number(most: float) -> str:
    known = {12: "month", 59: "minute", 23: "hour", 24: "hour", 11: "hour", 1: "ampm", 999: "millisecond"}
    return "year" if most >= _LEAST_YEAR else "day" if 28 <= most <= 31 else known.get(int(most), "")


def _is_taken(section: _Section, text: str) -> bool:
    if not text:
        return section.now is None
    if not text.isdecimal():
        return section.text.casefold().startswith(text.casefold())
    number = (
        section.now if section.now is not None else float(section.text) if section.text.isdecimal() else None
    )
    return number == int(text)
