"""Errors of the action cache: missing values, and files that cannot be read, written or decrypted.

Rule: messages contain the names of variables, never their values.
"""

from __future__ import annotations

from collections.abc import Sequence

import attrs

from cdpengine.errors.root import EngineError
from cdpengine.errors.texts import cut, hide_secrets

_LONGEST_NAMES, _LONGEST_PATH, _LONGEST_REASON, _LONGEST_ORIGINS = 240, 100, 110, 120
_LONGEST_MISS = 240
"""Maximum lengths in messages, in characters."""


@attrs.define(eq=False, slots=False, str=False, repr=False)
class VariablesError(EngineError, LookupError):
    """Variables without a value (`missing`), or given ones that no entry uses (`unused`). Nothing was run.

    For the missing variables in `withheld`, the environment has a value that was not learned on this origin.
    `failures` lists the exceptions of `ask`. With `unused`, `used` are the variables of the most similar entry of
    `scenario`.
    """

    missing: Sequence[str] = ()
    withheld: Sequence[str] = ()
    failures: Sequence[str] = ()
    unused: Sequence[str] = ()
    used: Sequence[str] = ()
    scenario: str = ""

    def _describe(self) -> str:
        parts = [self._describe_missing()] if self.missing else []
        parts += [self._describe_unused()] if self.unused else []
        return "; ".join(parts)

    def _describe_missing(self) -> str:
        names = cut(", ".join(self.missing), _LONGEST_NAMES)
        message = f"variables without a value: {names}. Nothing was run. Pass a value for each"
        if self.failures:
            return f"{message}: {cut(self.failures[0], 110)}"
        if not self.withheld:
            return message
        first = cut(self.withheld[0].upper(), 40)
        return f"{message}, or name this origin in CDPENGINE_ORIGINS_{first} to let the environment's be used here"

    def _describe_unused(self) -> str:
        names = cut(", ".join(self.unused), _LONGEST_NAMES)
        used = cut(", ".join(self.used), _LONGEST_NAMES) or "none"
        return (
            f"the learned {cut(self.scenario, 80)} does not use these variables: {names}. It uses: {used}. "
            "Nothing was run. Leave them out, or learn the flow again with them"
        )


@attrs.define(eq=False, slots=False, str=False, repr=False)
class WrongOriginError(EngineError):
    """The value of the variable `name` would be sent to a document of another origin, `met`. It was not sent.

    `expected` are the origins where its step was learned, which may receive it.
    """

    name: str
    expected: Sequence[str]
    met: str

    def _describe(self) -> str:
        expected = cut(" or ".join(self.expected) or "no origin", _LONGEST_ORIGINS)
        return (
            f"the value of {self.name} is for {expected}, and the document is of "
            f"{cut(hide_secrets(self.met), _LONGEST_PATH)}. It was not entered. To allow it, learn it there, "
            f"or name the origin in CDPENGINE_ORIGINS_{cut(self.name.upper(), 40)}"
        )


@attrs.define(eq=False, slots=False, str=False, repr=False)
class CacheMissError(EngineError, LookupError):
    """The action cache has no entry that can replay `wanted` on this page. Nothing was done.

    `url` is "" if no page matters: `wanted` is then an entry or a version that does not exist.
    """

    wanted: str
    url: str
    reason: str

    def _describe(self) -> str:
        wanted, url = cut(self.wanted, 80), cut(hide_secrets(self.url), 90)
        reason = cut(self.reason, _LONGEST_MISS)  # with the failures of a classifier
        if not url:
            return f"{wanted} is not in the action cache: {reason}"
        return f"nothing to replay for {wanted} on {url}: {reason}. Learn it there first"


@attrs.define(eq=False, slots=False, str=False, repr=False)
class CacheUnavailableError(EngineError):
    """A cache's file could not be opened, read or written (`attempt`). Confirmed entries are kept.

    `needs_key`: the key for encryption or decryption is missing, or does not match the file.
    """

    path: str
    attempt: str
    reason: str
    needs_key: bool = False

    def _describe(self) -> str:
        return f"could not {cut(self.attempt, 40)} {cut(self.path, _LONGEST_PATH)}: {cut(self.reason, 200)}"
