"""Strings for display: foreign text is made harmless, secrets are redacted, and long strings are cut. Pure.

Foreign text comes from a page, a server, a browser or a file. Rule: characters that could move a terminal's
cursor, color it, begin a line, reverse text or hide it are written as escapes, so that they are visible and have
no effect. All foreign text in output, logs and errors passes through one of three functions here: `escape_line`,
`escape_lines`, or `escape_json` for JSON.

Escaped are: the controls (C0, DEL, C1), line and paragraph separators, marks for the direction of text, unpaired
surrogates (no encoding has them), noncharacters, the marks of interlinear annotations, and all other characters
that renderers draw as nothing according to Unicode (Default_Ignorable_Code_Point in DerivedCoreProperties.txt):
soft hyphens, zero-width spaces, fillers, tags and variation selectors. They could hide a whole text. So flags that
consist of tags, such as Scotland's, are also escaped.

Not escaped are: a joiner between two characters that it joins (those of an emoji, or of a script such as Persian
or Hindi), and the emoji or text variation selector right after a character that has both forms. There they have
the effect that readers expect, and at most two of them can be adjacent, so they cannot hide text. A backslash is
not escaped: the escapes are for readers, and escaping twice has no further effect.

Secrets are users and passwords of URLs, secret parameters, and tokens. Rule: a string for a message, a log or a
report passes through `hide_secrets`, in linear time, which replaces secrets by "***". It recognizes them by their
names (the table of `cdpengine._secrets`) and by their forms. Whole values that a program passed are never part of
messages, so they are not searched for.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

from cdpengine._secrets import NAMED, PASSWORD, WEB_TOKEN, is_secret_parameter

HIDDEN = (
    r"\x00-\x1f\x7f-\x9f\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b\u200e\u200f"
    r"\u2028-\u202e\u2060-\u206f\u3164\ufeff\uffa0\ufff0-\ufffb\ufffe\uffff\ud800-\udfff"
    r"\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff"
)
"""Characters that are never shown unescaped: the inside of a regular expression's set."""

MAYBE_HIDDEN = rf"{HIDDEN}\u200c\u200d\ufe00-\ufe0f"
"""HIDDEN and characters whose effect depends on their neighbours: joiners and variation selectors."""

# Blocks that contain all emoji of one code point except digits, and the skin tone modifiers.
_EMOJI = r"\xa9\xae\u203c\u2049\u2122\u2139\u2190-\u2bff\u3030\u303d\u3297\u3299\U0001f000-\U0001faff"
# Arabic with its supplements, Syriac to Mandaic, the scripts of India, Tibetan, Burmese, Khmer, Mongolian.
_JOINED = r"\u0620-\u065f\u066e-\u06ef\u06fa-\u08ff\u0900-\u0dff\u0f00-\u109f\u1780-\u17b3\u1820-\u18aa"

MISPLACED = (
    rf"(?<![{_EMOJI}{_JOINED}\ufe0f])\u200d|\u200d(?![{_EMOJI}{_JOINED}])"
    rf"|(?<![{_JOINED}])\u200c|\u200c(?![{_JOINED}])"
    rf"|[\ufe00-\ufe0d]|(?<![{_EMOJI}])[\ufe0e\ufe0f](?!\u20e3)"
)
"""Joiners and variation selectors without an effect on their neighbours, as a regular expression."""

_ANY = re.compile(f"[{MAYBE_HIDDEN}]")
_IN_LINE = re.compile(f"[{HIDDEN}]|{MISPLACED}")
_IN_LINES = re.compile(rf"(?![\n\t])[{HIDDEN}]|{MISPLACED}")

_SHORT = {"\n": "\\n", "\r": "\\r", "\t": "\\t"}


def escape_line(text: str) -> str:
    """Return the string as one line: line ends and tabs are escaped too."""
    return text if _ANY.search(text) is None else _IN_LINE.sub(_escape, text)


def escape_lines(text: str) -> str:
    """Return a text of several lines escaped, except for line feeds and tabs.

    It is for text that is entirely foreign, or whose foreign parts already passed through `escape_line`.
    """
    return text if _ANY.search(text) is None else _IN_LINES.sub(_escape, text)


def escape_json(document: str) -> str:
    """Return JSON that parses to the same value, with JSON escapes in it."""
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

MARK = "***"
"""The replacement of a secret."""

# A redaction by a recording or the wire's log stays unchanged.
_NEW = r"(?!\[redacted\](?:[&#;,\s\"'\\}@)\]]|$))"

# URLs that contain a whole document or program. Their end is unknown, so the rest of the string is cut too.
_INLINE = re.compile(
    r"\b(data:(?:[\w.+\-]{1,80}/[\w.+\-]{1,80})?(?:;[\w.+\-=%\"']{0,80}){0,8},|javascript:)(?!\.\.\.)\S.*",
    re.IGNORECASE | re.DOTALL,
)

# Up to the last @ of a URL's authority, because a password may contain one.
_USER = re.compile(rf"(//|%2f%2f){_NEW}[^/?#\s\"'<>]*@", re.IGNORECASE)
# user:password@host:port without a scheme, as for proxies; faults (error:Page.reload@reply:1) look similar.
_PLAIN_USER = re.compile(
    r"(?<![\w/.\-])[\w.+\-]{1,80}:[^\s@/\"'<>]{1,200}@(?!(?:call|reply|event|any):)(?=[\w.\-\[\]]{1,200}:\d)"
)

# ?name= &name= #name= ;name=, also inside another URL's value, percent-encoded: then `level` shows how often its
# percent signs are encoded themselves.
_PARAMETER = re.compile(
    r"(?:[?&#;]|(?P<encoded>%(?P<level>(?:25){0,3})(?:3f|26|23|3b)))"
    r"(?P<name>(?:(?!%(?:25)*(?:3d|26))[^\s&#=?;\"'<>]){1,120})(?:=|%(?:25){0,3}3d)",
    re.IGNORECASE,
)
_VALUE = re.compile(_NEW + r"""(?:[^&#\s"'<>]|'(?![\s),;:\]}.]|$))+""")

# name=value outside of URLs; a value that begins with a dot is "...", an omitted value.
_ASSIGNED = re.compile(
    r"(?<![\w.\-])([\w.\-]{1,120})((?:=|%(?:25){0,3}3d)\s?)"
    rf"""{_NEW}("{_NEW}(?:[^"\\]|\\.)*"?|'{_NEW}(?:[^'\\]|\\.)*'?|[^&;\s"'<>.…*][^&;\s"'<>]*)""",
    re.IGNORECASE,
)
# password=..., which may contain spaces, so the rest of its line is redacted too.
_PASSPHRASE = re.compile(
    rf"(?<![\w.?&#;\-])([\w.\-]{{0,60}}(?:{PASSWORD})[\w.\-]{{0,60}}=\*\*\*)(?!&[\w.\-]+=)[^\r\n]+",
    re.IGNORECASE,
)
# "name": value, as in JSON and Python, also inside a JSON string.
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


def hide_secrets(text: str) -> str:
    """Return the string with "***" for secrets in URLs, parameters, headers and tokens, by name or form.

    The content of data: and javascript: URLs is cut. Hiding secrets twice has no further effect.
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
        text = WEB_TOKEN.sub(MARK, text)
    if ":" in text and ('"' in text or "'" in text):
        text = _IN_OBJECT.sub(_hide_item, text)
    if assigned:
        text = _PASSPHRASE.sub(rf"\1{MARK}", _ASSIGNED.sub(_hide_assigned, text))
    return text


def _hide_parameters(text: str) -> str:
    pieces, done = [], 0
    for head in _PARAMETER.finditer(text):
        if head.start() < done or not is_secret_parameter(head["name"]):
            continue
        value = _VALUE.match(text, head.end())
        if value is None:
            continue
        end = value.end()
        if head["encoded"]:  # the URL inside the value continues after its own &
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
"""Maximum length of a page's error text in a message, in characters; the attribute has all of it."""

LONGEST_URL = 200

_LONGEST_LINE = 120
_LONGEST_LIST = 140

_LONGEST_FOREIGN = 10_000
_LONGEST_READ = 2 * _LONGEST_FOREIGN
"""Maximum length of a string that is processed, in characters; the rest is cut before."""

_INLINE_URL = re.compile(r"\s*(?:(data:)([\w+.\-]{1,80}/[\w+.\-]{1,80}(?=[,;]))?|javascript:)", re.IGNORECASE)


def shown(text: str) -> str:
    """Return a foreign string as one line for messages, logs and reports: without secrets, escaped, and cut."""
    whole = len(text) <= _LONGEST_READ
    text = hide_secrets(text[:_LONGEST_READ])
    if not whole and len(text) <= _LONGEST_FOREIGN:
        # Omit the last, cut word: half of a URL does not reveal that it contains a password.
        text = f"{text.rpartition(' ')[0]} ..."
    text = escape_line(text)
    return text if len(text) <= _LONGEST_FOREIGN else f"{text[:_LONGEST_FOREIGN]}..."


def shown_url(url: str) -> str:
    """Return a URL for messages: one line, cut, without user, password and secret parameters.

    Of data: and javascript: URLs, which contain whole documents and programs, only the scheme is kept.
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


def duration(seconds: float) -> str:
    """Return a duration for messages, such as "0.004 s", "1.35 s", "12.3 s" and "300 s"."""
    if seconds < 0.1:
        return f"{seconds:.2g} s" if seconds >= 0.0001 else "0 s"
    decimals = 2 if seconds < 10 else 1 if seconds < 100 else 0
    text = f"{seconds:.{decimals}f}"
    return f"{text.rstrip('0').rstrip('.') if decimals else text} s"


def cut(text: str, most: int) -> str:
    """Return a string, or its first `most` characters followed by "..."."""
    return text if len(text) <= most else f"{text[:most]}..."


def tried(steps: Sequence[str]) -> str:
    """Return the last steps, one per line, for the end of a message."""
    return listed([f"- {step}" for step in steps], ".steps", last=True)


def listed(
    lines: Sequence[str],
    attribute: str,
    *,
    last: bool = False,
    most: int = _LONGEST_LIST,
    longest: int = _LONGEST_LINE,
) -> str:
    """Return lines for the end of a message: each once, with its count, and only as many as are readable.

    `attribute` is the field with all lines. If there are too many, only the first or the `last` are included:
    `most` characters of them. `longest` is the maximum length of a line.
    """
    count = Counter(lines)
    in_order = dict.fromkeys(reversed(lines) if last else lines)
    once = [
        f"{cut(line, longest)}{f' ({count[line]} times)' if count[line] > 1 else ''}" for line in in_order
    ]
    chosen = [once[number] for number in range(len(once)) if sum(map(len, once[: number + 1])) <= most]
    more = len(once) - len(chosen)
    rest = [f"... {more} more in {attribute}"] if more else []
    return "".join(f"\n  {line}" for line in (rest + chosen[::-1] if last else chosen + rest))
