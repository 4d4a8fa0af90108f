"""PageResources: the pictures, style sheets and fonts that the documents of a page need, each URL once.

Rule: Chrome returns them from its memory after the page has loaded them, so no request is sent to a server.
"""

from __future__ import annotations

import re
from contextlib import suppress
from hashlib import sha256
from urllib.parse import urljoin

import attrs
import trio

from cdpengine._protocol.calls import decode_bytes
from cdpengine._protocol.domains.page import ResourceContentReply
from cdpengine._protocol.wire import span as action_span
from cdpengine.debug.steps.documents import SPAN, Document
from cdpengine.debug.steps.step_file import StepFile
from cdpengine.errors import EngineError

_LARGEST = 5_000_000
"""Maximum size of a resource, in bytes."""

_MOST = 5_000
"""Maximum number of resources of a page."""

_RETRIES = (0.3, 1.0, 3.0)
"""Pauses after which a resource that Chrome does not have yet is requested again, in seconds."""

_URLS = re.compile(r"""url\(\s*(["']?)(.*?)\1\s*\)|@import\s+(["'])(.*?)\3""")
_SCHEMES = ("http://", "https://", "file://")


@attrs.frozen
class _Needed:
    url: str
    document: Document


class PageResources:
    """The resources of one page."""

    def __init__(self, nursery: trio.Nursery, file: StepFile) -> None:
        self._nursery = nursery
        self._file = file
        self._known: set[str] = set()

    def need(self, document: Document, urls: list[str]) -> None:
        """Fetch the new ones of these URLs in the background."""
        new = [url for url in urls if url.startswith(_SCHEMES) and url not in self._known]
        self._known.update(new)
        if new and len(self._known) < _MOST:
            self._nursery.start_soon(self._fetch_all, [_Needed(url, document) for url in new])

    async def _fetch_all(self, needed: list[_Needed]) -> None:
        with action_span(SPAN):
            for pause in (0.0, *_RETRIES):
                await trio.sleep(pause)
                needed = [each for each in needed if not await self._fetch(each)]
                if not needed or self._file.failure is not None:
                    break

    async def _fetch(self, needed: _Needed) -> bool:
        """Return whether the resource is complete, or will never be."""
        document = needed.document
        if document.reader.lost or document.session.ended:
            return True
        try:
            found = await document.session.request(
                "Page.getResourceContent",
                {"frameId": document.frame_id, "url": needed.url},
                ResourceContentReply,
            )
        except EngineError:
            return False
        data = (
            decode_bytes("Page.getResourceContent", found.content)
            if found.base64_encoded
            else found.content.encode("utf-8", "replace")
        )
        if not data:
            return False
        if len(data) <= _LARGEST:
            name = f"resources/{sha256(data).hexdigest()[:24]}"
            self._file.add_blob(name, data, compress=not found.base64_encoded)
            self._file.add({"k": "resource", "url": needed.url, "name": name})
        if not found.base64_encoded:
            self.need(document, urls_in(found.content, needed.url))
        return True


def urls_in(css: str, base: str) -> list[str]:
    """Return the absolute URLs that a style sheet refers to."""
    found = []
    for match in _URLS.finditer(css):
        with suppress(ValueError):
            found.append(urljoin(base, match[2] or match[4] or ""))
    return found
