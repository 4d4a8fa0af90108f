"""Bodies of responses: as Chrome hands them out, as they arrive, and as they are kept.

Rule: what is kept or waits for its reader is bounded; what is not whole is never taken for whole: the size
that Chrome counted says so.
"""

from __future__ import annotations

import codecs
import json
import re
from collections import deque
from typing import Any

import attrs

from cdpengine._protocol.calls import decode_bytes
from cdpengine._protocol.domains.network import ResponseBodyReply
from cdpengine._protocol.session import Session
from cdpengine.errors import BodyUndecodableError


@attrs.frozen
class Body:
    """A body. `text` is set where Chrome gave it as a text; `data` is that text in UTF-8 then."""

    data: bytes
    text: str | None = None


async def fetch_body(session: Session, request_id: str) -> Body:
    """Return the body of a response that has come to its end. Raises RemoteError when Chrome has it no more."""
    return received_body(
        await session.request("Network.getResponseBody", {"requestId": request_id}, ResponseBodyReply)
    )


def received_body(reply: ResponseBodyReply) -> Body:
    """Return the body that a reply has."""
    if reply.base64_encoded:
        return Body(decode_bytes("Network.getResponseBody", reply.body))
    return Body(reply.body.encode("utf-8", "surrogatepass"), reply.body)


def charset_of(headers: dict[str, str]) -> str:
    """Return the character set that headers name, "" for none."""
    for name, value in headers.items():
        if name.lower() == "content-type":
            found = _CHARSET.search(value)
            return found[1].lower() if found else ""
    return ""


_CHARSET = re.compile(r";\s*charset\s*=\s*[\"']?([\w.:+-]{1,40})", re.IGNORECASE)


def as_sent(body: Body, headers: dict[str, str], size: int) -> Body:
    """Return a body that Chrome gave as text with the bytes that came, where its character set and size tell."""
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


def text_of(body: Body, headers: dict[str, str]) -> str:
    """Return a body as text: by its byte order mark, by its header, or as UTF-8; what fits nowhere is U+FFFD."""
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
    """Return the value of a JSON text. Raises BodyUndecodableError."""
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        reason = f"{error.msg} at line {error.lineno}, column {error.colno}"
    except RecursionError:
        reason = "it is nested too deeply"
    raise BodyUndecodableError(url=url, read_as="JSON", reason=reason)


class Incoming:
    """A body as it arrives, for one reader, of which at most `limit` bytes wait.

    Chrome tells what came before by a reply, and what comes then by events: `begin` takes the first.
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
        """Whether what came before is known."""
        return self._early is None

    def begin(self, before: bytes) -> None:
        """Take what came before anybody listened."""
        early, self._early = self._early or [], None
        for part in (before, *early):
            self.feed(part)

    def refuse(self) -> None:
        """Note that it is not told as it arrives."""
        self.refused = True
        self._early = None

    def feed(self, data: bytes) -> None:
        """Take the next part. Over the limit, all is let go."""
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
        """Return the next part, None when none waits."""
        if not self._parts:
            return None
        part = self._parts.popleft()
        self._waiting -= len(part)
        return part

    def whole(self, size: int) -> bytes | None:
        """Return all of it when it has that size, else None."""
        if self.over or self.refused or not self.begun or self.total != size:
            return None
        return b"".join(self._parts)
