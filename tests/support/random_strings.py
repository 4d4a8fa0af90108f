"""Random strings of all planes, with controls, unpaired surrogates and the syntax of formats."""

from __future__ import annotations

import json
import random

LONGEST = 8
"""Maximum parts of a string."""

RANGES = (
    (0x00, 0x1F), (0x20, 0x7E), (0x20, 0x7E), (0x7F, 0xA0), (0xA1, 0x7FF), (0x800, 0xD7FF), (0xD800, 0xDBFF),
    (0xDC00, 0xDFFF), (0xE000, 0xFFFF), (0x2028, 0x2029), (0x10000, 0x1FFFF), (0x20000, 0x10FFFF),
)  # fmt: skip
SPECIAL = (
    '"',
    "\\",
    "\\ud83d",
    "</script>",
    "\ufeff",
    "\ufdd0",
    "&amp;",
    "\x00",
    "\r\n",
    "{",
    "cdpengine.cut",
)


def make_strings(seed: int, count: int) -> list[str]:
    """Return distinct strings in their JSON round-trip form: a high and a low surrogate in a row become one
    character.
    """
    chosen = random.Random(seed)

    def piece() -> str:
        if chosen.random() < 0.1:
            return chosen.choice(SPECIAL)
        return chr(chosen.randint(*chosen.choice(RANGES)))

    made: dict[str, None] = {}
    while len(made) < count:
        made[json.loads(json.dumps("".join(piece() for _ in range(chosen.randint(1, LONGEST)))))] = None
    return list(made)
