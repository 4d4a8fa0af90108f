"""Words that errors share: URLs, steps and lists, fit for a message. Pure."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

from cdpengine.errors.foreign import escape_line
from cdpengine.errors.secrets import MARK, hide_secrets

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
