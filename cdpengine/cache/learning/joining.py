"""Joining: typed pieces become one value, and pasted input becomes the field's final value. Pure.

Rule: consecutive pieces for the same field belong together. Backspace removes the last character.
"""

from __future__ import annotations

from collections.abc import Iterable

from cdpengine.act import Fill, Press, Type
from cdpengine.cache.learning.outcomes import PageView
from cdpengine.cache.learning.steps import Draft, Typing, is_paste, typed_character

_DELETING = "Backspace"


def enters_text(key: object) -> bool:
    """Return whether a key or chord types, pastes or deletes characters."""
    return isinstance(key, str) and (key == _DELETING or typed_character(key) is not None or is_paste(key))


def join_typing(typing: Typing, draft: Draft) -> bool:
    """Append the next input into the same field. Return False if the input is a separate step."""
    if typing.submit or typing.pasted:
        return False
    more = draft.typing
    if more is None:
        pressed = draft.request
        if (
            isinstance(pressed, Press)
            and pressed.key == _DELETING
            and typing.text
            and draft.element is not None
            and draft.element.node == typing.element.node
        ):
            typing.text = typing.text[:-1]
            return True
        return False
    if more.pasted or more.element.node != typing.element.node:
        return False
    typing.text += more.text
    typing.submit, typing.slowly = more.submit, typing.slowly or more.slowly
    return True


def take_pasted(typing: Typing, view: PageView) -> None:
    """Read the value of a field that is not secret after pasting."""
    if typing.pasted and not typing.unknown and view.snapshot is not None:
        for node in view.snapshot.nodes:
            if node.ref is not None and node.ref.backend_node_id == typing.element.node[1]:
                typing.text = node.value or ""


def entered_texts(drafts: Iterable[Draft]) -> list[str]:
    """Return the entered strings that steps contain. Templates with variables are excluded."""
    found: list[str] = []
    for draft in drafts:
        request = draft.request
        if isinstance(request, Type):
            found.append(request.text)
        elif isinstance(request, Fill):
            found += [each.value for each in request.fields if isinstance(each.value, str)]
    return [text.replace("$$", "$") for text in found if "${" not in text]
