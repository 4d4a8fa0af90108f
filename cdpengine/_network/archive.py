"""HarArchive: the responses of an HTTP Archive (HAR), found by method, URL and posted body.

Rule: an archive is read as a whole or not at all. Entries with the same request are used in their order, and the
last one repeats. An entry without its body, of a websocket or of a failed request without a reason is no response.
"""

from __future__ import annotations

import base64
import binascii
import gzip
import re
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path

import attrs
import msgspec

from cdpengine._network.active_route import RouteMatch
from cdpengine._network.messages import OF_THE_BODY_AS_SENT, InterceptedRequest
from cdpengine._pickling import not_picklable
from cdpengine.errors import FileUnreadableError, os_reason

_LARGEST = 2**30
"""Maximum size of an archive, in bytes."""

_MOST_URLS = 100

_NAME = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_BREAKS = re.compile(r"[\r\n\0]")
_REDACTED = "secrets are redacted"
_BINARY = "the body is binary, and its text is base64"
_WITHOUT_BODY = (204, 205, 304)


class _Header(msgspec.Struct):
    name: str
    value: str = ""


class _Posted(msgspec.Struct):
    text: str | None = None
    comment: str | None = None


class _Request(msgspec.Struct, rename="camel"):
    method: str
    url: str
    post_data: _Posted | None = None


class _Content(msgspec.Struct, rename="camel"):
    text: str | None = None
    encoding: str | None = None
    size: float | None = None
    file: str | None = msgspec.field(default=None, name="_file")


class _Response(msgspec.Struct, rename="camel"):
    status: int
    headers: list[_Header] = []
    content: _Content = msgspec.field(default_factory=_Content)


class _Entry(msgspec.Struct):
    request: _Request
    response: _Response


class _Log(msgspec.Struct):
    entries: list[_Entry]
    comment: str | None = None


class _File(msgspec.Struct):
    log: _Log


@attrs.frozen
class ArchivedResponse:
    """A response of the archive. A `status` of 0: the request failed."""

    status: int
    headers: tuple[tuple[str, str], ...] = attrs.field(repr=False)
    body: bytes = attrs.field(repr=False)
    posted: bytes | None = attrs.field(default=None, repr=False)


@not_picklable("its counts")
class HarArchive:
    """The responses of an archive. `redacted`: its secrets are redacted, posted bodies included.

    `used` and `missing` count the requests that it answered, and those that it has no response for. `missing_urls`
    are the URLs of the latter, at most 100. `match` is the condition of its route, once it is in effect.
    """

    def __init__(self, responses: dict[tuple[str, str], list[ArchivedResponse]], *, redacted: bool) -> None:
        self.redacted = redacted
        self.used = 0
        self.missing = 0
        self.missing_urls: list[str] = []
        self.match: RouteMatch | None = None
        self._responses = responses
        self._spent: set[int] = set()

    def __repr__(self) -> str:
        count = sum(map(len, self._responses.values()))
        return f"<HarArchive of {count} responses: {self.used} used, {self.missing} missing>"

    def find(
        self, request: InterceptedRequest, redact: Callable[[str], str] | None = None
    ) -> ArchivedResponse | None:
        """Return the response to a request, or None. `redact` redacts a URL as the archive's were."""
        found = self._responses.get((request.method, request.url), [])
        if not found and redact is not None:
            found = self._responses.get((request.method, redact(request.url)), [])
        if not self.redacted:
            found = [each for each in found if each.posted is None or each.posted == request.post_data]
        if not found:
            self.missing += 1
            if len(self.missing_urls) < _MOST_URLS and request.url not in self.missing_urls:
                self.missing_urls.append(request.url)
            return None
        self.used += 1
        chosen = next((each for each in found if id(each) not in self._spent), found[-1])
        self._spent.add(id(chosen))
        return chosen


def read_archive(path: Path) -> HarArchive:
    """Return the archive in a file, which may be compressed (".gz"). Raises FileUnreadableError."""
    try:
        opener = gzip.open if path.name.lower().endswith(".gz") else open
        with opener(path, "rb") as file:
            raw = file.read(_LARGEST + 1)
    except (OSError, EOFError) as error:
        reason = os_reason(error) if isinstance(error, OSError) else "it is cut"
        raise _unreadable(path, reason) from None
    if len(raw) > _LARGEST:
        raise _unreadable(path, f"it has more than {_LARGEST} bytes")
    try:
        log = msgspec.json.decode(raw.removeprefix(b"\xef\xbb\xbf"), type=_File).log
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise _unreadable(path, f"it is no HTTP archive ({error})") from None
    responses: dict[tuple[str, str], list[ArchivedResponse]] = defaultdict(list)
    redacted = _REDACTED in (log.comment or "")
    for entry in log.entries:
        response = _response(entry, path.parent, redacted=redacted)
        if response is not None:
            responses[entry.request.method, entry.request.url.partition("#")[0]].append(response)
    return HarArchive(dict(responses), redacted=redacted)


def _unreadable(path: Path, reason: str) -> FileUnreadableError:
    return FileUnreadableError("an HTTP archive", str(path), reason, advice="Nothing is routed")


def _response(entry: _Entry, folder: Path, *, redacted: bool) -> ArchivedResponse | None:
    response = entry.response
    if entry.request.url.startswith(("ws:", "wss:")) or not (
        response.status == 0 or 200 <= response.status <= 599
    ):
        return None
    headers = tuple((each.name, each.value) for each in response.headers if _is_sent(each, redacted))
    body = _body(response, folder)
    posted = entry.request.post_data
    return (
        None
        if body is None
        else ArchivedResponse(response.status, headers, body, None if posted is None else _posted(posted))
    )


def _is_sent(header: _Header, redacted: bool) -> bool:
    name = header.name.lower()
    if name in OF_THE_BODY_AS_SENT or (redacted and name == "set-cookie"):
        return False
    return _NAME.fullmatch(name) is not None and _BREAKS.search(header.value) is None


def _body(response: _Response, folder: Path) -> bytes | None:
    """Return the body, or None if the archive lacks it."""
    content = response.content
    if content.text is not None:
        if content.encoding != "base64":
            return content.text.encode("utf-8", "surrogatepass")
        try:
            return base64.b64decode(content.text)
        except binascii.Error:
            return None
    if content.file is not None:
        place = folder / content.file
        if Path(content.file).name != content.file:  # only files beside the archive
            return None
        try:
            return place.read_bytes()
        except OSError:
            return None
    empty = not content.size or content.size < 0 or response.status in _WITHOUT_BODY
    return b"" if empty or response.status == 0 or 300 <= response.status < 400 else None


def _posted(posted: _Posted) -> bytes | None:
    """Return the posted body, or None if the archive lacks it."""
    if not posted.text:
        return None
    if posted.comment == _BINARY:
        try:
            return base64.b64decode(posted.text)
        except binascii.Error:
            return None
    return posted.text.encode("utf-8", "surrogatepass")
