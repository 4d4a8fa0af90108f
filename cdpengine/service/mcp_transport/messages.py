"""JSON-RPC messages of MCP clients, checked before the SDK reads them. Pure.

Rule: each request with a readable id gets a response, even if only an error. The SDK drops a message that it
cannot parse, and treats one with a wrong id as a notification. So this module checks each message, and the
transport answers the refused ones. Notifications and responses are never answered (JSON-RPC 2.0, sections 4.1
and 5).

The SDK cannot parse unpaired surrogates. In the arguments of a tool they are hidden from it by marks
(`show_arguments` undoes that). U+FFFD replaces them in all other strings.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from typing import Any

import attrs
import msgspec
from mcp_types.jsonrpc import (
    INVALID_PARAMS,
    INVALID_REQUEST,
    METHOD_NOT_FOUND,
    PARSE_ERROR,
    jsonrpc_message_adapter,
)

from cdpengine import _json

LONGEST_MESSAGE = 1 << 26
"""Maximum length of a message on standard input, in bytes. A longer one is read, discarded and refused."""

_MOST_LEVELS = 200
"""Nesting levels that the SDK's JSON parser accepts."""

Id = str | int | float | None


@attrs.frozen
class Accepted:
    """A message in a form that the SDK parses. `id` is None unless the message is a request.

    `cancels` is the id of the request that a notification cancels, else None.
    """

    text: str
    id: str | int | None
    cancels: str | int | None = None


@attrs.frozen
class Refusal:
    """A message that is not passed to the SDK.

    `silent`: it is a notification or a response, so it gets no answer.
    """

    code: int
    reason: str
    id: Id = None
    silent: bool = False

    def to_json(self) -> bytes:
        """Return the JSON-RPC error."""
        error = {"code": self.code, "message": self.reason}
        return _json.to_bytes(
            _json.encode_text({"jsonrpc": "2.0", "id": self.id, "error": error}, compact=True)
        )


def read_message(raw: bytes) -> Accepted | Refusal:
    """Return a message in a form that the SDK parses, or the reason why that is impossible."""
    try:
        text = raw.decode()
    except UnicodeDecodeError:
        return Refusal(
            PARSE_ERROR, "the message is not UTF-8", _find_members(raw.decode(errors="replace"))[0]
        )
    try:
        message = _json.decode(raw)
        refused = _check(message)
    except msgspec.DecodeError as error:  # ValidationError is one: a number that is out of range
        return _refuse_unread(text, error)
    if refused is not None:
        return refused
    accepted = _accept(text, message)
    if accepted is None:
        reason = f"the message is nested deeper than {_MOST_LEVELS} levels, or has a member of a wrong type"
        return Refusal(INVALID_REQUEST, reason, message.get("id"), silent="id" not in message)
    cancels = None
    if message.get("method") == "notifications/cancelled" and isinstance(message.get("params"), dict):
        named = message["params"].get("requestId")
        cancels = named if isinstance(named, str | int) else None
    return Accepted(accepted, message.get("id") if "method" in message else None, cancels)


def refuse_duplicate(identifier: Id) -> Refusal:
    """Return the refusal of a request with the id of another unanswered request."""
    return Refusal(INVALID_REQUEST, "another request with this id has no answer yet", identifier)


def refuse_long(beginning: bytes) -> Refusal:
    """Return the refusal of a message longer than `LONGEST_MESSAGE`, by its first bytes."""
    identifier, _ = _find_members(beginning.decode(errors="replace"))
    return Refusal(INVALID_REQUEST, f"the message is longer than {LONGEST_MESSAGE:,} bytes", identifier)


def show_arguments(arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Return a tool's arguments as the client sent them, with unpaired surrogates in place of the marks."""
    readable: dict[str, Any] = _json.show_unpaired(dict(arguments))
    return readable


def _check(message: Any) -> Refusal | None:
    """Return why a message is not a JSON-RPC message of MCP, or None if it can be one."""
    if isinstance(message, list):
        return Refusal(
            INVALID_REQUEST, "the message is a list: MCP has no batches. Send each message separately"
        )
    if not isinstance(message, dict):
        return Refusal(INVALID_REQUEST, "the message is not a JSON object")
    if "method" not in message and message.keys() & {"result", "error"}:
        if _accept(None, message) is None:
            return Refusal(INVALID_REQUEST, "the response is not valid", silent=True)
        return None
    identifier, method = message.get("id"), message.get("method")
    echoed_id = _keep_id(identifier)
    silent = "id" not in message and isinstance(method, str)
    if message.get("jsonrpc") != "2.0":
        return Refusal(INVALID_REQUEST, 'the member "jsonrpc" is not "2.0"', echoed_id, silent)
    if "id" in message and (not isinstance(identifier, str | int) or isinstance(identifier, bool)):
        return Refusal(INVALID_REQUEST, 'the member "id" is not a string or an integer', echoed_id)
    if isinstance(identifier, str) and _json.has_unpaired(identifier):
        return Refusal(INVALID_REQUEST, 'the member "id" has an unpaired surrogate', echoed_id)
    if message.keys() & {"result", "error"}:
        return Refusal(INVALID_REQUEST, "the message is both a request and a response", echoed_id, silent)
    if not isinstance(method, str):
        missing = "is missing" if "method" not in message else "is not a string"
        return Refusal(INVALID_REQUEST, f'the member "method" {missing}', echoed_id)
    if _json.has_unpaired(method):
        return Refusal(METHOD_NOT_FOUND, "unknown method", echoed_id, silent)
    if not isinstance(message.get("params"), dict | None):
        return Refusal(INVALID_PARAMS, 'the member "params" is not a JSON object', echoed_id, silent)
    return None


def _keep_id(identifier: Any) -> Id:
    """Return the id for an answer: JSON-RPC allows strings and numbers."""
    is_number = isinstance(identifier, int | float) and not isinstance(identifier, bool)
    return identifier if is_number or isinstance(identifier, str) else None


def _accept(text: str | None, message: dict[str, Any]) -> str | None:
    """Return JSON that the SDK parses, or None. `text` is the original message."""
    try:
        if text is None or _json.has_unpaired_escape(text):
            text = _json.encode_ascii(_hide(message))
        jsonrpc_message_adapter.validate_json(text, by_name=False)
    except (ValueError, RecursionError):  # pydantic's ValidationError is a ValueError
        return None
    return text


def _hide(message: dict[str, Any]) -> dict[str, Any]:
    """Return a message without unpaired surrogates."""
    params = message.get("params")
    if message.get("method") != "tools/call" or not isinstance(params, dict) or "arguments" not in params:
        hidden: dict[str, Any] = _json.replace_all_unpaired(message)
        return hidden
    rest = {name: value for name, value in params.items() if name != "arguments"}
    hidden = _json.replace_all_unpaired({**message, "params": rest})
    hidden["params"]["arguments"] = _json.hide_unpaired(params["arguments"])
    return hidden


def _refuse_unread(text: str, error: msgspec.DecodeError) -> Refusal:
    """Return the refusal of a message that is not JSON or exceeds a limit of the decoder."""
    identifier, is_notification = _find_members(text)
    if isinstance(error, msgspec.ValidationError):
        reason = "the message has a number that is out of range"
        return Refusal(INVALID_REQUEST, reason, identifier, is_notification)
    if _json.is_too_deep(error):
        reason = f"the message is nested deeper than {_MOST_LEVELS} levels"
        return Refusal(INVALID_REQUEST, reason, identifier, is_notification)
    detail = str(error).removeprefix("JSON is malformed: ").lower()
    return Refusal(PARSE_ERROR, f"the message is not JSON: {detail}", identifier)


# --- the id of a message that cannot be decoded ----------------------------------------------------------------

_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|[{}\[\],:]|[^\s"{}\[\],:]+', re.DOTALL)
_BLANK = re.compile(r"\s*")
_LONGEST_ID = 1_000
"""Maximum length of an id that is searched in an undecodable message, in characters."""


def _find_members(text: str) -> tuple[Id, bool]:
    """Return the id in a message's string, or None, and whether the message is certainly a notification.

    Only members of the message itself with a complete value count. The string is scanned once, to its end or to
    the first unterminated string literal, so that hostile input stays cheap.
    """
    members: dict[str, str] = {}
    last: list[str] = []
    depth = place = 0
    while True:
        place = _BLANK.match(text, place).end()  # type: ignore[union-attr]  # it matches any text
        found = _TOKEN.match(text, place)
        if found is None:
            break
        place, part = found.end(), found[0]
        if depth == 1 and part in (",", "}"):
            if len(last) == 3 and last[1] == ":" and last[0] in ('"id"', '"method"'):
                members[last[0]] = last[2]
            last = []
        elif depth == 1:
            last.append(part)
        depth += (part in "{[") - (part in "}]")
        if depth <= 0:
            break
    is_whole = place > 0 and not text[place:].strip() and depth == 0
    method = members.get('"method"', "")
    return _parse_id(members.get('"id"')), is_whole and '"id"' not in members and method.startswith('"')


def _parse_id(token: str | None) -> Id:
    if token is None or len(token) > _LONGEST_ID:
        return None
    try:
        identifier = _keep_id(_json.decode(token))
    except msgspec.DecodeError:
        return None
    return None if isinstance(identifier, float) and not math.isfinite(identifier) else identifier
