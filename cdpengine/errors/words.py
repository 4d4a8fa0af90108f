"""Words that errors share: URLs and steps, fit for a message. Pure."""

from __future__ import annotations

from collections.abc import Sequence

LONGEST_TEXT = 1000
"""Characters of a page's own error text in a message; the attribute has them all."""

LONGEST_URL = 200


def shown_url(url: str) -> str:
    """Return a URL fit for messages: not endless (data: URLs hold whole documents), without user and password."""
    scheme, mark, rest = url.partition("://")
    end = min((position for position in map(rest.find, "/?#") if position >= 0), default=len(rest))
    user, at, _host = rest[:end].rpartition("@")
    if mark and at:
        url = f"{scheme}://***@{rest[len(user) + 1 :]}"
    return url if len(url) <= LONGEST_URL else f"{url[:LONGEST_URL]}..."


def tried(steps: Sequence[str]) -> str:
    """Return the steps that were tried, one a line, to go at the end of a message."""
    return "".join(f"\n  - {step}" for step in steps)
