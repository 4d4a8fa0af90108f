"""Renaming: which generated name of a recording is which one of the program that replays it. Pure.

Rule: a bijection for the whole session. A pair is learnt from the first call whose parameters are equal but for
generated names; from there on the recorded name stands for the asked one everywhere, also in what is sent to the
program. A name that the browser gave is not renamed: a program that got it asks for that very one.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable
from typing import Literal

from cdpengine.debug.normalization import (
    UNKNOWN,
    Clock,
    Kind,
    Part,
    find_name,
    name_pattern,
    plays_same_part,
    split_names,
)
from cdpengine.debug.recording.known_secrets import REDACTED

Role = Literal["text", "name", "exact"]
"""What a text is: "name" one that a program gives, "exact" one in which nothing is generated."""

_OF_BROWSERS: frozenset[Kind] = frozenset({"uuid", "hex", "name"})
"""Kinds of names that a browser, or a page in it, gives too."""

_SOURCE_URL = re.compile(r"//[#@] ?source(?:URL|MappingURL)=[^\r\n]*")
"""Where a script comes from, for those who debug it: the path of the program's own file, mostly."""


class Renaming:
    """The names that are known so far. `given` says of a recorded name whether the browser gave it."""

    def __init__(self, clock: Clock = UNKNOWN, given: Callable[[str], bool] = lambda _: False) -> None:
        self.clock = clock
        self._given = given
        self._asked: dict[str, str] = {}
        self._recorded: dict[str, str] = {}
        self._replace: re.Pattern[bytes] | None = None
        self._replace_text: re.Pattern[str] | None = None
        self._forms: dict[bytes, bytes] = {}
        self._texts: dict[str, str] = {}

    @property
    def names(self) -> dict[str, str]:
        """The asked name of each recorded one."""
        return dict(self._asked)

    def trial(self) -> Trial:
        """Begin to compare one call with a recorded one."""
        return Trial(self)

    def asked(self, recorded: str) -> str | None:
        """Return the name that stands for a recorded one, None where none is known."""
        return self._asked.get(recorded)

    def recorded(self, asked: str) -> str | None:
        """Return the recorded name that an asked one stands for, None where none is known."""
        return self._recorded.get(asked)

    def may_pair(self, kind: Kind, recorded: str, asked: str) -> bool:
        """Say whether a pair of different names could be learnt."""
        if not plays_same_part(kind, recorded, asked, self.clock):
            return False
        return kind not in _OF_BROWSERS or not (self._given(recorded) or self._given(asked))

    def learn(self, pairs: dict[str, str]) -> None:
        """Take the pairs of a call that was found to be the recorded one."""
        for recorded, asked in pairs.items():
            self._asked[recorded] = asked
            self._recorded[asked] = recorded
            if recorded != asked:
                self._forms[_in_json(recorded)] = _in_json(asked)
                self._texts[recorded] = asked
                self._replace = self._replace_text = None

    def rename(self, message: bytes) -> bytes:
        """Return a recorded message with the names of the program that replays it."""
        if not self._forms:
            return message
        if not any(form in message for form in self._forms):
            return message
        if self._replace is None:
            self._replace = re.compile(_any_of(form.decode() for form in self._forms).encode())
        return self._replace.sub(lambda found: self._forms[found[0]], message)

    def rename_text(self, text: str) -> str:
        """Return a recorded text with the names of the program that replays it."""
        if not any(name in text for name in self._texts):
            return text
        if self._replace_text is None:
            self._replace_text = re.compile(_any_of(self._texts))
        return self._replace_text.sub(lambda found: self._texts[found[0]], text)


class Trial:
    """A comparison of one call with a recorded one: `pairs` is what it would add to the names that are known."""

    def __init__(self, renaming: Renaming) -> None:
        self.pairs: dict[str, str] = {}
        self._back: dict[str, str] = {}
        self._renaming = renaming

    @property
    def clock(self) -> Clock:
        """When the recording was made, and when it is replayed."""
        return self._renaming.clock

    def accept(self) -> None:
        """Learn the pairs: the call was found to be the recorded one."""
        if self.pairs:
            self._renaming.learn(self.pairs)

    def fits(self, recorded: str, asked: str, role: Role = "text") -> bool:
        """Say whether a text is the recorded one but for generated names, and what was redacted."""
        if recorded == asked:
            return True
        if role != "exact" and "source" in recorded:
            recorded, asked = (_SOURCE_URL.sub("//# sourceURL", text) for text in (recorded, asked))
            if recorded == asked:
                return True
        parts = list(split_names(recorded, self.clock, a_name=role == "name"))
        if role == "exact":
            parts = [part if part.kind == "port" else Part(part.start, part.end, None) for part in parts]
        if role != "exact" and self._renaming.rename_text(recorded) == asked:
            return True
        before = dict(self.pairs), dict(self._back)
        if REDACTED in recorded:
            fitting = self._fits_pattern(recorded, asked, parts)
        else:
            fitting = self._fits_parts(recorded, asked, parts)
        if not fitting:
            self.pairs, self._back = before
        return fitting

    def pair(self, kind: Kind, recorded: str, asked: str) -> bool:
        """Say whether a name may stand for a recorded one, and keep the pair."""
        known = self._renaming.asked(recorded) or self.pairs.get(recorded)
        back = self._renaming.recorded(asked) or self._back.get(asked)
        if known is not None or back is not None:
            return known == asked and back == recorded
        if recorded != asked and not self._renaming.may_pair(kind, recorded, asked):
            return False
        if recorded != asked or kind == "port":
            self.pairs[recorded] = asked
            self._back[asked] = recorded
        return True

    def pair_freely(self, recorded: str, asked: str) -> None:
        """Have a path stand for a recorded one, unless it does already: several may come to lie in one folder."""
        if self._renaming.asked(recorded) is None and self._renaming.recorded(asked) is None:
            self.pairs.setdefault(recorded, asked)

    def _fits_parts(self, recorded: str, asked: str, parts: list[Part]) -> bool:
        at = 0
        for part in parts:
            if part.kind is None:
                text = self._renaming.rename_text(recorded[part.start : part.end])
                if not asked.startswith(text, at):
                    return False
                at += len(text)
                continue
            end = find_name(asked, at, part.kind)
            if end < 0 or not self.pair(part.kind, recorded[part.start : part.end], asked[at:end]):
                return False
            at = end
        return at == len(asked)

    def _fits_pattern(self, recorded: str, asked: str, parts: list[Part]) -> bool:
        pieces = []
        names: list[tuple[Kind, str]] = []
        for part in parts:
            text = recorded[part.start : part.end]
            if part.kind is None:
                pieces.append(".*".join(map(re.escape, text.split(REDACTED))))
            else:
                pieces.append(f"({name_pattern(part.kind)})")
                names.append((part.kind, text))
        found = re.fullmatch("".join(pieces), asked, re.DOTALL)
        if found is None:
            return False
        return all(
            self.pair(kind, text, new) for (kind, text), new in zip(names, found.groups(), strict=True)
        )


def _any_of(names: Iterable[str]) -> str:
    """Return a regular expression of all names, the longest first."""
    # A port is a number: that of "127.0.0.1:80" is not in "127.0.0.1:8080".
    ends = ((name, r"(?!\d)" if name[-1:].isdigit() else "") for name in sorted(names, key=len, reverse=True))
    return "|".join(re.escape(name) + end for name, end in ends)


def _in_json(name: str) -> bytes:
    return json.dumps(name)[1:-1].encode()
