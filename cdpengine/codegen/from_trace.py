"""Recorded steps of a step trace. Pure, except for the reading of the trace.

Rule: reads and failed actions are no steps. A step names its element by the arguments of its locator, or by the
role and name of its ref. Withheld strings become variables that are named after their fields.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping
from typing import Any

from cdpengine.cache.templates import escape
from cdpengine.codegen import recorded
from cdpengine.codegen.queries import query_of_description, query_of_selector
from cdpengine.codegen.recorded import ElementQuery, RecordedStep
from cdpengine.debug.steps.descriptions import REDACTED
from cdpengine.debug.steps.reading import StepTrace

_MOVES = {
    "reload": "reload", "go_back": "back", "go_forward": "forward", "back": "back", "forward": "forward",
}  # fmt: skip

_FORMS = frozenset({"fill_form", "fill"})

_NO_STEPS = frozenset({
    "focus", "scroll", "scroll_into_view", "scrollIntoView", "wait", "focusTab", "tabs", "newTab", "dialog",
})  # fmt: skip
"""Actions that a program does without: its actions scroll and wait, and it names its pages.

The outcome of the action that opened a dialog has the answer.
"""


class _CannotBeStep(Exception):
    """The reason that an action is no step."""


def steps_of_trace(trace: StepTrace, notes: list[str]) -> list[RecordedStep]:
    """Return the steps of a trace. Append the omitted actions to `notes`."""
    return list(_TraceSteps(list(trace.lines("steps")), notes).steps())


class _TraceSteps:
    """The conversion of the lines of one trace."""

    def __init__(self, lines: list[dict[str, Any]], notes: list[str]) -> None:
        self._lines = lines
        self._notes = notes
        self._ends = {line["n"]: line for line in lines if line.get("k") == "end"}
        self._nodes: dict[int, dict[str, dict[str, Any]]] = {}
        for line in lines:
            if line.get("k") == "node":
                self._nodes.setdefault(line["n"], {})[line["arg"]] = line
        self._targets = {line["target"]: line["page"] for line in lines if line.get("k") == "page"}
        self._pages: dict[int, int] = {}
        self._variables: dict[str, ElementQuery] = {}

    def steps(self) -> Iterator[RecordedStep]:
        """Yield the steps."""
        for line in self._lines:
            if line.get("k") != "step" or line["read"]:
                continue
            end = self._ends.get(line["n"])
            if end is None or end["error"] is not None:
                why = "it did not end" if end is None else f"it failed with {end['error']['kind']}"
                self._note(line, why)
                continue
            if line["verb"] in _NO_STEPS:
                continue
            try:
                actions = list(self._actions(line))
            except _CannotBeStep as error:
                self._note(line, str(error))
                continue
            yield from self._begin_page(line)
            page = self._pages[line["page"]]
            opens, answer = self._opened_by(end), _answer(end["outcome"])
            for action in actions[:-1]:
                yield RecordedStep(action, page)
            for action in actions[-1:]:
                yield RecordedStep(action, page, opens=opens, dialog=answer)

    def _note(self, line: Mapping[str, Any], why: str) -> None:
        self._notes.append(f"step {line['n']}, {line['verb']}: {why}")

    # --- pages ---------------------------------------------------------------------------------------------------

    def _begin_page(self, line: Mapping[str, Any]) -> Iterator[RecordedStep]:
        """Open the page of a step on first use, at the URL that it has."""
        if line["page"] in self._pages:
            return
        number = self._pages[line["page"]] = self._next_page
        if number > 1:
            yield RecordedStep(recorded.OpenPage(), number)
        if line["url"] not in ("", "about:blank") and line["verb"] not in ("goto", "navigate"):
            yield RecordedStep(recorded.Goto(escape(line["url"])), number)

    @property
    def _next_page(self) -> int:
        return max(self._pages.values(), default=0) + 1

    def _opened_by(self, end: Mapping[str, Any]) -> int | None:
        outcome = end["outcome"]
        popup = outcome.get("popup") if isinstance(outcome, dict) else None
        page = self._targets.get(popup["target_id"]) if isinstance(popup, dict) else None
        if page is None or page in self._pages:
            return None
        self._pages[page] = self._next_page
        return self._pages[page]

    # --- actions -------------------------------------------------------------------------------------------------

    def _actions(self, line: Mapping[str, Any]) -> Iterator[recorded.Action]:
        verb, arguments = line["verb"], line["args"]
        if verb in ("goto", "navigate"):
            yield recorded.Goto(escape(arguments["url"]))
        elif verb in _MOVES:
            yield recorded.Move(_MOVES[verb])  # type: ignore[arg-type]
        elif verb == "close":
            yield recorded.ClosePage()
        elif verb == "press":
            yield self._press(line)
        elif verb == "drag":
            source = next(
                (each for each in ("source", "target") if each in self._described(line)), "startSelector"
            )
            yield recorded.Drag(self._query(line, source, "start"), self._query(line, "destination", "end"))
        elif verb in _FORMS and "fields" in arguments:
            yield from self._fields(line)
        else:
            yield from self._on_element(line)

    def _on_element(self, line: Mapping[str, Any]) -> Iterator[recorded.Action]:
        verb, arguments = line["verb"], line["args"]
        if verb not in ("click", "check", "uncheck", "hover", "select", "fill", "type", "upload"):
            raise _CannotBeStep("no program has this action")
        target = self._query(line)
        match verb:
            case "click":
                count = int(arguments.get("count", 2 if "doubleClick" in arguments else 1))
                yield recorded.Click(
                    target, arguments.get("button", "left"), count, _strings(arguments.get("modifiers"))
                )
            case "check" | "uncheck":
                yield recorded.Check(target, verb == "check" and arguments.get("checked") != "False")
            case "hover":
                yield recorded.Hover(target)
            case "select":
                values = arguments.get("values", "")
                known = () if values == REDACTED else tuple(map(escape, _strings(values)))
                yield recorded.Select(target, known or (self._variable(target),))
            case "fill":
                yield recorded.Fill(target, self._entered(target, arguments.get("value", "")))
            case "type":
                yield recorded.TypeText(target, self._entered(target, arguments.get("text", "")))
                if arguments.get("submit"):
                    yield recorded.Press("Enter", target)
            case "upload":
                paths = arguments.get("paths", "")
                known = () if paths == REDACTED else tuple(map(escape, _strings(paths)))
                yield recorded.Upload(target, known or (self._variable(target),))

    def _press(self, line: Mapping[str, Any]) -> recorded.Press:
        arguments = line["args"]
        if arguments["key"] == REDACTED:
            raise _CannotBeStep("the key is withheld")
        has_target = bool({"target", "ref", "selector"}.intersection(arguments))
        return recorded.Press(arguments["key"], self._query(line) if has_target else None)

    def _fields(self, line: Mapping[str, Any]) -> Iterator[recorded.Action]:
        """Yield an action for each field of a form. The trace has their values in no separate form."""
        names = [name for name in self._described(line) if name.startswith("field ")]
        for name in sorted(names, key=lambda each: int(each.split()[1])):
            target = self._query(line, name)
            variable = self._variable(target)
            if target.role in ("checkbox", "radio", "switch"):
                yield recorded.Check(target)
            else:
                yield (
                    recorded.Select(target, (variable,))
                    if target.role in ("combobox", "listbox")
                    else recorded.Fill(target, variable)
                )

    # --- elements and strings ------------------------------------------------------------------------------------

    def _described(self, line: Mapping[str, Any]) -> Mapping[str, Mapping[str, Any]]:
        return self._nodes.get(line["n"], {})

    def _query(self, line: Mapping[str, Any], argument: str = "target", prefix: str = "") -> ElementQuery:
        """Return the query of an argument: from its selector, its locator, or the node that it was."""
        arguments, node = line["args"], self._described(line).get(argument, {})
        selector = arguments.get(f"{prefix}Selector" if prefix else "selector", node.get("selector"))
        query = None if selector is None else query_of_selector(selector)
        texts = (arguments.get(argument), node.get("locator"), node.get("name"))
        for text in texts if query is None else ():
            if text is not None and (query := query_of_description(text)) is not None:
                break
        if query is None:
            shown = next((text for text in texts if text), "the element")
            raise _CannotBeStep(f"no locator describes {shown}")
        return query

    def _entered(self, target: ElementQuery, text: str) -> str:
        return self._variable(target) if text == REDACTED else escape(text)

    def _variable(self, target: ElementQuery) -> str:
        """Return a variable for the value of an element. Other elements have other variables."""
        words = (
            target.label or target.name or target.placeholder or target.test_id or target.css or target.role
        )
        name = re.sub(r"[^0-9a-z]+", "_", words.lower()).strip("_")[:40]
        name = name if name and not name[0].isdigit() else f"value_{name}".rstrip("_")
        alike = [each for each, known in self._variables.items() if known == target and each.startswith(name)]
        if alike:
            return f"${{{alike[0]}}}"
        free, number = name, 2
        while free in self._variables:
            free, number = f"{name}_{number}", number + 1
        self._variables[free] = target
        return f"${{{free}}}"


def _answer(outcome: object) -> recorded.DialogAnswer | None:
    """Return the answer of a program's own to the first dialog of an outcome, None without one."""
    if not isinstance(outcome, dict) or not outcome.get("answers"):
        return None
    kind, answer = outcome["dialogs"][0].partition(":")[0], outcome["answers"][0]
    if kind not in ("confirm", "prompt") or answer != "accepted":
        return None
    return recorded.DialogAnswer(accept=True, text="${answer}" if kind == "prompt" else None)


def _strings(shown: str | None) -> tuple[str, ...]:
    """Return the strings of a displayed tuple or list."""
    if not shown:
        return ()
    try:
        value = ast.literal_eval(shown)
    except (ValueError, SyntaxError):
        return (shown,)
    return tuple(map(str, value)) if isinstance(value, tuple | list) else (shown,)
