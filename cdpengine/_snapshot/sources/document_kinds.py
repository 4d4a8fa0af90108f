"""The kind of a document that is not an HTML page: a PDF, a picture, plain text, and so on. Pure.

Rule: the descriptions are the engine's own. The document provides its MIME type, and a picture its size.
"""

from __future__ import annotations

import re

_TYPE = re.compile(r"[a-z0-9.+-]{1,40}/[a-z0-9.+-]{1,80}", re.ASCII)
_PAGES = frozenset({"text/html", "application/xhtml+xml", ""})
_KINDS = {
    "application/pdf": "a PDF, which only the browser's viewer shows",
    "application/json": "JSON",
    "text/json": "JSON",
    "text/xml": "XML",
    "application/xml": "XML",
    "multipart/related": "an archive of a page",
    "multipart/x-mixed-replace": "a picture that changes",
}
_FAMILIES = {"image": "a picture", "video": "a video", "audio": "a sound", "text": "plain text"}
_SCRIPTS = frozenset({"application/javascript", "application/x-javascript", "application/ecmascript"})


def describe_kind(content_type: str, size: tuple[float, float] | None = None) -> str:
    """Return a description of documents of this MIME type; "" for an HTML page.

    `size` is the size of a picture, in pixels.
    """
    if content_type in _PAGES or _TYPE.fullmatch(content_type) is None:
        return ""
    kind = _KINDS.get(content_type) or _FAMILIES.get(content_type.partition("/")[0])
    if kind is None:
        kind = "plain text" if content_type in _SCRIPTS else "a file"
        kind = "JSON" if content_type.endswith("+json") else "XML" if content_type.endswith("+xml") else kind
    return kind if size is None else f"{kind} of {size[0]:.0f} x {size[1]:.0f} pixels"
