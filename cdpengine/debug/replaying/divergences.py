"""Reports of divergences between a program and its recording, without the secrets of either. Pure.

Rule: a report names the call made, the recorded call, and the differences. A replaying program's calls are not
redacted, so parts that a recorder would redact are redacted here. Entered text is removed everywhere. Content that
may contain unmarked secrets (arguments of functions, strings within scripts, bodies) is not shown; only its
location is reported.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any
from urllib.parse import quote, quote_plus

import msgspec

from cdpengine import _json
from cdpengine.debug.recording.fingerprints import Fingerprints, find_redacted_places, value_at
from cdpengine.debug.recording.known_secrets import REDACTED
from cdpengine.debug.recording.redact import Redactor
from cdpengine.debug.recording_format import Header
from cdpengine.debug.replaying.matching import MISSING, Difference, Renaming, Strictness, differences
from cdpengine.debug.replaying.tape import HTTP, Received, RecordedCall
from cdpengine.errors import ReplayDivergedError

_MOST_EXPECTED = 5


class Divergences:
    """Reports of divergences from the recording at `path`. `typed` returns all text that the program typed."""

    def __init__(self, path: str, header: Header, names: Renaming, by: Fingerprints | None) -> None:
        self.typed: Callable[[], Iterable[str]] = tuple
        self._path = path
        self._redacted = header.redacted
        self._names = names
        self._by = by
        self._describer = DifferenceDescriber()

    def learn(self, method: str, message: bytes) -> None:
        """Learn the secrets of a program's call, to keep them out of reports."""
        self._describer.learn(method, message)

    def strictness(self, call: RecordedCall) -> Strictness:
        """Return how redacted strings of a recorded call are compared."""
        return Strictness(self._by, call.places() if self._by is not None else {})

    def one_more(self, method: str, session: str, connections: int) -> ReplayDivergedError:
        """Report a connection beyond the number of recorded ones."""
        reason = f"{connections} connections were recorded, and this is one more"
        return self._error(_where(method, session), reason, None)

    def another_call(
        self,
        method: str,
        session: str,
        params: Any,
        open_here: Mapping[str, Sequence[RecordedCall]],
        calls: Sequence[RecordedCall],
    ) -> ReplayDivergedError:
        """Report a call without a match. `open_here` are the session's unmatched recorded calls."""
        expected = sorted(
            (call for each in open_here.values() for call in each), key=lambda call: call.position
        )
        nearest = next((call for call in expected if call.method == method), None)
        diff: Sequence[str] = ()
        if nearest is not None:
            reason = "it was recorded with other parameters"
            diff = self._diff(nearest, params, calls)
        elif any(call.method == method and call.session == session for call in calls):
            reason = "it was recorded fewer times than it is asked"
            expected = expected or [each for each in calls if each.client_call is None]
        elif not expected:
            reason = "nothing more was recorded there" if open_here else "no such session was recorded"
        else:
            reason = "it was not recorded there"
        return self._error(_where(method, session), reason, nearest, expected, diff)

    def another_over_http(
        self, method: str, params: Any, calls: Sequence[RecordedCall]
    ) -> ReplayDivergedError:
        """Report an HTTP request that was not recorded."""
        over_http = [call for call in calls if call.connection == HTTP]
        expected = [call for call in over_http if call.client_call is None and not call.optional]
        alike = (
            call for call in expected if (call.method, call.params()["path"]) == (method, params["path"])
        )
        nearest = next(alike, None)
        diff: Sequence[str] = ()
        reason = "it was not recorded there" if over_http else "nothing that was asked over HTTP was recorded"
        if nearest is not None:
            reason = f"it was recorded with another URL (line {nearest.line})"
            diff = self._diff(nearest, params, calls)
        return self._error(f"{method} {params['path']} over HTTP", reason, nearest, expected, diff)

    def another_typed(self, method: str, call: RecordedCall) -> ReplayDivergedError:
        """Report typed text with another fingerprint."""
        reason = f"the text typed up to line {call.line} differs from the recorded one (neither is shown)"
        return self._error(method, reason, call)

    def cut(self, item: Received) -> ReplayDivergedError:
        """Report a cut reply."""
        reason = "its reply was cut when it was recorded: record with limit=0"
        return self._report_lacking(item, reason)

    def withheld(self, item: Received) -> ReplayDivergedError:
        """Report a reply without the result or exception of a script."""
        reason = (
            "its result was withheld when it was recorded: record with keep_arguments=True (--keep-arguments)"
        )
        return self._report_lacking(item, reason)

    def _report_lacking(self, item: Received, reason: str) -> ReplayDivergedError:
        return ReplayDivergedError(
            path=self._path, line=item.line, got=item.method, expected=(), reason=reason
        )

    def _error(
        self,
        got: str,
        reason: str,
        nearest: RecordedCall | None,
        expected: Sequence[RecordedCall] = (),
        diff: Sequence[str] = (),
    ) -> ReplayDivergedError:
        self._add_typed()
        line = nearest or (expected[0] if expected else None)
        return ReplayDivergedError(
            path=self._path,
            line=0 if line is None else line.line,
            got=self._describer.hide(got),
            expected=tuple(self._describer.hide(str(call)) for call in expected[:_MOST_EXPECTED]),
            reason=reason,
            diff=tuple(diff),
        )

    def _diff(self, nearest: RecordedCall, params: Any, calls: Sequence[RecordedCall]) -> Sequence[str]:
        self._add_typed()
        if not self._redacted:
            for call in calls:
                message = {"method": call.method, "params": call.raw if bytes(call.raw) else {}}
                self._describer.learn(call.method, _json.encode(message))
        recorded = nearest.params()
        found = differences(nearest.method, recorded, params, self._names.trial(), self.strictness(nearest))
        return self._describer.describe(nearest.method, recorded, params, found)

    def _add_typed(self) -> None:
        for text in self.typed():
            self._describer.add(text)


def _where(method: str, session: str) -> str:
    return f"{method} on session {session[:8]}" if session else method


# --- differences without secrets -----------------------------------------------------------------------------

_SHORTEST = 4
"""Minimum length of entered text that is searched in other strings, in characters. Shorter strings occur
everywhere.
"""

_MOST = 2_000
_LONGEST_VALUE = 90
_CONTEXT = 20

_SCRIPTS = frozenset({"expression", "functionDeclaration", "source", "scriptSource"})
_OPAQUE = frozenset({"body", "message", "postData", "data", "rawResponseHeaders", "binaryValue"})
_LITERAL = re.compile(
    r"/\*.*?\*/|//[^\n]*|'(?:[^'\\\n]|\\.)*'|\"(?:[^\"\\\n]|\\.)*\"|`(?:[^`\\]|\\.)*`", re.DOTALL
)
_UNSHOWN = "(not shown)"


class DifferenceDescriber:
    """Descriptions of differences, without the text entered by the recorded and the replaying program."""

    def __init__(self) -> None:
        self._redactor = Redactor()
        self._secrets: dict[str, None] = {}
        self._knowing: Redactor | None = None

    def learn(self, method: str, message: bytes) -> None:
        """Process a call. Content that a recorder would redact is secret from now on.

        Single keys are not secret. The caller adds the text that they form.
        """
        if method == "Input.dispatchKeyEvent":
            return
        clean = self._redactor.redact(message, method)
        if clean is message:
            return
        try:
            before, after = _json.decode(message), _json.decode(clean)
        except msgspec.DecodeError:
            return  # a message that is not JSON is never shown
        for path, text in find_redacted_places(after):
            whole = value_at(before, path)
            if isinstance(whole, str):
                for secret in _find_withheld(whole, text):
                    self.add(secret)

    def add(self, secret: str) -> None:
        """Add a string that is secret everywhere."""
        if len(secret) >= _SHORTEST and secret not in self._secrets and secret not in REDACTED:
            self._secrets[secret] = None
            self._knowing = None
            if len(self._secrets) > _MOST:
                del self._secrets[next(iter(self._secrets))]

    def hide(self, text: str) -> str:
        """Return a string without secrets."""
        return self._all_known().text(text)

    def describe(
        self, method: str, recorded: Any, requested: Any, differences: Iterable[Difference], most: int = 12
    ) -> list[str]:
        """Return the lines of a diff: "- " recorded, "+ " requested, "~ " not shown."""
        recorded, requested = self._clean(method, recorded), self._clean(method, requested)
        lines: list[str] = []
        for difference in differences:
            if len(lines) >= 2 * most:
                lines.append("  ...")
                break
            lines += self._lines(difference, recorded, requested)
        return lines

    def _lines(self, difference: Difference, recorded: Any, requested: Any) -> list[str]:
        place = self.hide(difference.place)
        if difference.entered:
            return [f"~ the text entered as {place} differs from the recorded one (neither is shown)"]
        old = None if difference.recorded is MISSING else value_at(recorded, difference.path)
        new = None if difference.requested is MISSING else value_at(requested, difference.path)
        if difference.recorded is MISSING:
            return [f"+ {place}: {self.hide(_show(difference, new, None))}"]
        if difference.requested is MISSING:
            return [f"- {place}: {self.hide(_show(difference, old, None))}"]
        texts = self.hide(_show(difference, old, new)), self.hide(_show(difference, new, old))
        if texts[0] == texts[1]:
            return [f"~ {place}: the difference is not shown"]
        return [f"- {place}: {texts[0]}", f"+ {place}: {texts[1]}"]

    def _clean(self, method: str, params: Any) -> Any:
        if not isinstance(params, dict):
            return {}
        message = _json.encode({"method": method, "params": params})
        try:
            return _json.decode(self._all_known().redact(message, method, suspicious=True)).get("params")
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


def _find_withheld(whole: str, clean: str) -> Iterable[str]:
    """Return the redacted parts of a string."""
    pieces = clean.split(REDACTED)
    found = re.fullmatch("(.*?)".join(map(re.escape, pieces)), whole, re.DOTALL)
    return found.groups() if found else (whole,)


def _show(difference: Difference, value: Any, other: Any) -> str:
    names = {step for step in difference.path if isinstance(step, str)}
    if names & _OPAQUE or (names & {"arguments"} and "value" in names) or "params" in names:
        return _UNSHOWN
    if not isinstance(value, str):
        return _shorten(_json.encode(value).decode())
    text = _drop_literals(value, other) if names & _SCRIPTS else value
    if isinstance(other, str) and len(text) > _LONGEST_VALUE:
        # A long string is shown from its first difference.
        against = _drop_literals(other, value) if names & _SCRIPTS else other
        at = next(
            (i for i, (a, b) in enumerate(zip(text, against, strict=False)) if a != b),
            min(len(text), len(against)),
        )
        start = max(0, at - _CONTEXT)
        text = ("..." if start else "") + text[start:]
    return repr(_shorten(text))


def _drop_literals(script: str, other: Any) -> str:
    """Return a script without the string literals that the other script lacks."""
    other_text = other if isinstance(other, str) else ""

    def hide_unless_shared(found: re.Match[str]) -> str:
        literal, quote = found[0], found[0][0]
        return literal if literal in other_text or quote == "/" else f"{quote}{_UNSHOWN}{quote}"

    return _LITERAL.sub(hide_unless_shared, script)


def _shorten(text: str) -> str:
    return text if len(text) <= _LONGEST_VALUE else f"{text[:_LONGEST_VALUE]}..."
