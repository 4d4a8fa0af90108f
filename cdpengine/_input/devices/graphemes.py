"""Text split into what people call characters, so that none is ever cut in two.

Rule: the parts of Unicode's extended grapheme clusters (UAX #29) that matter when typing: combining marks,
variation selectors, emoji joined by ZWJ, skin tones, tag sequences, flags, Hangul syllables, CR LF. Prepended
marks and Indic conjuncts are not joined; they go out in order, one after another, which loses nothing.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator

_ZWJ = "\u200d"
_ZWNJ = "\u200c"
_SKIN_TONES = range(0x1F3FB, 0x1F400)
_TAGS = range(0xE0020, 0xE0080)
_FLAG_LETTERS = range(0x1F1E6, 0x1F200)
# Hangul jamo: leading consonants, vowels, trailing consonants; composed syllables.
_LEADING, _VOWELS, _TRAILING = range(0x1100, 0x1160), range(0x1160, 0x11A8), range(0x11A8, 0x1200)
_SYLLABLES = range(0xAC00, 0xD7A4)


def clusters(text: str) -> Iterator[str]:
    """Yield the grapheme clusters of `text`; joined together they are `text` again."""
    start = 0
    for index in range(1, len(text)):
        if _breaks(text, start, index):
            yield text[start:index]
            start = index
    if text:
        yield text[start:]


def _breaks(text: str, start: int, index: int) -> bool:
    """Tell whether a cluster that began at `start` ends before `index`."""
    before, character = text[index - 1], text[index]
    if before == "\r" and character == "\n":
        return False
    if before in "\r\n\t" or character in "\r\n\t":
        return True
    if _extends(character):
        return False
    if before == _ZWJ:
        # An emoji sequence goes on after the joiner; letters joined for their shape do not.
        return unicodedata.category(character) != "So"
    if ord(character) in _FLAG_LETTERS and ord(before) in _FLAG_LETTERS:
        run = index - start
        return run % 2 == 0
    return not _same_syllable(ord(before), ord(character))


def _extends(character: str) -> bool:
    if character.isascii():
        return False
    point = ord(character)
    return (
        character in (_ZWJ, _ZWNJ)
        or point in _SKIN_TONES
        or point in _TAGS
        or unicodedata.category(character) in ("Mn", "Mc", "Me")
    )


def _same_syllable(before: int, point: int) -> bool:
    if before in _LEADING:
        return point in _LEADING or point in _VOWELS or point in _SYLLABLES
    open_syllable = before in _SYLLABLES and (before - _SYLLABLES.start) % 28 == 0
    if before in _VOWELS or open_syllable:
        return point in _VOWELS or point in _TRAILING
    if before in _TRAILING or before in _SYLLABLES:
        return point in _TRAILING
    return False
