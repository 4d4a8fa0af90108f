"""TypedText: what is typed into pages, put together from the commands that type it. Pure.

Rule: keys that come one after the other on one session make one text, and so do pieces of inserted text. It ends
with what moves the caret, the focus or the document, and with scripts, which may do so.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

_LONGEST = 4_096
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

    def note_script(self, session_id: str) -> None:
        """Take that a script was run, which may have moved the focus: what is typed after it is another text.

        Where a script is run before each character, it is the way of the one who types: the text goes on.
        """
        if self._since.get(session_id, len(self._texts.get(session_id, ""))) > 1:
            self._texts.pop(session_id, None)
        if session_id in self._texts:
            self._since[session_id] = 0

    def take(self, session_id: str, method: str, params: Mapping[str, Any]) -> tuple[str, str]:
        """Return the text as it stood before a command, and as it stands after it; twice "" where none grew."""
        if method in _ENDS:
            # A pointer that only moves leaves the caret where it is.
            if params.get("type") != "mouseMoved":
                self._texts.pop(session_id, None)
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
            self._texts.pop(session_id, None)
        return _NOTHING

    def _add(self, session_id: str, text: str) -> tuple[str, str]:
        before = self._texts.pop(session_id, "")
        self._since[session_id] = self._since.get(session_id, 0) + len(text) if before else len(text)
        whole = self._texts[session_id] = (before + text)[-_LONGEST:]
        if len(self._texts) > _MOST_SESSIONS:
            oldest = next(iter(self._texts))
            del self._texts[oldest]
            self._since.pop(oldest, None)
        return before, whole
