"""Fields: what is known of the element that something is entered into, and whether that is a secret. Pure.

Rule: a field is secret by its type, its autocomplete, how it is drawn, or by what its name, id or label say. What
is entered into a secret field is only ever a variable, which is named after the field.
"""

from __future__ import annotations

import re

import attrs
import msgspec

UNTYPED = frozenset({"button", "checkbox", "color", "file", "image", "radio", "range", "reset", "submit"})
"""Types of inputs that hold no text: a choice, or the page's own words."""


class FieldFacts(msgspec.Struct, frozen=True):
    """What the page says of an element: the answer of field_facts.js. It holds no value of a field.

    `secret` says that the engine treats it as secret anyway; `type` is "" for what is no input; `editable` says
    whether text can be entered.
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
        """Whether something that may be a secret can be entered or chosen."""
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
"""What names, ids and labels say, in order; the first that fits counts."""

_OTHER_CODE = re.compile(
    r"post|zip|promo|coupon|voucher|discount|gift|countr|area|dial|currenc|language|product|article|item|colou?r|source",
    re.IGNORECASE,
)
"""What a field that is called just "code" is for where that is no secret."""

_NOT_WORDS = re.compile(r"[^0-9A-Za-z]+")


def secret_name(facts: FieldFacts) -> str | None:
    """Return what the variable of a secret field is called; None for a field that is not secret."""
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
    """Return the name of a variable for what is entered into a field that is not secret."""
    names = (_identifier(text) for text in (facts.name, facts.id, facts.label))
    return next((name for name in names if name), "text")


def _spaced(text: str) -> str:
    """Return a name as words: cardNumber and card_number are "card number"."""
    return re.sub(r"[\s_.\-\[\]]+", " ", re.sub(r"(?<=[a-z])(?=[A-Z])", " ", text)).strip()[:200]


def _identifier(text: str) -> str:
    made = _NOT_WORDS.sub("_", re.sub(r"(?<=[a-z])(?=[A-Z])", "_", text)).strip("_").lower()[:40]
    return made if made and not made[0].isdigit() else ""
