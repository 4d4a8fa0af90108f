"""Redactor: takes secrets out of messages, and of what is made of them, before they reach a disk. Pure.

Rule: a scan of the bytes decides whether a message may hold a secret; only then is it decoded and gone through.
What is secret by its place (a cookie's value, typed text, an Authorization header) goes whatever it looks like,
and is remembered for a while, so that it goes from other messages too, where it is only text. Rather too much
than too little: what is replaced reads "[redacted]", so that nobody takes it for the page's own.
"""

from __future__ import annotations

import json
import re
from bisect import bisect_right
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from itertools import accumulate, chain
from typing import Any
from urllib.parse import quote

import msgspec

from cdpengine.debug.search import Search
from cdpengine.debug.secret_words import (
    COOKIE_METHODS,
    IN_COOKIES,
    IN_JSON,
    IN_TEXT,
    SCHEMES,
    SECRET_PARAMETERS,
    holds_secrets,
    is_secret_field,
)
from cdpengine.errors import InvalidArgument
from cdpengine.errors.secrets import NAMED

REDACTED = "[redacted]"

_LONG_ENOUGH = 6
"""Characters from which on a secret is looked for in other messages: shorter ones are everywhere."""

_SHORT = 200
_SHORT_CALL = 1_000
_SHORT_TEXTS = 4_000
_REMEMBERED = 64
_LONGEST_REMEMBERED = 4096

_USER = re.compile(r"(://)[^/?#\s\"'<>@]+@")  # https://user:password@host
_SCHEME = re.compile(r"\b(Bearer|Basic|Digest|Negotiate)\s+[\w\-.~+/=,\"]{4,}", re.IGNORECASE)
_WEB_TOKEN = re.compile(r"\beyJ[\w\-]{8,}\.[\w\-]+(?:\.[\w\-]*)?")
"""A JSON Web Token: two or three parts of base64url, the first of which begins with {" """

_VALUE = re.compile(r"""\s*\\*["']?([^"'&;\s,<>\\)}]+)""")
"""What is secret after ?access_token=, &key=, password=, token%3D, "secret": ", secret: """

_METHOD = re.compile(rb'"method"\s*:\s*"([\w.]{1,80})"')
_COOKIE = re.compile(rb'("name":"[\w.\-]{0,80}","value":")([^"\\]+)(?=")')
_REDACTED_VALUE = REDACTED.encode()
_QUICK_USER = re.compile(rb"://[^/?#\s\"'<>@\0]+@")
_SIFTED = 4_096  # bytes of a message up to which it is looked through together with others
_BETWEEN = b"\0"  # between what is looked through together: it is in no JSON, and no pattern goes beyond it


class Redactor:
    """Redacts the messages of one recording; holds what it learned to be secret.

    `patterns` are further regular expressions: what they match (their group 1, if they have one) is replaced
    wherever it stands in a text. `secrets` are exact texts that never may be written. Raises InvalidArgument
    for a pattern that is none, or that matches the empty text.
    """

    def __init__(
        self, *, patterns: Iterable[str | re.Pattern[str]] = (), secrets: Iterable[str] = ()
    ) -> None:
        self.patterns = tuple(_compiled(pattern) for pattern in patterns)
        self.secrets = tuple(secret for secret in secrets if secret)
        self._learned: dict[str, None] = {}
        self._texts: dict[str, str] = {}  # short ones that were gone through: most come again
        self._calls: dict[
            bytes, bytes
        ] = {}  # what was made of them, both without their numbers; b"": the same
        self._calls_at = 0  # what `learned` was then
        self._known = Search({})
        self._replace: re.Pattern[str] | None = None
        self._stale = bool(self.secrets)
        self._unsiftable = False
        self.learned = 0  # how often something new was learned to be secret
        self.redacted = 0

    def redact(self, message: bytes, method: str = "", *, suspicious: bool = False) -> bytes:
        """Return the message without its secrets; the same object where there is none to be seen.

        `method` is that of the call, which a reply does not name. What is no JSON is redacted as one text.
        `suspicious` says that it is known already that there may be some.
        """
        if not method and (named := _METHOD.search(message)):
            method = named[1].decode()
        if not suspicious and not self.suspicious(message, method):
            return message
        of_cookies = bool(COOKIE_METHODS.match(method))
        if of_cookies and (without := self._without_values_of_cookies(message)) is not None:
            return without
        try:
            loaded: Any = msgspec.json.decode(message)
            encode: Callable[[Any], bytes] = msgspec.json.encode
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            try:
                loaded, encode = json.loads(message), _encode_halves
            except (ValueError, RecursionError):
                text = self.text(message.decode("utf-8", "replace"))
                return text.encode("utf-8", "replace")
        found = loaded.get("method") if isinstance(loaded, dict) else None
        method = found if isinstance(found, str) else method
        fields = SECRET_PARAMETERS.get(method, ())
        try:
            clean = self._clean(loaded, fields, of_cookies or bool(COOKIE_METHODS.match(method)))
        except RecursionError:
            return msgspec.json.encode(
                {"id": loaded.get("id"), "method": method, REDACTED: "nested too deeply"}
            )
        if clean == loaded:
            return message
        self.redacted += 1
        return encode(clean)

    def redact_call(
        self, message: bytes, method: str, number: int | None, *, suspicious: bool = False
    ) -> bytes:
        """Return the command of that number without its secrets, as `redact` does.

        What was made of one is known again by all but its number: most commands come again.
        """
        named = b'{"id":%d,' % (number or 0)
        if len(message) > _SHORT_CALL or not message.startswith(named):
            return self.redact(message, method, suspicious=suspicious)
        rest = message[len(named) :]
        if self._calls_at == self.learned and (known := self._calls.get(rest)) is not None:
            self.redacted += known != b""
            return message if known == b"" else named + known
        clean = self.redact(message, method, suspicious=suspicious)
        if self._calls_at != self.learned or len(self._calls) >= _SHORT_TEXTS:
            self._calls.clear()
            self._calls_at = self.learned
        if clean is message:
            self._calls[rest] = b""
        elif clean.startswith(named):
            self._calls[rest] = clean[len(named) :]
        return clean

    def text(self, text: str) -> str:
        """Return a text without what looks like a secret, and without those that are known."""
        self._compile()
        if len(text) > _SHORT:
            return self._text(text)
        clean = self._texts.get(text)
        if clean is None:
            if len(self._texts) >= _SHORT_TEXTS:
                self._texts.clear()
            clean = self._texts[text] = self._text(text)
        return clean

    def _text(self, text: str) -> str:
        if "@" in text:
            text = _USER.sub(rf"\1{REDACTED}@", text)
        low = text.lower()
        if any(map(low.__contains__, SCHEMES)):
            text = _SCHEME.sub(rf"\1 {REDACTED}", text)
        if "eyJ" in text:
            text = _WEB_TOKEN.sub(REDACTED, text)
        text = _without_values(text)
        for pattern in self.patterns:
            text = pattern.sub(_group_replaced, text)
        if self._replace is not None and self._known.found(text):
            text = self._replace.sub(REDACTED, text)
        return text

    def clean(self, value: dict[str, Any]) -> dict[str, Any]:
        """Return a JSON object that is no message of the protocol without its secrets, as `redact` finds them.

        It is for what is nested as deep as this program made it.
        """
        clean: dict[str, Any] = self._clean(value, (), cookies=False)
        return clean

    def hide(self, text: str) -> str:
        """Return what stands in the place of a text that is secret by its place, and remember it."""
        hidden: str = self._hidden(text)
        return hidden

    # --- deciding ------------------------------------------------------------------------------------------

    def sift(self, messages: Sequence[bytes]) -> list[bool]:
        """Say of each of many messages whether its bytes are free of what `suspicious` looks for.

        They are looked through at once, for a fraction of what a look at each costs. Errs towards no. The answer
        holds as long as `learned` stays the same.
        """
        self._compile()
        if self.patterns or self._unsiftable:
            return [False] * len(messages)
        free = [len(message) <= _SIFTED or not self._speaks(message) for message in messages]
        small = [(index, message) for index, message in enumerate(messages) if len(message) <= _SIFTED]
        together = _BETWEEN.join([message for _, message in small])
        ends = list(accumulate(len(message) + 1 for _, message in small))
        low = together.lower()
        parts: list[Iterable[int]] = [IN_JSON.parts(low, ends)]
        if b"@" in low:
            parts.append(bisect_right(ends, match.start()) for match in _QUICK_USER.finditer(low))
        if self._replace is not None:
            parts.append(self._known.parts(together, ends))
        for part in chain.from_iterable(parts):
            free[small[part][0]] = False
        return free

    def suspicious(self, message: bytes, method: str) -> bool:
        """Say whether a message, or a part of one, may hold a secret. Errs towards yes."""
        if self.patterns or holds_secrets(method):
            return True
        self._compile()
        return self._speaks(message)

    def _speaks(self, message: bytes) -> bool:
        if self._looks_secret(message.lower()):
            return True
        return self._replace is not None and self._known.found(message)

    def _looks_secret(self, low: bytes, words: Search = IN_JSON) -> bool:
        return (b"@" in low and _QUICK_USER.search(low) is not None) or words.found(low)

    def _without_values_of_cookies(self, message: bytes) -> bytes | None:
        """Return a list of cookies without their values, by its text: as `redact` does, for a quarter of the time.

        None where a value stands there in another way, or where there may be other secrets.
        """
        if self.patterns:
            return None
        pieces = _COOKIE.split(message)  # what is between cookies, name, value, what is between, ...
        between = _BETWEEN.join(pieces[::3]).lower()
        if self._looks_secret(between, IN_COOKIES) or b"eyJ" in b"".join(pieces[1::3]):
            return None
        try:
            for value in pieces[2::3]:
                self._learn(value.decode())
        except UnicodeDecodeError:
            return None
        pieces[2::3] = [_REDACTED_VALUE] * (len(pieces) // 3)
        clean = b"".join(pieces)
        self._compile()
        if self._replace is not None and self._known.found(clean):
            return None
        if len(pieces) == 1:
            return message
        self.redacted += 1
        return clean

    # --- going through -------------------------------------------------------------------------------------

    def _clean(self, value: Any, fields: tuple[str, ...], cookies: bool) -> Any:
        kind = type(value)  # as decoded from JSON: exactly one of these
        if kind is str:
            return self.text(value)
        if kind is list:
            return [self._clean(item, fields, cookies) for item in value]
        if kind is not dict:
            return value
        secret = fields
        if "value" in value and (cookies or ("name" in value and "domain" in value)):
            secret = (*secret, "value")
        header = value.get("name")
        if type(header) is str and NAMED.search(header) is not None:
            secret = (*secret, "value", "binaryValue")
        clean: dict[str, Any] = {}
        texts = self._texts
        for key, item in value.items():
            kind = type(item)
            if kind is str:
                if key in secret or is_secret_field(key):
                    clean[key] = self._hidden(item)
                else:  # one that was gone through, as most were; none is known once something new is a secret
                    known = texts.get(item)
                    clean[key] = self.text(item) if known is None else known
            elif key in secret:
                clean[key] = self._hidden(item)
            elif kind is dict or kind is list:
                clean[key] = self._clean(item, fields, cookies)
            else:
                clean[key] = item
        return clean

    def _hidden(self, value: Any) -> Any:
        """Replace everything in it, and remember its texts."""
        if isinstance(value, str):
            if not value:
                return value
            self._learn(value)
            return REDACTED
        if isinstance(value, bool) or value is None:
            return value
        if isinstance(value, int | float):
            return 0
        if isinstance(value, list):
            return [self._hidden(item) for item in value]
        return {key: self._hidden(item) for key, item in value.items()}

    # --- what is known to be secret ------------------------------------------------------------------------

    def _learn(self, secret: str) -> None:
        for part in _parts(secret) if len(secret) <= _LONGEST_REMEMBERED else ():
            if part in self.secrets:
                continue
            if self._learned.pop(part, "new") == "new":
                self._stale = True
                self.learned += 1
                self._texts.clear()
            self._learned[part] = None
            if len(self._learned) > _REMEMBERED:
                del self._learned[next(iter(self._learned))]

    def _compile(self) -> None:
        if not self._stale:
            return
        self._stale = False
        forms = {form for secret in (*self.secrets, *self._learned) for form in _forms(secret)}
        ordered = sorted(forms, key=len, reverse=True)
        if ordered:
            self._replace = re.compile("|".join(map(re.escape, ordered)))
            self._known = Search(dict.fromkeys(ordered, ""))
            self._unsiftable = any("\0" in form for form in ordered)


@lru_cache(500)
def _parts(secret: str) -> frozenset[str]:
    """Return what is to be remembered of a secret: itself, and each value when it is a list of values."""
    parts = {secret, *re.split(r"[;\s]+", secret)}
    values = {part.partition("=")[2] if "=" in part.rstrip("=") else part for part in parts}
    return frozenset(value for value in values if len(value) >= _LONG_ENOUGH and value != REDACTED)


def _without_values(text: str) -> str:
    low = text.lower()
    if len(low) != len(text):  # a letter of Turkish gets longer; places must stay the same
        low = "".join(letter.lower() if len(letter.lower()) == 1 else letter for letter in text)
    if not IN_TEXT.found(low):
        return text
    values = [value for end in IN_TEXT.ends(low) if (value := _VALUE.match(text, end))]
    pieces, done = [], 0
    for start, end in sorted(value.span(1) for value in values):
        if start >= done:
            pieces += [text[done:start], REDACTED]
            done = end
    return "".join((*pieces, text[done:]))


def _forms(secret: str) -> set[str]:
    """Return how a text is written: as it is, inside of JSON once and twice, in URLs."""
    once = json.dumps(secret)[1:-1]
    plain = json.dumps(secret, ensure_ascii=False)[1:-1]
    return {secret, once, plain, json.dumps(once)[1:-1], quote(secret, safe=""), quote(secret)}


def _group_replaced(match: re.Match[str]) -> str:
    if not match.re.groups or match.group(1) is None:
        return REDACTED
    start, end = match.span(1)
    return match[0][: start - match.start()] + REDACTED + match[0][end - match.start() :]


def _compiled(pattern: str | re.Pattern[str]) -> re.Pattern[str]:
    try:
        compiled = re.compile(pattern) if isinstance(pattern, str) else pattern
    except re.error as error:
        raise InvalidArgument(
            what="pattern", given=repr(pattern)[:80], expected=f"a regular expression ({error})"
        ) from None
    if compiled.match(""):
        raise InvalidArgument(
            what="pattern", given=repr(compiled.pattern)[:80], expected="one that needs some text"
        )
    return compiled


def _encode_halves(value: Any) -> bytes:
    return json.dumps(value, separators=(",", ":")).encode("ascii")
