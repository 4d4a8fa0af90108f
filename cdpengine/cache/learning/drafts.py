"""Drafts: steps under construction, and the joining of typed pieces. Pure.

Rule: typed input stays pending (`Typing`) until it is complete, because its pieces may form one variable's value.
Then it becomes a template, and the engine drops the string. Consecutive pieces for the same field belong
together. Backspace removes the last character. Pasted input becomes the field's final value.
"""

from __future__ import annotations

from collections.abc import Iterable

import attrs

from cdpengine.act import ActRequest, Click, Fill, FormField, Press, Type
from cdpengine.cache.entries import PostCondition, Step, Target
from cdpengine.cache.learning.fields import NO_FACTS, FieldFacts
from cdpengine.cache.learning.outcomes import PageView, Reading
from cdpengine.cache.learning.templating import Templating
from cdpengine.cache.origins import document_origin, sent_variables, url_origin

_DELETING = "Backspace"


@attrs.frozen(kw_only=True)
class Element:
    """A target element: its description, its field facts, its node and its origin."""

    target: Target
    facts: FieldFacts = NO_FACTS
    node: tuple[str | None, int] = (None, 0)
    origin: str = ""


class CannotBeStep(Exception):
    """The reason that an action cannot become a step, for the notes."""


@attrs.define(eq=False, kw_only=True)
class Typing:
    """Possibly incomplete input at the end of a field. `unknown`: whether the input cannot be known."""

    text: str = attrs.field(repr=False)
    element: Element
    submit: bool = False
    slowly: bool = False
    unknown: bool = False
    pasted: bool = False


@attrs.define(eq=False, kw_only=True)
class Draft:
    """A step under construction. `request` is None while `typing` holds its input.

    `place` is its position among all actions, and `at` its time on trio's clock. `optional`: whether it counts
    only with an effect. `focusing`: whether it may only focus a field. `origins` are the origins of its target
    documents.
    """

    request: ActRequest | None = None
    targets: dict[str, Target] = attrs.field(factory=dict)
    label: str = ""
    typing: Typing | None = None
    element: Element | None = None
    before: PageView | None = attrs.field(default=None, repr=False)
    reading: Reading | None = attrs.field(default=None, repr=False)
    after: PostCondition | None = None
    entering: bool = False
    place: int = 0
    at: float = 0.0
    optional: bool = False
    focusing: bool = False
    origins: tuple[str, ...] = ()

    def takes_over(self, later: Draft) -> bool:
        """Return whether a later step replaces this one, such as input after a click on its field."""
        if self.element is None or later.element is None or self.element.node != later.element.node:
            return False
        if self.focusing and self.after is None and later.entering:
            return True
        both_fill = isinstance(self.request, Fill) and isinstance(later.request, Fill)
        both_unknown = self.typing is not None and self.typing.unknown and later.typing is not None
        both_clicks = isinstance(self.request, Click) and isinstance(later.request, Click)
        return both_fill or both_unknown or (both_clicks and later.request.double_click)  # type: ignore[union-attr]

    def seal(self, templating: Templating) -> None:
        """Create the request from the pending input, and drop the string."""
        typing, self.typing = self.typing, None
        if typing is None:
            return
        facts = typing.element.facts
        text = templating.entered_unknown(facts) if typing.unknown else templating.entered(typing.text, facts)
        if typing.pasted:
            self.request = Fill(fields=(FormField(ref="t1", value=text),))
        else:
            self.request = Type(ref="t1", text=text, submit=typing.submit, slowly=typing.slowly)

    def as_step(self) -> Step:
        """Return the step. Call `seal` first."""
        assert self.request is not None
        origins = self.origins if sent_variables(self.request) else ()
        return Step(
            request=self.request, targets=self.targets, after=self.after, label=self.label, origins=origins
        )

    def note_origins(self, url: str) -> None:
        """Set the origins of a step without a target element. `url` is the URL of its page."""
        if not self.origins and self.request is not None:
            self.origins = (url_origin(self.request) or document_origin(url),)


# --- typing --------------------------------------------------------------------------------------------------

_SHIFTED = dict(zip("1234567890-=[]\\;',./`", '!@#$%^&*()_+{}|:"<>?~', strict=True))
_COMMANDING = frozenset({"Alt", "Control", "ControlOrMeta", "Meta"})


def typed_character(key: str) -> str | None:
    """Return the character that a key or a chord types, or None."""
    modifiers, _, last = key.rpartition("+") if len(key) > 1 else ("", "", key)
    if key.endswith("++"):
        modifiers, last = key[:-2], "+"
    names = set(modifiers.split("+")) - {""}
    if last == "Space":
        last = " "
    if len(last) != 1 or names & _COMMANDING:
        return None
    return _SHIFTED.get(last, last.upper()) if "Shift" in names else last


def is_paste(key: str) -> bool:
    """Return whether a chord pastes."""
    modifiers, _, last = key.rpartition("+")
    names = set(modifiers.split("+"))
    return (last in ("v", "V") and bool(names & (_COMMANDING - {"Alt"}))) or (
        last == "Insert" and names == {"Shift"}
    )


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
