"""What a posted body holds: the strings of a form, of JSON or of markup, each by itself. Pure.

Rule: the values are secrets perhaps, the body as a whole is none: its beginning, such as `{"user":"`, is that of
many others.
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
"""Characters from which on recorders look for a secret in other messages."""

_LONGEST_BODY = 100_000
"""Bytes of a body that is taken apart."""

MOST_VALUES = 64
"""Values of one body that count, so that a large one does not push out what was entered before."""

_FORM = re.compile(r"[^\s=&]{1,200}=\S*")
_STRUCTURED = ("{", "[", "<")
_IN_QUOTES = re.compile(r'"([^"\\<>]{6,})"')
_BETWEEN_TAGS = re.compile(r">([^<>]{6,})<")
"""The strings in markup, or in lines of JSON."""


def posted_values(body: bytes) -> list[str]:
    """Return the strings of a posted form or JSON, or the whole body if it is another text.

    Those below 6 characters are left out. A body that is no text, or above 100,000 bytes, has none.
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
        held = _json.decode(body)
    except (msgspec.DecodeError, RecursionError):
        held = None
    if held is not None:
        yield from _texts_in(held)
    elif _FORM.fullmatch(text):
        yield from (value for _name, value in parse_qsl(text))
    elif text.lstrip()[:1] in _STRUCTURED:
        yield from (each.strip() for each in _IN_QUOTES.findall(text) + _BETWEEN_TAGS.findall(text))
    else:
        yield text


def _texts_in(value: Any) -> Iterator[str]:
    """Yield the strings of a JSON value, in their order."""
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
    """Yield the values of a multipart form that are no files (RFC 7578)."""
    boundary = body[2:].partition(b"\r\n")[0]
    head = b'Content-Type: multipart/form-data; boundary="%b"\r\n\r\n' % boundary
    form = BytesParser(policy=HTTP).parsebytes(head + body)
    for part in form.iter_parts():
        if part.get_filename() is None and isinstance(held := part.get_payload(decode=True), bytes):
            yield held.decode("utf-8", "replace")
