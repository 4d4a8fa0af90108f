"""Known secrets, found in every encoding in which they may be written. Pure.

Rule: a secret is searched in its plain form and as encoded by JSON, URLs, HTML, base64 (three alignments),
hexadecimal digits and UTF-16. Entered and seen secrets have separate pools, so that a page with many cookies
cannot displace a password.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from math import ceil
from urllib.parse import quote

import attrs
from ahocorasick_rs import BytesAhoCorasick, MatchKind

from cdpengine import _json
from cdpengine.debug.recording.written_forms import (
    URLS,
    by_number,
    escape_in_html,
    in_base64,
    in_json,
    in_url,
    lower_hexadecimal,
    utf8,
    wide_digits,
)

REDACTED = "[redacted]"
_REDACTED = REDACTED.encode()

LONG_ENOUGH = 6
"""Minimum length for searching a secret in other messages, in characters. Shorter strings occur everywhere."""

_LONGEST = 100_000
"""Maximum length of a stored secret, in characters."""

_PIECE = 512
"""Number of characters of a long string that are searched together."""

_ONE_LINE = 60
_WORD = re.compile(r"\b\w{2,}")
_MOST_ENTERED = 256
_MOST_OBSERVED = 256
_MOST_FRESH = 8
"""Maximum number of new secrets searched separately before the index is rebuilt."""

_ENOUGH = 8
"""Length of a beginning that identifies an entered string, in characters."""

_HEAD = 32
"""Searched prefix of a form that must match completely, in bytes. Longer prefixes are slow to compile."""

_LEAST_EDGE = 4
"""Minimum part of a secret removed at the edge between two pieces of a stream, in bytes."""

LEAST_BEGUN = 3
"""Minimum beginning of a secret that is removed in a stream known from its start, in bytes."""


@attrs.frozen
class _Form:
    """One encoding of a secret.

    The first `head` bytes are searched. For a `whole` form, the rest must follow.
    """

    written: bytes
    head: int
    whole: bool = False


def _automaton(needles: Sequence[bytes]) -> BytesAhoCorasick:
    return BytesAhoCorasick(needles, matchkind=MatchKind.Standard)


@attrs.frozen
class _SameHead:
    """Forms with a common head: those that match by a beginning, and those that must match completely."""

    beginnings: list[bytes]
    wholes: list[bytes]
    longest: int

    @classmethod
    def of(cls, forms: Iterable[_Form]) -> _SameHead:
        """Create the group from forms with one head."""
        beginnings = sorted({form.written for form in forms if not form.whole})
        wholes = sorted({form.written for form in forms if form.whole}, key=len, reverse=True)
        return cls(beginnings, wholes, max(map(len, beginnings), default=0))

    def reach(self, data: bytes, start: int) -> int:
        """Return the number of bytes from `start` that match a form whose head is there, or 0.

        In a sorted list the best match is next to the insertion point. Therefore strings of equal lines, or of one
        repeated letter, cost no more than others.
        """
        reached = 0
        if self.beginnings:
            piece = data[start : start + self.longest]
            place = bisect_left(self.beginnings, piece)
            reached = max(common(piece, near) for near in self.beginnings[max(0, place - 1) : place + 1])
        for whole in self.wholes:  # the longest first
            if len(whole) <= reached:
                break
            if data.startswith(whole, start):
                return len(whole)
        return reached


class _Index:
    """An index of secrets' forms by their heads."""

    def __init__(self, forms: Iterable[_Form]) -> None:
        by_head: dict[bytes, list[_Form]] = {}
        for form in forms:
            by_head.setdefault(form.written[: form.head], []).append(form)
        self._forms = list(by_head.values())
        self._sorted: dict[int, _SameHead] = {}  # created for found heads only
        self._automaton = _automaton(list(by_head))

    def is_in(self, data: bytes) -> bool:
        return any(True for _ in self.places(data))

    def places(self, data: bytes) -> Iterator[tuple[int, int]]:
        """Yield the positions of secrets or of their beginnings."""
        for number, start, _ in self._automaton.find_matches_as_indexes(data, overlapping=True):
            forms = self._sorted.get(number)
            if forms is None:
                forms = self._sorted[number] = _SameHead.of(self._forms[number])
            if reached := forms.reach(data, start):
                yield start, start + reached


def common(one: bytes, other: bytes) -> int:
    """Return the length of the common prefix."""
    same, most = 0, min(len(one), len(other))
    while same < most:
        middle = (same + most + 1) // 2
        if one[:middle] == other[:middle]:
            same = middle
        else:
            most = middle - 1
    return same


class _Edges:
    """All forms of secrets by their first and last bytes. `longest` is the maximum length."""

    def __init__(self, written: Iterable[bytes]) -> None:
        heads: dict[bytes, list[bytes]] = {}
        tails: dict[bytes, list[bytes]] = {}
        self.longest = 0
        for form in written:
            if len(form) > _LEAST_EDGE:
                heads.setdefault(form[:_LEAST_EDGE], []).append(form)
                tails.setdefault(form[-_LEAST_EDGE:], []).append(form)
                self.longest = max(self.longest, len(form))
        self.by_head, self.by_tail = list(heads.values()), list(tails.values())
        self.sorted = sorted(set().union(*self.by_head))
        self.shortest = {form[:size] for form in self.sorted for size in range(1, _LEAST_EDGE)}
        self.heads = _automaton(list(heads)) if heads else None
        self.tails = _automaton(list(tails)) if tails else None


class KnownSecrets:
    """A store of secrets that finds and replaces them. `version` counts its additions.

    `given` secrets stay forever. The oldest `entered` and `observed` secrets are removed when a pool is full. A
    beginning of 8 characters identifies an entered secret, because pages see strings grow and truncate them.
    """

    def __init__(self, given: Iterable[str] = ()) -> None:
        self.given = tuple(secret for secret in given if secret)
        self.version = 0
        self._entered: dict[str, None] = {}
        self._observed: dict[str, None] = {}
        self._short: dict[str, None] = {}
        self._fresh: list[str] = []
        self._stale = bool(self.given)
        self._settled: _Index | None = None
        self._newest: _Index | None = None
        self._known_edges: tuple[int, _Edges] | None = None

    @property
    def secrets(self) -> tuple[str, ...]:
        """All known secrets."""
        return (*self.given, *self._entered, *self._observed)

    def add_entered(self, text: str) -> None:
        """Add a string that was entered as a whole: typed, filled or set."""
        if 0 < len(text.strip()) < LONG_ENOUGH:
            self._short[text] = None
            if len(self._short) > _MOST_ENTERED:
                del self._short[next(iter(self._short))]
        for part in _split_entered(text):
            if part not in self.given:
                self._keep(part, self._entered, _MOST_ENTERED)

    def is_short(self, text: str) -> bool:
        """Return whether a string was entered that is too short to be searched in other messages."""
        return text in self._short

    def add_typed(self, before: str, text: str) -> None:
        """Add a string that is being typed. It replaces its previous state."""
        if any(known.startswith(text) for known in self._entered):
            return  # found by its beginning
        self._short.pop(before, None)
        for part in _split_entered(before):
            self._entered.pop(part, None)  # a remaining index entry is harmless
            if part in self._fresh:
                self._fresh.remove(part)
        self.add_entered(text)

    def add_observed(self, text: str) -> None:
        """Add a string found in a secret field. For a list such as "a=1; b=2", add each value as well."""
        for part in _split_observed(text) if len(text) <= _LONGEST else ():
            if part not in self.given and part not in self._entered:
                self._keep(part, self._observed, _MOST_OBSERVED)

    def add_token(self, text: str) -> None:
        """Add the value of a secret parameter or field, as a whole."""
        if LONG_ENOUGH <= len(text) <= _LONGEST and text not in self.given and text not in self._entered:
            self._keep(text, self._observed, _MOST_OBSERVED)

    def _keep(self, part: str, pool: dict[str, None], most: int) -> None:
        if pool.pop(part, "new") == "new":
            self.version += 1
            if len(self._fresh) < max(_MOST_FRESH, len(self.secrets) // 4):
                self._fresh.append(part)
                self._newest = None
            else:
                self._stale = True
        pool[part] = None
        if len(pool) > most:
            del pool[next(iter(pool))]

    # --- looking ---------------------------------------------------------------------------------------------

    def is_in(self, text: str | bytes) -> bool:
        """Return whether a string or bytes contain a secret."""
        indexes = self._indexes()
        if not indexes:
            return False
        data = text if isinstance(text, bytes) else utf8(text)
        return any(index.is_in(data) for index in indexes)

    def parts(self, data: bytes, ends: Sequence[int]) -> Iterator[int]:
        """Yield the numbers of the parts that contain a secret. `ends` has the end of each part."""
        for index in self._indexes():
            for start, _ in index.places(data):
                yield bisect_right(ends, start)

    def replace(self, text: str) -> str:
        """Return a string without secrets."""
        if not self._indexes():
            return text
        data = utf8(text)
        clean = self.replace_bytes(data)
        return text if clean is data else clean.decode("utf-8", "surrogatepass")

    def replace_bytes(self, data: bytes) -> bytes:
        """Return bytes without secrets; the same object if there are none."""
        places = sorted(place for index in self._indexes() for place in index.places(data))
        if not places:
            return data
        pieces: list[bytes] = []
        done = 0
        for start, end in places:
            end = _whole_letter(data, end)
            if start >= done:
                pieces += [data[done:start], _REDACTED]
            done = max(done, end)  # overlapping matches are removed as one
        return b"".join((*pieces, data[done:]))

    def replace_edges(self, data: bytes) -> bytes:
        """Remove a possible beginning of a secret at the end of a piece, and an end at its beginning."""
        edges = self._edges()
        end = start = 0
        if edges.heads is not None:
            first = max(0, len(data) - edges.longest + 1)
            for number, at, _ in edges.heads.find_matches_as_indexes(data[first:], overlapping=True):
                begun = data[first + at :]
                if any(len(begun) < len(each) and each.startswith(begun) for each in edges.by_head[number]):
                    end = max(end, len(begun))
        if edges.tails is not None:
            for number, _, until in edges.tails.find_matches_as_indexes(
                data[: edges.longest], overlapping=True
            ):
                if any(until < len(each) and each.endswith(data[:until]) for each in edges.by_tail[number]):
                    start = max(start, until)
        if not start and not end:
            return data
        if start + end >= len(data):
            return _REDACTED
        inner = data[start : len(data) - end]
        return (_REDACTED if start else b"") + inner + (_REDACTED if end else b"")

    def begun(self, data: bytes) -> int:
        """Return the longest possible beginning of a secret at the end of the data, in bytes."""
        edges = self._edges()
        if edges.heads is None:
            return 0
        last = data[max(0, len(data) - edges.longest + 1) :]
        for _, at, _ in edges.heads.find_matches_as_indexes(last, overlapping=True):
            place = bisect_right(edges.sorted, last[at:])
            if place < len(edges.sorted) and edges.sorted[place].startswith(last[at:]):
                return len(last) - at
        ends = (size for size in range(_LEAST_EDGE - 1, 0, -1) if last[-size:] in edges.shortest)
        return min(len(last), next(ends, 0))

    def reach_over(self, before: bytes, data: bytes) -> int:
        """Return the length of the data's beginning that completes secrets begun in `before`."""
        joined = before + data[: self._edges().longest]
        ends = (
            _whole_letter(joined, end)
            for index in self._indexes()
            for start, end in index.places(joined)
            if start < len(before) < end
        )
        return max(ends, default=len(before)) - len(before)

    def _edges(self) -> _Edges:
        if self._known_edges is None or self._known_edges[0] != self.version:
            written = {form.written for secret in self.secrets for form in forms_of(secret)}
            self._known_edges = self.version, _Edges(written)
        return self._known_edges[1]

    def _indexes(self) -> list[_Index]:
        if self._stale:
            self._stale = False
            self._fresh.clear()
            self._newest = None
            self._settled = self._index_of(self.secrets)
        if self._fresh and self._newest is None:
            self._newest = self._index_of(self._fresh)
        return [each for each in (self._settled, self._newest) if each is not None]

    def _index_of(self, secrets: Iterable[str]) -> _Index | None:
        forms: list[_Form] = []
        for secret in secrets:
            if secret in self._entered:
                forms += forms_of(secret)
            else:
                written = (form.written for form in forms_of(secret))
                forms += [_Form(each, min(len(each), _HEAD), whole=True) for each in written]
        return _Index(forms) if forms else None


def _whole_letter(data: bytes, end: int) -> int:
    """Return the end of the UTF-8 character that `end` may be within."""
    while end < len(data) and data[end] & 0xC0 == 0x80:
        end += 1
    return end


# --- the stored parts of a secret --------------------------------------------------------------------------------


_LINE_END = re.compile("\r\n|\r|\n")


def _split_entered(text: str) -> set[str]:
    parts = {text, text.strip()}
    if "\n" in text or "\r" in text:  # pages show lines separately, and line breaks vary
        lines = _LINE_END.split(text)
        parts |= {"\r\n".join(lines), "\n".join(lines), *map(str.strip, lines)}
    return {part[:_LONGEST] for part in parts if len(part.strip()) >= LONG_ENOUGH and part != REDACTED}


_LISTED = re.compile(r"[\w!#$%&'*.^`|~+\-]+=[^;\s]*(?:[;\s]+[\w!#$%&'*.^`|~+\-]+(?:=[^;]*)?)*;?")
"""A list of values, as in cookie headers."""


@lru_cache(500)
def _split_observed(secret: str) -> frozenset[str]:
    parts = {secret}
    if _LISTED.fullmatch(secret):
        parts |= {part.partition("=")[2] for part in re.split(r"[;\s]+", secret)}
    return frozenset(part for part in parts if len(part.strip()) >= LONG_ENOUGH and part != REDACTED)


# --- forms -------------------------------------------------------------------------------------------------------


@lru_cache(1_000)
def forms_of(secret: str) -> frozenset[_Form]:
    """Return the UTF-8 forms of a string, and the part of each form that identifies it."""
    rest, secret = secret, secret[:_PIECE]
    data = utf8(secret)
    texts = {secret, *escape_in_html(secret)}
    urls = {in_url(write, secret) for write in URLS}
    texts |= urls | {lower_hexadecimal(url) for url in urls} | {quote(url, safe="") for url in urls}
    wide: tuple[bytes, ...] = ()
    if len(secret) >= LONG_ENOUGH:  # shorter ones would match by chance
        wide = (secret.encode("utf-16-le", "surrogatepass"), secret.encode("utf-16-be", "surrogatepass"))
        for each in (data, *wide):
            once = in_base64(each)
            texts |= {each.decode("latin-1"), *once}
        texts |= {twice for each in in_base64(data) for twice in in_base64(each.encode())}
        texts |= {data.hex(), data.hex().upper(), *by_number(secret), *wide_digits(secret)}
    escaped = {form for text in texts for form in in_json(text)}
    again = {form for text in in_json(secret) for form in in_json(text)}
    for _ in range(2):  # JSON within JSON that a script returned
        again |= {_json.encode_text(text)[1:-1] for text in again}
    again |= {form for each in wide for text in in_json(each.decode("latin-1")) for form in in_json(text)}
    written = {*map(utf8, texts | escaped | again), *wide}
    share = min(1.0, _ENOUGH / max(1, len(secret)))
    forms = {_Form(form, min(len(form), max(_ENOUGH, ceil(len(form) * share)))) for form in written}
    return frozenset(forms | set(_from_words_on(rest)))


def _from_words_on(secret: str) -> Iterator[_Form]:
    """Yield the rest of a long string from each of its words on, because pages break it into lines."""
    if len(secret) > _ONE_LINE:
        for start in _places_to_begin(secret):
            rest = secret[start : start + _PIECE]
            spelled = {rest, _json.encode_ascii(rest)[1:-1], _json.encode_text(rest)[1:-1]}
            for form in spelled | wide_digits(rest):
                written = utf8(form)
                yield _Form(written, min(len(written), _ENOUGH))


def _places_to_begin(secret: str) -> Iterator[int]:
    """Yield the start of each word, and positions within words longer than the searched part."""
    for word in _WORD.finditer(secret):
        yield from range(word.start(), word.end(), _PIECE // 2)
