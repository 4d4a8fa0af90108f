"""Steps: conversion of page verbs and their target elements into requests of an entry. Pure.

Rule: an action without an exact request leaves a note with the reason. It never becomes a similar request.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from typing import Any

import attrs

from cdpengine._input.forms.fill import texts_of
from cdpengine._input.forms.filling import EVERY_TYPE
from cdpengine._input.forms.listbox import Option
from cdpengine._input.forms.upload import FileContent
from cdpengine.act import (
    ActRequest,
    Back,
    Check,
    Click,
    Drag,
    FileChooser,
    Fill,
    FormField,
    Forward,
    Hover,
    Navigate,
    Position,
    Press,
    Reload,
    Resize,
    Scroll,
    ScrollIntoView,
    Select,
    Upload,
    Wait,
)
from cdpengine.act.requests import ElementRequest
from cdpengine.cache.addresses import clean_url
from cdpengine.cache.learning.drafts import CannotBeStep, Draft, Element, Typing, is_paste, typed_character
from cdpengine.cache.learning.fields import FieldFacts, secret_name
from cdpengine.cache.learning.templating import Templating
from cdpengine.errors.texts import hide_secrets

Elements = Mapping[str, Element]


def draft_of(verb: str, arguments: Mapping[str, Any], elements: Elements, templating: Templating) -> Draft:
    """Return the step for a verb of a page. Raises CannotBeStep with the reason if no request fits."""
    make = _DRAFTS.get(verb)
    if make is None:
        raise CannotBeStep(_REASONS.get(verb, "an entry has no request for it"))
    draft = make(arguments, elements, templating)
    target = next(iter(draft.targets.values()), None)
    described = (
        "" if target is None else f" {target.role}" + (f' "{target.name[:60]}"' if target.name else "")
    )
    did = "type into" if draft.typing is not None else verb.replace("_", " ")
    draft.label = f"{did}{described}".replace("$$", "$")
    draft.origins = tuple(sorted({each.origin for each in elements.values() if each.origin}))
    return draft


_REASONS = {
    "evaluate": "an entry runs no script",
    "evaluate_handle": "an entry runs no script",
    "set_storage": "an entry sets no storages",
    "set_content": "an entry runs no script and holds no document",
    "tap": "an entry has no request for a touch",
    "focus": "an entry has no request that only moves the focus",
    "blur": "an entry has no request that only moves the focus",
    "set_cookies": "an entry sets no cookies",
    "delete_cookies": "an entry deletes no cookies",
    "clear_cookies": "an entry deletes no cookies",
    "recover": "a hung page was recovered, which does not belong to a scenario",
}


def _element(elements: Elements, name: str = "target") -> Element:
    if name not in elements:
        raise CannotBeStep(f"the {'element' if name == 'target' else name} could not be described")
    return elements[name]


def _on(make: type[ElementRequest], **fields: Any) -> Callable[[Elements], Draft]:
    def draft(elements: Elements) -> Draft:
        element = _element(elements)
        return Draft(request=make(ref="t1", **fields), targets={"t1": element.target})

    return draft


def _click(arguments: Mapping[str, Any], elements: Elements, _: Templating) -> Draft:
    if arguments["count"] not in (1, 2):
        raise CannotBeStep("an entry has no request for a triple click")
    if arguments.get("delay"):
        raise CannotBeStep("an entry has no request that holds the button down")
    position = arguments["position"]
    return _on(
        Click,
        button=arguments["button"],
        double_click=arguments["count"] == 2,
        modifiers=tuple(arguments["modifiers"]),
        position=None if position is None else Position(x=position[0], y=position[1]),
        force=arguments["force"],
    )(elements)


def _hover(arguments: Mapping[str, Any], elements: Elements, _: Templating) -> Draft:
    if arguments["position"] is not None:
        raise CannotBeStep("an entry has no request that hovers over one point of an element")
    return _on(Hover, modifiers=tuple(arguments["modifiers"]), force=arguments["force"])(elements)


def _drag(arguments: Mapping[str, Any], elements: Elements, _: Templating) -> Draft:
    if isinstance(arguments["destination"], tuple):
        raise CannotBeStep("an entry has no request that drags to a point")
    if (
        arguments["source_position"] is not None
        or arguments["position"] is not None
        or arguments["modifiers"]
    ):
        raise CannotBeStep("an entry has no request that drags from or to one point of an element")
    source, destination = _element(elements, "source"), _element(elements, "destination")
    return Draft(
        request=Drag(start_ref="t1", end_ref="t2", hold=arguments["hold"]),
        targets={"t1": source.target, "t2": destination.target},
    )


def _scroll(arguments: Mapping[str, Any], elements: Elements, _: Templating) -> Draft:
    if arguments["target"] is None:
        return Draft(request=Scroll(dx=arguments["dx"], dy=arguments["dy"]))
    return _on(Scroll, dx=arguments["dx"], dy=arguments["dy"])(elements)


def _scroll_into_view(_arguments: Mapping[str, Any], elements: Elements, _: Templating) -> Draft:
    return _on(ScrollIntoView)(elements)


def _type(arguments: Mapping[str, Any], elements: Elements, _: Templating) -> Draft:
    element = _element(elements)
    typing = Typing(
        text=arguments["text"], element=element, submit=arguments["submit"], slowly=bool(arguments["delay"])
    )
    return Draft(targets={"t1": element.target}, typing=typing, entering=not arguments["submit"])


def _press(arguments: Mapping[str, Any], elements: Elements, templating: Templating) -> Draft:
    key = arguments["key"]
    element = elements.get("target")
    if element is None and arguments["target"] is not None:
        element = _element(elements)
    if element is not None and element.facts.editable:
        character = typed_character(key)
        if character is not None and element.facts.takes_value:
            typing = Typing(text=character, element=element)
            return Draft(targets={"t1": element.target}, typing=typing, entering=True)
        if is_paste(key) and element.facts.takes_value:
            typing = Typing(
                text="", element=element, unknown=secret_name(element.facts) is not None, pasted=True
            )
            return Draft(targets={"t1": element.target}, typing=typing, entering=True)
    if arguments["target"] is None and typed_character(key) is not None and element is None:
        raise CannotBeStep("a character was typed, and it is not known into which field")
    if len(key) == 1:
        key = templating.character(key)
    if arguments["target"] is None:
        return Draft(request=Press(key=key), element=element)
    return attrs.evolve(_on(Press, key=key)(elements), element=element)


def _fill(arguments: Mapping[str, Any], elements: Elements, templating: Templating) -> Draft:
    element = _element(elements)
    value = field_value(arguments["value"], element.facts, templating)
    return Draft(
        request=Fill(fields=(FormField(ref="t1", value=value),)),
        targets={"t1": element.target},
        entering=True,
    )


def _fill_form(arguments: Mapping[str, Any], elements: Elements, templating: Templating) -> Draft:
    fields, targets = [], {}
    for number, value in enumerate(arguments["values"], 1):
        element = _element(elements, f"field {number}")
        if element.facts.type == "file":
            raise CannotBeStep("a form was filled in with a file; use upload for the file")
        targets[f"t{number}"] = element.target
        fields.append(FormField(ref=f"t{number}", value=field_value(value, element.facts, templating)))
    if not fields:
        raise CannotBeStep("a form without fields was filled in")
    return Draft(request=Fill(fields=tuple(fields)), targets=targets, entering=True)


def field_value(
    value: Any, facts: FieldFacts, templating: Templating
) -> str | float | bool | tuple[str, ...]:
    """Return the template of a field's value. Raises CannotBeStep if no template can express the value."""
    if isinstance(value, bool):
        return value
    if isinstance(value, (list, tuple)):
        return tuple(templating.entered(_text_of(each), facts) for each in value)
    if isinstance(value, (str, Option, os.PathLike, FileContent)):
        return templating.entered(_text_of(value), facts)
    texts = texts_of(value)
    text = texts.get(facts.type, texts[EVERY_TYPE])
    template = templating.entered(text, facts)
    return float(value) if template == text and isinstance(value, (int, float)) else template


def _text_of(value: Any) -> str:
    if isinstance(value, Option):
        chosen = value.value if value.value is not None else value.label
        if chosen is None:
            raise CannotBeStep("an option was chosen by its number, which does not identify it")
        return chosen
    if isinstance(value, FileContent):
        raise CannotBeStep("the file exists only in memory")
    return os.fspath(value) if isinstance(value, os.PathLike) else str(value)


def _select(arguments: Mapping[str, Any], elements: Elements, templating: Templating) -> Draft:
    element = _element(elements)
    texts = [_text_of(each) for each in arguments["values"]]
    if secret_name(element.facts) is not None and texts:
        # Messages show the values of a select request, but not those of a fill request.
        value = field_value(texts if element.facts.multiple else texts[0], element.facts, templating)
        request: ActRequest = Fill(fields=(FormField(ref="t1", value=value),))
    else:
        request = Select(ref="t1", values=tuple(_shown(each, templating) for each in texts))
    return Draft(request=request, targets={"t1": element.target}, entering=True)


def _shown(text: str, templating: Templating) -> str:
    template = templating.shown(text)
    if template is None:
        raise CannotBeStep("the choice contains a secret, and messages would show it")
    return template


def _check(_arguments: Mapping[str, Any], elements: Elements, _: Templating) -> Draft:
    return _on(Check, checked=True)(elements)


def _uncheck(_arguments: Mapping[str, Any], elements: Elements, _: Templating) -> Draft:
    return _on(Check, checked=False)(elements)


def _upload(arguments: Mapping[str, Any], elements: Elements, templating: Templating) -> Draft:
    paths = tuple(_shown(_text_of(each), templating) for each in arguments["paths"])
    return _on(Upload, paths=paths)(elements)


def _set_files(arguments: Mapping[str, Any], _elements: Elements, templating: Templating) -> Draft:
    paths = tuple(_shown(_text_of(each), templating) for each in arguments["paths"])
    if not paths:
        raise CannotBeStep("an entry has no request that leaves a file chooser without files")
    return Draft(request=FileChooser(paths=paths))


def _goto(arguments: Mapping[str, Any], _elements: Elements, templating: Templating) -> Draft:
    url = templating.address(arguments["url"])
    if url is None or hide_secrets(url) != url:
        raise CannotBeStep("a secret is in the URL, which messages show")
    return Draft(request=Navigate(url=url, wait_until=arguments["wait_until"]))


def _reload(arguments: Mapping[str, Any], _elements: Elements, _: Templating) -> Draft:
    return Draft(request=Reload(wait_until=arguments["wait_until"]))


def _back(arguments: Mapping[str, Any], _elements: Elements, _: Templating) -> Draft:
    return Draft(request=Back(wait_until=arguments["wait_until"]))


def _forward(arguments: Mapping[str, Any], _elements: Elements, _: Templating) -> Draft:
    return Draft(request=Forward(wait_until=arguments["wait_until"]))


def _set_viewport(arguments: Mapping[str, Any], _elements: Elements, _: Templating) -> Draft:
    return Draft(
        request=Resize(
            width=arguments["width"],
            height=arguments["height"],
            device_scale_factor=arguments["device_scale_factor"],
        )
    )


_WAITS = frozenset({"text", "text_gone", "css", "url", "load_state", "seconds"})


def _wait_for(arguments: Mapping[str, Any], _elements: Elements, templating: Templating) -> Draft:
    conditions = {
        name: value
        for name, value in arguments.items()
        if name not in ("state", "timeout") and value is not None
    }
    if extra := sorted(conditions.keys() - _WAITS):
        raise CannotBeStep(f"an entry has no request that waits for {' and '.join(extra)}")
    if not all(isinstance(value, (str, int, float)) for value in conditions.values()):
        raise CannotBeStep("an entry has no request that waits for a pattern or a function")
    seconds = conditions.get("seconds")
    if "url" in conditions:
        conditions["url"] = clean_url(conditions["url"])
    texts: dict[str, Any] = {
        name: _shown(conditions[argument], templating)
        for name, argument in (
            ("text", "text"), ("text_gone", "text_gone"), ("selector", "css"), ("url", "url"),
        )
        if argument in conditions
    }  # fmt: skip
    return Draft(
        request=Wait(
            time_ms=None if seconds is None else round(seconds * 1000),
            load_state=conditions.get("load_state"),
            **texts,
        )
    )


_DRAFTS: Mapping[str, Callable[[Mapping[str, Any], Elements, Templating], Draft]] = {
    "click": _click,
    "hover": _hover,
    "drag": _drag,
    "scroll": _scroll,
    "scroll_into_view": _scroll_into_view,
    "type": _type,
    "press": _press,
    "fill": _fill,
    "fill_form": _fill_form,
    "select": _select,
    "check": _check,
    "uncheck": _uncheck,
    "upload": _upload,
    "set_files": _set_files,
    "goto": _goto,
    "reload": _reload,
    "go_back": _back,
    "go_forward": _forward,
    "set_viewport": _set_viewport,
    "wait_for": _wait_for,
}
