"""Recorded steps of cached steps: those of a cache entry, or those that were learned of a person. Pure.

Rule: elements are found by role and exact name. A request that changes nothing on the page is no step.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from cdpengine import act
from cdpengine.cache.entries import CacheEntry, PostCondition, Step, StepGroup, Target, begins_anywhere
from cdpengine.cache.targets import LONGEST_NAME
from cdpengine.codegen import recorded
from cdpengine.codegen.queries import NAMELESS_ROLES
from cdpengine.codegen.recorded import ElementQuery, RecordedStep

_NO_STEPS = (act.Resize, act.Scroll, act.ScrollIntoView)
"""Requests that a program does without: its actions scroll, and its window has a size already."""


def steps_of_entry(entry: CacheEntry, notes: list[str], *, asserts: bool = False) -> list[RecordedStep]:
    """Return the steps of an entry, beginning at its page. Append the omitted steps to `notes`.

    With `asserts`, the conditions after the steps become assertions.
    """
    steps = [step for _, step in convert(_plain_steps(entry.steps), notes, asserts=asserts)]
    if begins_anywhere(entry):
        return steps
    if "*" in entry.key.address:
        notes.append(f"the entry is for many pages: replace the URL {entry.key.address}")
    return [RecordedStep(recorded.Goto(entry.key.address.replace("$", "$$"))), *steps]


def convert(
    steps: Iterable[Step], notes: list[str], *, page: int = 1, asserts: bool = False
) -> Iterator[tuple[int, RecordedStep]]:
    """Yield the recorded steps of cached steps on one page, each after the place of its cached step."""
    answer: recorded.DialogAnswer | None = None
    for place, step in enumerate(steps):
        request = step.request
        if isinstance(request, act.Dialog):
            answer = recorded.DialogAnswer(request.accept, request.prompt_text)
            continue
        if isinstance(request, _NO_STEPS):
            continue
        actions = list(_actions(request, {name: query_of(each) for name, each in step.targets.items()}))
        if not actions:
            notes.append(f"step {place + 1}: no program has the request {request.kind}")
            continue
        for action in actions:
            yield place, RecordedStep(action, page, dialog=answer)
            answer = None
        if asserts and step.after is not None:
            for assertion in _assertions(step.after):
                yield place, RecordedStep(assertion, page)


def query_of(target: Target) -> ElementQuery:
    """Return the query of a described element."""
    nth, exact = target.nth if target.alike > 1 else None, len(target.name) < LONGEST_NAME
    if target.role in NAMELESS_ROLES and target.name:
        text = target.name.replace("$$", "$")
        return ElementQuery(text=text, exact=exact, nth=nth, frame=_frame_of(target))
    return ElementQuery(role=target.role, name=target.name, exact=exact, nth=nth, frame=_frame_of(target))


def _frame_of(target: Target) -> str:
    """Return the URL of the element's frame, "" for the page itself and for a frame without a distinct URL."""
    place = target.frames[-1] if target.frames else None
    return place.address if place is not None and place.alike == 1 else ""


def _plain_steps(steps: Iterable[Step | StepGroup]) -> Iterator[Step]:
    for each in steps:
        yield from each.steps if isinstance(each, StepGroup) else (each,)


def _actions(request: act.ActRequest, targets: dict[str, ElementQuery]) -> Iterator[recorded.Action]:
    """Yield the actions of a request; none if no action expresses it."""
    match request:
        case act.Navigate(url=url):
            yield recorded.Goto(url)
        case act.Back():
            yield recorded.Move("back")
        case act.Forward():
            yield recorded.Move("forward")
        case act.Reload():
            yield recorded.Move("reload")
        case act.Press(key=key, ref=ref):
            yield recorded.Press(key, None if ref is None else targets[ref])
        case act.Fill(fields=fields):
            for field in fields:
                if field.ref is not None:
                    yield _field(targets[field.ref], field.value)
        case act.Drag(start_ref=str(start), end_ref=str(end)):
            yield recorded.Drag(targets[start], targets[end])
        case act.Wait():
            yield from _assertions(PostCondition(url=request.url, text=request.text))
        case act.NewTab():
            return
        case act.Click() | act.Type() | act.Hover() | act.Select() | act.Check() | act.Upload():
            if request.ref is not None:
                yield from _on_element(request, targets[request.ref])


def _on_element(
    request: act.Click | act.Type | act.Hover | act.Select | act.Check | act.Upload,
    target: ElementQuery,
) -> Iterator[recorded.Action]:
    match request:
        case act.Click(button=button, double_click=double, modifiers=modifiers):
            yield recorded.Click(target, button, 2 if double else 1, tuple(modifiers))
        case act.Type(text=text, submit=submit):
            yield recorded.TypeText(target, text)
            if submit:
                yield recorded.Press("Enter", target)
        case act.Hover():
            yield recorded.Hover(target)
        case act.Select(values=values):
            yield recorded.Select(target, values)
        case act.Check(checked=checked):
            yield recorded.Check(target, checked)
        case act.Upload(paths=paths):
            yield recorded.Upload(target, paths)


def _field(target: ElementQuery, value: str | float | bool | tuple[str, ...]) -> recorded.Action:
    if isinstance(value, bool):
        return recorded.Check(target, value)
    return recorded.Select(target, value) if isinstance(value, tuple) else recorded.Fill(target, str(value))


def _assertions(after: PostCondition) -> Iterator[recorded.Assertion]:
    """Yield the assertions of a condition. A pattern of URLs and a text with variables have none."""
    if after.url is not None and "*" not in after.url:
        yield recorded.Assertion("url", None, after.url)
    if after.text is not None and "${" not in after.text:
        yield recorded.Assertion("visible", ElementQuery(text=after.text.replace("$$", "$"), nth=0))
    if after.shown is not None:
        yield recorded.Assertion("visible", query_of(after.shown))
