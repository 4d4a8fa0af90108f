"""Fulfilment: from what a handler answers a request with to what Chrome takes. Pure, but for `read_file`.

Rule: an answer is whole, or it is refused with what was wrong; nothing is guessed that a server would have to say,
but the type of a body.
"""

from __future__ import annotations

import base64
import http
import mimetypes
from pathlib import Path
from typing import Any

import msgspec
import trio

from cdpengine._network.headers import OF_THE_BODY_AS_SENT, Headers, check_headers, entries
from cdpengine._network.messages import InterceptedResponse
from cdpengine.errors import InvalidArgumentError

_LEAST_STATUS, _MOST_STATUS = 200, 599


def check_status(status: int) -> int:
    """Return the status. Raises InvalidArgumentError for what is none; 1xx are no answers."""
    if isinstance(status, bool) or not isinstance(status, int) or not _LEAST_STATUS <= status <= _MOST_STATUS:
        raise InvalidArgumentError(
            what="status", given=repr(status)[:80], expected=f"{_LEAST_STATUS} to {_MOST_STATUS}"
        )
    return status


def phrase_of(status: int) -> str:
    """Return the words for a status; Chrome wants some for those that it does not know."""
    try:
        return http.HTTPStatus(status).phrase
    except ValueError:
        return "Unknown"


def fulfilment(
    status: int | None,
    headers: Headers | None,
    body: bytes | str | None,
    json: Any,
    content_type: str | None,
    *,
    file_name: str | None = None,
    response: InterceptedResponse | None = None,
) -> dict[str, Any]:
    """Return the parameters of `Fetch.fulfillRequest`. Raises InvalidArgumentError."""
    if body is not None and json is not None:
        raise InvalidArgumentError(what="fulfill", given="both body and json", expected="one of them")
    kind, content = _content(body, json, file_name)
    if content_type is not None:
        kind = content_type
    if status is None:
        status = response.status if response is not None and response.status else 200
    status = check_status(status)
    pairs = _pairs(headers, response, replaced=content is not None)
    names = {name.casefold() for name, _value in pairs}
    if content_type is not None:
        pairs = [pair for pair in pairs if pair[0].casefold() != "content-type"]
        names.discard("content-type")
    if kind is not None and "content-type" not in names:
        pairs.append(("Content-Type", check_headers({"Content-Type": kind})[0][1]))
    return {
        "responseCode": status,
        "responsePhrase": phrase_of(status),
        "responseHeaders": entries(pairs),
        "body": base64.b64encode(content or b"").decode("ascii"),
    }


async def read_file(path: str | Path) -> bytes:
    """Return a file's bytes. Raises InvalidArgumentError when it cannot be read."""
    if not isinstance(path, (str, Path)):
        raise InvalidArgumentError(what="path", given=f"a {type(path).__name__}", expected="a str or Path")
    try:
        return await trio.Path(path).read_bytes()
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise InvalidArgumentError(
            what="path", given=repr(str(path))[:200], expected=f"a file that can be read ({reason})"
        ) from None


def _content(body: bytes | str | None, json: Any, file_name: str | None) -> tuple[str | None, bytes | None]:
    if json is not None:
        try:
            return "application/json", msgspec.json.encode(json)
        except (TypeError, ValueError, OverflowError, RecursionError) as error:
            raise InvalidArgumentError(
                what="json", given=f"a {type(json).__name__}", expected=f"what JSON can hold ({error})"
            ) from None
    if isinstance(body, str):
        return "text/plain; charset=utf-8", body.encode()
    if body is None:
        return None, None
    if not isinstance(body, (bytes, bytearray, memoryview)):
        raise InvalidArgumentError(what="body", given=f"a {type(body).__name__}", expected="bytes or str")
    kind = None if file_name is None else mimetypes.guess_type(file_name)[0] or "application/octet-stream"
    return kind, bytes(body)


def _pairs(
    headers: Headers | None, response: InterceptedResponse | None, *, replaced: bool
) -> list[tuple[str, str]]:
    if headers is not None:
        return check_headers(headers)
    if response is None:
        return []
    # Chrome hands over the body as it is after decompression, and so it goes on.
    return [
        pair for pair in response.header_list if not replaced or pair[0].casefold() not in OF_THE_BODY_AS_SENT
    ]
