"""Joining: text that is entered in pieces is one text, and what was pasted is what the field holds then. Pure.

Rule: pieces belong together while nothing else is done and they go into the same field. Backspace takes the last
character away again.
"""

from __future__ import annotations

from collections.abc import Iterable

from cdpengine.act.requests import Fill, Press, Type
from cdpengine.cache.recording.outcomes import PageView
from cdpengine.cache.recording.steps import Draft, Typing, is_paste, typed_character

_DELETING = "Backspace"


def enters_text(key: object) -> bool:
    """Say whether a key or a chord enters something, or takes it away."""
    return isinstance(key, str) and (key == _DELETING or typed_character(key) is not None or is_paste(key))


def join_typing(typing: Typing, draft: Draft) -> bool:
    """Join what is entered next into the same field; False where it is a step of its own."""
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
    """Read what a field that is not secret holds after something was pasted into it."""
    if typing.pasted and not typing.unknown and view.snapshot is not None:
        for node in view.snapshot.nodes:
            if node.ref is not None and node.ref.backend_node_id == typing.element.node[1]:
                typing.text = node.value or ""


def entered_texts(drafts: Iterable[Draft]) -> list[str]:
    """Return the texts that were entered and that stand in steps themselves."""
    found: list[str] = []
    for draft in drafts:
        request = draft.request
        if isinstance(request, Type):
            found.append(request.text)
        elif isinstance(request, Fill):
            found += [each.value for each in request.fields if isinstance(each.value, str)]
    return [text.replace("$$", "$") for text in found if "${" not in text]
