"""CookieLists: takes the values out of lists of cookies by their bytes, without decoding the message. Pure.

Rule: a message is taken apart only where every value follows its cookie's name, as Chrome writes them, and only
when nothing else in it may be a secret. Any other message is left to those who decode it. Lists come again and
again: what a list is made of is looked through once, and remembered until something new is known to be secret.
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
_LONGEST = 1_000  # bytes of a cookie, on the average, up to which a list is remembered
_MOST = 4_000


class CookieLists:
    """The lists of cookies of one recording.

    `looks_secret` says whether bytes, in lower case, look as if they held a secret, by what a search looks for.
    """

    def __init__(self, known: KnownSecrets, looks_secret: Callable[[bytes, Search], bool]) -> None:
        self._known = known
        self._looks_secret = looks_secret
        self._version = 0  # of what is known, at which the following was found
        self._values: set[bytes] = set()  # those that are remembered as seen
        self._harmless: set[bytes] = set()  # what stands before, between and behind values, without a secret

    def drop_values(self, message: bytes, *, entered: bool) -> bytes | None:
        """Return the message without its values, and remember these; the same object where there are none.

        `entered`: the program gives the values to the browser. None where a value is written otherwise, or where
        there may be other secrets.
        """
        if not entered and (quick := self._drop_known(message)) is not None:
            return quick
        pieces = _COOKIE.split(message)  # what is before, name, value, what is between, name, value, ...
        values = pieces[2::3]
        remember = self._known.add_entered if entered else self._known.add_seen
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
        """Do as `drop_values` where all that the list is made of is known; None where it is not."""
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
        """Remember what a list without other secrets is made of: all its values were found, or are empty."""
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
