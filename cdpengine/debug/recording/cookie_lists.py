"""Fast removal of cookie values from messages with lists of cookies, without decoding them. Pure.

Rule: a message is processed here only if each value follows its cookie's name, as Chrome writes it, and nothing
else in it may be a secret. All other messages are decoded elsewhere. Most lists repeat, so the parts of a list are
checked once and cached until a new secret becomes known.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from cdpengine.debug.recording.known_secrets import REDACTED, KnownSecrets
from cdpengine.debug.recording.secret_words import BETWEEN, IN_COOKIES, Search

_COOKIE = re.compile(rb'("name":"[\w.\-]{0,80}","value":")([^"\\]+)(?=")')
_NUMBER = re.compile(rb'\{"id":\d+,')
_VALUE = b'"value":"'
_REDACTED = REDACTED.encode()
_LONGEST = 1_000  # maximum average size of a cookie in cached lists, in bytes
_MOST = 4_000


class CookieLists:
    """The lists of cookies of one recording.

    `looks_secret` returns whether lower-case bytes may contain a secret, according to a search.
    """

    def __init__(self, known: KnownSecrets, looks_secret: Callable[[bytes, Search], bool]) -> None:
        self._known = known
        self._looks_secret = looks_secret
        self._version = 0  # version of the known secrets for the following caches
        self._values: set[bytes] = set()  # known cookie values
        self._harmless: set[bytes] = set()  # parts around values, without secrets

    def drop_values(self, message: bytes, *, entered: bool) -> bytes | None:
        """Return the message without its values, and remember the values. Without values, return the same object.

        `entered`: the program gives the values to the browser. Returns None if a value has another form or the
        message may contain other secrets.
        """
        if not entered and (quick := self._drop_known(message)) is not None:
            return quick
        pieces = _COOKIE.split(message)  # before, name, value, between, name, value, ...
        values = pieces[2::3]
        remember = self._known.add_entered if entered else self._known.add_observed
        try:
            for value in values:
                remember(value.decode())
        except UnicodeDecodeError:
            return None
        pieces[2::3] = [_REDACTED] * len(values)
        between, together = BETWEEN.join(pieces[::3]).lower(), BETWEEN.join(pieces)
        if self._looks_secret(between, IN_COOKIES) or b"eyJ" in together or self._known.is_in(together):
            return None
        if not entered:
            self._keep(message)
        return b"".join(pieces) if values else message

    def _drop_known(self, message: bytes) -> bytes | None:
        """Do the work of `drop_values` from the cache alone. Return None if a part is not cached."""
        if self._version != self._known.version:
            return None
        head, *rest = message.split(_VALUE)
        begin = _NUMBER.match(head)
        if begin is None or head[begin.end() :] not in self._harmless:
            return None
        clean = [head]
        for each in rest:
            value, quote, behind = each.partition(b'"')
            if value not in self._values or behind not in self._harmless:
                return None
            clean += (_VALUE, _REDACTED if value else value, quote, behind)
        return b"".join(clean) if rest else message

    def _keep(self, message: bytes) -> None:
        """Cache the parts of a list that has no other secrets: all its values are known or empty."""
        if self._version != self._known.version or len(self._harmless) + len(self._values) > _MOST:
            self._version = self._known.version
            self._values.clear()
            self._harmless.clear()
        head, *rest = message.split(_VALUE)
        begin = _NUMBER.match(head)
        if begin is None or len(message) > _LONGEST * (1 + len(rest)):
            return
        self._harmless.add(head[begin.end() :])
        for each in rest:
            value, _, behind = each.partition(b'"')
            self._values.add(value)
            self._harmless.add(behind)
