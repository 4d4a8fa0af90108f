"""Requests of recorded steps (`cdpengine.act`), as a JSON list. Pure.

Rule: a request is an instance of its class, so the list contains only valid requests. Variables stay in the
strings as `${name}`. Steps that no request expresses are omitted, and noted.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any

from cdpengine.act import (
    ActRequest,
    Back,
    Close,
    Dialog,
    FocusTab,
    FormField,
    Forward,
    Navigate,
    NewTab,
    Reload,
    ScrollIntoView,
    Type,
    Wait,
)
from cdpengine.act import Check as CheckRequest
from cdpengine.act import Click as ClickRequest
from cdpengine.act import Drag as DragRequest
from cdpengine.act import Fill as FillRequest
from cdpengine.act import Hover as HoverRequest
from cdpengine.act import Press as PressRequest
from cdpengine.act import Select as SelectRequest
from cdpengine.act import Upload as UploadRequest
from cdpengine.act.parsing import to_json
from cdpengine.codegen.queries import plain, selector_of
from cdpengine.codegen.steps import (
    Action,
    Assertion,
    Check,
    Click,
    ClosePage,
    Drag,
    Fill,
    Goto,
    Hover,
    Move,
    OpenPage,
    Press,
    RecordedStep,
    Select,
    TypeText,
    Upload,
)

_MOVES: dict[str, ActRequest] = {"back": Back(), "forward": Forward(), "reload": Reload()}


def write_requests(steps: Sequence[RecordedStep], notes: list[str]) -> str:
    """Return a JSON list with one request a line. Append the omitted steps to `notes`."""
    requests = [json.dumps(to_json(request), ensure_ascii=False) for request in requests_of(steps, notes)]
    return "[\n " + ",\n ".join(requests) + "\n]\n" if requests else "[]\n"


def requests_of(steps: Sequence[RecordedStep], notes: list[str]) -> Iterator[ActRequest]:
    """Yield the requests of the steps. Append the omitted steps to `notes`."""
    tabs = OpenTabs()
    for number, step in enumerate(steps, 1):
        if isinstance(step.action, OpenPage):
            tabs.open(step.page)
            yield NewTab()
            continue
        if (index := tabs.focus(step.page)) is not None:
            yield FocusTab(index=index)
        if step.dialog is not None:
            text = None if step.dialog.text is None else plain(step.dialog.text)
            yield Dialog(accept=step.dialog.accept, prompt_text=text)
        request = request_of(step.action)
        if request is None:
            assert isinstance(step.action, Assertion), "each other action has a request"
            notes.append(f"step {number}: no request asserts the state {step.action.state!r}")
        else:
            yield request
        if isinstance(step.action, ClosePage):
            tabs.close(step.page)
        if step.opens is not None:
            tabs.add(step.opens)


class OpenTabs:
    """The open pages of an actor, whose indexes are their numbers in `tabs`, and the current one."""

    def __init__(self) -> None:
        self._pages = [1]
        self._current = 1

    def open(self, page: int) -> None:
        """Add a page that a request opens. It becomes the current one."""
        self.add(page)
        self._current = page

    def add(self, page: int) -> None:
        """Add a page that another page opened."""
        if page not in self._pages:
            self._pages.append(page)

    def focus(self, page: int) -> int | None:
        """Make a page the current one. Return its index, or None if it is the current one already."""
        if page == self._current or page not in self._pages:
            return None
        self._current = page
        return self._pages.index(page)

    def close(self, page: int) -> None:
        """Remove a page. Its opener or the last page becomes current, so the next step chooses its page."""
        if page in self._pages:
            self._pages.remove(page)
        self._current = 0


def request_of(action: Action) -> ActRequest | None:
    """Return the request of an action, or None for an assertion without one."""
    match action:
        case Goto(url=url):
            return Navigate(url=plain(url))
        case Move(where=where):
            return _MOVES[where]
        case OpenPage():
            return NewTab()
        case ClosePage():
            return Close()
        case Press(key=key, target=target):
            return PressRequest(key=key, selector=None if target is None else selector_of(target))
        case Drag(target=target, destination=destination):
            return DragRequest(start_selector=selector_of(target), end_selector=selector_of(destination))
        case Assertion():
            return _assertion(action)
    return _of_element(action, selector_of(action.target))


def _of_element(
    action: Click | Fill | TypeText | Check | Select | Upload | Hover, selector: str
) -> ActRequest:
    match action:
        case Click(button=button, count=count, modifiers=modifiers):
            held: Any = modifiers
            pressed: Any = button
            return ClickRequest(selector=selector, button=pressed, double_click=count > 1, modifiers=held)
        case Fill(value=value):
            return FillRequest(fields=(FormField(selector=selector, value=plain(value)),))
        case TypeText(text=text):
            return Type(selector=selector, text=plain(text))
        case Check(checked=checked):
            return CheckRequest(selector=selector, checked=checked)
        case Select(values=values):
            return SelectRequest(selector=selector, values=tuple(map(plain, values)))
        case Upload(paths=paths):
            return UploadRequest(selector=selector, paths=tuple(map(plain, paths)))
        case Hover():
            return HoverRequest(selector=selector)


def _assertion(assertion: Assertion) -> ActRequest | None:
    match assertion:
        case Assertion(state="url", expected=url):
            return Wait(url=url)
        case Assertion(state="text", expected=text):
            return Wait(text=text)
        case Assertion(state="visible", target=target) if target is not None:
            return ScrollIntoView(selector=selector_of(target))
    return None
