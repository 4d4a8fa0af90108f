"""Secrets in parameters and results that are recognised by the protocol method. Pure.

Rule: a value in a secret location is removed whatever it looks like. The rest is then redacted like any other
message. Script arguments and results are withheld because their secrets are unknown: strings are replaced, shapes
stay (types, numbers, names of classes and properties, object ids). The caller identifies the engine's scripts,
which are not withheld.
"""

from __future__ import annotations

import base64
import quopri
import re
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import attrs

from cdpengine import _json
from cdpengine._javascript import ENTERED
from cdpengine._posted_strings import MOST_VALUES, posted_values
from cdpengine._secrets import is_secret_header, is_secret_name
from cdpengine._urls.reading import credentials_in
from cdpengine.debug.recording.content_streams import NOWHERE, STREAMS, Piece
from cdpengine.debug.recording.known_secrets import REDACTED, KnownSecrets
from cdpengine.debug.recording.secret_bodies import BodyRedactor
from cdpengine.debug.recording.secret_fields import hide_in_ax_nodes, hide_in_dom_snapshot
from cdpengine.debug.recording.secret_words import (
    AX_METHODS,
    BASE64_FIELDS,
    HEADER_METHODS,
    TEXT_PIECES,
    WITHHELD,
)

_ADDRESSED = ("Page.navigate", "Target.createTarget", "Fetch.continueRequest")
"""Commands of the program with a URL and possibly a posted body."""

Remember = Callable[[str], None]
"""Function that remembers a secret, so that it is also redacted in other messages."""


@attrs.frozen(eq=False)
class PayloadRedactor:
    """Redactor of parameters and results by method. `keep_arguments` keeps calls of the program's bindings."""

    text: Callable[[str], str]
    known: KnownSecrets
    bodies: BodyRedactor
    keep_arguments: bool

    def redact(self, payload: dict[str, Any], method: str, piece: Piece | None = None) -> dict[str, Any]:
        """Return parameters or a result without the secrets that follow from the method.

        `piece` is the position of a stream piece. A piece without a position is withheld.
        """
        if method in _ADDRESSED:
            self._learn_entered(payload)
        for field in WITHHELD.get(method, ()):
            if field in payload:
                payload = {**payload, field: withhold_texts(payload[field])}
        if method == "DOMSnapshot.captureSnapshot":
            payload = hide_in_dom_snapshot(payload, self._hide)
        elif AX_METHODS.match(method):
            payload = _drop_ax_values(payload)
        elif method == "DOM.attributeModified" and payload.get("name") == "value":
            payload = {**payload, "value": withhold_texts(payload.get("value"))}
        elif method == "DOM.setAttributeValue" and _holds_value(payload.get("name")):
            payload = {**payload, "value": hide_all(payload.get("value"), self.known.add_entered)}
        elif method == "DOMStorage.getDOMStorageItems":
            payload = self._clean_entries(payload)
        elif method == "Runtime.bindingCalled" and not self.keep_arguments:
            payload = {**payload, "payload": withhold_payload(str(payload.get("payload", "")))}
        elif method == "Page.captureSnapshot":
            payload = {**payload, "data": self._clean_archive(payload.get("data"))}
        if method in HEADER_METHODS:
            payload = self._clean_headers(payload)
        if piece is None and method in STREAMS:
            piece = NOWHERE
        if method in TEXT_PIECES:
            return self.bodies.redact_text_piece(payload, TEXT_PIECES[method], piece)
        return self.bodies.redact_fields(payload, BASE64_FIELDS.get(method, ()), piece=piece)

    def _learn_entered(self, params: dict[str, Any]) -> None:
        """Remember the credentials of a URL and the values of a posted body from the program."""
        values = credentials_in(str(params.get("url", "")))
        if isinstance(posted := params.get("postData"), str):
            with suppress(ValueError):
                values += posted_values(base64.b64decode(posted))[:MOST_VALUES]
        for each in values:
            self.known.add_entered(each)

    def _clean_entries(self, payload: dict[str, Any]) -> dict[str, Any]:
        """Return the entries of a storage, (key, value) pairs, without the values."""
        entries = payload.get("entries")
        if not isinstance(entries, list):
            return payload
        pairs = [
            [*each[:1], *hide_all(each[1:], self.known.add_observed)] if isinstance(each, list) else each
            for each in entries
        ]
        return {**payload, "entries": pairs}

    def _clean_archive(self, data: Any) -> Any:
        """Return a page as MHTML, withheld as a whole if it contains secrets."""
        if not isinstance(data, str):
            return data
        text = quopri.decodestring(data.encode("utf-8", "replace")).decode("utf-8", "replace")
        return data if self.text(text) == text else REDACTED

    def _clean_headers(self, payload: dict[str, Any]) -> dict[str, Any]:
        """Return parameters without the values of headers that the program defined."""

        def hide_value(name: Any, value: Any) -> Any:
            secret = isinstance(name, str) and is_secret_header(name)
            return hide_all(value, self.known.add_entered) if secret else value

        clean = dict(payload)
        for name in ("headers", "responseHeaders"):
            listed = clean.get(name)
            if isinstance(listed, dict):
                clean[name] = {key: hide_value(key, value) for key, value in listed.items()}
            elif isinstance(listed, list):
                clean[name] = [
                    {**each, "value": hide_value(each.get("name"), each.get("value"))}
                    if isinstance(each, dict)
                    else each
                    for each in listed
                ]
        return clean

    def _hide(self, text: str) -> str:
        self.known.add_observed(text)
        return REDACTED


def _holds_value(attribute: Any) -> bool:
    """Return whether an attribute with that name contains a field's value or a secret."""
    return isinstance(attribute, str) and (
        attribute.lower() in ("value", "content") or is_secret_name(attribute)
    )


def hide_all(value: Any, remember: Remember) -> Any:
    """Replace every string in a JSON value, and remember the strings. The shape stays."""
    if isinstance(value, str):
        if value and value != REDACTED:
            remember(value)
        return REDACTED if value else value
    if isinstance(value, bool) or value is None:
        return value
    if isinstance(value, int | float):
        return 0
    if isinstance(value, list):
        return [hide_all(item, remember) for item in value]
    return {key: hide_all(item, remember) for key, item in value.items()}


def _drop_ax_values(payload: dict[str, Any]) -> dict[str, Any]:
    clean = dict(payload)
    for name in ("nodes", "node", "root"):
        value = clean.get(name)
        if isinstance(value, list):
            clean[name] = hide_in_ax_nodes(value, withhold_texts)
        elif isinstance(value, dict):
            clean[name] = hide_in_ax_nodes([value], withhold_texts)[0]
    return clean


# --- script arguments and results -----------------------------------------------------------------------

_VALUE_FIELDS = ("arguments", "newValue", "returnValue")
_SOURCES = ("expression", "functionDeclaration")

_CALLED = re.compile(r"\n\)(?:\.call)?\(")
"""Start of the argument list of a function that `page.evaluate` calls. The arguments are source literals."""

_LITERAL = re.compile(r'"(?:[^"\\]|\\.)*"|\'(?:[^\'\\]|\\.)*\'|`(?:[^`\\]|\\.)*`', re.DOTALL)

_KEY_OR_TEXT = re.compile(r'("(?:[^"\\]|\\.)*"\s*:)|"(?:[^"\\]|\\.)*"', re.DOTALL)

_ONLY_LITERALS = re.compile(
    r"(?:[\s\[\]{}(),:.+\-]|this|arguments|null|undefined|true|false|NaN|Infinity|(?:0x)?[\da-f]++n?|\d[\d.eE+-]*+)*+"
)
"""Remainder of arguments after removing their strings."""

_CLASS = re.compile(r"[\w$.]{1,80}(?:\(\d+\))?")
"""Descriptions that contain only a class and a size: "Array(3)"."""

_TEXTS_OF_PREVIEWS = ("value", "description", "pattern", "nodeValue", "header", "body")

_UNCAUGHT = re.compile(r"Uncaught(?: \(in promise\))?")

_TEXTLESS = re.compile(
    rb'\{"id":\d+,"result":\{"result":\{"type":"(?:number|boolean|undefined)"[^"]*(?:"value":[^"]*)?'
    rb'(?:"description":"[-\d.e+]*")?\}\}(?:,"sessionId":"\w*")?\}'
)
_TEXT = re.compile(rb'\{"id":\d+,"result":\{"result":\{"type":"string","value":"')
_AFTER_TEXT = re.compile(rb'"\}\}(?:,"sessionId":"\w*")?\}')
_LONGEST_TAIL = 80
_CALL = re.compile(rb'\{"id":\d+,"method":"Runtime\.(?:evaluate|callFunctionOn)"')
_SIGNS_OF_TEXT = (b'"value"', b"\\n)")


def withhold_quickly(reply: bytes) -> bytes | None:
    """Withhold the string in an evaluation's reply by its bytes. Returns None if it must be decoded.

    It handles the most frequent replies: one string, a number, a boolean, nothing.
    """
    if _TEXTLESS.fullmatch(reply):
        return reply
    if (head := _TEXT.match(reply)) is not None:
        # Quotes within a string are escaped, so the last one before the braces ends it.
        start = max(head.end(), len(reply) - _LONGEST_TAIL)
        at = reply.rfind(b'"}}', start - 1)
        if at >= 0 and _AFTER_TEXT.fullmatch(reply, at):
            text = REDACTED.encode() if at > head.end() else b""
            return b"".join((reply[: head.end()], text, reply[at:]))
    return None


def gives_no_text(call: bytes) -> bool:
    """Return whether a command passes no string to its script: no value and no trailing literals."""
    return _CALL.match(call) is not None and not any(sign in call for sign in _SIGNS_OF_TEXT)


_ENTERED_SIGN = b'"%b"' % ENTERED.encode()
_FIELD_VALUE = re.compile(rb'(\\"value\\",)\\"((?:[^"\\]|\\u[\da-fA-F]{4}|\\\\(?:\\.|[^\\])){1,40})\\"')
"""Value of a text field in a snapshot that a script of the engine returned as JSON."""
_HELD_VALUE = re.compile(rb'("holds":)"((?:[^"\\]|\\.){1,80})"')
"""Value of a text field that fill.js or read_back.js found."""


def enters_text(call: bytes) -> bool:
    """Return whether a command to a script of the engine passes strings to enter."""
    return _ENTERED_SIGN in call


def hide_entered(value: Any, remember: Remember) -> Any:
    """Replace the strings to enter in the parameters of a command to a script of the engine."""
    if isinstance(value, list):
        return [hide_entered(each, remember) for each in value]
    if isinstance(value, dict):
        return {
            key: hide_all(each, remember) if key == ENTERED else hide_entered(each, remember)
            for key, each in value.items()
        }
    return value


def hide_field_values(reply: bytes, is_entered: Callable[[str], bool]) -> bytes:
    """Replace the values of fields that equal an entered string, in the reply to a script of the engine.

    Returns the same object if no value is replaced.
    """

    def hide_in_snapshot(found: re.Match[bytes]) -> bytes:
        try:
            text = _json.decode(b'"%b"' % _json.decode(b'"%b"' % found[2]).encode())
        except ValueError:
            return found[0]
        return b'%b\\"%b\\"' % (found[1], REDACTED.encode()) if is_entered(text) else found[0]

    def hide_held(found: re.Match[bytes]) -> bytes:
        try:
            text = _json.decode(b'"%b"' % found[2])
        except ValueError:
            return found[0]
        return b'%b"%b"' % (found[1], REDACTED.encode()) if is_entered(text) else found[0]

    clean = _HELD_VALUE.sub(hide_held, _FIELD_VALUE.sub(hide_in_snapshot, reply))
    return reply if clean == reply else clean


def withhold_arguments(params: dict[str, Any]) -> dict[str, Any]:
    """Return the parameters of a method in CALLS without the strings passed to the script."""
    clean = dict(params)
    for name in _VALUE_FIELDS:
        if name in clean:
            clean[name] = _withhold_argument(clean[name])
    for name in _SOURCES:
        source = clean.get(name)
        if isinstance(source, str):
            clean[name] = _withhold_literals(source)
    return clean


def withhold_result(result: dict[str, Any]) -> dict[str, Any]:
    """Return the result of a method in CALLS without the strings that the script returned or threw."""
    clean = dict(result)
    if isinstance(returned := clean.get("result"), dict):
        clean["result"] = withhold_object(returned)
    elif isinstance(returned, list):
        clean["result"] = [_withhold_property(each) for each in returned]
    for name in ("internalProperties", "privateProperties"):
        if isinstance(listed := clean.get(name), list):
            clean[name] = [_withhold_property(each) for each in listed]
    if isinstance(details := clean.get("exceptionDetails"), dict):
        clean["exceptionDetails"] = _withhold_exception(details)
    return clean


def withhold_payload(payload: str) -> str:
    """Return the payload of a page's call to a binding (Runtime.bindingCalled) without its strings."""
    return _KEY_OR_TEXT.sub(lambda found: found[1] or f'"{REDACTED}"', payload)


def withhold_object(remote: dict[str, Any]) -> dict[str, Any]:
    """Return a Runtime.RemoteObject without its strings."""
    clean = dict(remote)
    if "value" in clean:
        clean["value"] = withhold_texts(clean["value"])
    description = clean.get("description")
    if isinstance(description, str) and not _has_no_content(clean, description):
        clean["description"] = REDACTED
    for name in ("preview", "customPreview", "deepSerializedValue", "webDriverValue"):
        if name in clean:
            clean[name] = _withhold_preview(clean[name])
    return clean


def withhold_texts(value: Any) -> Any:
    """Replace the strings in a JSON value. Keys, numbers and booleans stay."""
    if isinstance(value, str):
        return REDACTED if value else value
    if isinstance(value, list):
        return [withhold_texts(each) for each in value]
    if isinstance(value, dict):
        return {key: withhold_texts(each) for key, each in value.items()}
    return value


def _has_no_content(remote: dict[str, Any], description: str) -> bool:
    if remote.get("type") in ("number", "boolean", "undefined", "bigint") or remote.get("subtype") == "node":
        return True
    if remote.get("type") in ("string", "symbol"):
        return False
    return description == remote.get("className") or _CLASS.fullmatch(description) is not None


def _withhold_property(described: Any) -> Any:
    if not isinstance(described, dict):
        return described
    value_keys = ("value", "get", "set", "symbol")
    return {
        key: withhold_object(each) if key in value_keys and isinstance(each, dict) else each
        for key, each in described.items()
    }


def _withhold_exception(details: dict[str, Any]) -> dict[str, Any]:
    clean = dict(details)
    if isinstance(thrown := clean.get("exception"), dict):
        clean["exception"] = withhold_object(thrown)
    text = clean.get("text")
    if isinstance(text, str) and not _UNCAUGHT.fullmatch(text):
        clean["text"] = REDACTED
    if "exceptionMetaData" in clean:
        clean["exceptionMetaData"] = withhold_texts(clean["exceptionMetaData"])
    return clean


def _withhold_preview(value: Any) -> Any:
    """Remove `value` and `description` strings from a preview, or from V8's deep serialization."""
    if isinstance(value, list):
        return [_withhold_preview(each) for each in value]
    if not isinstance(value, dict):
        return value
    clean = {}
    for key, each in value.items():
        if key in _TEXTS_OF_PREVIEWS and isinstance(each, str):
            harmless = key == "description" and _CLASS.fullmatch(each) is not None
            clean[key] = each if harmless or value.get("type") in ("number", "boolean") else REDACTED
        else:
            clean[key] = _withhold_preview(each)
    return clean


def _withhold_argument(value: Any) -> Any:
    if isinstance(value, list):
        return [_withhold_argument(each) for each in value]
    if isinstance(value, dict):  # a Runtime.CallArgument: a value, an object's id, or a value outside JSON
        return {key: withhold_texts(each) if key == "value" else each for key, each in value.items()}
    return value


def _withhold_literals(source: str) -> str:
    called = None
    for called in _CALLED.finditer(source):  # noqa: B007 - the last one
        pass
    if called is None:
        return source
    arguments = source[called.end() :]
    if not _ONLY_LITERALS.fullmatch(_LITERAL.sub("", arguments)):
        return source  # a script of another form: its strings are its source
    return source[: called.end()] + _LITERAL.sub(f'"{REDACTED}"', arguments)
