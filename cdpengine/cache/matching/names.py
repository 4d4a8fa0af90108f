"""Names: whether two names of a control mean the same, in English and Chinese. Pure.

Rule: a name contains the function of its control (save, delete, password, ...), qualifiers (new, all, not,
...), and other words, for its object. Two names are related only if function and qualifiers are equal. Another
number means another object ("Order 1" and "Order 2"). So does another word after a critical function ("Delete"
and "Delete account"). Words that are in no table are only compared for equality.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import Literal

import attrs

from cdpengine.cache.matching.vocabulary import CONCEPTS, EMPTY_WORDS, FOR_ONE_OF_MANY, GRAVE, MODIFIERS

Relation = Literal["same", "synonyms", "overlap", "unrelated", "contradiction"]
"""Relation of two names: equal; synonyms; one is more specific than the other; without a known common word; or
with different known meanings.
"""

_COUNTER = re.compile(r"\s*[(\[（【]\s*\d[\d.,+]*\s*[)\]）】]\s*$")
_WORD = re.compile(r"[a-z]+|\d+|[\u3400-\u9fff]+|[^\W\d_a-z\u3400-\u9fff]+")
_CJK = re.compile(r"[\u3400-\u9fff]+")


@attrs.frozen
class Meaning:
    """The meaning of a name: its function, its qualifiers, and its other words in alphabetical order."""

    concepts: frozenset[str]
    modifiers: frozenset[str]
    others: frozenset[str]

    @property
    def all(self) -> frozenset[str]:
        """All parts of the meaning in one set."""
        return self.concepts | self.modifiers | self.others

    @property
    def known(self) -> bool:
        """Whether the tables contain the function."""
        return bool(self.concepts)


def _phrases(table: Mapping[str, tuple[str, ...]]) -> dict[tuple[str, ...], str]:
    return {tuple(_pieces(phrase)): concept for concept, phrases in table.items() for phrase in phrases}


def _pieces(text: str) -> list[str]:
    """Return the words of a string in lower case; each Chinese character is a word, too."""
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
    """Return the meaning of a name. A number in brackets at its end is a counter and is ignored."""
    pieces = _pieces(_COUNTER.sub("", name))
    concepts: set[str] = set()
    modifiers: set[str] = set()
    others: set[str] = set()
    empty: set[str] = set()
    place = 0
    while place < len(pieces):
        for length in range(min(_LONGEST, len(pieces) - place), 0, -1):
            phrase = tuple(pieces[place : place + length])
            # Alone, "Confirm" is a function; with another word ("Confirm password") it is a qualifier.
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
    """Return the relation of a current name to the known one."""
    if collapse(before) == collapse(now):
        return "same"
    one, other = read_meaning(before), read_meaning(now)
    if not one.all or not other.all:
        return "unrelated"  # signs without words, such as an arrow, or no name
    if one == other:
        # Without a known function, as in "Next" and "To", equal qualifiers have no meaning.
        return "synonyms" if one.concepts or one.others else "contradiction"
    if one.concepts != other.concepts or one.modifiers != other.modifiers:
        return "contradiction"
    if not one.concepts and not one.others & other.others:
        return "unrelated"
    if not (one.others <= other.others or other.others <= one.others) or _differ_in_number(one, other):
        return "contradiction"
    return "contradiction" if one.concepts & GRAVE else "overlap"


def is_for_one_of_many(name: str) -> bool:
    """Return whether a name has a function without an object: "Remove", "Add to cart"."""
    meaning = read_meaning(name)
    return not meaning.others and meaning.concepts | meaning.modifiers - {"to", "new"} <= FOR_ONE_OF_MANY


def same_words(before: str, now: str) -> bool:
    """Return whether two strings have the same words, equally often, ignoring case, whitespace and punctuation."""
    return sorted(_pieces(before)) == sorted(_pieces(now))


def collapse(text: str) -> str:
    """Return a string with its whitespace collapsed."""
    return " ".join(text.split())


def _differ_in_number(one: Meaning, other: Meaning) -> bool:
    return _numbers(one.others) != _numbers(other.others)


def _numbers(words: Iterable[str]) -> set[str]:
    return {word for word in words if word.isdigit()}
