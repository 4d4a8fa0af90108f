"""The strings of a posted body: of a form, of JSON or of markup, each separately. Pure.

Rule: single values may be secrets, but not the whole body: its beginning, such as `{"user":"`, occurs in many
others.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from email.parser import BytesParser
from email.policy import HTTP
from typing import Any
from urllib.parse import parse_qsl

import msgspec

from cdpengine import _json

_SHORTEST = 6
"""Minimum length of a secret that recorders search for in other messages, in characters."""

_LONGEST_BODY = 100_000
"""Maximum size of a body that is parsed, in bytes."""

MOST_VALUES = 64
"""Maximum number of values per body, so that a large body does not displace earlier entries."""

_FORM = re.compile(r"[^\s=&]{1,200}=\S*")
_STRUCTURED = ("{", "[", "<")
_IN_QUOTES = re.compile(r'"([^"\\<>]{6,})"')
_BETWEEN_TAGS = re.compile(r">([^<>]{6,})<")
"""The strings in markup, or in lines of JSON."""


def posted_values(body: bytes) -> list[str]:
    """Return the strings of a posted form or JSON, or the whole body if it is other text.

    Strings below 6 characters are left out. A binary body, or one above 100,000 bytes, has none.
    """
    if len(body) > _LONGEST_BODY:
        return []
    return list(dict.fromkeys(each for each in _strings_of(body) if len(each) >= _SHORTEST))


def _strings_of(body: bytes) -> Iterator[str]:
    if body.startswith(b"--"):
        yield from _fields_of(body)
        return
    try:
        text = body.decode()
    except UnicodeDecodeError:
        return
    try:
        value = _json.decode(body)
    except (msgspec.DecodeError, RecursionError):
        value = None
    if value is not None:
        yield from _texts_in(value)
    elif _FORM.fullmatch(text):
        yield from (value for _name, value in parse_qsl(text))
    elif text.lstrip()[:1] in _STRUCTURED:
        yield from (each.strip() for each in _IN_QUOTES.findall(text) + _BETWEEN_TAGS.findall(text))
    else:
        yield text


def _texts_in(value: Any) -> Iterator[str]:
    """Yield the strings of a JSON value, in order."""
    waiting = [value]
    while waiting:
        each = waiting.pop()
        if isinstance(each, str):
            yield each
        elif isinstance(each, dict):
            waiting.extend(reversed(each.values()))
        elif isinstance(each, list):
            waiting.extend(reversed(each))


def _fields_of(body: bytes) -> Iterator[str]:
    """Yield the values of a multipart form that are not files (RFC 7578)."""
    boundary = body[2:].partition(b"\r\n")[0]
    head = b'Content-Type: multipart/form-data; boundary="%b"\r\n\r\n' % boundary
    form = BytesParser(policy=HTTP).parsebytes(head + body)
    for part in form.iter_parts():
        if part.get_filename() is None and isinstance(content := part.get_payload(decode=True), bytes):
            yield content.decode("utf-8", "replace")
