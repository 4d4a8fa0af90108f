"""Secrets in texts that are shown: user and password, secret parameters, tokens. Pure, and linear in time.

Rule: a text for a message, a log or a report goes through `hide_secrets`; what is hidden reads "***". It knows
secrets by the names that they have (the tables here, which recordings are redacted by too) and by their forms.
Whole values that a program passed are not for messages at all, and no text is searched for them.
"""

from __future__ import annotations

import re
from urllib.parse import unquote

SENSITIVE_WORDS = (
    "authoriz", "cookie", "passw", "passphrase", "token", "secret", "credential", "apikey", "api-key", "api_key",
    "bearer", "signature", "x-amz-security", "private-key", "private_key", "otp", "csrf", "xsrf",
)  # fmt: skip
"""A header, parameter or field whose name holds one of these (any case) holds a secret."""

QUERY_KEYS = (
    "key", "code", "sig", "auth", "pwd", "pass", "sid", "session", "state", "jwt", "assertion", "ticket",
    "cvv", "cvc", "pin", "cardnumber",
)  # fmt: skip
"""Parameters of URLs and forms that are secret although their whole name is a common word."""

_ANYWHERE = "|".join(re.escape(word) for word in SENSITIVE_WORDS if word != "otp")
NAMED = re.compile(rf"{_ANYWHERE}|(?<![a-z])otp(?![a-z])|cc-(?:number|csc|exp)|one-time-code", re.IGNORECASE)
"""What is in the name of a secret. A one-time password is a word of its own there ("footprint" names none)."""

MARK = "***"
"""What stands in the place of a secret."""

# What was redacted for a recording or the log of the wire stays as it is.
_NEW = r"(?!\[redacted\](?:[&#;,\s\"'\\}@)\]]|$))"

# Addresses that hold a whole document or program. Nothing says where they end, so the rest of the text goes too.
_INLINE = re.compile(
    r"\b(data:(?:[\w.+\-]{1,80}/[\w.+\-]{1,80})?(?:;[\w.+\-=%\"']{0,80}){0,8},|javascript:)(?!\.\.\.)\S.*",
    re.IGNORECASE | re.DOTALL,
)

# Up to the last @ of a URL's authority: a password may hold one itself.
_USER = re.compile(rf"(//|%2f%2f){_NEW}[^/?#\s\"'<>]*@", re.IGNORECASE)
# user:password@host:port without a scheme, as proxies are written; faults (error:Page.reload@reply:1) look alike.
_PLAIN_USER = re.compile(
    r"(?<![\w/.\-])[\w.+\-]{1,80}:[^\s@/\"'<>]{1,200}@(?!(?:call|reply|event|any):)(?=[\w.\-\[\]]{1,200}:\d)"
)

# ?name= &name= #name= ;name=, also where that is a part of another URL's value, percent-encoded: then `level`
# holds how often its percent signs are encoded themselves.
_PARAMETER = re.compile(
    r"(?:[?&#;]|(?P<encoded>%(?P<level>(?:25){0,3})(?:3f|26|23|3b)))"
    r"(?P<name>(?:(?!%(?:25)*(?:3d|26))[^\s&#=?;\"'<>]){1,120})(?:=|%(?:25){0,3}3d)",
    re.IGNORECASE,
)
_VALUE = re.compile(_NEW + r"""(?:[^&#\s"'<>]|'(?![\s),;:\]}.]|$))+""")

# name=value outside of URLs; a value that begins with a dot is "...", which says that there is any.
_ASSIGNED = re.compile(
    r"(?<![\w.\-])([\w.\-]{1,120})((?:=|%(?:25){0,3}3d)\s?)"
    rf"""{_NEW}("{_NEW}(?:[^"\\]|\\.)*"?|'{_NEW}(?:[^'\\]|\\.)*'?|[^&;\s"'<>.…*][^&;\s"'<>]*)""",
    re.IGNORECASE,
)
# password=..., which may hold blanks: what comes behind it in the line goes, too.
_PASSPHRASE = re.compile(
    r"(?<![\w.?&#;\-])([\w.\-]{0,60}pass(?:w|phrase)[\w.\-]{0,60}=\*\*\*)(?!&[\w.\-]+=)[^\r\n]+",
    re.IGNORECASE,
)
# "name": value, as JSON and Python write it, also where that is a text in other JSON.
_IN_OBJECT = re.compile(
    r"""(\\{0,8}["'])([\w.\-]{1,120})(\\{0,8}["']\s?:\s?)"""
    rf"""("{_NEW}(?:[^"\\]|\\.)*"?|'{_NEW}(?:[^'\\]|\\.)*'?|\\{{1,8}}"{_NEW}[^"]*"?|[^\s,}}\]"'\\]+(?=\s?[,}}\]]))"""
)
_HEADER = re.compile(
    r"(?<![\w\-])((?:proxy-)?authorization\s?:|(?:set-)?cookie\s?:(?=[^\r\n=]{1,200}=)"
    r"|x-[\w\-]{0,60}?(?:token|key|secret|auth)[\w\-]{0,60}\s?:)(?!\s?\[redacted\]$)\s?[^\r\n]+",
    re.IGNORECASE,
)
_SCHEME = re.compile(r"\b(Bearer|Basic|Negotiate)\s+(?!auth)[\w\-.~+/]{8,}=*", re.IGNORECASE)
_WEB_TOKEN = re.compile(r"\beyJ[\w\-]{8,}\.[\w\-]+(?:\.[\w\-]*)?")
"""A JSON Web Token: two or three parts of base64url, the first of which begins with {" """


def hide_secrets(text: str) -> str:
    """Return the text without the secrets that its URLs, parameters, headers and tokens betray by name or form.

    What data: and javascript: URLs hold is cut. Hiding what is hidden changes nothing.
    """
    low = text.lower()
    if "data:" in low or "javascript:" in low:
        text = _INLINE.sub(r"\1...", text)
    if "@" in text:
        text = _PLAIN_USER.sub(f"{MARK}@", _USER.sub(rf"\1{MARK}@", text))
    assigned = "=" in text or "3d" in low
    if assigned:
        text = _without_parameters(text)
    if "cookie" in low or "authorization" in low or "x-" in low:
        text = _HEADER.sub(rf"\1 {MARK}", text)
    if "bearer" in low or "basic" in low or "negotiate" in low:
        text = _SCHEME.sub(rf"\1 {MARK}", text)
    if "eyJ" in text:
        text = _WEB_TOKEN.sub(MARK, text)
    if ":" in text and ('"' in text or "'" in text):
        text = _IN_OBJECT.sub(_without_item, text)
    if assigned:
        text = _PASSPHRASE.sub(rf"\1{MARK}", _ASSIGNED.sub(_without_assigned, text))
    return text


def is_secret_parameter(name: str) -> bool:
    """Say whether a parameter of a URL or a form holds a secret, by its name, percent-encoded or not."""
    name = unquote(name)
    return NAMED.search(name) is not None or name.lower() in QUERY_KEYS


def _without_parameters(text: str) -> str:
    pieces, done = [], 0
    for head in _PARAMETER.finditer(text):
        if head.start() < done or not is_secret_parameter(head["name"]):
            continue
        value = _VALUE.match(text, head.end())
        if value is None:
            continue
        end = value.end()
        if head["encoded"]:  # the URL that is a value here goes on after its own &
            separator = re.compile(f"%{head['level']}(?:26|23)", re.IGNORECASE).search(text, head.end(), end)
            end = end if separator is None else separator.start()
        pieces += [text[done : head.end()], MARK]
        done = end
    return "".join((*pieces, text[done:]))


def _without_item(found: re.Match[str]) -> str:
    if NAMED.search(found[2]) is None:
        return found[0]
    return f"{found[1]}{found[2]}{found[3]}{MARK}"


def _without_assigned(found: re.Match[str]) -> str:
    return f"{found[1]}{found[2]}{MARK}" if NAMED.search(found[1]) is not None else found[0]
