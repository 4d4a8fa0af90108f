"""Choice: which lines of a recording somebody wants to see. Pure.

Rule: several values of one filter are alternatives, several filters must all hold. What a filter asks about and a
line does not have, that line does not match.
"""

from __future__ import annotations

import json
import re
from fnmatch import translate

import attrs

from cdpengine.debug.recording import Line

_ERRORS = frozenset({"error", "stray", "lost"})
_REFUSED = 400  # from this status on an answer over HTTP is a refusal
_NOTES = frozenset({"target", "span", "span-end", "entered", "lost", "end"})
BROWSER = "browser"
"""What the browser's own session is called, which has no id."""


@attrs.frozen(kw_only=True)
class Choice:
    """What to show.

    `methods` are globs ("Network.*", case does not matter), `sessions` and `targets` beginnings of ids ("browser"
    for the browser's own session), `ids` of commands, `texts` what must stand in the message (case does not
    matter), `slow` milliseconds that a reply or an action took at least, `errors` refusals (over HTTP too),
    strays, losses and the ends of actions that failed, `spans` globs of the names of actions, or their numbers,
    that the lines must belong to.
    """

    methods: tuple[str, ...] = ()
    sessions: tuple[str, ...] = ()
    targets: tuple[str, ...] = ()
    ids: tuple[int, ...] = ()
    texts: tuple[str, ...] = ()
    slow: float | None = None
    errors: bool = False
    spans: tuple[str, ...] = ()


class Chooser:
    """Applies a choice to the lines of one recording, in their order: an action's name comes before its lines."""

    def __init__(self, choice: Choice) -> None:
        self._choice = choice
        self._methods = _globs(choice.methods)
        self._span_names = _globs(choice.spans)
        self._spans = {int(span) for span in choice.spans if span.isascii() and span.isdigit()}
        self._sessions = tuple(session.upper() for session in choice.sessions if session != BROWSER)
        self._root = BROWSER in choice.sessions
        self._targets = tuple(target.upper() for target in choice.targets)
        self._texts = [_forms(text) for text in choice.texts]
        # Notes say nothing of methods, durations and messages: they are shown where nothing of that is asked.
        # How long an action took is said by the note of its end.
        self._notes = not (choice.methods or choice.ids or choice.texts)

    def wants(self, line: Line) -> bool:
        """Say whether the line is chosen."""
        kind = line.k
        if kind == "span" and self._span_names is not None and self._span_names.match(line.name):
            self._spans.add(line.span)
        choice = self._choice
        if kind in _NOTES and not self._notes:
            return False
        if choice.errors and kind not in _ERRORS and not line.failed and line.status < _REFUSED:
            return False
        if self._methods is not None and not self._methods.match(line.m):
            return False
        if choice.ids and line.id not in choice.ids:
            return False
        if choice.slow is not None and (line.ms is None or line.ms < choice.slow):
            return False
        if choice.spans and line.span not in self._spans:
            return False
        if choice.sessions and not self._of_sessions(line):
            return False
        if choice.targets and not (line.T and line.T.upper().startswith(self._targets)):
            return False
        return not self._texts or self._holds(line)

    def _of_sessions(self, line: Line) -> bool:
        if not line.s:
            return self._root and line.k not in _NOTES
        return bool(self._sessions) and line.s.upper().startswith(self._sessions)

    def _holds(self, line: Line) -> bool:
        text = bytes(line.msg).decode("utf-8", "replace").casefold()
        return all(any(form in text for form in forms) for forms in self._texts)


def _globs(globs: tuple[str, ...]) -> re.Pattern[str] | None:
    return re.compile("|".join(translate(glob) for glob in globs), re.IGNORECASE) if globs else None


def _forms(text: str) -> set[str]:
    """Return how a text may be written within a JSON text: as it is, or escaped."""
    once = (text, json.dumps(text)[1:-1], json.dumps(text, ensure_ascii=False)[1:-1])
    return {form.casefold() for form in once}
