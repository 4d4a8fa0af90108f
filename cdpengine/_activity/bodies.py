"""Response bodies: their decoding, and the buffer of a body that arrives in pieces (Incoming). Pure.

Rule: the bytes are the received ones if they can be restored. Unread data is bounded.
"""

from __future__ import annotations

import codecs
import re
from collections import deque
from typing import Any

import attrs

from cdpengine import _json
from cdpengine._headers import HeaderMapping
from cdpengine._protocol.calls import decode_bytes
from cdpengine._protocol.domains.network import ResponseBodyReply
from cdpengine.errors import BodyUndecodableError


@attrs.frozen
class Body:
    """A response body. `text` is set if Chrome returned a string; `data` is then that string in UTF-8."""

    data: bytes
    text: str | None = None


def decode_body(reply: ResponseBodyReply) -> Body:
    """Decode the body in a reply."""
    if reply.base64_encoded:
        return Body(decode_bytes("Network.getResponseBody", reply.body))
    return Body(reply.body.encode("utf-8", "surrogatepass"), reply.body)


def charset_of(headers: HeaderMapping) -> str:
    """Return the character set in the headers, or ""."""
    found = _CHARSET.search(headers.get("content-type", ""))
    return found[1].lower() if found else ""


_CHARSET = re.compile(r";\s*charset\s*=\s*[\"']?([\w.:+-]{1,40})", re.IGNORECASE)


def restore_bytes(body: Body, headers: HeaderMapping, size: int) -> Body:
    """Restore the received bytes of a body given as text, if its character set and size identify them."""
    if body.text is None or len(body.data) == size:
        return body
    for encoding in (charset_of(headers) or "utf-8", "utf-8-sig"):
        try:
            data = body.text.encode(encoding)
        except (UnicodeEncodeError, LookupError):
            continue
        if len(data) == size:
            return Body(data, body.text)
    return body


_MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)


def text_of(body: Body, headers: HeaderMapping) -> str:
    """Decode a body by its byte order mark, its header, or as UTF-8. Invalid bytes become U+FFFD."""
    if body.text is not None:
        return body.text
    for mark, encoding in _MARKS:
        if body.data.startswith(mark):
            return body.data.decode(encoding, "replace")
    try:
        return body.data.decode(charset_of(headers) or "utf-8", "replace")
    except LookupError:
        return body.data.decode("utf-8", "replace")


def json_of(url: str, text: str) -> Any:
    """Decode a JSON string. Raises BodyUndecodableError."""
    try:
        return _json.decode_leniently(text)
    except ValueError as error:
        raise BodyUndecodableError(url=url, read_as="JSON", reason=f"it is {error}") from None


class Incoming:
    """A body that is arriving, for one reader. It buffers at most `limit` bytes.

    Chrome sends the earlier data in a reply and later data in events. `begin` takes the reply.
    """

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self.over = False
        self.refused = False
        self.total = 0
        self._waiting = 0
        self._parts: deque[bytes] = deque()
        self._early: list[bytes] | None = []

    @property
    def begun(self) -> bool:
        """Whether the data from before the first event is known."""
        return self._early is None

    def begin(self, before: bytes) -> None:
        """Add the data from before the first event."""
        early, self._early = self._early or [], None
        for part in (before, *early):
            self.feed(part)

    def refuse(self) -> None:
        """Note that Chrome does not send this body in pieces."""
        self.refused = True
        self._early = None

    def feed(self, data: bytes) -> None:
        """Add the next piece. If the buffer exceeds its limit, drop everything."""
        if self._early is not None:
            self._early.append(data)
        elif data:
            self.total += len(data)
            self._waiting += len(data)
            if self._waiting > self.limit:
                self.over = True
                self._parts.clear()
            elif not self.over:
                self._parts.append(data)

    def take(self) -> bytes | None:
        """Return the buffered data, or None if there is none yet."""
        if not self._parts:
            return None
        part = self._parts.popleft()
        self._waiting -= len(part)
        return part

    def whole(self, size: int) -> bytes | None:
        """Return the whole body if it has that size, else None."""
        if self.over or self.refused or not self.begun or self.total != size:
            return None
        return b"".join(self._parts)
