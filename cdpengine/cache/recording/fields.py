"""Fields: facts about input elements, and the detection of secret fields. Pure.

Rule: the type, autocomplete attribute, rendering, name, id or label of a field can mark it as secret.
The recording stores the input of a secret field only as a variable. The field's purpose names the variable.
"""

from __future__ import annotations

import re

import attrs
import msgspec

UNTYPED = frozenset({"button", "checkbox", "color", "file", "image", "radio", "range", "reset", "submit"})
"""Input types without typed content: choices, files and buttons."""


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

_AUTOCOMPLETE = {
    "current-password": "password",
    "new-password": "new_password",
    "one-time-code": "code",
    "cc-number": "card_number",
    "cc-csc": "card_code",
    "cc-exp": "card_expiry",
    "cc-exp-month": "card_expiry_month",
    "cc-exp-year": "card_expiry_year",
}


@attrs.frozen
class _Words:
    name: str
    pattern: re.Pattern[str]


def _words(name: str, pattern: str) -> _Words:
    return _Words(name, re.compile(pattern, re.IGNORECASE))


_NAMED = (
    _words("card_code", r"\b(?:cvc|cvv|csc)\d?\b|安全码|校验码"),
    _words("card_code", r"(?:card|security).?code|card.?verification|prüf(?:nummer|ziffer)|kartenprüf"),
    _words(
        "card_number", r"(?:credit|debit|card|karten).?(?:card)?.?(?:number|nummer|num\b|no\b)|ccnum|卡号"
    ),
    _words("card_expiry", r"card.?expir|cc.?exp|(?:expiry|expiration).?(?:date|month|year)|有效期"),
    _words("password", r"passw|pass.?phrase|kennwort|\bpwd\b|密码|口令|mot de passe|contraseña"),
    _words("code", r"one.?time|\botp\b|\btotp\b|\b2fa\b|\bmfa\b|(?:verification|auth\w*|sms|login).?code"),
    _words("code", r"验证码|动态码"),
    _words("pin", r"\bpin\b"),
    _words("token", r"token|api.?key|secret"),
    _words("account_number", r"\biban\b|\bssn\b|social.?security"),
)
"""Patterns for names, ids and labels, in order. The first match names the variable."""

_OTHER_CODE = re.compile(
    r"post|zip|promo|coupon|voucher|discount|gift|countr|area|dial|currenc|language|product|article|item|colou?r|source",
    re.IGNORECASE,
)
"""Words that make a field named "code" harmless, such as "postal code"."""

_NOT_WORDS = re.compile(r"[^0-9A-Za-z]+")


def secret_name(facts: FieldFacts) -> str | None:
    """Return the variable name for a secret field, or None if the field is not secret."""
    if not facts.takes_value:
        return None
    for token in facts.autocomplete.lower().split():
        if token in _AUTOCOMPLETE:
            return _AUTOCOMPLETE[token]
        if token.startswith("cc-"):
            return f"card_{_identifier(token[3:])}"
    texts = [spaced for text in (facts.name, facts.id, facts.label) if (spaced := _spaced(text))]
    for words in _NAMED:
        if any(words.pattern.search(text) for text in texts):
            return words.name
    if "code" in (text.lower() for text in texts) and not any(
        map(_OTHER_CODE.search, [*texts, facts.autocomplete])
    ):
        return "code"
    if facts.type == "password":
        return "password"
    if facts.secret:
        return _identifier(facts.name or facts.id) or "secret"
    return None


def variable_name(facts: FieldFacts) -> str:
    """Return the variable name for input into a field that is not secret."""
    names = (_identifier(text) for text in (facts.name, facts.id, facts.label))
    return next((name for name in names if name), "text")


def _spaced(text: str) -> str:
    """Split an identifier into words: cardNumber and card_number become "card number"."""
    return re.sub(r"[\s_.\-\[\]]+", " ", re.sub(r"(?<=[a-z])(?=[A-Z])", " ", text)).strip()[:200]


def _identifier(text: str) -> str:
    made = _NOT_WORDS.sub("_", re.sub(r"(?<=[a-z])(?=[A-Z])", "_", text)).strip("_").lower()[:40]
    return made if made and not made[0].isdigit() else ""
