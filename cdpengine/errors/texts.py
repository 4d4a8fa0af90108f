"""Texts that are shown: what is foreign is made harmless, secrets are left out, and what is long is cut. Pure.

Foreign text is what a page, a server, a browser or a file wrote. Rule: whatever could move a terminal's cursor,
colour it, begin a line, turn text around or hide it is written as an escape, so that it is seen and does nothing.
Everything foreign that is printed, logged or put into an error goes through one of the three functions here:
`escape_line`, `escape_lines`, or `escape_json` for JSON.

What is an escape then: the controls (C0, DEL, C1), the separators of lines and paragraphs, the marks that turn the
direction of text, unpaired surrogates (no encoding has them), noncharacters, the marks of interlinear
annotations, and everything else that Unicode has renderers draw as nothing (Default_Ignorable_Code_Point in
DerivedCoreProperties.txt): soft hyphens, zero-width spaces, fillers, tags and variation selectors. A whole text
can be hidden in them. So the flags that are made of tags, such as Scotland's, are shown as escapes too.

What stays: a joiner between two characters that it joins (those of an emoji, or of a script such as Persian or
Hindi), and the emoji's or text's variation selector right behind a character that has both forms. There it does
what a reader expects, and no more than two of them can follow each other, so that they can hide nothing. A
backslash stays a backslash: the escapes are for eyes, and escaping what is escaped changes nothing.

Secrets are users and passwords of URLs, secret parameters, tokens. Rule: a text for a message, a log or a report
goes through `hide_secrets`, in linear time; what is hidden reads "***". It knows secrets by the names that they
have (the tables here, which recordings are redacted by too) and by their forms. Whole values that a program passed
are not for messages at all, and no text is searched for them.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from urllib.parse import unquote

HIDDEN = (
    r"\x00-\x1f\x7f-\x9f\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b\u200e\u200f"
    r"\u2028-\u202e\u2060-\u206f\u3164\ufeff\uffa0\ufff0-\ufffb\ufffe\uffff\ud800-\udfff"
    r"\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff"
)
"""What is never shown as itself: the inside of a regular expression's set."""

MAYBE_HIDDEN = rf"{HIDDEN}\u200c\u200d\ufe00-\ufe0f"
"""The same, and what depends on what stands beside it: joiners and variation selectors."""

# Blocks that hold all emoji of one code point but the digits; the modifiers of skin are in them.
_EMOJI = r"\xa9\xae\u203c\u2049\u2122\u2139\u2190-\u2bff\u3030\u303d\u3297\u3299\U0001f000-\U0001faff"
# Arabic with its supplements, Syriac to Mandaic, the scripts of India, Tibetan, Burmese, Khmer, Mongolian.
_JOINED = r"\u0620-\u065f\u066e-\u06ef\u06fa-\u08ff\u0900-\u0dff\u0f00-\u109f\u1780-\u17b3\u1820-\u18aa"

MISPLACED = (
    rf"(?<![{_EMOJI}{_JOINED}\ufe0f])\u200d|\u200d(?![{_EMOJI}{_JOINED}])"
    rf"|(?<![{_JOINED}])\u200c|\u200c(?![{_JOINED}])"
    rf"|[\ufe00-\ufe0d]|(?<![{_EMOJI}])[\ufe0e\ufe0f](?!\u20e3)"
)
"""Joiners and variation selectors where they join nothing and choose nothing, as a regular expression."""

_ANY = re.compile(f"[{MAYBE_HIDDEN}]")
_IN_LINE = re.compile(f"[{HIDDEN}]|{MISPLACED}")
_IN_LINES = re.compile(rf"(?![\n\t])[{HIDDEN}]|{MISPLACED}")

_SHORT = {"\n": "\\n", "\r": "\\r", "\t": "\\t"}


def escape_line(text: str) -> str:
    """Return the text as one line: line ends and tabs are written as escapes too."""
    return text if _ANY.search(text) is None else _IN_LINE.sub(_escape, text)


def escape_lines(text: str) -> str:
    """Return a text that has several lines by its nature: line feeds and tabs stay as they are.

    It is for text that is foreign as a whole, or whose foreign parts went through `escape_line` before.
    """
    return text if _ANY.search(text) is None else _IN_LINES.sub(_escape, text)


def escape_json(document: str) -> str:
    """Return JSON that parses to the same value, with the escapes of JSON in it."""
    return document if _ANY.search(document) is None else _IN_LINES.sub(_escape_json_character, document)


def _escape(found: re.Match[str]) -> str:
    code = ord(found[0])
    if code < 0x100:
        return _SHORT.get(found[0]) or f"\\x{code:02x}"
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def _escape_json_character(found: re.Match[str]) -> str:
    code = ord(found[0])
    if code < 0x10000:
        return f"\\u{code:04x}"
    code -= 0x10000
    return f"\\u{0xD800 + (code >> 10):04x}\\u{0xDC00 + (code & 0x3FF):04x}"


# --- secrets -------------------------------------------------------------------------------------------------

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
        text = _hide_parameters(text)
    if "cookie" in low or "authorization" in low or "x-" in low:
        text = _HEADER.sub(rf"\1 {MARK}", text)
    if "bearer" in low or "basic" in low or "negotiate" in low:
        text = _SCHEME.sub(rf"\1 {MARK}", text)
    if "eyJ" in text:
        text = _WEB_TOKEN.sub(MARK, text)
    if ":" in text and ('"' in text or "'" in text):
        text = _IN_OBJECT.sub(_hide_item, text)
    if assigned:
        text = _PASSPHRASE.sub(rf"\1{MARK}", _ASSIGNED.sub(_hide_assigned, text))
    return text


def is_secret_parameter(name: str) -> bool:
    """Say whether a parameter of a URL or a form holds a secret, by its name, percent-encoded or not."""
    name = unquote(name)
    return NAMED.search(name) is not None or name.lower() in QUERY_KEYS


def _hide_parameters(text: str) -> str:
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


def _hide_item(found: re.Match[str]) -> str:
    if NAMED.search(found[2]) is None:
        return found[0]
    return f"{found[1]}{found[2]}{found[3]}{MARK}"


def _hide_assigned(found: re.Match[str]) -> str:
    return f"{found[1]}{found[2]}{MARK}" if NAMED.search(found[1]) is not None else found[0]


# --- lengths -------------------------------------------------------------------------------------------------

LONGEST_TEXT = 300
"""Characters of a page's own error text in a message; the attribute has them all."""

LONGEST_URL = 200

_LONGEST_LINE = 120
_LONGEST_LIST = 140

_LONGEST_SHOWN = 10_000
_LONGEST_READ = 2 * _LONGEST_SHOWN
"""Characters of a text that are looked at: the rest is cut before, whatever it is."""

_INLINE_URL = re.compile(r"\s*(?:(data:)([\w+.\-]{1,80}/[\w+.\-]{1,80}(?=[,;]))?|javascript:)", re.IGNORECASE)


def shown(text: str) -> str:
    """Return a foreign text as one line for messages, logs and reports: without secrets, escaped, not endless."""
    whole = len(text) <= _LONGEST_READ
    text = hide_secrets(text[:_LONGEST_READ])
    if not whole and len(text) <= _LONGEST_SHOWN:
        # What was cut in its middle is left out: half of a URL does not show that there is a password in it.
        text = f"{text.rpartition(' ')[0]} ..."
    text = escape_line(text)
    return text if len(text) <= _LONGEST_SHOWN else f"{text[:_LONGEST_SHOWN]}..."


def shown_url(url: str) -> str:
    """Return a URL fit for messages: one line, not endless, without user, password and secret parameters.

    Of data: and javascript: URLs, which hold whole documents and programs, only the kind is left.
    """
    if inline := _INLINE_URL.match(url):
        return f"data:{inline[2] or ''},..." if inline[1] else "javascript:..."
    scheme, mark, rest = url[:_LONGEST_READ].partition("://")
    end = min((position for position in map(rest.find, "/?#") if position >= 0), default=len(rest))
    user, at, _host = rest[:end].rpartition("@")
    if mark and at:
        rest = f"{MARK}@{rest[len(user) + 1 :]}"
    url = shown(f"{scheme}{mark}{rest}".replace(" ", "%20"))
    return url if len(url) <= LONGEST_URL else f"{url[:LONGEST_URL]}..."


def cut(text: str, most: int) -> str:
    """Return a text, or its first `most` characters with "..." behind them."""
    return text if len(text) <= most else f"{text[:most]}..."


def tried(steps: Sequence[str]) -> str:
    """Return the last steps that were tried, one a line, to go at the end of a message."""
    return listed([f"- {step}" for step in steps], ".steps", last=True)


def listed(lines: Sequence[str], attribute: str, *, last: bool = False, most: int = _LONGEST_LIST) -> str:
    """Return lines to go at the end of a message: each once, with how often, and no more than can be read.

    `attribute` is where a program finds all of them. Where they are too many, the first are shown, or the `last`:
    `most` characters of them.
    """
    count = Counter(lines)
    in_order = dict.fromkeys(reversed(lines) if last else lines)
    once = [
        f"{cut(line, _LONGEST_LINE)}{f' ({count[line]} times)' if count[line] > 1 else ''}"
        for line in in_order
    ]
    shown_lines = [once[number] for number in range(len(once)) if sum(map(len, once[: number + 1])) <= most]
    more = len(once) - len(shown_lines)
    rest = [f"... {more} more in {attribute}"] if more else []
    return "".join(f"\n  {line}" for line in (rest + shown_lines[::-1] if last else shown_lines + rest))
