"""HttpResponse: the complete response to an HTTP request of the program."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import attrs
import trio

from cdpengine._headers import HeaderMapping
from cdpengine._network.messages import decode_json, decode_text
from cdpengine.errors import shown_url


@attrs.frozen(eq=False, repr=False)
class HttpResponse:
    """The response to a request of `context.request`, with its whole body. It needs no disposal.

    `url` is the final URL, and `redirects` are the URLs that redirected to it, in order. `header_list` has every
    header, in order.
    """

    url: str
    status: int
    status_text: str
    header_list: tuple[tuple[str, str], ...]
    redirects: tuple[str, ...]
    _content: bytes

    def __repr__(self) -> str:
        return f"<HttpResponse {self.status} {shown_url(self.url)[:80]}>"

    @property
    def ok(self) -> bool:
        """Whether the status is 200 to 299."""
        return 200 <= self.status < 300

    @property
    def headers(self) -> Mapping[str, str]:
        """The headers. Names are found in any case; values of a repeated header are separated by line breaks."""
        return HeaderMapping.joined(self.header_list)

    def header(self, name: str) -> str | None:
        """Return a header by its case-insensitive name, or None."""
        return self.headers.get(name)

    async def body(self) -> bytes:
        """Return the body, after decompression."""
        await trio.lowlevel.checkpoint()
        return self._content

    async def text(self) -> str:
        """Return the body as text, in the charset of its header (else UTF-8)."""
        return decode_text(await self.body(), self.header("content-type"))

    async def json(self) -> Any:
        """Return the body as JSON. Raises BodyUndecodableError (a ValueError) if it is not JSON."""
        return decode_json(await self.body(), self.url)
