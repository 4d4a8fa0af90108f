"""Recorded steps of cached steps: those of a cache entry, or those that were learned of a person. Pure.

Rule: elements are found by role and exact name. A request that changes nothing on the page is no step.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from cdpengine.act import (
    ActRequest,
    Back,
    Dialog,
    Forward,
    Navigate,
    NewTab,
    Reload,
    Resize,
    Scroll,
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
from cdpengine.cache.entries import CacheEntry, PostCondition, Step, StepGroup, Target, begins_anywhere
from cdpengine.cache.targets import LONGEST_NAME
from cdpengine.codegen.descriptions import NAMELESS_ROLES
from cdpengine.codegen.steps import (
    Action,
    Assertion,
    Check,
    Click,
    DialogAnswer,
    Drag,
    ElementQuery,
    Fill,
    Goto,
    Hover,
    Move,
    Press,
    RecordedStep,
    Select,
    TypeText,
    Upload,
)

_NO_STEPS = (Resize, Scroll, ScrollIntoView)
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
    return [RecordedStep(Goto(entry.key.address.replace("$", "$$"))), *steps]


def convert(
    steps: Iterable[Step], notes: list[str], *, page: int = 1, asserts: bool = False
) -> Iterator[tuple[int, RecordedStep]]:
    """Yield the recorded steps of cached steps on one page, each after the place of its cached step."""
    answer: DialogAnswer | None = None
    for place, step in enumerate(steps):
        request = step.request
        if isinstance(request, Dialog):
            answer = DialogAnswer(request.accept, request.prompt_text)
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


def _actions(request: ActRequest, targets: dict[str, ElementQuery]) -> Iterator[Action]:
    """Yield the actions of a request; none if no action expresses it."""
    match request:
        case Navigate(url=url):
            yield Goto(url)
        case Back():
            yield Move("back")
        case Forward():
            yield Move("forward")
        case Reload():
            yield Move("reload")
        case PressRequest(key=key, ref=ref):
            yield Press(key, None if ref is None else targets[ref])
        case FillRequest(fields=fields):
            for field in fields:
                if field.ref is not None:
                    yield _field(targets[field.ref], field.value)
        case DragRequest(start_ref=str(start), end_ref=str(end)):
            yield Drag(targets[start], targets[end])
        case Wait():
            yield from _assertions(PostCondition(url=request.url, text=request.text))
        case NewTab():
            return
        case ClickRequest() | Type() | HoverRequest() | SelectRequest() | CheckRequest() | UploadRequest():
            if request.ref is not None:
                yield from _on_element(request, targets[request.ref])


def _on_element(
    request: ClickRequest | Type | HoverRequest | SelectRequest | CheckRequest | UploadRequest,
    target: ElementQuery,
) -> Iterator[Action]:
    match request:
        case ClickRequest(button=button, double_click=double, modifiers=modifiers):
            yield Click(target, button, 2 if double else 1, tuple(modifiers))
        case Type(text=text, submit=submit):
            yield TypeText(target, text)
            if submit:
                yield Press("Enter", target)
        case HoverRequest():
            yield Hover(target)
        case SelectRequest(values=values):
            yield Select(target, values)
        case CheckRequest(checked=checked):
            yield Check(target, checked)
        case UploadRequest(paths=paths):
            yield Upload(target, paths)


def _field(target: ElementQuery, value: str | float | bool | tuple[str, ...]) -> Action:
    if isinstance(value, bool):
        return Check(target, value)
    return Select(target, value) if isinstance(value, tuple) else Fill(target, str(value))


def _assertions(after: PostCondition) -> Iterator[Assertion]:
    """Yield the assertions of a condition. A pattern of URLs and a text with variables have none."""
    if after.url is not None and "*" not in after.url:
        yield Assertion("url", None, after.url)
    if after.text is not None and "${" not in after.text:
        yield Assertion("visible", ElementQuery(text=after.text.replace("$$", "$"), nth=0))
    if after.shown is not None:
        yield Assertion("visible", query_of(after.shown))
