"""Removal of secrets from messages, and from data derived from them, before they reach a disk. Pure.

Rule: a scan of the bytes decides whether a message may contain a secret. Only such a message is decoded and
processed. A secret is recognised by its location (`secret_words.py`, `secret_payloads.py`), its field
(`secret_fields.py`), its form (`secret_text.py`, `secret_bodies.py`), or because it was entered or seen before
(`known_secrets.py`). Script arguments and results are withheld (`secret_payloads.py`). The replacement is
"[redacted]", which pages are unlikely to contain.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from itertools import accumulate, chain
from typing import Any

import msgspec

from cdpengine import _json
from cdpengine._checks import invalid
from cdpengine._secrets import is_secret_name
from cdpengine.debug.recording.content_streams import Piece
from cdpengine.debug.recording.cookie_lists import CookieLists
from cdpengine.debug.recording.fingerprints import TypedText, types_text
from cdpengine.debug.recording.known_secrets import REDACTED, KnownSecrets
from cdpengine.debug.recording.secret_bodies import BodyRedactor, CleanBody
from cdpengine.debug.recording.secret_fields import hide_in_attributes, hide_in_markup
from cdpengine.debug.recording.secret_payloads import (
    PayloadRedactor,
    Remember,
    enters_text,
    gives_no_text,
    hide_all,
    hide_entered,
    hide_field_values,
    withhold_arguments,
    withhold_quickly,
    withhold_result,
)
from cdpengine.debug.recording.secret_text import redact_data_urls, redact_text
from cdpengine.debug.recording.secret_words import (
    AX_METHODS,
    BETWEEN,
    CALLS,
    ENTERED,
    FORGOTTEN,
    HEADER_TEXTS,
    IN_JSON,
    NAMED_KEYS,
    OPEN_FIELDS,
    OPEN_LISTS,
    SECRET_PARAMETERS,
    VALUE_FIELDS,
    Search,
    has_cookies,
    holds_secrets,
    is_secret_field,
)

_SHORT = 200
_SHORT_CALL = 1_000
_SHORT_TEXTS = 4_000
_METHOD = re.compile(rb'"method"\s*:\s*"([\w.]{1,80})"')
_QUICK_USER = re.compile(rb"://[^/?#\s\"'<>@\0]+@")
_HEADER_LINE = re.compile(r"^([\w\-]+)(:[ \t]*)([^\r\n]+)", re.MULTILINE)
_SIFTED = 4_096  # maximum size of messages that are searched together, in bytes
_EDITABLE = b'"editable"'


class Redactor:
    """The redactor of one recording, and its learned secrets.

    `patterns` are further regular expressions. Their matches (or group 1, if present) are replaced in every
    string. `secrets` are exact strings that are never written. `keep_arguments` keeps script arguments and results
    that are not otherwise secret. Raises InvalidArgumentError for a pattern that does not compile or matches the
    empty string.
    """

    def __init__(
        self,
        *,
        patterns: Iterable[str | re.Pattern[str]] = (),
        secrets: Iterable[str] = (),
        keep_arguments: bool = False,
    ) -> None:
        self.patterns = tuple(_compile(pattern) for pattern in patterns)
        self.keep_arguments = keep_arguments
        self._known = KnownSecrets(secrets)
        self._cookies = CookieLists(self._known, self._looks_secret)
        self._bodies = BodyRedactor(self.text, self._known, self._looks_secret, bool(self.patterns))
        self._payloads = PayloadRedactor(self.text, self._known, self._bodies, keep_arguments)
        self._typed = TypedText()
        self._texts: dict[str, str] = {}  # results for short strings: most repeat
        self._calls: dict[
            bytes, bytes
        ] = {}  # calls and their redacted forms, without call numbers; b"" if equal
        self._texts_at = self._calls_at = 0  # `learned` when the caches were filled

    @property
    def learned(self) -> int:
        """Number of additions to the known secrets."""
        return self._known.version

    def redact(
        self,
        message: bytes,
        method: str = "",
        *,
        suspicious: bool = False,
        own: bool = False,
        piece: Piece | None = None,
    ) -> bytes:
        """Return the message without its secrets; the same object if none is visible.

        `method` is the method of the call, which a reply does not name. A message that is not JSON is redacted as
        one string. `suspicious`: the scan already found a possible secret. `own`: the script belongs to the
        engine, so its arguments and results are kept. `piece` is the position of a stream piece; a piece without a
        position is withheld.
        """
        if not method and (named := _METHOD.search(message)):
            method = named[1].decode()
        if has_cookies(method) and not self.patterns:
            without = self._cookies.drop_values(message, entered=method in ENTERED)
            if without is not None:
                return without
        withheld = not own and not self.keep_arguments and method in CALLS
        if withheld and (quick := withhold_quickly(message)) is not None:
            return quick
        withheld = withheld and not gives_no_text(message)
        entering = False
        if own and method in CALLS:
            entering = enters_text(message)
            message = hide_field_values(message, self._known.is_short)
        if not suspicious and not withheld and not entering and not self.suspicious(message, method):
            return message
        try:
            loaded = _json.decode(message)
        except msgspec.DecodeError:
            text = self.text(message.decode("utf-8", "replace"))
            return text.encode("utf-8", "replace")
        found = loaded.get("method") if isinstance(loaded, dict) else None
        method = found if isinstance(found, str) else method
        try:
            clean = self._clean_message(loaded, method, withheld=withheld, entering=entering, piece=piece)
        except RecursionError:
            return _json.encode({"id": loaded.get("id"), "method": method, REDACTED: "nested too deeply"})
        if clean == loaded:
            return message
        return _json.encode(clean)

    def redact_call(
        self,
        message: bytes,
        method: str,
        number: int | None,
        *,
        suspicious: bool = False,
        own: bool = False,
    ) -> bytes:
        """Redact the command with that number, like `redact`.

        Results are cached for commands that differ only in their number, because most commands repeat.
        """
        named = b'{"id":%d,' % (number or 0)
        if len(message) > _SHORT_CALL or not message.startswith(named) or types_text(method):
            return self.redact(message, method, suspicious=suspicious, own=own)
        rest = message[len(named) :]
        if self._calls_at == self.learned and (known := self._calls.get(rest)) is not None:
            return message if known == b"" else named + known
        clean = self.redact(message, method, suspicious=suspicious, own=own)
        if self._calls_at != self.learned or len(self._calls) >= _SHORT_TEXTS:
            self._calls.clear()
            self._calls_at = self.learned
        if clean is message:
            self._calls[rest] = b""
        elif clean.startswith(named):
            self._calls[rest] = clean[len(named) :]
        return clean

    def text(self, text: str) -> str:
        """Return a string without known secrets and parts that look secret."""
        if len(text) > _SHORT:
            return self._text(text)
        if self._texts_at != self.learned or len(self._texts) >= _SHORT_TEXTS:
            self._texts.clear()
            self._texts_at = self.learned
        clean = self._texts.get(text)
        if clean is None:
            version = self.learned
            clean = self._text(text)
            if version == self.learned:
                self._texts[text] = clean
        return clean

    def _text(self, text: str) -> str:
        # Known secrets first: the other rules find only the first word of a secret with spaces.
        text = self._known.replace(text)
        version = self.learned
        text = hide_in_markup(text, self.hide)
        text = redact_data_urls(text, self._bodies.redact_base64)
        text = redact_text(text, self._known.add_token)
        for pattern in self.patterns:
            text = pattern.sub(_group_replaced, text)
        return text if version == self.learned else self._known.replace(text)

    def clean(self, value: dict[str, Any]) -> dict[str, Any]:
        """Return a JSON object, which is not a protocol message, without the secrets that `redact` finds.

        It is for data whose nesting depth this program controls.
        """
        clean: dict[str, Any] = self._clean(value, (), cookies=False)
        return clean

    def hide(self, text: str) -> str:
        """Return the replacement of a string that is secret by its location, and remember the string."""
        if not text:
            return text
        self._known.add_observed(text)
        return REDACTED

    def note_script(self, session_id: str) -> None:
        """Note that a script ran. It may have moved the focus, so later typed text may belong to another field."""
        self._typed.note_script(session_id)

    def add_secret(self, text: str) -> None:
        """Add a string that is secret everywhere from now on, such as text about to be typed."""
        self._known.add_entered(text)

    # --- deciding ------------------------------------------------------------------------------------------

    def sift(self, messages: Sequence[bytes]) -> list[bool]:
        """Return for each message whether its bytes are free of possible secrets.

        All messages are searched together, for a fraction of the cost of separate searches. Errs towards False.
        The answer is valid while `learned` is unchanged.
        """
        if self.patterns:
            return [False] * len(messages)
        free = [len(message) <= _SIFTED or not self._speaks(message) for message in messages]
        small = [(index, message) for index, message in enumerate(messages) if len(message) <= _SIFTED]
        together = BETWEEN.join([message for _, message in small])
        ends = list(accumulate(len(message) + 1 for _, message in small))
        low = together.lower()
        parts: list[Iterable[int]] = [IN_JSON.parts(low, ends), self._known.parts(together, ends)]
        if b"@" in low:
            parts.append(bisect_right(ends, match.start()) for match in _QUICK_USER.finditer(low))
        for part in chain.from_iterable(parts):
            free[small[part][0]] = False
        return free

    def suspicious(self, message: bytes, method: str) -> bool:
        """Return whether a message, or a part of one, may contain a secret. Errs towards True."""
        if self.patterns:
            return True
        if AX_METHODS.match(method):
            return _EDITABLE in message or self._speaks(message)
        return (method not in CALLS and holds_secrets(method)) or self._speaks(message)

    def _speaks(self, message: bytes) -> bool:
        return self._looks_secret(message.lower()) or self._known.is_in(message)

    def _looks_secret(self, low: bytes, words: Search = IN_JSON) -> bool:
        return (b"@" in low and _QUICK_USER.search(low) is not None) or words.is_in(low)

    # --- redacting -------------------------------------------------------------------------------------

    def _remembers(self, method: str) -> Remember:
        """Return the function that stores the secrets found in messages of this method."""
        if method in FORGOTTEN:
            return _forget
        return self._known.add_entered if method in ENTERED else self._known.add_observed

    def _clean_message(
        self, message: Any, method: str, *, withheld: bool, entering: bool, piece: Piece | None
    ) -> Any:
        fields = SECRET_PARAMETERS.get(method, ())
        cookies = has_cookies(method)
        if not isinstance(message, dict):
            return self._clean(message, fields, cookies=cookies)
        message = dict(message)
        params = message.get("params")
        if isinstance(params, dict) and types_text(method):
            session_id = str(message.get("sessionId", ""))
            before, typed = self._typed.take(session_id, method, params)
            for shorter, longer in ((before, typed), self._typed.take_on(session_id, before, typed)):
                if longer:
                    self._known.add_typed(shorter, longer)
            if method == "Input.dispatchKeyEvent" and NAMED_KEYS.fullmatch(str(params.get("key", ""))):
                fields = ()
        for name in ("params", "result"):
            payload = message.get(name)
            if isinstance(payload, dict):
                if withheld:
                    if name == "result":
                        self._learn_from_nodes(payload.get("result"))
                    change = withhold_arguments if name == "params" else withhold_result
                    payload = change(payload)
                elif entering and name == "params":
                    payload = hide_entered(payload, self._known.add_entered)
                message[name] = self._payloads.redact(payload, method, piece)
        remember = self._remembers(method)
        version = self.learned
        clean = self._clean(message, fields, cookies=cookies, remember=remember)
        # A secret learned from the message may also occur earlier in it.
        return (
            clean
            if version == self.learned
            else self._clean(clean, fields, cookies=cookies, remember=remember)
        )

    def _clean(
        self,
        value: Any,
        fields: tuple[str, ...],
        *,
        cookies: bool,
        remember: Remember | None = None,
        named_by_page: bool = False,
    ) -> Any:
        """Return the value without secrets. `named_by_page`: a page may have chosen the field names."""
        kind = type(value)  # as decoded from JSON: exactly one of these
        if kind is str:
            return self.text(value)
        if kind is list:
            return [
                self._clean(item, fields, cookies=cookies, remember=remember, named_by_page=named_by_page)
                for item in value
            ]
        if kind is not dict:
            return value
        secret = fields
        if "value" in value and (cookies or ("name" in value and "domain" in value)):
            secret = (*secret, "value")
        header = value.get("name")
        if type(header) is str and is_secret_name(header):
            secret = (*secret, "value", "binaryValue")
        if "attributes" in value and ("nodeName" in value or "localName" in value):
            value, inside = self._clean_node(value)
            secret, fields = (*secret, *inside), (*fields, *inside)
        if value.get("encoding") == "base64" or value.get("opcode") == 2:  # of an archive (HAR)
            value = self._bodies.redact_fields(value, ("text", "data"), piece=None)
        clean: dict[str, Any] = {}
        for key, item in value.items():
            kind = type(item)
            name = self._known.replace(key) if named_by_page and key not in VALUE_FIELDS else key
            if kind is str:
                if key in secret or is_secret_field(key):
                    clean[name] = hide_all(item, remember or self._known.add_observed)
                elif key == "title":
                    clean[name] = _clean_title(self.text(item))
                elif key in HEADER_TEXTS:
                    clean[name] = self.text(_HEADER_LINE.sub(self._clean_header_line, item))
                else:
                    clean[name] = self.text(item)
            elif kind is CleanBody:
                clean[name] = str(item) if item.version == self.learned else self.text(str(item))
            elif key in secret:
                clean[name] = hide_all(item, remember or self._known.add_observed)
            elif kind is dict or kind is list:
                clean[name] = self._clean(
                    item,
                    fields,
                    cookies=cookies,
                    remember=remember,
                    named_by_page=named_by_page or key in (OPEN_FIELDS if kind is dict else OPEN_LISTS),
                )
            else:
                clean[name] = item
        return clean

    def _clean_node(self, node: dict[str, Any]) -> tuple[dict[str, Any], tuple[str, ...]]:
        """Return a DOM.Node without secrets in its attributes, and the names of the secret fields below it."""
        tag = str(node.get("localName") or node.get("nodeName") or "").lower()
        attributes = node["attributes"]
        # Attributes are a list in the DOM domain, and an object if V8 serialized the node.
        listed = (
            [each for pair in attributes.items() for each in pair]
            if isinstance(attributes, dict)
            else attributes
        )
        if not isinstance(listed, list):
            return node, ()
        listed, field = hide_in_attributes(tag, listed, self.hide)
        if isinstance(attributes, dict):
            return {**node, "attributes": dict(zip(listed[::2], listed[1::2], strict=True))}, ()
        # The browser's shadow tree of a field contains its value as a text node.
        return {**node, "attributes": listed}, ("nodeValue",) if field else ()

    def _learn_from_nodes(self, returned: Any) -> None:
        """Remember the secrets in the nodes that a script returned, before the whole result is withheld."""
        waiting = [returned.get("deepSerializedValue")] if isinstance(returned, dict) else []
        while waiting:
            each = waiting.pop()
            if isinstance(each, list):
                waiting.extend(each)
            elif isinstance(each, dict):
                if "attributes" in each and "localName" in each:
                    self._clean_node(each)
                waiting.extend(each.values())

    def _clean_header_line(self, line: re.Match[str]) -> str:
        return line[0] if not is_secret_field(line[1]) else f"{line[1]}{line[2]}{self.hide(line[3])}"


def _clean_title(title: str) -> str:
    """Return a title without secrets.

    A title that is a URL is cut at its first secret, because spaces hide the secret's end.
    """
    at = title.find(REDACTED)
    begins = re.match(r"[^\s?#]*[?#]", title)
    return title[: at + len(REDACTED)] if begins is not None and at >= begins.end() else title


def _forget(_text: str) -> None:
    """Ignore a secret that need not be remembered."""


def _group_replaced(match: re.Match[str]) -> str:
    if not match.re.groups or match.group(1) is None:
        return REDACTED
    start, end = match.span(1)
    return match[0][: start - match.start()] + REDACTED + match[0][end - match.start() :]


def _compile(pattern: str | re.Pattern[str]) -> re.Pattern[str]:
    try:
        compiled = re.compile(pattern) if isinstance(pattern, str) else pattern
    except re.error as error:
        raise invalid("pattern", pattern, f"a regular expression ({error})") from None
    if compiled.match(""):
        raise invalid("pattern", compiled.pattern, "one that does not match the empty string")
    return compiled
