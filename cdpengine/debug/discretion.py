"""Discretion: says in what a call differs from a recorded one without saying what is secret in either. Pure.

Rule: nobody redacted what a program asks at a replay. So what a recorder would redact in it is redacted here, and
what was entered is kept out wherever it stands. What may hold a secret that nobody can know to be one (arguments
of functions, texts within scripts, bodies) is not shown at all: only where it differs is said.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any
from urllib.parse import quote, quote_plus

import msgspec

from cdpengine.debug.entered_texts import redacted_places, value_at
from cdpengine.debug.known_secrets import REDACTED
from cdpengine.debug.matching import MISSING, Difference
from cdpengine.debug.redact import Redactor

_SHORTEST = 4
"""Characters from which on an entered text is looked for in other texts: shorter ones are everywhere."""

_MOST = 2_000
_SHOWN = 90
_CONTEXT = 20

_SCRIPTS = frozenset({"expression", "functionDeclaration", "source", "scriptSource"})
_OPAQUE = frozenset({"body", "message", "postData", "data", "rawResponseHeaders", "binaryValue"})
_LITERAL = re.compile(
    r"/\*.*?\*/|//[^\n]*|'(?:[^'\\\n]|\\.)*'|\"(?:[^\"\\\n]|\\.)*\"|`(?:[^`\\]|\\.)*`", re.DOTALL
)
_UNSHOWN = "(not shown)"


class Discretion:
    """Knows what was entered so far, by the recorded program and by the one that replays it."""

    def __init__(self) -> None:
        self._redactor = Redactor()
        self._secrets: dict[str, None] = {}
        self._knowing: Redactor | None = None

    def learn(self, method: str, message: bytes) -> None:
        """Take a call: what a recorder would redact in it is secret from now on.

        Not so single keys: what they make together is added by who gathers them.
        """
        if method == "Input.dispatchKeyEvent":
            return
        clean = self._redactor.redact(message, method)
        if clean is message:
            return
        try:
            before, after = msgspec.json.decode(message), msgspec.json.decode(clean)
        except msgspec.DecodeError:
            return  # halves of surrogate pairs: a text that is not JSON is never shown
        for path, text in redacted_places(after):
            whole = value_at(before, path)
            if isinstance(whole, str):
                for secret in _withheld(whole, text):
                    self.add(secret)

    def add(self, secret: str) -> None:
        """Take a text that is secret wherever it stands."""
        if len(secret) >= _SHORTEST and secret not in self._secrets and secret not in REDACTED:
            self._secrets[secret] = None
            self._knowing = None
            if len(self._secrets) > _MOST:
                del self._secrets[next(iter(self._secrets))]

    def hide(self, text: str) -> str:
        """Return a text without what is secret."""
        return self._all_known().text(text)

    def describe(
        self, method: str, recorded: Any, asked: Any, differences: Iterable[Difference], most: int = 12
    ) -> list[str]:
        """Return the lines of a diff: "- " what was recorded, "+ " what was asked, "~ " what is not shown."""
        recorded, asked = self._cleaned(method, recorded), self._cleaned(method, asked)
        lines: list[str] = []
        for difference in differences:
            if len(lines) >= 2 * most:
                lines.append("  ...")
                break
            lines += self._lines(difference, recorded, asked)
        return lines

    def _lines(self, difference: Difference, recorded: Any, asked: Any) -> list[str]:
        place = self.hide(difference.place)
        if difference.entered:
            return [f"~ another text was entered as {place} than when it was recorded (neither is shown)"]
        old = None if difference.recorded is MISSING else value_at(recorded, difference.path)
        new = None if difference.asked is MISSING else value_at(asked, difference.path)
        if difference.recorded is MISSING:
            return [f"+ {place}: {self.hide(_shown(difference, new, None))}"]
        if difference.asked is MISSING:
            return [f"- {place}: {self.hide(_shown(difference, old, None))}"]
        shown = self.hide(_shown(difference, old, new)), self.hide(_shown(difference, new, old))
        if shown[0] == shown[1]:
            return [f"~ {place}: it differs in what is not shown here"]
        return [f"- {place}: {shown[0]}", f"+ {place}: {shown[1]}"]

    def _cleaned(self, method: str, params: Any) -> Any:
        if not isinstance(params, dict):
            return {}
        message = msgspec.json.encode({"method": method, "params": params})
        try:
            return msgspec.json.decode(self._all_known().redact(message, method, suspicious=True)).get(
                "params"
            )
        except msgspec.DecodeError:
            return {}

    def _all_known(self) -> Redactor:
        if self._knowing is None:
            forms = {
                form
                for secret in self._secrets
                for form in (secret, quote_plus(secret), quote(secret), quote(secret, safe="").lower())
            }
            self._knowing = Redactor(secrets=forms)
        return self._knowing


def _withheld(whole: str, clean: str) -> Iterable[str]:
    """Return what was redacted in a text."""
    pieces = clean.split(REDACTED)
    found = re.fullmatch("(.*?)".join(map(re.escape, pieces)), whole, re.DOTALL)
    return found.groups() if found else (whole,)


def _shown(difference: Difference, value: Any, other: Any) -> str:
    names = {step for step in difference.path if isinstance(step, str)}
    if names & _OPAQUE or (names & {"arguments"} and "value" in names) or "params" in names:
        return _UNSHOWN
    if not isinstance(value, str):
        return _cut(msgspec.json.encode(value).decode())
    text = _without_literals(value, other) if names & _SCRIPTS else value
    if isinstance(other, str) and len(text) > _SHOWN:
        # A long text is shown from where it begins to differ.
        against = _without_literals(other, value) if names & _SCRIPTS else other
        at = next(
            (i for i, (a, b) in enumerate(zip(text, against, strict=False)) if a != b),
            min(len(text), len(against)),
        )
        start = max(0, at - _CONTEXT)
        text = ("..." if start else "") + text[start:]
    return repr(_cut(text))


def _without_literals(script: str, other: Any) -> str:
    """Return a script in which texts that the other one does not hold are not shown."""
    held = other if isinstance(other, str) else ""

    def shown(found: re.Match[str]) -> str:
        literal, quote = found[0], found[0][0]
        return literal if literal in held or quote == "/" else f"{quote}{_UNSHOWN}{quote}"

    return _LITERAL.sub(shown, script)


def _cut(text: str) -> str:
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}..."
