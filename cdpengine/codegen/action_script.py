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
        if step.dialog is not None:
            line = None  # scripts have no answers to dialogs
        if line is None:
            kind = type(step.action).__name__
            notes.append(f"step {number}: no action expresses {kind}")
            yield f"# {kind}: not possible in an action script"
        else:
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


def _element(query: ElementQuery) -> str:
    return f"[{selector_of(query)}]"
