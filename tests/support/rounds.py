"""How often a test does the same thing again: a few times, or, with CDPENGINE_LONG set, many times."""

from __future__ import annotations

import os


def rounds(few: int, many: int) -> int:
    """Return how many rounds a test has: `few`, or `many` where somebody asks for a long run."""
    return many if os.environ.get("CDPENGINE_LONG") else few
