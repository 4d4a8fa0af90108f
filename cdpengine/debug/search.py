"""Search: whether one of many words is in a text, fast in long texts. Pure.

Rule: an automaton for all words at once (Aho and Corasick's, which finds words this short with vector
instructions, some gigabytes a second) says where one may be; a regular expression then looks at that place
only. Python's own regular expressions try an alternative of words at every letter that one of them begins
with, which in a text are most of them: they take some twenty-five times as long.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from operator import itemgetter

from ahocorasick_rs import BytesAhoCorasick, MatchKind

_BEGINS = r"(?:(?<![\w.\-])|(?<=\\[nrtbf])|(?<=\\u[0-9a-f]{4}))"
"""Before a word that is no end of a longer one: no letter, unless it is one of JSON's escapes."""


class Search:
    """Looks for words, each followed by what its regular expression says ("": anything).

    `whole` are words that must not be the end of a longer one. `common` says, of words that are in most texts, by
    which letters what follows them can begin: the others are not looked at. Letters are compared as they are: who
    does not care for their case gives words and texts in lower case. Bytes are UTF-8.
    """

    def __init__(
        self,
        words: Mapping[str, str],
        whole: Mapping[str, str] | None = None,
        common: Mapping[str, str] | None = None,
    ) -> None:
        listed = [(word, "", after) for word, after in words.items()]
        listed += [(word, _BEGINS, after) for word, after in (whole or {}).items()]
        self._anywhere = not any(before or after for _, before, after in listed)
        # What follows is looked at first: it is there more rarely than what stands before.
        patterns = [
            f"(?={re.escape(word)}{after}){before}{re.escape(word)}{after}" for word, before, after in listed
        ]
        self._text = [re.compile(pattern) for pattern in patterns]
        self._bytes = [re.compile(_utf8(pattern)) for pattern in patterns]
        found = [
            (number, _utf8(word + letter))
            for number, (word, _, _) in enumerate(listed)
            for letter in (common or {}).get(word, ("",))
        ]
        self._found = [(number, _within(place, found)) for place, (number, _) in enumerate(found)]
        self._automaton = BytesAhoCorasick(
            [spelled for _, spelled in found], matchkind=MatchKind.LeftmostLongest
        )

    def found(self, text: str | bytes) -> bool:
        """Say whether one of the words is there."""
        if isinstance(text, str):
            return any(True for _ in self.ends(text))
        if self._anywhere:
            return bool(self._automaton.find_matches_as_indexes(text))
        return any(self._bytes[word].match(text, start) for word, start in self._places(text))

    def parts(self, text: bytes, ends: Sequence[int]) -> Iterator[int]:
        """Give the numbers of the parts of a text in which a word is; `ends` says where each part ends.

        What ends a part must be in no word, and in nothing that may follow one.
        """
        done = 0
        for word, start in self._places(text):
            if start >= done and self._bytes[word].match(text, start):
                part = bisect_right(ends, start)
                yield part
                done = ends[part]

    def ends(self, text: str) -> Iterator[int]:
        """Give where each of the words ends, what has to follow it included; in no order."""
        data = _utf8(text)
        seen, letters = 0, 0
        for word, start in sorted(self._places(data), key=itemgetter(1)):
            letters += start - seen if len(data) == len(text) else _letters(data[seen:start])
            seen = start
            if match := self._text[word].match(text, letters):
                yield match.end()

    def _places(self, data: bytes) -> Iterator[tuple[int, int]]:
        """Give each word that is there, by its number, and where it begins; whatever stands around it."""
        for place, start, _ in self._automaton.find_matches_as_indexes(data):
            word, within = self._found[place]
            yield word, start
            # The automaton goes on behind what it has found: those that begin within it are looked for here.
            for other, spelled, offset in within:
                if data.startswith(spelled, start + offset):
                    yield other, start + offset


def _within(place: int, found: Sequence[tuple[int, bytes]]) -> list[tuple[int, bytes, int]]:
    """Return what else may begin within what is found, and at which of its bytes."""
    _, word = found[place]
    return [
        (number, other, offset)
        for offset in range(len(word))
        for at, (number, other) in enumerate(found)
        if (offset or at != place) and (other.startswith(word[offset:]) or word.startswith(other, offset))
    ]


def _letters(data: bytes) -> int:
    return len(data.decode("utf-8", "surrogatepass"))


def _utf8(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")
