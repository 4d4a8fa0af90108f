"""Redactor: takes secrets out of messages, and of what is made of them, before they reach a disk. Pure.

Rule: a scan of the bytes decides whether a message may hold a secret; only then is it decoded and gone through.
What is secret by its place (a cookie's value, typed text, an Authorization header) goes whatever it looks like,
and is remembered for a while, so that it goes from other messages too, where it is only text. Rather too much
than too little: what is replaced reads "[redacted]", so that nobody takes it for the page's own.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable
from functools import lru_cache
from typing import Any
from urllib.parse import quote

import msgspec

from cdpengine.errors import InvalidArgument

REDACTED = "[redacted]"

SENSITIVE_WORDS = (
    "authoriz", "cookie", "passw", "passphrase", "token", "secret", "credential", "apikey", "api-key", "api_key",
    "bearer", "signature", "x-amz-security", "private-key", "private_key", "otp", "csrf", "xsrf",
)  # fmt: skip
"""A header, parameter or field whose name holds one of these (any case) holds a secret."""

QUERY_KEYS = (
    "key",
    "code",
    "sig",
    "auth",
    "pwd",
    "pass",
    "sid",
    "session",
    "state",
    "jwt",
    "assertion",
    "ticket",
)
"""Parameters of URLs and forms that are secret although their whole name is a common word."""

HARMLESS_NAMES = frozenset({
    "cookiePartitionKey", "hasCookies", "associatedCookies", "blockedCookies", "exemptedCookies", "cookies",
    "cookie", "tokens", "autofillToken", "siteHasCookieInOtherPartition", "credentials", "authChallengeResponse",
    "tokenType", "securityToken",
})  # fmt: skip
"""Names of the protocol's own that hold a structure: what is in it is looked at by itself."""

SECRET_TEXTS = frozenset({"cookie", "credentials", "securityToken"})
"""Of these, the ones that are secret where they are a text."""

SECRET_PARAMETERS: dict[str, tuple[str, ...]] = {
    "Input.insertText": ("text",),
    "Input.dispatchKeyEvent": ("text", "unmodifiedText", "key", "code", "keyIdentifier", "windowsVirtualKeyCode",
                               "nativeVirtualKeyCode"),
    "Input.imeSetComposition": ("text",),
    "Network.setCookie": ("value",),
    "Network.requestWillBeSent": ("postData", "postDataEntries"),
    "Fetch.requestPaused": ("postData", "postDataEntries"),
    "Fetch.continueRequest": ("postData",),
    "Fetch.continueWithAuth": ("password", "username"),
    "Network.getRequestPostData": ("postData",),
    "DOMStorage.setDOMStorageItem": ("value",),
    "DOMStorage.domStorageItemAdded": ("newValue",),
    "DOMStorage.domStorageItemUpdated": ("oldValue", "newValue"),
    "DOMStorage.getDOMStorageItems": ("entries",),
    "Storage.setSharedStorageEntry": ("value",),
    "Storage.getSharedStorageEntries": ("value",),
    "WebAuthn.addCredential": ("privateKey", "userHandle"),
    "IndexedDB.requestData": ("objectStoreDataEntries",),
}  # fmt: skip
"""Of these methods (of their replies too), the fields that are secret wherever they stand in the message."""

_COOKIE_METHODS = re.compile(r"(Network|Storage)\.(get|set|delete)(All)?Cookies?$")

_LONG_ENOUGH = 6
"""Characters from which on a secret is looked for in other messages: shorter ones are everywhere."""

_REMEMBERED = 64
_LONGEST_REMEMBERED = 4096

_QUERY = "|".join(QUERY_KEYS)
_WORDS = "|".join(map(re.escape, SENSITIVE_WORDS))
_IN_TEXT = (
    # https://user:password@host
    (re.compile(r"(://)[^/?#\s\"'<>@]+@"), rf"\1{REDACTED}@"),
    (re.compile(r"\b(Bearer|Basic|Digest|Negotiate)\s+[\w\-.~+/=,\"]{4,}", re.IGNORECASE), rf"\1 {REDACTED}"),
    # A JSON Web Token: two or three parts of base64url, the first of which begins with {"
    (re.compile(r"\beyJ[\w\-]{8,}\.[\w\-]+(?:\.[\w\-]*)?"), REDACTED),
    # ?access_token=..., &key=..., password=..., token%3D..., "secret": "...", secret: ...
    (
        re.compile(
            rf"""((?<![\w.\-])(?:[\w.\-]*(?:{_WORDS})[\w.\-]*|{_QUERY})\\*["']?\s*(?:=|:|%3D)\s*\\*["']?)"""
            r"""([^"'&;\s,<>\\)}]+)""",
            re.IGNORECASE,
        ),
        rf"\1{REDACTED}",
    ),
)

_SUSPECTS = (
    b"pass", b"cookie", b"token", b"key", b"secret", b"auth", b"bearer", b"credential", b"signature", b"security",
    b"otp", b"srf", b"eyj", b"basic ", b"digest ", b"negotiate ",
)  # fmt: skip
"""Each of SENSITIVE_WORDS, and what _IN_TEXT looks for, holds one of these."""

_SUSPECT = re.compile(b"|".join(_SUSPECTS))
_SHORT = 500

_NAMED = re.compile(f"(?:{_WORDS})", re.IGNORECASE)
_QUICK_KEYS = tuple(key.encode() for key in QUERY_KEYS if key not in ("key", "auth", "pass"))
"""Those that no other word of the scan holds."""

_QUICK_BEFORE = frozenset(b"abcdefghijklmnopqrstuvwxyz0123456789_.-")
_QUICK_AFTER = re.compile(rb"[\"'\\]*\s*(?:=|:|%3d)")
_METHOD = re.compile(rb'"method"\s*:\s*"([\w.]{1,80})"')
_QUICK_USER = re.compile(rb"://[^/?#\s\"'<>@]+@")


class Redactor:
    """Redacts the messages of one recording; holds what it learned to be secret.

    `patterns` are further regular expressions: what they match (their group 1, if they have one) is replaced
    wherever it stands in a text. `secrets` are exact texts that never may be written. Raises InvalidArgument
    for a pattern that is none, or that matches the empty text.
    """

    def __init__(
        self, *, patterns: Iterable[str | re.Pattern[str]] = (), secrets: Iterable[str] = ()
    ) -> None:
        self._patterns = [_compiled(pattern) for pattern in patterns]
        self._given = tuple(secret for secret in secrets if secret)
        self._learned: dict[str, None] = {}
        self._search: re.Pattern[bytes] | None = None
        self._replace: re.Pattern[str] | None = None
        self._stale = bool(self._given)
        self.redacted = 0

    def redact(self, message: bytes, method: str = "") -> bytes:
        """Return the message without its secrets; the same object where there is none to be seen.

        `method` is that of the call, which a reply does not name. What is no JSON is redacted as one text.
        """
        if not method and (named := _METHOD.search(message)):
            method = named[1].decode()
        if not self.suspicious(message, method):
            return message
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
            clean = self._clean(loaded, fields, bool(_COOKIE_METHODS.match(method)))
        except RecursionError:
            return msgspec.json.encode(
                {"id": loaded.get("id"), "method": method, REDACTED: "nested too deeply"}
            )
        if clean == loaded:
            return message
        self.redacted += 1
        return encode(clean)

    def text(self, text: str) -> str:
        """Return a text without what looks like a secret, and without those that are known."""
        for pattern, replacement in _IN_TEXT:
            text = pattern.sub(replacement, text)
        for pattern in self._patterns:
            text = pattern.sub(_group_replaced, text)
        self._compile()
        return text if self._replace is None else self._replace.sub(REDACTED, text)

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

    def suspicious(self, message: bytes, method: str) -> bool:
        """Say whether a message, or a part of one, may hold a secret. Errs towards yes."""
        if self._patterns or _holds_secrets(method):
            return True
        low = message.lower()
        # It runs for every message. Measured: in a short text one pattern is faster, in a long one the words are.
        if len(low) < _SHORT:
            if _SUSPECT.search(low):
                return True
        elif any(map(low.__contains__, _SUSPECTS)):
            return True
        if b"@" in low and _QUICK_USER.search(low):
            return True
        if (b"=" in low or b"\\" in low) and _has_query_key(low):
            return True
        self._compile()
        return self._search is not None and self._search.search(message) is not None

    # --- going through -------------------------------------------------------------------------------------

    def _clean(self, value: Any, fields: tuple[str, ...], cookies: bool) -> Any:
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, list):
            return [self._clean(item, fields, cookies) for item in value]
        if not isinstance(value, dict):
            return value
        header = value.get("name")
        named = isinstance(header, str) and _NAMED.search(header) is not None
        clean: dict[str, Any] = {}
        for key, item in value.items():
            is_cookie = key == "value" and (cookies or _is_cookie(value))
            secret = key in fields or is_cookie or (named and key in ("value", "binaryValue"))
            if not secret and isinstance(item, str):
                secret = key in SECRET_TEXTS or (key not in HARMLESS_NAMES and _NAMED.search(key) is not None)
            clean[key] = self._hidden(item) if secret else self._clean(item, fields, cookies)
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
        for part in {secret, *re.split(r"[;\s]+", secret)} if len(secret) <= _LONGEST_REMEMBERED else ():
            part = part.partition("=")[2] if "=" in part.rstrip("=") else part
            if len(part) < _LONG_ENOUGH or part == REDACTED or part in self._given:
                continue
            if self._learned.pop(part, "new") == "new":
                self._stale = True
            self._learned[part] = None
            while len(self._learned) > _REMEMBERED:
                del self._learned[next(iter(self._learned))]
                self._stale = True

    def _compile(self) -> None:
        if not self._stale:
            return
        self._stale = False
        forms = {form for secret in (*self._given, *self._learned) for form in _forms(secret)}
        ordered = sorted(forms, key=len, reverse=True)
        if ordered:
            self._replace = re.compile("|".join(map(re.escape, ordered)))
            self._search = re.compile(
                b"|".join(re.escape(form.encode("utf-8", "replace")) for form in ordered)
            )


@lru_cache(2_000)
def _holds_secrets(method: str) -> bool:
    return method in SECRET_PARAMETERS or _COOKIE_METHODS.match(method) is not None


def _has_query_key(low: bytes) -> bool:
    """Say whether one of QUERY_KEYS stands before "=" or ":".

    Searches for plain text, however many, are much faster than one for a pattern that begins with alternatives.
    """
    for key in _QUICK_KEYS:
        at = low.find(key)
        while at >= 0:
            after = at + len(key)
            if (not at or low[at - 1] not in _QUICK_BEFORE) and _QUICK_AFTER.match(low, after):
                return True
            at = low.find(key, after)
    return False


def _forms(secret: str) -> set[str]:
    """Return how a text is written: as it is, inside of JSON once and twice, in URLs."""
    once = json.dumps(secret)[1:-1]
    plain = json.dumps(secret, ensure_ascii=False)[1:-1]
    return {secret, once, plain, json.dumps(once)[1:-1], quote(secret, safe=""), quote(secret)}


def _is_cookie(value: dict[str, Any]) -> bool:
    return "name" in value and "domain" in value and "value" in value


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
