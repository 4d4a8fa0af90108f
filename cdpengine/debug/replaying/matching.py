"""Matching of calls with recorded calls: their differences, and the renaming of generated names.

Rule: pure. Methods and sessions must be equal. Parameters may differ only in parts that vary between runs and do
not matter to the browser:

- values of VOLATILE, and numbers of LEFT_OF_DEADLINES;
- counted names that the engine puts into pages ("w21", "k5");
- generated names and times (`normalization.py`), each paired with one other name throughout (`Renaming`); but not
  in selectors or in URLs of other machines, where another token means another resource;
- folders, but not names, of files on this machine;
- parts that were redacted or cut in the recording: they match everything, or in strict mode, strings with the same
  fingerprint.

Names are a bijection for the whole session. A pair is learnt from the first call whose parameters are equal except
for generated names. From then on the pair is applied everywhere, including messages to the program. Names that the
browser gave are not renamed, because the program uses the name that it received.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Literal

import attrs
import msgspec

from cdpengine import _json
from cdpengine.debug.normalization import (
    LEFT_OF_DEADLINES,
    UNKNOWN,
    Clock,
    Kind,
    Part,
    find_name,
    name_pattern,
    plays_same_part,
    split_names,
)
from cdpengine.debug.recording.fingerprints import Fingerprints, find_redacted_places, value_at
from cdpengine.debug.recording.known_secrets import REDACTED
from cdpengine.debug.recording.secret_words import SECRET_PARAMETERS
from cdpengine.debug.recording_format import CUT

VOLATILE = frozenset({"objectGroup", "timestamp", "wallTime"})
"""Parameters whose values the client generates: names, times."""

NAMES = frozenset({"worldName", "executionContextName"})
"""Parameters with a name that the client gives to an object."""

NAMES_OF_METHODS = {"Runtime.addBinding": "name", "Runtime.removeBinding": "name"}
"""Methods whose parameter is such a name, where the field has another meaning in other methods."""

EXACT = frozenset({"selector", "query"})
"""Parameters that describe a search. They contain nothing generated."""

FOLDERS = frozenset({"downloadPath"})
FILES = frozenset({"files"})
"""Parameters with paths of this machine. The folder of a file depends on the machine; its name does not."""

_ELSEWHERE = re.compile(
    r"(?:https?|wss?)://(?!(?:127\.0\.0\.1|localhost|\[::1\]|[\w.-]+\.localhost)(?![\w.-]))", re.IGNORECASE
)
_COUNTED = re.compile(r"[wk]\d+")
MISSING: Any = object()
"""Placeholder for a missing value."""

Path = tuple[str | int, ...]


@attrs.frozen
class Strictness:
    """How redacted strings are compared.

    `by` computes fingerprints; without it, redacted strings match everything. `prints` are the recorded
    fingerprints of the call, by the paths of its redacted strings.
    """

    by: Fingerprints | None = None
    prints: Mapping[Path, str] = attrs.field(factory=dict)


LENIENT = Strictness()


@attrs.frozen(eq=False)
class Difference:
    """A difference between a call and the recorded one. MISSING stands for a missing value.

    `entered`: a redacted string has another fingerprint.
    """

    path: Path
    recorded: Any
    requested: Any
    entered: bool = False

    @property
    def place(self) -> str:
        """The path as a string, such as "arguments[2].value"."""
        text = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in self.path)
        return text.removeprefix(".")


def decode_params(raw: bytes | msgspec.Raw) -> Any:
    """Decode parameters to plain values, or to an empty dict without parameters."""
    if not bytes(raw):
        return {}
    try:
        return _json.decode(raw, object)
    except msgspec.DecodeError:
        return bytes(raw)  # not JSON: compare the bytes


def same(recorded: Any, requested: Any) -> bool:
    """Return whether two values are equal except for volatile parts. Redacted parts equal nothing."""
    if isinstance(recorded, dict) and isinstance(requested, dict):
        if recorded.keys() != requested.keys():
            return False
        return all(
            _is_made_up(key, value, requested[key]) or same(value, requested[key])
            for key, value in recorded.items()
        )
    if isinstance(recorded, list) and isinstance(requested, list):
        return len(recorded) == len(requested) and all(map(same, recorded, requested))
    return bool(recorded == requested) and not (isinstance(recorded, str) and REDACTED in recorded)


def fits(
    method: str, recorded: Any, requested: Any, trial: Trial | None = None, strictness: Strictness = LENIENT
) -> bool:
    """Return whether parameters match the recorded ones. `trial` collects the pairs of generated names."""
    return next(differences(method, recorded, requested, trial, strictness), None) is None


def differences(
    method: str, recorded: Any, requested: Any, trial: Trial | None = None, strictness: Strictness = LENIENT
) -> Iterator[Difference]:
    """Yield the differences between parameters and the recorded ones."""
    compared = _Comparison(method, trial or Renaming().trial(), strictness)
    return compared.differences(recorded, requested, (), "text")


def prints_by_place(recorded: Any, prints: tuple[str, ...]) -> dict[Path, str]:
    """Return a call's fingerprints by the paths of its redacted strings, or {} if the numbers differ."""
    places = [path for path, _ in find_redacted_places(recorded)]
    return dict(zip(places, prints, strict=True)) if len(places) == len(prints) else {}


@attrs.frozen(eq=False)
class _Comparison:
    method: str
    trial: Trial
    strictness: Strictness

    def differences(self, recorded: Any, requested: Any, path: Path, role: Role) -> Iterator[Difference]:
        if isinstance(recorded, dict) and CUT in recorded:
            return
        if isinstance(recorded, dict) and isinstance(requested, dict):
            yield from self._compare_objects(recorded, requested, path)
        elif isinstance(recorded, list) and isinstance(requested, list) and len(recorded) == len(requested):
            for index, (old, new) in enumerate(zip(recorded, requested, strict=True)):
                yield from self.differences(old, new, (*path, index), role)
        elif isinstance(recorded, str) and isinstance(requested, str):
            yield from self._compare_strings(recorded, requested, path, role)
        elif recorded != requested and not (
            _is_number(recorded)
            and _is_number(requested)
            and self.trial.clock.plays_same_part(recorded, requested)
        ):
            yield Difference(path, recorded, requested)

    def _compare_objects(
        self, recorded: dict[str, Any], requested: dict[str, Any], path: Path
    ) -> Iterator[Difference]:
        secret = SECRET_PARAMETERS.get(self.method, ())
        for key in [*recorded, *(key for key in requested if key not in recorded)]:
            inner = (*path, key)
            old, new = recorded.get(key, MISSING), requested.get(key, MISSING)
            if _is_made_up(key, old, new):
                continue
            if old is MISSING or new is MISSING:
                yield Difference(inner, old, new)
            elif key in secret and not self._is_compared(old):
                yield from self._compare_prints(old, new, inner)
            elif key in FOLDERS or key in FILES:
                yield from self._compare_paths(old, new, inner, named=key in FILES)
            else:
                yield from self.differences(old, new, inner, self._role(key, old))

    def _is_compared(self, recorded: Any) -> bool:
        """Return whether a secret parameter was recorded unredacted and is compared."""
        return self.strictness.by is not None and recorded not in (REDACTED, 0) and _has_no_secret(recorded)

    def _role(self, key: str, recorded: Any) -> Role:
        if key in NAMES or NAMES_OF_METHODS.get(self.method) == key:
            return "name"
        if key in EXACT or (isinstance(recorded, str) and _ELSEWHERE.match(recorded)):
            return "exact"
        return "text"

    def _compare_strings(self, recorded: str, requested: str, path: Path, role: Role) -> Iterator[Difference]:
        if REDACTED in recorded and (differing := self._compare_print(path, requested)) is not None:
            if differing:
                yield Difference(path, recorded, requested, entered=True)
            return
        if not self.trial.fits(recorded, requested, role):
            yield Difference(path, recorded, requested)

    def _compare_prints(self, recorded: Any, requested: Any, path: Path) -> Iterator[Difference]:
        """Compare a parameter in a secret location only by its fingerprints."""
        for inner, _ in find_redacted_places(recorded):
            value = value_at(requested, inner)
            if inner and _is_made_up(inner[-1], REDACTED, value):
                continue
            if not isinstance(value, str):
                if self.strictness.by is not None:
                    yield Difference((*path, *inner), recorded, requested)
            elif self._compare_print((*path, *inner), value):
                yield Difference((*path, *inner), recorded, requested, entered=True)

    def _compare_print(self, path: Path, requested: str) -> bool | None:
        """Return whether a string has another fingerprint than recorded, or None if unknown."""
        expected = self.strictness.prints.get(path, "")
        if not expected or self.strictness.by is None:
            return None
        return not self.strictness.by.matches_value(requested, expected)

    def _compare_paths(
        self, recorded: Any, requested: Any, path: Path, *, named: bool
    ) -> Iterator[Difference]:
        if isinstance(recorded, list) and isinstance(requested, list) and len(recorded) == len(requested):
            for index, (old, new) in enumerate(zip(recorded, requested, strict=True)):
                yield from self._compare_paths(old, new, (*path, index), named=named)
            return
        if not (isinstance(recorded, str) and isinstance(requested, str)):
            yield from self.differences(recorded, requested, path, "text")
            return
        if recorded == requested:
            return
        (old_folder, old_name), (new_folder, new_name) = _split_path(recorded), _split_path(requested)
        if not named:
            old_folder, new_folder, old_name, new_name = recorded, requested, "", ""
        if not (
            _is_folder(old_folder) and _is_folder(new_folder) and self.trial.fits(old_name, new_name, "name")
        ):
            yield Difference(path, recorded, requested)
        elif old_folder != new_folder:
            self.trial.pair_freely(old_folder, new_folder)


def _is_made_up(key: Any, recorded: Any, requested: Any) -> bool:
    """Return whether two values of a field make no difference to the browser."""
    if key in VOLATILE:
        return True
    if key in LEFT_OF_DEADLINES:
        return _is_number(recorded) and _is_number(requested)
    return key == "id" and _is_counted(requested) and (recorded == REDACTED or _is_counted(recorded))


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _is_counted(value: Any) -> bool:
    return isinstance(value, str) and _COUNTED.fullmatch(value) is not None


def _has_no_secret(value: Any) -> bool:
    return next(find_redacted_places(value), None) is None


def _split_path(path: str) -> tuple[str, str]:
    at = max(path.rfind("/"), path.rfind("\\")) + 1
    return path[:at], path[at:]


def _is_folder(path: str) -> bool:
    return "/" in path or "\\" in path


# --- renaming ------------------------------------------------------------------------------------------------

Role = Literal["text", "name", "exact"]
"""Role of a string: "name" is a name given by a program; "exact" contains nothing generated."""

_OF_BROWSERS: frozenset[Kind] = frozenset({"uuid", "hex", "name"})
"""Kinds of names that browsers and pages also generate."""

_SOURCE_URL = re.compile(r"//[#@] ?source(?:URL|MappingURL)=[^\r\n]*")
"""Comment with the source of a script for debuggers. Usually the path of the program's file."""


class Renaming:
    """The known pairs of names. `is_from_browser` returns whether the browser gave a recorded name."""

    def __init__(
        self, clock: Clock = UNKNOWN, is_from_browser: Callable[[str], bool] = lambda _: False
    ) -> None:
        self.clock = clock
        self._is_from_browser = is_from_browser
        self._requested: dict[str, str] = {}
        self._recorded: dict[str, str] = {}
        self._replace: re.Pattern[bytes] | None = None
        self._replace_text: re.Pattern[str] | None = None
        self._forms: dict[bytes, bytes] = {}
        self._texts: dict[str, str] = {}

    @property
    def names(self) -> dict[str, str]:
        """The program's name for each recorded one."""
        return dict(self._requested)

    def trial(self) -> Trial:
        """Start the comparison of a call with a recorded one."""
        return Trial(self)

    def find_requested(self, recorded: str) -> str | None:
        """Return the program's name for a recorded one, or None."""
        return self._requested.get(recorded)

    def find_recorded(self, requested: str) -> str | None:
        """Return the recorded name for a program's name, or None."""
        return self._recorded.get(requested)

    def may_pair(self, kind: Kind, recorded: str, requested: str) -> bool:
        """Return whether a pair of different names is possible."""
        if not plays_same_part(kind, recorded, requested, self.clock):
            return False
        return kind not in _OF_BROWSERS or not (
            self._is_from_browser(recorded) or self._is_from_browser(requested)
        )

    def learn(self, pairs: dict[str, str]) -> None:
        """Add the pairs of a matched call."""
        for recorded, requested in pairs.items():
            self._requested[recorded] = requested
            self._recorded[requested] = recorded
            if recorded != requested:
                self._forms[_in_json(recorded)] = _in_json(requested)
                self._texts[recorded] = requested
                self._replace = self._replace_text = None

    def rename(self, message: bytes) -> bytes:
        """Return a recorded message with the names of the replaying program."""
        if not self._forms:
            return message
        if not any(form in message for form in self._forms):
            return message
        if self._replace is None:
            self._replace = re.compile(_any_of(form.decode() for form in self._forms).encode())
        return self._replace.sub(lambda found: self._forms[found[0]], message)

    def rename_text(self, text: str) -> str:
        """Return a recorded string with the names of the replaying program."""
        if not any(name in text for name in self._texts):
            return text
        if self._replace_text is None:
            self._replace_text = re.compile(_any_of(self._texts))
        return self._replace_text.sub(lambda found: self._texts[found[0]], text)


class Trial:
    """A comparison of a call with a recorded one. `pairs` are the newly found pairs of names."""

    def __init__(self, renaming: Renaming) -> None:
        self.pairs: dict[str, str] = {}
        self._back: dict[str, str] = {}
        self._renaming = renaming

    @property
    def clock(self) -> Clock:
        """The times of the recording and of the replay."""
        return self._renaming.clock

    def accept(self) -> None:
        """Learn the pairs, because the call matched."""
        if self.pairs:
            self._renaming.learn(self.pairs)

    def fits(self, recorded: str, requested: str, role: Role = "text") -> bool:
        """Return whether a string matches the recorded one, except for generated and redacted parts."""
        if recorded == requested:
            return True
        if role != "exact" and "source" in recorded:
            recorded, requested = (_SOURCE_URL.sub("//# sourceURL", text) for text in (recorded, requested))
            if recorded == requested:
                return True
        parts = list(split_names(recorded, self.clock, a_name=role == "name"))
        if role == "exact":
            parts = [part if part.kind == "port" else Part(part.start, part.end, None) for part in parts]
        if role != "exact" and self._renaming.rename_text(recorded) == requested:
            return True
        before = dict(self.pairs), dict(self._back)
        if REDACTED in recorded:
            fitting = self._fits_pattern(recorded, requested, parts)
        else:
            fitting = self._fits_parts(recorded, requested, parts)
        if not fitting:
            self.pairs, self._back = before
        return fitting

    def pair(self, kind: Kind, recorded: str, requested: str) -> bool:
        """Return whether a name may replace a recorded one. If so, store the pair."""
        known = self._renaming.find_requested(recorded) or self.pairs.get(recorded)
        back = self._renaming.find_recorded(requested) or self._back.get(requested)
        if known is not None or back is not None:
            return known == requested and back == recorded
        if recorded != requested and not self._renaming.may_pair(kind, recorded, requested):
            return False
        if recorded != requested or kind == "port":
            self.pairs[recorded] = requested
            self._back[requested] = recorded
        return True

    def pair_freely(self, recorded: str, requested: str) -> None:
        """Pair a path with a recorded one, unless either is paired. Several folders may become one."""
        if (
            self._renaming.find_requested(recorded) is None
            and self._renaming.find_recorded(requested) is None
        ):
            self.pairs.setdefault(recorded, requested)

    def _fits_parts(self, recorded: str, requested: str, parts: list[Part]) -> bool:
        at = 0
        for part in parts:
            if part.kind is None:
                text = self._renaming.rename_text(recorded[part.start : part.end])
                if not requested.startswith(text, at):
                    return False
                at += len(text)
                continue
            end = find_name(requested, at, part.kind)
            if end < 0 or not self.pair(part.kind, recorded[part.start : part.end], requested[at:end]):
                return False
            at = end
        return at == len(requested)

    def _fits_pattern(self, recorded: str, requested: str, parts: list[Part]) -> bool:
        pieces = []
        names: list[tuple[Kind, str]] = []
        for part in parts:
            text = recorded[part.start : part.end]
            if part.kind is None:
                pieces.append(".*".join(map(re.escape, text.split(REDACTED))))
            else:
                pieces.append(f"({name_pattern(part.kind)})")
                names.append((part.kind, text))
        found = re.fullmatch("".join(pieces), requested, re.DOTALL)
        if found is None:
            return False
        return all(
            self.pair(kind, text, new) for (kind, text), new in zip(names, found.groups(), strict=True)
        )


def _any_of(names: Iterable[str]) -> str:
    """Return a regular expression for all names, the longest first."""
    # A port is a number: "127.0.0.1:80" does not match within "127.0.0.1:8080".
    ends = ((name, r"(?!\d)" if name[-1:].isdigit() else "") for name in sorted(names, key=len, reverse=True))
    return "|".join(re.escape(name) + end for name, end in ends)


def _in_json(name: str) -> bytes:
    return _json.encode_ascii(name)[1:-1].encode()
