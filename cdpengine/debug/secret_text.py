"""Secrets in texts: URLs, forms, headers, JSON and scripts that stand in a text are known by how they look. Pure.

Rule: what a secret's name is given to goes: all of it where the text is a URL, a form or data, and only what looks
like a secret where it may be a program or prose, as `const secret = compute()` holds none.
"""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Callable

from cdpengine.debug.known_secrets import REDACTED
from cdpengine.debug.secret_words import COMMON_KEYS, IN_TEXT, SCHEMES, is_secret_name

_USER = re.compile(r"(://)[^/?#\s\"'<>@]+@")  # https://user:password@host
_WEB_TOKEN = re.compile(r"\beyJ[\w\-]{8,}\.[\w\-]+(?:\.[\w\-]*)?")
"""A JSON Web Token: two or three parts of base64url, the first of which begins with {" """

_SCHEME = re.compile(r"\b(Bearer|Basic|Digest|Negotiate)(\s+)", re.IGNORECASE)
_CREDENTIALS = re.compile(r"[\w\-.~+/]{4,}=*")
_DIGEST = re.compile(r"""[\w\-]+=\\*["']?[^\r\n]{2,}""")

_NAME = re.compile(r"""([\w.\-$]*)(\\*["'`]?)(\s*)(=|:|%3[dD])$""")
"""What ends where a value begins: a name, its quote, what is between, and the sign."""

_NAME_LENGTH = 120
_OPENING = re.compile(r"""(\s*)(\\*)(["'`])""")
_BARE = re.compile(r"""\s*([^"'`&;\s,<>\\)}\]]+)""")
_LONGEST_QUOTED = 4_096

_BEFORE_PARAMETER = "?&#\"'`"
_MEMBER = re.compile(r"[A-Za-z_$][\w$]*(?:\??\.[A-Za-z_$][\w$]*)+;?")
_IDENTIFIER = re.compile(r"[A-Za-z_$][\w$]*")
_NUMERIC = ("otp", "pin", "cvv", "cvc", "code", "passw")
_LONG_ALONE = 20
_LONG_MIXED = 8
_LEAST_DIGITS = 4
_DATA_URL = re.compile(
    r"(data:[\w.+\-/]*(?:;[\w.+\-]+=[^;,\s]*)*;base64,)([A-Za-z0-9+/\-_]+(?:=|%3[dD]){0,2})"
)

Rewrite = Callable[[str], str]


def redact_text(text: str) -> str:
    """Return a text without what looks like a secret. Names, signs and everything else stay as they are."""
    if "@" in text:
        text = _USER.sub(rf"\1{REDACTED}@", text)
    low = lower(text)
    if any(map(low.__contains__, SCHEMES)):
        text = _without_credentials(text)
        low = lower(text)
    if "eyJ" in text:
        text = _WEB_TOKEN.sub(REDACTED, text)
        low = lower(text)
    return _without_values(text, low)


def redact_data_urls(text: str, rewrite: Rewrite) -> str:
    """Return a text whose data: URLs hold what `rewrite` makes of their base64."""
    if ";base64," not in text:
        return text
    return _DATA_URL.sub(lambda found: found[1] + rewrite(found[2]), text)


def lower(text: str) -> str:
    """Return the text in lower case, each letter at its place."""
    low = text.lower()
    if len(low) != len(text):  # a letter of Turkish gets longer
        low = "".join(letter.lower() if len(letter.lower()) == 1 else letter for letter in text)
    return low


# --- credentials -----------------------------------------------------------------------------------------


def _without_credentials(text: str) -> str:
    pieces, done = [], 0
    for scheme in _SCHEME.finditer(text):
        end = _end_of_credentials(scheme[1].lower(), text, scheme.end())
        if scheme.start() >= done and end:
            pieces += [text[done : scheme.end()], REDACTED]
            done = end
    return "".join((*pieces, text[done:])) if pieces else text


def _end_of_credentials(scheme: str, text: str, start: int) -> int:
    """Return where what follows the name of a scheme ends; 0 where it is prose ("basic usage")."""
    if scheme == "digest":
        found = _DIGEST.match(text, start)
        return found.end() if found else 0
    found = _CREDENTIALS.match(text, start)
    if found is None:
        return 0
    given = found[0]
    if scheme == "basic":
        holds = _is_user_and_password(given)
    elif scheme == "negotiate":
        holds = len(given) >= _LONG_ALONE
    else:
        holds = _is_mixed(given) or len(given) >= _LONG_ALONE
    return found.end() if holds else 0


def _is_user_and_password(encoded: str) -> bool:
    try:
        return b":" in base64.b64decode(encoded + "=" * (-len(encoded) % 4), validate=True)
    except (binascii.Error, ValueError):
        return False


# --- names and values --------------------------------------------------------------------------------------


def _without_values(text: str, low: str) -> str:
    if not IN_TEXT.found(low):
        return text
    pieces, done = [], 0
    for start, end in sorted(filter(None, (_value_at(text, end) for end in set(IN_TEXT.ends(low))))):
        if start >= done:
            pieces += [text[done:start], REDACTED]
            done = end
    return "".join((*pieces, text[done:])) if pieces else text


def _value_at(text: str, at: int) -> tuple[int, int] | None:
    """Return where the secret value behind a name and its sign begins and ends; None where there is none."""
    begin = max(0, at - _NAME_LENGTH)
    named = _NAME.search(text[begin:at])
    if named is None:
        return None
    name, quote, space, sign = named.groups()
    before = text[begin + named.start() - 1] if begin + named.start() > 0 else ""
    opening = _OPENING.match(text, at)
    is_parameter = sign != ":" and not space and (before == "" or before in _BEFORE_PARAMETER)
    encoded = sign in ("%3d", "%3D")
    if name.lower() in COMMON_KEYS or not is_secret_name(name):
        # A word that is common in programs ("key", "state") names a secret in URLs and forms alone.
        if not (encoded or (is_parameter and opening is None)):
            return None
    elif opening is not None:
        if is_parameter and before:
            return None  # '?token=' + token: the quote ends the text in which the name stands
        value = _quoted(text, opening)
        # Data and markup quote names, or write them with dashes; in programs `token: "comment"` is common.
        return (
            value
            if value and (quote or "-" in name or _looks_secret(name, text[slice(*value)], False))
            else None
        )
    bare = _BARE.match(text, at)
    if bare is None or text[bare.end() : bare.end() + 1] == "(" or "(" in bare[1]:
        return None
    spaced = bare.start(1) > at
    if encoded or (is_parameter and not spaced) or _looks_secret(name, bare[1], bool(space) or spaced):
        return bare.span(1)
    return None


def _quoted(text: str, opening: re.Match[str]) -> tuple[int, int] | None:
    """Return where a text in quotes begins and ends, whatever the level at which the quotes are escaped."""
    quote = opening[2] + opening[3]
    start = opening.end()
    limit = min(len(text), start + _LONGEST_QUOTED)
    at = text.find(quote, start, limit)
    while at > 0 and text[at - 1] == "\\" and at > start:  # a quote within the text, escaped once more
        at = text.find(quote, at + len(quote), limit)
    end = at if at >= 0 else limit
    return (start, end) if end > start and text[start:end] != REDACTED else None


def _looks_secret(name: str, value: str, spaced: bool) -> bool:
    """Say whether a value that may be a part of a program or of prose is a secret itself."""
    if _MEMBER.fullmatch(value) or value == REDACTED:
        return False
    if value.isdigit():
        return len(value) >= _LEAST_DIGITS and any(word in name.lower() for word in _NUMERIC)
    if _is_mixed(value):
        return len(value) >= (_LONG_MIXED if spaced or _IDENTIFIER.fullmatch(value) else 6)
    return len(value) >= _LONG_ALONE and not _IDENTIFIER.fullmatch(value)


def _is_mixed(value: str) -> bool:
    return len(value) >= 6 and any(map(str.isdigit, value)) and any(map(str.isalpha, value))
