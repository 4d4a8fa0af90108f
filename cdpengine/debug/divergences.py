"""Divergences: what is said when a program leaves a recording. Pure.

Rule: what it asked is named, what was recorded, and where the two differ. Nothing that was entered is in it,
of neither side.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import msgspec

from cdpengine.debug.discretion import Discretion
from cdpengine.debug.entered_texts import Fingerprints
from cdpengine.debug.matching import Strictness, differences
from cdpengine.debug.recording import Header
from cdpengine.debug.renaming import Renaming
from cdpengine.debug.tape import HTTP, Received, RecordedCall
from cdpengine.errors import ReplayDivergedError

_EXPECTED_SHOWN = 5


class Divergences:
    """Says in which way a program left the recording at `path`. `typed` gives all texts that it typed."""

    def __init__(self, path: str, header: Header, names: Renaming, by: Fingerprints | None) -> None:
        self.typed: Callable[[], Iterable[str]] = tuple
        self._path = path
        self._redacted = header.redacted
        self._names = names
        self._by = by
        self._discretion = Discretion()

    def learn(self, method: str, message: bytes) -> None:
        """Take a call of the program: what is secret in it is kept out of what is said."""
        self._discretion.learn(method, message)

    def strictness(self, call: RecordedCall) -> Strictness:
        """Return how the texts of a recorded call are compared that were redacted."""
        return Strictness(self._by, call.places() if self._by is not None else {})

    def one_more(self, method: str, session: str, connections: int) -> ReplayDivergedError:
        """Say that more connections were made than recorded."""
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
        """Say that no recorded call fits. `open_here` are those of the session that were not asked yet."""
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
            expected = expected or [each for each in calls if each.asked is None]
        elif not expected:
            reason = "nothing more was recorded there" if open_here else "no such session was recorded"
        else:
            reason = "it was not recorded there"
        return self._error(_where(method, session), reason, nearest, expected, diff)

    def another_over_http(
        self, method: str, params: Any, calls: Sequence[RecordedCall]
    ) -> ReplayDivergedError:
        """Say that what was asked over HTTP was not recorded."""
        asked = [call for call in calls if call.connection == HTTP]
        expected = [call for call in asked if call.asked is None and not call.optional]
        alike = (
            call for call in expected if (call.method, call.params()["path"]) == (method, params["path"])
        )
        nearest = next(alike, None)
        diff: Sequence[str] = ()
        reason = "it was not recorded there" if asked else "nothing that was asked over HTTP was recorded"
        if nearest is not None:
            reason = f"it was recorded with another URL (line {nearest.line})"
            diff = self._diff(nearest, params, calls)
        return self._error(f"{method} {params['path']} over HTTP", reason, nearest, expected, diff)

    def another_typed(self, method: str, call: RecordedCall) -> ReplayDivergedError:
        """Say that what was typed has another fingerprint."""
        reason = (
            f"another text was typed, up to line {call.line}, than when it was recorded (neither is shown)"
        )
        return self._error(method, reason, call)

    def cut(self, item: Received) -> ReplayDivergedError:
        """Say that a reply is not there."""
        reason = "its reply was cut when it was recorded: record with limit=0"
        return self._lacking(item, reason)

    def withheld(self, item: Received) -> ReplayDivergedError:
        """Say that what a script returned or threw is not in a reply."""
        reason = (
            "its result was withheld when it was recorded: record with keep_arguments=True (--keep-arguments)"
        )
        return self._lacking(item, reason)

    def _lacking(self, item: Received, reason: str) -> ReplayDivergedError:
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
            got=self._discretion.hide(got),
            expected=tuple(self._discretion.hide(str(call)) for call in expected[:_EXPECTED_SHOWN]),
            reason=reason,
            diff=tuple(diff),
        )

    def _diff(self, nearest: RecordedCall, params: Any, calls: Sequence[RecordedCall]) -> Sequence[str]:
        self._add_typed()
        if not self._redacted:
            for call in calls:
                message = {"method": call.method, "params": call.raw if bytes(call.raw) else {}}
                self._discretion.learn(call.method, msgspec.json.encode(message))
        recorded = nearest.params()
        found = differences(nearest.method, recorded, params, self._names.trial(), self.strictness(nearest))
        return self._discretion.describe(nearest.method, recorded, params, found)

    def _add_typed(self) -> None:
        for text in self.typed():
            self._discretion.add(text)


def _where(method: str, session: str) -> str:
    return f"{method} on session {session[:8]}" if session else method
