"""The body that a request posts, from Chrome's pieces. Pure.

Rule: a body is whole, or it is missing for a reason; it is never shortened. The pieces (`postDataEntries`) are the
only exact form: `postData` beside them has bytes that are not UTF-8 changed or left out. Chrome gives an empty
piece for a file on disk and for a stream, and no pieces at all in the Network domain's event where one of them is
a file or a blob.
"""

from __future__ import annotations

import base64
import binascii

import attrs

from cdpengine._json import replace_unpaired
from cdpengine._protocol.domains.network import Request

FILES = "Chrome does not report files and blobs that a page posts"
"""Why the Network domain's events lack a body."""

FILES_AND_STREAMS = "Chrome does not report the files on disk and the streams in it"
"""Why an intercepted request lacks its body."""


@attrs.frozen
class PostedData:
    """A body; `content` is None if there is none, and if it is missing: `missing` says why then, else ""."""

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
        pieces = []  # those of a redacted recording
    if pieces:
        return PostedData(content)
    if request.post_data is not None:
        return PostedData(replace_unpaired(request.post_data).encode())
    return PostedData(missing=FILES) if request.has_post_data else PostedData()
