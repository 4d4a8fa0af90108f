"""Names: whether two names of a control say the same, in English and Chinese. Pure.

Rule: a name says what its control does (save, delete, password, ...), of what kind (new, all, not, ...), and to
what: its other words. Two names are related only where they do the same, of the same kind. Another number is
something else ("Order 1" and "Order 2"); so is another word, where what is done is grave ("Delete" and "Delete
account"). A word that is in no table has no meaning here: it is the same or it is not.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import Literal

import attrs

from cdpengine.cache.replaying.vocabulary import CONCEPTS, EMPTY_WORDS, FOR_ONE_OF_MANY, GRAVE, MODIFIERS

Relation = Literal["same", "synonyms", "overlap", "unrelated", "contradiction"]
"""How two names relate: letter by letter the same; other words for the same; one of them says more, and nothing
else; none of their words is known to be the same; or they are known to say different things."""

_COUNTER = re.compile(r"\s*[(\[（【]\s*\d[\d.,+]*\s*[)\]）】]\s*$")
_WORD = re.compile(r"[a-z]+|\d+|[\u3400-\u9fff]+|[^\W\d_a-z\u3400-\u9fff]+")
_CJK = re.compile(r"[\u3400-\u9fff]+")


@attrs.frozen
class Meaning:
    """What a name says: what it does, of which kind, and its other words in order of the alphabet."""

    concepts: frozenset[str]
    modifiers: frozenset[str]
    others: frozenset[str]

    @property
    def all(self) -> frozenset[str]:
        """All of it together."""
        return self.concepts | self.modifiers | self.others

    @property
    def known(self) -> bool:
        """Whether the tables know what it does."""
        return bool(self.concepts)


def _phrases(table: Mapping[str, tuple[str, ...]]) -> dict[tuple[str, ...], str]:
    return {tuple(_pieces(phrase)): concept for concept, phrases in table.items() for phrase in phrases}


def _pieces(text: str) -> list[str]:
    """Return the words of a text in small letters; each Chinese character is one, too."""
    plain = unicodedata.normalize("NFKC", text).casefold()
    pieces: list[str] = []
    for word in _WORD.findall(plain):
        pieces += list(word) if _CJK.fullmatch(word) else [word]
    return pieces


_CONCEPTS = _phrases(CONCEPTS)
_MODIFIERS = _phrases(MODIFIERS)
_EMPTY = {tuple(_pieces(word)) for word in EMPTY_WORDS}
_LONGEST = max(len(phrase) for phrase in [*_CONCEPTS, *_MODIFIERS, *_EMPTY])


@lru_cache(maxsize=4096)
def read_meaning(name: str) -> Meaning:
    """Return what a name says. A number in brackets at its end is a counter, and says nothing."""
    pieces = _pieces(_COUNTER.sub("", name))
    concepts: set[str] = set()
    modifiers: set[str] = set()
    others: set[str] = set()
    empty: set[str] = set()
    place = 0
    while place < len(pieces):
        for length in range(min(_LONGEST, len(pieces) - place), 0, -1):
            phrase = tuple(pieces[place : place + length])
            # Alone, "Confirm" is what is done; beside another word ("Confirm password") it says of which kind.
            alone = length == len(pieces)
            if phrase in _MODIFIERS and not (alone and phrase in _CONCEPTS):
                modifiers.add(_MODIFIERS[phrase])
            elif phrase in _CONCEPTS:
                concepts.add(_CONCEPTS[phrase])
            elif phrase in _EMPTY:
                empty.update(phrase)
            else:
                continue
            place += length
            break
        else:
            others.add(pieces[place])
            place += 1
    if not (concepts or modifiers or others):
        others = empty
    return Meaning(frozenset(concepts), frozenset(modifiers), frozenset(others))


@lru_cache(maxsize=4096)
def relate_names(before: str, now: str) -> Relation:
    """Return how a name of today relates to the one that is known."""
    if collapse(before) == collapse(now):
        return "same"
    one, other = read_meaning(before), read_meaning(now)
    if not one.all or not other.all:
        return "unrelated"  # signs without words, such as an arrow, or no name
    if one == other:
        # Without a word that says what it is, as of "Next" to "To", equal kinds are no meaning.
        return "synonyms" if one.concepts or one.others else "contradiction"
    if one.concepts != other.concepts or one.modifiers != other.modifiers:
        return "contradiction"
    if not one.concepts and not one.others & other.others:
        return "unrelated"
    if not (one.others <= other.others or other.others <= one.others) or _differ_in_number(one, other):
        return "contradiction"
    return "contradiction" if one.concepts & GRAVE else "overlap"


def is_for_one_of_many(name: str) -> bool:
    """Say whether a name says only what is done, and not to which of many things: "Remove", "Add to cart"."""
    meaning = read_meaning(name)
    return not meaning.others and meaning.concepts | meaning.modifiers - {"to", "new"} <= FOR_ONE_OF_MANY


def same_words(before: str, now: str) -> bool:
    """Say whether two texts have the same words, as often: case, blanks and punctuation make no difference."""
    return sorted(_pieces(before)) == sorted(_pieces(now))


def collapse(text: str) -> str:
    """Return a text with its white space collapsed."""
    return " ".join(text.split())


def _differ_in_number(one: Meaning, other: Meaning) -> bool:
    return _numbers(one.others) != _numbers(other.others)


def _numbers(words: Iterable[str]) -> set[str]:
    return {word for word in words if word.isdigit()}
