"""Words that errors share: URLs and steps, fit for a message. Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence

from cdpengine.errors.foreign import escape_line
from cdpengine.errors.secrets import MARK, hide_secrets

LONGEST_TEXT = 1000
"""Characters of a page's own error text in a message; the attribute has them all."""

LONGEST_URL = 200

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


def tried(steps: Sequence[str]) -> str:
    """Return the steps that were tried, one a line, to go at the end of a message."""
    return "".join(f"\n  - {step}" for step in steps)
