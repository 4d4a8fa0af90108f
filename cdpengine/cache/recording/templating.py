"""Templating: texts become templates: what came from a variable is the variable, and no value of a secret stays.

Rule: the longest value counts first. A text that is a value as a whole is its variable, whatever its length; a
part of a text only where the value has three characters or more and stands by itself as a word. Where two
variables have the value, the one that is called like the field is meant; else none is, and the text stays as it
is. Of what went into a secret field and came from no variable, only a keyed hash is kept while the recording runs,
so that it is known where the page shows it again. Pure.
"""

from __future__ import annotations

import hashlib
import re
import secrets
from collections.abc import Iterable, Iterator, Mapping
from urllib.parse import unquote_plus

import attrs

from cdpengine.cache.addresses import generalize_url
from cdpengine.cache.recording.fields import NO_FACTS, FieldFacts, secret_name, variable_name
from cdpengine.cache.session_ids import clean_url
from cdpengine.cache.templates import check_name, escape, has_text
from cdpengine.cache.variables import is_sensitive_name
from cdpengine.errors import InvalidArgumentError

SHORTEST_PART = 3
"""Characters that a value has at least, to be recognised as a part of a text."""


@attrs.define(eq=False)
class _Marks:
    """Knows texts again without keeping them: their lengths, and hashes under a key of this recording."""

    _key: bytes = attrs.field(factory=lambda: secrets.token_bytes(32), repr=False)
    _names: dict[bytes, str] = attrs.field(factory=dict, repr=False)
    _folded: set[bytes] = attrs.field(factory=set, repr=False)
    _lengths: set[int] = attrs.field(factory=set, repr=False)

    def add(self, text: str, name: str) -> None:
        self._names[self._digest(text)] = name
        self._folded.add(self._digest(text.casefold()))
        self._lengths.add(len(text.casefold()))

    def name_of(self, text: str) -> str | None:
        return self._names.get(self._digest(text))

    def are_in(self, text: str) -> bool:
        text = text.casefold()
        for length in self._lengths:
            for start in range(len(text) - length + 1):
                part = text[start : start + length]
                if self._digest(part) in self._folded and (
                    length > SHORTEST_PART or _stands_alone(text, start, start + length)
                ):
                    return True
        return False

    def _digest(self, text: str) -> bytes:
        return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), key=self._key, digest_size=16).digest()


class Templating:
    """Makes templates of the texts of one recording. `values` are the variables that were given.

    `keep_typed` False keeps no entered text: each becomes a variable that is named after its field. `replaced` has
    these names, and `generalized` those of random segments of URLs. `used` has the variables that stand in
    templates, `sensitive` those that are shown nowhere.
    """

    def __init__(
        self, values: Mapping[str, str], sensitive: Iterable[str] = (), *, keep_typed: bool = True
    ) -> None:
        for name, value in values.items():
            check_name(name)
            if not isinstance(value, str):
                raise InvalidArgumentError(f"value of {name}", f"a {type(value).__name__}", "a text")
        self._values = dict(values)
        self._marks = _Marks()
        self._made: set[str] = set()
        self.sensitive = {name for name in self._values if is_sensitive_name(name)} | set(sensitive)
        self.used: set[str] = set()
        self.replaced: list[str] = []
        self.generalized: list[str] = []
        self._keep_typed = keep_typed
        self._pending = ""

    def __repr__(self) -> str:
        return f"<Templating of {', '.join(sorted(self._values)) or 'no variables'}>"

    def set_pending(self, secret: str) -> None:
        """Note a secret that is being entered and has no variable yet; "" for none."""
        self._pending = secret.casefold()

    def forget(self) -> None:
        """Drop all values."""
        self._pending = ""
        self._values.clear()
        self._marks = _Marks()

    # --- what is entered ---------------------------------------------------------------------------------------

    def entered(self, text: str, facts: FieldFacts = NO_FACTS) -> str:
        """Return the template of a text that is entered into a field."""
        if (secret := secret_name(facts)) is not None:
            return self._variable(self._secret(text, secret))
        if (name := self._whole(text, facts)) is not None:
            return self._variable(name)
        before = set(self.used)
        template = self._replace(text, [(value, name) for value, name in self._parts(facts)])
        if self._keep_typed or not has_text(template):
            return template
        self.used = before
        name = self._free_name(variable_name(facts))
        self._values[name] = text
        self.replaced.append(name)
        return self._variable(name)

    def character(self, key: str) -> str:
        """Return the template of a single character that is pressed: itself, unless no typed text is kept."""
        return key if self._keep_typed else self.entered(key, FieldFacts(name="key"))

    def entered_unknown(self, facts: FieldFacts) -> str:
        """Return the template of what was entered into a secret field and is not known.

        It is the variable that is called like the field, also where that is known by another field: what is
        entered once more to confirm it is the same.
        """
        name = secret_name(facts) or "secret"
        self._made.add(name)
        self.sensitive.add(name)
        return self._variable(name)

    def _secret(self, text: str, called: str) -> str:
        if named := self._with_value(text):
            name = next((each for each in named if each in self.sensitive), named[0])
        else:
            name = self._marks.name_of(text) or self._new(called)
            if text:
                self._marks.add(text, name)
        self.sensitive.add(name)
        return name

    def _new(self, called: str) -> str:
        name = self._free_name(called)
        self._made.add(name)
        self.sensitive.add(name)
        return name

    def _free_name(self, called: str) -> str:
        known = self._values.keys() | self._made
        return next(
            each for each in [called, *(f"{called}_{n}" for n in range(2, 10_000))] if each not in known
        )

    def _variable(self, name: str) -> str:
        self.used.add(name)
        return f"${{{name}}}"

    # --- what is shown -----------------------------------------------------------------------------------------

    def shown(self, text: str) -> str | None:
        """Return the template of a text that messages may show; None where a secret is in it."""
        if self.holds_secret(text):
            return None
        if (name := self._whole(text, NO_FACTS)) is not None:
            return self._variable(name)
        return self._replace(text, [each for each in self._parts() if each[1] not in self.sensitive])

    def unescaped(self, template: str) -> str | None:
        """Return the template of a text that is escaped already, as the name of a target is."""
        return self.shown(template.replace("$$", "$"))

    def holds_value(self, text: str) -> bool:
        """Say whether a text holds a variable's value, in any case of letters, or a secret."""
        folded = text.casefold()
        for value in self._values.values():
            low = value.casefold()
            if low and (folded == low or (len(low) >= SHORTEST_PART and low in folded)):
                return True
        return self.holds_secret(text)

    def holds_secret(self, text: str) -> bool:
        """Say whether a text holds what may be shown nowhere."""
        folded = text.casefold()
        for value in (self._pending, *(self._values.get(name, "").casefold() for name in self.sensitive)):
            if value and (folded == value or (len(value) >= SHORTEST_PART and value in folded)):
                return True
        return self._marks.are_in(text)

    def address(self, url: str) -> str | None:
        """Return the template of a URL that is gone to; None where a secret is in it.

        Ids of sessions are left out. A random segment of the path becomes a variable of its own.
        """
        if self.holds_secret(url) or self.holds_secret(unquote_plus(url)):
            return None
        url = clean_url(url, self._name_segment)
        return self.shown(url)

    def _name_segment(self, segment: str) -> str:
        """Return a random segment of a path, known as the value of a variable from now on."""
        if not self._with_value(segment):
            name = self._free_name("path_id")
            self._values[name] = segment
            self.generalized.append(name)
        return segment

    def pattern(self, url: str) -> str | None:
        """Return the pattern of the URLs that a step leads to, without a value of a variable; None for none."""
        try:
            form = generalize_url(url)
        except InvalidArgumentError:
            return None
        head, mark, rest = _cut(form)
        start = head.split("/")
        start[3:] = ["*" if self._is_of_value(unquote_plus(each)) else each for each in start[3:]]
        if mark == "#":
            rest = "" if self.holds_value(unquote_plus(rest)) else rest
            return "/".join(start) + (f"#{rest}" if rest else "")
        query, hash_mark, fragment = rest.partition("#")
        if self.holds_value(unquote_plus(fragment)):
            fragment, hash_mark = "", ""
        kept = []
        for item in query.split("&") if query else []:
            name, equals, value = item.partition("=")
            plain = unquote_plus(value)
            changes = any(each.isdigit() for each in plain) or self.holds_value(plain) or len(plain) > 40
            if not self.holds_value(unquote_plus(name)):
                kept.append(f"{name}{equals}{'*' if value and changes else value}")
        return "/".join(start) + (f"?{'&'.join(kept)}" if kept else "") + hash_mark + fragment

    def _is_of_value(self, part: str) -> bool:
        """Say whether a part of a path holds a value, perhaps as sites write names there: "tea-bowl"."""
        return self.holds_value(part) or self.holds_value(re.sub(r"[-_]+", " ", part))

    # --- matching ----------------------------------------------------------------------------------------------

    def _with_value(self, text: str) -> list[str]:
        return sorted(name for name, value in self._values.items() if value and value == text)

    def _whole(self, text: str, facts: FieldFacts) -> str | None:
        return self._choose(self._with_value(text), facts)

    def _choose(self, names: list[str], facts: FieldFacts) -> str | None:
        if len(names) <= 1:
            return names[0] if names else None
        if hidden := [name for name in names if name in self.sensitive]:
            return hidden[0]
        said = f"{facts.name} {facts.id} {facts.label}".casefold()
        alike = [name for name in names if name.replace("_", " ").casefold() in said.replace("_", " ")]
        return alike[0] if len(alike) == 1 else None

    def _parts(self, facts: FieldFacts = NO_FACTS) -> Iterator[tuple[str, str]]:
        values = {value for value in self._values.values() if len(value) >= SHORTEST_PART}
        for value in sorted(values, key=lambda each: (-len(each), each)):
            if (name := self._choose(self._with_value(value), facts)) is not None:
                yield value, name

    def _replace(self, text: str, parts: Iterable[tuple[str, str]]) -> str:
        """Return the text with variables in place of these values, and the rest of it escaped."""
        pieces: list[tuple[str, bool]] = [(text, False)]
        for value, name in parts:
            whole = name in self.sensitive
            pieces = [
                each
                for piece, done in pieces
                for each in ([(piece, True)] if done else self._cut_out(piece, value, name, anywhere=whole))
            ]
        return "".join(piece if done else escape(piece) for piece, done in pieces)

    def _cut_out(self, text: str, value: str, name: str, *, anywhere: bool) -> Iterator[tuple[str, bool]]:
        start = 0
        while (place := text.find(value, start)) >= 0:
            end = place + len(value)
            if anywhere or _stands_alone(text, place, end):
                yield text[:place], False
                yield self._variable(name), True
                text, start = text[end:], 0
            else:
                start = place + 1
        yield text, False


def _stands_alone(text: str, start: int, end: int) -> bool:
    """Say whether a part is a word of its own; scripts without spaces between words have only such."""
    before, after = text[start - 1 : start], text[end : end + 1]
    return not (_joins(before) and _joins(text[start])) and not (_joins(after) and _joins(text[end - 1]))


def _joins(character: str) -> bool:
    return character.isalnum() and character.isascii()


def _cut(form: str) -> tuple[str, str, str]:
    place = next((n for n, each in enumerate(form) if each in "?#"), len(form))
    return form[:place], form[place : place + 1], form[place + 1 :]
