"""Templating: entered strings become templates. A variable replaces its value, and no secret remains. Pure.

Rule: longer values match first. A string that equals a value becomes its variable, whatever its length. A
part of a string matches only if the value has at least 3 characters and is a separate word. If several
variables have the value, a sensitive one has priority. Otherwise, the name, id or label of the field
selects one. If it selects none, the string stays unchanged. For a secret without a variable, the engine
keeps only a keyed hash while it runs. The hash finds the secret again where the page shows it.
"""

from __future__ import annotations

import hashlib
import re
import secrets
from collections.abc import Iterable, Iterator, Mapping
from urllib.parse import unquote_plus

import attrs

from cdpengine._checks import check_string
from cdpengine._secrets import is_sensitive_name
from cdpengine.cache.addresses import clean_url, generalize_url
from cdpengine.cache.learning.fields import NO_FACTS, FieldFacts, secret_name, variable_name
from cdpengine.cache.templates import check_name, escape, has_text
from cdpengine.errors import InvalidArgumentError

SHORTEST_PART = 3
"""Minimum length of a value that is recognised inside a longer string, in characters."""


@attrs.define(eq=False)
class _Marks:
    """A set of strings that stores only their lengths and keyed hashes. Each learning has its own key."""

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
    """A converter from the strings of one learning to templates. `values` are the caller's variables.

    `keep_typed` False stores no typed strings: each becomes a variable named after its field. `replaced`
    lists these names. `generalized` lists the variables for random segments of URLs. `used` has the
    variables in the templates. `sensitive` has the variables whose values appear nowhere.
    """

    def __init__(
        self, values: Mapping[str, str], sensitive: Iterable[str] = (), *, keep_typed: bool = True
    ) -> None:
        for name, value in values.items():
            check_name(name)
            check_string(f"value of {name}", value, "a text")
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
        """Set the secret that is being typed and has no variable yet, or "" for none."""
        self._pending = secret.casefold()

    def forget(self) -> None:
        """Drop all values."""
        self._pending = ""
        self._values.clear()
        self._marks = _Marks()

    # --- input -------------------------------------------------------------------------------------------------

    def entered(self, text: str, facts: FieldFacts = NO_FACTS) -> str:
        """Return the template of input into a field."""
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
        """Return the template of a pressed character. With `keep_typed` False, it is a variable."""
        return key if self._keep_typed else self.entered(key, FieldFacts(name="key"))

    def entered_unknown(self, facts: FieldFacts) -> str:
        """Return the template of unknown input into a secret field.

        It is the variable with the field's name, even if another field already uses it. A field that
        confirms a password gets the same input.
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

    # --- messages and URLs -------------------------------------------------------------------------------------

    def shown(self, text: str) -> str | None:
        """Return the template of a string for messages, or None if it contains a secret."""
        if self.holds_secret(text):
            return None
        if (name := self._whole(text, NO_FACTS)) is not None:
            return self._variable(name)
        return self._replace(text, [each for each in self._parts() if each[1] not in self.sensitive])

    def unescaped(self, template: str) -> str | None:
        """Return the template of an escaped string, such as the name of a target."""
        return self.shown(template.replace("$$", "$"))

    def holds_value(self, text: str) -> bool:
        """Return whether a string contains a secret or, ignoring case, the value of a variable."""
        folded = text.casefold()
        for value in self._values.values():
            low = value.casefold()
            if low and (folded == low or (len(low) >= SHORTEST_PART and low in folded)):
                return True
        return self.holds_secret(text)

    def holds_secret(self, text: str) -> bool:
        """Return whether a string contains a secret."""
        folded = text.casefold()
        for value in (self._pending, *(self._values.get(name, "").casefold() for name in self.sensitive)):
            if value and (folded == value or (len(value) >= SHORTEST_PART and value in folded)):
                return True
        return self._marks.are_in(text)

    def address(self, url: str) -> str | None:
        """Return the template of a URL for navigation, or None if it contains a secret.

        Session ids are removed. A random path segment becomes a variable.
        """
        if self.holds_secret(url) or self.holds_secret(unquote_plus(url)):
            return None
        url = clean_url(url, self._name_segment)
        return self.shown(url)

    def _name_segment(self, segment: str) -> str:
        """Register a random path segment as the value of a new variable, and return the segment."""
        if not self._with_value(segment):
            name = self._free_name("path_id")
            self._values[name] = segment
            self.generalized.append(name)
        return segment

    def pattern(self, url: str) -> str | None:
        """Return a pattern for the URLs that a step leads to, without variables' values, or None."""
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
        """Return whether a path segment contains a value, also in a hyphenated form such as "tea-bowl"."""
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
        words = f"{facts.name} {facts.id} {facts.label}".casefold()
        alike = [name for name in names if name.replace("_", " ").casefold() in words.replace("_", " ")]
        return alike[0] if len(alike) == 1 else None

    def _parts(self, facts: FieldFacts = NO_FACTS) -> Iterator[tuple[str, str]]:
        values = {value for value in self._values.values() if len(value) >= SHORTEST_PART}
        for value in sorted(values, key=lambda each: (-len(each), each)):
            if (name := self._choose(self._with_value(value), facts)) is not None:
                yield value, name

    def _replace(self, text: str, parts: Iterable[tuple[str, str]]) -> str:
        """Return the string with variables in place of these values. The rest is escaped."""
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
    """Return whether a part is a separate word. In scripts without spaces between words, every part is."""
    before, after = text[start - 1 : start], text[end : end + 1]
    return not (_joins(before) and _joins(text[start])) and not (_joins(after) and _joins(text[end - 1]))


def _joins(character: str) -> bool:
    return character.isalnum() and character.isascii()


def _cut(form: str) -> tuple[str, str, str]:
    place = next((n for n, each in enumerate(form) if each in "?#"), len(form))
    return form[:place], form[place : place + 1], form[place + 1 :]
