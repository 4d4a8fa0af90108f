"""Fields: facts about input elements, and the detection of secret fields. Pure.

Rule: the type, autocomplete attribute, rendering, name, id or label of a field can mark it as secret.
The learned steps store the input of a secret field only as a variable. The field's purpose names the variable.
"""

from __future__ import annotations

import re

import msgspec

from cdpengine._secrets import CARD_DETAILS, UNTYPED, autocomplete_variable, field_variable


class FieldFacts(msgspec.Struct, frozen=True):
    """Facts about an element from field_facts.js. They never include the field's value.

    `secret`: whether the engine treats the field as secret. `type` is "" for elements other than inputs.
    `editable`: whether the element accepts typed input.
    """

    tag: str = ""
    type: str = ""
    autocomplete: str = ""
    name: str = ""
    id: str = ""
    label: str = ""
    secret: bool = False
    editable: bool = False
    multiple: bool = False

    @property
    def takes_value(self) -> bool:
        """Whether the element accepts typed or selected input that could be secret."""
        return (self.editable or self.tag == "select") and self.type not in UNTYPED


NO_FACTS = FieldFacts()

_NOT_WORDS = re.compile(r"[^0-9A-Za-z]+")


def secret_name(facts: FieldFacts) -> str | None:
    """Return the variable name for a secret field, or None if the field is not secret."""
    if not facts.takes_value:
        return None
    if (variable := autocomplete_variable(facts.autocomplete, CARD_DETAILS)) is not None:
        return variable
    if (variable := field_variable((facts.name, facts.id, facts.label), facts.autocomplete)) is not None:
        return variable
    if facts.type == "password":
        return "password"
    if facts.secret:
        return _identifier(facts.name or facts.id) or "secret"
    return None


def variable_name(facts: FieldFacts) -> str:
    """Return the variable name for input into a field that is not secret."""
    names = (_identifier(text) for text in (facts.name, facts.id, facts.label))
    return next((name for name in names if name), "text")


def _identifier(text: str) -> str:
    made = _NOT_WORDS.sub("_", re.sub(r"(?<=[a-z])(?=[A-Z])", "_", text)).strip("_").lower()[:40]
    return made if made and not made[0].isdigit() else ""
