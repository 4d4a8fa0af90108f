"""Secrets in strings, recognised by the form of URLs, HTML forms, headers, JSON and scripts. Pure.

Rule: the value that follows the name of a secret is removed. In URLs, forms and data, every value is removed. In
programs and prose, only values that look secret are removed, because `const secret = compute()` contains none.
"""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Callable
from functools import lru_cache
from urllib.parse import unquote_plus

import attrs

from cdpengine._secrets import (
    COMMON_NAMES,
    NUMERIC,
    WEB_TOKEN,
    is_secret_name,
    is_secret_parameter,
    is_session_parameter,
)
from cdpengine.debug.recording.known_secrets import REDACTED
from cdpengine.debug.recording.secret_words import IN_TEXT, SCHEMES

_USER = re.compile(r"://((?:\[redacted\]|[^/?#\s\"'<>@\[({\\|*])+)(?=@)")  # https://user:password@host
_SHORT_USER = re.compile(r"[A-Za-z]{1,12}|.*\$")
"""A user name alone ("git@") or the beginning of a template in a program: not a secret."""

_SCHEME = re.compile(r"\b(Bearer|Basic|Digest|Negotiate)(\s+)", re.IGNORECASE)
_CREDENTIALS = re.compile(r"[\w\-.~+/]{4,}=*")
_DIGEST = re.compile(r"""[\w\-]+=\\*["']?[^\r\n]{2,}""")

_NAME = re.compile(r"""(=|:|[dD]3%)(\s*)(["'`]?\\*)([\w.\-$]*)""")
"""The characters before a value, read backwards: sign, white space, closing quote of the name, and name.

Reading backwards starts at the value. A forward search for the name needs time quadratic in its length.
"""

_ESCAPE = re.compile(r"\\(?:[nrtbf]|u[0-9a-f]{4})|%(?:3f|26|23|3b)", re.IGNORECASE)
"""An escape before a name, whose letters are no part of it: of JSON, or of a separator in a URL."""

_NAME_LENGTH = 120
_OPENING = re.compile(r"""(\s*)(\\*)(["'`])""")
_BARE = re.compile(r"""\s*((?:\[redacted\]|[^"'`&;\s,<>\\)}\]])+)""")
_LONGEST_QUOTED = 4_096
"""Maximum length of a quoted string with spaces that is examined in a possible program, in characters."""

_BEFORE_PARAMETER = "?&#\"'`"
_PROGRAM = re.compile(
    r"[!~]|[\[?|#]|this\.|===?|=>|\$\{"
    r"|(?<![\w$])(?=[\w$]*[A-Za-z_$])[\w$]++(?:\.[A-Za-z_$][\w$]*+)+;?$"
)
"""Signs of a program in unquoted content: operators and members of objects. Linear time."""

_WORDS = re.compile(r"[A-Za-z]+(?:[ ./:_\-]+[A-Za-z]+)*")
_CLOSING = re.compile(r"[\s,;:)\]}+.&|?]|$")
"""Characters that follow a closing quote. A value that begins with one of them is not a secret."""

_IDENTIFIER = re.compile(r"[A-Za-z_$][\w$]*")
_LONG_ALONE = 20
_LONG = 8
_SHORT = 6
_LEAST_DIGITS = 4
_BLANK = re.compile(r"\s")
_DATA_URL = re.compile(
    r"(data:[\w.+\-/]*(?:;[\w.+\-]+=[^;,\s]*)*;base64,)([A-Za-z0-9+/\-_]+(?:=|%3[dD]){0,2})"
)

Rewrite = Callable[[str], str]
Remember = Callable[[str], None]


def redact_text(text: str, remember: Remember | None = None) -> str:
    """Return a string without apparent secrets. Names, signs and everything else stay unchanged.

    `remember` receives the decoded values of URLs, forms and data that cannot be words or numbers.
    """
    if "@" in text:
        text = _USER.sub(lambda user: user[0] if _SHORT_USER.fullmatch(user[1]) else f"://{REDACTED}", text)
    low = lower(text)
    if SCHEMES.is_in(low.encode("utf-8", "surrogatepass")):
        text = _drop_credentials(text)
        low = lower(text)
    if "eyJ" in text:
        text = WEB_TOKEN.sub(REDACTED, text)
        low = lower(text)
    return _drop_values(text, low, remember)


def redact_data_urls(text: str, rewrite: Rewrite) -> str:
    """Apply `rewrite` to the base64 of all data: URLs in a string."""
    if ";base64," not in text:
        return text
    return _DATA_URL.sub(lambda found: found[1] + rewrite(found[2]), text)


def lower(text: str) -> str:
    """Return the string in lower case, with each letter at the same position."""
    low = text.lower()
    if len(low) != len(text):  # a Turkish letter becomes longer
        low = "".join(letter.lower() if len(letter.lower()) == 1 else letter for letter in text)
    return low


# --- credentials -----------------------------------------------------------------------------------------


def _drop_credentials(text: str) -> str:
    pieces, done = [], 0
    for scheme in _SCHEME.finditer(text):
        end = _end_of_credentials(scheme[1].lower(), text, scheme.end())
        if scheme.start() >= done and end:
            pieces += [text[done : scheme.end()], REDACTED]
            done = end
    return "".join((*pieces, text[done:])) if pieces else text


def _end_of_credentials(scheme: str, text: str, start: int) -> int:
    """Return the end of the credentials after a scheme, or 0 for prose ("basic usage")."""
    if scheme == "digest":
        found = _DIGEST.match(text, start)
        return found.end() if found else 0
    found = _CREDENTIALS.match(text, start)
    if found is None:
        return 0
    credentials = found[0]
    if scheme == "basic":
        holds = _is_user_and_password(credentials)
    elif scheme == "negotiate":
        holds = len(credentials) >= _LONG_ALONE
    else:
        holds = _is_mixed(credentials) or len(credentials) >= _LONG_ALONE
    return found.end() if holds else 0


def _is_user_and_password(encoded: str) -> bool:
    try:
        return b":" in base64.b64decode(encoded + "=" * (-len(encoded) % 4), validate=True)
    except (binascii.Error, ValueError):
        return False


# --- names and values --------------------------------------------------------------------------------------


def _drop_values(text: str, low: str, remember: Remember | None) -> str:
    pieces, done = [], 0
    for start, end in sorted(filter(None, (_value_at(text, end) for end in set(IN_TEXT.ends(low))))):
        if start >= done:
            value = text[start:end]
            if remember is not None and _is_mixed(value) and len(value) >= _LONG:
                remember(unquote_plus(value) if "%" in value else value)
            pieces += [text[done:start], REDACTED]
            done = end
    return "".join((*pieces, text[done:])) if pieces else text


@attrs.frozen
class _Assigned:
    """A name, its sign, and the character before the name ("" at the start of a string).

    `quoted`: the name is in quotes. `spaced`: the sign has a space on either side.
    """

    name: str
    sign: str
    before: str
    quoted: bool
    spaced: bool

    @property
    def in_url(self) -> bool:
        """Whether the name is in a URL within a URL."""
        return self.sign in ("%3d", "%3D")

    @property
    def is_parameter(self) -> bool:
        """Whether the name is written like a parameter of a URL or a form."""
        begins = self.before == "" or self.before in _BEFORE_PARAMETER
        in_path = self.before == ";" and is_session_parameter(self.name)
        return self.sign == "=" and not self.spaced and (begins or in_path)


@lru_cache(2_000)
def _is_common(name: str) -> bool:
    """Return whether programs and data use that name ("key", "state") for more than secrets."""
    return name.lower() in COMMON_NAMES or not is_secret_name(name)


def _value_at(text: str, at: int) -> tuple[int, int] | None:
    """Return the start and end of the secret value after a name and its sign, or None."""
    begin = max(0, at - _NAME_LENGTH)
    named = _NAME.match(text[begin:at][::-1])
    if named is None:
        return None
    name = named[4][::-1]
    start = at - named.end()
    before = text[start - 1] if start > 0 else ""
    if before in ("\\", "%") and (escape := _ESCAPE.match(before + name)) is not None:
        name = name[escape.end() - 1 :]
    if not is_secret_parameter(name):
        return None
    opening = _OPENING.match(text, at)
    if opening is not None and _is_common(name):
        return None
    spaced = bool(named[2]) or text[at : at + 1].isspace()
    assigned = _Assigned(name, named[1][::-1], before, bool(named[3]), spaced)
    if opening is None:
        return _bare(text, at, assigned)
    if assigned.is_parameter and before:
        return None  # '?token=' + token: the quote ends the string with the name
    # Data and markup quote names or write them with dashes. In programs `token: "comment"` is common.
    in_data = assigned.quoted or "-" in assigned.name
    # The quote may belong to prose. A program does not assign a long string with spaces to a secret's name.
    is_one = in_data or _BLANK.search(text, opening.end(), opening.end() + _LONGEST_QUOTED) is None
    value = _find_quoted(text, opening, len(text) if is_one else _LONGEST_QUOTED)
    if value is None:
        return None
    return value if in_data or _looks_secret(assigned.name, text[slice(*value)], _SHORT) else None


def _bare(text: str, at: int, assigned: _Assigned) -> tuple[int, int] | None:
    """Return the start and end of an unquoted value."""
    bare = _BARE.match(text, at)
    if bare is None or bare[1] == REDACTED:
        return None
    value, after = bare[1], text[bare.end() : bare.end() + 1]
    if after == "(" or "(" in value:
        return None
    in_program = after == "[" or _PROGRAM.search(value) is not None
    if assigned.in_url:
        return bare.span(1)
    # The beginning of a string may be prose or a program. A form contains no spaces.
    in_form = assigned.before != "" or not _BLANK.search(text)
    member = in_program and "." in assigned.name and not is_session_parameter(assigned.name)
    if assigned.is_parameter and in_form and not member:
        return bare.span(1)
    if _is_common(assigned.name) or in_program:
        return None
    could_be_a_name = _IDENTIFIER.fullmatch(value) is not None and (assigned.spaced or assigned.sign == ":")
    least = _LONG if assigned.spaced or could_be_a_name else _SHORT
    return bare.span(1) if _looks_secret(assigned.name, value, least) else None


def _find_quoted(text: str, opening: re.Match[str], longest: int) -> tuple[int, int] | None:
    """Return the start and end of a quoted string, at any level of escaping."""
    quote = opening[2] + opening[3]
    start = opening.end()
    if _CLOSING.match(text, start):
        return None
    limit = min(len(text), start + longest)
    at = text.find(quote, start, limit)
    while at > start and text[at - 1] == "\\":  # a quote within the string, escaped again
        at = text.find(quote, at + len(quote), limit)
    end = at if at >= 0 else limit
    value = text[start:end]
    return (start, end) if value not in ("", REDACTED) and "${" not in value else None


def _looks_secret(name: str, value: str, least: int) -> bool:
    """Return whether a value of at least `least` characters is a secret rather than a word or number."""
    if value == REDACTED or _WORDS.fullmatch(value):
        return False
    if value.isdigit():
        return len(value) >= _LEAST_DIGITS and NUMERIC.search(name) is not None
    return len(value) >= (least if _is_mixed(value) else _LONG_ALONE)


def _is_mixed(value: str) -> bool:
    return len(value) >= _SHORT and any(map(str.isdigit, value)) and any(map(str.isalpha, value))
