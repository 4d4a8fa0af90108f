"""Fingerprints of entered text: a replay can verify it although the recording does not contain it. Pure.

Rule: a recording contains at most a fingerprint of a redacted argument: a salted hash, slow to compute and too
short to identify the text. Typed keys share one fingerprint for several keys, because one fingerprint for each key
would reveal the keys one by one. Successive keys on a session form one text. It ends when the caret, the focus or
the document may change, and with scripts.

Limits of the protection: the text cannot be computed from a fingerprint, but an attacker with the recording can
test guesses. Each guess takes 22 ms of one core (measured), and each character reveals two bits: of 10,000
four-digit numbers, 39 remain. A password from a list of common ones can be found with that list.
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
"""Minimum number of withheld characters for a fingerprint. The fingerprint of one character would reveal it."""

MOST = 256
"""Maximum number of fingerprints in a recording. Each takes about 20 ms."""

_LONGEST = 1 << 20
_MOST_WAITING = 1_000
_MOST_BYTES = 16_000_000
_BITS_A_CHARACTER = 2
_MOST_DIGITS = 16
_COST, _BLOCK = 1 << 13, 8  # of scrypt: 8 MiB, and 22 ms (measured)
_RUN = 16
"""Number of typed characters that share a fingerprint."""

_NAME = re.compile("\0\\w+\0")

UNKNOWN = "none"
"""Fingerprint of typed keys for which none was computed."""

KEYS = frozenset({"Input.dispatchKeyEvent", "Input.insertText", "Input.imeSetComposition"})
"""Calls that enter text piece by piece."""


@attrs.frozen
class Entered:
    """The recorded facts about the text that one call entered.

    `of` is the line number of the call. `prints` has the fingerprints of its redacted strings in order ("" without
    one). `typed` is the fingerprint of the text typed in its session so far.
    """

    of: int
    prints: tuple[str, ...] = ()
    typed: str = ""


class Fingerprints:
    """Fingerprints of one recording. Each is computed once, for at most `most` strings."""

    def __init__(self, salt: bytes, most: int = MOST) -> None:
        self._salt = salt
        self._most = most
        self._known: dict[str, str] = {}

    def of(self, text: str, withheld: int | None = None) -> str:
        """Return the fingerprint of a string, or "" if it gets none.

        `withheld` is the number of its characters missing in the recording, None for all.
        """
        withheld = len(text) if withheld is None else withheld
        if withheld < SHORTEST or len(text) > _LONGEST:
            return ""
        return self._whole(text)[: min(_MOST_DIGITS, withheld * _BITS_A_CHARACTER // 4)]

    def of_value(self, text: str, withheld: int | None = None) -> str:
        """Return the fingerprint of a string that may contain generated names."""
        normal = drop_names(text)
        size = len(_NAME.sub("", normal))
        return self.of(normal, size if withheld is None else min(withheld, size))

    def matches(self, text: str, fingerprint: str) -> bool:
        """Return whether a typed text has this fingerprint."""
        return self._whole(text).startswith(fingerprint)

    def matches_value(self, text: str, fingerprint: str) -> bool:
        """Return whether a string that may contain generated names has this fingerprint."""
        return self.matches(drop_names(text), fingerprint)

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
    """Return the fingerprints of the redacted strings, in their order in `after`.

    `before` and `after` are the decoded parameters without and with redaction. "" stands for a string without a
    fingerprint.
    """
    return [by.of_value(text, withheld) for text, withheld in find_withheld_texts(before, after)]


def find_withheld_texts(before: Any, after: Any) -> Iterator[tuple[str, int]]:
    """Yield the original of each redacted string, and the number of its withheld characters.

    The original is "" if it cannot be determined.
    """
    for path, clean in find_redacted_places(after):
        value = value_at(before, path)
        if isinstance(value, str):
            yield value, max(0, len(value) - len(clean.replace(REDACTED, "")))
        else:
            yield "", 0


def value_at(value: Any, path: Sequence[str | int]) -> Any:
    """Return the item at a path of a decoded value, or None if the path does not exist."""
    for step in path:
        try:
            value = value[step]
        except (KeyError, IndexError, TypeError):
            return None
    return value


def find_redacted_places(
    value: Any, path: tuple[str | int, ...] = ()
) -> Iterator[tuple[tuple[str | int, ...], str]]:
    """Yield the path and the content of each string with a redaction, in order."""
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
    """Return the characters that a call types, or the name of a key without characters in brackets."""
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
    """Return whether typed input is a key without characters."""
    return len(typed) > 1 and typed[0] == "<" and typed[-1] == ">"


@attrs.define
class Run:
    """Text typed in one session since its last fingerprint, and the line number of its last call."""

    text: str = ""
    characters: int = 0
    last: int = 0

    def add(self, line: int, typed: str) -> None:
        """Add the input typed by the call on a line."""
        self.text += typed
        self.last = line
        self.characters += 0 if is_key(typed) else len(typed)

    @property
    def is_due(self) -> bool:
        """Whether enough was typed for a fingerprint."""
        ends = self.text.endswith((">", "\r", "\n"))
        return self.characters >= _RUN or (self.characters >= SHORTEST and ends)


class Typing:
    """Text typed in each session during a replay: all of it, and the part since the last fingerprint."""

    def __init__(self) -> None:
        self._since: dict[object, str] = {}
        self._pieces: dict[object, list[str]] = {}

    def add(self, session: object, method: str, params: msgspec.Raw) -> None:
        """Add a call, which may type text."""
        if method not in KEYS:
            if (pieces := self._pieces.get(session)) and pieces[-1]:
                pieces.append("")  # the next input may be another text
            return
        try:
            text = find_typed(method, _json.decode_leniently(bytes(params) or b"{}"))
        except ValueError:
            return
        self._since[session] = self._since.get(session, "") + text
        pieces = self._pieces.setdefault(session, [""])
        if is_key(text):
            pieces.append("")  # a key without characters
        else:
            pieces[-1] += text

    def matches_recording(self, session: object, typed: str, by: Fingerprints | None) -> bool:
        """Return whether the text since the last fingerprint matches the fingerprint `typed` ("" matches all)."""
        if not typed:
            return True
        text = self._since.pop(session, "")
        return by is None or typed == UNKNOWN or by.matches(text, typed)

    def texts(self) -> Iterator[str]:
        """Yield all typed strings: each one, and all of a session joined."""
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
    """Collector of the redacted calls of one recording. It computes fingerprints on demand.

    `note` is cheap; `take` computes, in a background thread.
    """

    def __init__(self, salt: bytes) -> None:
        self._by = Fingerprints(salt)
        self._noted: deque[_Call] = deque()
        self._runs: dict[tuple[str, str], Run] = {}
        self._bytes_in = 0  # changed by the thread that notes
        self._bytes_out = 0  # changed by the thread that takes
        self._torn: set[tuple[str, str]] = set()  # sessions with missing input

    def note(
        self, line: int, connection: str, session: str, method: str, before: bytes, after: bytes
    ) -> None:
        """Add a call in its original and its redacted form. If too many are queued, it gets no fingerprint."""
        size = len(before) + len(after)
        if len(self._noted) < _MOST_WAITING and self._bytes_in - self._bytes_out + size <= _MOST_BYTES:
            self._bytes_in += size
            self._noted.append(_Call(line, connection, session, method, before, after))
        elif method in KEYS:
            self._torn.add((connection, session))

    def take(self, most: int) -> list[Entered]:
        """Return the entries for the next `most` calls, or fewer if fewer are queued."""
        entered: list[Entered] = []
        for _ in range(most):
            if not self._noted:
                break
            entered += self._note_entered(self._noted.popleft())
        return entered

    def end(self) -> list[Entered]:
        """Return the entries for all remaining calls."""
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
            return []  # withheld as a whole, or not a call
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


# --- typed text -------------------------------------------------------------------------------------------

_LONGEST_TYPED = 4_096
_MOST_SESSIONS = 200

_CONTROL, _META = 2, 4
"""Bits of Input.dispatchKeyEvent's `modifiers` that turn a key into a command."""

_NOTHING = ("", "")
_ENDS = ("Input.dispatchMouseEvent", "Page.navigate", "Page.reload", "DOM.focus", "Input.dispatchTouchEvent")
_TYPES = frozenset({"Input.dispatchKeyEvent", "Input.insertText", "Input.imeSetComposition"})


def types_text(method: str) -> bool:
    """Return whether commands of this method type text or end it."""
    return method in _TYPES or method in _ENDS


class TypedText:
    """The text being typed in each session."""

    def __init__(self) -> None:
        self._texts: dict[str, str] = {}
        self._since: dict[str, int] = {}  # characters since the last script
        self._ended: dict[str, str] = {}  # text that a script may have ended

    def note_script(self, session_id: str) -> None:
        """Note a script, which may have moved the focus. Text typed after it counts as another text.

        If a script runs before each character, the program types that way and the text continues.
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
        """Return the typed text before and after a command, or twice "" if the command added nothing."""
        if method in _ENDS:
            # Moving the pointer leaves the caret in place.
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
        # A named key ("ArrowLeft", "Tab"). A key whose character arrives in another event has one letter.
        if (
            isinstance(key, str)
            and len(key) > 1
            and key not in ("Shift", "Alt", "AltGraph", "CapsLock", "Dead")
        ):
            self._end(session_id)
        return _NOTHING

    def take_on(self, session_id: str, before: str, whole: str) -> tuple[str, str]:
        """Return the result of `take` if the last script moved no focus, or twice "" without such a script."""
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
