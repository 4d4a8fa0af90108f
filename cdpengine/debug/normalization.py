"""Normalization of messages and strings: removing the parts that differ between runs. Pure.

Rule: normalization replaces ids, times and ports with "<id>", "<time>" and "<port>", and removes the fractions
that mark the engine's input. Everything else is kept. Two runs of one program have equal normalized messages;
programs with different requests do not.

Two generated names play the same part if they have the same position and kind, and at least one looks generated:
randomly, from the clock, or by the system (a port, a temporary folder). The surrounding characters must be equal.
Words, counts and names chosen by people are never generated names.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator
from functools import partial
from typing import Literal

import attrs
import msgspec

from cdpengine import _json

LONGEST = 2_000
"""Maximum length of a normalized payload, in characters. Differences beyond it are ignored."""

ID, TIME, PORT = "<id>", "<time>", "<port>"

TIMES = frozenset({
    "timestamp", "wallTime", "monotonicTime", "time", "requestTime", "responseTime", "startTime", "endTime",
    "currentTime", "baseTime", "virtualTimeTicksBase",
})  # fmt: skip
"""Fields whose numbers are times."""

LEFT_OF_DEADLINES = frozenset({"timeout", "milliseconds", "patience", "await"})
"""Fields whose numbers are the engine's remaining time until a deadline."""

_ID_NAME = re.compile(r"(?:^id|I[dD]s?|^uuid|^guid|^pid|^stream|^handle)$")
_PLAIN_NUMBERS = frozenset({"windowId"})
_COORDINATES = frozenset({"x", "y"})
_MARKS = frozenset(range(1, 32))
"""Fractions that mark the engine's input, by session, in 256ths of a CSS pixel."""

_COUNTER = re.compile(r"(?<=-)\d+$")
"""Client-side counter at the end of an object group's name."""

_IDS_AND_PORTS: tuple[tuple[re.Pattern[str], str], ...] = (
    (re.compile(r"\b[0-9A-Fa-f]{32}\b"), ID),
    (re.compile(r"\b[0-9A-Fa-f]{8}(?:-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}\b"), ID),
    (re.compile(r"-?\b\d{6,}\.\d+\.\d+\b"), ID),  # a remote object's: isolate.context.number
    (re.compile(r"((?:127\.0\.0\.1|localhost|\[::1\]):)\d{2,5}\b"), rf"\1{PORT}"),
)

_encode: Callable[[object], bytes] = partial(_json.encode, sort_keys=True)


def normalize_payload(payload: bytes | memoryview) -> str:
    """Normalize a payload (JSON, or empty). Keys are sorted."""
    if not payload:
        return "{}"
    try:
        loaded = _json.decode(payload)
    except msgspec.DecodeError:
        return "<no JSON>"
    return _encode(_normalize(loaded, "")).decode()[:LONGEST]


def normalize_text(text: str) -> str:
    """Return a string without its ids and ports."""
    for pattern, replacement in _IDS_AND_PORTS:
        text = pattern.sub(replacement, text)
    return text


def _normalize(value: object, name: str) -> object:
    if isinstance(value, dict):
        return {str(key): _normalize(item, str(key)) for key, item in value.items()}
    if isinstance(value, list):
        return [_normalize(item, name) for item in value]
    if isinstance(value, bool) or value is None:
        return value
    if _ID_NAME.search(name) and name not in _PLAIN_NUMBERS:
        return ID
    if name in _COORDINATES and isinstance(value, float) and (value * 256) % 256 in _MARKS:
        return math.floor(value)
    if isinstance(value, int | float):
        timed = name in TIMES or name in LEFT_OF_DEADLINES
        return TIME if timed else value
    if name == "objectGroup":
        return _COUNTER.sub(ID, str(value))
    return normalize_text(str(value))


# --- generated names -----------------------------------------------------------------------------------------

Kind = Literal["port", "uuid", "hex", "time", "folder", "name"]
"""Kinds of generated names.

A port of this machine; a UUID; 16 or more lower-case hexadecimal digits (Chrome's ids are upper-case); the clock
in seconds, milliseconds or microseconds; a temporary folder; a part of a name.
"""

_DAY = 86_400.0
_PORT = r"(?:127\.0\.0\.1|localhost|\[::1\]):\d{1,5}(?!\d)"
_UUID = (
    r"(?<![0-9A-Za-z])(?:[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|[0-9A-F]{8}(?:-[0-9A-F]{4}){3}-[0-9A-F]{12})"
    r"(?![0-9A-Za-z])"
)
_HEX = r"(?<![0-9A-Za-z])[0-9a-f]{16,128}(?![0-9A-Za-z])"
_TIME = r"(?<![\w.\-])\d{10}(?:\d{3}){0,2}(?!\w)"
_ROOT = (
    r"(?:/var/folders/[^/\s]+/[^/\s]+/T|/private/tmp|/var/tmp|/tmp|[A-Za-z]:[^:\s\"'<>|]*?[/\\]+Temp)[/\\]+"
)
_ONE = r"[^/\\\s\"'`?#&;,)]+"
_FOLDER = rf"(?<![\w.]){_ROOT}(?:pytest-of-{_ONE}[/\\]+pytest-\d+|{_ONE})"
_NAME = r"[0-9A-Za-z]{6,}"
_MILLISECONDS = re.compile(r"(?<!\w)1\d{12}(?!\w)")  # since 1970, from 2001 to 2033

_OF: dict[Kind, re.Pattern[str]] = {
    "port": re.compile(_PORT),
    "uuid": re.compile(_UUID),
    "hex": re.compile(_HEX),
    "time": re.compile(_TIME),
    "folder": re.compile(_FOLDER),
    "name": re.compile(_NAME),
}
_IN_TEXT = re.compile(
    f"(?P<port>{_PORT})|(?P<uuid>{_UUID})|(?P<folder>{_FOLDER})|(?P<hex>{_HEX})|(?P<time>{_TIME})"
)
_IN_NAME = re.compile(f"{_IN_TEXT.pattern}|(?P<name>{_NAME})")

_FOLDER_PARTS = re.compile(rf"(?P<root>{_ROOT})(?P<name>.*)", re.DOTALL)
_OF_PYTEST = re.compile(r"pytest-of-.*[/\\]pytest-\d+", re.DOTALL)
_ENDS_STEM = re.compile(r"(?:^|[^0-9A-Za-z]|tmp)$")
_WORD = re.compile(r"\w+", re.ASCII)
_NUMBERED = re.compile(r"(.*?)[0-9]{8,}", re.DOTALL)  # Go and Java append a random number
_ENDING = re.compile(r"\.[0-9A-Za-z]{1,8}$")
_OF_PYTHON = re.compile(r"tmp[a-z0-9_]{8}")
_PIECES = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+|_")
_RARE = re.compile(r"[jqxz]|[bcdfghjklmnpqrstvwxz]{4}|[aeiouy]{4}", re.IGNORECASE)


@attrs.frozen
class Clock:
    """Times of a recording and of its replay, in seconds since 1970; None if unknown."""

    recorded: float | None = None
    now: float | None = None

    def plays_same_part(self, recorded: float, requested: float) -> bool:
        """Return whether each number is the time of its own run, in one of the usual units."""
        for unit in (1.0, 1e3, 1e6):
            if _near(recorded / unit, self.recorded) and _near(requested / unit, self.now):
                return True
        return False

    def was_recorded_then(self, number: float) -> bool:
        """Return whether a number is close to the time of the recording, in seconds, ms or microseconds."""
        return any(_near(number / unit, self.recorded) for unit in (1.0, 1e3, 1e6))


UNKNOWN = Clock()


@attrs.frozen
class Part:
    """A part of a string: its start, end and kind (None: a part that must be equal)."""

    start: int
    end: int
    kind: Kind | None


def split_names(text: str, clock: Clock = UNKNOWN, *, a_name: bool = False) -> Iterator[Part]:
    """Yield the parts of a string in order: generated names, and the parts between them.

    `a_name`: the string is a name given by a program, such as that of an isolated world. Shorter parts of a name
    can be generated too.
    """
    done = 0
    for found in (_IN_NAME if a_name else _IN_TEXT).finditer(text):
        kind: Kind = found.lastgroup  # type: ignore[assignment] # each alternative is a group
        if kind == "time" and not clock.was_recorded_then(float(found[0])):
            continue
        start, end = found.span()
        if start > done:
            yield Part(done, start, None)
        yield Part(start, end, kind)
        done = end
    if done < len(text) or not text:
        yield Part(done, len(text), None)


def find_name(text: str, at: int, kind: Kind) -> int:
    """Return the end of a name of that kind that begins at `at`, or -1."""
    found = _OF[kind].match(text, at)
    return found.end() if found else -1


def name_pattern(kind: Kind) -> str:
    """Return the regular expression for a kind of names."""
    return _OF[kind].pattern


def plays_same_part(kind: Kind, recorded: str, requested: str, clock: Clock = UNKNOWN) -> bool:
    """Return whether two different names of a kind can be the same name in two runs."""
    match kind:
        case "port":
            return recorded.rpartition(":")[0] == requested.rpartition(":")[0]
        case "uuid":
            return True
        case "hex":
            if len(recorded) != len(requested):
                return False
            if recorded.isdigit() and requested.isdigit():
                return clock.plays_same_part(float(recorded), float(requested))
            return True
        case "time":
            return len(recorded) == len(requested) and clock.plays_same_part(
                float(recorded), float(requested)
            )
        case "folder":
            return _folders_play_same_part(recorded, requested)
        case "name":
            return (
                _unlike(recorded, requested)
                and max(count_oddities(recorded), count_oddities(requested)) >= _ODD_NAME
            )


def drop_names(text: str) -> str:
    """Replace the generated names in a string by placeholders. A string that is a single name is kept."""
    parts = list(split_names(text))
    if len(parts) == 1 and parts[0].kind is not None:
        return text
    pieces = []
    for part in parts:
        piece = text[part.start : part.end]
        if part.kind is None or piece.isdigit():
            pieces.append(_MILLISECONDS.sub("\0time\0", piece))
        else:
            pieces.append(f"\0{part.kind}\0")
    return "".join(pieces)


def count_oddities(word: str) -> int:
    """Count the parts of a word that look random. Words that people write and join have few or none."""
    pieces = _PIECES.findall(word)
    if pieces and pieces[-1].isdigit():
        pieces.pop()  # people number their names
    short = sum(len(piece) < _SHORTEST_WORD for piece in pieces)
    return short + sum(map(str.isdigit, pieces)) + len(_RARE.findall(word))


def _folders_play_same_part(recorded: str, requested: str) -> bool:
    old, new = _FOLDER_PARTS.fullmatch(recorded), _FOLDER_PARTS.fullmatch(requested)
    if old is None or new is None:
        return False
    names = old["name"], new["name"]
    ending = _ENDING.search(names[0])
    if ending is not None and names[1].endswith(ending[0]):  # a temporary file
        names = names[0][: ending.start()], names[1][: -len(ending[0])]
    for form in (_OF_PYTEST, _OF_PYTHON):
        if all(form.fullmatch(name) for name in names):
            return True
    for length in _CHANCES:
        stem, other = names[0][:-length], names[1][:-length]
        if stem == other and len(names[0]) == len(names[1]) > 0 and _ENDS_STEM.search(stem):
            chances = names[0][-length:], names[1][-length:]
            if all(map(_WORD.fullmatch, chances)) and _unlike(*chances) and any(map(count_oddities, chances)):
                return True
    numbers = [_NUMBERED.fullmatch(name) for name in names]
    return numbers[0] is not None and numbers[1] is not None and numbers[0][1] == numbers[1][1]


_CHANCES = (6, 8, 10, 12)
"""Possible lengths of the random end of a temporary folder's name: 6 by Node.js and C, 8 by Python."""

_SHORTEST_WORD = 3
_ODD_NAME = 2  # a short word ("myWorld") makes one


def _unlike(first: str, second: str) -> bool:
    """Return whether two words agree in no more positions than expected by chance."""
    alike = sum(a == b for a, b in zip(first, second, strict=False))
    return alike * 3 <= min(len(first), len(second))


def _near(seconds: float, time: float | None) -> bool:
    return time is not None and abs(seconds - time) <= _DAY
