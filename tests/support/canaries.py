"""Canaries: secrets made up for one run, and a search for them in any encoding. Pure.

Rule: a canary has runs of letters and digits, separated by every character that some encoding changes. Most
encodings keep a run unchanged. The search looks for the first and last eight characters of each run: plain,
in the encodings that change letters, and inside compressed, encoded or split data. A leak is reported under
the canary's name: the way by which the secret entered.
"""

from __future__ import annotations

import base64
import binascii
import gzip
import html
import json
import random
import re
import string
import zlib
from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property, lru_cache
from itertools import accumulate
from typing import Literal
from urllib.parse import quote, quote_plus

import ahocorasick_rs
import attrs
import zstandard

Style = Literal["text", "typed", "cookie", "token", "file", "short", "long"]

WINDOW = 8
"""Characters of a canary that count as a leak. A shorter match could be a coincidence."""

_RUN = 12
_LONG = 5_000
_LONG_STEP = 20  # of the runs of a long canary, search for every n-th

_BETWEEN: Mapping[str, str] = {
    "text": ' &"<%+é🦊',
    "typed": ' &"<%+',  # on every keyboard: each character is one key event
    "cookie": "%+&<=/",
    "token": "-._~",
    "file": " &%+é",
}


@attrs.frozen
class Canary:
    """One secret: `text`, entered by the way `name`."""

    name: str
    text: str = attrs.field(repr=False)

    @cached_property
    def windows(self) -> tuple[str, ...]:
        """The pieces that reveal it: the first and last characters of each run."""
        runs = [run for run in re.findall(r"[A-Za-z0-9]+", self.text) if len(run) >= WINDOW]
        if len(runs) > 2 * _LONG_STEP:
            runs = [*runs[::_LONG_STEP], runs[-1]]
        return tuple(dict.fromkeys(piece for run in runs for piece in (run[:WINDOW], run[-WINDOW:])))

    @cached_property
    def halves(self) -> tuple[str, str]:
        """Two pieces, each long enough to be a secret. The cut splits no window."""
        at = len(self.text) // 2
        return self.text[:at], self.text[at:]


class Canaries:
    """The canaries of one run, created on first use. The same seed gives the same canaries."""

    def __init__(self, seed: int | None = None) -> None:
        self._random = random.Random(seed)
        self.all: dict[str, Canary] = {}

    def make(self, name: str, style: Style = "text") -> Canary:
        """Return the canary of a way in. The first call creates it."""
        if name not in self.all:
            self.all[name] = Canary(name, self._text(style))
        return self.all[name]

    def _text(self, style: Style) -> str:
        if style == "short":
            return self._run(WINDOW)
        if style == "long":
            text = self._run(_RUN)
            while len(text) < _LONG - 2 * _RUN - 10:
                text += _BETWEEN["text"] + self._run(_RUN)
            return text + _BETWEEN["text"] + self._run(_LONG - len(text) - len(_BETWEEN["text"]))
        return self._run(_RUN) + _BETWEEN[style] + self._run(_RUN)

    def _run(self, length: int) -> str:
        """Return letters and digits that occur in no word, number or id."""
        kinds = (string.ascii_uppercase, string.ascii_lowercase, string.digits)
        return "".join(self._random.choice(kinds[(index * 2) % 3]) for index in range(length))


@attrs.frozen(order=True)
class Leak:
    """One canary that was found: its way in, its place (as exact as the line allows) and its form."""

    name: str
    where: str
    form: str

    def __str__(self) -> str:
        return f"{self.name} -> {self.where} -> {self.form}"


# --- forms -----------------------------------------------------------------------------------------------------


def _base64_cores(raw: bytes) -> Iterator[bytes]:
    """Return the invariant part of the base64 of these bytes, for each offset in a longer text."""
    for offset in range(3):
        encoded = base64.b64encode(b"\0" * offset + raw)
        first = -(-offset * 8 // 6)
        last = (offset + len(raw)) * 8 // 6
        yield encoded[first:last]


def _spelled(text: str, each: Callable[[int], str], between: str = "") -> bytes:
    return between.join(each(ord(letter)) for letter in text).encode()


def _forms(window: str) -> Iterator[tuple[bytes, str]]:
    """Yield each encoding of a run of letters and digits, with the encoding's name."""
    plain = window.encode()
    yield plain, "plain"
    wide = {"UTF-16LE": window.encode("utf-16-le"), "UTF-16BE": window.encode("utf-16-be")}
    for core in _base64_cores(plain):
        yield core, "base64"
        for twice in _base64_cores(core):
            yield twice, "base64 twice"
        yield _spelled(core.decode(), lambda code: f"{code:02x}"), "hex of base64"
    for name, raw in wide.items():
        # The zero byte at the end of the last character (or before the first) may belong to a neighbour.
        inner = raw[:-1] if name == "UTF-16LE" else raw[1:]
        yield inner, name
        for core in _base64_cores(raw):
            yield core, f"base64 of {name}"
        yield inner.hex().encode(), f"hex of {name}"
        yield inner.hex().upper().encode(), f"hex of {name}"
    for zero in (r"\u0000", r"\\u0000", r"\x00", "%00", r"\0", "\\\\\\\\u0000"):
        yield zero.join(window).encode(), f"UTF-16 with {zero}"
    yield plain.hex().encode(), "hex"
    yield plain.hex().upper().encode(), "hex"
    yield plain.hex(" ").encode(), "hex"
    for case in ("x", "X"):
        yield _spelled(window, lambda code, case=case: f"%{code:02{case}}"), "percent"  # type: ignore[misc]
        yield _spelled(window, lambda code, case=case: f"%25{code:02{case}}"), "percent twice"  # type: ignore[misc]
        yield _spelled(window, lambda code, case=case: rf"\u{code:04{case}}"), "JSON escapes"  # type: ignore[misc]
        yield _spelled(window, lambda code, case=case: rf"\\u{code:04{case}}"), "JSON escapes twice"  # type: ignore[misc]
        yield _spelled(window, lambda code, case=case: rf"\x{code:02{case}}"), "x escapes"  # type: ignore[misc]
        yield _spelled(window, lambda code, case=case: f"&#x{code:{case}};"), "HTML"  # type: ignore[misc]
    yield _spelled(window, lambda code: f"&#{code};"), "HTML"
    for between in (",", ", ", " "):
        yield _spelled(window, str, between), "numbers"
    yield window[::-1].encode(), "reversed"


@lru_cache(1_000)
def whole_forms(text: str) -> dict[str, bytes]:
    """Return the encodings of a whole canary by name, to report the form in which it was found."""
    once = json.dumps(text)[1:-1]
    plain_once = json.dumps(text, ensure_ascii=False)[1:-1]
    forms = {
        "plain": text.encode(),
        "JSON": plain_once.encode(),
        "JSON, ASCII": once.encode(),
        "JSON twice": json.dumps(plain_once, ensure_ascii=False)[1:-1].encode(),
        "JSON twice, ASCII": json.dumps(once)[1:-1].encode(),
        "URL-encoded": quote(text, safe="").encode(),
        "URL-encoded, lower case": re.sub(
            r"%..", lambda found: found[0].lower(), quote(text, safe="")
        ).encode(),
        "URL-encoded, + for blanks": quote_plus(text).encode(),
        "HTML": html.escape(text).encode(),
    }
    return {name: raw for name, raw in forms.items() if name == "plain" or raw != text.encode()}


# --- finding ---------------------------------------------------------------------------------------------------

_GZIP, _ZSTANDARD = b"\x1f\x8b\x08", b"\x28\xb5\x2f\xfd"
_ZLIB = (b"\x78\x01", b"\x78\x5e", b"\x78\x9c", b"\x78\xda")
_RUN_OF_BASE64 = re.compile(rb"(?:[A-Za-z0-9+/_-]|\\/|%2[BbFf]){16,}(?:=|%3[Dd]){0,2}")
_DEPTH = 3
_PLACES = 8

_METHOD = re.compile(rb"\b([A-Z][A-Za-z]+\.[a-z][A-Za-z]+)\b")
_KIND = re.compile(rb'"k":"([a-z-]+)"')
_OWN_METHOD = re.compile(rb'"m":"([\w.]+)"')
_KEY = re.compile(rb'\\*"([A-Za-z_][\w-]*)\\*"\s*:')
_CONTEXT = 600
_SHORT_LINE = 3_000
_PAIR = re.compile(rb'"(\w+)"\s*:\s*(?:"((?:[^"\\]|\\.)*)"|(\d{1,5})\b)')
_CHUNK = re.compile(rb'"(data|chunk|text|body|payloadData|value)"\s*:\s*"((?:[^"\\]|\\.)*)"')
_TYPE = re.compile(rb'"type"\s*:\s*"(\w+)"')


class Finder:
    """Searches written data for canaries. Construction is slow: create one for all outputs of a run."""

    def __init__(self, canaries: Iterable[Canary]) -> None:
        self._canaries = list(canaries)
        patterns: dict[bytes, tuple[Canary, str]] = {}
        for canary in self._canaries:
            for window in canary.windows:
                for raw, form in _forms(window):
                    patterns.setdefault(raw, (canary, form))
        self._meant = list(patterns.values())
        self._search = ahocorasick_rs.BytesAhoCorasick(list(patterns))
        shouted: dict[bytes, Canary] = {}
        for canary in self._canaries:
            for window in canary.windows:
                shouted.setdefault(window.upper().encode(), canary)
        self._shouted = list(shouted.values())
        self._search_shouted = ahocorasick_rs.BytesAhoCorasick(list(shouted))

    def find(self, data: bytes) -> set[Leak]:
        """Return all canaries in these bytes, each once per place and form."""
        leaks: set[Leak] = set()
        self._look(data, leaks, "", _DEPTH)
        for where, pieces, codes in _streams(_unpacked(data)):
            leaks |= {Leak(canary.name, where, "in pieces") for canary in self._crossing(pieces)}
            leaks |= {
                Leak(self._shouted[index].name, where, "in pieces, as key codes")
                for index, _, _ in self._search_shouted.find_matches_as_indexes(codes)
            }
        return leaks

    def names(self, data: bytes) -> set[str]:
        """Return the names of the canaries in the data."""
        return {leak.name for leak in self.find(data)}

    def missing(self, data: bytes, names: set[str]) -> set[str]:
        """Return the names whose canaries are absent from the data.

        Fast if all are present, because it needs no places.
        """
        plain = _unpacked(data)
        left = names - {
            self._meant[index][0].name for index, _, _ in self._search.find_matches_as_indexes(plain)
        }
        if left:
            for _, pieces, _ in _streams(plain):
                left -= {canary.name for canary in self._crossing(pieces)}
        return left - self.names(data) if left else left

    def _look(self, data: bytes, leaks: set[Leak], packed: str, depth: int) -> None:
        data = _unpacked(data)
        found = self._search.find_matches_as_indexes(data)
        lines = _Lines(data) if found else None
        seen: Counter[tuple[str, str, str]] = Counter()
        for index, start, _ in found:
            assert lines is not None
            canary, form = self._meant[index]
            # One line can hold a canary a thousand times. Places are counted by the method of their line.
            place = canary.name, form, lines.head(start)
            seen[place] += 1
            if seen[place] <= _PLACES:
                form = _whole_form(data, start, canary.text) if form == "plain" else form
                leaks.add(Leak(canary.name, lines.where(start), f"{form}{packed}"))
        if depth == 0:
            return
        inner = bytearray()
        for run in _RUN_OF_BASE64.findall(data):
            decoded = _decoded(run)
            if decoded.startswith((_GZIP, _ZSTANDARD, *_ZLIB)):
                self._look(decoded, leaks, f"{packed} in base64, packed", depth - 1)
            elif decoded:
                inner += decoded + b"\0\n"
        # Runs at a wrong offset decode to noise, and their base64 forms find them. Correctly decoded runs can
        # hold more layers.
        known = {leak.name for leak in leaks}
        if inner:
            deeper: set[Leak] = set()
            self._look(bytes(inner), deeper, f"{packed} in base64", 0 if depth == 1 else depth - 2)
            leaks |= {leak for leak in deeper if leak.name not in known}

    def _crossing(self, pieces: Sequence[bytes]) -> Iterator[Canary]:
        """Yield canaries that no single piece contains but adjacent pieces do together."""
        joined = b"".join(pieces)
        found = self._search.find_matches_as_indexes(joined)
        ends = list(accumulate(map(len, pieces))) if found else []
        for index, start, end in found:
            if bisect_right(ends, start) != bisect_right(ends, end - 1):
                yield self._meant[index][0]


class _Lines:
    """Describes the line of a position in a file, in words that are stable between runs."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._starts = [0, *(match.end() for match in re.finditer(rb"\n", data))]
        self._heads: dict[int, str] = {}

    def head(self, offset: int) -> str:
        """Return the kind and the method of the line at a position."""
        number = bisect_right(self._starts, offset) - 1
        if number not in self._heads:
            start = self._starts[number]
            head = self._data[start : start + _CONTEXT]
            kind = _KIND.search(head)
            if head.startswith(b'{"t":') and kind:
                method = _OWN_METHOD.search(head)
                self._heads[number] = f"{kind[1].decode()} {method[1].decode() if method else ''}".strip()
            else:
                method = _METHOD.search(head)
                self._heads[number] = method[1].decode() if method else ""
        return self._heads[number]

    def where(self, offset: int) -> str:
        """Return the same, and the nearest field name before the position."""
        start = self._starts[bisect_right(self._starts, offset) - 1]
        keys = _KEY.findall(self._data, max(start, offset - _CONTEXT), offset)
        key = f".{keys[-1].decode()}" if keys else ""
        return f"{self.head(offset)}{key}" or "text"


def _whole_form(data: bytes, start: int, text: str) -> str:
    for name, raw in whole_forms(text).items():
        at = data.find(raw, max(0, start - len(raw)), start + len(raw))
        if 0 <= at <= start:
            return name
    return "a part"


def _unpacked(data: bytes) -> bytes:
    if data.startswith(_GZIP):
        try:
            return gzip.decompress(data)
        except (OSError, EOFError, zlib.error):
            return data
    if data.startswith(_ZSTANDARD):
        try:
            return zstandard.ZstdDecompressor().stream_reader(data, read_across_frames=True).read()
        except zstandard.ZstdError:
            return data
    if data.startswith(_ZLIB):
        try:
            return zlib.decompressobj().decompress(data)
        except zlib.error:
            return data
    return data


def _decoded(run: bytes) -> bytes:
    run = run.replace(b"\\/", b"/").replace(b"-", b"+").replace(b"_", b"/")
    if b"%" in run:
        run = re.sub(rb"%2[Bb]", b"+", re.sub(rb"%2[Ff]", b"/", re.sub(rb"%3[Dd]", b"=", run)))
    run = run.rstrip(b"=")
    run = run[: len(run) - 1] if len(run) % 4 == 1 else run
    try:
        return base64.b64decode(run + b"=" * (-len(run) % 4))
    except binascii.Error:
        return b""


def _streams(data: bytes) -> Iterator[tuple[str, list[bytes], bytes]]:
    """Yield the fragmented contents of the lines: the successive values of each field of each method.

    This covers text typed key by key or in two parts, and streams that arrive in chunks. Values are yielded
    raw and decoded from base64. Numbers are treated as key codes.
    """
    texts: dict[str, list[bytes]] = {}
    numbers: dict[str, list[bytes]] = {}
    for line in data.split(b"\n"):
        named = _OWN_METHOD.search(line[:_CONTEXT]) or _METHOD.search(line[:_CONTEXT])
        if named is None:
            continue
        method = named[1].decode()
        if len(line) > _SHORT_LINE:
            for key, text in _CHUNK.findall(line):
                texts.setdefault(f"{method}.{key.decode()}", []).append(text)
            continue
        typed = _TYPE.search(line, line.find(b'"params"') if b'"params"' in line else 0)
        kind = f" ({typed[1].decode()})" if typed else ""
        for key, text, number in _PAIR.findall(line):
            name = f"{method}.{key.decode()}{kind}"
            if number:
                if 32 <= int(number) < 127:
                    numbers.setdefault(name, []).append(bytes([int(number)]))
            elif key not in (b"sessionId", b"s", b"c", b"T", b"requestId", b"frameId", b"loaderId"):
                texts.setdefault(name, []).append(text)
    for name, pieces in texts.items():
        if len(pieces) < 2:
            continue
        codes = b""
        if all(len(piece) <= len(b"Digit0") for piece in pieces[:20]):
            codes = b"".join(piece[-1:] for piece in pieces if re.fullmatch(rb"Key[A-Z]|Digit\d", piece))
        plain = [_unescaped(piece) for piece in pieces]
        yield name, plain, codes
        yield f"{name}, base64", [_decoded(piece) for piece in pieces if _RUN_OF_BASE64.fullmatch(piece)], b""
    for name, pieces in numbers.items():
        yield name, pieces, b"".join(pieces)


def _unescaped(piece: bytes) -> bytes:
    if b"\\" not in piece:
        return piece
    try:
        return str(json.loads(b'"' + piece + b'"')).encode("utf-8", "surrogatepass")
    except ValueError:
        return piece


def report(leaks: Mapping[str, Iterable[Leak]]) -> str:
    """Return the leaks of several outputs as text: by way in, then by output, with places and forms."""
    ways: dict[str, dict[str, set[str]]] = {}
    for output, found in leaks.items():
        for leak in found:
            ways.setdefault(leak.name, {}).setdefault(output, set()).add(f"{leak.where} ({leak.form})")
    lines = []
    for name, outputs in sorted(ways.items()):
        lines.append(name)
        for output, places in sorted(outputs.items()):
            lines.append(f"    -> {output}")
            lines += [f"        {place}" for place in sorted(places)]
    return "\n".join(lines)
