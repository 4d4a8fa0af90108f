"""Entered texts: what is typed into pages, and what lets a replay check it without holding the text. Pure.

Rule: of a text that was redacted in a call, a recording holds a fingerprint at most: a salted hash that is slow to
compute, and so short that it leaves most of a text open. What is typed key by key has one fingerprint for some
keys together: one for each key would give them away one by one. Keys that come one after the other on one session
make one text, which ends with what moves the caret, the focus or the document, and with scripts.

What a fingerprint protects, and what it does not: nobody reads a text out of it. Somebody who has the recording
can try texts, 22 ms each on one core of the machine where this was measured, and learns two bits of each
character: of 10,000 four-digit numbers, 39 are left. A password that is in a list of common ones can be found with
that list.
"""

from __future__ import annotations

import hashlib
import re
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import attrs
import msgspec

from cdpengine import _json
from cdpengine.debug.normalization import drop_names
from cdpengine.debug.recording.known_secrets import REDACTED

SHORTEST = 2
"""Withheld characters from which on a text has a fingerprint: that of a single character would betray it."""

MOST = 256
"""Different texts of one recording that get a fingerprint: each takes some 20 ms."""

_LONGEST = 1 << 20
_MOST_WAITING = 1_000
_MOST_BYTES = 16_000_000
_BITS_A_CHARACTER = 2
_MOST_DIGITS = 16
_COST, _BLOCK = 1 << 13, 8  # of scrypt: 8 MiB, and 22 ms (measured)
_RUN = 16
"""Typed characters after which they get their fingerprint, and the next ones another."""

_NAME = re.compile("\0\\w+\0")

UNKNOWN = "none"
"""What stands for the fingerprint of typed keys that got none."""

KEYS = frozenset({"Input.dispatchKeyEvent", "Input.insertText", "Input.imeSetComposition"})
"""Calls that enter a text piece by piece."""


@attrs.frozen
class Entered:
    """What is written of the entered texts of one call.

    `of` is the number of the call's line; `prints` are the fingerprints of its redacted texts in their order (""
    for one without), `typed` that of what was typed in its session up to it.
    """

    of: int
    prints: tuple[str, ...] = ()
    typed: str = ""


class Fingerprints:
    """Computes the fingerprints of one recording. Each text is computed once; up to `most` of them."""

    def __init__(self, salt: bytes, most: int = MOST) -> None:
        self._salt = salt
        self._most = most
        self._known: dict[str, str] = {}

    def of(self, text: str, withheld: int | None = None) -> str:
        """Return the fingerprint of a text, "" for one that gets none.

        `withheld` is how many of its characters are not in the recording, None for all.
        """
        withheld = len(text) if withheld is None else withheld
        if withheld < SHORTEST or len(text) > _LONGEST:
            return ""
        return self._whole(text)[: min(_MOST_DIGITS, withheld * _BITS_A_CHARACTER // 4)]

    def of_value(self, text: str, withheld: int | None = None) -> str:
        """Return the same for a text in which a client may have put names that differ from run to run."""
        normal = drop_names(text)
        told = len(_NAME.sub("", normal))
        return self.of(normal, told if withheld is None else min(withheld, told))

    def is_of(self, text: str, fingerprint: str) -> bool:
        """Say whether a text that was typed has a fingerprint."""
        return self._whole(text).startswith(fingerprint)

    def is_of_value(self, text: str, fingerprint: str) -> bool:
        """Say whether a text in which there may be such names has a fingerprint."""
        return self.is_of(drop_names(text), fingerprint)

    def _whole(self, text: str) -> str:
        known = self._known.get(text)
        if known is None:
            if len(self._known) >= self._most:
                return ""
            raw = text.encode("utf-8", "surrogatepass")
            known = hashlib.scrypt(
                raw, salt=self._salt, n=_COST, r=_BLOCK, p=1, dklen=_MOST_DIGITS // 2
            ).hex()
            self._known[text] = known
        return known


def fingerprints(before: Any, after: Any, by: Fingerprints) -> list[str]:
    """Return the fingerprints of the texts that were redacted, in their order in `after`.

    Both are decoded parameters, as they were and redacted. "" stands for a text that gets none.
    """
    return [by.of_value(text, withheld) for text, withheld in find_withheld_texts(before, after)]


def find_withheld_texts(before: Any, after: Any) -> Iterator[tuple[str, int]]:
    """Give what stood in `before` where a text was redacted in `after`, and how many characters of it were.

    "" where that cannot be said.
    """
    for path, clean in find_redacted_places(after):
        value = value_at(before, path)
        if isinstance(value, str):
            yield value, max(0, len(value) - len(clean.replace(REDACTED, "")))
        else:
            yield "", 0


def value_at(value: Any, path: Sequence[str | int]) -> Any:
    """Return what stands at a place of a decoded value, None where there is no such place."""
    for step in path:
        try:
            value = value[step]
        except (KeyError, IndexError, TypeError):
            return None
    return value


def find_redacted_places(
    value: Any, path: tuple[str | int, ...] = ()
) -> Iterator[tuple[tuple[str | int, ...], str]]:
    """Give the places of all texts in which something was redacted, and these texts, in their order."""
    if isinstance(value, str):
        if REDACTED in value:
            yield path, value
    elif isinstance(value, dict):
        for key, item in value.items():
            yield from find_redacted_places(item, (*path, key))
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from find_redacted_places(item, (*path, index))


def find_typed(method: str, params: Any) -> str:
    """Return what a call types: characters, or the name of a key that gives none in brackets."""
    if not isinstance(params, dict):
        return ""
    if method == "Input.insertText":
        return str(params.get("text") or "")
    if method != "Input.dispatchKeyEvent" or params.get("type") == "keyUp":
        return ""
    if text := params.get("text"):
        return str(text)
    return f"<{params['key']}>" if params.get("key") else ""


def is_key(typed: str) -> bool:
    """Say whether what was typed is a key that gives no character."""
    return len(typed) > 1 and typed[0] == "<" and typed[-1] == ">"


@attrs.define
class Run:
    """What was typed in one session since its last fingerprint, and the number of the last call of it."""

    text: str = ""
    characters: int = 0
    last: int = 0

    def add(self, line: int, typed: str) -> None:
        """Take what the call on a line typed."""
        self.text += typed
        self.last = line
        self.characters += 0 if is_key(typed) else len(typed)

    @property
    def is_due(self) -> bool:
        """Whether enough was typed to be given its fingerprint."""
        ends = self.text.endswith((">", "\r", "\n"))
        return self.characters >= _RUN or (self.characters >= SHORTEST and ends)


class Typing:
    """What was typed in each session at a replay: all of it, and since the last fingerprint."""

    def __init__(self) -> None:
        self._since: dict[object, str] = {}
        self._pieces: dict[object, list[str]] = {}

    def add(self, session: object, method: str, params: msgspec.Raw) -> None:
        """Take a call, which may type something."""
        if method not in KEYS:
            if (pieces := self._pieces.get(session)) and pieces[-1]:
                pieces.append("")  # what comes next may be another text
            return
        try:
            text = find_typed(method, _json.decode_leniently(bytes(params) or b"{}"))
        except ValueError:
            return
        self._since[session] = self._since.get(session, "") + text
        pieces = self._pieces.setdefault(session, [""])
        if is_key(text):
            pieces.append("")  # a key that gives no character
        else:
            pieces[-1] += text

    def is_as_recorded(self, session: object, typed: str, by: Fingerprints | None) -> bool:
        """Say whether what was typed since the last fingerprint has the fingerprint `typed`, "" for none."""
        if not typed:
            return True
        text = self._since.pop(session, "")
        return by is None or typed == UNKNOWN or by.is_of(text, typed)

    def texts(self) -> Iterator[str]:
        """Give all texts that were typed: each by itself, and all of one session together."""
        for pieces in self._pieces.values():
            yield from pieces
            yield "".join(pieces)


@attrs.frozen
class _Call:
    line: int
    connection: str
    session: str
    method: str
    before: bytes
    after: bytes


class EnteredTexts:
    """Collects the redacted calls of one recording, and computes what is to be written of them when it is asked.

    `note` costs next to nothing; `take` computes, in a thread that nobody waits for.
    """

    def __init__(self, salt: bytes) -> None:
        self._by = Fingerprints(salt)
        self._noted: deque[_Call] = deque()
        self._runs: dict[tuple[str, str], Run] = {}
        self._bytes_in = 0  # changed by the thread that notes
        self._bytes_out = 0  # changed by the thread that takes
        self._torn: set[tuple[str, str]] = set()  # sessions of whose typing something was not taken

    def note(
        self, line: int, connection: str, session: str, method: str, before: bytes, after: bytes
    ) -> None:
        """Take a call as it was and as it was redacted; where too many wait, it gets no fingerprint."""
        size = len(before) + len(after)
        if len(self._noted) < _MOST_WAITING and self._bytes_in - self._bytes_out + size <= _MOST_BYTES:
            self._bytes_in += size
            self._noted.append(_Call(line, connection, session, method, before, after))
        elif method in KEYS:
            self._torn.add((connection, session))

    def take(self, most: int) -> list[Entered]:
        """Return what is to be written of the next `most` calls; fewer where not so many wait."""
        entered: list[Entered] = []
        for _ in range(most):
            if not self._noted:
                break
            entered += self._note_entered(self._noted.popleft())
        return entered

    def end(self) -> list[Entered]:
        """Return what is to be written of all that is left."""
        entered: list[Entered] = []
        while self._noted:
            entered += self._note_entered(self._noted.popleft())
        for key, run in self._runs.items():
            if key not in self._torn:
                entered += self._end(run)
        return entered

    def _note_entered(self, call: _Call) -> list[Entered]:
        self._bytes_out += len(call.before) + len(call.after)
        try:
            before, after = (_json.decode_leniently(raw)["params"] for raw in (call.before, call.after))
        except (ValueError, KeyError, TypeError):
            return []  # withheld as a whole, or no call at all
        if call.method not in KEYS:
            prints = fingerprints(before, after, self._by)
            return [Entered(call.line, tuple(prints))] if any(prints) else []
        key = call.connection, call.session
        if key in self._torn:
            return []
        run = self._runs.setdefault(key, Run())
        run.add(call.line, find_typed(call.method, before))
        return self._end(run) if run.is_due else []

    def _end(self, run: Run) -> list[Entered]:
        text, characters = run.text, run.characters
        run.text, run.characters = "", 0
        return [Entered(run.last, typed=self._by.of(text, characters) or UNKNOWN)] if text else []


# --- what is typed -------------------------------------------------------------------------------------------

_LONGEST_TYPED = 4_096
_MOST_SESSIONS = 200

_CONTROL, _META = 2, 4
"""Bits of Input.dispatchKeyEvent's `modifiers` with which a key is a command and no text."""

_NOTHING = ("", "")
_ENDS = ("Input.dispatchMouseEvent", "Page.navigate", "Page.reload", "DOM.focus", "Input.dispatchTouchEvent")
_TYPES = frozenset({"Input.dispatchKeyEvent", "Input.insertText", "Input.imeSetComposition"})


def types_text(method: str) -> bool:
    """Say whether commands of this method type text, or end it."""
    return method in _TYPES or method in _ENDS


class TypedText:
    """The text that is being typed on each session."""

    def __init__(self) -> None:
        self._texts: dict[str, str] = {}
        self._since: dict[str, int] = {}  # characters since the last script, of those that saw one
        self._ended: dict[str, str] = {}  # what a script may have ended, and may not

    def note_script(self, session_id: str) -> None:
        """Take that a script was run, which may have moved the focus: what is typed after it is another text.

        Where a script runs before each character, that is how the program types, and the text goes on.
        """
        if self._since.get(session_id, len(self._texts.get(session_id, ""))) > 1:
            ended = self._texts.pop(session_id, "")
            if ended:
                self._ended[session_id] = (self._ended.pop(session_id, "") + ended)[-_LONGEST_TYPED:]
                if len(self._ended) > _MOST_SESSIONS:
                    del self._ended[next(iter(self._ended))]
        if session_id in self._texts:
            self._since[session_id] = 0

    def take(self, session_id: str, method: str, params: Mapping[str, Any]) -> tuple[str, str]:
        """Return the text as it stood before a command, and as it stands after it; twice "" where none grew."""
        if method in _ENDS:
            # A pointer that only moves leaves the caret where it is.
            if params.get("type") != "mouseMoved":
                self._end(session_id)
            return _NOTHING
        text = params.get("text")
        if method != "Input.dispatchKeyEvent":
            inserted = isinstance(text, str) and method == "Input.insertText"
            return self._add(session_id, str(text)) if inserted else _NOTHING
        if params.get("type") == "keyUp":
            return _NOTHING
        key = params.get("key")
        if key == "Backspace":
            self._texts[session_id] = self._texts.get(session_id, "")[:-1]
            return _NOTHING
        modifiers = params.get("modifiers")
        command = isinstance(modifiers, int) and bool(modifiers & (_CONTROL | _META))
        if isinstance(text, str) and text and text.isprintable() and not command:
            return self._add(session_id, text)
        # A named key ("ArrowLeft", "Tab"); a key whose text comes with an event of its own has one letter.
        if (
            isinstance(key, str)
            and len(key) > 1
            and key not in ("Shift", "Alt", "AltGraph", "CapsLock", "Dead")
        ):
            self._end(session_id)
        return _NOTHING

    def take_on(self, session_id: str, before: str, whole: str) -> tuple[str, str]:
        """Return what `take` gave as it is if the script before it moved no focus; twice "" where none was."""
        ended = self._ended.get(session_id, "") if whole else ""
        return (ended + before if before else "", ended + whole) if ended else _NOTHING

    def _end(self, session_id: str) -> None:
        self._texts.pop(session_id, None)
        self._ended.pop(session_id, None)

    def _add(self, session_id: str, text: str) -> tuple[str, str]:
        before = self._texts.pop(session_id, "")
        self._since[session_id] = self._since.get(session_id, 0) + len(text) if before else len(text)
        whole = self._texts[session_id] = (before + text)[-_LONGEST_TYPED:]
        if len(self._texts) > _MOST_SESSIONS:
            oldest = next(iter(self._texts))
            del self._texts[oldest]
            self._since.pop(oldest, None)
        return before, whole
