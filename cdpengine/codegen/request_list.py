"""Requests of recorded steps (`cdpengine.act`), as a JSON list. Pure.

Rule: a request is an instance of its class, so the list contains only valid requests. Variables stay in the
strings as `${name}`. Steps that no request expresses are omitted, and noted.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any

from cdpengine import act
from cdpengine.act.parsing import to_json
from cdpengine.codegen import recorded
from cdpengine.codegen.queries import plain, selector_of
from cdpengine.codegen.recorded import RecordedStep

_MOVES: dict[str, act.ActRequest] = {"back": act.Back(), "forward": act.Forward(), "reload": act.Reload()}


def write_requests(steps: Sequence[RecordedStep], notes: list[str]) -> str:
    """Return a JSON list with one request a line. Append the omitted steps to `notes`."""
    requests = [json.dumps(to_json(request), ensure_ascii=False) for request in requests_of(steps, notes)]
    return "[\n " + ",\n ".join(requests) + "\n]\n" if requests else "[]\n"


def requests_of(steps: Sequence[RecordedStep], notes: list[str]) -> Iterator[act.ActRequest]:
    """Yield the requests of the steps. Append the omitted steps to `notes`."""
    tabs = OpenTabs()
    for number, step in enumerate(steps, 1):
        if isinstance(step.action, recorded.OpenPage):
            tabs.open(step.page)
            yield act.NewTab()
            continue
        if (index := tabs.focus(step.page)) is not None:
            yield act.FocusTab(index=index)
        if step.dialog is not None:
            text = None if step.dialog.text is None else plain(step.dialog.text)
            yield act.Dialog(accept=step.dialog.accept, prompt_text=text)
        request = request_of(step.action)
        if request is None:
            assert isinstance(step.action, recorded.Assertion), "each other action has a request"
            notes.append(f"step {number}: no request asserts the state {step.action.state!r}")
        else:
            yield request
        if isinstance(step.action, recorded.ClosePage):
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


def request_of(action: recorded.Action) -> act.ActRequest | None:
    """Return the request of an action, or None for an assertion without one."""
    match action:
        case recorded.Goto(url=url):
            return act.Navigate(url=plain(url))
        case recorded.Move(where=where):
            return _MOVES[where]
        case recorded.OpenPage():
            return act.NewTab()
        case recorded.ClosePage():
            return act.Close()
        case recorded.Press(key=key, target=target):
            return act.Press(key=key, selector=None if target is None else selector_of(target))
        case recorded.Drag(target=target, destination=destination):
            return act.Drag(start_selector=selector_of(target), end_selector=selector_of(destination))
        case recorded.Assertion():
            return _assertion(action)
    return _of_element(action, selector_of(action.target))


def _of_element(
    action: recorded.Click
    | recorded.Fill
    | recorded.TypeText
    | recorded.Check
    | recorded.Select
    | recorded.Upload
    | recorded.Hover,
    selector: str,
) -> act.ActRequest:
    match action:
        case recorded.Click(button=button, count=count, modifiers=modifiers):
            held: Any = modifiers
            pressed: Any = button
            return act.Click(selector=selector, button=pressed, double_click=count > 1, modifiers=held)
        case recorded.Fill(value=value):
            return act.Fill(fields=(act.FormField(selector=selector, value=plain(value)),))
        case recorded.TypeText(text=text):
            return act.Type(selector=selector, text=plain(text))
        case recorded.Check(checked=checked):
            return act.Check(selector=selector, checked=checked)
        case recorded.Select(values=values):
            return act.Select(selector=selector, values=tuple(map(plain, values)))
        case recorded.Upload(paths=paths):
            return act.Upload(selector=selector, paths=tuple(map(plain, paths)))
        case recorded.Hover():
            return act.Hover(selector=selector)


def _assertion(assertion: recorded.Assertion) -> act.ActRequest | None:
    match assertion:
        case recorded.Assertion(state="url", expected=url):
            return act.Wait(url=url)
        case recorded.Assertion(state="text", expected=text):
            return act.Wait(text=text)
        case recorded.Assertion(state="visible", target=target) if target is not None:
            return act.ScrollIntoView(selector=selector_of(target))
    return None
