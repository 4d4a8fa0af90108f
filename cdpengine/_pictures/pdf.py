"""PDF: the page as Chrome would print it, read piece by piece."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager

from cdpengine._page.downloads.output_file import chrome_stream
from cdpengine._protocol.domains.page import PrintToPDFReply
from cdpengine._protocol.session import Session
from cdpengine.errors import InvalidArgumentError, RemoteError


@asynccontextmanager
async def printed(session: Session, params: Mapping[str, object]) -> AsyncIterator[AsyncIterator[bytes]]:
    """Print, and give the PDF piece by piece. `params` are those of `print_params`.

    Raises InvalidArgumentError for pages that the document does not have, and as `Session.request`.
    """
    try:
        reply = await session.request("Page.printToPDF", params, PrintToPDFReply)
    except RemoteError as error:
        if "age range" in error.message:  # only Chrome knows how many pages there are
            raise InvalidArgumentError(
                what="pages",
                given=repr(params.get("pageRanges")),
                expected=f"pages that there are ({error.message})",
            ) from error
        raise
    async with chrome_stream(session, reply.stream) as pieces:
        yield pieces
