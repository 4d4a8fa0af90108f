"""Gestures: conversion of a person's actions into the steps of equivalent page verbs.

Rule: the view at the arrival of a report describes the element, because it shows the page before the action.
Typing becomes one step with the final value of the field. A click that only focuses a field is dropped once
the person types there. An action that cannot become a step leaves a note with the reason.
"""

from __future__ import annotations

from typing import Any

from cdpengine.cache.learning.drafts import CannotBeStep, Draft, Element, Typing
from cdpengine.cache.learning.elements import ElementReader
from cdpengine.cache.learning.fields import secret_name
from cdpengine.cache.learning.outcomes import PageView
from cdpengine.cache.learning.person import PersonAction, PersonObserver
from cdpengine.cache.learning.steps import draft_of
from cdpengine.cache.learning.templating import Templating


class Gestures:
    """A converter from observed actions to steps."""

    def __init__(
        self, reader: ElementReader, person: PersonObserver, templating: Templating, *, complete: bool
    ) -> None:
        self._reader = reader
        self._person = person
        self._templating = templating
        self._complete = complete

    async def draft_of(self, action: PersonAction, view: PageView | None) -> Draft | None:
        """Return the step for an action, or None if no step is necessary.

        Raises CannotBeStep with the reason if no request can express the action.
        """
        kind = action.report.kind
        if kind in ("navigate", "reload", "history"):
            draft = await self._went(action)
        elif kind == "characters":
            raise CannotBeStep("characters were typed outside of a field; they may be a part of a secret")
        elif kind == "files" and not self._complete:
            names = ", ".join(action.report.names)
            shown = self._templating.shown(names)
            named = "" if shown is None else f" ({shown[:80]})"
            raise CannotBeStep(f"files were chosen{named}, and a page does not say where they are")
        else:
            draft = await self._done(action, view)
        if draft is not None:
            draft.before = view
        return draft

    async def _done(self, action: PersonAction, view: PageView | None) -> Draft:
        report = action.report
        element = await self._describe(action, view)
        if element is None and report.kind == "key":
            draft = draft_of("press", {"key": report.key, "target": None}, {}, self._templating)
            draft.optional = not report.sure
            return draft
        if element is None:
            raise CannotBeStep(f"{_SAID[report.kind]} that the page does not show as something of its own")
        draft = await self._on(action, element)
        draft.element = element
        return draft

    async def _on(self, action: PersonAction, element: Element) -> Draft:
        report, templating = action.report, self._templating
        on = {"target": element}
        if report.kind == "click":
            arguments: dict[str, Any] = {
                "button": report.button,
                "count": report.count,
                "modifiers": report.modifiers,
                "position": None,
                "force": False,
            }
            draft = draft_of("click", arguments, on, templating)
            draft.focusing = element.facts.takes_value and report.button == "left" and not report.modifiers
            return draft
        if report.kind == "files":
            return draft_of("upload", {"paths": report.names}, on, templating)
        if report.kind == "check":
            return draft_of("check" if report.checked else "uncheck", {}, on, templating)
        if report.kind == "key":
            if element.target.role in _TAKE_NO_FOCUS:
                on = {}
            draft = draft_of("press", {"key": report.key, "target": on.get("target")}, on, templating)
            draft.optional = not report.sure
            return draft
        if secret_name(element.facts) is not None:
            typing = Typing(text="", element=element, unknown=True, pasted=True)
            return Draft(
                targets={"t1": element.target},
                typing=typing,
                entering=True,
                origins=(element.origin,) if element.origin else (),
                label=f'fill {element.target.role} "{element.target.name[:60]}"'.replace("$$", "$"),
            )
        if report.kind == "select":
            return draft_of("select", {"values": tuple(report.values or ())}, on, templating)
        text = await self._person.text_of(action)
        if text is None:
            raise CannotBeStep("something was entered, and it could not be read in time")
        return draft_of("fill", {"value": text}, on, templating)

    async def _describe(self, action: PersonAction, view: PageView | None) -> Element | None:
        node, around = await self._person.nodes_of(action)
        snapshot = None if view is None else view.snapshot
        if node is None:
            # The page left the document before the lookup. Role and name must identify the element uniquely.
            return self._reader.describe_by_name(action.report.role, action.report.label, snapshot)
        return await self._reader.describe_around(node, around, snapshot, action.report.facts)

    async def _went(self, action: PersonAction) -> Draft | None:
        report = action.report
        if report.kind == "reload":
            return draft_of("reload", {"wait_until": "load"}, {}, self._templating)
        if report.kind == "navigate":
            if not report.url.startswith(("http:", "https:", "file:")):
                raise CannotBeStep("the page went to an address that is not of the web")
            return draft_of("goto", {"url": report.url, "wait_until": "load"}, {}, self._templating)
        if not action.rested:
            return None  # the previous action caused it, such as a back button within the page
        moved = await self._person.moved_in_history(action)
        if not moved:
            raise CannotBeStep("the page went through its history, and it is not known how far")
        if abs(moved) > 1:
            raise CannotBeStep(f"the page went {abs(moved)} entries through its history in one step")
        verb = "go_back" if moved < 0 else "go_forward"
        return draft_of(verb, {"wait_until": "load"}, {}, self._templating)


_TAKE_NO_FOCUS = frozenset({"alertdialog", "dialog"})
"""Roles that hold the focus while open, although no request can focus them."""

_SAID = {
    "click": "something was clicked",
    "entered": "something was entered into an element",
    "files": "files were chosen in an element",
    "check": "a box was checked or unchecked",
    "select": "an option was chosen of a list",
    "key": "a key was pressed on an element",
}
