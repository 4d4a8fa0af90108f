"""Action scripts of recorded steps (`cdpengine run`). Pure.

Rule: each line is an action that `parse_action` accepts. Elements are named by selectors, so a script needs no
snapshot. Steps that no action expresses become comments, and are noted.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from cdpengine.codegen import recorded
from cdpengine.codegen.queries import plain, selector_of
from cdpengine.codegen.recorded import ElementQuery, RecordedStep
from cdpengine.codegen.request_list import OpenTabs

_PRESSED_BY_CLICK = frozenset({"button", "link", "menuitem", "tab"})
"""Roles of elements on which Enter is a click."""


def write_script(steps: Sequence[RecordedStep], notes: list[str]) -> str:
    """Return the script. Append the omitted steps to `notes`."""
    return "".join(f"{line}\n" for line in _lines(steps, notes))


def _lines(steps: Sequence[RecordedStep], notes: list[str]) -> Iterator[str]:
    tabs = OpenTabs()
    focused: ElementQuery | None = None
    for number, step in enumerate(steps, 1):
        if isinstance(step.action, recorded.OpenPage):
            tabs.open(step.page)
            yield "new_tab"
            continue
        if (index := tabs.focus(step.page)) is not None:
            yield f"tab_focus [{index}]"
        line = _line(step.action, focused)
        if line is None:
            words = _name(step.action)
            notes.append(f"step {number}: an action script cannot express {words}")
            yield f"# {words}: not possible in an action script"
        else:
            if step.dialog is not None:
                yield _dialog(step.dialog)
            yield line
        focused = step.target
        if isinstance(step.action, recorded.ClosePage):
            tabs.close(step.page)
        if step.opens is not None:
            tabs.add(step.opens)


def _line(action: recorded.Action, focused: ElementQuery | None) -> str | None:
    """Return the line of an action, or None without one. `focused` is the element of the previous step."""
    line = _write(action, focused)
    return None if line is None or len(line.splitlines()) > 1 else line


def _write(action: recorded.Action, focused: ElementQuery | None) -> str | None:
    match action:
        case recorded.Goto(url=url):
            return f"goto [{plain(url)}]"
        case recorded.Move(where="back" | "forward" as where):
            return f"go_{where}"
        case recorded.Move():
            return "reload"
        case recorded.ClosePage():
            return "close_tab"
        case recorded.Click(button="left", modifiers=(), count=count, target=target):
            return f"{'click' if count == 1 else 'double_click'} {_element(target)}"
        case recorded.Fill(target=target, value=value):
            return f"fill {_element(target)} [{plain(value)}]"
        case recorded.TypeText(target=target, text=text):
            return f"type {_element(target)} [{plain(text)}] [0]"
        case recorded.Check(target=target, checked=checked):
            return f"{'check' if checked else 'uncheck'} {_element(target)}"
        case recorded.Select(target=target, values=(value,)):
            return f"select {_element(target)} [{plain(value)}]"
        case recorded.Hover(target=target):
            return f"hover {_element(target)}"
        case recorded.Press(key=key, target=target):
            if target is None or target == focused:
                return f"press [{key}]"
            return (
                f"click {_element(target)}" if key == "Enter" and target.role in _PRESSED_BY_CLICK else None
            )
        case recorded.Assertion(state="visible", target=target) if target is not None:
            return f"scroll_into_view {_element(target)}"
    return None


def _dialog(answer: recorded.DialogAnswer) -> str:
    """Return the line that sets the answer to the dialog of the next line."""
    if not answer.accept:
        return "dialog [dismiss]"
    return "dialog [accept]" if answer.text is None else f"dialog [accept] [{plain(answer.text)}]"


def _name(action: recorded.Action) -> str:
    """Return an action in words."""
    match action:
        case recorded.Assertion(state="url", expected=url):
            return f"an assertion of the URL {url}"
        case recorded.Assertion():
            return "an assertion"
        case recorded.Upload():
            return "the choice of files"
        case recorded.Click():
            return "a click with this button or these modifiers"
        case recorded.Press(key=key):
            return f"a press of {key} on another element"
    return f"the action {type(action).__name__.lower()}"


def _element(query: ElementQuery) -> str:
    return f"[{selector_of(query)}]"
