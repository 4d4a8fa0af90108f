"""Verbs that make pictures of a page: screenshot and PDF."""

from __future__ import annotations

import base64
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Literal

import attrs

from cdpengine.act.fields import field
from cdpengine.act.notations import FILE, MAYBE_TARGET, CommandForm, ToolForm
from cdpengine.act.requests import LOADING, ActRequest, check_element
from cdpengine.act.response import file_lines
from cdpengine.errors import InvalidArgumentError

if TYPE_CHECKING:
    from cdpengine._pictures.pdf import PdfOptions
    from cdpengine.act.performing import Performance


FORCE = {"--force": "Overwrite FILE if it exists."}
"""Options of the shell for commands that write a file."""


@attrs.frozen(kw_only=True)
class Screenshot(ActRequest):
    """Take a picture of the viewport, of the whole page or of one element."""

    kind = "screenshot"
    timing = LOADING
    in_order = False
    tool = ToolForm(meaning="Take a picture of the page or an element.", fields=("ref", "fullPage", "labels"))
    commands = (
        CommandForm(
            meaning="Write a picture of the page to FILE, or to a new file in this folder.",
            places=(FILE, MAYBE_TARGET),
            options=FORCE,
            flags={"--refs": ("labels", True)},
            loads=True,
            example="screenshot https://example.com page.png --full-page",
        ),
    )

    ref: str | None = field("Only this element, by its ref.", None)
    selector: str | None = field(
        "Only this element, by CSS, or a criterion such as text=Save. One must match.", None
    )
    full_page: bool = field("The whole page, not only the viewport.", False)
    format: Literal["png", "jpeg", "webp"] = field("The format of the picture.", "png")
    quality: int | None = field("The quality of jpeg and webp.", None, least=0, most=100)
    clip: tuple[float, ...] | None = field(
        "Only this rectangle of the viewport, in CSS pixels: x, y, width and height.", None, least=4, most=4
    )
    scale: float | None = field("Pixels of the picture per CSS pixel.", None, least=0.01, most=10)
    omit_background: bool = field("Keep unpainted areas transparent. Not for jpeg.", False)
    max_side: int | None = field(
        "Maximum length of the longer side, in pixels; a larger picture is scaled down.", None, least=1
    )
    labels: bool = field(
        "Frame and label interactive elements with their refs; the result contains the snapshot.", False
    )
    path: str | None = field("Write it to this file instead of returning it.", None, file=True)

    def check(self) -> None:
        """Raise InvalidArgumentError for fields that exclude each other."""
        check_element(self, self.kind, needed=False)
        self._check_area()
        self._check_format()

    def _check_area(self) -> None:
        aimed = self.ref is not None or self.selector is not None
        if aimed and (self.full_page or self.labels):
            raise InvalidArgumentError("screenshot", "an element, and fullPage or labels", "one of them")
        if self.clip is None:
            return
        if aimed or self.full_page:
            raise InvalidArgumentError("screenshot", "clip, and an element or fullPage", "one of them")
        if min(self.clip[2:]) <= 0:
            raise InvalidArgumentError(
                "screenshot.clip", "an empty rectangle", "a width and a height above 0"
            )

    def _check_format(self) -> None:
        if self.quality is not None and self.format == "png":
            raise InvalidArgumentError(
                "screenshot.quality", "one for png, which has none", "jpeg or webp with it"
            )
        if self.omit_background and self.format == "jpeg":
            raise InvalidArgumentError(
                "screenshot.omitBackground",
                "true for jpeg, which is never transparent",
                "png or webp with it",
            )
        if self.labels and (self.clip is not None or self.scale is not None or self.omit_background):
            raise InvalidArgumentError(
                "screenshot", "labels, and clip, scale or omitBackground", "one of them"
            )

    async def run(self, performance: Performance) -> dict[str, Any]:
        from cdpengine._input.view import BoundingBox
        from cdpengine._page.downloads.output_file import checked_path, output_file

        described: dict[str, Any] = {"format": self.format}
        place = None if self.path is None else checked_path("the screenshot", self.path, overwrite=True)
        if self.labels:
            labelled = await performance.page.pictures.labelled_screenshot(
                format=self.format,
                quality=self.quality,
                full_page=self.full_page,
                max_side=self.max_side,
                timeout=performance.left,
            )
            data, described["snapshot"] = labelled.image, labelled.snapshot.text
        else:
            data = await performance.page.screenshot(
                target=await performance.find_optional(self.ref, self.selector),
                clip=None if self.clip is None else BoundingBox(*self.clip),
                full_page=self.full_page,
                format=self.format,
                quality=self.quality,
                scale=self.scale,
                max_side=self.max_side,
                omit_background=self.omit_background,
                timeout=performance.left,
            )
        if place is None:
            return {**described, "bytes": len(data), "base64": base64.b64encode(data).decode("ascii")}
        async with output_file("the screenshot", place, overwrite=True) as file:
            await file.write(data)
        return {**described, "bytes": len(data), "path": str(place)}

    @staticmethod
    def text_lines(result: Any) -> Iterable[str]:
        return file_lines(result)


@attrs.frozen(kw_only=True)
class Pdf(ActRequest):
    """Print the page as PDF."""

    kind = "pdf"
    timing = LOADING
    in_order = False
    tool = ToolForm(meaning="Print the page to a file.", fields=("path",), capability="files")
    commands = (
        CommandForm(
            meaning="Write the page as PDF to FILE, or to a new file in this folder.",
            places=(FILE,),
            options=FORCE,
            flags={
                "--print-background": ("print_background", True),
                "--no-background": ("print_background", False),
            },
            loads=True,
            example="pdf https://example.com page.pdf --paper A4",
        ),
    )

    paper: str = field('A size of paper such as "A4", or width and height such as "10cmx20cm".', "Letter")
    margin: str | None = field(
        'One length, two or four, with commas: "1cm", or "1cm,2cm"; by default 1 cm.', None
    )
    landscape: bool = field("Wider than high.", False)
    print_background: bool = field("Print background colors and images.", True)
    scale: float = field("The scale of the content.", 1, least=0.1, most=2)
    pages: str | None = field('Only these pages, such as "1-3,5".', None)
    header: str | None = field("HTML above each page.", None)
    footer: str | None = field(
        "HTML below each page; elements of class pageNumber and totalPages are filled in.", None
    )
    css_page_size: bool = field("Prefer the page's @page size.", False)
    outline: bool = field("Add bookmarks from the headings.", False)
    path: str | None = field("Write it to this file instead of returning it.", None, file=True)

    def check(self) -> None:
        """Raise InvalidArgumentError for options that Chrome would refuse or ignore."""
        from cdpengine._pictures.pdf import print_params

        print_params(self._options())

    async def run(self, performance: Performance) -> dict[str, Any]:
        from cdpengine._page.downloads.output_file import checked_path

        page, options = performance.page, self._options()
        if self.path is not None:
            place = checked_path("the PDF", self.path, overwrite=True)
            size = await page.pictures.save_pdf(place, timeout=performance.left, **options)
            return {"bytes": size, "path": str(place)}
        data = await page.pdf(timeout=performance.left, **options)
        return {"bytes": len(data), "base64": base64.b64encode(data).decode("ascii")}

    def _options(self) -> PdfOptions:
        """Return the options of `Page.pdf`."""
        from cdpengine._pictures.pdf import PAPERS

        options: PdfOptions = {
            "landscape": self.landscape,
            "background": self.print_background,
            "scale": self.scale,
            "css_page_size": self.css_page_size,
            "outline": self.outline,
        }
        width, across, height = self.paper.partition("x")
        if across and self.paper.lower() not in PAPERS:
            options["paper"] = (width, height)
        else:
            options["paper"] = self.paper  # type: ignore[typeddict-item]  # print_params checks it
        if self.margin is not None:
            lengths = self.margin.split(",")
            options["margin"] = lengths[0] if len(lengths) == 1 else lengths
        if self.pages is not None:
            options["pages"] = self.pages
        if self.header is not None:
            options["header"] = self.header
        if self.footer is not None:
            options["footer"] = self.footer
        return options

    @staticmethod
    def text_lines(result: Any) -> Iterable[str]:
        return file_lines(result)
