"""The body of a POST request, from Chrome's pieces. Pure.

Rule: a body is complete, or it is missing for a stated reason; it is never shortened. Only the pieces
(`postDataEntries`) are exact: `postData` changes or drops bytes that are not UTF-8. Chrome reports an empty piece
for a file on disk and for a stream. The Network domain's event has no pieces at all if one of them is a file or a
blob.
"""

from __future__ import annotations

import base64
import binascii

import attrs

from cdpengine._json import replace_unpaired
from cdpengine._protocol.domains.network import Request

FILES = "Chrome does not report files and blobs that a page posts"
"""The reason why the Network domain's events lack a body."""

FILES_AND_STREAMS = "Chrome does not report the files on disk and the streams in it"
"""The reason why an intercepted request lacks its body."""


@attrs.frozen
class PostedData:
    """The body of a POST request.

    `content` is None if the request has no body or the body is missing; `missing` is the reason, or "".
    """

    content: bytes | None = None
    missing: str = ""


def posted_data(request: Request) -> PostedData:
    """Return the body of a request."""
    pieces = [piece.bytes for piece in request.post_data_entries]
    if any(piece is None for piece in pieces):
        return PostedData(missing=FILES_AND_STREAMS)
    try:
        content = b"".join(base64.b64decode(piece or "", validate=True) for piece in pieces)
    except binascii.Error:
        pieces = []  # pieces of a redacted recording
    if pieces:
        return PostedData(content)
    if request.post_data is not None:
        return PostedData(replace_unpaired(request.post_data).encode())
    return PostedData(missing=FILES) if request.has_post_data else PostedData()
