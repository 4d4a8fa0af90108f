"""Journal: a numbered record of a session's activity, for any number of readers at different speeds.

Rule: writing never waits. The journal keeps the latest entries within two bounds, and reports to a slow reader how
many entries it missed. An id contains a journal and a number, so that the id of an older session is recognised.
"""

from __future__ import annotations

import secrets
from collections import deque
from collections.abc import Mapping
from typing import Any

import attrs

from cdpengine import _json
from cdpengine._notifier import Notifier

MOST_ENTRIES = 2_000
MOST_BYTES = 8 * 2**20
"""Limits of the journal."""

LONGEST_TEXT = 64 * 2**10
"""Maximum length of a string in an entry, in characters. `cut` counts the characters after that."""


@attrs.frozen
class Entry:
    """An entry: `name` is its kind, `data` a JSON object, `target_id` its page or ""."""

    number: int
    name: str
    target_id: str
    data: str


@attrs.frozen
class Ended:
    """The reason why a journal has ended."""

    reason: str
    message: str


@attrs.define(eq=False)
class Journal:
    """The journal of one session. Entries are numbered from 1."""

    most_entries: int = MOST_ENTRIES
    most_bytes: int = MOST_BYTES
    key: str = attrs.field(factory=lambda: secrets.token_hex(4))
    ended: Ended | None = None
    last: int = 0
    _entries: deque[Entry] = attrs.field(factory=deque)
    _bytes: int = 0
    _changes: Notifier = attrs.field(factory=Notifier)

    def add(self, name: str, target_id: str, fields: Mapping[str, Any]) -> None:
        """Add an entry."""
        self.last += 1
        data = {key: value for key, value in fields.items() if value is not None}
        if target_id:
            data["targetId"] = target_id
        text = data.get("text")
        if isinstance(text, str) and len(text) > LONGEST_TEXT:
            data |= {"text": text[:LONGEST_TEXT], "cut": len(text) - LONGEST_TEXT}
        entry = Entry(self.last, name, target_id, _json.encode_ascii(data, compact=True))
        self._entries.append(entry)
        self._bytes += len(entry.data)
        while len(self._entries) > self.most_entries or (
            self._bytes > self.most_bytes and len(self._entries) > 1
        ):
            self._bytes -= len(self._entries.popleft().data)
        self._changes.notify()

    def end(self, reason: str, message: str) -> None:
        """End the journal with a reason; the first reason counts."""
        if self.ended is None:
            self.ended = Ended(reason, message)
            self._changes.notify()

    def after(self, number: int, most: int = 100) -> tuple[int, list[Entry]]:
        """Return how many entries after `number` are gone, and the first ones that are kept."""
        first = self.last - len(self._entries) + 1
        lost = max(first - number - 1, 0)
        start = max(number + 1, first) - first
        return lost, [self._entries[index] for index in range(start, min(start + most, len(self._entries)))]

    async def wait_beyond(self, number: int) -> None:
        """Wait until the journal has an entry after `number`, or has ended."""
        await self._changes.wait_for(lambda: self.last > number or self.ended is not None)

    # --- ids --------------------------------------------------------------------------------------------------

    def id_of(self, number: int) -> str:
        """Return the id of an entry."""
        return f"{self.key}-{number}"

    def number_of(self, entry_id: str) -> int | None:
        """Return the number in an id; None for an invalid id or one of another journal."""
        key, _, number = entry_id.partition("-")
        if key != self.key or not (number.isascii() and number.isdecimal()) or len(number) > 15:
            return None
        return min(int(number), self.last)
