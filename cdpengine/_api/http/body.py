"""HttpBody: the body of an HTTP request, from one of the arguments `data`, `json`, `form` and `multipart`."""

from __future__ import annotations

import mimetypes
from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypeAlias
from urllib.parse import urlencode

import attrs

from cdpengine import _json
from cdpengine._checks import check_type, wrong_type
from cdpengine._input.forms.upload import FileContent
from cdpengine._network.messages import read_file
from cdpengine.errors import InvalidArgumentError

MultipartValue: TypeAlias = str | bytes | Path | FileContent
"""A field of a multipart form: a string, bytes, or a file, named by its path or with its content."""

FormPart: TypeAlias = tuple[str, tuple[str | None, bytes] | tuple[str | None, bytes, str]]
"""A field of a multipart form as httpx expects it: its name, and its file name, content and type."""

_UNKNOWN_TYPE = "application/octet-stream"


@attrs.frozen
class HttpBody:
    """Either `content` with its type, or the `parts` of a multipart form."""

    content: bytes | None = attrs.field(default=None, repr=False)
    content_type: str | None = None
    parts: tuple[FormPart, ...] = attrs.field(default=(), repr=False)


async def make_body(
    *,
    data: bytes | str | None,
    json: Any,
    form: Mapping[str, str] | None,
    multipart: Mapping[str, MultipartValue] | None,
) -> HttpBody:
    """Return the body. Raises InvalidArgumentError, also for several bodies and for an unreadable file."""
    given = [
        name
        for name, value in (("data", data), ("json", json), ("form", form), ("multipart", multipart))
        if value is not None
    ]
    if len(given) > 1:
        raise InvalidArgumentError(what="request", given=" and ".join(given), expected="one body")
    if data is not None:
        expected = "bytes or str; `json` sends a value as JSON, and `form` sends fields"
        check_type("data", data, bytes | bytearray | memoryview | str, expected)
        if isinstance(data, str):
            return HttpBody(data.encode(), "text/plain; charset=utf-8")
        return HttpBody(bytes(data), _UNKNOWN_TYPE)
    if json is not None:
        try:
            return HttpBody(_json.encode(json), "application/json")
        except (TypeError, ValueError, OverflowError, RecursionError) as error:
            raise wrong_type("json", json, f"values that JSON can represent ({error})") from None
    if form is not None:
        check_type("form", form, Mapping, "a mapping of names to strings")
        for name, value in form.items():
            check_type(f"form[{name!r}]", value, str, "a str")
        return HttpBody(urlencode(dict(form)).encode(), "application/x-www-form-urlencoded")
    if multipart is not None:
        check_type("multipart", multipart, Mapping, "a mapping of names to strings, bytes and files")
        return HttpBody(parts=tuple([(name, await _part(name, each)) for name, each in multipart.items()]))
    return HttpBody()


async def _part(name: str, value: MultipartValue) -> tuple[str | None, bytes] | tuple[str | None, bytes, str]:
    if isinstance(value, str):
        return None, value.encode()
    if isinstance(value, bytes):
        return None, value
    if isinstance(value, FileContent):
        return value.name, bytes(value.data), value.type or _UNKNOWN_TYPE
    if isinstance(value, Path):
        kind = mimetypes.guess_type(value.name)[0] or _UNKNOWN_TYPE
        return value.name, await read_file(value), kind
    raise wrong_type(f"multipart[{name!r}]", value, "a str, bytes, a Path or a FileContent")
