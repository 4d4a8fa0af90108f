"""Search: whether one of many words is in a text, fast in long texts. Pure.

Rule: Python's regular expressions try an alternative of words at every letter that one of them begins with, which
in a text are most of them; but they jump to the next place of one given letter. So the words are sorted by the
rarest letter that each holds, and the text is searched once for each such letter, for all words that hold it.
Where that letter is rare in this text, too, `find` jumps to it, which is another twenty times as fast.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence

_RARE = "JQZXVKWYUjzxqBHGFPDNML97684350RTSOCIAE21kpbcguswvyfmdhlr%_noaite-. "
"""Letters of texts and JSON: those before others are rarer, or taken more gladly."""

_RAREST = frozenset("JQZXjzxq")
"""Rare enough that what stands before them may be looked at each time."""

_SHORT = 400
"""Bytes or letters up to which one pattern is faster than one for each rare letter."""

_FAR = 300
"""Bytes between two places of a letter from which on `find` is faster than the pattern."""

_BEGINS = r"(?:(?<![\w.\-]WORD)|(?<=\\[nrtbf]WORD)|(?<=\\u[0-9a-f]{4}WORD))"
"""Before a word that is no end of a longer one: no letter, unless it is one of JSON's escapes."""


class Search:
    """Looks for words, each followed by what its regular expression says ("": anything).

    `whole` are words that must not be the end of a longer one. Letters are compared as they are: who does not care
    for their case gives words and texts in lower case. Bytes are UTF-8.
    """

    def __init__(self, words: Mapping[str, str], whole: Mapping[str, str] | None = None) -> None:
        sorted_by: dict[str, list[str]] = {}
        for table, before in ((words, ""), (whole or {}, _BEGINS)):
            for word, after in table.items():
                at = _anchor(word)
                known = f"(?<={re.escape(word)})" if at else ""
                rest = re.escape(word[at + 1 :]) + known + before.replace("WORD", re.escape(word)) + after
                sorted_by.setdefault(word[at], []).append(rest)
        patterns = {
            letter: f"{re.escape(letter)}(?:{'|'.join(rests)})" for letter, rests in sorted_by.items()
        }
        # With the letter itself, since it is found whether there is one at all much faster than by the pattern.
        self._text = [(letter, re.compile(pattern)) for letter, pattern in patterns.items()]
        self._bytes = [(_utf8(letter), re.compile(_utf8(pattern))) for letter, pattern in patterns.items()]
        self._short_text = re.compile("|".join(patterns.values()) or "(?!)")
        self._short_bytes = re.compile(_utf8(self._short_text.pattern))

    def found(self, text: str | bytes) -> bool:
        """Say whether one of the words is there."""
        if isinstance(text, str):
            if len(text) <= _SHORT:
                return self._short_text.search(text) is not None
            return any(letter in text and pattern.search(text) for letter, pattern in self._text)
        if len(text) <= _SHORT:
            return self._short_bytes.search(text) is not None
        for letter, pattern in self._bytes:
            at = text.find(letter)
            while at >= 0:
                if pattern.match(text, at):
                    return True
                before, at = at, text.find(letter, at + 1)
                if 0 <= at < before + _FAR:
                    if pattern.search(text, at):
                        return True
                    break
        return False

    def parts(self, text: bytes, ends: Sequence[int]) -> Iterator[int]:
        """Give the numbers of the parts of a text in which a word is; `ends` says where each part ends."""
        for letter, pattern in self._bytes:
            match = pattern.search(text) if letter in text else None
            while match:
                part = bisect_right(ends, match.start())
                yield part
                match = pattern.search(text, ends[part])

    def ends(self, text: str) -> Iterator[int]:
        """Give where each of the words ends, what has to follow it included; in no order."""
        for _, pattern in self._text:
            for match in pattern.finditer(text):
                yield match.end()


def _anchor(word: str) -> int:
    """Return where in the word its rarest letter stands."""
    places = [at for at in range(len(word)) if at < len(word) - 1 or word[at] in _RAREST or len(word) == 1]
    return min(places, key=lambda at: _RARE.find(word[at]) if word[at] in _RARE else -1)


def _utf8(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")
