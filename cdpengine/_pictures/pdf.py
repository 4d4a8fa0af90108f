"""PDFs: the options with units, and the PDF that Chrome prints, read in pieces.

Rule: a length is a number of CSS pixels (96 per inch), or a string with its unit: "2cm", "10mm", "0.5in", "12pt",
"20px". Options that Chrome would refuse or ignore are refused here, with the valid values.
"""

from __future__ import annotations

import math
import re
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from typing import Literal, TypeAlias, TypedDict
from weakref import WeakKeyDictionary

from cdpengine._checks import check_number, invalid
from cdpengine._page.downloads.output_file import chrome_stream
from cdpengine._protocol.calls import SharedCall
from cdpengine._protocol.domains.page import PrintToPDFReply
from cdpengine._protocol.session import Session
from cdpengine.errors import InvalidArgumentError, RemoteError

Length: TypeAlias = float | str
"""CSS pixels, or a string with a unit: px, in, cm, mm, pt."""

PaperName = Literal["Letter", "Legal", "Tabloid", "Ledger", "A0", "A1", "A2", "A3", "A4", "A5", "A6"]

PAPERS: dict[str, tuple[float, float]] = {
    "letter": (8.5, 11),
    "legal": (8.5, 14),
    "tabloid": (11, 17),
    "ledger": (17, 11),
    "a0": (841 / 25.4, 1189 / 25.4),
    "a1": (594 / 25.4, 841 / 25.4),
    "a2": (420 / 25.4, 594 / 25.4),
    "a3": (297 / 25.4, 420 / 25.4),
    "a4": (210 / 25.4, 297 / 25.4),
    "a5": (148 / 25.4, 210 / 25.4),
    "a6": (105 / 25.4, 148 / 25.4),
}
"""Width and height in inches."""

_PER_INCH = {"px": 96.0, "in": 1.0, "cm": 2.54, "mm": 25.4, "pt": 72.0}
_LENGTH = re.compile(r"\s*(\d+(?:\.\d+)?|\.\d+)\s*(px|in|cm|mm|pt)\s*\Z")
_PAGES = re.compile(r"\s*(\d+)?\s*(?:(-)\s*(\d+)?)?\s*\Z")
_SIDES = ("top", "right", "bottom", "left")
_DEFAULT_MARGIN = 1 / 2.54


class PdfOptions(TypedDict, total=False):
    """The options of a PDF.

    `paper`: a name ("A4"), or width and height; the default is Letter. `margin`: one length for all sides, two
    (top and bottom, left and right), four (top, right, bottom, left), or a mapping by side; the default is 1 cm.
    `landscape`, `background` (True: print background colors and images), `scale` (0.1 to 2). `pages`: "1-3, 5".
    `header`, `footer`: HTML, in which elements of the classes date, title, url, pageNumber and totalPages are
    filled; they are drawn in the margin, which must be large enough. `css_page_size`: the page's `@page` size
    overrides `paper`. `tagged`: with structure for screen readers (Chrome's default); `outline`: with bookmarks
    from the headings.
    """

    paper: PaperName | tuple[Length, Length]
    margin: Length | Sequence[Length] | Mapping[str, Length]
    landscape: bool
    background: bool
    scale: float
    pages: str
    header: str
    footer: str
    css_page_size: bool
    tagged: bool
    outline: bool


def print_params(options: PdfOptions) -> dict[str, object]:
    """Return the parameters of `Page.printToPDF`. Raises InvalidArgumentError."""
    if unknown := sorted(set(options) - set(PdfOptions.__annotations__)):
        expected = ", ".join(PdfOptions.__annotations__)
        raise InvalidArgumentError(what="option of a PDF", given=", ".join(unknown), expected=expected)
    landscape = options.get("landscape", False)
    width, height = _paper(options.get("paper", "Letter"))
    margins = _margins(options["margin"]) if "margin" in options else (_DEFAULT_MARGIN,) * 4
    across, along = (height, width) if landscape else (width, height)
    if margins[1] + margins[3] >= across or margins[0] + margins[2] >= along:
        room = f"margins that leave room on {across:.2f} x {along:.2f} inches"
        raise invalid("margin", options.get("margin"), room)
    params: dict[str, object] = {
        "landscape": landscape,
        "printBackground": options.get("background", True),
        "scale": check_number("scale", options.get("scale", 1), least=0.1, most=2),
        "paperWidth": width,
        "paperHeight": height,
        **{f"margin{side.capitalize()}": value for side, value in zip(_SIDES, margins, strict=True)},
        "preferCSSPageSize": options.get("css_page_size", False),
        "transferMode": "ReturnAsStream",
    }
    if "pages" in options:
        params["pageRanges"] = _check_pages(options["pages"])
    if "tagged" in options:
        params["generateTaggedPDF"] = options["tagged"]
    if options.get("outline"):
        params["generateDocumentOutline"] = True
    if "header" in options or "footer" in options:
        params["displayHeaderFooter"] = True
        # Without a template, Chrome would print its default one.
        params["headerTemplate"] = options.get("header", "<span></span>") or "<span></span>"
        params["footerTemplate"] = options.get("footer", "<span></span>") or "<span></span>"
    return params


def inches(length: Length, what: str) -> float:
    """Return a length in inches. Raises InvalidArgumentError for an invalid length."""
    wrong = invalid(what, length, 'CSS pixels, or a string such as "2cm", "10mm", "0.5in", "12pt"')
    if isinstance(length, str):
        match = _LENGTH.match(length.lower())
        if match is None:
            raise wrong
        return float(match[1]) / _PER_INCH[match[2]]
    if isinstance(length, bool) or not isinstance(length, int | float):
        raise wrong
    if not math.isfinite(length) or length < 0:
        raise wrong
    return length / _PER_INCH["px"]


_printing: WeakKeyDictionary[Session, SharedCall] = WeakKeyDictionary()
"""The newest printing of each session."""


@asynccontextmanager
async def print_pdf(session: Session, params: Mapping[str, object]) -> AsyncIterator[AsyncIterator[bytes]]:
    """Print, and yield the PDF in pieces. `params` come from `print_params`.

    Raises InvalidArgumentError for pages that the document does not have, and the errors of `Session.request`.
    """
    # Chrome never answers a second command that arrives while it prints.
    while (earlier := _printing.get(session)) is not None and not earlier.done:
        with suppress(RemoteError):
            await earlier.wait()
    printing = session.post_shared("Page.printToPDF", params)
    _printing[session] = printing  # cancelling the caller does not end it
    try:
        reply = await printing.decoded(PrintToPDFReply)
    except RemoteError as error:
        if "age range" in error.message:  # only Chrome knows the number of pages
            raise InvalidArgumentError(
                what="pages",
                given=repr(params.get("pageRanges")),
                expected=f"pages that the document has ({error.message})",
            ) from error
        raise
    async with chrome_stream(session, reply.stream) as pieces:
        yield pieces


def _paper(paper: object) -> tuple[float, float]:
    if isinstance(paper, str):
        if (size := PAPERS.get(paper.lower())) is not None:
            return size
    elif isinstance(paper, tuple | list) and len(paper) == 2:
        width, height = (inches(length, "paper") for length in paper)
        if width > 0 and height > 0:
            return width, height
    names = ", ".join(name.capitalize() for name in PAPERS)
    raise invalid("paper", paper, f"{names}, or width and height")


def _margins(margin: object) -> tuple[float, float, float, float]:
    expected = "a length, two or four of them, or a mapping of top, right, bottom, left"
    wrong = invalid("margin", margin, expected)
    if isinstance(margin, Mapping):
        if not set(margin) <= set(_SIDES):
            raise wrong
        sides = [
            inches(margin[side], f"margin {side}") if side in margin else _DEFAULT_MARGIN for side in _SIDES
        ]
    elif isinstance(margin, str) or not isinstance(margin, Sequence):
        if not isinstance(margin, str | int | float):
            raise wrong
        sides = [inches(margin, "margin")] * 4
    else:
        lengths = [inches(length, "margin") for length in margin]
        if len(lengths) not in (2, 4):
            raise wrong
        sides = lengths * (4 // len(lengths))
    top, right, bottom, left = sides
    return top, right, bottom, left


def _check_pages(pages: object) -> str:
    wrong = invalid("pages", pages, 'page numbers from 1, as "1-3, 5, 8-"')
    if not isinstance(pages, str) or not pages.strip():
        raise wrong
    for part in pages.split(","):
        match = _PAGES.match(part)
        if match is None or not (match[1] or match[3]):
            raise wrong
        first, last = int(match[1] or 1), int(match[3] or match[1] or 1)
        if first < 1 or (match[3] and last < first):
            raise wrong
    return pages
