"""Names of secrets: the one table by which errors, logs, recordings, pages and the cache recognize secrets. Pure.

Rule: a new word, field or parameter is added here. The modules that use the table contain only their algorithms:
`errors/texts.py` (shown strings), `debug/recording` (recordings), `_page/scripts/secret_field.js` (fields of
pages), `_network/messages.py` (headers), `cache` (variables, keys and learned fields).

A word is lower-case. Longer words may contain a word with `*` at its beginning or end: "*passw*" is in
"passwords", and "*passe" is in "motdepasse" but not in "passed". Without `*`, no letter may be next to it: "pin"
is a word of "card-pin" but not of "shipping". A space is a hyphen, a dot, an underscore, white space or nothing:
"card number" is also "card_number" and "cardnumber".
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from functools import lru_cache
from types import MappingProxyType
from urllib.parse import unquote

import attrs


@attrs.frozen(kw_only=True)
class SecretKind:
    """A kind of secrets, and the words that indicate it, by their scope.

    variable: the cache's variable for such a form field; "" for secrets that people do not enter.
    fields: words of the name, id or label of a form field.
    words: words of a form field or a variable, and complete names of parameters and data.
    names: complete names of form fields, parameters and data.
    parameters: complete names of form fields and parameters. In programs and data, they also name harmless things.
    anywhere: words of names of any kind, headers included.
    autocomplete: tokens of `autocomplete` (HTML standard, section 4.10.18.7).
    digits: whether a secret may consist of digits only.
    """

    variable: str
    fields: tuple[str, ...] = ()
    words: tuple[str, ...] = ()
    names: tuple[str, ...] = ()
    parameters: tuple[str, ...] = ()
    anywhere: tuple[str, ...] = ()
    autocomplete: tuple[str, ...] = ()
    digits: bool = True


SECRETS = (
    SecretKind(
        variable="card_code",
        fields=(
            "*card code*", "*security code*", "*card verification*", "*prüfnummer*", "*prüfziffer*",
            "*kartenprüf*", "*安全码*", "*校验码*",
        ),
        words=("cvv", "cvc", "csc"),
        autocomplete=("cc-csc",),
    ),
    SecretKind(
        variable="card_number",
        fields=(
            "*card number*", "*card num", "*card no", "*credit number*", "*debit number*", "*card nummer*",
            "*karten nummer*", "*cc num*", "*卡号*",
        ),
        names=("card number",),
        autocomplete=("cc-number",),
    ),
    SecretKind(
        variable="card_expiry",
        fields=(
            "*card expir*", "*cc exp*", "*expiry date*", "*expiry month*", "*expiry year*", "*expiration date*",
            "*expiration month*", "*expiration year*", "*有效期*",
        ),
        autocomplete=("cc-exp",),
    ),
    SecretKind(variable="card_expiry_month", autocomplete=("cc-exp-month",)),
    SecretKind(variable="card_expiry_year", autocomplete=("cc-exp-year",)),
    SecretKind(
        variable="password",
        words=("pwd",),
        names=("pass",),
        anywhere=(
            "*passw*", "*pass phrase*", "*passcode*", "*kennwort*", "*passe", "*contrase*",
            "*密码*", "*密碼*", "*口令*",
        ),
        autocomplete=("current-password",),
    ),
    SecretKind(variable="new_password", autocomplete=("new-password",)),
    SecretKind(
        variable="code",
        fields=(
            "*one time*", "2fa", "mfa", "*verification code*", "*auth code*", "*authentication code*",
            "*authenticator code*", "*authorization code*", "*authorisation code*", "*sms code*", "*login code*",
            "*验证码*", "*动态码*",
        ),
        words=("totp",),
        parameters=("code",),
        anywhere=("otp",),
        autocomplete=("one-time-code",),
    ),
    SecretKind(variable="pin", words=("pin",)),
    SecretKind(
        variable="token",
        anywhere=("*token*", "*api key*", "*secret*", "*credential*", "*private key*"),
        digits=False,
    ),
    SecretKind(variable="account_number", fields=("*social security*",), words=("iban", "ssn")),
    SecretKind(
        variable="",
        names=("auth", "jwt", "sid", "sig", "assertion"),
        parameters=("key", "session", "state", "ticket"),
        anywhere=(
            "*authoriz*", "*cookie*", "*bearer*", "*signature*", "*x-amz-security*", "*csrf*", "*xsrf*",
        ),
        digits=False,
    ),
)  # fmt: skip
"""The table. The first kind that fits a field names its variable."""

CARD_DETAILS: Mapping[str, str] = MappingProxyType(
    {
        "cc-name": "card_name",
        "cc-given-name": "card_given_name",
        "cc-additional-name": "card_additional_name",
        "cc-family-name": "card_family_name",
        "cc-type": "card_type",
    }
)
"""Tokens of `autocomplete` for details of a card that are not secret. The cache makes variables of them."""

SESSION_PARAMETERS = (
    "jsessionid", "phpsessid", "aspsessionid*", "asp.net_sessionid", "sessionid", "session_id", "session-id",
    "sessid", "oscsid", "zenid", "cfid", "cftoken", "wosid", "sap-contextid", "sap-sessionid",
)  # fmt: skip
"""Parameters of URLs with a session id. `*` matches any ending. A page is the same without them."""

CHOICES = ("checkbox", "radio")
UNTYPED = ("button", "checkbox", "color", "file", "image", "radio", "range", "reset", "submit")
"""Types of inputs without typed content: choices, files and buttons."""

_HEADERS = re.compile(
    r"accept(-.*)?|access-control-.*|age|allow|alt-svc|cache-control|connection|content-(?!disposition).*|cross-origin-.*|"
    r"date|dnt|etag|expect|expires|forwarded|host|if-.*|keep-alive|last-modified|link|location|max-forwards|origin|"
    r"permissions-policy|pragma|priority|range|referer|referrer-policy|refresh|retry-after|save-data|sec-.*|server|"
    r"server-timing|service-worker-allowed|sourcemap|strict-transport-security|te|timing-allow-origin|trailer|"
    r"transfer-encoding|upgrade.*|user-agent|vary|via|x-content-type-options|x-dns-prefetch-control|x-forwarded-.*|"
    r"x-frame-options|x-requested-with|x-xss-protection",
    re.IGNORECASE,
)
"""Standard headers whose values are not secret, except for nonstandard ones with a secret's name."""

PLAIN_CODES = re.compile(
    r"post|zip|promo|coupon|voucher|discount|countr|area|dial|currenc|language|product|article|item|colou?r|source",
    re.IGNORECASE,
)
"""Words that make a code harmless, such as "postal code"."""

WEB_TOKEN = re.compile(r"\beyJ[\w\-]{8,}\.[\w\-]+(?:\.[\w\-]*)?")
"""A JSON Web Token: two or three parts of base64url. The first begins with the encoding of {"."""


# --- forms of the words --------------------------------------------------------------------------------------

_LETTER = r"[a-z\u00df-\u00f6\u00f8-\u024f]"
_SEPARATOR = r"[\s_.\-]?"


def pattern_of(words: Iterable[str]) -> str:
    """Return a regular expression that matches one of these words in a name. It needs IGNORECASE."""
    return "|".join(map(_pattern, words)) or "(?!)"


def _pattern(word: str) -> str:
    begin = "" if word.startswith("*") else rf"(?<!{_LETTER})"
    end = "" if word.endswith("*") else rf"(?!{_LETTER})"
    return f"{begin}{_SEPARATOR.join(map(re.escape, word.strip('*').split(' ')))}{end}"


def spellings(word: str) -> tuple[str, ...]:
    """Return the spellings of a word as a part of a name, without `*`."""
    plain = word.strip("*")
    return tuple(dict.fromkeys(plain.replace(" ", separator) for separator in ("", "-", "_")))


AUTOCOMPLETE: Mapping[str, str] = MappingProxyType(
    {token: kind.variable for kind in SECRETS for token in kind.autocomplete}
)
"""The tokens of `autocomplete` for secrets, and the cache's variables."""

ANYWHERE = tuple(word for kind in SECRETS for word in kind.anywhere)

PASSWORD = pattern_of(next(kind.anywhere for kind in SECRETS if kind.variable == "password"))

NAMED = re.compile(f"{pattern_of(ANYWHERE)}|{'|'.join(map(re.escape, AUTOCOMPLETE))}", re.IGNORECASE)
"""Matches in all names of secrets, whatever has the name."""

COMMON_NAMES = frozenset(name for kind in SECRETS for name in kind.parameters)
"""Complete names of secret parameters that also name harmless things in programs, as in {"key": "Enter"}."""

WHOLE_NAMES = COMMON_NAMES.union(
    *(spellings(name) for kind in SECRETS for name in (*kind.words, *kind.names))
)
"""Complete names of secret parameters of URLs and forms."""

NUMERIC = re.compile(
    pattern_of(
        word
        for kind in SECRETS
        if kind.digits
        for word in (*kind.fields, *kind.words, *kind.names, *kind.parameters, *kind.anywhere)
    ),
    re.IGNORECASE,
)
"""Matches in names of secrets that may consist of digits only."""

_SESSION = re.compile(
    "|".join(re.escape(each).replace(r"\*", ".*") for each in SESSION_PARAMETERS), re.IGNORECASE
)

_VARIABLE_WORDS = frozenset(
    word for kind in SECRETS if kind.variable for word in (*kind.words, *kind.names, *kind.parameters)
)

_VARIABLES = frozenset(kind.variable for kind in SECRETS if kind.variable)

_TYPED = tuple(kind for kind in SECRETS if kind.variable)
_FIELD_WORDS = tuple(
    (
        kind.variable,
        re.compile(pattern_of((*kind.fields, *kind.words, *kind.anywhere)), re.IGNORECASE),
    )
    for kind in _TYPED
)
_FIELD_NAMES = {name: kind.variable for kind in _TYPED for name in (*kind.names, *kind.parameters)}


# --- questions -----------------------------------------------------------------------------------------------


@lru_cache(2_000)
def is_secret_name(name: str) -> bool:
    """Return whether a parameter, header or field with that name is secret everywhere."""
    low = name.lower()
    return NAMED.search(name) is not None or (low in WHOLE_NAMES and low not in COMMON_NAMES)


@lru_cache(2_000)
def is_secret_parameter(name: str) -> bool:
    """Return whether a parameter of a URL or a form is secret, by its name, percent-encoded or not."""
    name = unquote(name)
    return NAMED.search(name) is not None or name.lower() in WHOLE_NAMES or is_session_parameter(name)


def is_session_parameter(name: str) -> bool:
    """Return whether a URL parameter of this name contains a session id."""
    return _SESSION.fullmatch(unquote(name)) is not None


@lru_cache(2_000)
def is_secret_header(name: str) -> bool:
    """Return whether the value of a header defined by a program may be secret. Standard headers are not."""
    if _HEADERS.fullmatch(name) is None:
        return True
    return is_secret_name(name) and not name.lower().startswith("access-control-")


def is_sensitive_name(name: str) -> bool:
    """Return whether a variable of this name is secret, such as "password", "card_number" and "pin_code"."""
    words = name.lower().split("_")
    named = any(
        word in _VARIABLE_WORDS and not (word == "code" and PLAIN_CODES.match(before))
        for before, word in zip(["", *words], words, strict=False)
    )
    if named or name.lower() in _VARIABLES or field_variable((name,)) is not None:
        return True
    return is_secret_parameter(name) or is_secret_parameter(name.replace("_", ""))


def autocomplete_variable(autocomplete: str, details: Mapping[str, str] = MappingProxyType({})) -> str | None:
    """Return the variable of a secret that `autocomplete` names, or of one of the `details`, or None."""
    tokens = autocomplete.lower().split()
    return next((found for each in tokens if (found := AUTOCOMPLETE.get(each) or details.get(each))), None)


@lru_cache(2_000)
def field_variable(texts: tuple[str, ...], autocomplete: str = "") -> str | None:
    """Return the variable of a secret form field, by its name, id and label, or None if the words are harmless.

    `autocomplete` distinguishes only harmless codes, such as postal codes.
    """
    spaced = [each for text in texts if (each := _spaced(text))]
    for variable, pattern in _FIELD_WORDS:
        if any(map(pattern.search, spaced)):
            return variable
    for text in spaced:
        variable = _FIELD_NAMES.get(text.lower(), "")
        if variable and not (variable == "code" and any(map(PLAIN_CODES.search, [*spaced, autocomplete]))):
            return variable
    return None


def _spaced(text: str) -> str:
    """Split an identifier into words: cardNumber and card_number become "card number"."""
    return re.sub(r"[\s_.\-\[\]]+", " ", re.sub(r"(?<=[a-z])(?=[A-Z])", " ", text)).strip()[:200]
